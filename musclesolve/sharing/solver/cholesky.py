"""Cholesky factors of many small matrices at once."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.kernel.constants import EMPTY_PIVOT, EMPTY_ROW, RIDGE


class BatchCholesky:
    """Solves S x = r for T symmetric positive semidefinite matrices S, (T, m, m), of a few rows each.

    The matrices are first brought to a unit diagonal. A ridge of 1e-14 keeps rows that depend on each other
    harmless: in an iteration that works on the true residual it slows the step, it does not move the solution.
    Arithmetic runs over rows and columns in Python and over the frames in numpy.
    """

    def __init__(self, matrices: Array) -> None:
        rows = np.ascontiguousarray(matrices.transpose(1, 2, 0))
        self.size = rows.shape[0]
        diagonal = np.einsum("kkt->kt", rows)
        largest = diagonal.max(axis=0)
        # a row without muscles: any pivot will do; a small one shows at once that its moment is out of reach
        diagonal = np.where(
            diagonal > EMPTY_ROW * largest, diagonal, np.where(largest > 0, EMPTY_PIVOT * largest, 1.0)
        )
        self.scale = 1.0 / np.sqrt(diagonal)
        factor = rows * self.scale[:, None] * self.scale[None]
        for j in range(self.size):
            pivot = np.maximum(factor[j, j], 0.0) + RIDGE
            factor[j:, j] /= np.sqrt(pivot)
            factor[j, j] = np.sqrt(pivot)
            for i in range(j + 1, self.size):
                factor[i:, i] -= factor[i:, j] * factor[i, j]
        self.factor = factor

    def solve(self, right: Array) -> Array:
        """x, (T, m), for right-hand sides (T, m)."""
        x = right.T * self.scale
        for j in range(self.size):
            x[j] /= self.factor[j, j]
            x[j + 1 :] -= self.factor[j + 1 :, j] * x[j]
        for j in reversed(range(self.size)):
            x[j] /= self.factor[j, j]
            x[:j] -= self.factor[j, :j] * x[j]
        return (x * self.scale).T
