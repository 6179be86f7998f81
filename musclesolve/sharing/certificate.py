"""The certificates of optimality and of infeasibility, recomputed from the problem and the numbers alone.

This is the definition, for any cost and any solver. kernel/compiled_certificate.py computes the same compiled, because
recomputing it in numpy would take longer than solving; tests/sharing/kernel/test_kernel.py compares the two.

With g_i = df/da_i the marginal cost of muscle i, the cost of soft rows 1/2 sum_k w_k (t_k - (G a)_k)^2 included, and
the pull p_i = (A^T lambda)_i of the moments on its activation, the optimum of a convex cost is characterized by

    stationarity and complementarity   a_i = clip(a_i - (g_i - p_i) / S_i, lower_i, upper_i)
    moments                            (A a + s - b)_k = 0
    reserves                           s_k = lambda_k / w_k          (s_k = 0 without reserves)

The first line needs no multipliers for the bounds: it states that a muscle is on a bound or has g_i = p_i. The
smaller of the two misses counts. S_i makes the miss relative,

    S_i = max(|g_i|, |p_i|, theta_i, 1e-9 max_j max(|g_j|, theta_j)),
    theta_i = min(|f_i'(lower_i + d_i / 2) - f_i'(lower_i)|, W / d_i) + 1e-3 (G^T w G)_ii d_i / 2,
    d_i = min(upper_i - lower_i, max(1e-3, max_j(a_j - lower_j))),
    W = max_j |f_j'(a_j) - f_j'(lower_j)| (a_j - lower_j)

where theta_i is the change of the muscle's own marginal cost over half the largest activation of the frame, as far as
such a change saves no more than W, about the cost of the muscle that costs most: sharp powers of forces change by many
orders of magnitude over an activation that a strong muscle never needs. (Where no activation is 1e-3 above its lower
bound, W is no limit.) So the residual does not change when the cost is multiplied by a number, and every muscle
counts on its own scale of marginal costs, even where another muscle needs large multipliers. p_i is a sum whose terms
may cancel, and round-off leaves it uncertain by

    e_i = eps sum_k |A_ki lambda_k|.

Where e_i is more than 1e-6 S_i, the larger one of the misses with p_i - e_i and p_i + e_i counts. (With reserves
the weights fix the multipliers, however large; there e_i counts from 1e-3 S_i on.) The misses of the second
and third line are divided by max(1 N m, |b_k|). The residual of the frame is the largest miss of all.

Where S_i is below the smallest normal float, the slopes of a cost such as a^3000 are lost in underflow: nothing is
known of such a muscle but that its slope rises, and its distance from the lower bound counts as the miss.

The residual depends on two units: activations from 0 to 1 and moments of newton meters are its natural sizes. A
residual of 1e-6 states

    of each muscle   g_i = p_i to 1e-6 S_i, or a_i within 1e-6 of the lower bound where g_i > p_i, or within 1e-6 of
                     the upper one where g_i < p_i
    of each moment   that it is met to 1e-6 max(1 N m, |b_k|): muscles at rest meet one of 1e-6 N m

and in a frame without larger activations than 1e-3 S_i never falls below the change of the marginal cost over the
first 5e-4 of activation (or half the way to the upper bound, if that is less): marginal costs of sum a^p are
distinguished there only above a = 5e-4 10^(-6 / (p - 1)), which is 5e-7 for p = 3 and 1e-4 for p = 10. In frames whose
activations are all below about 1e-5 the sharing, and with it the ratio of the cost to the least one, is not resolved.

For a cost that is not convex the certificate proves a stationary point, not the least value.

Levels of loads (lexicographic min/max).

The largest load is minimal, then the largest of the rest, and so on. Let rho_i a_i be the load of muscle i. Level 1
has all muscles, level l the muscles that the levels above have not decided; t is the largest load among them. A
combination y of the moments proves the level. With p = A^T y, every solution without a load above t
among these muscles satisfies

    sum_i p_i a_i = y . (b - s)   <=   sum_i max(p_i lower_i, p_i min(upper_i, t / rho_i)),

and where both sides are equal no such solution has a smaller t, and each has a_i = min(upper_i, t / rho_i) where
p_i > 0 and a_i = lower_i where p_i < 0: these muscles are decided. As above, of two misses the smaller one counts: the
distance of the load rho_i a_i from that bound, as a share of the largest rho, and the change of t with the load,
|p_i| / rho_i over the sum of p_j / rho_j of the muscles that t limits. The two sides differ by the sum of the products
of distance and change, the gap, which leaves muscle i no more room than gap / change: a level decides the
muscles whose change is above 1e-6, or whose change is above 1e-10 and room below 1e-6. Where y is zero, the muscle
with the largest load has to be at its lower bound; muscles that no level decides have to be at their lower bounds.

Reserves come first: their weighted squares are the least possible, whatever the loads. With q = A^T (w s) the squares
s . w s / 2 exceed the least by no more than sum_i |q_i| times the distance of a_i from upper_i where q_i > 0, else
from lower_i; this duality gap counts as a share of s . w s, and it decides the muscles with |q_i| > 1e-6 s . w s.

Infeasibility.

By Farkas' lemma the moments b are out of reach if and only if some combination y of them exceeds what muscles reach,

    y . b  >  max over lower <= a <= upper of y . A a  =  sum_i max(lower_i (A^T y)_i, upper_i (A^T y)_i).

The Farkas ratio of y is the margin of this inequality without unit,

    (y . b - max y . A a) / sum_k |y_k| max(1, |b_k|).

The ratio is recomputed here, whichever solver proposes y. A ratio above 1e-6 is accepted as a proof: then no
activation comes as close to the moments as the certificate of a solved frame demands.
"""

