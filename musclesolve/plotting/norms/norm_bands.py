"""Normative bands behind the curves of a page, where the page is one of walking at a speed they are of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.plotting.norms.norm_file import NORMS, Norm, norm
from musclesolve.plotting.page.abscissa import Abscissa
from musclesolve.plotting.page.page_style import current_style
from musclesolve.plotting.page.style import note, page_note

BAND_COLOR = "#DCDCDC"
MEAN_COLOR = "#8C8C8C"


@dataclass
class NormBands:
    """The norms that fit a result, and those of which something was drawn on a page."""

    fitting: tuple[Norm, ...]  # in the order of preference
    why_not: str = ""  # why there are none, where the axis is the gait cycle
    drawn: list[str] = field(default_factory=list)  # their sentences

    @classmethod
    def of(cls, result: xr.Dataset, x: Abscissa) -> NormBands:
        """None on an axis of time, for a leg that does not walk, or in a style without norms."""
        if not current_style().norms or not x.is_cycle:
            return cls(())
        every, speed = [norm(name) for name in NORMS], walking_speed(result)
        if speed is None:
            return cls((), "no normative bands: the walking speed is not known")
        fitting = [each for each in every if each.speed_range[0] <= speed <= each.speed_range[1]]
        low, high = every[0].speed_range
        why = "" if fitting else f"no normative bands: {speed:.2f} m/s is not within {low:g} to {high:g} m/s"
        return cls(tuple(fitting), why)

    def draw(self, axes: Axes, quantity: str, name: str, scale: float = 1.0) -> None:
        """Draw the band of a quantity behind the curves, or the mean alone where no spread was published."""
        for each in self.fitting:
            if (curve := each.curves.get((quantity, name))) is None:
                continue
            place, mean = each.percent, scale * curve.mean
            if curve.sd is None:
                axes.plot(place, mean, color=MEAN_COLOR, linewidth=0.9, linestyle="--", zorder=0.4)
            else:
                sd = scale * curve.sd
                axes.fill_between(place, mean - sd, mean + sd, color=BAND_COLOR, linewidth=0.0, zorder=0.3)
            if each.sentence not in self.drawn:
                self.drawn.append(each.sentence)
            if quantity == "joint_angle" and name in each.standing_deg:
                note(axes, f"band less {each.standing_deg[name]:g} deg: pelvic tilt in standing")
            return

    def explain(self, figure: Figure) -> None:
        """Say on the page what the bands are, or why there are none."""
        text = "; ".join(self.drawn) or self.why_not
        if text:
            page_note(figure, text)


def walking_speed(result: xr.Dataset) -> float | None:
    """Mean speed of the strides [m/s]; None where none was found."""
    if "walking_speed" not in result:
        return None
    speeds = np.asarray(result["walking_speed"].values, dtype=float)
    known = speeds[np.isfinite(speeds)]
    return float(known.mean()) if known.size else None
