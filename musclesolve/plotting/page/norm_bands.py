"""Normative curves of level walking (musclesolve/results/cycles/gait_scores.py), as bands behind the curves of a page.

The bands are drawn where the page shows walking at a speed within their range.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from musclesolve._util.names import suggestion
from musclesolve._util.sides import split_side
from musclesolve.plotting.page.curves import Abscissa
from musclesolve.plotting.page.page_style import current_style
from musclesolve.plotting.page.sheet import Sheet, note
from musclesolve.results.cycles.gait_scores import NORMS, Norm, norm, norms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND_COLOR = "#DCDCDC"
MEAN_COLOR = "#8C8C8C"


WITHOUT_NORM = {"trunk_angle": "trunk angles"}
"""Standard figures of gait without a norm, in words."""


@dataclass
class NormBands:
    """The norms that fit a result, and the norms that were drawn on a page."""

    fitting: tuple[Norm, ...]  # in the order of preference
    why_not: str = ""  # reason without norms, where the axis is the gait cycle
    drawn: list[str] = field(default_factory=list)  # their sentences
    less: dict[str, list[str]] = field(default_factory=dict)  # the curves of every subtracted offset

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
        every = norms(current_style().norm_file)
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
                less = f"band lowered by {published.standing_deg[name]:g} deg, the tilt of the pelvis in standing"
                if not crowded:
                    note(axes, less)
                elif (words := name.replace("_", " ")) not in (names := self.less.setdefault(less, [])):
                    names.append(words)
            return
        if self.fitting and quantity in WITHOUT_NORM:
            self.why_not = (
                f"no normative bands: no published curve of the {WITHOUT_NORM[quantity]} states its axes"
            )

    def name_unknown(self, sheet: Sheet, known: Iterable[tuple[str, str]], muscles: Iterable[str]) -> None:
        """Note the curves of a norm file that are of no figure, such as misspelt ones.

        known: quantity and name of the curves of a page; muscles: with side or without.
        """
        shown = {*known, *(key for name in NORMS for key in norm(name).curves)}
        stems = {split_side(muscle)[0] for muscle in muscles}
        for published in self.fitting if current_style().norm_file else ():
            lost = [key for key in published.curves if key not in shown and key[1] not in stems]
            for quantity, name in lost:
                near = suggestion(name, [*(other for own, other in shown if own == quantity), *stems])
                words = f"{published.name}: no curve is named {quantity} {name}"
                sheet.add_note(f"{words}; {near}" if near else words)

    def explain(self, sheet: Sheet) -> None:
        """Explain the bands on the page, or the reason of their absence."""
        offsets = [f"{' and '.join(names)}: {less}" for less, names in self.less.items()]
        if text := "; ".join([*self.drawn, *offsets]) or self.why_not:
            sheet.add_note(text)
