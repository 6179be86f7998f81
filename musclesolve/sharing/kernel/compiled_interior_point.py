"""The primal-dual interior-point method on one frame, compiled.

With C = diag(1/w) (zero for rows without reserves), rows A of the moments and of the soft rows, multipliers lambda, and
scales omega_i of the muscles' marginal costs, the path to the optimum is

    f'(a) - A^T lambda - z_l + z_u = 0                  A a + C lambda = b
    (a - lower)_i z_l,i = mu omega_i                    (upper - a)_i z_u,i = mu omega_i          mu -> 0

A Newton step for the targets t_l, t_u of the two products solves

    f'' da - A^T dlambda - dz_l + dz_u = A^T lambda - f' + z_l - z_u
    z_l da + (a - lower) dz_l = t_l - (a - lower) z_l         -z_u da + (upper - a) dz_u = t_u - (upper - a) z_u
    A da + C dlambda = b - A a - C lambda = r

The second line gives dz_l = t_l / (a - lower) - z_l - z_l / (a - lower) da, and dz_u likewise. The rest of the
first line, with D = f'' + z_l / (a - lower) + z_u / (upper - a) and q = A^T lambda - f' + t_l / (a - lower)
- t_u / (upper - a), is

    da = D^-1 (q + A^T dlambda),           (A D^-1 A^T + C) dlambda = r - A D^-1 q,

as many equations as there are moments and soft rows, with one Cholesky factor for both steps of Mehrotra's pair: the
predictor (t = 0), and the corrector, whose t = sigma mu omega -+ da dz takes in the second-order term of the predictor
as far as that could go. Terms of the cost up to the third power are one polynomial f' = p0 + (p1 + p2 a) a for each
muscle.

Powers above the third, f (c_i a_i)^p, are so steep that Newton's method far from the optimum goes only 1 / (p - 1) of
the way. Their exponent q therefore grows from the third power on, by GROWTH with every full step, less with a shorter
one. The muscles share a load c_i a_i of at least

    l = max_k |b_k| / sum_i (sign(b_k) A_ki)^+ / c_i,

at which f (p / q) l^(p-q) (c_i a_i)^q has the same slope, whatever q is. Activations start near it, and its slope
counts in omega. Far from the marginal cost s = A^T lambda + z_l - z_u that the multipliers call for, the chord of f'
from a to a (s / f')^(1/e) takes the place of f'', where f' rises as a^e, e = a f'' / f'.

solver/interior_point.py implements the method for any separable cost, with the same constants, but without growing
exponents and chords. Fixed muscles are left out before the start.
"""

from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.compiled_code import compiled, int64
from musclesolve.sharing.kernel import constants
from musclesolve.sharing.kernel.compiled_certificate import (
    Terms,
    add_slopes,
    add_slopes_and_curvatures,
    farkas_ratio,
)
from musclesolve.sharing.kernel.linear_algebra import (
    ZERO,
    add_pull,
    dots,
    factorize_system,
    largest_of,
    substitute,
)

from musclesolve.sharing.kernel.constants import (  # isort: skip
    A, ABOVE, AT_LOWER, BELOW, BESIDE_ROWS, BEST, BEST_MULTIPLIER, COMPLIANCE, CURVATURE, DIAGONAL, DIVERGED,
    D_A, D_L, D_U, END_WEIGHTS, FIRST, FIRST_MU, FLAT_END_WEIGHTS, FLAT_FROM, INVERSE, INVERSE_ABOVE, INVERSE_BELOW,
    LEAST_OMEGA, LEAST_REACH, LEVEL, LONG, LOWER, MIDDLE, MULTIPLIER, NOTHING_MISSING, OF_LOWER, OMEGA, OTHER_TERMS,
    OWN, P0, P1, P2, PATIENCE, PATIENT_END_WEIGHTS, PULL, RATIO_L, RATIO_U, RESIDUAL, RHS, RIGHT, ROW_CURVATURE, SCALE,
    SLOPE, STRIDE, TARGET, TERM_POWER, TERM_TARGET, TOLERANCE, TO_BOUNDARY, TO_BOUNDARY_LATER, UPPER, WEIGHT, WEIGHTS,
    Z_L, Z_U,
)  # fmt: skip

