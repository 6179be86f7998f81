"""The certificates of optimality and of infeasibility, recomputed from the problem and the numbers alone.

This is the definition, for any cost and any solver. kernel/compiled_certificate.py computes the same compiled, because
recomputing it in numpy would take longer than solving; tests/sharing/kernel/test_kernel.py compares the two.

The duality gap.

Let activations a lie within their bounds and produce, with reserves s, the moments b' = A a + s. Let lambda be any
numbers, p = A^T lambda, g_i = f_i'(a_i) the marginal cost of muscle i, and h_i(x) = f_i(x) - p_i x. For every x within
the bounds with A x + s' = b'

    f(a) - f(x) = sum_i h_i(a_i) - sum_i h_i(x_i)  <=  sum_i phi_i,      phi_i = h_i(a_i) - min h_i >= 0.

So the sum of the phi_i bounds how much a costs above the least cost of the moments that it produces, whatever lambda
is. The given moments b do not occur, and parts of different muscles do not cancel. As f_i is convex,

    phi_i <= (|g_i - p_i| + e_i) |a_i - y_i|,      e_i = (m + k + 3) u sum_r |A_ri lambda_r| + (q + 4) u |g_i|,

for every y_i beyond the minimum of h_i, where f_i' - p_i has turned its sign, or at the bound. e_i is the round-off of
p_i and g_i (u = 2^-53, q the highest power of the cost, k the number of soft rows). The bound is quadratic in the
distance from the optimum: an error of 1e-10 leaves 1e-20. With reserves s, of weights w, and soft rows
1/2 sum_k w_k r_k^2, r = t - G a, whose multipliers mu pull on the muscles with G^T mu,

    G = sum_i phi_i + sum_r (lambda_r - w_r s_r)^2 / (2 w_r) + sum_k (mu_k - w_k r_k)^2 / (2 w_k)
    gap = G / W,      W = sum_i |df/da_i| a_i.

A moment with a reserve that is missed by its round-off d may count in two ways: by lambda d, as every other moment, or
as met by a reserve s - d; the lesser one counts.

A slope below the smallest normal float v may be lost in underflow, and adds v (upper_i - lower_i) to G, unless the cost
is flat there.

W is the exponent times the cost for a power; a constant added to the cost does not change it, nor a unit the gap. Where
slopes cancel, as at targets that are met, W counts no less than their round-off u sum_i |f_i'(lower_i)| a_i. Where a
muscle with a target above its lower bound has to rest, |g_i| a_i vanishes although the cost does not: W counts no less
than 1e-9 sum_i (-f_i'(lower_i))^+ (upper_i - lower_i) of the muscles within 1e-6 of their range of the lower bound, so
that activations at the round-off of this range may remain.

Where a cost couples muscles, or is not known to be convex in each, phi_i is the largest fall of the linearized cost,

    phi_i = (g_i - p_i + e_i)^+ (a_i - lower_i) + (p_i - g_i + e_i)^+ (upper_i - a_i)      (Frank and Wolfe 1956),

valid for every convex cost; for a cost that is not convex a small gap shows a stationary point, not the least value.

Constraints l <= c(a) <= u with multipliers mu add J^T mu, J = dc/da, to p and mu^+ (c - l)^+ + mu^- (u - c)^+ to G:
where c is linear, convex with an upper or concave with a lower bound, it lies on one side of its tangent.

A frame is certified where the bounds hold and

    gap <= 1e-9,     |A a + s - b|_r <= 1e-6 max(1 N m, |b_r|),     |lambda . (A a + s - b)| <= 1e-6 W :

it costs at most a millionth more than the least possible cost of the moments that it produces (as f / W >= 1e-3, which
holds for powers up to 1000), and at most a millionth of W more than the least possible cost of the given moments. The
given moments may cost more than that: where arms are alike to 1e-8, or moments are below 1e-5 N m, a miss within the
limit may spare more than lambda shows. The cost of the given moments is at least

    cost_bound = f(a) + 1/2 sum_r w_r s_r^2 - G - lambda . (A a + s - b),

less the round-off of f and of the last term, (n + m + 3) u sum_r |lambda_r| (sum_i |A_ri| a_i + |s_r| + |b_r|), which
also counts beside the cost of the missed moments: where arms are alike multipliers are large.

Levels of loads (lexicographic min/max).

The largest load is minimal, then the largest of the rest, and so on. Let rho_i a_i be the load of muscle i. Level 1 has
all muscles, level l the muscles that the levels above have not decided; t is the largest load among them. A combination
y of the moments proves the level. With p = A^T y, every solution without a load above t among these muscles satisfies

    sum_i p_i a_i = y . (b - s)   <=   sum_i max(p_i lower_i, p_i min(upper_i, t / rho_i)) = R(t).

R is concave, with the slope sigma = sum_i p_i / rho_i over the muscles with p_i > 0 that t limits, so that t exceeds
the least one by at most D / sigma, where D >= 0 is the difference of the two sides: the sum of |p_i| times the distance
of a_i from the bound that p_i pulls it to. The gap of the level is D / (sigma t). A level decides the muscles with a
share p_i / rho_i of sigma above 1e-6, or above 1e-10 where the gap leaves them room below 1e-6. Where y is zero, the
muscle with the largest load has to be at its lower bound; muscles that no level decides have to be at theirs.

Reserves come first: their weighted squares are the least possible, whatever the loads. With q = A^T (w s) the squares
s . w s / 2 exceed the least by no more than sum_i |q_i| times the distance of a_i from upper_i where q_i > 0, else
from lower_i; this duality gap counts as a share of s . w s, and it decides the muscles with |q_i| > 1e-6 s . w s.

Infeasibility.

By Farkas' lemma the moments b are out of reach if and only if some combination y of them exceeds what muscles reach,

    y . b  >  max over lower <= a <= upper of y . A a  =  sum_i max(lower_i (A^T y)_i, upper_i (A^T y)_i).

The margin of this inequality is recomputed here, whichever solver proposes y. It is a proof where it is above its own
round-off.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_real_array, check_type
from musclesolve.errors import input_error
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.kernel.constants import (
    GAP,
    LEAST_CHANGE,
    LEAST_NORMAL,
    NEAR_BOUND,
    OF_TARGETS,
    ROUNDED,
    TOLERANCE,
    UNIT_ROUNDING,
)
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import reserve_cost, reserve_terms
from musclesolve.sharing.solver.solver_registry import Attempt

DECIDED = 1e-6
SAME = 1e-9
TRIALS, FARTHER = 40, 16.0
"""Tries of a point beyond the minimum, each so many times as far, before the bound is taken."""
CLOSE = 4.0 * UNIT_ROUNDING  # least distance of this point, as a share of the activation
TINY = 1e-300
FAR, HALVINGS = 1e6, 100  # activation up to which, and steps in which, the end of an underflow is looked for
KINK = 1e3  # a slope this many times the smallest normal float, just above a flat part, is a kink
AT_BOUND = 1e-12  # share of the distance of the bounds within which a muscle counts as on one
AT_KINK = 1e-3  # share of its slope by which a muscle on a bound may be pulled off it
RIDGE = 1e-13  # of a matrix with unit diagonal


@dataclass(frozen=True, eq=False)
class Certificate:
    """The proved numbers of each frame of a sharing; arrays (T,), or numbers for a single frame.

    Attributes:
        gap: proved excess over the least cost of the moments that the sharing produces, as a share of W = sum |g| a;
            infinite where nothing is proved.
        cost_bound: the least cost of the given moments, reserves included, is proved to be no lower [unit of the cost].
        moment_error: largest |A a + s - b| over max(1 N m, |b|).
        moment_cost: `miss_cost` as a share of W.
        excess: G [unit of the cost]; infinite where nothing is proved.
        miss_cost: the cost of the missed moments, |lambda . (A a + s - b)|, and its round-off [unit of the cost].
        unit: W [unit of the cost].
    """

    gap: Array
    cost_bound: Array
    moment_error: Array
    moment_cost: Array
    excess: Array
    miss_cost: Array
    unit: Array

    @property
    def worst(self) -> Array:
        """The largest of gap, error and cost of the moments, each over its limit: at most 1 where certified."""
        shares = self.gap / GAP, self.moment_error / TOLERANCE, self.moment_cost / TOLERANCE
        return np.maximum.reduce(shares)

    @property
    def holds(self) -> Mask:
        """Mask of the frames that are certified."""
        return self.worst <= 1.0

    def frames(self, which: Indices | Mask | int) -> "Certificate":
        """The certificate of some frames."""
        return Certificate(*(array[which] for array in vars(self).values()))

    def replaced(self, which: Indices, other: "Certificate") -> "Certificate":
        """The certificate with another one of some frames, given by number."""
        arrays = {name: array.copy() for name, array in vars(self).items()}
        for name, array in arrays.items():
            array[which] = getattr(other, name)
        return Certificate(**arrays)

    def joined(self, further: float = 0.0) -> "Certificate":
        """The certificate of frames that a cost or a limit joins: excess and cost of misses of all over the W of all.

        Nothing is proved of the cost of a frame alone. `further` is an excess beside the ones of the frames.
        """
        total = self.unit.sum(keepdims=True)
        with np.errstate(invalid="ignore"):
            gap = _share(self.excess.sum(keepdims=True) + further, total)
            moment_cost = _share(self.miss_cost.sum(keepdims=True), total)
        every = np.ones_like(self.unit)
        return replace(self, gap=gap * every, moment_cost=moment_cost * every, cost_bound=np.nan * every)


class ConstraintParts(NamedTuple):
    """The parts of constraints beside the moments in the certificate.

    Attributes:
        pull: (T, n) their pull J^T mu on the muscles.
        slope: (T, n) marginal costs of terms beside the cost, such as costs over several frames.
        size: (T, n) sums of the sizes of the terms of both.
        excess: (T,) their part of G [unit of the cost].
        miss_cost: (T,) the cost of their violations [unit of the cost].
        miss: (T,) the largest violation over its limit, times 1e-6.
    """

    pull: Array
    slope: Array | float
    size: Array
    excess: Array
    miss_cost: Array
    miss: Array


def certify(
    problem: Problem,
    cost: str | Cost,
    activation: Array,
    reserve: Array,
    multiplier: Array,
    level_multiplier: Array | None = None,
    *,
    constraint_parts: ConstraintParts | None = None,
) -> Certificate:
    """Compute the certificate of each frame, whatever solver found the numbers.

    Arrays of a single frame may lack the frame axis, as the arrays of its solution do; so does the result then.

    Args:
        problem: with its bounds and reserve weights.
        cost: the cost that was minimized, by name or as a Cost.
        activation: (T, n).
        reserve: (T, m) [N m].
        multiplier: (T, m) [cost per N m].
        level_multiplier: (T, L, m) y of every level of a cost of levels (min/max); NaN below the last.
        constraint_parts: parts of constraints beside the moments (constrained.py).

    Raises:
        InputError: an array of another shape, or without numbers.

    Examples:
        >>> problem = ms.Problem([[0.05, 0.05]], [30.0], [1000.0, 1000.0], [1000.0, 1000.0])
        >>> multiplier = np.array([600.0 / 0.05])                   # slope 2 F C over the moment per activation
        >>> for activation in ([0.3, 0.3], [0.4, 0.2]):
        ...     found = ms.sharing.certify(problem, "force_squared", np.array(activation), np.zeros(1), multiplier)
        ...     print(f"{found.gap:.2f} {found.moment_error:.0e}")
        0.00 0e+00
        0.05 0e+00
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
    if level_multiplier is not None:
        expected = "numbers for each level and moment, (L, m) of a single frame or (T, L, m)"
        level_multiplier = check_real_array(level_multiplier, "level_multiplier", expected)
        sizes = level_multiplier.shape
        if len(sizes) != len(axis) + 2 or (*sizes[:-2], sizes[-1]) != for_moments:
            raise input_error("bad_shape", expected=expected, name="level_multiplier", shape=sizes)
    if without_axis:
        activation, reserve, multiplier = activation[None], reserve[None], multiplier[None]
        level_multiplier = None if level_multiplier is None else level_multiplier[None]
    cost = find_cost(cost)
    problem = within_domain(problem, cost)
    with np.errstate(all="ignore"):
        if "linear_program" not in cost.needs:
            parts = gap_parts(problem, cost, activation, reserve, multiplier, constraint_parts)
        elif level_multiplier is None:
            parts = GapParts(*(np.full(frames, np.inf) for _ in GapParts._fields))
        else:
            parts = _gap_of_levels(problem, cost, activation, reserve, level_multiplier)
        outside = ((activation < problem.lower) | (activation > problem.upper)).any(axis=1)
        excess = np.where(outside | ~np.isfinite(parts.excess), np.inf, parts.excess)
        miss_cost, of_reserves = _or_infinite(parts.miss_cost), reserve_cost(problem, reserve)
        value = cost.value(problem, activation) + of_reserves
        value -= (problem.n_muscles + highest_power(problem, cost) + 4.0) * UNIT_ROUNDING * np.abs(value)
        certificate = Certificate(
            _share(excess, parts.unit),
            value - excess - parts.shift,
            _or_infinite(parts.missed),
            _share(miss_cost, parts.unit),
            excess,
            miss_cost,
            parts.unit,
        )
    return certificate.frames(0) if without_axis else certificate


