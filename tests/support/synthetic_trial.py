"""A person of known shape who glides through a laboratory, written as the files a real trial consists of.

Everything is rigid and moves slowly, so what the recording and motion stages find can be compared with the truth.
Global frame: x forward, y left, z up; the files are in laboratory axes, x forward, y up, z right.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from musclesolve.tables import Markers, Table, write_mot, write_trc

Array = NDArray[np.float64]

MASS, STATURE = 70.0, 1.75
RATE, FORCE_RATE, DURATION = 100.0, 1000.0, 2.4
FILE_FROM_GLOBAL = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])

# Harrington et al. 2007 for a pelvis 0.24 m wide and 0.16 m deep, by hand: -0.24 x 160 - 9.9 = -48.3 mm,
# 0.33 x 240 + 7.3 = 86.5 mm, -0.30 x 240 - 10.9 = -82.9 mm.
HIP = np.array([-0.0483, 0.0865, -0.0829])

TRIAL = """
[subject]
name = "synthetic"
mass_kg = 70.0
stature_m = 1.75
sex = "female"

[laboratory]
forward = "+x"
up = "+y"

[files]
markers = "walk.trc"
static = "static.trc"
forces = "forces.mot"

[time]
start_s = 0.6
end_s = 1.8

[filter]
cutoff_hz = 6.0

[mapping]
asis_r = "RASI"
asis_l = "LASI"
psis_r = "RPSI"
psis_l = "LPSI"
knee_lateral_r = "RKNL"
knee_lateral_l = "LKNL"
knee_medial_r = "RKNM"
knee_medial_l = "LKNM"
ankle_lateral_r = "RANL"
ankle_lateral_l = "LANL"
ankle_medial_r = "RANM"
ankle_medial_l = "LANM"
heel_r = "RHEE"
heel_l = "LHEE"
toe_r = "RTOE"
toe_l = "LTOE"
metatarsal_5_r = "RMT5"
metatarsal_5_l = "LMT5"
shoulder_r = "RSHO"
shoulder_l = "LSHO"
elbow_lateral_r = "RELL"
elbow_lateral_l = "LELL"
elbow_medial_r = { midpoint = ["RELM", "RELM2"] }
elbow_medial_l = { weights = { LELM = 0.25, LELM2 = 0.75 } }
wrist_r = "RWRI"
wrist_l = "LWRI"

[clusters]
thigh_r = ["RTH1", "RTH2", "RKNL"]
thigh_l = ["LTH1", "LTH2", "LKNL"]
shank_r = ["RSH1", "RSH2", "RANL"]
shank_l = ["LSH1", "LSH2", "LANL"]

[carried]
RKNM = "thigh_r"
LKNM = "thigh_l"
RANM = "shank_r"
LANM = "shank_l"

[joint_centers]
hip = "harrington_2007"

[[force]]
side = "r"
force = "r_v"
point = "r_p"
moment = ["r_mx", "r_my", "r_mz"]

[[force]]
side = "l"
force = "l_v"
point = "l_p"
moment = "l_m"

[muscles]
database = "silva_2003"
passive = "table"

