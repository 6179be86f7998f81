"""Energy and momentum of a moving model, straight from natural coordinates."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model


def kinetic_energy(model: Model, q: Array, qd: Array) -> Array:
    """1/2 qd^T M qd (T,) [J], body by body (2.48)."""
    moving = model.rigid_bodies.basic_velocity(q, qd)
    return 0.5 * np.einsum("bef,tbex,tbfx->t", model.basic_mass, moving, moving, optimize=True)


def potential_energy(model: Model, q: Array) -> Array:
    """Energy of the weight (T,) [J], zero with the center of mass at the global origin."""
    return -model.mass.total * mass_center(model, q) @ model.gravity


def mass_center(model: Model, q: Array) -> Array:
    """Center of mass of the whole model (T, 3) [m]."""
    return _weighted(model, model.rigid_bodies.basic(q)) / model.mass.total


def momentum(model: Model, q: Array, qd: Array) -> tuple[Array, Array]:
    """Linear momentum [kg m/s] and angular momentum about the center of mass [kg m2/s], (T, 3) each."""
    place, moving = model.rigid_bodies.basic(q), model.rigid_bodies.basic_velocity(q, qd)
    linear = _weighted(model, moving)
    pushed = np.einsum("bef,tbfx->tbex", model.basic_mass, moving)
    return linear, np.cross(place, pushed).sum(axis=(1, 2)) - np.cross(mass_center(model, q), linear)


def _weighted(model: Model, basic: Array) -> Array:
    """Sum over bodies of mass times what the basic coordinates give at the centers of mass, (T, 3)."""
    weights = model.mass.mass[:, None] * model.rigid_bodies.coordinates(model.mass.center)
    return np.einsum("be,tbex->tx", weights, basic)
