"""From the axes of a laboratory's files to the global frame: x forward, y left, z up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.place_errors import error_at

AXES = ("+x", "-x", "+y", "-y", "+z", "-z")


def axis_vector(name: str) -> Array:
    """Return the unit vector (3,) of an axis name such as "+x"."""
    vector = np.zeros(3)
    vector["xyz".index(name[1])] = 1.0 if name[0] == "+" else -1.0
    return vector


def standing_axes(laboratory: Mapping[str, Any]) -> tuple[str, str]:
    """Return the forward and the up axis of the standing trial's file: its own where stated, else those of the others.

    laboratory: the table [laboratory]: forward, up, static_forward, static_up; the last two None or absent where the
    standing trial has the axes of the other files.
    """
    forward = laboratory.get("static_forward") or laboratory["forward"]
    return forward, laboratory.get("static_up") or laboratory["up"]


def global_from_laboratory(forward: str, up: str) -> Array:
    """Return the rotation R (3, 3) with p_global = R p_file, from axes of the files such as "+x".

    Its rows are the forward (walking), left and up axes written in the axes of the file; left = up x forward.
    """
    ahead, above = axis_vector(forward), axis_vector(up)
    if abs(ahead @ above) > 0.5:
        problem = f"forward is {forward} and up is {up}"
        expected = "two axes of the files, square to each other"
        remedy = "look up in the capture software which axis points up"
        raise error_at(None, "[laboratory]", problem, expected, remedy, code="bad_axes")
    return np.stack([ahead, np.cross(above, ahead), above])
