"""Newton's method on the dual of a frame's programme, compiled: tried before the interior point.

For prices lambda of the moments and soft rows (interior_point.py has A, b, C and f) each muscle is offered
p_i = (A^T lambda)_i for its activation, and answers by itself:

    a_i(p_i) = the a in [lower_i, upper_i] that is least of f_i(a) - p_i a
             = (f_i')^-1(p_i), held within the bounds.

So the marginal costs balance whatever lambda is, and only the moments are open,

    r(lambda) = b - A a(lambda) - C lambda,

the gradient of the concave dual function. With 1/f_i'' for muscles inside their bounds and 0 for those that are held in
H, the slope of r is -(A H A^T + C), and Newton's step solves

    (A H A^T + C) d = r.

It ends at the optimum as soon as it knows which muscles are held, for quadratic costs exactly, and needs two or three
steps from the prices of the frame before. What makes it safe:

- Along d the slope psi = d . r of the dual function falls. Where it has turned to less than -psi(0) / 2, the step went
  too far, and the secant of psi says where to look next.
- Muscles that are held count in H a little, HELD times the share of the moments that is missed: where all muscles of a
  moment are held the matrix would be singular. It vanishes with the miss, so that the end is as fast as ever. With
  reserves for every moment C does that.
- A cubic cost is flat at rest, 1/f'' infinite, and Newton's step for a_i = sqrt(p_i / P2) far too short or too long:
  1/f'' stays below what it is at the activation FLAT, and while much of the moments is missed part of it is a/f', the
  secant of the answer.
- Prices at which the moments asked for are worth more than anything the muscles can produce prove them out of reach
  (infeasibility.py); it ends there as well, mostly within a few steps. Not tried is a frame like that with the stiff
  reserves that then help it: at the edge of reach the prices jump from one muscle to the next.
- Prices of the frame before that miss more than no activation at all are forgotten.

Costs whose answers are known: polynomials f' = P0 + P1 a + P2 a^2 in each muscle, of which

    a = 2 (p - P0) / (P1 + R),      f''(a) = R = sqrt(P1^2 + 4 P2 (p - P0)),

soft saturation with exponent 2 alone, f' = f c x / sqrt(1 - x^2) with x = c a, of which x = y / sqrt(1 + y^2) with
y = p / (f c) and 1/f'' = (1 + y^2)^(-3/2) / (f c^2); and one power alone, x = (p / (f q c))^(1 / (q - 1)). Whatever
does not arrive within MOST_STEPS, or has another cost, is for the interior point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from musclesolve.sharing.certificate import TOLERANCE
from musclesolve.sharing.cost.cost_terms import POWER
from musclesolve.sharing.cost.cost_terms import TARGET as NEAR_TARGET
from musclesolve.sharing.kernel.compile import compiled, whole
from musclesolve.sharing.kernel.compiled_interior_point import (
    INFEASIBLE,
    MAX_ITERATIONS,
    SOLVED,
    excess_of_price,
    is_polynomial,
)
from musclesolve.sharing.kernel.compiled_terms import Terms
from musclesolve.sharing.kernel.linear_algebra import (
    NONE,
    add_pull,
    factorise,
    product_of,
    schur_of,
    substitute,
)
from musclesolve.sharing.kernel.workspace_layout import (
    ALL_LOWER,
    BENT,
    BEST,
    COMPLIANCE,
    DIAGONAL,
    INVERSE,
    MIDDLE,
    P0,
    P1,
    P2,
    PRICE,
    PULL,
    RHS,
    SCALE,
    SECANT,
    SHORT,
    TARGET,
    TOP,
    TRIAL,
)
from musclesolve.sharing.solver.interior_point import NO_ROOM

UNKNOWN, QUADRATIC, CUBIC, SATURATION, SINGLE_POWER = (whole(k) for k in range(5))
MOST_STEPS = whole(25)
MOST_TRIALS = whole(8)
FIRST_ACTIVATION = 0.15
"""At which the slopes of the first step are taken where there are no prices of a frame before."""

TOO_FAR = 0.5
SHORTEST = 0.1
HELD = 1e-6
FLAT = 1e-4
SECANT_SHARE = 0.3
HELD_POWER, FLAT_POWER, SECANT_SHARE_POWER = 1e-8, 1e-3, 1.0
"""The same for a SINGLE_POWER above the second, which may be much flatter at rest."""
PROOF_FROM = 3
STIFF = 1e100
"""Marginal cost of the activation of a muscle without room."""


@compiled
def known_cost(terms: Terms) -> int:
    """By which formula muscles answer; UNKNOWN for costs without one."""
    form, count = QUADRATIC, terms.kind.size
    for k in range(count):
        kind, p = terms.kind[k], terms.exponent[k]
        if is_polynomial(kind, p):
            if kind == POWER and p == 3.0 and form == QUADRATIC:
                form = CUBIC
        elif count > 1:
            form = UNKNOWN
        elif kind == POWER:
            form = SINGLE_POWER if p > 1.0 else UNKNOWN
        else:
            form = SATURATION if p == 2.0 else UNKNOWN
    return form if count > 0 else UNKNOWN


@compiled
def _flat(q: float) -> float:
    return FLAT_POWER if q > 2.0 else FLAT


@compiled
def prepare(terms: Terms, form: int, t: int, n: int, padded: int, w: Any) -> bool:
    """The numbers P0, P1, P2 of the answers of all n muscles; whether there are answers at all.

    They are, for a QUADRATIC cost, P0 and 1/P1; for a CUBIC one the three coefficients of f'; 1/(f c) and 1/c in P1
    and P2 for SATURATION; 1/(f q c) and 1/c in P1 and P2, (c FLAT)^(q-1) in P0, for a SINGLE_POWER q.
    """
    lost = 0
    if form == QUADRATIC or form == CUBIC:
        for i in range(padded):
            w[P0 + i], w[P1 + i], w[P2 + i] = 0.0, 0.0, 0.0
        for k in range(terms.kind.size):
            p, f, c = terms.exponent[k], terms.factor[k, t], terms.coefficient[terms.row[k], t]
            if terms.kind[k] == NEAR_TARGET:
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
            room = w[TOP + i] - w[ALL_LOWER + i] > NO_ROOM
            lost += room and not w[P1 + i] + w[P2 + i] > 0.0
            w[P0 + i] = w[P0 + i] if room else 0.0
            w[P1 + i] = w[P1 + i] if room else STIFF
            w[P2 + i] = w[P2 + i] if room else 0.0
        if form == QUADRATIC:
            for i in range(padded):
                w[P1 + i] = 1.0 / w[P1 + i]
        return lost == 0
    q, f, c = terms.exponent[0], terms.factor[0, t], terms.coefficient[terms.row[0], t]
    steep = f if form == SATURATION else f * q
    for i in range(n):
        room = w[TOP + i] - w[ALL_LOWER + i] > NO_ROOM
        lost += room and not steep * c[i] > 0.0
        w[P1 + i] = 1.0 / (steep * c[i]) if room else 0.0
        w[P2 + i] = 1.0 / c[i] if room else 0.0
    for i in range(n, padded):
        w[P1 + i], w[P2 + i] = 0.0, 0.0
    if form == SINGLE_POWER:
        for i in range(n):
            w[P0 + i] = (_flat(q) * c[i]) ** (q - 1.0)
        for i in range(n, padded):
            w[P0 + i] = 1.0
    return lost == 0


@compiled
def answers(form: int, q: float, n: int, padded: int, w: Any) -> None:
    """BEST: what the muscles do for PULL; 1/f'' of it in BENT, and a/f' of it in SECANT for costs that are not flat."""
    if form == QUADRATIC:
        for i in range(padded):
            w[BEST + i] = (w[PULL + i] - w[P0 + i]) * w[P1 + i]
    elif form == CUBIC:
        for i in range(padded):
            price = w[PULL + i] - w[P0 + i]
            root = np.sqrt(w[P1 + i] * w[P1 + i] + 4.0 * w[P2 + i] * max(price, 0.0))
            w[SECANT + i] = 2.0 / max(w[P1 + i] + root, 2.0 * FLAT * w[P2 + i])
            w[BENT + i] = 1.0 / max(root, 2.0 * FLAT * w[P2 + i])
            w[BEST + i] = 2.0 * price / max(w[P1 + i] + root, 1e-300)
    elif form == SATURATION:
        for i in range(padded):
            y = min(max(w[PULL + i] * w[P1 + i], -STIFF), STIFF)
            rest = 1.0 / np.sqrt(1.0 + y * y)
            w[SECANT + i] = rest * w[P1 + i] * w[P2 + i]
            w[BENT + i] = rest * rest * w[SECANT + i]
            w[BEST + i] = y * rest * w[P2 + i]
    else:
        power, least = 1.0 / (q - 1.0), 0.0
        for i in range(n):
            y = max(w[PULL + i] * w[P1 + i], least)
            x, flat = y**power, _flat(q) / w[P2 + i] if w[P2 + i] > 0.0 else 1.0
            w[SECANT + i] = w[P1 + i] * w[P2 + i] * max(x, flat) / max(y, w[P0 + i])
            w[BENT + i] = w[SECANT + i] * power
            w[BEST + i] = x * w[P2 + i]
        for i in range(n, padded):
            w[SECANT + i], w[BENT + i], w[BEST + i] = 0.0, 0.0, 0.0
    for i in range(padded):  # comparisons: what is no number is at rest
        inside = w[BEST + i] if w[BEST + i] > w[ALL_LOWER + i] else w[ALL_LOWER + i]
        w[BEST + i] = inside if inside < w[TOP + i] else w[TOP + i]


