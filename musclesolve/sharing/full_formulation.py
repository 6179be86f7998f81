"""The full formulation: every Lagrange multiplier and activation unknown, all equations of motion as constraints.

Per frame (Silva 2003, 6.22, with the transposes of correction A17 and the muscle rows of correction A1),

    minimize  sum_i f_i(a_i) + 1/2 sum_k w_k s_k^2
    such that Phi_q^T lambda + R^T C a - U^T s + (M qdd - g) = 0      lower <= a <= upper

R = dL_MT/dq are the muscle rows, C the force capacities, U the generalized forces of unit moments of the degrees of
freedom that the muscles serve; Phi_q holds the rigid bodies, the joints, and the drivers of all other degrees of
freedom. Joint reactions follow from the multipliers; no moment arm and no joint moment is ever formed.

The multipliers y of the equations of motion are a virtual displacement that keeps all constraints, Phi_q y = 0, and
U y are the multipliers of the moments. With the directions D of Phi_q D = 0, U D = 1 the equations turn into the
equations of the reduced formulation, A = -D^T R^T C and b = D^T (M qdd - g): `reduced`, on which a solution is
certified.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask, unit_or_zero
from musclesolve._util.casadi_module import casadi
from musclesolve._util.checks import check_integer, check_number, check_real_array, check_type
from musclesolve._util.locks import CASADI
from musclesolve._util.messages import unknown_name
from musclesolve.constants import USUAL_COST
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_smooth_cost
from musclesolve.sharing.certificate import certify, empty_box, within_domain
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_check import check_cost, check_expression
from musclesolve.sharing.cost.cost_terms import arrays_of, flat, parameter_symbols, shapes_of
from musclesolve.sharing.kernel.constants import HUGE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import OPTIONAL, misshapen, usable_frames
from musclesolve.sharing.problem_scale import load, reserve_terms, slope_size
from musclesolve.sharing.solver.frame_program import claim_of
from musclesolve.sharing.solver.ipopt import IpoptOptions, casadi_ipopt, final_message, run_casadi
from musclesolve.sharing.solving import fix_idle_muscles, label_frames
from musclesolve.sharing.status import Status, is_solved

_RANK = 1e-9  # singular values below this share of the largest one count as zero
_ERROR = 1e-6


@dataclass(frozen=True, eq=False)
class FullProblem:
    """Activations and forces of constraint that together satisfy the equations of motion of each frame.

    Every array has the frame axis, except those marked as shared by all frames. A frame with a number that is not
    finite is marked in `valid` and ends as INVALID_INPUT.

    Args:
        jacobian: Phi_q, (T, c, N), constraint rows that no muscle moment works on; redundant rows are allowed.
        muscle_rows: R = dL_MT/dq, (T, n, N), the generalized force of a tension F is -R^T F.
        moment_rows: U, (T, m, N), generalized force of a unit moment of each degree of freedom that is shared.
        needed: M qdd - g, (T, N), generalized forces with the passive muscle forces in g.
        force_capacity: (T, n) [N], tendon force of the contractile element at activation 1.
        max_isometric_force: (n,) [N].
        lower: smallest activation, a number, (n,) or (T, n).
        upper: largest activation, a number, (n,) or (T, n).
        reserve_weight: cost of a reserve, a number, (m,) or (T, m) [cost per (N m)^2]; None: there are no reserves.
        muscle: n names.
        dof: m names.
        data: further fields of Problem that some costs need.

    Raises:
        InputError: a shape is wrong, or the name of a further field; constraints and shared moments leave a motion free
            or meet in one.
    """

    jacobian: Array
    muscle_rows: Array
    moment_rows: Array
    needed: Array
    force_capacity: Array
    max_isometric_force: Array
    lower: Array | float = 0.0
    upper: Array | float = 1.0
    reserve_weight: Array | float | None = None
    muscle: tuple[str, ...] | None = None
    dof: tuple[str, ...] | None = None
    data: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("jacobian", "muscle_rows", "moment_rows", "needed", "force_capacity"):
            object.__setattr__(
                self, name, check_real_array(getattr(self, name), name, "an array with frames first")
            )
        for name in self.data if isinstance(self.data, Mapping) else [repr(self.data)]:
            if name not in (*OPTIONAL, "reaction"):
                raise unknown_name(name, "further field", (*OPTIONAL, "reaction"), where="FullProblem.data")
        if self.needed.ndim != 2:
            raise misshapen("needed", self.needed.shape, "FullProblem.needed", "(frames, coordinates)")
        frames, size = self.needed.shape
        for name in ("jacobian", "muscle_rows", "moment_rows"):
            array = getattr(self, name)
            if array.ndim != 3 or (array.shape[0], array.shape[2]) != (frames, size):
                expected = f"({frames}, any number, {size}), to go with `needed`"
                raise misshapen(name, array.shape, f"FullProblem.{name}", expected)
        shape = self.force_capacity.shape
        if shape != (frames, self.muscle_rows.shape[1]):
            expected = f"({frames}, {self.muscle_rows.shape[1]})"
            raise misshapen("force_capacity", shape, "FullProblem.force_capacity", expected)

    @cached_property
    def valid(self) -> Mask:
        """Mask of the frames that consist of finite numbers, (T,)."""
        return usable_frames(
            self.jacobian, self.muscle_rows, self.moment_rows, self.needed, self.force_capacity
        )

    @cached_property
    def directions(self) -> Array:
        """The directions D, (T, N, m): unit motion of each shared degree of freedom, Phi_q D = 0 and U D = 1.

        NaN in frames that are not valid.

        Raises:
            InputError: there is no such motion, or more than one; says in which frame and why.
        """
        motions = np.full((*self.needed.shape, self.moment_rows.shape[1]), np.nan)
        for t in np.flatnonzero(self.valid):
            constraint, moment = unit_or_zero(self.jacobian[t]), self.moment_rows[t]
            stacked, where = np.vstack([constraint, unit_or_zero(moment)]), f"FullProblem, frame {t}"
            sizes = np.linalg.svd(stacked, compute_uv=False)
            if len(sizes) < stacked.shape[1] or sizes[-1] <= _RANK * sizes[0]:
                fault = "some motion is neither held by a constraint row nor moved by a shared moment"
                remedy = "add the driver row of every degree of freedom that is not shared"
                raise input_error("bad_model", where=where, problem=fault, remedy=remedy)
            right = np.zeros((len(stacked), len(moment)))
            right[len(constraint) :] = np.diag(1.0 / np.linalg.norm(moment, axis=1))
            motions[t] = np.linalg.lstsq(stacked, right, rcond=_RANK)[0]
            if np.abs(stacked @ motions[t] - right).max() > _ERROR * np.abs(right).max():
                fault = "constraint rows hold a motion whose moment is shared"
                remedy = "leave out the driver rows of the shared degrees of freedom"
                raise input_error("bad_model", where=where, problem=fault, remedy=remedy)
        return motions

    @cached_property
    def reduced(self) -> Problem:
        """The problem without multipliers: moment arms -D^T R^T and moments D^T (M qdd - g) of the shared degrees."""
        across = np.swapaxes(self.directions, 1, 2)
        return Problem(
            moment_arm=-across @ np.swapaxes(self.muscle_rows, 1, 2),
            moment=(across @ self.needed[..., None])[..., 0],
            force_capacity=self.force_capacity,
            max_isometric_force=self.max_isometric_force,
            lower=self.lower,  # type: ignore[arg-type]
            upper=self.upper,  # type: ignore[arg-type]
            reserve_weight=self.reserve_weight,  # type: ignore[arg-type]
            muscle=self.muscle,
            dof=self.dof,
            **self.data,  # type: ignore[arg-type]
        )

    @cached_property
    def redundant(self) -> Mask:
        """Rows of the Jacobian, (T, c), that follow from others: their multipliers add nothing and are held at zero."""
        from scipy.linalg import qr

        follow = np.zeros(self.jacobian.shape[:2], dtype=bool)
        for t in np.flatnonzero(self.valid):
            triangle, order = qr(unit_or_zero(self.jacobian[t]).T, mode="r", pivoting=True)
            pivots = np.abs(np.diagonal(triangle))
            rank = int((pivots > _RANK * pivots[:1]).sum())
            follow[t, order[rank:]] = True
        return follow

    def equation_error(self, multiplier: Array, force: Array, reserve: Array) -> Array:
        """Left-hand side of the equations of motion for lambda (T, c), C a (T, n) [N] and s (T, m) [N m], (T, N)."""
        terms = ((self.jacobian, multiplier), (self.muscle_rows, force), (self.moment_rows, -reserve))
        return self.needed + sum(np.matmul(factor[:, None, :], rows)[:, 0, :] for rows, factor in terms)


@dataclass(frozen=True, eq=False)
class FullSolution:
    """Activations and forces of constraint; NaN in frames that are not solved.

    Attributes:
        activation: (T, n).
        force: (T, n) [N], force capacity times activation.
        reserve: (T, m) [N m]; zero without reserves.
        multiplier: lambda, (T, c), of the constraint rows, in the order of the Jacobian; zero for redundant rows.
        equation_multiplier: y, (T, N) [cost per N], of the equations of motion: a virtual displacement that keeps the
            constraints.
        status: (T,) members of Status, as integers.
        gap: (T,) of the reduced formulation, as in `Solution`.
        moment_error: (T,) as in `Solution`; or the error of the equations of motion relative to the largest force
            needed (or 1 N), or the relative error of Phi_q y = 0, whichever is largest.
        cost: (T,) without the cost of the reserves.
        iterations: (T,).
        cost_name: name of the cost.
    """

    activation: Array
    force: Array
    reserve: Array
    multiplier: Array
    equation_multiplier: Array
    status: NDArray[np.int8]
    gap: Array
    moment_error: Array
    cost: Array
    iterations: NDArray[np.int64]
    cost_name: str

    @property
    def solved(self) -> Mask:
        """Mask of the frames with a solution, with or without reserve, (T,)."""
        return is_solved(self.status)


def solve_full(
    full: FullProblem, cost: str | Cost = USUAL_COST, tolerance: float = 1e-13, max_iterations: int = 300
) -> FullSolution:
    """The activations of least cost that satisfy all equations of motion (Silva 2003, 6.22), with their multipliers.

    Args:
        tolerance: Ipopt's `tol`, on the scaled problem.

    Raises:
        InputError: an argument of another type; a cost that is unknown or not supported here; constraints that leave a
            motion free or hold a shared degree of freedom.
    """
    check_type(full, FullProblem, "full", "a FullProblem")
    tolerance = check_number(tolerance, "tolerance", "a positive number", above=0.0)
    max_iterations = check_integer(max_iterations, "max_iterations", 1)
    chosen = check_smooth_cost(cost, full.reduced, "minimized in the full formulation")
    problem = within_domain(full.reduced, chosen)
    chosen.check_names(*problem.names)
    frames, (rows, size) = len(full.needed), full.jacobian.shape[1:]
    muscles, dofs = problem.n_muscles, problem.n_dof

    shapes: dict[str, tuple[int, ...]] = {"activation": (muscles,), "force": (muscles,), "reserve": (dofs,)}
    shapes |= {"multiplier": (rows,), "equation_multiplier": (size,)}
    shapes |= dict.fromkeys(("gap", "moment_error", "cost"), ())
    result = FullSolution(
        **{name: np.full((frames, *shape), np.nan) for name, shape in shapes.items()},
        status=np.full(frames, Status.INVALID_INPUT, np.int8),
        iterations=np.zeros(frames, np.int64),
        cost_name=chosen.label,
    )
    able, empty = full.valid & problem.valid, empty_box(problem)
    result.status[able & empty] = Status.INFEASIBLE
    which = np.flatnonzero(able & ~empty)
    if which.size:
        part = problem.frames(which)
        check_cost(part, chosen)
        check_expression(part, chosen)
        part = fix_idle_muscles(part, chosen)
        with CASADI:
            _minimize(full, part, chosen, which, result, tolerance, max_iterations)
        _certify(full, problem.frames(which), chosen, result, which)
    solved = result.solved
    for array in (result.activation, result.reserve, result.multiplier, result.equation_multiplier):
        array[~solved] = np.nan
    result.cost[solved] = chosen.value(problem.frames(solved), result.activation[solved])
    return replace(result, force=result.activation * full.force_capacity)


def _minimize(
    full: FullProblem,
    problem: Problem,
    cost: Cost,
    which: NDArray[np.intp],
    result: FullSolution,
    tolerance: float,
    limit: int,
) -> None:
    """Minimize by Ipopt in some frames, each started from the frame before; store the unscaled claims.

    Derivatives are exact and sparse. The unknowns x are c multipliers, n activations, and m reserves if there are any;
    G x + r = 0 are the equations over the largest force, each multiplier and reserve scaled by the length of its row.
    The problem is the reduced one of these frames.
    """
    muscles, rows = problem.n_muscles, full.jacobian.shape[1]
    force = np.maximum(1.0, np.abs(full.needed[which]).max(axis=1))
    sides = np.concatenate([full.jacobian[which], -full.moment_rows[which]], axis=1)
    length = np.linalg.norm(sides, axis=2)
    # (t, c + m): multiplier or reserve per scaled unknown
    column = force[:, None] / np.where(length > 0, length, 1.0)
    sides = sides * (column / force[:, None])[..., None]
    kinds = [sides[:, :rows], full.muscle_rows[which] * (problem.force_capacity / force[:, None])[..., None]]

    # the largest marginal cost that muscles are likely to reach; the cost of soft reserves limits it
    steepest = slope_size(problem, cost, load(problem)).max(axis=1)
    weight, reserves = reserve_terms(problem)
    if soft := weight.shape[1]:
        kinds.append(sides[:, rows:])
        multiplier = np.where(reserves > 0.0, weight, HUGE) * np.abs(problem.moment)
        most = np.einsum("tk,tkn->tn", multiplier, np.abs(problem.moment_matrix)).max(axis=1)
        steepest = np.where(most > 0, np.minimum(steepest, most), steepest)
    steepest = np.where(steepest > 0, steepest, 1.0)
    weight = weight * column[:, rows : rows + soft] ** 2 / steepest[:, None]

    # the pattern of G over all frames, and its entries column by column
    transposed = np.concatenate(kinds, axis=1)  # (t, unknowns, N)
    unknown, equation = np.nonzero((transposed != 0).any(axis=0))
    shape = transposed.shape[2], transposed.shape[1]
    pattern = casadi.Sparsity.triplet(*shape, equation.tolist(), unknown.tolist())
    numbers = (cost.parameters(problem), 1.0 / steepest, weight)
    entries, right = transposed[:, unknown, equation], full.needed[which] / force[:, None]
    parameters = np.concatenate([flat(numbers, len(which)), entries, right], axis=1)

    x = casadi.SX.sym("x", shape[1])
    matrix = casadi.SX.sym("G", pattern)
    right_side = casadi.SX.sym("r", shape[0])
    symbols = of_cost, scale, stiffness = parameter_symbols(casadi.SX.sym, shapes_of(numbers))
    effort = cost.expression(casadi, x[rows : rows + muscles], of_cost)
    program = {
        "x": x,
        "p": casadi.vertcat(*map(casadi.vec, arrays_of(symbols)), matrix.nz[:], right_side),
        "f": scale * effort + 0.5 * casadi.dot(stiffness, x[rows + muscles :] ** 2),
        "g": matrix @ x + right_side,
    }
    # a cubed cost is so flat at rest that the usual barrier of 1e-13 leaves activations of 1e-5 instead of zero
    barrier = {"mu_strategy": "adaptive", "mu_min": 1e-22, "acceptable_iter": 0}
    ipopt = casadi_ipopt("full_sharing", program, IpoptOptions(tolerance, limit, barrier).ipopt())
    middle = 0.5 * (problem.lower + problem.upper)[0]
    start = np.concatenate([np.zeros(rows), middle, np.zeros(soft)])
    for k, t in enumerate(which):
        lower, upper = problem.lower[k], problem.upper[k]
        free = np.where(full.redundant[t], 0.0, np.inf)  # a redundant row has no multiplier
        start[rows : rows + muscles] = np.clip(start[rows : rows + muscles], lower, upper)
        low, high = np.concatenate([-free, lower, -reserves[k]]), np.concatenate([free, upper, reserves[k]])
        given = {"x0": start, "p": parameters[k], "lbx": low, "ubx": high, "lbg": 0.0, "ubg": 0.0}
        (values, of_rows), stats = run_casadi(ipopt, given, ("x", "lam_g"))
        result.status[t] = claim_of(final_message(stats))
        result.iterations[t] = stats.get("iter_count", 0)
        result.multiplier[t] = values[:rows] * column[k, :rows]
        result.activation[t] = np.clip(values[rows : rows + muscles], lower, upper)
        result.reserve[t] = values[rows + muscles :] * column[k, rows:] if soft else 0.0
        result.equation_multiplier[t] = of_rows * steepest[k] / force[k]
        if result.status[t] == Status.SOLVED:
            start = values


def _certify(
    full: FullProblem, problem: Problem, cost: Cost, result: FullSolution, which: NDArray[np.intp]
) -> None:
    """Certify the claims for some frames `which` of the problem, or prove that their moments are out of reach."""
    activation = result.activation[which]
    reserve = result.reserve[which]
    y = result.equation_multiplier[which]
    multiplier = np.matmul(full.moment_rows[which], y[..., None])[..., 0]
    certificate = certify(problem, cost, activation, reserve, multiplier)
    force = result.activation * full.force_capacity
    error = np.abs(full.equation_error(result.multiplier, force, result.reserve)[which]).max(axis=1)
    scale = np.maximum(1.0, np.abs(full.needed[which]).max(axis=1))
    size = np.linalg.norm(full.jacobian[which], axis=2) * np.linalg.norm(y, axis=1)[:, None]
    constraint = np.abs(np.matmul(full.jacobian[which], y[..., None])[..., 0])
    broken = np.divide(constraint, size, out=np.zeros_like(size), where=size > 0).max(axis=1)
    missed = np.nan_to_num(np.maximum(error / scale, broken), nan=np.inf)
    certificate = replace(certificate, moment_error=np.maximum(certificate.moment_error, missed))
    status, _ = label_frames(problem, reserve, multiplier, certificate, result.status[which])
    proved = status == Status.INFEASIBLE
    result.status[which] = status
    result.gap[which] = np.where(proved, np.nan, certificate.gap)
    result.moment_error[which] = np.where(proved, np.nan, certificate.moment_error)
