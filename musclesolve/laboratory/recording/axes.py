"""Axes of files: rotations into the global frame (x forward, y left, z up)."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.recording.trial_settings import LaboratorySettings
from musclesolve.tables.document import Document


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


def rotation_of(document: Document, laboratory: LaboratorySettings, standing: bool = False) -> Array:
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
