"""Parameters and Hill curves of some muscles of an OpenSim model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.muscles.curves.curve_family import CurveFamily
from musclesolve.muscles.hill_model import FiberState, TendonForce, capacity_and_passive, fiber_state
from musclesolve.muscles.passive.passive_element import PassiveElement
from musclesolve.muscles.tendon_strain import ACHILLES, TendonStrain, achilles_muscles, stated_strains
from musclesolve.opensim.model import OpenSimMuscle
from musclesolve.opensim.muscle_properties import curve_family, passive_strains


@dataclass(frozen=True, eq=False)
class ModelMuscles:
    """n muscles and their tendons.

    max_isometric_force [N], optimal_fiber_length [m], tendon_slack_length [m], pennation_angle [rad],
    max_shortening_velocity [optimal fiber lengths / s], tendon_strain at one maximum isometric force (of no use where
    tendons are rigid), (n,) each; families: curves with the muscles that have them, by number; passive: their passive
    elements.
    """

    names: tuple[str, ...]
    max_isometric_force: Array
    optimal_fiber_length: Array
    tendon_slack_length: Array
    pennation_angle: Array
    max_shortening_velocity: Array
    tendon_strain: Array
    families: tuple[tuple[CurveFamily, Indices], ...]
    passive: PassiveElement

    @classmethod
    def of(
        cls,
        muscles: Sequence[OpenSimMuscle],
        *,
        with_passive: bool,
        tendon_strain: TendonStrain | None = None,
    ) -> ModelMuscles:
        """The muscles with their own curves; without passive elements on request; see `model_tendon_strains`."""
        curves = [curve_family(muscle) for muscle in muscles]
        strains = np.array([passive_strains(muscle) for muscle in muscles]).reshape(-1, 2)
        force = np.array([muscle.max_isometric_force for muscle in muscles])
        alike: dict[str, list[int]] = {}
        for k, family in enumerate(curves):
            alike.setdefault(repr(family), []).append(k)
        return cls(
            names=tuple(muscle.name for muscle in muscles),
            max_isometric_force=force,
            optimal_fiber_length=np.array([muscle.optimal_fiber_length for muscle in muscles]),
            tendon_slack_length=np.array([muscle.tendon_slack_length for muscle in muscles]),
            pennation_angle=np.array([muscle.pennation_angle for muscle in muscles]),
            max_shortening_velocity=np.array([muscle.max_contraction_velocity for muscle in muscles]),
            tendon_strain=model_tendon_strains(muscles, tendon_strain),
            families=tuple((curves[own[0]], np.array(own, dtype=np.intp)) for own in alike.values()),
            passive=PassiveElement(force * float(with_passive), strains[:, 0], strains[:, 1]),
        )

    def fibers(self, length: Array, velocity: Array) -> FiberState:
        """Fibers behind rigid tendons for musculotendon lengths (T, n) [m] and their rates [m/s]."""
        lengths = self.optimal_fiber_length, self.tendon_slack_length
        return fiber_state(length, velocity, *lengths, self.pennation_angle)

    def forces(self, fiber: FiberState) -> TendonForce:
        """Force capacity and passive force (T, n) [N], each muscle with its own curves."""
        capacity, passive = np.empty_like(fiber.length), np.empty_like(fiber.length)
        for family, own in self.families:
            capacity[:, own], passive[:, own] = capacity_and_passive(
                FiberState(*(array[:, own] for array in fiber)),
                self.max_isometric_force[own],
                self.optimal_fiber_length[own],
                self.max_shortening_velocity[own],
                family,
                PassiveElement(*(array[own] for array in self.passive)),
            )
        return TendonForce(capacity, passive)


def model_tendon_strains(muscles: Sequence[OpenSimMuscle], stated: TendonStrain | None = None) -> Array:
    """Strains of tendons at one maximum isometric force (n,): of the model, or those stated.

    Words are "all", "achilles" (soleus and gastrocnemius), names without _r and _l, and names.

    Raises:
        InputError: see `stated_strains`.
    """
    names = [muscle.name for muscle in muscles]
    of_name: dict[str, list[int]] = {name: [k] for k, name in enumerate(names)}
    of_stem: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        of_stem.setdefault(name.removesuffix("_r").removesuffix("_l"), []).append(k)
    levels = ({ACHILLES: achilles_muscles([(name,) for name in names])}, of_stem, of_name)
    own = np.array([muscle.tendon_strain for muscle in muscles])
    return stated_strains(own, stated, levels, "this choice of muscles")
