"""The costs that have a name."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from musclesolve.errors import InputError
from musclesolve.sharing.cost.activation_power import ActivationPower
from musclesolve.sharing.cost.activation_volume import ActivationVolume
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.emg_tracking import EmgTracking
from musclesolve.sharing.cost.force_moment_squared import ForceMomentSquared
from musclesolve.sharing.cost.force_squared import ForceSquared
from musclesolve.sharing.cost.joint_reaction_squared import JointReactionSquared
from musclesolve.sharing.cost.min_max import MinMax
from musclesolve.sharing.cost.muscle_power import MusclePower
from musclesolve.sharing.cost.normalized_force_squared import NormalizedForceSquared
from musclesolve.sharing.cost.soft_saturation import SoftSaturation
from musclesolve.sharing.cost.stress_cubed import StressCubed

_KINDS: tuple[type[Cost], ...] = (
    ForceSquared,
    StressCubed,
    NormalizedForceSquared,
    ForceMomentSquared,
    SoftSaturation,
    ActivationPower,
    ActivationVolume,
    MusclePower,
    JointReactionSquared,
    MinMax,
    EmgTracking,
)
REGISTRY: dict[str, type[Cost]] = {cost.name: cost for cost in _KINDS}


@dataclass(frozen=True)
class CostRecord:
    """A registered cost.

    Attributes:
        name: what to ask for.
        formula: what is minimised (F force, F0 maximum isometric force, a activation).
        source: where it comes from.
        data: optional fields of Problem that it needs.
        needs: what a solver has to be able to take.
    """

    name: str
    formula: str
    source: str
    data: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset({"separable"})


def costs() -> dict[str, CostRecord]:
    """Every cost that can be asked for by name."""
    return {
        name: CostRecord(name, kind.formula, kind.source, kind.data, kind().needs)
        for name, kind in REGISTRY.items()
    }


def find_cost(cost: str | Cost) -> Cost:
    """The cost object for a name; an object is returned as it is.

    Raises:
        InputError: there is no such cost.
    """
    if isinstance(cost, Cost):
        if type(cost).__hash__ is None:
            raise InputError(
                f"the cost {cost.name} cannot be hashed",
                expected="a cost that does not change while it is used",
                remedy="make its class a frozen dataclass",
            )
        return cost
    if isinstance(cost, str) and cost in REGISTRY:
        return REGISTRY[cost]()
    near = difflib.get_close_matches(str(cost), REGISTRY, n=1)
    raise InputError(
        f"there is no cost {cost!r}",
        expected="one of " + ", ".join(REGISTRY) + ("" if isinstance(cost, str) else ", or a Cost object"),
        remedy=f"did you mean {near[0]!r}?" if near else None,
    )
