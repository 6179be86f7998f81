"""Ground reactions predicted from the motion alone where no plate measured them: over a whole motion, or by frames.

The equations of the whole body give the total load from the ground: the force F = m (a - g), and the moment M
about the center of mass, the rate of the angular momentum. One foot on the ground carries both alone. Two feet share
them, and one convex program over the whole motion decides how:

- Six points of each sole (heel, ball, toes; inner and outer) push with a vertical force f_p >= 0. The horizontal force
  and the free moment of a foot stay within friction, |F_h| <= mu F_z and |T_z| <= r F_z.
- A point costs c f_p^2 with c = c_0 (1 + (h / h_0)^8 + (v / v_0)^8): steeply more where it is above its lowest level
  (h) or moves along the ground (v). No gait event is given or detected, so that flight and standing need no case.
- Both feet together deviate little from F and M.
- The moment of each foot about the center of mass is small: in walking the lines of force pass near it (Maus et al.
  2010, Nat Commun 1:70). This term divides the horizontal forces in double support.
- The forces of a foot and of its points are smooth in time.

Where plates measured a foot, its reactions are known: the other foot supplies the rest of F and M, and the predicted
forces of the foot continue the measured ones smoothly.

The weights are the same for all motions. On five recordings of walking with plates the errors change by a tenth or less
where one of the weights is halved or doubled, but for the moments of the feet. The level of the floor and the velocity
of a belt follow from the motion of the soles.

Over a whole motion (`BandedProgram`) a frame is coupled with the next two frames, and bounds hold frame by frame:
minimize 1/2 x^T H x - g^T x subject to C_t x_t >= 0 in every frame t, by a primal-dual interior point method with
Mehrotra's predictor and corrector (Mehrotra 1992, SIAM J Optim 2:575-601). The Newton matrix H + C^T (Z/S) C has the
band of H, so one iteration costs a banded Cholesky factorization.

Frame by frame (`FrameReactions`) the program has no smoothness in time: 18 unknowns x of one frame,

    minimize 1/2 x^T H x - g^T x  subject to  C x >= 0.

With H = L L^T its dual is a non-negative least-squares problem, min |L^-1 C^T y + L^-1 g| over y >= 0, and
x = L^-T (L^-1 C^T y + L^-1 g). Its active-set method (Lawson & Hanson 1974) ends at the exact solution.

Smoothness couples a frame with later ones, which are not known. Without it forces differ from the prediction by the
whole motion where load passes from one foot to the other: on four recorded walks by 1.0 to 1.8 % of body weight forward
and 2.6 to 4.6 % upward (rms). A window of past frames does not reduce the difference; 30 ms of later frames reduce it
by a fifth.
"""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, vector_product
from musclesolve._util.messages import check_known
from musclesolve._util.sides import SIDES
from musclesolve.dynamics.inverse.newton_euler import net_moments
from musclesolve.dynamics.kernel.arrays import SegmentArrays
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model, mass_center
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.errors import input_error

MOST_ITERATIONS = 100
ACCURATE = 1e-8
"""Largest residual of the conditions for an optimum at which the iterations end."""


