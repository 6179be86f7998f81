"""The project's own solver, all frames at once, and the calls of its compiled part.

Only kernel/entry.py, imported at the first call, imports numba.
"""

import logging
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from threading import local
from typing import Any, ClassVar, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_integer, check_number
from musclesolve._util.processes import threads as threads_allowed
from musclesolve.errors import input_error
from musclesolve.sharing.certificate import certify
from musclesolve.sharing.cost.cost_base import Cost, fit
from musclesolve.sharing.cost.cost_terms import Power, Term, kernel_arrays
from musclesolve.sharing.kernel.constants import (
    ALONE,
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
from musclesolve.sharing.problem_scale import reserve_terms
from musclesolve.sharing.solution import SolutionArrays
from musclesolve.sharing.solver.frame_program import polish
from musclesolve.sharing.solver.interior_point import FramesInteriorPoint, nearest_moments
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

LOG = logging.getLogger("musclesolve")

FEW = 128  # number of frames up to which one thread is faster than two
FEW_NUMBERS = 1_000_000
"""Most moment arms of a problem that is solved without the kernel while it is compiled: two seconds in numpy, where the
kernel takes 10 to 20 s to compile.
"""
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
        if not cost.built_in or problem.n_muscles > MAX_MUSCLES or not compiles():
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
        over = map if threads == 1 else _pool(threads).map
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
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "musclesolve")


if hasattr(os, "register_at_fork"):  # threads do not survive it
    os.register_at_fork(after_in_child=_pool.cache_clear)


CUBE, HIGH, MOST_OF_HIGH = 3.0, 16.0, 100
"""Power p of a term above which `climb` takes frames left open, power above which it takes them early, as each step of
Newton's method goes 1 / (p - 1) of the way, and the number of iterations after which it then does.
"""
GROWTH, MOST_PROGRAMS = 1.35, 60
NEAR_ENOUGH, AT_OPTIMUM = 1e-2, 1e-9  # share by which activations change when the power grows, and at the end
LEAST_BEND = 1e-60  # share of the largest curvature; of muscles far below the largest load it is tiny


@np.errstate(all="ignore")
def climb(problem: Problem, cost: Cost) -> Attempt:
    """Solve frames of a cost with powers above CUBE by quadratic programs; a frame without result is SOLVER_FAILED.

    Each program has slopes and curvatures at the activations of the last one, as Newton's method with the exact set of
    muscles at bounds. Powers above CUBE grow by GROWTH: the optimum of one power is near enough to the next one.
    """
    attempt, kernel = Attempt.blank(problem), KernelProblem.from_problem(problem, cost)
    highest = 0.0 if kernel is None else kernel.highest_power
    if highest <= CUBE:
        return attempt
    attempt.activation[:] = problem.lower + 0.5 * np.minimum(problem.upper - problem.lower, 1.0)
    possible = np.arange(problem.n_frames)
    alone = problem.reserve_weight is None and "rows" not in cost.needs  # no weights beside the terms
    for power in (*CUBE * GROWTH ** np.arange(np.log(highest / CUBE) / np.log(GROWTH)), highest):
        left = possible
        for _ in range(MOST_PROGRAMS):
            part, at = problem.frames(left), attempt.activation[left]
            terms = [
                replace(term, form=replace(term.form, exponent=min(term.form.exponent, power)))
                for term in cost.terms(part) or ()
            ]
            bend = np.asarray(sum(term.curvature(at) for term in terms))
            size = bend.max(axis=1, keepdims=True) if alone else 1.0
            bend = np.maximum(bend, LEAST_BEND * bend.max(axis=1, keepdims=True))
            target = at - sum(term.slope(at) for term in terms) / bend
            tangent = (Term(Power(2.0), np.sqrt(0.5 * bend / size), target),)
            program: Any = KernelProblem.from_problem(part, cost, tangent)
            step = claimed(program.solve(KernelOptions(AT_OPTIMUM, 250, False), 512, 1, ALONE))
            step.multiplier[:] *= size
            attempt.store(left, replace(step, iterations=attempt.iterations[left] + step.iterations))
            possible = np.setdiff1d(possible, left[step.claim != Status.SOLVED])
            moved = np.abs(step.activation - at).max(axis=1) / (step.activation - part.lower).max(axis=1)
            left = left[moved > (AT_OPTIMUM if power == highest else NEAR_ENOUGH)]
            if not left.size:
                break
    ends = attempt.activation[left], attempt.reserve[left], attempt.multiplier[left]
    missed = ~certify(problem.frames(left), cost, *ends).holds
    attempt.claim[left[missed]] = Status.SOLVER_FAILED
    return attempt


