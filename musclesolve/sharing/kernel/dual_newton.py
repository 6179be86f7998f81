"""Newton's method on the dual of a frame's program, compiled: tried before the interior point.

For multipliers lambda of the moments and soft rows (compiled_interior_point.py has A, b, C and f) the Lagrangian
separates, and the activation of each muscle follows from p_i = (A^T lambda)_i alone:

    a_i(p_i) = the a in [lower_i, upper_i] that minimizes f_i(a) - p_i a
             = (f_i')^-1(p_i), held within the bounds.

So stationarity holds for every lambda, and only the moments remain,

    r(lambda) = b - A a(lambda) - C lambda,

the gradient of the concave dual function. With 1/f_i'' in H for muscles inside their bounds and 0 for those at one,
the slope of r is -(A H A^T + C), and Newton's step solves

    (A H A^T + C) d = r.

The method reaches the optimum once the set of muscles at a bound is right, exactly for quadratic costs, and needs two
or three steps from the multipliers of the frame before. Safeguards:

- Line search: along d the slope psi = d . r of the dual function falls. Where psi is below -psi(0) / 2 the step was too
  long, and the secant of psi gives the next trial.
- Muscles at a bound enter H with HELD times the relative residual: where all muscles of a moment are at a bound the
  matrix would be singular. This entry vanishes with the residual. With reserves for every moment C keeps the matrix
  regular.
- A cubic cost is flat at rest, 1/f'' infinite, and Newton's step for a_i = sqrt(p_i / P2) far too short or too long:
  1/f'' is limited to its value at the activation FLAT, and while the residual is large it is mixed with the secant
  a/f'.
- Multipliers with a Farkas ratio above the tolerance prove infeasibility (certificate.py); the method then ends,
  mostly within a few steps. An infeasible frame with stiff reserves goes to the interior point: at the edge of reach
  multipliers jump from one muscle to the next.
- Multipliers of the frame before are discarded if their residual is larger than without any activation, and after
  MOST_WARM steps.
- A power alone is homogeneous: a(t lambda) = t^(1/(q-1)) a(lambda) between the bounds. Where the work lambda . A a is
  far from lambda . b the multipliers are first brought to its size.

Costs whose a_i(p_i) is known: polynomials f' = P0 + P1 a + P2 a^2 in each muscle, of which

    a = 2 (p - P0) / (P1 + R),      f''(a) = R = sqrt(P1^2 + 4 P2 (p - P0)),

soft saturation with exponent 2 alone, f' = f c x / sqrt(1 - x^2) with x = c a, of which x = y / sqrt(1 + y^2) with
y = p / (f c) and 1/f'' = (1 + y^2)^(-3/2) / (f c^2); and one power alone, x = (p / (f q c))^(1 / (q - 1)), up to
FLAT_FROM: beyond, round-off of p moves activations that are small. Frames that do not converge within MAX_STEPS, or
have another cost, go to the interior point; the former come back from there for their last digits
(solve_frame.refine).
"""

from typing import Any

import numpy as np

from musclesolve._util.compiled_code import compiled, int64
from musclesolve.sharing.kernel.compiled_certificate import Terms, farkas_ratio
from musclesolve.sharing.kernel.compiled_interior_point import (
    INFEASIBLE,
    MAX_ITERATIONS,
    SOLVED,
    is_polynomial,
)
from musclesolve.sharing.kernel.linear_algebra import ZERO, add_pull, dots, factorize_system, substitute

from musclesolve.sharing.kernel.constants import (  # isort: skip
    ALL_LOWER, BEST, COMPLIANCE, CURVATURE, DIAGONAL, FLAT_FROM, FREE_UPPER, INSIDE, INVERSE, MULTIPLIER, NO_ROOM, P0,
    P1, P2, PULL, RESIDUAL, RHS, SCALE, SECANT, TARGET, TERM_POWER, TERM_TARGET, TOLERANCE, TRIAL, UNIT_ROUNDING,
)  # fmt: skip