@dataclass(frozen=True)
class BandedProgram:
    """The program of T frames with n unknowns each.

    band (k+1, T n): H by its diagonals, the main one first (`scipy.linalg.cholesky_banded(lower=True)`); linear (T, n):
    g; rows (T, m, n): C.
    """

    band: Array
    linear: Array
    rows: Array

    def solve(self) -> tuple[Array, float]:
        """The unknowns (T, n), and the largest residual of the conditions for an optimum."""
        from scipy.linalg import cholesky_banded

        frames, bounds, _ = self.rows.shape
        x = np.zeros_like(self.linear)
        slack = np.full((frames, bounds), 0.1)
        multiplier = np.full((frames, bounds), 0.1)
        error = np.inf
        for _ in range(MOST_ITERATIONS):
            dual = banded_product(self.band, x) - self.linear - np.einsum("tmn,tm->tn", self.rows, multiplier)
            primal = np.einsum("tmn,tn->tm", self.rows, x) - slack
            gap = float((slack * multiplier).mean())
            error = max(np.abs(dual).max(), np.abs(primal).max(), gap)
            if error < ACCURATE:
                break
            try:
                weight = multiplier / slack
                band, unknowns = self.band.copy(), self.rows.shape[2]
                added = np.einsum("tmi,tm,tmj->tij", self.rows, weight, self.rows, optimize=True)
                for i in range(unknowns):
                    for j in range(i + 1):
                        band[i - j, j::unknowns] += added[:, i, j]
                factor = cholesky_banded(band, lower=True, check_finite=False)
            except np.linalg.LinAlgError:  # beyond the accuracy of the machine; the residual stays large
                break
            at = factor, dual, primal, slack, multiplier
            _, ds, dz = self._step(slack * multiplier, *at)
            length = min(_longest(slack, ds), _longest(multiplier, dz))
            after = float(((slack + length * ds) * (multiplier + length * dz)).mean())
            dx, ds, dz = self._step(slack * multiplier + ds * dz - (after / gap) ** 3 * gap, *at)
            length = min(_longest(slack, ds), _longest(multiplier, dz))
            x, slack, multiplier = x + length * dx, slack + length * ds, multiplier + length * dz
        return x, float(error)

    def _step(
        self, product: Array, factor: Array, dual: Array, primal: Array, slack: Array, multiplier: Array
    ) -> tuple[Array, Array, Array]:
        """Changes of unknowns, slacks and multipliers that solve the linearized conditions.

        H dx - C^T dz = -dual, C dx - ds = -primal, slack dz + multiplier ds = -product; factor: of the Newton matrix.
        """
        from scipy.linalg import cho_solve_banded

        right = np.einsum("tmn,tm->tn", self.rows, (-product - multiplier * primal) / slack) - dual
        dx = cho_solve_banded((factor, True), right.ravel(), check_finite=False).reshape(right.shape)
        ds = np.einsum("tmn,tn->tm", self.rows, dx) + primal
        return dx, ds, (-product - multiplier * ds) / slack


def banded_product(band: Array, x: Array) -> Array:
    """H x in the shape of x, of a symmetric matrix H by its diagonals (k + 1, n), the main one first, and n numbers."""
    flat = x.ravel()
    product = band[0] * flat
    for k in range(1, min(len(band), flat.size)):
        product[k:] += band[k, :-k] * flat[:-k]
        product[:-k] += band[k, :-k] * flat[k:]
    return np.asarray(product.reshape(x.shape))


def _longest(value: Array, change: Array) -> float:
    """The longest step, at most 1, that keeps values positive."""
    falls = change < 0.0
    return min(1.0, 0.99 * float((-value[falls] / change[falls]).min())) if falls.any() else 1.0


def second_difference_band(frames: int) -> Array:
    """D^T D of second differences over time by its three diagonals, (3, T); zero for fewer than three frames."""
    band = np.zeros((3, frames))
    for shift, values in ((0, (1.0, 4.0, 1.0)), (1, (-2.0, -2.0)), (2, (1.0,))):
        for place, value in enumerate(values):
            band[shift, place : place + max(frames - 2, 0)] += value
    return band


FOOT_LENGTH, ANKLE_HEIGHT, USUAL_STATURE = 0.152, 0.039, 1.70
"""Length of the foot and height of the ankle center in statures (Winter 2009, figure 4.1), and a stature [m]."""
SOLE = ((0.0, 0.09), (0.0, -0.09), (0.68, 0.17), (0.68, -0.17), (1.0, 0.05), (1.0, -0.05))
"""Points of a sole: along the line from heel to toe and beside it, in foot lengths."""
FRICTION = 0.5
TWIST = 0.03
"""Largest free moment over the vertical force [m]."""
POINT_COST, HEIGHT, SPEED, STEEPNESS = 0.04, 0.04, 0.6, 8
"""c_0 [1], h_0 [m], v_0 [m/s] and the exponent."""
HORIZONTAL_COST, TWIST_COST = 3.0, 1.0
"""Cost of the horizontal force over that of the cheapest point, and of the free moment [1/m^2]."""
BALANCE = np.array([2.0, 2.0, 2.0, 0.9, 0.9, 0.3])
"""Weights of the deviation of both feet's force and moment from the need of the motion [1 per body weight, 1/m]."""
TOWARDS_CENTER = np.array([0.7, 0.7, 0.5])
"""Weights of the moment of each foot about the center of mass [1/m]."""
SMOOTH, SMOOTH_POINTS, SMOOTH_HZ = np.array([2.5, 2.5, 0.5]), 0.1, 6.0
"""Weights of the second derivatives of the forces of a foot and of a point over (2 pi 6 Hz)^2."""
MEASURED_WEIGHT = 30.0
"""Weight of the measured force of a foot, which the predicted frames continue [1 per body weight]."""
LARGEST_RESIDUAL = 1e-6
"""Largest residual of the optimality conditions [body weights, and times m]."""
LOWEST = 2.0
"""Percentile of the height of a point over the motion at which it meets the ground."""
NEAR_GROUND = 0.03
"""Height [m] below which most soles move with the ground, or with the belt."""
RESTING = 0.2, 0.3
"""Speeds against the ground [m/s]: up to the first a sole moves with the ground; beyond the second the speed has no
effect.
"""


