"""Proof that no activation within its bounds produces the moments of a frame.

By Farkas' lemma the moments b are out of reach if and only if some combination y of them exceeds what muscles reach,

    y . b  >  max over lower <= a <= upper of y . A a  =  sum_i max(lower_i (A^T y)_i, upper_i (A^T y)_i).

The Farkas ratio of y is the margin of this inequality without unit,

    (y . b - max y . A a) / sum_k |y_k| max(1, |b_k|).

Whoever proposes y, the ratio is recomputed here. Above 1e-6 it is accepted as a proof: then no activation comes as
close to the moments as the certificate of a solved frame demands.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.problem import Problem


def farkas_ratio(problem: Problem, direction: Array) -> Array:
    """The Farkas ratio of each frame, (T,); minus infinity where the direction is zero or not finite.

    The direction y, (T, m), may be of any length; reserves of the problem are left out of account.
    """
    pull = np.matmul(direction[:, None, :], problem.moment_matrix)[:, 0, :]
    return farkas_ratio_of_pull(direction, pull, problem.moment, problem.lower, problem.upper)


def farkas_ratio_of_pull(direction: Array, pull: Array, moment: Array, lower: Array, upper: Array) -> Array:
    """The same for pull = A^T y, (T, n), when it is known already."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        size = (np.abs(direction) * np.maximum(1.0, np.abs(moment))).sum(axis=1)
        reach = np.maximum(lower * pull, upper * pull).sum(axis=1)
        margin = ((direction * moment).sum(axis=1) - reach) / size
    return np.where(np.isfinite(margin), margin, -np.inf)


def is_proof(ratio: Array) -> Mask:
    """(T,) whether a Farkas ratio proves infeasibility."""
    return ratio > TOLERANCE


def empty_box(problem: Problem) -> Mask:
    """(T,) whether no activation at all satisfies the bounds (the domain of the cost ends below the lower one)."""
    return np.any(problem.lower > problem.upper, axis=1)
