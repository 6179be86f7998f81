"""Header, parameter section and data layout of a C3D file, verified against each other and the length of the file.

A C3D file is a sequence of blocks of 512 bytes: a header, parameters in named groups, then the data
(www.c3d.org/HTML/Documents, "Header Section", "The Parameter Section"). Every read is checked against the length of the
file: a corrupted count or offset raises an error and is never replaced by a guess.

Each of F frames of the data holds n points of four numbers (x, y, z, residual) and then s samples of k analog
channels ("3D Point Data Section"). Header and parameters state the same counts twice. A file in which they disagree is
refused, because the places of the markers are unknown.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError, file_error
from musclesolve.tables.text_file import damaged, decoded

Value = Array | list[str]
BLOCK = 512
_MAGIC = 0x50
_OTHERS = {
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a compressed file (gzip)",
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

    def damaged(self, code: str, name: str, problem: str, expected: str) -> InputError:
        """Return the error of a parameter that contradicts the file or another number in it."""
        return damaged(code, (self.path, name), problem, expected)

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
        raise file_error("bad_format", path, problem, "a C3D file of the capture software", remedy)
    if len(raw) < 2 or raw[1] != _MAGIC or raw[0] == 0:
        raise file_error(
            "bad_format",
            path,
            "this is not a C3D file",
            "a second byte of 80 (hexadecimal 50)",
            "export the recording as C3D, or name the C3D file",
        )
    start = BLOCK * (raw[0] - 1)
    if len(raw) < max(start + 4, BLOCK) or start < BLOCK:
        raise damaged(
            "truncated_file",
            path,
            f"the file ends after {len(raw)} bytes",
            f"parameters from byte {max(start, BLOCK)} on",
        )
    processor = raw[start + 3]
    if processor not in ORDERS:
        raise damaged(
            "bad_format",
            (path, f"byte {start + 3}"),
            f"the processor is {processor}",
            "84 (Intel), 85 (DEC) or 86 (MIPS)",
        )
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

    def broken(what: str) -> InputError:
        problem = f"the parameter section is corrupted: the record {name!r} {what}"
        return damaged("bad_format", (path, f"byte {start}"), problem, "records, one after the other")

    def part(first: int, last: int) -> bytes:
        if last > len(raw):
            raise broken("ends beyond the parameter section")
        return raw[first:last]

    length, group = struct.unpack_from("bb", raw, start)
    name_end = start + 2 + abs(length)
    name = _text(part(start + 2, name_end)).upper()
    (offset,) = struct.unpack(coding.order + "H", part(name_end, name_end + 2))
    following = name_end + offset if offset else None  # the last record may say 0
    body, end = name_end + 2, len(raw) if following is None else following
    if not body <= end <= len(raw):
        raise broken("points beyond the parameter section")
    if group <= 0:
        return group, name, None, following
    kind, dimensions = struct.unpack("bB", part(body, body + 2))
    if kind not in (_CHARACTERS, 1, 2, 4) or dimensions > _MOST_DIMENSIONS:
        raise broken(f"has type {kind} and {dimensions} dimensions")
    data = body + 2 + dimensions
    shape = tuple(part(body + 2, data))
    size = abs(kind) * math.prod(shape)
    if data + size > end:
        raise broken(f"has {size} bytes, but there is room for {max(end - data, 0)}")
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
    frame number 1; the rate is in frames per second [Hz]. `by_length`: nothing but the length of the file states the
    frames.
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
    by_length: bool = False

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


def read_layout(description: Description, size: int, zeros: int = 0) -> DataLayout:
    """Return the layout of the data in a file of `size` bytes that ends in `zeros`; refuse contradicting counts."""
    header = description.header
    points = _agreed(description, "POINT:USED", "points", header.points)
    stated_rate, samples = header.rate, max(header.samples, 1)
    rate = description.number("POINT:RATE") or stated_rate
    plausible = math.isfinite(rate) and RATES[0] <= rate <= RATES[1]
    if not plausible or (stated_rate != 0.0 and not math.isclose(rate, stated_rate, rel_tol=0.01)):
        problem = f"the frame rate is {stated_rate:g} Hz in the header and {rate:g} Hz in the parameters"
        raise description.damaged("bad_number", "POINT:RATE", problem, "one rate above 0")
    channels = _agreed(description, "ANALOG:USED", "analog channels", header.measurements // samples)
    if channels * samples != header.measurements:
        problem = (
            f"{header.measurements} analog values in a frame, but {channels} channels of {samples} samples"
        )
        raise description.damaged("conflict", "header, words 3 and 10", problem, "as many values as samples")
    samples, analog_rate = samples if channels else 0, description.number("ANALOG:RATE")
    if channels and analog_rate and not math.isclose(analog_rate, samples * rate, rel_tol=1e-3):
        problem = f"the analog rate is {analog_rate:g} Hz, the frame rate {rate:g} Hz, with {samples} samples a frame"
        raise description.damaged("conflict", "ANALOG:RATE", problem, f"{samples * rate:g} Hz")
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
        problem = f"the scale of points is {header.scale:g} in the header and {scale:g} in the parameters"
        expected = "one number, negative where data are stored as reals"
        raise description.damaged("bad_number", "POINT:SCALE", problem, expected)
    width = 4 if scale < 0.0 else 2
    numbers = 4 * points + channels * samples
    if numbers == 0:
        if description.count("ROTATION:USED"):  # poses alone
            frames, first = header.last_frame - header.first_frame + 1, max(header.first_frame, 1)
            return DataLayout(start, width, abs(scale), 0, 0, 0, frames, first, rate)
        problem = "the file has neither points nor analog channels"
        raise damaged("truncated_file", description.path, problem, "markers or plates")
    if not BLOCK <= start < size:
        problem = f"the data begin at byte {start} of {size}"
        raise description.damaged("truncated_file", "POINT:DATA_START", problem, "data behind the parameters")
    room, padding = (size - start) // (numbers * width), -(-BLOCK // (numbers * width))
    filled = room - min(zeros // (numbers * width), padding)
    first, frames, by_length = _frames(description, room, padding, filled)
    if frames <= room - padding and not (header.data_block or stated):
        problem = f"the start of the data is not stated, and {frames} frames do not fill the file"
        expected = "the number of the block at which the data begin"
        raise description.damaged("truncated_file", "POINT:DATA_START", problem, expected)
    return DataLayout(start, width, abs(scale), points, channels, samples, frames, first, rate, by_length)


def _agreed(description: Description, name: str, what: str, stated: int) -> int:
    """Return a count that header and parameter both state; refuse counts that disagree."""
    count = description.count(name)
    if count is None or count == stated:
        return stated
    problem = f"the header states {stated} {what}, {name} states {count}"
    raise description.damaged("conflict", name, problem, "one number in both")


def _frames(description: Description, room: int, padding: int, filled: int) -> tuple[int, int, bool]:
    """Return the number of the first frame, the count of frames, and whether only the length of the file states it.

    Sixteen bits end at 65535, so longer recordings state it elsewhere: in TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD
    (two 16-bit halves each, the lower one first), in POINT:LONG_FRAMES, or in POINT:FRAMES as a real number. Some state
    the rest beyond 65536, others nothing. `room` frames fit between the start of the data and the end of the file,
    `padding` into the block that ends the data, and `filled` of them are not empty.

    A recording that begins before its trigger has a negative first number, which 16 bits hold as a large one: the last
    number is smaller then.
    """
    header = description.header
    halves = (description.numbers(f"TRIAL:ACTUAL_{end}_FIELD").ravel() for end in ("START", "END"))
    first, last = (
        int(pair[0]) % 0x10000 + 0x10000 * (int(pair[1]) % 0x10000)
        if pair.size == 2 and np.isfinite(pair).all()
        else None
        for pair in halves
    )
    begins = header.first_frame
    if first and last and first > last and first >= 0x8000:
        first -= 0x10000 if first <= FULL else 0x100000000
    if begins > header.last_frame and begins >= 0x8000:
        begins -= 0x10000
    start = first if first else begins or 1
    parameters = [description.count(f"POINT:{name}") for name in ("LONG_FRAMES", "FRAMES")]
    stated = None if header.last_frame == FULL else header.last_frame - begins + 1
    counts = [last - first + 1] if first and last else []
    counts += [count for count in (*parameters, stated) if count and count != FULL]
    if FULL in parameters and room - padding < FULL <= room:
        counts.append(FULL)
    # A count of 16 bits is the rest of one that they cannot hold.
    wrapped = [count + 0x10000 * ((room - count) // 0x10000) for count in counts if 0 < count < room]
    fitting = [count for count in (*counts, *wrapped) if room - padding < count <= room]
    by_length = not counts and filled > FULL
    counts += [filled] if by_length else []
    problem, expected = "", "a frame or more, and bytes for all of them"
    # Cropping may not have updated one of the counts; the count that fits the size of the file is right.
    frames = fitting[0] if fitting else counts[0] if counts else 0
    if not counts:
        problem = "the number of frames is not stated"
    elif frames < 1 or frames > room:
        problem = f"{frames} frames are stated, but the file has bytes for {room}"
    elif not fitting and len(set(counts)) > 1:
        problem = f"the counts of frames disagree: {', '.join(str(count) for count in counts)}"
    if problem:
        raise description.damaged("truncated_file", "POINT:FRAMES", problem, expected)
    return start, frames, by_length