@dataclass(frozen=True)
class PredictedReactions:
    """Ground reactions of both feet.

    wrenches: of the right and the left foot. required (T, 6): force [N] and moment about the global origin [N m] that
    the motion needs in total. residual: of the optimality conditions of the program. level: height of the ground [m].
    """

    wrenches: tuple[Wrench, Wrench]
    required: Array
    residual: float
    level: float


def predicted_reactions(model: Model, motion: Motion, measured: Array | None = None) -> PredictedReactions:
    """Predict the ground reactions of both feet from the motion of a body that touches only the ground.

    Args:
        model: with the points `heel`, `toe` and `ankle` of both feet.
        motion: of T frames, evenly spaced in time.
        measured: (T, 2, 6) force [N] and moment about the global origin [N m] of the right and the left foot as plates
            measured them, NaN where they are to be predicted. Measured reactions are returned as they are.
    """
    wrench = net_moments(model, motion, [])[:, model.tree.joint_count :]
    force = wrench[:, :3]
    required = np.concatenate([force, wrench[:, 3:] + vector_product(motion.origin, force)], axis=1)
    center, weight = mass_center(model, motion.q), model.weight
    return reactions_of_soles(motion.time, weight, required, center, soles(model, motion), measured)


def reactions_of_soles(
    time: Array, weight: float, required: Array, center: Array, points: Array, measured: Array | None = None
) -> PredictedReactions:
    """Predict the ground reactions of the right and the left sole of any body, in axes with z up.

    Args:
        time: (T,) evenly spaced [s].
        weight: of the body [N].
        required: (T, 6) force [N] and moment about the global origin [N m] that the ground must apply in total.
        center: (T, 3) of mass [m].
        points: (T, 2, P, 3) of the soles [m].
        measured: as in `predicted_reactions`.
    """
    needed = about_center(required, center) / weight
    velocity = np.gradient(points, time, axis=0) if len(time) > 1 else np.zeros_like(points)
    ground = Ground.from_motion(points, velocity)
    cost, acting = ground.cost(points, velocity), acting_forces(points - center[:, None, None])
    plates = np.full((len(time), 2, 6), np.nan) if measured is None else measured
    step = float(np.mean(np.diff(time))) if len(time) > 1 else 1.0
    program = _program(needed, acting, cost, about_center(plates, center[:, None]) / weight, step)
    unknowns, residual = program.solve()
    if not residual <= LARGEST_RESIDUAL:
        raise input_error(
            "bad_forces",
            problem="the ground reactions could not be predicted: the conditions for an optimum are "
            f"left with {residual:.1g}, at most {LARGEST_RESIDUAL:g} is accepted",
            expected="feet that stand on the ground, and move over it in steps",
            remedy="look for jumps of the markers of the feet (musclesolve check), and choose a "
            "range without them ([time])",
        )
    feet = weight * np.einsum("tij,tj->ti", acting, unknowns)
    wrenches = []
    for number, side in enumerate(SIDES):
        foot = feet[:, 6 * number : 6 * number + 6].copy()
        foot[:, 3:] += vector_product(center, foot[:, :3])
        foot = np.where(np.isnan(plates[:, number]), foot, plates[:, number])
        wrenches.append(Wrench(f"foot_{side}", foot[:, :3], foot[:, 3:]))
    return PredictedReactions((wrenches[0], wrenches[1]), required, residual, float(ground.lowest.min()))


