"""Quadratic programs of single frames whose muscles are coupled, compiled: the sets of muscles at their bounds.

    minimize  1/2 a^T (H + e) a + c^T a + 1/2 s^T C^-1 s   subject to   A a + s = b,   lower <= a <= upper

with a dense positive definite H, e above zero included, and compliances C of the reserves, zero without a reserve. For
sets of muscles at their lower and at their upper bound the rest is linear. With H_FF = L L^T of the free muscles F,

    u = L^-1 (-c_F - H_FB a_B),   Y = A_F L^-T,   (Y Y^T + C) lambda = b - A_B a_B - Y u,   L^T a_F = u + Y^T lambda.

First, free muscles beyond a bound go to it, and muscles at a bound that the slope z = H a + c - A^T lambda pulls off it
become free, all at once: from the sets of a similar program one or two such steps suffice, but they may go in circles.
Then from the start, which satisfies the equations, along the way to the solution for the free muscles up to the first
bound, and where no bound is met the muscle leaves its bound that is pulled off it most (the primal active-set method;
Nocedal and Wright 2006, algorithm 16.3). A small compliance beside C keeps the system regular where too few muscles are
free: it makes lambda so large that those which help become free.
"""

from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.compiled_code import compiled, int64, on_disk
from musclesolve.sharing.kernel.linear_algebra import dots

LEAST_PIVOT = 1e-14  # of a matrix, as a share of its diagonal
RIDGE = 1e-13  # compliance beside C, as a share of the diagonal of Y Y^T
EMPTY = 1e-8  # the same of a row without a free muscle, over the largest curvature; the largest entry of a row is 1
MOST_BLOCKS, MOST_STEPS = int64(8), int64(400)
CLOSE = 1e-12  # distance beyond a bound, over the width, and slope, over its terms, that count as none
AT_BOUND = 1e-9  # distance from a bound, over the width, of a muscle that starts at the bound
REFINEMENTS = int64(2)
AT_LOWER, FREE, AT_UPPER = int64(-1), int64(0), int64(1)


@compiled
def factorize(matrix: Any, count: int) -> None:
    """Replace the lower half of a matrix by its Cholesky factor, whose diagonal is inverted."""
    for i in range(count):
        row = matrix[i]
        for j in range(i + 1):
            total, other = row[j], matrix[j]
            for k in range(j):
                total -= row[k] * other[k]
            if j < i:
                row[j] = total * other[j]
            else:
                least = LEAST_PIVOT * row[i]
                row[i] = 1.0 / np.sqrt(total if total > least else least)


@compiled
def factorize_free(hessian: Any, ease: float, free: Any, count: int, factor: Any) -> bool:
    """Compute the Cholesky factor L of the rows and columns of the free muscles; whether their diagonal is positive."""
    positive = True
    for i in range(count):
        row, source = factor[i], hessian[free[i]]
        for j in range(i + 1):
            row[j] = source[free[j]]
        row[i] += ease
        positive = positive and row[i] > 0.0
    factorize(factor, count)
    return positive


@compiled
def forward(factor: Any, count: int, x: Any) -> None:
    """Replace x by L^-1 x."""
    for i in range(count):
        total, row = x[i], factor[i]
        for k in range(i):
            total -= row[k] * x[k]
        x[i] = total * row[i]


@compiled
def backward(factor: Any, count: int, x: Any) -> None:
    """Replace x by L^-T x."""
    for i in range(count - 1, -1, -1):
        row = factor[i]
        x[i] *= row[i]
        here = x[i]
        for k in range(i):
            x[k] -= row[k] * here


