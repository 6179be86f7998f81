"""Whether the curves of a family can be those of a muscle, whatever their parameters are."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.curves.curve_family import CurveFamily

_ROUND_OFF = 1e-6
_NEARLY = 1e-2
_LENGTHS = np.linspace(0.3, 2.5, 221)
_TOE = 0.1
"""Passive force where it is said to begin: not zero in OpenSim's class of De Groote and Fregly."""
_VELOCITIES = np.linspace(-1.0, 1.0, 201)
_SHORTENING = 100
"""Number of the velocities below zero."""
_PLATEAU = (0.9, 1.1)
"""Lengths between which the greatest active force lies."""


def curve_fault(family: CurveFamily, strains: tuple[float, float]) -> tuple[str, str] | None:
    """Which curve can be that of no muscle, "active", "velocity" or "passive", and why; None of sound ones.

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
    """Whether finite numbers do not fall, to round-off."""
    return bool(np.isfinite(values).all() and (np.diff(values) > -_ROUND_OFF).all())
