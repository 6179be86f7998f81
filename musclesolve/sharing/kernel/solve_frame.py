"""One frame, compiled: solve it, certify the result or prove infeasibility, and set the status.

The stages are as in sharing/solving.py: bounds within the domain of the cost; idle muscles fixed at rest; Newton's
method on the dual; if that does not converge the interior point, after the nearest moments where there are reserves;
the certificate from the problem's own arrays; where it fails, a proof of infeasibility; where there is none, the
interior point at the edge of reach, with stiff reserves; where reserves are allowed for an infeasible frame, a
second time with them. A frame without certificate or proof is UNRESOLVED; the numpy method takes it. The interior
point is compiled apart (entry.py): the stages before it end with ONWARD or ONWARD_RESERVED where it has to go on.
"""

from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.compiled_code import compiled, inlined, int64
from musclesolve.sharing.kernel import constants
from musclesolve.sharing.kernel.compiled_certificate import (
    gap_of,
    is_certified,
    row_residual,
    slopes_of,
    value_of,
)
from musclesolve.sharing.kernel.compiled_interior_point import (
    INFEASIBLE,
    MAX_ITERATIONS,
    SOLVED,
    FreeProgram,
    gather_terms,
    minimize,
)
from musclesolve.sharing.kernel.dual_newton import (
    MAX_STEPS,
    SINGLE_POWER,
    UNKNOWN,
    prepare_primal,
    solve_dual,
)
from musclesolve.sharing.kernel.linear_algebra import ZERO

from musclesolve.sharing.kernel.constants import (  # isort: skip
    ALL_LOWER, ALL_PULL, ALL_UPPER, AT_EDGE, AT_LOWER, BESIDE_ROWS, BEST, BEST_MULTIPLIER, COMPLIANCE, FALLBACK,
    FREE_UPPER, GUESS, HALF, HUGE, IDLE, INSIDE, LANES, LOWER, MARGINAL, MULTIPLIER, NO_ROOM, OF_ROWS, P0, P1, P2,
    PADDING_WIDTH, PREVIOUS, PULL_ERROR, RESERVE_WEIGHT, ROW_CURVATURE, RateBounds, SCALE, TARGET, TOLERANCE,
    UNIT_ROUNDING, UPPER,
)  # fmt: skip

SOLVED_WITH_RESERVE, INVALID_INPUT = int64(constants.SOLVED_WITH_RESERVE), int64(constants.INVALID_INPUT)
UNRESOLVED = int64(constants.UNRESOLVED)

ONWARD, ONWARD_RESERVED = int64(constants.ONWARD), int64(constants.ONWARD_RESERVED)

NEAREST_FIRST, MAIN, NEAREST_AFTER, EDGE, STIFFER_EDGE = (int64(stage) for stage in range(5))
UNPROVED, BARELY, SURELY = (int64(proof) for proof in range(3))
MISSING_TOLERANCE, MISSING_ITERATIONS = 1e-9, int64(250)
MOST_REFINEMENTS = int64(8)
MOST_OF_DUAL = 4.0
"""Power up to which Newton's method on the dual comes before the interior point, which needs fewer steps above."""


class Data(NamedTuple):
    """The arrays of the problem and of the cost."""

    moment_arm: Any
    moment: Any
    force_capacity: Any
    lower: Any
    upper: Any
    domain: Any  # (T, n) largest activations, or empty
    usable: Any  # (T,) whether the other numbers of the frame are finite
    reserve_weight: Any  # (T, m), or empty
    soft_matrix: Any  # (T, k, n)
    soft_target: Any  # (T, k)
    soft_weight: Any  # (T, k)
    terms: Any  # Terms
    form: int  # formula that gives activations from multipliers, see dual_newton.py


class FrameOutput(NamedTuple):
    """The arrays of a solution."""

    activation: Any
    force: Any
    reserve: Any
    multiplier: Any
    status: Any
    gap: Any
    cost_bound: Any
    moment_error: Any
    cost: Any
    iterations: Any
    proof: Any
    weight: Any