@compiled
def solve_on_sets(
    hessian: Any, ease: float, linear: Any, matrix: Any, right: Any, compliance: Any, free: Any, count: int,
    x: Any, multiplier: Any, factor: Any, along: Any, schur: Any, u: Any, v: Any, left: Any,
) -> bool:  # fmt: skip
    """Solve for the free muscles, whose entries of x (n,) are zero before, and for the multipliers (m,)."""
    rows, n = matrix.shape
    if not factorize_free(hessian, ease, free, count, factor):
        return False
    for j in range(count):  # x has the muscles at bounds alone
        total, source = -linear[free[j]], hessian[free[j]]
        for i in range(n):
            total -= source[i] * x[i]
        u[j] = total
    forward(factor, count, u)
    for r in range(rows):
        row, given = along[r], matrix[r]
        for j in range(count):
            row[j] = given[free[j]]
        forward(factor, count, row)
        for s in range(r + 1):
            total, other = 0.0, along[s]
            for j in range(count):
                total += row[j] * other[j]
            schur[r, s] = total
    steep = 0.0
    for i in range(n):
        steep = max(steep, hessian[i, i])
    usual = 1.0 / steep if steep > 0.0 else 1.0
    for r in range(rows):
        empty = not schur[r, r] > RIDGE * usual
        schur[r, r] += compliance[r] + (EMPTY * usual if empty else RIDGE * schur[r, r])
    factorize(schur, rows)
    for r in range(rows):
        multiplier[r] = 0.0
    for j in range(count):
        v[j] = u[j]
    backward(factor, count, v)
    for j in range(count):
        x[free[j]] = v[j]
    for _ in range(1 + REFINEMENTS):
        for r in range(rows):
            total, given = right[r] - compliance[r] * multiplier[r], matrix[r]
            for i in range(n):
                total -= given[i] * x[i]
            left[r] = total
        forward(schur, rows, left)
        backward(schur, rows, left)
        for j in range(count):
            v[j] = 0.0
        for r in range(rows):
            multiplier[r] += left[r]
            row, here = along[r], left[r]
            for j in range(count):
                v[j] += row[j] * here
        backward(factor, count, v)
        for j in range(count):
            x[free[j]] += v[j]
    return True


@compiled
def find_sets(x: Any, lower: Any, upper: Any, state: Any) -> None:
    """Fill `state` (n,) with the bounds at which muscles are, and FREE between them."""
    for i in range(x.size):
        width = upper[i] - lower[i]
        state[i] = FREE
        if not x[i] - lower[i] > AT_BOUND * width:
            state[i] = AT_LOWER
        elif not upper[i] - x[i] > AT_BOUND * width:
            state[i] = AT_UPPER


@compiled
def held_apart(state: Any, lower: Any, upper: Any, x: Any, free: Any) -> int:
    """Set x (n,) to the bounds of `state`, zero for free muscles; fill `free` with these and return their number."""
    count: Any = np.int64(0)
    for i in range(x.size):
        x[i] = 0.0
        if state[i] == FREE:
            free[count] = i
            count += 1
        else:
            x[i] = lower[i] if state[i] == AT_LOWER else upper[i]
    return count


@compiled
def slopes(
    hessian: Any, ease: float, linear: Any, matrix: Any, x: Any, multiplier: Any, v: Any, size: Any
) -> None:
    """Compute z = H x + e x + c - A^T lambda into v (n,), and the sum of the sizes of its terms."""
    rows, n = matrix.shape
    dots(hessian, x, n, n, v)
    for i in range(n):
        v[i] += ease * x[i] + linear[i]
        size[i] = abs(v[i]) + abs(linear[i])
    for r in range(rows):
        given, here = matrix[r], multiplier[r]
        for i in range(n):
            part = here * given[i]
            v[i] -= part
            size[i] += abs(part)


