"""The whole road, one call per stage: from a checked trial to a labelled result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve._util.names import suggestion
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.newton_euler import SegmentMotion, segment_motion
from musclesolve.dynamics.inverse.newton_euler import joint_loads as net_loads
from musclesolve.dynamics.kinematics.consistent_motion import consistent_motion
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.kinematics.pose_fit import Fit
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import angle_between
from musclesolve.motion.anatomy.anatomy import Anatomy, anatomy
from musclesolve.motion.ground_reaction import GroundReaction, ground_reactions
from musclesolve.motion.motion_plausibility import (
    Doubt,
    MotionValidity,
    balance_limit,
    foot_doubts,
    leap_doubts,
)
from musclesolve.muscles.leg_muscle_state import MuscleState, muscle_state
from musclesolve.muscles.muscle_placement import LEG_DOFS, place_muscles
from musclesolve.pipeline.run_options import Options, find_options
from musclesolve.recording.data import SIDES, Trial
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[str, float], None]

JOINTS = {"hip": "hip_flexion", "knee": "knee_flexion", "ankle": "ankle_dorsiflexion"}
"""Joints of a leg, each with a degree of freedom behind which hangs just what lies beyond the joint.

The turn of the foot about the shank, ankle_adduction, would not do: half of the shank turns with it.
"""

MARGIN = 0.1
"""Motion looked at before and after the time range, so that derivatives are good to its ends [s]."""


@dataclass(frozen=True)
class Mechanics:
    """A recording as mechanics: what was measured, the person, his consistent motion, what the ground does to him."""

    measured: Anatomy
    model: Model
    fit: Fit
    motion: Motion
    reactions: list[GroundReaction]

    @property
    def wrenches(self) -> list[Wrench]:
        """The ground reactions as forces on the model's feet."""
        return [Wrench(f"foot_{ground.side}", ground.force, ground.moment) for ground in self.reactions]

    @cached_property
    def turns(self) -> dict[str, AnyArray]:
        """By how much hip, knee and ankle of each leg turn from each frame to the next, (T-1,) [rad] by "hip_r"."""
        turns = {}
        for side in SIDES:
            own = np.array([self.model.body(name) for name in _chain(side)])
            chain = np.moveaxis(self.model.rigid_bodies.subset(own).rotation(self.motion.q), 1, 0)
            for joint, (near, far) in zip(JOINTS, pairwise(chain), strict=True):
                relative = np.swapaxes(near, 1, 2) @ far
                turns[f"{joint}_{side}"] = angle_between(relative[:-1], relative[1:])
        return turns

    @property
    def shift(self) -> AnyArray:
        """How far the consistent motion lies from each of `fit.points` in the frames of the motion, (T, n) [m]."""
        return self.fit.residual[np.isin(self.measured.time, self.motion.time)]

    @property
    def balance_limit(self) -> float:
        """Residual force at the pelvis up to which a frame is valid [body weights]."""
        total = np.sum([ground.force for ground in self.reactions], axis=0)
        return balance_limit(total, self.model.mass.total * STANDARD_GRAVITY)

    def validity(self, moments: AnyArray) -> MotionValidity:
        """Which frames can be shared among muscles, given the generalized forces (T, K+6) of inverse dynamics."""
        joints, weight = self.model.tree.joint_count, self.model.mass.total * STANDARD_GRAVITY
        residual = np.linalg.norm(moments[:, joints : joints + 3], axis=1) / weight
        motion = (self.turns, self.motion.time, self.fit.points, self.shift)
        return MotionValidity.of(*motion, residual, self.balance_limit)

    def doubts(self, trial: Trial) -> list[Doubt]:
        """Why the consistent motion, or a part of it, cannot be that of the person; causes first."""
        time, method = self.motion.time, trial.consistency.method
        return [
            *leap_doubts(trial, self.turns, time),
            *foot_doubts(self.fit.points, self.shift, time, method),
        ]


def _chain(side: str) -> tuple[str, ...]:
    """Bodies on either side of hip, knee and ankle."""
    return "pelvis", f"thigh_{side}", f"shank_{side}", f"foot_{side}"


@dataclass(frozen=True)
class LegResult:
    """Muscles of one leg and the forces they share; force (T, 3) [N] at each joint without and with muscle forces."""

    side: str
    state: MuscleState
    problem: Problem
    solution: Solution
    net_reaction: dict[str, AnyArray]
    contact_force: dict[str, AnyArray]

    @property
    def dofs(self) -> tuple[str, ...]:
        """The shared degrees of freedom."""
        return self.problem.dof or ()


