"""Exact sensitivity of every muscle force to the parameters of every muscle.

A parameter of muscle j changes its own capacity, passive force, fiber velocity and, as a path point, its moment arms.
These change the force-sharing problem: the passive force produces a part of the moments,

    db = -r_j dF_passive_j - dr_j F_passive_j,

the others enter directly, F0 and the optimal fiber length also through the cost. The change of the optimum follows
sharing/solution_derivatives.py. Joint moments do not depend on muscles.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.messages import Progress, check_known, no_progress
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.laboratory.bodies.run_options import check_consistent, check_rigid
from musclesolve.laboratory.forces import prepare_recording, recording_of
from musclesolve.laboratory.recording.data import Trial
from musclesolve.models.body import SolvedGroup
from musclesolve.models.body_sharing import share
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.muscles.muscle_state import MuscleState, ScaledState
from musclesolve.muscles.path_point_derivatives import MuscleChange, muscle_change, point_derivatives
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution_derivatives import SolutionDerivatives, solution_derivatives
from musclesolve.sharing.solver.solver_registry import Solver

PARAMETERS = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length")
"""Parameters by which a run is differentiated, each relative to its own size."""

IN_PROBLEM = ("max_isometric_force", "optimal_fiber_length")
POINTS_AT_ONCE = 8


@dataclass(frozen=True, eq=False)
class LegSensitivity:
    """The muscle forces of one leg as functions of the parameters of its muscles, to first order.

    leg: the solved leg; derivatives: of the force-sharing problem, with `unique`, `margin` and `sentence`. Undetermined
    derivatives are NaN. Forces act at the tendon and include passive forces [N].
    """

    leg: SolvedGroup
    derivatives: SolutionDerivatives

    def by(self, parameter: str) -> Array:
        """Derivatives d force_i / d ln p_j (T, n, n) [N]: change of muscle i for 100 % more of p_j of muscle j.

        The parameter is max_isometric_force, optimal_fiber_length, tendon_slack_length or pennation_angle, after the
        scaling to the subject; InputError for another one.
        """
        known = (*PARAMETERS, "pennation_angle")
        check_known([parameter], "parameter", known, where="by")
        state = self.leg.state
        size = getattr(state.parameters, parameter)
        by = muscle_change(state, **{parameter: size})
        unit = np.eye(len(size))
        single = MuscleChange(*(unit[:, None, :] * getattr(by, name) for name in by.__dataclass_fields__))
        of_problem = {f"d_{parameter}": unit * size} if parameter in IN_PROBLEM else {}
        changes = problem_change(self.leg.problem, state, single) | of_problem
        moved = self.derivatives.along(**changes).force + single.passive_force
        return np.ascontiguousarray(moved.transpose(1, 2, 0))

    def by_points(self, model: Model, motion: Motion) -> Array:
        """Derivatives d force_i / d s_p (T, n, P, 3) [N/m], s_p: place of path point p in the frame of its body."""
        state, problem = self.leg.state, self.leg.problem
        assert isinstance(state, ScaledState)
        point = point_derivatives(model, motion, state)
        frames, muscles = state.force_capacity.shape
        points = len(point.muscle)
        force = np.empty((frames, muscles, points, 3))
        loads = None
        if "reaction_matrix" in self.derivatives.cost.data:  # its derivatives (T, k, P, 3)
            joints = MuscleJoints(model, state.muscles)
            pulls = [point.pull(model.distal_bodies(dofs[0])) for dofs in joints.served.values()]
            # the quadriceps loads a knee through the patellar ligament, by its moment arms
            knees = joints.at_knees
            head = np.isin(point.muscle, knees.heads)
            levers = knees.lever(model, motion).force.swapaxes(0, 1)
            for lever, joint, row in zip(levers, knees.joint, knees.row, strict=True):
                pulls[joint][:, :, head] = lever[:, :, None, None] * point.moment_arm[:, None, row, head]
            loads = np.concatenate(pulls, axis=1)
        rows = [state.muscles.dof_names.index(dof) for dof in self.leg.part.shared]
        for start in range(0, points, POINTS_AT_ONCE):
            some = slice(start, start + POINTS_AT_ONCE)
            # (K, n), three directions of each point
            owner = np.eye(muscles)[np.repeat(point.muscle[some], 3)]

            def spread(x: Array, some: slice = some, owner: Array = owner) -> Array:
                """(T, ..., P, 3) as (K, T, ..., n)."""
                directions = np.moveaxis(x[..., some, :].reshape(*x.shape[:-2], -1), -1, 0)
                return directions[..., None] * owner.reshape(len(owner), *(1,) * (x.ndim - 2), -1)

            moving = ("musculotendon_length", "musculotendon_velocity")
            change = muscle_change(state, **{name: spread(getattr(point, name)) for name in moving})
            across = None if loads is None else spread(loads)
            moved = problem_change(problem, state, change, spread(point.moment_arm[:, rows]), across)
            along = self.derivatives.along(**moved).force + change.passive_force
            force[:, :, some] = along.reshape(-1, 3, frames, muscles).transpose(2, 3, 0, 1)
        return force


def problem_change(
    problem: Problem,
    state: MuscleState,
    change: MuscleChange,
    moment_arm: Array | None = None,
    reaction_matrix: Array | None = None,
) -> dict[str, Array]:
    """The change of the force-sharing problem of a leg with a change of its muscles, as `along` takes it.

    Changes of F0 and of the optimal fiber length, which a problem has too, are to be added.
    The problem belongs to the state, the change (K, T, n) of the state; moment_arm (K, T, m, n) and reaction_matrix
    (K, T, k, n) are changes of the problem.
    """
    passive = change.passive_force[..., None]
    moment = -(problem.moment_arm @ passive)[..., 0]
    changes = {"d_force_capacity": change.force_capacity}
    if moment_arm is not None:
        moment = moment - (moment_arm @ state.passive_force[..., None])[..., 0]
        changes["d_moment_arm"] = moment_arm
    if problem.fiber_force_capacity is not None:
        changes["d_fiber_force_capacity"] = change.fiber_force_capacity
    if problem.fiber_velocity is not None:
        changes["d_fiber_velocity"] = change.fiber_velocity
    if problem.reaction_matrix is not None:
        changes["d_reaction_offset"] = (problem.reaction_matrix @ passive)[..., 0]
        if reaction_matrix is not None:
            changes["d_reaction_matrix"] = reaction_matrix
            changes["d_reaction_offset"] += (reaction_matrix @ state.passive_force[..., None])[..., 0]
    return changes | {"d_moment": moment}


def leg_sensitivity(leg: SolvedGroup, cost: str | Cost) -> LegSensitivity:
    """Differentiate the solution of one leg, as `share_part` gives it."""
    return LegSensitivity(leg, solution_derivatives(leg.problem, cost, leg.solution))


def force_sensitivity(
    trial: Trial | str | Path,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Sensitivity of every muscle force of a trial to the parameters of every muscle of the same group.

    Args:
        trial: a checked trial, from `read_trial`, or the path of a trial file.
        cost: a smooth convex one; the trial file's unless given.
        solver: the trial file's unless given.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over side, time, muscle (whose force) and changed (whose parameter), muscles without side:
        by_max_isometric_force, by_optimal_fiber_length and by_tendon_slack_length, the derivatives of the force at the
        tendon by the relative change [N]: a hundredth of it is what 1 % more does; muscle_force [N]; status, unique and
        margin (side, time), whether and how far a frame is from a change of the set of muscles at rest or at full
        activation, where forces have a kink. Frames that have no derivative are NaN.

    Raises:
        InputError: as in `run`; a cost without derivatives; elastic tendons.
    """
    report = progress or no_progress
    trial = recording_of(trial, "the force sensitivity")
    check_consistent(trial, "the force sensitivity")
    check_rigid(trial, "the force sensitivity")
    prepared = prepare_recording(trial, cost, solver, side, report)
    shared = share(prepared, progress=report).parts
    report("derivatives", 0.95)
    legs = [leg_sensitivity(leg, prepared.sharing.cost) for leg in shared]
    arrays: dict[str, list[AnyArray]] = {f"by_{name}": [leg.by(name) for leg in legs] for name in PARAMETERS}
    arrays["muscle_force"] = [leg.tension for leg in shared]
    arrays["status"] = [leg.solution.status for leg in shared]
    arrays |= {name: [getattr(leg.derivatives, name) for leg in legs] for name in ("unique", "margin")}
    dims = ("side", "time", "muscle", "changed")
    variables = {name: (dims[: values[0].ndim + 1], np.stack(values)) for name, values in arrays.items()}
    names = [name.removesuffix(f"_{shared[0].side}") for name in shared[0].state.parameters.names]
    coords = {
        "side": [leg.side for leg in shared],
        "time": ("time", prepared.time, {"units": "s"}),
        "muscle": names,
        "changed": names,
    }
    attributes = {"cost": legs[0].derivatives.cost.label, "solver": shared[0].solution.solver}
    labeled = xr.Dataset(variables, coords, attributes)
    for variable in labeled:
        labeled[variable].attrs["units"] = "1" if variable in ("status", "unique", "margin") else "N"
    return labeled
