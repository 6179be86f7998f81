"""The Newton system of frames that are linked in time, each muscle with itself in the next frame, compiled.

For changes x_t (n) of the activations of T frames, with the moments of a frame as rows A (R, n),

    minimize    sum_t 1/2 (x_t - mu_t)^T V_t^-1 (x_t - mu_t) + sum_t 1/2 l_t^T U_t^-1 l_t
    subject to  A_t x_t + C_t lambda_t = b_t,      l_t = x_t+1 - e_t x_t - g_t,

with diagonal V and U: the inverse stiffness of a muscle and of its link to the next frame. V = 0 holds a muscle at mu,
U = 0 makes a link rigid, U = inf takes it away. This is the smoothing problem of a random walk x_t+1 = e x_t + g with
the variances U, of observations mu with V, and b with C (Kalman 1960; Rauch, Tung and Striebel 1965). Forward, from the
estimate a+ of frame t - 1 from all frames so far, with the covariance Q+:

    M = e Q+ e + U,  N = M + V          w = N^-1 (mu - e a+ - g)       the force in the link, from these frames alone
    Q = V - V N^-1 V                    a = mu - V w
    S = A Q A^T + C                     lambda = S^-1 (b - A a)
    Q+ = Q - Q A^T S^-1 A Q             a+ = a + Q A^T lambda

Backward, with the force s with which later frames pull (s = 0 at the last one):

    lambda <- lambda - S^-1 A Q s,   q = s + A^T lambda,   z = w + N^-1 V q,   x = mu + V (q - z),   s <- e z

z is the force U^-1 l in the link from the frame before (Bryson and Frazier 1963). No inverse of V, U or Q occurs: an
active bound or limit is a zero. Q+ loses digits where C is small beside A Q A^T, as of stiff reserves; the caller
solves once more for what is missed (`LinkedSystem`). Only muscles that moved in the frame before are coupled in N,
the others have a diagonal entry. A frame takes n^3 / 2 products for the inverse of N, and 2 n^2 for a solution.
"""

from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.compiled_code import compiled, int64, on_disk
from musclesolve.sharing.kernel.linear_algebra import add_pull, dots, factorize, substitute

ZERO, WIDTH = int64(0), int64(4)
LEAST_PIVOT = 1e-14
"""Least pivot of N, as a share of its diagonal: less is round-off of muscles that a rigid link determines twice."""


@compiled
def invert_four(matrix: Any, first: int, block: Any, least: Any) -> None:
    """The inverse of four rows and columns of a symmetric matrix, whose lower half is given, into `block` (4, 4)."""
    for i in range(WIDTH):
        for j in range(i + 1):
            block[i, j] = block[j, i] = matrix[first + i, first + j]
    for k in range(WIDTH):
        pivot = block[k, k]
        inverse = 1.0 / pivot if pivot > least[first + k] else 0.0
        for i in range(WIDTH):
            if i != k:
                factor = block[i, k] * inverse
                for j in range(WIDTH):
                    if j != k:
                        block[i, j] -= factor * block[k, j]
        for i in range(WIDTH):
            block[i, k] = -block[i, k] * inverse
        for j in range(WIDTH):
            if j != k:
                block[k, j] *= inverse
        block[k, k] = inverse


