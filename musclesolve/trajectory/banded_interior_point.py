"""A primal-dual interior-point method for a motion, in which each muscle is a chain in time.

The slopes of the Lagrangian of certificate.py, with multipliers k of the bounds, and the misses of moments and balance
are brought to zero, with the products of k and the distances x from the bounds equal to sigma omega > 0, where sigma
falls to what the gap allows: Mehrotra's pair of predictor and corrector, a Newton step each. It is derived in
sharing/solver/interior_point.py, whose `mehrotra_step` is its numpy form for any program; step_kernel.py compiles it
for the one table that holds all bounds of a motion. Once sigma is small and all chains are convex, a third one moves
products that would leave the range `CENTRAL` back to it (Gondzio 1996, Comput Optim Appl 6:137-156), and is taken if it
is longer; elsewhere long steps lead astray. In a step the balance of tendon and fiber gives the change of the
activation,

    da = (E + E_z dz + E_y dy) / g,       E = f - a g - p,

so that only the spline coefficients of z and the multipliers of the moments are left (`NewtonSystem`). With
da = d + u dz + v dy put in, the second derivatives by z and its rate y are

    L_zz + 2 u L_za + u^2 L_aa,      L_zy + u L_ya + v L_za + u v L_aa,      L_yy + 2 v L_ya + v^2 L_aa,

where k / x of the bounds of z and a is a part of L_zz and L_aa. Activations, z and their distances from the bounds stay
positive; balance and moments are met at the end. Second derivatives of a chain that are not positive definite are
shifted; near the end, steps without shift are tried as well, which make more progress. The result is the iterate with
the best certificate: the largest of its gap, misses and their cost, each over its limit.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.kernel.constants import GAP
from musclesolve.sharing.rate_limits import ActivationLimits
from musclesolve.sharing.solver.interior_point import Barrier
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
from musclesolve.trajectory import chain_kernel, step_kernel
from musclesolve.trajectory.certificate import Certifier, MotionAttempt, coordinate_bounds
from musclesolve.trajectory.chain_kernel import HALF, Basis, Nodes
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem, TimeBasis
from musclesolve.trajectory.step_kernel import Terms

REACH = 24  # frames up to which the blocks of S are factored
LARGEST = 1000  # largest number of multipliers for which S is factored as a whole and not made convex
ALL = 60  # frames of a motion so short that all blocks of S are factored
ENOUGH, OF_PREDICTOR, OF_STEP = 1e-11, 1e-3, 1e-8
"""Shares of the right-hand side, in the norm of the system, that conjugate gradients may leave: of a solution, of the
predictor and of the steps of the interior point.
"""
_FEW_STEPS = 40
LITTLE = (1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
"""Additions to the unit diagonal of the blocks of S, tried in order until these are positive definite."""


class NewtonSystem:
    """The system of n muscles, m moments and T frames; step: the mean time between frames [s]."""

    def __init__(self, time: TimeBasis, step: float, moments: int, muscles: int) -> None:
        frames = len(time.first)
        value, rate = np.ascontiguousarray(time.value), np.ascontiguousarray(step * time.rate)
        self.basis = Basis(np.ascontiguousarray(time.first), value, rate)
        self.time, self.shape = time, (frames, moments, muscles)
        self.reach = frames - 1 if frames <= ALL else REACH
        self.share = np.zeros(muscles)
        self.factors = np.zeros((muscles, frames, HALF + 1))
        self.lanes = np.empty((frames + HALF, HALF + 1, muscles))
        self._row, self._c = np.empty(muscles), np.empty((frames, muscles))
        self.dense: tuple[Array, Array] | None = None
        self.steps = 0

    def factor(self, nodes: Nodes, lever: Array, compliance: Array) -> bool:
        """Factor the system for second derivatives, levers by the coordinate (T, m, n) and compliances (T, m).

        Chains that are not convex are made convex (chain_kernel.py). Returns False after a numerical breakdown.
        """
        frames, _, _ = self.shape
        band = np.empty((frames, HALF + 1))
        chain_kernel.FACTOR.load()(self.basis, nodes, self.share, band, self.factors)
        if not (np.isfinite(self.share).all() and np.isfinite(self.factors).all()):
            return False
        self._keep(lever, compliance)
        while True:
            band = self.blocks(self.reach)
            if self._factor_band(band):
                return True
            if self.reach >= frames - 1 or not np.isfinite(band).all():
                return False
            self.reach = min(2 * self.reach, frames - 1)

    def factor_as_is(self, nodes: Nodes, lever: Array, compliance: Array) -> bool:
        """Factor the system without changes for convexity; only for short motions (`LARGEST`)."""
        from scipy.linalg import lu_factor

        frames, moments, _ = self.shape
        if frames * moments > LARGEST:
            return False
        band = np.empty((frames, HALF + 1))
        if chain_kernel.FACTOR_AS_IS.load()(self.basis, nodes, band, self.factors) < 0:
            return False
        self._keep(lever, compliance)
        lower = self.blocks(frames - 1)
        if not np.isfinite(lower).all():
            return False
        size = frames * moments
        whole = np.zeros((size, size))
        for below in range(size):
            row = np.arange(below, size)
            whole[row, row - below] = whole[row - below, row] = lower[below, : size - below]
        self.dense = lu_factor(whole, check_finite=False)
        return True

    def solve(self, right: Array, short: Array, enough: float = ENOUGH) -> tuple[Array, Array]:
        """The changes dc (T, n) and dlambda (T, m) for right-hand sides r (T, n) and b (T, m); enough: see there."""
        alone = np.array(right, order="C")  # solved in place
        moments = np.empty_like(self.compliance)
        chain_kernel.SOLVE.load()(self.basis, self.lanes, self.lever, alone, self._row, moments)
        multiplier = self._solve_coupling(short - moments, enough)
        self.product(multiplier)
        return alone + self._c, multiplier

    def product(self, x: Array) -> Array:
        """The product S x for x (T, m)."""
        out = np.empty_like(self.compliance)
        product = chain_kernel.PRODUCT.load()
        product(self.basis, self.lanes, self.lever, self.compliance, x, self._c, self._row, out)
        return out

    def _keep(self, lever: Array, compliance: Array) -> None:
        self.lever, self.compliance = np.ascontiguousarray(lever), np.ascontiguousarray(compliance)
        chain_kernel.SIDE_BY_SIDE.load()(self.factors, self.lanes)
        self.dense = None

    def blocks(self, reach: int) -> Array:
        """The lower band of S up to a reach in frames: entry (i, j) in row i - j of column j."""
        frames, moments, muscles = self.shape
        band = np.empty((frames * moments, moments * (reach + 1)))
        sizes = (HALF + 1, reach + HALF + 1), (reach + HALF,), (moments + 1,)
        inverse, row, work = (np.empty((*size, muscles)) for size in sizes)
        couple = chain_kernel.COUPLE.load()
        couple(self.basis, self.lanes, self.lever, self.compliance, inverse, row, work, band)
        return band.T

    def _factor_band(self, band: Array) -> bool:
        """Factor blocks of S with a unit diagonal, plus a small addition if round-off requires it."""
        from scipy.linalg import LinAlgError, cholesky_banded

        self.scale = 1.0 / np.sqrt(np.where(band[0] > 0.0, band[0], 1.0))
        chain_kernel.SCALE.load()(band.T, self.scale)
        if not np.isfinite(band).all():
            return False
        for little in LITTLE:
            band[0] = 1.0 + little
            try:
                self.band = cholesky_banded(band, lower=True, check_finite=False)
                return True
            except LinAlgError:
                continue
        return False

    def _solve_coupling(self, b: Array, enough: float) -> Array:
        """Conjugate gradients for S x = b; after many steps the reach is doubled for the next solve."""
        from scipy.linalg import cho_solve_banded, lu_solve

        if self.dense is not None:
            return np.asarray(lu_solve(self.dense, b.reshape(-1), check_finite=False)).reshape(b.shape)

        def precondition(left: Array) -> Array:
            x = cho_solve_banded((self.band, True), left.reshape(-1) * self.scale, check_finite=False)
            return np.asarray(x * self.scale).reshape(b.shape)

        x = np.zeros_like(b)
        left = b
        pushed = precondition(left)
        along, now = pushed.copy(), float((left * pushed).sum())
        first, self.steps = now, 0
        while now > enough**2 * first and self.steps < 4 * _FEW_STEPS:
            moved = self.product(along)
            curvature = float((along * moved).sum())
            if not curvature > 0.0:
                break
            length = now / curvature
            x += length * along
            left = left - length * moved
            pushed = precondition(left)
            before, now = now, float((left * pushed).sum())
            along = pushed + now / before * along
            self.steps += 1
        if self.steps > _FEW_STEPS:
            self.reach = min(2 * self.reach, self.shape[0] - 1)
        return x


FIRST_FORCE = 0.1  # of every tendon over F0, at the least, to begin with
FIRST_ACTIVATION = 0.3  # of the distance between their bounds, where activations start
START_INSIDE = 0.02  # of the distance between its bounds, by which z starts inside of them
WARM_START_DISTANCE = 1e-4
"""Distance from bounds and limits of a start at the optimum of a similar motion."""
GOOD = 1e-3  # share of the limits of the certificate that ends the method at once
CENTRAL, AHEAD, CENTRAL_FROM = (0.3, 3.0), 0.5, 1e-3
"""The range of products over sigma omega, how much farther than its length a step is aimed at, and the sigma over the
size of multipliers from which on.
"""
NEARLY = 1e4  # a share of the limits from which on steps without convexity are tried


@dataclass(frozen=True, eq=False)
class Iterate:
    """The unknowns, costs over the unit of the method; barrier: all bounds and limits in one table (step_kernel.py).

    missing (2 T - 2, n): excess of the distances from the limits of activation; length: of the last step.
    """

    c: Array  # spline coefficients of z, (T, n)
    a: Array  # (T, n)
    multiplier: Array  # lambda, (T, m)
    balance: Array  # mu, (T, n)
    missing: Array
    barrier: Barrier
    omega: Array  # (n,)
    sigma: float
    length: float = 1.0


@dataclass(frozen=True)
class BandedInteriorPoint:
    """The method with its options: largest number of iterations; share of the certificate's limits that ends it.

    progress: called before every iteration with the progress of the barrier, 0 to 1, by the logarithm of sigma, which
    falls steadily with iterations.
    """

    max_iterations: int = 150
    good: float = GOOD
    progress: Callable[[float], None] | None = field(default=None, repr=False, compare=False)
    name: ClassVar[str] = "structured"

    def solve(self, problem: MotionProblem, cost: MotionCost, start: tuple[Array, Array]) -> MotionAttempt:
        """The best attempt from tendon coordinates (T, n) of a start; its activations are not used."""
        least = problem.muscles.curves.tendon.inverse(np.full_like(start[0], FIRST_FORCE))
        method = MotionInteriorPoint(problem, cost)
        return self.run(method, method.start(np.maximum(start[0], least)), Certifier(problem, cost))

    def resume(self, problem: MotionProblem, cost: MotionCost, near: MotionAttempt) -> MotionAttempt:
        """The best attempt from the optimum of a similar motion: few steps, and on the same branch."""
        method = MotionInteriorPoint(problem, cost)
        return self.run(method, method.near(near), Certifier(problem, cost))

    def run(self, method: "MotionInteriorPoint", x: Iterate, certifier: Certifier) -> MotionAttempt:
        """The best attempt of an interior point from its first iterate, by the `certificate` of its certifier."""
        with np.errstate(all="ignore"):
            best, worst = method.attempt(x, 0), np.inf
            least, floor = FIRST_LEAST, 0.0  # of sigma
            since = short_steps = failed = next_as_is = 0
            first = x.sigma

            def better(x: Iterate, iteration: int) -> bool:
                """Certify an iterate, and keep it if it is the best one."""
                nonlocal best, worst, least, since
                attempt = method.attempt(x, iteration)
                certificate = certifier.certificate(attempt)
                share = float(certificate.worst.max())
                enough = LITTLE_OF_GAP * GAP * float(certificate.unit.sum()) / method.size_of_products(x)
                least = max(enough, floor) if 0.0 < enough < np.inf else least
                since += 1
                if not share < worst:
                    return False
                best, worst, since = attempt, share, 0
                return True

            for iteration in range(1, self.max_iterations + 1):
                if self.progress is not None:
                    progress = np.log(first / x.sigma) / np.log(first / (CLOSE * method.size))
                    self.progress(float(np.clip(np.nan_to_num(progress), 0.0, 1.0)))
                near, moved = worst < NEARLY, None
                if near and method.system.share.any() and iteration >= next_as_is:
                    moved = method.step(x, least, convex=False)
                    if moved is None or moved.length < STUCK or not better(moved, iteration):
                        moved, failed = None, failed + 1
                        next_as_is = iteration + PATIENCE * 2**failed
                if moved is None:
                    moved = method.step(x, least)
                    if moved is None:
                        if not near or floor > 0.0:
                            break
                        # numbers broke down next to the bounds: once more from where it was, farther from them
                        least = floor = 1e3 * least
                        continue
                    short_steps = short_steps + 1 if moved.length < STUCK else 0
                    if short_steps > STUCK_STEPS:
                        break
                    if moved.sigma <= max(CLOSE * method.size, least):
                        better(moved, iteration)
                x = moved
                if worst <= self.good or (worst <= GOOD_ENOUGH and since >= PATIENCE):
                    break
        return best


@dataclass(frozen=True, eq=False)
class Linearized:
    """The conditions around an iterate, to first order, factored (module docstring).

    ratio, excess (2 T - 2, n): ratios k / x of the limits of activation and their missing slack; short (T, m): missing
    moments.
    """

    system: NewtonSystem
    limits: ActivationLimits
    terms: Terms
    ratio: Array
    excess: Array
    short: Array

    def move(self, barrier: Barrier, push: Array, enough: float, of_y: Array | None = None) -> "Move":
        """The changes that remove all residuals, with the bounds pushed; of_y (T, n): further slopes by the rate."""
        system, terms = self.system, self.terms
        of_y = np.zeros_like(terms.missing) if of_y is None else of_y
        decays = np.ascontiguousarray(self.limits.e_a[:, 0]), np.ascontiguousarray(self.limits.e_d[:, 0])
        linearized = system.basis, system.time.rate, terms, *decays, self.ratio, self.excess, push
        right = np.empty_like(of_y)
        step_kernel.RIGHT_SIDE.load()(*linearized, of_y, right, np.empty((3, right.shape[1])))
        d_c, d_multiplier = system.solve(right, self.short, enough)
        d_z, d_a, balance = (np.empty_like(right) for _ in range(3))
        dx, dk = np.empty_like(push), np.empty_like(push)
        least = step_kernel.CHANGES.load()(*linearized, d_c, barrier.x, barrier.k, d_z, d_a, dx, dk, balance)
        return Move(d_c, d_z, d_a, d_multiplier, balance, dx, dk, least)

    def response(self, missing: Array, of_z: Array, of_y: Array, of_a: Array, short: Array) -> "Move":
        """The changes that remove an imbalance, slopes by z, y and a (T, n), and missing moments (T, m)."""
        terms = self.terms._replace(missing=missing, slope_z=of_z, slope_a=of_a)
        alone = replace(self, terms=terms, excess=np.zeros_like(self.excess), short=short)
        frames, muscles = missing.shape
        still = np.ones((6 * frames - 2, muscles))
        return alone.move(Barrier(still, still), np.zeros_like(still), ENOUGH, of_y)


@dataclass(frozen=True, eq=False)
class Move:
    """A Newton step: changes of the coefficients c, of z and a (T, n), of the multipliers (T, m), of the distances and
    multipliers of the barrier; balance (T, n): the new mu, where slopes have no terms in mu; least: dx / x or dk / k.
    """

    c: Array
    z: Array
    a: Array
    multiplier: Array
    balance: Array
    dx: Array
    dk: Array
    least: float

    def longest(self, share: float) -> float:
        """The longest step, at most 1, that goes a share of the distance to the nearest bound."""
        return float(-share / min(self.least, -share))


class MotionInteriorPoint:
    """The interior point on one motion: its start, its steps, and their results.

    The problem has moments (T, m) [N m], `lever` (T, m, n) [N m], the moments of one unit of tendon force, `compliance`
    of reserves (T, m), bounds of activations and tendon coordinates (T, n), weights of frames (T,), the basis in time,
    the limits of activation, and the `state` of tendon and fiber at z and dz/dt. The cost is a sum over muscles with
    `slopes` by force and by activation, and the largest force of its domain.
    """

    def __init__(self, problem: MotionProblem, cost: MotionCost) -> None:
        self.problem, self.cost = problem, cost
        # all costs are divided by the mean marginal cost at half the force or midway between the bounds
        middle = 0.5 * (problem.lower + problem.upper)
        by_force, _, by_activation, _ = cost.slopes(np.full_like(middle, 0.5), middle)
        typical = float(np.mean(np.abs(by_force) + np.abs(by_activation)))
        self.unit = typical if np.isfinite(typical) and typical > 0.0 else 1.0
        self.weight, self.compliance = problem.weight[:, None] / self.unit, problem.compliance * self.unit
        (_, moments), muscles = problem.moment.shape, problem.lower.shape[1]
        self.system = NewtonSystem(problem.basis, problem.mean_step, moments, muscles)
        self.size = 1.0
        self.low, self.high = coordinate_bounds(problem, cost)
        self.width = np.maximum(problem.upper - problem.lower, LEAST_WIDTH)

    def distances(self, z: Array, a: Array, slack: Array) -> Array:
        """Distances of z and a (T, n) from their bounds, below and above, then from the limits: (6 T - 2, n)."""
        lower = self.problem.lower
        return np.concatenate([z - self.low, self.high - z, a - lower, lower + self.width - a, *slack])

    def start(self, z: Array) -> Iterate:
        """The first iterate: z (T, n) inside of its bounds, products sigma, without multipliers of the equations."""
        problem, basis = self.problem, self.problem.basis
        a = problem.lower + FIRST_ACTIVATION * self.width
        room = START_INSIDE * np.minimum(self.high - self.low, 1.0)
        c = basis.coefficients(np.clip(z, self.low + room, self.high - room))
        z = basis.values(c)
        slack = np.maximum(problem.activation_limits.slack(a), FIRST_SLACK)
        missing = problem.activation_limits.slack(a) - slack
        if self.compliance.any():
            # expected multipliers: those of reserves for the initial shortage of the moments, if large
            force = problem.state(z, basis.rates(c)).tendon.value
            short = problem.moment - np.einsum("tkn,tn->tk", problem.lever, force)
            soft = self.compliance > 0.0
            expected = np.divide(short, self.compliance, out=np.zeros_like(short), where=soft)
            pull = np.abs(np.einsum("tkn,tk->tn", problem.lever, expected))
            self.size = max(1.0, SHARE_OF_PULL * float(np.quantile(pull, 0.9)))
        sigma = FIRST_SIGMA * self.size
        x, omega = self.distances(z, a, slack), np.ones(a.shape[1])
        barrier, nothing = Barrier(x, sigma / np.maximum(x, 0.1)), np.zeros_like(problem.moment)
        return Iterate(c, a, nothing, np.zeros_like(a), np.concatenate(missing), barrier, omega, sigma)

    def near(
        self, optimum: MotionAttempt, inside: float = WARM_START_DISTANCE, ratio: float = np.inf
    ) -> Iterate:
        """The iterate at an optimum, of this motion or of a similar one, a little inside of bounds and limits.

        At zero distance it is the optimum itself; the ratios of multipliers and distances are at most `ratio`.
        """
        problem, basis, limits = self.problem, self.problem.basis, self.problem.activation_limits
        room, lower, width = inside * np.minimum(self.high - self.low, 1.0), problem.lower, self.width
        z = np.clip(optimum.coordinate, self.low + room, self.high - room)
        c = basis.coefficients(z)
        a = np.clip(optimum.activation, lower + inside * width, lower + (1.0 - inside) * width)
        # the multipliers of the bounds of a are the rest of its slope
        state = problem.state(z, basis.rates(c))
        by_activation = self.weight * self.cost.slopes(self.cost.load(state).value, a)[2]
        multiplier, balance, of_z, of_limit = (
            getattr(optimum, name) / self.unit
            for name in ("multiplier", "balance_multiplier", "coordinate_multiplier", "limit_multiplier")
        )
        of_a = by_activation + balance * state.capacity.value - limits.pull(of_limit)
        slack = np.maximum(limits.slack(a), inside)
        x = np.maximum(self.distances(z, a, slack), LEAST_DISTANCE)
        held = np.concatenate([of_z, -of_z, of_a, -of_a, *of_limit])
        barrier = Barrier(x, np.minimum(np.maximum(held, inside**2 / x), ratio * x))
        missing, omega = np.concatenate(limits.slack(a) - slack), np.ones(a.shape[1])
        return Iterate(c, a, multiplier, balance, missing, barrier, omega, inside**2)

    def attempt(self, x: Iterate, iterations: int) -> MotionAttempt:
        """The iterate as an attempt, in the units of the cost."""
        frames, k = len(x.a), x.barrier.k
        return MotionAttempt(
            coordinate=self.problem.basis.values(x.c),
            activation=np.clip(x.a, self.problem.lower, self.problem.upper),
            multiplier=self.unit * x.multiplier,
            balance_multiplier=self.unit * x.balance,
            coordinate_multiplier=self.unit * (k[:frames] - k[frames : 2 * frames]),
            limit_multiplier=self.unit * k[4 * frames :].reshape(2, frames - 1, -1),
            iterations=iterations,
            method="structured",
        )

    def size_of_products(self, x: Iterate) -> float:
        """The sum of all products of multipliers and distances, over sigma, in the unit of the cost."""
        return self.unit * float(len(x.barrier.x) * x.omega.sum())

    def linearize(self, x: Iterate, convex: bool = True) -> Linearized | None:
        """The linearized conditions at an iterate, with chains made convex or unchanged; None after a breakdown."""
        problem, basis, limits = self.problem, self.problem.basis, self.problem.activation_limits
        a, mu, h = x.a, x.balance, problem.mean_step
        ratio, frames = x.barrier.k / x.barrier.x, len(a)
        z_low, z_high, a_low, a_high = ratio[: 4 * frames].reshape(4, *a.shape)
        of_limits = ratio[4 * frames :]
        limit = of_limits.reshape(2, frames - 1, -1)

        # slopes and second derivatives of the Lagrangian by z, its rate y and a, with the bounds of z and a
        state = problem.state(basis.values(x.c), basis.rates(x.c))
        tendon, active, capacity = state.tendon, state.active, state.capacity
        load = self.cost.load(state)
        of_force, of_force_twice, slope_a, of_a_twice = (
            self.weight * part for part in self.cost.slopes(load.value, a)
        )
        pull = np.einsum("tkn,tk->tn", problem.lever, x.multiplier)
        slope_z = of_force * load.slope - pull * tendon.slope
        zz = of_force_twice * np.square(load.slope) + of_force * load.curvature - pull * tendon.curvature
        zz = zz - mu * (active.curvature - a * capacity.zz) + z_low + z_high
        zy, yy = mu * a * capacity.zy, mu * a * capacity.yy
        za, ya, aa = mu * capacity.z, mu * capacity.y, of_a_twice + a_low + a_high

        # the balance: da = first + by_z dz + by_y dy
        by_z, by_y = (active.slope - a * capacity.z) / capacity.value, -a * capacity.y / capacity.value
        nodes = (
            zz + 2.0 * by_z * za + by_z * by_z * aa,
            (zy + by_z * ya + by_y * za + by_z * by_y * aa) / h,
            (yy + 2.0 * by_y * ya + by_y * by_y * aa) / h**2,
            by_z,
            by_y / h,
            limits.diagonal(limit),
            np.append(limits.beside(limit), np.zeros((1, a.shape[1])), axis=0),
        )
        factor = self.system.factor if convex else self.system.factor_as_is
        levers = problem.lever * tendon.slope[:, None, :]
        if not factor(Nodes(*(np.ascontiguousarray(part.T) for part in nodes)), levers, self.compliance):
            return None
        produced = np.einsum("tkn,tn->tk", problem.lever, tendon.value)
        short = problem.moment - produced - self.compliance * x.multiplier
        missing = state.imbalance(a)
        terms = Terms(capacity.value, by_z, by_y, za, ya, aa, slope_z, slope_a, missing)
        return Linearized(self.system, limits, terms, of_limits, x.missing, short)

    def step(self, x: Iterate, least: float, convex: bool = True) -> Iterate | None:
        """One step, with sigma at least `least` and chains made convex or unchanged; None after a breakdown."""
        linear = self.linearize(x, convex)
        if linear is None:
            return None

        marginal = np.abs(linear.terms.slope_a) + np.abs(x.balance * linear.terms.capacity)
        omega = scales_of_step(x.omega, x.sigma, self.size, marginal)
        central = x.sigma <= CENTRAL_FROM * self.size and not self.system.share.any()
        move, t, sigma = self.predict_and_correct(linear, x.barrier, omega, least, central)
        a = x.a + t * move.a
        distance = np.maximum(x.barrier.x + t * move.dx, LEAST_DISTANCE * float(a.max()))
        moved = replace(
            x,
            c=x.c + t * move.c,
            a=a,
            multiplier=x.multiplier + t * move.multiplier,
            balance=x.balance + t * (move.balance - x.balance),
            missing=(1.0 - t) * x.missing,
            barrier=Barrier(distance, x.barrier.k + t * move.dk),
            omega=omega,
            sigma=sigma,
            length=t,
        )
        return moved if np.isfinite(moved.c).all() and np.isfinite(moved.multiplier).all() else None

    def predict_and_correct(
        self, linear: Linearized, barrier: Barrier, omega: Array, least: float, central: bool
    ) -> tuple[Move, float, float]:
        """The step of predictor, corrector and correction toward central products, its length, and sigma.

        omega (n,); least: the least sigma; central: whether products may be moved back to the range `CENTRAL`.
        """
        x, k = barrier
        push = np.zeros_like(x)
        guess = linear.move(barrier, push, OF_PREDICTOR)
        reach = guess.longest(1.0)
        now, then = step_kernel.PRODUCTS.load()(x, k, guess.dx, guess.dk, reach, omega)
        sigma = max((then / max(now, 1e-300)) ** 3 * now, least)
        target = sigma * omega
        step_kernel.PUSHES.load()(x, guess.dx, guess.dk, target, reach**2, push)
        move = linear.move(barrier, push, OF_STEP)
        length = move.longest(TO_BOUNDARY)
        if not central:
            return move, length, sigma
        ahead = min(1.0, length + AHEAD)
        step_kernel.CENTERED.load()(x, k, move.dx, move.dk, ahead, target, *CENTRAL, push)
        centered = linear.move(barrier, push, OF_STEP)
        longer = centered.longest(TO_BOUNDARY)
        return (centered, longer, sigma) if longer > length else (move, length, sigma)