UNKNOWN, QUADRATIC, CUBIC, SATURATION, SINGLE_POWER = (int64(k) for k in range(5))
MAX_STEPS = int64(25)
MOST_WARM = int64(15)
"""Steps from the multipliers of another frame after which a frame starts cold."""
MAX_TRIALS = int64(8)
FIRST_ACTIVATION = 0.15  # for the compliances of a cold start
TOO_FAR = 0.5
SHORTEST_STEP = 0.1
HELD = 1e-6
FLAT = 1e-4
SECANT_SHARE = 0.3
HELD_POWER, FLAT_POWER, SECANT_SHARE_POWER = 1e-8, 1e-3, 1.0
"""HELD, FLAT and SECANT_SHARE for a SINGLE_POWER above the second power, which may be much flatter at rest."""
PROOF_FROM = 3
NEAR = 1e-12  # distance from the optimum, as a share of the largest activation, at which the method may end
MOST_RESCALINGS, SHORT, LONG_BY = 12, 0.7, 1.5
"""Number of rescalings of the multipliers, and the work of the moments over that of the muscles outside of which one
is due.
"""
OF_ROUND_OFF = 64.0 * UNIT_ROUNDING  # share of the terms of a residual that rounding may leave
STIFF = 1e100  # marginal cost of the activation of a fixed muscle


@compiled
def dual_form(terms: Terms) -> int:
    """Return the formula that gives activations from multipliers; UNKNOWN for costs without such a formula."""
    form, count = QUADRATIC, terms.kind.size
    for k in range(count):
        kind, p = terms.kind[k], terms.exponent[k]
        if is_polynomial(kind, p):
            if kind == TERM_POWER and p == 3.0 and form == QUADRATIC:
                form = CUBIC
        elif count > 1:
            form = UNKNOWN
        elif kind == TERM_POWER:
            form = SINGLE_POWER if p > 1.0 and p <= FLAT_FROM else UNKNOWN
        else:
            form = SATURATION if p == 2.0 else UNKNOWN
    return form if count > 0 else UNKNOWN


@compiled
def _flat(q: float) -> float:
    return FLAT_POWER if q > 2.0 else FLAT


@compiled
def prepare_primal(terms: Terms, form: int, t: int, n: int, padded: int, w: Any) -> bool:
    """Compute the coefficients P0, P1, P2 of a_i(p_i) of all n muscles; return whether a_i(p_i) is always defined.

    The coefficients are, for a QUADRATIC cost, P0 and 1/P1; for a CUBIC one the three coefficients of f'; 1/(f c) and
    1/c in P1 and P2 for SATURATION; 1/(f q c) and 1/c in P1 and P2, (c FLAT)^(q-1) in P0, for a SINGLE_POWER q.
    """
    lost = 0
    if form == QUADRATIC or form == CUBIC:
        for i in range(padded):
            w[P0 + i], w[P1 + i], w[P2 + i] = 0.0, 0.0, 0.0
        for k in range(terms.kind.size):
            p, f, c = terms.exponent[k], terms.factor[k, t], terms.coefficient[terms.row[k], t]
            if terms.kind[k] == TERM_TARGET:
                e = terms.coefficient[terms.row[k] + 1, t]
                for i in range(n):
                    w[P0 + i] -= 2.0 * f * c[i] * c[i] * e[i]
                    w[P1 + i] += 2.0 * f * c[i] * c[i]
            elif p == 1.0:
                for i in range(n):
                    w[P0 + i] += f * c[i]
            elif p == 2.0:
                for i in range(n):
                    w[P1 + i] += 2.0 * f * c[i] * c[i]
            else:
                for i in range(n):
                    w[P2 + i] += 3.0 * f * c[i] * c[i] * c[i]
        for i in range(padded):
            free = w[FREE_UPPER + i] - w[ALL_LOWER + i] > NO_ROOM
            lost += free and not w[P1 + i] + w[P2 + i] > 0.0
            w[P0 + i] = w[P0 + i] if free else 0.0
            w[P1 + i] = w[P1 + i] if free else STIFF
            w[P2 + i] = w[P2 + i] if free else 0.0
        if form == QUADRATIC:
            for i in range(padded):
                w[P1 + i] = 1.0 / w[P1 + i]
        return lost == 0
    q, f, c = terms.exponent[0], terms.factor[0, t], terms.coefficient[terms.row[0], t]
    steep = f if form == SATURATION else f * q
    for i in range(n):
        free = w[FREE_UPPER + i] - w[ALL_LOWER + i] > NO_ROOM
        lost += free and not steep * c[i] > 0.0
        w[P1 + i] = 1.0 / (steep * c[i]) if free else 0.0
        w[P2 + i] = 1.0 / c[i] if free else 0.0
    for i in range(n, padded):
        w[P1 + i], w[P2 + i] = 0.0, 0.0
    if form == SINGLE_POWER:
        for i in range(n):
            w[P0 + i] = (_flat(q) * c[i]) ** (q - 1.0)
        for i in range(n, padded):
            w[P0 + i] = 1.0
    return lost == 0


