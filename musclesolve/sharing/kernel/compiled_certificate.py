"""The certificate of one frame, compiled: from the problem's own arrays and the solver's result alone.

sharing/certificate.py is the definition, for any cost and any solver. This copy exists because recomputing the
certificate in numpy would take longer than solving; tests/sharing/kernel/test_kernel.py compares the two.

The terms of a cost are sums over k of f_kt times one of

    power        (c_i a_i)^p
    saturation   1 - (1 - (c_i a_i)^p)^(1/p)
    target       (c_i (a_i - e_i))^2

with rows c (and e after it) of `coefficient`, (Q, T, n). cost/cost_terms.py describes the terms as data.
"""

from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.compiled_code import compiled
from musclesolve.sharing.kernel.linear_algebra import largest_of

from musclesolve.sharing.kernel.constants import (  # isort: skip
    ALL_LOWER, ALL_PULL, ALL_UPPER, BESIDE_ROWS, HALF, INSIDE, LANES, LEAST_NORMAL, LEAST_REACH, LEAST_SIZE,
    MARGINAL, PULL_ERROR, ROUNDING, TERM_POWER, TERM_TARGET, THETA, UNCERTAIN, UNCERTAIN_WITH_RESERVES,
)  # fmt: skip


class Terms(NamedTuple):
    """The arrays of cost_terms.kernel_arrays."""

    kind: Any
    exponent: Any
    factor: Any
    row: Any
    coefficient: Any


@compiled
def value_of(terms: Terms, t: int, a: Any) -> float:
    """The cost of frame t for its activations a, (n,)."""
    total = 0.0
    for k in range(terms.kind.size):
        c, p, part = terms.coefficient[terms.row[k], t], terms.exponent[k], 0.0
        if terms.kind[k] == TERM_TARGET:
            e = terms.coefficient[terms.row[k] + 1, t]
            for i in range(a.size):
                miss = c[i] * (a[i] - e[i])
                part += miss * miss
        elif terms.kind[k] == TERM_POWER:
            if p == 2.0:
                for i in range(a.size):
                    x = c[i] * a[i]
                    part += x * x
            elif p == 3.0:
                for i in range(a.size):
                    x = c[i] * a[i]
                    part += x * x * x
            else:
                for i in range(a.size):
                    part += (c[i] * a[i]) ** p
        elif p == 2.0:  # 1 - root without the cancellation at rest
            for i in range(a.size):
                x = c[i] * a[i]
                part += x * x / (1.0 + np.sqrt(max((1.0 - x) * (1.0 + x), 0.0)))
        else:
            for i in range(a.size):
                part -= np.expm1(np.log1p(-min((c[i] * a[i]) ** p, 1.0)) / p)
        total += terms.factor[k, t] * part
    return total


@compiled
def slopes_of(terms: Terms, t: int, a: Any, out: Any) -> None:
    """Compute the marginal costs (n,) of frame t at activations a (n,) into `out`."""
    for i in range(a.size):
        out[i] = 0.0
    for k in range(terms.kind.size):
        c, p, f = terms.coefficient[terms.row[k], t], terms.exponent[k], terms.factor[k, t]
        if terms.kind[k] == TERM_TARGET:
            e = terms.coefficient[terms.row[k] + 1, t]
            for i in range(a.size):
                out[i] += 2.0 * f * c[i] * c[i] * (a[i] - e[i])
        elif terms.kind[k] == TERM_POWER and p == 1.0:
            for i in range(a.size):
                out[i] += f * c[i]
        elif terms.kind[k] == TERM_POWER and p == 2.0:
            for i in range(a.size):
                out[i] += 2.0 * f * c[i] * (c[i] * a[i])
        elif terms.kind[k] == TERM_POWER and p == 3.0:
            for i in range(a.size):
                x = c[i] * a[i]
                out[i] += 3.0 * f * c[i] * x * x
        else:
            add_slopes(terms.kind[k], p, f, c, a, a.size, out)


@compiled
def add_slopes(kind: int, p: float, f: float, c: Any, a: Any, n: int, out: Any) -> None:
    """Add the marginal costs, (n,), of a term that is neither quadratic nor cubic, for its row c and activations a."""
    if kind == TERM_POWER:
        for i in range(n):
            out[i] += f * p * c[i] * (c[i] * a[i]) ** (p - 1.0)
    elif p == 2.0:
        for i in range(n):
            x = c[i] * a[i]
            out[i] += f * c[i] * x / np.sqrt(max((1.0 - x) * (1.0 + x), 0.0))
    else:
        for i in range(n):
            x = c[i] * a[i]
            rest = max(-np.expm1(p * np.log(x)), 0.0)
            out[i] += f * c[i] * x ** (p - 1.0) * rest ** (1.0 / p - 1.0)