@compiled
def response(
    form: int, q: float, matrix: Any, at: int, rows: int, n: int, padded: int, w: Any, s: Any
) -> None:
    """What the muscles do for the prices in row `at` of s, and what is then missing: SHORT."""
    for i in range(padded):
        w[PULL + i] = 0.0
    add_pull(matrix, s[at], NONE, rows, padded, w, PULL)
    answers(form, q, n, padded, w)
    product_of(matrix, w, BEST, rows, padded, s[SHORT])
    for r in range(rows):
        s[SHORT, r] = s[TARGET, r] - s[SHORT, r] - s[COMPLIANCE, r] * s[at, r]


@compiled
def first_slopes(form: int, q: float, n: int, padded: int, w: Any) -> None:
    """INVERSE: how much more the muscles do for a higher price, at an ordinary activation."""
    for i in range(padded):
        w[INVERSE + i] = w[P1 + i]
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
def slopes_now(form: int, q: float, miss: float, padded: int, w: Any) -> None:
    """INVERSE: how much more the muscles do for a higher price, see the top."""
    flat = form == SINGLE_POWER and q > 2.0
    held = min(miss, 1.0) * (HELD_POWER if flat else HELD)
    if form == QUADRATIC:
        for i in range(padded):
            free = w[BEST + i] > w[ALL_LOWER + i] and w[BEST + i] < w[TOP + i]
            w[INVERSE + i] = w[P1 + i] if free else held * w[P1 + i]
    else:
        share = SECANT_SHARE_POWER if flat else SECANT_SHARE
        part = min(share * miss, 1.0) if flat or form == CUBIC else 0.0
        for i in range(padded):
            free = w[BEST + i] > w[ALL_LOWER + i] and w[BEST + i] < w[TOP + i]
            mixed = w[BENT + i] + part * (w[SECANT + i] - w[BENT + i])
            w[INVERSE + i] = mixed if free else held * w[BENT + i]


