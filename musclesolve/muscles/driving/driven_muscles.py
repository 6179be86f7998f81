"""The muscles of one or both legs as one set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from musclesolve.errors import InputError
from musclesolve.muscles.muscle_parameters import MuscleParameters, joined_muscles
from musclesolve.muscles.paths.joined_paths import joined_paths
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.placing.place_muscles import LegMuscles


@dataclass(frozen=True, eq=False)
class DrivenMuscles:
    """Parameters and paths of n muscles."""

    parameters: MuscleParameters
    paths: Paths

    @classmethod
    def of_legs(cls, legs: Sequence[LegMuscles]) -> DrivenMuscles:
        """The muscles of some legs, leg after leg.

        Raises:
            InputError: no leg, a leg twice, or legs with different families of Hill curves.
        """
        sides = [leg.side for leg in legs]
        if not legs or len(set(sides)) < len(sides):
            raise InputError(
                f"muscles of {len(sides)} legs ({', '.join(sides)})",
                code="duplicate_name" if legs else "missing_argument",
                expected="the muscles of one leg, or of the right and the left one",
            )
        if len(names := {family.name for leg in legs for family, _ in leg.parameters.families}) > 1:
            raise InputError(
                f"legs with different Hill curves: {', '.join(sorted(names))}",
                code="conflict",
                expected="muscles of one set",
            )
        return cls(
            joined_muscles([leg.parameters for leg in legs]), joined_paths([leg.paths for leg in legs])
        )
