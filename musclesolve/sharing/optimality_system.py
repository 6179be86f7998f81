"""The optimality conditions of every frame, linearized in activations and multipliers, and the active set.

With the activations F that are free between their bounds, the held ones H that move with their bounds, D = f''(a), the
moments A a + C lambda = b with C = 1/w (zero without reserves), and soft rows 1/2 sum_k w_k (t_k - (G a)_k)^2,

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

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import stationarity_size
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import LEAST_REACH
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import slope_scale
from musclesolve.sharing.solving import fix_idle_muscles

# Curvature, as a share of the largest one of the frame, below which a division by it loses too many digits.
FLAT_CURVATURE = 1e-7
POOR = 1e-7
"""Eigenvalue of the scaled rows, from 0 to m, below which their products have lost too many digits."""

STIFF = 1e200  # curvature that stands for an infinite one
LIMP = 1e-290  # curvature that counts as none: the products of moments over it are no numbers
SINGULAR = 1e-13
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
    ) -> OptimalitySystem:
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
        dense = np.flatnonzero(flat | (regular & (value[:, 0] < POOR)))
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


NEWTON_STEPS = 12
CONVERGED = 1e-11
"""Newton step, relative to the width of the bounds and to the activation, at which a solution is final."""

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
    known: Mask  # (T,) whether Newton's method has converged


def refine(problem: Problem, cost: Cost, compliance: Array, activation: Array, multiplier: Array) -> Optimum:
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
            slope = cost.gradient(part, start) - part.pull(multiplier[going])
            short = part.moment - part.produced(start) - give * multiplier[going]
            still = np.zeros((*start.shape, 1))
            step, change = system.solve(np.where(held, 0.0, -slope)[..., None], short[..., None], still)
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
    return Optimum(a, multiplier, held & below, held & ~below, distance, miss <= KNOWN_RESIDUAL)


def _held(problem: Problem, cost: Cost, upper: Array, a: Array, multiplier: Array) -> tuple[Array, Mask]:
    """The ratio |g - p| / S of held muscles, (T, n), zero for free ones; and the mask of muscles at the lower bound.

    The upper bounds and the activations a are (T, n), the multipliers (T, m).
    """
    pull = problem.pull(multiplier)
    with np.errstate(all="ignore"):
        slope = cost.gradient(problem, a)
        reach = np.maximum(LEAST_REACH, (a - problem.lower).max(axis=1))
        size = stationarity_size(slope, pull, slope_scale(problem, cost, reach, at=a))
    push = np.divide(slope - pull, size, out=np.zeros_like(size), where=size > 0)
    fixed = upper <= problem.lower
    low = (a - push <= problem.lower) & ((push > 0) | fixed)
    high = (a - push >= upper) & (push < 0) & ~low
    lacks = np.where(low | high, np.maximum(np.abs(push), np.finfo(np.float64).tiny), 0.0)
    return lacks, low
