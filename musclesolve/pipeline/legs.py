"""One leg: its muscles along the motion, the loads of its joints, and the sharing of its moments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.newton_euler import SegmentMotion
from musclesolve.dynamics.inverse.newton_euler import joint_loads as net_loads
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.leg_muscle_state import MuscleState, muscle_state
from musclesolve.muscles.placing.place_muscles import LEG_DOFS
from musclesolve.pipeline.run_options import Options
from musclesolve.pipeline.types import JOINTS, JointLoads, LegMechanics, LegResult, Mechanics
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status


def leg_mechanics(
    options: Options, recorded: Mechanics, segments: SegmentMotion, side: str
) -> tuple[MuscleState, JointLoads]:
    """The muscles of one leg along the motion, and the loads of its joints."""
    model, motion = recorded.model, recorded.motion
    state = muscle_state(model, options.muscles(model, side), motion)
    return state, joint_loads(model, motion, segments, recorded.wrenches, state)


def leg_moments(model: Model, moments: Array, side: str) -> Array:
    """The columns (T, 7) over `LEG_DOFS` of generalized forces (T, K+6)."""
    return moments[:, [model.dof(f"{dof}_{side}") for dof in LEG_DOFS]]


def joint_loads(
    model: Model, motion: Motion, segments: SegmentMotion, wrenches: list[Wrench], state: MuscleState
) -> JointLoads:
    """Loads of hip, knee and ankle of one leg."""
    names = {joint: f"{dof}_{state.muscles.side}" for joint, dof in JOINTS.items()}
    net = net_loads(model, motion, segments, wrenches, list(names.values()))
    return JointLoads(
        net={joint: net[name].force for joint, name in names.items()},
        across={joint: state.path.pull(model.distal_bodies(name)) for joint, name in names.items()},
    )


def share_leg(leg: LegMechanics, options: Options) -> LegResult:
    """Share the moments of one leg among its muscles.

    The status of a frame that is not usable is INVALID_MOTION, or NOT_MEASURED where its moments are not known.
    """
    problem = sharing_problem(leg, options)
    solution = solve(problem, options.cost, options.solver, on_infeasible="reserve")
    measured: Mask = np.asarray(np.isfinite(leg.moment[:, _rows(options)]).all(axis=1))
    status = np.where(leg.usable, solution.status, Status.INVALID_MOTION)
    status = np.where(measured, status, Status.NOT_MEASURED).astype(np.int8)
    net = {joint: np.where(measured[:, None], force, np.nan) for joint, force in leg.loads.net.items()}
    contact = leg.loads.contact(solution.force + leg.state.passive_force)
    return LegResult(leg.side, leg.state, problem, replace(solution, status=status), net, contact)


def sharing_problem(leg: LegMechanics, options: Options) -> Problem:
    """The problem of one leg: the moments left to the contractile elements, NaN in frames that are not usable."""
    state, muscles, rows = leg.state, leg.state.muscles, _rows(options)
    arm = state.moment_arm[:, rows]
    needed = leg.moment[:, rows] - np.einsum("tkm,tm->tk", arm, state.passive_force)
    return Problem(
        moment_arm=arm,
        moment=np.where(leg.usable[:, None], needed, np.nan),
        force_capacity=state.force_capacity,
        max_isometric_force=muscles.max_isometric_force,
        reserve_weight=None if options.reserve_weight is None else np.array(options.reserve_weight),
        muscle=muscles.names,
        dof=tuple(f"{dof}_{leg.side}" for dof in options.dofs),
        fiber_velocity=state.fiber_velocity,
        optimal_fiber_length=muscles.optimal_fiber_length,
        reaction_matrix=leg.loads.matrix,
        reaction_offset=leg.loads.offset(state.passive_force),
        reaction=leg.loads.names(leg.side),
        passive_force=state.passive_force,
        emg=leg.emg,
    )


def _rows(options: Options) -> list[int]:
    return [LEG_DOFS.index(dof) for dof in options.dofs]