SOLVED, INFEASIBLE = int64(constants.SOLVED), int64(constants.INFEASIBLE)
MAX_ITERATIONS, SOLVER_FAILED = int64(constants.MAX_ITERATIONS), int64(constants.SOLVER_FAILED)
LEAST_FIRST, MOST_FIRST = FIRST
MARGIN = 1e-15
(OF_GAP, OF_MISSES), (OF_PATIENT_GAP, OF_PATIENT_MISSES) = END_WEIGHTS, PATIENT_END_WEIGHTS
OF_FLAT_GAP, OF_FLAT_MISSES = FLAT_END_WEIGHTS
CUBE, GROWTH = 3.0, 1.5
"""Exponent from which powers grow, and the factor of a full step."""
ABOVE_LEVEL = 1.25  # load at the start over the load that the muscles share at least
NEAR_SLOPE = 1e-3  # share of a marginal cost by which the multipliers may miss it where its curvature counts
LEAST_START, MOST_START = 1e-3, 0.5  # shares of the way between the bounds from which a power starts


class FreeProgram(NamedTuple):
    """The data of one frame for the interior point: n free muscles; rows of the moments, and below them soft rows."""

    terms: Terms
    terms_used: int  # number of terms that count, from the first one
    t: int
    curved: bool  # whether there are terms besides the polynomial
    matrix: Any  # (2 R, n), the lower half for work
    hard: int  # m
    rows: int  # R
    n: int
    padded: int  # n up to a multiple of LANES
    w: Any  # LOWER to ROW_CURVATURE are inputs
    s: Any  # TARGET, COMPLIANCE, SCALE and a guess in MULTIPLIER are inputs
    schur: Any  # (R, R), for work


@compiled
def is_polynomial(kind: int, p: float) -> bool:
    """Return whether a term is a polynomial of at most the third power."""
    return kind == TERM_TARGET or (kind == TERM_POWER and (p == 1.0 or p == 2.0 or p == 3.0))


@compiled
def gather_terms(terms: Terms, count: int, t: int, free: Any, n: int, w: Any) -> bool:
    """Gather polynomials P0, P1, P2 and the rows c of all other terms for the muscles `free`; return if others exist.

    The first `count` terms of the cost in frame t count; `free` has the numbers of the n muscles.
    """
    curved = False
    for j in range(n):
        w[P0 + j], w[P1 + j], w[P2 + j] = 0.0, 0.0, 0.0
    for k in range(count):
        kind, p, f = terms.kind[k], terms.exponent[k], terms.factor[k, t]
        row = terms.row[k]
        for j in range(n):
            c = terms.coefficient[row, t, free[j]]
            if kind == TERM_TARGET:
                w[P0 + j] -= 2.0 * f * c * c * terms.coefficient[row + 1, t, free[j]]
                w[P1 + j] += 2.0 * f * c * c
            elif kind != TERM_POWER:
                w[OTHER_TERMS + k * STRIDE + j] = c
            elif p == 1.0:
                w[P0 + j] += f * c
            elif p == 2.0:
                w[P1 + j] += 2.0 * f * c * c
            elif p == 3.0:
                w[P2 + j] += 3.0 * f * c * c * c
            else:
                w[OTHER_TERMS + k * STRIDE + j] = c
        curved = curved or not is_polynomial(kind, p)
    return curved


