"""C3D files: markers, analog channels and events of one recording, as the capture software stored them.

Results are in the axes of the file and in SI units. The format numbers frames from 1, so that the first frame of a file
that was cut out of a longer recording is not at 0 s. The numbers are read a few megabytes at a time, so that memory
holds little more than the requested numbers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, median_of_known
from musclesolve._util.messages import WarningNote, few, folded, shortened
from musclesolve._util.sides import SIDE_NAMES, SIDES, Side
from musclesolve.errors import file_error
from musclesolve.laboratory.files.c3d.c3d_description import (
    BLOCK,
    FULL,
    LONGEST_HEADER,
    DataLayout,
    Description,
    read_description,
    read_layout,
)
from musclesolve.laboratory.files.c3d.segment_poses import points_of_segments, segment_names
from musclesolve.laboratory.files.text.csv_file import export_events, read_csv_markers
from musclesolve.laboratory.recording.data import SAME_EVENT_S, Event, EventKind
from musclesolve.tables.number_rows import blanked, by_place, distinct_names, repeated_notes
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.text_file import TABLES, damaged, file_path, open_input, opening, suffix_of
from musclesolve.tables.units import LARGEST, meters_in

_DEFAULT_UNIT = "mm"
# Points that the modeling part of capture software stores among the markers: angles, moments, and so on.
_COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
# Markers are of such diameters [m]; another number is in another unit, or not filled in.
DIAMETERS = (0.002, 0.05)
CHUNK = 4 << 20
"""Bytes of a file that are read together."""
# Names of events in capture software, in small letters without anything between the words: "Right Foot Strike", "RHS",
# "L_TO", "HS_R 2". Heel off and toe strike are other events.
_LABEL = re.compile(
    "(?P<before>right|left|r|l)?"
    "(?:(?P<strike>(?:foot|heel)?strike|(?:foot|heel|initial|ground)?contact|foot(?:on|down)|touchdown|hs|fs|fc|ic|on)"
    "|(?P<off>(?:foot|toe)off|footup|liftoff|to|fo|off))"
    "(?P<after>right|left|r|l)?[0-9]*"
)
# Longest plausible recording [s].
_LONGEST_RECORDING = 1e7


def is_c3d(path: str | Path) -> bool:
    """Return whether a file is a C3D file by its suffix; its forces are plates instead of columns."""
    return Path(path).suffix.casefold() == ".c3d"


NAMESAKES = 0.05
"""Median distance [m] up to which markers of one label are one landmark: what a program computes of a marker, without
its radius or on the bone, lies 15 to 48 mm beside it (btk_dyn28, btk_561xxa01)."""


def _first_namesakes(
    names: tuple[str, ...], position: Array, repeated: Mapping[str, str], path: Path
) -> tuple[tuple[str, ...], Array, dict[str, str], tuple[str, ...]]:
    """Return names, positions (T, n, 3), and labels that remain repeated where markers of one landmark are one; a note.

    A label that occurs several times is the first of its markers that has places, where all others that have places lie
    within `NAMESAKES` of it: files list measured markers before computed ones. The others are left out.
    """
    number = {name: k for k, name in enumerate(names)}
    remaining, left_out = dict(repeated), set[str]()
    for label, where in repeated.items():
        copies = by_place(label, where)
        first, *others = [x for x in copies if np.isfinite(position[:, number[x]]).any()] or copies
        beside = [np.linalg.norm(position[:, number[x]] - position[:, number[first]], axis=1) for x in others]
        if all(median_of_known(away) < NAMESAKES for away in beside):
            position[:, number[label]] = position[:, number[first]]
            left_out |= {*copies}
            del remaining[label]
    if not left_out:
        return names, position, remaining, ()
    kept = [k for k, name in enumerate(names) if name not in left_out]
    labels = shortened([f"'{label}'" for label in repeated if label not in remaining])
    note = (
        f"In {path.name} labels occur several times for one landmark, and the first marker is used: {labels}."
    )
    return tuple(names[k] for k in kept), position[:, kept], remaining, (note,)


@dataclass(frozen=True)
class C3D:
    """A C3D file whose description has been read and checked; its numbers are read on demand."""

    path: Path
    description: Description
    layout: DataLayout

    @property
    def unit(self) -> str:
        """The unit of length in the file; "" if the file states none."""
        return next(iter(self.description.texts("POINT:UNITS")), "")

    @property
    def meters(self) -> float:
        """Unit of length of the file [m].

        Raises:
            InputError: an unknown unit.
        """
        size = meters_in(self.unit or _DEFAULT_UNIT)
        if size is None:
            raise file_error(
                "unknown_unit",
                (self.path, "POINT:UNITS"),
                f"the unit of length is '{self.unit}'",
                "mm, cm or m",
                "export the recording with lengths in mm",
            )
        return size

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on assumptions about the file."""
        notes, layout, header = [], self.layout, self.description.header
        if not self.unit:
            notes.append(f"{self.path.name} states no unit of length: it is taken as {_DEFAULT_UNIT}.")
        if layout.by_length:
            notes.append(
                f"{self.path.name} has more frames than it can count: {layout.frames}, by the length of the file."
            )
        elif layout.first_frame == header.first_frame and header.last_frame not in (FULL, layout.last_frame):
            notes.append(
                f"{self.path.name} numbers its frames from {header.first_frame} to {header.last_frame}, but has "
                f"{layout.frames} of them: its time begins at {layout.start_time:g} s."
            )
        return tuple(notes)

    @cached_property
    def point_names(self) -> dict[int, str]:
        """Number of every labeled marker among the points -> its name."""
        computed = {name for group in _COMPUTED for name in self.description.texts(f"POINT:{group}")}
        names = self._full_names("POINT", self.layout.points)
        # Trajectories without a name: no label, or *12 and the like.
        return {k: name for k, (label, name) in names.items() if label[0] != "*" and label not in computed}

    @cached_property
    def channel_names(self) -> dict[int, str]:
        """Number of every labeled analog channel -> its name."""
        return {k: name for k, (_, name) in self._full_names("ANALOG", self.layout.channels).items()}

    def _full_names(self, group: str, count: int) -> dict[int, tuple[str, str]]:
        """Number of what has a label -> label and name."""
        labels = self.description.texts(f"{group}:LABELS")[:count]
        names = full_names(labels, self.description.texts(f"{group}:DESCRIPTIONS"))
        return {k: pair for k, pair in enumerate(zip(labels, names, strict=True)) if pair[0]}

    def _renamed(self, group: str, names: Mapping[int, str]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return label -> name, of those that are named by their description and have a label of their own; a note."""
        labels = self.description.texts(f"{group}:LABELS")
        renamed = {k: labels[k] for k, name in names.items() if labels[k] != name}
        if not renamed:
            return {}, ()
        first = next(iter(renamed))
        count = Counter(labels)
        note = (
            f"In {self.path.name} labels are cut or repeat: names are taken from {group}:DESCRIPTIONS "
            f"({names[first]} for {labels[first]})."
        )
        return {label: names[k] for k, label in renamed.items() if count[label] == 1}, (note,)

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
        """Return the labeled markers in meters, in the axes of the file.

        A point with a negative residual or a coordinate that is not a number was not seen.

        Raises:
            InputError: there are none.
        """
        layout = self.layout
        labels, repeated = distinct_names(self.point_names.items(), "POINT:LABELS, points")
        aliases, renamed = self._renamed("POINT", self.point_names)
        names, places = tuple(labels), list(labels.values())
        shown = points_of_segments(self.description, self.layout.frames, self.meters)
        if not names and shown:
            rate = self.description.number("ROTATION:RATE") or layout.rate
            position = np.stack([*shown.values()], axis=1)
            time = layout.start_time + np.arange(len(position)) / rate
            return Markers(time, tuple(shown), position, self.path, (*self.notes, self._placed_note))
        if not names:
            problem, remedy = "the file has no labeled markers", "label the markers in the capture software"
            if poses := self.description.texts("ROTATION:LABELS"):
                problem += f"; the segments of its poses are called {few(poses)}"
                remedy = "export the poses with the names of Theia3D, such as l_thigh_4X4, or export markers"
            raise file_error(
                "missing_marker", (self.path, "POINT:LABELS"), problem, "labeled markers, or poses", remedy
            )
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
        position *= self.meters
        names, position, repeated, namesakes = _first_namesakes(names, position, repeated, self.path)
        blanked(position, names, repeated)
        notes = (*self.notes, *renamed, *repeated_notes("marker", repeated, self.path), *namesakes)
        if shown and len(next(iter(shown.values()))) == len(position):
            position = np.concatenate([position, np.stack([*shown.values()], axis=1)], axis=1)
            names, notes = (*names, *shown), (*notes, self._placed_note)
        time = self.time
        if layout.frames == 1:  # of a standing subject: a rate needs two
            time, position = np.append(time, time + 1.0 / layout.rate), np.concatenate([position, position])
            notes = (*notes, f"{self.path.name} has one frame, which is taken for two.")
        return Markers(
            time,
            names,
            position,
            self.path,
            notes,
            repeated=repeated,
            aliases=aliases,
            diameter=self.marker_diameter,
        )

    @property
    def _placed_note(self) -> str:
        """A sentence on the points that proportions place on segments."""
        placed = "heels, epicondyles, malleoli and spines of the pelvis are placed by proportions"
        return f"{self.path.name} has poses of segments: {placed}."

    @property
    def shows_body(self) -> bool:
        """Whether the file has labeled markers, or poses of segments."""
        return bool(self.point_names or segment_names(self.description))

    @property
    def marker_diameter(self) -> float | None:
        """The diameter of the markers [m] as stated by capture software, in mm; None if not stated."""
        for group in ("PROCESSING", "SUBJECTS", "SUBJECT"):
            number = self.description.number(f"{group}:MARKERDIAMETER")
            if number is not None and DIAMETERS[0] <= 0.001 * number <= DIAMETERS[1]:
                return 0.001 * number
        return None

    def analog(self, channels: list[int]) -> Array:
        """Return analog channels (F x s, len(channels)) by their numbers, in the units of the file's calibration.

        (stored - ANALOG:OFFSET) x ANALOG:SCALE x ANALOG:GEN_SCALE, stored with or without a sign (ANALOG:FORMAT).
        """
        description, layout = self.description, self.layout
        general = description.number("ANALOG:GEN_SCALE")
        # Zero times infinity is refused below.
        with np.errstate(invalid="ignore"):
            scale = (1.0 if general is None else general) * description.joined("ANALOG:SCALE")
        scale = scale[: layout.channels]
        if scale.size < layout.channels or not (np.abs(scale) < LARGEST).all():
            counted = f"{scale.size} scales for {layout.channels} analog channels"
            problem = counted if scale.size < layout.channels else "a scale is not a number"
            raise damaged("bad_number", (self.path, "ANALOG:SCALE"), problem, "one for each channel")
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
            raise damaged(
                "not_finite",
                (self.path, f"channel {channels[column] + 1}, {time:g} s"),
                f"the analog value is {values[frame, sample, column]:g}",
                "a number that was measured",
            )
        return values.reshape(-1, len(channels))

    def _chunks(self) -> Iterator[tuple[slice, NDArray[np.generic]]]:
        """Yield slices of frames with their stored numbers (frames, numbers)."""
        layout, coding = self.layout, self.description.coding
        frame_bytes = layout.width * layout.numbers
        step = max(1, CHUNK // frame_bytes)
        with open_input(self.path) as file:
            file.seek(layout.start)
            for first in range(0, layout.frames, step):
                count = min(step, layout.frames - first)
                raw = file.read(count * frame_bytes)
                if len(raw) < count * frame_bytes:
                    problem = "the file became shorter while it was read"
                    raise damaged("truncated_file", self.path, problem, "")
                numbers: NDArray[np.generic] = (
                    coding.reals(raw) if layout.width == 4 else coding.integers(raw)
                )
                yield slice(first, first + count), numbers.reshape(count, layout.numbers)

    def channels(self) -> Table:
        """Return every labeled analog channel over time, in the unit of its calibration.

        Raises:
            InputError: there are none.
        """
        if not self.channel_names:
            raise file_error(
                "missing_column",
                (self.path, "ANALOG:LABELS"),
                "the file has no labeled analog channels",
                "a label",
                "export the analog channels with it",
            )
        places, repeated = distinct_names(self.channel_names.items(), "ANALOG:LABELS, channels")
        aliases, renamed = self._renamed("ANALOG", self.channel_names)
        values = self.analog(list(places.values()))
        blanked(values, tuple(places), repeated)
        return Table(
            self.analog_time,
            tuple(places),
            values,
            None,
            self.path,
            notes=renamed,
            repeated=repeated,
            aliases=aliases,
        )


def read_c3d(path: str | Path) -> C3D:
    """Open a C3D file: read header and parameters and check them against its length.

    Files of all three processors (Intel, DEC, MIPS), with numbers stored as reals or as integers, are read.

    Args:
        path: of the file.

    Returns:
        The recording: markers, analog channels, force plates and events are read from it on demand.

    Raises:
        InputError: this is no C3D file, it is cut short, or it is corrupted.
    """
    path = file_path(path)
    with open_input(path) as file, opening(path):
        raw = file.read(LONGEST_HEADER)
        size = file.seek(0, 2)
        file.seek(max(size - BLOCK, 0))
        end = file.read(BLOCK)
    description = read_description(raw, path)
    zeros = len(end) - len(end.rstrip(b"\0"))
    return C3D(path, description, read_layout(description, size, zeros))


def stated_events(files: Mapping[str, Path]) -> tuple[tuple[Event, ...], list[str]]:
    """Return the events in the file of the motion, or if it has none in the C3D file of the forces; and notes.

    Events outside of the recording, and second ones of the same step, are left out. Exports of Nexus and Qualisys state
    events, too.
    """
    notes = list[str]()
    for role, path in files.items():
        if role not in ("markers", "forces") or not (is_c3d(path) or suffix_of(path) in TABLES):
            continue
        stored = ""
        if is_c3d(path):
            file = read_c3d(path)
            (seconds, stored), time, texts = event_seconds(file), file.time, file.description.texts
            # www.c3d.org/HTML/Documents, "The EVENT Group"
            named = _kinds_and_sides(texts("EVENT:LABELS"), texts("EVENT:CONTEXTS"))
        else:
            if role != "markers" or not (stated := export_events(path)):
                continue
            labels, contexts, times = zip(*stated, strict=True)
            seconds = np.array(times)
            named, time = _kinds_and_sides(labels, contexts), read_csv_markers(path).time
        events = tuple(
            Event(kind, side, float(second), "stated")
            for (kind, side), second in zip(named, seconds, strict=False)
            if kind and side and abs(second) < _LONGEST_RECORDING
        )
        events = tuple(sorted(events, key=attrgetter("time")))
        unclear = sum(kind is not None and side is None for kind, side in named)
        if unclear:
            notes.append(
                f"{path.name} states {unclear} gait events without a side, in the label or in the context. They are "
                "left out."
            )
        if events and stored:
            notes.append(f"EVENT:TIMES of {path.name} is one row: it is read as {stored}.")
        if events:
            kept, left_out = _within(path.name, time, events)
            return kept, notes + left_out
    return (), notes


def _within(name: str, time: Array, events: tuple[Event, ...]) -> tuple[tuple[Event, ...], list[str]]:
    """Return the events of a file that its frames (T,) [s] show, each once, and notes on the others.

    If some lie before the first frame, but all of them in the recording as counted from it, they are counted from it.
    """
    first, last, frame = float(time[0]), float(time[-1]), float(time[1] - time[0]) if time.size > 1 else 0.0
    kept, outside, again, notes = list[Event](), list[str](), list[str](), list[str]()
    if events[0].time < first - frame and 0.0 <= events[0].time and events[-1].time + first <= last + frame:
        notes.append(
            f"{name} states gait events from {events[0].time:.3f} s on, before the recording begins at "
            f"{first:.3f} s. Counted from its first frame all of them lie in it: they are moved by {first:.3f} s."
        )
        events = tuple(replace(event, time=event.time + first) for event in events)
    for event in events:
        same = [other for other in kept if (other.kind, other.side) == (event.kind, event.side)]
        if not first - frame <= event.time <= last + frame:
            outside.append(f"{event.time:.3f} s")
        elif same and event.time - same[-1].time < SAME_EVENT_S:
            again += [f"{event.time:.3f} s"] * (event.time - same[-1].time > frame)
        else:
            kept.append(event)
    if outside:
        notes.append(
            f"{name} states {len(outside)} gait events outside of the recording, which lasts from "
            f"{first:.3f} to {last:.3f} s: at {shortened(outside)}. They are left out."
        )
    if again:
        notes.append(
            f"{name} states {len(again)} gait events twice, less than {SAME_EVENT_S:g} s apart. The first of "
            f"two counts, left out: {shortened(again)}."
        )
    return tuple(kept), [WarningNote(note, "gait_events") for note in notes]


_Named = list[tuple[EventKind | None, Side | None]]


def _kinds_and_sides(labels: Iterable[str], contexts: Iterable[str]) -> _Named:
    """Return kind and side of each event, None where context and label do not name it, or name two sides."""
    named: _Named = []
    for label, context in zip_longest(labels, contexts, fillvalue=""):
        match = _LABEL.fullmatch(re.sub("[^a-z0-9]", "", label.casefold()))
        words = [context.casefold(), *(match.group("before", "after") if match else ())]
        sides = {side for side in SIDES if {side, SIDE_NAMES[side]} & set(words)}
        kind: EventKind | None = None
        if match:
            kind = "heel_strike" if match["strike"] else "toe_off"
        named.append((kind, sides.pop() if len(sides) == 1 else None))
    return named


def event_seconds(file: C3D) -> tuple[Array, str]:
    """Return the times (N,) [s] of the events of a file, and in words how they are stored if not as the manual says.

    The manual has 2 x N numbers, minutes and seconds of each event. Other files have one row: the same in turn, or all
    minutes before all seconds, or N seconds. The length decides, then whole minutes and times
    in the recording.
    """
    description, layout = file.description, file.layout
    times, stated = description.numbers("EVENT:TIMES"), description.count("EVENT:USED")
    count = len(description.texts("EVENT:LABELS"))
    count = count if stated is None else min(stated, count)
    as_in_manual = times.ndim == 2 and times.shape[0] == 2
    flat = times.ravel(order="F")
    if as_in_manual:
        count = min(count, flat.size // 2)
    if not 0 < count <= flat.size:
        return np.zeros(0), ""
    if flat.size < 2 * count:
        return flat[:count], "seconds without minutes"
    # From zero: events may count from the first frame of a recording that was cut.
    last, half, ways = layout.start_time + layout.frames / layout.rate, flat.size // 2, []
    for minute, second in ((flat[::2], flat[1::2]), (flat[:half], flat[half:])):
        with np.errstate(over="ignore", invalid="ignore"):
            seconds = 60.0 * minute[:count] + second[:count]
            possible = (minute[:count] % 1.0 == 0.0) & (seconds >= 0.0) & (seconds <= last)
        ways.append((seconds, np.sum(possible)))
    (in_turn, possible_in_turn), (apart, possible_apart) = ways
    if as_in_manual:
        return in_turn, ""
    if possible_apart > possible_in_turn:
        return apart, "all minutes before all seconds"
    return in_turn, "minutes and seconds in turn"


def full_names(labels: Sequence[str], descriptions: Sequence[str]) -> list[str]:
    """Return the names of points or channels, in the order of their labels; labels that nothing distinguishes stay.

    Some programs cut labels to a number of letters: "RKNE" is the label of R.Knee and of R.Knee.Medial, and the full
    names stand in DESCRIPTIONS. Labels are cut where each of them is the beginning of its description, all that are
    shorter end at one length, and none is longer. A label of its own that is described in words ("LFHD", "Left front
    head") stays.

    A description serves where it is cut into its label, or where the label repeats, if no other one is like it.
    """
    texts = [*descriptions[: len(labels)], *[""] * (len(labels) - len(descriptions))]
    described, count = Counter(texts), Counter(labels)
    pairs = list(zip(labels, texts, strict=True))
    cut = _are_cut([pair for pair in pairs if all(pair)])
    full = [
        text
        if text and described[text] == 1 and (count[label] > 1 or (cut and _longer(label, text)))
        else label
        for label, text in pairs
    ]
    # A description that is the label of another one would be a new repetition.
    again = Counter(full)
    return [label if again[name] > 1 else name for name, label in zip(full, labels, strict=True)]


def _are_cut(pairs: Sequence[tuple[str, str]]) -> bool:
    lengths = {len(folded(label)) for label, text in pairs if _longer(label, text)}
    return (
        len(lengths) == 1
        and all(folded(text).startswith(folded(label)) for label, text in pairs)
        and all(len(folded(label)) <= max(lengths) for label, _ in pairs)
    )


def _longer(label: str, text: str) -> bool:
    return len(folded(text)) > len(folded(label))
