"""The compiled solver: many frames, or one, in one call. It is compiled at its first use, and then kept on disk.

Importing this package imports nothing of numba; `entry` does.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve.sharing.answer import Answer
from musclesolve.sharing.cost.base import Cost, described
from musclesolve.sharing.cost.terms import Terms
from musclesolve.sharing.problem import HUGE, Array, Problem

MOST_MUSCLES = 1024
FEW = 128
"""Frames for which a second thread does not pay."""

LEFT = -1
"""The verdict on a frame that another method has to solve."""

_NO_TABLE, _NO_CUBE, _NO_FLAGS = np.zeros((0, 0)), np.zeros((0, 0, 0)), np.zeros(0, np.bool_)


@dataclass(frozen=True, eq=False)
class Task:
    """A problem and a cost as the arrays that the compiled code takes."""

    arrays: tuple[Any, ...]
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, problem: Problem, cost: Cost) -> Task | None:
        """None where the cost cannot be described, or there are too many muscles."""
        terms = described(cost, problem) if problem.n_muscles <= MOST_MUSCLES else None
        if terms is None:
            return None
        weight = problem.reserve_weight
        given = (
            *(problem.moment_arm, problem.moment, problem.force_capacity, problem.lower, problem.upper),
            *(_domain(problem, cost), _usable(problem), _NO_TABLE if weight is None else weight),
            *_soft_rows(problem, cost),
            *_arrays(terms),
        )
        return cls(tuple(np.ascontiguousarray(x) for x in given), problem.moment_arm.shape)  # type: ignore[arg-type]

    def solve(
        self, tolerance: float, max_iterations: int, may_help: bool, block: int, threads: int
    ) -> Answer:
        """Solve every frame; LEFT where that did not end with a certificate or a proof."""
        answer = Answer.room(*self.shape)
        self._run(0, answer, tolerance, max_iterations, may_help, block, threads)
        return answer

    def certify(self, activation: Array, reserve: Array, multiplier: Array) -> Array:
        """The certificates of answers, as kkt_residual has them."""
        answer = Answer.room(*self.shape)
        answer.activation[:], answer.reserve[:], answer.multiplier[:] = activation, reserve, multiplier
        self._run(1, answer, 0.0, 0, False, self.shape[0], 1)
        return answer.residual

    def _run(
        self,
        task: int,
        answer: Answer,
        tolerance: float,
        max_iterations: int,
        may_help: bool,
        block: int,
        threads: int,
    ) -> None:
        from musclesolve.sharing.kernel.entry import run

        frames = self.shape[0]
        out = (
            *(answer.activation, answer.force, answer.reserve, answer.multiplier, answer.status),
            *(answer.residual, answer.cost, answer.iterations, answer.proof, answer.weight),
        )
        options = (tolerance, max_iterations, may_help)
        if threads == 1 or frames <= FEW:
            run(task, 0, frames, *self.arrays, *options, *out)
            return
        block = min(block, -(-frames // threads))
        parts = [(i, min(i + block, frames)) for i in range(0, frames, block)]
        list(_pool(threads).map(lambda part: run(task, *part, *self.arrays, *options, *out), parts))


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "musclesolve")


if hasattr(os, "register_at_fork"):  # threads do not survive it
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _domain(problem: Problem, cost: Cost) -> Array:
    if type(cost).largest_activation is Cost.largest_activation:
        return _NO_TABLE
    return cost.largest_activation(problem)


def _usable(problem: Problem) -> NDArray[np.bool_]:
    """(T,) whether what the compiled code does not see of a frame is finite; empty where there is nothing."""
    optional = (problem.fiber_velocity, problem.reaction_matrix, problem.reaction_offset)
    good = [(np.abs(x) < HUGE).reshape(len(x), -1).all(axis=1) for x in optional if x is not None]
    return np.logical_and.reduce(good) if good else _NO_FLAGS


def _soft_rows(problem: Problem, cost: Cost) -> tuple[Array, Array, Array]:
    rows = None if "rows" not in cost.needs else cost.soft_rows(problem)
    if rows is None:
        return _NO_CUBE, _NO_TABLE, _NO_TABLE
    return rows.matrix, rows.target, rows.weight


def _arrays(terms: Terms) -> tuple[Any, ...]:
    return terms.kind, terms.exponent, terms.factor, terms.row, terms.coefficient
