"""The moment and the force at a joint, explicitly, from all bodies beyond it; four routes that must agree.

Hof's explicit moment (Hof 1992, J Biomech 25:1209-11) needs no recursion: it follows from rotations, angular velocities
and the accelerations of the centers of mass of all distal bodies, taken about the joint, term by term, and gives the
center of pressure. His equations as in correction E1, for the joints and bodies of any model of this core.
"""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import UP, Array, dot, vector_product
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.checks import check_number
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.lagrange_multipliers import actuated_moments, lagrange_multipliers
from musclesolve.dynamics.inverse.newton_euler import angular_momentum_rate, joint_loads, segment_motion
from musclesolve.dynamics.kernel.arrays import SegmentArrays
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench, check_frames
from musclesolve.errors import MuscleSolveError


@dataclass(frozen=True)
class IntersegmentalMoment:
    """Moment that the distal side of a joint receives from the proximal one, by origin; all (T, 3) [N m] but force [N].

    ground: minus the moment of the ground forces at their centers of pressure; free_moment: minus the moment of the
    plates about the vertical; gravity, linear, angular: weights, accelerated centers of mass, angular momentum. force:
    the net force, Hof's (8).
    """

    ground: Array
    free_moment: Array
    gravity: Array
    linear: Array
    angular: Array
    force: Array

    @property
    def total(self) -> Array:
        """Intersegmental moment: the sum of all terms of (7)."""
        return self.quasi_static + self.linear + self.angular

    @property
    def quasi_static(self) -> Array:
        """Quasi-static part of (7), without the accelerations: ground force, free moment and weights."""
        return self.ground + self.free_moment + self.gravity

    def about(self, axis: Array) -> dict[str, Array]:
        """Every term about an axis (T, 3) of unit length, (T,) each, by name."""
        names = ("ground", "free_moment", "gravity", "linear", "angular", "quasi_static", "total")
        return {name: dot(getattr(self, name), axis) for name in names}


def intersegmental_moment(
    model: Model,
    motion: Motion,
    segments: SegmentArrays,
    wrenches: list[Wrench],
    dof: str,
    height: float = 0.0,
) -> IntersegmentalMoment:
    """Moment and force at the pivot of a degree of freedom, explicitly, the bodies i distal to it together (Hof 1992).

    M = -(r_r - r_lk) x F_r - sum (r_i - r_lk) x m_i g + sum (r_i - r_lk) x m_i a_i + sum d(I_i w_i)/dt - T_z e_z  (7)
    F = -F_r - sum m_i g + sum m_i a_i                                                                            (8)

    External forces on other bodies do not count. Where the vertical force is below 20 N all its moment is in `ground`.
    height: of the plates [m]; divides the moment into ground and free moment. Other arguments as in `joint_loads`.

    Raises:
        InputError: no such joint degree of freedom; wrenches that do not fit the model and the motion.
    """
    check_fits(model, motion)
    check_frames(wrenches, len(motion.q))
    height = check_number(height, "height", "a height [m]")
    distal, center = model.distal_bodies(dof), motion.q[:, model.tree.pivot[model.joint(dof)]]
    arm = segments.center[:, distal] - center[:, None]
    mass, weight = model.mass.mass[distal, None], model.mass.mass[distal, None] * model.gravity
    push = mass * segments.center_acceleration[:, distal]
    ground, free, force = np.zeros_like(center), np.zeros_like(center), (push - weight).sum(axis=1)
    for wrench in wrenches:
        if model.body(wrench.body) in distal:
            twist = free_moment(wrench.force, wrench.moment, height)
            ground = ground - (wrench.about(center) - twist)
            free, force = free - twist, force - wrench.force
    gravity = -vector_product(arm, weight).sum(axis=1)
    angular = angular_momentum_rate(model, segments, distal).sum(axis=1)
    return IntersegmentalMoment(ground, free, gravity, vector_product(arm, push).sum(axis=1), angular, force)


