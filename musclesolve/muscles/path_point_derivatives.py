"""Derivatives of muscles: of lengths, rates and moment arms by path points, of forces by parameters.

Over the segments from s to e of a path, with the unit vector u, the length L and P = (1 - u u^T) / L,

    L_MT = sum L                  dL_MT = sum u . (dr_e - dr_s)
    V_MT = sum u . (v_e - v_s)    dV_MT = sum P (v_e - v_s) . (dr_e - dr_s) + u . (dv_e - dv_s)
    r = -sum u . (w_e - w_s)      dr = -sum P (w_e - w_s) . (dr_e - dr_s) + u . (dw_e - dw_s)

where w is the velocity of a point for a unit rate of the degree of freedom: a x (r - c) on the bodies distal to it, for
the axis a through c, and zero on the others. A point that stands at s in the frame of its body stands at r in space,
dr = R ds and dv = (dR/dt) ds. A conditional point that is not on the path has no effect.

These formulas are exact for muscles without wrap objects and moving frames. For other muscles dL_MT is exact, and dV_MT
and -dr, the derivatives along the motion and along the degrees of freedom, are central differences of the exact
gradient: by symmetry of second derivatives, the change of the length's rate with a point equals the change of the
gradient by this point along the motion. Motions are followed in natural coordinates: the second-order error of the
constraints is equal on both sides and cancels in the difference. Where a path lifts off within the step, the two sides
differ and the result is their mean. With a step of 5 micrometers, errors are some 1e-6 of the largest second
derivative.

Capacity and passive force (hill_model.py) have exact derivatives by the parameters of the muscle. With x = L_MT - L_T,
h = L0 sin a0 and l = sqrt(x^2 + h^2), cos = x / l and sin = h / l,

    dl = cos dx + sin dh,   dcos = sin (sin dx - cos dh) / l,   dv = dV_MT cos + V_MT dcos
    d(F f cos) = dF f cos + F df cos + F f dcos

where F f is F0 f_l(l / L0) f_v(v / (v_max L0)) of the contractile element, or F_p f_p(l / L0) of the passive one, whose
F_p does not change with the strength. Lengths and strength are of the subject, after `scale_muscles`.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_real_array, check_type
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.muscles.muscle_state import MuscleState, ScaledState
from musclesolve.muscles.paths.engine import solve_paths
from musclesolve.muscles.paths.paths import Paths


@dataclass(frozen=True, eq=False)
class MuscleChange:
    """Change of muscles (n) over T frames along some direction of their parameters, each (..., T, n).

    fiber_length [m], fiber_velocity [m/s], force_capacity, fiber_force_capacity and passive_force [N].
    """

    fiber_length: Array
    fiber_velocity: Array
    force_capacity: Array
    fiber_force_capacity: Array
    passive_force: Array


def muscle_change(
    state: MuscleState,
    *,
    max_isometric_force: ArrayLike = 0.0,
    optimal_fiber_length: ArrayLike = 0.0,
    tendon_slack_length: ArrayLike = 0.0,
    pennation_angle: ArrayLike = 0.0,
    musculotendon_length: ArrayLike = 0.0,
    musculotendon_velocity: ArrayLike = 0.0,
) -> MuscleChange:
    """The derivative of a muscle state along changes of parameters of the muscles, broadcast to (..., T, n) each
    [N, m, rad, m/s].

    `optimal_fiber_length=parameters.optimal_fiber_length` is the derivative by the logarithm; the maximum shortening
    velocity stays the same in optimal fiber lengths per second. Where the tendon is slack, the derivatives of the
    forces are zero; at the kinks of the curves one of the two slopes is used.
    """
    check_type(state, MuscleState, "state", "the state of muscles, from muscle_state()")
    muscles, length = state.parameters, state.fiber_length

    def change(value: ArrayLike, name: str) -> Array:
        expected = f"numbers that broadcast to {length.shape}"
        array = check_real_array(value, name, expected)
        ends = zip(array.shape[::-1], length.shape[::-1], strict=False)
        if not all(size in (1, end) for size, end in ends):
            raise input_error("bad_shape", name=name, shape=array.shape, expected=expected)
        return array

    optimal, longer = muscles.optimal_fiber_length, change(optimal_fiber_length, "optimal_fiber_length")
    taut, size = ~state.slack, np.where(length > 0.0, length, 1.0)
    cosine = np.where(taut, state.musculotendon_length - muscles.tendon_slack_length, 0.0) / size
    sine = optimal * np.sin(muscles.pennation_angle) / size

    longer_path = change(musculotendon_length, "musculotendon_length")
    along = (longer_path - change(tendon_slack_length, "tendon_slack_length")) * taut
    across = longer * np.sin(muscles.pennation_angle)
    across = across + optimal * np.cos(muscles.pennation_angle) * change(pennation_angle, "pennation_angle")
    fiber = cosine * along + sine * across
    rotated = sine * (sine * along - cosine * across) / size * taut
    rate = (
        change(musculotendon_velocity, "musculotendon_velocity") * cosine
        + state.musculotendon_velocity * rotated
    )

    # forces over F0, and their changes with fiber length, velocity and L0
    fastest = muscles.max_shortening_velocity * optimal
    normal, speed = length / optimal, state.fiber_velocity / fastest
    normal_change = (fiber - normal * longer) / optimal
    speed_change = rate / fastest - speed * longer / optimal
    active, active_slope, by_velocity, velocity_slope, passive, passive_slope = np.empty((6, *normal.shape))
    for curves, members in muscles.families:
        at, v, strains = (
            normal[:, members],
            speed[:, members],
            [part[members] for part in muscles.passive[1:]],
        )
        active[:, members], active_slope[:, members] = curves.active(at), curves.active_slope(at)
        by_velocity[:, members], velocity_slope[:, members] = curves.velocity(v), curves.velocity_slope(v)
        passive[:, members] = curves.passive(at, *strains)
        passive_slope[:, members] = curves.passive_slope(at, *strains)
    active_change = active_slope * by_velocity * normal_change + active * velocity_slope * speed_change
    active, passive_change = active * by_velocity, passive_slope * normal_change

    # d(F f cos) of both elements
    strength, element = muscles.max_isometric_force, muscles.passive.force
    along_fibers = change(max_isometric_force, "max_isometric_force") * active + strength * active_change
    capacity = along_fibers * cosine + strength * active * rotated
    resisting = element * (passive_change * cosine + passive * rotated)
    fiber, rate = np.broadcast_arrays(fiber, rate)
    return MuscleChange(fiber, rate, capacity, along_fibers * taut, resisting)


@dataclass(frozen=True, eq=False)
class PointDerivatives:
    """Derivatives by the place of each path point (P) in the frame of its body, along forward, left, up in standing.

    muscle (P,): the muscle of each point, the only one that changes with it. musculotendon_length (T, P, 3),
    musculotendon_velocity (T, P, 3) [1/s], moment_arm (T, 7, P, 3).
    """

    muscle: Indices
    musculotendon_length: Array
    musculotendon_velocity: Array
    moment_arm: Array
    _body: Indices
    _segments: "_Segments"
    _rotation: Array
    _curved: Mask
    _differences: "GradientDifferences | None"

    def pull(self, bodies: Indices) -> Array:
        """Derivatives (T, 3, P, 3) [1/m] of `PathState.pull` on some bodies, of the muscle of each point."""
        on = np.isin(self._body, bodies).astype(float)[:, None]
        shape = self.musculotendon_length.shape
        bent = [self._segments.bend(np.broadcast_to(on * axis, shape)) for axis in np.eye(3)]
        pulls = np.stack([on_standing(derivative, self._rotation) for derivative in bent], axis=1)
        if self._differences is not None:
            pulls[:, :, self._curved] = self._differences.of_pull(bodies)
        return pulls


def point_derivatives(model: Model, motion: Motion, state: ScaledState) -> PointDerivatives:
    """Differentiate the paths of placed muscles along a motion, given their `muscle_state`.

    Conditional points stay on or off the path; the angles at which they switch are constant.
    """
    check_fits(model, motion)
    check_type(state, ScaledState, "state", "the state of the muscles in this motion, from muscle_state()")
    paths, places = state.muscles.paths, state.path.nodes
    points = len(paths.standing)
    on = paths.on_path(motion.coordinates)
    position = places.position[:, :points]
    segments = _Segments.from_points(paths.layout.point_muscle, position, on)
    rotation = paths.point_rotation(motion.q, motion.coordinates)
    length = on_standing(places.gradient[:, :points], rotation)
    pull = segments.pull()

    # dV_MT of straight paths; the rotation is made of the columns of the basic body, and so is its rate
    bodies = paths.rigid_bodies.subset(paths.point_body)
    basic = bodies.basic(motion.q, motion.qd)
    columns = np.stack([basic[:, :, 1] - basic[:, :, 0], basic[:, :, 2], basic[:, :, 3]], -1)
    velocity = np.einsum("pc,tpcx->tpx", bodies.coordinates(paths.standing), basic)
    rate = on_standing(segments.bend(velocity), rotation) + on_standing(pull, columns @ bodies.inverse)

    # dr of straight paths
    dofs = np.array([model.dof(dof) for dof in state.muscles.dof_names])
    axes, arms = model.tree.axes(motion.q), np.empty((len(on), len(dofs), points, 3))
    for row, dof in enumerate(dofs):
        distal = model.tree.distal_frames[paths.point_body, dof][:, None]
        axis, pivot = axes[:, dof, None], motion.q[:, model.tree.pivot[dof]][:, None]
        rotated = segments.bend(distal * np.cross(axis, position - pivot))
        arms[:, row] = -on_standing(rotated + distal * np.cross(pull, axis), rotation)

    # muscles that wrap or move on their bodies
    muscles = np.concatenate([paths.layout.wrap_muscle, paths.groups.muscle[paths.groups.frame >= 0]])
    curved = np.isin(paths.layout.point_muscle, muscles)
    differences = None
    if muscles.size:
        some = paths.subset(np.unique(muscles))
        differences = GradientDifferences(some, motion.q, motion.coordinates, on[:, curved])
        rate[:, curved] = differences.along(motion.qd, motion.rates)
        directions = model.tree.allowed(motion.q, motion.origin)
        for row, dof in enumerate(dofs):
            unit = np.zeros_like(motion.rates)
            unit[:, dof] = 1.0
            arms[:, row, curved] = -differences.along(directions[..., dof], unit)
    muscle = paths.layout.point_muscle
    return PointDerivatives(
        muscle, length, rate, arms, paths.point_body, segments, rotation, curved, differences
    )


@dataclass(frozen=True, eq=False)
class _Segments:
    """Segments (S) between neighboring points of the table; a segment that ends at an absent point has no length.

    first (S,): the first point; before (T, P): the point in place of each, itself unless it is absent.
    """

    first: Indices
    before: Indices
    unit: Array
    per_length: Array

    @classmethod
    def from_points(cls, muscle: Indices, position: Array, on: Mask) -> Self:
        first = np.flatnonzero(muscle[:-1] == muscle[1:])
        number = np.where(on, np.arange(on.shape[1]), 0)
        before = np.maximum.accumulate(number, axis=1)
        stand = np.take_along_axis(position, before[..., None], axis=1)
        step = stand[:, first + 1] - stand[:, first]
        step[muscle[before[:, first]] != muscle[first + 1]] = 0.0  # before the first point of a path
        length = np.linalg.norm(step, axis=2, keepdims=True)
        per_length = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0.0)
        return cls(first, before, step * per_length, per_length)

    def pull(self) -> Array:
        """Gradient dL_MT / dr (T, P, 3) by the places of the path points in space."""
        return self._gathered(self.unit)

    def bend(self, velocity: Array) -> Array:
        """The derivative by r of sum u . (v_e - v_s) for given velocities (T, P, 3), (T, P, 3)."""
        moving = np.take_along_axis(velocity, self.before[..., None], axis=1)
        step = moving[:, self.first + 1] - moving[:, self.first]
        along = (step * self.unit).sum(axis=2, keepdims=True)
        return self._gathered((step - along * self.unit) * self.per_length)

    def _gathered(self, values: Array) -> Array:
        """Sum (T, P, 3) by point of values of segments, positive at the end and negative at the start of a segment."""
        frames, points = self.before.shape
        total = np.zeros((frames, points, 3))
        row = np.arange(frames)[:, None]
        np.add.at(total, (row, self.before[:, self.first + 1]), values)
        np.add.at(total, (row, self.before[:, self.first]), -values)
        return total


COORDINATE_STEP = 5e-6
"""Largest movement of a natural coordinate [m]."""


@dataclass(frozen=True, eq=False)
class GradientDifferences:
    """Paths (P points) in T poses q (T, N, 3), coordinates (T, K+6), with given points on them (T, P)."""

    paths: Paths
    q: Array
    coordinates: Array
    on: Mask

    def along(self, qd: Array, rates: Array) -> Array:
        """Derivative of dL_MT/ds (T, P, 3), s the standing places, along a motion: qd (T, N, 3), rates (T, K+6)."""
        largest = np.abs(qd).max(axis=(1, 2))
        step = COORDINATE_STEP / np.where(largest > 0.0, largest, 1.0)
        ahead, behind = (
            self._by_place(self.q + h[:, None, None] * qd, self.coordinates + h[:, None] * rates)
            for h in (step, -step)
        )
        return (ahead - behind) / (2.0 * step[:, None, None])

    def _by_place(self, q: Array, coordinates: Array) -> Array:
        """Gradient dL_MT/ds (T, P, 3) by the standing places of the path points."""
        gradient = self.paths.nodes(q, coordinates, self.on).gradient[:, : len(self.paths.standing)]
        return on_standing(gradient, self.paths.point_rotation(q, coordinates))

    def of_pull(self, bodies: Indices) -> Array:
        """Derivative by s of the sum of dL_MT/dr over the nodes on some bodies, (T, 3, P, 3) [1/m]."""
        (position, _, center, axes), _ = self.paths.place(self.q, self.coordinates)
        rotation = self.paths.point_rotation(self.q, self.coordinates)
        points, objects = (
            np.isin(carriers, bodies)[:, None]
            for carriers in (self.paths.point_body, self.paths.objects.body)
        )
        pulls = []
        for axis in np.eye(3):
            shifted = [
                (position + h * points * axis, center + h * objects * axis)
                for h in (COORDINATE_STEP, -COORDINATE_STEP)
            ]
            ahead, behind = (
                solve_paths(self.paths.layout, place, self.on, middle, axes).gradient
                for place, middle in shifted
            )
            change = (ahead - behind)[:, : position.shape[1]] / (2.0 * COORDINATE_STEP)
            pulls.append(on_standing(change, rotation))
        return np.stack(pulls, axis=1)


def on_standing(force: Array, rotation: Array) -> Array:
    """Derivatives (T, P, 3) by the standing position, from derivatives by the position in space."""
    return np.einsum("tpxs,tpx->tps", rotation, force)
