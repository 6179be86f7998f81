"""One curve in a panel, drawn so that a frame without a valid solution never looks like a good one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from numpy.typing import NDArray

from musclesolve.plotting.abscissa import Abscissa
from musclesolve.plotting.style import FAILED_MARK, SIDE_COLOR
from musclesolve.results import frames


@dataclass(frozen=True)
class Validity:
    """Which frames of a leg are solved and which have no valid solution; the rest has a reserve. Shape (T,)."""

    solved: frames.Mask
    failed: frames.Mask

    @classmethod
    def of(cls, result: xr.Dataset, side: str) -> Validity:
        """Read from the status of the result."""
        return cls(frames.solved(result, side), frames.failed(result, side))


def draw(
    axes: Axes, x: Abscissa, side: str, values: NDArray[np.float64], validity: Validity | None = None
) -> None:
    """Draw the curves of one leg into a panel.

    Solid where solved, dotted where a reserve was needed, nothing where there is no valid solution; those
    frames get a cross on the lower edge, a little higher for the left leg so that the legs can be told apart.

    Args:
        axes: the panel.
        x: the horizontal axis.
        side: "r" or "l".
        values: the quantity, shape (T,), in the unit of the panel.
        validity: None for what does not depend on the muscle forces; then all of it is drawn solid.
    """
    color = SIDE_COLOR[side]
    for index, place in x.segments[side]:
        curve = values[index]
        if validity is None:
            axes.plot(place, curve, color=color, linewidth=1.0)
            continue
        solved, failed = validity.solved[index], validity.failed[index]
        reserve = _with_neighbours(~solved & ~failed) & ~failed
        axes.plot(place, np.where(solved, curve, np.nan), color=color, linewidth=1.0)
        axes.plot(place, np.where(reserve, curve, np.nan), color=color, linewidth=1.0, linestyle=":")
        height = np.full(int(failed.sum()), 0.03 if side == "r" else 0.10)
        axes.plot(place[failed], height, transform=axes.get_xaxis_transform(), clip_on=False, **FAILED_MARK)


def _with_neighbours(mask: frames.Mask) -> frames.Mask:
    """The frames of a mask and those beside them: a line through a single frame has to reach somewhere."""
    wider = mask.copy()
    wider[1:] |= mask[:-1]
    wider[:-1] |= mask[1:]
    return wider


def shade_stance(axes: Axes, x: Abscissa, side: str, on_ground: frames.Mask) -> None:
    """Shade the frames in which the foot of a leg is on the ground."""
    for index, place in x.segments[side]:
        axes.fill_between(
            place,
            0.0,
            1.0,
            where=on_ground[index].tolist(),
            transform=axes.get_xaxis_transform(),
            color=SIDE_COLOR[side],
            alpha=0.12 / len(x.segments[side]),
            linewidth=0.0,
        )
