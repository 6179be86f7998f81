"""The structured interior point from a static start to a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.attempt import MotionAttempt
from musclesolve.trajectory.certificate import Certifier, Misses
from musclesolve.trajectory.interior_point import InteriorPoint
from musclesolve.trajectory.motion_cost import MotionCost
from musclesolve.trajectory.motion_problem import MotionProblem

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
