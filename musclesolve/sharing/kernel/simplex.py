"""Linear programs of single frames, compiled: a simplex method for variables between bounds.

    minimize c . x   subject to   A x = b,   lower <= x <= upper

The rows of A are orthonormalized first, T A = Q: of two rows that are nearly alike only their difference counts. As
many variables as there are rows are basic and follow from the equations; every other one is at a bound. The tableau
holds B^-1 Q and, beside it, E = B^-1 T, which gives the basic variables, x_B = E (b - N x_N), and the multipliers of
the equations as given, y = c_B E. The first basis are variables of the equations themselves, one for each, which have
to be zero.

Phase 1 minimizes the sum of what basic variables are beyond their bounds, phase 2 the cost. Where phase 1 ends with
such a sum left, its multipliers prove that there is no solution (Farkas). Nothing counts that is less than round-off:
a basic variable is beyond a bound only by more than sum_k |E_rk| d_k, with d_k the round-off of equation k, and a
reduced cost differs from zero only by more than the round-off of max_k (|c_B| |E|)_k sum_k |A_kj|. At the end the
tableau is built anew from its basis, and the search goes on from there, until this changes nothing.

Each variable is counted from its lower bound in units of its room, so that a weak muscle counts as much as a strong
one. Whoever uses the result evaluates it: nothing here is a proof (analysis/linear_program.py).
"""

from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.compiled_code import compiled, int64, on_disk
from musclesolve.sharing.kernel.level_walk import pivot

OPTIMAL, INFEASIBLE, FAILED = (int64(k) for k in range(3))
LOW, HIGH, BASIC, FIXED = (int64(k) for k in range(4))
"""Places of a variable: at its lower bound, at its upper bound, basic, without room between its bounds."""
UNIT = 2.0**-53
DEPENDENT = (
    1e-14  # what is left of a row, as a share of the row, at which it counts as a combination of others
)
PIVOT = 1e-10  # least entry of a column, as a share of its largest one, by which variables change places
SAME = 1e-13  # length of a step, as a share of the room of the variable, that counts as none
NOTHING = 1e-24  # value of a variable, as a share of its room, that is round-off of round-off
STALLED = int64(25)  # steps of no length after which the first variable enters and leaves (Bland's rule)
LOST = int64(100)  # steps of no length after which round-off decides, and the search ends where it is
MOST_STEPS = int64(50)  # for each variable and equation
RENEWALS = int64(4)


@compiled
def orthonormalize(start: Any, raw: Any, size: int) -> None:
    """Fill `start` (m, k + m) with Q and T of rows (m, k), the strongest remainder first; dependent rows are zero."""
    hard = raw.shape[0]
    for r in range(hard):
        for j in range(size):
            start[r, j] = raw[r, j]
        for k in range(hard):
            start[r, size + k] = 1.0 if r == k else 0.0
    for step in range(hard):
        best, row = -1.0, step
        for r in range(step, hard):
            total = 0.0
            for j in range(size):
                total += start[r, j] ** 2
            if total > best:
                best, row = total, r
        if row != step:
            for j in range(size + hard):
                start[row, j], start[step, j] = start[step, j], start[row, j]
        for _ in range(2):  # twice is enough
            for r in range(step):
                along = 0.0
                for j in range(size):
                    along += start[r, j] * start[step, j]
                for j in range(size + hard):
                    start[step, j] -= along * start[r, j]
        total = 0.0
        for j in range(size):
            total += start[step, j] ** 2
        norm = np.sqrt(total)
        if norm > DEPENDENT:
            for j in range(size + hard):
                start[step, j] /= norm
        else:
            for j in range(size):
                start[step, j] = 0.0
        for r in range(step + 1, hard):
            along = 0.0
            for j in range(size):
                along += start[step, j] * start[r, j]
            for j in range(size + hard):
                start[r, j] -= along * start[step, j]


@compiled
def renew(tab: Any, start: Any, basis: Any, fresh: Any, size: int) -> bool:
    """Build the tableau of a basis anew; return whether the basis still has an inverse.

    The variables of equations stay in their rows. The largest entry decides which variable comes next.
    """
    hard = basis.size
    for r in range(hard):
        fresh[r] = basis[r] if basis[r] >= size else -1
        for j in range(size + hard):
            tab[r, j] = start[r, j]
    for _ in range(hard):
        best, row, place = 0.0, -1, -1
        for r in range(hard):
            for q in range(hard):
                if fresh[r] < 0 and 0 <= basis[q] < size and abs(tab[r, basis[q]]) > best:
                    best, row, place = abs(tab[r, basis[q]]), r, q
        if row < 0:
            break
        pivot(tab, row, basis[place])
        fresh[row], basis[place] = basis[place], -1
    there = True
    for r in range(hard):
        basis[r] = fresh[r]
        there = there and fresh[r] >= 0
    return there


