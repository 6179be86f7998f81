"""What was measured of a body: points and directions by the names of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.dynamics.model import Model

Array = np.ndarray

DIRECTION_ARM = 0.1
"""A direction weighs as much as a point seen on an arm of this length [m]."""


@dataclass(frozen=True)
class Targets:
    """What was measured: slots (n,), positions or unit directions (T, n, 3), weights (n,)."""

    slots: Array
    values: Array
    weights: Array

    @classmethod
    def build(cls, model: Model, points: dict[str, Array], directions: dict[str, Array]) -> Targets:
        """Targets from named points [m] and unit directions, each (T, 3), by the model's names."""
        named = list(points.items()) + list(directions.items())
        slots = np.array([model.slot(name) for name, _ in named])
        values = np.stack([np.asarray(value, float) for _, value in named], axis=1)
        weights = np.where(slots < model.topology.point_count, 1.0, DIRECTION_ARM**2)
        return cls(slots, values, weights)

    def frames(self, keep: slice) -> Targets:
        """The same at some frames."""
        return Targets(self.slots, self.values[keep], self.weights)
