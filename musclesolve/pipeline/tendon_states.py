"""Fibers and elastic tendons along a motion, as they were solved."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.trajectory.motion_solution import MotionSolution


@dataclass(frozen=True, eq=False)
class TendonStates:
    """Fibers and elastic tendons of n muscles as they were solved, (T, n) each; NaN in frames without a solution.

    fiber_length [m], fiber_velocity [m/s], cos_pennation; force_capacity and passive_force [N] at the tendon;
    tendon_length [m], tendon_strain of the slack length, tendon_energy [J], fiber_power [W]. defect: the error of
    activation in the middle between a frame and the next one (see `MotionSolution`), NaN at the end of each run.
    """

    fiber_length: Array
    fiber_velocity: Array
    cos_pennation: Array
    force_capacity: Array
    passive_force: Array
    tendon_length: Array
    tendon_strain: Array
    tendon_energy: Array
    fiber_power: Array
    defect: Array

    @classmethod
    def empty(cls, frames: int, muscles: int) -> TendonStates:
        """States of which nothing is known."""
        return cls(*(np.full((frames, muscles), np.nan) for _ in fields(cls)))

    def store(self, first: int, found: MotionSolution) -> None:
        """Store the solved frames of a motion that begins with frame number `first`."""
        solved = found.solved
        rows = first + np.flatnonzero(solved)
        for name in (each.name for each in fields(self)[:-1]):
            getattr(self, name)[rows] = getattr(found, name)[solved]
        between = np.flatnonzero(solved[:-1] & solved[1:])
        self.defect[first + between] = found.defect[between]

    def store_columns(self, which: Indices, other: TendonStates) -> None:
        """Store the states of some of the muscles."""
        for each in fields(self):
            getattr(self, each.name)[:, which] = getattr(other, each.name)
