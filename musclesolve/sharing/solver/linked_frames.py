"""A primal-dual interior-point method for a motion whose frames are linked, each muscle with itself in the next frame.

    minimize    sum_t f_t(a_t) + W(a) + 1/2 sum C^-1 s^2
    subject to  A_t a_t + s_t = b_t,   lower <= a <= upper,   G a >= h,

with costs f_t of single muscles; soft rows of the cost are rows of A with a compliance C of their own. The frames are
linked by rate limits G a >= h (rate_limits.py), or by a convex quadratic W of the activations of neighboring frames
(`MuscleChains`). With distances x > 0 from bounds and limits, and their multipliers k, the slopes

    f' + W' - A^T lambda - k_lower + k_upper - G^T k_limit

are brought to zero, with x k = sigma omega, sigma -> 0, by Mehrotra's pair of predictor and corrector
(interior_point.py). In a step a muscle has the stiffness f'' + k / x, and its limits are springs k / x between two
frames, so that the Newton system is the one of kernel/linked_frames.py: n^3 / 2 products a frame, whatever the number
of frames, exactly and without assumptions how far one frame reaches.

From where sigma is small, the bounds and limits whose multipliers outweigh their distances are taken for active, and
Newton's method finds the optimum on them: an active bound has the inverse stiffness zero, an active limit is a rigid
link. The next step holds what the last one violates, and lets go of what it pulls at. So the products of distances and
multipliers vanish exactly: where reserves bear much, no small product would suffice. The best iterate by the
certificate is the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import Certificate
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import GAP, NO_ROOM
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.rate_limits import ActivationLimits
from musclesolve.sharing.solver.interior_point import Barrier, Changes, mehrotra_step
from musclesolve.sharing.solver.motion_steps import (
    CLOSE,
    FIRST_LEAST,
    FIRST_SIGMA,
    FIRST_SLACK,
    GOOD_ENOUGH,
    LEAST_DISTANCE,
    LEAST_WIDTH,
    LITTLE_OF_GAP,
    PATIENCE,
    SHARE_OF_PULL,
    STUCK,
    STUCK_STEPS,
    TO_BOUNDARY,
    scales_of_step,
)

ROUND_OFF = 1e-12  # negative stiffness, over the largest one, that counts as none
SAME = 1e-10  # difference of slopes, over their size, of a cost over frames that counts as quadratic
LEAST_INSIDE = 1e-15
"""Share of the width between bounds by which activations stay inside: some curvatures are infinite at rest."""
AT_BOUND = 1e-9  # distance from a bound, over the width, of muscles that start at the bound
FIRST_INSIDE = 0.05  # of the distance between bounds, by which activations start inside
GOOD = 0.1  # share of the limits of the certificate that ends the method at once
FIRST_SETS, NEXT_SETS = 1e4, 1e-2
"""Share of the limits of the certificate from which on active sets are tried, and its fall to the next time."""
MOST_SETS, WORSE = 20, 3
FEW_CHANGES = 2e-3  # of sets by a step, over the number of activations, from which on it is certified
MOST_ITERATIONS = 150
LEAST_BEND = 1e-12  # of a muscle, over the largest one: it decides where the cost does not


class MuscleChains(NamedTuple):
    """A convex quadratic W = 1/2 sum_i a_i . B_i a_i + linear . a, each B_i (T, T) tridiagonal.

    diagonal, linear (T, n); beside (T - 1, n): B between two frames.
    """

    diagonal: Array
    beside: Array
    linear: Array

    @classmethod
    def recognized(cls, slope: Callable[[Array], Array], frames: int, muscles: int) -> Self | None:
        """W from its slopes, a function of activations (T, n) to (T, n); None where it is no such quadratic.

        Every third frame is moved by one at once, which shows a column of B in each; a random point shows whether W
        has other terms.
        """
        linear, third = slope(np.zeros((frames, muscles))), np.arange(frames) % 3
        diagonal, beside = np.zeros((frames, muscles)), np.zeros((frames - 1, muscles))
        for color in range(3):
            change = slope(np.repeat((third == color)[:, None] * 1.0, muscles, axis=1)) - linear
            diagonal[third == color] = change[third == color]
            beside[third[:-1] == color] = change[1:][third[:-1] == color]
        found, at = cls(diagonal, beside, linear), np.random.default_rng(0).random((frames, muscles))
        size = np.abs(linear).max() + np.abs(diagonal).max()
        same = np.abs(slope(at) - found.slope(at)).max() <= SAME * size  # false with NaN
        return found if same else None

    def slope(self, a: Array) -> Array:
        """The slopes W' at activations (T, n)."""
        total = self.linear + self.diagonal * a
        total[1:] += self.beside * a[:-1]
        total[:-1] += self.beside * a[1:]
        return total

    @property
    def convex(self) -> bool:
        """Whether every B is positive semidefinite, but for round-off."""
        stiffness, _, alone = self.springs()
        linked = (self.beside == 0.0) | (stiffness > 0.0)
        return bool(linked.all() and (alone >= -ROUND_OFF * np.abs(self.diagonal).max()).all())

    def springs(self) -> tuple[Array, Array, Array]:
        """Stiffness r and share e (T - 1, n) of links, and stiffness (T, n) of muscles alone: B as their sum.

        1/2 r (a_t+1 - e a_t)^2 has r e^2 and r on the diagonal. From the last frame on, r is what the later links
        leave of the diagonal; nothing negative is left where B is positive semidefinite.
        """
        from musclesolve.sharing.kernel.linked_frames import SPRINGS

        alone, stiffness, share = (
            np.array(self.diagonal),
            np.empty_like(self.beside),
            np.empty_like(self.beside),
        )
        SPRINGS.load()(np.ascontiguousarray(self.beside), alone, stiffness, share)
        return stiffness, share, alone