class Workspace(NamedTuple):
    """Work arrays, shared by all frames."""

    w: Any  # see constants.py
    s: Any  # see constants.py
    full_matrix: Any  # moments and soft rows of all muscles, (R, n), padded with zeros
    matrix: Any  # of the free muscles, (R, n), and R rows for work
    schur: Any  # (R, R)
    free: Any  # numbers of the free muscles, (n,)


@compiled
def load_frame(data: Data, t: int, work: Workspace) -> bool:
    """Load the bounds and the matrix of a frame; return whether all its numbers are below 1e100."""
    w, full, arm, capacity = work.w, work.full_matrix, data.moment_arm[t], data.force_capacity[t]
    hard, muscles = arm.shape
    wrong = 0
    for i in range(muscles):
        wrong += not (
            abs(capacity[i]) < HUGE and abs(w[ALL_LOWER + i]) < HUGE and abs(w[ALL_UPPER + i]) < HUGE
        )
    for r in range(hard):
        wrong += not abs(data.moment[t, r]) < HUGE
        for i in range(muscles):
            full[r, i] = arm[r, i] * capacity[i]
            wrong += not (abs(arm[r, i]) < HUGE and abs(full[r, i]) < HUGE)
    for r in range(data.soft_target.shape[1]):
        for i in range(muscles):
            full[hard + r, i] = data.soft_matrix[t, r, i]
    return wrong == 0 and data.usable[t]


@compiled
def bounds_of(data: Data, t: int, rate: RateBounds, w: Any) -> bool:
    """Set the bounds of a frame by rate limits and domain of the cost; return whether they leave a range."""
    empty, rated, e_a, e_d = 0, False, 0.0, 0.0
    if rate.time.size > 0 and rate.since[0] == rate.since[0]:
        rated, step = True, rate.time[t] - rate.since[0]
        e_a = np.exp(-step / rate.activation_time) if rate.activation_time > 0.0 else 0.0
        e_d = np.exp(-step / rate.deactivation_time) if rate.deactivation_time > 0.0 else 0.0
    for i in range(data.lower.shape[1]):
        # comparisons, not min and max: a bound that is NaN stays so
        low, high = data.lower[t, i], data.upper[t, i]
        if rated:
            least, most = e_d * rate.before[i], 1.0 - e_a * (1.0 - rate.before[i])
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
def fix_idle_muscles(data: Data, t: int, work: Workspace) -> None:
    """Write upper bounds that fix idle muscles at rest into FREE_UPPER (solving.fix_idle_muscles)."""
    w, muscles, hard = work.w, data.lower.shape[1], data.moment.shape[1]
    most, soft_most = 0.0, 0.0
    for i in range(muscles):
        w[HALF + i], w[INSIDE + i] = 0.0, 0.0
    for r in range(hard):
        for i in range(muscles):
            w[HALF + i] = max(w[HALF + i], abs(work.full_matrix[r, i]))
    for r in range(hard, work.full_matrix.shape[0]):
        for i in range(muscles):
            w[INSIDE + i] = max(w[INSIDE + i], abs(work.full_matrix[r, i]))
    for i in range(muscles):
        most, soft_most = max(most, w[HALF + i]), max(soft_most, w[INSIDE + i])
    idle = 0
    for i in range(muscles):
        w[FREE_UPPER + i] = w[ALL_UPPER + i]
        idle += w[HALF + i] <= IDLE * most
    if idle > 0:
        slopes_of(data.terms, t, w[ALL_LOWER : ALL_LOWER + muscles], w[MARGINAL : MARGINAL + muscles])
        for i in range(muscles):
            nothing = w[HALF + i] <= IDLE * most and w[INSIDE + i] <= IDLE * soft_most
            if nothing and w[MARGINAL + i] >= 0.0:
                w[FREE_UPPER + i] = w[ALL_LOWER + i]


