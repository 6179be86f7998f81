"""Lexicographic min/max of one frame, compiled: a parametric simplex method in which the largest load falls.

With the loads f_i = rho_i a_i a level asks for the least t with A f = b and l_i <= f_i <= min(u_i, t). m muscles are
basic and are determined by the moments; every other muscle is at its lower bound, at its upper bound, or at t:

    f_B = B^-1 (b - N f_N),      row r of the tableau B^-1 N = the effect of the others on basic muscle r.

Two walks along straight lines, in which a basic muscle that reaches a bound changes places with another one:

- From a point with the basic muscles between their bounds to the moments: b(s) = (1 - s) A f + s b.
- Then t falls. A muscle at its upper bound joins t when t reaches that bound. Where t reaches a lower bound, this
  bound alone decides the level, with y = 0.

A muscle that reaches a bound can stay there if another one takes over: a muscle at its lower bound that rises, or one
at its upper bound or at t that falls. Where none can, the row y of B^-1 proves that the walk cannot go on, because all
muscles with p = A^T y other than zero are at the bounds that make y . A f the largest: y is the proof of the level, or
that the moments are out of reach (certificate.py). The muscles of this level keep their loads, and t falls further for
the others, from the same tableau.

Steps of no length may repeat. From STALLED such steps on the first muscle leaves and the first enters (Bland's rule
against cycles). The loads of the basic muscles are computed anew from the moments at the end.
"""

from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.compiled_code import compiled, int64, on_disk
from musclesolve.sharing.kernel import constants
from musclesolve.sharing.kernel.constants import LEAST_CHANGE

SOLVED, INFEASIBLE, FAILED = (
    int64(k) for k in (constants.SOLVED, constants.INFEASIBLE, constants.SOLVER_FAILED)
)
FIXED, PINNED, LOW, HIGH, TOP, BASIC = (int64(k) for k in range(6))
"""Places of a muscle: decided, without room between its bounds, at the lower bound, at the upper one, at t, basic."""
NOTHING = 1e-11  # level, as a share of the largest load at activation 1, at which the others are at rest
PIVOT = 1e-11  # least entry of a row, as a share of its largest one, by which muscles change places
SAME = 1e-12  # distance of two loads, as a share of the largest one, that counts as none
DEPENDENT = 1e-7  # largest entry of a row, less its share of others, at which it counts as dependent on them
SHORT = 1e-9  # load of a basic muscle, as a share of the largest one, that may be missing at the moments
UNMET = 1e-7  # moment, as a share of max(1 N m, |moment|), that may be lacking: a tenth of the certificate's tolerance
STALLED = int64(25)
MOST_STEPS = int64(50)  # for each muscle and moment


@compiled
def pivot(tab: Any, row: int, column: int) -> None:
    """Make a column of the tableau a unit vector with its one in `row`."""
    scale = 1.0 / tab[row, column]
    for j in range(tab.shape[1]):
        tab[row, j] *= scale
    for r in range(tab.shape[0]):
        factor = tab[r, column]
        if r != row and factor != 0.0:
            for j in range(tab.shape[1]):
                tab[r, j] -= factor * tab[row, j]
            tab[r, column] = 0.0


@compiled
def choose_basis(tab: Any, place: Any, basis: Any, hard: int) -> None:
    """Make the strongest independent columns basic; -1 in `basis` for a row that depends on others."""
    muscles = place.size
    for r in range(hard):
        basis[r] = -1
    for _ in range(hard):
        best, row, column = DEPENDENT, -1, -1
        for r in range(hard):
            if basis[r] < 0:
                for j in range(muscles):
                    if place[j] == LOW and abs(tab[r, j]) > best:
                        best, row, column = abs(tab[r, j]), r, j
        if row < 0:
            break
        pivot(tab, row, column)
        basis[row], place[column] = column, BASIC


