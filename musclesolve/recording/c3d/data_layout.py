"""The layout of the data of a C3D file: counted from header and parameters, tested against the length of the file.

Each of F frames holds n points of four numbers (x, y, z, residual) and then s samples of k analog channels
(www.c3d.org/HTML/Documents, "3D Point Data Section"). Header and parameters state the same counts twice; a file in
which they disagree is refused, because which bytes are a marker is unknown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from musclesolve.recording.c3d.parameters import BLOCK, Description, corrupted

FULL = 0xFFFF
"""A count of 16 bits that is full means "at least so many"."""
# Slowest and fastest plausible rate [Hz].
RATES = (0.1, 1e6)


@dataclass(frozen=True)
class Layout:
    """Where the data are (first byte), and what they count: see the symbols of the module.

    A number has `width` bytes (4 for reals, 2 for integers of `scale` length units each); the recording began with
    frame number 1; the rate is in frames per second [Hz].
    """

    start: int
    width: int
    scale: float
    points: int
    channels: int
    samples: int
    frames: int
    first_frame: int
    rate: float

    @property
    def numbers(self) -> int:
        """How many numbers a frame holds."""
        return 4 * self.points + self.channels * self.samples

    @property
    def last_frame(self) -> int:
        """Number of the last frame."""
        return self.first_frame + self.frames - 1

    @property
    def start_time(self) -> float:
        """Time of the first frame [s]; the frame with number 1 was at 0."""
        return (self.first_frame - 1) / self.rate


def read_layout(description: Description, size: int) -> Layout:
    """Return the layout of the data in a file of `size` bytes; contradicting counts are refused."""
    path = description.path
    points = _agreed(description, "POINT:USED", "points", description.header.points)
    channels, samples = _analog(description)
    start = BLOCK * (_data_block(description) - 1)
    scale, width = _scale(description)
    numbers = 4 * points + channels * samples
    if numbers == 0:
        raise corrupted(path, "the file has neither points nor analog channels", expected="markers or plates")
    if not BLOCK <= start < size:
        problem = f"the data begin at byte {start} of {size}"
        raise corrupted(path, problem, "POINT:DATA_START", "data behind the parameters")
    room, padding = (size - start) // (numbers * width), -(-BLOCK // (numbers * width))
    first, frames = _frames(description, room, padding)
    states_start = description.header.data_block or description.count("POINT:DATA_START")
    if frames <= room - padding and not states_start:
        problem = f"the start of the data is not stated, and {frames} frames do not fill the file"
        raise corrupted(path, problem, "POINT:DATA_START", "the number of the block at which the data begin")
    return Layout(start, width, scale, points, channels, samples, frames, first, _rate(description))


def _data_block(description: Description) -> int:
    """Return the block at which the data begin, from 1.

    Header and POINT:DATA_START both state it; programs leave 0 in one of them, or in both, and the data then follow the
    blocks of the parameters.
    """
    if description.header.data_block == 0:
        return description.count("POINT:DATA_START") or description.following_block
    if description.count("POINT:DATA_START") == 0:
        return description.header.data_block
    return _agreed(description, "POINT:DATA_START", "blocks before the data", description.header.data_block)


def _agreed(description: Description, name: str, what: str, stated: int) -> int:
    """Return a count that header and parameter both give."""
    count = description.count(name)
    if count is None or count == stated:
        return stated
    problem = f"the header says {stated} {what}, {name} says {count}"
    raise corrupted(description.path, problem, name, "one number in both", "conflict")


def _analog(description: Description) -> tuple[int, int]:
    """Return channels and samples of each of them in a frame."""
    header, path = description.header, description.path
    samples = max(header.samples, 1)
    channels = _agreed(description, "ANALOG:USED", "analog channels", header.measurements // samples)
    if channels * samples != header.measurements:
        problem = (
            f"{header.measurements} analog values in a frame, but {channels} channels of {samples} samples"
        )
        raise corrupted(path, problem, "header, words 3 and 10", "as many values as samples", "conflict")
    if channels == 0:
        return 0, 0
    rate, analog_rate = _rate(description), description.number("ANALOG:RATE")
    if analog_rate and not math.isclose(analog_rate, samples * rate, rel_tol=1e-3):
        problem = f"the analog rate is {analog_rate:g} Hz, the frame rate {rate:g} Hz, with {samples} samples a frame"
        raise corrupted(path, problem, "ANALOG:RATE", f"{samples * rate:g} Hz", "conflict")
    return channels, samples


def _scale(description: Description) -> tuple[float, int]:
    """Return the scale of integers and the bytes of a number: a negative scale marks reals."""
    stated = description.header.scale
    scale = description.number("POINT:SCALE")
    scale = stated if scale is None else scale
    if not (math.isfinite(scale) and scale != 0.0 and scale * stated > 0.0 and abs(scale) < 1e6):
        problem = f"the scale of points is {stated:g} in the header and {scale:g} in the parameters"
        expected = "one number, negative where data are stored as reals"
        raise corrupted(description.path, problem, "POINT:SCALE", expected, "bad_number")
    return abs(scale), 4 if scale < 0.0 else 2


def _rate(description: Description) -> float:
    stated = description.header.rate
    rate = description.number("POINT:RATE") or stated
    plausible = math.isfinite(rate) and RATES[0] <= rate <= RATES[1]
    if not plausible or (stated != 0.0 and not math.isclose(rate, stated, rel_tol=0.01)):
        problem = f"the frame rate is {stated:g} Hz in the header and {rate:g} Hz in the parameters"
        raise corrupted(description.path, problem, "POINT:RATE", "one rate above 0", "bad_number")
    return rate


def _frames(description: Description, room: int, padding: int) -> tuple[int, int]:
    """Return the number of the first frame and how many frames there are.

    Sixteen bits end at 65535, so longer recordings state it elsewhere: in TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD
    (two 16-bit halves each), in POINT:LONG_FRAMES, or in POINT:FRAMES as a real number. `room` frames fit between the
    start of the data and the end of the file, `padding` into the block that ends the data.
    """
    header = description.header
    first, last = (_long(description, f"TRIAL:ACTUAL_{end}_FIELD") for end in ("START", "END"))
    start = first if first else max(header.first_frame, 1)
    parameters = [description.count(f"POINT:{name}") for name in ("LONG_FRAMES", "FRAMES")]
    stated = None if header.last_frame == FULL else header.last_frame - header.first_frame + 1
    counts = [last - first + 1] if first and last else []
    counts += [count for count in (*parameters, stated) if count and count != FULL]
    if FULL in parameters and room - padding < FULL <= room:
        counts.append(FULL)
    fitting = [count for count in counts if room - padding < count <= room]
    problem, expected = "", "two frames or more, and bytes for all of them"
    # A crop may have left one of the counts behind; the one that the file has bytes for is right.
    frames = fitting[0] if fitting else counts[0] if counts else 0
    if not counts:
        problem = "the number of frames is not stated"
    elif frames < 2 or frames > room:
        problem = f"{frames} frames are stated, but the file has bytes for {room}"
    elif not fitting and len(set(counts)) > 1:
        problem = f"the counts of frames disagree: {', '.join(str(count) for count in counts)}"
    if problem:
        raise corrupted(description.path, problem, "POINT:FRAMES", expected)
    return start, frames


def _long(description: Description, name: str) -> int | None:
    """Return a number of 32 bits that is stored as two halves of 16, the lower one first."""
    halves = description.numbers(name).ravel()
    if halves.size != 2 or not np.isfinite(halves).all():
        return None
    low, high = (int(half) % 0x10000 for half in halves)
    return low + 0x10000 * high
