"""The certificate of a motion with elastic tendons, recomputed from the problem and the numbers of an attempt alone.

With the cost phi of a frame, weights w of the frames in the integral, levers R (moment of one norm force), the
imbalance E = f - a g - p of tendon and fiber and the limits G a >= h of activation, the Lagrangian is

    L(z, a) = sum_t w phi - lambda . (R f + s - M) - mu . E - eta . (G a - h),      eta >= 0,

with reserves s = lambda / w_s, zero without a reserve weight. The unknowns are the tendon coordinates z and the
activations a within their bounds; rates follow from z. With Z, Y of `TimeBasis` the slopes of L are

    by z    w phi_z - lambda R f' - mu E_z - Z^-T Y^T mu E_y
    by a    w phi_a - mu E_a - G^T eta

G is the largest fall of the linearized L within the bounds (Frank and Wolfe 1956), for any multipliers, and the
product of the limits' multipliers with the room that they leave:

    G = sum |dL/dz| |z - bound| + sum |dL/da| |a - bound| + eta . (G a - h)^+
    gap = G / W,      W = sum_t w (|phi_x| x + |phi_a| a),

each bound being the one to which L falls, and x the active force over F0. W is the exponent times the cost for a power
of forces or activations; so the gap has no unit. Muscles whose activation is fixed in every frame have no freedom and
are left out of G and W; where nothing but reserves costs anything, W is lambda . s. The motion is one problem: its gap
is the same number in every frame.

With elastic tendons the problem is not convex. The gap says how much of W changes of first order could save; a gap of
zero is a stationary point, and another optimum may cost less. (Without tendons the problem is convex, and its gap
proves the least cost: solve_rate_limited.py.)

A motion is certified where gap <= 1e-7; moments are met to 1e-6 max(1 N m, |M|), the balance E, the limits of
activation and the bounds of z to 1e-6; and the cost of these misses, the sum of |multiplier| |miss|, is at most
1e-6 W. The gap is linear in the distance from an optimum, the gap of single frames quadratic, and so it needs
multipliers with all their digits. Few digits are left where an unknown is next to its bound, and the fewest beside a
slack tendon, whose multipliers grow from frame to frame.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.certificate import Certificate
from musclesolve.sharing.kernel.constants import NO_ROOM, TOLERANCE
from musclesolve.trajectory.motion_problem import Equilibrium, MotionCost, MotionProblem

STATIONARY_GAP = 1e-7
"""Largest gap of a certified motion with elastic tendons.