@compiled
def primal_from_dual(form: int, q: float, n: int, padded: int, w: Any) -> None:
    """Compute a_i(p_i) for PULL into BEST, 1/f'' into CURVATURE, a/f' into SECANT for costs not quadratic."""
    if form == QUADRATIC:
        for i in range(padded):
            w[BEST + i] = (w[PULL + i] - w[P0 + i]) * w[P1 + i]
    elif form == CUBIC:
        for i in range(padded):
            gap = w[PULL + i] - w[P0 + i]
            root = np.sqrt(w[P1 + i] * w[P1 + i] + 4.0 * w[P2 + i] * max(gap, 0.0))
            w[SECANT + i] = 2.0 / max(w[P1 + i] + root, 2.0 * FLAT * w[P2 + i])
            w[CURVATURE + i] = 1.0 / max(root, 2.0 * FLAT * w[P2 + i])
            w[BEST + i] = 2.0 * gap / max(w[P1 + i] + root, 1e-300)
    elif form == SATURATION:
        for i in range(padded):
            y = min(max(w[PULL + i] * w[P1 + i], -STIFF), STIFF)
            rest = 1.0 / np.sqrt(1.0 + y * y)
            w[SECANT + i] = rest * w[P1 + i] * w[P2 + i]
            w[CURVATURE + i] = rest * rest * w[SECANT + i]
            w[BEST + i] = y * rest * w[P2 + i]
    else:
        power = 1.0 / (q - 1.0)
        for i in range(n):
            y = max(w[PULL + i] * w[P1 + i], 0.0)
            x, flat = y**power, _flat(q) / w[P2 + i] if w[P2 + i] > 0.0 else 1.0
            w[SECANT + i] = w[P1 + i] * w[P2 + i] * max(x, flat) / max(y, w[P0 + i])
            w[CURVATURE + i] = w[SECANT + i] * power
            w[BEST + i] = x * w[P2 + i]
        for i in range(n, padded):
            w[SECANT + i], w[CURVATURE + i], w[BEST + i] = 0.0, 0.0, 0.0
    for i in range(padded):  # comparisons, so that NaN becomes the lower bound
        inside = w[BEST + i] if w[BEST + i] > w[ALL_LOWER + i] else w[ALL_LOWER + i]
        w[BEST + i] = inside if inside < w[FREE_UPPER + i] else w[FREE_UPPER + i]


@compiled
def evaluate_dual(
    form: int, q: float, matrix: Any, at: int, rows: int, n: int, padded: int, w: Any, s: Any
) -> None:
    """Compute BEST and RESIDUAL for the multipliers in row `at` of s."""
    for i in range(padded):
        w[PULL + i] = 0.0
    add_pull(matrix, s[at], ZERO, rows, padded, w, PULL)
    primal_from_dual(form, q, n, padded, w)
    dots(matrix, w[BEST : BEST + padded], rows, padded, s[RESIDUAL])
    for r in range(rows):
        s[RESIDUAL, r] = s[TARGET, r] - s[RESIDUAL, r] - s[COMPLIANCE, r] * s[at, r]


@compiled
def first_compliances(form: int, q: float, n: int, padded: int, w: Any) -> None:
    """Compute the secant compliance a / f'(a) at a = FIRST_ACTIVATION, of a saturation at rest, into INVERSE."""
    for i in range(padded):
        w[INVERSE + i], w[INSIDE + i] = w[P1 + i], 1.0
    if form == CUBIC:
        for i in range(padded):
            w[INVERSE + i] = 1.0 / (w[P1 + i] + FIRST_ACTIVATION * w[P2 + i])
    elif form == SATURATION:
        for i in range(padded):
            w[INVERSE + i] *= w[P2 + i]
    elif form == SINGLE_POWER:
        for i in range(n):
            x = FIRST_ACTIVATION / w[P2 + i] if w[P2 + i] > 0.0 else 1.0
            w[INVERSE + i] *= w[P2 + i] * x ** (2.0 - q)


