"""C3D files: markers, analog channels and events of one recording, as the capture software stored them.

Results are in the axes of the file and in SI units. The format numbers frames from 1, so that the first frame of a file
that was cut out of a longer recording is not at 0 s. The numbers are read a few megabytes at a time, so that memory
holds little more than the requested numbers.

Header, parameter section and data layout of a C3D file, verified against each other and the length of the file.

A C3D file is a sequence of blocks of 512 bytes: a header, parameters in named groups, then the data
(www.c3d.org/HTML/Documents, "Header Section", "The Parameter Section"). Every read is checked against the length of the
file: a corrupted count or offset raises an error and is never replaced by a guess.

Each of F frames of the data holds n points of four numbers (x, y, z, residual) and then s samples of k analog
channels ("3D Point Data Section"). Header and parameters state the same counts twice. A file in which they disagree is
refused, because the places of the markers are unknown.
"""

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.sides import SIDE_LETTERS
from musclesolve.errors import InputError, input_error
from musclesolve.recording.c3d.segment_poses import points_of_segments, segment_names
from musclesolve.recording.data import Event, EventKind, Markers, Table
from musclesolve.recording.text.number_rows import blanked, distinct_names, repeated_notes
from musclesolve.recording.text.text_file import decoded, file_path, open_input, opening
from musclesolve.recording.units import LARGEST, meters_in, plain_unit

Value = Array | list[str]
BLOCK = 512
_MAGIC = 0x50
_OTHERS = {
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive, or a file of an office program",
}
"""First bytes of files that are no recordings -> kind of file, in words."""
_PRINTED = frozenset(b"\t\n\r") | frozenset(range(0x20, 0x7F))
_MOST_DIMENSIONS = 7
LONGEST_HEADER = 4096 * BLOCK
"""Greatest length of header and parameter section together [bytes]: the section counts at most 255 blocks."""
_CHARACTERS = -1
DEC = 85
"""Number of the DEC processor, with Intel's integers and other reals."""
ORDERS = {84: "<", DEC: "<", 86: ">"}
"""Number of the processor in the parameter section -> its byte order: Intel, DEC, MIPS."""
FULL = 0xFFFF
"""Largest count of 16 bits, which means "at least this number"."""
# Slowest and fastest plausible rate [Hz].
RATES = (0.1, 1e6)