Of 156 motions, small, random and recorded ones, 153 reached 1e-9 in float64. One with a slack tendon reached 1.2e-8,
two out of reach, with reserves that cost a thousand times the muscles, 2e-9 and 7.4e-8. Between 1e-8 and 1e-7
activations were within 9e-4 and tendon forces within 3e-4 F0 of the best certified iterate, costs within 2e-8 W;
between 1e-10 and 1e-9 within 3e-4, 3e-4 F0 and 4e-10 W (cubes are flat near rest).
"""
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


class StationaryCertificate(Certificate):
    """The certificate of a motion with elastic tendons, whose gap is the fall of a linearized cost (module docstring).

    `gap` and `moment_cost` belong to the motion and are the same in every frame; `moment_error` counts the balance, the
    limits and the bounds of z as well; `cost_bound` is NaN.
    """

    @property
    def worst(self) -> Array:
        """The largest of gap, error and cost of the moments, each over its limit: at most 1 where certified."""
        shares = self.gap / STATIONARY_GAP, self.moment_error / TOLERANCE, self.moment_cost / TOLERANCE
        return np.asarray(np.maximum.reduce(shares))


class Certifier:
    """Recomputes the certificate from a motion, its cost and the numbers of an attempt alone."""

    def __init__(self, problem: MotionProblem, cost: MotionCost) -> None:
        self.problem, self.cost = problem, cost
        self.basis, self.limits = problem.basis, problem.activation_limits
        self.bounds = coordinate_bounds(problem, cost)

    def rate(self, coordinate: Array) -> Array:
        """The rates (T, n) [1/s] of the spline through tendon coordinates (T, n)."""
        return self.basis.rates(self.basis.coefficients(coordinate))

    def state(self, coordinate: Array) -> Equilibrium:
        """Muscles where the tendon coordinate is z (T, n), with the rates of its spline."""
        return self.problem.state(coordinate, self.rate(coordinate))

    def certificate(self, attempt: MotionAttempt) -> StationaryCertificate:
        """The certificate of an attempt; its reserves follow from the multipliers."""
        problem, limits, (low, high) = self.problem, self.limits, self.bounds
        z, a = attempt.coordinate, attempt.activation
        mu, of_moments = attempt.balance_multiplier, attempt.multiplier
        eta, every = np.maximum(attempt.limit_multiplier, 0.0), np.ones(len(z))
        if not np.isfinite(z).all():
            nothing = (np.inf, np.nan, np.inf, np.inf, np.inf, np.inf, 0.0)
            return StationaryCertificate(*(number * every for number in nothing))
        with np.errstate(all="ignore"):
            state = self.state(z)
            capacity, active, tendon = state.capacity, state.active, state.tendon
            load = self.cost.load(state)
            by_force, _, by_activation, _ = self.cost.slopes(load.value, a)
            weight, pull = problem.weight[:, None], np.einsum("tkn,tk->tn", problem.lever, of_moments)
            of_z = weight * by_force * load.slope - pull * tendon.slope - mu * (active.slope - a * capacity.z)
            of_z = self.basis.by_values(of_z, mu * a * capacity.y)
            of_a = weight * by_activation + mu * capacity.value - limits.pull(eta)
            slack = limits.slack(a)
            free = (problem.upper - problem.lower > NO_ROOM).any(axis=0)
            falls = (
                _fall(of_z, z, low, high),
                _fall(of_a, a, problem.lower, problem.upper),
                eta * np.maximum(slack, 0.0),
            )
            excess = sum(part[..., free].sum() for part in falls)
            size = np.abs(by_force) * np.maximum(load.value, 0.0) + np.abs(by_activation) * a
            unit = (weight * size)[:, free].sum(axis=1)
            if not unit.any():
                unit = (problem.compliance * np.square(of_moments)).sum(axis=1)

            produced = np.einsum("tkn,tn->tk", problem.lever, tendon.value)
            short = np.abs(produced + problem.compliance * of_moments - problem.moment)
            imbalance, beyond = np.abs(state.imbalance(a)), np.abs(z - np.clip(z, low, high))
            jump = np.maximum(-slack, 0.0)
            misses = np.abs(of_moments) * short, np.abs(mu) * imbalance, np.abs(of_z) * beyond, eta * jump
            miss_cost = sum(part.sum() for part in misses)
            relative = short / np.maximum(1.0, np.abs(problem.moment))
            missed = np.concatenate([relative, imbalance, beyond], axis=1).max(axis=1)
            between = jump.max(axis=(0, 2))
            missed = np.maximum(missed, np.maximum(np.append(between, 0.0), np.append(0.0, between)))
            outside = ((a < problem.lower) | (a > problem.upper)).any()
        total = float(unit.sum())
        return StationaryCertificate(
            gap=(np.inf if outside else _share(float(excess), total)) * every,
            cost_bound=np.nan * every,
            moment_error=np.where(np.isfinite(missed), missed, np.inf),
            moment_cost=_share(float(miss_cost), total) * every,
            excess=float(excess) / len(z) * every,
            miss_cost=float(miss_cost) / len(z) * every,
            unit=unit,
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


def _fall(slope: Array, value: Array, lower: Array, upper: Array) -> Array:
    """The most by which a linear function of each value falls between its bounds, all (T, n)."""
    down, up = np.maximum(value - lower, 0.0), np.maximum(upper - value, 0.0)
    return np.maximum(slope, 0.0) * down + np.maximum(-slope, 0.0) * up


def _share(part: float, total: float) -> float:
    """A part of a total: zero where the part is, infinite where it is no number or there is no total."""
    share = part / total if total > 0.0 else np.inf
    return 0.0 if part == 0.0 else share if np.isfinite(share) else np.inf