@compiled
def slopes(x: FreeProgram, at: int, out: int) -> None:
    """Compute the marginal costs f'(a) for a row of activations, into the row `out`."""
    w, n = x.w, x.n
    for i in range(x.padded):
        w[out + i] = w[P0 + i] + w[at + i] * (w[P1 + i] + w[at + i] * w[P2 + i])
    if x.curved:
        for k in range(x.terms_used):
            kind, p, f = x.terms.kind[k], x.terms.exponent[k], x.terms.factor[k, x.t]
            c = OTHER_TERMS + k * STRIDE
            if not is_polynomial(kind, p):
                add_slopes(kind, p, f, w[c : c + n], w[at : at + n], n, w[out : out + n])


@compiled
def change_of_slope(x: FreeProgram, reach: float) -> None:
    """Compute theta (problem_scale.slope_scale) for one reach into OWN, f' half-way into MIDDLE."""
    w = x.w
    for i in range(x.padded):
        w[OWN + i] = w[LOWER + i] + 0.5 * min(w[UPPER + i] - w[LOWER + i], reach)
    slopes(x, OWN, MIDDLE)
    for i in range(x.padded):
        half = w[OWN + i] - w[LOWER + i]
        change = abs(w[MIDDLE + i] - w[AT_LOWER + i]) + BESIDE_ROWS * w[ROW_CURVATURE + i] * half
        w[OWN + i] = change if change < np.inf else 0.0


@compiled
def set_levels(x: FreeProgram) -> None:
    """Set LEVEL, for each term that is a power above CUBE ABOVE_LEVEL times l (module docstring), zero for others."""
    w, s = x.w, x.s
    for k in range(x.terms_used):
        w[LEVEL + k] = 0.0
        if x.terms.kind[k] == TERM_POWER and x.terms.exponent[k] > CUBE:
            c = OTHER_TERMS + k * STRIDE
            for r in range(x.hard):
                sign, reach = np.sign(s[TARGET, r]), 0.0
                for i in range(x.n):
                    part = x.matrix[r, i] * sign
                    reach += part / w[c + i] if part > 0.0 and w[c + i] > 0.0 else 0.0
                if reach > 0.0:
                    w[LEVEL + k] = max(w[LEVEL + k], ABOVE_LEVEL * abs(s[TARGET, r]) / reach)


@compiled
def start_powers(x: FreeProgram) -> None:
    """Set the start by the levels of powers, where there are such: activations, and OWN, the slopes at the levels."""
    w, n, first = x.w, x.n, True
    for k in range(x.terms_used):
        level = w[LEVEL + k]
        if not level > 0.0:
            continue
        p, f, c = x.terms.exponent[k], x.terms.factor[k, x.t], OTHER_TERMS + k * STRIDE
        steep = f * p * level ** (p - 1.0)
        for i in range(n):
            width = w[UPPER + i] - w[LOWER + i]
            share = level / (w[c + i] * width) if w[c + i] > 0.0 else MOST_START
            share = min(max(share, LEAST_START), MOST_START)
            w[A + i] = w[LOWER + i] + share * width
            w[BELOW + i], w[ABOVE + i] = share * width, (1.0 - share) * width
            if first:
                w[OWN + i] = abs(w[P0 + i] + w[A + i] * (w[P1 + i] + w[A + i] * w[P2 + i]))
            w[OWN + i] += steep * w[c + i]
        first = False


@compiled
def set_chords(x: FreeProgram) -> None:
    """Replace CURVATURE by the chord to the activation that the multipliers call for, where that is far away."""
    w = x.w
    for i in range(x.n):
        slope, called = w[SLOPE + i], w[PULL + i] + w[Z_L + i] - w[Z_U + i]
        bend = w[CURVATURE + i] * w[A + i]
        if slope > 0.0 and bend > 0.0 and abs(called - slope) > NEAR_SLOPE * slope:
            share = (max(called, 0.0) / slope) ** (slope / bend)
            chord = (called - slope) / (w[A + i] * (share - 1.0))
            w[CURVATURE + i] = chord if chord < np.inf else w[CURVATURE + i]


