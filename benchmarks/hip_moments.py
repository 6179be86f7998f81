"""Reasons why joint moments of a commercial program differ from ours: one thing exchanged at a time.

    python -m benchmarks.hip_moments FOLDER [FOLDER ...]

Each FOLDER has walk.toml and reference.csv, the moments per kilogram that the program computed from the same recording
(data of van der Zee et al. 2022; Visual3D with a pelvis of the Helen Hayes set). The moments here come a second way, by
Newton and Euler from markers alone, without a model: about the joint center c of what hangs below it,

    M = sum_i [ (r_i - c) x m_i (a_i - g) + dH_i/dt ] - (M_0 - c x F),

with F and M_0 force of the ground and its moment about the origin. In this form every choice of the program can be
tried: filters, masses, hip centers, and whether the hip center moves with the pelvis or with the markers of the thigh.
The last row is no choice: the hip center of the thigh that fits the program's moments of hip flexion best.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from scipy.interpolate import make_interp_spline

from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.model.segment_inertia import segment_rows
from musclesolve.forces import mechanics, recording_of
from musclesolve.motion.anatomy.joint_centers import between, hip_center
from musclesolve.motion.anatomy.pelvis import back_of_pelvis, pelvic_frame
from musclesolve.motion.anatomy.unit_vectors import unit
from musclesolve.motion.ground_reaction import wrench_at_origin
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.pipeline.mechanics import measured_moments
from musclesolve.recording.data import SIDES, Side, Trial

Array = NDArray[np.float64]
Points = Mapping[str, Array]

COLUMNS = {
    "hip_flexion": ("hip", "x", 1.0),
    "hip_adduction": ("hip", "y", 1.0),
    "knee_flexion": ("knee", "x", -1.0),
    "ankle_dorsiflexion": ("ankle", "x", 1.0),
}
"""Degree of freedom -> joint and axis in reference.csv, and the sign of its moment there."""
GRAVITY = np.array([0.0, 0.0, -STANDARD_GRAVITY])
SEGMENTS = ("thigh", "shank", "foot")
DEMPSTER: dict[str, dict[str, Any]] = {
    "thigh": {"mass_fraction": 0.100, "com_fraction": 0.433, "gyration_fraction": [0.323, 0.323, 0.17]},
    "shank": {"mass_fraction": 0.0465, "com_fraction": 0.433, "gyration_fraction": [0.302, 0.302, 0.10]},
    "foot": {"mass_fraction": 0.0145, "com_fraction": 0.500, "gyration_fraction": [0.475, 0.475, 0.20]},
}
"""Dempster's segments (Winter 2009, Table 4.1), as the program has them but for its moments of inertia."""
EVEN = 1e-3
"""Step of the hip center for the derivatives of its moment [m]."""


@dataclass(frozen=True)
class Choice:
    """How the moments are computed."""

    markers_hz: float = 6.0
    forces_hz: float = 6.0
    inertia: str = "de_leva"
    hip: str = "harrington_2007"  # a regression, or "trochanter": a quarter of the way to the other one
    on: str = "pelvis"  # what the hip center moves with, or "thigh"
    axes: str = "pelvis"  # whose axes the moments of the hip have, or "thigh"
    moved: tuple[float, float] = (0.0, 0.0)  # of the hip center in the pelvis, forward and up [m]