@dataclass(frozen=True)
class Ground:
    """Ground under the soles: lowest height (2, P) of each of their points [m], and velocity (3,) of a belt [m/s]."""

    lowest: Array
    velocity: Array

    @classmethod
    def from_motion(cls, points: Array, velocity: Array) -> "Ground":
        """The ground that points (T, 2, P, 3) [m] of both soles with their velocities [m/s] show."""
        lowest = np.percentile(points[..., 2], LOWEST, axis=0)
        return cls(lowest, ground_velocity(points[..., 2] - lowest, velocity))

    def cost(self, points: Array, velocity: Array) -> Array:
        """Cost (T, 2, P) of the push of each point (T, 2, P, 3) [m] with its velocity [m/s]."""
        height = np.maximum(points[..., 2] - self.lowest, 0.0)
        speed = np.linalg.norm(velocity - self.velocity, axis=-1)
        return POINT_COST * (1.0 + (height / HEIGHT) ** STEEPNESS + (speed / SPEED) ** STEEPNESS)


def about_center(wrench: Array, center: Array) -> Array:
    """Force and moment about the center of mass of wrenches (..., 6) about the global origin; center (..., 3) [m]."""
    force = wrench[..., :3]
    return np.concatenate([force, wrench[..., 3:] - vector_product(center, force)], axis=-1)


def soles(model: Model, motion: Motion) -> Array:
    """Positions (T, 2, P, 3) of the points of both soles [m]."""
    points, (slots, bodies) = points_of_soles(model), sole_places(model)
    rotation = model.rigid_bodies.subset(bodies).rotation(motion.q)
    return motion.q[:, slots, None] + np.einsum("tsij,spj->tspi", rotation, points)


def sole_places(model: Model) -> tuple[Indices, Indices]:
    """Slots of the ankles, and numbers of the bodies of the feet, right and left."""
    ankles = [model.slot(f"ankle_{side}") for side in SIDES]
    return np.array(ankles), np.array([model.body(f"foot_{side}") for side in SIDES])


def points_of_soles(model: Model) -> Array:
    """Points (2, P, 3) of both soles from their ankles, in the standing pose [m]."""
    point_names = {point.name for point in model.topology.points}
    stature = model.stature or USUAL_STATURE
    points = []
    for side in SIDES:
        names = [f"{part}_{side}" for part in ("heel", "toe", "ankle")]
        check_known(names, "point", sorted(point_names), where="skeleton")
        heel, toe, ankle = (model.standing[model.slot(name)] for name in names)
        forward = np.array([*(ankle - heel)[:2], 0.0])
        forward /= np.linalg.norm(forward)
        along = max(FOOT_LENGTH * stature, float((toe - heel) @ forward)) * forward
        across = np.array([-along[1], along[0], 0.0])
        base = np.array([heel[0], heel[1], ankle[2] - ANKLE_HEIGHT * stature])
        points.append(np.array([base + a * along + b * across for a, b in SOLE]) - ankle)
    return np.stack(points)


