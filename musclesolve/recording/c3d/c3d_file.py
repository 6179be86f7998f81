"""C3D files: markers, analog channels and events of one recording, as the capture software stored them.

What is read here is in the axes of the file and in SI units. The format's own numbering counts frames from 1, so
the first frame of a file that was cut out of a longer recording does not begin at 0 s. The numbers are read a few
megabytes at a time, so that memory holds what is asked for and little more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.recording.c3d.description import (
    FULL,
    LONGEST,
    Coding,
    Description,
    Layout,
    corrupted,
    read_description,
    read_layout,
)
from musclesolve.recording.data import Event, EventKind, Markers, Side, Table
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.repeated_names import blanked, distinct_names, numbered, repeated_notes
from musclesolve.recording.text.text_file import file_path, open_input, opening
from musclesolve.recording.units import LARGEST, metres_in, plain_unit

_INCHES = {"in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "feet": 0.3048}
_DEFAULT_UNIT = "mm"
# Points that the modelling part of capture software stores among the markers: angles, moments, and so on.
_COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
CHUNK = 4 << 20
"""Bytes of a file that are looked at together."""
# What capture software calls them.
_KINDS: dict[str, EventKind] = {
    "foot strike": "heel_strike",
    "heel strike": "heel_strike",
    "foot contact": "heel_strike",
    "initial contact": "heel_strike",
    "foot off": "toe_off",
    "toe off": "toe_off",
}
_SIDES: dict[str, Side] = {"right": "r", "left": "l"}
# Longest plausible recording [s].
_LONGEST = 1e7


def is_c3d(path: str | Path) -> bool:
    """Return whether a file is a C3D file, whose forces are plates instead of columns, by its suffix."""
    return Path(path).suffix.casefold() == ".c3d"


def length_in(unit: str) -> float | None:
    """Return how long a unit of length of a C3D file is [m]; None for what is none."""
    size = metres_in(unit)
    return _INCHES.get(plain_unit(unit)) if size is None else size


@dataclass(frozen=True)
class C3D:
    """A C3D file whose description has been read and found sound; its numbers are read when they are asked for."""

    path: Path
    description: Description
    layout: Layout

    @property
    def unit(self) -> str:
        """The unit of length that the file states; "" where it states none."""
        return next(iter(self.description.texts("POINT:UNITS")), "")

    @property
    def metres(self) -> float:
        """How long the unit of length is [m].

        Raises:
            InputError: an unknown unit.
        """
        size = length_in(self.unit or _DEFAULT_UNIT)
        if size is None:
            problem = f"the unit of length is '{self.unit}'"
            remedy = "export the recording with lengths in mm"
            raise error_at(self.path, "POINT:UNITS", problem, "mm, cm or m", remedy, code="unknown_unit")
        return size

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was assumed about the file."""
        notes, layout, header = [], self.layout, self.description.header
        if not self.unit:
            notes.append(f"{self.path.name} states no unit of length: it is taken as {_DEFAULT_UNIT}.")
        if layout.first_frame == header.first_frame and header.last_frame not in (FULL, layout.last_frame):
            notes.append(
                f"{self.path.name} numbers its frames from {header.first_frame} to {header.last_frame}, but has "
                f"{layout.frames} of them: its time begins at {layout.start_time:g} s."
            )
        return tuple(notes)

    @property
    def labels(self) -> dict[str, int]:
        """The name of every labelled marker -> its place among the points, the first one of several."""
        return {name: places[0] for name, places in self._places.items()}

    @property
    def repeated(self) -> dict[str, str]:
        """The name of every marker that stands more than once -> where."""
        return {
            name: numbered("POINT:LABELS, points", [place + 1 for place in places])
            for name, places in self._places.items()
            if len(places) > 1
        }

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        names = self.description.texts("POINT:LABELS")[: self.layout.points]
        computed = {name for group in _COMPUTED for name in self.description.texts(f"POINT:{group}")}
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            # Trajectories without a name: no label, or *12 and the like.
            if not name or name.startswith("*") or name in computed:
                continue
            places.setdefault(name, []).append(place)
        return places

    @property
    def time(self) -> Array:
        """(F,) time of every frame [s]."""
        return self.layout.start_time + np.arange(self.layout.frames) / self.layout.rate

    @property
    def analog_rate(self) -> float:
        """Samples of an analog channel per second [Hz]."""
        return self.layout.rate * self.layout.samples

    @property
    def analog_time(self) -> Array:
        """(F x s,) time of every analog sample [s]; the first one of a frame is at the time of the frame."""
        return self.layout.start_time + np.arange(self.layout.frames * self.layout.samples) / self.analog_rate

    def markers(self) -> Markers:
        """Return the labelled markers in metres, in the axes of the file.

        Raises:
            InputError: there are none.
        """
        if not self.labels:
            problem, remedy = "the file has no labelled markers", "label the markers in the capture software"
            raise error_at(self.path, "POINT:LABELS", problem, "a label", remedy, code="missing_marker")
        places = list(self.labels.values())
        position = read_points(self.path, self.layout, self.description.coding, places)
        # Some programs store a lost marker as (0, 0, 0) with a good residual. In place: a file may be large.
        position[(position == 0.0).all(axis=-1)] = np.nan
        position *= self.metres
        names, repeated = tuple(self.labels), self.repeated
        blanked(position, names, repeated)
        notes = (*self.notes, *repeated_notes("marker", repeated, self.path))
        return Markers(self.time, names, position, self.path, notes, repeated=repeated)

    def analog(self, channels: list[int]) -> Array:
        """Return analog channels by their place, as they are calibrated in the file, (F x s, len(channels))."""
        calibration = read_calibration(self.description, self.layout.channels)
        return read_analog(self.path, self.layout, self.description.coding, calibration, channels)

    def channels(self) -> Table:
        """Return every labelled analog channel over time, in the unit it is calibrated in.

        Raises:
            InputError: there are none.
        """
        labels = self.description.texts("ANALOG:LABELS")[: self.layout.channels]
        named = [k for k, label in enumerate(labels) if label]
        if not named:
            problem, remedy = "the file has no labelled analog channels", "export the analog channels with it"
            raise error_at(self.path, "ANALOG:LABELS", problem, "a label", remedy, code="missing_column")
        places, repeated = distinct_names(
            [labels[k] for k in named], "ANALOG:LABELS, channels", [k + 1 for k in named]
        )
        values = self.analog([named[place] for place in places.values()])
        blanked(values, tuple(places), repeated)
        return Table(self.analog_time, tuple(places), values, None, self.path, repeated=repeated)

    def analog_units(self) -> list[str]:
        """Return the unit of every analog channel, "" where the file states none."""
        units = self.description.texts("ANALOG:UNITS")[: self.layout.channels]
        return units + [""] * (self.layout.channels - len(units))