from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_real_array, check_type
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.kernel.constants import (
    LEAST_CHANGE,
    LEAST_NORMAL,
    LEAST_REACH,
    LEAST_SIZE,
    ROUNDING,
    TOLERANCE,
    UNCERTAIN,
    UNCERTAIN_WITH_RESERVES,
)
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import slope_scale

DECIDED = 1e-6
SAME = 1e-9
FAR, HALVINGS = 1e6, 100  # activation up to which, and steps in which, the end of an underflow is looked for
KINK = 1e3  # a slope this many times the smallest normal float, just above a flat part, is a kink


def kkt_residual(
    problem: Problem,
    cost: str | Cost,
    activation: Array,
    reserve: Array,
    multiplier: Array,
    level_multiplier: Array | None = None,
    *,
    further_pull: Array | float = 0.0,
) -> Array:
    """Compute the certificate of each frame: zero at the optimum, at most 1e-6 for a solved frame.

    Arrays of a single frame may lack the frame axis, as the arrays of its solution do; the result then lacks it, too.

    Args:
        problem: with its bounds and reserve weights.
        cost: the cost that was minimized, by name or as a Cost.
        activation: (T, n).
        reserve: (T, m) [N m].
        multiplier: (T, m) [cost per N m].
        level_multiplier: (T, L, m) y of every level of a cost of levels (min/max); NaN below the last.
        further_pull: (T, n) pull of constraints beside the moments, added to A^T lambda (constrained.py).

    Returns:
        (T,) without unit; infinite where a number is not finite, or level multipliers are missing.

    Raises:
        InputError: an array of another shape, or without numbers.
    """
    frames, dofs, muscles = check_type(problem, Problem, "problem", "a Problem").moment_arm.shape
    activation = check_real_array(activation, "activation", f"activations, {(frames, muscles)}")
    without_axis = frames == 1 and activation.ndim == 1
    axis = () if without_axis else (frames,)
    shape, for_moments = (*axis, muscles), (*axis, dofs)
    activation = check_real_array(activation, "activation", f"activations, {shape}", shapes=(shape,))
    reserve, multiplier = (
        check_real_array(array, name, f"numbers for each moment, {for_moments}", shapes=(for_moments,))
        for name, array in (("reserve", reserve), ("multiplier", multiplier))
    )
    expected = f"a pull for each activation, {shape}, or one number"
    further_pull = check_real_array(
        further_pull, "further_pull", expected, shapes=(shape, (frames, muscles), ())
    )
    if level_multiplier is not None:
        expected = "numbers for each level and moment, (L, m) or (T, L, m)"
        level_multiplier = check_real_array(level_multiplier, "level_multiplier", expected)
    if without_axis:
        activation, reserve, multiplier = activation[None], reserve[None], multiplier[None]
        level_multiplier = None if level_multiplier is None else level_multiplier[None]
    cost = find_cost(cost)
    problem, weight = within_domain(problem, cost), problem.reserve_weight
    levels = "linear_program" in cost.needs
    if levels and level_multiplier is None:
        return np.full(axis, np.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(1.0, np.abs(problem.moment))
        missed = (np.abs(problem.produced(activation) + reserve - problem.moment) / scale).max(axis=1)
        if levels and level_multiplier is not None:
            misses = [missed, *_level_misses(problem, cost, activation, reserve, level_multiplier)]
        else:
            inside = np.clip(activation, problem.lower, problem.upper)
            slope, pull, theta = marginal_costs(problem, cost, inside, multiplier, further_pull)
            sizes = np.matmul(np.abs(multiplier)[:, None, :], np.abs(problem.moment_matrix))[:, 0, :]
            blur = ROUNDING * sizes, UNCERTAIN if weight is None else UNCERTAIN_WITH_RESERVES
            implied = 0.0 if weight is None else multiplier / weight
            lost = stationarity_size(slope, pull, theta) < LEAST_NORMAL
            if lost.any():
                lost &= _underflows(problem, cost, inside)
            misses = [
                np.where(lost, activation - problem.lower, 0.0).max(axis=1),
                stationarity_miss(problem, activation, slope, pull, theta, blur),
                missed,
                (np.abs(reserve - implied) / scale).max(axis=1),
            ]
    residuals = np.stack(misses)
    found = np.where(np.isfinite(residuals).all(axis=0), residuals.max(axis=0), np.inf)
    return found[0] if without_axis else found


def marginal_costs(
    problem: Problem, cost: Cost, inside: Array, multiplier: Array, further_pull: Array | float = 0.0
) -> tuple[Array, Array, Array]:
    """Slopes g, pulls p and scales theta, (T, n) each, at activations (T, n) within the bounds."""
    reach = np.maximum(LEAST_REACH, (inside - problem.lower).max(axis=1))
    slope, pull = cost.gradient(problem, inside), problem.pull(multiplier) + further_pull
    return slope, pull, slope_scale(problem, cost, reach, at=inside)


def _underflows(problem: Problem, cost: Cost, activation: Array) -> Mask:
    """Return where slopes at activations (T, n) are too small for a float, but not on a flat part of the cost.

    A bisection upward finds where a slope becomes a normal number. It is tiny there after an underflow, and jumps at
    the end of a flat part; a constant cost has no such place.
    """

    def steep(at: Array) -> Array:
        slope = np.abs(cost.gradient(problem, at))
        return np.where(np.isfinite(slope), slope, np.inf)

    low, high = activation, np.full_like(activation, FAR)
    rises = steep(high) >= LEAST_NORMAL
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        normal = steep(middle) >= LEAST_NORMAL
        low, high = np.where(normal, low, middle), np.where(normal, middle, high)
    return rises & (steep(high) < KINK * LEAST_NORMAL)


def stationarity_miss(
    problem: Problem,
    activation: Array,
    slope: Array,
    pull: Array,
    theta: Array,
    blur: tuple[Array, float] | None = None,
) -> Array:
    """The miss of stationarity (first line), (T,), for slopes g, pull = A^T lambda and scales theta, (T, n).

    `blur` is the uncertainty e of the pull, (T, n), and the share of S above which e counts; None: e never counts.
    """
    size = stationarity_size(slope, pull, theta)
    pulls = [pull]
    if blur is not None:
        error, share = blur
        error = np.where(error <= share * size, 0.0, error)
        pulls += [pull - error, pull + error]
    largest = np.zeros_like(size)
    for end in pulls:
        difference = np.clip(slope - end, -size, size)
        step = np.divide(difference, size, out=np.zeros_like(size), where=size != 0)
        # an infinite slope is a full miss, NaN stays NaN
        step = np.where(np.isfinite(slope), step, np.sign(slope))
        miss = np.abs(activation - np.clip(activation - step, problem.lower, problem.upper))
        largest = np.maximum(largest, miss)
    return np.asarray(largest.max(axis=1))


def stationarity_size(slope: Array, pull: Array, theta: Array) -> Array:
    """The sizes S, (T, n), for slopes g, pull = A^T lambda and scales theta, (T, n) each."""
    size = np.where(np.isfinite(slope), np.maximum(theta, np.abs(slope)), theta)
    size = np.maximum(size, LEAST_SIZE * size.max(axis=1, keepdims=True))
    return np.asarray(np.maximum(size, np.abs(pull)))


def within_domain(problem: Problem, cost: Cost) -> Problem:
    """The problem with upper bounds reduced to the end of the domain of the cost."""
    return problem.with_arrays(upper=np.minimum(problem.upper, cost.largest_activation(problem)))


def needs_reserve(reserve: Array, moment: Array) -> Mask:
    """Return which reserves or shortages (T, m) [N m] count: above 1e-6 max(1 N m, |b_k|) of the moment b (T, m).

    This defines SOLVED_WITH_RESERVE; kernel/solve_frame.py has the compiled form.
    """
    return np.abs(reserve) > TOLERANCE * np.maximum(1.0, np.abs(moment))


def relative_load(problem: Problem, cost: Cost) -> Array:
    """The loads rho, (T, n), of each muscle at activation 1, for a cost of levels or a multiple of one."""
    inner: Any = single_costs(cost)[0]
    load: Array = inner.relative_load(problem)
    return load


def _level_misses(
    problem: Problem, cost: Cost, activation: Array, reserve: Array, multiplier: Array
) -> list[Array]:
    """The misses of bounds, of reserves, of every level and of the muscles that no level decides, (T,) each."""
    inside = (activation >= problem.lower) & (activation <= problem.upper)
    goal, share, decided_by_reserves = reserve_pull(problem, reserve)
    spare = 0.0 if problem.reserve_weight is not None else np.abs(reserve).max(axis=1)
    gap = (share * np.abs(activation - goal)).sum(axis=1)
    misses = [np.where(inside.all(axis=1), 0.0, np.inf), np.maximum(gap, spare)]
    load, open_ = relative_load(problem, cost), ~decided_by_reserves
    met = np.matmul(np.abs(problem.moment_matrix), np.abs(activation)[:, :, None])[:, :, 0]
    short = problem.produced(activation) + reserve - problem.moment
    for y in np.moveaxis(multiplier, 1, 0):
        proposed = np.isfinite(y).all(axis=1)
        y = np.where(proposed[:, None], y, 0.0)
        pull = problem.pull(y)
        present = np.where(open_, load * activation, -np.inf)
        top = present.max(axis=1, keepdims=True)
        limited = open_ & (pull > 0) & (load * problem.upper >= top - SAME * np.abs(top))
        share = weight_of(pull, load, limited)
        most = np.divide(top, load, out=np.array(problem.upper), where=load * problem.upper > top)
        goal = np.where(pull > 0, most, problem.lower)
        distance = load * np.abs(activation - goal) / load.max(axis=1, keepdims=True)
        missed = np.where(open_, np.minimum(distance, share), 0.0).max(axis=1)
        missed = np.where(limited.any(axis=1), missed, np.inf)
        # the gap of the proof leaves a muscle no more room than gap / share
        total = np.divide(np.abs(pull), load * share, out=np.zeros_like(pull), where=share > 0).max(axis=1)
        unsure = np.abs((y * short).sum(axis=1)) + 2.0 * ROUNDING * (np.abs(y) * met).sum(axis=1)
        size = total * load.max(axis=1)
        blur = np.divide(unsure, size, out=np.full_like(size, np.inf), where=size > 0)
        gap = np.where(open_, share * distance, 0.0).sum(axis=1) + blur
        # where y is zero
        free = ~np.any(y, axis=1)
        first = open_ & (present >= top - SAME * np.abs(top))
        above = np.where(first, activation - problem.lower, np.inf)
        least = np.clip(gap / DECIDED, LEAST_CHANGE, DECIDED)[:, None]
        decided = np.where(free[:, None], first & (above <= DECIDED), open_ & (share > least))
        misses.append(np.where(proposed, np.where(free, above.min(axis=1), missed), 0.0))
        open_ &= ~(decided & proposed[:, None])
    return [*misses, np.where(open_, activation - problem.lower, 0.0).max(axis=1)]


def weight_of(pull: Array, load: Array, limited: Mask) -> Array:
    """The changes |p_i| / rho_i over their sum for the muscles that t limits, (T, n); infinite where there is none.

    The pulls p, the loads rho and the mask `limited` of the muscles that t limits are (T, n).
    """
    change = np.divide(np.abs(pull), load, out=np.zeros_like(pull), where=load > 0)
    total = np.where(limited, change, 0.0).sum(axis=1, keepdims=True)
    return np.divide(change, total, out=np.full_like(change, np.inf), where=total > 0)


def reserve_pull(problem: Problem, reserve: Array) -> tuple[Array, Array, Mask]:
    """The bound that each muscle has to reach, |q_i| as a share of s . w s, and the muscles so decided, (T, n)."""
    if problem.reserve_weight is None:
        none = np.zeros(problem.lower.shape, np.bool_)
        return problem.lower, np.zeros(problem.lower.shape), none
    implied = problem.reserve_weight * reserve
    helped = (np.abs(reserve) > DECIDED * np.maximum(1.0, np.abs(problem.moment))).any(axis=1, keepdims=True)
    pull = problem.pull(implied)
    squares = np.where(helped, (implied * reserve).sum(axis=1, keepdims=True), 1.0)
    share = np.where(helped, np.abs(pull) / squares, 0.0)
    return np.where(pull > 0, problem.upper, problem.lower), share, share > DECIDED


def farkas_ratio(problem: Problem, direction: Array, pull: Array | None = None) -> Array:
    """The Farkas ratio of each frame, (T,); minus infinity where the direction is zero or not finite.

    The direction y, (T, m), may have any length; reserves of the problem are ignored. `pull` is A^T y, (T, n), if
    computed already.
    """
    pull = problem.pull(direction) if pull is None else pull
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        size = (np.abs(direction) * np.maximum(1.0, np.abs(problem.moment))).sum(axis=1)
        reach = np.maximum(problem.lower * pull, problem.upper * pull).sum(axis=1)
        margin = ((direction * problem.moment).sum(axis=1) - reach) / size
    return np.where(np.isfinite(margin), margin, -np.inf)


def farkas_margin(problem: Problem, direction: Array) -> Array:
    """The margin of Farkas' inequality less its own round-off, per largest |y_k|, (T,) [N m]; above zero it is a proof.

    By duality the margin is a bound of the missing moments: whatever moments s help the muscles, A a + s = b, the sum
    of their sizes |s_k| is at least this. The round-off of the pull A^T y, (m + 8) u sum_k |A_ki y_k| with u = 2^-53,
    includes the round-off of the moment matrix; the sums over moments and muscles have theirs (Higham 2002, section
    3.1).

    Args:
        problem: its reserves are ignored.
        direction: y, (T, m), of any length. Minus infinity where it is zero or not finite.
    """
    unit, (_, dofs, muscles) = 0.5 * ROUNDING, problem.moment_arm.shape
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        y = direction / np.abs(direction).max(axis=1, keepdims=True)
        pull = problem.pull(y)
        blur = (dofs + 8) * unit * np.matmul(np.abs(y)[:, None, :], np.abs(problem.moment_matrix))[:, 0, :]
        corners = [
            end * bound for end in (pull - blur, pull + blur) for bound in (problem.lower, problem.upper)
        ]
        most, demand = np.max(corners, axis=0), y * problem.moment
        error = (dofs + 8) * np.abs(demand).sum(axis=1) + (muscles + 8) * np.abs(most).sum(axis=1)
        margin = demand.sum(axis=1) - most.sum(axis=1) - unit * error - LEAST_NORMAL
    return np.where(np.isfinite(margin), margin, -np.inf)


def is_proof(ratio: Array) -> Mask:
    """Return whether a Farkas ratio, (T,), proves infeasibility."""
    return ratio > TOLERANCE


def empty_box(problem: Problem) -> Mask:
    """Return which frames have bounds that no activation satisfies, (T,): the domain of the cost ends below `lower`."""
    return np.any(problem.lower > problem.upper, axis=1)
