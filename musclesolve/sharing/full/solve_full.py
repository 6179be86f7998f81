"""Solve the full formulation: a sparse nonlinear programme through CasADi and Ipopt, one frame after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_integer, check_number
from musclesolve._util.locks import CASADI
from musclesolve.errors import InputError
from musclesolve.sharing.arguments import check_type
from musclesolve.sharing.certificate import kkt_residual, needs_reserve, within_domain
from musclesolve.sharing.cost.cost_base import NEEDS, Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.full.full_problem import FullProblem
from musclesolve.sharing.full.full_programme import Scaled, programme
from musclesolve.sharing.infeasibility_proof import empty_box, farkas_ratio, is_proof
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.nearest_moments import nearest_moments
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.ipopt_casadi import CLAIMS
from musclesolve.sharing.solving import fix_idle_muscles
from musclesolve.sharing.status import Status

CAN = frozenset({"separable", "coupled", "rows", "nonconvex"})
"""What Ipopt can handle, in the words of `Cost.needs`."""


@dataclass(frozen=True, eq=False)
class FullSolution:
    """Activations and forces of constraint. Whatever belongs to a frame that is not solved is NaN.

    Attributes:
        activation: (T, n).
        force: (T, n) [N], force capacity times activation.
        reserve: (T, m) [N m]; zero without reserves.
        multiplier: lambda, (T, c), of the constraint rows, in the order of the Jacobian; zero for redundant rows.
        equation_multiplier: y, (T, N) [cost per N], of the equations of motion: a virtual displacement that keeps the
            constraints.
        status: (T,) members of Status, as integers.
        kkt_residual: (T,) the certificate of the reduced formulation, the error of the equations of motion relative to
            the largest force needed (or 1 N) and that of Phi_q y = 0, whichever is largest.
        cost: (T,) without that of the reserves.
        iterations: (T,).
        cost_name: name of the cost.
    """

    activation: Array
    force: Array
    reserve: Array
    multiplier: Array
    equation_multiplier: Array
    status: NDArray[np.int8]
    kkt_residual: Array
    cost: Array
    iterations: NDArray[np.int64]
    cost_name: str

    @classmethod
    def empty(cls, full: FullProblem, cost: Cost) -> FullSolution:
        """Every frame an invalid input, to be filled in."""

        def unknown(*shape: int) -> Array:
            return np.full((len(full.needed), *shape), np.nan)

        return cls(
            activation=unknown(full.muscle_rows.shape[1]),
            force=unknown(full.muscle_rows.shape[1]),
            reserve=unknown(full.moment_rows.shape[1]),
            multiplier=unknown(full.jacobian.shape[1]),
            equation_multiplier=unknown(full.needed.shape[1]),
            status=np.full(len(full.needed), Status.INVALID_INPUT, np.int8),
            kkt_residual=unknown(),
            cost=unknown(),
            iterations=np.zeros(len(full.needed), np.int64),
            cost_name=cost.label,
        )

    @property
    def solved(self) -> Mask:
        """(T,) which frames have a solution, with or without reserve."""
        return np.isin(self.status, (Status.SOLVED, Status.SOLVED_WITH_RESERVE))


def solve_full(
    full: FullProblem, cost: str | Cost = "stress_cubed", tolerance: float = 1e-13, max_iterations: int = 300
) -> FullSolution:
    """The activations of least cost that satisfy all equations of motion (Silva 2003, 6.22), with their multipliers.

    Args:
        tolerance: Ipopt's `tol`, on the scaled problem.

    Raises:
        InputError: an argument that is none of these; a cost that is unknown or cannot be handled here; constraints
            that leave a motion free or hold one that is shared.
    """
    check_type(full, FullProblem, "full", "a FullProblem")
    tolerance = check_number(tolerance, "tolerance", "a positive number", above=0.0)
    max_iterations = check_integer(max_iterations, "max_iterations", 1)
    chosen = _suitable(cost)
    chosen.require(full.reduced)
    problem = within_domain(full.reduced, chosen)
    able = full.valid & problem.valid
    nowhere = able & empty_box(problem)
    found = FullSolution.empty(full, chosen)
    found.status[nowhere] = Status.INFEASIBLE
    which = np.flatnonzero(able & ~nowhere)
    if which.size:
        part = fix_idle_muscles(problem.frames(which), chosen)
        with CASADI:
            _run(Scaled.of(full, part, chosen, which), found, part, chosen, tolerance, max_iterations)
        _certify(full, problem, chosen, found, which)
    solved = found.solved
    for array in (found.activation, found.reserve, found.multiplier, found.equation_multiplier):
        array[~solved] = np.nan
    found.cost[solved] = chosen.total_value(problem.frames(solved), found.activation[solved])
    return replace(found, force=found.activation * full.force_capacity)


def _suitable(cost: str | Cost) -> Cost:
    chosen = find_cost(cost)
    if lacking := chosen.needs - CAN:
        fault = f"the full formulation cannot take the cost {chosen.name}: it needs {NEEDS[min(lacking)]}"
        expected = "; ".join(NEEDS[word] for word in sorted(CAN))
        remedy = "solve the reduced formulation of the same problem, `FullProblem.reduced`"
        raise InputError(fault, code="unfit_solver", expected=expected, remedy=remedy)
    return chosen


def _run(
    scaled: Scaled, found: FullSolution, problem: Problem, cost: Cost, tolerance: float, limit: int
) -> None:
    """Ipopt on every frame, from the previous solution; stores its claims, unscaled."""
    ipopt = programme(scaled, problem.n_muscles, cost, tolerance, limit)
    muscles, soft = problem.n_muscles, scaled.weight.shape[1]
    rows = scaled.column.shape[1] - problem.n_dof
    reserves = np.full(soft, np.inf)
    middle = 0.5 * (problem.lower + problem.upper)[0]
    start = np.concatenate([np.zeros(rows), middle, np.zeros(soft)])
    for k, t in enumerate(scaled.which):
        lower, upper, free = problem.lower[k], problem.upper[k], scaled.free[k]
        start[rows : rows + muscles] = np.clip(start[rows : rows + muscles], lower, upper)
        claimed = ipopt(
            x0=start,
            p=scaled.parameters[k],
            lbx=np.concatenate([-free, lower, -reserves]),
            ubx=np.concatenate([free, upper, reserves]),
            lbg=0.0,
            ubg=0.0,
        )
        stats = ipopt.stats()
        x = np.asarray(claimed["x"])[:, 0]
        found.status[t] = CLAIMS.get(stats["return_status"], Status.SOLVER_FAILED)
        found.iterations[t] = stats.get("iter_count", 0)
        found.multiplier[t] = x[:rows] * scaled.column[k, :rows]
        found.activation[t] = np.clip(x[rows : rows + muscles], lower, upper)
        found.reserve[t] = x[rows + muscles :] * scaled.column[k, rows:] if soft else 0.0
        found.equation_multiplier[t] = np.asarray(claimed["lam_g"])[:, 0] * scaled.cost[k] / scaled.force[k]
        if found.status[t] == Status.SOLVED:
            start = x


def _certify(
    full: FullProblem, problem: Problem, cost: Cost, found: FullSolution, which: NDArray[np.intp]
) -> None:
    """Certify what was claimed, or prove that the moments are out of reach."""
    part = problem.frames(which)
    activation, reserve, y = found.activation[which], found.reserve[which], found.equation_multiplier[which]
    multiplier = np.matmul(full.moment_rows[which], y[..., None])[..., 0]
    reduced = kkt_residual(part, cost, activation, reserve, multiplier)
    force = found.activation * full.force_capacity
    error = np.abs(full.equation_error(found.multiplier, force, found.reserve)[which]).max(axis=1)
    needed = np.maximum(1.0, np.abs(full.needed[which]).max(axis=1))
    size = np.linalg.norm(full.jacobian[which], axis=2) * np.linalg.norm(y, axis=1)[:, None]
    constraint = np.abs(np.matmul(full.jacobian[which], y[..., None])[..., 0])
    broken = np.divide(constraint, size, out=np.zeros_like(size), where=size > 0).max(axis=1)
    residual = np.maximum(reduced, np.maximum(error / needed, broken))
    residual = np.where(np.isfinite(residual), residual, np.inf)
    claim = found.status[which]
    status = np.where(claim == Status.MAX_ITERATIONS, Status.MAX_ITERATIONS, Status.SOLVER_FAILED)
    status[residual <= TOLERANCE] = Status.SOLVED
    helped = needs_reserve(reserve, part.moment).any(axis=1)
    status[(residual <= TOLERANCE) & helped] = Status.SOLVED_WITH_RESERVE
    unsolved = np.flatnonzero(residual > TOLERANCE)
    if part.reserve_weight is None and unsolved.size:
        left = part.frames(unsolved)
        proved = unsolved[is_proof(farkas_ratio(left, nearest_moments(left).multiplier))]
        status[proved], residual[proved] = Status.INFEASIBLE, np.nan
    found.status[which], found.kkt_residual[which] = status, residual