def run(
    trial: Trial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
) -> xr.Dataset:
    """From recorded motion and ground forces to muscle forces.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file.
        cost: name of a cost, or a Cost; that of the trial file unless given.
        solver: name of a solver, or a Solver; that of the trial file unless given.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over time, dof, muscle, side, joint, axis and component; every variable has its unit in
        attrs["units"]. `valid` (time, side) says which frames may be used: those whose `status` is SOLVED or
        SOLVED_WITH_RESERVE. Frames without a valid solution hold NaN for whatever depends on it: activations, muscle
        and contact forces, reserves, cost and certificate. Motion, joint moments, net reactions and the state of the
        muscles stay, for they show what is wrong.

    Raises:
        InputError: the trial asks for what cannot be done; says which field.
    """
    from musclesolve.results.dataset.assemble import assemble

    report = progress or (lambda stage, fraction: None)
    if not isinstance(trial, Trial):
        trial = read_trial(trial)
    options = find_options(trial, cost, solver, side)
    recorded = mechanics(trial, report)
    moments, legs = shared_legs(trial, options, recorded, report)
    report("result", 1.0)
    return assemble(trial, recorded, moments, legs)


def shared_legs(
    trial: Trial, options: Options, recorded: Mechanics, report: Progress
) -> tuple[AnyArray, list[LegResult]]:
    """Joint moments (T, K+6) [N m] by inverse dynamics, and how the muscles of each analysed leg share them."""
    model, motion = recorded.model, recorded.motion
    report("inverse dynamics", 0.35)
    moments = measured_moments(trial, model, motion, recorded.wrenches)
    segments, validity = segment_motion(model, motion), recorded.validity(moments)
    legs = []
    for number, leg in enumerate(options.sides):
        done = 0.45 + 0.5 * number / len(options.sides)
        report("muscle rows", done)
        state, loads = leg_mechanics(trial, options, recorded, segments, leg)
        report("sharing", done + 0.25 / len(options.sides))
        legs.append(share_leg(trial, options, state, moments, model, loads, validity.of_leg(leg)))
    return moments, legs


def measured_moments(trial: Trial, model: Model, motion: Motion, wrenches: list[Wrench]) -> AnyArray:
    """The generalized forces (T, K+6) by inverse dynamics that follow from what was measured, NaN elsewhere.

    Those of a leg hang on its own foot alone, those of the pelvis on both.

    Args:
        trial: says when which leg was measured.
        model: the subject.
        motion: T frames.
        wrenches: what the ground does to the feet.
    """
    moments = projected_moments(model, motion, wrenches)
    legs = {side: trial.measured(side, motion.time) for side in SIDES}
    known = np.ones(moments.shape, bool)
    for side, measured in legs.items():
        known[:, [model.dof(f"{dof}_{side}") for dof in LEG_DOFS]] = measured[:, None]
    known[:, model.tree.joint_count :] = np.all(list(legs.values()), axis=0)[:, None]
    return np.where(known, moments, np.nan)


def mechanics(trial: Trial, progress: Progress | None = None, start: AnyArray | None = None) -> Mechanics:
    """Everything up to inverse dynamics: the anatomy on the recording, the person, his motion, the ground reactions.

    Args:
        trial: a checked trial.
        progress: as in `run`.
        start: as in `moved`.
    """
    report = progress or (lambda stage, fraction: None)
    report("markers", 0.05)
    measured = anatomy(trial, MARGIN)
    report("kinematics", 0.15)
    return moved(trial, measured, start)


def moved(trial: Trial, measured: Anatomy, start: AnyArray | None = None) -> Mechanics:
    """What follows from the anatomy on a recording: the person, his consistent motion, the ground reactions.

    Args:
        trial: a checked trial.
        measured: the anatomy on its recording.
        start: coordinates near the answer that spare time, `fit.coordinates` of the same frames with other markers or
            another person, say; they do not show in the answer.

    Raises:
        InputError: a weight of what this recording does not show.
        MuscleSolveError: frames that do not converge.
    """
    person, how = trial.subject, trial.consistency
    model = human_model(person.mass, person.stature, person.sex, measured.offsets, person.shoe_mass)
    targets = _targets(trial, model, measured)
    fit, motion = consistent_motion(model, targets, measured.time, how.method, how.derivatives, start)
    motion = motion.frames(_inside(trial, measured.time))
    return Mechanics(measured, model, fit, motion, ground_reactions(trial, motion.time, measured.filter))


def _targets(trial: Trial, model: Model, measured: Anatomy) -> Targets:
    weights, names = trial.consistency.weights, [*measured.points, *measured.directions]
    if unknown := [name for name in weights if name not in names]:
        raise trial.document.error(
            f"{unknown[0]!r} is no point or axis of the model that this recording shows",
            "consistency",
            "weights",
            expected=f"one of {', '.join(names)}",
            remedy=suggestion(unknown[0], names) or "correct the name, or leave it out",
        )
    return Targets.build(model, measured.points, measured.directions, weights)


def _inside(trial: Trial, time: AnyArray) -> AnyArray:
    half = 0.5 / trial.markers.rate
    return (time > trial.time_range[0] - half) & (time < trial.time_range[1] + half)


def leg_mechanics(
    trial: Trial, options: Options, recorded: Mechanics, segments: SegmentMotion, side: str
) -> tuple[MuscleState, JointLoads]:
    """The muscles of one leg along the motion, and what they do to its joints."""
    model, motion = recorded.model, recorded.motion
    muscles = place_muscles(model, options.database, side, trial.muscles.strength_factor)
    state = muscle_state(model, muscles, motion)
    return state, joint_loads(model, motion, segments, recorded.wrenches, state)


