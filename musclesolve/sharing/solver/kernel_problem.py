"""A problem and a cost as arrays for the compiled kernel, and the calls of the kernel.

Only kernel/entry.py, imported at the first call, imports numba.
"""

import logging
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from threading import local
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.processes import threads as threads_allowed
from musclesolve.errors import input_error
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Term, kernel_arrays
from musclesolve.sharing.kernel.constants import (
    CERTIFY,
    CHAIN,
    IN_ORDER,
    MAX_MUSCLES,
    SOLVE,
    UNRESOLVED,
    RateBounds,
    workspace_arrays,
)
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import SolutionArrays
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

LOG = logging.getLogger("musclesolve")

FEW = 128  # number of frames up to which one thread is faster than two
_NO_TABLE, _NO_CUBE = np.zeros((0, 0)), np.zeros((0, 0, 0))


class KernelOptions(NamedTuple):
    """Options of the compiled solver."""

    tolerance: float  # certificate at which a frame is done
    max_iterations: int  # for each frame
    allow_reserve: bool  # whether an infeasible frame is solved again with reserves


_OUTPUT = [field.name for field in fields(SolutionArrays)[:-1]]
"""Names of the output arrays, in the order of solve_frame.FrameOutput."""
_NO_OPTIONS = KernelOptions(0.0, 0, False)
_NO_RATE = RateBounds(np.zeros(0), 0.0, 0.0, np.zeros(0), np.zeros(1))
_THREAD = local()
"""The work arrays of this thread, reused when the next problem has the same size."""


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """A problem and a cost as the arrays that the compiled code takes."""

    arrays: tuple[Any, ...]
    shape: tuple[int, int, int]  # T, m, n
    sizes: tuple[int, int, int]  # rows of moments and soft rows, muscles, terms
    highest_power: float  # of a term

    @classmethod
    def from_problem(
        cls, problem: Problem, cost: Cost, terms: tuple[Term, ...] | None = None
    ) -> "KernelProblem | None":
        """The arrays of a problem and a cost, or others in the place of its terms; None where code cannot solve it.

        Compiled code cannot solve a cost that is not described as data, a problem with too many muscles, or any
        problem where numba may not compile. A cost that is not built in is excluded, too: its shapes and slopes have
        to be checked first (cost_check.py), which compiled code does not do.
        """
        if (terms is None and not cost.built_in) or problem.n_muscles > MAX_MUSCLES or not compiles():
            return None
        with np.errstate(all="ignore"):  # some frames may not consist of numbers
            terms = terms or cost.terms(problem)
            if terms is None:
                return None
            unbounded = all(term.form.end == np.inf for term in terms)
            ends = _NO_TABLE if unbounded else cost.largest_activation(problem)
        frames, dofs, muscles = shape = problem.moment_arm.shape
        rows = cost.soft_rows(problem) if "rows" in cost.needs else None
        soft = (_NO_CUBE, _NO_TABLE, _NO_TABLE) if rows is None else (rows.matrix, rows.target, rows.weight)
        arrays = (
            *(problem.moment_arm, problem.moment, problem.force_capacity, problem.lower, problem.upper),
            ends,
            problem.finite_options,
            _NO_TABLE if problem.reserve_weight is None else problem.reserve_weight,
            *soft,
            *kernel_arrays(terms, frames, muscles),
        )
        sizes = (dofs + soft[1].shape[1], muscles, len(terms))
        highest = max((term.form.exponent for term in terms), default=0.0)
        return cls(tuple(np.ascontiguousarray(x) for x in arrays), shape, sizes, highest)  # type: ignore[arg-type]

    def solve(
        self, options: KernelOptions, block: int, threads: int | None, task: int = SOLVE
    ) -> SolutionArrays:
        """Solve every frame; a frame that ends without a certificate or a proof is UNRESOLVED.

        `block` frames are solved at a time, by at most `threads` threads; None uses all cores of the processor. The
        task ALONE starts no frame from the one before.
        """
        out, frames = SolutionArrays.unfilled(*self.shape), self.shape[0]
        run = self._call(task, out, options, _NO_RATE)
        threads = 1 if frames <= FEW else threads or threads_allowed()
        block = min(block, max(-(-frames // threads), 1))
        block = -(-block // CHAIN) * CHAIN  # whole chains, however many threads there are
        starts = range(0, frames, block)
        # in blocks even with one thread: a Ctrl-C is noticed between them
        over = map if threads == 1 else pool(threads).map
        list(over(lambda first: run(first, min(first + block, frames)), starts))
        return out

    def solve_in_order(
        self, first: int, out: SolutionArrays, rate: RateBounds, options: KernelOptions
    ) -> int:
        """Solve frames in order, each within rate limits of the frame before; return the first unresolved one."""
        return int(self._call(IN_ORDER, out, options, rate)(first, self.shape[0]))

    def certify(self, activation: Array, reserve: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        """Compute gap, cost bound and moment error, (T,) each, by compiled code (certificate.certify defines them).

        The activations are (T, n), reserves (T, m) [N m] and multipliers (T, m).
        """
        out = SolutionArrays.unfilled(*self.shape)
        out.activation[:], out.reserve[:], out.multiplier[:] = activation, reserve, multiplier
        self._call(CERTIFY, out, _NO_OPTIONS, _NO_RATE)(0, self.shape[0])
        return out.gap, out.cost_bound, out.moment_error

    def _call(
        self, task: int, out: SolutionArrays, options: KernelOptions, rate: RateBounds
    ) -> Callable[[int, int], int]:
        """A function of the first frame and the frame after the last; it returns the frame where it ends."""
        from musclesolve.sharing.kernel.entry import FINISH, RUN

        compiled = RUN.load()
        arrays = [getattr(out, name) for name in _OUTPUT]

        def run(first: int, last: int) -> int:
            if getattr(_THREAD, "sizes", None) != self.sizes:
                _THREAD.arrays, _THREAD.sizes = workspace_arrays(*self.sizes), self.sizes
            given = *self.arrays, *options, *rate, *arrays, *_THREAD.arrays
            t: int = compiled(task, first, first, last, *given)
            while t < last:
                FINISH.load()(t, *given)
                if task == IN_ORDER and out.status[t] == UNRESOLVED:
                    return t
                t = compiled(task, first, t + 1, last, *given)
            return last

        return run


@cache
def compiles() -> bool:
    """Return whether numba compiles in this process; NUMBA_DISABLE_JIT leaves only the slow numpy method."""
    try:
        import numba
    except ValueError as error:
        threads = os.environ.get("NUMBA_NUM_THREADS")
        fault = f"numba cannot be loaded with NUMBA_NUM_THREADS = {threads!r}: {error}"
        expected, remedy = "a number of threads, 1 or more", "unset NUMBA_NUM_THREADS"
        raise input_error(
            "bad_environment", where="the environment", problem=fault, expected=expected, remedy=remedy
        ) from error
    disabled = bool(vars(numba.config)["DISABLE_JIT"])
    if disabled:
        LOG.warning(
            "NUMBA_DISABLE_JIT is set: without the compiled kernel force sharing takes many times as long"
        )
    return not disabled


def compile_kernel() -> bool:
    """Compile the kernel now unless it is cached on disk; return whether it was compiled (10 to 20 s).

    After it `solve` has no other answers for few frames than later (see `solve`).
    """
    if not compiles():
        return False
    from musclesolve.sharing.kernel.entry import FINISH, RUN, is_kept

    there = is_kept()
    for function in (RUN, FINISH):
        function.load()
    return not there


def compile_kernel_beside() -> None:
    """Start to compile the kernel in another process unless it is cached on disk: a run needs other code first."""
    if not any((Path(__file__).parents[1] / "kernel" / "__pycache__").glob("entry.run_*.nbc")) and compiles():
        from musclesolve._util.compiled_code import compile_beside
        from musclesolve.sharing.kernel import entry

        compile_beside(entry, "RUN")


@cache
def _compiling() -> subprocess.Popen[bytes] | None:
    """The process that compiles the kernel, started once and not ended with this one; None where none is needed."""
    from musclesolve._util.compiled_code import compile_beside
    from musclesolve.sharing.kernel import entry

    return compile_beside(entry, "RUN", "FINISH", outlives=True)


def kernel_is_near() -> bool:
    """Return whether no other process compiles the kernel; the first call starts one unless the kernel is kept."""
    process = _compiling()
    return process is None or process.poll() is not None


@cache
def pool(threads: int) -> ThreadPoolExecutor:
    """The threads that call compiled code."""
    return ThreadPoolExecutor(threads, "musclesolve")


if hasattr(os, "register_at_fork"):  # threads do not survive it
    os.register_at_fork(after_in_child=pool.cache_clear)


def claimed(arrays: SolutionArrays) -> Attempt:
    """The attempt of compiled code, with proofs of infeasible frames; SOLVER_FAILED where it leaves a frame open."""
    proved, left = arrays.status == Status.INFEASIBLE, arrays.status == UNRESOLVED
    claim = np.select([proved, left], [Status.INFEASIBLE, Status.SOLVER_FAILED], Status.SOLVED)
    direction = np.where(proved[:, None], arrays.infeasibility_proof, arrays.multiplier)
    return Attempt(arrays.activation, arrays.reserve, direction, arrays.iterations, claim.astype(np.int8))
