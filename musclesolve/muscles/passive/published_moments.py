"""Passive moments of hip, knee and ankle that were measured, see ``published_moments.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.names import unknown_name

SAGITTAL = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")


@dataclass(frozen=True, eq=False)
class Sweep:
    """The passive moment of one degree of freedom over its angle, the other joints held.

    dof and the keys of fixed are without side; angle (P,) and fixed in degrees, moment (P,) [N m]: the internal one,
    positive in the direction of the degree of freedom.
    """

    dof: str
    fixed: Mapping[str, float]
    angle: Array
    moment: Array
    source: str

    def angles(self) -> dict[str, Array]:
        """Every sagittal angle (P,) [rad], by name without side."""
        moving = {self.dof: self.angle}
        return {
            dof: np.radians(moving.get(dof, self.fixed.get(dof, 0.0)) + 0.0 * self.angle) for dof in SAGITTAL
        }


def published_sweeps() -> tuple[Sweep, ...]:
    """What muscle sets are compared with.

    Hip and knee: the mean curves of Silder et al. (2007); ankle: the equation of Riener and Edrich (1999).
    """
    found = []
    for study in bundled_toml(__package__, "published_moments.toml").values():
        for entry in study["sweep"]:
            angle = np.array(entry["angle"], dtype=float)
            sweep = Sweep(entry["dof"], entry["fixed"], angle, np.zeros_like(angle), study["source"])
            moment = entry.get("moment", riener_edrich_1999(sweep.dof, sweep.angles()))
            found.append(Sweep(sweep.dof, sweep.fixed, angle, np.array(moment, dtype=float), sweep.source))
    return tuple(found)


def riener_edrich_1999(dof: str, angles: Mapping[str, ArrayLike]) -> Array:
    """Passive moment [N m] of "hip_flexion", "knee_flexion" or "ankle_dorsiflexion" at angles [rad] of these names.

    M = sum_k s_k exp(c_k + sum_j a_kj theta_j) + offset, theta in degrees (Riener and Edrich 1999, J Biomech
    32:539-44).
    """
    if dof not in SAGITTAL:
        raise unknown_name(dof, "degree of freedom", SAGITTAL)
    data = bundled_toml(__package__, "published_moments.toml")["riener_edrich_1999"][dof]
    degrees = {name: np.degrees(np.asarray(angle, dtype=float)) for name, angle in angles.items()}
    total = np.asarray(data["offset"], dtype=float)
    for term in data["terms"]:
        exponent = sum((term.get(name, 0.0) * angle for name, angle in degrees.items()), np.zeros(1))
        total = total + term["sign"] * np.exp(term["constant"] + exponent)
    return np.asarray(total)