@dataclass(frozen=True, eq=False)
class Walk:
    """A recording and what the program says of it: trial, and column of reference.csv -> (T,) with its time."""

    trial: Trial
    reference: Mapping[str, Array]

    @classmethod
    def from_folder(cls, folder: Path) -> Walk:
        """Return the walk of walk.toml and reference.csv."""
        with (folder / "reference.csv").open(encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        columns = np.array([[float(cell or "nan") for cell in row] for row in rows]).T
        trial = recording_of(folder / "walk.toml", "this benchmark")
        return cls(trial, dict(zip(names, columns, strict=True)))

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Frames (T,) of the markers that are analyzed."""
        return self.trial.inside(self.trial.markers.time, *self.trial.time_range)

    def theirs(self, dof: str, side: Side, time: Array) -> Array:
        """Moments (T,) [N m/kg] of the program."""
        joint, axis, sign = COLUMNS[dof]
        column = self.reference[f"{joint}_{side}_moment_{axis}_Nm_per_kg"]
        return sign * np.interp(time, self.reference["time_s"], column)

    def pipeline(self, forces_hz: float) -> dict[tuple[str, Side], Array]:
        """Differences from the program (T,) [N m/kg] of what `run` computes."""
        found = mechanics(self.trial.with_settings(filter={"force_cutoff_hz": forces_hz}))
        moments = measured_moments(self.trial, found.model, found.motion, found.wrenches)
        return {
            (dof, side): moments[:, found.model.dof(f"{dof}_{side}")] / self.trial.subject.mass
            - self.theirs(dof, side, found.motion.time)
            for dof in COLUMNS
            for side in SIDES
        }

    def plain(self, choice: Choice) -> dict[tuple[str, Side], Array]:
        """Differences from the program (T,) [N m/kg] of moments by Newton and Euler."""
        time = self.trial.markers.time
        found = {}
        for side in SIDES:
            moments = Leg(self.trial, side, choice).moments
            for dof in COLUMNS:
                found[dof, side] = (moments[dof] - self.theirs(dof, side, time))[self.inside]
        return found

    def fitted(self, choice: Choice, side: Side) -> Choice:
        """The choice with the hip center moved forward and up to where hip flexion fits best, by least squares."""
        moved = [choice, *(replace(choice, moved=step) for step in ((EVEN, 0.0), (0.0, EVEN)))]
        base, *steps = (Leg(self.trial, side, each).moments["hip_flexion"][self.inside] for each in moved)
        wanted = self.theirs("hip_flexion", side, self.trial.markers.time)[self.inside] - base
        slopes = np.stack([(step - base) / EVEN for step in steps], axis=1)
        forward, up = np.linalg.lstsq(slopes, wanted, rcond=None)[0]
        return replace(choice, moved=(float(forward), float(up)))


@dataclass(frozen=True, eq=False)
class Leg:
    """One leg of a recording whose markers are all seen throughout; global axes, z up."""

    trial: Trial
    side: Side
    choice: Choice

    def marker(self, name: str) -> Array:
        """A filtered marker (T, 3) [m]."""
        return low_pass(self.trial.markers[name], self.trial.markers.rate, self.choice.markers_hz)

    @cached_property
    def landmarks(self) -> dict[str, Array]:
        """Landmarks (T, 3) [m] of the leg and the pelvis by name."""
        mapping = self.trial.mapping
        pelvis = ("asis_r", "asis_l", "psis_r", "psis_l", "sacrum")
        return {
            name: self.marker(next(iter(mapping[name])))
            for name in mapping
            if name in pelvis or name.endswith(f"_{self.side}")
        }

    def landmark(self, name: str) -> Array:
        """A landmark (T, 3) [m] of the leg."""
        return self.landmarks[f"{name}_{self.side}"]

    @cached_property
    def joints(self) -> dict[str, Array]:
        """Centers (T, 3) [m] of the joints, heel and toe."""
        knee, ankle = (
            between(self.landmark(f"{joint}_lateral"), self.landmark(f"{joint}_medial"))
            for joint in ("knee", "ankle")
        )
        return {
            "hip": self.hip(knee),
            "knee": knee,
            "ankle": ankle,
            "heel": self.landmark("heel"),
            "toe": self.landmark("toe"),
        }

    def hip(self, knee: Array) -> Array:
        """The hip center (T, 3) [m]."""
        origin, axes = pelvic_frame(self.landmarks)
        width = np.linalg.norm(self.landmarks["asis_l"] - self.landmarks["asis_r"], axis=1).mean()
        depth = np.linalg.norm(origin - back_of_pelvis(self.landmarks), axis=1).mean()
        thigh, shank = self.landmark("asis") - knee, knee - self.landmark("ankle_medial")
        leg = np.linalg.norm(thigh, axis=1).max() + np.linalg.norm(shank, axis=1).mean()
        if self.choice.hip == "trochanter":
            own, other = (
                self.marker(f"{side.upper()}GTR") for side in (self.side, "l" if self.side == "r" else "r")
            )
            center = own + 0.25 * (other - own)
        else:
            lengths = {"width": float(width), "depth": float(depth), "leg": float(leg)}
            center = origin + axes @ hip_center(self.choice.hip, lengths, self.side)
        center = center + axes @ np.array([self.choice.moved[0], 0.0, self.choice.moved[1]])
        if self.choice.on == "pelvis":
            return np.asarray(center)
        rotation, place = poses(
            np.stack([self.marker(f"{self.side.upper()}TH{k}") for k in (1, 2, 3)], axis=1)
        )
        fixed = np.einsum("tji,tj->ti", rotation, center - place).mean(axis=0)
        return np.asarray(place + rotation @ fixed)

    @cached_property
    def moments(self) -> dict[str, Array]:
        """Moments (T,) [N m/kg] that the proximal segment exerts, by degree of freedom."""
        time, joints, mass = self.trial.markers.time, self.joints, self.trial.subject.mass
        rows = DEMPSTER if self.choice.inertia == "dempster" else segment_rows(self.trial.subject.sex)
        left = unit(self.landmark("knee_lateral") - self.landmark("knee_medial")) * (
            1 if self.side == "l" else -1
        )
        ends = {"thigh": ("hip", "knee"), "shank": ("knee", "ankle"), "foot": ("heel", "toe")}
        force, moment = np.split(self.ground(time), 2, axis=1)
        total = {joint: np.cross(joints[joint], force) - moment for joint in ("hip", "knee", "ankle")}
        for number, segment in enumerate(SEGMENTS):
            row, (first, last) = rows[segment], (joints[end] for end in ends[segment])
            center, own = first + row["com_fraction"] * (last - first), row["mass_fraction"] * mass
            acceleration = derivative(time, center, 2)
            length = np.linalg.norm(last - first, axis=1).mean()
            up = unit(first - last)
            forward = unit(np.cross(left, up))
            rotation = np.stack([forward, np.cross(up, forward), up], axis=-1)
            turning = derivative(time, rotation.reshape(-1, 9)).reshape(-1, 3, 3) @ rotation.swapaxes(1, 2)
            spin = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
            inertia = own * (np.array(row["gyration_fraction"]) * length) ** 2
            momentum = np.einsum("tij,j,tkj,tk->ti", rotation, inertia, rotation, spin)
            for joint in ("hip", "knee", "ankle")[: number + 1]:
                arm = center - joints[joint]
                total[joint] = (
                    total[joint] + derivative(time, momentum) + np.cross(arm, own * (acceleration - GRAVITY))
                )
        forward, across = pelvic_frame(self.landmarks)[1].transpose(2, 0, 1)[:2]
        if self.choice.axes == "thigh":
            across, forward = left, np.cross(left, unit(joints["hip"] - joints["knee"]))
        outward = -1.0 if self.side == "l" else 1.0
        about = {
            "hip_flexion": -total["hip"] * across,
            "hip_adduction": outward * total["hip"] * forward,
            "knee_flexion": total["knee"] * left,
            "ankle_dorsiflexion": -total["ankle"] * left,
        }
        return {dof: each.sum(axis=1) / mass for dof, each in about.items()}

    def ground(self, time: Array) -> Array:
        """Force [N] and moment about the origin [N m] (T, 6) of the ground, filtered."""
        total = np.zeros((time.size, 6))
        for plate in (each for each in self.trial.forces if each.side == self.side):
            rate = 1.0 / float(np.median(np.diff(plate.time)))
            smooth = low_pass(wrench_at_origin(plate, self.trial.unloaded_below), rate, self.choice.forces_hz)
            total += make_interp_spline(plate.time, smooth, k=1)(time)
        return total


def derivative(time: Array, values: Array, order: int = 1) -> Array:
    """Derivative of (T, n) by a quintic spline."""
    return np.asarray(make_interp_spline(time, values, k=5).derivative(order)(time))


def poses(points: Array) -> tuple[Array, Array]:
    """Rotation (T, 3, 3) and place (T, 3) of a rigid body that follows points (T, n, 3), by their mean shape."""
    place = points.mean(axis=1)
    seen = points - place[:, None]
    shape = seen[len(seen) // 2]
    for _ in range(10):
        left, _, right = np.linalg.svd(np.einsum("tni,nj->tij", seen, shape))
        left[:, :, 2] *= np.sign(np.linalg.det(left @ right))[:, None]
        rotation = left @ right
        shape = np.einsum("tij,tni->nj", rotation, seen) / len(seen)
    return rotation, place


ALONE: dict[str, Mapping[str, object]] = {
    "forces 25 Hz": {"forces_hz": 25.0},
    "markers and forces 10 Hz": {"markers_hz": 10.0, "forces_hz": 10.0},
    "segments of Dempster": {"inertia": "dempster"},
    "hip: harrington_2007_leg_length": {"hip": "harrington_2007_leg_length"},
    "hip: hara_2016": {"hip": "hara_2016"},
    "hip: davis_1991": {"hip": "davis_1991"},
    "hip: bell_1990": {"hip": "bell_1990"},
    "hip: a quarter between the trochanters": {"hip": "trochanter"},
    "hip moves with the markers of the thigh": {"on": "thigh"},
    "moment in axes of the thigh": {"axes": "thigh"},
}
"""What is exchanged alone."""
TOGETHER = ("forces 25 Hz", "segments of Dempster", "hip moves with the markers of the thigh")
"""What is exchanged one after the other, each with all before it."""


def report(folders: list[Path]) -> None:
    """Print root mean square differences from the program [N m/kg]."""
    walks = [Walk.from_folder(folder) for folder in folders]
    table = Table(title="root mean square difference from the program [N m/kg]")
    table.add_column("exchanged", no_wrap=True)
    legs = [f"{walk.trial.subject.name} {side}" for walk in walks for side in SIDES]
    for heading in (*(f"flexion {leg}" for leg in legs), *(dof.replace("_", " ") for dof in COLUMNS)):
        table.add_column(heading, justify="right")

    def add(name: str, found: list[dict[tuple[str, Side], Array]]) -> None:
        flexion = [rms([each["hip_flexion", side]]) for each in found for side in SIDES]
        every = [rms([each[dof, side] for each in found for side in SIDES]) for dof in COLUMNS]
        table.add_row(name, *(f"{value:.3f}" for value in (*flexion, *every)))

    add("nothing: `run`, 6 Hz", [walk.pipeline(6.0) for walk in walks])
    add("nothing: without a model", [walk.plain(Choice()) for walk in walks])
    table.add_section()
    for name, changes in ALONE.items():
        choice = replace(Choice(), **changes)  # type: ignore[arg-type]
        add(name, [walk.plain(choice) for walk in walks])
    table.add_section()
    choice = Choice()
    for name in TOGETHER:
        choice = replace(choice, **ALONE[name])  # type: ignore[arg-type]
        add(f"and {name}", [walk.plain(choice) for walk in walks])
    best = [{side: walk.fitted(choice, side) for side in SIDES} for walk in walks]
    moved = [_of_sides(walk, own) for walk, own in zip(walks, best, strict=True)]
    add("and hip where it fits best", moved)
    console.print(table)
    for walk, own in zip(walks, best, strict=True):
        for side, fitted in own.items():
            forward, up = 1000 * np.array(fitted.moved)
            console.print(f"{walk.trial.subject.name} {side}: hip {forward:+.0f} mm forward, {up:+.0f} mm up")


def _of_sides(walk: Walk, choices: Mapping[Side, Choice]) -> dict[tuple[str, Side], Array]:
    return {
        key: values for side in SIDES for key, values in walk.plain(choices[side]).items() if key[1] == side
    }


def rms(parts: list[Array]) -> float:
    """Root mean square of all parts together."""
    return float(np.sqrt(np.mean(np.concatenate(parts) ** 2)))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="+", type=lambda text: input_file(f"{text}/walk.toml").parent)
    console.width = 170
    report(parser.parse_args().folder)
