"""Parameters and Hill curves of some muscles of an OpenSim model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.muscles.curves.curve_family import CurveFamily
from musclesolve.muscles.curves.de_groote_2016 import DeGrooteFregly2016
from musclesolve.muscles.curves.millard_2013 import Millard2013, parameters
from musclesolve.muscles.curves.thelen_2003 import Thelen2003
from musclesolve.muscles.hill_model import FiberState, TendonForce, capacity_and_passive, fiber_state
from musclesolve.muscles.passive.passive_element import PassiveElement
from musclesolve.muscles.tendon_strain import ACHILLES, TendonStrain, achilles_muscles, stated_strains
from musclesolve.opensim.model import OpenSimMuscle

_MILLARD = {
    "active": (
        "ActiveForceLengthCurve",
        {
            "min_length": "min_norm_active_fiber_length",
            "transition_length": "transition_norm_fiber_length",
            "max_length": "max_norm_active_fiber_length",
            "shallow_slope": "shallow_ascending_slope",
        },
    ),
    "velocity": (
        "ForceVelocityCurve",
        {
            "concentric_slope_near_vmax": "concentric_slope_near_vmax",
            "isometric_slope": "isometric_slope",
            "eccentric_slope_near_vmax": "eccentric_slope_near_vmax",
            "max_eccentric_force": "max_eccentric_velocity_force_multiplier",
            "concentric_curviness": "concentric_curviness",
            "eccentric_curviness": "eccentric_curviness",
        },
    ),
    "passive": (
        "FiberForceLengthCurve",
        {"stiffness_at_low_force": "stiffness_at_low_force", "curviness": "curviness"},
    ),
}
"""Parameters of `Millard2013` and their names in OpenSim."""


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
        curves = [_family(muscle) for muscle in muscles]
        strains = np.array([_passive_strain(muscle) for muscle in muscles]).reshape(-1, 2)
        force = np.array([muscle.max_isometric_force for muscle in muscles])
        alike: dict[str, list[int]] = {}
        for k, (key, _) in enumerate(curves):
            alike.setdefault(key, []).append(k)
        return cls(
            names=tuple(muscle.name for muscle in muscles),
            max_isometric_force=force,
            optimal_fiber_length=np.array([muscle.optimal_fiber_length for muscle in muscles]),
            tendon_slack_length=np.array([muscle.tendon_slack_length for muscle in muscles]),
            pennation_angle=np.array([muscle.pennation_angle for muscle in muscles]),
            max_shortening_velocity=np.array([muscle.max_contraction_velocity for muscle in muscles]),
            tendon_strain=model_tendon_strains(muscles, tendon_strain),
            families=tuple((curves[own[0]][1], np.array(own, dtype=np.intp)) for own in alike.values()),
            passive=PassiveElement(force * float(with_passive), strains[:, 0], strains[:, 1]),
        )

    @staticmethod
    def notes(muscles: Sequence[OpenSimMuscle]) -> list[str]:
        """Which muscles have the curves of another class than their own."""
        other = [each for each in muscles if not each.kind.startswith(("Thelen2003", "Millard2012", "DeGroote"))]
        return [
            f"The curves of {', '.join(dict.fromkeys(each.kind for each in other))} are not read; "
            f"{', '.join(each.name for each in other)} have those of Millard et al. (2013)."
        ] * bool(other)

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


def _family(muscle: OpenSimMuscle) -> tuple[str, CurveFamily]:
    """The curves of a muscle, and a text that is the same for muscles with the same curves."""
    own = muscle.curve
    if muscle.kind.startswith("DeGroote"):
        curves = DeGrooteFregly2016(width=own["active_force_width_scale"])
        return repr(curves), curves
    if "FmaxMuscleStrain" in own:
        thelen = Thelen2003(own["KshapeActive"], own["KshapePassive"], own["Af"], own["Flen"])
        return repr(thelen), thelen
    usual = parameters()
    given = {
        part: {key: own.get(f"{curve}.{name}", usual[part][key]) for key, name in names.items()}
        for part, (curve, names) in _MILLARD.items()
    }
    # OpenSim takes no other where fibers are damped or tendons rigid, whatever the file says.
    given["active"]["minimum"] = 0.0
    stiffness = own.get("FiberForceLengthCurve.stiffness_at_one_norm_force")
    if stiffness is not None:
        given["passive"]["stiffness_at_one_norm_force"] = stiffness
    return repr(given), Millard2013("millard_2013_of_model", given)


def _passive_strain(muscle: OpenSimMuscle) -> tuple[float, float]:
    """Fiber strains at zero and at one norm force."""
    if muscle.kind.startswith("DeGroote"):
        return 0.0, muscle.curve.get(
            "passive_fiber_strain_at_one_norm_force", DeGrooteFregly2016.passive_strain[1]
        )
    if "FmaxMuscleStrain" in muscle.curve:
        return 0.0, muscle.curve["FmaxMuscleStrain"]
    zero, one = (f"FiberForceLengthCurve.strain_at_{end}" for end in ("zero_force", "one_norm_force"))
    return muscle.curve[zero], muscle.curve[one]
