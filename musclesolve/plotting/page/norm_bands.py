"""Published normative curves of level walking (musclesolve/data/norms), as bands behind the curves of a page.

The bands are drawn where the page shows walking at a speed within their range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.plotting.page.curves import Abscissa
from musclesolve.plotting.page.page_style import current_style
from musclesolve.plotting.page.sheet import Sheet, note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NORMS = ("schwartz_2008", "winter_1991")
"""Files; of two with the same curve the first one is shown."""
OF_FILE = ("standing_deg",)
"""Tables of a file that are not curves of a quantity."""
BAND_COLOR = "#DCDCDC"
MEAN_COLOR = "#8C8C8C"


@dataclass(frozen=True)
class NormCurve:
    """Mean over the gait cycle (P,), and the standard deviation between subjects where it was published."""

    mean: Array
    sd: Array | None


@dataclass(frozen=True)
class Norm:
    """Curves of one publication by quantity and name, with the signs of this project.

    joint_angle [deg] and joint_moment [N m/kg] by degree of freedom, joint_power [W/kg] by joint, both without side;
    ground_reaction_force [N/kg] by axis: x forward, z up; foot_progression_angle [deg] and knee_adduction_moment
    [N m/kg] by their own names; pelvis_angle [deg] as seen from a leg: tilt forward, list and rotation with this side
    up and forward. Angles are zero in standing: standing_deg was subtracted.
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


WITHOUT_NORM = {"trunk_angle": "trunk angles"}
"""Standard figures of gait without a norm, in words."""


@cache
def norm(name: str) -> Norm:
    """The normative curves of a bundled file."""
    file = bundled_toml("musclesolve.data", "norms", f"{name}.toml")
    standing = file.get("standing_deg", {})
    curves = {}
    for quantity, table in file.items():
        if quantity not in OF_FILE and isinstance(table, dict):
            for key, curve in table.items():
                zero = standing.get(key, 0.0) if quantity.endswith("_angle") else 0.0
                sd = np.array(curve["sd"]) if "sd" in curve else None
                curves[quantity, key] = NormCurve(np.array(curve["mean"]) - zero, sd)
    percent = np.array(file["percent"], dtype=float)
    speeds = tuple(file["speed_range_m_s"])
    return Norm(file["name"], file["subjects"], file["speed"], speeds, percent, curves, standing)


@dataclass
class NormBands:
    """The norms that fit a result, and the norms that were drawn on a page."""

    fitting: tuple[Norm, ...]  # in the order of preference
    why_not: str = ""  # reason without norms, where the axis is the gait cycle
    drawn: list[str] = field(default_factory=list)  # their sentences

    @classmethod
    def from_result(cls, result: xr.Dataset, x: Abscissa) -> NormBands:
        """Norms that fit a result; none on an axis of time, for a leg that does not walk, or in a style without."""
        if not current_style().norms or not x.is_cycle:
            return cls(())
        speeds = np.asarray(result["walking_speed"].values if "walking_speed" in result else (), dtype=float)
        known = speeds[np.isfinite(speeds)]
        return cls.at_speed(float(known.mean()) if known.size else float("nan"), True)

    @classmethod
    def at_speed(cls, speed: float, walks: bool) -> NormBands:
        """Norms of walking at a speed [m/s], NaN where not known; none of another movement, or in a style without."""
        if not current_style().norms or not walks:
            return cls(())
        if not np.isfinite(speed):
            return cls((), "no normative bands: the walking speed is not known")
        every = [norm(name) for name in NORMS]
        fitting = [
            published for published in every if published.speed_range[0] <= speed <= published.speed_range[1]
        ]
        low, high = every[0].speed_range
        why = "" if fitting else f"no normative bands: {speed:.2f} m/s is not within {low:g} to {high:g} m/s"
        return cls(tuple(fitting), why)

    def draw(self, axes: Axes, quantity: str, name: str, scale: float = 1.0, crowded: bool = False) -> None:
        """Draw the band of a quantity behind the curves, or the mean alone where no spread was published.

        crowded: note the subtracted offset below the title, not at the panel.
        """
        for published in self.fitting:
            if (curve := published.curves.get((quantity, name))) is None:
                continue
            place, mean = published.percent, scale * curve.mean
            label = published.name
            if curve.sd is None:
                axes.plot(
                    place, mean, color=MEAN_COLOR, linewidth=0.9, linestyle="--", zorder=0.4, label=label
                )
            else:
                low, high = mean - scale * curve.sd, mean + scale * curve.sd
                axes.fill_between(place, low, high, color=BAND_COLOR, linewidth=0.0, zorder=0.3, label=label)
            if published.sentence not in self.drawn:
                self.drawn.append(published.sentence)
            if quantity.endswith("_angle") and name in published.standing_deg:
                less = f"band less {published.standing_deg[name]:g} deg: pelvic tilt in standing"
                if not crowded:
                    note(axes, less)
                elif (words := f"{name.replace('_', ' ')}: {less}") not in self.drawn:
                    self.drawn.append(words)
            return
        if self.fitting and quantity in WITHOUT_NORM:
            self.why_not = (
                f"no normative bands: no published curve of the {WITHOUT_NORM[quantity]} states its axes"
            )

    def explain(self, sheet: Sheet) -> None:
        """Explain the bands on the page, or the reason of their absence."""
        if text := "; ".join(self.drawn) or self.why_not:
            sheet.add_note(text)
