"""Published normative curves of level walking, read from musclesolve/data/norms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml

NORMS = ("schwartz_2008", "winter_1991")
"""Files; where two have a curve, that of the first is shown."""


@dataclass(frozen=True)
class NormCurve:
    """Mean over the gait cycle (P,), and the standard deviation between subjects where it was published."""

    mean: Array
    sd: Array | None


@dataclass(frozen=True)
class Norm:
    """Curves of one publication by quantity and name, with the signs of this project.

    joint_angle [deg] and joint_moment [N m/kg] by degree of freedom, joint_power [W/kg] by joint, both without side;
    ground_reaction_force [N/kg] by axis: x forward, z up. Angles are zero in standing: standing_deg was subtracted.
    """

    name: str  # authors and year
    subjects: str
    speed: str
    speed_range: tuple[float, float]  # for which it is drawn [m/s]
    percent: Array  # of the gait cycle, (P,)
    curves: Mapping[tuple[str, str], NormCurve]
    standing_deg: Mapping[str, float]

    @property
    def sentence(self) -> str:
        """Source, subjects and what is drawn."""
        spread = any(curve.sd is not None for curve in self.curves.values())
        what = "band: mean ± 1 SD" if spread else "dashed: mean"
        return f"{what}, {self.name}, {self.subjects}, {self.speed}"


@cache
def norm(name: str) -> Norm:
    """The curves of a file."""
    given = bundled_toml("musclesolve.data", "norms", f"{name}.toml")
    standing = given.get("standing_deg", {})
    curves = {
        (quantity, key): _curve(each, standing.get(key, 0.0) if quantity == "joint_angle" else 0.0)
        for quantity, table in given.items()
        if quantity.startswith(("joint_", "ground_"))
        for key, each in table.items()
    }
    return Norm(
        given["name"],
        given["subjects"],
        given["speed"],
        tuple(given["speed_range_m_s"]),
        np.array(given["percent"], dtype=float),
        curves,
        standing,
    )


def _curve(given: Mapping[str, Any], standing: float) -> NormCurve:
    return NormCurve(np.array(given["mean"]) - standing, np.array(given["sd"]) if "sd" in given else None)
