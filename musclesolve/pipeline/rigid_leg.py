"""Sharing the moments of one leg behind rigid tendons: every frame by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Mask
from musclesolve.muscles.placing.place_muscles import LEG_DOFS
from musclesolve.pipeline.run_options import Options
from musclesolve.pipeline.types import LegMechanics, LegResult
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status


def share_rigid_leg(leg: LegMechanics, options: Options) -> LegResult:
    """Share the moments of one leg among its muscles, see `legs.share_leg`."""
    problem = sharing_problem(leg, options)
    return leg_result(
        leg, problem, solve(problem, options.cost, options.solver, on_infeasible="reserve"), options
    )


def sharing_problem(leg: LegMechanics, options: Options) -> Problem:
    """The problem of one leg: the moments left to the contractile elements, NaN in frames that are not usable."""
    state, muscles, rows = leg.state, leg.state.muscles, shared_rows(options)
    arm = state.moment_arm[:, rows]
    needed = leg.moment[:, rows] - np.einsum("tkm,tm->tk", arm, state.passive_force)
    return Problem(
        moment_arm=arm,
        moment=np.where(leg.usable[:, None], needed, np.nan),
        force_capacity=state.force_capacity,
        max_isometric_force=muscles.parameters.max_isometric_force,
        reserve_weight=None if options.reserve_weight is None else np.array(options.reserve_weight),
        muscle=muscles.names,
        dof=shared_dofs(leg, options),
        fiber_velocity=state.fiber_velocity,
        optimal_fiber_length=muscles.parameters.optimal_fiber_length,
        reaction_matrix=leg.loads.matrix,
        reaction_offset=leg.loads.offset(state.passive_force),
        reaction=leg.loads.names(leg.side),
        passive_force=state.passive_force,
        emg=leg.emg,
    )


def leg_result(leg: LegMechanics, problem: Problem, solution: Solution, options: Options) -> LegResult:
    """The result of a leg; frames that were not shared get the status of what is wrong with them."""
    measured = measured_frames(leg, options)
    status = np.where(leg.usable, solution.status, Status.INVALID_MOTION)
    status = np.where(measured, status, Status.NOT_MEASURED).astype(np.int8)
    net = {joint: np.where(measured[:, None], force, np.nan) for joint, force in leg.loads.net.items()}
    contact = leg.loads.contact(solution.force + leg.state.passive_force)
    return LegResult(leg.side, leg.state, problem, replace(solution, status=status), net, contact)


def measured_frames(leg: LegMechanics, options: Options) -> Mask:
    """(T,) the frames whose moments are known."""
    return np.asarray(np.isfinite(leg.moment[:, shared_rows(options)]).all(axis=1))


def shared_dofs(leg: LegMechanics, options: Options) -> tuple[str, ...]:
    """The shared degrees of freedom of a leg, with side."""
    return tuple(f"{dof}_{leg.side}" for dof in options.dofs)


def shared_rows(options: Options) -> list[int]:
    """Their columns among the moments over `LEG_DOFS`."""
    return [LEG_DOFS.index(dof) for dof in options.dofs]
