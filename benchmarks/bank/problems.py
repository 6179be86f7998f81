"""The problems of the bank: recorded, of a squat, of OpenSim models, random, degenerate and out of reach."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve._util.arrays import Array
from musclesolve.data import reference_stride
from musclesolve.muscles.muscle_parameters import load_muscle_set
from musclesolve.studies.benchmark.measure import random_problem

FRAMES = 4
ROOT = Path(__file__).resolve().parents[2]
GRAVITY = 9.81
LEG = (
    "hip_flexion_r",
    "hip_adduction_r",
    "hip_internal_rotation_r",
    "knee_flexion_r",
    "ankle_dorsiflexion_r",
)
Named = Iterator[tuple[str, str, ms.Problem]]
"""Name, source and problem."""


def bundled() -> Named:
    """The problems that the package itself can make."""
    stride = ms.run(reference_stride(), side="r")
    walk = spread(ms.leg_problem(stride, "r"), 2 * FRAMES)
    yield "walk", "the reference stride bundled with musclesolve, right leg, muscle set gait2392_hip", walk
    poses = "musclesolve.muscle_geometry, muscle set {}; moments of half the body weight over the foot, quasi-static"
    yield "squat", poses.format("gait2392_hip"), squat("gait2392_hip")
    yield "squat rajagopal", poses.format("rajagopal_2023"), squat("rajagopal_2023")
    leg = "examples/opensim_model/leg.osim along the reference stride, reserves left out"
    yield "opensim leg", leg, opensim_leg(stride)
    drawn = "musclesolve.studies.benchmark.measure.random_problem, moments of drawn activations"
    for dofs, muscles in ((3, 10), (7, 43), (12, 100), (20, 200), (30, 300)):
        frames = FRAMES if muscles <= 100 else 2
        yield f"random {dofs} x {muscles}", drawn, first(random_problem(frames, dofs, muscles), frames)
    yield from degenerate()
    yield from out_of_reach(walk)


def recorded(data: Path) -> Named:
    """The problems of recordings and models of others, where their folder is there."""
    trial = ROOT / "tests" / "real" / "rajagopal_walk.toml"
    if not data.is_dir():
        return
    walk = ms.run(trial, side="r")
    source = (
        "overground walk, free speed, published with Rajagopal et al. 2016, IEEE TBME 63:2068 (right leg)"
    )
    yield "walk rajagopal", source, spread(ms.leg_problem(walk, "r"), 2 * FRAMES)
    belt = data / "treadmill_walk" / "p1" / "walk.toml"
    source = "treadmill walk, 1.25 m/s, van der Zee et al. 2022, Scientific Data 9:705 (right leg)"
    yield "walk treadmill", source, spread(ms.leg_problem(ms.run(belt, side="r"), "r"), 2 * FRAMES)
    papers = {
        "gait2392": "Delp et al. 1990, IEEE TBME 37:757",
        "rajagopal_lai_uhlrich_2023": "Rajagopal et al. 2016; Uhlrich et al. 2022",
        "hamner_2010": "Hamner et al. 2010, J Biomech 43:2709",
    }
    for name, paper in papers.items():
        model = data / "opensim_models" / f"{name}.osim"
        source = f"model {name} ({paper}), moment arms that OpenSim 4.6 computes, drawn poses and activations"
        yield name, source, model_poses(model)


def first(problem: ms.Problem, frames: int) -> ms.Problem:
    """Some frames without the fields that no cost of the bank uses."""
    part = problem.frames(np.arange(frames))
    return ms.Problem(
        part.moment_arm,
        part.moment,
        part.force_capacity,
        part.max_isometric_force,
        muscle=part.muscle,
        dof=part.dof,
        joints_crossed=part.crossed,
    )


def spread(problem: ms.Problem, frames: int) -> ms.Problem:
    """Frames at equal distances, from those that have a solution without reserves."""
    exact = replace(problem, reserve_weight=None)
    good = np.flatnonzero(ms.solve(exact, "soft_saturation").solved)
    chosen = good[np.linspace(0, len(good) - 1, frames).round().astype(int)]
    return first(exact.frames(chosen), frames)


def squat(muscle_set: str) -> ms.Problem:
    """The right leg in a squat to 100 degrees of knee flexion, half the body weight over the middle of the foot.

    Thigh and shank are 0.41 m long and without weight; the center of pressure is 0.05 m before the ankle.
    """
    knee = np.radians(np.linspace(20.0, 100.0, FRAMES))
    ankle, hip = 0.35 * knee, 1.05 * knee
    angles = {"hip_flexion_r": hip, "knee_flexion_r": knee, "ankle_dorsiflexion_r": ankle}
    poses = ms.muscle_geometry(angles, muscles=muscle_set).sel(dof=list(LEG))
    poses = poses.isel(muscle=[str(name).endswith("_r") for name in poses["muscle"].values])
    weight, pressure, length = 0.5 * 70.25 * GRAVITY, 0.05, 0.41
    knee_x = length * np.sin(ankle)
    hip_x = knee_x - length * np.sin(knee - ankle)
    none = np.zeros(FRAMES)
    # hip extension, knee extension and plantar flexion, as moments about the named directions
    lever = [hip_x - pressure, none, none, pressure - knee_x, none - pressure]
    arm = poses["moment_arm"].transpose("pose", "dof", "muscle").values
    force = {muscle.name: muscle.max_isometric_force for muscle in load_muscle_set(muscle_set).muscles}
    names = tuple(str(name) for name in poses["muscle"].values)
    return first(
        ms.Problem(
            arm,
            weight * np.stack(lever, axis=1),
            poses["force_capacity"].transpose("pose", "muscle").values,
            np.array([force[name.removesuffix("_r")] for name in names]),
            muscle=names,
            dof=LEG,
        ),
        FRAMES,
    )


def opensim_leg(stride: object) -> ms.Problem:
    """The small OpenSim model of the examples along the reference stride."""
    signs = {
        "hip_flexion_r": (1, "hip_flexion_r"),
        "knee_angle_r": (-1, "knee_flexion_r"),
        "ankle_angle_r": (1, "ankle_dorsiflexion_r"),
    }
    angle = {n: s * stride["joint_angle"].sel(dof=d).values for n, (s, d) in signs.items()}  # type: ignore[index]
    moment = {n: s * stride["joint_moment"].sel(dof=d).values for n, (s, d) in signs.items()}  # type: ignore[index]
    time = stride["time"].values  # type: ignore[index]
    model = ROOT / "examples" / "opensim_model" / "leg.osim"
    return spread(ms.opensim_problem(model, {"time": time} | angle, {"time": time} | moment), FRAMES)


def model_poses(model: Path) -> ms.Problem:
    """Poses of a model with the moment arms that OpenSim computes; capacities are the maximum isometric forces."""
    geometry = np.load(model.with_name(f"{model.stem}_geometry.npz"))
    muscles = ms.read_osim(model).muscles
    arm = geometry["moment_arm_m"][:FRAMES]
    served = (np.abs(arm) > 1e-6).any(axis=(0, 2))
    arm = arm[:, served]
    names = tuple(str(name) for name in geometry["muscle"])
    force = np.array([muscles[name].max_isometric_force for name in names])
    activation = 0.5 * np.random.default_rng(0).random(arm[:, 0].shape) ** 2
    moment = np.einsum("tmn,tn->tm", arm, force * activation)
    dof = tuple(str(name) for name in geometry["coordinate"][served])
    return first(ms.Problem(arm, moment, force, force, muscle=names, dof=dof), FRAMES)


def degenerate() -> Named:
    """Problems that are easy to state and hard to finish, made by hand."""
    made, base = "made by hand", random_problem(FRAMES, 4, 14, seed=1)
    equal = np.array([[30.0], [90.0], [0.0], [-20.0]])
    arm, force = np.array([[0.05, 0.05, -0.03, -0.03]]), np.full(4, 1000.0)
    yield "equal muscles", f"{made}: pairs of the same muscle", ms.Problem(arm, equal, force, force)
    mixed = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [1.0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    rows = changed(base, np.einsum("km,tmn->tkn", mixed, base.moment_arm), base.moment @ mixed.T)
    yield "redundant rows", f"{made}: the third moment is the sum of the first two", rows
    idle = base.moment_arm.copy()
    idle[:, :, ::4] = 0.0
    force = 0.2 * base.force_capacity
    yield (
        "muscles without arms",
        f"{made}: every fourth",
        changed(base, idle, np.einsum("tmn,tn->tm", idle, force)),
    )
    yield "zero moments", made, changed(base, base.moment_arm, np.zeros_like(base.moment))
    strength = 10.0 ** np.linspace(0.0, 4.0, 14)
    moment = np.einsum("tmn,n->tm", base.moment_arm, 0.3 * strength * (np.arange(14) % 3 > 0))
    wide = ms.Problem(base.moment_arm, moment, strength, strength, joints_crossed=base.crossed)
    yield "range of strength", f"{made}: maximum forces from 1 N to 10 kN", wide
    tension = np.minimum(base.force_capacity, base.max_isometric_force) * (np.arange(14) % 2 * 0.98 + 0.01)
    nearly = np.einsum("tmn,tn->tm", base.moment_arm, tension)
    yield "nearly all active", f"{made}: half of the muscles at 0.99", changed(base, base.moment_arm, nearly)


def changed(base: ms.Problem, arm: Array, moment: Array) -> ms.Problem:
    """A problem with other moment arms and moments, and with capacities no larger than the maximum forces."""
    capacity = np.minimum(base.force_capacity, base.max_isometric_force)
    return ms.Problem(arm, moment, capacity, base.max_isometric_force, joints_crossed=base.crossed)


def out_of_reach(walk: ms.Problem) -> Named:
    """Moments that no activations produce, far and near, beside moments within reach."""
    made = "out of reach by {}, {} as above"
    few = walk.frames(np.arange(0, walk.n_frames, 2))
    yield "walk out of reach", made.format("a factor of 12", "the frames of walk"), scaled(few, 12.0)
    base = random_problem(FRAMES, 5, 20, seed=2)
    times = np.array([0.5, 30.0, 1.0, 12.0])[:, None]
    mixed = first(base, FRAMES)
    text = made.format("factors of 30 and 12 in frames 1 and 3", "a random problem")
    yield "partly out of reach", text, replace(mixed, moment=times * mixed.moment)


def scaled(problem: ms.Problem, factor: float) -> ms.Problem:
    """A problem with its moments times a factor."""
    return replace(problem, moment=factor * problem.moment)


def data_folder() -> Path:
    """The folder of recordings and models of others: MUSCLESOLVE_DATA, or beside the checkout."""
    return Path(os.environ.get("MUSCLESOLVE_DATA", ROOT.parent / "shared" / "data"))
