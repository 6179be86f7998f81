"""The uncertain parameters: every one a standard normal number, in an order that does not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from musclesolve._util.arrays import Array, split_named


@dataclass(frozen=True)
class Parameters:
    """What may err, by source."""

    shapes: Mapping[str, tuple[int, ...]]  # source -> shape of the array of its parameters
    sd: Mapping[str, float]  # source -> standard deviation, SI

    @property
    def count(self) -> int:
        """Standard normal numbers per sample; those of sources that are switched off are drawn too."""
        return sum(prod(shape) for shape in self.shapes.values())

    def draw(self, seed: int, sample: int) -> Array:
        """The standard normal numbers (count,) of a sample, from child number `sample` of the seed.

        So a sample is the same whichever process draws it, and whatever else is drawn.
        """
        stream = np.random.SeedSequence(seed, spawn_key=(sample,))
        return np.random.default_rng(stream).standard_normal(self.count)

    def errors(self, numbers: Array) -> dict[str, Array]:
        """Source -> error of its parameters from standard normal numbers (count,); of a factor, its logarithm."""
        return {name: self.sd[name] * part for name, part in split_named(numbers, self.shapes).items()}
