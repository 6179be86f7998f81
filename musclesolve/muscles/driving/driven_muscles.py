"""The muscles of one or both legs as one set, and the force that each bears behind a rigid tendon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.muscles.curves.curve_family import CurveFamily
from musclesolve.muscles.hill_model import TendonForce, capacity_and_passive, fiber_state
from musclesolve.muscles.passive.passive_element import PassiveElement
from musclesolve.muscles.paths.joined_paths import joined_paths
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.placing.place_muscles import LegMuscles

_PARAMETERS = (
    *("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle"),
    *("max_shortening_velocity", "tendon_strain"),
)


@dataclass(frozen=True, eq=False)
class DrivenMuscles:
    """Muscles (n) with names, paths and the parameters of the Hill model, each (n,), as in `LegMuscles`."""

    names: tuple[str, ...]
    paths: Paths
    max_isometric_force: Array
    optimal_fiber_length: Array
    tendon_slack_length: Array
    pennation_angle: Array
    max_shortening_velocity: Array
    tendon_strain: Array
    curves: CurveFamily
    passive: PassiveElement

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
        if len(families := {leg.curves.name for leg in legs}) > 1:
            raise InputError(
                f"legs with different Hill curves: {', '.join(sorted(families))}",
                code="conflict",
                expected="muscles of one set",
            )
        passive = PassiveElement(*map(np.concatenate, zip(*(leg.passive for leg in legs), strict=True)))
        names = tuple(name for leg in legs for name in leg.names)
        paths = joined_paths([leg.paths for leg in legs])
        numbers = {name: np.concatenate([getattr(leg, name) for leg in legs]) for name in _PARAMETERS}
        return cls(names, paths, curves=legs[0].curves, passive=passive, **numbers)

    def tendon_force(self, length: Array, velocity: Array) -> TendonForce:
        """Capacity and passive force [N] for musculotendon lengths [m] and their rates [m/s], (T, n) each.

        The tendon is rigid, so that path and its rate determine the fiber (hill_model.py). An elastic tendon makes
        fiber length a state of its own, with its rate from the balance of fiber and tendon (elastic/fiber_dynamics.py):
        this is the place for it.
        """
        fiber = fiber_state(
            length, velocity, self.optimal_fiber_length, self.tendon_slack_length, self.pennation_angle
        )
        return capacity_and_passive(
            fiber,
            self.max_isometric_force,
            self.optimal_fiber_length,
            self.max_shortening_velocity,
            self.curves,
            self.passive,
        )