class GapParts(NamedTuple):
    """Excess G, its unit W, cost of missed moments, its part of the bound [unit of the cost]; relative miss; (T,)."""

    excess: Array
    unit: Array
    miss_cost: Array
    shift: Array
    missed: Array


def _share(part: Array, unit: Array) -> Array:
    """A part (T,) >= 0 of the unit W (T,); zero where the part is, infinite where it is no number."""
    return np.where(part > 0.0, _or_infinite(part / unit), part)


def _or_infinite(numbers: Array) -> Array:
    return np.where(np.isfinite(numbers), numbers, np.inf)


def _finite(numbers: Array) -> Array:
    return np.where(np.isfinite(numbers), numbers, 0.0)


def gap_parts(
    problem: Problem,
    cost: Cost,
    activation: Array,
    reserve: Array,
    multiplier: Array,
    further: ConstraintParts | None,
) -> GapParts:
    """The parts of the certificate of a cost with slopes."""
    matrix, a = problem.moment_matrix, np.clip(activation, problem.lower, problem.upper)
    soft, dofs = cost.soft_rows(problem), problem.n_dof
    slope = cost.term_gradient(problem, a)
    total_slope, pull = slope, problem.pull(multiplier)
    size = np.matmul(np.abs(multiplier)[:, None, :], np.abs(matrix))[:, 0, :]
    if soft is not None:
        by_rows = soft.gradient(a)
        total_slope, pull, dofs = slope + by_rows, pull - by_rows, dofs + soft.weight.shape[1]
        of_rows = np.abs(soft.weight * soft.residual(a))
        size = size + np.matmul(of_rows[:, None, :], np.abs(soft.matrix))[:, 0, :]
    weight, _ = reserve_terms(problem)
    allowed = np.where(weight > 0.0, reserve, 0.0) if weight.shape[1] else np.zeros_like(reserve)
    miss = problem.produced(activation) + allowed - problem.moment
    missed = (np.abs(miss) / np.maximum(1.0, np.abs(problem.moment))).max(axis=1, initial=0.0)
    by_row = multiplier * miss
    excess, shift = np.where((reserve != allowed).any(axis=1), np.inf, 0.0), by_row
    if weight.shape[1]:
        as_given, met = (_of_reserves(multiplier, weight, s) for s in (reserve, reserve - miss))
        better = (weight > 0.0) & (met < as_given + np.abs(by_row))
        excess = excess + np.where(better, met, as_given).sum(axis=1)
        # the cost of the reserve s - d instead of s
        shift = np.where(better, weight * miss * (reserve - 0.5 * miss), by_row)
        by_row = np.where(better, 0.0, by_row)
    # the round-off of A a + s - b, times lambda: of the limit where the row counts there, of the bound always
    count = problem.n_muscles + problem.n_dof + 3.0
    sums = np.matmul(np.abs(matrix), np.abs(activation)[:, :, None])[:, :, 0]
    rounded = count * UNIT_ROUNDING * np.abs(multiplier) * (sums + np.abs(allowed) + np.abs(problem.moment))
    miss_cost = np.abs(by_row.sum(axis=1)) + np.where(by_row == 0.0, 0.0, rounded).sum(axis=1)
    shift = shift.sum(axis=1) + rounded.sum(axis=1)
    if further is not None:
        total_slope = total_slope + further.slope
        pull, size = pull + further.pull - further.slope, size + further.size
        excess, miss_cost = excess + further.excess, miss_cost + further.miss_cost
        shift = shift + further.miss_cost
        missed = np.maximum(missed, further.miss)
    power = highest_power(problem, cost)
    rounding = (power + 4.0) * np.abs(np.where(np.isinf(slope), 0.0, slope))
    error = UNIT_ROUNDING * ((dofs + 3.0) * size + rounding)
    if cost.needs <= {"separable", "rows", "nonsmooth"}:
        phi = _fenchel(problem, cost, a, slope, pull, error)
    else:
        off = slope - pull
        phi = _times(np.maximum(off + error, 0.0), a - problem.lower)
        phi += _times(np.maximum(error - off, 0.0), problem.upper - a)
    unit = _finite(np.abs(total_slope) * a).sum(axis=1)
    excess = excess + phi.sum(axis=1)
    lost = (np.abs(slope) < LEAST_NORMAL) & (a > problem.lower)
    below = LEAST_NORMAL * np.where(lost, problem.upper - problem.lower, 0.0)
    if (much := below.sum(axis=1) > GAP * unit).any():
        part = problem.frames(much)
        below[much] = np.where(_underflows(part, cost, a[much]), below[much], 0.0)
    excess = excess + below.sum(axis=1)
    if (much := (excess > GAP * unit) | (miss_cost > TOLERANCE * unit)).any():
        part = problem.frames(much)
        at_lower = cost.term_gradient(part, part.lower)
        rounded = UNIT_ROUNDING * _finite(np.abs(at_lower) * a[much]).sum(axis=1)
        width = part.upper - part.lower
        resting = a[much] - part.lower <= NEAR_BOUND * width
        drawn = OF_TARGETS * _finite(np.where(resting, np.maximum(-at_lower, 0.0) * width, 0.0)).sum(axis=1)
        unit[much] = np.maximum(unit[much], np.maximum(rounded, drawn))
    return GapParts(excess, unit, miss_cost, shift, missed)


