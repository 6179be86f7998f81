"""Soft rows: quadratic objectives on linear combinations of the activations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array


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
