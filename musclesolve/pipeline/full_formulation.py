"""Arrays of the full formulation from a subject's model, motion and muscles (Silva 2003, 6.22).

On the model itself there are as many equations of motion as natural coordinates, 141 for the whole body. Bodies that
share points have no rows for their joints, so joint reactions are read on the expanded model, where every body has
its own points and the joints are rows (dynamics/inverse/joint_reactions.py); the muscles then pull at the copies of the
bodies to which they are attached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve._util.message_text import as_text
from musclesolve._util.names import check_known
from musclesolve.dynamics.inverse.inverse_dynamics import Wrench, required_force
from musclesolve.dynamics.inverse.joint_reactions import ExpandedModel, reactions_of
from musclesolve.dynamics.inverse.lagrange_multipliers import couple_rows
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.muscles.muscle_state import ScaledState
from musclesolve.muscles.paths.paths import muscle_rows
from musclesolve.sharing.arguments import members
from musclesolve.sharing.full_formulation import FullProblem


def full_problem(
    model: Model,
    motion: Motion,
    wrenches: list[Wrench],
    states: Sequence[ScaledState],
    dofs: Sequence[str],
    reserve_weight: AnyArray | float | None = None,
    data: Mapping[str, AnyArray] | None = None,
) -> FullProblem:
    """Make the equations of motion with multipliers of all constraints and drivers, and muscles on the shared dofs.

    Args:
        model: of the subject, expanded or not; motion and muscles belong to the unexpanded model in either case.
        motion: T frames.
        wrenches: of the ground on the subject.
        states: muscles of one group or of several along the motion; n muscles in all.
        dofs: names of the m degrees of freedom that the muscles serve; all others have drivers.
        reserve_weight: see FullProblem.
        data: further fields of Problem that some costs need and the muscles do not supply.
    """
    dofs, states = _some(dofs, "dofs"), _some(states, "states")
    names = model.topology.dof_names[: model.tree.joint_count]
    check_known(dofs, "degree of freedom", names, " in the joints of the model")
    shared = np.array([model.dof(dof) for dof in dofs])
    moved = model.motion(motion) if isinstance(model, ExpandedModel) else motion
    drivers = np.delete(driver_rows(model, moved).jacobian, shared, axis=1)
    jacobian = np.concatenate([model.constraints.jacobian(moved.q), drivers], axis=1)
    rows = np.concatenate([_flat(_rows(model, moved, state)) for state in states], axis=1)
    muscles = [state.muscles.parameters for state in states]
    fibers = {name: _joined(states, name) for name in ("fiber_velocity", "fiber_force_capacity")}
    fibers |= {name: _joined(muscles, name) for name in ("optimal_fiber_length", "joints_crossed")}
    required = required_force(model, moved.q, moved.qd, moved.qdd, wrenches).reshape(len(moved.q), -1)
    return FullProblem(
        jacobian=_flat(jacobian),
        muscle_rows=rows,
        moment_rows=_flat(couple_rows(model, moved)[:, shared]),
        needed=required + np.einsum("tn,tnq->tq", _joined(states, "passive_force"), rows),
        force_capacity=_joined(states, "force_capacity"),
        max_isometric_force=_joined(muscles, "max_isometric_force"),
        reserve_weight=reserve_weight,
        muscle=tuple(name for group in muscles for name in group.names),
        dof=tuple(dofs),
        data=fibers | dict(data or {}),
    )


def _joined(parts: Sequence[object], name: str) -> AnyArray:
    return np.concatenate([getattr(part, name) for part in parts], axis=-1)


def contact_forces(
    expanded: ExpandedModel, motion: Motion, multiplier: AnyArray
) -> dict[tuple[str, str], AnyArray]:
    """Force on the far body of every joint from the near one, muscles included, (T, 3) [N], by (far, near).

    The quadriceps pulls at the points of its path here, while `JointLoads` has the patellar ligament pull at the shank.

    Args:
        expanded: the model of the problem.
        motion: of the subject.
        multiplier: (T, c + drivers), from `solve_full`; multipliers of the drivers are ignored.
    """
    q, rows = expanded.motion(motion).q, len(expanded.constraints.names)
    force = reactions_of(expanded, q, multiplier[:, :rows])[1]
    return {joint: force[:, k] for k, joint in enumerate(expanded.joint_rows)}


def _some(argument: object, name: str) -> list[Any]:
    listed = members(argument)
    if not listed:
        raise input_error(
            "missing_argument",
            where=f"full_problem, {name}",
            problem=f"{name} is {as_text(argument)}",
            expected="a list of one or more",
        )
    return listed


def _rows(model: Model, moved: Motion, state: ScaledState) -> AnyArray:
    """Muscle rows dL_MT/dq (T, n, N, 3) in the coordinates of a model, which may be expanded."""
    if not isinstance(model, ExpandedModel):
        return muscle_rows(model, moved, state.path)
    paths = replace(state.muscles.paths, rigid_bodies=model.rigid_bodies)
    return muscle_rows(model, moved, paths.evaluate(moved.q, moved.coordinates))


def _flat(rows: AnyArray) -> AnyArray:
    return rows.reshape(*rows.shape[:-2], -1)
