"""What is tested before a file is written: that the readers would take back what is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.text.text_file import file_path
from musclesolve.recording.units import LARGEST

MOST_DECIMALS = 30


def check_writable(
    path: str | Path, kind: str, names: Sequence[str], time: Array, values: Array, decimals: int
) -> Path:
    """Return the path of a file that can be written.

    Args:
        path: the file.
        kind: what the names are of, "marker" or "column".
        names: n of them.
        time: (T,) [s].
        values: (T, n, ...) in the unit that is written; NaN for a gap.
        decimals: decimals of the values.

    Raises:
        InputError: something that no reader would take back.
    """
    path = file_path(path)
    if not isinstance(decimals, int) or isinstance(decimals, bool) or not 0 <= decimals <= MOST_DECIMALS:
        raise InputError(
            f"{decimals!r} decimals",
            file=path,
            expected=f"a whole number from 0 to {MOST_DECIMALS}",
            remedy="write decimals=6",
        )
    _check_shape(path, kind, names, time, values)
    _check_names(path, kind, names)
    _check_numbers(path, names, time, values)
    return path


def _check_shape(path: Path, kind: str, names: Sequence[str], time: Array, values: Array) -> None:
    if time.ndim != 1 or time.size < 2:
        raise InputError(
            f"{time.size} frame(s) have no rate to write",
            file=path,
            expected="at least two",
            remedy="write more frames",
        )
    if values.shape[:2] != (time.size, len(names)):
        raise InputError(
            f"{time.size} frames and {len(names)} names for values of the shape {values.shape}",
            file=path,
            expected=f"as many rows as frames, and one {kind} for every name",
            remedy="give the names and times that belong to the values",
        )


def _check_names(path: Path, kind: str, names: Sequence[str]) -> None:
    for k, name in enumerate(names):
        if name in names[:k]:
            raise InputError(
                f"the {kind} '{name}' stands twice",
                file=path,
                expected=f"every {kind} once",
                remedy="rename or remove one of them",
            )


def _check_numbers(path: Path, names: Sequence[str], time: Array, values: Array) -> None:
    if not (np.abs(time) <= LARGEST).all() or (np.diff(time) <= 0.0).any():
        raise InputError(
            "the times do not increase from frame to frame",
            file=path,
            expected="finite times in order",
            remedy="sort the frames, and remove those that stand twice",
        )
    beyond = np.abs(values) > LARGEST
    if beyond.any():
        row, column = np.argwhere(beyond)[0, :2]
        raise InputError(
            f"'{names[column]}' has the value {values[beyond][0]:g} at {time[row]:g} s",
            file=path,
            expected=f"numbers of at most {LARGEST:g}, or nan where nothing is known",
            remedy="correct the value before writing",
        )