def neglected_share(
    model: Model, motion: Motion, segments: SegmentArrays, wrenches: list[Wrench]
) -> dict[str, float]:
    """Share of each joint moment that the quasi-static approximation omits, rms of the omitted part over the whole.

    Joint degree of freedom -> share, of the moment about its own axis; zero where there is no moment at all. Arguments
    as in `joint_loads`.
    """
    shares = {}
    axes = model.tree.axes(motion.q)
    for index, dof in enumerate(model.topology.dof_names[: model.tree.joint_count]):
        terms = intersegmental_moment(model, motion, segments, wrenches, dof).about(axes[:, index])
        total = np.linalg.norm(terms["total"])
        omitted = np.linalg.norm(terms["linear"] + terms["angular"])
        shares[dof] = float(omitted / total) if total > 0.0 else 0.0
    return shares


def free_moment(force: Array, moment: Array, height: float = 0.0) -> Array:
    """Return the free moment about the center of pressure, M - r_r x F_r = (0, 0, T_z), (T, 3) [N m].

    Equation (12) has no free moment, (7) has a term for it. It is zero where the vertical force is below 20 N.
    """
    point = center_of_pressure(force, moment, height)
    twist = (moment - vector_product(point, force))[:, 2]
    return np.nan_to_num(twist)[:, None] * UP


def whole_body_wrench(model: Model, segments: SegmentArrays) -> tuple[Array, Array]:
    """Force [N] and moment about the global origin [N m] that the whole body needs from the ground, (T, 3) each.

    F = sum m_i a_i - M g (3b);  M = sum r_i x m_i (a_i - g) + sum d(I_i w_i)/dt (4b)
    """
    push = model.mass.mass[:, None] * (segments.center_acceleration - model.gravity)
    angular = angular_momentum_rate(model, segments, np.arange(len(model.mass.mass)))
    return push.sum(axis=1), (vector_product(segments.center, push) + angular).sum(axis=1)


def center_of_pressure_from_motion(model: Model, segments: SegmentArrays, height: float = 0.0) -> Array:
    """Center of pressure that the motion of the whole body requires, without a force plate (Hof 1992, 12).

    r_r = e_z x [-(r_c x M g) + sum r_i x m_i a_i + sum d(I_i w_i)/dt] / (M g + sum m_i a_i^z)

    Args:
        segments: motion of its bodies over T frames, from `segment_motion`.
        height: of the ground [m].

    Returns:
        Center of pressure (T, 3) [m].
    """
    height = check_number(height, "height", "a height [m]")
    return center_of_pressure(*whole_body_wrench(model, segments), height)


class MomentsByRoute(dict[str, Array]):
    """Route -> moments (T, K) [N m] about all joint axes."""

    def disagreement(self) -> dict[tuple[str, str], float]:
        """Largest difference between each pair of routes over the largest moment of all; zero where all are zero.

        Returns:
            (route, route) -> difference [1].

        Raises:
            MuscleSolveError: a route has numbers that are not finite.

        Examples:
            >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
            >>> moments = ms.dynamics.joint_moments_by_route(stride.model, stride.motion(time), stride.wrenches(time))
            >>> max(moments.disagreement().values()) < 1e-8
            True
        """
        if broken := [name for name, moment in self.items() if not np.isfinite(moment).all()]:
            raise MuscleSolveError(f"the moments by {', '.join(broken)} are not finite")
        names, largest = list(self), max(np.abs(moment).max() for moment in self.values())
        scale = largest if largest > 0.0 else 1.0
        return {
            (first, second): float(np.abs(self[first] - self[second]).max() / scale)
            for i, first in enumerate(names)
            for second in names[i + 1 :]
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
        >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> moments = ms.dynamics.joint_moments_by_route(stride.model, stride.motion(time), stride.wrenches(time))
        >>> len(moments)
        4
    """
    segments = segment_motion(model, motion)
    joints, axes = model.tree.joint_count, model.tree.axes(motion.q)
    dofs = model.topology.dof_names[:joints]
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
