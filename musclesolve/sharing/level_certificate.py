"""The certificate of a cost of levels: the largest load is the least possible, then the largest of the rest, and so on.

Let rho_i a_i be the load of muscle i. Level 1 looks at all muscles, level l at those which the levels above have not
decided; t is the largest load among them. A combination y of the moments proves the level. With p = A^T y, whatever
produces the moments without a load above t among these muscles satisfies

    sum_i p_i a_i = y . (b - s)   <=   sum_i max(p_i lower_i, p_i min(upper_i, t / rho_i)),

and where both sides are equal no such answer has a smaller t, and each has a_i = min(upper_i, t / rho_i) where
p_i > 0 and a_i = lower_i where p_i < 0: these muscles are decided. As in the certificate of smooth costs, of the two
misses, the distance of a_i from that bound and |p_i| / sum_k |A_ki y_k|, the smaller one counts. Where y is zero,
the muscle with the largest load has to be at its lower bound; muscles that no level decides have to be at theirs.

Reserves come first: their weighted squares are the least possible whatever the loads, so that with eta = w s the
answer has a_i = upper_i where (A^T eta)_i > 0 and a_i = lower_i where it is negative; the misses are counted alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.problem import Array, Problem

DECIDED = 1e-6
SAME = 1e-9


def relative_load(problem: Problem, cost: Cost) -> Array:
    """rho, (T, n): the load of each muscle at activation 1, for a cost of levels or a multiple of one."""
    inner: Any = cost
    while not hasattr(inner, "relative_load"):
        inner = inner.cost
    load: Array = inner.relative_load(problem)
    return load


def level_residual(problem: Problem, cost: Cost, activation: Array, reserve: Array, price: Array) -> Array:
    """The largest miss of each frame, (T,): zero where the answer is proved, infinite where it is not finite.

    Args:
        problem: with its bounds and reserve weights.
        cost: a cost of levels.
        activation: (T, n).
        reserve: (T, m) [N m].
        price: (T, L, m), y of every level; NaN below the last.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(1.0, np.abs(problem.moment))
        produced = np.matmul(problem.moment_matrix, activation[:, :, None])[:, :, 0]
        miss = (np.abs(produced + reserve - problem.moment) / scale).max(axis=1)
        inside = (activation >= problem.lower) & (activation <= problem.upper)
        miss = np.where(inside.all(axis=1), miss, np.inf)
        miss = np.maximum(miss, _reserves(problem, activation, reserve))
        load = relative_load(problem, cost)
        open_ = np.ones(activation.shape, np.bool_)
        for level in np.moveaxis(price, 1, 0):
            used = np.isfinite(level).all(axis=1)
            missed, decided = _level(problem, load, activation, np.where(used[:, None], level, 0.0), open_)
            miss = np.where(used, np.maximum(miss, missed), miss)
            open_ &= ~(decided & used[:, None])
        rest = np.where(open_, activation - problem.lower, 0.0).max(axis=1)
        miss = np.maximum(miss, rest)
    return np.where(np.isfinite(miss), miss, np.inf)


def weight_of(matrix: Array, price: Array) -> tuple[Array, Array]:
    """p = A^T y and its size as a share of sum_k |A_ki y_k|, both (T, n)."""
    pull = np.matmul(price[:, None, :], matrix)[:, 0, :]
    size = np.matmul(np.abs(price)[:, None, :], np.abs(matrix))[:, 0, :]
    return pull, np.divide(np.abs(pull), size, out=np.zeros_like(pull), where=size > 0)


def bound_of_level(upper: Array, load: Array, level: Array) -> Array:
    """min(upper, t / rho)."""
    return np.divide(level, load, out=np.array(upper), where=load * upper > level)


def _level(
    problem: Problem, load: Array, activation: Array, price: Array, open_: NDArray[np.bool_]
) -> tuple[Array, NDArray[np.bool_]]:
    """The miss of one level, (T,), and which muscles it decides, (T, n)."""
    pull, share = weight_of(problem.moment_matrix, price)
    present = np.where(open_, load * activation, -np.inf)
    top = present.max(axis=1, keepdims=True)
    goal = np.where(pull > 0, bound_of_level(problem.upper, load, top), problem.lower)
    missed = np.where(open_, np.minimum(np.abs(activation - goal), share), 0.0).max(axis=1)
    decided = open_ & (share > DECIDED)
    carried = (decided & (pull > 0) & (load * problem.upper >= top)).any(axis=1)
    missed = np.where(carried, missed, np.inf)

    free = ~np.any(price, axis=1)
    first = open_ & (present >= top - SAME * np.abs(top))
    above = np.where(first, activation - problem.lower, np.inf)
    at_floor = first & (above <= DECIDED)
    return np.where(free, above.min(axis=1), missed), np.where(free[:, None], at_floor, decided)


def _reserves(problem: Problem, activation: Array, reserve: Array) -> Array:
    if problem.reserve_weight is None:
        return np.abs(reserve).max(axis=1)
    needed = (np.abs(reserve) > DECIDED * np.maximum(1.0, np.abs(problem.moment))).any(axis=1)
    pull, share = weight_of(problem.moment_matrix, problem.reserve_weight * reserve)
    distance = np.abs(activation - np.where(pull > 0, problem.upper, problem.lower))
    return np.where(needed, np.minimum(distance, share).max(axis=1), 0.0)
