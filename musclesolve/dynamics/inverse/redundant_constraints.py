"""More constraint rows than coordinates: least squares, minimum norm, and what of the solution is physical.

A revolute joint of a shared point and a shared vector has six rows for five constraints. The multipliers then are
not unique: the choice of minimum norm depends on how the rows are scaled (correction B10). The generalized force
Phi_q^T lambda of all rows of one joint, taken as a force and a moment on the body, does not.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import MuscleSolveError

_RANK = 1e-9  # A direction this much weaker than the strongest one is none


def minimum_norm(jacobian: Array, needed: Array, what: str = "the constraint rows") -> Array:
    """Multipliers (T, c) of minimum norm with Phi_q^T lambda = needed (T, n) (Silva 2003, 2.88).

    Phi_q = Q R (T, c, n) gives lambda = Q R^-T needed without squaring the condition number as Phi_q^T Phi_q does.
    Where the rows leave a direction of motion free (correction B10), the pseudo-inverse takes over. `what` names the
    rows.

    Raises:
        MuscleSolveError: the rows cannot supply the force; says by how much.
    """
    rows, columns = jacobian.shape[1:]
    multipliers = None
    if rows >= columns:
        basis, triangle = np.linalg.qr(jacobian)
        pivots = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
        if (pivots.min(axis=1) > _RANK * pivots.max(axis=1)).all():
            reduced = np.linalg.solve(np.swapaxes(triangle, 1, 2), needed[..., None])
            multipliers = (basis @ reduced)[..., 0]
    if multipliers is None:
        inverse = np.linalg.pinv(np.swapaxes(jacobian, 1, 2), rcond=_RANK)
        multipliers = np.einsum("tcn,tn->tc", inverse, needed)
    missing = np.abs(np.einsum("tcn,tc->tn", jacobian, multipliers) - needed).max(axis=1)
    if (missing > 1e-6 * np.maximum(np.abs(needed).max(axis=1), 1.0)).any():
        frame = int(np.argmax(missing))
        raise MuscleSolveError(
            f"{what} cannot supply the forces that the motion requires: {missing[frame]:.3g} N or N m is left over in "
            f"frame {frame}. A degree of freedom with neither driver nor actuator is the usual reason."
        )
    return multipliers


def least_squares(jacobian: Array, right: Array) -> Array:
    """Shortest x (T, n) with least |Phi_q x - right| (Silva 2003, 2.6, and 2.8, 2.11 with redundant rows)."""
    return np.einsum("tnc,tc->tn", np.linalg.pinv(jacobian, rcond=_RANK), right)


def undriven(rows: Array, directions: Array, names: tuple[str, ...]) -> tuple[str, ...]:
    """Degrees of freedom (k) that drivers or actuators leave free in some frame.

    rows (T, a, N, 3): of the drivers, or generalized forces of unit actuators. directions (T, N, 3, k): D.
    """
    held = np.einsum("tanx,tnxk->tak", rows, directions)
    _, size, right = np.linalg.svd(held)
    padded = np.zeros((len(held), len(names)))
    padded[:, : size.shape[1]] = size
    free = padded <= _RANK * np.maximum(padded[:, :1], 1e-30)
    share = np.where(free[..., None], np.abs(right), 0.0).max(axis=(0, 1))
    return tuple(name for name, part in zip(names, share, strict=True) if part > 1e-6)


def rigid_wrench(q: Array, force: Array, points: Mask, about: Array) -> tuple[Array, Array]:
    """Force and moment (T, 3) of generalized forces (T, n, 3) on the slots of one rigid body, by virtual power.

    q (T, n, 3): its points (where `points` (n,) is true) and vectors. Moments about the point `about` (T, 3).
    """
    arm = np.where(points[:, None], q - about[:, None], q)
    return force[:, points].sum(axis=1), np.cross(arm, force).sum(axis=1)