@compiled
def run_interior_point(
    data: Data, t: int, work: Workspace, with_cost: bool, reserved: bool, tolerance: float, max_iterations: int
) -> tuple[int, int, int]:  # fmt: skip
    """Run the interior point on one frame, with the cost, or without a cost and with reserves of weight one.

    RESERVE_WEIGHT has the weights of reserves, if there are any, and GUESS a guess of the multiplier. BEST, of the
    muscles work.free, and BEST_MULTIPLIER receive the result. Returns claim, iterations and number of free muscles.
    """
    w, s, hard, muscles = work.w, work.s, data.moment.shape[1], data.lower.shape[1]
    count = data.terms.kind.size if with_cost else 0
    rows = hard + data.soft_target.shape[1] if with_cost else hard
    for r in range(hard):
        s[TARGET, r] = data.moment[t, r]
        s[SCALE, r] = max(1.0, abs(data.moment[t, r]))
        s[MULTIPLIER, r], s[COMPLIANCE, r] = 0.0, 0.0
        if not with_cost:
            s[COMPLIANCE, r] = 1.0
        elif reserved:
            s[MULTIPLIER, r], s[COMPLIANCE, r] = s[GUESS, r], 1.0 / s[RESERVE_WEIGHT, r]
    for r in range(hard, rows):
        s[TARGET, r] = data.soft_target[t, r - hard]
        s[COMPLIANCE, r] = 1.0 / data.soft_weight[t, r - hard]
    n: Any = np.int64(0)
    for i in range(muscles):
        if w[FREE_UPPER + i] - w[ALL_LOWER + i] > NO_ROOM:
            work.free[n] = i
            w[LOWER + n], w[UPPER + n], w[ROW_CURVATURE + n] = w[ALL_LOWER + i], w[FREE_UPPER + i], 0.0
            n += 1
        elif w[ALL_LOWER + i] != 0.0:
            for r in range(rows):
                s[TARGET, r] -= work.full_matrix[r, i] * w[ALL_LOWER + i]
    for r in range(rows):
        for j in range(n):
            work.matrix[r, j] = work.full_matrix[r, work.free[j]]
    for r in range(hard, rows):
        for j in range(n):
            w[ROW_CURVATURE + j] += work.matrix[r, j] * work.matrix[r, j] / s[COMPLIANCE, r]
    curved = gather_terms(data.terms, count, t, work.free, n, w)
    padded = (max(n, 1) + LANES - 1) // LANES * LANES
    for j in range(n, padded):
        w[LOWER + j], w[UPPER + j], w[ROW_CURVATURE + j] = 0.0, PADDING_WIDTH, 0.0
        w[P0 + j], w[P1 + j], w[P2 + j] = 0.0, 1.0, 0.0
        for r in range(rows):
            work.matrix[r, j] = 0.0
    program = FreeProgram(
        data.terms, count, t, curved, work.matrix, hard, rows, n, padded, w, s, work.schur
    )  # fmt: skip
    claim, steps = minimize(program, tolerance, max_iterations, not (with_cost and reserved))
    return claim, steps, n


@compiled
def run_dual_newton(
    data: Data, t: int, work: Workspace, reserved: bool, tolerance: float, max_iterations: int
) -> tuple[int, int]:
    """Run Newton's method on the dual of one frame, from the multipliers of the last frame with a certificate.

    BEST, of all muscles, and BEST_MULTIPLIER receive the result. Returns claim and steps.
    """
    w, s, hard, muscles = work.w, work.s, data.moment.shape[1], data.lower.shape[1]
    rows, padded = hard + data.soft_target.shape[1], (muscles + LANES - 1) // LANES * LANES
    for i in range(muscles, padded):
        w[ALL_LOWER + i], w[FREE_UPPER + i] = 0.0, 0.0
    invertible = prepare_primal(data.terms, data.form, t, muscles, padded, w)
    for r in range(hard):
        s[TARGET, r] = data.moment[t, r]
        # the largest moment of the muscles, where it is below the tolerance of the certificate
        strength, row = 0.0, work.full_matrix[r]
        for i in range(padded):
            strength += abs(row[i])
        s[SCALE, r] = max(1.0, abs(data.moment[t, r]))
        s[SCALE, r] = min(s[SCALE, r], strength) if strength > 0.0 else s[SCALE, r]
        s[COMPLIANCE, r] = 1.0 / s[RESERVE_WEIGHT, r] if reserved else 0.0
        s[MULTIPLIER, r] = s[PREVIOUS, r]
    for r in range(hard, rows):
        s[TARGET, r] = data.soft_target[t, r - hard]
        s[COMPLIANCE, r] = 1.0 / data.soft_weight[t, r - hard]
        s[MULTIPLIER, r] = s[PREVIOUS, r]
        s[SCALE, r] = 0.0
        for i in range(muscles):
            s[SCALE, r] = max(s[SCALE, r], abs(work.full_matrix[r, i]))
    cold = not rows > 0
    for r in range(rows):
        cold = cold or not abs(s[MULTIPLIER, r]) < np.inf
    for r in range(rows):
        s[MULTIPLIER, r] = 0.0 if cold else s[MULTIPLIER, r]
    best = 1e-3 * tolerance if reserved else tolerance  # the reserves themselves are small beside the moments
    most = min(MAX_STEPS, max_iterations) if invertible else ZERO
    sizes, arrays = (hard, rows, muscles, padded), (w, s, work.schur, work.matrix)
    seek_proof, exponent = not reserved and rows == hard, data.terms.exponent[0]
    claim, steps = solve_dual(
        data.form, exponent, work.full_matrix, *sizes, cold, tolerance, best, most, seek_proof, *arrays
    )
    for r in range(hard):
        s[BEST_MULTIPLIER, r] = s[MULTIPLIER, r]
    return claim, steps


