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

from musclesolve.sharing.kernel.constants import (  # isort: skip
    ALL_LOWER, ALL_PULL, ALL_UPPER, GAP, HALF, INSIDE, LEAST_NORMAL, MARGINAL, NEAR_BOUND, OF_TARGETS, PULL_ERROR, RISE,
    ROUNDED, TERM_POWER, TERM_TARGET, TOLERANCE, UNIT_ROUNDING, WHOLE_SLOPE,
)  # fmt: skip


TRIALS, FARTHER = 3, 16.0
"""Tries of a point beyond the minimum, each so many times as far, before the bound is taken."""
CLOSE = 4.0 * UNIT_ROUNDING  # least distance of this point, as a share of the activation


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
def add_rises(terms: Terms, t: int, a: Any, slope: Any, out: Any) -> None:
    """Compute the rise of the marginal costs (n,) of frame t near activations a (n,) into `out`: about f_i''(a_i).

    The rise of several terms that are no squares is the rise of the smallest power.
    """
    least = np.inf
    for i in range(a.size):
        out[i] = 0.0
    for k in range(terms.kind.size):
        c, p, f = terms.coefficient[terms.row[k], t], terms.exponent[k], terms.factor[k, t]
        if terms.kind[k] == TERM_TARGET or (terms.kind[k] == TERM_POWER and p == 2.0):
            for i in range(a.size):
                out[i] += 2.0 * f * c[i] * c[i]
        else:
            least = min(least, p - 1.0)
    if least < np.inf:
        for i in range(a.size):
            out[i] += least * abs(slope[i]) / a[i] if a[i] > 0.0 else 0.0


@compiled
def add_side(terms: Terms, t: int, a: Any, other: bool, w: Any) -> float:
    """Add (|g - p| + e) |a - y| over muscles, y beyond the minimum of f_i(x) - p_i x, at most at the bound.

    `other`: y on the other side of a, which only the round-off e of p and g allows, with e - |g - p|. MARGINAL,
    ALL_PULL, PULL_ERROR and RISE of w have g, p, e and the rise of g; INSIDE and HALF are for work.
    """
    n, reach, total = a.size, 2.0, 0.0
    for _ in range(TRIALS):
        total, short = 0.0, 0
        for i in range(n):
            miss = w[MARGINAL + i] - w[ALL_PULL + i]
            push = w[PULL_ERROR + i] - abs(miss) if other else w[PULL_ERROR + i] + abs(miss)
            low, high = w[ALL_LOWER + i], w[ALL_UPPER + i]
            step = push / w[RISE + i] if push > 0.0 else 0.0
            step = max(reach * step, CLOSE * a[i]) if push > 0.0 else 0.0
            y = a[i] - step if (miss > 0.0) != other else a[i] + step
            y = low if y < low else y
            w[INSIDE + i] = high if y > high else y
        slopes_of(terms, t, w[INSIDE : INSIDE + n], w[HALF : HALF + n])
        for i in range(n):
            miss, e = w[MARGINAL + i] - w[ALL_PULL + i], w[PULL_ERROR + i]
            push = e - abs(miss) if other else e + abs(miss)
            downward = (miss > 0.0) != other
            there, y = w[HALF + i] - w[ALL_PULL + i], w[INSIDE + i]
            beyond = there <= -e if downward else there >= e
            end = w[ALL_LOWER + i] if downward else w[ALL_UPPER + i]
            short += not beyond and y != end and push > 0.0
            distance = abs(a[i] - y) if beyond else abs(a[i] - end)
            total += push * distance if push > 0.0 and distance > 0.0 else 0.0
        if short == 0:
            break
        reach *= FARTHER
    return total


@compiled
def row_residual(data: Any, t: int, k: int, activation: Any) -> float:
    """The residual t_k - (G a)_k of soft row k at activations (n,)."""
    residual, row = data.soft_target[t, k], data.soft_matrix[t, k]
    for i in range(activation.size):
        residual -= row[i] * activation[i]
    return residual


@compiled
def of_reserve(multiplier: float, weight: float, reserve: float) -> float:
    """The part (lambda - w s)^2 / (2 w) of a reserve in the bound G; zero within the round-off of w s."""
    apart = abs(multiplier - weight * reserve)
    return 0.5 * apart * apart / weight if apart > ROUNDED * abs(multiplier) else 0.0


