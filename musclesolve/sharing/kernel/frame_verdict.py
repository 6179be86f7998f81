"""What becomes of each frame of a problem, compiled: solve, certify, prove, and the verdict.

A frame goes through the same stages as in sharing/solving.py: bounds within the domain of the cost; muscles that move
nothing at rest; Newton's method on the dual; if that does not arrive the interior point, after the nearest moments
where there are reserves; the certificate from the problem's own arrays; where it fails, a proof that the moments are
out of reach; where there is none, the interior point at the edge of reach (reserve_weight.AtEdge); where reserves may
help a frame that is out of reach, a second time with them. A frame without certificate or proof is LEFT to the method
that is slower.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from musclesolve.sharing.certificate import TOLERANCE
from musclesolve.sharing.kernel.compile import compiled, inlined, whole
from musclesolve.sharing.kernel.compiled_certificate import excess_of_direction, residual_of
from musclesolve.sharing.kernel.compiled_interior_point import (
    INFEASIBLE,
    MAX_ITERATIONS,
    SOLVED,
    gather_terms,
    minimise,
)
from musclesolve.sharing.kernel.compiled_terms import slopes_of, value_of
from musclesolve.sharing.kernel.dual_newton import MOST_STEPS, UNKNOWN, find_prices, prepare
from musclesolve.sharing.kernel.linear_algebra import NONE
from musclesolve.sharing.kernel.workspace_layout import (
    ALL_LOWER,
    ALL_UPPER,
    ANSWER,
    BEST,
    COMPLIANCE,
    GUESS,
    HALF,
    INSIDE,
    LANES,
    LAST,
    LOWER,
    MARGINAL,
    P0,
    P1,
    P2,
    PAID,
    PRICE,
    RESERVE_WEIGHT,
    ROWS_BENT,
    SCALE,
    TARGET,
    THETA,
    TOP,
    UPPER,
    WIDTH_OF_NONE,
)
from musclesolve.sharing.problem import HUGE
from musclesolve.sharing.problem_scale import BESIDE_ROWS
from musclesolve.sharing.reserve_weight import AT_EDGE, FALLBACK
from musclesolve.sharing.solver.interior_point import NO_ROOM
from musclesolve.sharing.solving import NOTHING
from musclesolve.sharing.status import Status

SOLVED_WITH_RESERVE, INVALID_INPUT = whole(Status.SOLVED_WITH_RESERVE), whole(Status.INVALID_INPUT)
LEFT = whole(-1)
"""The verdict on a frame that another method has to solve."""

NEAREST_FIRST, MAIN, NEAREST_AFTER, DUAL = whole(0), whole(1), whole(2), whole(3)
EDGE, STIFFER_EDGE = whole(4), whole(5)
MISSING_TOLERANCE, MISSING_ITERATIONS = 1e-9, whole(250)
ENOUGH = 10.0
"""Certificate, in tolerances, at which an answer of the dual method is taken."""


class Data(NamedTuple):
    """The arrays of the problem and of the cost."""

    moment_arm: Any
    moment: Any
    force_capacity: Any
    lower: Any
    upper: Any
    domain: Any  # (T, n) largest activations, or empty
    usable: Any  # (T,) whether what else belongs to the frame is finite, or empty
    reserve_weight: Any  # (T, m), or empty
    soft_matrix: Any  # (T, k, n)
    soft_target: Any  # (T, k)
    soft_weight: Any  # (T, k)
    terms: Any  # Terms
    form: int  # of the answers of muscles to prices, see dual_newton.py


class Pace(NamedTuple):
    """How fast activations may change from frame to frame (rate_limits.py); no limit where `time` is empty."""

    time: Any  # (T,) [s]
    activation_time: Any  # [s]
    deactivation_time: Any  # [s]
    before: Any  # (n,) activations of the last frame that was solved
    since: Any  # (1,) its time [s]; NaN before the first one


class Answer(NamedTuple):
    """The arrays of a solution."""

    activation: Any
    force: Any
    reserve: Any
    multiplier: Any
    status: Any
    residual: Any
    cost: Any
    iterations: Any
    proof: Any
    weight: Any


class Room(NamedTuple):
    """Arrays for work, the same for all frames."""

    w: Any  # see workspace_layout.py
    s: Any  # see workspace_layout.py
    whole: Any  # moments and soft rows of all muscles, (R, n), and zeros
    matrix: Any  # of those with room, (R, n)
    schur: Any  # (R, R)
    free: Any  # numbers of those with room, (n,)


@compiled
def load_frame(data: Data, t: int, room: Room) -> bool:
    """The bounds and the matrix of a frame; whether it consists of numbers that are finite and below 1e100."""
    w, whole, arm, capacity = room.w, room.whole, data.moment_arm[t], data.force_capacity[t]
    hard, muscles = arm.shape
    wrong = 0
    for i in range(muscles):
        wrong += not (
            abs(capacity[i]) < HUGE and abs(w[ALL_LOWER + i]) < HUGE and abs(w[ALL_UPPER + i]) < HUGE
        )
    for r in range(hard):
        wrong += not abs(data.moment[t, r]) < HUGE
        for i in range(muscles):
            whole[r, i] = arm[r, i] * capacity[i]
            wrong += not (abs(arm[r, i]) < HUGE and abs(whole[r, i]) < HUGE)
    for r in range(data.soft_target.shape[1]):
        for i in range(muscles):
            whole[hard + r, i] = data.soft_matrix[t, r, i]
    return wrong == 0 and (data.usable.size == 0 or data.usable[t])


@compiled
def bounds_of(data: Data, t: int, pace: Pace, w: Any) -> bool:
    """The bounds of a frame within its pace and within the domain of the cost; whether they leave any room."""
    empty, rated, rest, fade = 0, False, 0.0, 0.0
    if pace.time.size > 0 and pace.since[0] == pace.since[0]:
        rated, step = True, pace.time[t] - pace.since[0]
        rest = np.exp(-step / pace.activation_time) if pace.activation_time > 0.0 else 0.0
        fade = np.exp(-step / pace.deactivation_time) if pace.deactivation_time > 0.0 else 0.0
    for i in range(data.lower.shape[1]):
        # comparisons, not min and max: a bound that is NaN stays so
        low, high = data.lower[t, i], data.upper[t, i]
        if rated:
            least, most = fade * pace.before[i], 1.0 - rest * (1.0 - pace.before[i])
            low = least if least > low else low
            high = most if most < high else high
            if low > high and low <= high + TOLERANCE:
                low = data.upper[t, i] if low > data.upper[t, i] else low
                high = low
        if data.domain.size > 0 and data.domain[t, i] < high:
            high = data.domain[t, i]
        w[ALL_LOWER + i], w[ALL_UPPER + i] = low, high
        empty += low > high
    return empty == 0


@compiled
def rest(data: Data, t: int, room: Room) -> None:
    """TOP: bounds that hold muscles at rest which move nothing, unless the cost wants them active (solving.rested)."""
    w, muscles, hard = room.w, data.lower.shape[1], data.moment.shape[1]
    most, soft_most = 0.0, 0.0
    for i in range(muscles):
        w[HALF + i], w[INSIDE + i] = 0.0, 0.0
    for r in range(hard):
        for i in range(muscles):
            w[HALF + i] = max(w[HALF + i], abs(room.whole[r, i]))
    for r in range(hard, room.whole.shape[0]):
        for i in range(muscles):
            w[INSIDE + i] = max(w[INSIDE + i], abs(room.whole[r, i]))
    for i in range(muscles):
        most, soft_most = max(most, w[HALF + i]), max(soft_most, w[INSIDE + i])
    idle = 0
    for i in range(muscles):
        w[TOP + i] = w[ALL_UPPER + i]
        idle += w[HALF + i] <= NOTHING * most
    if idle > 0:
        slopes_of(data.terms, t, w[ALL_LOWER : ALL_LOWER + muscles], w[MARGINAL : MARGINAL + muscles])
        for i in range(muscles):
            nothing = w[HALF + i] <= NOTHING * most and w[INSIDE + i] <= NOTHING * soft_most
            if nothing and w[MARGINAL + i] >= 0.0:
                w[TOP + i] = w[ALL_LOWER + i]


@compiled
def load_interior_point(
    data: Data, t: int, room: Room, whole_cost: bool, reserved: bool
) -> tuple[int, int, int, int, bool]:
    """What `minimise` is given, for `attempt`: terms, rows, muscles with room, the same filled up, whether curved."""
    w, s, hard, muscles = room.w, room.s, data.moment.shape[1], data.lower.shape[1]
    count = data.terms.kind.size if whole_cost else 0
    rows = hard + data.soft_target.shape[1] if whole_cost else hard
    for r in range(hard):
        s[TARGET, r] = data.moment[t, r]
        s[SCALE, r] = max(1.0, abs(data.moment[t, r]))
        s[PRICE, r], s[COMPLIANCE, r] = 0.0, 0.0
        if not whole_cost:
            s[COMPLIANCE, r] = 1.0
        elif reserved:
            s[PRICE, r], s[COMPLIANCE, r] = s[GUESS, r], 1.0 / s[RESERVE_WEIGHT, r]
    for r in range(hard, rows):
        s[TARGET, r] = data.soft_target[t, r - hard]
        s[COMPLIANCE, r] = 1.0 / data.soft_weight[t, r - hard]
    n: Any = np.int64(0)
    for i in range(muscles):
        if w[TOP + i] - w[ALL_LOWER + i] > NO_ROOM:
            room.free[n] = i
            w[LOWER + n], w[UPPER + n], w[ROWS_BENT + n] = w[ALL_LOWER + i], w[TOP + i], 0.0
            n += 1
        elif w[ALL_LOWER + i] != 0.0:
            for r in range(rows):
                s[TARGET, r] -= room.whole[r, i] * w[ALL_LOWER + i]
    for r in range(rows):
        for j in range(n):
            room.matrix[r, j] = room.whole[r, room.free[j]]
    for r in range(hard, rows):
        for j in range(n):
            w[ROWS_BENT + j] += room.matrix[r, j] * room.matrix[r, j] / s[COMPLIANCE, r]
    curved = gather_terms(data.terms, count, t, room.free, n, w)
    padded = (max(n, 1) + LANES - 1) // LANES * LANES
    for j in range(n, padded):
        w[LOWER + j], w[UPPER + j], w[ROWS_BENT + j] = 0.0, WIDTH_OF_NONE, 0.0
        w[P0 + j], w[P1 + j], w[P2 + j] = 0.0, 1.0, 0.0
        for r in range(rows):
            room.matrix[r, j] = 0.0
    return count, rows, n, padded, curved


@inlined
def attempt(
    data: Data, t: int, room: Room, whole_cost: bool, reserved: bool, tolerance: float, max_iterations: int
) -> tuple[int, int, int]:
    """The interior point on one frame, with the whole cost, or with none and reserves of weight one.

    The weights of reserves are in RESERVE_WEIGHT where there are some, a guess of the multiplier in GUESS; the answer
    comes in BEST of the muscles room.free, and in ANSWER. Returns claim, iterations and how many muscles had room.
    """
    count, rows, n, padded, curved = load_interior_point(data, t, room, whole_cost, reserved)
    claim, iterations = minimise(
        data.terms,
        count,
        t,
        curved,
        room.matrix,
        data.moment.shape[1],
        rows,
        n,
        padded,
        tolerance,
        max_iterations,
        not (whole_cost and reserved),
        room.w,
        room.s,
        room.schur,
    )
    return claim, iterations, n


@compiled
def load_dual(data: Data, t: int, room: Room, reserved: bool) -> tuple[bool, bool]:
    """What `find_prices` is given, for `attempt_dual`; whether muscles answer at all, and whether there are prices."""
    w, s, hard, muscles = room.w, room.s, data.moment.shape[1], data.lower.shape[1]
    rows, padded = hard + data.soft_target.shape[1], (muscles + LANES - 1) // LANES * LANES
    for i in range(muscles, padded):
        w[ALL_LOWER + i], w[TOP + i] = 0.0, 0.0
    answers = prepare(data.terms, data.form, t, muscles, padded, w)
    for r in range(hard):
        s[TARGET, r] = data.moment[t, r]
        # what the muscles could do at all, where that is less than the certificate would see
        strength, row = 0.0, room.whole[r]
        for i in range(padded):
            strength += abs(row[i])
        s[SCALE, r] = max(1.0, abs(data.moment[t, r]))
        s[SCALE, r] = min(s[SCALE, r], strength) if strength > 0.0 else s[SCALE, r]
        s[COMPLIANCE, r] = 1.0 / s[RESERVE_WEIGHT, r] if reserved else 0.0
        s[PRICE, r] = s[LAST, r]
    for r in range(hard, rows):
        s[TARGET, r] = data.soft_target[t, r - hard]
        s[COMPLIANCE, r] = 1.0 / data.soft_weight[t, r - hard]
        s[PRICE, r] = s[LAST, r]
        s[SCALE, r] = 0.0
        for i in range(muscles):
            s[SCALE, r] = max(s[SCALE, r], abs(room.whole[r, i]))
    cold = not rows > 0
    for r in range(rows):
        cold = cold or not abs(s[PRICE, r]) < np.inf
    for r in range(rows):
        s[PRICE, r] = 0.0 if cold else s[PRICE, r]
    return answers, cold


@inlined
def attempt_dual(
    data: Data, t: int, room: Room, reserved: bool, tolerance: float, max_iterations: int
) -> tuple[int, int]:
    """Newton's method on the prices of one frame, from those of the last frame with an answer.

    The answer comes in BEST of all muscles, and in ANSWER. Returns claim and steps.
    """
    answers, cold = load_dual(data, t, room, reserved)
    hard, muscles, rows = data.moment.shape[1], data.lower.shape[1], room.schur.shape[0]
    claim, steps = find_prices(
        data.form,
        data.terms.exponent[0],
        room.whole,
        hard,
        rows,
        muscles,
        (muscles + LANES - 1) // LANES * LANES,
        cold,
        tolerance,
        # the reserves themselves are small beside the moments
        1e-3 * tolerance if reserved else tolerance,
        min(MOST_STEPS, max_iterations) if answers else NONE,
        not reserved and rows == hard,
        room.w,
        room.s,
        room.schur,
    )
    for r in range(hard):
        room.s[ANSWER, r] = room.s[PRICE, r]
    return claim, steps


@compiled
def remember(s: Any, hard: int) -> None:
    """The prices of an answer, for the next frame."""
    for r in range(s.shape[1]):
        s[LAST, r] = s[ANSWER, r] if r < hard else s[PRICE, r]


@compiled
def forget(s: Any) -> None:
    """No frame before."""
    for r in range(s.shape[1]):
        s[LAST, r] = np.nan


@compiled
def full_cost(data: Data, t: int, w: Any) -> float:
    """reserve_weight.full_cost of one frame."""
    muscles = data.lower.shape[1]
    lower, upper = w[ALL_LOWER : ALL_LOWER + muscles], w[ALL_UPPER : ALL_UPPER + muscles]
    slope, at_lower = w[MARGINAL : MARGINAL + muscles], w[THETA : THETA + muscles]
    half, middle = w[HALF : HALF + muscles], w[PAID : PAID + muscles]
    change = value_of(data.terms, t, upper) - value_of(data.terms, t, lower)
    for i in range(muscles):
        half[i] = 0.5 * min(upper[i] - lower[i], 1.0)
        middle[i] = lower[i] + half[i]
    slopes_of(data.terms, t, lower, at_lower)
    slopes_of(data.terms, t, middle, slope)
    for i in range(muscles):
        slope[i] = abs(slope[i] - at_lower[i])
    for k in range(data.soft_target.shape[1]):
        row, weight = data.soft_matrix[t, k], data.soft_weight[t, k]
        low, high = data.soft_target[t, k], data.soft_target[t, k]
        for i in range(muscles):
            low -= row[i] * lower[i]
            high -= row[i] * upper[i]
            slope[i] += BESIDE_ROWS * weight * row[i] * row[i] * half[i]
        change += 0.5 * weight * (high * high - low * low)
    total = 0.0
    for i in range(muscles):
        total += slope[i] * (upper[i] - lower[i]) if slope[i] < np.inf else 0.0
    full = max(0.5 * total, abs(change))
    return full if full > 0.0 and full < np.inf else 1.0


@compiled
def settle(data: Data, t: int, answer: Answer) -> int:
    """The numbers and the verdict of a frame whose certificate holds."""
    activation, capacity, status = answer.activation[t], data.force_capacity[t], SOLVED
    for i in range(activation.size):
        answer.force[t, i] = activation[i] * capacity[i]
    for r in range(data.moment.shape[1]):
        if abs(answer.reserve[t, r]) > TOLERANCE * max(1.0, abs(data.moment[t, r])):
            status = SOLVED_WITH_RESERVE
    value = value_of(data.terms, t, activation)
    for k in range(data.soft_target.shape[1]):
        short, row = data.soft_target[t, k], data.soft_matrix[t, k]
        for i in range(activation.size):
            short -= row[i] * activation[i]
        value += 0.5 * data.soft_weight[t, k] * short * short
    answer.cost[t] = value
    return status


@compiled
def blank(t: int, answer: Answer) -> None:
    """No numbers for a frame."""
    answer.residual[t], answer.cost[t] = np.nan, np.nan
    for r in range(answer.reserve.shape[1]):
        answer.reserve[t, r], answer.multiplier[t, r] = np.nan, np.nan
    for i in range(answer.activation.shape[1]):
        answer.activation[t, i], answer.force[t, i] = np.nan, np.nan


@compiled
def enter_proof(data: Data, t: int, direction: Any, answer: Answer, w: Any) -> bool:
    """Whether a direction proves that the moments are out of reach; enters it if so."""
    if not excess_of_direction(data, t, direction, w) > TOLERANCE:
        return False
    largest = 0.0
    for r in range(direction.size):
        largest = max(largest, abs(direction[r]))
    for r in range(answer.proof.shape[1]):
        answer.proof[t, r] = direction[r] / largest
    return True


@inlined
def solve_frame(
    data: Data, t: int, room: Room, answer: Answer, tolerance: float, max_iterations: int, may_help: bool
) -> int:
    """The verdict on frame t, whose bounds are in ALL_LOWER and ALL_UPPER; its numbers go to the answer."""
    w, s, hard, muscles = room.w, room.s, data.moment.shape[1], data.lower.shape[1]
    if not load_frame(data, t, room):
        return INVALID_INPUT
    rest(data, t, room)
    given = data.reserve_weight.size > 0
    reserved = given
    for r in range(hard):
        s[RESERVE_WEIGHT, r] = data.reserve_weight[t, r] if given else 0.0
    stage = DUAL if data.form != UNKNOWN else _surely(reserved)
    while True:
        at_edge = stage >= EDGE
        main = stage == MAIN or at_edge
        if stage == DUAL:
            claim, iterations = attempt_dual(data, t, room, reserved, tolerance, max_iterations)
            answer.iterations[t] += iterations
            if claim == MAX_ITERATIONS:
                stage = _surely(reserved)
                continue
            for i in range(muscles):
                answer.activation[t, i] = w[BEST + i]
        else:
            enough = tolerance if main else MISSING_TOLERANCE
            limit = max_iterations if main else MISSING_ITERATIONS
            claim, iterations, n = attempt(data, t, room, main, reserved or at_edge, enough, limit)
            if stage != NEAREST_AFTER:
                answer.iterations[t] += iterations
            if stage == NEAREST_FIRST:
                for r in range(hard):
                    s[GUESS, r] = s[RESERVE_WEIGHT, r] * s[ANSWER, r]
                stage = MAIN
                continue
            for i in range(muscles):
                answer.activation[t, i] = w[ALL_LOWER + i]
            for j in range(n):
                answer.activation[t, room.free[j]] = w[BEST + j]
        if main or (stage == DUAL and claim == SOLVED):
            for r in range(hard):
                answer.multiplier[t, r] = s[ANSWER, r]
                answer.reserve[t, r] = s[ANSWER, r] / s[RESERVE_WEIGHT, r] if reserved else 0.0
                answer.weight[t, r] = s[RESERVE_WEIGHT, r] if reserved else np.inf
            numbers = answer.activation[t], answer.reserve[t], answer.multiplier[t]
            answer.residual[t] = residual_of(data, t, reserved, s[RESERVE_WEIGHT], *numbers, w)
            if answer.residual[t] <= (ENOUGH * tolerance if stage == DUAL else TOLERANCE):
                if reserved == given:
                    remember(s, hard)
                return settle(data, t, answer)
            if stage == DUAL:
                stage = _surely(reserved)
                continue
            if reserved or stage == STIFFER_EDGE:
                return LEFT
            if stage == EDGE:
                for r in range(hard):
                    s[RESERVE_WEIGHT, r] *= AT_EDGE[1] / AT_EDGE[0]
                stage = STIFFER_EDGE
                continue
        if not enter_proof(data, t, s[ANSWER, :hard], answer, w):
            if stage == NEAREST_AFTER:
                full = full_cost(data, t, w)
                for r in range(hard):
                    size = max(1.0, abs(data.moment[t, r]))
                    s[RESERVE_WEIGHT, r], s[GUESS, r] = 2.0 * AT_EDGE[0] * full / (size * size), 0.0
                stage = EDGE
                continue
            stage = NEAREST_AFTER if stage == MAIN else _surely(reserved)
        elif not may_help:
            return INFEASIBLE
        else:
            full = full_cost(data, t, w)
            for r in range(hard):
                s[RESERVE_WEIGHT, r] = 2.0 * FALLBACK * full
            # prices at the edge of reach jump from muscle to muscle: not for Newton's method on the dual
            reserved = may_help
            stage = _surely(reserved)


@compiled
def _surely(reserved: bool) -> int:
    """The first stage of the interior point.

    Stiff reserves pay the muscles orders of magnitude more than the cost alone would: nearest moments first.
    """
    return NEAREST_FIRST if reserved else MAIN


@inlined
def verdict_on(
    data: Data,
    t: int,
    pace: Pace,
    room: Room,
    answer: Answer,
    tolerance: float,
    max_iterations: int,
    may_help: bool,
) -> bool:
    """Solve frame t; whether there is a verdict."""
    answer.iterations[t] = 0
    for r in range(data.moment.shape[1]):
        answer.proof[t, r] = np.nan
        answer.weight[t, r] = data.reserve_weight[t, r] if data.reserve_weight.size > 0 else np.inf
    some = bounds_of(data, t, pace, room.w)
    status = INFEASIBLE
    if some:
        status = solve_frame(data, t, room, answer, tolerance, max_iterations, may_help)
    elif not load_frame(data, t, room):
        status = INVALID_INPUT
    if status != SOLVED and status != SOLVED_WITH_RESERVE:
        blank(t, answer)
    elif pace.time.size > 0:
        pace.since[0] = pace.time[t]
        for i in range(data.lower.shape[1]):
            pace.before[i] = answer.activation[t, i]
    answer.status[t] = status
    return status != LEFT