@compiled
def entering(tab: Any, place: Any, row: int, side: float, first: bool) -> int:
    """The muscle that can hold basic muscle `row` at the bound reached (side 1: lower, -1: upper or t); -1 for none."""
    largest, best, column = 1.0, 0.0, -1
    for j in range(place.size):  # decided muscles included: what they leave of a row may be round-off alone
        largest = max(largest, abs(tab[row, j]))
    for j in range(place.size):
        entry = side * tab[row, j]
        able = (place[j] == LOW and entry < 0.0) or ((place[j] == HIGH or place[j] == TOP) and entry > 0.0)
        if able and abs(entry) > max(best, PIVOT * largest):
            best, column = abs(entry), j
            if first:
                break
    return column


@compiled
def leaving(rate: Any, x: Any, low: Any, top: float, high: Any, falls: float, basis: Any, held: Any,
            limit: float, close: float, first: bool) -> tuple[float, int, float]:  # fmt: skip
    """The length of the step, at most `limit`, the row of the basic muscle that ends it, -1 for none, and its side.

    x changes by `rate` for each unit of the step, and t by -falls.
    """
    best, row, side, steep = limit, -1, 0.0, 0.0
    for r in range(basis.size):
        i = basis[r]
        if i < 0 or held[r] != 0:
            continue
        for kind in range(3):
            if kind == 0:
                speed, gap, towards = -rate[r], x[i] - low[i], 1.0
            elif kind == 1:
                speed, gap, towards = rate[r], high[i] - x[i], -1.0
            else:
                speed, gap, towards = rate[r] + falls, top - x[i], -1.0
            if not speed > SAME:
                continue
            length = max(gap, 0.0) / speed
            tie = row >= 0 and length <= best + close
            if (
                length < best - close
                or (tie and not first and speed > steep)
                or (tie and first and i < basis[row])
            ):
                best, row, side, steep = min(length, best), r, towards, speed
    return best, row, side


@compiled
def goal_of(tab: Any, rhs: Any, x: Any, place: Any, row: int) -> float:
    """The load of the basic muscle of a row with which the moments `rhs` are met."""
    total = 0.0
    for k in range(rhs.size):
        total += tab[row, place.size + k] * rhs[k]
    for j in range(place.size):
        if place[j] != FIXED and place[j] != BASIC:
            total -= tab[row, j] * x[j]
    return total


@compiled
def reach_moments(tab: Any, rhs: Any, x: Any, low: Any, high: Any, place: Any, basis: Any, held: Any,
                  rate: Any, most: int) -> tuple[int, int, int, float]:  # fmt: skip
    """Walk to the moments; return the claim, the steps, and row and side of a proof of infeasibility."""
    still: Any = np.int64(0)
    for step in range(most):
        for r in range(basis.size):
            rate[r] = goal_of(tab, rhs, x, place, r) - (x[basis[r]] if basis[r] >= 0 else 0.0)
            if basis[r] < 0 and abs(rate[r]) > low[place.size + r]:
                return INFEASIBLE, step, r, -1.0 if rate[r] > 0.0 else 1.0
        length, row, side = leaving(rate, x, low, np.inf, high, 0.0, basis, held, 1.0, 0.0, still > STALLED)
        for r in range(basis.size):
            if basis[r] >= 0:
                x[basis[r]] += length * rate[r]
        if row < 0:
            return SOLVED, step, row, side
        still = still + 1 if length <= SAME else np.int64(0)
        column = entering(tab, place, row, side, still > STALLED)
        if column < 0:
            met = abs(1.0 - length) * abs(rate[row]) <= SHORT
            return SOLVED if met else INFEASIBLE, step, row, side
        i = basis[row]
        x[i], place[i] = (low[i], LOW) if side > 0.0 else (high[i], HIGH)
        pivot(tab, row, column)
        basis[row], place[column] = column, BASIC
    return FAILED, most, -1, 0.0