def read_c3d(path: str | Path) -> C3D:
    """Open a C3D file: its header and parameters are read and tested against its length.

    Files of all three processors (Intel, DEC, MIPS), with numbers stored as reals or as integers, are read.

    Raises:
        InputError: this is no C3D file, it is cut short, or it is corrupted.
    """
    path = file_path(path)
    with open_input(path) as file, opening(path):
        raw = file.read(LONGEST)
        size = file.seek(0, 2)
    description = read_description(raw, path)
    return C3D(path, description, read_layout(description, size))


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


def stated_events(files: Mapping[str, Path]) -> tuple[Event, ...]:
    """Return the events that the C3D file of the motion states, or else that of the forces."""
    for role in ("markers", "forces"):
        if role in files and is_c3d(files[role]) and (events := read_events(read_c3d(files[role]))):
            return events
    return ()


def read_events(file: C3D) -> tuple[Event, ...]:
    """Return the heel strikes and toe-offs that a file states, in the order of time.

    EVENT:TIMES holds minutes and seconds of each on the clock on which frame 1 is at 0, CONTEXTS the side, LABELS the
    kind (www.c3d.org/HTML/Documents, "The EVENT Group"). Others, and those without a side, are left out.
    """
    description = file.description
    times = description.numbers("EVENT:TIMES")
    if times.ndim != 2 or times.shape[0] != 2:
        return ()
    used = description.count("EVENT:USED") or 0
    with np.errstate(over="ignore", invalid="ignore"):
        seconds = 60.0 * times[0] + times[1]
    events = []
    named = zip(
        description.texts("EVENT:CONTEXTS"), description.texts("EVENT:LABELS"), seconds[:used], strict=False
    )
    for context, label, second in named:
        side = _SIDES.get(context.casefold())
        kind = _KINDS.get(" ".join(label.casefold().replace("-", " ").replace("_", " ").split()))
        if side and kind and math.isfinite(second) and abs(second) < _LONGEST:
            events.append(Event(kind, side, float(second), "stated"))
    return tuple(sorted(events, key=lambda event: event.time))
