"""One sample of the Monte Carlo analysis, or the derivatives by some parameters: what a process computes at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import MuscleSolveError
from musclesolve.studies.uncertainty.contributions import Linear, Task
from musclesolve.studies.uncertainty.followed_quantities import joined, quantities, reserves
from musclesolve.studies.uncertainty.replay import Replay

NOMINAL = -1
"""Number of the sample without errors."""


@dataclass(frozen=True)
class Samples:
    """What all samples need: the pipeline, the frames (T, legs) among which peaks are sought, the seed."""

    replay: Replay
    counted: Mask
    seed: int

    @cached_property
    def linear(self) -> Linear:
        """The derivatives of the pipeline at its nominal point."""
        return Linear(self.replay)


@dataclass(frozen=True)
class Drawn:
    """One sample: its quantities (D,), and which frames (T, legs) needed a reserve."""

    values: Array
    reserve: Array


def work(common: Samples, task: range | list[Task], progress: object = None) -> list[Any]:
    """Some samples by their numbers, or the squares of some parameters of the derivatives."""
    if isinstance(task, range):
        return [_draw(common, number) for number in task]
    return [common.linear.squares(each) for each in task]


def _draw(common: Samples, number: int) -> Drawn | str:
    """One sample, or why there is none."""
    parameters = common.replay.parameters
    normal = np.zeros(parameters.count) if number == NOMINAL else parameters.draw(common.seed, number)
    try:
        body, legs = common.replay.run(normal)
    except MuscleSolveError as error:  # such errors give no model, or no pose of one
        return str(error)
    return Drawn(joined(quantities(common.replay, body, legs, common.counted)), reserves(legs))
