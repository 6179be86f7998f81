"""Energy and momentum of a moving model, straight from natural coordinates."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model


def kinetic_energy(model: Model, q: Array, qd: Array) -> Array:
    """1/2 qd^T M qd (T,) [J], body by body (2.48)."""
    moving = model.elements.basic_velocity(q, qd)
    return 0.5 * np.einsum("bef,tbex,tbfx->t", model.basic_mass, moving, moving, optimize=True)


def potential_energy(model: Model, q: Array) -> Array:
    """Energy of the weight (T,) [J], zero with the mass centre at the global origin."""
    return -model.mass.total * mass_center(model, q) @ model.gravity


def mass_center(model: Model, q: Array) -> Array:
    """Mass centre of the whole model (T, 3) [m]."""
    return _weighted(model, model.elements.basic(q)) / model.mass.total


def momentum(model: Model, q: Array, qd: Array) -> tuple[Array, Array]:
    """Linear momentum [kg m/s] and angular momentum about the mass centre [kg m2/s], (T, 3) each."""
    place, moving = model.elements.basic(q), model.elements.basic_velocity(q, qd)
    linear = _weighted(model, moving)
    pushed = np.einsum("bef,tbfx->tbex", model.basic_mass, moving)
    return linear, np.cross(place, pushed).sum(axis=(1, 2)) - np.cross(mass_center(model, q), linear)


def _weighted(model: Model, basic: Array) -> Array:
    """Sum over bodies of mass times what the basic coordinates give at the mass centres, (T, 3)."""
    weights = model.mass.mass[:, None] * model.elements.coordinates(model.mass.center)
    return np.einsum("be,tbex->tx", weights, basic)