@compiled
def inverse_curvatures(form: int, q: float, miss: float, padded: int, w: Any) -> None:
    """Compute the entries of H (module docstring) into INVERSE; `miss` is the relative residual."""
    flat = form == SINGLE_POWER and q > 2.0
    held_share = min(miss, 1.0) * (HELD_POWER if flat else HELD)
    if form == QUADRATIC:
        for i in range(padded):
            free = w[BEST + i] > w[ALL_LOWER + i] and w[BEST + i] < w[FREE_UPPER + i]
            w[INVERSE + i], w[INSIDE + i] = (w[P1 + i], 1.0) if free else (held_share * w[P1 + i], 0.0)
    else:
        share = SECANT_SHARE_POWER if flat else SECANT_SHARE
        part = min(share * miss, 1.0) if flat or form == CUBIC else 0.0
        for i in range(padded):
            free = w[BEST + i] > w[ALL_LOWER + i] and w[BEST + i] < w[FREE_UPPER + i]
            mixed = w[CURVATURE + i] + part * (w[SECANT + i] - w[CURVATURE + i])
            w[INVERSE + i] = mixed if free else held_share * w[CURVATURE + i]
            w[INSIDE + i] = 1.0 if free else 0.0


@compiled
def near(form: int, schur: Any, rows: int, n: int, w: Any, s: Any) -> bool:
    """Return whether activations are NEAR the optimum, by the factors of the last step and the curvatures of now.

    Newton's step d changes them by H A^T d, and sum_i f_i'' (H A^T d)_i^2 <= d . r. As H is k times less at most than
    in the last step, whose factors give d, the sum is at most k d . r. Other muscles at a bound than in that step would
    make H another one.
    """
    for r in range(rows):
        s[RHS, r] = s[RESIDUAL, r]
    substitute(schur, s[DIAGONAL], rows, s[RHS])
    size, changed, smaller, largest = 0.0, 0, 1.0, 0.0
    for r in range(rows):
        size += s[RHS, r] * s[RESIDUAL, r]
    bend = P1 if form == QUADRATIC else CURVATURE
    for i in range(n):
        largest = max(largest, w[BEST + i])
        free = w[BEST + i] > w[ALL_LOWER + i] and w[BEST + i] < w[FREE_UPPER + i]
        changed += free != (w[INSIDE + i] > 0.0)
        smaller = max(smaller, w[INVERSE + i] / w[bend + i] if free else 1.0)
    least, far = NEAR * NEAR * largest * largest, 0
    for i in range(n):
        far += size * smaller * w[INSIDE + i] * w[bend + i] > least
    return changed == 0 and far == 0


@compiled
def rounded(matrix: Any, rows: int, padded: int, w: Any, s: Any) -> bool:
    """Return whether the residuals are the round-off of the sums that they are the rest of."""
    beyond = 0
    for r in range(rows):
        size, row = abs(s[TARGET, r]) + abs(s[COMPLIANCE, r] * s[MULTIPLIER, r]), matrix[r]
        for i in range(padded):
            size += abs(row[i]) * w[BEST + i]
        beyond += abs(s[RESIDUAL, r]) > OF_ROUND_OFF * size
    return beyond == 0


