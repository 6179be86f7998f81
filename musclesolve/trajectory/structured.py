"""A primal-dual interior-point method for a motion, which uses that muscles are chains in time.

The conditions of certificate.py are solved with the products of multipliers and distances from the bounds equal to
sigma > 0, which goes to zero: Mehrotra's pair of predictor and corrector, a Newton step each. In a step the balance of
tendon and fiber gives the change of the activation,

    da = (E + E_z dz + E_y dy) / g,       E = f - a g - p,

so that only the spline coefficients of z and the multipliers of the moments are left (newton_system.py). Activations,
z and their distances from the bounds stay positive; balance and moments are met at the end. Where the second
derivatives of a chain are not positive definite they get a shift. It ends with a certificate.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields
from typing import ClassVar, Protocol

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.certificate import Certifier, Misses
from musclesolve.trajectory.chain_kernel import Nodes
from musclesolve.trajectory.local_equilibrium import Balance
from musclesolve.trajectory.motion import CostOfMotion, Motion, MotionAttempt, coordinate_bounds
from musclesolve.trajectory.motion_cost import MotionCost, active_derivatives
from musclesolve.trajectory.motion_problem import MotionProblem
from musclesolve.trajectory.newton_system import NewtonSystem

FIRST_FORCE = 0.1
"""Of every tendon over F0, at the least, to begin with."""
GOOD, GOOD_ENOUGH = 1e-7, 1e-6
"""Certificates with which it ends: at once, and when it gets no better."""
PATIENCE = 4
CLOSE = 1e-9
"""Products of multipliers and distances from which on certificates are worth computing."""
LEAST_EVER = 1e-17
NEARLY = 1e-3
"""A certificate from which on steps without convexity are tried."""
STUCK, STUCK_STEPS = 0.02, 12


class Certifies(Protocol):
    """What certifies attempts."""

    def misses(self, found: MotionAttempt) -> Misses:
        """By how much an attempt misses each condition."""
        ...


@dataclass(frozen=True)
class Structured:
    """Options: the most iterations; the certificate with which it ends at once."""

    max_iterations: int = 150
    good: float = GOOD
    name: ClassVar[str] = "structured"
    certified: ClassVar[bool] = True

    def solve(self, problem: MotionProblem, cost: MotionCost, start: tuple[Array, Array]) -> MotionAttempt:
        """The best attempt from tendon coordinates (T, n); it does not look at the activations to begin with."""
        least = problem.muscles.curves.tendon.inverse(np.full_like(start[0], FIRST_FORCE))
        z = np.maximum(start[0], least)
        return self.run(InteriorPoint(problem, cost, z), Certifier(problem, cost))

    def run(self, method: InteriorPoint, certifier: Certifies) -> MotionAttempt:
        """The best attempt of an interior point, as its certificate has it."""
        run = _Run(method, certifier, self.good)
        with np.errstate(all="ignore"):
            for iteration in range(1, self.max_iterations + 1):
                if not run.step(iteration):
                    break
        return run.best


class _Run:
    """The iteration with its best iterate; near the end, steps without convexity where they get farther."""

    def __init__(self, method: InteriorPoint, certifier: Certifies, good: float) -> None:
        self.method, self.certifier, self.good = method, certifier, good
        self.best, self.residual = method.attempt(0), np.inf
        self.since = self.short_steps = 0
        self.next_as_is, self.floor = 0, LEAST_EVER
        self.from_bounds, self.failed = False, 0

    def step(self, iteration: int) -> bool:
        """One step; False where the end is reached."""
        method = self.method
        near = self.residual < NEARLY
        before = method.saved() if near else {}
        if near and method.system.share.any() and iteration >= self.next_as_is:
            if method.step(convex=False) and self._better(iteration):
                return self._go_on()
            method.restore(before)
            self.failed += 1
            self.next_as_is = iteration + PATIENCE * 2**self.failed
        if not method.step():
            return near and self._retreat(before)
        self.short_steps = self.short_steps + 1 if method.length < STUCK else 0
        if self.short_steps > STUCK_STEPS:
            return False
        if method.sigma <= CLOSE * method.size:
            self._better(iteration)
        return self._go_on()

    def _go_on(self) -> bool:
        """Whether it is not good enough yet; where only the distance from the bounds is left, they come nearer."""
        if self.from_bounds and self.method.sigma <= self.method.least:
            self.method.least = max(0.01 * self.method.least, self.floor)
        return self.residual > self.good and (self.residual > GOOD_ENOUGH or self.since < PATIENCE)

    def _retreat(self, before: dict[str, object]) -> bool:
        """Back, and farther from the bounds, where numbers broke down next to them; once."""
        if self.floor > LEAST_EVER:
            return False
        self.method.restore(before)
        self.method.least = 1e3 * self.method.least
        self.floor = self.method.least
        return True

    def _better(self, iteration: int) -> bool:
        """Certify the iterate, and keep it where it is the best one."""
        found = self.method.attempt(iteration)
        misses = self.certifier.misses(found)
        miss = float(misses.residual.max())
        self.from_bounds = miss <= float(misses.of_bounds.max())
        self.since += 1
        if not miss < self.residual:
            return False
        self.best, self.residual, self.since = found, miss, 0
        return True


FIRST_ACTIVATION = 0.3
FIRST_SIGMA = 0.1
FIRST_LEAST = 1e-13
LEAST_OMEGA = 1e-4
UNWEIGHED = 1e-11
SHARE_OF_PULL = 0.01
TO_BOUNDARY = 0.995
LEAST_WIDTH = 1e-7
"""Between two bounds: those that coincide are drawn apart by it."""
INSIDE = 0.02
"""Of the distance between its bounds, by which z starts inside of them."""


@dataclass
class Barrier:
    """A bound of a quantity: distances x > 0 from it and multipliers k > 0."""

    x: Array
    k: Array

    @property
    def ratio(self) -> Array:
        """K / x."""
        return self.k / self.x

    def shrink(self, dx: Array, dk: Array) -> float:
        """By which share of its step a distance or a multiplier would vanish, one over it."""
        return float(max((-dx / self.x).max(initial=0.0), (-dk / self.k).max(initial=0.0)))

    def gap(self, t: float, dx: Array, dk: Array, weight: Array) -> float:
        """Sum of the products after a step of length t, over the weights (n,) of the muscles."""
        return float(((self.x + t * dx) * (self.k + t * dk) / weight).sum())


@dataclass
class Barriers:
    """Of z below and above, of activations below and above, of the limits of activation."""

    z_low: Barrier
    z_high: Barrier
    a_low: Barrier
    a_high: Barrier
    limit: Barrier

    def __iter__(self):  # type: ignore[no-untyped-def]
        return (getattr(self, field.name) for field in fields(self))

    @property
    def count(self) -> int:
        """Of all bounds."""
        return sum(barrier.x.size for barrier in self)


@dataclass(frozen=True, eq=False)
class Step:
    """Changes of all unknowns; bounds: (dx, dk) of each barrier."""

    c: Array
    a: Array
    multiplier: Array
    balance: Array
    bounds: tuple[tuple[Array, Array], ...]


@dataclass(frozen=True, eq=False)
class Linearised:
    """The conditions at an iterate, and their derivatives; see `InteriorPoint.linearise`."""

    state: Balance
    slope_z: Array  # of the cost and the moments by z, without bounds and balance
    slope_a: Array
    bend_za: Array
    bend_ya: Array
    bend_aa: Array
    bend_zz: Array
    bend_zy: Array
    bend_yy: Array
    imbalance_z: Array
    imbalance_y: Array
    by_z: Array  # da / dz
    by_y: Array
    first: Array  # da where z stays
    lever: Array  # moment by z, (T, m, n)
    short: Array  # missing moments (T, m)


class InteriorPoint:
    """The iteration.

    z, a: (T, n) where it starts; z is moved inside of its bounds. All costs are divided by `unit`.
    """

    def __init__(self, problem: Motion, cost: CostOfMotion, z: Array, a: Array | None = None) -> None:
        self.problem, self.cost = problem, cost
        self.basis, self.limits = problem.basis, problem.activation_limits
        self.unit = _typical_slope(problem, cost)
        self.weight = problem.weight[:, None] / self.unit
        self.lever = problem.lever
        self.step_size = problem.mean_step
        self.system = NewtonSystem(self.basis, self.step_size, problem.moment.shape[1], z.shape[1])
        self.multiplier = np.zeros_like(problem.moment)
        self.balance = np.zeros_like(z)
        self.omega = np.ones(z.shape[1])
        self._start(z, a)
        self.size = self._size()
        self.sigma, self.length, self.least = FIRST_SIGMA * self.size, 1.0, FIRST_LEAST
        for barrier in self.barriers:
            barrier.k = self.sigma / np.maximum(barrier.x, 0.1)

    def _start(self, z: Array, a: Array | None) -> None:
        lower, upper = self.problem.lower, self.problem.upper
        width = np.maximum(upper - lower, LEAST_WIDTH)
        first = lower + FIRST_ACTIVATION * width
        if a is not None:
            first = np.clip(a, lower + INSIDE * width, upper - INSIDE * width)
        low, high = coordinate_bounds(self.problem, self.cost)
        room = INSIDE * np.minimum(high - low, 1.0)
        self.c = self.basis.coefficients(np.clip(z, low + room, high - room))
        self.a = first
        z = self.basis.values(self.c)
        slack = np.maximum(self.limits.slack(first), 0.01)
        self.missing = self.limits.slack(first) - slack
        distances = (z - low, high - z, first - lower, lower + width - first, slack)
        self.barriers = Barriers(*(Barrier(x, np.ones_like(x)) for x in distances))

    def _size(self) -> float:
        """The size of multipliers to expect: that of reserves for all the moments that lack at first, if large."""
        compliance = self._compliance
        if not compliance.any():
            return 1.0
        short = self.linearise().short
        expected = np.divide(short, compliance, out=np.zeros_like(short), where=compliance > 0.0)
        pull = np.abs(np.einsum("tkn,tk->tn", self.lever, expected))
        return max(1.0, SHARE_OF_PULL * float(np.quantile(pull, 0.9)))

    def saved(self) -> dict[str, object]:
        """The iterate, for `restore`."""
        names = ("c", "a", "multiplier", "balance", "missing")
        return {name: getattr(self, name) for name in names} | {"barriers": copy.deepcopy(self.barriers)}

    def restore(self, saved: dict[str, object]) -> None:
        """Back to an iterate that was saved."""
        vars(self).update(saved | {"barriers": copy.deepcopy(saved["barriers"])})

    def attempt(self, iterations: int) -> MotionAttempt:
        """The iterate in the units of the cost."""
        bounds, unit = self.barriers, self.unit
        return MotionAttempt(
            coordinate=self.basis.values(self.c),
            activation=np.clip(self.a, self.problem.lower, self.problem.upper),
            multiplier=unit * self.multiplier,
            balance_multiplier=unit * self.balance,
            coordinate_multiplier=unit * (bounds.z_low.k - bounds.z_high.k),
            limit_multiplier=unit * bounds.limit.k,
            iterations=iterations,
            method="structured",
        )

    def step(self, convex: bool = True) -> bool:
        """One step, with chains made convex or as they are; False where it breaks down."""
        here = self.linearise()
        if not self._factor(here, convex):
            return False
        self._weigh(here)
        nothing = tuple(np.zeros_like(barrier.x) for barrier in self.barriers)
        guess = self._direction(here, nothing)
        length = self._length(guess, 1.0)
        now, then = self._gap(0.0, guess), self._gap(length, guess)
        if not now > 0.0:
            return False
        sigma = max((then / now) ** 3 * now, self.least)
        bent = length * length
        pairs = zip(self.barriers, guess.bounds, strict=True)
        pushes = tuple((sigma * self.omega - bent * dx * dk) / barrier.x for barrier, (dx, dk) in pairs)
        move = self._direction(here, pushes)
        self.sigma, self.length = sigma, self._length(move, TO_BOUNDARY)
        self._advance(move, self.length)
        return bool(np.isfinite(self.c).all() and np.isfinite(self.multiplier).all())

    def linearise(self) -> Linearised:
        """Conditions and derivatives where the iterate is."""
        problem, a, mu = self.problem, self.a, self.balance
        z, y = self.basis.values(self.c), self.basis.rates(self.c)
        state = problem.state(z, y)
        active, capacity = state.active, state.capacity
        force_slope, force_bend, a_slope, a_bend = (
            self.weight * part for part in self.cost.slopes(active.value, a)
        )
        cost_z, cost_zz = active_derivatives(force_slope, force_bend, active)
        pull = np.einsum("tkn,tk->tn", self.lever, self.multiplier)
        imbalance_z, imbalance_y = active.slope - a * capacity.z, -a * capacity.y
        produced = np.einsum("tkn,tn->tk", self.lever, state.tendon.value)
        return Linearised(
            state=state,
            slope_z=cost_z - pull * state.tendon.slope,
            slope_a=a_slope,
            bend_za=mu * capacity.z,
            bend_ya=mu * capacity.y,
            bend_aa=a_bend + self.barriers.a_low.ratio + self.barriers.a_high.ratio,
            bend_zz=cost_zz
            - pull * state.tendon.curvature
            - mu * (active.curvature - a * capacity.zz)
            + self.barriers.z_low.ratio
            + self.barriers.z_high.ratio,
            bend_zy=mu * a * capacity.zy,
            bend_yy=mu * a * capacity.yy,
            imbalance_z=imbalance_z,
            imbalance_y=imbalance_y,
            by_z=imbalance_z / capacity.value,
            by_y=imbalance_y / capacity.value,
            first=state.imbalance(a) / capacity.value,
            lever=self.lever * state.tendon.slope[:, None, :],
            short=problem.moment - produced - self._compliance * self.multiplier,
        )

    @property
    def _compliance(self) -> Array:
        return self.problem.compliance * self.unit

    def _factor(self, here: Linearised, convex: bool) -> bool:
        """The second derivatives with da = by_z dz + by_y dy put in."""
        ratio, bend = self.barriers.limit.ratio, here.bend_aa
        g, h, between = here.by_z, here.by_y / self.step_size, self.step_size
        of_zy = (here.bend_zy + here.by_z * here.bend_ya + here.by_y * here.bend_za) / between
        parts = (
            here.bend_zz + 2.0 * g * here.bend_za + g * g * bend,
            of_zy + g * h * bend,
            (here.bend_yy + 2.0 * here.by_y * here.bend_ya) / between**2 + h * h * bend,
            g,
            h,
            self.limits.diagonal(ratio),
            np.append(self.limits.beside(ratio), np.zeros((1, g.shape[1])), axis=0),
        )
        nodes = Nodes(*(np.ascontiguousarray(part.T) for part in parts))
        factor = self.system.factor if convex else self.system.factor_as_is
        return factor(nodes, here.lever, self._compliance)

    def _direction(self, here: Linearised, pushes: tuple[Array, ...]) -> Step:
        """The Newton step towards products sigma, with pushes = (sigma - second-order terms) / x of each barrier."""
        z_low, z_high, a_low, a_high, limit = pushes
        bounds, ratio = self.barriers, self.barriers.limit.ratio
        slope_z = here.slope_z - z_low + z_high
        slope_a = here.slope_a - a_low + a_high - self.limits.pull(limit - ratio * self.missing)

        def along_a(d_a: Array) -> Array:
            return here.bend_aa * d_a + self.limits.pull(ratio * self.limits.change(d_a))

        moved = slope_a + along_a(here.first)
        of_z = slope_z + here.bend_za * here.first + here.by_z * moved
        of_y = here.bend_ya * here.first + here.by_y * moved
        d_c, d_multiplier = self.system.solve(-self.basis.gather(of_z, of_y), here.short)
        d_z, d_y = self.basis.values(d_c), self.basis.rates(d_c)
        d_a = here.first + here.by_z * d_z + here.by_y * d_y
        total = slope_a + here.bend_za * d_z + here.bend_ya * d_y + along_a(d_a)
        balance = -total / here.state.capacity.value
        d_slack = self.limits.change(d_a) + self.missing
        changes = (d_z, -d_z, d_a, -d_a, d_slack)
        steps = tuple(
            (dx, push - barrier.k - barrier.ratio * dx)
            for barrier, dx, push in zip(bounds, changes, pushes, strict=True)
        )
        return Step(d_c, d_a, d_multiplier, balance - self.balance, steps)

    def _length(self, step: Step, share: float) -> float:
        pairs = zip(self.barriers, step.bounds, strict=True)
        return share / max(share, *(barrier.shrink(*change) for barrier, change in pairs))

    def _gap(self, t: float, step: Step) -> float:
        pairs = zip(self.barriers, step.bounds, strict=True)
        return sum(barrier.gap(t, *change, self.omega) for barrier, change in pairs) / self.barriers.count

    def _weigh(self, here: Linearised) -> None:
        """Of each muscle in sigma, near the end: the largest marginal cost of its activation in the motion.

        So a muscle whose multipliers are small gets as near to its bounds as one whose multipliers are large.
        """
        if self.sigma > UNWEIGHED * self.size:
            return
        marginal = np.abs(here.slope_a) + np.abs(self.balance * here.state.capacity.value)
        largest = marginal.max(axis=0)
        self.omega = np.maximum(largest, LEAST_OMEGA * largest.max())

    def _advance(self, step: Step, t: float) -> None:
        self.c, self.a = self.c + t * step.c, self.a + t * step.a
        self.multiplier = self.multiplier + t * step.multiplier
        self.balance = self.balance + t * step.balance
        for barrier, (dx, dk) in zip(self.barriers, step.bounds, strict=True):
            barrier.x, barrier.k = barrier.x + t * dx, barrier.k + t * dk
        self.missing = (1.0 - t) * self.missing


def _typical_slope(problem: Motion, cost: CostOfMotion) -> float:
    """The mean marginal cost of the muscles at half their force or midway between the bounds of their activation."""
    middle = 0.5 * (problem.lower + problem.upper)
    by_force, _, by_activation, _ = cost.slopes(np.full_like(middle, 0.5), middle)
    typical = float(np.mean(np.abs(by_force) + np.abs(by_activation)))
    return typical if np.isfinite(typical) and typical > 0.0 else 1.0
