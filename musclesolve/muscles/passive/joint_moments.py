"""Passive joint moments of the muscles of a set, over the ranges in which they were measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muscle_db import MuscleDatabase
from musclesolve._util.arrays import Array
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.muscle_state import LegState, muscle_state
from musclesolve.muscles.passive.published_moments import Sweep, published_sweeps
from musclesolve.muscles.placing.place_muscles import LEG_DOFS, LegMuscles, place_muscles

SIDE = "r"


@dataclass(frozen=True, eq=False)
class PassiveMoments:
    """A sweep, and the passive moment (P,) [N m] that the muscles of a leg give along it."""

    sweep: Sweep
    moment: Array

    @property
    def rms(self) -> float:
        """Root mean square difference from the published moments [N m]."""
        return float(np.sqrt(np.mean((self.moment - self.sweep.moment) ** 2)))


def passive_moments(
    database: MuscleDatabase, passive: str = "table", subject: Model | None = None
) -> list[PassiveMoments]:
    """Passive moments of the right leg of a subject along the published sweeps.

    Args:
        database: the muscle set.
        passive: rule for passive forces, see `passive_element`.
        subject: its model; the standard subject (1.70 m, 70.25 kg, male) unless given.
    """
    model = human_model() if subject is None else subject
    muscles = place_muscles(model, database, SIDE, passive=passive)
    sweeps = published_sweeps()
    return [
        PassiveMoments(sweep, passive_moment(state, sweep.dof))
        for sweep, state in zip(sweeps, states_along(model, muscles, sweeps), strict=True)
    ]


def states_along(model: Model, muscles: LegMuscles, sweeps: Sequence[Sweep]) -> list[LegState]:
    """The muscles of a leg at rest in the poses of each sweep, all other angles zero."""
    found = []
    for sweep in sweeps:
        coordinates = np.zeros((len(sweep.angle), len(model.topology.dof_names)))
        for dof, angle in sweep.angles().items():
            coordinates[:, model.dof(f"{dof}_{muscles.side}")] = angle
        still = np.zeros_like(coordinates)
        motion = motion_from(model, np.arange(len(sweep.angle), dtype=float), coordinates, still, still)
        found.append(muscle_state(model, muscles, motion))
    return found


def passive_moment(state: LegState, dof: str) -> Array:
    """Moment (T,) [N m] of all passive forces about a degree of freedom, without side: sum_i r_i F_i."""
    arm = state.moment_arm[:, LEG_DOFS.index(dof)]
    return np.asarray((arm * state.passive_force).sum(axis=1))