def ground_velocity(height: Array, velocity: Array, tried: int = 400) -> Array:
    """The horizontal velocity (3,) that most points near the ground have [m/s]: zero, or the velocity of a belt.

    height (...) [m] and velocity (..., 3) [m/s] of the points; tried: largest number of trial velocities.
    """
    near = velocity[height < NEAR_GROUND][:, :2].T
    if not near.size:
        return np.zeros(3)
    within, beyond = RESTING
    some = near[:, :: max(near.shape[1] // tried, 1)].T
    x, y = some[np.argmin([np.minimum(np.hypot(near[0] - x, near[1] - y), beyond).mean() for x, y in some])]
    mean = near[:, np.hypot(near[0] - x, near[1] - y) < within].mean(axis=1)
    # on the floor soles roll and creep by centimeters a second, and no belt is as slow
    return np.array([*mean, 0.0]) if np.linalg.norm(mean) > within else np.zeros(3)


def acting_forces(arm: Array) -> Array:
    """Force and moment about the center of mass of both feet, (T, 12, n), per unknown of a frame.

    The unknowns of a foot are the vertical forces of its points, the two horizontal forces, which act at the level of
    its lowest point below the middle of the foot, and the free moment. arm (T, 2, P, 3): points from the center of mass
    [m].
    """
    frames, _, points, _ = arm.shape
    count = points + 3
    acting = np.zeros((frames, 12, 2 * count))
    for foot in range(2):
        rows, first, last = 6 * foot, foot * count, foot * count + points
        level, middle = arm[:, foot, :, 2].min(axis=1), arm[:, foot].mean(axis=1)
        vertical = slice(first, last)
        acting[:, rows + 2, vertical] = 1.0
        acting[:, rows + 3, vertical], acting[:, rows + 4, vertical] = arm[:, foot, :, 1], -arm[:, foot, :, 0]
        acting[:, rows, last] = acting[:, rows + 1, last + 1] = acting[:, rows + 5, last + 2] = 1.0
        acting[:, rows + 4, last], acting[:, rows + 5, last] = level, -middle[:, 1]
        acting[:, rows + 3, last + 1], acting[:, rows + 5, last + 1] = -level, middle[:, 0]
    return acting


def _program(needed: Array, acting: Array, cost: Array, measured: Array, step: float) -> BandedProgram:
    """The program; needed (T, 6) and measured (T, 2, 6) [body weights, and times m], cost (T, 2, P), step [s].

    A measured foot is in the program for the smoothness of its forces alone.
    """
    frames, _, points = cost.shape
    count = points + 3
    known: Mask = np.asarray(np.isfinite(measured).all(axis=-1))
    plates = np.where(known[..., None], measured, 0.0)
    acting = acting * np.repeat(~known, count, axis=1)[:, None]
    cost = np.where(known[..., None], POINT_COST, cost)
    square, linear = frame_terms(needed - plates.sum(axis=1), acting, cost)
    forces = np.zeros((6, 2 * count))
    for foot in range(2):
        first, last = foot * count, foot * count + points
        forces[3 * foot, last] = forces[3 * foot + 1, last + 1] = forces[3 * foot + 2, first:last] = 1.0
    continued = MEASURED_WEIGHT * np.repeat(known, 3, axis=1)[..., None] * forces
    square += np.einsum("tri,trj->tij", continued, continued)
    linear += np.einsum("tri,tr->ti", continued, MEASURED_WEIGHT * plates[..., :3].reshape(frames, 6))
    weight = np.tile(SMOOTH, 2) / (step * 2.0 * np.pi * SMOOTH_HZ) ** 2
    smooth = forces.T @ (weight[:, None] ** 2 * forces)
    pushing = np.flatnonzero(np.arange(2 * count) % count < points)
    smooth[pushing, pushing] += (SMOOTH_POINTS / (step * 2.0 * np.pi * SMOOTH_HZ) ** 2) ** 2
    unknowns, differences = 2 * count, second_difference_band(frames)
    band = np.zeros((3 * unknowns, frames * unknowns))
    for i in range(unknowns):
        for j in range(unknowns):
            for apart in range(min(3, frames)):
                if apart or j <= i:
                    diagonal = smooth[i, j] * differences[apart, : frames - apart]
                    diagonal = diagonal + square[:, i, j] if apart == 0 else diagonal
                    band[apart * unknowns + i - j, np.arange(frames - apart) * unknowns + j] += diagonal
    limits = push_limits(points)
    return BandedProgram(band, linear, np.broadcast_to(limits, (frames, *limits.shape)))


def frame_terms(needed: Array, acting: Array, cost: Array) -> tuple[Array, Array]:
    """Square (T, n, n) and linear (T, n) terms of each frame alone, see `_program`."""
    total = BALANCE[:, None] * (acting[:, :6] + acting[:, 6:])
    moments = np.tile(TOWARDS_CENTER, 2)[:, None] * acting[:, [3, 4, 5, 9, 10, 11]]
    rows = np.concatenate([total, moments], axis=1)
    square = np.swapaxes(rows, 1, 2) @ rows
    sliding = HORIZONTAL_COST * cost.min(axis=2, keepdims=True)
    costs = np.concatenate([cost, sliding, sliding, np.full_like(sliding, TWIST_COST)], axis=2)
    diagonal = np.arange(square.shape[1])
    square[:, diagonal, diagonal] += costs.reshape(len(costs), -1)
    return square, np.einsum("tri,tr->ti", total, BALANCE * needed)


def push_limits(points: int) -> Array:
    """Rows C (m, n) of the limits C x >= 0 on the unknowns x of a frame: the feet push, within friction."""
    count = points + 3
    rows = np.zeros((2, points + 6, 2, count))
    for foot in range(2):
        limits = rows[foot, :, foot]
        limits[:points, :points] = np.eye(points)
        for place, most in enumerate((FRICTION, FRICTION, TWIST)):
            for sign in (0, 1):
                limits[points + 2 * place + sign, :points] = most
                limits[points + 2 * place + sign, points + place] = 1.0 - 2.0 * sign
    return rows.reshape(2 * (points + 6), 2 * count)


REMEMBERED, EVERY = 2.0, 0.0625
"""The velocity of the ground is the velocity of the soles in the last 2 s, looked at 16 times a second [s]."""
TRIED = 20
"""Velocities of soles that are tried as the velocity of the ground."""


class FrameReactions:
    """Ground reactions of a body that touches only the ground, frame after frame.

    Args:
        model: with the points `heel`, `toe` and `ankle` of both feet.
        motion: recorded motion of T frames on the same floor. It shows the level of the floor, and the velocity of a
            belt until the soles of later frames show it.
    """

    def __init__(self, model: Model, motion: Motion) -> None:
        self._model, self._points = model, points_of_soles(model)
        self._slots, self._bodies = sole_places(model)
        self._limits = push_limits(self._points.shape[1])
        self._weight = model.weight
        spin = model.rigid_bodies.subset(self._bodies).twists(motion.q, motion.qd)[..., :3]
        rotation = model.rigid_bodies.subset(self._bodies).rotation(motion.q)
        points, velocity = self._soles(motion, rotation, spin)
        self._recorded = Ground.from_motion(points, velocity)
        shown = np.linspace(0, len(points) - 1, round(REMEMBERED / EVERY)).round().astype(int)
        self._shown = points[shown, ..., 2] - self._recorded.lowest, velocity[shown]
        self.clear()

    def clear(self) -> None:
        """Forget all frames."""
        self._ground, self._looked, self._place = self._recorded, -np.inf, 0
        self._height, self._velocity = (shown.copy() for shown in self._shown)

    def wrenches(self, motion: Motion, bodies: SegmentArrays, required: Array) -> Array:
        """Force [N] and moment about the global origin [N m] on the right and the left foot, (2, 6).

        Args:
            motion: of one frame.
            bodies: their motion.
            required: (6,) force [N] and moment about the global origin [N m] that the ground must apply in total.
        """
        from scipy.optimize import nnls

        points, velocity = self._soles(
            motion, bodies.rotation[:, self._bodies], bodies.velocity[:, self._bodies]
        )
        self._look(float(motion.time[0]), points[0], velocity[0])
        mass = self._model.mass
        center = mass.mass @ bodies.center / mass.total
        needed = about_center(required[None], center) / self._weight
        acting = acting_forces(points - center[:, None, None])
        square, linear = frame_terms(needed, acting, self._ground.cost(points, velocity))
        inverse = np.linalg.inv(np.linalg.cholesky(square[0]))
        rows, free = inverse @ self._limits.T, inverse @ linear[0]
        multiplier, _ = nnls(rows, -free)
        unknowns = inverse.T @ (rows @ multiplier + free)
        feet = self._weight * (acting[0] @ unknowns).reshape(2, 6)
        feet[:, 3:] += vector_product(center, feet[:, :3])
        return np.asarray(feet)

    def _soles(self, motion: Motion, rotation: Array, spin: Array) -> tuple[Array, Array]:
        """Positions [m] and velocities [m/s] (T, 2, P, 3) of the points of both soles.

        rotation (T, 2, 3, 3), spin (T, 2, 3) [rad/s]: of the feet.
        """
        arm = np.einsum("tsij,spj->tspi", rotation, self._points)
        turning = vector_product(spin[:, :, None], arm)
        return motion.q[:, self._slots, None] + arm, motion.qd[:, self._slots, None] + turning

    def _look(self, time: float, points: Array, velocity: Array) -> None:
        """Take the velocity of the soles (2, P, 3) into account for the velocity of the ground."""
        if 0.0 <= time - self._looked < EVERY:
            return
        self._looked = time
        self._height[self._place] = points[..., 2] - self._recorded.lowest
        self._velocity[self._place] = velocity
        self._place = (self._place + 1) % len(self._height)
        moving = ground_velocity(self._height, self._velocity, TRIED)
        self._ground = Ground(self._recorded.lowest, moving)