@compiled
def set_basic(tab: Any, start: Any, goal: Any, base: Any, sizes: Any, raw: Any, value: Any, basis: Any,
              held: Any, left: Any) -> None:  # fmt: skip
    """Compute the basic variables from the others, and again from what the equations then lack.

    held: (m,) the values of the variables of equations, which are basic in their rows. sizes: (m,) the sum of
    the sizes of the terms of each equation, `base` of those that are constant.
    """
    hard, size = raw.shape
    passes: Any = np.int64(2)
    for r in range(hard):
        if basis[r] < size:
            value[basis[r]] = 0.0
        else:
            passes = np.int64(3)
    for again in range(passes):
        for k in range(hard):
            left[k], sizes[k] = goal[k], base[k]
            for j in range(size):
                term = raw[k, j] * value[j]
                left[k] -= term
                sizes[k] += abs(term)
        for r in range(hard):
            change = 0.0
            if again < 2 and basis[r] < size:
                for k in range(hard):
                    change += tab[r, size + k] * left[k]
                value[basis[r]] += change
            elif again == 2:
                for k in range(hard):
                    change += start[r, size + k] * left[k]
                held[r] = change


@compiled
def search(tab: Any, start: Any, goal: Any, base: Any, sizes: Any, units: float, raw: Any, total: Any, cost: Any,
           width: Any, value: Any, place: Any, basis: Any, held: Any, left: Any, phase_cost: Any, reduced: Any,
           multiplier: Any, most: int) -> tuple[int, int]:  # fmt: skip
    """Walk from a basis to the optimum; return claim and steps. `multiplier` is y of the phase in which it ends."""
    hard, size = raw.shape
    still: Any = np.int64(0)
    beyond = True
    for step in range(most):
        set_basic(tab, start, goal, base, sizes, raw, value, basis, held, left)
        beyond = False
        for r in range(hard):
            unsure = NOTHING
            for k in range(hard):
                effect = abs(tab[r, size + k])
                if basis[r] >= size:
                    effect = max(effect, abs(start[r, size + k]))
                unsure += units * UNIT * effect * sizes[k]
            x, high = (value[basis[r]], 1.0) if basis[r] < size else (held[r], 0.0)
            if basis[r] < size and width[basis[r]] == np.inf:
                high = np.inf
            phase_cost[r] = 0.0
            if x < -unsure:
                phase_cost[r], beyond = -1.0, True
            elif x > high + unsure:
                phase_cost[r], beyond = 1.0, True
        if not beyond:
            for r in range(hard):
                phase_cost[r] = cost[basis[r]] if basis[r] < size else 0.0
        heaviest = 0.0
        for k in range(hard):
            multiplier[k], weight = 0.0, 0.0
            for r in range(hard):
                multiplier[k] += phase_cost[r] * tab[r, size + k]
                weight += abs(phase_cost[r] * tab[r, size + k])
            heaviest = max(heaviest, weight)
        for r in range(
            hard
        ):  # what y leaves of the reduced costs of basic variables is the error of the tableau
            left[r] = 0.0
            if basis[r] < size:
                left[r] = phase_cost[r]
                for k in range(hard):
                    left[r] -= multiplier[k] * raw[k, basis[r]]
        for k in range(hard):
            for r in range(hard):
                multiplier[k] += left[r] * tab[r, size + k]
        # the variable that enters
        largest, column, way = 0.0, -1, 1.0
        for j in range(size):
            reduced[j] = 0.0 if beyond else cost[j]
        for k in range(hard):
            if multiplier[k] != 0.0:
                for j in range(size):
                    reduced[j] -= multiplier[k] * raw[k, j]
        for j in range(size):
            if place[j] != LOW and place[j] != HIGH:
                continue
            gain = -reduced[j] if place[j] == LOW else reduced[j]
            noise = heaviest * total[j] + (0.0 if beyond else abs(cost[j]))
            if gain > max(largest, (hard + 4.0) * UNIT * noise):
                largest, column, way = gain, j, 1.0 if place[j] == LOW else -1.0
                if still > STALLED:
                    break
        if column < 0:
            return INFEASIBLE if beyond else OPTIMAL, step
        # the variable that leaves
        steepest = 0.0
        for r in range(hard):
            steepest = max(steepest, abs(tab[r, column]))
        length, row, side = width[column], -1, LOW
        length = 1.0 if length < np.inf else np.inf
        for r in range(hard):
            rate = -way * tab[r, column]
            if not abs(rate) > PIVOT * steepest:
                continue
            x, high = (value[basis[r]], 1.0) if basis[r] < size else (held[r], 0.0)
            if basis[r] < size and width[basis[r]] == np.inf:
                high = np.inf
            if beyond and phase_cost[r] < 0.0:
                if rate < 0.0:
                    continue
                room, end = -x, LOW
            elif beyond and phase_cost[r] > 0.0:
                if rate > 0.0:
                    continue
                room, end = x - high, HIGH
            elif rate > 0.0:
                room, end = high - x, HIGH
            else:
                room, end = x, LOW
            reach = max(room, 0.0) / abs(rate)
            tie = row >= 0 and abs(reach - length) <= SAME * max(1.0, length)
            if still > STALLED:
                better = reach < length or (reach == length and row >= 0 and basis[r] < basis[row])
            else:
                better = reach < length and not tie
                better = better or (tie and abs(rate) > abs(tab[row, column]))
            if better:
                length, row, side = reach, r, end
        if length == np.inf:
            return FAILED, step
        still = still + 1 if length <= SAME else np.int64(0)
        if still > LOST:
            break
        if row < 0:
            place[column] = HIGH if way > 0.0 else LOW
            value[column] = 1.0 if way > 0.0 else 0.0
            continue
        i = basis[row]
        if i < size:
            place[i], value[i] = side, 1.0 if side == HIGH else 0.0
        pivot(tab, row, column)
        basis[row], place[column] = column, BASIC
    return INFEASIBLE if beyond else OPTIMAL, most