@compiled
def add_slopes_and_curvatures(
    kind: int, p: float, f: float, c: Any, a: Any, n: int, slope: Any, curvature: Any
) -> None:
    """Add slopes and curvatures (n,) of a term neither quadratic nor cubic at activations a (n,) above 0."""
    if kind == TERM_POWER:
        for i in range(n):
            x = c[i] * a[i]
            if x > 0.0:
                bent = f * p * c[i] * x ** (p - 2.0)
                slope[i] += bent * x
                curvature[i] += (p - 1.0) * bent * c[i]
    elif p == 2.0:
        for i in range(n):
            x = c[i] * a[i]
            rest = max((1.0 - x) * (1.0 + x), 0.0)
            steep = f * c[i] / np.sqrt(rest)
            slope[i] += steep * x
            curvature[i] += steep * c[i] / rest
    else:
        for i in range(n):
            x = c[i] * a[i]
            if x > 0.0:
                rest = max(-np.expm1(p * np.log(x)), 0.0)
                bent = f * c[i] * x ** (p - 2.0) * rest ** (1.0 / p - 1.0)
                slope[i] += bent * x
                curvature[i] += (p - 1.0) * bent * c[i] / rest


@compiled
def residual_of(
    data: Any, t: int, reserved: bool, weight: Any, activation: Any, reserve: Any, multiplier: Any, w: Any
) -> float:
    """The largest miss of stationarity, moments and reserves; infinite where one is not finite.

    The weight (m,) of reserves counts if `reserved`; ALL_LOWER and ALL_UPPER of w are inputs. Activation is (n,),
    reserve and multiplier are (m,).
    """
    arm, capacity, moment = data.moment_arm[t], data.force_capacity[t], data.moment[t]
    dofs, muscles = arm.shape
    # the second and third line; p in ALL_PULL, and the sums of e without the factor eps in PULL_ERROR
    missed, total = 0.0, 0.0
    for i in range(muscles):
        w[ALL_PULL + i], w[PULL_ERROR + i] = 0.0, 0.0
    for r in range(dofs):
        produced = 0.0
        for i in range(muscles):
            entry = arm[r, i] * capacity[i]
            produced += entry * activation[i]
            w[ALL_PULL + i] += multiplier[r] * entry
            w[PULL_ERROR + i] += abs(multiplier[r] * entry)
        scale = max(1.0, abs(moment[r]))
        expected = multiplier[r] / weight[r] if reserved else 0.0
        miss = abs(produced + reserve[r] - moment[r]) / scale
        apart = abs(reserve[r] - expected) / scale
        total += miss + apart
        missed = max(missed, max(miss, apart))
    # theta in THETA, and g at the activations within their bounds in MARGINAL; soft rows count in both
    reach = LEAST_REACH
    for i in range(muscles):
        w[INSIDE + i] = activation[i]
        if w[INSIDE + i] < w[ALL_LOWER + i]:
            w[INSIDE + i] = w[ALL_LOWER + i]
        if w[INSIDE + i] > w[ALL_UPPER + i]:
            w[INSIDE + i] = w[ALL_UPPER + i]
        reach = max(reach, w[INSIDE + i] - w[ALL_LOWER + i])
    change_of_slopes(data, t, reach, w)
    slopes_of(data.terms, t, w[INSIDE : INSIDE + muscles], w[HALF : HALF + muscles])
    most = 0.0
    for i in range(muscles):
        most = max(most, abs(w[HALF + i] - w[MARGINAL + i]) * (w[INSIDE + i] - w[ALL_LOWER + i]))
        w[MARGINAL + i] = w[HALF + i]
    for i in range(muscles):
        width = min(w[ALL_UPPER + i] - w[ALL_LOWER + i], reach)
        w[THETA + i] = limited(w[THETA + i], most, width, reach)
    add_rows(data, t, reach, w)
    for k in range(data.soft_target.shape[1]):
        row, there = data.soft_matrix[t, k], 0.0
        for i in range(muscles):
            there += row[i] * w[INSIDE + i]
        short = data.soft_weight[t, k] * (data.soft_target[t, k] - there)
        for i in range(muscles):
            w[MARGINAL + i] -= short * row[i]
    # the first line; where round-off hides p, the worst of p - e and p + e
    for i in range(muscles):
        w[INSIDE + i] = activation[i]
    padded = (muscles + LANES - 1) // LANES * LANES
    rows = INSIDE, MARGINAL, ALL_PULL, THETA, ALL_LOWER, ALL_UPPER, HALF
    worst = stationarity(*rows, muscles, muscles, padded, w)
    uncertain = UNCERTAIN_WITH_RESERVES if reserved else UNCERTAIN
    for i in range(muscles):
        size, error = w[THETA + i], ROUNDING * w[PULL_ERROR + i]
        if size < LEAST_NORMAL:  # lost in underflow, or a cost that is zero, which the definition tells apart
            worst = max(worst, activation[i] - w[ALL_LOWER + i])
        if not error <= uncertain * size:
            for end in (-error, error):
                excess = w[MARGINAL + i] - w[ALL_PULL + i] + end
                miss = miss_of(activation[i], excess, size, w[ALL_LOWER + i], w[ALL_UPPER + i])
                total += miss
                worst = max(worst, miss)
    return max(missed, worst) if total < np.inf else np.inf


