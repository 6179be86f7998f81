"""All frames of a motion within rate limits as one convex problem, solved and certified."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import fallback_weight
from musclesolve.sharing.rate.rate_limits import RateLimits
from musclesolve.sharing.solution import SolutionArrays
from musclesolve.sharing.status import Status
from musclesolve.trajectory.activation_limits import ActivationLimits
from musclesolve.trajectory.attempt import MotionAttempt
from musclesolve.trajectory.interior_point import InteriorPoint
from musclesolve.trajectory.rate.given_capacities import ActivationCost, CapacityCertifier, GivenCapacities
from musclesolve.trajectory.rate.motion_reach import least_reserves
from musclesolve.trajectory.structured import Structured
from musclesolve.trajectory.time_basis import ROW

GOOD = 1e-8
"""Certificate with which the method ends at once: a convex motion gets there a few steps after 1e-7."""
RESERVE = 1e-3
STIFF = 1e4
FIRST = 0.3
"""Of the way from the lower to the upper bound: where activations start."""


def solve_coupled(
    problem: Problem, limits: ActivationLimits, cost: Cost, reserve_weight: Array
) -> MotionAttempt:
    """The activations of least total cost, three frames or more; weights (T, m) are infinite without reserves.

    The attempt is in the form that its certificate takes (`CapacityCertifier`).
    """
    whole = GivenCapacities.of(problem, limits, reserve_weight)
    certifier = CapacityCertifier(whole, ActivationCost(problem, cost, rows=True))
    first = problem.lower + FIRST * (problem.upper - problem.lower)
    eased = whole.with_soft_rows(problem, cost).without_fixed()
    with np.errstate(all="ignore"):
        method = InteriorPoint(eased, ActivationCost(problem, cost), first)
        return certifier.reduced(Structured(good=GOOD).run(method, certifier))


@dataclass(frozen=True, eq=False)
class FoundMotion:
    """The result for the usable frames: limit multipliers (2, T-1, n), of falling and of rising, shortage (T, m)."""

    arrays: SolutionArrays
    limit_multiplier: Array
    shortage: Array


@dataclass(frozen=True, eq=False)
class CoupledMotion:
    """Frames of a motion, of which the last one is repeated, without limits, where there are fewer than three."""

    problem: Problem
    limits: ActivationLimits
    cost: Cost
    n_frames: int

    @classmethod
    def of(cls, problem: Problem, time: Array, cost: Cost, limits: RateLimits) -> CoupledMotion:
        """The frames of a problem at times (T,) [s]."""
        frames = problem.n_frames
        more = max(ROW - frames, 0)
        which = np.minimum(np.arange(frames + more), frames - 1)
        coupling = ActivationLimits.of(limits, time).with_loose_frames(more)
        return cls(problem.frames(which), coupling, cost, frames)

    def given(self, found: FoundMotion) -> FoundMotion:
        """The result for the frames that were given."""
        count = self.n_frames
        arrays = SolutionArrays(**{k: v[:count] for k, v in vars(found.arrays).items() if v is not None})
        return FoundMotion(arrays, found.limit_multiplier[:, : count - 1], found.shortage[:count])

    def exact(self, infeasible_frames: bool) -> FoundMotion:
        """With the reserves of the problem, if it has any; where a frame alone is infeasible the proof comes first."""
        weight = self.problem.reserve_weight
        if weight is not None:
            return self._attempt(weight)
        none = np.full_like(self.problem.moment, np.inf)
        found = None if infeasible_frames else self._attempt(none)
        if found is not None and found.arrays.solved.all():
            return found
        reach = least_reserves(self.problem, self.limits)
        if reach.proved:
            found = self._unsolved(Status.INFEASIBLE, reach.shortage)
            found.arrays.infeasibility_proof[:] = reach.direction
        return self._attempt(none) if found is None else found

    def with_reserves(self, shortage: Array) -> FoundMotion:
        """Soft where the muscles lack something, stiff elsewhere."""
        lacking = needs_reserve(np.nan_to_num(shortage), self.problem.moment).any(axis=1)
        soft = RESERVE * fallback_weight(self.problem, self.cost)
        weight = soft * np.where(lacking, 1.0, STIFF)[:, None]
        return replace(self._attempt(weight), shortage=shortage)

    def without_limits(self, activation: Array, multiplier: Array, iterations: int) -> FoundMotion:
        """The result from activations and multipliers of single frames, certified with the limits."""
        repeat = np.minimum(np.arange(self.problem.n_frames), self.n_frames - 1)
        activation, multiplier = activation[repeat], multiplier[repeat]
        weight = self.problem.reserve_weight
        weight = np.full_like(multiplier, np.inf) if weight is None else weight
        none = np.zeros_like(activation)
        free = np.zeros((2, *activation[1:].shape))
        return self._certified(
            MotionAttempt(none, activation, multiplier, none, none, free, iterations, "batch"), weight
        )

    def _attempt(self, weight: Array) -> FoundMotion:
        return self._certified(solve_coupled(self.problem, self.limits, self.cost, weight), weight)

    def _certified(self, attempt: MotionAttempt, weight: Array) -> FoundMotion:
        """The result, if the certificate of every frame holds."""
        problem = self.problem
        motion = GivenCapacities.of(problem, self.limits, weight)
        certifier = CapacityCertifier(motion, ActivationCost(problem, self.cost, rows=True))
        residual = certifier.misses(attempt).residual
        found = self._unsolved(Status.SOLVER_FAILED, np.full_like(problem.moment, np.nan))
        arrays, activation = found.arrays, attempt.activation
        arrays.kkt_residual, arrays.reserve_weight = residual, weight
        arrays.iterations.fill(attempt.iterations)
        if not (residual <= TOLERANCE).all():
            return found
        arrays.activation, arrays.multiplier = activation, attempt.multiplier
        arrays.reserve = motion.compliance * attempt.multiplier
        helped = needs_reserve(arrays.reserve, problem.moment).any(axis=1)
        arrays.status = np.where(helped, Status.SOLVED_WITH_RESERVE, Status.SOLVED).astype(np.int8)
        arrays.force = activation * problem.force_capacity
        arrays.cost = self.cost.total_value(problem, activation)
        return replace(found, limit_multiplier=attempt.limit_multiplier)

    def _unsolved(self, status: Status, shortage: Array) -> FoundMotion:
        arrays = SolutionArrays.empty(self.problem)
        arrays.status.fill(status)
        frames, muscles = arrays.activation.shape
        return FoundMotion(arrays, np.full((2, frames - 1, muscles), np.nan), shortage)
