"""The compiled solver: many frames, or one, in one call. It is compiled at its first use, and then kept on disk.

Importing this package imports nothing of numba; `entry` does.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.processes import threads as threads_allowed
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost, described
from musclesolve.sharing.cost.cost_terms import Terms
from musclesolve.sharing.kernel.workspace_layout import MOST_MUSCLES, room_for
from musclesolve.sharing.problem import HUGE, Problem
from musclesolve.sharing.solution_arrays import Answer

LOG = logging.getLogger("musclesolve")

FEW = 128
"""Frames for which a second thread does not pay."""

CHAIN = 64
"""So many frames at a time begin with the prices of the one before; the next one begins anew."""

LEFT = -1
"""The verdict on a frame that another method has to solve."""

SOLVE, CERTIFY, IN_ORDER = 0, 1, 2
_NO_TABLE, _NO_CUBE, _NO_FLAGS = np.zeros((0, 0)), np.zeros((0, 0, 0)), np.zeros(0, np.bool_)

_NO_PACE = (np.zeros(0), 0.0, 0.0, np.zeros(0), np.zeros(1))


@dataclass(frozen=True, eq=False)
class Task:
    """A problem and a cost as the arrays that the compiled code takes."""

    arrays: tuple[Any, ...]
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, problem: Problem, cost: Cost) -> Task | None:
        """None where the cost cannot be described, there are too many muscles, or nothing may be compiled."""
        able = problem.n_muscles <= MOST_MUSCLES and compiles()
        terms = described(cost, problem) if able else None
        frames, _, muscles = problem.moment_arm.shape
        if terms is None or terms.coefficient.shape[1:] != (frames, muscles):
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
        self, tolerance: float, max_iterations: int, may_help: bool, block: int, threads: int | None
    ) -> Answer:
        """Solve every frame; LEFT where that did not end with a certificate or a proof.

        Args:
            tolerance: see Batch, as for what follows.
            max_iterations: for each frame.
            may_help: whether a frame that is out of reach is solved again with reserves.
            block: frames at a time.
            threads: at most so many; None asks the processor, which for a few frames is not worth its time.
        """
        answer, frames = Answer.room(*self.shape), self.shape[0]
        run = self._call(SOLVE, answer, (tolerance, max_iterations, may_help), _NO_PACE)
        threads = 1 if frames <= FEW else threads or threads_allowed()
        block = min(block, max(-(-frames // threads), 1))
        block = -(-block // CHAIN) * CHAIN  # whole chains, however many threads there are
        starts = range(0, frames, block)
        # in blocks even with one thread: between them a Ctrl-C is noticed
        each = map if threads == 1 else _pool(threads).map
        list(each(lambda first: run(first, min(first + block, frames)), starts))
        return answer

    def solve_in_order(
        self,
        first: int,
        answer: Answer,
        pace: tuple[Array, float, float, Array, Array],
        options: tuple[float, int, bool],
    ) -> int:
        """Solve frame after frame, each within reach of the one before; returns the first one without verdict.

        Args:
            first: number of the frame to begin with.
            answer: to be filled in.
            pace: times (T,) [s], time constants of activation and deactivation [s]; the last activations that were
                found, (n,), and their time (1,) [s] or NaN, both brought up to date.
            options: tolerance, most iterations, and whether reserves may help.
        """
        run = self._call(IN_ORDER, answer, options, pace)
        return int(run(first, self.shape[0]))

    def certify(self, activation: Array, reserve: Array, multiplier: Array) -> Array:
        """The certificates of answers, as kkt_residual has them."""
        answer = Answer.room(*self.shape)
        answer.activation[:], answer.reserve[:], answer.multiplier[:] = activation, reserve, multiplier
        self._call(CERTIFY, answer, (0.0, 0, False), _NO_PACE)(0, self.shape[0])
        return answer.residual

    def _call(
        self, task: int, answer: Answer, options: tuple[float, int, bool], pace: tuple[Any, ...]
    ) -> Callable[[int, int], Any]:
        """The compiled function, of the first frame and the one after the last."""
        run = _compiled()
        out = (
            *(answer.activation, answer.force, answer.reserve, answer.multiplier, answer.status),
            *(answer.residual, answer.cost, answer.iterations, answer.proof, answer.weight),
        )
        rest = (*self.arrays, *options, *pace, *out)
        soft, terms = self.arrays[9].shape[1], len(self.arrays[11])
        size = (self.shape[1] + soft, self.shape[2], terms)
        return lambda first, last: run(task, first, last, *rest, *_room(size))


class _Rooms(local):
    size: tuple[int, int, int] = (0, 0, 0)
    arrays: tuple[NDArray[Any], ...] = ()


_rooms = _Rooms()


def _room(size: tuple[int, int, int]) -> tuple[NDArray[Any], ...]:
    """The arrays for work of this thread, kept from the last problem if that had the same size."""
    if _rooms.size != size:
        _rooms.arrays, _rooms.size = room_for(*size), size
    return _rooms.arrays


@cache
def compiles() -> bool:
    """Whether numba compiles in this process, which NUMBA_DISABLE_JIT forbids; then all is done in numpy, and slowly.

    Raises:
        InputError: NUMBA_NUM_THREADS is a number of threads that numba refuses to be loaded with.
    """
    try:
        import numba
    except ValueError as error:
        asked = os.environ.get("NUMBA_NUM_THREADS")
        raise InputError(
            f"numba cannot be loaded with NUMBA_NUM_THREADS = {asked!r}: {error}",
            where="the environment",
            expected="a number of threads, 1 or more",
            remedy="unset NUMBA_NUM_THREADS",
        ) from error
    disabled = bool(vars(numba.config)["DISABLE_JIT"])
    if disabled:
        LOG.warning(
            "NUMBA_DISABLE_JIT is set: without the compiled kernel force sharing takes many times as long"
        )
    return not disabled


def _compiled() -> Any:
    from musclesolve.sharing.kernel.entry import compiled_run

    return compiled_run()


def compile_kernel() -> bool:
    """Compile the kernel now if it is not on this disk yet, which takes some ten seconds; whether it had to be."""
    if not compiles():
        return False
    from musclesolve.sharing.kernel.entry import compiled_run, is_kept

    there = is_kept()
    compiled_run()
    return not there


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
