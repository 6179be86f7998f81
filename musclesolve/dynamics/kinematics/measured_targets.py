"""Measured points and directions, by the names of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_array, check_number
from musclesolve._util.long_arrays import in_blocks
from musclesolve._util.names import check_known
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error

DIRECTION_ARM = 0.1
"""A direction weighs as much as a point seen on an arm of this length [m]."""


@dataclass(frozen=True)
class Targets:
    """Measured targets of a pose: slots (n,), positions or unit directions (T, n, 3), weights (n,)."""

    slots: Indices
    values: Array
    weights: Array

    @classmethod
    def build(
        cls,
        model: Model,
        points: Mapping[str, Array],
        directions: Mapping[str, Array],
        weights: Mapping[str, float] | None = None,
    ) -> Targets:
        """Targets from named points [m] and unit directions, each (T, 3), by the model's names.

        weights: factors on squared distances by name, 1 where absent.

        Raises:
            InputError: no target at all, a name that the model does not have or of the other kind, values that are not
                finite or have another number of frames; a weight without its target or not above zero.
        """
        named = list(points.items()) + list(directions.items())
        if not named:
            raise input_error(
                "missing_argument",
                problem="no points or directions to fit",
                expected="the natural coordinates of at least one body",
            )
        slots = np.array([model.slot(name) for name, _ in named])
        for slot, (name, _) in zip(slots[: len(points)], named, strict=False):
            if slot >= model.topology.point_count:
                raise input_error(
                    "conflict", problem=f"{name!r} is a direction of {model.topology.name!r}, not a point"
                )
        frames = len(np.atleast_1d(named[0][1]))
        checked = [check_array(value, f"target {name!r}", (frames, 3)) for name, value in named]
        values = in_blocks(lambda *some: np.stack(some, axis=1), *checked)
        names, weights = [name for name, _ in named], weights or {}
        for name, weight in weights.items():
            check_known([name], "measured point or direction", names, where="weights")
            check_number(weight, f"the weight of {name!r}", "a finite number above 0", above=0.0)
        factors = np.array([float(weights.get(name, 1.0)) for name in names])
        size = np.where(slots < model.topology.point_count, 1.0, DIRECTION_ARM**2)
        return cls(slots, values, factors * size)

    def frames(self, keep: slice | Indices | Mask) -> Targets:
        """The targets at some frames: a slice, a mask (T,) or indices."""
        return Targets(self.slots, self.values[keep], self.weights)

    def among(self, places: Indices) -> Targets:
        """Some of the targets, by their places (k,) among the n."""
        return Targets(self.slots[places], self.values[:, places], self.weights[places])
