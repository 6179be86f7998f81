"""Header and parameter section of a C3D file, walked record by record and verified.

A C3D file is a row of blocks of 512 bytes: a header, parameters in named groups, then the data
(www.c3d.org/HTML/Documents, "Header Section", "The Parameter Section"). All that is read here lies inside of bytes
that are there: a corrupted count or offset ends in an error that says so, never in a guess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.place_errors import EXPORT_AGAIN, error_at

Value = Array | list[str]

BLOCK = 512
_MAGIC = 0x50
_MOST_DIMENSIONS = 7
LONGEST = 4096 * BLOCK
"""No header and parameter section together is longer than this [bytes]: its own count of blocks ends at 255."""
_CHARACTERS = -1


DEC = 85
"""Processor with Intel's integers and reals of its own."""
ORDERS = {84: "<", DEC: "<", 86: ">"}
"""Processor, as the parameter section names it -> order of its bytes: Intel, DEC, MIPS."""


@dataclass(frozen=True)
class Coding:
    """How the machine that wrote the file laid out its numbers: byte order, and whether reals are those of a VAX."""

    order: str
    dec: bool

    def integers(self, raw: bytes) -> NDArray[np.int16]:
        """Return 16-bit integers."""
        return np.frombuffer(raw, self.order + "i2")

    def reals(self, raw: bytes | NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return 32-bit reals.

        A real of DEC has its two halves exchanged and four times the value of the IEEE real of the same bits (VAX
        F_floating: exponent in excess of 128, mantissa from 1/2).
        """
        if not self.dec:
            return np.frombuffer(raw, self.order + "f4")
        halves = np.frombuffer(raw, "<u2").reshape(-1, 2).astype(np.uint32)
        bits = (halves[:, 0] << np.uint32(16)) | halves[:, 1]
        exponent = (bits >> np.uint32(23)) & np.uint32(0xFF)
        # Below this exponent a quarter of the number is smaller than any normal one: nothing that was measured.
        bits = np.where(exponent > 2, bits - np.uint32(2 << 23), np.uint32(0))
        return bits.view(np.float32)


@dataclass(frozen=True)
class Header:
    """The numbers of the header that the parameters may repeat."""

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

    `following_block` is the block behind the stated blocks of the parameter section, from 1; 0 where none is stated.
    """

    header: Header
    coding: Coding
    parameters: Mapping[str, Value]
    path: Path
    following_block: int = 0

    def numbers(self, name: str) -> Array:
        """Return a numeric parameter in its own shape, first index fastest in the file; empty where there is none."""
        value = self.parameters.get(name)
        return value if isinstance(value, np.ndarray) else np.zeros(0)

    def number(self, name: str) -> float | None:
        """Return the first number of a parameter; None where there is none."""
        values = self.numbers(name)
        return float(values.flat[0]) if values.size else None

    def count(self, name: str) -> int | None:
        """Return a parameter that counts something: 16 bits without a sign."""
        value = self.number(name)
        if value is None or not math.isfinite(value):
            return None
        return int(value) + 0x10000 if -0x8000 <= value < 0.0 else int(value)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, with those of NAME2, NAME3, ... behind it; empty where there is none."""
        texts: list[str] = []
        for number in range(1, 256):
            value = self.parameters.get(name if number == 1 else f"{name}{number}")
            if not isinstance(value, list):
                break
            texts += value
        return texts

    def joined(self, name: str) -> Array:
        """Return a list of numbers, with those of NAME2, NAME3, ... behind it."""
        parts = [self.numbers(name).ravel(order="F")]
        while parts[-1].size and f"{name}{len(parts) + 1}" in self.parameters:
            parts.append(self.numbers(f"{name}{len(parts) + 1}").ravel(order="F"))
        return np.concatenate(parts)


def corrupted(
    path: Path,
    problem: str,
    where: str | None = None,
    expected: str | None = None,
    code: str = "truncated_file",
) -> InputError:
    """Return the error of a file that is not what a C3D file has to be."""
    return error_at(path, where, problem, expected, f"{EXPORT_AGAIN}, or copy it again", code=code)


def read_description(raw: bytes, path: Path) -> Description:
    """Read header and parameters from the beginning of a file, which may be longer."""
    if len(raw) < 2 or raw[1] != _MAGIC or raw[0] == 0:
        expected = "a second byte of 80 (hexadecimal 50)"
        raise error_at(
            path,
            None,
            "this is not a C3D file",
            expected,
            "export the recording as C3D, or name the C3D file",
        )
    start = BLOCK * (raw[0] - 1)
    if len(raw) < max(start + 4, BLOCK) or start < BLOCK:
        expected = f"parameters from byte {max(start, BLOCK)} on"
        raise corrupted(path, f"the file ends after {len(raw)} bytes", expected=expected)
    processor = raw[start + 3]
    if processor not in ORDERS:
        problem, expected = f"the processor is {processor}", "84 (Intel), 85 (DEC) or 86 (MIPS)"
        raise corrupted(path, problem, f"byte {start + 3}", expected, "bad_format")
    coding = Coding(ORDERS[processor], processor == DEC)
    header = _header(raw, coding)
    end = BLOCK * (header.data_block - 1)
    end = end if start < end <= len(raw) else len(raw)
    following = raw[0] + raw[start + 2] if raw[start + 2] else 0
    return Description(header, coding, _parameters(raw[:end], start + 4, coding, path), path, following)


def _header(raw: bytes, coding: Coding) -> Header:
    """Return the header; word n of the documentation is words[n - 1]."""
    words = coding.integers(raw[:24]).view(coding.order + "u2").astype(int)
    reals = coding.reals(raw[12:16] + raw[20:24])
    return Header(
        points=int(words[1]),
        measurements=int(words[2]),
        first_frame=int(words[3]),
        last_frame=int(words[4]),
        scale=float(reals[0]),
        data_block=int(words[8]),
        samples=int(words[9]),
        rate=float(reals[1]),
    )


def _parameters(raw: bytes, position: int, coding: Coding, path: Path) -> dict[str, Value]:
    """Walk the records from one to the next; each lies wholly before the next one."""
    groups: dict[int, str] = {}
    found: list[tuple[int, str, Value]] = []
    while position + 2 <= len(raw) and raw[position] != 0:
        record = _Record(raw, position, coding, path)
        if record.group < 0:
            groups[-record.group] = record.name
        elif record.group > 0:
            found.append((record.group, record.name, record.value()))
        if record.next is None:
            break
        position = record.next
    return {f"{groups[group]}:{name}": value for group, name, value in found if group in groups}


class _Record:
    """One group or parameter at a byte of the parameter section."""

    def __init__(self, raw: bytes, position: int, coding: Coding, path: Path) -> None:
        self._raw, self._coding, self._path, self._start = raw, coding, path, position
        length = abs(_signed(raw[position]))
        self.group = _signed(raw[position + 1])
        name_end = position + 2 + length
        self.name = _text(self._bytes(position + 2, name_end)).upper()
        offset = int(coding.integers(self._bytes(name_end, name_end + 2)).view(coding.order + "u2")[0])
        # The last record may say 0.
        self.next = name_end + offset if offset else None
        self._body = name_end + 2
        self._end = len(raw) if self.next is None else self.next
        if self._end > len(raw) or self._end < self._body:
            raise self._broken("points beyond the parameter section")

    def value(self) -> Value:
        """Return the numbers or texts of a parameter."""
        kind = _signed(self._bytes(self._body, self._body + 1)[0])
        count = self._bytes(self._body + 1, self._body + 2)[0]
        if kind not in (_CHARACTERS, 1, 2, 4) or count > _MOST_DIMENSIONS:
            raise self._broken(f"has type {kind} and {count} dimensions")
        shape = tuple(self._bytes(self._body + 2, self._body + 2 + count))
        data = self._body + 2 + count
        size = abs(kind) * math.prod(shape)
        if data + size > self._end:
            raise self._broken(f"holds {size} bytes where there is room for {max(self._end - data, 0)}")
        raw = self._bytes(data, data + size)
        if kind == _CHARACTERS:
            return _texts(raw, shape)
        if kind == 4:
            # A signalling NaN is no number either.
            with np.errstate(invalid="ignore"):
                numbers = self._coding.reals(raw).astype(np.float64)
        elif kind == 2:
            numbers = self._coding.integers(raw).astype(np.float64)
        else:
            numbers = np.frombuffer(raw, np.int8).astype(np.float64)
        return numbers.reshape(shape, order="F")

    def _bytes(self, first: int, last: int) -> bytes:
        if last > len(self._raw):
            raise self._broken("ends beyond the parameter section")
        return self._raw[first:last]

    def _broken(self, what: str) -> InputError:
        problem = f"the parameter section is corrupted: the record {getattr(self, 'name', '')!r} {what}"
        expected = "records, one after the other"
        return corrupted(self._path, problem, f"byte {self._start}", expected, "bad_format")


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _texts(raw: bytes, shape: tuple[int, ...]) -> list[str]:
    """Return the texts of a parameter: the first dimension is their length."""
    if len(shape) < 2:
        return [_text(raw)] if raw else []
    length = shape[0]
    if length == 0:
        return []
    return [_text(raw[length * k : length * (k + 1)]) for k in range(math.prod(shape[1:]))]


def _text(raw: bytes) -> str:
    raw = raw.split(b"\0", 1)[0]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        # Every byte is a character in the local code page of the laboratory.
        text = raw.decode("latin-1")
    return text.strip()
