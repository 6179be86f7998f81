"""The Newton system of a motion, compiled: a chain in time for each muscle, coupled by the moments of each frame.

For the changes dc_i (T) of the spline coefficients of each muscle and dlambda (T, m) of the multipliers it is

    H_i dc_i - Z^T A_i^T dlambda = r_i,      sum_i A_i Z dc_i + C dlambda = b,

with H_i a symmetric band of half-width 3 (three coefficients count in a frame, and activation limits join two frames),
A_i the moments of a muscle by its tendon coordinate and C the compliance of reserves. Eliminating dc gives

    S dlambda = b - sum_i A_i Z H_i^-1 r_i,      S = sum_i A_i (Z H_i^-1 Z^T) A_i^T + C.

Each H_i is factored as a band (L D L^T). S couples all frames, but its blocks decay within some tens of frames. Blocks
up to a reach are computed exactly, from the entries of H_i^-1 next to the diagonal, and factored as a band
(`NewtonSystem`). They precondition conjugate gradients with the whole S, whose products cost a pass through the
chains. The total work is proportional to the number of frames.

A band holds H[j, j - p] in row j and column p, p = 0 ... 3; factors hold L likewise, with D for its unit diagonal.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import types

from musclesolve._util.compiled_code import compiled, on_disk, tuple_of, types_of

HALF = 3
"""Half-width of the band of a chain."""


class Basis(NamedTuple):
    """The arrays of `TimeBasis`: first (T,), value and rate (T, 3)."""

    first: Any
    value: Any
    rate: Any


class Nodes(NamedTuple):
    """Second derivatives of the Lagrangian of n muscles in T frames, (n, T) each.

    zz, zy, yy: by the tendon coordinate and by its rate times the time between frames, the activation eliminated, and
    without the limits of activation; by_z, by_y: changes of the activation with the coordinate and with this rate;
    limit: second derivative of the limits by the activation of a frame; beside: by the activations of a frame and of
    the next one.
    """

    zz: Any
    zy: Any
    yy: Any
    by_z: Any
    by_y: Any
    limit: Any
    beside: Any


GROWTH = 4.0
MOST_GROWTHS = 20
LEAST_SHARE = 1e-2
LEAST_PIVOT, ROUND_OFF = 1e-15, 1e-13


@compiled
def assemble_chain(basis: Basis, nodes: Nodes, i: int, share: float, band: Any) -> None:
    """The band (T, 4) of H of muscle i: sums over frames of second derivatives times the rows of the basis.

    This share of the negative eigenvalue of a frame is removed: the sum is convex for share 1.
    """
    frames = basis.first.size
    band[:, :] = 0.0
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
    """Add the terms that couple the activations of frames t and t + 1."""
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
    """The factors L and D with L D L^T = H + shift diag(H), (T, 4), in place.

    Returns the number of negative pivots, -1 if one vanishes.
    """
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
    """Factors of H, made convex as far as necessary; returns the removed share, inf if all attempts fail.

    before: the share in the previous step; trial shares grow fourfold up to 1; then increasing multiples of the
    diagonal are added.
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
    """Replace x (T,) by (L D L^T)^-1 x."""
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
    (Takahashi et al. 1973): entries within a band depend only on entries within the band.
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


@compiled
def response(basis: Basis, factor: Any, i: int, inverse: Any, gram: Any) -> None:
    """The response Z H^-1 Z^T of muscle i between frames t and t + q, into gram (T, reach + 1, n)."""
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
    band[:, :] = 0.0
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


def factor(basis, nodes, share, band, out):
    """Factors (n, T, 4) of all chains; share (n,): shares of the steps before, then of this one. band: (T, 4)."""
    for i in range(out.shape[0]):
        share[i] = factor_convex(basis, nodes, i, share[i], band, out[i])


def factor_as_is(basis, nodes, band, out):
    """Factors of all chains unchanged, convex or not; returns how many pivots are negative, -1 if one vanishes."""
    negative = 0
    for i in range(out.shape[0]):
        assemble_chain(basis, nodes, i, 0.0, band)
        found, shift = factor_chain(band, 0.0, out[i]), ROUND_OFF
        while found < 0 and shift < 1e4 * ROUND_OFF:
            found, shift = factor_chain(band, shift, out[i]), GROWTH * shift
        if found < 0:
            return -1
        negative += found
    return negative


def couple(basis, factors, lever, compliance, inverse, gram, band, work):
    """The band of S for levers (T, m, n) by the tendon coordinate."""
    for i in range(factors.shape[0]):
        response(basis, factors[i], i, inverse, gram)
    blocks(lever, compliance, gram, band, work)


def solve(factors, x):
    """Replace x (n, T) by H_i^-1 x_i of all muscles."""
    for i in range(factors.shape[0]):
        solve_chain(factors[i], x[i])


_BASIS = tuple_of(Basis, "i1 r2 r2")
_NODES = types.NamedUniTuple(types_of("r2")[0], len(Nodes._fields), Nodes)

_on_disk = on_disk(
    "compiling the kernel for whole motions for this machine, once (some five seconds)", Path(__file__)
)
FACTOR = _on_disk(factor, _BASIS, _NODES, "r1 r2 r3")
FACTOR_AS_IS = _on_disk(factor_as_is, _BASIS, _NODES, "r2 r3")
COUPLE = _on_disk(couple, _BASIS, "r3 r3 r2 r2 r3 r2 r2")
SOLVE = _on_disk(solve, "r3 r2")
