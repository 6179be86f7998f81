"""The certificate of a motion: how far states and multipliers miss the conditions of an optimum.

With the cost phi of a frame, weights w of the frames in the integral, levers R (moment of one norm force), the
imbalance E = f - a g - p of tendon and fiber and the limits G a >= h of activation, the Lagrangian is

    sum_t w phi - lambda . (R f + s - M) - mu . E - kappa . z - eta . (G a - h)

where kappa > 0 holds z at its lower, kappa < 0 at its upper bound. The conditions are

    states         Z^T (w phi_z - lambda R f' - mu E_z - kappa) + Y^T (-mu E_y) = 0
    activations    a = clip(a - (w phi_a - mu E_a - G^T eta) / S, lower, upper)
    moments        R f + s - M = 0,   s = lambda / w_s
    balance        E = 0
    bounds of z    z = clip(z - kappa / S, lower, upper)
    limits         c = max(c - eta / S, 0),   c = G a - h

Z, Y: time_basis.py. Misses of the states are divided by the sum of the sizes of their terms, and by no less than 1e-6
of the largest such sum: the first two lines are without unit, as those of single frames are (sharing/certificate.py).
Moments are divided by max(1 N m, |M|); E, z and a have no unit. The residual of a frame is its largest miss. A motion is
solved where all are at most 1e-6.

The conditions are necessary for an optimum. The problem is not convex where tendons stretch: that no other optimum is
better is not proved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.activation_limits import ActivationLimits
from musclesolve.trajectory.attempt import MotionAttempt
from musclesolve.trajectory.bounds import coordinate_bounds
from musclesolve.trajectory.local_equilibrium import Equilibrium, equilibrium
from musclesolve.trajectory.motion_cost import MotionCost
from musclesolve.trajectory.motion_problem import MotionProblem
from musclesolve.trajectory.time_basis import TimeBasis

LEAST_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class Misses:
    """By how much each condition is missed, (T,) each."""

    states: Array
    activations: Array
    moments: Array
    balance: Array
    coordinates: Array
    limits: Array

    @property
    def residual(self) -> Array:
        """The largest one of each frame, (T,); infinite where a number is not finite."""
        every = np.stack(list(vars(self).values()))
        return np.where(np.isfinite(every).all(axis=0), every.max(axis=0), np.inf)


def misses(problem: MotionProblem, cost: MotionCost, found: MotionAttempt, reserve: Array) -> Misses:
    """Recomputed from the problem and the numbers of an attempt alone; reserve (T, m) [N m]."""
    basis = TimeBasis.of(problem.time)
    rate = basis.rates(basis.coefficients(found.coordinate))
    lengths = problem.musculotendon_length, problem.musculotendon_velocity
    with np.errstate(all="ignore"):
        state = equilibrium(problem.muscles, *lengths, found.coordinate, rate)
        return _misses(problem, cost, found, reserve, basis, state)


def _misses(
    problem: MotionProblem,
    cost: MotionCost,
    found: MotionAttempt,
    reserve: Array,
    basis: TimeBasis,
    state: Equilibrium,
) -> Misses:
    a, mu, capacity, active = found.activation, found.balance_multiplier, state.capacity, state.active
    weight = problem.weight[:, None]
    by_force, _, by_activation, _ = cost.slopes(active.value, a)
    pull = np.einsum("tkn,tk->tn", problem.lever, found.multiplier)
    of_z = [
        weight * by_force * active.slope,
        -pull * state.tendon.slope,
        -mu * (active.slope - a * capacity.z),
        -found.coordinate_multiplier,
    ]
    limits = ActivationLimits.of(problem.limits, problem.time)
    of_a = [weight * by_activation, mu * capacity.value, -limits.pull(found.limit_multiplier)]
    moment_scale = np.maximum(1.0, np.abs(problem.moment))
    produced = np.einsum("tkn,tn->tk", problem.lever, state.tendon.value)
    of_moments = [produced + reserve - problem.moment, reserve - problem.compliance * found.multiplier]
    bounds = coordinate_bounds(problem, cost)
    size_z, size_a = _size(of_z), _size([*of_a, *found.limit_multiplier.max(axis=(0, 1), keepdims=True)[0]])
    return Misses(
        states=_states(basis, of_z, mu * a * capacity.y),
        activations=_projected(a, sum(of_a), size_a, problem.lower, problem.upper),
        moments=np.max(np.abs(np.stack(of_moments)) / moment_scale, axis=(0, 2)),
        balance=np.abs(state.imbalance(a)).max(axis=1),
        coordinates=_projected(found.coordinate, found.coordinate_multiplier, size_z, *bounds),
        limits=_limits(limits, a, found.limit_multiplier, size_a),
    )


def _states(basis: TimeBasis, of_z: list[Array], of_y: Array) -> Array:
    """The first line: its sum over the sum of the sizes of its terms."""
    total = basis.gather(np.sum(of_z, axis=0), of_y)
    absolute = TimeBasis(basis.first, np.abs(basis.value), np.abs(basis.rate))
    size = absolute.gather(np.abs(of_z).sum(axis=0), np.abs(of_y))
    return np.asarray((np.abs(total) / _above_least(size)).max(axis=1))


def _size(terms: list[Array]) -> Array:
    return _above_least(np.asarray(np.sum([np.abs(term) for term in terms], axis=0)))


def _above_least(size: Array) -> Array:
    largest = size.max(initial=0.0)
    return np.maximum(size, LEAST_SHARE * largest if largest > 0.0 else 1.0)


def _projected(value: Array, slope: Array, size: Array, lower: Array, upper: Array) -> Array:
    """|x - clip(x - slope / S)|, the largest of each frame."""
    step = np.clip(slope / size, -1.0, 1.0)
    return np.asarray(np.abs(value - np.clip(value - step, lower, upper)).max(axis=1))


def _limits(limits: ActivationLimits, a: Array, multiplier: Array, size: Array) -> Array:
    """The miss of the limits before and after each frame."""
    slack = limits.slack(a)
    step = np.clip(multiplier / np.minimum(size[:-1], size[1:]), -1.0, 1.0)
    between = np.abs(slack - np.maximum(slack - step, 0.0)).max(axis=(0, 2))
    return np.maximum(np.append(between, 0.0), np.append(0.0, between))
