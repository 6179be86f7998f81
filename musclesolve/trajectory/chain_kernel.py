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
Solutions and blocks run over time with all muscles side by side (lanes), in vector registers.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import types

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.compiled_code import compiled, on_disk, tuple_of, types_of

HALF = 3
"""Half-width of the band of a chain."""


class Basis(NamedTuple):
    """The arrays of `TimeBasis`: first (T,), value and rate (T, 3)."""

    first: Indices
    value: Array
    rate: Array


class Nodes(NamedTuple):
    """Second derivatives of the Lagrangian of n muscles in T frames, (n, T) each.

    zz, zy, yy: by the tendon coordinate and by its rate times the time between frames, the activation eliminated, and
    without the limits of activation; by_z, by_y: changes of the activation with the coordinate and with this rate;
    limit: second derivative of the limits by the activation of a frame; beside: by the activations of a frame and of
    the next one.
    """

    zz: Array
    zy: Array
    yy: Array
    by_z: Array
    by_y: Array
    limit: Array
    beside: Array


GROWTH = 4.0
MOST_GROWTHS = 20
LEAST_SHARE = 1e-2
LEAST_PIVOT, ROUND_OFF = 1e-15, 1e-13


@compiled
def assemble_chain(basis: Basis, nodes: Nodes, i: int, share: float, band: Array) -> None:
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
def _add_beside(basis: Basis, nodes: Nodes, i: int, t: int, band: Array) -> None:
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
def factor_chain(band: Array, shift: float, out: Array) -> int:
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
def factor_convex(basis: Basis, nodes: Nodes, i: int, before: float, band: Array, out: Array) -> float:
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
def solve_chains(lanes: Array, x: Array) -> None:
    """Replace x (T, n) by (L D L^T)^-1 x of all muscles, side by side."""
    frames, muscles = x.shape
    for j in range(frames):
        here, one, two, three = x[j], x[max(j - 1, 0)], x[max(j - 2, 0)], x[max(j - 3, 0)]
        l1, l2, l3 = lanes[j, 1], lanes[j, 2], lanes[j, 3]
        for i in range(muscles):
            here[i] -= l1[i] * one[i] + l2[i] * two[i] + l3[i] * three[i]
    last = frames - 1
    for j in range(last, -1, -1):
        here, one, two, three = x[j], x[min(j + 1, last)], x[min(j + 2, last)], x[min(j + 3, last)]
        inverse, l1, l2, l3 = lanes[j, 0], lanes[j + 1, 1], lanes[j + 2, 2], lanes[j + 3, 3]
        for i in range(muscles):
            here[i] = here[i] * inverse[i] - (l1[i] * one[i] + l2[i] * two[i] + l3[i] * three[i])


@compiled
def inverse_row(lanes: Array, j: int, width: int, inverse: Array) -> None:
    """The entries (j, j + q), q < width, of X = (L D L^T)^-1 of all muscles, from the three rows below.

    From L^T X = D^-1 L^-1, whose upper triangle is the diagonal 1 / d_j:  X_jk = [j = k] / d_j - sum_p L_j+p,j X_j+p,k
    (Takahashi et al. 1973): entries within a band depend only on entries within the band. Row j stands in
    inverse[j % 4]; rows below the last one are zero.
    """
    muscles = inverse.shape[2]
    l1, l2, l3 = lanes[j + 1, 1], lanes[j + 2, 2], lanes[j + 3, 3]
    for q in range(width - 1, -1, -1):
        one = inverse[(j + min(1, q)) % 4, abs(1 - q)]
        two = inverse[(j + min(2, q)) % 4, abs(2 - q)]
        three = inverse[(j + min(3, q)) % 4, abs(3 - q)]
        here = inverse[j % 4, q]
        for i in range(muscles):
            here[i] = -(l1[i] * one[i] + l2[i] * two[i] + l3[i] * three[i])
    here, reciprocal = inverse[j % 4, 0], lanes[j, 0]
    for i in range(muscles):
        here[i] += reciprocal[i]


@compiled
def blocks_of_frame(
    basis: Basis, lever: Array, t: int, reach: int, inverse: Array, row: Array, work: Array, band: Array
) -> None:
    """The blocks of S between frame t and the frames t + q, into the columns of frame t of the band.

    row (reach + 3, n): the row of Z H^-1 of frame t; work (m + 1, n).
    """
    frames, moments, muscles = lever.shape
    f = basis.first[t]
    b0, b1, b2 = basis.value[t, 0], basis.value[t, 1], basis.value[t, 2]
    for c in range(reach + 3):
        x0, x1, x2 = (
            inverse[f % 4, c],
            inverse[(f + min(1, c)) % 4, abs(c - 1)],
            inverse[(f + min(2, c)) % 4, abs(c - 2)],
        )
        out = row[c]
        for i in range(muscles):
            out[i] = b0 * x0[i] + b1 * x1[i] + b2 * x2[i]
    gram = work[moments]
    for q in range(min(reach, frames - 1 - t) + 1):
        c = basis.first[t + q] - f
        b0, b1, b2 = basis.value[t + q, 0], basis.value[t + q, 1], basis.value[t + q, 2]
        r0, r1, r2 = row[c], row[c + 1], row[c + 2]
        for i in range(muscles):
            gram[i] = b0 * r0[i] + b1 * r1[i] + b2 * r2[i]
        for k in range(moments):
            arm, out = lever[t, k], work[k]
            for i in range(muscles):
                out[i] = gram[i] * arm[i]
        for k in range(moments):
            one, column = work[k], band[t * moments + k]
            for other in range(k if q == 0 else 0, moments):
                arm, total = lever[t + q, other], 0.0
                for i in range(muscles):
                    total += one[i] * arm[i]
                column[q * moments + other - k] = total