def _underflows(problem: Problem, cost: Cost, activation: Array) -> Mask:
    """Return where slopes at activations (T, n) are too small for a float, but not on a flat part of the cost.

    A bisection upward finds where a slope becomes a normal number. It is tiny there after an underflow, and jumps at
    the end of a flat part; a constant cost has no such place.
    """

    def steep(at: Array) -> Array:
        slope = np.abs(cost.term_gradient(problem, at))
        return np.where(np.isfinite(slope), slope, np.inf)

    low, high = activation, np.full_like(activation, FAR)
    rises = steep(high) >= LEAST_NORMAL
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        normal = steep(middle) >= LEAST_NORMAL
        low, high = np.where(normal, low, middle), np.where(normal, middle, high)
    return rises & (steep(high) < KINK * LEAST_NORMAL)


def _of_reserves(multiplier: Array, weight: Array, reserve: Array) -> Array:
    """The parts (lambda - w s)^2 / (2 w) of G, (T, m); zero within the round-off of w s, and without a weight."""
    apart = np.abs(multiplier - weight * reserve)
    counts = (weight > 0.0) & ~(apart <= ROUNDED * np.abs(multiplier))
    return np.where(counts, 0.5 * np.square(apart) / weight, 0.0)


def highest_power(problem: Problem, cost: Cost) -> float:
    """The highest power q of the terms of a cost, which the round-off of its slopes grows with; 2 where unknown."""
    return max((term.form.exponent for term in cost.terms(problem) or ()), default=2.0)


