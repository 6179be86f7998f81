"""The chain of one muscle: its matrix as a band, factors L D L^T, solutions, and the inverse next to the diagonal.

A band holds H[j, j - p] in row j and column p, p = 0 ... 3; factors hold L likewise, with D for its unit diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from musclesolve.trajectory.kernel.arrays import HALF, Basis, Nodes
from musclesolve.trajectory.kernel.compile import compiled

GROWTH = 4.0
MOST_GROWTHS = 20
LEAST_SHARE = 1e-2
LEAST_PIVOT, ROUND_OFF = 1e-15, 1e-13


@compiled
def assemble_chain(basis: Basis, nodes: Nodes, i: int, share: float, band: Any) -> None:
    """H of muscle i: sums over frames of second derivatives times the rows of the basis.

    Of the negative eigenvalue of a frame this share is left out: what is left is convex for share 1.
    """
    frames = basis.first.size
    for j in range(frames):
        for p in range(HALF + 1):
            band[j, p] = 0.0
    for t in range(frames):
        f, limit = basis.first[t], nodes.limit[i, t]
        g, h = nodes.by_z[i, t], nodes.by_y[i, t]
        zz, zy, yy = convex(nodes.zz[i, t], nodes.zy[i, t], nodes.yy[i, t], share)
        zz, zy, yy = zz + limit * g * g, zy + limit * g * h, yy + limit * h * h
        for u in range(3):
            zu, yu = basis.value[t, u], basis.rate[t, u]
            for v in range(u + 1):
                zv, yv = basis.value[t, v], basis.rate[t, v]
                band[f + u, u - v] += zz * zu * zv + zy * (zu * yv + yu * zv) + yy * yu * yv
        if t + 1 < frames:
            _add_beside(basis, nodes, i, t, band)


@compiled
def convex(zz: float, zy: float, yy: float, share: float) -> tuple[float, float, float]:
    """The matrix (zz, zy; zy, yy) with its negative eigenvalues times 1 - share."""
    if share == 0.0:
        return zz, zy, yy
    middle, half = 0.5 * (zz + yy), 0.5 * (zz - yy)
    radius = np.sqrt(half * half + zy * zy)
    low, high = middle - radius, middle + radius
    if low >= 0.0:
        return zz, zy, yy
    if high <= 0.0:
        return (1.0 - share) * zz, (1.0 - share) * zy, (1.0 - share) * yy
    more = -share * low / (2.0 * radius)  # of high I - A, which is (high - low) (I - P)
    return zz + more * (high - zz), zy - more * zy, yy + more * (high - yy)


@compiled
def _add_beside(basis: Basis, nodes: Nodes, i: int, t: int, band: Any) -> None:
    """What joins the activations of frames t and t + 1."""
    beside = nodes.beside[i, t]
    if beside == 0.0:
        return
    f, g = basis.first[t], basis.first[t + 1]
    for u in range(3):
        here = beside * (nodes.by_z[i, t] * basis.value[t, u] + nodes.by_y[i, t] * basis.rate[t, u])
        for v in range(3):
            there = nodes.by_z[i, t + 1] * basis.value[t + 1, v] + nodes.by_y[i, t + 1] * basis.rate[t + 1, v]
            row, column = f + u, g + v
            if row == column:
                band[row, 0] += 2.0 * here * there
            else:
                band[max(row, column), abs(row - column)] += here * there


@compiled
def factor_chain(band: Any, shift: float, out: Any) -> int:
    """L and D with L D L^T = H + shift diag(H): the number of negative pivots, -1 where one vanishes."""
    negative = 0
    for j in range(band.shape[0]):
        pivot = band[j, 0] + shift * abs(band[j, 0])
        for p in range(min(HALF, j), 0, -1):
            total = band[j, p]
            for q in range(p + 1, min(HALF, j) + 1):
                total -= out[j, q] * out[j - q, 0] * out[j - p, q - p]
            out[j, p] = total / out[j - p, 0]
            pivot -= out[j, p] * total
        if not abs(pivot) > LEAST_PIVOT * abs(band[j, 0]):
            return -1
        if pivot < 0.0:
            negative += 1
        out[j, 0] = pivot
    return negative


@compiled
def factor_convex(basis: Basis, nodes: Nodes, i: int, before: float, band: Any, out: Any) -> float:
    """Factors of H, made convex as far as it needs; returns the share that was left out, inf where nothing helps.

    before: the share of the step before; what is tried grows fourfold up to 1; then more and more of
    the diagonal is added.
    """
    assemble_chain(basis, nodes, i, 0.0, band)
    if factor_chain(band, 0.0, out) == 0 or factor_chain(band, ROUND_OFF, out) == 0:
        return 0.0
    share = min(max(LEAST_SHARE, before / (GROWTH * GROWTH)), 1.0)
    while True:
        assemble_chain(basis, nodes, i, share, band)
        if factor_chain(band, ROUND_OFF, out) == 0:
            return share
        if share >= 1.0:
            break
        share = min(share * GROWTH, 1.0)
    shift = ROUND_OFF
    for _ in range(MOST_GROWTHS):
        shift *= GROWTH
        if factor_chain(band, shift, out) == 0:
            return 1.0
    return np.inf


@compiled
def solve_chain(factor: Any, x: Any) -> None:
    """X = (L D L^T)^-1 x, in place."""
    frames = x.size
    for j in range(frames):
        total = x[j]
        for p in range(1, min(HALF, j) + 1):
            total -= factor[j, p] * x[j - p]
        x[j] = total
    for j in range(frames - 1, -1, -1):
        total = x[j] / factor[j, 0]
        for p in range(1, min(HALF, frames - 1 - j) + 1):
            total -= factor[j + p, p] * x[j + p]
        x[j] = total


@compiled
def inverse_beside(factor: Any, inverse: Any) -> None:
    """The entries (j, j + q) of X = (L D L^T)^-1 for q up to the width of `inverse` (T, width), from the last row up.

    From L^T X = D^-1 L^-1, whose upper triangle is the diagonal 1 / d_j:  X_jk = [j = k] / d_j - sum_p L_j+p,j X_j+p,k
    (Takahashi et al. 1973): entries within a band need only entries within it.
    """
    frames, width = inverse.shape
    for j in range(frames - 1, -1, -1):
        last = min(width - 1, frames - 1 - j)
        for q in range(last, -1, -1):
            total = 1.0 / factor[j, 0] if q == 0 else 0.0
            for p in range(1, min(HALF, frames - 1 - j) + 1):
                low, high = min(j + p, j + q), max(j + p, j + q)
                total -= factor[j + p, p] * inverse[low, high - low]
            inverse[j, q] = total