@dataclass(frozen=True)
class Coding:
    """Layout of numbers by the machine that wrote the file: byte order, and whether reals are in VAX format."""

    order: str
    dec: bool

    def integers(self, raw: bytes) -> NDArray[np.int16]:
        """Return 16-bit integers from bytes of the file."""
        return np.frombuffer(raw, self.order + "i2")

    def reals(self, raw: bytes | NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return 32-bit reals from bytes of the file.

        A real of DEC has its two halves exchanged and four times the value of the IEEE real of the same bits (VAX
        F_floating: exponent in excess of 128, mantissa from 1/2).
        """
        if not self.dec:
            return np.frombuffer(raw, self.order + "f4")
        halves = np.frombuffer(raw, "<u2").reshape(-1, 2).astype(np.uint32)
        bits = (halves[:, 0] << np.uint32(16)) | halves[:, 1]
        exponent = (bits >> np.uint32(23)) & np.uint32(0xFF)
        # Below this exponent a quarter of the number is subnormal: not a measurement.
        bits = np.where(exponent > 2, bits - np.uint32(2 << 23), np.uint32(0))
        return bits.view(np.float32)


@dataclass(frozen=True)
class Header:
    """The numbers of the header that the parameters may repeat, in the order of the file."""

    points: int
    measurements: int
    first_frame: int
    last_frame: int
    scale: float
    data_block: int
    samples: int
    rate: float


@dataclass(frozen=True)
class Description:
    """Header and parameters ("GROUP:NAME" -> value) of a C3D file, and the coding of its numbers.

    `following_block` is the number, from 1, of the block after the stated blocks of the parameter section; 0 if not
    stated.
    """

    header: Header
    coding: Coding
    parameters: Mapping[str, Value]
    path: Path
    following_block: int = 0

    def numbers(self, name: str) -> Array:
        """Return a numeric parameter in its stated shape, first index fastest in the file; empty if it is absent."""
        value = self.parameters.get(name)
        return value if isinstance(value, np.ndarray) else np.zeros(0)

    def number(self, name: str) -> float | None:
        """Return the first number of a parameter; None if it is absent."""
        values = self.numbers(name)
        return float(values.flat[0]) if values.size else None

    def count(self, name: str) -> int | None:
        """Return a parameter that is a count: 16 bits without a sign."""
        value = self.number(name)
        if value is None or not math.isfinite(value):
            return None
        return int(value) + 0x10000 if -0x8000 <= value < 0.0 else int(value)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, followed by the texts of NAME2, NAME3, ...; empty if the parameter is absent."""
        texts: list[str] = []
        for number in range(1, 256):
            value = self.parameters.get(name if number == 1 else f"{name}{number}")
            if not isinstance(value, list):
                break
            texts += value
        return texts

    def joined(self, name: str) -> Array:
        """Return a list of numbers, followed by the numbers of NAME2, NAME3, ..."""
        parts = [self.numbers(name).ravel(order="F")]
        while parts[-1].size and f"{name}{len(parts) + 1}" in self.parameters:
            parts.append(self.numbers(f"{name}{len(parts) + 1}").ravel(order="F"))
        return np.concatenate(parts)


def read_description(raw: bytes, path: Path) -> Description:
    """Read header and parameters from the beginning of a file, which may be longer.

    Some other files have 50 (hexadecimal) as second byte too: PNG, PDF.
    """
    other = next((kind for magic, kind in _OTHERS.items() if raw.startswith(magic)), None)
    if other is None and raw and all(byte in _PRINTED for byte in raw[:BLOCK]):
        other = "a text file"
    if other is not None:
        problem, remedy = f"this is {other}, not a C3D file", "name the C3D file of the recording"
        if other == "a text file":
            remedy += ", or give a file of text its own suffix (.trc, .mot, .sto, .csv)"
        raise input_error("recording.c3d.damaged_c3d", file=path, remedy=remedy, fault=problem)
    if len(raw) < 2 or raw[1] != _MAGIC or raw[0] == 0:
        raise input_error("recording.c3d.not_c3d_file", file=path)
    start = BLOCK * (raw[0] - 1)
    if len(raw) < max(start + 4, BLOCK) or start < BLOCK:
        raise input_error(
            "recording.c3d.file_ends_after_bytes", file=path, count=len(raw), start=max(start, BLOCK)
        )
    processor = raw[start + 3]
    if processor not in ORDERS:
        raise input_error("recording.c3d.bad_processor", file=path, processor=processor, start=start + 3)
    coding = Coding(ORDERS[processor], processor == DEC)
    # Word n of the documentation is words[n - 1].
    words, reals = struct.unpack_from(coding.order + "12H", raw), coding.reals(raw[12:16] + raw[20:24])
    scale, rate = map(float, reals)
    header = Header(words[1], words[2], words[3], words[4], scale, words[8], words[9], rate)
    end = BLOCK * (header.data_block - 1)
    end = end if start < end <= len(raw) else len(raw)
    following = raw[0] + raw[start + 2] if raw[start + 2] else 0
    return Description(header, coding, _parameters(raw[:end], start + 4, coding, path), path, following)


def _parameters(raw: bytes, position: int, coding: Coding, path: Path) -> dict[str, Value]:
    """Read the records one after the other; each ends before the next one begins."""
    groups: dict[int, str] = {}
    parameters: list[tuple[int, str, Value]] = []
    place: int | None = position
    while place is not None and place + 2 <= len(raw) and raw[place] != 0:
        group, name, value, place = _record(raw, place, coding, path)
        if group < 0:
            groups[-group] = name
        elif value is not None:
            parameters.append((group, name, value))
    return {f"{groups[group]}:{name}": value for group, name, value in parameters if group in groups}


def _record(raw: bytes, start: int, coding: Coding, path: Path) -> tuple[int, str, Value | None, int | None]:
    """Read the group or parameter at a byte of the parameter section.

    Returns:
        The number of its group, negative for the group itself; its name; the numbers or texts of a parameter; and the
        byte of the next record, None after the last one.
    """
    name = ""

    def broken(key: str, /, **fields: Any) -> InputError:
        return input_error(key, file=path, where=f"byte {start}", name=name, **fields)

    def part(first: int, last: int) -> bytes:
        if last > len(raw):
            raise broken("recording.c3d.record_ends_outside")
        return raw[first:last]

    length, group = struct.unpack_from("bb", raw, start)
    name_end = start + 2 + abs(length)
    name = _text(part(start + 2, name_end)).upper()
    (offset,) = struct.unpack(coding.order + "H", part(name_end, name_end + 2))
    following = name_end + offset if offset else None  # the last record may say 0
    body, end = name_end + 2, len(raw) if following is None else following
    if not body <= end <= len(raw):
        raise broken("recording.c3d.record_points_outside")
    if group <= 0:
        return group, name, None, following
    kind, dimensions = struct.unpack("bB", part(body, body + 2))
    if kind not in (_CHARACTERS, 1, 2, 4) or dimensions > _MOST_DIMENSIONS:
        raise broken("recording.c3d.record_of_unknown_type", kind=kind, dimensions=dimensions)
    data = body + 2 + dimensions
    shape = tuple(part(body + 2, data))
    size = abs(kind) * math.prod(shape)
    if data + size > end:
        raise broken("recording.c3d.record_holds_too_much", size=size, end=max(end - data, 0))
    stored = part(data, data + size)
    if kind == _CHARACTERS:
        # The first dimension is the length of a text.
        texts = [stored] if len(shape) < 2 and stored else []
        if len(shape) > 1 and shape[0]:
            texts = [stored[k : k + shape[0]] for k in range(0, size, shape[0])]
        return group, name, [_text(text) for text in texts], following
    # A signalling NaN is no number either.
    with np.errstate(invalid="ignore"):
        numbers = coding.reals(stored) if kind == 4 else np.frombuffer(stored, coding.order + f"i{kind}")
        return group, name, numbers.astype(np.float64).reshape(shape, order="F"), following


def _text(raw: bytes) -> str:
    # Every byte is a character in the local code page of the laboratory, where a text is not UTF-8.
    return decoded(raw.split(b"\0", 1)[0].decode("latin-1")).strip()


@dataclass(frozen=True)
class DataLayout:
    """Place of the data in the file (first byte), and their counts: see the symbols of the module.

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
        """Count of numbers in a frame."""
        return 4 * self.points + self.channels * self.samples

    @property
    def last_frame(self) -> int:
        """Number of the last frame."""
        return self.first_frame + self.frames - 1

    @property
    def start_time(self) -> float:
        """Time of the first frame [s]; the frame with number 1 was at 0."""
        return (self.first_frame - 1) / self.rate


def read_layout(description: Description, size: int) -> DataLayout:
    """Return the layout of the data in a file of `size` bytes; refuse contradicting counts."""
    path, header = description.path, description.header
    points = _agreed(description, "POINT:USED", "points", header.points)
    stated_rate, samples = header.rate, max(header.samples, 1)
    rate = description.number("POINT:RATE") or stated_rate
    plausible = math.isfinite(rate) and RATES[0] <= rate <= RATES[1]
    if not plausible or (stated_rate != 0.0 and not math.isclose(rate, stated_rate, rel_tol=0.01)):
        raise input_error(
            "recording.c3d.frame_rate_hz", file=path, where="POINT:RATE", stated_rate=stated_rate, rate=rate
        )
    channels = _agreed(description, "ANALOG:USED", "analog channels", header.measurements // samples)
    if channels * samples != header.measurements:
        raise input_error(
            "recording.c3d.analog_values_in_frame",
            file=path,
            where="header, words 3 and 10",
            measurements=header.measurements,
            channels=channels,
            samples=samples,
        )
    samples, analog_rate = samples if channels else 0, description.number("ANALOG:RATE")
    if channels and analog_rate and not math.isclose(analog_rate, samples * rate, rel_tol=1e-3):
        raise input_error(
            "recording.c3d.analog_rate_hz_frame",
            file=path,
            where="ANALOG:RATE",
            analog_rate=analog_rate,
            rate=rate,
            samples=samples,
            product=samples * rate,
        )
    # Header and POINT:DATA_START both state the block at which the data begin; programs leave 0 in one of them, or in
    # both, and the data then follow the blocks of the parameters.
    stated = description.count("POINT:DATA_START")
    block = header.data_block or stated or description.following_block
    if header.data_block and stated != 0:
        block = _agreed(description, "POINT:DATA_START", "blocks before the data", header.data_block)
    start = BLOCK * (block - 1)
    scale = description.number("POINT:SCALE")
    scale = header.scale if scale is None else scale
    if not (math.isfinite(scale) and scale != 0.0 and scale * header.scale > 0.0 and abs(scale) < 1e6):
        raise input_error(
            "recording.c3d.scale_points_in_header",
            file=path,
            where="POINT:SCALE",
            scale=header.scale,
            parameter=scale,
        )
    width = 4 if scale < 0.0 else 2
    numbers = 4 * points + channels * samples
    if numbers == 0:
        if description.count("ROTATION:USED"):  # poses alone
            frames, first = header.last_frame - header.first_frame + 1, max(header.first_frame, 1)
            return DataLayout(start, width, abs(scale), 0, 0, 0, frames, first, rate)
        raise input_error("recording.c3d.file_neither_points_nor", file=path)
    if not BLOCK <= start < size:
        raise input_error(
            "recording.c3d.data_begin_at_byte", file=path, where="POINT:DATA_START", start=start, size=size
        )
    room, padding = (size - start) // (numbers * width), -(-BLOCK // (numbers * width))
    first, frames = _frames(description, room, padding)
    if frames <= room - padding and not (header.data_block or stated):
        raise input_error(
            "recording.c3d.start_data_not_stated", file=path, where="POINT:DATA_START", frames=frames
        )
    return DataLayout(start, width, abs(scale), points, channels, samples, frames, first, rate)


def _agreed(description: Description, name: str, what: str, stated: int) -> int:
    """Return a count that header and parameter both state; refuse counts that disagree."""
    count = description.count(name)
    if count is None or count == stated:
        return stated
    raise input_error(
        "recording.c3d.header_says_says",
        file=description.path,
        where=name,
        stated=stated,
        what=what,
        name=name,
        count=count,
    )


def _frames(description: Description, room: int, padding: int) -> tuple[int, int]:
    """Return the number of the first frame and the count of frames.

    Sixteen bits end at 65535, so longer recordings state it elsewhere: in TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD
    (two 16-bit halves each, the lower one first), in POINT:LONG_FRAMES, or in POINT:FRAMES as a real number. `room`
    frames fit between the start of the data and the end of the file, `padding` into the block that ends the data.
    """
    header = description.header
    halves = (description.numbers(f"TRIAL:ACTUAL_{end}_FIELD").ravel() for end in ("START", "END"))
    first, last = (
        int(pair[0]) % 0x10000 + 0x10000 * (int(pair[1]) % 0x10000)
        if pair.size == 2 and np.isfinite(pair).all()
        else None
        for pair in halves
    )
    start = first if first else max(header.first_frame, 1)
    parameters = [description.count(f"POINT:{name}") for name in ("LONG_FRAMES", "FRAMES")]
    stated = None if header.last_frame == FULL else header.last_frame - header.first_frame + 1
    counts = [last - first + 1] if first and last else []
    counts += [count for count in (*parameters, stated) if count and count != FULL]
    if FULL in parameters and room - padding < FULL <= room:
        counts.append(FULL)
    fitting = [count for count in counts if room - padding < count <= room]
    problem, expected = "", "two frames or more, and bytes for all of them"
    # Cropping may not have updated one of the counts; the count that fits the size of the file is right.
    frames = fitting[0] if fitting else counts[0] if counts else 0
    if not counts:
        problem = "the number of frames is not stated"
    elif frames < 2 or frames > room:
        problem = f"{frames} frames are stated, but the file has bytes for {room}"
    elif not fitting and len(set(counts)) > 1:
        problem = f"the counts of frames disagree: {', '.join(str(count) for count in counts)}"
    if problem:
        raise input_error(
            "recording.c3d.data_cut_off",
            file=description.path,
            where="POINT:FRAMES",
            expected=expected,
            fault=problem,
        )
    return start, frames


_INCHES = {"in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048, "feet": 0.3048}
_DEFAULT_UNIT = "mm"
# Points that the modeling part of capture software stores among the markers: angles, moments, and so on.
_COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
# Markers are of such diameters [m]; another number is in another unit, or not filled in.
DIAMETERS = (0.002, 0.05)
CHUNK = 4 << 20
"""Bytes of a file that are read together."""
# Names of events in capture software.
_KINDS: dict[str, EventKind] = {
    "foot strike": "heel_strike",
    "heel strike": "heel_strike",
    "foot contact": "heel_strike",
    "initial contact": "heel_strike",
    "foot off": "toe_off",
    "toe off": "toe_off",
}
# Longest plausible recording [s].
_LONGEST_RECORDING = 1e7


def is_c3d(path: str | Path) -> bool:
    """Return whether a file is a C3D file by its suffix; its forces are plates instead of columns."""
    return Path(path).suffix.casefold() == ".c3d"


def length_in(unit: str) -> float | None:
    """Return the size [m] of a unit of length of a C3D file; None for an unknown unit."""
    size = meters_in(unit)
    return _INCHES.get(plain_unit(unit)) if size is None else size


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
        size = length_in(self.unit or _DEFAULT_UNIT)
        if size is None:
            raise input_error(
                "recording.c3d.unit_length", file=self.path, where="POINT:UNITS", unit=self.unit
            )
        return size

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on assumptions about the file."""
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
        """Name of every labeled marker -> its number among the points, the first one of several."""
        return self._labeled[0]

    @cached_property
    def _labeled(self) -> tuple[dict[str, int], dict[str, str]]:
        """The labels, and the places of repeated labels."""
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
        """Return the labeled markers in meters, in the axes of the file.

        A point with a negative residual or a coordinate that is not a number was not seen.

        Raises:
            InputError: there are none.
        """
        (labels, repeated), layout = self._labeled, self.layout
        names, places = tuple(labels), list(labels.values())
        shown = points_of_segments(self)
        if not names and shown:
            return self._markers_of_segments(shown)
        if not names:
            raise input_error("recording.c3d.file_no_labeled_markers", file=self.path, where="POINT:LABELS")
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
        blanked(position, names, repeated)
        notes = (*self.notes, *repeated_notes("marker", repeated, self.path))
        if shown and len(next(iter(shown.values()))) == len(position):
            position = np.concatenate([position, np.stack([*shown.values()], axis=1)], axis=1)
            names, notes = (*names, *shown), (*notes, self._placed_note)
        return Markers(
            self.time, names, position, self.path, notes, repeated=repeated, diameter=self.marker_diameter
        )

    def _markers_of_segments(self, shown: dict[str, Array]) -> Markers:
        """Points (F, 3) of the body that poses of segments show [m] as markers, in the axes of the file."""
        rate = self.description.number("ROTATION:RATE") or self.layout.rate
        position = np.stack([*shown.values()], axis=1)
        time = self.layout.start_time + np.arange(len(position)) / rate
        return Markers(time, tuple(shown), position, self.path, (*self.notes, self._placed_note))

    @property
    def _placed_note(self) -> str:
        """A sentence on the points that proportions place on segments."""
        placed = "heels, epicondyles, malleoli and spines of the pelvis are placed by proportions"
        return f"{self.path.name} has poses of segments: {placed}."

    @property
    def shows_body(self) -> bool:
        """Whether the file has labeled markers, or poses of segments."""
        return bool(self.labels or segment_names(self))

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
            scale = description.joined("ANALOG:SCALE")[: layout.channels] * (
                1.0 if general is None else general
            )
        if scale.size < layout.channels or not (np.abs(scale) < LARGEST).all():
            problem = "a scale is not a number"
            if scale.size < layout.channels:
                problem = f"{scale.size} scales for {layout.channels} analog channels"
            raise input_error(
                "recording.c3d.bad_channel_scale", file=self.path, where="ANALOG:SCALE", fault=problem
            )
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
            raise input_error(
                "recording.c3d.analog_value",
                file=self.path,
                values=values[frame, sample, column],
                channels=channels[column] + 1,
                time=time,
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
                    raise input_error("recording.c3d.file_became_shorter_while", file=self.path)
                numbers: NDArray[np.generic] = (
                    coding.reals(raw) if layout.width == 4 else coding.integers(raw)
                )
                yield slice(first, first + count), numbers.reshape(count, layout.numbers)

    def channels(self) -> Table:
        """Return every labeled analog channel over time, in the unit of its calibration.

        Raises:
            InputError: there are none.
        """
        labels = enumerate(self.description.texts("ANALOG:LABELS")[: self.layout.channels])
        named = [(k, label) for k, label in labels if label]
        if not named:
            raise input_error("recording.c3d.file_no_labeled_analog", file=self.path, where="ANALOG:LABELS")
        places, repeated = distinct_names(named, "ANALOG:LABELS, channels")
        values = self.analog(list(places.values()))
        blanked(values, tuple(places), repeated)
        return Table(self.analog_time, tuple(places), values, None, self.path, repeated=repeated)


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
    description = read_description(raw, path)
    return C3D(path, description, read_layout(description, size))


def stated_events(files: Mapping[str, Path]) -> tuple[Event, ...]:
    """Return the events in the C3D file of the motion, or if it has none in the file of the forces."""
    for role in ("markers", "forces"):
        if role in files and is_c3d(files[role]) and (events := read_events(read_c3d(files[role]))):
            return events
    return ()


def read_events(file: C3D) -> tuple[Event, ...]:
    """Return the heel strikes and toe-offs in a file, in the order of time.

    EVENT:TIMES holds minutes and seconds of each event, zero at frame 1, CONTEXTS the side, LABELS the kind
    (www.c3d.org/HTML/Documents, "The EVENT Group"). Other events, and events without a side, are ignored.
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
        side = SIDE_LETTERS.get(context.casefold())
        kind = _KINDS.get(" ".join(label.casefold().replace("-", " ").replace("_", " ").split()))
        if side and kind and math.isfinite(second) and abs(second) < _LONGEST_RECORDING:
            events.append(Event(kind, side, float(second), "stated"))
    return tuple(sorted(events, key=lambda event: event.time))
