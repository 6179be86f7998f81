"""Calls of the compiled solver from Python. Only `entry`, imported at the first call, imports numba."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from threading import local
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.processes import threads as threads_allowed
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import kernel_arrays
from musclesolve.sharing.kernel.constants import CERTIFY, CHAIN, HUGE, IN_ORDER, SOLVE
from musclesolve.sharing.kernel.workspace_layout import MAX_MUSCLES, RateBounds, workspace_arrays
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import SolutionArrays

LOG = logging.getLogger("musclesolve")

FEW = 128  # up to so many frames one thread is faster than two
_NO_TABLE, _NO_CUBE, _NO_FLAGS = np.zeros((0, 0)), np.zeros((0, 0, 0)), np.zeros(0, np.bool_)


class Options(NamedTuple):
    """Options of the compiled solver."""

    tolerance: float  # certificate at which a frame is done
    max_iterations: int  # for each frame
    allow_reserve: bool  # whether an infeasible frame is solved again with reserves


_NO_OPTIONS = Options(0.0, 0, False)
_NO_RATE = RateBounds(np.zeros(0), 0.0, 0.0, np.zeros(0), np.zeros(1))


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """A problem and a cost as the arrays that the compiled code takes."""

    arrays: tuple[Any, ...]
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, problem: Problem, cost: Cost) -> KernelProblem | None:
        """None where the cost cannot be described as data, there are too many muscles, or numba may not compile.

        Never for a cost that is not built in, whatever it inherits: its shapes and slopes have to be checked first
        (cost_check.py), which compiled code does not do.
        """
        if not cost.built_in or problem.n_muscles > MAX_MUSCLES or not compiles():
            return None
        with np.errstate(all="ignore"):  # some frames may not consist of numbers
            terms, ends = cost.terms(problem), cost.largest_activation(problem)
        if terms is None:
            return None
        frames, _, muscles = problem.moment_arm.shape
        weight = problem.reserve_weight
        given = (
            *(problem.moment_arm, problem.moment, problem.force_capacity, problem.lower, problem.upper),
            *(_NO_TABLE if np.isinf(ends).all() else ends, _usable(problem)),
            _NO_TABLE if weight is None else weight,
            *_soft_rows(problem, cost),
            *kernel_arrays(terms, frames, muscles),
        )
        return cls(tuple(np.ascontiguousarray(x) for x in given), problem.moment_arm.shape)  # type: ignore[arg-type]

    def solve(self, options: Options, block: int, threads: int | None) -> SolutionArrays:
        """Solve every frame; UNRESOLVED where that did not end with a certificate or a proof.

        `block` frames at a time, by at most so many threads; None takes as many as the processor has.
        """
        found, frames = SolutionArrays.unfilled(*self.shape), self.shape[0]
        run = self._call(SOLVE, found, options, _NO_RATE)
        threads = 1 if frames <= FEW else threads or threads_allowed()
        block = min(block, max(-(-frames // threads), 1))
        block = -(-block // CHAIN) * CHAIN  # whole chains, however many threads there are
        starts = range(0, frames, block)
        # in blocks even with one thread: a Ctrl-C is noticed between them
        each = map if threads == 1 else _pool(threads).map
        list(each(lambda first: run(first, min(first + block, frames)), starts))
        return found

    def solve_in_order(self, first: int, found: SolutionArrays, rate: RateBounds, options: Options) -> int:
        """Solve frame after frame, each within rate limits of the one before; returns the first unresolved one."""
        return int(self._call(IN_ORDER, found, options, rate)(first, self.shape[0]))

    def certify(self, activation: Array, reserve: Array, multiplier: Array) -> Array:
        """The compiled certificate, (T,), of given results; certificate.kkt_residual defines it."""
        found = SolutionArrays.unfilled(*self.shape)
        found.activation[:], found.reserve[:], found.multiplier[:] = activation, reserve, multiplier
        self._call(CERTIFY, found, _NO_OPTIONS, _NO_RATE)(0, self.shape[0])
        return found.kkt_residual

    def _call(
        self, task: int, found: SolutionArrays, options: Options, rate: RateBounds
    ) -> Callable[[int, int], Any]:
        """The compiled function, of the first frame and the one after the last."""
        from musclesolve.sharing.kernel.entry import compiled_run

        run = compiled_run()
        out = (
            *(
                found.activation,
                found.force,
                found.reserve,
                found.multiplier,
                found.status,
                found.kkt_residual,
            ),
            *(found.cost, found.iterations, found.infeasibility_proof, found.reserve_weight),
        )
        rest = (*self.arrays, *options, *rate, *out)
        soft, terms = self.arrays[9].shape[1], len(self.arrays[11])
        size = (self.shape[1] + soft, self.shape[2], terms)
        return lambda first, last: run(task, first, last, *rest, *_workspace(size))


class _Workspaces(local):
    size: tuple[int, int, int] = (0, 0, 0)
    arrays: tuple[AnyArray, ...] = ()


_workspaces = _Workspaces()


def _workspace(size: tuple[int, int, int]) -> tuple[AnyArray, ...]:
    """The work arrays of this thread, kept from the last problem if that had the same size."""
    if _workspaces.size != size:
        _workspaces.arrays, _workspaces.size = workspace_arrays(*size), size
    return _workspaces.arrays


@cache
def compiles() -> bool:
    """Whether numba compiles in this process; NUMBA_DISABLE_JIT leaves only the slow numpy method."""
    try:
        import numba
    except ValueError as error:
        asked = os.environ.get("NUMBA_NUM_THREADS")
        raise InputError(
            f"numba cannot be loaded with NUMBA_NUM_THREADS = {asked!r}: {error}",
            code="bad_environment",
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


def compile_kernel() -> bool:
    """Compile the kernel now unless it is on this disk already; returns whether it had to be (10 to 20 s)."""
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


def _usable(problem: Problem) -> Mask:
    """(T,) whether the arrays that compiled code does not get are finite in a frame; empty where there are none."""
    optional = (problem.fiber_velocity, problem.reaction_matrix, problem.reaction_offset)
    good = [(np.abs(x) < HUGE).reshape(len(x), -1).all(axis=1) for x in optional if x is not None]
    return np.logical_and.reduce(good) if good else _NO_FLAGS


def _soft_rows(problem: Problem, cost: Cost) -> tuple[Array, Array, Array]:
    rows = None if "rows" not in cost.needs else cost.soft_rows(problem)
    if rows is None:
        return _NO_CUBE, _NO_TABLE, _NO_TABLE
    return rows.matrix, rows.target, rows.weight