def claimed(arrays: SolutionArrays) -> Attempt:
    """The attempt of compiled code, with proofs of infeasible frames; SOLVER_FAILED where it leaves a frame open."""
    proved, left = arrays.status == Status.INFEASIBLE, arrays.status == UNRESOLVED
    claim = np.select([proved, left], [Status.INFEASIBLE, Status.SOLVER_FAILED], Status.SOLVED)
    direction = np.where(proved[:, None], arrays.infeasibility_proof, arrays.multiplier)
    return Attempt(arrays.activation, arrays.reserve, direction, arrays.iterations, claim.astype(np.int8))


@dataclass(frozen=True)
class Vectorized:
    """The interior-point method in numpy, on blocks of frames that fit the processor's cache."""

    tolerance: float = 1e-9  # certificate at which a frame is done
    max_iterations: int = 250  # after which a frame ends as MAX_ITERATIONS
    block: int = 512  # frames at a time

    name: ClassVar[str] = "batch"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to an interior-point method and is ignored."""
        attempt, weight = climb(problem, cost), problem.reserve_weight
        method = FramesInteriorPoint(self.tolerance, self.max_iterations, seek_proof=weight is None)
        left = np.flatnonzero(attempt.claim == Status.SOLVER_FAILED)
        for first in range(0, left.size, self.block):
            block = left[first : first + self.block]
            part = problem.frames(block)
            if weight is None:
                attempt.store(block, method.solve(part, cost))
                continue
            # stiff reserves make A^T lambda orders of magnitude larger than the marginal costs
            missing = nearest_moments(part)
            there = method.solve(part, cost, reserve_terms(part)[0] * missing.reserve)
            attempt.store(block, replace(there, iterations=there.iterations + missing.iterations))
        polish(problem, cost, attempt, 1.0)
        return attempt


@dataclass(frozen=True)
class Batch:
    """Newton's method on the dual, then the interior point, compiled where the cost can be described as data.

    Other costs go to the interior point vectorized over frames, and so does a frame that the compiled methods leave
    without certificate or proof; `climb` comes first where there are powers above CUBE. Newton's method starts from the
    multipliers of the frame before, in chains of 64 frames: the number of threads and of frames at a time does not
    change the result. The order of frames changes activations by less than 1e-9.
    """

    tolerance: float = 1e-9  # certificate at which a frame is done
    max_iterations: int = 250  # after which a frame is given up
    block: int = 512  # frames at a time, rounded up to whole chains
    threads: int | None = None  # at most so many; None: one for each core, or NUMBA_NUM_THREADS

    name: ClassVar[str] = "batch"

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance", "a positive number", above=0.0)
        check_integer(self.max_iterations, "max_iterations", 1)
        check_integer(self.block, "block", 1)
        if self.threads is not None:
            check_integer(self.threads, "threads", 1)

    @property
    def fallback(self) -> Vectorized:
        """The method for frames and costs that compiled code cannot solve."""
        return Vectorized(self.tolerance, self.max_iterations, self.block)

    def waits(self, problem: Problem, cost: Cost) -> bool:
        """Return whether a problem of few numbers would wait for the kernel, which another process then compiles.

        `fallback` solves the problem meanwhile, within a fraction of the time of the compilation. Powers above CUBE
        need the kernel.
        """
        few = problem.moment_arm.size <= FEW_NUMBERS
        if not (few and cost.built_in and compiles()) or kernel_is_near():
            return False
        kernel = KernelProblem.from_problem(problem, fit(cost, problem))
        return kernel is not None and kernel.highest_power <= CUBE

    def solve_certified(self, problem: Problem, cost: Cost, allow_reserve: bool) -> SolutionArrays | None:
        """See Solver; None for a cost that cannot be described as data."""
        kernel = KernelProblem.from_problem(problem, cost)
        if kernel is None:
            return None
        most = self.max_iterations if kernel.highest_power <= HIGH else min(self.max_iterations, MOST_OF_HIGH)
        return kernel.solve(KernelOptions(self.tolerance, most, allow_reserve), self.block, self.threads)

    def sequence(
        self, problem: Problem, cost: Cost, rate: RateBounds, allow_reserve: bool
    ) -> Callable[[int, SolutionArrays], int] | None:
        """See Solver; None for a cost that cannot be described as data."""
        kernel = KernelProblem.from_problem(problem, cost)
        options = KernelOptions(self.tolerance, self.max_iterations, allow_reserve)
        return None if kernel is None else partial(kernel.solve_in_order, rate=rate, options=options)

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to an interior-point method and is ignored."""
        arrays = self.solve_certified(problem, cost, allow_reserve=False)
        if arrays is None:
            return self.fallback.solve(problem, cost)
        attempt = claimed(arrays)
        if (left := arrays.status == UNRESOLVED).any():
            attempt.store(left, self.fallback.solve(problem.frames(left), cost))
        return attempt