def share_leg(
    trial: Trial,
    options: Options,
    state: MuscleState,
    moments: AnyArray,
    model: Model,
    loads: JointLoads,
    usable: AnyArray,
) -> LegResult:
    """Share the moments of one leg among its muscles.

    Frames that are not `usable` (T,) are not shared: their status is INVALID_MOTION, or NOT_MEASURED where the trial
    says so.
    """
    problem = sharing_problem(trial, options, state, moments, model, loads, usable)
    solution = solve(problem, options.cost, options.solver, on_infeasible="reserve")
    measured = np.asarray(np.isfinite(moments[:, [model.dof(dof) for dof in problem.dof or ()]]).all(axis=1))
    status = np.where(usable, solution.status, Status.INVALID_MOTION).astype(np.int8)
    if trial.legs:
        status = np.where(measured, status, Status.NOT_MEASURED).astype(np.int8)
    net = {joint: np.where(measured[:, None], force, np.nan) for joint, force in loads.net.items()}
    contact = loads.contact(solution.force + state.passive_force)
    return LegResult(state.muscles.side, state, problem, replace(solution, status=status), net, contact)


def sharing_problem(
    trial: Trial,
    options: Options,
    state: MuscleState,
    moments: AnyArray,
    model: Model,
    loads: JointLoads,
    usable: AnyArray,
) -> Problem:
    """The problem of one leg; what the passive elements bear is not asked of the contractile ones.

    Frames that are not `usable` (T,) have no moments (NaN).
    """
    muscles, weight = state.muscles, trial.sharing.reserve_weight
    rows = [LEG_DOFS.index(dof) for dof in options.dofs]
    dofs = tuple(f"{dof}_{muscles.side}" for dof in options.dofs)
    arm = state.moment_arm[:, rows]
    needed = moments[:, [model.dof(dof) for dof in dofs]] - np.einsum("tkm,tm->tk", arm, state.passive_force)
    needed = np.where(usable[:, None], needed, np.nan)
    return Problem(
        moment_arm=arm,
        moment=needed,
        force_capacity=state.force_capacity,
        max_isometric_force=muscles.max_isometric_force,
        reserve_weight=None if weight is None else np.array(weight),
        muscle=muscles.names,
        dof=dofs,
        fiber_velocity=state.fiber_velocity,
        optimal_fiber_length=muscles.optimal_fiber_length,
        reaction_matrix=loads.matrix,
        reaction_offset=loads.offset(state.passive_force),
        reaction=loads.names(muscles.side),
        passive_force=state.passive_force,
    )


@dataclass(frozen=True)
class JointLoads:
    """What the joints of a leg have to bear, as a function of tendon forces.

    contact = net + sum_m F_m sum_p dL_m/dr_p over the path points p on the far side: a muscle pulls each of its
    points with -F dL/dr, and what it pulls the joint has to push back.

    net: force on the far segment without muscle forces, (T, 3) [N] by joint; across: the sums over the points, for
    one newton in each muscle, (T, n, 3) by joint. Components forward, left and up.
    """

    net: dict[str, AnyArray]
    across: dict[str, AnyArray]

    def contact(self, tension: AnyArray) -> dict[str, AnyArray]:
        """Force on the far segment with tendon forces (T, n) [N], (T, 3) [N] by joint."""
        return {
            joint: self.net[joint] + np.einsum("tm,tmx->tx", tension, across)
            for joint, across in self.across.items()
        }

    @property
    def matrix(self) -> AnyArray:
        """All components below each other, (T, 3 x joints, n), for the forces of the contractile elements."""
        return np.concatenate([across.transpose(0, 2, 1) for across in self.across.values()], axis=1)

    def offset(self, passive_force: AnyArray) -> AnyArray:
        """The same components where muscles bear only passive forces (T, n) [N], (T, 3 x joints) [N]."""
        return np.concatenate(list(self.contact(passive_force).values()), axis=1)

    def names(self, side: str) -> tuple[str, ...]:
        """Of the components: knee_r_x for the one of the right knee that points forward."""
        return tuple(f"{joint}_{side}_{axis}" for joint in self.net for axis in "xyz")


def joint_loads(
    model: Model, motion: Motion, segments: SegmentMotion, wrenches: list[Wrench], state: MuscleState
) -> JointLoads:
    """What hip, knee and ankle of one leg have to bear.

    Args:
        model: the person.
        motion: his motion, T frames.
        segments: the same by segments.
        wrenches: what the ground does to the feet.
        state: muscles (n) of one leg along the motion.
    """
    names = {joint: f"{dof}_{state.muscles.side}" for joint, dof in JOINTS.items()}
    net = net_loads(model, motion, segments, wrenches, list(names.values()))
    return JointLoads(
        net={joint: net[name].force for joint, name in names.items()},
        across={joint: state.path.pull(model.distal_bodies(name)) for joint, name in names.items()},
    )
