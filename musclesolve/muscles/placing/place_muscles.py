"""The muscles of one leg on a subject's skeleton: paths, fiber and tendon lengths, strength."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muscle_db import MuscleDatabase
from muscle_db.model import DEGREES_OF_FREEDOM
from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.curves.curve_family import CurveFamily
from musclesolve.muscles.curves.curve_registry import curve_family
from musclesolve.muscles.passive.passive_element import PassiveElement, passive_element
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.placing.conditional_points import adjust_switches
from musclesolve.muscles.placing.fiber_lengths import fiber_and_tendon_lengths
from musclesolve.muscles.placing.frame_maps import frame_maps
from musclesolve.muscles.placing.placed_paths import placed_paths
from musclesolve.muscles.strength import strengths
from musclesolve.muscles.tendon_strain import TendonStrain, set_tendon_strains

LEG_DOFS = DEGREES_OF_FREEDOM
"""The degrees of freedom that leg muscles move, without side."""


@dataclass(frozen=True)
class LegMuscles:
    """Muscles (n) of one side: paths on the skeleton and the parameters of the Hill model, each (n,).

    max_isometric_force [N]; optimal_fiber_length and tendon_slack_length [m] of the subject; pennation_angle [rad];
    max_shortening_velocity [optimal fiber lengths / s]; tendon_strain: of the tendon at one maximum isometric force,
    of no use where tendons are rigid; curves: their family; passive: the passive elements; segment_scale: factors of
    the positions by frame, forward, left, up.
    """

    side: str
    names: tuple[str, ...]
    short_names: tuple[str, ...]
    groups: tuple[str, ...]
    paths: Paths
    max_isometric_force: Array
    optimal_fiber_length: Array
    tendon_slack_length: Array
    pennation_angle: Array
    max_shortening_velocity: Array
    tendon_strain: Array
    curves: CurveFamily
    passive: PassiveElement
    segment_scale: dict[str, Array]

    @property
    def dof_names(self) -> tuple[str, ...]:
        """The seven degrees of freedom of this leg."""
        return tuple(f"{dof}_{self.side}" for dof in LEG_DOFS)


def place_muscles(
    model: Model,
    database: MuscleDatabase,
    side: str,
    strength: str | float = "table",
    passive: str = "table",
    fiber_lengths: str | None = None,
    curves: str | None = None,
    tendon_strain: TendonStrain | None = None,
) -> LegMuscles:
    """Put the muscles of a set on the leg "r" or "l" of a subject.

    Positions scale by segment (frame_maps.py), fiber and tendon lengths by one of `FIBER_LENGTHS`, that of the set
    unless one is given (fiber_lengths.py). strength: see `strengths`; passive: see `passive_element`; curves: name of a
    family of Hill curves instead of that of the set; tendon_strain: see `set_tendon_strains`.

    Raises:
        InputError: a muscle for which no fiber and tendon lengths can be found; an unknown family, muscle or group.
    """
    muscles, family = database.legs[side], curve_family(curves or database.curves)
    maps = frame_maps(model, database, side)
    paths = adjust_switches(model, placed_paths(model, database, side, maps))
    optimal, slack = fiber_and_tendon_lengths(model, database, side, paths, fiber_lengths)
    return LegMuscles(
        side=side,
        names=tuple(muscle.name for muscle in muscles),
        short_names=tuple(muscle.short_name for muscle in muscles),
        groups=tuple(muscle.group for muscle in muscles),
        paths=paths,
        max_isometric_force=strengths(database, optimal, model.mass.total, model.stature, strength),
        optimal_fiber_length=optimal,
        tendon_slack_length=slack,
        pennation_angle=np.array([m.pennation_angle for m in muscles]),
        max_shortening_velocity=np.array([m.max_shortening_velocity for m in muscles]),
        tendon_strain=set_tendon_strains(database, tendon_strain),
        curves=family,
        passive=passive_element(database, family, passive),
        segment_scale={frame: placed.scale for frame, placed in maps.items()},
    )
