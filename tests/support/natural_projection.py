"""Joint reactions by projection in natural coordinates, and by the classical formula: checks of the multipliers.

The formulas of `link_projection` with C = Phi_q, whose pseudo-inverse E comes from geometry.
"""

from __future__ import annotations

import numpy as np
from link_projection import AbsoluteSystem

from musclesolve.dynamics import Model, Wrench, mass_matrix, projected_moments
from musclesolve.dynamics.inverse.inverse_dynamics import required_force
from musclesolve.dynamics.inverse.lagrange_multipliers import couple_rows
from musclesolve.errors import MuscleSolveError


def natural_system(model: Model, motion, wrenches: list[Wrench]) -> tuple[np.ndarray, np.ndarray]:
    """C = Phi_q (T, c, n) and h - M qdd (T, n) in natural coordinates; the actuators, as couples, are in h."""
    moments = projected_moments(model, motion, wrenches)
    actuators = np.einsum("tknx,tk->tnx", couple_rows(model, motion), moments)
    missing = actuators - required_force(model, motion.q, motion.qd, motion.qdd, wrenches)
    frames = len(motion.q)
    constraint = model.constraints.jacobian(motion.q)
    return constraint.reshape(frames, constraint.shape[1], -1), missing.reshape(frames, -1)


def natural_partner(constraint: np.ndarray) -> np.ndarray:
    """E = C^T (C C^T)^-1 (T, n, c), with C E = 1 (2.7), from the geometry alone: C^T = Q R gives E = Q R^-T.

    Raises:
        MuscleSolveError: rows are redundant.
    """
    basis, triangle = np.linalg.qr(np.swapaxes(constraint, 1, 2))
    pivots = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
    if constraint.shape[1] > constraint.shape[2] or (pivots.min(axis=1) < 1e-10 * pivots.max(axis=1)).any():
        raise MuscleSolveError(
            "constraint rows depend on each other, so no E has C E = 1; use `minimum_norm` for such a system."
        )
    return basis @ np.linalg.inv(np.swapaxes(triangle, 1, 2))


def natural_multipliers(model: Model, motion, wrenches: list[Wrench]) -> np.ndarray:
    """Multipliers (T, c) of the constraint rows by (2.10) in natural coordinates; the mass matrix is not inverted."""
    constraint, missing = natural_system(model, motion, wrenches)
    return np.einsum("tnc,tn->tc", natural_partner(constraint), missing)


def natural_multipliers_classical(model: Model, motion, wrenches: list[Wrench]) -> np.ndarray:
    """Return the multipliers by (2.11): (C M^-1 C^T)^-1 C (M^-1 h - gamma), gamma = qdd - D ds/dt.

    Raises:
        MuscleSolveError: the mass matrix is singular; names the coordinates without mass.
    """
    constraint, missing = natural_system(model, motion, wrenches)
    frames = len(motion.q)
    mass = mass_matrix(model.rigid_bodies, model.basic_mass, motion.q)
    spectrum, vectors = np.linalg.eigh(mass)
    light = np.abs(vectors).reshape(frames, -1, 3, mass.shape[1]).max(axis=2)
    light = (light * (spectrum <= 1e-12 * spectrum[:, -1:])[:, None]).max(axis=(0, 2)) > 1e-3
    _refuse_singular([model.topology.coordinate_names[slot] for slot in np.flatnonzero(light)])
    allowed = model.tree.allowed(motion.q, motion.origin)
    bias = (motion.qdd - np.einsum("tnxk,tk->tnx", allowed, motion.speed_rates)).reshape(frames, -1)
    applied = missing + np.einsum("tij,tj->ti", mass, motion.qdd.reshape(frames, -1))
    eased = np.linalg.solve(mass, np.swapaxes(constraint, 1, 2))
    free = np.einsum("tnc,tn->tc", eased, applied) - np.einsum("tcn,tn->tc", constraint, bias)
    return np.linalg.solve(constraint @ eased, free[..., None])[..., 0]


def _refuse_singular(light: list[str]) -> None:
    if light:
        raise MuscleSolveError(
            f"the mass matrix is singular: {', '.join(light)} without mass or inertia. Give them some, or use the "
            "formula that does not invert the mass matrix (2.10)."
        )


def redundant_rows(jacobian: np.ndarray, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the rows of one frame, (c, n), that follow from the rows before them."""
    basis = np.zeros((0, jacobian.shape[1]))
    repeated = []
    for row, name in zip(jacobian, names, strict=True):
        rest = row
        for _ in range(2):  # twice is enough for round-off
            rest = rest - basis.T @ (basis @ rest)
        if float(np.linalg.norm(rest)) <= 1e-9 * max(float(np.linalg.norm(row)), 1e-30):
            repeated.append(name)
        else:
            basis = np.vstack([basis, rest / np.linalg.norm(rest)])
    return tuple(repeated)


def reactions_classical(system: AbsoluteSystem) -> np.ndarray:
    """Multipliers (T, c) [N, N m] in absolute coordinates by the classical formula, which inverts M (2.11).

    Raises:
        MuscleSolveError: a link has no mass, so that M cannot be inverted; names it.
    """
    light = np.flatnonzero(np.linalg.eigvalsh(system.mass).min(axis=(0, 2)) <= 0.0)
    if light.size:
        raise MuscleSolveError(
            f"the mass matrix is singular: {', '.join(system.links.names[link] for link in light)} without mass or "
            "inertia. Give them some, or use the formula that does not invert the mass matrix (2.10)."
        )
    inverse = np.linalg.inv(system.mass)
    constraint = system.constraint
    eased = np.einsum("tclx,tlxy->tcly", constraint, inverse)
    matrix = np.einsum("tcly,tdly->tcd", eased, constraint)
    free = np.einsum("tlxy,tly->tlx", inverse, system.applied) - system.gamma
    right = np.einsum("tclx,tlx->tc", constraint, free)
    return np.linalg.solve(matrix, right[..., None])[..., 0]
