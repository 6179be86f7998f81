"""Solve a force-sharing problem and certify the result."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.checks import check_choice, check_real_array
from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.certificate import (
    Certificate,
    certify,
    empty_box,
    farkas_margin,
    farkas_ratio,
    improve_multipliers,
    needs_reserve,
    snap_to_bounds,
    within_domain,
)
from musclesolve.sharing.cost.cost_base import Cost, fit
from musclesolve.sharing.cost.cost_check import check_cost, check_solution
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.kernel.constants import AT_EDGE, IDLE, TOLERANCE, UNRESOLVED
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import edge_weight, exact_moments, fallback_weight, without_reserve
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.solver.endings import ending_notes, reasons, stopped
from musclesolve.sharing.solver.interior_point import nearest_moments
from musclesolve.sharing.solver.solver_registry import (
    Attempt,
    Solver,
    able_solver,
    find_solver,
    fits,
    refuse_unfit,
)
from musclesolve.sharing.status import Status, is_solved

ON_INFEASIBLE = ("report", "reserve")
OPEN = (Status.MAX_ITERATIONS, Status.SOLVER_FAILED)  # neither solved nor proved to be infeasible
BLOCK = 16384
"""Frames that are solved and certified at a time, without compiled code; memory grows with their number."""


def solve(
    problem: Problem,
    cost: str | Cost = USUAL_COST,
    solver: str | Solver | None = None,
    on_infeasible: str = "report",
    warm_start: ArrayLike | Solution | None = None,
) -> Solution:
    """Activations of least cost that produce the moments, with a certificate for every frame.

    A frame is SOLVED only if its certificate, recomputed from the problem, holds (certificate.py): the sharing costs at
    most a millionth more than the least possible, and misses no moment by more than 1e-6 max(1 N m, |b|). It is
    INFEASIBLE only if a combination y proves y . b > max y . A a. With reserves a frame is SOLVED when every reserve is
    below 1e-6 max(1 N m, |b|), else SOLVED_WITH_RESERVE.

    The first call on a machine does not wait for the compiled kernel of "batch": up to 1e6 moment arms are solved in
    numpy, with the same certificate, while another process compiles it, which goes on if this one ends. Activations
    then differ by less than 1e-8 from the activations of the kernel. Where the same digits are needed in every call,
    call `ms.sharing.compile_kernel()` before, or give a solver object. Commands, `ms.run` and `ms.share_model` always
    use the kernel.

    Args:
        problem: moment arms, moments, capacities and bounds, in one frame or in T frames.
        cost: a name (`costs()` lists them) or a Cost. The default is sum_i a_i^2 + sum_knee (F_i / 1400 N)^2: F_i of
            the muscles about a degree of freedom (`Problem.dof`) with "knee" in its name, or with "genou" of
            "knee_sparing_activation(knee='genou')".
        solver: a name (`solvers()` lists them) or a solver object with options of its own. None: "batch", or the
            first solver that takes the cost where this one does not.
        on_infeasible: "report" leaves an infeasible frame without a solution; "reserve" solves it again with
            reserves, weighted so that 1 N m of reserve costs 100 times all muscles at full activation. The sum of
            the squared reserves is then at most 0.01 (N m)^2 more than the least possible one: f + 100 F |s|^2 is
            least, and f changes by at most F.
        warm_start: a Solution, or (T, n) or (n,) activations [1], for solvers that can use them. A frame that is not
            solved starts at the lower bounds.

    Returns:
        Activations [1], forces [N], multipliers, status and certificate of every frame.

    Raises:
        InputError: unknown cost, solver or option; the problem lacks data or names of the cost; a cost that is not
            built in contradicts itself (cost/cost_check.py), or is declared convex and is not.

    Examples:
        >>> alike = ms.Problem(np.array([[0.05, 0.05]]), np.array([20.0]), np.full(2, 1000.0), np.full(2, 1000.0))
        >>> ms.solve(alike, "stress_cubed").force.round(3).tolist()     # two equal muscles share equally [N]
        [200.0, 200.0]
    """
    names = check_problem(problem, "solve").names
    chosen = find_cost(cost)
    chosen.check_names(*names)
    method = able_solver(chosen) if solver is None else find_solver(solver)
    named, solution = solver is None or isinstance(solver, str), None
    if named and isinstance(method, Batch) and method.waits(problem, chosen):
        solution = solve_part(problem, chosen, method.fallback, on_infeasible, warm_start)
    if solution is None or np.isin(solution.status, OPEN).any():
        solution = solve_part(problem, chosen, method, on_infeasible, warm_start)
    if problem.reserve_weight is None:
        return solution
    from musclesolve.sharing.analysis.needless_reserves import needless_reserves

    needless = needless_reserves(problem, chosen, solution, solve_part)
    return solution if needless is None else replace(solution, notes=(*solution.notes, needless.sentence))


def solve_part(
    problem: Problem,
    chosen: Cost,
    solver: str | Solver = USUAL_SOLVER,
    on_infeasible: str = "report",
    warm_start: ArrayLike | Solution | None = None,
) -> Solution:
    """`solve` for a part of a body: the degrees of freedom that the cost names may be in another part."""
    check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE)
    method = find_solver(solver)
    chosen = fit(chosen, problem)
    weighted = problem.reserve_weight is not None
    refuse_unfit(method, chosen, weighted or on_infeasible == "reserve")
    if weighted and "linear_program" in chosen.needs and without_reserve(problem).any():
        fault = (
            f"reserve_weight is inf for some moments; {chosen.name} takes reserves of all moments or of none"
        )
        remedy = "finite weights, None, or a high power, such as ActivationPower(20)"
        raise input_error("bad_number", problem=fault, expected=remedy)
    start = None
    if warm_start is not None:
        shape = problem.force_capacity.shape
        fitting = shape, (1, *shape[1:]), shape[1:]
        given = warm_start.activation if isinstance(warm_start, Solution) else warm_start
        array = check_real_array(given, "warm_start", f"activations, {shape}", shapes=fitting)
        start = np.clip(np.nan_to_num(array), problem.lower, problem.upper)
    certify, arrays = getattr(method, "solve_certified", None), None
    if certify is not None and problem.n_frames:
        arrays = certify(problem, chosen, on_infeasible == "reserve")
    remaining = np.arange(problem.n_frames) if arrays is None else np.flatnonzero(arrays.status == UNRESOLVED)
    arrays = arrays or SolutionArrays.empty(problem)
    clauses: AnyArray = np.full(problem.n_frames, "", object)
    further = method if certify is None else getattr(method, "fallback", method)
    for first in range(0, remaining.size, BLOCK):
        block = remaining[first : first + BLOCK]
        begin = None if start is None else start[block]
        part = problem.frames(block)
        found, clauses[block] = _solved(part, chosen, further, on_infeasible, begin)
        arrays.store(block, found)
    solution = arrays.to_solution(chosen, method, problem)
    left = np.isin(arrays.status, OPEN)
    ended = ending_notes(method.name, clauses, left, np.arange(problem.n_frames))
    solution = replace(solution, notes=(*solution.notes, *ended))
    return solution.drop_frame_axis() if problem.single_frame else solution


def _solved(
    problem: Problem, cost: Cost, method: Solver, on_infeasible: str, start: Array | None
) -> tuple[SolutionArrays, AnyArray]:
    """Solve with any solver, certify and prove, from activations (T, n) if there is a start.

    Returns:
        The arrays; and why a frame is not solved (T,), in the words of `reasons`.
    """
    problem = within_domain(problem, cost)
    arrays = SolutionArrays.empty(problem)
    empty = problem.valid & empty_box(problem)
    arrays.status[empty] = Status.INFEASIBLE
    check_cost(problem, cost, problem.valid & ~empty)
    _rest(arrays, problem, cost, problem.valid & ~empty)
    clauses: AnyArray = np.full(problem.n_frames, "", object)
    ended = _attempt(arrays, clauses, problem, cost, method, problem.valid & ~empty & ~arrays.solved, start)
    exact = without_reserve(problem)
    if fits(method, cost, reserves=True):
        for stiffness in AT_EDGE:
            left = np.isin(arrays.status, OPEN) & exact.any(axis=1) & ~ended
            ended |= _attempt(arrays, clauses, problem, cost, method, left, start, stiffness)
    _prove(arrays, problem, problem.valid & ~empty & exact.any(axis=1) & ~ended)
    if on_infeasible == "reserve":
        unsolved = np.isin(arrays.status, (Status.INFEASIBLE, *OPEN)) & exact.any(axis=1) & ~empty & ~ended
        weight = np.array(arrays.reserve_weight)
        weight[unsolved] = np.where(
            exact[unsolved], fallback_weight(problem.frames(unsolved), cost), weight[unsolved]
        )
        _attempt(arrays, clauses, problem.with_arrays(reserve_weight=weight), cost, method, unsolved, start)
    solved = arrays.solved
    there = problem.frames(solved)
    arrays.cost[solved] = check_solution(there, cost, arrays.activation[solved])
    arrays.force = arrays.activation * problem.force_capacity
    return arrays, clauses


def _rest(arrays: SolutionArrays, problem: Problem, cost: Cost, which: Mask) -> None:
    """Solve the frames, among some (T,), that ask for nothing: at rest the moments are met to the last digit.

    An iteration comes ever nearer to rest and never there, so that its cost is always many times the least, zero.
    """
    which = which & (problem.produced(problem.lower) == problem.moment).all(axis=1)
    if not which.any() or "linear_program" in cost.needs:
        return
    part, attempt = problem.frames(which), Attempt.blank(problem.frames(which))
    attempt.activation[:], attempt.reserve[:], attempt.multiplier[:] = part.lower, 0.0, 0.0
    attempt.iterations[:] = 0
    certificate = certify(part, cost, attempt.activation, attempt.reserve, attempt.multiplier)
    status = np.where(certificate.holds, Status.SOLVED, Status.SOLVER_FAILED)
    arrays.record(which, attempt, status, certificate)


def _attempt(
    arrays: SolutionArrays,
    clauses: AnyArray,
    problem: Problem,
    cost: Cost,
    solver: Solver,
    which: Mask,
    start: Array | None,
    stiffness: float | None = None,
) -> Mask:
    """Solve some frames (T,) from activations (T, n), and store the results with a certificate or proof.

    `clauses` (T,) gets the first reason why a frame is not solved. Returns the frames (T,) that a callback or a limit
    of time of the user ended: these are not tried again.

    `stiffness`, one of AT_EDGE, is for frames at the edge of reach. A moment may lie beyond reach by less than the
    tolerance of the certificate. Then neither a proof nor finite multipliers exist: the multipliers of a solver
    that meets the moment exactly grow without bound, until round-off hides the marginal costs of other muscles. With
    reserves so stiff that they bear less than the tolerance, multipliers stay finite. The certificate is computed
    without reserves.
    """
    ended = np.zeros(len(which), bool)
    if not which.any():
        return ended
    part = problem.frames(which)
    program, exact = fix_idle_muscles(part, cost), without_reserve(part)
    if stiffness is not None:
        stiff = np.where(exact, edge_weight(program, cost, stiffness), arrays.reserve_weight[which])
        program = program.with_arrays(reserve_weight=stiff)
    attempt = solver.solve(program, cost, None if start is None else start[which])
    if not isinstance(attempt, Attempt):
        fault = f"its `solve` returns {type(attempt).__name__}"
        expected = f"an Attempt ({Attempt.__module__})"
        raise input_error("bad_type", where=f"the solver {solver.name!r}", problem=fault, expected=expected)
    if stiffness is not None:
        attempt = replace(attempt, reserve=np.where(exact, 0.0, attempt.reserve))
    attempt = replace(attempt, activation=np.clip(attempt.activation, part.lower, part.upper))
    certificate = certify(
        part, cost, attempt.activation, attempt.reserve, attempt.multiplier, attempt.level_multiplier
    )
    certificate = improve_multipliers(part, cost, attempt, certificate)
    certificate = snap_to_bounds(part, cost, attempt, certificate)
    numbers = attempt.reserve, attempt.multiplier, certificate, attempt.claim
    status, proof = label_frames(part, *numbers, least=TOLERANCE)
    arrays.record(which, attempt, status, certificate)
    if exact.any():
        arrays.infeasibility_proof[which] = proof
    if part.reserve_weight is not None:
        arrays.reserve_weight[which] = part.reserve_weight
    if attempt.level_multiplier is not None:
        solved = is_solved(status)[:, None, None]
        arrays.store_levels(which, np.where(solved, attempt.level_multiplier, np.nan))
    if (left := np.isin(status, OPEN)).any():
        number, reason = np.flatnonzero(which)[left], reasons(part, cost, attempt)[left]
        clauses[number] = np.where(clauses[number] == "", reason, clauses[number])
        ended[which] = left & stopped(attempt)
    return ended


def _prove(arrays: SolutionArrays, problem: Problem, which: Mask) -> None:
    """Mark the open frames among some (T,) whose moments are out of reach by anything that round-off leaves.

    Before, sharings that miss the moments by no more than a certificate allows were tried.
    """
    left = np.flatnonzero(which & np.isin(arrays.status, OPEN))
    if not left.size:
        return
    part = exact_moments(problem.frames(left))
    direction = np.where(without_reserve(problem)[left], nearest_moments(part).multiplier, 0.0)
    proved = _proves(part, direction)
    number, direction = left[proved], direction[proved]
    arrays.status[number] = Status.INFEASIBLE
    arrays.infeasibility_proof[number] = direction / np.abs(direction).max(axis=1, keepdims=True)
    for name in ("gap", "cost_bound", "moment_error"):
        getattr(arrays, name)[number] = np.nan


def _proves(problem: Problem, direction: Array, least: float = 0.0) -> Mask:
    """Return where directions y (T, m) prove that moments are out of reach, (T,), by a Farkas ratio above `least`."""
    return (farkas_margin(problem, direction) > 0.0) & (farkas_ratio(problem, direction) > least)


def fix_idle_muscles(problem: Problem, cost: Cost) -> Problem:
    """Fix muscles that move nothing at their lower bound, unless the cost itself wants them active.

    Their activation would otherwise depend on the cost alone, and be undefined where the cost is zero as well. A muscle
    with an entry in the soft rows, or with a cost that depends on other muscles, stays free.
    """
    if not cost.needs <= {"separable", "rows"}:
        return problem
    idle, rows = cost.term_gradient(problem, problem.lower) >= 0, cost.soft_rows(problem)
    for matrix in (problem.moment_matrix,) if rows is None else (problem.moment_matrix, rows.matrix):
        largest = np.abs(matrix).max(axis=1)  # a column that is negligible beside the others
        idle &= largest <= IDLE * largest.max(axis=1, keepdims=True)
    return problem.with_arrays(upper=np.where(idle, problem.lower, problem.upper))


def label_frames(
    problem: Problem,
    reserve: Array,
    multiplier: Array,
    certificate: Certificate,
    claim: NDArray[Any],
    least: float = 0.0,
) -> tuple[NDArray[np.int8], Array]:
    """Derive the status of each frame from its certificate (T,), and check the proofs of infeasibility (T, m).

    A frame without certificate is infeasible where its multipliers (T, m), or the residual of the nearest moments,
    prove it by the moments without reserve. The only claim of the solver that counts is the end of its iterations.
    Reserves are (T, m) [N m]; proofs are NaN for the other frames, and zero for moments with a reserve. A proof of a
    Farkas ratio below `least` does not count.
    """
    status = np.full(len(claim), Status.SOLVER_FAILED, np.int8)
    status[claim == Status.MAX_ITERATIONS] = Status.MAX_ITERATIONS
    certified = certificate.holds
    helped = needs_reserve(reserve, problem.moment).any(axis=1)
    status[certified] = np.where(helped, Status.SOLVED_WITH_RESERVE, Status.SOLVED)[certified]
    proof = np.full(problem.moment.shape, np.nan)
    hard, exact = exact_moments(problem), without_reserve(problem)
    missed = ~certified & exact.any(axis=1)
    multiplier = np.where(exact, multiplier, 0.0)
    claimed = missed & _proves(hard, multiplier, least)
    proof[claimed] = multiplier[claimed]
    rest = np.flatnonzero(missed & ~claimed)
    if rest.size:
        part = hard.frames(rest)
        direction = np.where(exact[rest], nearest_moments(part).multiplier, 0.0)
        proved = _proves(part, direction, least)
        proof[rest[proved]] = direction[proved]
    proof = proof / np.abs(proof).max(axis=1, keepdims=True)
    status[np.isfinite(proof).all(axis=1)] = Status.INFEASIBLE
    return status, proof
