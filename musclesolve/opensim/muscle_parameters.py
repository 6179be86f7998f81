"""Parameters and Hill curves of some muscles of an OpenSim model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.muscle_parameters import MuscleParameters, families_of
from musclesolve.muscles.passive.passive_element import PassiveElement
from musclesolve.muscles.tendon_strain import ACHILLES, TendonStrain, achilles_muscles, stated_strains
from musclesolve.opensim.model import OpenSimMuscle
from musclesolve.opensim.muscle_properties import curve_family, passive_strains


def muscle_parameters(
    muscles: Sequence[OpenSimMuscle], *, with_passive: bool = True, tendon_strain: TendonStrain | None = None
) -> MuscleParameters:
    """The parameters of n muscles with their own curves.

    Args:
        muscles: of a model.
        with_passive: False: passive elements without force.
        tendon_strain: instead of the strains of the model. Words are "all", "achilles" (soleus and gastrocnemius),
            names without _r and _l, and names.

    Raises:
        InputError: see `stated_strains`.
    """
    strain = np.array([passive_strains(muscle) for muscle in muscles]).reshape(-1, 2)
    force = np.array([muscle.max_isometric_force for muscle in muscles])
    return MuscleParameters(
        names=tuple(muscle.name for muscle in muscles),
        max_isometric_force=force,
        optimal_fiber_length=np.array([muscle.optimal_fiber_length for muscle in muscles]),
        tendon_slack_length=np.array([muscle.tendon_slack_length for muscle in muscles]),
        pennation_angle=np.array([muscle.pennation_angle for muscle in muscles]),
        max_shortening_velocity=np.array([muscle.max_contraction_velocity for muscle in muscles]),
        tendon_strain=_tendon_strains(muscles, tendon_strain),
        families=families_of([curve_family(muscle) for muscle in muscles]),
        passive=PassiveElement(force * float(with_passive), strain[:, 0], strain[:, 1]),
    )


def _tendon_strains(muscles: Sequence[OpenSimMuscle], stated: TendonStrain | None) -> Array:
    """Strains of tendons at one maximum isometric force (n,): of the model, or those stated."""
    names = [muscle.name for muscle in muscles]
    of_name: dict[str, list[int]] = {name: [k] for k, name in enumerate(names)}
    of_stem: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        of_stem.setdefault(name.removesuffix("_r").removesuffix("_l"), []).append(k)
    levels = ({ACHILLES: achilles_muscles([(name,) for name in names])}, of_stem, of_name)
    of_model = np.array([muscle.tendon_strain for muscle in muscles])
    return stated_strains(of_model, stated, levels, "this choice of muscles")
