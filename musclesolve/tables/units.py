"""Units and axes of files: sizes of units in SI, and rotations from the axes of files into the global frame.

The global frame has x forward, y left and z up.
"""

import math

from musclesolve.constants import STANDARD_GRAVITY

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
