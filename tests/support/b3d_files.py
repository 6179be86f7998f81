"""B3D files as AddBiomechanics writes them, of any content, and a small model that walks on two feet."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from small_model import axis, joint

from musclesolve import read_osim
from musclesolve.models.opensim import inverse_dynamics
from musclesolve.models.opensim.external_loads import ExternalLoad
from musclesolve.models.opensim.inverse_dynamics import model_motion

FEET = ("calcn_r", "calcn_l")
_LINE = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
_ROOT = "pelvis_tilt pelvis_list pelvis_rotation pelvis_tx pelvis_ty pelvis_tz"
_AXES = ("0 0 1", "1 0 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1")
_KINDS = [f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3)]
ROOT_JOINT = joint(
    "CustomJoint",
    "ground_pelvis",
    "ground",
    "pelvis",
    _ROOT,
    "<SpatialTransform>"
    + "".join(
        axis(kind, name, way, _LINE) for kind, name, way in zip(_KINDS, _ROOT.split(), _AXES, strict=True)
    )
    + "</SpatialTransform>",
)
LEGS = "".join(
    joint("PinJoint", f"{name}_{side}", parent, f"{child}_{side}", f"{angle}_{side}")
    for side in "rl"
    for name, parent, child, angle in (
        ("hip", "pelvis", "femur", "hip_flexion"),
        ("knee", f"femur_{side}", "tibia", "knee_angle"),
        ("ankle", f"tibia_{side}", "calcn", "ankle_angle"),
    )
)
_BODIES = ("pelvis", *(f"{body}_{side}" for side in "rl" for body in ("femur", "tibia", "calcn")))
MODEL = f"""<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40500"><Model name="walker"><BodySet><objects>{
    "".join(
        f'<Body name="{body}"><mass>{40 if body == "pelvis" else 5}</mass><mass_center>0 -0.1 0.01</mass_center>'
        "<inertia>0.1 0.12 0.11 0 0 0</inertia></Body>"
        for body in _BODIES
    )
}</objects></BodySet><JointSet><objects>{ROOT_JOINT}{LEGS}</objects></JointSet></Model></OpenSimDocument>
"""


@dataclass
class Pass:
    """Fields of a processing pass by their numbers in the block, (T, k) each."""

    kind: int
    fields: Mapping[int, np.ndarray]


@dataclass
class TrialOnDisk:
    """A trial; sensors: fields of the other block."""

    name: str
    passes: Sequence[Pass]
    missing: Sequence[int]
    step: float = 0.01
    original: str = ""
    sensors: Mapping[int, np.ndarray] = field(default_factory=dict)


def write_b3d(
    path: Path,
    trials: Sequence[TrialOnDisk],
    models: Sequence[str],
    coordinates: int,
    bodies: Sequence[str] = FEET,
    *,
    version: int = 4,
    mass: float = 0.0,
    stature: float = 0.0,
    sex: str = "",
    age: int = 0,
) -> Path:
    """A B3D file."""
    blocks, sizes = [], [0, 0]
    for trial in trials:
        for t in range(len(trial.missing)):
            sensors = _block(trial.sensors, t)
            each = [_block(one.fields, t) for one in trial.passes]
            sizes = [len(sensors), *{len(block) for block in each}]
            blocks += [sensors, *each]
    header = _whole(1, coordinates) + _whole(3, sizes[0]) + _whole(4, sizes[1])
    for kind, text in enumerate(models):
        header += _bytes(5, _whole(1, kind) + _bytes(2, text.encode()))
    header += b"".join(_bytes(6, body.encode()) for body in bodies)
    for trial in trials:
        header += _bytes(
            9,
            _bytes(1, trial.name.encode())
            + _bytes(2, b"".join(_varint(number) for number in trial.missing))
            + _whole(3, len(trial.missing))
            + _real(4, trial.step)
            + b"".join(_bytes(5, _whole(1, one.kind) + _bytes(5, bytes(4))) for one in trial.passes)
            + _bytes(10, (trial.original or trial.name).encode()),
        )
    header += (
        _whole(10, version)
        + _bytes(13, sex.encode())
        + _real(14, stature)
        + _real(15, mass)
        + _whole(16, age)
    )
    path.write_bytes(struct.pack("<q", len(header)) + header + b"".join(blocks))
    return path


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _whole(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value) if value else b""


def _real(number: int, value: float) -> bytes:
    return _varint(number << 3 | 1) + struct.pack("<d", value) if value else b""


def _bytes(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _block(fields: Mapping[int, np.ndarray], t: int) -> bytes:
    return b"".join(
        _bytes(number, np.asarray(column[t], "<f8").tobytes()) for number, column in fields.items()
    )


def walker(folder: Path, frames: int = 80, gravity: np.ndarray | None = None) -> tuple[tuple[str, ...], Pass]:
    """A motion of the small model on two feet, and what a service states of it.

    The ground carries the body alternately by one foot, with a wrench that leaves little at the root; the moments are
    those of inverse dynamics under a gravity, that of the model unless given, and zero in the first and last frame.
    """
    path = folder / "walker.osim"
    path.write_text(MODEL, encoding="utf-8")
    model = read_osim(path)
    names, time = tuple(model.coordinates), 0.01 * np.arange(frames)
    rng = np.random.default_rng(3)
    phase, size = rng.uniform(0.0, 6.0, len(names)), np.where(np.arange(len(names)) < 6, 0.03, 0.3)
    wave = 2.0 * np.pi * 0.9
    value = size * np.sin(wave * time[:, None] + phase) + np.eye(len(names))[4]
    speed = size * wave * np.cos(wave * time[:, None] + phase)
    acceleration = -size * wave**2 * np.sin(wave * time[:, None] + phase)
    motion = model_motion(
        model, time, *(dict(zip(names, part.T, strict=True)) for part in (value, speed, acceleration))
    )
    # what the root needs is given by the feet, half of it in the middle, none in swing
    needed = inverse_dynamics(model, motion).wrench.sum(axis=1)
    share = np.clip(0.5 + np.sin(2.0 * np.pi * time / 0.6), 0.0, 1.0)
    wrench = np.stack([share[:, None] * needed, (1.0 - share)[:, None] * needed], axis=1)
    loads = [
        ExternalLoad(foot, foot, time, wrench[:, k, 3:], np.zeros((frames, 3)), wrench[:, k, :3])
        for k, foot in enumerate(FEET)
    ]
    if gravity is not None:
        vector = " ".join(map(str, gravity))
        path.write_text(MODEL.replace("<BodySet>", f"<gravity>{vector}</gravity><BodySet>"), encoding="utf-8")
        model = read_osim(path)
    moment = inverse_dynamics(model, motion, loads).joint_force.copy()
    moment[[0, -1]] = 0.0
    none = np.zeros((frames, 6))
    fields = {
        1: value,
        2: speed,
        3: acceleration,
        4: moment,
        5: wrench.reshape(frames, 12),
        6: none,
        7: none,
        8: none,
    }
    return names, Pass(1, fields)


def plates(wrench: np.ndarray, height: float) -> dict[int, np.ndarray]:
    """The fields of two force plates of a height that measure a wrench (T, 12) each foot by foot: (T, 6) each."""
    moment, force = wrench.reshape(-1, 2, 6)[..., :3], wrench.reshape(-1, 2, 6)[..., 3:]
    up = np.where(np.abs(force[..., 1]) > 1.0, force[..., 1], np.nan)
    x = (moment[..., 2] + height * force[..., 0]) / up
    z = (height * force[..., 2] - moment[..., 0]) / up
    point = np.stack([x, np.full(x.shape, height), z], axis=-1)
    return {7: point.reshape(-1, 6), 8: np.zeros((len(wrench), 6)), 9: force.reshape(-1, 6)}
