"""The active set of a solution: which muscles are held at a bound, and how far each is from a change.

A muscle is held where the step of the certificate, a - (g - p) / S, leads to a bound or past it (certificate.py; g is
the marginal cost, p = A^T lambda). On this set Newton's method refines a solution that is good to six digits to all
its digits: muscles that are nearly at rest need them, because their curvature is that of their own small activation.

Distances are relative, between 0 and 1: |g - p| / S of a held muscle; of a free one the distance to the nearer bound
over that between the bounds, or the same of the marginal cost of the muscle alone if that is larger: next to the end of
the domain of soft saturation hardly any activation is left, but almost all of the marginal cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import stationarity_size
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.derivatives.optimality_system import OptimalitySystem
from musclesolve.sharing.kernel.constants import LEAST_REACH
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import slope_scale
from musclesolve.sharing.solving import fix_idle_muscles

STEPS = 12
CONVERGED = 1e-11
"""Newton step, relative to the width of the bounds and to the activation, at which a solution is final."""

KNOWN = 1e-7  # the same, above which the solution is not known well enough to be differentiated
LARGEST_STEP = 0.9  # largest step of a free muscle, as a share of the distance to its bound


@dataclass(frozen=True, eq=False)
class Optimum:
    """A solution to all its digits, with its active set."""

    activation: Array  # (T, n)
    multiplier: Array  # (T, m)
    below: Mask  # (T, n) held at the lower bound
    above: Mask  # (T, n) held at the upper bound
    distance: Array  # (T, n) from a change, infinite for a muscle that cannot move or has no moment arm
    known: Mask  # (T,) whether Newton's method has converged


def refine(problem: Problem, cost: Cost, compliance: Array, activation: Array, multiplier: Array) -> Optimum:
    """The optimum near a solution, activations (T, n) and multipliers (T, m), that is good to about six digits.

    The problem has solved frames only and upper bounds within the domain of the smooth convex cost; the compliance
    is C = 1/w, (T, m), zero without reserves.
    """
    upper = fix_idle_muscles(problem, cost).upper  # muscles without moment arm are held at rest
    a, multiplier = np.clip(activation, problem.lower, upper), multiplier.copy()
    miss = np.full(len(a), np.inf)
    going = np.arange(len(a))
    for _ in range(STEPS):
        part = problem.frames(going)
        a[going], multiplier[going], miss[going] = _newton(
            part, cost, upper[going], compliance[going], a[going], multiplier[going]
        )
        going = going[miss[going] > CONVERGED]
        if not going.size:
            break
    held, below = _held(problem, cost, upper, a, multiplier)
    distance = np.where(held > 0, held, _distance_to_bound(problem, cost, upper, a))
    distance = np.where(upper > problem.lower, distance, np.inf)
    here = held > 0
    return Optimum(a, multiplier, here & below, here & ~below, distance, miss <= KNOWN)


def _held(problem: Problem, cost: Cost, upper: Array, a: Array, multiplier: Array) -> tuple[Array, Mask]:
    """|g - p| / S of each held muscle, (T, n), zero for the free ones; and whether the bound is the lower one."""
    slope, size = _slopes(problem, cost, a, multiplier)
    push = np.divide(slope, size, out=np.zeros_like(size), where=size > 0)
    fixed = upper <= problem.lower
    low = (a - push <= problem.lower) & ((push > 0) | fixed)
    high = (a - push >= upper) & (push < 0) & ~low
    lacks = np.where(low | high, np.maximum(np.abs(push), np.finfo(np.float64).tiny), 0.0)
    return lacks, low


def _distance_to_bound(problem: Problem, cost: Cost, upper: Array, a: Array) -> Array:
    """How far each muscle is from its nearer bound, (T, n)."""
    lower, own = problem.lower, cost.needs <= {"separable", "rows"}
    with np.errstate(all="ignore"):
        way = np.stack([a - lower, upper - a]) / (upper - lower)
        if own:
            low, here, high = (cost.gradient(problem, at) for at in (lower, a, upper))
            rise = np.stack([here - low, high - here]) / (high - low)
            way = np.fmax(way, np.where(np.isfinite(rise), rise, 0.0))
    return np.asarray(np.nan_to_num(way, posinf=1.0).min(axis=0))


def _slopes(problem: Problem, cost: Cost, a: Array, multiplier: Array) -> tuple[Array, Array]:
    """G - p and S, (T, n)."""
    pull = np.matmul(multiplier[:, None, :], problem.moment_matrix)[:, 0, :]
    with np.errstate(all="ignore"):
        slope = cost.total_gradient(problem, a)
        reach = np.maximum(LEAST_REACH, (a - problem.lower).max(axis=1))
        size = stationarity_size(slope, pull, slope_scale(problem, cost, reach))
    return slope - pull, size


def _newton(
    problem: Problem, cost: Cost, upper: Array, compliance: Array, a: Array, multiplier: Array
) -> tuple[Array, Array, Array]:
    """One step on the active set of the point; its relative size, (T,)."""
    held, below = _held(problem, cost, upper, a, multiplier)
    here = held > 0
    bound = np.where(below, problem.lower, upper)
    system = OptimalitySystem.of(problem, cost, np.where(here, bound, a), ~here, compliance)
    with np.errstate(all="ignore"):
        a_held = np.where(here, bound, a)
        slope, _ = _slopes(problem, cost, a_held, multiplier)
        short = (
            problem.moment
            - np.matmul(problem.moment_matrix, a_held[..., None])[..., 0]
            - compliance * multiplier
        )
        step, multiplier_step = system.solve(
            np.where(here, 0.0, -slope)[..., None], short[..., None], np.zeros((len(a), a.shape[1], 1))
        )
    step = np.where(here, 0.0, np.nan_to_num(step[..., 0]))
    moved = a_held + np.clip(step, LARGEST_STEP * (problem.lower - a_held), LARGEST_STEP * (upper - a_held))
    width = np.where(upper > problem.lower, upper - problem.lower, 1.0)
    far = np.maximum(
        np.abs(moved - a) / width, np.abs(step) / np.maximum(a_held - problem.lower, 1e-3 * width)
    )
    return moved, multiplier + np.nan_to_num(multiplier_step[..., 0]), far.max(axis=1, initial=0.0)
