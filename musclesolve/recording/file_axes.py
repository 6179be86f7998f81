"""Axes of a laboratory's files, rotated into the global frame: x forward, y left, z up."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import input_error
from musclesolve.settings.trial import LaboratorySettings


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
        raise input_error(
            "bad_axes",
            where="[laboratory]",
            problem=f"forward is {forward} and up is {up}",
            expected="two axes of the files, square to each other",
            remedy="look up in the capture software which axis points up",
        )
    return np.stack([ahead, np.cross(above, ahead), above])