@compiled
def invert(matrix: Any, count: int, columns: Any, block: Any, least: Any) -> None:
    """Replace a symmetric positive definite matrix, its lower half given, by its inverse, both halves.

    Gauss-Jordan steps, each of four rows and columns; the last ones are filled up with ones on the diagonal. A row
    whose pivot is only round-off becomes zero.
    """
    size = (count + WIDTH - 1) // WIDTH * WIDTH
    for i in range(count, size):
        for j in range(i):
            matrix[i, j] = 0.0
        matrix[i, i] = 1.0
    for i in range(size):
        least[i] = LEAST_PIVOT * matrix[i, i]
    c0, c1, c2, c3 = columns[0], columns[1], columns[2], columns[3]
    for k in range(0, size, WIDTH):
        invert_four(matrix, k, block, least)
        for w in range(WIDTH):
            row, column = matrix[k + w], columns[w]
            for i in range(k):
                column[i] = row[i]
            for i in range(k, k + WIDTH):
                column[i] = 0.0
            for i in range(k + WIDTH, size):
                column[i] = matrix[i, k + w]
        for i in range(size):
            out, a0, a1, a2, a3 = matrix[i], c0[i], c1[i], c2[i], c3[i]
            f0 = a0 * block[0, 0] + a1 * block[1, 0] + a2 * block[2, 0] + a3 * block[3, 0]
            f1 = a0 * block[0, 1] + a1 * block[1, 1] + a2 * block[2, 1] + a3 * block[3, 1]
            f2 = a0 * block[0, 2] + a1 * block[1, 2] + a2 * block[2, 2] + a3 * block[3, 2]
            f3 = a0 * block[0, 3] + a1 * block[1, 3] + a2 * block[2, 3] + a3 * block[3, 3]
            for j in range(i + 1):
                out[j] -= f0 * c0[j] + f1 * c1[j] + f2 * c2[j] + f3 * c3[j]
            if i >= k + WIDTH:
                out[k], out[k + 1], out[k + 2], out[k + 3] = f0, f1, f2, f3
            elif i < k:
                matrix[k, i], matrix[k + 1, i], matrix[k + 2, i], matrix[k + 3, i] = f0, f1, f2, f3
        for i in range(WIDTH):
            for j in range(i + 1):
                matrix[k + i, k + j] = -block[i, j]
    for i in range(count):
        row = matrix[i]
        for j in range(i + 1):
            row[j] = -row[j]
        for j in range(i):
            matrix[j, i] = row[j]


@compiled
def find_moving(variance: Any, link: Any, moving: Any) -> int:
    """List the muscles that moved in the frame before and are linked to it; their number."""
    count: Any = ZERO
    for i in range(variance.size):
        if variance[i] > 0.0 and link[i] < np.inf:
            moving[count] = i
            count += 1
    return count


def factor(variance, link, share, matrix, compliance, moving, counts, inverse, alone, gain, schur, scale,
           q, columns, block, least, along):  # fmt: skip
    """Factor the system of V (T, n), U and e (T - 1, n), A (T, R, n) and C (T, R).

    Written: `moving` (T, n), the muscles coupled in N, and their `counts` (T,); `inverse` (T, n', n'), N^-1 of these;
    `alone` (T, n), N^-1 of the others; `gain` (T, R, n), A Q; the Cholesky factors of S, `schur` (T, R, R), `scale`
    (T, R). For work: q (n, n), columns (4, n'), block (4, 4), least (n',), along (R, n), for n' = n
    rounded up to a multiple of four.
    """
    frames, rows, n = matrix.shape
    for t in range(frames):
        here, v, last = moving[t], variance[t], max(t - 1, 0)
        u, e, N = link[last], share[last], inverse[t]
        count = find_moving(variance[last], u, here) if t > 0 else ZERO
        counts[t] = count
        # N: q is Q+ of the frame before
        for i in range(n):
            total = u[i] + v[i] if t > 0 else 0.0
            alone[t, i] = 1.0 / total if total > 0.0 else 0.0
        for a in range(count):
            i = here[a]
            for b in range(a + 1):
                N[a, b] = e[i] * q[i, here[b]] * e[here[b]]
            N[a, a] += u[i] + v[i]
            alone[t, i] = 0.0
        invert(N, count, columns, block, least)
        # Q
        for i in range(n):
            row = q[i]
            for j in range(i):
                row[j] = 0.0
            row[i] = v[i] if t == 0 or not u[i] < np.inf else v[i] * u[i] * alone[t, i]
        for a in range(count):
            i = here[a]
            for b in range(a):
                q[i, here[b]] = -v[i] * N[a, b] * v[here[b]]
            q[i, i] = max(v[i] - v[i] * N[a, a] * v[i], 0.0)
        for i in range(n):
            for j in range(i):
                q[j, i] = q[i, j]
        # S and Q+
        for r in range(rows):
            out, row = gain[t, r], matrix[t, r]
            for i in range(n):
                out[i] = 0.0
            add_pull(q, row, ZERO, n, n, out, ZERO)
            for s in range(r + 1):
                total, other = 0.0, matrix[t, s]
                for i in range(n):
                    total += out[i] * other[i]
                schur[t, r, s] = total
            schur[t, r, r] += compliance[t, r]
        factorize(schur[t], scale[t], rows)
        if t + 1 < frames:
            forget(gain[t], schur[t], scale[t], rows, n, q, along)


