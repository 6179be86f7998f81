"""C3D files: markers, analog channels and events of one recording, as the capture software stored them.

What is read here is in the axes of the file and in SI units. The format's own numbering counts frames from 1, so
the first frame of a file that was cut out of a longer recording does not begin at 0 s. The numbers are read a few
megabytes at a time, so that memory holds what is asked for and little more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.recording.c3d.description import (
    FULL,
    LONGEST,
    DataLayout,
    Description,
    corrupted,
    read_description,
    read_layout,
)
from musclesolve.recording.data import Event, EventKind, Markers, Side, Table
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.repeated_names import blanked, distinct_names, repeated_notes
from musclesolve.recording.text.text_file import file_path, open_input, opening
from musclesolve.recording.units import LARGEST, metres_in, plain_unit

_INCHES = {"in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "feet": 0.3048}
_DEFAULT_UNIT = "mm"
# Points that the modelling part of capture software stores among the markers: angles, moments, and so on.
_COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
# Markers are of such diameters [m]; another number is in another unit, or not filled in.
DIAMETERS = (0.002, 0.05)
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
    layout: DataLayout

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
        return self._labelled[0]

    @cached_property
    def _labelled(self) -> tuple[dict[str, int], dict[str, str]]:
        """The labels, and where those stand that do so more than once."""
        computed = {name for group in _COMPUTED for name in self.description.texts(f"POINT:{group}")}
        labels = enumerate(self.description.texts("POINT:LABELS")[: self.layout.points])
        # Trajectories without a name: no label, or *12 and the like.
        named = [(k, label) for k, label in labels if label and label[0] != "*" and label not in computed]
        return distinct_names(named, "POINT:LABELS, points")

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

        A negative residual marks a point that was not seen; so does a coordinate that is no number.

        Raises:
            InputError: there are none.
        """
        (labels, repeated), layout = self._labelled, self.layout
        names, places = tuple(labels), list(labels.values())
        if not names:
            problem, remedy = "the file has no labelled markers", "label the markers in the capture software"
            raise error_at(self.path, "POINT:LABELS", problem, "a label", remedy, code="missing_marker")
        position = np.empty((layout.frames, len(places), 3))
        scale = layout.scale if layout.width == 2 else 1.0
        for rows, numbers in self._chunks():
            stored = numbers[:, : 4 * layout.points].reshape(-1, layout.points, 4)[:, places]
            # A signalling NaN is a gap like any other.
            with np.errstate(invalid="ignore"):
                points = stored.astype(np.float64)
            seen = (points[..., 3] >= 0.0) & (np.abs(points[..., :3]) < LARGEST).all(axis=-1)
            position[rows] = np.where(seen[..., None], points[..., :3] * scale, np.nan)
        # Some programs store a lost marker as (0, 0, 0) with a good residual. In place: a file may be large.
        position[(position == 0.0).all(axis=-1)] = np.nan
        position *= self.metres
        blanked(position, names, repeated)
        notes = (*self.notes, *repeated_notes("marker", repeated, self.path))
        return Markers(
            self.time, names, position, self.path, notes, repeated=repeated, diameter=self.marker_diameter
        )

    @property
    def marker_diameter(self) -> float | None:
        """The diameter of the markers [m] that capture software states, in mm; None where it does not."""
        for group in ("PROCESSING", "SUBJECTS", "SUBJECT"):
            number = self.description.number(f"{group}:MARKERDIAMETER")
            if number is not None and DIAMETERS[0] <= 0.001 * number <= DIAMETERS[1]:
                return 0.001 * number
        return None

    def analog(self, channels: list[int]) -> Array:
        """Return analog channels by their place, as they are calibrated in the file, (F x s, len(channels)).

        (stored - ANALOG:OFFSET) x ANALOG:SCALE x ANALOG:GEN_SCALE, stored with or without a sign (ANALOG:FORMAT).
        """
        description, layout = self.description, self.layout
        general = description.number("ANALOG:GEN_SCALE")
        # Zero times infinity is refused below.
        with np.errstate(invalid="ignore"):
            scale = description.joined("ANALOG:SCALE")[: layout.channels] * (
                1.0 if general is None else general
            )
        if scale.size < layout.channels or not (np.abs(scale) < LARGEST).all():
            problem = "a scale is no number"
            if scale.size < layout.channels:
                problem = f"{scale.size} scales for {layout.channels} analog channels"
            raise corrupted(self.path, problem, "ANALOG:SCALE", "a number for every channel", "bad_number")
        offset = np.zeros(layout.channels)
        stated = description.joined("ANALOG:OFFSET")[: layout.channels]
        unsigned = description.texts("ANALOG:FORMAT")[:1] == ["UNSIGNED"]
        offset[: stated.size] = stated % 0x10000 if unsigned else stated
        values = np.empty((layout.frames, layout.samples, len(channels)))
        for rows, numbers in self._chunks():
            stored = numbers[:, 4 * layout.points :].reshape(-1, layout.samples, layout.channels)
            stored = stored[..., channels]
            if layout.width == 2 and unsigned:
                stored = stored.view(stored.dtype.str.replace("i", "u"))
            # Signalling NaNs are refused below, like all that is no number.
            with np.errstate(invalid="ignore"):
                values[rows] = (stored.astype(np.float64) - offset[channels]) * scale[channels]
        beyond = ~(np.abs(values) < LARGEST)
        if beyond.any():
            frame, sample, column = np.argwhere(beyond)[0]
            time = layout.start_time + (frame + sample / layout.samples) / layout.rate
            where = f"channel {channels[column] + 1}, {time:g} s"
            problem = f"the analog value is {values[frame, sample, column]:g}"
            raise error_at(self.path, where, problem, "a number that was measured", code="not_finite")
        return values.reshape(-1, len(channels))

    def _chunks(self) -> Iterator[tuple[slice, NDArray[np.generic]]]:
        """Yield which frames, and their stored numbers (frames, numbers)."""
        layout, coding = self.layout, self.description.coding
        frame_bytes = layout.width * layout.numbers
        step = max(1, CHUNK // frame_bytes)
        with open_input(self.path) as file:
            file.seek(layout.start)
            for first in range(0, layout.frames, step):
                count = min(step, layout.frames - first)
                raw = file.read(count * frame_bytes)
                if len(raw) < count * frame_bytes:
                    raise corrupted(self.path, "the file became shorter while it was read")
                numbers: NDArray[np.generic] = (
                    coding.reals(raw) if layout.width == 4 else coding.integers(raw)
                )
                yield slice(first, first + count), numbers.reshape(count, layout.numbers)

    def channels(self) -> Table:
        """Return every labelled analog channel over time, in the unit it is calibrated in.

        Raises:
            InputError: there are none.
        """
        labels = enumerate(self.description.texts("ANALOG:LABELS")[: self.layout.channels])
        named = [(k, label) for k, label in labels if label]
        if not named:
            problem, remedy = "the file has no labelled analog channels", "export the analog channels with it"
            raise error_at(self.path, "ANALOG:LABELS", problem, "a label", remedy, code="missing_column")
        places, repeated = distinct_names(named, "ANALOG:LABELS, channels")
        values = self.analog(list(places.values()))
        blanked(values, tuple(places), repeated)
        return Table(self.analog_time, tuple(places), values, None, self.path, repeated=repeated)


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
