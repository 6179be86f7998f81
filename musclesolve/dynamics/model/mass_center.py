"""The center of mass of a whole model."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model


def mass_center(model: Model, q: Array) -> Array:
    """Center of mass of the whole model (T, 3) [m] in the poses q (T, N, 3) [m]."""
    return mass_weighted(model, model.rigid_bodies.basic(q)) / model.mass.total


def mass_weighted(model: Model, basic: Array) -> Array:
    """Sum over bodies of mass times the value (T, 3) of the basic coordinates at the center of mass."""
    weights = model.mass.mass[:, None] * model.rigid_bodies.coordinates(model.mass.center)
    return np.asarray(np.einsum("be,tbex->tx", weights, basic))