@compiled
def full_cost(data: Data, t: int, w: Any) -> float:
    """The change of the cost of one frame from rest to full activation, as in problem_scale.full_cost."""
    muscles, total = data.lower.shape[1], 0.0
    lower, upper = w[ALL_LOWER : ALL_LOWER + muscles], w[ALL_UPPER : ALL_UPPER + muscles]
    change = value_of(data.terms, t, upper) - value_of(data.terms, t, lower)
    for k in range(data.soft_target.shape[1]):
        row, low, high = data.soft_matrix[t, k], data.soft_target[t, k], data.soft_target[t, k]
        for i in range(muscles):
            low -= row[i] * lower[i]
            high -= row[i] * upper[i]
        change += 0.5 * data.soft_weight[t, k] * (high * high - low * low)
    half, at_half, at_lower = (
        w[INSIDE : INSIDE + muscles],
        w[HALF : HALF + muscles],
        w[MARGINAL : MARGINAL + muscles],
    )
    for i in range(muscles):
        half[i] = lower[i] + 0.5 * min(upper[i] - lower[i], 1.0)
    slopes_of(data.terms, t, half, at_half)
    slopes_of(data.terms, t, lower, at_lower)
    for i in range(muscles):  # theta of problem_scale.slope_scale
        theta = abs(at_half[i] - at_lower[i])
        for k in range(data.soft_target.shape[1]):
            entry = data.soft_matrix[t, k, i]
            theta += BESIDE_ROWS * data.soft_weight[t, k] * entry * entry * (half[i] - lower[i])
        total += theta * (upper[i] - lower[i]) if theta < np.inf else 0.0
    full = max(0.5 * total, abs(change))
    return full if full > 0.0 and full < np.inf else 1.0


@compiled
def accept(data: Data, t: int, output: FrameOutput) -> int:
    """Complete the output of a frame whose certificate holds; return its status."""
    activation, capacity, status = output.activation[t], data.force_capacity[t], SOLVED
    for i in range(activation.size):
        output.force[t, i] = activation[i] * capacity[i]
    for r in range(data.moment.shape[1]):
        if abs(output.reserve[t, r]) > TOLERANCE * max(1.0, abs(data.moment[t, r])):
            status = SOLVED_WITH_RESERVE
    return status


