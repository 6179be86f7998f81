"""Exact derivatives of the solution of a force-sharing problem.

The optimum satisfies f'(a) = A^T lambda for the muscles between their bounds, a = bound for the held ones, and
A a + lambda / w = b. Differentiated along any change of the problem (`OptimalitySystem`),

    u = dA^T lambda - df'            (df': the marginal costs at fixed activations)
    v = db - dA a - d(1/w) lambda    (the moments at fixed activations)

and held muscles move with their bounds, the end of the domain of soft saturation included. The set of held muscles
stays as it is for small changes, unless one of its conditions holds just barely: there activations have a kink, and
derivatives that differ to its two sides (`unique`). Fiacco (1983), Introduction to Sensitivity and Stability Analysis
in Nonlinear Programming, gives the conditions.

The gradient of a number made of activations by every array at once (a vector-Jacobian product): for weights w on the
activations, one solution (y, mu) of the same linear system with w in the place of the slopes and no change of moments
gives

    sum w da = sum y u - sum mu v + sum_held (w - H y + A^T mu) d bound,

because the system is symmetric except for a sign. u = dA^T lambda - df' and v = db - dA a - d(1/w) lambda show the
contribution of each array.

`OptimalitySystem` has the optimality conditions of every frame, linearized in activations and multipliers, and the set
of held muscles. With the activations F that are free between their bounds, the held ones H that move with their bounds,
D = f''(a), the moments A a + C lambda = b with C = 1/w (zero without reserves), and soft rows 1/2 sum_k w_k (t_k - (G
a)_k)^2,

    (D + G^T W G)_FF da_F - A_F^T dlambda = u_F - (G^T W G)_FH da_H
    A_F da_F + C dlambda                  = v - A_H da_H

for a change u of slopes and v of moments. The soft rows are taken as further moments with a compliance 1/w_k of their
own, B = [A; G], which leaves D diagonal:

    (B_F D_FF^-1 B_F^T + C) dLambda = v - B_H da_H - B_F D_FF^-1 u_F,    da_F = D_FF^-1 (u_F + B_F^T dLambda),

as many equations as there are rows. This form loses digits where some free D is tiny beside the others or beside stiff
rows, and where rows are almost parallel; there, and where the terms couple muscles, the first two lines are solved
directly.

A muscle is held where the step of the certificate, a - (g - p) / S, leads to a bound or past it (certificate.py; g is
the marginal cost, p = A^T lambda). On this set Newton's method refines a solution with six correct digits to
machine precision: muscles nearly at rest need it, because their curvature follows from their own small activation.

Distances from a change of the set are relative, between 0 and 1: |g - p| / S of a held muscle; of a free one the
distance to the nearer bound over the distance between the bounds, or the same ratio of the marginal cost of the muscle
alone if that is larger: next to the end of the domain of soft saturation hardly any activation is left, but almost all
of the marginal cost.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_integer, check_real_array
from musclesolve._util.messages import with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem, check_smooth_cost, check_solution
from musclesolve.sharing.certificate import certify, within_domain
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import LEAST_REACH, TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES, PER_FRAME
from musclesolve.sharing.problem_change import CHANGEABLE, OF_COSTS, OF_FRAMES, OF_THE_COST, ProblemChange
from musclesolve.sharing.problem_scale import slope_scale
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solving import fix_idle_muscles

# Curvature, as a share of the largest one of the frame, below which a division by it loses too many digits.
FLAT_CURVATURE = 1e-7
POOR = 1e-7
"""Eigenvalue of the scaled rows, from 0 to m, below which their products have lost too many digits."""

STIFF = 1e200  # curvature that stands for an infinite one
LIMP = 1e-290  # curvature that counts as none: the products of moments over it are no numbers
SINGULAR = 1e-14
"""Singular value of a scaled matrix, as a share of the largest one, below which it counts as zero."""


@dataclass(frozen=True, eq=False)
class OptimalitySystem:
    """The linearized conditions, factorized once for any number of right-hand sides."""

    free: Mask  # (T, n)
    matrix: Array  # B, (T, M, n), moments first
    compliance: Array  # C of all rows, (T, M)
    inverse_curvature: Array  # (T, n), zero for held muscles
    row_inverse: Array  # (T, M, M), inverse of B_F D_FF^-1 B_F^T + C, of the frames without a dense system
    dense: NDArray[np.int64]  # numbers of the other frames, T' of them
    dense_hessian: Array  # (T', n, n) of the frames `dense`
    dense_inverse: Array  # (T', n + m, n + m) of these frames, inverse of [H -A^T; A C] on the free muscles
    regular: Mask  # (T,) whether the derivative is determined
    hard: int  # m

    @classmethod
    def from_activation(
        cls, problem: Problem, cost: Cost, activation: Array, free: Mask, compliance: Array
    ) -> Self:
        """Linearize at activations (T, n) of which some are free (T, n); the compliance is C, (T, m)."""
        dofs, muscles = problem.n_dof, problem.n_muscles
        with np.errstate(all="ignore"):
            curvature = np.where(free, cost.term_hessian_diagonal(problem, activation), 1.0)
        largest = np.where(free & np.isfinite(curvature), curvature, 0.0).max(axis=1, keepdims=True)
        bent = curvature > LIMP
        flat = (free & ~(bent & (curvature > FLAT_CURVATURE * largest))).any(axis=1)
        if not cost.needs <= {"separable", "rows"}:
            flat = np.ones_like(flat)
        inverse = np.where(free, 1.0 / np.where(bent, curvature, 1.0), 0.0)
        soft, matrix, give = cost.soft_rows(problem), problem.moment_matrix, compliance
        if soft is not None:
            matrix = np.concatenate([matrix, soft.matrix], axis=1)
            give = np.concatenate([compliance, 1.0 / soft.weight], axis=1)

        # the equations of the rows, by eigenvalues of the matrices with a unit diagonal
        schur = np.matmul(matrix * inverse[:, None, :], matrix.transpose(0, 2, 1))
        np.einsum("tkk->tk", schur)[...] += give
        diagonal = np.einsum("tkk->tk", schur)
        scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        value, vector = np.linalg.eigh(schur * scale[:, :, None] * scale[:, None, :])
        there = value > SINGULAR * schur.shape[1]
        vector = vector * scale[:, :, None]
        with np.errstate(all="ignore"):  # numbers of 1e-158 have squares and no inverses
            inverse_value = np.divide(1.0, value, out=np.zeros_like(value), where=there)
            row_inverse = (vector * inverse_value[:, None, :]) @ vector.transpose(0, 2, 1)
        finite = np.isfinite(row_inverse).all(axis=(1, 2))
        regular = there.all(axis=1) & finite
        row_inverse = np.where(finite[:, None, None], row_inverse, 0.0)

        # the first two lines directly; symmetric with the sign of the multipliers reversed
        dense = np.flatnonzero(flat | (value[:, 0] < POOR))
        part, movable = problem.frames(dense), free[dense]
        with np.errstate(all="ignore"):
            hessian = np.array(cost.hessian(part, activation[dense]))
        bent = np.einsum("tii->ti", hessian)  # not used for held muscles, where it may be infinite
        bent[...] = np.where(movable, np.minimum(bent, STIFF), 0.0)
        size = muscles + dofs
        system = np.zeros((dense.size, size, size))
        if dense.size:
            both = movable[:, :, None] & movable[:, None, :]
            beside = np.where(movable[:, None, :], part.moment_matrix, 0.0)
            system[:, :muscles, :muscles] = np.where(both, hessian, 0.0) + (~movable)[:, :, None] * np.eye(
                muscles
            )
            system[:, muscles:, :muscles], system[:, :muscles, muscles:] = beside, beside.transpose(0, 2, 1)
            np.einsum("tkk->tk", system)[:, muscles:] -= compliance[dense]
            scale = np.ones((dense.size, size))
            for _ in range(5):  # rows and columns of about unit size
                largest = np.abs(system * scale[:, :, None] * scale[:, None, :]).max(axis=2)
                scale = scale / np.sqrt(np.where(largest > 0.0, largest, 1.0))
            left, value, right = np.linalg.svd(system * scale[:, :, None] * scale[:, None, :])
            there = value > SINGULAR * size * value.max(axis=1, keepdims=True)
            inverse_value = np.divide(1.0, value, out=np.zeros_like(value), where=there)
            system = (right.transpose(0, 2, 1) * inverse_value[:, None, :]) @ left.transpose(0, 2, 1)
            system = system * scale[:, :, None] * scale[:, None, :]
            system[:, muscles:] *= -1.0
            regular[dense] = there.all(axis=1)
        return cls(free, matrix, give, inverse, row_inverse, dense, hessian, system, regular, dofs)

    def solve(self, slope: Array, moment: Array, held: Array) -> tuple[Array, Array]:
        """Solve for the changes of activations (T, n, K) and multipliers (T, m, K).

        The slope is u, (T, n, K), the moment v, (T, m, K); held (T, n, K) is the movement of the held muscles, zero
        for the free ones. An axis of length one stands for all.
        """
        with np.errstate(all="ignore"):
            down = slope * self.inverse_curvature[:, :, None]
            right = -(self.matrix @ (held + down))
            soft, required = right[:, self.hard :], right[:, : self.hard] + moment
            soft = np.broadcast_to(soft, (*soft.shape[:2], required.shape[2]))
            right = np.concatenate([required, soft], axis=1)
            row_change = self.row_inverse @ right
            pull = self.matrix.transpose(0, 2, 1) @ row_change
            # once more for the remainder: rows that are almost parallel lose digits in products with themselves
            left = right - self.compliance[..., None] * row_change
            left = left - self.matrix @ (self.inverse_curvature[:, :, None] * pull)
            row_change = row_change + self.row_inverse @ left
            pull = self.matrix.transpose(0, 2, 1) @ row_change
            moved = held + down + self.inverse_curvature[:, :, None] * pull
            multiplier = row_change[:, : self.hard]
            if self.dense.size:
                which, (_, muscles, directions) = self.dense, moved.shape
                free, fixed = self.free[which, :, None], np.broadcast_to(held, moved.shape)[which]
                moments = np.broadcast_to(moment, (len(moved), self.hard, directions))[which]
                push = (np.broadcast_to(slope, moved.shape)[which] - self.dense_hessian @ fixed) * free
                rest = moments - self.matrix[which, : self.hard] @ fixed
                change = self.dense_inverse @ np.concatenate([push, rest], axis=1)
                moved[which], multiplier[which] = fixed + change[:, :muscles] * free, change[:, muscles:]
        return moved, multiplier

    def residuals(
        self, problem: Problem, cost: Cost, activation: Array, multiplier: Array
    ) -> tuple[Array, Array, Array]:
        """The residuals A^T lambda - f', (T, n), and b - A a - C lambda, (T, m) [N m], at activations and multipliers.

        In the frames `dense` the sums have more digits than double precision where the processor has a longer format.
        The third array is the round-off of the second in these frames, (T', m).
        """
        compliance, which = self.compliance[:, : self.hard], self.dense
        slope = cost.gradient(problem, activation)
        gain = problem.pull(multiplier) - slope
        short = problem.moment - problem.produced(activation) - compliance * multiplier
        matrix = problem.moment_arm[which].astype(np.longdouble) * problem.force_capacity[which, None, :]
        parts = matrix * activation[which, None, :]
        sizes = np.abs(parts).sum(axis=2) + np.abs(problem.moment[which])
        short[which] = problem.moment[which] - parts.sum(axis=2) - compliance[which] * multiplier[which]
        gain[which] = (matrix * multiplier[which, :, None]).sum(axis=1) - slope[which]
        return gain, short, np.finfo(np.longdouble).eps * sizes.astype(np.float64)

    def error_at(self, problem: Problem, cost: Cost, activation: Array, multiplier: Array) -> Array:
        """The distance of activations (T, n) from the optimum that residuals and round-off leave, (T,).

        It is infinite where moments are not met, or depend on each other up to a share of 1e-9: for all muscles, or for
        the free ones though not for all.
        """
        gain, short, noise = self.residuals(problem, cost, activation, multiplier)
        which, muscles, size = self.dense, activation.shape[1], np.maximum(1.0, np.abs(problem.moment))
        apart = np.where((np.abs(short) <= CONVERGED * size).all(axis=1), 0.0, np.inf)
        left = np.concatenate([gain[which] * self.free[which], short[which]], axis=1)[:, :, None]
        inverse = self.dense_inverse[:, :muscles]
        error = np.abs(inverse @ left) + np.abs(inverse[:, :, muscles:]) @ noise[:, :, None]
        apart[which] += error.max(axis=(1, 2), initial=0.0)
        lacking = which[~self.regular[which]]
        # held muscles count: an optimum may need one that leaves its bound
        movable = (problem.upper > problem.lower)[lacking]
        resolved, rows = _resolved(problem.moment_matrix[lacking] * movable[:, None, :])
        # free muscles that exchange where their moments alone are alike: a held one shows that they are not
        free = self.free[lacking]
        by_free, _ = _resolved(problem.moment_matrix[lacking] * free[:, None, :])
        alike = (resolved < rows) | ((by_free < resolved) & (free.sum(axis=1) > by_free))
        apart[lacking[alike]] = np.inf
        return apart


def _resolved(rows: Array) -> tuple[Array, Array]:
    """The numbers (T,) of rows (T, m, n) that are told apart, up to a share of ALIKE, and of rows that are not zero."""
    largest = np.abs(rows).max(axis=2, initial=0.0, keepdims=True)
    share = np.linalg.svd(rows / np.where(largest > 0.0, largest, 1.0), compute_uv=False)
    return (share > ALIKE * share[:, :1]).sum(axis=1), (largest > 0.0).sum(axis=(1, 2))


NEWTON_STEPS = 12
CONVERGED = 1e-11
"""Newton step, relative to the width of the bounds and to the activation, at which a solution is final."""

ALIKE = 1e-9  # singular value of the moments of all muscles, below which moments are not told apart
FOREIGN = 1e3  # times what a certificate allows, above which a solution is not of the problem
LEAST_SIZE = 1e-9  # of S, as a share of the largest one of the frame
KNOWN_RESIDUAL = 1e-7  # residual above which the solution is not accurate enough to be differentiated
LARGEST_STEP = 0.9  # largest step of a free muscle, as a share of the distance to its bound


@dataclass(frozen=True, eq=False)
class Optimum:
    """A solution to machine precision, with its active set."""

    activation: Array  # (T, n)
    multiplier: Array  # (T, m)
    below: Mask  # (T, n) held at the lower bound
    above: Mask  # (T, n) held at the upper bound
    distance: Array  # (T, n) from a change of the set; infinite where a muscle cannot move or has no arm
    determined: Mask  # (T,) whether Newton's method has converged, and moments resolve the activations


def refine(
    problem: Problem, cost: Cost, compliance: Array, activation: Array, multiplier: Array
) -> tuple[Optimum, OptimalitySystem]:
    """Refine a solution, activations (T, n) and multipliers (T, m), from about six correct digits to machine precision.

    The problem has solved frames only and upper bounds within the domain of the smooth convex cost; the compliance
    is C = 1/w, (T, m), zero without reserves.
    """
    lower = problem.lower
    upper = fix_idle_muscles(problem, cost).upper  # without moment arm a muscle is held at rest
    a, multiplier = np.clip(activation, lower, upper), multiplier.copy()
    miss = np.full(len(a), np.inf)
    going = np.arange(len(a))
    for _ in range(NEWTON_STEPS):
        # one step on the active set of the point
        part, low, high, give = problem.frames(going), lower[going], upper[going], compliance[going]
        lacks, below = _held(part, cost, high, a[going], multiplier[going])
        held = lacks > 0
        start = np.where(held, np.where(below, low, high), a[going])
        system = OptimalitySystem.from_activation(part, cost, start, ~held, give)
        with np.errstate(all="ignore"):
            gain, short, _ = system.residuals(part, cost, start, multiplier[going])
            still = np.zeros((*start.shape, 1))
            step, change = system.solve(np.where(held, 0.0, gain)[..., None], short[..., None], still)
        step = np.where(held, 0.0, np.nan_to_num(step[..., 0]))
        moved = start + np.clip(step, LARGEST_STEP * (low - start), LARGEST_STEP * (high - start))
        width = np.where(high > low, high - low, 1.0)
        far = np.maximum(
            np.abs(moved - a[going]) / width, np.abs(step) / np.maximum(start - low, 1e-3 * width)
        )
        a[going], miss[going] = moved, far.max(axis=1, initial=0.0)
        multiplier[going] = multiplier[going] + np.nan_to_num(change[..., 0])
        going = going[miss[going] > CONVERGED]
        if not going.size:
            break
    lacks, below = _held(problem, cost, upper, a, multiplier)
    held = lacks > 0
    with np.errstate(all="ignore"):  # distance of a free muscle from its nearer bound
        room = np.stack([a - lower, upper - a]) / (upper - lower)
        if cost.needs <= {"separable", "rows"}:
            low, here, high = (cost.term_gradient(problem, at) for at in (lower, a, upper))
            rise = np.stack([here - low, high - here]) / (high - low)
            room = np.fmax(room, np.where(np.isfinite(rise), rise, 0.0))
    distance = np.where(held, lacks, np.nan_to_num(room, posinf=1.0).min(axis=0))
    distance = np.where(upper > lower, distance, np.inf)
    system = OptimalitySystem.from_activation(problem, cost, a, ~held, compliance)
    with np.errstate(all="ignore"):
        determined = (miss <= KNOWN_RESIDUAL) & (system.error_at(problem, cost, a, multiplier) <= TOLERANCE)
    return Optimum(a, multiplier, held & below, held & ~below, distance, determined), system


def _held(problem: Problem, cost: Cost, upper: Array, a: Array, multiplier: Array) -> tuple[Array, Mask]:
    """The ratio |g - p| / S of held muscles, (T, n), zero for free ones; and the mask of muscles at the lower bound.

    S is the size of g, of p and of the change of g over half the largest activation of the frame. The upper bounds and
    the activations a are (T, n), the multipliers (T, m).
    """
    with np.errstate(all="ignore"):
        reach = np.maximum(LEAST_REACH, (a - problem.lower).max(axis=1))
        slope, pull = cost.gradient(problem, a), problem.pull(multiplier)
        size = slope_scale(problem, cost, reach)
        size = np.where(np.isfinite(slope), np.maximum(size, np.abs(slope)), size)
        size = np.maximum(np.maximum(size, LEAST_SIZE * size.max(axis=1, keepdims=True)), np.abs(pull))
    push = np.divide(slope - pull, size, out=np.zeros_like(size), where=size > 0)
    fixed = upper <= problem.lower
    low = (a - push <= problem.lower) & ((push > 0) | fixed)
    high = (a - push >= upper) & (push < 0) & ~low
    lacks = np.where(low | high, np.maximum(np.abs(push), np.finfo(np.float64).tiny), 0.0)
    return lacks, low


LARGEST_BLOCK = 4_000_000  # largest number of entries of a temporary array
# arrays on which the end of the domain of a cost depends
BOUNDING = ("force_capacity", "fiber_force_capacity", "max_isometric_force")


@dataclass(frozen=True, eq=False)
class SolutionChange:
    """Change of a solution along K directions; the axis K is missing where the directions had none.

    Attributes:
        activation: (K, T, n).
        force: (K, T, n) [N].
        reserve: (K, T, m) [N m].
        multiplier: (K, T, m) [cost per N m].
    """

    activation: Array
    force: Array
    reserve: Array
    multiplier: Array


def solution_derivatives(problem: Problem, cost: str | Cost, solution: Solution) -> "SolutionDerivatives":
    """Differentiate the solution of a problem.

    Args:
        cost: the cost that was minimized, by name or as a Cost: smooth and convex.
        solution: of the problem, by any solver.

    Returns:
        The derivatives, NaN for frames that are not solved.

    Raises:
        InputError: the cost has no derivatives or lacks data; problem and solution do not belong together; the
            solution has constraints.
    """
    problem = check_problem(problem, "solution_derivatives")
    where = "solution_derivatives(cost=...)"
    if isinstance(cost, Solution):
        fault = "the second argument is a Solution"
        expected = "the cost second and the solution third: solution_derivatives(problem, cost, solution)"
        raise input_error("bad_type", where=where, problem=fault, expected=expected)
    chosen = check_smooth_cost(cost, problem, "differentiated", where, convex=True)
    if getattr(check_solution(problem, solution), "constraint", ()):
        fault = "the solution has constraints, which may be what changes next"
        remedy = "where no constraint binds ms.solve(problem, cost) has the same one; else take differences"
        raise input_error(
            "conflict", where=where, problem=fault, expected="a solution of `solve`", remedy=remedy
        )
    if solution.cost_name != chosen.label:
        fault = f"the solution is one for {solution.cost_name}, the cost {chosen.label}"
        raise input_error("conflict", where=where, problem=fault, expected="the cost that was minimized")
    which = np.atleast_1d(solution.solved)
    part = within_domain(problem.frames(which), chosen)
    weight, activation, multiplier = (
        np.reshape(x, (problem.n_frames, x.shape[-1]))[which]
        for x in (solution.reserve_weight, solution.activation, solution.multiplier)
    )
    kept = part.with_arrays(reserve_weight=weight) if np.isfinite(weight).any() else part
    reserve = np.reshape(solution.reserve, problem.moment.shape)[which]
    if (certify(kept, chosen, activation, reserve, multiplier).worst > FOREIGN).any():
        fault = (
            "the solution is no optimum of this problem: it has constraints, rate limits or another problem"
        )
        expected = "the solution of `solve` for this problem"
        raise input_error("conflict", where=where, problem=fault, expected=expected)
    compliance = 1.0 / weight
    optimum, system = refine(part, chosen, compliance, activation, multiplier)
    return SolutionDerivatives(problem, chosen, which, part, activation, optimum, system)


@dataclass(frozen=True, eq=False, repr=False)
class SolutionDerivatives:
    """Derivatives of a solution, as `solution_derivatives` returns them. A single frame has no frame axis.

    Frames that are not solved are NaN throughout. So are those whose optimality conditions do not determine the
    derivative: the free muscles cannot vary every moment, or more than one mixture of activations is optimal.

    Weights of reserves count as constants, also where `solve` chose them. A muscle without any moment arm is held at
    rest, and its derivatives are zero.

    Attributes:
        problem: the problem that was solved.
        cost: the cost that was minimized.
        which: (T,) mask of the solved frames; the next attributes contain only these frames.
        part: the problem, with upper bounds within the domain of the cost.
        activation: as they were solved.
        optimum: activations refined to machine precision, and which of them are held at bounds.
        system: the linearized conditions of optimality.
    """

    problem: Problem
    cost: Cost
    which: Mask
    part: Problem
    activation: Array
    optimum: Optimum
    system: OptimalitySystem

    __repr__ = with_sizes

    @cached_property
    def by_moment(self) -> Array:
        """The derivative of each activation by each moment, (T, n, m) [per N m]."""
        return self._whole(self._by_moment[0])

    @cached_property
    def reserve_by_moment(self) -> Array:
        """The derivative of each reserve by each moment, (T, m, m); zero without reserves."""
        return self._whole(self._compliance[..., None] * self._by_moment[1])

    @cached_property
    def margin(self) -> Array:
        """The distance of the nearest muscle from a change of the active set, (T,), 0 to 1.

        The distance of a held muscle is the share of its marginal cost by which it stays at the bound; for a free
        muscle it is the distance to the nearer bound over the distance between the bounds, or the same ratio of its
        marginal cost, whichever is larger.
        """
        nearest = np.minimum(self.optimum.distance.min(axis=1), 1.0)
        return self._whole(np.where(self._determined, nearest, 0.0), keep=True)

    @cached_property
    def activation_error(self) -> Array:
        """The largest distance of an activation from the optimum, (T,).

        NaN where Newton's method does not converge, or where double precision does not resolve the activations.
        """
        apart = np.abs(self.optimum.activation - self.activation).max(axis=1, initial=0.0)
        return self._whole(np.where(self.optimum.determined, apart, np.nan), keep=True)

    @cached_property
    def unique(self) -> Mask:
        """Mask of the frames that are solved, have a derivative, and no muscle within 1e-6 of a change, (T,)."""
        return np.asarray(np.nan_to_num(self.margin) > TOLERANCE)

    def sentence(self, frame: int = 0) -> str:
        """Return a sentence that names the limit of the derivatives of a frame.

        Raises:
            InputError: there is no such frame.
        """
        frames = self.problem.n_frames
        frame = check_integer(frame, "frame", -frames, frames - 1, where="sentence") % frames
        if not self.which[frame]:
            return "This frame is not solved: there is nothing to differentiate."
        here = int(self.which[:frame].sum())
        if not self.system.regular[here]:
            return (
                "The muscles between their bounds cannot vary every moment, or can be mixed in several ways that are "
                "all optimal: the derivative is not defined."
            )
        if not self.optimum.determined[here]:
            return "Newton's method does not converge, or moments do not fix the activations: no derivative."
        optimum, part = self.optimum, self.part
        muscle = int(optimum.distance[here].argmin())
        distance = float(optimum.distance[here, muscle])
        if not np.isfinite(distance):
            return "No muscle can change."
        name = (self.problem.muscle or ())[muscle]
        below, above = bool(optimum.below[here, muscle]), bool(optimum.above[here, muscle])
        a, lower, upper = (x[here, muscle] for x in (optimum.activation, part.lower, part.upper))
        low = below if below or above else bool(a - lower < upper - a)
        bound = f"its {'lower' if low else 'upper'} bound, {lower if low else upper:.3g}"
        warning = " The derivatives to both sides differ." if distance <= TOLERANCE else ""
        if below or above:
            lacks = f"{100 * distance:.2g} % of its marginal cost"
            return f"The next to change is {name}: {lacks} keeps it at {bound}.{warning}"
        return f"The next to change is {name}: it is free, {100 * distance:.2g} % from {bound}.{warning}"

    def along(self, **changes: ArrayLike | None) -> SolutionChange:
        """Return the change of the solution along changes of the problem's arrays (forward products).

        Args:
            changes: d_moment (T, m), d_moment_arm (T, m, n), d_force_capacity (T, n), d_max_isometric_force (n,),
                d_lower, d_upper (T, n), d_reserve_weight (T, m), d_fiber_velocity (T, n), d_optimal_fiber_length
                (n,), d_reaction_matrix (T, k, n), d_reaction_offset (T, k), d_emg, d_fiber_force_capacity (T, n):
                the derivatives of these arrays, each with an axis K in front for K directions. An axis T or K of
                length one stands for all. Arrays that are not named do not change: a muscle whose strength changes
                has another force_capacity and, if the problem has it, another fiber_force_capacity. For a parameter of
                the cost, d_marginal_cost (T, n): the derivative of `cost.gradient` by it, at the activations of the
                solution. By the weight of a summand it is the gradient of the summand.

        Raises:
            InputError: an unknown name, a wrong shape, or an array that the problem lacks.
        """
        change = ProblemChange.from_changes(self.problem, changes).frames(self.which)
        block = max(1, LARGEST_BLOCK // max(self.problem.lower.size, 1))
        parts = [self._along(change.part(slice(k, k + block))) for k in range(0, change.directions, block)]
        whole = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        single = self.problem.single_frame
        ranks = {name: len(axes) - (single and name in PER_FRAME) for name, axes in ARRAY_AXES.items()}
        ranks[OF_THE_COST] = ranks["lower"]
        lead = any(x is not None and np.ndim(x) > ranks[name[2:]] for name, x in changes.items())
        return SolutionChange(*(x if lead else x[0] for x in whole))

    def of_muscles(self, chosen: Indices, d_moment: Array, **columns: Array) -> Array:
        """Return the changes of the forces (K, T, n) [N] by changes of one muscle at a time.

        The marginal cost of a muscle depends on its own numbers alone in the sums over muscles of the library, so that
        one pass serves all directions. Other costs take a direction for each muscle.

        Args:
            chosen: (K,) numbers of muscles; direction k changes the columns of muscle chosen[k].
            d_moment: (K, T, m) the derivatives of the moments, in each direction.
            columns: derivatives of the other arrays as in `along`, without an axis K.
        """
        if not (self.cost.built_in and self.cost.needs == {"separable"}):
            changes = {name: np.zeros((len(chosen), *array.shape)) for name, array in columns.items()}
            for k, muscle in enumerate(chosen):
                for name, array in columns.items():
                    changes[name][k, ..., muscle] = array[..., muscle]
            return self.along(d_moment=d_moment, **changes).force
        part, a = self.part, self.optimum.activation
        change = ProblemChange.from_changes(self.problem, columns).frames(self.which)
        slope, bound_change = (np.broadcast_to(x, (1, *a.shape))[0] for x in self._of_conditions(change))
        grown = change.get("force_capacity") * a
        moved_moment = part.moment_arm * np.broadcast_to(grown, (1, *a.shape))[0][:, None]
        if "moment_arm" in change.arrays:
            moved_moment = moved_moment + change.arrays["moment_arm"][0] * (part.force_capacity * a)[:, None]
        moment = np.moveaxis(d_moment[:, self.which], 0, -1) - moved_moment[:, :, chosen]
        gain, held = _alone(slope * self.system.free, chosen), _alone(bound_change, chosen)
        moved, _ = self.system.solve(gain, moment, held)
        stronger = _alone(np.broadcast_to(grown, (1, *a.shape))[0], chosen)
        return self._whole(np.moveaxis(part.force_capacity[..., None] * moved + stronger, -1, 0), 1)

    def of_marginal_costs(self, chosen: Indices, change: Array) -> Array:
        """Return the changes of the forces (K, T, n) [N] by a change of the marginal cost of one muscle at a time.

        chosen: (K,) numbers of the muscles. change: (T, n) of the marginal cost of each, by another cost.
        """
        tilt = np.moveaxis(_alone(np.reshape(change, self.problem.lower.shape), chosen), -1, 0)
        return self.along(d_marginal_cost=tilt[:, 0] if self.problem.single_frame else tilt).force

    def _of_conditions(self, change: ProblemChange) -> tuple[Array, Array]:
        """Return the changes of the marginal gains u and of the bounds of held muscles, (K, T, n) each."""
        part, optimum = self.part, self.optimum
        a, multiplier = optimum.activation, optimum.multiplier
        # the upper bounds that count: those of the problem, or the end of the domain of the cost
        at_domain_end = self.cost.largest_activation(part) <= part.upper
        upper = change.get("upper")
        if (at_domain_end & (optimum.above | (not self.cost.built_in))).any():
            upper = np.where(at_domain_end, self.cost.largest_activation_change(part, change), upper)
            change = ProblemChange(change.arrays | {"upper": np.asarray(upper)})
        pull = np.matmul(multiplier[:, None, :], part.moment_arm)[:, 0, :]
        slope = change.get("force_capacity") * pull - self.cost.gradient_change(part, a, change)
        slope = slope - change.get("marginal_cost")
        if "moment_arm" in change.arrays:
            pull = np.matmul(multiplier[:, None, :], change.arrays["moment_arm"])[..., 0, :]
            slope = slope + part.force_capacity * pull
        return slope, np.asarray(optimum.below * change.get("lower") + optimum.above * upper)

    def _along(self, change: ProblemChange) -> list[Array]:
        part, optimum = self.part, self.optimum
        a, multiplier = optimum.activation, optimum.multiplier

        def times(matrix: Array, vector: Array) -> Array:  # (K, T, m)
            return np.asarray(np.matmul(matrix, vector[..., None])[..., 0])

        slope, bound_change = self._of_conditions(change)
        stronger = change.get("force_capacity")
        moment = change.get("moment") - times(part.moment_arm, np.asarray(stronger * a))
        if "moment_arm" in change.arrays:
            moment = moment - times(change.arrays["moment_arm"], part.force_capacity * a)
        softer = np.zeros((1, 1, 1))
        if "reserve_weight" in change.arrays:
            softer = -np.square(self._compliance) * change.arrays["reserve_weight"] * multiplier
            moment = moment - softer
        # directions as the last axis, (T, x, K), from (K, T, x), or from (T, x) for all
        right = (
            np.moveaxis(x if x.ndim == 3 else x[None], 0, -1)
            for x in (slope * self.system.free, moment, bound_change)
        )
        moved, multiplier_moved = (np.moveaxis(x, -1, 0) for x in self.system.solve(*right))
        reserve = self._compliance * multiplier_moved + softer
        force = part.force_capacity * moved + stronger * a
        return [self._whole(x, 1) for x in (moved, force, reserve, multiplier_moved)]

    def gradient_of(self, weight: ArrayLike) -> dict[str, Array]:
        """The gradient of sum(weight * activation) by every array of the problem (a reverse product).

        One pass is enough, while `along` needs a direction for each number.

        Args:
            weight: (T, n); zero in frames that are left out.

        Returns:
            By the name of each array that the problem has, in its shape: "moment" (T, m), "moment_arm" (T, m, n),
            "force_capacity" (T, n), "max_isometric_force" (n,), ... NaN where a weighted frame has no derivative.
            "marginal_cost" (T, n) is for parameters of the cost: multiply it by the derivative of `cost.gradient`, at
            the activations of the solution, and sum.

        Raises:
            InputError: the weights do not fit.
        """
        problem, single = self.problem, self.problem.single_frame
        shape = problem.lower.shape
        weights = check_real_array(weight, "weight", f"{shape[single:]}", shapes=(shape[single:],))
        weights = weights.reshape(shape)
        counts, gradient = (weights != 0).any(axis=1), {}
        for name, array in self._gradient(weights[self.which]).items():
            full = self._expanded(array)
            full = np.where(_column(counts, full.ndim), full, 0.0)
            gradient[name] = full if name in OF_FRAMES and not single else full.sum(axis=0)
        return gradient

    def _gradient(self, weight: Array) -> dict[str, Array]:
        """The gradient of sum(weight * activation) for solved frames, weights (T, n), with a first axis of frames."""
        problem, cost, optimum, system = self.part, self.cost, self.optimum, self.system
        a, multiplier = optimum.activation, optimum.multiplier
        nothing = np.zeros((len(a), system.hard, 1))
        slope = (weight * system.free)[..., None]
        y, mu = (x[..., 0] for x in system.solve(slope, nothing, np.zeros_like(slope)))
        # H y of held muscles, whose own curvature does not count
        bent, rows = np.zeros_like(y), cost.soft_rows(problem)
        if not cost.needs <= {"separable", "rows"}:
            bent = np.matmul(cost.hessian(problem, a), y[..., None])[..., 0]
        elif rows is not None:
            pulled = rows.weight * np.matmul(rows.matrix, y[..., None])[..., 0]
            bent = np.matmul(pulled[:, None, :], rows.matrix)[:, 0, :]
        # the weight on the movement of bounds
        on_bounds = np.where(system.free, 0.0, weight - bent + problem.pull(mu))

        both = multiplier[:, :, None] * y[:, None, :] + mu[:, :, None] * a[:, None, :]
        gradient = {
            "moment": -mu,
            "moment_arm": problem.force_capacity[:, None, :] * both,
            "force_capacity": (problem.moment_arm * both).sum(axis=1),
            "lower": on_bounds * optimum.below,
            "upper": on_bounds * optimum.above,
        }
        if problem.reserve_weight is not None:
            gradient["reserve_weight"] = -mu * np.square(self._compliance) * multiplier
        names = [name for name in CHANGEABLE if getattr(problem, name, None) is not None]
        # marginal costs of the library depend on the arrays of OF_COSTS only, a user's on any array
        for name in OF_COSTS if cost.built_in else names:
            if name in names:
                gradient[name] = gradient.get(name, 0.0) - self._by_slopes(name, y)
        # where the domain of the cost ends before the upper bound of the problem, strengths move the end of the domain
        at_domain_end, upper = cost.largest_activation(problem) <= problem.upper, gradient["upper"]
        gradient["upper"] = np.where(at_domain_end, 0.0, upper)
        for name in BOUNDING if (at_domain_end & (upper != 0.0)).any() else ():
            if name not in gradient:
                continue
            ones = ProblemChange({name: np.ones((1, 1, problem.n_muscles))})
            ends = cost.largest_activation_change(problem, ones)[0]
            gradient[name] = gradient[name] + np.where(at_domain_end, upper * ends, 0.0)
        return {name: gradient[name] for name in names if name in gradient} | {OF_THE_COST: -y}

    def _by_slopes(self, name: str, y: Array) -> Array:
        """The derivative of sum y f' by each number of an array, as if each frame had its own array; y is (T, n)."""
        problem, cost, array = self.part, self.cost, getattr(self.part, name)
        shape = array.shape[1:] if name in PER_FRAME else array.shape
        total = np.zeros((problem.n_frames, *shape))

        def change_along(direction: Array) -> Array:
            change = ProblemChange({name: direction[None, None]})
            return cost.gradient_change(problem, self.optimum.activation, change)[0]

        if cost.built_in and not change_along(np.random.default_rng(0).normal(size=shape)).any():
            return total  # a linear map that is zero along a random direction is zero
        # all muscles at once, if each depends on its own numbers alone
        local = cost.built_in and cost.needs <= {"separable"}
        for index in np.ndindex(shape[:-1] if local else shape):
            unit = np.zeros(shape)
            unit[index] = 1.0
            slope = y * change_along(unit)
            total[(slice(None), *index)] = slope if local else slope.sum(axis=1)
        return total

    @property
    def _compliance(self) -> Array:
        return self.system.compliance[:, : self.system.hard]

    @property
    def _determined(self) -> Mask:
        return self.optimum.determined & self.system.regular

    @cached_property
    def _by_moment(self) -> tuple[Array, Array]:
        frames, dofs, muscles = self.part.moment_arm.shape
        nothing = np.zeros((frames, muscles, 1))
        return self.system.solve(nothing, np.broadcast_to(np.eye(dofs), (frames, dofs, dofs)), nothing)

    def _whole(self, array: Array, axis: int = 0, keep: bool = False) -> Array:
        """Expand an array of the solved frames to all frames, or to the single frame without a frame axis."""
        whole = self._expanded(array, axis, keep)
        return np.squeeze(whole, axis) if self.problem.single_frame else whole

    def _expanded(self, array: Array, axis: int = 0, keep: bool = False) -> Array:
        """Expand an array to all frames: NaN in unsolved frames and, unless `keep`, in frames without a derivative."""
        if not (keep or self._determined.all()):
            array = np.where(_column(self._determined, array.ndim - axis), array, np.nan)
        if self.which.all():
            return array
        whole = np.full((*array.shape[:axis], len(self.which), *array.shape[axis + 1 :]), np.nan)
        whole[(slice(None),) * axis + (self.which,)] = array
        return whole


def _alone(values: Array, chosen: Indices) -> Array:
    """Values (T, n) as (T, n, K): in direction k the value of muscle chosen[k] alone."""
    alone = np.zeros((*values.shape, len(chosen)))
    alone[:, chosen, np.arange(len(chosen))] = values[:, chosen]
    return alone


def _column(array: NDArray[Any], axes: int) -> NDArray[Any]:
    return array.reshape(-1, *(1,) * (axes - 1))
