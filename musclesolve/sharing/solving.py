"""Solve a force-sharing problem and certify the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice
from musclesolve.errors import InputError
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.certificate import (
    empty_box,
    farkas_ratio,
    is_proof,
    kkt_residual,
    needs_reserve,
    within_domain,
)
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_check import check_convexity, check_cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.kernel.constants import AT_EDGE, IDLE, TOLERANCE, UNRESOLVED
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import edge_weight, fallback_weight
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.solver.interior_point import nearest_moments
from musclesolve.sharing.solver.solver_base import Attempt, Solver
from musclesolve.sharing.solver.solver_registry import find_solver, fits, refuse_unfit
from musclesolve.sharing.status import Status

ON_INFEASIBLE = ("report", "reserve")
OPEN = (Status.MAX_ITERATIONS, Status.SOLVER_FAILED)  # neither solved nor proved to be infeasible


def solve(
    problem: Problem,
    cost: str | Cost = "stress_cubed",
    solver: str | Solver = "batch",
    on_infeasible: str = "report",
    warm_start: ArrayLike | None = None,
) -> Solution:
    """The activations of least cost that produce the moments, with a certificate for every frame.

    A frame is SOLVED only if its certificate, recomputed from the problem, is at most 1e-6; it is INFEASIBLE only
    if that is proved. With reserves a frame is SOLVED when every reserve is below 1e-6 max(1 N m, |moment|), else
    SOLVED_WITH_RESERVE.

    Args:
        cost: a name (`costs()` lists them) or a Cost.
        solver: a name (`solvers()` lists them) or a solver object with options of its own.
        on_infeasible: "report" leaves an infeasible frame without a solution; "reserve" solves it again with
            reserves, weighted so that 1 N m of reserve costs 100 times all muscles at full activation. The reserve
            is then within about 1e-3 N m of the smallest possible one (in the sense of least squares).
        warm_start: (T, n) or (n,) activations, for solvers that can use them.

    Raises:
        InputError: unknown cost, solver or option; the problem lacks what the cost is made of; a cost that is not
            built in contradicts itself (cost/cost_check.py), or is declared convex and is not.
    """
    check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE)
    check_problem(problem, "solve")
    chosen, method = find_cost(cost), find_solver(solver)
    refuse_unfit(method, chosen, problem.reserve_weight is not None or on_infeasible == "reserve")
    chosen.require(problem)
    start = None
    if warm_start is not None:
        shape = problem.force_capacity.shape
        try:
            array = np.broadcast_to(np.asarray(warm_start, dtype=np.float64), shape)
        except (TypeError, ValueError) as error:
            fault, expected = "the warm start does not fit the problem", f"activations, {shape}"
            raise InputError(fault, code="bad_shape", expected=expected) from error
        start = np.clip(np.nan_to_num(array), problem.lower, problem.upper)
    certify, found = getattr(method, "solve_certified", None), None
    if certify is not None and problem.n_frames:
        found = certify(problem, chosen, on_infeasible == "reserve")
    if found is None:
        found, unresolved = SolutionArrays.empty(problem), np.ones(problem.n_frames, np.bool_)
    else:
        unresolved = found.status == UNRESOLVED
    if unresolved.any():
        other = method if certify is None else getattr(method, "fallback", method)
        part = problem if unresolved.all() else problem.frames(unresolved)
        slow = _solved(part, chosen, other, on_infeasible, None if start is None else start[unresolved])
        if unresolved.all():
            found = slow
        else:
            found.store(unresolved, slow)
    solution = found.to_solution(chosen, method)
    return solution.drop_frame_axis() if problem.single_frame else solution


def _solved(
    problem: Problem, cost: Cost, method: Solver, on_infeasible: str, start: Array | None
) -> SolutionArrays:
    """Attempts, certificates and proofs with any solver."""
    problem = within_domain(problem, cost)
    found = SolutionArrays.empty(problem)
    empty = problem.valid & empty_box(problem)
    found.status[empty] = Status.INFEASIBLE
    check_cost(problem, cost, problem.valid & ~empty)
    _attempt(found, problem, cost, method, problem.valid & ~empty, start)
    sloped = "linear_programme" not in cost.needs
    if problem.reserve_weight is None and sloped and fits(method, cost, reserves=True):
        for stiffness in AT_EDGE:
            _attempt(found, problem, cost, AtEdge(method, stiffness), np.isin(found.status, OPEN), start)
    if problem.reserve_weight is None and on_infeasible == "reserve":
        again = np.isin(found.status, (Status.INFEASIBLE, *OPEN)) & ~empty
        weight = np.full_like(problem.moment, np.nan)
        weight[again] = fallback_weight(problem.frames(again), cost)
        _attempt(found, problem.with_arrays(reserve_weight=weight), cost, method, again, start)
    solved = found.solved
    there = problem.frames(solved)
    check_convexity(there, cost, found.activation[solved])
    found.cost[solved] = cost.total_value(there, found.activation[solved])
    found.force = found.activation * problem.force_capacity
    return found


def fix_idle_muscles(problem: Problem, cost: Cost) -> Problem:
    """Fix muscles that move nothing at their lower bound, unless the cost itself wants them active.

    Their activation would otherwise depend on the cost alone, and be undefined where that is zero as well. A muscle
    with an entry in the soft rows, or one whose cost depends on other muscles, stays free.
    """
    if not cost.needs <= {"separable", "rows"}:
        return problem
    idle, rows = cost.gradient(problem, problem.lower) >= 0, cost.soft_rows(problem)
    for matrix in (problem.moment_matrix,) if rows is None else (problem.moment_matrix, rows.matrix):
        largest = np.abs(matrix).max(axis=1)  # a column is negligible beside the others
        idle &= largest <= IDLE * largest.max(axis=1, keepdims=True)
    return problem.with_arrays(upper=np.where(idle, problem.lower, problem.upper))


def _attempt(
    found: SolutionArrays, problem: Problem, cost: Cost, solver: Solver, which: Mask, start: Array | None
) -> None:
    """Solve some frames and store what can be certified."""
    if not which.any():
        return
    part = problem.frames(which)
    attempt = solver.solve(fix_idle_muscles(part, cost), cost, None if start is None else start[which])
    residual = kkt_residual(
        part, cost, attempt.activation, attempt.reserve, attempt.multiplier, attempt.level_multiplier
    )
    status, proof = label_frames(part, attempt.reserve, attempt.multiplier, residual, attempt.claim)
    residual[status == Status.INFEASIBLE] = np.nan
    if part.reserve_weight is None:
        found.infeasibility_proof[which] = proof
    else:
        found.reserve_weight[which] = part.reserve_weight
    solved = np.isin(status, (Status.SOLVED, Status.SOLVED_WITH_RESERVE))[:, None]
    found.activation[which] = np.where(solved, attempt.activation, np.nan)
    found.reserve[which] = np.where(solved, attempt.reserve, np.nan)
    found.multiplier[which] = np.where(solved, attempt.multiplier, np.nan)
    if attempt.level_multiplier is not None:
        levels = np.where(solved[:, :, None], attempt.level_multiplier, np.nan)
        found.store_levels(which, levels)
    found.status[which], found.kkt_residual[which] = status, residual
    found.iterations[which] += attempt.iterations


@dataclass(frozen=True)
class AtEdge:
    """A solver for frames at the edge of reach.

    A moment may lie beyond reach by less than the tolerance of the certificate. Then there is neither a proof nor are
    there multipliers: those of a solver that meets the moment exactly grow without bound, until round-off hides the
    marginal costs of other muscles. With reserves so stiff that they bear less than the tolerance multipliers stay
    finite. The certificate is that of the problem without reserves.
    """

    solver: Solver  # one that can take reserves
    stiffness: float  # one of AT_EDGE

    @property
    def name(self) -> str:
        """The name of the solver."""
        return self.solver.name

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        stiff = problem.with_arrays(reserve_weight=edge_weight(problem, cost, self.stiffness))
        attempt = self.solver.solve(stiff, cost, warm_start)
        return replace(attempt, reserve=np.zeros_like(problem.moment))


def label_frames(
    problem: Problem, reserve: Array, multiplier: Array, residual: Array, claim: NDArray[Any]
) -> tuple[NDArray[np.int8], Array]:
    """The status of each frame by its certificate (T,), and the checked proofs of infeasibility (T, m).

    A frame without certificate is infeasible where its multipliers (T, m), or the residual of the nearest moments,
    prove it. Of what the solver claims only that it ran out of iterations counts. Reserves are (T, m) [N m]; proofs are
    NaN for the other frames, and where the problem has weights of reserves.
    """
    status = np.where(claim == Status.MAX_ITERATIONS, Status.MAX_ITERATIONS, Status.SOLVER_FAILED).astype(
        np.int8
    )
    certified = residual <= TOLERANCE
    helped = needs_reserve(reserve, problem.moment).any(axis=1)
    status[certified] = np.where(helped, Status.SOLVED_WITH_RESERVE, Status.SOLVED)[certified]
    proof = np.full(problem.moment.shape, np.nan)
    if problem.reserve_weight is None:
        claimed = (residual > TOLERANCE) & is_proof(farkas_ratio(problem, multiplier))
        proof[claimed] = multiplier[claimed]
        rest = np.flatnonzero((residual > TOLERANCE) & ~claimed)
        if rest.size:
            part = problem.frames(rest)
            direction = nearest_moments(part).multiplier
            proved = is_proof(farkas_ratio(part, direction))
            proof[rest[proved]] = direction[proved]
        proof = proof / np.abs(proof).max(axis=1, keepdims=True)
        status[np.isfinite(proof).all(axis=1)] = Status.INFEASIBLE
    return status, proof
