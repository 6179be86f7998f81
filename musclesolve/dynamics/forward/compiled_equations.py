"""The equations of motion of one model for compiled code: rows by their slots, matrices by their elements."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.forward.accelerations import Accelerations, scaled_penalty
from musclesolve.dynamics.kernel.arrays import (
    ACCELERATE,
    HOLD,
    RETURN,
    SINGULAR,
    Rows,
    Solved,
    State,
    contiguous,
)
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.errors import MuscleSolveError

POLISHES = 2
"""How often multipliers that somebody reads are freed of round-off."""
DAMPING, FREQUENCY = 1.0, 10.0
"""mu and omega [1/s] of (2.30): the stabilisation within a step."""


class UnsolvableError(MuscleSolveError):
    """Equations of motion without a solution, which a shorter step may have."""


@dataclass(frozen=True)
class CompiledEquations:
    """M x + Phi_q^T lambda = force, Phi_q x = right, solved in compiled code.

    rows: the constraints, with the order in which slots are eliminated; row, column (elements,): the element of the
    full mass matrix that each element of the compiled one is.
    """

    rows: Rows
    row: Indices
    column: Indices

    @classmethod
    def build(cls, rows: Constraints, bodies: Indices) -> CompiledEquations:
        """From constraints and the slots of the bodies (B, 6)."""
        start, slot, weight = _sparse(rows.weights)
        groups = [*bodies, *np.hstack([rows.first, rows.second])]
        groups += [slot[one:two] for one, two in pairwise(start)]
        neighbors = np.eye(rows.size, dtype=bool)
        for group in groups:
            own = group[group < rows.size]
            neighbors[np.ix_(own, own)] = True
        order = _elimination_order(neighbors)
        begin = _first_elements(neighbors, order)
        coordinate = (3 * order[:, None] + np.arange(3)).ravel()
        length = np.arange(len(begin)) - begin + 1
        ends = np.cumsum(length)
        row = np.repeat(coordinate, length)
        column = np.concatenate([coordinate[b : k + 1] for k, b in enumerate(begin)])
        place = np.argsort(order)
        arrays = Rows(
            first=contiguous(rows.first.reshape(-1, 2), np.intp),
            second=contiguous(rows.second.reshape(-1, 2), np.intp),
            constant=contiguous(rows.constant),
            start=contiguous(start, np.intp),
            slot=contiguous(slot, np.intp),
            weight=contiguous(weight),
            target=contiguous(rows.target.reshape(-1, 3)),
            place=contiguous(place, np.intp),
            begin=contiguous(begin, np.intp),
            element=contiguous(ends - length - begin, np.intp),
        )
        return cls(arrays, row, column)

    def elements(self, mass: Array) -> tuple[Array, float]:
        """A mass matrix (3N, 3N) as the compiled code takes it, and the penalty that suits it."""
        return np.ascontiguousarray(mass[self.row, self.column]), scaled_penalty(mass)

    def accelerations(
        self, q: Array, qd: Array, force: Array, mass: tuple[Array, float], polished: bool = True
    ) -> Accelerations:
        """Accelerations (3N,) and multipliers under stabilisation (2.30, 2.37); force (N, 3)."""
        return self._solve(ACCELERATE, q, qd, force, mass, POLISHES * polished)

    def returned(self, q: Array, force: Array, mass: tuple[Array, float]) -> Array:
        """X (N, 3) with Phi_q x = -Phi."""
        return self._solve(RETURN, q, q, force, mass, 0).qdd.reshape(q.shape)

    def held(self, q: Array, force: Array, mass: tuple[Array, float]) -> Array:
        """X (N, 3) with Phi_q x = 0."""
        return self._solve(HOLD, q, q, force, mass, 0).qdd.reshape(q.shape)

    def _solve(
        self, kind: int, q: Array, qd: Array, force: Array, mass: tuple[Array, float], polishes: int
    ) -> Accelerations:
        from musclesolve.dynamics.kernel.entry import SOLVE

        rows, slots = self.rows, len(q)
        products = len(rows.constant)
        count = products + rows.target.size
        numbers = np.array([mass[1], 2.0 * DAMPING * FREQUENCY, FREQUENCY**2, polishes])
        multipliers, right, off, pushed = np.empty((4, count))
        step, flat = np.empty((2, 3 * slots))
        out = Solved(
            qdd=np.empty((slots, 3)),
            multipliers=multipliers,
            factor=np.empty(len(self.row)),
            lines=np.empty((products, 2, 3)),
            right=right,
            off=off,
            pushed=pushed,
            step=step,
            flat=flat,
            missing=np.empty((slots, 3)),
        )
        state = State(contiguous(q), contiguous(qd), contiguous(force), mass[0], numbers)
        done = SOLVE.load()(state, rows, out, kind)
        if done > 0:
            return Accelerations(out.qdd.ravel(), out.multipliers, int(done))
        if done == SINGULAR:
            raise UnsolvableError("the mass matrix is singular on the motions that the constraints allow")
        raise UnsolvableError(
            "the augmented Lagrangian iteration does not settle. Contradicting constraint rows or a body without "
            "inertia are the usual reasons."
        )


def _sparse(weights: Array) -> tuple[Indices, Indices, Array]:
    """Starts, slots and weights of the rows (l, N) of linear combinations."""
    row, slot = np.nonzero(weights)
    start = np.searchsorted(row, np.arange(len(weights) + 1))
    return start, slot, weights[row, slot]


def _elimination_order(neighbors: Array) -> Indices:
    """Slots in an order that leaves few elements between the first of a row and the diagonal."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    found = np.asarray(reverse_cuthill_mckee(csr_array(neighbors.astype(float)), symmetric_mode=True))
    orders = [np.arange(len(neighbors)), found, found[::-1]]
    return min(
        orders, key=lambda order: int((np.arange(3 * len(order)) - _first_elements(neighbors, order)).sum())
    )


def _first_elements(neighbors: Array, order: Indices) -> Indices:
    """First column of every row of the ordered matrix (3N,) that may not be zero."""
    return np.repeat(3 * np.argmax(neighbors[np.ix_(order, order)], axis=1), 3)
