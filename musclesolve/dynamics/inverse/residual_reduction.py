"""The smallest change of a motion that reduces the residual force and moment at the base.

Newton's law for the whole body, with the momentum h = (sum m v, sum c x m v + I w) of its bodies, leaves the residual

    r = dh/dt - (sum m g, sum c x m g) - external force and moment

which has to act on the base from outside. A small change of the pose along the speeds of the model, y(t), moves the
centers of mass by dc = C y and turns the bodies by dt = S y. With v and w as they are,

    dr = d^2/dt^2 (A y) + d/dt (B y) - (0, sum dc x m g)
    A y = (sum m dc, sum c x m dc + I dt),   B y = (0, sum 2 m dc x v + dt x I w - w x I dt + I (w x dt))

so that dr is linear in y and its first two derivatives by time, with matrices that follow from A and B. The change
minimizes, over all frames,

    sum |r + dr - f b|^2 / s_r^2 + (f / s_f)^2 + sum [ |dc|^2 + L^2 |dt|^2 ] / s^2

and the last sum once more with the second derivatives by time over w^2, by Gauss-Newton: the first sum in frames in
which all external forces are known, the others in all frames. s is the size of the errors of a measured motion, which
have little content beyond the cut-off frequency w to which the motion was filtered. y is a spline of the fifth degree
with knots dense enough for all frequencies of the motion: a coarse spline answers fast parts by a wrong change at low
frequencies. f is the relative error of the mass of the body, with b = sum m (a - g) and its moment: a mass that the
forces contradict must not bend the motion. The factor is computed and not applied. A body of any kind has it:
`ChangingBody` is its protocol. `NaturalBody` is a model of natural coordinates; an OpenSim model is one in
`models.opensim.reduced_residual`.

OpenSim's residual reduction (Delp et al. 2007, IEEE Trans Biomed Eng 54:1940) serves the same purpose: there a forward
simulation tracks the motion with residual actuators of limited strength.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from musclesolve._util.arrays import Array, Mask, slices, vector_product
from musclesolve._util.sides import split_side
from musclesolve.dynamics.inverse.newton_euler import net_moments, segment_motion, turned_inertia
from musclesolve.dynamics.inverse.predicted_reactions import banded_product
from musclesolve.dynamics.kinematics.motion_derivatives import BLOCK, Motion, check_fits, splined_motion
from musclesolve.dynamics.kinematics.pose_fit import Pose
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.dynamics.rotations import from_vector, to_cardan
from musclesolve.errors import input_error

CHANGE = 0.005
"""Size s of the change of a segment [m]: motion of markers relative to bones by soft tissue ([uncertainty])."""
FIRMER = {"foot": 3.0, "shank": 2.0}
"""Segments with smaller errors, and by which factor: shoes do not slide on feet, and the force acts on the soles."""
ROTATED = 0.1
"""Length L at which a rotation counts like a shift [m]."""
RESIDUAL = 0.01
"""Size s_r of the residual that stays: force over the body weight, moment over the body weight times 1 m."""
MASS = 0.02
"""Size s_f of the relative error of the body mass."""
DEGREE, DENSE = 5, 12.0
"""Degree of the splines, and their knots per period of the cut-off frequency."""
MOST_STEPS, CONVERGED = 12, 2e-5
"""Most steps, and the largest step after which they end [m, rad]."""
SHRINK, MOST_TRIALS = 0.9, 12
"""Share of the bound to which a larger change is reduced, and the largest number of attempts."""


class MovingSegments(NamedTuple):
    """Bodies (B) with mass over T frames, and how they move with K speeds.

    names: segment of each body, with its side. mass (B,) [kg], center (T, B, 3) [m], velocity of the center (T, B, 3)
    [m/s], omega (T, B, 3) [rad/s], inertia about the center (T, B, 3, 3) [kg m2], global axes; spin, reach (T, B, K,
    3): angular velocity, and velocity of the center, per speed.
    """

    names: Sequence[str]
    mass: Array
    center: Array
    velocity: Array
    omega: Array
    inertia: Array
    spin: Array
    reach: Array


class BodyState(NamedTuple):
    """The data of a body along T frames that a reduction needs.

    time (T,) [s]; weight [N]; gravity (3,) [m/s2]; origin (T, 3) of the base, about which the moments of the residual
    are [m]; points (T, n, 3) of the body whose change is bounded [m].
    """

    time: Array
    weight: float
    gravity: Array
    origin: Array
    points: Array


class ChangingBody(Protocol):
    """A motion of a body with external forces, which can be changed along its K speeds."""

    @property
    def state(self) -> BodyState:
        """The body along the motion."""

    def segments(self, frames: slice) -> MovingSegments:
        """The bodies with mass in some frames."""

    def needed(self) -> Array:
        """Force [N] and moment [N m] that the motion needs from outside, (T, 6)."""

    def lacking(self) -> Array:
        """Force [N] and moment [N m] that the external forces leave at the base, (T, 6)."""

    def changed(self, change: Array, rate: Array, second: Array) -> Self:
        """The body after a change (T, K) along its speeds; rate, second: derivatives of the change by time."""


@dataclass(frozen=True, eq=False)
class NaturalBody:
    """A model of natural coordinates along its motion under wrenches on its bodies, as a `ChangingBody`."""

    model: Model
    motion: Motion
    wrenches: list[Wrench]

    def __post_init__(self) -> None:
        check_fits(self.model, self.motion)

    @property
    def state(self) -> BodyState:
        """See ChangingBody."""
        motion, points = self.motion, self.motion.q[:, : self.model.topology.point_count]
        return BodyState(motion.time, self.model.weight, self.model.gravity, motion.origin, points)

    def segments(self, frames: slice) -> MovingSegments:
        """See ChangingBody."""
        model, motion = self.model, self.motion.frames(frames)
        moving, bodies = segment_motion(model, motion), np.flatnonzero(model.mass.mass > 0.0)
        center = moving.center[:, bodies]
        spin, reach = model.tree.body_directions(motion.q, motion.origin, bodies, center)
        return MovingSegments(
            names=[model.topology.bodies[k].segment for k in bodies],
            mass=model.mass.mass[bodies],
            center=center,
            velocity=np.einsum("tbkx,tk->tbx", reach, motion.speeds),
            omega=moving.velocity[:, bodies],
            inertia=turned_inertia(model, moving, bodies),
            spin=spin,
            reach=reach,
        )

    def needed(self) -> Array:
        """See ChangingBody."""
        return net_moments(self.model, self.motion, [])[:, -6:]

    def lacking(self) -> Array:
        """See ChangingBody."""
        return net_moments(self.model, self.motion, self.wrenches)[:, -6:]

    def changed(self, change: Array, rate: Array, second: Array) -> Self:
        """See ChangingBody; the derivatives follow from the constraints."""
        before = self.motion
        angles, position, rotation = moved_pose(
            self.model.tree, Pose.from_coordinates(before.coordinates), change
        )
        cardan = np.column_stack(to_cardan(rotation))
        cardan += 2.0 * np.pi * np.round((before.coordinates[:, -3:] - cardan) / (2.0 * np.pi))
        moved = splined_motion(self.model, before.time, np.column_stack([angles, position, cardan]))
        return replace(self, motion=moved)


Changed = TypeVar("Changed", bound=ChangingBody)


@dataclass(frozen=True)
class ReducedResidual(Generic[Changed]):
    """A changed motion of T frames with a smaller residual.

    body: the changed one. change (T, n): how far each of its points moved [m]. mass: factor on the body mass that
    together with the change would balance the forces best; it is not applied.
    """

    body: Changed
    change: Array
    mass: float


@dataclass(frozen=True)
class ResidualReduction:
    """The reduction prepared at one motion of T frames; also valid for similar bodies, motions and forces.

    splines (3, T, n): with their first two derivatives by time; rows (n, T, 6, K): change of the residual over s_r with
    the coefficients of each spline; scale (T, 1): 1 / s_r in the frames in which all external forces are known, 0
    elsewhere; bands: normal equations of the residual, and of the change for s = 1 m, by their diagonals; size: s [m].
    """

    splines: Array
    rows: tuple[Array, ...]
    scale: Array
    bands: tuple[Array, Array]
    size: float = CHANGE

    @classmethod
    def at(cls, body: ChangingBody, known: Mask, cutoff: float, locked: Sequence[int] = ()) -> Self:
        """Prepare the reduction at a motion.

        Args:
            body: along T frames.
            known: (T,) the frames in which all external forces are known.
            cutoff: frequency to which the motion was filtered [Hz].
            locked: numbers of speeds that no measurement shows, which do not change.
        """
        from scipy.interpolate import BSpline

        time, weight, *_ = body.state
        if len(time) <= DEGREE:
            raise input_error(
                "bad_range",
                problem=f"the motion has {len(time)} frames: their rates are not known well enough to "
                "reduce the residual",
                expected=f"at least {DEGREE + 1} frames",
                remedy="widen the time range, or leave out residual",
            )
        length = time[-1] - time[0]
        count = min(int(np.ceil(length * DENSE * cutoff)), len(time) - 1)
        knots = time[0] + length / count * np.arange(-DEGREE, count + DEGREE + 1)
        basis = BSpline(knots, np.eye(len(knots) - DEGREE - 1), DEGREE)
        splines, slopes, curvatures = (basis(time, nu=order) for order in range(3))
        scale = known[:, None] / (RESIDUAL * weight)
        rates, metric = _rates_and_metric(body)
        for dof in locked:
            metric[:, dof] = metric[:, :, dof] = 0.0
            metric[:, dof, dof] = 1.0
            for rate in rates:
                rate[:, :, dof] = 0.0
        speeds, number = metric.shape[1], splines.shape[1]
        reach = [np.flatnonzero(splines[:, k]) for k in range(number)]
        spans = [slice(span[0], span[-1] + 1) if span.size else slice(0, 0) for span in reach]
        rows = tuple(
            sum(
                scale[on, :, None] * rate[on] * base[on, k, None, None]
                for rate, base in zip(rates, (splines, slopes, curvatures), strict=True)
            )
            for k, on in enumerate(spans)
        )
        bands = np.zeros((2, (DEGREE + 1) * speeds, number * speeds))
        place = np.subtract.outer(np.arange(speeds), np.arange(speeds))
        column = np.broadcast_to(np.arange(speeds), place.shape)
        for k in range(number):
            for other in range(k, min(k + DEGREE + 1, number)):
                both = slice(spans[other].start, max(spans[k].stop, spans[other].start))
                mine = rows[k][both.start - spans[k].start :]
                theirs = rows[other][: len(mine)]
                share = splines[both, k] * splines[both, other]
                share = share + curvatures[both, k] * curvatures[both, other] / (2.0 * np.pi * cutoff) ** 4
                lower = place + (other - k) * speeds
                valid = lower >= 0
                at = lower[valid], column[valid] + k * speeds
                flat = theirs.reshape(-1, speeds), mine.reshape(-1, speeds)
                bands[0][at] = (flat[0].T @ flat[1])[valid]
                bands[1][at] = np.tensordot(share, metric[both], axes=(0, 0))[valid]
        return cls(np.stack([splines, slopes, curvatures]), rows, scale, (bands[0], bands[1]))

    def bounded(self, body: Changed, largest: float) -> "tuple[ResidualReduction, ReducedResidual[Changed]]":
        """The reduction of a motion that moves no point by more than a bound [m], and its consequences.

        Where a change would be larger, the motion gets more weight until every change is within the bound.
        """
        tried = self
        for _ in range(MOST_TRIALS):
            reduced = tried.reduced(body)
            most = float(reduced.change.max(initial=0.0))
            if most <= largest:
                return tried, reduced
            tried = replace(tried, size=tried.size * SHRINK * largest / most)
        raise input_error(
            "conflict",
            problem=f"no change of the motion within {1000.0 * largest:g} mm reduces the residual: "
            f"the smallest one tried is {1000.0 * most:.3g} mm",
            expected="a bound that errors of a measured motion stay within",
            remedy="allow a larger change (largest_change_mm), or leave out residual",
        )

    def reduced(self, body: Changed) -> ReducedResidual[Changed]:
        """Change a motion of T frames as little as possible such that the residual at the base becomes smaller.

        Masses and external forces do not change; external forces are needed in all frames.
        """
        from scipy.linalg import cho_solve_banded

        heavier = self.scale * body.needed()
        by_mass = self._gradient(heavier)
        with_mass = cho_solve_banded((self._factor, True), by_mass.ravel(), check_finite=False)
        # the mass borders the band by one row and column
        curvature = float((heavier**2).sum()) + MASS**-2 - float(by_mass.ravel() @ with_mass)
        coefficients, mass, changed = np.zeros_like(by_mass), 0.0, body
        for _ in range(MOST_STEPS):
            residual = self.scale * changed.lacking() - mass * heavier
            right = -self._gradient(residual) - self._held(coefficients)
            plain = cho_solve_banded((self._factor, True), right.ravel(), check_finite=False)
            gain = (
                float((heavier * residual).sum()) - mass / MASS**2 + float(by_mass.ravel() @ plain)
            ) / curvature
            step = (plain + gain * with_mass).reshape(coefficients.shape)
            coefficients, mass = coefficients + step, mass + gain
            changed = body.changed(*(self.splines @ coefficients))
            if np.abs(self.splines[0] @ step).max() < CONVERGED:
                break
        moved = np.linalg.norm(changed.state.points - body.state.points, axis=2)
        return ReducedResidual(changed, moved, 1.0 - mass)

    @cached_property
    def _factor(self) -> Array:
        """Cholesky factor of the normal equations, by diagonals."""
        from scipy.linalg import cholesky_banded

        of_residual, of_change = self.bands
        return np.asarray(
            cholesky_banded(of_residual + of_change / self.size**2, lower=True, check_finite=False)
        )

    def _gradient(self, residual: Array) -> Array:
        """Half the gradient (n, K), by the coefficients, of the sum of squares of a residual over s_r, (T, 6)."""
        coefficients = []
        for k, rows in enumerate(self.rows):
            first = int(np.argmax(self.splines[0][:, k] != 0.0))
            coefficients.append(np.einsum("trj,tr->j", rows, residual[first : first + len(rows)]))
        return np.array(coefficients)

    def _held(self, coefficients: Array) -> Array:
        """Return the pull of the coefficients (n, K) toward zero, (n, K)."""
        return banded_product(self.bands[1], coefficients) / self.size**2


Before = TypeVar("Before")


@dataclass(frozen=True)
class MotionChange(Generic[Before]):
    """The change of a motion that made the residual at the base smaller.

    before: the motion before the change. change (T, n): displacement of each point of the body [m]. carried: body mass
    that would balance the forces best [kg]. reduction: the prepared reduction, which also serves motions near this one.
    """

    before: Before
    change: Array
    carried: float
    reduction: ResidualReduction


def moved_pose(tree: Tree, pose: Pose, step: Array) -> Pose:
    """Poses after a step in the speeds (T, K+6)."""
    joints = pose.angles.shape[1]
    return Pose(
        tree.moved(pose.angles, step[:, :joints]),
        pose.position + step[:, joints : joints + 3],
        from_vector(step[:, joints + 3 :]) @ pose.rotation,
    )


def _rates_and_metric(body: ChangingBody) -> tuple[tuple[Array, Array, Array], Array]:
    """Change of the residual per change along the speeds and per first and second derivative, (T, 6, K) each; metric.

    Moments are about the base in this motion. The metric (T, K, K) is from `_metric`.
    """
    from scipy.interpolate import make_interp_spline

    parts, (time, _, gravity, origin, _) = [], body.state
    for block in slices(len(time), BLOCK):
        segments = body.segments(block)
        parts.append((*_momenta(segments, gravity), _metric(segments)))
    a, b, weight, metric = (np.concatenate(part) for part in zip(*parts, strict=True))
    of_a, of_b = (make_interp_spline(time, part, k=DEGREE) for part in (a, b))
    coefficients = []
    for part in (of_a(time, 2) + of_b(time, 1) - weight, 2.0 * of_a(time, 1) + b, a):
        force, moment = (np.swapaxes(part[:, rows], 1, 2) for rows in (slice(3), slice(3, 6)))
        about = moment - vector_product(origin[:, None], force)
        coefficients.append(_rows(force, about))
    return (coefficients[0], coefficients[1], coefficients[2]), metric


def _metric(segments: MovingSegments) -> Array:
    """Sum over segments of |dc|^2 + L^2 |dt|^2 per square of a change along the speeds, (T, K, K)."""
    mass, names = segments.mass, np.array(segments.names)
    # a segment of several bodies counts once, by their masses
    weight = np.array([mass[b] / mass[names == name].sum() for b, name in enumerate(names)])
    weight *= [FIRMER.get(split_side(name)[0], 1.0) ** 2 for name in segments.names]
    moved = np.concatenate([segments.reach, ROTATED * segments.spin], axis=3) * np.sqrt(weight)[:, None, None]
    flat = moved.transpose(0, 2, 1, 3).reshape(len(moved), moved.shape[2], -1)
    return np.asarray(flat @ np.swapaxes(flat, 1, 2))


def _momenta(segments: MovingSegments, gravity: Array) -> tuple[Array, Array, Array]:
    """A, B and the moment of the weights per change along the speeds, (T, 6, K) each, about the global origin."""
    spin, inertia = segments.spin, segments.inertia
    omega, velocity = segments.omega[:, :, None], segments.velocity[:, :, None]
    shifted = segments.mass[:, None, None] * segments.reach

    def applied(vectors: Array) -> Array:
        return vectors @ inertia  # symmetric

    turned = applied(spin)
    linear = shifted.sum(axis=1)
    angular = (vector_product(segments.center[:, :, None], shifted) + turned).sum(axis=1)
    moving = 2.0 * vector_product(shifted, velocity) + vector_product(spin, applied(omega))
    moving += applied(vector_product(omega, spin)) - vector_product(omega, turned)

    still = np.zeros_like(linear)
    weight = vector_product(linear, gravity)
    return _rows(linear, angular), _rows(still, moving.sum(axis=1)), _rows(still, weight)


def _rows(force: Array, moment: Array) -> Array:
    """Forces and moments by speed, (T, K, 3) each, as rows (T, 6, K)."""
    return np.swapaxes(np.concatenate([force, moment], axis=2), 1, 2)
