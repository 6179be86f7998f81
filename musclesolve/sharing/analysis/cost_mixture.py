"""Which non-negative mixture of given costs explains a given activation pattern best.

An activation pattern is optimal for the cost sum_j w_j f_j if in every frame there are multipliers lambda with

    r_i = sum_j w_j df_j/da_i - (A^T lambda)_i     r_i = 0 between the bounds, r_i >= 0 at the lower, r_i <= 0 at the
                                                  upper one.

Those conditions are linear in w and lambda. The mixture sought is the one with sum_j w_j s_j = 1, w >= 0, that violates
them least in the sense of least squares, over all frames at once (inverse optimal control by the residual of the
conditions of optimality: Keshavarz, Wang and Boyd 2011, "Imputing a convex objective function"). s_j is the root mean
square of the slopes of cost j, so that costs of different units stand side by side; every frame counts the same.

The multipliers are eliminated frame by frame, by projection. What is left is a non-negative least-squares problem with
one unknown per cost: the least of |M v|^2 + (1 - sum v)^2 over v >= 0 has the direction of the least of |M v|^2 with
sum v = 1, because for v = t u, sum u = 1, the best t leaves |M u|^2 / (1 + |M u|^2). A condition at a bound is active
only while it is violated; the active ones are found by repetition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_number, check_real_array
from musclesolve.errors import InputError
from musclesolve.sharing.arguments import check_problem, members
from musclesolve.sharing.certificate import within_domain
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum, bad_cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem

MOST_REPETITIONS = 100
DEPENDENT = 1e-10
LEAST_WIDTH = 1e-12  # muscles whose bounds are nearer to each other than this are left out


@dataclass(frozen=True, eq=False)
class Mixture:
    """The mixture found, and how well it explains the pattern.

    Attributes:
        costs: J costs.
        weight: (J,) w, such that sum_j weight_j cost_j is the mixture.
        share: (J,) weight times the root mean square slope of its cost; sums to one.
        multiplier: (T, m) of the moments, in units of the mixture per N m; NaN in uninformative frames.
        residual: (T,) violation of the conditions of optimality over the size of the slopes, root mean squares; zero
            for a pattern that is exactly optimal, NaN in uninformative frames.
        total_residual: the same over all frames.
        distinctness: how sharply the pattern distinguishes the costs: the second smallest singular value of the
            conditions over the size of the slopes. Where it is as small as the residual, other mixtures explain as
            much; one for a single cost.
    """

    costs: tuple[Cost, ...]
    weight: Array
    share: Array
    multiplier: Array
    residual: Array
    total_residual: float
    distinctness: float

    @property
    def cost(self) -> WeightedSum:
        """The mixture as a cost; costs without weight are left out."""
        terms = zip(self.weight, self.costs, strict=True)
        return WeightedSum(tuple((float(w), cost) for w, cost in terms if w > 0))


def explain(
    problem: Problem, activation: ArrayLike, costs: Sequence[str | Cost], at_bound: float = 1e-4
) -> Mixture:
    """The non-negative mixture of costs for which an activation pattern is nearest to optimal.

    The moments are those that the pattern produces; those of the problem are not used. Uninformative frames are left
    out: those without a finite activation, or with no more muscles between their bounds than there are moments.

    Args:
        problem: moment arms, capacities and bounds; T frames.
        activation: (T, n) the pattern, or (n,) for a single frame.
        costs: J names or Cost objects with a gradient.
        at_bound: activations nearer to a bound than this count as lying on it; larger than zero, because solvers end
            a little away from the bounds.

    Raises:
        InputError: a distance `at_bound` that is not a positive number, the shape of the pattern, an activation beyond
            its bounds, a cost that has no gradient or does not fit the problem, or a pattern without informative
            frame.
    """
    found = _suitable(costs, problem)
    at_bound = check_number(at_bound, "at_bound", "a positive number", above=0.0)
    for cost in found:
        problem = within_domain(problem, cost)
    conditions = _Conditions.of(problem, _checked(problem, activation, at_bound), found, at_bound)
    return conditions.mixture(found)


@dataclass(frozen=True, eq=False)
class _Conditions:
    """The conditions of optimality, every frame and cost divided by its size."""

    matrix: Array  # A, (T, m, n)
    slope: Array  # (T, n, J)
    unit: Array  # s_j, (J,)
    size: Array  # of the slopes of a frame, (T,)
    inside: Mask  # (T, n)
    at_lower: Mask
    at_upper: Mask
    informative: Mask  # (T,)

    @classmethod
    def of(cls, problem: Problem, activation: Array, costs: Sequence[Cost], at_bound: float) -> _Conditions:
        movable = problem.upper - problem.lower > LEAST_WIDTH
        known = movable & (problem.valid & np.isfinite(activation).all(axis=1))[:, None]
        at_lower = known & (activation - problem.lower <= at_bound)
        at_upper = known & (problem.upper - activation <= at_bound) & ~at_lower
        inside = known & ~at_lower & ~at_upper
        informative = inside.sum(axis=1) > problem.n_dof
        if not informative.any():
            fault = "the activation pattern has no informative frame"
            expected = f"a frame with more than {problem.n_dof} muscles (the moments) between their bounds"
            raise InputError(fault, code="bad_value", where="activation", expected=expected)
        a = np.where(known, activation, problem.lower)
        slope = np.stack([cost.total_gradient(problem, a) for cost in costs], axis=-1)
        usable = np.isfinite(slope).all(axis=-1)
        slope = np.where((known & usable)[..., None], slope, 0.0)
        inside, at_lower, at_upper = inside & usable, at_lower & usable, at_upper & usable
        unit = np.sqrt(np.square(slope[inside & informative[:, None]]).mean(axis=0))
        _refuse_flat(costs, unit)
        slope = slope / unit
        square = np.where(inside[..., None], np.square(slope), 0.0).sum(axis=(1, 2))
        size = np.sqrt(square / np.maximum(1, inside.sum(axis=1)))
        informative = informative & (size > 0)
        divisor = np.where(informative, size, 1.0)[:, None, None]
        inside, at_lower, at_upper = (mask & informative[:, None] for mask in (inside, at_lower, at_upper))
        matrix = np.where(known[:, None, :], problem.moment_matrix, 0.0)
        return cls(matrix, slope / divisor, unit, size, inside, at_lower, at_upper, informative)

    def mixture(self, costs: Sequence[Cost]) -> Mixture:
        v, multiplier, active, factor = self.solve()
        share, multiplier = v / v.sum(), multiplier / v.sum()
        slope = np.einsum("tnj,j->tn", self.slope, share)
        residual = np.where(active, slope - self.pull(multiplier), 0.0)
        informative = self.informative & active.any(axis=1)
        violation = np.square(residual).sum(axis=1)
        size = np.square(np.where(self.inside, slope, 0.0)).sum(axis=1)
        use = informative & (size > 0)
        ratio = np.divide(violation, size, out=np.full_like(size, np.nan), where=use)
        return Mixture(
            costs=tuple(costs),
            weight=share / self.unit,
            share=share,
            multiplier=np.where(informative[:, None], multiplier * self.size[:, None], np.nan),
            residual=np.sqrt(ratio),
            total_residual=float(np.sqrt(violation[informative].sum() / size[informative].sum())),
            distinctness=_distinctness(factor, self.slope[active]),
        )

    def pull(self, multiplier: Array) -> Array:
        return np.matmul(multiplier[:, None, :], self.matrix)[:, 0, :]

    def solve(self) -> tuple[Array, Array, Mask, Array]:
        """The mixture v (J,), multipliers (T, m), active conditions (T, n), and a factor R with |R v| = |M v|."""
        active, least = self.inside.copy(), np.inf
        for _ in range(MOST_REPETITIONS):
            v, multiplier, factor = self._with(active)
            residual = np.einsum("tnj,j->tn", self.slope, v) - self.pull(multiplier)
            violated = self.inside | (self.at_lower & (residual < 0)) | (self.at_upper & (residual > 0))
            size = float(np.square(residual[violated]).sum() / v.sum() ** 2)
            if size < least:
                least, best = size, (v, multiplier, violated, factor)
            if (violated == active).all():
                break
            active = violated
        return best

    def _with(self, active: Mask) -> tuple[Array, Array, Array]:
        """The least squares of the active conditions."""
        from scipy.optimize import nnls

        rows = np.where(active[..., None], self.matrix.transpose(0, 2, 1), 0.0)  # (T, n, m)
        left, values, right = np.linalg.svd(rows, full_matrices=False)
        keep = values > DEPENDENT * values.max(axis=1, keepdims=True)
        left = left * keep[:, None, :]
        slope = np.where(active[..., None], self.slope, 0.0)
        projected = np.matmul(left.transpose(0, 2, 1), slope)  # (T, m, J)
        rest = (slope - np.matmul(left, projected)).reshape(-1, slope.shape[-1])
        factor: Array = np.asarray(np.linalg.qr(rest, mode="r"))
        count = factor.shape[1]
        v, _ = nnls(np.vstack([factor, np.ones((1, count))]), np.append(np.zeros(len(factor)), 1.0))
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=keep)
        multiplier = np.einsum("tkm,tk,tkj,j->tm", right, inverse, projected, v)
        return v, multiplier, factor


def _distinctness(factor: Array, slope: Array) -> float:
    if factor.shape[1] == 1:
        return 1.0
    return float(np.linalg.svd(factor, compute_uv=False)[-2] / np.linalg.norm(slope))


def _suitable(costs: Sequence[str | Cost], problem: Problem) -> list[Cost]:
    found = [find_cost(cost) for cost in members(costs)]
    if not found:
        fault = "there are no costs to mix"
        expected = "a list of names or Cost objects"
        raise InputError(fault, code="missing_argument", where="costs", expected=expected)
    check_problem(problem)
    for cost in found:
        if cost.needs & {"linear_programme", "nonsmooth"}:
            raise bad_cost(cost, "has no gradient everywhere", "smooth costs", where="costs")
        cost.require(problem)
    return found


def _checked(problem: Problem, activation: ArrayLike, at_bound: float) -> Array:
    shape = problem.force_capacity.shape
    shapes = (shape, shape[1:]) if problem.n_frames == 1 else (shape,)
    pattern = np.atleast_2d(check_real_array(activation, "activation", f"{shape}", shapes=shapes))
    beyond = (pattern < problem.lower - at_bound) | (pattern > problem.upper + at_bound)
    for t, i in np.argwhere(beyond)[:1]:
        raise InputError(
            f"the activation of {(problem.muscle or ())[i]} in frame {t} is {pattern[t, i]:g}",
            code="bad_value",
            where="activation",
            expected=f"{problem.lower[t, i]:g} to {problem.upper[t, i]:g}, its bounds and the domain of the costs",
            remedy="leave out the cost whose domain ends there, or the frame (as NaN)",
        )
    return pattern


def _refuse_flat(costs: Sequence[Cost], unit: Array) -> None:
    for cost, size in zip(costs, unit, strict=True):
        if not size > 0:
            fault, expected = (
                "has no slope anywhere along the pattern",
                "costs that depend on its activations",
            )
            raise bad_cost(cost, fault, expected, where="costs", remedy="leave it out")
