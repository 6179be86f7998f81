"""Units and axes of files: sizes of units in SI, and rotations from the axes of files into the global frame.

The global frame has x forward, y left and z up.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError, input_error
from musclesolve.settings.trial import LaboratorySettings

if TYPE_CHECKING:
    from musclesolve.recording.schema import Document

METERS = {"mm": 0.001, "cm": 0.01, "m": 1.0}
"""Unit of length of text files -> meters."""

LARGEST = 1e12
"""Largest number, in any unit, that can be a measurement; squares of smaller numbers never overflow."""

_LENGTHS = METERS | {"dm": 0.1, "in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "feet": 0.3048}
_LENGTH_WORDS = {
    prefix + word: size
    for prefix, size in (("milli", 0.001), ("centi", 0.01), ("deci", 0.1), ("", 1.0))
    for word in ("meters", "metres")
}
_ANGLES = {"deg": math.radians(1.0), "rad": 1.0}
_ANGLE_WORDS = {"degrees": math.radians(1.0), "radians": 1.0}
# An avoirdupois pound is 0.45359237 kg, times standard gravity.
_POUNDS = dict.fromkeys(("lbf", "lb", "lbs"), 0.45359237 * STANDARD_GRAVITY)
_FORCES = {"n": 1.0, "nt": 1.0, "nts": 1.0, "kn": 1000.0} | _POUNDS
_FORCE_WORDS = {"newtons": 1.0, "kilonewtons": 1000.0}
# The one prefix that programs put before a moment; kilo- comes with the force.
_MOMENTS = {"mnm": 0.001}
# Signs that change the unit; all other signs are variants of writing.
_SIGNS = "/%^"
_FEWEST_LETTERS = {"newtons": 4, "kilonewtons": 5}
"""Words of units, which may be cut off: C3D files keep four letters ("mete", "newt"); "kilo" alone could be a
kilogram.
"""


def plain_unit(unit: str) -> str:
    """Return a unit in small letters, without blanks, dots, signs of multiplication, brackets and the like."""
    return "".join(letter for letter in unit.casefold() if letter.isalnum() or letter in _SIGNS)


def meters_in(unit: str) -> float | None:
    """Return the size [m] of a unit of length such as "mm", "Millimeters", "mete", "cm."; None for other words."""
    return _size(plain_unit(unit), _LENGTHS, _LENGTH_WORDS)


def radians_in(unit: str) -> float | None:
    """Return the size [rad] of a unit of angle such as "deg", "degrees", the degree sign, "rad"; None for others."""
    return _size(plain_unit(unit.replace("\N{DEGREE SIGN}", "deg")), _ANGLES, _ANGLE_WORDS)


def newtons_in(unit: str) -> float | None:
    """Return the size [N] of a unit of force such as "N", "nt", "Newton", "kN"; None for other words."""
    return _size(plain_unit(unit), _FORCES, _FORCE_WORDS)


def newton_meters_in(unit: str) -> float | None:
    """Return the size [N m] of a unit of moment such as "Nmm", "N.m", "newton meters"; None for other words."""
    plain = plain_unit(unit)
    if plain in _MOMENTS:
        return _MOMENTS[plain]
    for end in range(1, len(plain)):
        force, length = newtons_in(plain[:end]), meters_in(plain[end:])
        if force is None:  # "ft-lbs"; but "mN" is a millinewton
            force, length = _POUNDS.get(plain[end:]), meters_in(plain[:end])
        if force is not None and length is not None:
            return force * length
    return None


def _size(plain: str, short: dict[str, float], words: dict[str, float]) -> float | None:
    """Return the size of a unit by its abbreviation, or by a word that may be cut off after its fourth letter."""
    if plain in short:
        return short[plain]
    sizes = (
        size
        for word, size in words.items()
        if word.startswith(plain) and len(plain) >= _FEWEST_LETTERS.get(word, 4)
    )
    return next(sizes, None)


def axis_vector(name: str) -> Array:
    """Return the unit vector (3,) of an axis name such as "+x"."""
    vector = np.zeros(3)
    vector["xyz".index(name[1])] = 1.0 if name[0] == "+" else -1.0
    return vector


def standing_axes(laboratory: LaboratorySettings) -> tuple[str, str]:
    """Return the forward and the up axis of the standing trial's file: as stated, else as for the other files.

    laboratory: the table [laboratory] of the trial file.
    """
    return laboratory.static_forward or laboratory.forward, laboratory.static_up or laboratory.up


def global_from_laboratory(forward: str, up: str) -> Array:
    """Return the rotation R (3, 3) with p_global = R p_file, from axes of the files such as "+x".

    Its rows are the forward (walking), left and up axes written in the axes of the file; left = up x forward.
    """
    ahead, above = axis_vector(forward), axis_vector(up)
    if abs(ahead @ above) > 0.5:
        fault = f"forward is {forward} and up is {up}"
        expected = "two axes of the files, square to each other"
        remedy = "look up in the capture software which axis points up"
        raise input_error("bad_axes", where="[laboratory]", problem=fault, expected=expected, remedy=remedy)
    return np.stack([ahead, np.cross(above, ahead), above])


def rotation_of(document: "Document", laboratory: LaboratorySettings, standing: bool = False) -> Array:
    """Return the rotation (3, 3) from the axes of the files, or of the standing trial's, to the global frame.

    A floor that rises along forward is made level. The standing trial was recorded above the same floor, unless its
    file has another axis that points up.
    """
    axes, key = (laboratory.forward, laboratory.up), "up"
    if standing:
        axes, key = standing_axes(laboratory), "static_up" if laboratory.static_up else "static_forward"
    try:
        rotation = global_from_laboratory(*axes)
        if not laboratory.tilt_deg or (standing and laboratory.static_up not in (None, laboratory.up)):
            return rotation
        walking = global_from_laboratory(laboratory.forward, laboratory.up)
    except InputError as error:
        raise document.placed(error, "laboratory", key) from None
    c, s = np.cos(np.radians(laboratory.tilt_deg)), np.sin(np.radians(laboratory.tilt_deg))
    level = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return np.asarray(rotation @ walking.T @ level @ walking)
