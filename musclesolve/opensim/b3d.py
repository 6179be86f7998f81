"""B3D files of AddBiomechanics: the model of a subject, and its trials, frame by frame.

The format is defined by nimblephysics (keenon/nimblephysics: dart/proto/SubjectOnDisk.proto and
dart/biomechanics/SubjectOnDisk.cpp). That package reads it, but needs 80 MB, 300 MB on disk, and torch. The format is
simple: the length n of the header (8 bytes, little-endian), n bytes of the header, and for every frame of every trial a
block of the sensors and one for each processing pass of the trial. Header and blocks are messages of protocol buffers
(protobuf.dev/programming-guides/encoding): a key (8 bytes of field number and wire type in a variable-length integer),
then a number or a length and its bytes. All blocks of a kind have the same length and their fields at the same places,
so that the frames of a trial are one array of bytes, and a field is a slice of it.

Meaning of the blocks by the source of nimblephysics and real files, where the documentation differs:
`wrench` is about the origin of the ground and in its axes, not in the axes of the body; `moment`, `point`, `torque` and
`force` of the first and the last frame are not computed, but zero; older files do not have the last three.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.constants import SEXES
from musclesolve.errors import InputError, file_error
from musclesolve.recording.text.text_file import file_path, open_input, opening

SUFFIX = ".b3d"
NEWEST = 4
"""Newest version of the format that is read; earlier versions have the same numbers of fields."""
MISSING_FORCES = (
    "measured",
    "no force while the body accelerates",
    "an external force that no plate measured",
    "moments that contradict the motion",
    "forces that contradict the motion",
    "a foot beside the plates",
    "an impact that is missing",
    "a blip that is missing",
    "forces shifted in time",
    "forces interpolated where they were clipped",
    "marked by hand",
)
"""Reasons why the ground forces of a frame are missing, by number; the first means that they are present."""
PASSES = ("kinematics", "dynamics", "low-pass filter", "acceleration minimizing filter")
_LENGTH = 8
_LONGEST_HEADER = 1 << 30
_PASS = {
    "position": 1,
    "velocity": 2,
    "acceleration": 3,
    "moment": 4,
    "wrench": 5,
    "point": 6,
    "torque": 7,
    "force": 8,
}
"""Fields of the block of a processing pass."""
_PLATES = {"plate_point": 7, "plate_moment": 8, "plate_force": 9}
"""Fields of the block of the sensors."""


@dataclass(frozen=True, eq=False)
class B3DPass:
    """One processing pass over the T frames of a trial, with n coordinates and B contact bodies.

    kind: of `PASSES`; number: of the pass, whose model is `B3DSubject.models[number]`. position, velocity,
    acceleration (T, n) [rad or m, s]; moment (T, n) [N m or N]: of inverse dynamics, residuals at the root included.
    wrench (T, B, 6): moment about the origin of the ground [N m] and force [N] on each body, in the axes of the ground.
    point, torque, force (T, B, 3) [m, N m, N]: the ground reaction at the center of pressure.
    """

    kind: str
    number: int
    position: Array
    velocity: Array
    acceleration: Array
    moment: Array
    wrench: Array
    point: Array
    torque: Array
    force: Array

    @property
    def stated(self) -> Mask:
        """Frames (T,) whose moments were computed."""
        return np.asarray(self.moment.any(axis=1))


@dataclass(frozen=True, eq=False)
class B3DTrial:
    """A trial: its name, the name of its recording, and its frames at `time` (T,) [s], from zero.

    missing (T,): number of the reason why the ground forces are missing (`MISSING_FORCES`), 0 if they are present.
    The passes of a trial whose frames were not read have no frames.
    plate_point, plate_moment, plate_force (T, P, 3) [m, N m, N]: of the P plates; NaN without a plate.
    """

    name: str
    original_name: str
    time: Array
    missing: NDArray[np.int64]
    passes: tuple[B3DPass, ...]
    plate_point: Array
    plate_moment: Array
    plate_force: Array


@dataclass(frozen=True, eq=False)
class B3DSubject:
    """Contents of a B3D file on one subject; None for values that are not stated.

    models: text of the .osim file of every processing pass; coordinate_count: of each model; contact_bodies: bodies on
    which the ground acts.
    """

    path: Path
    version: int
    mass_kg: float | None
    stature_m: float | None
    sex: str | None
    age_years: float | None
    tags: tuple[str, ...]
    link: str
    notes: str
    coordinate_count: int
    contact_bodies: tuple[str, ...]
    models: tuple[str, ...]
    trials: tuple[B3DTrial, ...]


_AGAIN = "download the file again"


def _fault(
    file: Path, problem: str, expected: str = "a B3D file of AddBiomechanics", where: str | None = None
) -> InputError:
    return file_error("bad_format", (file, where), problem, expected, _AGAIN)


def _cut(file: Path, problem: str) -> InputError:
    return file_error("truncated_file", file, problem, "a file that is whole", _AGAIN)


def read_b3d(path: str | Path, names: Collection[str] | None = None) -> B3DSubject:
    """Read a B3D file.

    Args:
        path: of the file.
        names: the trials whose frames are read; all of them unless given. A fault of the frames of other trials is
            then no error. With no name only the header is read.

    Raises:
        InputError: the file is no B3D file, ends early, or is of another version.
    """
    file = file_path(path)
    with open_input(file) as stream, opening(file):
        return _subject(stream, file, names)


def _subject(stream: BinaryIO, file: Path, names: Collection[str] | None) -> B3DSubject:
    """The content of an open B3D file; see `read_b3d`."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    stated = int.from_bytes(stream.read(_LENGTH), "little", signed=True)
    start = _LENGTH + stated
    if size < _LENGTH or not 0 < stated < _LONGEST_HEADER:
        raise _fault(file, "this is no B3D file: it does not begin with the length of its header")
    if start > size:
        raise _cut(file, f"the header has {stated} bytes, the file {size}")
    header = _header(stream.read(stated), file)
    version = header.whole(10)
    if not 1 <= version <= NEWEST:
        raise file_error(
            "unsupported",
            (file, "header"),
            f"the file is of version {version}",
            f"a version from 1 to {NEWEST}",
            "process the subject again with the service of today, or read the file with nimblephysics",
        )
    sensors, block, count = header.whole(3), header.whole(4), header.whole(1)
    bodies = header.texts(6)
    trials, position = [], start
    for trial in header.messages(9):
        read = stream if names is None or trial.text(1) in names else None
        found, length = _trial(trial, read, size - position, (sensors, block), (count, len(bodies)), file)
        trials.append(found)
        position += length
        stream.seek(position)
    if names is None and position != size:
        problem = f"{size - position} bytes follow the last frame"
        raise _fault(file, problem, "the frames that the header states", f"byte {position}")
    sex, age = header.text(13).casefold(), header.whole(16)
    return B3DSubject(
        path=file,
        version=version,
        mass_kg=header.real(15) or None,
        stature_m=header.real(14) or None,
        sex=sex if sex in SEXES else None,
        age_years=float(age) if 0 < age <= 120 else None,
        tags=header.texts(23),
        link=header.text(11),
        notes=header.text(12),
        coordinate_count=count,
        contact_bodies=bodies,
        models=tuple(part.text(2) for part in header.messages(5)),
        trials=tuple(trials),
    )


