"""A cost as data: its terms in the form in which the compiled solver takes them, and its soft rows.

A cost that is a sum over k of f_k times one of

    power        sum_i (c_i a_i)^p
    saturation   sum_i (1 - (1 - (c_i a_i)^p)^(1/p))
    target       sum_i (c_i (a_i - e_i))^2

has the form of `Terms`. Soft rows are quadratic objectives on linear combinations of the activations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a cost in every frame."""

    kind: NDArray[np.int64]  # (K,) TERM_POWER, TERM_SATURATION or TERM_TARGET of kernel/constants.py
    exponent: Array  # p, (K,)
    factor: Array  # f, (K, T)
    row: NDArray[np.int64]  # (K,) which row of coefficient is c; for a target the next one is e
    coefficient: Array  # (Q, T, n)

    def scaled(self, factor: float | Array) -> Terms:
        """A multiple of the same, by one number or by one for each frame, (T,)."""
        return replace(self, factor=factor * self.factor)


_FIRST = np.zeros(1, np.int64)


def one_term(kind: int, exponent: float, *rows: Array) -> Terms:
    """A single term of a kind with the exponent p and the rows c, (T, n), and for a target e."""
    coefficient = np.ascontiguousarray(rows[0])[None] if len(rows) == 1 else np.stack(rows)
    factor = np.ones((1, coefficient.shape[1]))
    return Terms(np.array([kind]), np.array([float(exponent)]), factor, _FIRST, coefficient)


def no_terms(frames: int, muscles: int) -> Terms:
    """The terms of a cost that consists of soft rows only, or is zero."""
    none = np.zeros(0, np.int64)
    return Terms(none, np.zeros(0), np.zeros((0, frames)), none, np.zeros((0, frames, muscles)))


def joined_terms(parts: Sequence[Terms | None]) -> Terms | None:
    """The terms of several costs as those of one; None if one of them has none."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    first = np.cumsum([0, *(len(part.coefficient) for part in known[:-1])])
    return Terms(
        np.concatenate([part.kind for part in known]),
        np.concatenate([part.exponent for part in known]),
        np.concatenate([part.factor for part in known]),
        np.concatenate([part.row + start for part, start in zip(known, first, strict=True)]),
        np.concatenate([part.coefficient for part in known]),
    )


@dataclass(frozen=True, eq=False)
class SoftRows:
    """1/2 sum_k w_k (t_k - (G a)_k)^2 in every frame, such as the squares of joint reactions.

    Attributes:
        matrix: G, (T, k, n).
        target: t, (T, k).
        weight: w, (T, k), positive; a row without weight is left out.
    """

    matrix: Array
    target: Array
    weight: Array

    def residual(self, activation: Array) -> Array:
        """T - G a, (T, k)."""
        return self.target - np.matmul(self.matrix, activation[:, :, None])[:, :, 0]

    def value(self, activation: Array) -> Array:
        """(T,)."""
        return 0.5 * (self.weight * np.square(self.residual(activation))).sum(axis=1)

    def gradient(self, activation: Array) -> Array:
        """-G^T w (t - G a), (T, n)."""
        return -np.matmul((self.weight * self.residual(activation))[:, None, :], self.matrix)[:, 0, :]

    def hessian(self) -> Array:
        """G^T w G, (T, n, n)."""
        return np.matmul(self.matrix.transpose(0, 2, 1) * self.weight[:, None, :], self.matrix)

    def hessian_diagonal(self) -> Array:
        """Its diagonal, (T, n)."""
        return np.einsum("tk,tkn->tn", self.weight, np.square(self.matrix))

    def frames(self, which: NDArray[Any]) -> SoftRows:
        """The same for some frames only."""
        return SoftRows(self.matrix[which], self.target[which], self.weight[which])

    def scaled(self, factor: Array | float) -> SoftRows:
        """A multiple of the same, by one number or by one for each frame, (T,)."""
        return SoftRows(self.matrix, self.target, np.reshape(factor, (-1, 1)) * self.weight)


def joined_rows(parts: Sequence[SoftRows | None]) -> SoftRows | None:
    """The rows of several costs, one after the other; None if there are none."""
    rows = [part for part in parts if part is not None]
    if not rows:
        return None
    names = ("matrix", "target", "weight")
    return SoftRows(*(np.concatenate([getattr(part, name) for part in rows], axis=1) for name in names))
