"""Finite differences of joint moments by one input, as (5.15) has them, under both methods of consistency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from benchmarks.thesis_figures.study import METHODS, SIDE, Study
from musclesolve._util.arrays import Array, Mask
from musclesolve.dynamics import Model, Targets, Wrench, consistent_motion, projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.laboratory.bodies.mechanics import Mechanics
from musclesolve.laboratory.forces import mechanics

CONSISTENT = ("nearest", "joint_angles")
FOOT = f"foot_{SIDE}"


@dataclass(frozen=True)
class Input:
    """An input that is perturbed: how it changes the moments, the body whose branch it belongs to, and its unit."""

    moments: Callable[[Study, str, float], Array]  # (T, K) [N m] with a change of it, under a method
    branch: str  # joints between this body and the base belong to the branch
    unit: str
    point: str | None = None  # the measured point that it is a coordinate of


@cache
def mechanics_by(study: Study, method: str) -> Mechanics:
    """Mechanics of the trial itself (no errors are added) under a method of consistency."""
    return mechanics(study.trial.with_settings(consistency=METHODS[method]))


def moments(model: Model, motion: Motion, wrenches: list[Wrench]) -> Array:
    """Moments of the joints, (T, K) [N m]."""
    return projected_moments(model, motion, wrenches)[:, : model.tree.joint_count]


def mass_of(segment: str, branch: str) -> Input:
    """The mass of an anatomical segment, centers of mass and inertia kept [kg]."""

    def changed(study: Study, method: str, by: float) -> Array:
        recorded = mechanics_by(study, method)
        bodies, mass = recorded.model.topology.bodies, recorded.model.mass
        share = np.array([body.share * (body.segment == segment) for body in bodies])
        heavier = replace(mass, mass=mass.mass + by * share / share.sum(), allow_impossible=True)
        return moments(replace(recorded.model, mass=heavier), recorded.motion, recorded.wrenches)

    return Input(changed, branch, "kg")


def force_of(axis: int) -> Input:
    """A component of the ground reaction force on the right foot, where there is one [N]."""

    def changed(study: Study, method: str, by: float) -> Array:
        recorded = mechanics_by(study, method)
        point = recorded.reactions[0].center_of_pressure
        more = np.where(np.isfinite(point), by * np.eye(3)[axis], 0.0)
        return _pushed(recorded, more, np.cross(np.nan_to_num(point), more))

    return Input(changed, FOOT, "N")


def application_of(axis: int) -> Input:
    """A coordinate of the point where that force acts [m]."""

    def changed(study: Study, method: str, by: float) -> Array:
        recorded = mechanics_by(study, method)
        return _pushed(recorded, np.zeros(3), np.cross(by * np.eye(3)[axis], recorded.wrenches[0].force))

    return Input(changed, FOOT, "m")


def _pushed(recorded: Mechanics, force: Array, moment: Array) -> Array:
    first, *others = recorded.wrenches
    pushed = Wrench(first.body, first.force + force, first.moment + moment)
    return moments(recorded.model, recorded.motion, [pushed, *others])


def point_of(point: str, axis: int, branch: str) -> Input:
    """A coordinate of a measured point, off by the same in all frames; the lengths of the subject are kept [m]."""

    def changed(study: Study, method: str, by: float) -> Array:
        recorded, trial = mechanics_by(study, method), study.trial
        seen, model = recorded.measured, recorded.model
        moved = seen.points | {point: seen.points[point] + by * np.eye(3)[axis]}
        targets = Targets.build(model, moved, seen.directions, trial.settings.consistency.weights)
        how = METHODS[method]
        start = recorded.fit.coordinates
        _, motion = consistent_motion(model, targets, seen.time, how.method, how.derivatives, start)
        inside = trial.inside(seen.time, *trial.time_range)
        return moments(model, motion.frames(inside), recorded.wrenches)

    return Input(changed, branch, "m", point)


def sensitivity(study: Study, source: Input, method: str, by: float) -> Array:
    """(K, joints) difference of the moments over the perturbation, over the cycle [N m per unit] (5.15)."""
    plain = source.moments(study, method, 0.0)
    return study.of_cycle((source.moments(study, method, by) - plain) / by)


def on_branch(study: Study, source: Input) -> Mask:
    """(joints,) which degrees of freedom lie between the base and the perturbed body."""
    model = mechanics_by(study, "nearest").model
    return np.asarray(model.tree.distal_frames[model.body(source.branch)] > 0.0)