@compiled
def certify(
    data: Data, t: int, reserved: bool, weight: Any, of_rows: Any, output: FrameOutput, w: Any
) -> bool:  # fmt: skip
    """Compute gap, cost, its bound and the miss of the moments of the output; return whether the frame is certified."""
    activation, reserve, multiplier = output.activation[t], output.reserve[t], output.multiplier[t]
    excess, unit, miss_cost, shift, missed = gap_of(
        data, t, reserved, weight, activation, reserve, multiplier, of_rows, w
    )
    value, of_reserves = value_of(data.terms, t, activation), 0.0
    for k in range(data.soft_target.shape[1]):
        short = row_residual(data, t, k, activation)
        value += 0.5 * data.soft_weight[t, k] * short * short
    if reserved:
        for r in range(reserve.size):
            of_reserves += 0.5 * weight[r] * reserve[r] * reserve[r] if weight[r] < np.inf else 0.0
    gap = excess / unit if excess > 0.0 else excess
    output.gap[t] = gap if gap == gap else np.inf
    output.moment_error[t] = missed if missed == missed else np.inf
    power, whole = 2.0, value + of_reserves
    for k in range(data.terms.exponent.size):
        power = max(power, data.terms.exponent[k])
    whole -= (activation.size + power + 4.0) * UNIT_ROUNDING * abs(whole)
    output.cost[t], output.cost_bound[t] = value, whole - excess - shift
    return is_certified(excess, unit, miss_cost, missed)


@compiled
def rows_from(data: Data, t: int, activation: Any, of_rows: Any) -> None:
    """Compute the multipliers w (t - G a) of the soft rows that activations (n,) imply into `of_rows` (k,)."""
    for k in range(data.soft_target.shape[1]):
        of_rows[k] = data.soft_weight[t, k] * row_residual(data, t, k, activation)


@compiled
def record_proof(data: Data, t: int, direction: Any, output: FrameOutput, w: Any) -> int:
    """Return how far a direction proves infeasibility by the problem's arrays, and record a proof.

    It is a proof where y . b exceeds what the muscles reach by more than the round-off of both: BARELY where a sharing
    may still miss the moments by no more than a certificate allows, else SURELY.
    """
    arm, capacity, moment = data.moment_arm[t], data.force_capacity[t], data.moment[t]
    hard, muscles = arm.shape
    largest, margin, size, allowed = 0.0, 0.0, 0.0, 0.0
    for i in range(muscles):
        w[ALL_PULL + i], w[PULL_ERROR + i] = 0.0, 0.0
    for r in range(hard):
        largest = max(largest, abs(direction[r]))
        margin += direction[r] * moment[r]
        size += abs(direction[r] * moment[r])
        allowed += TOLERANCE * abs(direction[r]) * max(1.0, abs(moment[r]))
        for i in range(muscles):
            part = direction[r] * (arm[r, i] * capacity[i])
            w[ALL_PULL + i] += part
            w[PULL_ERROR + i] += abs(part)
    for i in range(muscles):
        low, high = w[ALL_LOWER + i], w[ALL_UPPER + i]
        margin -= max(low * w[ALL_PULL + i], high * w[ALL_PULL + i])
        size += max(abs(low), abs(high)) * w[PULL_ERROR + i]
    if not (margin > (hard + muscles + 3.0) * UNIT_ROUNDING * size and margin < np.inf):
        return UNPROVED
    for r in range(hard):
        output.proof[t, r] = direction[r] / largest
    return SURELY if margin > allowed else BARELY


@compiled
def certified(
    data: Data, t: int, work: Workspace, output: FrameOutput, reserved: bool, weighted: bool, dual: bool
) -> bool:  # fmt: skip
    """Complete the output by BEST_MULTIPLIER; return whether its certificate holds, and keep the multipliers then.

    `dual`: MULTIPLIER has the multipliers of the soft rows; otherwise the activations imply them.
    """
    w, s, hard = work.w, work.s, data.moment.shape[1]
    rows = data.soft_target.shape[1]
    for r in range(hard):
        output.multiplier[t, r] = s[BEST_MULTIPLIER, r]
        output.reserve[t, r] = s[BEST_MULTIPLIER, r] / s[RESERVE_WEIGHT, r] if reserved else 0.0
        output.weight[t, r] = s[RESERVE_WEIGHT, r] if reserved else np.inf
    of_rows = s[OF_ROWS, :rows]
    for k in range(rows):
        of_rows[k] = s[MULTIPLIER, hard + k]
    if not dual:
        rows_from(data, t, output.activation[t], of_rows)
    holds = certify(data, t, reserved, s[RESERVE_WEIGHT], of_rows, output, w)
    if holds and reserved == weighted:
        for r in range(s.shape[1]):  # the start of the next frame
            s[PREVIOUS, r] = s[BEST_MULTIPLIER, r] if r < hard else of_rows[r - hard]
    return holds


