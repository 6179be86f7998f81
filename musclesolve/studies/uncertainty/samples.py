"""Samples of the Monte Carlo analysis: the quantities followed through them, and what a process computes at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Mask, split_named
from musclesolve.errors import MuscleSolveError
from musclesolve.pipeline.types import LegResult
from musclesolve.sharing.status import Status
from musclesolve.studies.uncertainty.contributions import Linear, Task
from musclesolve.studies.uncertainty.replay import Body, Replay, leg_dofs

DIMS: dict[str, tuple[str, ...]] = {
    "muscle_force": ("time", "muscle"),
    "activation": ("time", "muscle"),
    "contact_force": ("time", "joint"),
    "joint_moment": ("time", "dof"),
    "joint_angle": ("time", "dof"),
    "muscle_force_peak": ("muscle",),
    "contact_force_peak": ("joint",),
}
"""Quantity -> its dimensions."""


def joined(found: Mapping[str, AnyArray]) -> AnyArray:
    """The quantities end to end, (D,)."""
    return np.concatenate([found[name].ravel() for name in DIMS])


def separated(vectors: AnyArray, sizes: Mapping[str, int]) -> dict[str, AnyArray]:
    """Quantities by name from vectors (..., D), given the size of every dimension."""
    return split_named(vectors, {name: tuple(sizes[dim] for dim in dims) for name, dims in DIMS.items()})


def quantities(replay: Replay, body: Body, legs: list[LegResult], counted: AnyArray) -> dict[str, AnyArray]:
    """The quantities of one run; peaks over the frames that count, (T, legs)."""
    dofs = [body.model.dof(dof) for dof in leg_dofs(replay.options)]
    force = np.concatenate([leg.solution.force + leg.state.passive_force for leg in legs], axis=1)
    contact = np.stack(
        [np.linalg.norm(load, axis=1) for leg in legs for load in leg.contact_force.values()], axis=1
    )
    return {
        "muscle_force": force,
        "activation": np.concatenate([leg.solution.activation for leg in legs], axis=1),
        "contact_force": contact,
        "joint_moment": body.moments[:, dofs],
        "joint_angle": body.motion.coordinates[:, dofs],
        "muscle_force_peak": _peak(force, counted),
        "contact_force_peak": _peak(contact, counted),
    }


def _peak(values: AnyArray, counted: AnyArray) -> AnyArray:
    """Largest of each column (T, k) over the frames that count for its leg, (k,); NaN where none does."""
    own = np.repeat(counted, values.shape[1] // counted.shape[1], axis=1)
    known = np.where(own & np.isfinite(values), values, -np.inf).max(axis=0)
    return np.where(np.isfinite(known), known, np.nan)


def reserves(legs: list[LegResult]) -> AnyArray:
    """(T, legs) which frames needed a reserve."""
    return np.stack([leg.solution.status == Status.SOLVED_WITH_RESERVE for leg in legs], axis=1)


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
