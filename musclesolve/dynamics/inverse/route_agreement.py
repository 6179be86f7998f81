"""Inverse dynamics by four independent routes, which must agree."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.inverse.explicit_moment import intersegmental_moment
from musclesolve.dynamics.inverse.inverse_dynamics import Wrench, projected_moments
from musclesolve.dynamics.inverse.lagrange_multipliers import actuated_moments, lagrange_multipliers
from musclesolve.dynamics.inverse.newton_euler import joint_loads, segment_motion
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import MuscleSolveError


class MomentsByRoute(dict[str, Array]):
    """Route -> moments (T, K) [N m] about all joint axes."""

    def disagreement(self) -> dict[tuple[str, str], float]:
        """Largest difference between each pair of routes over the largest moment of all; zero where all are zero.

        Returns:
            (route, route) -> difference [1].

        Raises:
            MuscleSolveError: a route has numbers that are not finite.

        Examples:
            >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
            >>> moments = ms.dynamics.joint_moments_by_route(stride.model, stride.motion(time), stride.wrenches(time))
            >>> max(moments.disagreement().values()) < 1e-8
            True
        """
        if broken := [name for name, moment in self.items() if not np.isfinite(moment).all()]:
            raise MuscleSolveError(f"the moments by {', '.join(broken)} are not finite")
        names, largest = list(self), max(np.abs(moment).max() for moment in self.values())
        scale = largest if largest > 0.0 else 1.0
        return {
            (one, other): float(np.abs(self[one] - self[other]).max() / scale)
            for i, one in enumerate(names)
            for other in names[i + 1 :]
        }


def joint_moments_by_route(model: Model, motion: Motion, wrenches: list[Wrench]) -> MomentsByRoute:
    """Moments about all joint axes by four routes of inverse dynamics.

    Lagrange multipliers on the whole system (Silva 2003, 2.83; with unknown couples, 2.86, where spherical joints
    leave no angles to drive), projection on the allowed directions (Blajer & Czaplicki 2005, 2.9), the Newton-Euler
    recursion (Silva 2003, 5.10-5.14) and Hof's explicit moment (1992, 7).

    Args:
        motion: its motion over T frames.
        wrenches: external forces on its bodies.

    Returns:
        Route -> moments (T, K) [N m].

    Examples:
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> moments = ms.dynamics.joint_moments_by_route(stride.model, stride.motion(time), stride.wrenches(time))
        >>> len(moments)
        4
    """
    joints, axes = model.tree.joint_count, model.tree.axes(motion.q)
    dofs = model.topology.dof_names[:joints]
    segments = segment_motion(model, motion)
    loads = joint_loads(model, motion, segments, wrenches)
    recursion = np.stack([loads[dof].moment for dof in dofs], axis=1)
    explicit = np.stack(
        [intersegmental_moment(model, motion, segments, wrenches, dof).total for dof in dofs], axis=1
    )
    whole = actuated_moments if len(model.tree.spherical) else lagrange_multipliers
    return MomentsByRoute(
        {
            "multipliers": whole(model, motion, wrenches).moments[:, :joints],
            "projection": projected_moments(model, motion, wrenches)[:, :joints],
            "Newton-Euler": np.einsum("tkx,tkx->tk", recursion, axes),
            "Hof": np.einsum("tkx,tkx->tk", explicit, axes),
        }
    )