@compiled
def weigh_fallback(data: Data, t: int, work: Workspace) -> None:
    """Set the weights of the reserves with which an infeasible frame is solved."""
    full = full_cost(data, t, work.w)
    for r in range(data.moment.shape[1]):
        work.s[RESERVE_WEIGHT, r] = 2.0 * FALLBACK * full


@inlined
def solve_by_dual(
    data: Data, t: int, work: Workspace, output: FrameOutput, tolerance: float, max_iterations: int, allow_reserve: bool
) -> int:  # fmt: skip
    """Solve frame t, whose bounds are in ALL_LOWER and ALL_UPPER, by Newton's method on the dual; return its status.

    ONWARD, or ONWARD_RESERVED with reserves: the interior point goes on with the work arrays as they are.
    """
    w, s, hard, muscles = work.w, work.s, data.moment.shape[1], data.lower.shape[1]
    if not load_frame(data, t, work):
        return INVALID_INPUT
    fix_idle_muscles(data, t, work)
    weighted = data.reserve_weight.size > 0
    for r in range(hard):
        s[RESERVE_WEIGHT, r] = data.reserve_weight[t, r] if weighted else 0.0
    if data.form == UNKNOWN or (data.form == SINGLE_POWER and data.terms.exponent[0] > MOST_OF_DUAL):
        return ONWARD
    claim, iterations = run_dual_newton(data, t, work, weighted, tolerance, max_iterations)
    output.iterations[t] += iterations
    if claim == MAX_ITERATIONS:
        return ONWARD
    for i in range(muscles):
        output.activation[t, i] = w[BEST + i]
    if claim == SOLVED:
        if certified(data, t, work, output, weighted, weighted, True):
            return accept(data, t, output)
        return ONWARD
    if record_proof(data, t, s[BEST_MULTIPLIER, :hard], output, w) != SURELY:
        return ONWARD
    if not allow_reserve:
        return INFEASIBLE
    # at the edge of reach multipliers jump from muscle to muscle: not for Newton's method on the dual
    weigh_fallback(data, t, work)
    return ONWARD_RESERVED


@inlined
def solve_by_interior_point(
    data: Data, t: int, work: Workspace, output: FrameOutput, tolerance: float, max_iterations: int,
    allow_reserve: bool, reserved: bool,
) -> int:  # fmt: skip
    """Solve frame t after `solve_by_dual`, whose work arrays hold it; return its status."""
    w, s, hard, muscles = work.w, work.s, data.moment.shape[1], data.lower.shape[1]
    weighted = data.reserve_weight.size > 0
    stage, proof = NEAREST_FIRST if reserved else MAIN, UNPROVED
    while True:
        at_edge = stage >= EDGE
        main = stage == MAIN or at_edge
        enough = tolerance if main else MISSING_TOLERANCE
        limit = max_iterations if main else MISSING_ITERATIONS
        _claim, iterations, n = run_interior_point(data, t, work, main, reserved or at_edge, enough, limit)
        if stage != NEAREST_AFTER:
            output.iterations[t] += iterations
        if stage == NEAREST_FIRST:
            for r in range(hard):
                weight = s[RESERVE_WEIGHT, r]  # infinite in a row without a reserve
                s[GUESS, r] = weight * s[BEST_MULTIPLIER, r] if weight < np.inf else 0.0
            stage = MAIN
            continue
        for i in range(muscles):
            output.activation[t, i] = w[ALL_LOWER + i]
        for j in range(n):
            output.activation[t, work.free[j]] = w[BEST + j]
        if main:
            if certified(data, t, work, output, reserved, weighted, False):
                for r in range(hard):
                    output.proof[t, r] = np.nan if proof == BARELY and not reserved else output.proof[t, r]
                return accept(data, t, output)
            if reserved or (stage == STIFFER_EDGE and proof == UNPROVED):
                return UNRESOLVED
            if stage == EDGE:
                for r in range(hard):
                    s[RESERVE_WEIGHT, r] *= AT_EDGE[1] / AT_EDGE[0]
                stage = STIFFER_EDGE
                continue
        if stage != STIFFER_EDGE:
            proof = record_proof(data, t, s[BEST_MULTIPLIER, :hard], output, w)
        if proof == UNPROVED or (proof == BARELY and stage != STIFFER_EDGE):
            if stage == NEAREST_AFTER or proof == BARELY:
                full = full_cost(data, t, w)
                for r in range(hard):
                    size = max(1.0, abs(data.moment[t, r]))
                    s[RESERVE_WEIGHT, r], s[GUESS, r] = 2.0 * AT_EDGE[0] * full / (size * size), 0.0
                stage = EDGE
                continue
            stage = NEAREST_AFTER
        elif not allow_reserve:
            return INFEASIBLE
        else:
            weigh_fallback(data, t, work)
            # nearest moments first where stiff reserves make multipliers large
            reserved, stage = allow_reserve, NEAREST_FIRST


