"""The uncertain parameters: every one a standard normal number, in an order that does not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np

from musclesolve._util.arrays import Array


@dataclass(frozen=True)
class Parameters:
    """What may err, by source."""

    shapes: Mapping[str, tuple[int, ...]]  # source -> shape of the array of its parameters
    sd: Mapping[str, float]  # source -> standard deviation, SI

    @property
    def count(self) -> int:
        """How many standard normal numbers make a sample; those of sources that are switched off are drawn too."""
        return sum(prod(shape) for shape in self.shapes.values())

    @property
    def places(self) -> dict[str, slice]:
        """Where the numbers of each source stand among all."""
        ends = list(accumulate(prod(shape) for shape in self.shapes.values()))
        return {
            name: slice(start, end)
            for name, start, end in zip(self.shapes, [0, *ends[:-1]], ends, strict=True)
        }

    def draw(self, seed: int, sample: int) -> Array:
        """The standard normal numbers (count,) of a sample, from a stream of its own.

        The stream is child number `sample` of the seed, so that a sample is the same whichever process draws it,
        and whatever else is drawn.
        """
        stream = np.random.SeedSequence(seed, spawn_key=(sample,))
        return np.random.default_rng(stream).standard_normal(self.count)

    def errors(self, numbers: Array) -> dict[str, Array]:
        """Source -> error of its parameters: numbers (count,) times the standard deviation, in the source's shape.

        Of a factor it is the logarithm.
        """
        return {
            name: self.sd[name] * numbers[place].reshape(self.shapes[name])
            for name, place in self.places.items()
        }