@compiled
def lower_levels(tab: Any, x: Any, low: Any, high: Any, place: Any, basis: Any, held: Any, rate: Any,
                 most: int, multiplier: Any) -> tuple[int, int, int]:  # fmt: skip
    """Let t fall to the last level; return claim, steps and number of levels, whose y go into `multiplier`."""
    hard, muscles, count = basis.size, place.size, 0
    still: Any = np.int64(0)
    top = 0.0
    for j in range(muscles):
        top = max(top, x[j] if place[j] != FIXED else 0.0)
    for step in range(most):
        # what t has reached: upper bounds, and lower bounds, which decide a level
        limit, stays, joins, waits = top, 0, -1, 0
        for r in range(hard):  # a basic muscle at a lower bound that t has reached leaves first
            waits += (
                basis[r] >= 0 and held[r] == 0 and low[basis[r]] > NOTHING and low[basis[r]] >= top - SAME
            )
        for j in range(muscles):
            if place[j] == HIGH and high[j] >= top - SAME:
                place[j] = TOP
            reached = low[j] > NOTHING and low[j] >= top - SAME and waits == 0
            if reached and place[j] != FIXED and place[j] != BASIC:
                x[j], place[j], stays = low[j], FIXED, 1
        if stays > 0 and count < multiplier.shape[0]:
            for r in range(hard):
                multiplier[count, r] = 0.0
            count += 1
        for j in range(muscles):
            if place[j] == HIGH and top - high[j] < limit:
                limit, joins = top - high[j], j
            elif place[j] != FIXED and place[j] != BASIC and NOTHING < low[j] < top - SAME:
                if top - low[j] < limit:
                    limit, joins = top - low[j], -1
        if top <= NOTHING:
            return SOLVED, step, count
        for r in range(hard):
            rate[r] = 0.0
            for j in range(muscles):
                if place[j] == TOP:
                    rate[r] += tab[r, j]
        length, row, side = leaving(rate, x, low, top, high, 1.0, basis, held, limit, SAME, still > STALLED)
        top = high[joins] if row < 0 and joins >= 0 else top - length
        for r in range(hard):
            if basis[r] >= 0:
                x[basis[r]] += length * rate[r]
        open_ = 0
        for j in range(muscles):
            if place[j] == TOP:
                x[j] = top
            open_ += place[j] != FIXED
        for r in range(hard):
            open_ -= basis[r] >= 0 and held[r] != 0
        if open_ == 0:
            return SOLVED, step, count
        still = still + 1 if length <= SAME else np.int64(0)
        if row < 0:
            continue
        i = basis[row]
        column = entering(tab, place, row, side, still > STALLED)
        above = side < 0.0 and high[i] > top - SAME
        if column >= 0:
            x[i], place[i] = low[i], LOW
            if side < 0.0:
                x[i], place[i] = (top, TOP) if above else (high[i], HIGH)
            pivot(tab, row, column)
            basis[row], place[column] = column, BASIC
            continue
        # a level: -side times the row is y
        total = 1.0 if above else 0.0
        for j in range(muscles):
            if place[j] == TOP:
                total -= side * tab[row, j]
        if not total > 0.0 or count == multiplier.shape[0]:
            return FAILED, step, count
        for r in range(hard):
            multiplier[count, r] = -side * tab[row, muscles + r] / total
        count += 1
        # the decided muscle with the largest share is held in the basis: it bears what muscles below LEAST_CHANGE shift
        largest, held[row] = 1.0, 1
        for j in range(muscles):
            if place[j] != FIXED and place[j] != BASIC and abs(tab[row, j]) > LEAST_CHANGE * total:
                place[j] = FIXED
                if abs(tab[row, j]) > largest:
                    largest, column = abs(tab[row, j]), j
        if column >= 0:
            x[i], place[i] = (low[i] if side > 0.0 else min(top, high[i])), FIXED
            pivot(tab, row, column)
            basis[row], place[column] = column, BASIC
    return FAILED, most, count


