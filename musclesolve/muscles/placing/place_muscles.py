"""The muscles of one leg on a subject's skeleton: paths, fiber and tendon lengths, strength."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from muscle_db import MuscleDatabase
from muscle_db.model import DEGREES_OF_FREEDOM
from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.curves.curve_family import curve_family
from musclesolve.muscles.muscle_parameters import MuscleParameters, joined_muscles
from musclesolve.muscles.passive.passive_element import passive_element
from musclesolve.muscles.paths.paths import Paths, joined_paths
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.placing.fiber_lengths import fiber_and_tendon_lengths
from musclesolve.muscles.placing.placed_paths import adjust_switches, frame_maps, placed_paths
from musclesolve.muscles.strength import strengths
from musclesolve.muscles.tendon_strain import TendonStrain, set_tendon_strains

LEG_DOFS = DEGREES_OF_FREEDOM
"""The degrees of freedom that leg muscles move, without side."""


@dataclass(frozen=True)
class LegMuscles:
    """Muscles (n) of one side on the skeleton of a subject.

    parameters: of the Hill model, lengths of the subject; short_names and groups (n,) of the set; paths on the
    skeleton; segment_scale: factors of the positions by frame, forward, left, up.
    """

    side: str
    parameters: MuscleParameters
    short_names: tuple[str, ...]
    groups: tuple[str, ...]
    paths: Paths
    segment_scale: dict[str, Array]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the muscles, with side."""
        return self.parameters.names

    @property
    def sides(self) -> tuple[str, ...]:
        """The side of this leg."""
        return (self.side,)

    def of_person(self, person: PersonMuscles) -> LegMuscles:
        """The same with the factors of one person on their parameters."""
        return replace(self, parameters=person.applied(self.parameters))

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        """The seven degrees of freedom of this leg."""
        return tuple(f"{dof}_{self.side}" for dof in LEG_DOFS)


@dataclass(frozen=True)
class JoinedLegs:
    """The muscles of several legs as those of one, leg after leg: what `muscle_state` asks of a leg."""

    legs: tuple[LegMuscles, ...]

    @cached_property
    def parameters(self) -> MuscleParameters:
        """Parameters of all muscles."""
        return joined_muscles([leg.parameters for leg in self.legs])

    @cached_property
    def paths(self) -> Paths:
        """Paths of all muscles."""
        return joined_paths([leg.paths for leg in self.legs])

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        """The degrees of freedom of all legs."""
        return tuple(name for leg in self.legs for name in leg.dof_names)

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides of the legs."""
        return tuple(leg.side for leg in self.legs)


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

    Positions scale by segment (placed_paths.py), fiber and tendon lengths by one of `FIBER_LENGTHS`, that of the set
    unless one is given (fiber_lengths.py). strength: see `strengths`; passive: see `passive_element`; curves: name of a
    family of Hill curves instead of that of the set; tendon_strain: see `set_tendon_strains`.

    Raises:
        InputError: a muscle for which no fiber and tendon lengths can be found; an unknown family, muscle or group.
    """
    muscles, family = database.legs[side], curve_family(curves or database.curves)
    maps = frame_maps(model, database, side)
    paths = adjust_switches(model, placed_paths(model, database, side, maps))
    optimal, slack = fiber_and_tendon_lengths(model, database, side, paths, fiber_lengths)
    parameters = MuscleParameters.of(
        [muscle.name for muscle in muscles],
        family,
        max_isometric_force=strengths(database, optimal, model.mass.total, model.stature, strength),
        optimal_fiber_length=optimal,
        tendon_slack_length=slack,
        pennation_angle=[muscle.pennation_angle for muscle in muscles],
        max_shortening_velocity=[muscle.max_shortening_velocity for muscle in muscles],
        tendon_strain=set_tendon_strains(database, tendon_strain),
        passive=passive_element(database, family, passive),
    )
    return LegMuscles(
        side=side,
        parameters=replace(parameters, joints_crossed=_joints_crossed(model, paths, side)),
        short_names=tuple(muscle.short_name for muscle in muscles),
        groups=tuple(muscle.group for muscle in muscles),
        paths=paths,
        segment_scale={frame: placed.scale for frame, placed in maps.items()},
    )


def _joints_crossed(model: Model, paths: Paths, side: str) -> Array:
    """How many of hip, knee and ankle the path of each muscle crosses, (n,): it has points on both sides of them."""
    joints = [model.dof(f"{dof}_{side}") for dof in LEG_DOFS]
    beyond = model.tree.distal_frames[paths.point_body][:, joints] > 0.0
    muscle = paths.layout.node_muscle[: len(beyond)]
    points = np.eye(muscle.max() + 1)[muscle].T  # (n, P)
    count = points @ beyond
    crossed = (count > 0.0) & (count < points.sum(axis=1, keepdims=True))
    stems = np.array([dof.partition("_")[0] for dof in LEG_DOFS])
    return np.sum([crossed[:, stems == joint].any(axis=1) for joint in np.unique(stems)], axis=0, dtype=float)