@compiled
def gap_of(
    data: Any, t: int, reserved: bool, weight: Any, activation: Any, reserve: Any, multiplier: Any, of_rows: Any, w: Any
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """The bound G on the excess, its unit W, the cost of missed moments and its part of the bound, the relative miss.

    The weight (m,) of reserves counts if `reserved`; ALL_LOWER and ALL_UPPER of w are inputs. Activation is (n,),
    reserve and multiplier are (m,), the multipliers `of_rows` of soft rows (k,). G is infinite for activations beyond
    their bounds.
    """
    arm, capacity, moment = data.moment_arm[t], data.force_capacity[t], data.moment[t]
    dofs, muscles = arm.shape
    rows, terms = data.soft_target.shape[1], data.terms
    excess, miss_cost, rounding, shift, missed, unit = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(muscles):
        w[ALL_PULL + i], w[PULL_ERROR + i] = 0.0, 0.0
    for r in range(dofs):
        produced, sums = 0.0, 0.0
        for i in range(muscles):
            entry = arm[r, i] * capacity[i]
            part = multiplier[r] * entry
            produced += entry * activation[i]
            sums += abs(entry) * activation[i]
            w[ALL_PULL + i] += part
            w[PULL_ERROR + i] += abs(part)
        miss = produced - moment[r]
        sums += abs(moment[r]) + abs(reserve[r])
        rounded = (muscles + dofs + 3.0) * UNIT_ROUNDING * abs(multiplier[r]) * sums
        shift += rounded
        if reserved and weight[r] < np.inf:
            miss += reserve[r]
            excess_given, worth = of_reserve(multiplier[r], weight[r], reserve[r]), multiplier[r] * miss
            excess_met = of_reserve(multiplier[r], weight[r], reserve[r] - miss)
            met = excess_met < excess_given + abs(worth)
            excess += excess_met if met else excess_given
            miss_cost += 0.0 if met else worth
            rounding += 0.0 if met else rounded
            shift += weight[r] * miss * (reserve[r] - 0.5 * miss) if met else worth
        else:
            excess = excess if reserve[r] == 0.0 else np.inf
            miss_cost += multiplier[r] * miss
            rounding += rounded
            shift += multiplier[r] * miss
        missed = max(missed, abs(miss) / max(1.0, abs(moment[r])))
    slopes_of(terms, t, activation, w[MARGINAL : MARGINAL + muscles])
    add_rises(terms, t, activation, w[MARGINAL : MARGINAL + muscles], w[RISE : RISE + muscles])
    q = 4.0
    for k in range(terms.exponent.size):
        q = max(q, terms.exponent[k] + 4.0)
    for i in range(muscles):
        w[WHOLE_SLOPE + i] = w[MARGINAL + i]  # the slope of the whole cost, soft rows included
        w[PULL_ERROR + i] *= (dofs + rows + 3.0) * UNIT_ROUNDING
        w[PULL_ERROR + i] += q * UNIT_ROUNDING * abs(w[MARGINAL + i])
    for k in range(rows):
        row, short = data.soft_matrix[t, k], data.soft_weight[t, k] * row_residual(data, t, k, activation)
        apart = of_rows[k] - short
        if abs(apart) > ROUNDED * abs(short):
            excess += 0.5 * apart * apart / data.soft_weight[t, k]
        for i in range(muscles):
            part = of_rows[k] * row[i]
            w[WHOLE_SLOPE + i] -= short * row[i]
            w[ALL_PULL + i] += part
            w[PULL_ERROR + i] += (dofs + rows + 3.0) * UNIT_ROUNDING * abs(part)
    outside = 0
    for i in range(muscles):
        a = activation[i]
        slope = abs(w[WHOLE_SLOPE + i])
        unit += slope * a if a > 0.0 and slope < np.inf else 0.0
        if a > w[ALL_LOWER + i] and abs(w[MARGINAL + i]) < LEAST_NORMAL:  # perhaps lost in underflow
            excess += LEAST_NORMAL * (w[ALL_UPPER + i] - w[ALL_LOWER + i])
        outside += not (a >= w[ALL_LOWER + i] and a <= w[ALL_UPPER + i])
    excess += add_side(terms, t, activation, False, w) + add_side(terms, t, activation, True, w)
    miss_cost = abs(miss_cost) + rounding
    if excess > GAP * unit or miss_cost > TOLERANCE * unit:  # slopes that cancel, and targets: the least W
        slopes_of(terms, t, w[ALL_LOWER : ALL_LOWER + muscles], w[HALF : HALF + muscles])
        rounded, drawn = 0.0, 0.0
        for i in range(muscles):
            slope = w[HALF + i]
            if abs(slope) < np.inf:
                rounded += UNIT_ROUNDING * abs(slope) * activation[i]
                width = w[ALL_UPPER + i] - w[ALL_LOWER + i]
                resting = activation[i] - w[ALL_LOWER + i] <= NEAR_BOUND * width
                drawn += OF_TARGETS * max(-slope, 0.0) * width if resting else 0.0
        unit = max(unit, rounded, drawn)
    return excess if outside == 0 else np.inf, unit, miss_cost, shift, missed


@compiled
def is_certified(excess: float, unit: float, miss_cost: float, missed: float) -> bool:
    """Return whether the numbers of `gap_of` certify a frame (certificate.py); NaN does not."""
    return excess <= GAP * unit and missed <= TOLERANCE and miss_cost <= TOLERANCE * unit


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