@compiled
def stationarity(
    at: int, slope: int, pull: int, theta_at: int, low: int, high: int, work: int,
    count: int, n: int, padded: int, w: Any,
) -> float:  # fmt: skip
    """The largest miss of the first line in rows of w, for theta in row `theta_at`, which receives S; infinite for NaN.

    The first `count` entries of a row are used, n of them belong to muscles.
    """
    for i in range(count):
        steep = abs(w[slope + i])
        theta = w[theta_at + i] if w[theta_at + i] < np.inf else 0.0
        w[theta_at + i] = max(theta, steep) if steep < np.inf else theta
        w[work + i] = w[theta_at + i]
    least = LEAST_SIZE * largest_of(w, work, n, padded, 0.0)
    total = 0.0
    for i in range(count):
        size = max(max(w[theta_at + i], least), abs(w[pull + i]))
        w[theta_at + i] = size
        w[work + i] = miss_of(w[at + i], w[slope + i] - w[pull + i], size, w[low + i], w[high + i])
        total += w[work + i]
    worst = largest_of(w, work, n, padded, 0.0)
    return worst if total < np.inf else np.inf


@compiled
def miss_of(activation: float, excess: float, size: float, low: float, high: float) -> float:
    """The miss |a - clip(a - (g - p) / S)| of a muscle; an infinite slope g is a full miss, NaN stays NaN."""
    step = excess / size if excess != 0.0 else 0.0
    step = 1.0 if step > 1.0 else step
    step = -1.0 if step < -1.0 else step
    moved = activation - step
    moved = low if moved < low else moved
    moved = high if moved > high else moved
    return abs(activation - moved)


@compiled
def limited(change: float, most: float, width: float, reach: float) -> float:
    """The change of a marginal cost over half a width of activation, at most W over the width (certificate.py)."""
    return most / width if reach > LEAST_REACH and most > 0.0 and change * width > most else change


@compiled
def change_of_slopes(data: Any, t: int, reach: float, w: Any) -> None:
    """Compute theta without limit and soft rows, for one reach (problem_scale.slope_scale), into the row THETA.

    MARGINAL receives the slopes of the terms at the lower bounds.
    """
    muscles, terms = data.lower.shape[1], data.terms
    lower, half = w[ALL_LOWER : ALL_LOWER + muscles], w[HALF : HALF + muscles]
    for i in range(muscles):
        half[i] = lower[i] + 0.5 * min(w[ALL_UPPER + i] - lower[i], reach)
    slopes_of(terms, t, half, w[THETA : THETA + muscles])
    slopes_of(terms, t, lower, w[MARGINAL : MARGINAL + muscles])
    for i in range(muscles):
        w[THETA + i] = abs(w[THETA + i] - w[MARGINAL + i])


@compiled
def add_rows(data: Any, t: int, reach: float, w: Any) -> None:
    """Add the part of the soft rows to theta of all muscles for one reach, in the row THETA."""
    muscles = data.lower.shape[1]
    for k in range(data.soft_target.shape[1]):
        row, stiffness = data.soft_matrix[t, k], data.soft_weight[t, k]
        for i in range(muscles):
            half = 0.5 * min(w[ALL_UPPER + i] - w[ALL_LOWER + i], reach)
            w[THETA + i] += BESIDE_ROWS * stiffness * row[i] * row[i] * half


@compiled
def farkas_ratio(
    direction: Any, moment: Any, scale: Any, pull: int, low: int, high: int, n: int, w: Any
) -> float:
    """The Farkas ratio of a direction y (m,), for A^T y in the row `pull`, bounds in low and high (certificate.py).

    The moment (m,) [N m] comes with its scale max(1 N m, |b_k|), (m,).
    """
    required, size, reach = 0.0, 0.0, 0.0
    for r in range(moment.size):
        required += direction[r] * moment[r]
        size += abs(direction[r]) * scale[r]
    for i in range(n):
        reach += max(w[low + i] * w[pull + i], w[high + i] * w[pull + i])
    margin = (required - reach) / size
    return margin if abs(margin) < np.inf else -np.inf