@compiled
def forget(gain: Any, schur: Any, scale: Any, rows: int, n: int, q: Any, along: Any) -> None:
    """Replace Q by Q+ = Q - Y^T Y, the lower half, for L Y = A Q and L L^T = S; Y is written into `along` (R, n)."""
    for r in range(rows):
        out, given = along[r], gain[r]
        for i in range(n):
            out[i] = scale[r] * given[i]
        for k in range(r):
            factor, row = schur[r, k], along[k]
            for i in range(n):
                out[i] -= factor * row[i]
        for i in range(n):
            out[i] *= schur[r, r]
    for i in range(n):
        row = q[i]
        for r in range(rows):
            factor, given = along[r, i], along[r]
            for j in range(i + 1):
                row[j] -= factor * given[j]
        row[i] = max(row[i], 0.0)


def solve(variance, share, matrix, moving, counts, inverse, alone, gain, schur, scale,
          mean, offset, right, x, multiplier, force, s, y, pull, some, product, change):  # fmt: skip
    """Solve the factored system for mu (T, n), g (T - 1, n) and b (T, R).

    Written: x (T, n), lambda (T, R), and the forces z in the links, `force` (T, n), zero in the first frame. For work:
    s, y, pull, some and product (n,), change (R,).
    """
    frames, rows, n = matrix.shape
    # forward: `s` has a+ of the frame before; `force` has w
    for t in range(frames):
        v = variance[t]
        for i in range(n):
            y[i] = mean[t, i] - share[t - 1, i] * s[i] - offset[t - 1, i] if t > 0 else 0.0
        by_links(inverse[t], alone[t], moving[t], counts[t], y, force[t], some, product)
        for i in range(n):
            s[i] = mean[t, i] - v[i] * force[t, i]
        for r in range(rows):
            total, row = right[t, r], matrix[t, r]
            for i in range(n):
                total -= row[i] * s[i]
            multiplier[t, r] = total
        substitute(schur[t], scale[t], rows, multiplier[t])
        add_pull(gain[t], multiplier[t], ZERO, rows, n, s, ZERO)
    for i in range(n):
        s[i] = 0.0
    for t in range(frames - 1, -1, -1):
        v, out = variance[t], x[t]
        for r in range(rows):
            total, row = 0.0, gain[t, r]
            for i in range(n):
                total += row[i] * s[i]
            change[r] = total
        substitute(schur[t], scale[t], rows, change)
        for r in range(rows):
            multiplier[t, r] -= change[r]
        add_pull(matrix[t], multiplier[t], ZERO, rows, n, s, ZERO)
        for i in range(n):
            y[i] = v[i] * s[i]
        by_links(inverse[t], alone[t], moving[t], counts[t], y, pull, some, product)
        for i in range(n):
            force[t, i] += pull[i]
            out[i] = mean[t, i] + v[i] * (s[i] - force[t, i])
            s[i] = share[t - 1, i] * force[t, i] if t > 0 else 0.0


@compiled
def by_links(
    inverse: Any, alone: Any, moving: Any, count: int, y: Any, out: Any, some: Any, product: Any
) -> None:
    """N^-1 y, into `out`; some and product (n,) are for work."""
    for i in range(alone.size):
        out[i] = alone[i] * y[i]
    for a in range(count):
        some[a] = y[moving[a]]
    dots(inverse, some, count, count, product)
    for a in range(count):
        out[moving[a]] = product[a]


def springs(beside, alone, stiffness, share):
    """Links r, e (T - 1, n) of tridiagonal matrices with the diagonal `alone` (T, n), which keeps what they leave."""
    for t in range(beside.shape[0] - 1, -1, -1):
        for i in range(beside.shape[1]):
            stiffness[t, i] = share[t, i] = 0.0
            if beside[t, i] != 0.0 and alone[t + 1, i] > 0.0:
                stiffness[t, i], share[t, i] = alone[t + 1, i], -beside[t, i] / alone[t + 1, i]
                alone[t, i] += share[t, i] * beside[t, i]
                alone[t + 1, i] = 0.0


MESSAGE = "compiling the method for linked frames for this machine, once (a few seconds)"
_on_disk = on_disk(
    MESSAGE, Path(__file__), *map(Path(__file__).with_name, ("linear_algebra.py", "constants.py"))
)
FACTOR = _on_disk(factor, "r2? r2? r2? r3? r2? i2 i1 r3 r2 r3 r3 r2 r2 r2 r2 r1 r2")
SPRINGS = _on_disk(springs, "r2? r2 r2 r2")
SOLVE = _on_disk(solve, "r2? r2? r3? i2 i1 r3 r2 r3 r3 r2 r2? r2? r2? r2 r2 r2 r1 r1 r1 r1 r1 r1")
