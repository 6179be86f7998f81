"""Families of Hill curves: their protocol, all families by name, and a check that curves are possible for a muscle."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.names import check_known
from musclesolve.muscles.curves.de_groote_2016 import DeGroote2016
from musclesolve.muscles.curves.millard_2013 import Millard2013
from musclesolve.muscles.curves.silva_2003 import SILVA_2003
from musclesolve.muscles.curves.thelen_2003 import Thelen2003


class CurveFamily(Protocol):
    """Active force-length, force-velocity and passive force-length curves, with their slopes.

    Functions are elementwise. Lengths are in optimal fiber lengths, velocities in maximum shortening velocities
    (positive while the fiber lengthens), forces in maximum isometric forces. Strains are l / L0 - 1: at_zero, where the
    passive force begins, and at_one, where it is one maximum isometric force; they broadcast against the lengths.
    """

    @property
    def name(self) -> str:
        """The name of the family."""
        ...

    @property
    def passive_strain(self) -> tuple[float, float]:
        """Default strains at zero and at one norm force, for muscle sets without strains."""
        ...

    def active(self, l_norm: ArrayLike) -> Array:
        """Isometric force over F0 at activation 1, by fiber length over L0."""
        ...

    def active_slope(self, l_norm: ArrayLike) -> Array:
        """Derivative of `active` by the length over L0."""
        ...

    def velocity(self, v_norm: ArrayLike) -> Array:
        """Force over the isometric force at the same length, by fiber velocity over v_max."""
        ...

    def velocity_slope(self, v_norm: ArrayLike) -> Array:
        """Derivative of `velocity` by the velocity over v_max."""
        ...

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> Array:
        """Force over F0 without activation, by fiber length over L0."""
        ...

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> Array:
        """Derivative of `passive` by the length over L0."""
        ...


_ROUND_OFF = 1e-6
_NEARLY = 1e-2
_LENGTHS = np.linspace(0.3, 2.5, 221)
_TOE = 0.1
"""Largest passive force at its strain of onset: not zero in OpenSim's class of De Groote and Fregly."""
_VELOCITIES = np.linspace(-1.0, 1.0, 201)
_SHORTENING = 100
"""Number of the velocities below zero."""
_PLATEAU = (0.9, 1.1)
"""Lengths between which the greatest active force lies."""


def curve_fault(family: CurveFamily, strains: tuple[float, float]) -> tuple[str, str] | None:
    """Return the name of an impossible curve, "active", "velocity" or "passive", and the reason; None without fault.

    Active force f(l) is between 0 and 1, rises up to l = 1, where it is 1, and falls beyond it; f(v) rises from 0 at
    v = -1 through 1 at v = 0; passive force rises from 0 to 1 between the two strains.
    """
    with np.errstate(all="ignore"):
        zero, one = strains
        if not one > zero:
            return "passive", "the passive force is to be 1 at a strain not above that where it begins"
        active, velocity = family.active(_LENGTHS), family.velocity(_VELOCITIES)
        passive = family.passive(1.0 + zero + (one - zero) * np.linspace(0.0, 1.2, 121), zero, one)
        at_one = float(family.active(1.0))
    shorter, longer = _LENGTHS <= _PLATEAU[0], _LENGTHS >= _PLATEAU[1]
    sound = {
        "active": _rises(active[shorter])
        and _rises(-active[longer])
        and active.min() >= -_ROUND_OFF
        and active.max() <= 1.0 + _NEARLY
        and abs(at_one - 1.0) < _NEARLY,
        "velocity": _rises(velocity)
        and abs(velocity[0]) < _NEARLY
        and abs(velocity[_SHORTENING] - 1.0) < _NEARLY,
        "passive": _rises(passive)
        and -_ROUND_OFF < passive[0] < _TOE
        and abs(passive[100] - 1.0) < _ROUND_OFF,
    }
    names = {"active": "force-length", "velocity": "force-velocity", "passive": "passive force-length"}
    return next(
        ((part, f"there is no {names[part]} curve") for part, good in sound.items() if not good), None
    )


def _rises(values: Array) -> bool:
    """Whether finite numbers never decrease by more than round-off."""
    return bool(np.isfinite(values).all() and (np.diff(values) > -_ROUND_OFF).all())


CURVES: dict[str, CurveFamily] = {
    family.name: family
    for family in (
        SILVA_2003,
        Millard2013(),
        Millard2013("millard_2013_rajagopal"),
        DeGroote2016(),
        Thelen2003(),
    )
}


def curve_family(name: str) -> CurveFamily:
    """The family of a name; an unknown name raises an InputError."""
    check_known([name], "family of Hill curves", CURVES)
    return CURVES[name]
