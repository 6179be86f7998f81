"""Inverse dynamics by Lagrange multipliers: each degree of freedom has a driver or an unknown couple.

A driver's moment comes from its multiplier (Silva 2003, 2.83), an unknown couple is itself the solution (Newton method,
2.84-2.87); couples do not degenerate at 0 or 180 degrees. The applied force of couples f is -Gamma^T f, and
the unknowns stand side by side, [Phi_q^T Gamma^T] {lambda; f} = g_e - M qdd (correction B6).

There may be more rows than coordinates: a revolute joint of a shared point and a shared vector has six rows for five
constraints. The multipliers then are not unique: the choice of minimum norm depends on how the rows are scaled
(correction B10). The force and the moment on a body by all rows of one joint, -Phi_q^T lambda, do not depend on the
scaling.

A moment tau about the axis a of a joint is the couple tau a on the distal body and -tau a on the proximal one. The
cross of a universal joint is massless and no body: the couples of both its joints act on the bodies on its two sides.
Where its axes are not perpendicular, w = a_1 s_1 + a_2 s_2 requires the couples tau_1 b_1 + tau_2 b_2 about the dual
axes, b_k . a_l = 1 for k = l, else 0, so that each moment works on its own angle alone and s_k = b_k . w.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, grouped
from musclesolve._util.messages import check_known
from musclesolve.dynamics.inverse.inverse_dynamics import required_force
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows, residual_about_origin
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench, check_frames
from musclesolve.dynamics.model.topology import bodies_of_joint
from musclesolve.errors import MuscleSolveError


def acting_bodies(model: Model) -> tuple[Indices, Indices]:
    """Proximal and distal body of every joint (K,); a massless cross is passed over to the next body."""
    names = [bodies_of_joint(model.topology, dof) for dof in model.topology.dofs]
    numbers = np.array([[model.body(name) for name in pair] for pair in names], np.intp)
    proximal, distal = numbers.reshape(-1, 2).T.copy()
    return proximal, distal


def dual_axes(axes: Array) -> Array:
    """(T, a, 3) with dual_k . axis_l = 1 for k = l, else 0."""
    return np.swapaxes(np.linalg.pinv(axes), 1, 2)


@dataclass(frozen=True)
class Couples:
    """Joint moments of one model as generalized forces.

    distal, proximal (K,): the bodies on the two sides of every joint; spread (B, K): +1 on the distal one, -1 on the
    proximal one. groups: joints that share both bodies, a massless cross lying between; the couples of a spherical
    joint are square anyway. In all methods q (T, N, 3) are natural coordinates [m, vectors 1], qd (T, N, 3) their
    rates.
    """

    model: Model
    distal: Indices
    proximal: Indices
    spread: Array
    groups: tuple[Indices, ...]

    @classmethod
    def build(cls, model: Model) -> Self:
        """Couples of every joint of a model."""
        proximal, distal = acting_bodies(model)
        spread = np.zeros((len(model.topology.bodies), len(distal)))
        spread[distal, np.arange(len(distal))] += 1.0
        spread[proximal, np.arange(len(distal))] -= 1.0
        balls = set(model.tree.spherical.ravel().tolist())
        together = grouped(
            (pair, k) for k, pair in enumerate(zip(proximal.tolist(), distal.tolist(), strict=True))
        )
        groups = tuple(np.array(g) for g in together.values() if len(g) > 1 and not balls.issuperset(g))
        return cls(model, distal, proximal, spread, groups)

    def axes(self, q: Array) -> Array:
        """Directions (T, K, 3) of the couples of unit moments: the axes, or the dual ones across a massless cross."""
        axes = self.model.tree.axes(q)
        for group in self.groups:
            axes[:, group] = dual_axes(axes[:, group])
        return axes

    def force(self, q: Array, moments: Array) -> Array:
        """Generalized force (T, N, 3) of joint moments (T, K) [N m] about their axes (2.77-2.82, correction B4)."""
        couple = self.spread @ (self.axes(q) * moments[..., None])
        return self.model.rigid_bodies.generalized(q, self.model.rigid_bodies.moment_forces(q, couple))

    def unit_forces(self, q: Array) -> Array:
        """Generalized forces (T, K, N, 3) of a unit moment about each axis (2.85)."""
        axes, rigid_bodies = self.axes(q), self.model.rigid_bodies
        rows = np.zeros((*axes.shape[:2], *q.shape[1:]), axes.dtype)
        for bodies, sign in ((self.distal, 1.0), (self.proximal, -1.0)):
            picked = rigid_bodies.subset(bodies)
            force = picked.slot_forces(q, picked.moment_forces(q, sign * axes))
            rows += np.einsum("nks,tksx->tknx", picked.incidence, force)
        return rows

    def rates(self, q: Array, qd: Array) -> Array:
        """Rates (T, K) [rad/s], the shares of the axes in the relative angular velocity."""
        spin = self.model.rigid_bodies.twists(q, qd)[..., :3]
        return np.einsum("tkx,tkx->tk", self.axes(q), spin[:, self.distal] - spin[:, self.proximal])


_BLOCK = 64  # Frames solved together: the whole system of the human takes some hundred kilobytes a frame
_RANK = 1e-9  # Ratio to the strongest direction below which a direction counts as zero


@dataclass(frozen=True)
class Multipliers:
    """Multipliers of the model's constraint rows (T, c), and generalized forces of all degrees of freedom (T, K+6)."""

    constraint: Array
    moments: Array


