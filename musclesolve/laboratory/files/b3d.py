"""B3D files of AddBiomechanics: the model of a subject, and its trials, read frame by frame and written as a folder.

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

The folder is as from AddBiomechanics, with models, coordinates, loads and moments. The model comes from the last
processing pass. The wrench (M, F) on a contact body, about the origin of the ground, is written as a force at the point
p of height h with a moment T about the vertical alone, M = p x F + T e_y:

    p_x = (M_z + h F_x) / F_y,   p_z = (h F_z - M_x) / F_y,   T = M_y - (p_z F_x - p_x F_z),

where h is the height of the force plates; with less vertical force than `LOADED_FROM_N` p is the origin of the body,
and T has three components. Frames with missing ground forces by the service are left out of the loads and moments, so
that they count as not measured (`_util.splines` defines the gaps that are filled).

The moments of the service include the residual at the root of its model. If it is more than `MOST_RESIDUAL` of the
weight, the moments contradict the motion and are not written; some files were computed with gravity along z
(docs/study.md).
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.messages import count_of, unknown_name
from musclesolve._util.written_files import HIDDEN, PART
from musclesolve.constants import LOADED_FROM_N, SEXES, STANDARD_GRAVITY
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.files.service_folders import NO_FORCES, NO_MODEL, SUBJECT_FILE, ServiceTrial
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.models.opensim.model import GROUND, OpenSimModel
from musclesolve.models.opensim.read_model import known_osim
from musclesolve.tables.opensim_text import mot_text
from musclesolve.tables.sampled import Table
from musclesolve.tables.text_file import file_path, open_input, opening, write_text, writing

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
    def computed(self) -> Mask:
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
    version = header.integer(10)
    if not 1 <= version <= NEWEST:
        raise file_error(
            "unsupported",
            (file, "header"),
            f"the file is of version {version}",
            f"a version from 1 to {NEWEST}",
            "process the subject again with the service of today, or read the file with nimblephysics",
        )
    sensors, block, count = header.integer(3), header.integer(4), header.integer(1)
    bodies = header.texts(6)
    trials, position = [], start
    for trial in header.messages(9):
        read = stream if names is None or trial.text(1) in names else None
        one, length = _trial(trial, read, size - position, (sensors, block), (count, len(bodies)), file)
        trials.append(one)
        position += length
        stream.seek(position)
    if names is None and position != size:
        problem = f"{size - position} bytes follow the last frame"
        raise _fault(file, problem, "the frames that the header states", f"byte {position}")
    sex, age = header.text(13).casefold(), header.integer(16)
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
def _header(raw: bytes, file: Path) -> "_Message":
    """The header of a file, which is parsed once for all its trials."""
    return _Message(raw, file)


def _trial(
    header: "_Message",
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
    name, frames, step = header.text(1), header.integer(3), header.real(4)
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
        kind = message.integer(1)
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

    def integer(self, number: int) -> int:
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

    def messages(self, number: int) -> "list[_Message]":
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
                item, place = _varint(value, place, self.file)
                numbers.append(item)
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
        else:
            end = place + {_EIGHT: 8, _FOUR: 4}.get(wire, len(raw) + 1)
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


MOST_RESIDUAL = 0.25
"""Largest force at the root in written moments, median over the frames as a share of the weight."""
MODEL = Path("Models", "final.osim")
"""Place of the model in the folder of a subject."""
_AXES, _LOADS = "xyz", "_external_forces.xml"


@dataclass(frozen=True)
class UnpackedSubject:
    """The folder of a B3D file and its trials; `ServiceTrial.reason` states why a trial has no muscle forces."""

    folder: Path
    trials: tuple[ServiceTrial, ...]


def found_trial(subject: B3DSubject, name: str) -> B3DTrial:
    """A trial by its name, or by the name of a recording with no other trial."""
    named = [trial for trial in subject.trials if trial.name == name]
    named = named or [trial for trial in subject.trials if trial.original_name == name]
    if len(named) != 1:
        names = [trial.name for trial in named or subject.trials]
        raise unknown_name(name, "trial", names, f" in {subject.path.name}", subject.path)
    return named[0]


def subject_data(subject: B3DSubject) -> dict[str, float | str]:
    """Return the subject by a B3D file, by the keys of trial files."""
    keys = ("mass_kg", "stature_m", "sex", "age_years")
    return {key: value for key in keys if (value := getattr(subject, key)) is not None}


def left_out(subject: B3DSubject, trial: B3DTrial) -> str:
    """Return the reason why muscle forces cannot be computed from a trial of a B3D file; "" if they can.

    Missing ground forces are seen only where the frames of the trial were read.
    """
    if len(trial.time) < 2:
        return f"it has {count_of(len(trial.time), 'frame')}"
    if not _model_text(subject):
        return NO_MODEL
    if not trial.passes:
        return "the service processed none of its passes"
    last, most = trial.passes[-1], _last_pass(subject)
    if last.number < most:
        return f"the service processed it to pass {last.number + 1} of {most + 1} alone ({last.kind})"
    if len(last.wrench) and not last.wrench.any():
        return NO_FORCES
    if trial.missing.all():
        reasons = sorted({_reason(number) for number in trial.missing})
        return f"the service marks its ground forces as missing in every frame ({'; '.join(reasons)})"
    return ""


def unpack_b3d(
    source: str | Path | B3DSubject, folder: str | Path, names: Iterable[str] | None = None
) -> UnpackedSubject:
    """Write a B3D file as a folder of AddBiomechanics: `Models/final.osim`, `IK/`, `ID/`, `_subject.json`.

    Args:
        source: the file, or its content from `read_b3d`. folder: created if missing; files of the same names are
            replaced. names: of trials, or of recordings with all their trials; all trials unless given.

    Raises:
        InputError: the file cannot be read, its model does not fit its numbers, a name is unknown, or the folder cannot
            be written.
    """
    subject = source if isinstance(source, B3DSubject) else read_b3d(source)
    root, known = Path(folder), [trial.name for trial in subject.trials]
    chosen = known if names is None else [found_trial(subject, name).name for name in names]
    for part in ("Models", "IK", "ID"):
        try:
            (root / part).mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise file_error(
                "not_writable",
                root / part,
                f"the folder cannot be made ({fault.strerror or fault})",
                "a place where you may write",
                "name another folder",
            ) from None
    model_path, text, stated = root / MODEL, _model_text(subject), subject_data(subject)
    if not text:
        raise file_error(
            "bad_model",
            subject.path,
            "no processing pass has a model",
            "the .osim text of the last processing pass",
            "process the subject again",
        )
    services = {"mass_kg": "massKg", "stature_m": "heightM", "sex": "sex", "age_years": "ageYears"}
    content = {services[key]: value for key, value in stated.items()}
    about = json.dumps(content | {"subjectTags": subject.tags, "source": subject.path.name}, indent=1)
    for path, shared in ((model_path, text), (root / SUBJECT_FILE, about)):
        _write_shared(path, shared)
    model = known_osim(model_path)
    order = coordinate_order(model, subject)
    files, trials = unpacked_files(subject, root), list[ServiceTrial]()
    for trial in subject.trials:
        if trial.name not in chosen:
            continue
        coordinates, reason = files[trial.name]["coordinates"], left_out(subject, trial)
        loads = moments = None
        notes: list[str] = []
        if len(trial.time) > 1 and trial.passes:
            _write(coordinates, trial.time, order, trial.passes[-1].position, in_degrees=False)
        if not reason:
            loads, measured = files[trial.name]["loads"], trial.missing == 0
            stem = loads.name.removesuffix(_LOADS)
            data = loads.with_name(f"{stem}_grf.mot")
            names_of, columns = contact_columns(model, order, subject, trial)
            _write(data, trial.time[measured], names_of, columns[measured])
            write_text(loads, _description(subject.contact_bodies, data.name))
            notes += _missing_note(trial)
            last, measured_frames = trial.passes[-1], measured & trial.passes[-1].computed
            residual = root_residual(model, order, last)
            if residual <= MOST_RESIDUAL and measured_frames.sum() > 1:
                moments = loads.with_name(f"{stem}_id.sto")
                ends = ["moment" if model.coordinates[name].rotational else "force" for name in order]
                columns_of = [f"{name}_{end}" for name, end in zip(order, ends, strict=True)]
                _write(moments, trial.time[measured_frames], columns_of, last.moment[measured_frames])
            elif last.computed.any():
                notes.append(
                    f"The joint moments of the service are not used: they hold {100.0 * residual:.0f} % of the weight "
                    f"at the root (expected within {100.0 * MOST_RESIDUAL:.0f} %), so that they contradict the ground "
                    "forces; they are computed again from the loads."
                )
            if last.kind == PASSES[0]:
                notes.append(
                    "The service fitted no motion to the ground forces: its last pass is kinematics."
                )
        trials.append(
            ServiceTrial(trial.name, coordinates, model_path, None, loads, stated, reason, tuple(notes))
        )
    return UnpackedSubject(root, tuple(trials))


def unpacked_files(subject: B3DSubject, folder: Path) -> dict[str, dict[str, Path]]:
    """Return the files that `unpack_b3d` writes for each trial, by the keys of [files] of a trial file."""
    names = [trial.name for trial in subject.trials]
    return {
        name: {
            "model": folder / MODEL,
            "coordinates": folder / "IK" / f"{file}_ik.mot",
            "loads": folder / "ID" / f"{file}{_LOADS}",
        }
        for name, file in zip(names, _file_names(names), strict=True)
    }


def _write_shared(path: Path, text: str) -> None:
    """Write a file that all trials of a subject share, unless it is there; several processes may do so at once."""
    content = text.encode("utf-8")
    with writing(path):
        if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
            return
        part = path.with_name(f"{HIDDEN}{os.getpid()}{PART}")
        part.write_bytes(content)
        part.replace(path)


def coordinate_order(model: OpenSimModel, subject: B3DSubject) -> tuple[str, ...]:
    """Coordinates of a model in the order of the numbers of a B3D file.

    The service lists joints outward, each branch to its end, without coupled bodies such as the patella.
    """
    for joint in (angular for angular in model.joints if angular.speeds_are_angular):
        raise file_error(
            "unsupported",
            subject.path,
            f"joint {joint.name} is a {joint.kind}",
            "joints whose coordinates are angles and lengths, such as a CustomJoint",
            "use the folder that the service gives instead of the file",
        )
    coupled, order = {coupler.dependent for coupler in model.couplers}, list[str]()

    def follow(body: str) -> None:
        for joint in model.joints:
            if joint.inboard.body == body:
                order.extend(name for name in joint.coordinates if name not in coupled)
                follow(joint.outboard.body)

    follow(GROUND)
    if len(order) != subject.coordinate_count:
        raise file_error(
            "bad_model",
            subject.path,
            f"the model has {len(order)} coordinates that are not coupled, the frames have "
            f"{subject.coordinate_count}",
            "a number in every frame for each of them",
            "process the subject again, or read the file with nimblephysics",
        )
    return tuple(order)


def contact_columns(
    model: OpenSimModel, order: tuple[str, ...], subject: B3DSubject, trial: B3DTrial
) -> tuple[list[str], Array]:
    """Names and values (T, 9 B) of force [N], point [m] and moment [N m] on each of the B contact bodies."""
    last = trial.passes[-1]
    for body in subject.contact_bodies:
        if body not in model.body_number:
            raise unknown_name(body, "body", model.bodies, f" in {model.name!r}", subject.path)
    pose = body_motion(model, coordinate_values(model, dict(zip(order, last.position.T, strict=True))))
    height, names, parts = _plate_height(trial), list[str](), list[Array]()
    for number, body in enumerate(subject.contact_bodies):
        moment, force = last.wrench[:, number, :3], last.wrench[:, number, 3:]
        point = pose.position[:, model.body_number[body]].copy()
        loaded = force[:, 1] > LOADED_FROM_N
        (mx, _, mz), (fx, fy, fz) = moment[loaded].T, force[loaded].T
        point[loaded] = np.stack(
            [(mz + height * fx) / fy, np.full(len(fy), height), (height * fz - mx) / fy], axis=1
        )
        parts += [force, point, moment - np.cross(point, force)]
        stems = (f"ground_force_{body}_v", f"ground_force_{body}_p", f"ground_torque_{body}_")
        names += [f"{stem}{axis}" for stem in stems for axis in _AXES]
    return names, np.concatenate(parts, axis=1)


def root_residual(model: OpenSimModel, order: tuple[str, ...], last: B3DPass) -> float:
    """Force at the root in the moments of a pass, median over the frames, as a share of the weight."""
    along = [
        name for joint in model.roots for name in joint.coordinates if not model.coordinates[name].rotational
    ]
    columns = [order.index(name) for name in along if name in order]
    size = np.linalg.norm(last.moment[last.computed][:, columns], axis=1)
    return float(np.median(size)) / (model.mass * STANDARD_GRAVITY) if size.size else 0.0


def _plate_height(trial: B3DTrial) -> float:
    """Height of the force plates [m]: of the centers of pressure under load; zero if none is known."""
    last = trial.passes[-1]
    for force, point in ((trial.plate_force, trial.plate_point), (last.force, last.point)):
        loaded = (np.linalg.norm(force, axis=2) > LOADED_FROM_N) & np.isfinite(point).all(axis=2)
        if loaded.any():
            return float(np.median(point[loaded][:, 1]))
    return 0.0


def _missing_note(trial: B3DTrial) -> list[str]:
    """A sentence on omitted frames; empty without any."""
    if not trial.missing.any():
        return []
    numbers, counts = np.unique(trial.missing[trial.missing > 0], return_counts=True)
    counted = ", ".join(f"{_reason(number)}: {count}" for number, count in zip(numbers, counts, strict=True))
    return [
        f"The service marks the ground forces of {counts.sum()} of {len(trial.time)} frames as missing ({counted}). "
        "The loads do not contain them."
    ]


def _reason(number: int) -> str:
    return MISSING_FORCES[number] if 0 <= number < len(MISSING_FORCES) else f"reason {number}"


def _last_pass(subject: B3DSubject) -> int:
    """Number of the last processing pass of all trials."""
    return max((trial.passes[-1].number for trial in subject.trials if trial.passes), default=0)


def _model_text(subject: B3DSubject) -> str:
    """The model of the last processing pass with a model; a pass without changes of the model may have none."""
    texts = [text for text in subject.models[: _last_pass(subject) + 1] if text.strip()]
    return texts[-1] if texts else ""


def _file_names(names: list[str]) -> list[str]:
    """Different names of files for trials."""
    plain = [re.sub(r"[^\w.+-]", "_", name) for name in names]
    return [name if plain.count(name) == 1 else f"{name}_{k + 1}" for k, name in enumerate(plain)]


def _write(
    path: Path, time: Array, names: Iterable[str], values: Array, in_degrees: bool | None = None
) -> None:
    table = Table(time, tuple(names), values, in_degrees, path)
    write_text(path, mot_text(path, table, decimals=None))


def _description(bodies: Iterable[str], data: str) -> str:
    """An ExternalLoads file of OpenSim for the columns of `contact_columns`."""
    forces = "".join(
        f"""
            <ExternalForce name="{escape(body)}">
                <isDisabled>false</isDisabled>
                <applied_to_body>{escape(body)}</applied_to_body>
                <force_expressed_in_body>ground</force_expressed_in_body>
                <point_expressed_in_body>ground</point_expressed_in_body>
                <force_identifier>ground_force_{escape(body)}_v</force_identifier>
                <point_identifier>ground_force_{escape(body)}_p</point_identifier>
                <torque_identifier>ground_torque_{escape(body)}_</torque_identifier>
            </ExternalForce>"""
        for body in bodies
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="30000">
    <ExternalLoads name="ground_reactions">
        <objects>{forces}
        </objects>
        <datafile>{escape(data)}</datafile>
    </ExternalLoads>
</OpenSimDocument>
"""