@compiled
def start(x: FreeProgram) -> None:
    """Set the first iterate: activations by the load, z by mu; MULTIPLIER holds a guess of the multiplier."""
    matrix, hard, rows, n, padded, w, s = x.matrix, x.hard, x.rows, x.n, x.padded, x.w, x.s
    # problem_scale.load
    share = LEAST_REACH
    for r in range(hard):
        sign, most = np.sign(s[TARGET, r]), 0.0
        for i in range(n):
            most += max(matrix[r, i] * sign, 0.0) * w[UPPER + i]
        if most > 0 and abs(s[TARGET, r]) > share * most:
            share = abs(s[TARGET, r]) / most
    share = min(share, 1.0)
    first = min(max(share, LEAST_FIRST), MOST_FIRST)
    for i in range(padded):
        width = w[UPPER + i] - w[LOWER + i]
        w[A + i] = w[LOWER + i] + first * width
        w[BELOW + i] = first * width
        w[ABOVE + i] = (1.0 - first) * width
        w[PULL + i] = 0.0
    dots(matrix, w[A : A + padded], rows, padded, s[RESIDUAL])
    guessed = False
    for r in range(rows):
        if r >= hard:
            s[MULTIPLIER, r] = (s[TARGET, r] - s[RESIDUAL, r]) / s[COMPLIANCE, r]
        guessed = guessed or s[MULTIPLIER, r] != 0.0
    add_pull(matrix, s[MULTIPLIER], ZERO, rows, padded, w, PULL)
    # OMEGA: the size OWN of each muscle's own marginal cost, or of (A^T lambda)_i for a typical multiplier
    slopes(x, LOWER, AT_LOWER)
    change_of_slope(x, share)
    for i in range(padded):
        slope = abs(w[MIDDLE + i])
        w[OWN + i] = max(w[OWN + i], slope) if slope < np.inf else w[OWN + i]
        w[OMEGA + i] = 0.0
    if x.curved:
        start_powers(x)
    total, strength, moment, largest = 0.0, 0.0, 1.0, 0.0
    for r in range(hard):
        moment = max(moment, s[SCALE, r])
        for i in range(n):
            w[OMEGA + i] = max(w[OMEGA + i], abs(matrix[r, i]))
    for i in range(n):
        total += w[OWN + i]
        strength += w[OMEGA + i]
    typical = total / strength if total > 0 and strength > 0 else moment
    for i in range(n):
        w[OMEGA + i] = max(max(w[OWN + i], typical * w[OMEGA + i]), abs(w[PULL + i]))
        largest = max(largest, w[OMEGA + i])
    least = LEAST_OMEGA * (largest if largest > 0 else 1.0)
    for i in range(n):
        w[OMEGA + i] = max(w[OMEGA + i], least)
        w[WEIGHTS + i] = 1.0 / w[OMEGA + i]
    for i in range(n, padded):
        w[OMEGA + i], w[WEIGHTS + i] = 1.0, 0.0
    slopes(x, A, SLOPE)
    for i in range(padded):
        excess = w[SLOPE + i] - w[PULL + i] if guessed else 0.0
        w[Z_L + i] = FIRST_MU * w[OMEGA + i] / w[BELOW + i] + max(excess, 0.0)
        w[Z_U + i] = FIRST_MU * w[OMEGA + i] / w[ABOVE + i] + max(-excess, 0.0)