@compiled
def solve_dual(
    form: int, q: float, matrix: Any, hard: int, rows: int, n: int, padded: int, cold: bool, tolerance: float,
    best: float, max_steps: int, seek_proof: bool, w: Any, s: Any, schur: Any, work: Any,
) -> tuple[int, int]:  # fmt: skip
    """Run Newton's method on the dual of a frame; return the claim (a Status) and the steps.

    `dual_form` gives the form; q is the exponent of a SINGLE_POWER (solve_frame.py). The matrix (R, padded) has the
    `hard` rows of the moments and below them the soft rows, of all n muscles; `cold`: MULTIPLIER is zero and not of a
    frame before. The method ends at the relative residual `best` of the moments NEAR the optimum, or, once steps no
    longer reduce the residual, at round-off; with `seek_proof` also with a proof that the moments are out of reach.
    ALL_LOWER, FREE_UPPER, P0, P1, P2 of w and TARGET, COMPLIANCE, SCALE and MULTIPLIER of s are inputs; BEST and
    MULTIPLIER receive the result; schur (R, R) and work (R, padded) are for work.
    """
    steps: Any = np.int64(0)
    first: Any = np.int64(0)  # the step of the cold start
    last, soft, rescalings = np.inf, s[COMPLIANCE, 0] > 0.0, MOST_RESCALINGS
    for r in range(rows):
        soft = soft and s[COMPLIANCE, r] > 0.0
    evaluate_dual(form, q, matrix, MULTIPLIER, rows, n, padded, w, s)
    while True:
        miss, total, required = 0.0, 0.0, 0.0
        for r in range(rows):
            part = abs(s[RESIDUAL, r]) / s[SCALE, r]
            miss = max(miss, part)
            total += part
            required += abs(s[TARGET, r]) / s[SCALE, r]
        if not total < np.inf:
            return MAX_ITERATIONS, steps
        there = miss <= best and (
            steps == first + max_steps or (steps > first and near(form, schur, rows, n, w, s))
        )
        if there or (miss <= tolerance and miss > 0.1 * last and rounded(matrix, rows, padded, w, s)):
            return SOLVED, steps
        last = miss
        if not cold and ((total > required and steps == 0) or steps == MOST_WARM):
            # worse than no activation at all, or of no help
            cold, first, rescalings, last = True, steps, MOST_RESCALINGS, np.inf
            for r in range(rows):
                s[MULTIPLIER, r] = 0.0
            evaluate_dual(form, q, matrix, MULTIPLIER, rows, n, padded, w, s)
            continue
        if rescalings > 0 and q > 2.0 and (form == SINGLE_POWER or form == CUBIC) and not soft:
            # activations of a power alone grow with the length of lambda to the power 1 / (q - 1)
            work_required, work_done = 0.0, 0.0
            for r in range(rows):
                work_required += s[MULTIPLIER, r] * s[TARGET, r]
                work_done += s[MULTIPLIER, r] * (s[TARGET, r] - s[RESIDUAL, r])
            ratio = work_required / work_done if work_required > 0.0 and work_done > 0.0 else 1.0
            if ratio < SHORT or ratio > LONG_BY:
                rescalings -= 1
                for r in range(rows):
                    s[MULTIPLIER, r] *= ratio ** (q - 1.0)
                evaluate_dual(form, q, matrix, MULTIPLIER, rows, n, padded, w, s)
                continue
        if seek_proof and steps >= first + PROOF_FROM:
            ratio = farkas_ratio(s[MULTIPLIER], s[TARGET, :hard], s[SCALE], PULL, ALL_LOWER, FREE_UPPER, n, w)
            if ratio > TOLERANCE:
                return INFEASIBLE, steps
        if steps == first + max_steps:
            return MAX_ITERATIONS, steps
        if cold and steps == first:
            first_compliances(form, q, n, padded, w)
        else:
            inverse_curvatures(form, q, 0.0 if soft else miss, padded, w)
        factorize_system(matrix, rows, padded, w, s, schur, work)
        for r in range(rows):
            s[RHS, r] = s[RESIDUAL, r]
        substitute(schur, s[DIAGONAL], rows, s[RHS])
        before = 0.0
        for r in range(rows):
            before += s[RHS, r] * s[RESIDUAL, r]
        length = 1.0
        for _ in range(MAX_TRIALS):
            after = 0.0
            for r in range(rows):
                s[TRIAL, r] = s[MULTIPLIER, r] + length * s[RHS, r]
            evaluate_dual(form, q, matrix, TRIAL, rows, n, padded, w, s)
            for r in range(rows):
                after += s[RHS, r] * s[RESIDUAL, r]
            if not after < -TOO_FAR * before:
                break
            length *= max(before / (before - after), SHORTEST_STEP)
        for r in range(rows):
            s[MULTIPLIER, r] = s[TRIAL, r]
        steps += 1