@compiled
def solve_frame(
    hessian: Any, ease: float, linear: Any, matrix: Any, right: Any, compliance: Any, lower: Any, upper: Any, x: Any,
    multiplier: Any, state: Any, start: Any,
    free: Any, factor: Any, along: Any, schur: Any, u: Any, v: Any, left: Any, size: Any,
) -> int:  # fmt: skip
    """Solve one program from x (n,), which is replaced; return the steps, or -1 where it fails."""
    n = x.size
    for i in range(n):
        start[i] = x[i]
    find_sets(start, lower, upper, state)
    for step in range(MOST_BLOCKS):
        count = held_apart(state, lower, upper, x, free)
        if not solve_on_sets(hessian, ease, linear, matrix, right, compliance, free, count, x, multiplier, factor,
                             along, schur, u, v, left):  # fmt: skip
            return -1
        slopes(hessian, ease, linear, matrix, x, multiplier, v, size)
        violations = 0
        for i in range(n):
            width = upper[i] - lower[i]
            if state[i] == FREE:
                if not x[i] >= lower[i] - CLOSE * width:
                    state[i] = AT_LOWER
                    violations += 1
                elif x[i] > upper[i] + CLOSE * width:
                    state[i] = AT_UPPER
                    violations += 1
            elif width > 0.0 and (v[i] if state[i] == AT_LOWER else -v[i]) < -CLOSE * size[i]:
                state[i] = FREE
                violations += 1
        if violations == 0:
            for i in range(n):
                x[i] = min(max(x[i], lower[i]), upper[i])
            return step + 1
    # one muscle at a time
    find_sets(start, lower, upper, state)
    for i in range(n):
        if state[i] != FREE:
            start[i] = lower[i] if state[i] == AT_LOWER else upper[i]
    for step in range(MOST_STEPS):
        count = held_apart(state, lower, upper, x, free)
        if not solve_on_sets(hessian, ease, linear, matrix, right, compliance, free, count, x, multiplier, factor,
                             along, schur, u, v, left):  # fmt: skip
            return -1
        length, blocking = 1.0, -1
        for j in range(count):
            i = free[j]
            move = x[i] - start[i]
            room = (upper[i] - start[i]) if move > 0.0 else (lower[i] - start[i])
            if not abs(move) < np.inf:
                return -1
            if abs(move) > abs(room) + CLOSE * (upper[i] - lower[i]) and room / move < length:
                length, blocking = max(room / move, 0.0), i
        for j in range(count):
            i = free[j]
            start[i] += length * (x[i] - start[i])
        if blocking >= 0:
            at_upper = x[blocking] > start[blocking]
            state[blocking] = AT_UPPER if at_upper else AT_LOWER
            start[blocking] = upper[blocking] if at_upper else lower[blocking]
            continue
        slopes(hessian, ease, linear, matrix, x, multiplier, v, size)
        worst, leaving = CLOSE, -1
        for i in range(n):
            if state[i] != FREE and upper[i] > lower[i]:
                pulled = (-v[i] if state[i] == AT_LOWER else v[i]) / size[i] if size[i] > 0.0 else 0.0
                if pulled > worst:
                    worst, leaving = pulled, i
        if leaving < 0:
            for i in range(n):
                x[i] = min(max(x[i], lower[i]), upper[i])
            return MOST_BLOCKS + step + 1
        state[leaving] = FREE
    return -1


def quadratic(
    hessian, ease, linear, matrix, right, compliance, lower, upper, x, multiplier, steps,
    state, start, free, factor, along, schur, u, v, left, size,
):  # fmt: skip
    """Solve the program of every frame: H (T, n, n) or (1, n, n), e (T,), c (T, n), A (T, m, n), b and C (T, m).

    Bounds are (T, n). x (T, n) is a start that satisfies the equations, and then the result; multipliers are (T, m);
    steps (T,), -1 of a frame without one. The others are for work: state and free (n,), factor (n, n), along (m, n),
    schur (m, m), start, u, v, size (n,), left (m,).
    """
    for t in range(x.shape[0]):
        own = hessian[min(t, hessian.shape[0] - 1)]
        steps[t] = solve_frame(
            own, ease[t], linear[t], matrix[t], right[t], compliance[t], lower[t], upper[t], x[t], multiplier[t],
            state, start, free, factor, along, schur, u, v, left, size,
        )  # fmt: skip


MESSAGE = "compiling the method for coupled muscles for this machine, once (a few seconds)"
QUADRATIC = on_disk(MESSAGE, Path(__file__), Path(__file__).with_name("linear_algebra.py"))(
    quadratic, "r3? r1? r2? r3? r2? r2? r2? r2? r2 r2 i1 i1 r1 i1 r2 r2 r2 r1 r1 r1 r1"
)