@lru_cache(maxsize=2)
def _header(raw: bytes, file: Path) -> _Message:
    """The header of a file, which is parsed once for all its trials."""
    return _Message(raw, file)


def _trial(
    header: _Message,
    stream: BinaryIO | None,
    left: int,
    sizes: tuple[int, int],
    counts: tuple[int, int],
    file: Path,
) -> tuple[B3DTrial, int]:
    """A trial and the bytes of its frames.

    Args:
        header: of the trial.
        stream: at its first frame; None to leave its frames out.
        left: bytes of the file from there.
        sizes: bytes of the two blocks.
        counts: of coordinates and bodies.
        file: for messages.
    """
    name, frames, step = header.text(1), header.whole(3), header.real(4)
    passes = header.messages(5)
    if not name or frames < 0 or not (step > 0.0 and np.isfinite(step)) or min(sizes) < 0:
        problem = (
            f"trial {name!r} has {frames} frames of {step:g} s in blocks of {sizes[0]} and {sizes[1]} bytes"
        )
        raise _fault(file, problem, "a name, frames and a time step", "header")
    length = sizes[0] + len(passes) * sizes[1]
    if stream is not None and frames * length > left:
        whole = max(left, 0) // max(length, 1)
        raise _cut(file, f"trial {name} has {frames} frames, {whole} of which are there")
    read = frames if stream is not None else 0
    raw = stream.read(read * length) if stream is not None else b""
    table = np.frombuffer(raw, np.uint8).reshape(read, length)
    plates = _columns(table[:, : sizes[0]], _PLATES, file, name)
    passes_read = []
    for number, message in enumerate(passes):
        first = sizes[0] + number * sizes[1]
        columns = _columns(table[:, first : first + sizes[1]], _PASS, file, name)
        of_body = {"wrench": 6, "point": 3, "torque": 3, "force": 3}
        widths = {field: of_body[field] * counts[1] if field in of_body else counts[0] for field in _PASS}
        for field, width in widths.items():
            if read and columns[field].shape[1] != width:
                problem = f"{field} has {columns[field].shape[1]} numbers a frame"
                raise _fault(file, problem, f"{width}", f"trial {name}")
        by_body = {field: columns[field].reshape(read, counts[1], size) for field, size in of_body.items()}
        kind = message.whole(1)
        called = PASSES[kind] if 0 <= kind < len(PASSES) else f"pass of kind {kind}"
        passes_read.append(B3DPass(called, number, **columns | by_body))
    missing = np.array(header.wholes(2), np.int64)
    if len(missing) != frames:
        problem = f"it is stated of {len(missing)} of {frames} frames whether their forces are missing"
        raise _fault(file, problem, "every frame", f"trial {name}")
    by_plate = {field: column.reshape(read, column.shape[1] // 3, 3) for field, column in plates.items()}
    time = np.arange(frames, dtype=float) * step
    return B3DTrial(
        name, header.text(10) or name, time, missing, tuple(passes_read), **by_plate
    ), frames * length


def _columns(blocks: NDArray[np.uint8], fields: dict[str, int], file: Path, trial: str) -> dict[str, Array]:
    """Fields of all frames (T, k) from blocks of bytes (T, size), at the places of the fields in the first block."""
    columns = {name: np.zeros((len(blocks), 0)) for name in fields}
    if not len(blocks):
        return columns
    numbers, keys = {number: name for name, number in fields.items()}, np.ones(blocks.shape[1], bool)
    for number, wire, first, last in _fields(blocks[0].tobytes(), file):
        if wire == _BYTES and (last - first) % 8 == 0:
            keys[first:last] = False
            if number in numbers:
                part = np.ascontiguousarray(blocks[:, first:last])
                columns[numbers[number]] = part.view("<f8").astype(float)
    if (blocks[:, keys] != blocks[0, keys]).any():
        raise _fault(file, "frames are laid out differently", "every frame like the first", f"trial {trial}")
    return columns


_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
"""Wire types: a variable-length integer, 8 bytes, a length followed by its bytes, 4 bytes."""


class _Message:
    """A message of protocol buffers, its fields by their numbers."""

    def __init__(self, raw: bytes, file: Path) -> None:
        self.file, self.values, self.parsed = file, dict[int, list[Any]](), dict[int, list[_Message]]()
        for number, wire, first, last in _fields(raw, file):
            value = _varint(raw, first, file)[0] if wire == _VARINT else raw[first:last]
            self.values.setdefault(number, []).append(value)

    def _last(self, number: int, kind: type, default: Any) -> Any:
        value = self.values.get(number, [default])[-1]
        if not isinstance(value, kind):
            raise _fault(self.file, f"field {number} is of another kind", where="header")
        return value

    def whole(self, number: int) -> int:
        """An integer, zero if the field is absent; the largest values represent negative integers."""
        value = int(self._last(number, int, 0))
        return value - (1 << 64) if value >= 1 << 63 else value

    def real(self, number: int) -> float:
        """A double, zero if the field is absent."""
        value = self._last(number, bytes, bytes(8))
        return float(np.frombuffer(value, "<f8")[0]) if len(value) == _LENGTH else 0.0

    def text(self, number: int) -> str:
        """A text, empty if the field is absent."""
        return str(self._last(number, bytes, b"").decode("utf-8", errors="replace"))

    def texts(self, number: int) -> tuple[str, ...]:
        """The texts of a repeated field."""
        return tuple(bytes(value).decode("utf-8", errors="replace") for value in self.values.get(number, ()))

    def messages(self, number: int) -> list[_Message]:
        """The messages of a repeated field."""
        if number not in self.parsed:
            self.parsed[number] = [_Message(bytes(value), self.file) for value in self.values.get(number, ())]
        return self.parsed[number]

    def wholes(self, number: int) -> list[int]:
        """The integers of a repeated field, one by one or packed."""
        numbers: list[int] = []
        for value in self.values.get(number, ()):
            if isinstance(value, int):
                numbers.append(value)
                continue
            if max(value, default=0) < 0x80:  # a byte for each
                numbers.extend(value)
                continue
            place = 0
            while place < len(value):
                each, place = _varint(value, place, self.file)
                numbers.append(each)
        return numbers


def _fields(raw: bytes, file: Path) -> Iterator[tuple[int, int, int, int]]:
    """Number and wire type of every field of a message, first byte of its content and the one after its last."""
    place = 0
    while place < len(raw):
        key, place = _varint(raw, place, file)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            end = _varint(raw, place, file)[1]
        elif wire == _BYTES:
            size, place = _varint(raw, place, file)
            end = place + size
        elif wire in (_EIGHT, _FOUR):
            end = place + (8 if wire == _EIGHT else 4)
        else:
            end = len(raw) + 1
        if not number or end > len(raw):
            raise _fault(file, "a field of a message is not as protocol buffers write it")
        yield number, wire, place, end
        place = end


def _varint(raw: bytes, place: int, file: Path) -> tuple[int, int]:
    """A variable-length integer, seven bits per byte, the lowest first, and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(raw):
            break
        byte = raw[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise _fault(file, "a number of a message does not end")