@compiled
def pull_back(basis: Basis, lever: Array, multiplier: Array, out: Array, row: Array) -> None:
    """Z^T A_i^T x of all muscles, (T, n), for multipliers x (T, m); row: (n,)."""
    frames, moments, muscles = lever.shape
    out[:, :] = 0.0
    for t in range(frames):
        row[:] = 0.0
        for k in range(moments):
            arm, x = lever[t, k], multiplier[t, k]
            for i in range(muscles):
                row[i] += x * arm[i]
        f = basis.first[t]
        o0, o1, o2 = out[f], out[f + 1], out[f + 2]
        b0, b1, b2 = basis.value[t, 0], basis.value[t, 1], basis.value[t, 2]
        for i in range(muscles):
            o0[i] += b0 * row[i]
            o1[i] += b1 * row[i]
            o2[i] += b2 * row[i]


@compiled
def moments_of(basis: Basis, lever: Array, c: Array, out: Array, row: Array) -> None:
    """The sum of A_i Z c_i, (T, m), for coefficients c (T, n); row: (n,)."""
    frames, moments, muscles = lever.shape
    for t in range(frames):
        f = basis.first[t]
        c0, c1, c2 = c[f], c[f + 1], c[f + 2]
        b0, b1, b2 = basis.value[t, 0], basis.value[t, 1], basis.value[t, 2]
        for i in range(muscles):
            row[i] = b0 * c0[i] + b1 * c1[i] + b2 * c2[i]
        for k in range(moments):
            arm, total = lever[t, k], 0.0
            for i in range(muscles):
                total += arm[i] * row[i]
            out[t, k] = total


def factor(basis, nodes, share, band, out):
    """Factors (n, T, 4) of all chains; share (n,): shares of the steps before, then of this one. band: (T, 4)."""
    for i in range(out.shape[0]):
        share[i] = factor_convex(basis, nodes, i, share[i], band, out[i])


def factor_as_is(basis, nodes, band, out):
    """Factors of all chains unchanged, convex or not; returns how many pivots are negative, -1 if one vanishes."""
    negative = 0
    for i in range(out.shape[0]):
        assemble_chain(basis, nodes, i, 0.0, band)
        count, shift = factor_chain(band, 0.0, out[i]), ROUND_OFF
        while count < 0 and shift < 1e4 * ROUND_OFF:
            count, shift = factor_chain(band, shift, out[i]), GROWTH * shift
        if count < 0:
            return -1
        negative += count
    return negative


def side_by_side(factors, lanes):
    """Factors (n, T, 4) as lanes (T + 3, 4, n): 1 / D and L, with zeros beyond the first and the last frame."""
    muscles, frames, width = factors.shape
    lanes[frames:] = 0.0
    for j in range(frames):
        for p in range(width):
            for i in range(muscles):
                lanes[j, p, i] = 1.0 / factors[i, j, 0] if p == 0 else factors[i, j, p] if p <= j else 0.0


def couple(basis, lanes, lever, compliance, inverse, row, work, band):
    """The columns (T m, m (reach + 1)) of the lower band of S, for levers (T, m, n) by the tendon coordinate.

    inverse (4, reach + 4, n), row (reach + 3, n), work (m + 1, n): for work.
    """
    frames, moments, _ = lever.shape
    reach = row.shape[0] - 3
    band[:, :] = 0.0
    inverse[:, :, :] = 0.0
    t = frames - 1
    for j in range(frames - 1, -1, -1):
        inverse_row(lanes, j, inverse.shape[1], inverse)
        while t >= 0 and basis.first[t] == j:
            blocks_of_frame(basis, lever, t, reach, inverse, row, work, band)
            for k in range(moments):
                band[t * moments + k, 0] += compliance[t, k]
            t -= 1


def scale(columns, factor):
    """Multiply the entry (i, j) of a lower band, in columns (N, width), by the factors (N,) of i and j."""
    size = columns.shape[0]
    for j in range(size):
        column, below = columns[j], factor[j:]
        for p in range(min(columns.shape[1], size - j)):
            column[p] *= factor[j] * below[p]


def product(basis, lanes, lever, compliance, x, c, row, out):
    """The product S x, (T, m), of x (T, m); c (T, n): H^-1 Z^T A^T x. row: (n,)."""
    pull_back(basis, lever, x, c, row)
    solve_chains(lanes, c)
    moments_of(basis, lever, c, out, row)
    for t in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[t, k] += compliance[t, k] * x[t, k]


def solve(basis, lanes, lever, x, row, moments):
    """Replace x (T, n) by H_i^-1 x_i of all muscles; moments (T, m): the sum of A_i Z x_i."""
    solve_chains(lanes, x)
    moments_of(basis, lever, x, moments, row)


BASIS = tuple_of(Basis, "i1 r2 r2")
MESSAGE = "compiling the kernel for whole motions for this machine, once (some five seconds)"
_NODES = types.NamedUniTuple(types_of("r2")[0], len(Nodes._fields), Nodes)

_on_disk = on_disk(MESSAGE, Path(__file__))
FACTOR = _on_disk(factor, BASIS, _NODES, "r1 r2 r3")
FACTOR_AS_IS = _on_disk(factor_as_is, BASIS, _NODES, "r2 r3")
SIDE_BY_SIDE = _on_disk(side_by_side, "r3 r3")
COUPLE = _on_disk(couple, BASIS, "r3 r3 r2 r3 r2 r2 r2")
SCALE = _on_disk(scale, "r2 r1")
PRODUCT = _on_disk(product, BASIS, "r3 r3 r2 r2 r2 r1 r2")
SOLVE = _on_disk(solve, BASIS, "r3 r3 r2 r1 r2")