def walk(
    matrix, moment, load, lower, upper, start, open_,
    activation, multiplier, claim, iterations, tab, x, low, high, rhs, rate, place, basis, held,
):  # fmt: skip
    """Find the levels of every frame.

    The matrix A is (T, m, n), moments are (T, m), loads rho, bounds and the activations `start` of muscles that are not
    `open_` (T, n). Results: activation (T, n), multiplier (T, L, m) of every level, claim and iterations (T,). The
    tableau (m, n + m) and the others are for work.
    """
    hard, muscles = matrix.shape[1], matrix.shape[2]
    for t in range(matrix.shape[0]):
        a, heaviest = activation[t], 0.0
        for j in range(muscles):
            heaviest = max(heaviest, load[t, j] if open_[t, j] else 0.0)
        for j in range(muscles):
            a[j] = start[t, j]
            share = load[t, j] / heaviest if open_[t, j] and load[t, j] > 0.0 else 0.0
            low[j], high[j] = share * lower[t, j], share * upper[t, j]
            x[j], place[j] = low[j], FIXED if share == 0.0 else LOW
            if place[j] == LOW and high[j] - low[j] <= SAME:
                place[j] = PINNED
        for r in range(hard):
            size, rhs[r], held[r] = 0.0, moment[t, r], 0
            for j in range(muscles):
                if place[j] == FIXED:
                    rhs[r] -= matrix[t, r, j] * a[j]
                    tab[r, j] = 0.0
                else:
                    tab[r, j] = matrix[t, r, j] * heaviest / load[t, j]
                    size = max(size, abs(tab[r, j]))
            size = size if size > 0.0 else max(1.0, abs(moment[t, r]))
            for j in range(muscles):
                tab[r, j] /= size
            rhs[r] /= size
            for k in range(hard):
                tab[r, muscles + k] = 1.0 if r == k else 0.0
            low[muscles + r], high[muscles + r] = UNMET * max(1.0, abs(moment[t, r])) / size, size
        choose_basis(tab, place, basis, hard)
        for r in range(hard):
            if basis[r] >= 0:
                x[basis[r]] = low[basis[r]] + 0.5 * min(high[basis[r]] - low[basis[r]], 1.0)
        most = MOST_STEPS * (hard + muscles)
        found, steps, row, side = reach_moments(tab, rhs, x, low, high, place, basis, held, rate, most)
        claim[t], iterations[t] = found, steps
        if found == INFEASIBLE:
            for r in range(hard):
                multiplier[t, 0, r] = -side * tab[row, muscles + r] / high[muscles + r]
        if found != SOLVED:
            continue
        found, steps, levels = lower_levels(tab, x, low, high, place, basis, held, rate, most, multiplier[t])
        claim[t] = found
        iterations[t] += steps
        for k in range(levels):
            for r in range(hard):
                multiplier[t, k, r] *= heaviest / high[muscles + r]
        # the tableau has the round-off of all its changes: the basic loads are corrected by B^-1 (b - A a)
        for j in range(muscles):
            if load[t, j] > 0.0 and open_[t, j]:
                a[j] = x[j] * heaviest / load[t, j]
        for _ in range(2):
            for r in range(hard):
                rate[r] = moment[t, r]
                for j in range(muscles):
                    rate[r] -= matrix[t, r, j] * a[j]
                rate[r] /= high[muscles + r]
            for r in range(hard):
                if basis[r] >= 0:
                    for k in range(hard):
                        a[basis[r]] += tab[r, muscles + k] * rate[k] * heaviest / load[t, basis[r]]
        for j in range(muscles):
            a[j] = min(max(a[j], lower[t, j]), upper[t, j])


MESSAGE = "compiling the simplex method of min/max for this machine, once (a few seconds)"
_GIVEN = "r3? r2? r2? r2? r2? r2? b2?"
_RESULTS = "r2 r3 s1 i1"
WALK = on_disk(MESSAGE, Path(__file__).parent)(walk, _GIVEN, _RESULTS, "r2 r1 r1 r1 r1 r1 i1 i1 i1")