@compiled
def find_prices(
    form: int,
    q: float,
    matrix: Any,
    hard: int,
    rows: int,
    n: int,
    padded: int,
    cold: bool,
    tolerance: float,
    best: float,
    most_steps: int,
    seek_proof: bool,
    w: Any,
    s: Any,
    schur: Any,
) -> tuple[int, int]:
    """Newton's method on the prices of a frame; returns the claim (a Status) and the steps.

    Args:
        form: what known_cost says.
        q: the exponent of a SINGLE_POWER.
        matrix: (R, padded) moments and below them the soft rows of all muscles.
        hard: m, the rows that are moments.
        rows: R, those and the soft ones.
        n: muscles.
        padded: the same, up to a multiple of LANES.
        cold: whether PRICE is nothing but a place to begin.
        tolerance: share of a moment that may be missed.
        best: share at which it is done; as long as steps get it nearer to that, it goes on.
        most_steps: after which it is given up.
        seek_proof: end also with a proof that the moments are out of reach.
        w: see workspace_layout.py; ALL_LOWER, TOP, P0, P1, P2 are given, BEST is the answer.
        s: TARGET, COMPLIANCE, SCALE and PRICE are given; PRICE is the answer.
        schur: (R, R) for work.
    """
    steps: Any = np.int64(0)
    last, soft = np.inf, s[COMPLIANCE, 0] > 0.0
    for r in range(rows):
        soft = soft and s[COMPLIANCE, r] > 0.0
    response(form, q, matrix, PRICE, rows, n, padded, w, s)
    while True:
        miss, total = 0.0, 0.0
        for r in range(rows):
            part = abs(s[SHORT, r]) / s[SCALE, r]
            miss = max(miss, part)
            total += part
        if not total < np.inf:
            return MAX_ITERATIONS, steps
        if miss <= best or (miss <= tolerance and miss > 0.1 * last):
            return SOLVED, steps
        last = miss
        if miss > 1.0 and not cold and steps == 0:
            # worse than nothing at all
            cold = True
            for r in range(rows):
                s[PRICE, r] = 0.0
            response(form, q, matrix, PRICE, rows, n, padded, w, s)
            continue
        if seek_proof and steps >= PROOF_FROM and excess_of_price(ALL_LOWER, TOP, s, hard, n, w) > TOLERANCE:
            return INFEASIBLE, steps
        if steps == most_steps:
            return MAX_ITERATIONS, steps
        if cold and steps == 0:
            first_slopes(form, q, n, padded, w)
        else:
            slopes_now(form, q, 0.0 if soft else miss, padded, w)
        schur_of(matrix, w, INVERSE, MIDDLE, rows, padded, schur)
        for r in range(rows):
            schur[r, r] += s[COMPLIANCE, r]
            s[RHS, r] = s[SHORT, r]
        factorise(schur, s[DIAGONAL], rows)
        substitute(schur, s[DIAGONAL], rows, s[RHS])
        before = 0.0
        for r in range(rows):
            before += s[RHS, r] * s[SHORT, r]
        length = 1.0
        for _ in range(MOST_TRIALS):
            after = 0.0
            for r in range(rows):
                s[TRIAL, r] = s[PRICE, r] + length * s[RHS, r]
            response(form, q, matrix, TRIAL, rows, n, padded, w, s)
            for r in range(rows):
                after += s[RHS, r] * s[SHORT, r]
            if not after < -TOO_FAR * before:
                break
            length *= max(before / (before - after), SHORTEST)
        for r in range(rows):
            s[PRICE, r] = s[TRIAL, r]
        steps += 1
