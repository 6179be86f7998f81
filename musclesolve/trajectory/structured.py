"""A primal-dual interior-point method for a motion, which uses that muscles are chains in time.

The conditions of certificate.py are solved with the products of multipliers k and distances x from the bounds equal to
sigma omega > 0, where sigma goes to zero: Mehrotra's pair of predictor and corrector (sharing/solver/mehrotra.py), a
Newton step each. In a step the balance of tendon and fiber gives the change of the activation,

    da = (E + E_z dz + E_y dy) / g,       E = f - a g - p,

so that only the spline coefficients of z and the multipliers of the moments are left (newton_system.py). With
da = d + u dz + v dy put in, the second derivatives by z and its rate y are

    L_zz + 2 u L_za + u^2 L_aa,      L_zy + u L_ya + v L_za + u v L_aa,      L_yy + 2 v L_ya + v^2 L_aa,

where k / x of the bounds of z and a is a part of L_zz and L_aa. Activations, z and their distances from the bounds stay
positive; balance and moments are met at the end. Where the second derivatives of a chain are not positive definite they
get a shift; near the end, steps without it are tried as well, which get farther. The best iterate is the one with the
best certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.solver.mehrotra import Barrier, Changes, mehrotra_step
from musclesolve.trajectory.certificate import Certifier, MotionAttempt, coordinate_bounds
from musclesolve.trajectory.chain_kernel import Nodes
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem
from musclesolve.trajectory.newton_system import NewtonSystem

FIRST_FORCE = 0.1  # of every tendon over F0, at the least, to begin with
FIRST_ACTIVATION = 0.3  # of the distance between their bounds, where activations start
INSIDE = 0.02  # of the distance between its bounds, by which z starts inside of them
LEAST_WIDTH = 1e-7  # between two bounds: those that coincide are drawn apart by it
FIRST_SIGMA, FIRST_LEAST, LEAST_EVER = 0.1, 1e-13, 1e-17
"""Sigma at the start, over the size of multipliers; the least sigma to begin with, and ever."""
LEAST_OMEGA = 1e-4
UNWEIGHED = 1e-11
SHARE_OF_PULL = 0.01
TO_BOUNDARY = 0.995
GOOD, GOOD_ENOUGH = 1e-7, 1e-6
"""Certificates with which it ends: at once, and when it gets no better."""
PATIENCE = 4
CLOSE = 1e-9  # products of multipliers and distances from which on certificates are worth computing
NEARLY = 1e-3  # a certificate from which on steps without convexity are tried
STUCK, STUCK_STEPS = 0.02, 12


@dataclass(frozen=True, eq=False)
class Iterate:
    """The unknowns, costs over the unit of the method; barriers of z below and above, of a below and above, of limits.

    missing (2, T-1, n): what the distances from the limits of activation are too large; length: of the last step.
    """

    c: Array  # spline coefficients of z, (T, n)
    a: Array  # (T, n)
    multiplier: Array  # lambda, (T, m)
    balance: Array  # mu, (T, n)
    missing: Array
    barriers: tuple[Barrier, ...]
    omega: Array  # (n,)
    sigma: float
    length: float = 1.0


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
        return self.run(
            MotionInteriorPoint(problem, cost), np.maximum(start[0], least), Certifier(problem, cost)
        )

    def run(self, method: MotionInteriorPoint, z: Array, certifier: Any) -> MotionAttempt:
        """The best attempt of an interior point from tendon coordinates z (T, n), by the `misses` of its certifier."""
        with np.errstate(all="ignore"):
            x = method.start(z)
            best, residual, from_bounds = method.attempt(x, 0), np.inf, False
            least, floor = FIRST_LEAST, LEAST_EVER  # of sigma
            since = short_steps = failed = next_as_is = 0

            def better(x: Iterate, iteration: int) -> bool:
                """Certify an iterate, and keep it where it is the best one."""
                nonlocal best, residual, from_bounds, since
                attempt = method.attempt(x, iteration)
                misses = certifier.misses(attempt)
                miss = float(misses.residual.max())
                from_bounds = miss <= float(misses.of_bounds.max())
                since += 1
                if not miss < residual:
                    return False
                best, residual, since = attempt, miss, 0
                return True

            for iteration in range(1, self.max_iterations + 1):
                near, moved = residual < NEARLY, None
                if near and method.system.share.any() and iteration >= next_as_is:
                    moved = method.step(x, least, convex=False)
                    if moved is None or not better(moved, iteration):
                        moved, failed = None, failed + 1
                        next_as_is = iteration + PATIENCE * 2**failed
                if moved is None:
                    moved = method.step(x, least)
                    if moved is None:
                        if not near or floor > LEAST_EVER:
                            break
                        # numbers broke down next to the bounds: once more from where it was, farther from them
                        least = floor = 1e3 * least
                        continue
                    short_steps = short_steps + 1 if moved.length < STUCK else 0
                    if short_steps > STUCK_STEPS:
                        break
                    if moved.sigma <= CLOSE * method.size:
                        better(moved, iteration)
                x = moved
                # where only the distance from the bounds is left, they come nearer
                if from_bounds and x.sigma <= least:
                    least = max(0.01 * least, floor)
                if residual <= self.good or (residual <= GOOD_ENOUGH and since >= PATIENCE):
                    break
        return best


class MotionInteriorPoint:
    """The interior point on one motion: where it starts, its steps, and what they amount to.

    The problem and the cost are those that a Certifier takes.
    """

    def __init__(self, problem: Any, cost: Any) -> None:
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

    def start(self, z: Array) -> Iterate:
        """The first iterate: z (T, n) inside of its bounds, products sigma, without multipliers of the equations."""
        problem, basis = self.problem, self.problem.basis
        lower, width = problem.lower, np.maximum(problem.upper - problem.lower, LEAST_WIDTH)
        a = lower + FIRST_ACTIVATION * width
        low, high = coordinate_bounds(problem, self.cost)
        room = INSIDE * np.minimum(high - low, 1.0)
        c = basis.coefficients(np.clip(z, low + room, high - room))
        z = basis.values(c)
        slack = np.maximum(problem.activation_limits.slack(a), 0.01)
        missing = problem.activation_limits.slack(a) - slack
        if self.compliance.any():
            # the multipliers to expect: those of reserves for all the moments that lack at first, if large
            force = problem.state(z, basis.rates(c)).tendon.value
            short = problem.moment - np.einsum("tkn,tn->tk", problem.lever, force)
            soft = self.compliance > 0.0
            expected = np.divide(short, self.compliance, out=np.zeros_like(short), where=soft)
            pull = np.abs(np.einsum("tkn,tk->tn", problem.lever, expected))
            self.size = max(1.0, SHARE_OF_PULL * float(np.quantile(pull, 0.9)))
        sigma = FIRST_SIGMA * self.size
        distances = (z - low, high - z, a - lower, lower + width - a, slack)
        barriers = tuple(Barrier(x, sigma / np.maximum(x, 0.1)) for x in distances)
        omega = np.ones(a.shape[1])
        return Iterate(c, a, np.zeros_like(problem.moment), np.zeros_like(a), missing, barriers, omega, sigma)

    def attempt(self, x: Iterate, iterations: int) -> MotionAttempt:
        """The iterate as an attempt, in the units of the cost."""
        z_low, z_high, _, _, limit = x.barriers
        return MotionAttempt(
            coordinate=self.problem.basis.values(x.c),
            activation=np.clip(x.a, self.problem.lower, self.problem.upper),
            multiplier=self.unit * x.multiplier,
            balance_multiplier=self.unit * x.balance,
            coordinate_multiplier=self.unit * (z_low.k - z_high.k),
            limit_multiplier=self.unit * limit.k,
            iterations=iterations,
            method="structured",
        )

    def step(self, x: Iterate, least: float, convex: bool = True) -> Iterate | None:
        """One step, sigma no less than `least`, with chains made convex or as they are; None where it breaks down."""
        problem, basis, limits = self.problem, self.problem.basis, self.problem.activation_limits
        a, mu, h = x.a, x.balance, problem.mean_step
        z_low, z_high, a_low, a_high, limit = (barrier.k / barrier.x for barrier in x.barriers)

        # slopes and second derivatives of the Lagrangian by z, its rate y and a, with the bounds of z and a
        state = problem.state(basis.values(x.c), basis.rates(x.c))
        tendon, active, capacity = state.tendon, state.active, state.capacity
        of_force, of_force_twice, slope_a, of_a_twice = (
            self.weight * part for part in self.cost.slopes(active.value, a)
        )
        pull = np.einsum("tkn,tk->tn", problem.lever, x.multiplier)
        slope_z = of_force * active.slope - pull * tendon.slope
        zz = of_force_twice * np.square(active.slope) + of_force * active.curvature - pull * tendon.curvature
        zz = zz - mu * (active.curvature - a * capacity.zz) + z_low + z_high
        zy, yy = mu * a * capacity.zy, mu * a * capacity.yy
        za, ya, aa = mu * capacity.z, mu * capacity.y, of_a_twice + a_low + a_high

        # the balance: da = first + by_z dz + by_y dy
        first = state.imbalance(a) / capacity.value
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

        def along_a(d_a: Array) -> Array:
            return aa * d_a + limits.pull(limit * limits.change(d_a))

        def direction(*pushes: Array | float) -> tuple[tuple[Array, ...], Changes]:
            slope = slope_a - pushes[2] + pushes[3] - limits.pull(pushes[4] - limit * x.missing)
            moved = slope + along_a(first)
            of_z = slope_z - pushes[0] + pushes[1] + za * first + by_z * moved
            d_c, d_multiplier = self.system.solve(-basis.gather(of_z, ya * first + by_y * moved), short)
            d_z, d_y = basis.values(d_c), basis.rates(d_c)
            d_a = first + by_z * d_z + by_y * d_y
            balance = -(slope + za * d_z + ya * d_y + along_a(d_a)) / capacity.value
            distances = (d_z, -d_z, d_a, -d_a, limits.change(d_a) + x.missing)
            changes = zip(x.barriers, distances, pushes, strict=True)
            return (d_c, d_a, d_multiplier, balance - mu), [
                bound.change(dx, push) for bound, dx, push in changes
            ]

        # omega, near the end: the largest marginal cost of a muscle's activation in the motion; so a muscle whose
        # multipliers are small gets as near to its bounds as one whose multipliers are large
        omega = x.omega
        if x.sigma <= UNWEIGHED * self.size:
            largest = (np.abs(slope_a) + np.abs(mu * capacity.value)).max(axis=0)
            omega = np.maximum(largest, LEAST_OMEGA * largest.max())
        step = mehrotra_step(x.barriers, direction, omega, TO_BOUNDARY, least)
        t, (d_c, d_a, d_multiplier, d_balance) = step.length, step.move
        moved = replace(
            x,
            c=x.c + t * d_c,
            a=a + t * d_a,
            multiplier=x.multiplier + t * d_multiplier,
            balance=mu + t * d_balance,
            missing=(1.0 - t) * x.missing,
            barriers=step.barriers,
            omega=omega,
            sigma=float(step.sigma),
            length=float(t),
        )
        return moved if np.isfinite(moved.c).all() and np.isfinite(moved.multiplier).all() else None
