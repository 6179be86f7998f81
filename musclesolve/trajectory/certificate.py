"""The certificate of a motion: how far states and multipliers miss the conditions of an optimum.

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

Z, Y: time_basis.py. S is the sum of the sizes of the terms in the line, and no less than a tenth of the largest
such sum of the muscle in the motion, and 1e-5 of that of all muscles (of those by a, of those by z too: where forces
cost and nothing is at a bound or limit, all terms by a vanish). The misses of the states are divided by their S. So
the residual has no unit, as that of single frames has none (sharing/certificate.py).
Moments are divided by max(1 N m, |M|); E, z and a have no unit. The residual of a frame is its largest miss. A motion
is solved where all are at most 1e-6.

The conditions are necessary for an optimum. The problem is not convex where tendons stretch: that no other optimum is
better is not proved.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.activation_limits import ActivationLimits
from musclesolve.trajectory.local_equilibrium import Balance
from musclesolve.trajectory.motion import CostOfMotion, Motion, MotionAttempt, coordinate_bounds
from musclesolve.trajectory.time_basis import TimeBasis

LEAST_OF_MUSCLE, LEAST_OF_ALL = 0.1, 1e-5


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
    def of_bounds(self) -> Array:
        """The largest miss of a condition on bounds and limits, (T,)."""
        return np.maximum.reduce([self.activations, self.coordinates, self.limits])

    @property
    def residual(self) -> Array:
        """The largest one of each frame, (T,); infinite where a number is not finite."""
        every = np.stack(list(vars(self).values()))
        return np.where(np.isfinite(every).all(axis=0), every.max(axis=0), np.inf)


class Certifier:
    """Recomputes the certificate from the problem and the numbers of an attempt alone."""

    def __init__(self, problem: Motion, cost: CostOfMotion) -> None:
        self.problem, self.cost = problem, cost
        self.basis, self.limits = problem.basis, problem.activation_limits
        self.bounds = coordinate_bounds(problem, cost)

    def rate(self, coordinate: Array) -> Array:
        """The rates (T, n) [1/s] of the spline through tendon coordinates (T, n)."""
        return self.basis.rates(self.basis.coefficients(coordinate))

    def state(self, coordinate: Array) -> Balance:
        """Muscles where the tendon coordinate is z (T, n), with the rates of its spline."""
        return self.problem.state(coordinate, self.rate(coordinate))

    def misses(self, found: MotionAttempt) -> Misses:
        """By how much an attempt misses each condition; reserves are what the multipliers make them."""
        if not np.isfinite(found.coordinate).all():
            return Misses(*np.full((len(fields(Misses)), len(found.coordinate)), np.inf))
        with np.errstate(all="ignore"):
            state = self.state(found.coordinate)
            of_z, of_y, of_a = self._slopes(found, state)
            size_z = _size(of_z)
            size_a = _size([*of_a, _around(found.limit_multiplier.sum(axis=0))], float(size_z.max()))
            bounds = self.problem.lower, self.problem.upper
            moved = found.coordinate_multiplier
            return Misses(
                states=_states(self.basis, of_z, of_y),
                activations=_projected(found.activation, np.sum(of_a, axis=0), size_a, *bounds),
                moments=self._moments(found, state),
                balance=np.abs(state.imbalance(found.activation)).max(axis=1),
                coordinates=_projected(found.coordinate, moved, size_z, *self.bounds),
                limits=_limits(self.limits, found.activation, found.limit_multiplier, size_a),
            )

    def _slopes(self, found: MotionAttempt, state: Balance) -> tuple[list[Array], Array, list[Array]]:
        """The terms by z, by its rate and by the activation, (T, n) each."""
        a, mu, capacity, active = found.activation, found.balance_multiplier, state.capacity, state.active
        weight = self.problem.weight[:, None]
        by_force, _, by_activation, _ = self.cost.slopes(active.value, a)
        pull = np.einsum("tkn,tk->tn", self.problem.lever, found.multiplier)
        of_z = [
            weight * by_force * active.slope,
            -pull * state.tendon.slope,
            -mu * (active.slope - a * capacity.z),
            -found.coordinate_multiplier,
        ]
        of_a = [weight * by_activation, mu * capacity.value, -self.limits.pull(found.limit_multiplier)]
        return of_z, mu * a * capacity.y, of_a

    def _moments(self, found: MotionAttempt, state: Balance) -> Array:
        problem = self.problem
        produced = np.einsum("tkn,tn->tk", problem.lever, state.tendon.value)
        short = produced + problem.compliance * found.multiplier - problem.moment
        return np.asarray((np.abs(short) / np.maximum(1.0, np.abs(problem.moment))).max(axis=1))


def _states(basis: TimeBasis, of_z: list[Array], of_y: Array) -> Array:
    """The first line: its sum over the sum of the sizes of its terms."""
    total = basis.gather(np.sum(of_z, axis=0), of_y)
    absolute = replace(basis, value=np.abs(basis.value), rate=np.abs(basis.rate))
    size = absolute.gather(np.abs(of_z).sum(axis=0), np.abs(of_y))
    return np.asarray((np.abs(total) / _above_least(size)).max(axis=1))


def _around(between: Array) -> Array:
    """(T, n) the sum of what is between a frame and its neighbors, (T-1, n)."""
    nothing = np.zeros((1, between.shape[1]))
    return np.vstack([nothing, between]) + np.vstack([between, nothing])


def _size(terms: list[Array], other: float = 0.0) -> Array:
    return _above_least(np.asarray(np.sum([np.abs(term) for term in terms], axis=0)), other)


def _above_least(size: Array, other: float = 0.0) -> Array:
    """No less than a share of the largest; other: the largest of other lines, where all of this one may vanish."""
    largest = np.maximum(LEAST_OF_MUSCLE * size.max(axis=0), LEAST_OF_ALL * max(float(size.max()), other))
    return np.maximum(size, np.where(largest > 0.0, largest, 1.0))


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
