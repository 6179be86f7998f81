"""The certificate of a motion: the largest violation of the conditions of an optimum by states and multipliers.

With the cost phi of a frame, weights w of the frames in the integral, levers R (moment of one norm force), the
imbalance E = f - a g - p of tendon and fiber and the limits G a >= h of activation, the Lagrangian is

    sum_t w phi - lambda . (R f + s - M) - mu . E - kappa . z - eta . (G a - h)

where kappa > 0 holds z at its lower, kappa < 0 at its upper bound. The conditions are

    states         Z^T (w phi_z - lambda R f' - mu E_z - kappa) + Y^T (-mu E_y) = 0
    activations    a = clip(a - (w phi_a - mu E_a - G^T eta) / S, lower, upper)
    moments        R f + s - M = 0    with  s = lambda / w_s,  zero without a reserve weight
    balance        E = 0
    bounds of z    z = clip(z - kappa / S, lower, upper)
    limits         c = max(c - eta / S, 0),   c = G a - h

Z, Y: `TimeBasis`. S is the sum of the sizes of the terms in the line, and no less than a tenth of the largest
such sum of the muscle in the motion, and 1e-5 of the sum of all muscles (for the terms by a also of the terms by z:
with a cost of forces and without active bounds and limits, all terms by a vanish). The misses of the states are divided
by their S. So the residual has no unit, like the residual of single frames (sharing/certificate.py). Moments are
divided by max(1 N m, |M|); E, z and a have no unit. The residual of a frame is its largest miss. A motion is solved
where all are at most 1e-6.

The conditions are necessary for an optimum. With elastic tendons the problem is not convex: it is not proved that no
other optimum is better.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.motion_problem import FiberBalance

LEAST_OF_MUSCLE, LEAST_OF_ALL = 0.1, 1e-5
_STEPS = 60


@dataclass(frozen=True, eq=False)
class MotionAttempt:
    """States and multipliers of T frames, n muscles, m moments, with signs as in certificate.py.

    coordinate z and activation a (T, n); multiplier of the moments (T, m) [cost per N m]; balance_multiplier of tendon
    and fiber (T, n); coordinate_multiplier of the bounds of z (T, n), positive at the lower and negative at the upper
    one; limit_multiplier (2, T-1, n), never negative, of falling and of rising. method: its name; message: why it ended
    without a solution.
    """

    coordinate: Array
    activation: Array
    multiplier: Array
    balance_multiplier: Array
    coordinate_multiplier: Array
    limit_multiplier: Array
    iterations: int
    method: str
    message: str = ""


@dataclass(frozen=True, eq=False)
class Misses:
    """The misses of each condition, (T,) each."""

    states: Array
    activations: Array
    moments: Array
    balance: Array
    coordinates: Array
    limits: Array

    @property
    def of_bounds(self) -> Array:
        """The largest miss of a condition on bounds and limits in each frame, (T,)."""
        return np.maximum.reduce([self.activations, self.coordinates, self.limits])

    @property
    def residual(self) -> Array:
        """The largest miss of each frame, (T,); infinite where a number is not finite."""
        misses = np.stack(list(vars(self).values()))
        return np.where(np.isfinite(misses).all(axis=0), misses.max(axis=0), np.inf)


class Certifier:
    """Recomputes the certificate from the problem and the numbers of an attempt alone.

    The problem is a MotionProblem or GivenCapacities: moments (T, m) [N m], `lever` (T, m, n) [N m], the moments of one
    unit of tendon force, `compliance` of reserves (T, m), bounds of activations and tendon coordinates (T, n), weights
    of frames (T,), the basis in time, the limits of activation, and the `state` of tendon and fiber at z and dz/dt. The
    cost is a sum over muscles with `slopes` by force and by activation, and the largest force of its domain.
    """

    def __init__(self, problem: Any, cost: Any) -> None:
        self.problem, self.cost = problem, cost
        self.basis, self.limits = problem.basis, problem.activation_limits
        self.bounds = coordinate_bounds(problem, cost)

    def rate(self, coordinate: Array) -> Array:
        """The rates (T, n) [1/s] of the spline through tendon coordinates (T, n)."""
        return self.basis.rates(self.basis.coefficients(coordinate))

    def state(self, coordinate: Array) -> FiberBalance:
        """Muscles where the tendon coordinate is z (T, n), with the rates of its spline."""
        return self.problem.state(coordinate, self.rate(coordinate))

    def misses(self, attempt: MotionAttempt) -> Misses:
        """The misses of each condition by an attempt; reserves follow from the multipliers."""
        problem, basis, limits = self.problem, self.basis, self.limits
        z, a, mu = attempt.coordinate, attempt.activation, attempt.balance_multiplier
        if not np.isfinite(z).all():
            return Misses(*np.full((len(fields(Misses)), len(z)), np.inf))
        with np.errstate(all="ignore"):
            state = self.state(z)
            capacity, active, tendon = state.capacity, state.active, state.tendon
            load = self.cost.load(state)

            # the terms of the first two lines by z, by its rate and by the activation, (T, n) each
            by_force, _, by_activation, _ = self.cost.slopes(load.value, a)
            weight, pull = problem.weight[:, None], np.einsum("tkn,tk->tn", problem.lever, attempt.multiplier)
            of_z = [
                weight * by_force * load.slope,
                -pull * tendon.slope,
                -mu * (active.slope - a * capacity.z),
                -attempt.coordinate_multiplier,
            ]
            of_y = mu * a * capacity.y
            of_a = [weight * by_activation, mu * capacity.value, -limits.pull(attempt.limit_multiplier)]
            size_z = _at_least(np.abs(of_z).sum(axis=0))
            between, none = attempt.limit_multiplier.sum(axis=0), np.zeros((1, a.shape[1]))
            around = np.vstack([none, between]) + np.vstack([between, none])
            size_a = _at_least(np.abs(of_a).sum(axis=0) + np.abs(around), float(size_z.max()))

            absolute = replace(basis, value=np.abs(basis.value), rate=np.abs(basis.rate))
            total = basis.gather(np.sum(of_z, axis=0), of_y)
            size = _at_least(absolute.gather(np.abs(of_z).sum(axis=0), np.abs(of_y)))
            produced = np.einsum("tkn,tn->tk", problem.lever, tendon.value)
            short = produced + problem.compliance * attempt.multiplier - problem.moment
            slack = limits.slack(a)
            step = np.clip(attempt.limit_multiplier / np.minimum(size_a[:-1], size_a[1:]), -1.0, 1.0)
            limit = np.abs(slack - np.maximum(slack - step, 0.0)).max(axis=(0, 2))
            return Misses(
                states=(np.abs(total) / size).max(axis=1),
                activations=_projected(a, np.sum(of_a, axis=0), size_a, problem.lower, problem.upper),
                moments=(np.abs(short) / np.maximum(1.0, np.abs(problem.moment))).max(axis=1),
                balance=np.abs(state.imbalance(a)).max(axis=1),
                coordinates=_projected(z, attempt.coordinate_multiplier, size_z, *self.bounds),
                limits=np.maximum(np.append(limit, 0.0), np.append(0.0, limit)),
            )


def coordinate_bounds(problem: Any, cost: Any) -> tuple[Array, Array]:
    """Bounds of z, (T, n) each: from zero tendon force to the end of the domain of the cost.

    The active force f - p grows with z, since the tendon pulls harder and the fiber becomes shorter, and so does the
    force along the fibers, whose pennation grows; at the upper bound it is the largest force of the cost.
    """
    lower, upper = problem.coordinate_range
    largest = cost.largest_force()
    if not np.isfinite(largest).any():
        return lower, upper
    low, high, still = lower.copy(), upper, np.zeros_like(upper)
    for _ in range(_STEPS):  # bisection, to the last digit
        middle = 0.5 * (low + high)
        above = cost.load(problem.state(middle, still)).value > largest
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return lower, np.maximum(low, lower)


def _at_least(size: Array, other: float = 0.0) -> Array:
    """Sizes (T, n), at least a share of the largest and of `other` lines' sizes, because all may vanish."""
    largest = np.maximum(LEAST_OF_MUSCLE * size.max(axis=0), LEAST_OF_ALL * max(float(size.max()), other))
    return np.maximum(size, np.where(largest > 0.0, largest, 1.0))


def _projected(value: Array, slope: Array, size: Array, lower: Array, upper: Array) -> Array:
    """The largest |x - clip(x - slope / S)| of each frame, (T,); values x, slopes, sizes S and bounds are (T, n)."""
    step = np.clip(slope / size, -1.0, 1.0)
    return np.asarray(np.abs(value - np.clip(value - step, lower, upper)).max(axis=1))