def _times(push: Array, distance: Array) -> Array:
    """The product of a push, which may be infinite, and a distance, which may be zero."""
    return np.where(distance == 0.0, 0.0, push * distance)


def _fenchel(problem: Problem, cost: Cost, a: Array, slope: Array, pull: Array, error: Array) -> Array:
    """Bounds on phi (T, n) by points y beyond the minimum of f_i(x) - p_i x, on both sides of a."""
    off = slope - pull
    rise = cost.term_hessian_diagonal(problem, a)
    rise = np.where(np.isfinite(rise), rise, 0.0)
    phi = np.zeros_like(a)
    for way, bound in ((-1.0, problem.lower), (1.0, problem.upper)):
        push = np.maximum(error - way * off, 0.0)
        found = push == 0.0
        beyond, step = np.where(found, a, bound), np.maximum(2.0 * push / rise, CLOSE * np.abs(a))
        for _ in range(TRIALS):
            y = np.clip(a + way * step, problem.lower, problem.upper)
            turned = (way * (cost.term_gradient(problem, y) - pull) >= error) | (y == bound)
            beyond, found = np.where(turned & ~found, y, beyond), found | turned
            if found.all():
                break
            step = np.where(found, 0.0, np.maximum(FARTHER * step, TINY))
        phi = np.maximum(phi, _times(push, np.abs(a - beyond)))
    return phi


