"""Accelerations of a constrained system, M qdd + Phi_q^T lambda = g with Phi_q qdd = gamma, by two routes.

The augmented Lagrangian iteration (Silva 2003, 2.37) needs one factorization of a positive definite matrix and does
not mind redundant rows; the direct route splits the coordinates by the null space of Phi_q. Both are with full matrices
here; simulations take the first in compiled code (`kernel.equations`), which is tested against this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import MuscleSolveError

PENALTY = 1e6
"""alpha of (2.37) over the mean of the masses on the diagonal of M; the solution does not depend on it, the number of
iterations does (2.31: 1e4 to 1e7)."""

_TOLERANCE = 1e-12
_ITERATIONS = 40
_RANK = 1e-9
_POLISHES = 2


@dataclass(frozen=True)
class Accelerations:
    """qdd (n,), multipliers (c,), and how many iterations it took."""

    qdd: Array
    multipliers: Array
    iterations: int


def scaled_penalty(mass: Array, penalty: float = PENALTY) -> float:
    """The penalty that suits a mass matrix (n, n): light bodies need a small one, heavy ones a large one."""
    return penalty * (float(np.trace(mass)) / max(len(mass), 1) or 1.0)


def augmented_lagrangian(
    mass: Array, jacobian: Array, force: Array, right: Array, penalty: float = PENALTY
) -> Accelerations:
    """Iterate (M + Phi_q^T alpha Phi_q) qdd' = M qdd + Phi_q^T alpha right, from M qdd = g (2.37).

    Each iteration solves for the change, (M + Phi_q^T alpha Phi_q) d = g - M qdd - Phi_q^T (lambda + alpha (Phi_q qdd -
    right)), and adds alpha (Phi_q qdd - right) to lambda (2.33): the same iterates without accumulated round-off.
    mass (n, n) may be semidefinite, if definite on the allowed directions; rows of jacobian (c, n) may be redundant;
    force (n,) g; right (c,) gamma - 2 omega mu Phi_dot - omega^2 Phi; penalty: alpha over the mean mass.

    Raises:
        MuscleSolveError: a direction that is allowed has no mass, or the iteration does not converge.
    """
    from scipy.linalg import cho_factor, cho_solve

    penalty = scaled_penalty(mass, penalty)
    try:
        solve = partial(cho_solve, cho_factor(mass + penalty * jacobian.T @ jacobian))
    except np.linalg.LinAlgError as fault:
        raise MuscleSolveError(
            "the mass matrix is singular on the motions that the constraints allow"
        ) from fault
    qdd, multipliers = np.zeros(len(force)), np.zeros(len(right))
    for iteration in range(1, _ITERATIONS + 1):
        pushed = multipliers + penalty * (jacobian @ qdd - right)
        step = solve(force - mass @ qdd - jacobian.T @ pushed)
        qdd = qdd + step
        multipliers = multipliers + penalty * (jacobian @ qdd - right)
        if np.abs(step).max() <= _TOLERANCE * max(1.0, float(np.abs(qdd).max())):
            return Accelerations(
                qdd, _polished(solve, jacobian, penalty, force - mass @ qdd, multipliers), iteration
            )
    raise MuscleSolveError(
        f"the augmented Lagrangian iteration still moves accelerations by {np.abs(step).max():.2g} after {_ITERATIONS} "
        "rounds. Contradicting constraint rows or a body without inertia are the usual reasons."
    )


def _polished(
    solve: Callable[[Array], Array], jacobian: Array, penalty: float, needed: Array, multipliers: Array
) -> Array:
    """Multipliers of Phi_q^T lambda = needed freed of alpha times the round-off of Phi_q qdd: (2.25) at the end."""
    for _ in range(_POLISHES):
        missing = solve(needed - jacobian.T @ multipliers)
        multipliers = multipliers + penalty * (jacobian @ missing)
    return multipliers


def direct(mass: Array, jacobian: Array, force: Array, right: Array) -> Accelerations:
    """Accelerations p + Z s: p of least length with Phi_q p = right, Z the null space, Z^T M Z s = Z^T (g - M p).

    Multipliers of least norm from (2.25) (rows may be redundant, correction B10). Arguments as above.
    """
    basis, sizes, free = np.linalg.svd(jacobian, full_matrices=True)
    rank = int((sizes > _RANK * sizes[0]).sum())
    strong, null = free[:rank], free[rank:]
    particular = strong.T @ ((basis[:, :rank].T @ right) / sizes[:rank])
    speed_rates = np.linalg.solve(null @ mass @ null.T, null @ (force - mass @ particular))
    qdd = particular + null.T @ speed_rates
    multipliers = basis[:, :rank] @ ((strong @ (force - mass @ qdd)) / sizes[:rank])
    return Accelerations(qdd, multipliers, 1)


ROUTES = {"augmented_lagrangian": augmented_lagrangian, "direct": direct}
"""Routes to the accelerations by name."""


def massless_motion(mass: Array, jacobian: Array) -> Array | None:
    """A direction (n,) that the constraints allow and no mass resists; None if there is none."""
    _, sizes, free = np.linalg.svd(jacobian, full_matrices=True)
    null = free[int((sizes > _RANK * max(sizes[0], 1e-300)).sum()) :] if len(sizes) else free
    if not len(null):
        return None
    values, vectors = np.linalg.eigh(null @ mass @ null.T)
    return None if values[0] > 1e-10 * max(values[-1], 1e-300) else null.T @ vectors[:, 0]