@inlined
def begin_frame(
    data: Data, t: int, rate: RateBounds, work: Workspace, output: FrameOutput, tolerance: float, max_iterations: int,
    allow_reserve: bool,
) -> int:  # fmt: skip
    """Solve frame t within its rate limits as far as Newton's method on the dual does; return its status."""
    output.iterations[t] = 0
    for r in range(data.moment.shape[1]):
        output.proof[t, r] = np.nan
        output.weight[t, r] = data.reserve_weight[t, r] if data.reserve_weight.size > 0 else np.inf
    nonempty = bounds_of(data, t, rate, work.w)
    status = INFEASIBLE
    if nonempty:
        status = solve_by_dual(data, t, work, output, tolerance, max_iterations, allow_reserve)
    elif not load_frame(data, t, work):
        status = INVALID_INPUT
    return status


@compiled
def refine(
    data: Data, t: int, work: Workspace, output: FrameOutput, tolerance: float, max_iterations: int
) -> None:
    """Replace the result of the interior point by Newton's method on the dual from its multipliers, if that ends.

    The work arrays hold frame t. The gap of the interior point leaves activations an error of about its root; results
    of both methods for one frame are the same so, whatever frame comes before.
    """
    w, s, hard, muscles = work.w, work.s, data.moment.shape[1], data.lower.shape[1]
    weighted = data.reserve_weight.size > 0
    for i in range(muscles):
        w[AT_LOWER + i] = output.activation[t, i]
    for r in range(s.shape[1]):
        s[GUESS, r] = s[PREVIOUS, r]
    most = min(MOST_REFINEMENTS, max_iterations)
    claim, iterations = run_dual_newton(data, t, work, weighted, tolerance, most)
    output.iterations[t] += iterations
    if claim != SOLVED:
        return
    for i in range(muscles):
        output.activation[t, i] = w[BEST + i]
    if not certified(data, t, work, output, weighted, weighted, True):
        for i in range(muscles):
            output.activation[t, i] = w[AT_LOWER + i]
        for r in range(hard):
            s[BEST_MULTIPLIER, r] = s[GUESS, r]
        certified(data, t, work, output, weighted, weighted, False)
    output.status[t] = accept(data, t, output)


@compiled
def end_frame(data: Data, t: int, rate: RateBounds, output: FrameOutput, status: int) -> None:
    """Store the status of frame t; a frame without solution is NaN throughout."""
    if status != SOLVED and status != SOLVED_WITH_RESERVE:
        output.gap[t], output.cost_bound[t], output.moment_error[t], output.cost[t] = (
            np.nan,
            np.nan,
            np.nan,
            np.nan,
        )
        output.reserve[t, :], output.multiplier[t, :] = np.nan, np.nan
        output.activation[t, :], output.force[t, :] = np.nan, np.nan
    elif rate.time.size > 0:
        rate.since[0] = rate.time[t]
        for i in range(data.lower.shape[1]):
            rate.before[i] = output.activation[t, i]
    output.status[t] = status