def improve_multipliers(
    problem: Problem, cost: Cost, attempt: Attempt, certificate: Certificate
) -> Certificate:
    """Improve multipliers, in place, where the certificate does not hold though the moments are met; return it anew.

    They are zero where no activation costs anything. Else they change by one step of Newton's method on the dual at
    fixed activations: the least squares of g - A^T lambda, weighted with 1 / f'' of the muscles off their bounds, and
    of those on a bound that lambda pulls away from it. Only multipliers of moments without a reserve change.
    """
    if "linear_program" in cost.needs or problem.reserve_weight is not None:
        return certificate
    which = np.flatnonzero((certificate.gap > GAP) & (certificate.moment_error <= TOLERANCE))
    if not which.size:
        return certificate
    part = within_domain(problem.frames(which), cost)
    a, reserve = attempt.activation[which], attempt.reserve[which]
    with np.errstate(all="ignore"):
        slope, bend = cost.gradient(part, a), cost.hessian_diagonal(part, a)
        off = slope - part.pull(attempt.multiplier[which])
        room = AT_BOUND * (part.upper - part.lower)
        held = ((a - part.lower <= room) & (off >= 0.0)) | ((part.upper - a <= room) & (off <= 0.0))
        weight = np.where(held | ~(bend > 0.0), 0.0, np.nan_to_num(1.0 / bend, posinf=0.0))
        matrix = part.moment_matrix
        size = np.sqrt(np.einsum("trn,tn->tr", np.square(matrix), weight))
        size = np.where(size > 0.0, size, 1.0)
        rows = matrix / size[:, :, None]
        system = np.einsum("trn,tn,tsn->trs", rows, weight, rows) + RIDGE * np.eye(part.n_dof)
        right = np.einsum("trn,tn->tr", rows, np.nan_to_num(weight * off))
    usable = np.isfinite(system).all(axis=(1, 2))
    step = np.linalg.solve(np.where(usable[:, None, None], system, np.eye(part.n_dof)), right[:, :, None])
    better = attempt.multiplier[which] + step[:, :, 0] / size
    better[(slope == 0.0).all(axis=1)] = 0.0
    again = certify(part, cost, a, reserve, better)
    return _where_better(certificate, again, which, attempt.multiplier, better)