def lagrange_multipliers(model: Model, motion: Motion, wrenches: list[Wrench]) -> Multipliers:
    """Solve Phi_q^T lambda = g - M qdd on the whole system, drivers included (Silva 2003, 2.83).

    The rows are independent and as many as there are coordinates, so lambda is unique. The multipliers of the
    drivers become moments by the factors of correction B3.

    Args:
        motion: its motion over T frames.
        wrenches: external forces on its bodies.

    Returns:
        Multipliers (T, c) of the constraints, and generalized forces (T, K+6) [N m; of the base N, then N m].

    Examples:
        >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> solved = ms.dynamics.lagrange_multipliers(stride.model, stride.motion(time), stride.wrenches(time))
        >>> np.allclose(solved.moments[:, :38], stride.joint_moments(time), atol=1e-6)
        True
    """
    check_fits(model, motion)
    check_frames(wrenches, len(motion.time))
    parts = []
    for _, some, acting in motion.blocks(wrenches, _BLOCK):
        constraint, drivers = model.constraints.jacobian(some.q), driver_rows(model, some)
        (frames, rows), joints = constraint.shape[:2], model.tree.joint_count
        jacobian = np.concatenate([constraint, drivers.jacobian], axis=1).reshape(frames, -1, some.q[0].size)
        needed = -required_force(model, some.q, some.qd, some.qdd, acting).reshape(frames, -1, 1)
        multipliers = np.asarray(np.linalg.solve(np.swapaxes(jacobian, 1, 2), needed)[..., 0])
        moments = drivers.moment_factor * multipliers[:, rows:]
        base = residual_about_origin(model, some, moments[:, joints:])
        parts.append((multipliers[:, :rows], np.hstack([moments[:, :joints], base])))
    return Multipliers(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def actuated_moments(
    model: Model, motion: Motion, wrenches: list[Wrench], drivers: Collection[str] = ()
) -> Multipliers:
    """Inverse dynamics in which each degree of freedom has a driver or an unknown couple (Silva 2003, 2.86).

    Args:
        motion: its motion over T frames.
        wrenches: external forces on its bodies over the same frames.
        drivers: names of degrees of freedom with a driver; the others have a couple (on the base, a force or a couple).

    Returns:
        Multipliers (T, c) of the constraints, and generalized forces (T, K+6) [N m; of the base N, then N m].

    Raises:
        InputError: a name is unknown.
    """
    check_fits(model, motion)
    names, joints, (frames, slots) = model.topology.dof_names, model.tree.joint_count, motion.q.shape[:2]
    check_known(drivers, "degree of freedom", names)
    driven = np.isin(names, list(drivers))
    rows = np.zeros((frames, 0, slots, 3))
    if driven.any():
        drive = driver_rows(model, motion, base=bool(driven[joints:].any()))
        chosen = np.flatnonzero(driven)
        rows = drive.jacobian[:, chosen]
    parts = model.constraints.jacobian(motion.q), rows, couple_rows(model, motion)[:, ~driven]
    stacked = np.concatenate(parts, axis=1).reshape(frames, -1, 3 * slots)
    needed = -required_force(model, motion.q, motion.qd, motion.qdd, wrenches).reshape(frames, -1)
    multipliers = minimum_norm(stacked, needed, "constraints, drivers and couples")
    first, count = len(model.constraints.names), int(driven.sum())
    moments = np.zeros((frames, len(names)))
    moments[:, ~driven] = -multipliers[:, first + count :]
    if driven.any():
        multiplier = multipliers[:, first : first + count]
        moments[:, chosen] = drive.moment_factor[:, chosen] * multiplier
    if driven[joints:].any():
        # Base drivers act along prescribed axes: their force about the global ones, by its power.
        force = -np.einsum("tanx,ta->tnx", rows, multiplier)
        directions = model.tree.allowed(motion.q, motion.origin)[..., joints:]
        power = np.einsum("tnxk,tnx->tk", directions, force)
        moments[:, joints:] = np.where(driven[joints:], 0.0, moments[:, joints:]) + power
    return Multipliers(multipliers[:, :first], moments)


def couple_rows(model: Model, motion: Motion) -> Array:
    """Gamma (T, K+6, N, 3): generalized force of a unit actuator of every degree of freedom (2.85).

    A joint actuator is a couple about the joint axis on the body distal to the joint and its opposite on the one before
    it; where a massless cross lies between, a couple of the dual axes, so that each actuator works on its own angle
    alone. On the base, unit forces at the layout's origin and unit couples, global axes.
    """
    q, joints = motion.q, model.tree.joint_count
    rows = np.zeros((len(q), joints + 6, *q.shape[1:]))
    rows[:, :joints] = Couples.build(model).unit_forces(q)
    root, still = model.rigid_bodies.subset(np.array([model.tree.root])), np.zeros((len(q), 1, 3))
    for k, axis in enumerate(np.eye(3)):
        unit = np.broadcast_to(axis, still.shape)
        push = root.wrench_forces(q, unit, np.cross(motion.origin[:, None], unit))
        rows[:, joints + k] = root.generalized(q, push)
        rows[:, joints + 3 + k] = root.generalized(q, root.moment_forces(q, unit))
    return rows


def minimum_norm(jacobian: Array, needed: Array, what: str = "the constraint rows") -> Array:
    """Multipliers (T, c) of minimum norm with Phi_q^T lambda = needed (T, n) (Silva 2003, 2.88).

    Phi_q = Q R (T, c, n) gives lambda = Q R^-T needed without squaring the condition number as Phi_q^T Phi_q does.
    Where the rows leave a direction of motion free (correction B10), the pseudo-inverse takes over. `what` names the
    rows.

    Raises:
        MuscleSolveError: the rows cannot supply the force; with the missing part.
    """
    rows, columns = jacobian.shape[1:]
    multipliers = None
    if rows >= columns:
        basis, triangle = np.linalg.qr(jacobian)
        pivots = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
        if (pivots.min(axis=1) > _RANK * pivots.max(axis=1)).all():
            reduced = np.linalg.solve(np.swapaxes(triangle, 1, 2), needed[..., None])
            multipliers = (basis @ reduced)[..., 0]
    if multipliers is None:
        inverse = np.linalg.pinv(np.swapaxes(jacobian, 1, 2), rcond=_RANK)
        multipliers = np.einsum("tcn,tn->tc", inverse, needed)
    missing = np.abs(np.einsum("tcn,tc->tn", jacobian, multipliers) - needed).max(axis=1)
    if (missing > 1e-6 * np.maximum(np.abs(needed).max(axis=1), 1.0)).any():
        frame = int(np.argmax(missing))
        raise MuscleSolveError(
            f"{what} cannot supply the forces that the motion requires: {missing[frame]:.3g} N or N m is left over in "
            f"frame {frame}. A degree of freedom with neither driver nor actuator is the usual reason."
        )
    return multipliers


def least_squares(jacobian: Array, right: Array) -> Array:
    """Shortest x (T, n) with least |Phi_q x - right| (Silva 2003, 2.6, and 2.8, 2.11 with redundant rows)."""
    return np.einsum("tnc,tc->tn", np.linalg.pinv(jacobian, rcond=_RANK), right)


def undriven(rows: Array, directions: Array, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the degrees of freedom (k) that drivers or actuators leave free in some frame.

    rows (T, a, N, 3): of the drivers, or generalized forces of unit actuators. directions (T, N, 3, k): D.
    """
    rates = np.einsum("tanx,tnxk->tak", rows, directions)
    _, size, right = np.linalg.svd(rates)
    padded = np.zeros((len(rates), len(names)))
    padded[:, : size.shape[1]] = size
    free = padded <= _RANK * np.maximum(padded[:, :1], 1e-30)
    share = np.where(free[..., None], np.abs(right), 0.0).max(axis=(0, 1))
    return tuple(name for name, part in zip(names, share, strict=True) if part > 1e-6)


def rigid_wrench(q: Array, force: Array, points: Mask, about: Array) -> tuple[Array, Array]:
    """Force and moment (T, 3) of generalized forces (T, n, 3) on the slots of one rigid body, by virtual power.

    q (T, n, 3): its points (where `points` (n,) is true) and vectors. Moments about the point `about` (T, 3).
    """
    arm = np.where(points[:, None], q - about[:, None], q)
    return force[:, points].sum(axis=1), np.cross(arm, force).sum(axis=1)
