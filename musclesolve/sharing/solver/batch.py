"""The project's own solver, all frames at once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_integer, check_number
from musclesolve.sharing.certificate import certify
from musclesolve.sharing.cost.cost_base import Cost, fit
from musclesolve.sharing.cost.cost_terms import Power, Term
from musclesolve.sharing.kernel.constants import ALONE, UNRESOLVED, RateBounds
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import reserve_terms
from musclesolve.sharing.solution import SolutionArrays
from musclesolve.sharing.solver.frame_program import polish
from musclesolve.sharing.solver.interior_point import FramesInteriorPoint, nearest_moments
from musclesolve.sharing.solver.kernel_problem import (
    KernelOptions,
    KernelProblem,
    claimed,
    compiles,
    kernel_is_near,
)
from musclesolve.sharing.solver.newton import newton
from musclesolve.sharing.solver.solver_registry import Attempt, Solver, next_able
from musclesolve.sharing.status import Status

FEW_NUMBERS = 1_000_000
"""Most moment arms of a problem that is solved without the kernel while it is compiled: two seconds in numpy, where the
kernel takes 10 to 20 s to compile.
"""
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


@dataclass(frozen=True)
class Vectorized:
    """Methods for costs that are no data of the kernel, and for the frames that it leaves.

    Newton's method (newton.py) for other costs, `climb` for high powers. Frames that these leave go to the
    interior-point method in numpy, in blocks that fit the processor's cache, or, where muscles are coupled, to the next
    solver that can minimize the cost.
    """

    tolerance: float = 1e-9  # certificate at which a frame is done
    max_iterations: int = 250  # after which a frame ends as MAX_ITERATIONS
    block: int = 512  # frames at a time

    name: ClassVar[str] = "batch"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is ignored."""
        by_newton = not cost.needs <= {"separable", "rows"} or not cost.built_in
        attempt = newton(problem, cost, self.tolerance) if by_newton else climb(problem, cost)
        missed = attempt.claim == Status.SOLVER_FAILED
        left = np.flatnonzero(missed)
        if "coupled" in cost.needs:
            method: Solver | None = next_able(self.name, cost)
            if method is not None and left.size:
                attempt.store(left, method.solve(problem.frames(left), cost))
            return attempt
        weight = problem.reserve_weight
        interior_point = FramesInteriorPoint(self.tolerance, self.max_iterations, seek_proof=weight is None)
        for first in range(0, left.size, self.block):
            block = left[first : first + self.block]
            part = problem.frames(block)
            if weight is None:
                there = interior_point.solve(part, cost)
            else:
                # stiff reserves make A^T lambda orders of magnitude larger than the marginal costs
                missing = nearest_moments(part)
                there = interior_point.solve(part, cost, reserve_terms(part)[0] * missing.reserve)
                there = replace(there, iterations=there.iterations + missing.iterations)
            if by_newton:
                polish(part, cost, there, 1.0)
            attempt.store(block, there)
        if not by_newton:
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