@compiled
def minimize(x: FreeProgram, tolerance: float, max_iterations: int, seek_proof: bool) -> tuple[int, int]:
    """Minimize the cost of a frame; return the claim (a Status) and the iterations.

    The frame ends at the tolerance, after PATIENCE iterations at a hundred times the tolerance, or, with `seek_proof`,
    with a proof of infeasibility or negligible reserves. The result is in BEST and BEST_MULTIPLIER, a proof in
    BEST_MULTIPLIER.
    """
    terms, count, t, curved, matrix, hard, rows, n, padded, w, s, schur = x
    set_levels(x)
    start(x)
    highest, exponent, of_gap, of_misses = 0.0, CUBE, OF_GAP, OF_MISSES
    for k in range(count):
        highest = max(highest, terms.exponent[k] if w[LEVEL + k] > 0.0 else 0.0)
        if terms.kind[k] == TERM_POWER and terms.exponent[k] > FLAT_FROM:
            of_gap, of_misses = OF_FLAT_GAP, OF_FLAT_MISSES
    iteration: Any = np.int64(0)
    best, claim = np.inf, MAX_ITERATIONS
    while True:
        # residuals
        dots(matrix, w[A : A + padded], rows, padded, s[RESIDUAL])
        miss, total = 0.0, 0.0
        for r in range(rows):
            s[RESIDUAL, r] = s[TARGET, r] - s[RESIDUAL, r] - s[COMPLIANCE, r] * s[MULTIPLIER, r]
            if r < hard:
                part = abs(s[RESIDUAL, r]) / s[SCALE, r]
                total += part
                miss = max(miss, part)
        miss = miss if total == total else np.nan
        near = miss <= 1e3 * tolerance and exponent >= highest
        for i in range(padded):
            w[SLOPE + i] = w[P0 + i] + w[A + i] * (w[P1 + i] + w[A + i] * w[P2 + i])
            w[CURVATURE + i] = w[P1 + i] + 2.0 * w[A + i] * w[P2 + i]
            w[PULL + i] = 0.0
        if curved:
            for k in range(count):
                kind, p, f, c = terms.kind[k], terms.exponent[k], terms.factor[k, t], OTHER_TERMS + k * STRIDE
                if not is_polynomial(kind, p):
                    if w[LEVEL + k] > 0.0 and exponent < p:
                        f, p = f * (p / exponent) * w[LEVEL + k] ** (p - exponent), exponent
                    views = w[c : c + n], w[A : A + n], n, w[SLOPE : SLOPE + n], w[CURVATURE : CURVATURE + n]
                    add_slopes_and_curvatures(kind, p, f, *views)
        add_pull(matrix, s[MULTIPLIER], ZERO, hard, padded, w, PULL)
        if near:
            for i in range(padded):
                w[RIGHT + i] = w[SLOPE + i]
            if rows > hard:
                for r in range(hard, rows):
                    s[WEIGHT, r] = -(s[RESIDUAL, r] / s[COMPLIANCE, r] + s[MULTIPLIER, r])
                add_pull(matrix, s[WEIGHT], hard, rows, padded, w, RIGHT)
            size = 0.0
            for i in range(n):
                size += abs(w[RIGHT + i])
            for r in range(hard):
                size += s[COMPLIANCE, r]
            if size == 0.0:
                # no activation costs anything: the exact multipliers are zero
                for r in range(hard):
                    s[MULTIPLIER, r] = 0.0
                for i in range(padded):
                    w[PULL + i] = 0.0
            # the duality gap of the linearized cost, and the cost of missed moments, in its unit (certificate.py)
            gap, unit, miss_cost, at_lower = 0.0, 0.0, 0.0, 0.0
            for i in range(n):
                excess = w[RIGHT + i] - w[PULL + i]
                gap += excess * w[BELOW + i] if excess > 0.0 else -excess * w[ABOVE + i]
                unit += abs(w[RIGHT + i]) * w[A + i]
                at_lower += abs(w[AT_LOWER + i]) * w[A + i] if abs(w[AT_LOWER + i]) < np.inf else 0.0
            unit = max(unit, OF_LOWER * at_lower)
            for r in range(hard):
                worth, met = s[MULTIPLIER, r] * s[RESIDUAL, r], np.inf
                if s[COMPLIANCE, r] * abs(s[MULTIPLIER, r]) > TOLERANCE * s[SCALE, r]:
                    met = 0.5 * s[RESIDUAL, r] * s[RESIDUAL, r] / s[COMPLIANCE, r]
                gap += met if met < abs(worth) else 0.0
                miss_cost += 0.0 if met < abs(worth) else worth
                if count == 0:  # the squares of the reserves are the cost
                    unit += s[COMPLIANCE, r] * s[MULTIPLIER, r] * s[MULTIPLIER, r]
            miss_cost *= of_misses if iteration < PATIENCE else OF_PATIENT_MISSES
            gap *= of_gap if iteration < PATIENCE else OF_PATIENT_GAP
            level = max(gap, abs(miss_cost)) / unit if gap > 0.0 or miss_cost != 0.0 else gap
            miss = miss if level <= miss else level
            enough = tolerance if iteration < PATIENCE else 10.0 * tolerance
            if miss <= enough:
                claim = SOLVED
        if not miss < np.inf:
            claim = SOLVER_FAILED
        exact = claim == MAX_ITERATIONS
        for r in range(hard):
            exact = exact and s[COMPLIANCE, r] == 0.0
        if exact:
            pull, largest = 0.0, 0.0
            for i in range(n):
                pull, largest = max(pull, abs(w[PULL + i])), max(largest, w[OMEGA + i])
            if pull > DIVERGED * largest:
                claim = SOLVER_FAILED
        better = (near and miss < best) or iteration == 0
        if near and miss < best:
            best = miss
        if seek_proof and claim != SOLVED:
            ratio = farkas_ratio(s[MULTIPLIER], s[TARGET, :hard], s[SCALE], PULL, LOWER, UPPER, n, w)
            if ratio > TOLERANCE:
                claim, better = INFEASIBLE, True
            lacking, soft = 0.0, 0.0
            for r in range(hard):
                soft += s[COMPLIANCE, r]
                lacking = max(lacking, abs(s[COMPLIANCE, r] * s[MULTIPLIER, r]) / s[SCALE, r])
            if soft > 0.0 and near and lacking <= NOTHING_MISSING:
                claim = SOLVED
        if better:
            for i in range(padded):  # the distances are exact where the activation is rounded
                low, high = w[LOWER + i] + w[BELOW + i], w[UPPER + i] - w[ABOVE + i]
                w[BEST + i] = low if w[BELOW + i] < w[ABOVE + i] else high
            for r in range(hard):
                s[BEST_MULTIPLIER, r] = s[MULTIPLIER, r]
        if claim != MAX_ITERATIONS or iteration == max_iterations:
            break

        # the predictor
        add_pull(matrix, s[MULTIPLIER], hard, rows, padded, w, PULL)
        if highest > 0.0:
            set_chords(x)
        for i in range(padded):
            w[INVERSE_BELOW + i] = 1.0 / w[BELOW + i]
            w[INVERSE_ABOVE + i] = 1.0 / w[ABOVE + i]
            w[RATIO_L + i] = w[Z_L + i] * w[INVERSE_BELOW + i]
            w[RATIO_U + i] = w[Z_U + i] * w[INVERSE_ABOVE + i]
            w[INVERSE + i] = 1.0 / (w[CURVATURE + i] + w[RATIO_L + i] + w[RATIO_U + i])
            w[RIGHT + i] = w[PULL + i] - w[SLOPE + i]
            w[OWN + i] = w[INVERSE + i] * w[RIGHT + i]
            w[D_A + i] = 0.0
        factorize_system(matrix, rows, padded, w, s, schur, matrix[schur.shape[0] :])
        dots(matrix, w[OWN : OWN + padded], rows, padded, s[RHS])
        for r in range(rows):
            s[RHS, r] = s[RESIDUAL, r] - s[RHS, r]
        substitute(schur, s[DIAGONAL], rows, s[RHS])
        add_pull(matrix, s[RHS], ZERO, rows, padded, w, D_A)
        for i in range(padded):
            w[D_A + i] = w[INVERSE + i] * (w[RIGHT + i] + w[D_A + i])
            # - d_a / below, d_a / above, - d_z / z: share of each distance that the step uses up
            along_l, along_u = w[D_A + i] * w[INVERSE_BELOW + i], w[D_A + i] * w[INVERSE_ABOVE + i]
            w[OWN + i] = max(max(-along_l, along_u), max(1.0 + along_l, 1.0 - along_u))
        length = 1.0 / largest_of(w, OWN, n, padded, 1.0)
        now, then = 0.0, 0.0
        for i in range(padded):
            w[D_L + i] = -w[Z_L + i] - w[RATIO_L + i] * w[D_A + i]
            w[D_U + i] = -w[Z_U + i] + w[RATIO_U + i] * w[D_A + i]
            later_l = (w[BELOW + i] + length * w[D_A + i]) * (w[Z_L + i] + length * w[D_L + i])
            later_u = (w[ABOVE + i] - length * w[D_A + i]) * (w[Z_U + i] + length * w[D_U + i])
            now += (w[BELOW + i] * w[Z_L + i] + w[ABOVE + i] * w[Z_U + i]) * w[WEIGHTS + i]
            then += (later_l + later_u) * w[WEIGHTS + i]
        pairs = max(2.0 * n, 1.0)
        now, then = now / pairs, then / pairs
        fall = then / max(now, 1e-300)
        center = fall * fall * fall * now

        # the corrector; the second-order term counts as far as the predictor could go, or the method may cycle
        second = length * length
        for i in range(padded):
            curved_step = second * w[D_A + i]
            w[MIDDLE + i] = (center * w[OMEGA + i] - curved_step * w[D_L + i]) * w[INVERSE_BELOW + i]
            w[OWN + i] = (center * w[OMEGA + i] + curved_step * w[D_U + i]) * w[INVERSE_ABOVE + i]
            w[RIGHT + i] += w[MIDDLE + i] - w[OWN + i]
            w[D_L + i] = w[INVERSE + i] * w[RIGHT + i]
            w[D_A + i] = 0.0
        dots(matrix, w[D_L : D_L + padded], rows, padded, s[RHS])
        for r in range(rows):
            s[RHS, r] = s[RESIDUAL, r] - s[RHS, r]
        substitute(schur, s[DIAGONAL], rows, s[RHS])
        add_pull(matrix, s[RHS], ZERO, rows, padded, w, D_A)
        for i in range(padded):
            w[D_A + i] = w[INVERSE + i] * (w[RIGHT + i] + w[D_A + i])
            w[D_L + i] = w[MIDDLE + i] - w[Z_L + i] - w[RATIO_L + i] * w[D_A + i]
            w[D_U + i] = w[OWN + i] - w[Z_U + i] + w[RATIO_U + i] * w[D_A + i]
            along = max(-w[D_A + i] * w[INVERSE_BELOW + i], w[D_A + i] * w[INVERSE_ABOVE + i])
            w[PULL + i] = max(along, max(-w[D_L + i] / w[Z_L + i], -w[D_U + i] / w[Z_U + i]))
        # in a frame that takes long, muscles have hit their bounds too early: keep them further off
        most = TO_BOUNDARY if iteration < LONG else TO_BOUNDARY_LATER
        length = most / largest_of(w, PULL, n, padded, most)
        for r in range(rows):
            s[MULTIPLIER, r] += length * s[RHS, r]
        for i in range(padded):
            step = length * w[D_A + i]
            w[Z_L + i] += length * w[D_L + i]
            w[Z_U + i] += length * w[D_U + i]
            w[BELOW + i] += step
            w[ABOVE + i] -= step
            edge = MARGIN * (w[UPPER + i] - w[LOWER + i])
            moved, low, high = w[A + i] + step, w[LOWER + i] + edge, w[UPPER + i] - edge
            moved = low if moved < low else moved
            w[A + i] = high if moved > high else moved
        if exponent < highest:
            exponent = min(highest, exponent * (1.0 + (GROWTH - 1.0) * length))
        iteration += 1

    for i in range(n):
        w[BEST + i] = min(max(w[BEST + i], w[LOWER + i]), w[UPPER + i])
    return claim, iteration
