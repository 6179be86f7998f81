"""Products with a few rows, and the Cholesky factors of a matrix of a few rows, compiled.

Loops run over views that start at zero: only these are vectorized by the compiler.
"""

from typing import Any

import numpy as np

from musclesolve._util.compiled_code import compiled, compiled_in_order, int64

from musclesolve.sharing.kernel.constants import (  # isort: skip
    COMPLIANCE, DEPENDENT, DIAGONAL, EMPTY_PIVOT, EMPTY_ROW, INVERSE, LANES, MIDDLE, POOR, RIDGE,
)  # fmt: skip

ZERO = int64(0)


@compiled
def add_pull(matrix: Any, weight: Any, first: int, last: int, n: int, w: Any, at: int) -> None:
    """Add the rows from `first` to before `last`, each with its weight, to the row of w."""
    out, r = w[at : at + n], first
    while r + 4 <= last:
        w0, w1, w2, w3 = weight[r], weight[r + 1], weight[r + 2], weight[r + 3]
        m0, m1, m2, m3 = matrix[r], matrix[r + 1], matrix[r + 2], matrix[r + 3]
        for i in range(n):
            out[i] += w0 * m0[i] + w1 * m1[i] + w2 * m2[i] + w3 * m3[i]
        r += 4
    while r < last:
        w0, m0 = weight[r], matrix[r]
        for i in range(n):
            out[i] += w0 * m0[i]
        r += 1


@compiled
def dots(matrix: Any, x: Any, rows: int, n: int, out: Any) -> None:
    """Multiply the first rows of the matrix by x, into `out`."""
    for r in range(rows):
        total, row = 0.0, matrix[r]
        for i in range(n):
            total += row[i] * x[i]
        out[r] = total


@compiled
def schur_of(matrix: Any, w: Any, inverse: int, row: int, rows: int, n: int, out: Any) -> None:
    """Compute the lower half of matrix diag(inverse) matrix^T, (R, R); `row` is a row of w for work."""
    scale, here = w[inverse : inverse + n], w[row : row + n]
    for j in range(rows):
        mine = matrix[j]
        for i in range(n):
            here[i] = mine[i] * scale[i]
        dots(matrix, here, j + 1, n, out[j])


@compiled_in_order
def factorize(matrix: Any, scale: Any, size: int) -> None:
    """Replace the lower half of a matrix, scaled to unit diagonal, by its Cholesky factor; pivots are inverted."""
    largest = 0.0
    for j in range(size):
        largest = max(largest, matrix[j, j])
    for j in range(size):
        diagonal = matrix[j, j]
        # a row without muscles: any pivot is possible; a small one shows an unreachable moment at once
        if diagonal <= EMPTY_ROW * largest:
            diagonal = EMPTY_PIVOT * largest if largest > 0 else 1.0
        scale[j] = 1.0 / np.sqrt(diagonal)
    for j in range(size):
        for i in range(j + 1):
            matrix[j, i] *= scale[j] * scale[i]
    for j in range(size):
        pivot = matrix[j, j]
        for i in range(j):
            pivot -= matrix[j, i] * matrix[j, i]
        if pivot < 0.0:  # not so for NaN
            pivot = 0.0
        inverse = 1.0 / np.sqrt(pivot + RIDGE)
        matrix[j, j] = inverse
        for r in range(j + 1, size):
            entry = matrix[r, j]
            for i in range(j):
                entry -= matrix[r, i] * matrix[j, i]
            matrix[r, j] = entry * inverse


@compiled
def factorize_system(matrix: Any, rows: int, n: int, w: Any, s: Any, factor: Any, work: Any) -> None:
    """Factorize matrix H matrix^T + C, (R, R), for H in INVERSE and C in COMPLIANCE; DIAGONAL receives the scale.

    Rows that nearly depend on each other lose half of their digits in products of rows, and none where Gram-Schmidt
    makes them orthogonal, in `work` (R, n).
    """
    schur_of(matrix, w, INVERSE, MIDDLE, rows, n, factor)
    largest, soft = 0.0, False
    for r in range(rows):
        factor[r, r] += s[COMPLIANCE, r]
        soft = soft or s[COMPLIANCE, r] > 0.0
    factorize(factor, s[DIAGONAL], rows)
    for r in range(rows):
        largest = max(largest, factor[r, r])
    for j in range(rows if largest > POOR and not soft else 0):
        here = work[j]
        for i in range(n):
            here[i] = matrix[j, i] * s[DIAGONAL, j] * np.sqrt(w[INVERSE + i])
        for r in range(j):
            dots(work[r:], here, 1, n, factor[j, r:])
            for i in range(n):
                here[i] -= factor[j, r] * work[r, i]
        dots(work[j:], here, 1, n, factor[j, j:])
        factor[j, j] = 1.0 / np.sqrt(factor[j, j] if factor[j, j] > DEPENDENT else RIDGE)
        for i in range(n):
            here[i] *= factor[j, j]


@compiled_in_order
def substitute(factor: Any, scale: Any, size: int, x: Any) -> None:
    """Solve a system with the factors of `factorize`; x is replaced by the solution."""
    for j in range(size):
        entry = x[j] * scale[j]
        for i in range(j):
            entry -= factor[j, i] * x[i]
        x[j] = entry * factor[j, j]
    for j in range(size - 1, -1, -1):
        entry = x[j]
        for i in range(j + 1, size):
            entry -= factor[i, j] * x[i]
        x[j] = entry * factor[j, j]
    for j in range(size):
        x[j] *= scale[j]


@compiled
def largest_of(w: Any, at: int, n: int, padded: int, least: float) -> float:
    """Return the largest number of a row of w, at least `least`; padding is overwritten, NaN does not count."""
    row = w[at : at + padded]
    for i in range(n, padded):
        row[i] = least
    top = row[:LANES]
    for first in range(LANES, padded, LANES):
        part = row[first : first + LANES]
        for i in range(LANES):
            top[i] = max(top[i], part[i])
    m0, m1, m2, m3 = least, least, least, least
    for i in range(0, LANES, 4):
        m0, m1, m2, m3 = max(m0, top[i]), max(m1, top[i + 1]), max(m2, top[i + 2]), max(m3, top[i + 3])
    return max(max(m0, m1), max(m2, m3))
