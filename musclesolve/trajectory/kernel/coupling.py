"""What the chains of all muscles do to the moments: blocks of S within a reach, and products with all of S."""

from __future__ import annotations

from typing import Any

from musclesolve.trajectory.kernel.arrays import Basis
from musclesolve.trajectory.kernel.chain import inverse_beside, solve_chain
from musclesolve.trajectory.kernel.compile import compiled


@compiled
def response(basis: Basis, factor: Any, i: int, inverse: Any, gram: Any) -> None:
    """Z H^-1 Z^T of muscle i between frames t and t + q, into gram (T, reach + 1, n)."""
    inverse_beside(factor, inverse)
    frames, reach = gram.shape[0], gram.shape[1] - 1
    for t in range(frames):
        for q in range(min(reach, frames - 1 - t) + 1):
            f, g = basis.first[t], basis.first[t + q]
            total = 0.0
            for u in range(3):
                for v in range(3):
                    low, high = min(f + u, g + v), max(f + u, g + v)
                    total += basis.value[t, u] * basis.value[t + q, v] * inverse[low, high - low]
            gram[t, q, i] = total


@compiled
def blocks(lever: Any, compliance: Any, gram: Any, band: Any, work: Any) -> None:
    """The lower band of S, (m (reach + 1), T m): entry (i, j) in row i - j of column j. work: (m, n)."""
    frames, moments, muscles = lever.shape
    for row in range(band.shape[0]):
        for column in range(band.shape[1]):
            band[row, column] = 0.0
    for t in range(frames):
        for q in range(min(gram.shape[1], frames - t)):
            for k in range(moments):
                for i in range(muscles):
                    work[k, i] = gram[t, q, i] * lever[t, k, i]
            for k in range(moments):
                for other in range(moments):
                    below = (t + q) * moments + other - t * moments - k
                    if below >= 0:
                        total = 0.0
                        for i in range(muscles):
                            total += work[k, i] * lever[t + q, other, i]
                        band[below, t * moments + k] = total
        for k in range(moments):
            band[0, t * moments + k] += compliance[t, k]


@compiled
def product(basis: Basis, factors: Any, lever: Any, compliance: Any, x: Any, out: Any, work: Any) -> None:
    """S x for x (T, m); lever (n, T, m) here; work: (T,)."""
    muscles, frames, moments = lever.shape
    for t in range(frames):
        for k in range(moments):
            out[t, k] = compliance[t, k] * x[t, k]
    for i in range(muscles):
        spread(basis, lever[i], x, work)
        solve_chain(factors[i], work)
        collect(basis, lever[i], work, out)


@compiled
def spread(basis: Basis, lever: Any, x: Any, out: Any) -> None:
    """Z^T A^T x of one muscle, (T,)."""
    frames, moments = x.shape
    for t in range(frames):
        out[t] = 0.0
    for t in range(frames):
        total = 0.0
        for k in range(moments):
            total += lever[t, k] * x[t, k]
        for u in range(3):
            out[basis.first[t] + u] += basis.value[t, u] * total


@compiled
def collect(basis: Basis, lever: Any, c: Any, out: Any) -> None:
    """Out += A Z c of one muscle, (T, m)."""
    frames, moments = out.shape
    for t in range(frames):
        total = 0.0
        for u in range(3):
            total += basis.value[t, u] * c[basis.first[t] + u]
        for k in range(moments):
            out[t, k] += lever[t, k] * total