def snap_to_bounds(problem: Problem, cost: Cost, attempt: Attempt, certificate: Certificate) -> Certificate:
    """Put activations near a bound that the slopes push them to on it, in place, where this helps; return it anew.

    Where only rest of some muscles meets the moments, iterations come near to it and never there, and their multipliers
    are so large that the smallest miss costs more than the certificate allows.
    """
    if "linear_program" in cost.needs:
        return certificate
    which = np.flatnonzero(~certificate.holds & (certificate.moment_error <= TOLERANCE))
    if not which.size:
        return certificate
    part = within_domain(problem.frames(which), cost)
    a, reserve, multiplier = attempt.activation[which], attempt.reserve[which], attempt.multiplier[which]
    with np.errstate(all="ignore"):
        slope, near = cost.gradient(part, a), NEAR_BOUND * (part.upper - part.lower)
        off, turned = slope - part.pull(multiplier), AT_KINK * np.abs(slope)
    snapped = np.where((a - part.lower <= near) & (off > -turned), part.lower, a)
    snapped = np.where((part.upper - a <= near) & (off < turned), part.upper, snapped)
    again = certify(part, cost, snapped, reserve, multiplier)
    return _where_better(certificate, again, which, attempt.activation, snapped)


def _where_better(
    certificate: Certificate, again: Certificate, which: Indices, numbers: Array, better: Array
) -> Certificate:
    """Replace numbers of some frames, in place, where their certificate is better; return the certificate of all."""
    improved = again.worst < certificate.frames(which).worst
    numbers[which[improved]] = better[improved]
    return certificate.replaced(which[improved], again.frames(improved))