def simplex(
    matrix, right, lower, upper, cost, units,
    x, multiplier, claim, steps,
    raw, start, tab, goal, base, sizes, held, left, phase_cost, scale, width, unit, slope, value, total, reduced,
    place, basis, fresh,
):  # fmt: skip
    """Solve programs of every frame: matrix (T, m, k), right-hand sides (T, m), bounds (T, k), costs (Q, T or 1, k).

    Upper bounds may be infinite. The equations hold to so many `units` in the last place of their largest terms. The
    first cost of a frame starts from the variables of equations, each further one from the optimum of the one before.
    Results: x (Q, T, k) within the bounds, multipliers (Q, T, m) of the optimum or of a proof, claim and steps (Q, T).
    The others are for work: raw (m, k), start and tab (m, k + m), goal to scale (m,), width to reduced and place (k,),
    basis and fresh (m,).
    """
    hard, size = matrix.shape[1], matrix.shape[2]
    for t in range(matrix.shape[0]):
        # variables in units of their room, equations in units of their largest entry
        needed = 0.0
        for k in range(hard):
            goal[k], base[k] = right[t, k], abs(right[t, k])
            for j in range(size):
                goal[k] -= matrix[t, k, j] * lower[t, j]
                base[k] += abs(matrix[t, k, j] * lower[t, j])
            needed = max(needed, abs(goal[k]))
        for j in range(size):
            width[j], largest = upper[t, j] - lower[t, j], 0.0
            for k in range(hard):
                largest = max(largest, abs(matrix[t, k, j]))
            unit[j] = width[j]
            if width[j] == np.inf:
                unit[j] = needed / largest if needed > 0.0 and largest > 0.0 else 1.0
        for k in range(hard):
            scale[k] = 0.0
            for j in range(size):
                raw[k, j] = matrix[t, k, j] * unit[j]
                scale[k] = max(scale[k], abs(raw[k, j]))
            if scale[k] == 0.0:
                scale[k] = abs(goal[k]) if goal[k] != 0.0 else 1.0
            for j in range(size):
                raw[k, j] /= scale[k]
                total[j] = (total[j] if k > 0 else 0.0) + abs(raw[k, j])
            goal[k] /= scale[k]
            base[k] /= scale[k]
        orthonormalize(start, raw, size)
        most = MOST_STEPS * (hard + size)
        for q in range(cost.shape[0]):
            for j in range(size):
                slope[j] = cost[q, min(t, cost.shape[1] - 1), j] * unit[j]
            if q == 0 or claim[q - 1, t] != OPTIMAL:
                for j in range(size):
                    place[j], value[j] = LOW if width[j] > 0.0 else FIXED, 0.0
                for r in range(hard):
                    basis[r] = size + r
                    for j in range(size + hard):
                        tab[r, j] = start[r, j]
            claim[q, t], steps[q, t] = FAILED, 0
            for _ in range(RENEWALS):
                found, taken = search(tab, start, goal, base, sizes, units, raw, total, slope, width, value, place,
                                      basis, held, left, phase_cost, reduced, multiplier[q, t], most)  # fmt: skip
                claim[q, t] = found
                steps[q, t] += taken
                if found == FAILED or (taken == 0 and (q > 0 or steps[q, t] > 0)):
                    break
                if not renew(tab, start, basis, fresh, size):
                    break
            for k in range(hard):
                multiplier[q, t, k] /= scale[k]
            for j in range(size):
                x[q, t, j] = min(max(lower[t, j] + unit[j] * value[j], lower[t, j]), upper[t, j])
                if place[j] == HIGH:
                    x[q, t, j] = upper[t, j]
                elif value[j] <= NOTHING:
                    x[q, t, j] = lower[t, j]


MESSAGE = "compiling the simplex method of margins and ranges for this machine, once (a few seconds)"
SIMPLEX = on_disk(MESSAGE, Path(__file__).parent)(
    simplex,
    "r3? r2? r2? r2? r3? r",
    "r3 r3 i2 i2",
    "r2 r2 r2 r1 r1 r1 r1 r1 r1 r1 r1 r1 r1 r1 r1 r1 i1 i1 i1",
)
