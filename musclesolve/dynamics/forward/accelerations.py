"""Accelerations of a constrained system, M qdd + Phi_q^T lambda = g with Phi_q qdd = gamma, by two routes.

`direct` splits the coordinates by the null space of Phi_q, with full matrices in numpy. The augmented Lagrangian
iteration (Silva 2003, 2.37) needs one factorization of a positive definite matrix and does not mind redundant rows;
`CompiledEquations` takes it in compiled code (`kernel.equations`), with rows by their slots and matrices by their
elements, and is tested against the direct route.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, contiguous
from musclesolve.dynamics.kernel.arrays import ACCELERATE, HOLD, RETURN, SINGULAR, RowArrays, Solved, State
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.errors import MuscleSolveError

METHODS = ("augmented_lagrangian", "direct")
"""Routes to the accelerations by name."""
PENALTY = 1e6
"""alpha of (2.37) over the mean of the masses on the diagonal of M; the solution does not depend on it, the number of
iterations does (2.31: 1e4 to 1e7)."""
DAMPING, FREQUENCY = 1.0, 10.0
"""mu and omega [1/s] of (2.30): the stabilization within a step."""

_POLISHES = 2  # How often multipliers that somebody reads are freed of round-off
_RANK = 1e-9


@dataclass(frozen=True)
class Accelerations:
    """Accelerations qdd (n,), multipliers (c,), and the number of iterations."""

    qdd: Array
    multipliers: Array
    iterations: int


class UnsolvableError(MuscleSolveError):
    """Equations of motion without a solution, which a shorter step may have."""


def direct(mass: Array, jacobian: Array, force: Array, right: Array) -> Accelerations:
    """Accelerations p + Z s: p of least length with Phi_q p = right, Z the null space, Z^T M Z s = Z^T (g - M p).

    Multipliers of least norm from (2.25) (rows may be redundant, correction B10). mass (n, n) may be semidefinite, if
    definite on the allowed directions; jacobian (c, n); force (n,) g; right (c,) gamma - 2 omega mu Phi_dot - omega^2
    Phi.
    """
    basis, sizes, free = np.linalg.svd(jacobian, full_matrices=True)
    rank = int((sizes > _RANK * sizes[0]).sum())
    strong, null = free[:rank], free[rank:]
    particular = strong.T @ ((basis[:, :rank].T @ right) / sizes[:rank])
    speed_rates = np.linalg.solve(null @ mass @ null.T, null @ (force - mass @ particular))
    qdd = particular + null.T @ speed_rates
    multipliers = basis[:, :rank] @ ((strong @ (force - mass @ qdd)) / sizes[:rank])
    return Accelerations(qdd, multipliers, 1)


def massless_motion(mass: Array, jacobian: Array) -> Array | None:
    """A direction (n,) that the constraints allow and no mass resists; None without such a direction."""
    _, sizes, free = np.linalg.svd(jacobian, full_matrices=True)
    null = free[int((sizes > _RANK * max(sizes[0], 1e-300)).sum()) :] if len(sizes) else free
    if not len(null):
        return None
    values, vectors = np.linalg.eigh(null @ mass @ null.T)
    return None if values[0] > 1e-10 * max(values[-1], 1e-300) else null.T @ vectors[:, 0]


@dataclass(frozen=True)
class CompiledEquations:
    """M x + Phi_q^T lambda = force, Phi_q x = right, by the augmented Lagrangian iteration in compiled code.

    From M x = force on, (M + Phi_q^T alpha Phi_q) x' = M x + Phi_q^T alpha right (2.37). Each iteration solves for the
    change, (M + Phi_q^T alpha Phi_q) d = force - M x - Phi_q^T (lambda + alpha (Phi_q x - right)), and adds
    alpha (Phi_q x - right) to lambda (2.33): the same iterates without accumulated round-off. M may be semidefinite, if
    definite on the allowed directions; rows may be redundant.

    rows: the constraints, with the order in which slots are eliminated; row, column (elements,): the element of the
    full mass matrix that each element of the compiled one is. A mass is its elements and the penalty alpha.
    """

    rows: RowArrays
    row: Indices
    column: Indices

    @classmethod
    def build(cls, rows: Constraints, bodies: Indices) -> Self:
        """Equations from constraints and the slots of the bodies (B, 6)."""
        linear, slot = np.nonzero(rows.weights)
        start = np.searchsorted(linear, np.arange(len(rows.weights) + 1))
        groups = [*bodies, *np.hstack([rows.first, rows.second])]
        groups += [slot[one:two] for one, two in pairwise(start)]
        neighbors = np.eye(rows.size, dtype=bool)
        for group in groups:
            members = group[group < rows.size]
            neighbors[np.ix_(members, members)] = True
        order = _elimination_order(neighbors)
        begin = _first_elements(neighbors, order)
        coordinate = (3 * order[:, None] + np.arange(3)).ravel()
        length = np.arange(len(begin)) - begin + 1
        arrays = RowArrays(
            first=contiguous(rows.first.reshape(-1, 2), np.intp),
            second=contiguous(rows.second.reshape(-1, 2), np.intp),
            constant=contiguous(rows.constant),
            start=contiguous(start, np.intp),
            slot=contiguous(slot, np.intp),
            weight=contiguous(rows.weights[linear, slot]),
            target=contiguous(rows.target.reshape(-1, 3)),
            place=contiguous(np.argsort(order), np.intp),
            begin=contiguous(begin, np.intp),
            element=contiguous(np.cumsum(length) - length - begin, np.intp),
        )
        column = np.concatenate([coordinate[b : k + 1] for k, b in enumerate(begin)])
        return cls(arrays, np.repeat(coordinate, length), column)

    def elements(self, mass: Array, penalty: float = PENALTY) -> tuple[Array, float]:
        """A mass matrix (3N, 3N) by its elements, and the penalty that suits it: light bodies need a small one."""
        mean = float(np.trace(mass)) / max(len(mass), 1) or 1.0
        return np.ascontiguousarray(mass[self.row, self.column]), penalty * mean

    def accelerations(
        self, q: Array, qd: Array, force: Array, mass: tuple[Array, float], polished: bool = True
    ) -> Accelerations:
        """Accelerations (3N,) and multipliers under stabilization (2.30, 2.37); force (N, 3).

        polished: multipliers of Phi_q^T lambda = force - M qdd, free of alpha times the round-off of the rows (2.25).

        Raises:
            UnsolvableError: a direction that is allowed has no mass, or the iteration does not converge.
        """
        return self._solve(ACCELERATE, q, qd, force, mass, _POLISHES * polished)

    def returned(self, q: Array, force: Array, mass: tuple[Array, float]) -> Array:
        """The step x (N, 3) back to the constraints, Phi_q x = -Phi."""
        return self._solve(RETURN, q, q, force, mass, 0).qdd.reshape(q.shape)

    def held(self, q: Array, force: Array, mass: tuple[Array, float]) -> Array:
        """The nearest x (N, 3) to M^-1 force, by the mass matrix, that keeps the constraints, Phi_q x = 0."""
        return self._solve(HOLD, q, q, force, mass, 0).qdd.reshape(q.shape)

    def _solve(
        self, kind: int, q: Array, qd: Array, force: Array, mass: tuple[Array, float], polishes: int
    ) -> Accelerations:
        from musclesolve.dynamics.kernel.entry import SOLVE

        rows, slots = self.rows, len(q)
        products = len(rows.constant)
        multipliers, right, off, pushed = np.empty((4, products + rows.target.size))
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
        numbers = np.array([mass[1], 2.0 * DAMPING * FREQUENCY, FREQUENCY**2, polishes])
        state = State(contiguous(q), contiguous(qd), contiguous(force), mass[0], numbers)
        done = SOLVE.load()(state, rows, out, kind)
        if done > 0:
            return Accelerations(out.qdd.ravel(), out.multipliers, int(done))
        raise UnsolvableError(
            "the mass matrix is singular on the motions that the constraints allow"
            if done == SINGULAR
            else "the augmented Lagrangian iteration does not settle. Contradicting constraint rows or a body without "
            "inertia are the usual reasons."
        )


def _elimination_order(neighbors: Array) -> Indices:
    """Order of the slots with few elements between the first one of a row and the diagonal."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    narrow = np.asarray(reverse_cuthill_mckee(csr_array(neighbors.astype(float)), symmetric_mode=True))
    orders = [np.arange(len(neighbors)), narrow, narrow[::-1]]
    return min(
        orders, key=lambda order: int((np.arange(3 * len(order)) - _first_elements(neighbors, order)).sum())
    )


def _first_elements(neighbors: Array, order: Indices) -> Indices:
    """First column of every row of the ordered matrix (3N,) that may not be zero."""
    return np.repeat(3 * np.argmax(neighbors[np.ix_(order, order)], axis=1), 3)
