"""The numbers of a C3D file, read a few megabytes at a time, so that memory holds what is asked for and little more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.recording.c3d.data_layout import Layout
from musclesolve.recording.c3d.parameters import Coding, Description, corrupted
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.text_file import open_input
from musclesolve.recording.units import LARGEST

CHUNK = 4 << 20
"""Bytes of a file that are looked at together."""


@dataclass(frozen=True)
class Calibration:
    """What turns stored analog numbers into measured ones: (stored - offset) x scale, for every channel (k,)."""

    offset: Array
    scale: Array
    unsigned: bool


def read_calibration(description: Description, channels: int) -> Calibration:
    """Return the calibration of the analog channels: ANALOG:OFFSET, SCALE, GEN_SCALE and FORMAT."""
    general = description.number("ANALOG:GEN_SCALE")
    # Zero times infinity is refused below.
    with np.errstate(invalid="ignore"):
        scale = description.joined("ANALOG:SCALE")[:channels] * (1.0 if general is None else general)
    offset = description.joined("ANALOG:OFFSET")[:channels]
    if scale.size < channels or not (np.abs(scale) < LARGEST).all():
        problem = "a scale is no number"
        if scale.size < channels:
            problem = f"{scale.size} scales for {channels} analog channels"
        raise corrupted(description.path, problem, "ANALOG:SCALE", "a number for every channel", "bad_number")
    unsigned = description.texts("ANALOG:FORMAT")[:1] == ["UNSIGNED"]
    if unsigned:
        offset = offset % 0x10000
    return Calibration(np.concatenate([offset, np.zeros(channels - offset.size)]), scale, unsigned)


def read_points(path: Path, layout: Layout, coding: Coding, points: Sequence[int]) -> Array:
    """Return some of the points, (F, len(points), 3) in the unit of the file; NaN where they were not seen.

    A negative residual marks a point that was not seen; so does a coordinate that is no number.
    """
    position = np.empty((layout.frames, len(points), 3))
    scale = layout.scale if layout.width == 2 else 1.0
    columns = list(points)
    for rows, numbers in _chunks(path, layout, coding):
        # A signalling NaN is a gap like any other.
        with np.errstate(invalid="ignore"):
            stored = (
                numbers[:, : 4 * layout.points].reshape(-1, layout.points, 4)[:, columns].astype(np.float64)
            )
        seen = (stored[..., 3] >= 0.0) & (np.abs(stored[..., :3]) < LARGEST).all(axis=-1)
        position[rows] = np.where(seen[..., None], stored[..., :3] * scale, np.nan)
    return position


def read_analog(
    path: Path, layout: Layout, coding: Coding, calibration: Calibration, channels: Sequence[int]
) -> Array:
    """Return some of the analog channels in the units they are calibrated in, (F x s, len(channels))."""
    values = np.empty((layout.frames, layout.samples, len(channels)))
    columns = list(channels)
    offset, scale = calibration.offset[columns], calibration.scale[columns]
    for rows, numbers in _chunks(path, layout, coding):
        stored = numbers[:, 4 * layout.points :].reshape(-1, layout.samples, layout.channels)[..., columns]
        if layout.width == 2 and calibration.unsigned:
            stored = stored.view(stored.dtype.str.replace("i", "u"))
        # Signalling NaNs are refused below, like all that is no number.
        with np.errstate(invalid="ignore"):
            values[rows] = (stored.astype(np.float64) - offset) * scale
    beyond = ~(np.abs(values) < LARGEST)
    if beyond.any():
        frame, sample, column = np.argwhere(beyond)[0]
        time = layout.start_time + (frame + sample / layout.samples) / layout.rate
        where = f"channel {columns[column] + 1}, {time:g} s"
        problem = f"the analog value is {values[frame, sample, column]:g}"
        raise error_at(path, where, problem, "a number that was measured", code="not_finite")
    return values.reshape(-1, len(channels))


def _chunks(path: Path, layout: Layout, coding: Coding) -> Iterator[tuple[slice, NDArray[np.generic]]]:
    """Yield which frames, and their stored numbers (frames, numbers)."""
    frame_bytes = layout.width * layout.numbers
    step = max(1, CHUNK // frame_bytes)
    with open_input(path) as file:
        file.seek(layout.start)
        for first in range(0, layout.frames, step):
            count = min(step, layout.frames - first)
            raw = file.read(count * frame_bytes)
            if len(raw) < count * frame_bytes:
                raise corrupted(path, "the file became shorter while it was read")
            numbers: NDArray[np.generic] = coding.reals(raw) if layout.width == 4 else coding.integers(raw)
            yield slice(first, first + count), numbers.reshape(count, layout.numbers)
