"""What was measured of a model: points and directions by the names of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.dynamics.checks import numbers
from musclesolve.dynamics.model import Model
from musclesolve.errors import InputError

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
        """Targets from named points [m] and unit directions, each (T, 3), by the model's names.

        Raises:
            InputError: nothing was measured, a name that the model does not have or of the other kind, or values that
                are not finite or not as many as the others.
        """
        named = list(points.items()) + list(directions.items())
        if not named:
            raise InputError("no points or directions to fit", expected="at least those of one body")
        slots = np.array([model.slot(name) for name, _ in named])
        for slot, (name, _) in zip(slots[: len(points)], named, strict=False):
            if slot >= model.topology.point_count:
                raise InputError(f"{name!r} is a direction of {model.topology.name!r}, not a point")
        frames = len(np.atleast_1d(named[0][1]))
        values = np.stack([numbers(value, f"target {name!r}", (frames, 3)) for name, value in named], axis=1)
        weights = np.where(slots < model.topology.point_count, 1.0, DIRECTION_ARM**2)
        return cls(slots, values, weights)

    def frames(self, keep: slice) -> Targets:
        """The same at some frames."""
        return Targets(self.slots, self.values[keep], self.weights)
