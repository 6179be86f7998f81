"""The certificate of lexicographic min/max: the largest load is minimal, then the largest of the rest, and so on.

Let rho_i a_i be the load of muscle i. Level 1 looks at all muscles, level l at those which the levels above have not
decided; t is the largest load among them. A combination y of the moments proves the level. With p = A^T y, whatever
produces the moments without a load above t among these muscles satisfies

    sum_i p_i a_i = y . (b - s)   <=   sum_i max(p_i lower_i, p_i min(upper_i, t / rho_i)),

and where both sides are equal no such solution has a smaller t, and each has a_i = min(upper_i, t / rho_i) where
p_i > 0 and a_i = lower_i where p_i < 0: these muscles are decided. As in the certificate of smooth costs, of two
misses the smaller one counts: the distance of the load rho_i a_i from that bound, as a share of the largest rho,
and the change of t with the load, |p_i| / rho_i over the sum of p_j / rho_j of those that t limits. Where y is
zero, the muscle with the largest load has to be at its lower bound; those that no level decides have to be at theirs.

Reserves come first: their weighted squares are the least possible, whatever the loads. With q = A^T (w s) the squares
s . w s / 2 exceed the least by no more than sum_i |q_i| times the distance of a_i from upper_i where q_i > 0, else
from lower_i; that duality gap counts as a share of s . w s, and muscles with |q_i| > 1e-6 s . w s are decided by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.problem import Problem

DECIDED = 1e-6
SAME = 1e-9


def relative_load(problem: Problem, cost: Cost) -> Array:
    """rho, (T, n): the load of each muscle at activation 1, for a cost of levels or a multiple of one."""
    inner: Any = single_costs(cost)[0]
    load: Array = inner.relative_load(problem)
    return load


def level_residual(
    problem: Problem, cost: Cost, activation: Array, reserve: Array, multiplier: Array
) -> Array:
    """The largest miss of each frame, (T,): zero where levels are proved to be least, infinite where it is not finite.

    `multiplier` (T, L, m) is y of every level; NaN below the last.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(1.0, np.abs(problem.moment))
        produced = np.matmul(problem.moment_matrix, activation[:, :, None])[:, :, 0]
        miss = (np.abs(produced + reserve - problem.moment) / scale).max(axis=1)
        inside = (activation >= problem.lower) & (activation <= problem.upper)
        miss = np.where(inside.all(axis=1), miss, np.inf)
        goal, share, held = reserve_pull(problem, reserve)
        gap = (share * np.abs(activation - goal)).sum(axis=1)
        spare = 0.0 if problem.reserve_weight is not None else np.abs(reserve).max(axis=1)
        miss = np.maximum(np.maximum(miss, gap), spare)
        load, open_ = relative_load(problem, cost), ~held
        for level in np.moveaxis(multiplier, 1, 0):
            used = np.isfinite(level).all(axis=1)
            missed, decided = _level(problem, load, activation, np.where(used[:, None], level, 0.0), open_)
            miss = np.where(used, np.maximum(miss, missed), miss)
            open_ &= ~(decided & used[:, None])
        rest = np.where(open_, activation - problem.lower, 0.0).max(axis=1)
        miss = np.maximum(miss, rest)
    return np.where(np.isfinite(miss), miss, np.inf)


def weight_of(pull: Array, load: Array, limited: Mask) -> Array:
    """|p_i| / rho_i as a share of the sum of those that t limits, (T, n); infinite where there is none."""
    each = np.divide(np.abs(pull), load, out=np.zeros_like(pull), where=load > 0)
    total = np.where(limited, each, 0.0).sum(axis=1, keepdims=True)
    return np.divide(each, total, out=np.full_like(each, np.inf), where=total > 0)


def bound_of_level(upper: Array, load: Array, level: Array) -> Array:
    """min(upper, t / rho)."""
    return np.divide(level, load, out=np.array(upper), where=load * upper > level)


def _level(
    problem: Problem, load: Array, activation: Array, multiplier: Array, open_: Mask
) -> tuple[Array, Mask]:
    """The miss of one level, (T,), and the muscles that it decides, (T, n)."""
    pull = np.matmul(multiplier[:, None, :], problem.moment_matrix)[:, 0, :]
    present = np.where(open_, load * activation, -np.inf)
    top = present.max(axis=1, keepdims=True)
    limited = open_ & (pull > 0) & (load * problem.upper >= top)
    share = weight_of(pull, load, limited)
    goal = np.where(pull > 0, bound_of_level(problem.upper, load, top), problem.lower)
    distance = load * np.abs(activation - goal) / load.max(axis=1, keepdims=True)
    missed = np.where(open_, np.minimum(distance, share), 0.0).max(axis=1)
    decided = open_ & (share > DECIDED)
    missed = np.where(limited.any(axis=1), missed, np.inf)

    free = ~np.any(multiplier, axis=1)
    first = open_ & (present >= top - SAME * np.abs(top))
    above = np.where(first, activation - problem.lower, np.inf)
    at_floor = first & (above <= DECIDED)
    return np.where(free, above.min(axis=1), missed), np.where(free[:, None], at_floor, decided)


def reserve_pull(problem: Problem, reserve: Array) -> tuple[Array, Array, Mask]:
    """The bound that each muscle is to reach, |q_i| as a share of s . w s, and which muscles that decides, (T, n)."""
    if problem.reserve_weight is None:
        none = np.zeros(problem.lower.shape, np.bool_)
        return problem.lower, np.zeros(problem.lower.shape), none
    asked = problem.reserve_weight * reserve
    used = (np.abs(reserve) > DECIDED * np.maximum(1.0, np.abs(problem.moment))).any(axis=1, keepdims=True)
    pull = np.matmul(asked[:, None, :], problem.moment_matrix)[:, 0, :]
    squares = np.where(used, (asked * reserve).sum(axis=1, keepdims=True), 1.0)
    share = np.where(used, np.abs(pull) / squares, 0.0)
    return np.where(pull > 0, problem.upper, problem.lower), share, share > DECIDED
