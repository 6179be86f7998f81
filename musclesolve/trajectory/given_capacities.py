"""Muscles of given force capacities as a motion for the structured method: no tendon, nothing passive.

A muscle has the tendon force f(z) = z over its capacity and the capacity g = 1, so that its tendon coordinate z is its
activation; a muscle without capacity has no lever. The state of a frame does not depend on the rate of z: z_t are the
coefficients themselves. All costs of a frame alone may be used. Soft rows 1/2 w (t - G a)^2 are moments sqrt(w) t with
levers sqrt(w) G and a reserve of weight one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.elastic.smooth_curves import Curved
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import NO_ROOM
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.rate_limits import ActivationLimits
from musclesolve.trajectory.certificate import Certifier, Misses, MotionAttempt
from musclesolve.trajectory.local_equilibrium import Balance, Capacity
from musclesolve.trajectory.time_basis import TimeBasis

FAR = 1.0
"""Bounds of z beyond those of the activation, so that they are never met."""
LEAST_INSIDE = 1e-15
"""Share of the width between bounds by which activations stay inside: some curvatures are infinite at rest."""


@dataclass(frozen=True, eq=False)
class GivenCapacities:
    """A `Motion` (certificate.py) of three frames or more; lever (T, m, n) [N m] is the moment at activation 1."""

    moment: Array
    lever: Array
    compliance: Array
    lower: Array
    upper: Array
    activation_limits: ActivationLimits

    @classmethod
    def of(cls, problem: Problem, limits: ActivationLimits, reserve_weight: Array) -> GivenCapacities:
        """The frames of a problem with weights of reserves (T, m), infinite where there is none."""
        bounds = problem.lower, problem.upper
        return cls(problem.moment, problem.moment_matrix, 1.0 / reserve_weight, *bounds, limits)

    @property
    def coordinate_range(self) -> tuple[Array, Array]:
        """Farther than the activations."""
        return self.lower - FAR, self.upper + FAR

    @property
    def weight(self) -> Array:
        """One for every frame."""
        return np.ones(len(self.moment))

    @cached_property
    def basis(self) -> TimeBasis:
        """The coordinates of the frames themselves."""
        return TimeBasis.of_frames(len(self.moment))

    @property
    def mean_step(self) -> float:
        """Any: there are no rates."""
        return 1.0

    def state(self, z: Array, y: Array) -> Balance:
        """The balance of f = z, g = 1, p = 0 for coordinates z (T, n)."""
        one, none = np.ones_like(z), np.zeros_like(z)
        return Balance(
            Curved(z, one, none), Curved(none, none, none), Capacity(one, *(none for _ in range(5)))
        )

    def with_soft_rows(self, problem: Problem, cost: Cost) -> GivenCapacities:
        """The same with the soft rows of a cost as moments, after the others."""
        rows = cost.soft_rows(problem)
        if rows is None:
            return self
        root = np.sqrt(rows.weight)
        return replace(
            self,
            moment=np.concatenate([self.moment, root * rows.target], axis=1),
            lever=np.concatenate([self.lever, root[:, :, None] * rows.matrix], axis=1),
            compliance=np.concatenate([self.compliance, np.ones_like(root)], axis=1),
        )

    def without_fixed(self) -> GivenCapacities:
        """The same without the levers of muscles that cannot move; their moments are taken off."""
        fixed = self.upper - self.lower <= NO_ROOM
        carried = np.einsum("tkn,tn->tk", self.lever, np.where(fixed, self.lower, 0.0))
        return replace(self, moment=self.moment - carried, lever=np.where(fixed[:, None, :], 0.0, self.lever))


@dataclass(frozen=True, eq=False)
class ActivationCost:
    """A cost of activations at given capacities; its soft rows count or not."""

    problem: Problem
    cost: Cost
    rows: bool = False

    def slopes(self, force: Array, activation: Array) -> tuple[Array, Array, Array, Array]:
        """All zero by the force; by the activation the second derivative of soft rows is left out."""
        lower, upper = self.problem.lower, self.problem.upper
        least = 0.0 if self.rows else LEAST_INSIDE * (upper - lower)
        inside, none = np.clip(activation, lower + least, upper - least), np.zeros_like(activation)
        slope = self.cost.total_gradient if self.rows else self.cost.gradient
        return none, none, slope(self.problem, inside), self.cost.hessian_diagonal(self.problem, inside)

    def largest_force(self) -> Array:
        """None: the bounds of the activation end where the domain of the cost does."""
        return np.full_like(self.problem.lower, np.inf)


class CapacityCertifier:
    """Certifies attempts by activations, multipliers of moments and of limits alone (certificate.py).

    z is the activation, and its multiplier mu = -R^T lambda, so that states and balance are exact.
    """

    def __init__(self, motion: GivenCapacities, cost: ActivationCost) -> None:
        self.motion, self.certifier = motion, Certifier(motion, cost)

    def reduced(self, found: MotionAttempt) -> MotionAttempt:
        """The attempt with z, its multipliers and those of soft rows eliminated."""
        multiplier = found.multiplier[:, : self.motion.moment.shape[1]]
        return replace(
            found,
            coordinate=found.activation,
            multiplier=multiplier,
            balance_multiplier=-np.einsum("tkn,tk->tn", self.motion.lever, multiplier),
            coordinate_multiplier=np.zeros_like(found.activation),
        )

    def misses(self, found: MotionAttempt) -> Misses:
        """By how much an attempt misses each condition."""
        return self.certifier.misses(self.reduced(found))