[sharing]
cost = "stress_cubed"
solver = "batch"
"""

# Left side; the right one is its mirror image. Positions when standing, relative to the middle of the ASIS.
TILT = np.deg2rad(8.0)
_PELVIS = {"ASI": (0.0, 0.12, 0.0), "PSI": (-0.16, 0.05, 0.0)}
_HIP = Rotation.from_euler("y", TILT).apply(HIP)


def _beside(origin: Array, forward: float, left: float, up: float) -> Array:
    return origin + np.array([forward, left, up])


_KNEE, _ANKLE = _beside(_HIP, 0.0, 0.0, -0.42), _beside(_HIP, 0.0, 0.0, -0.82)
_THIGH = {
    "KNL": _beside(_KNEE, 0.0, 0.05, 0.0),
    "KNM": _beside(_KNEE, 0.0, -0.05, 0.0),
    "TH1": _beside(_KNEE, 0.06, 0.06, 0.25),
    "TH2": _beside(_KNEE, -0.05, 0.07, 0.2),
}
_SHANK = {
    "ANL": _beside(_ANKLE, 0.0, 0.035, 0.0),
    "ANM": _beside(_ANKLE, 0.0, -0.035, 0.0),
    "SH1": _beside(_ANKLE, 0.05, 0.04, 0.25),
    "SH2": _beside(_ANKLE, -0.05, 0.05, 0.2),
}
# Toes out by 10 degrees.
_FOOT = {
    name: _ANKLE + Rotation.from_euler("z", np.deg2rad(10.0)).apply(offset)
    for name, offset in {
        "HEE": (-0.06, 0.0, -0.04),
        "TOE": (0.17, 0.0, -0.04),
        "MT5": (0.10, 0.05, -0.05),
    }.items()
}
_ARM = {"SHO": (-0.06, 0.2, 0.42), "ELL": (-0.06, 0.24, 0.1), "ELM": (-0.06, 0.16, 0.1)}
_ARM |= {"ELM2": (-0.06, 0.16, 0.1), "WRI": (-0.02, 0.2, -0.15)}
_ARM |= {"HRA": (0.02, 0.19, -0.32), "HUL": (-0.06, 0.19, -0.32)}
_HEAD = {"HBAS": (-0.06, 0.0, 0.53), "HLOW": (0.03, 0.0, 0.53), "HTOP": (0.03, 0.0, 0.67)}
_STANDING_HEIGHT = 0.07 - _ANKLE[2]


def _mirror(point: Array, side: str) -> Array:
    return np.asarray(point) * [1.0, 1.0 if side == "L" else -1.0, 1.0]


@dataclass(frozen=True)
class StrideSubject:
    """Markers and true joint centers over time, global frame."""

    time: Array
    markers: dict[str, Array]
    truth: dict[str, Array]
    pelvis: Array


def person(time: Array, moving: bool = True) -> StrideSubject:
    """Let the person stand or glide: pelvis turning and advancing, hips, knees and ankles swinging."""
    swing = np.sin(2.0 * np.pi * 0.4 * time) if moving else np.zeros_like(time)
    pelvis = Rotation.from_euler("zyx", np.stack([0.1 * swing, 0.08 * swing, 0.05 * swing], axis=1))
    advance = np.stack([0.4 * time * moving, 0.02 * swing, _STANDING_HEIGHT + 0.02 * swing], axis=1)
    markers: dict[str, Array] = {name: pelvis.apply(point) + advance for name, point in _HEAD.items()}
    truth: dict[str, Array] = {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        tilt = Rotation.from_euler("y", TILT)
        for name, point in _PELVIS.items():
            markers[side + name] = pelvis.apply(tilt.apply(_mirror(point, side))) + advance
        for name, point in _ARM.items():
            markers[side + name] = pelvis.apply(_mirror(point, side)) + advance
        hip, knee, ankle = (_mirror(p, side) for p in (_HIP, _KNEE, _ANKLE))
        thigh = pelvis * Rotation.from_euler("xy", np.stack([0.05 * swing, -0.4 * sign * swing], axis=1))
        bend = 0.3 + 0.2 * sign * swing if moving else swing
        shank = thigh * Rotation.from_euler("y", bend[:, None])
        foot = shank * Rotation.from_euler("yx", np.stack([-0.2 * sign * swing, 0.1 * swing], axis=1))
        own = side.lower()
        truth[f"hip_{own}"] = pelvis.apply(hip) + advance
        truth[f"knee_{own}"] = truth[f"hip_{own}"] + thigh.apply(knee - hip)
        truth[f"ankle_{own}"] = truth[f"knee_{own}"] + shank.apply(ankle - knee)
        parts = (
            (_THIGH, thigh, "knee", knee),
            (_SHANK, shank, "ankle", ankle),
            (_FOOT, foot, "ankle", ankle),
        )
        for part, turn, joint, origin in parts:
            for name, point in part.items():
                markers[side + name] = truth[f"{joint}_{own}"] + turn.apply(_mirror(point, side) - origin)
        truth[f"knee_axis_{own}"] = thigh.apply([0.0, 1.0, 0.0])
        out = np.deg2rad(10.0) * sign
        truth[f"ankle_axis_{own}"] = foot.apply([-np.sin(out), np.cos(out), 0.0])
    truth["pelvis_forward"] = pelvis.apply([1.0, 0.0, 0.0])
    return StrideSubject(time, markers, truth, pelvis.as_matrix())


def forces(time: Array) -> dict[str, Array]:
    """Return per foot force, point and free moment, (S, 3) each, in the global frame."""
    feet = person(time).markers
    swing = np.sin(2.0 * np.pi * 0.4 * time)
    columns = {}
    for side in "RL":
        own = side.lower()
        point = 0.5 * (feet[f"{side}HEE"] + feet[f"{side}TOE"]) * [1.0, 1.0, 0.0]
        vertical = 0.5 * MASS * 9.81 * (1.0 + 0.2 * swing)
        columns[own + "_v"] = np.stack([20.0 * swing, 5.0 + 0.0 * swing, vertical], axis=1)
        columns[own + "_p"] = point
        columns[own + "_m"] = np.stack([0.0 * swing, 0.0 * swing, 2.0 * swing + 1.0], axis=1)
    return columns


def write_trial(folder: Path, *edits: tuple[str, str], yaw_deg: float = 70.0) -> Path:
    """Write the recordings and the trial file, with texts of the latter replaced; return the trial file.

    Args:
        folder: where to write.
        edits: (old, new) texts of the trial file.
        yaw_deg: heading of the standing trial.
    """
    for name, content in recordings(yaw_deg).items():
        (folder / name).write_bytes(content)
    text = TRIAL
    for old, new in edits:
        assert old in text, f"the synthetic trial file does not say {old!r}"
        text = text.replace(old, new)
    path = folder / "trial.toml"
    path.write_text(text, encoding="utf-8")
    return path


@cache
def recordings(yaw_deg: float) -> dict[str, bytes]:
    """Return the files beside the trial file, by name; they differ by the heading of the standing trial alone."""
    times = np.arange(round(DURATION * RATE)) / RATE
    walk = person(times).markers
    carried = ("RKNM", "LKNM", "RANM", "LANM")
    still = times[:30]
    turned = Rotation.from_euler("z", yaw_deg, degrees=True)
    static = {name: turned.apply(path) for name, path in person(still, moving=False).markers.items()}
    plate_times = np.arange(round(DURATION * FORCE_RATE)) / FORCE_RATE
    with tempfile.TemporaryDirectory() as name:
        beside = Path(name)
        write_markers(beside / "walk.trc", times, {k: v for k, v in walk.items() if k not in carried})
        write_markers(beside / "static.trc", still, static)
        write_forces(beside / "forces.mot", plate_times, forces(plate_times))
        return {file.name: file.read_bytes() for file in beside.iterdir()}


def write_markers(path: Path, time: Array, markers: dict[str, Array]) -> None:
    """Write trajectories (T, 3) of the global frame as a TRC file in laboratory axes."""
    position = np.stack(list(markers.values()), axis=1) @ FILE_FROM_GLOBAL.T
    write_trc(path, Markers(time, tuple(markers), position, path))


def write_forces(path: Path, time: Array, columns: dict[str, Array]) -> None:
    """Write vectors (S, 3) of the global frame as a MOT file in laboratory axes."""
    names = tuple(name + axis for name in columns for axis in "xyz")
    values = np.concatenate([vector @ FILE_FROM_GLOBAL.T for vector in columns.values()], axis=1)
    write_mot(path, Table(time, names, values, False, path))