def _gap_of_levels(
    problem: Problem, cost: Cost, activation: Array, reserve: Array, multiplier: Array
) -> GapParts:
    """The parts of the certificate of a cost of levels: the worst level, in the unit of the cost."""
    load, value = relative_load(problem, cost), cost.value(problem, activation)
    goal, share, decided_by_reserves = reserve_pull(problem, reserve)
    worst = (share * np.abs(activation - goal)).sum(axis=1)
    if problem.reserve_weight is None:
        worst = np.where(reserve.any(axis=1), np.inf, worst)
    open_, miss_cost = ~decided_by_reserves, np.zeros(problem.n_frames)
    short = problem.produced(activation) + reserve - problem.moment
    sizes = np.abs(problem.moment_matrix)
    met = np.matmul(sizes, np.abs(activation)[:, :, None])[:, :, 0]
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
        # D / sigma, and the cost of missed moments, as loads
        total = np.divide(np.abs(pull), load * share, out=np.zeros_like(pull), where=share > 0).max(axis=1)
        excess = np.where(open_, share * load * np.abs(activation - goal), 0.0).sum(axis=1)
        missed = _share(np.abs((y * short).sum(axis=1)), total)
        rounded = _share(4.0 * UNIT_ROUNDING * (np.abs(y) * met).sum(axis=1), total)
        gap = np.where(limited.any(axis=1), _share(excess, top[:, 0]), np.inf)
        # where y is zero
        free = ~np.any(y, axis=1)
        first = open_ & (present >= top - SAME * np.abs(top))
        above = np.where(first, activation - problem.lower, np.inf)
        at_rest = _share((np.where(first, load, np.inf) * above).min(axis=1), top[:, 0])
        at_rest = np.where(first.any(axis=1), at_rest, 0.0)
        room = _share(excess + missed + rounded, top[:, 0])
        least = np.clip(room / DECIDED, LEAST_CHANGE, DECIDED)[:, None]
        decided = np.where(free[:, None], first & (above <= DECIDED), open_ & (share > least))
        worst = np.maximum(worst, np.where(proposed, np.where(free, at_rest, gap), 0.0))
        miss_cost = np.maximum(miss_cost, np.where(proposed & ~free, _share(missed, top[:, 0]), 0.0))
        open_ &= ~(decided & proposed[:, None])
    left = np.where(open_, load * (activation - problem.lower), 0.0).max(axis=1)
    worst = np.maximum(worst, _share(left, value))
    missed = (np.abs(short) / np.maximum(1.0, np.abs(problem.moment))).max(axis=1)
    miss_cost = _times(miss_cost, value)
    return GapParts(_times(worst, value), value, miss_cost, miss_cost, missed)


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
    """The Farkas margin of each frame without unit, (T,); minus infinity where the direction is zero or not finite.

    (y . b - max y . A a) / sum_k |y_k| max(1, |b_k|); the direction y, (T, m), may have any length; reserves of the
    problem are ignored. `pull` is A^T y, (T, n), if computed already. Solvers end at a ratio above 1e-6.
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
    unit, (_, dofs, muscles) = UNIT_ROUNDING, problem.moment_arm.shape
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        y = direction / np.abs(direction).max(axis=1, keepdims=True)
        pull = problem.pull(y)
        error = (dofs + 8) * unit * np.matmul(np.abs(y)[:, None, :], np.abs(problem.moment_matrix))[:, 0, :]
        corners = [
            end * bound for end in (pull - error, pull + error) for bound in (problem.lower, problem.upper)
        ]
        most, demand = np.maximum(np.maximum(*corners[:2]), np.maximum(*corners[2:])), y * problem.moment
        rounded = (dofs + 8) * np.abs(demand).sum(axis=1) + (muscles + 8) * np.abs(most).sum(axis=1)
        margin = demand.sum(axis=1) - most.sum(axis=1) - unit * rounded - LEAST_NORMAL
    return np.where(np.isfinite(margin), margin, -np.inf)


def empty_box(problem: Problem) -> Mask:
    """Return which frames have bounds that no activation satisfies, (T,): the domain of the cost ends below `lower`."""
    return np.any(problem.lower > problem.upper, axis=1)
