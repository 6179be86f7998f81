"""Proof that no activation within its bounds produces the moments of a frame.

By Farkas' lemma the moments b are out of reach if and only if there is a combination y of them that asks for more
than the muscles have,

    y . b  >  max over lower <= a <= upper of y . A a  =  sum_i max(lower_i (A^T y)_i, upper_i (A^T y)_i).

Whoever proposes y, the inequality is checked here. If it holds by a margin of more than 1e-6 sum_k |y_k| max(1, |b_k|),
then no activation comes as close to the moments as the certificate of a solved frame demands.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import TOLERANCE
from musclesolve.sharing.problem import Problem


def excess(problem: Problem, direction: Array) -> Array:
    """How far the moments exceed what is within reach, (T,); above 1e-6 it proves infeasibility.

    Args:
        problem: the problem; its reserves are left out of account.
        direction: y, (T, m), of any length.

    Returns:
        (y . b - max y . A a) / sum_k |y_k| max(1, |b_k|); minus infinity where y is zero or not finite.
    """
    pull = np.matmul(direction[:, None, :], problem.moment_matrix)[:, 0, :]
    return excess_of_pull(direction, pull, problem.moment, problem.lower, problem.upper)


def excess_of_pull(direction: Array, pull: Array, moment: Array, lower: Array, upper: Array) -> Array:
    """The same for pull = A^T y, (T, n), when it is known already."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        size = (np.abs(direction) * np.maximum(1.0, np.abs(moment))).sum(axis=1)
        reach = np.maximum(lower * pull, upper * pull).sum(axis=1)
        margin = ((direction * moment).sum(axis=1) - reach) / size
    return np.where(np.isfinite(margin), margin, -np.inf)


def is_proof(margin: Array) -> Mask:
    """(T,) whether an excess proves infeasibility."""
    return margin > TOLERANCE


def empty_box(problem: Problem) -> Mask:
    """(T,) whether no activation at all satisfies the bounds (the domain of the cost ends below the lower one)."""
    return np.any(problem.lower > problem.upper, axis=1)
