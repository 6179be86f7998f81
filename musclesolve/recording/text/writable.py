"""What is tested before a file is written: that the readers would accept it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.repeated_names import distinct_names
from musclesolve.recording.text.text_file import file_path
from musclesolve.recording.units import LARGEST

MOST_DECIMALS = 30


def check_writable(
    path: str | Path, kind: str, names: Sequence[str], time: Array, values: Array, decimals: int
) -> Path:
    """Return the path of a file that can be written: the readers would accept it.

    `kind` is "marker" or "column", of n names; times are (T,) [s], values (T, n, ...) in the unit that is written with
    so many decimals, NaN for a gap.
    """
    path = file_path(path)
    if not isinstance(decimals, int) or isinstance(decimals, bool) or not 0 <= decimals <= MOST_DECIMALS:
        expected = f"a whole number from 0 to {MOST_DECIMALS}"
        raise error_at(path, None, f"{decimals!r} decimals", expected, "write decimals=6", code="bad_number")
    if time.ndim != 1 or time.size < 2:
        problem = f"{time.size} frame(s) have no rate to write"
        raise error_at(path, None, problem, "at least two", "write more frames", code="too_few_frames")
    if values.shape[:2] != (time.size, len(names)):
        problem = f"{time.size} frames and {len(names)} names for values of the shape {values.shape}"
        expected = f"as many rows as frames, and one {kind} for every name"
        raise error_at(path, None, problem, expected, "give matching names and times", code="bad_shape")
    for name in distinct_names(names, "")[1]:
        problem, expected = f"the {kind} '{name}' stands twice", f"every {kind} once"
        raise error_at(path, None, problem, expected, "rename one of them", code="duplicate_name")
    if not (np.abs(time) <= LARGEST).all() or (np.diff(time) <= 0.0).any():
        problem = "the times do not increase from frame to frame"
        raise error_at(path, None, problem, "finite times", "sort the frames", code="time_not_increasing")
    beyond = np.abs(values) > LARGEST
    if beyond.any():
        row, column = np.argwhere(beyond)[0, :2]
        problem = f"'{names[column]}' has the value {values[beyond][0]:g} at {time[row]:g} s"
        expected = f"numbers of at most {LARGEST:g}, or nan where nothing was measured"
        raise error_at(path, None, problem, expected, "correct the value before writing", code="not_finite")
    return path