def joined_springs(stiffness: Array, share: Array) -> tuple[Array, Array, Array]:
    """Springs 1/2 r_k (a_t+1 - e_k a_t)^2 side by side, (k, T - 1, n), as one: r, e and the stiffness of a_t alone."""
    total = stiffness.sum(axis=0)
    parts = np.divide(stiffness, total, out=np.zeros_like(stiffness), where=total > 0.0)
    mean = (parts * share).sum(axis=0)
    return total, mean, (stiffness * np.square(share - mean)).sum(axis=0)


def stretched(limits: ActivationLimits, ratio: Array, change: Array, force: Array) -> Array:
    """The change of the slack of limits, (2, T - 1, n), from the force in each pair of them, joined as one spring.

    G d itself would lose its digits where a limit is as good as rigid. change (T - 1, n): of the former activations.
    """
    other = (limits.e_a - limits.e_d) * ratio[::-1] * change
    total = ratio.sum(axis=0)
    return np.stack([force + other[0], other[1] - force]) / total


class LinkedSystem:
    """The Newton system of kernel/linked_frames.py with rows A (T, R, n) and compliances C (T, R); its memory."""

    def __init__(self, matrix: Array, compliance: Array) -> None:
        from musclesolve.sharing.kernel.linked_frames import WIDTH

        frames, rows, n = matrix.shape
        wide = -(-n // WIDTH) * WIDTH
        self.matrix, self.compliance = np.ascontiguousarray(matrix), np.ascontiguousarray(compliance)
        self.variance, self.share, self.loose = np.empty((frames, n)), *np.empty((2, frames - 1, n))
        self._sets = np.zeros((frames, n), np.int64), np.zeros(frames, np.int64)
        self._inverses = np.empty((frames, wide, wide)), np.empty((frames, n))
        self._rows = np.empty((frames, rows, n)), np.empty((frames, rows, rows)), np.empty((frames, rows))
        sizes: tuple[tuple[int, ...], ...] = (n, n), (WIDTH, wide), (WIDTH, WIDTH), (wide,), (rows, n)
        self._work = [np.empty(size) for size in sizes]
        self._vectors = [*(np.empty(n) for _ in range(5)), np.empty(rows)]

    def factor(self, stiffness: Array, link: Array, share: Array) -> None:
        """Factor for stiffness of muscles V^-1 (T, n) and of their links U^-1 (T - 1, n), and shares e (T - 1, n)."""
        from musclesolve.sharing.kernel.linked_frames import FACTOR

        with np.errstate(divide="ignore"):
            self.variance[:], self.share[:], self.loose[:] = 1.0 / stiffness, share, 1.0 / link
        given = self.variance, self.loose, self.share, self.matrix, self.compliance
        FACTOR.load()(*given, *self._sets, *self._inverses, *self._rows, *self._work)

    def solve(self, mean: Array, offset: Array, right: Array) -> tuple[Array, Array, Array]:
        """Changes (T, n), multipliers (T, R) and forces in links (T - 1, n) for mu (T, n), g (T - 1, n), b (T, R).

        What the equations miss by round-off is solved for once more: stiff reserves and active bounds differ by many
        powers of ten.
        """
        first = self._solved(mean, offset, right)
        correction = self._solved(*self._missed(first, mean, offset, right))
        x, multiplier, force = (part + change for part, change in zip(first, correction, strict=True))
        return x, multiplier, force

    def _missed(
        self, first: tuple[Array, Array, Array], mean: Array, offset: Array, right: Array
    ) -> tuple[Array, Array, Array]:
        """Return the parts of mu, g and b that a solution misses; links without stiffness have no equation."""
        x, multiplier, force = first
        pull = np.einsum("trn,tr->tn", self.matrix, multiplier)
        pull[:-1] += self.share * force
        pull[1:] -= force
        linked = np.isfinite(self.loose)
        stretch = np.where(linked, self.loose, 0.0) * force
        return (
            mean + self.variance * pull - x,
            np.where(linked, offset - (x[1:] - self.share * x[:-1] - stretch), 0.0),
            right - np.einsum("trn,tn->tr", self.matrix, x) - self.compliance * multiplier,
        )

    def _solved(self, mean: Array, offset: Array, right: Array) -> tuple[Array, Array, Array]:
        from musclesolve.sharing.kernel.linked_frames import SOLVE

        x, multiplier, force = (
            np.empty_like(self.variance),
            np.empty_like(right),
            np.empty_like(self.variance),
        )
        factored = self.variance, self.share, self.matrix, *self._sets, *self._inverses, *self._rows
        given = (np.ascontiguousarray(array) for array in (mean, offset, right))
        SOLVE.load()(*factored, *given, x, multiplier, force, *self._vectors)
        return x, multiplier, force[1:]


@dataclass(frozen=True, eq=False)
class LinkedAttempt:
    """Activations (T, n), multipliers of the moments (T, R) and of the limits (2, T - 1, n), never negative."""

    activation: Array
    multiplier: Array
    limit_multiplier: Array
    iterations: int


Judge = Callable[[LinkedAttempt], Certificate]


@dataclass(frozen=True, eq=False)
class LinkedFrames:
    """The program: rows A (T, R, n), b and C (T, R), bounds (T, n), the cost of single muscles and the links.

    Costs and multipliers are over `unit`, the mean marginal cost midway between the bounds.
    """

    problem: Problem
    cost: Cost
    unit: float
    matrix: Array
    target: Array
    compliance: Array
    width: Array
    limits: ActivationLimits | None
    chains: MuscleChains | None

    @classmethod
    def from_problem(
        cls,
        problem: Problem,
        cost: Cost,
        reserve_weight: Array | None,
        limits: ActivationLimits | None = None,
        chains: MuscleChains | None = None,
    ) -> Self:
        """The frames of a problem; weights of reserves (T, m), infinite or None without a reserve."""
        matrix, target = problem.moment_matrix, problem.moment
        compliance = np.zeros_like(target) if reserve_weight is None else 1.0 / reserve_weight
        if (rows := cost.soft_rows(problem)) is not None:
            root = np.sqrt(rows.weight)
            matrix = np.concatenate([matrix, root[:, :, None] * rows.matrix], axis=1)
            target = np.concatenate([target, root * rows.target], axis=1)
            compliance = np.concatenate([compliance, np.ones_like(root)], axis=1)
        # muscles that cannot move have no levers, and their moments are taken off
        width = problem.upper - problem.lower
        fixed = width <= NO_ROOM
        if fixed.any():
            target = target - np.einsum("tkn,tn->tk", matrix, np.where(fixed, problem.lower, 0.0))
            matrix = np.where(fixed[:, None, :], 0.0, matrix)
        middle = problem.lower + 0.5 * np.minimum(width, 1.0)
        slope = cost.term_gradient(problem, middle) + (0.0 if chains is None else chains.slope(middle))
        typical = float(np.mean(np.abs(slope)))
        unit = typical if 0.0 < typical < np.inf else 1.0
        if chains is not None:
            chains = MuscleChains(*(part / unit for part in chains))
        width = np.maximum(width, LEAST_WIDTH)
        return cls(problem, cost, unit, matrix, target, compliance * unit, width, limits, chains)

    def slopes(self, a: Array) -> tuple[Array, Array]:
        """Slopes of cost and W, and curvatures of the cost alone, (T, n), without soft rows."""
        lower, upper = self.problem.lower, self.problem.upper
        least = LEAST_INSIDE * (upper - lower)
        at = self.problem, np.clip(a, lower + least, upper - least)
        slope, bend = (
            self.cost.term_gradient(*at) / self.unit,
            self.cost.term_hessian_diagonal(*at) / self.unit,
        )
        return slope if self.chains is None else slope + self.chains.slope(a), bend

    def attempt(self, a: Array, multiplier: Array, limit_multiplier: Array, iterations: int) -> LinkedAttempt:
        """An attempt in the unit of the cost, from multipliers over `unit`."""
        a = np.clip(a, self.problem.lower, self.problem.upper)
        return LinkedAttempt(a, self.unit * multiplier, self.unit * limit_multiplier, iterations)

    def pull(self, multiplier: Array) -> Array:
        """The pull A^T lambda, (T, n)."""
        return np.asarray(np.matmul(multiplier[:, None, :], self.matrix)[:, 0])

    def short(self, a: Array, multiplier: Array) -> Array:
        """The residual b - A a - C lambda, (T, R)."""
        return self.target - np.matmul(self.matrix, a[:, :, None])[:, :, 0] - self.compliance * multiplier

    def springs(self, ratio: Array | None) -> tuple[Array, Array, Array]:
        """Stiffness and share of the links (T - 1, n), and what they add to the stiffness of muscles (T, n)."""
        frames, n = self.width.shape
        if self.chains is not None:
            return self._springs_of_chains
        alone = np.zeros((frames, n))
        if self.limits is None or ratio is None:
            return np.zeros((frames - 1, n)), np.zeros((frames - 1, n)), alone
        shares = np.broadcast_to(np.stack([self.limits.e_d, self.limits.e_a]), ratio.shape)
        stiffness, share, alone[:-1] = joined_springs(ratio, shares)
        return stiffness, share, alone

    @cached_property
    def _springs_of_chains(self) -> tuple[Array, Array, Array]:
        return self.chains.springs() if self.chains is not None else self.springs(None)


class Iterate(NamedTuple):
    """Activations a (T, n), multipliers (T, R), barriers of the bounds below and above and of the limits.

    missing (2, T - 1, n): excess of the distances from the limits; length: of the last step.
    """

    a: Array
    multiplier: Array
    barriers: tuple[Barrier, ...]
    missing: Array
    omega: Array
    sigma: float
    length: float = 1.0


def minimize(
    program: LinkedFrames, judge: Judge, start: Array, max_iterations: int = MOST_ITERATIONS
) -> LinkedAttempt:
    """The best attempt by its certificate, from activations (T, n) that are moved a little inside of their bounds."""
    with np.errstate(all="ignore"):
        method, early, early_worst = _InteriorPoint(program, start), None, np.inf
        if program.limits is None:
            early, early_worst = on_active_sets(
                program, method.alone(start), method.touched(start), judge, method.system
            )
            if early_worst <= GOOD:
                return early
        x = method.start(start)
        best, nearest, worst, since, short_steps = method.attempt(x, 0), x, np.inf, 0, 0
        least, next_sets = FIRST_LEAST * method.scale, FIRST_SETS
        for iteration in range(1, max_iterations + 1):
            moved = method.step(x, least)
            if moved is None:
                break
            x = moved
            short_steps = short_steps + 1 if x.length < STUCK else 0
            if short_steps > STUCK_STEPS:
                break
            if x.sigma <= CLOSE * method.scale:
                attempt = method.attempt(x, iteration)
                certificate = judge(attempt)
                share = float(certificate.worst.max())
                enough = LITTLE_OF_GAP * GAP * float(certificate.unit.sum()) / method.size_of_products(x)
                least = enough if 0.0 < enough < np.inf else least
                since += 1
                if GOOD < share <= next_sets:
                    next_sets = NEXT_SETS * share
                    improved, on_sets = on_active_sets(
                        program, attempt, method.active(x), judge, method.system
                    )
                    attempt, share = (improved, on_sets) if on_sets < share else (attempt, share)
                if share < worst:
                    best, worst, since, nearest = attempt, share, 0, x
            if worst <= GOOD or (worst <= GOOD_ENOUGH and since >= PATIENCE):
                break
        if GOOD_ENOUGH < worst < np.inf:
            improved, share = on_active_sets(program, best, method.active(nearest), judge, method.system)
            best, worst = (improved, share) if share < worst else (best, worst)
    return best if early is None or worst <= early_worst else early


class _InteriorPoint:
    """The interior point on one program: its start, its steps and their results."""

    def __init__(self, program: LinkedFrames, start: Array) -> None:
        self.program, self.system = program, LinkedSystem(program.matrix, program.compliance)
        self.scale = 1.0  # of multipliers

    def distances(self, a: Array, slack: Array) -> tuple[Array, ...]:
        """Distances of activations (T, n) from their bounds, below and above, then from the limits."""
        lower, width = self.program.problem.lower, self.program.width
        return a - lower, lower + width - a, slack

    def slack(self, a: Array) -> Array:
        """G a - h, (2, T - 1, n); (0, T - 1, n) without limits."""
        limits = self.program.limits
        return np.zeros((0, len(a) - 1, a.shape[1])) if limits is None else limits.slack(a)

    def start(self, start: Array) -> Iterate:
        """The first iterate: products sigma, without multipliers of the moments."""
        program = self.program
        lower, width = program.problem.lower, program.width
        a = np.clip(start, lower + FIRST_INSIDE * width, lower + (1.0 - FIRST_INSIDE) * width)
        multiplier = np.zeros_like(program.target)
        if program.compliance.any():
            # expected multipliers: those of reserves for the initial shortage of the moments, if large
            soft = program.compliance > 0.0
            expected = np.divide(
                program.short(a, multiplier), program.compliance, out=np.zeros_like(multiplier), where=soft
            )
            pull = np.abs(program.pull(expected))
            self.scale = max(self.scale, SHARE_OF_PULL * float(np.quantile(pull, 0.9)))
        sigma = FIRST_SIGMA * self.scale
        slack = np.maximum(self.slack(a), FIRST_SLACK)
        barriers = tuple(Barrier(x, sigma / np.maximum(x, 0.1)) for x in self.distances(a, slack))
        return Iterate(a, multiplier, barriers, self.slack(a) - slack, np.ones(a.shape[1]), sigma)

    def attempt(self, x: Iterate, iterations: int) -> LinkedAttempt:
        """The iterate as an attempt."""
        return self.program.attempt(x.a, x.multiplier, x.barriers[2].k, iterations)

    def alone(self, start: Array) -> LinkedAttempt:
        """Activations (T, n) without multipliers, as an attempt."""
        return LinkedAttempt(start, np.zeros_like(self.program.target), np.zeros_like(self.slack(start)), 0)

    def touched(self, start: Array) -> tuple[Mask, ...]:
        """The bounds below and above at which activations (T, n) are, and no limits."""
        problem, room = self.program.problem, AT_BOUND * np.minimum(self.program.width, 1.0)
        return start - problem.lower <= room, problem.upper - start <= room, self.slack(start) > np.inf

    def active(self, x: Iterate) -> tuple[Mask, ...]:
        """The bounds below and above and the limits whose multipliers outweigh their distances."""
        bend = float(np.median(self.program.slopes(x.a)[1]))
        return tuple(k > bend * distance for distance, k in x.barriers)

    def size_of_products(self, x: Iterate) -> float:
        """The sum of all products of multipliers and distances, over sigma, in the unit of the cost."""
        return self.program.unit * float(
            sum(np.broadcast_to(x.omega, bar.x.shape).sum() for bar in x.barriers)
        )

    def step(self, x: Iterate, least: float) -> Iterate | None:
        """One step, with sigma at least `least`; None after a breakdown."""
        program, a = self.program, x.a
        limits, (low, high, limit) = program.limits, (barrier.k / barrier.x for barrier in x.barriers)
        slope, bend = program.slopes(a)
        stiffness, share, alone = program.springs(limit)
        system = self.system
        system.factor(bend + low + high + alone, stiffness, share)
        uphill = slope - program.pull(x.multiplier)
        short, none = program.short(a, x.multiplier), np.zeros_like(stiffness)

        def direction(*pushes: Any) -> tuple[tuple[Array, Array], Changes]:
            right = pushes[0] - pushes[1] - uphill
            if limits is not None:
                right = right + limits.pull(pushes[2] - limit * x.missing)
            d_a, d_multiplier, force = system.solve(system.variance * right, none, short)
            of_limits = none[None][:0] if limits is None else stretched(limits, limit, d_a[:-1], force)
            moves = d_a, -d_a, of_limits + x.missing
            changes = zip(x.barriers, moves, pushes, strict=True)
            return (d_a, d_multiplier), [bound.change(dx, push) for bound, dx, push in changes]

        omega = scales_of_step(x.omega, x.sigma, self.scale, np.abs(slope))
        (d_a, d_multiplier), barriers, t, sigma = mehrotra_step(
            x.barriers, direction, omega, TO_BOUNDARY, least
        )
        a = a + t * d_a
        nearest = LEAST_DISTANCE * float(a.max())
        moved = Iterate(
            a, x.multiplier + t * d_multiplier, tuple(Barrier(np.maximum(x, nearest), k) for x, k in barriers),
            (1.0 - t) * x.missing, omega, float(sigma), float(t),
        )  # fmt: skip
        return moved if np.isfinite(a).all() and np.isfinite(moved.multiplier).all() else None


def on_active_sets(
    program: LinkedFrames,
    attempt: LinkedAttempt,
    active: tuple[Mask, ...],
    judge: Judge,
    system: LinkedSystem,
) -> tuple[LinkedAttempt, float]:
    """Newton's method on active bounds and limits from an attempt: the best attempt, and its worst share."""
    problem, limits = program.problem, program.limits
    lower, upper = problem.lower, problem.upper
    a, multiplier = attempt.activation, attempt.multiplier / program.unit
    eta, best, worst = attempt.limit_multiplier / program.unit, attempt, np.inf
    fewest, since, fixed = a.size, 0, upper - lower <= NO_ROOM
    low, high, held = active
    for number in range(MOST_SETS):
        slope, bend = program.slopes(a)
        stiffness, share, alone = program.springs(None)
        bend = np.maximum(bend + alone, LEAST_BEND * bend.max())
        pinned = low | high
        offset, downhill = np.zeros_like(share), program.pull(multiplier) - slope
        if limits is not None:
            fall, rise = held
            eta, slack = np.where(held, eta, 0.0), limits.slack(a)
            downhill = downhill + limits.pull(eta)
            share = np.where(rise & ~fall, limits.e_a, limits.e_d)
            offset = np.where(fall, -slack[0], np.where(rise, slack[1], 0.0))
            stiffness = np.where(fall | rise, np.inf, 0.0)
        mean = np.where(low, lower - a, np.where(high, upper - a, downhill / bend))
        system.factor(np.where(pinned, np.inf, bend), stiffness, share)
        d_a, d_multiplier, force = system.solve(mean, offset, program.short(a, multiplier))
        if not (np.isfinite(d_a).all() and np.isfinite(d_multiplier).all()):
            break
        a, multiplier = a + d_a, multiplier + d_multiplier
        if limits is not None:
            eta = eta + np.stack([np.where(fall, -force, 0.0), np.where(rise & ~fall, force, 0.0)])
        slope, _ = program.slopes(a)
        rest = slope - program.pull(multiplier)  # multipliers of the bounds
        rest = rest if limits is None else rest - limits.pull(eta)
        before = low, high, held
        low = np.where(low, rest > 0.0, a < lower) | fixed
        high = np.where(high, rest < 0.0, a > upper) & ~fixed
        if limits is not None:
            held = np.where(held, eta > 0.0, limits.slack(a) < 0.0)
        changes = sum(int((old != new).sum()) for old, new in zip(before, (low, high, held), strict=True))
        if changes <= FEW_CHANGES * a.size:
            trial = program.attempt(a, multiplier, np.maximum(eta, 0.0), attempt.iterations + number + 1)
            share_of_limits = float(judge(trial).worst.max())
            if share_of_limits < worst:
                best, worst = trial, share_of_limits
            if worst <= GOOD:
                break
        since = 0 if changes < fewest else since + 1
        fewest = min(fewest, changes)
        if since >= WORSE:
            break
    return best, worst
