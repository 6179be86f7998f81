"""One curve in a panel, drawn so that a frame without a valid solution never looks like a good one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from musclesolve._util.arrays import Array
from musclesolve.plotting.page.abscissa import Abscissa
from musclesolve.plotting.page.style import (
    AGAIN,
    FAILED_MARK,
    FAILED_ROW,
    RESERVE_STYLE,
    SIDE_COLOR,
    SIDE_WIDTH,
    STANCE_BAR,
    STANCE_COLOR,
)
from musclesolve.results.dataset import frame_validity as frames


@dataclass(frozen=True)
class Validity:
    """Which frames of a leg are solved, have no valid solution, or were not analysed; the rest has a reserve, (T,)."""

    solved: frames.Mask
    failed: frames.Mask
    not_measured: frames.Mask

    @classmethod
    def of(cls, result: xr.Dataset, side: str) -> Validity:
        """Read from the status of the result."""
        return cls(
            frames.solved(result, side), frames.unsolved(result, side), frames.not_measured(result, side)
        )

    @property
    def reserve(self) -> frames.Mask:
        """Frames in which a reserve makes up for what the muscles lack."""
        return ~self.solved & ~self.failed & ~self.not_measured


def draw(axes: Axes, x: Abscissa, side: str, values: Array, validity: Validity | None = None) -> None:
    """Draw the curves of one leg into a panel.

    Solid where solved, dotted where a reserve was needed, nothing where there is no valid solution; those
    frames get a cross in the colour of the leg on the lower edge, in a row for each leg.
    Where a further gait cycle comes over a part of the axis that has its curve, the curve is thin and pale, and its
    crosses are left out: they would stand below a curve that is valid.

    Args:
        axes: the panel.
        x: the horizontal axis.
        side: "r" or "l".
        values: the quantity, shape (T,), in the unit of the panel.
        validity: None for what was measured; then all of it is drawn solid.
    """
    for part in x.passes[side]:
        curve = values[part.index]
        solid, dotted = np.ones(curve.size, dtype=bool), np.zeros(curve.size, dtype=bool)
        if validity is not None:
            solid, failed = validity.solved[part.index], validity.failed[part.index]
            dotted = with_neighbours(validity.reserve[part.index]) & ~failed
            crossed = part.place[failed & ~part.again]
            axes.plot(
                crossed,
                np.full(crossed.size, FAILED_ROW[side]),
                transform=axes.get_xaxis_transform(),
                clip_on=False,
                color=SIDE_COLOR[side],
                **FAILED_MARK,
            )
        for kind, style in ((solid, "-"), (dotted, RESERVE_STYLE)):
            _line(axes, side, part.place, np.where(kind & ~part.again, curve, np.nan), linestyle=style)
            if part.again.any():
                again = kind & with_neighbours(part.again)
                _line(axes, side, part.place, np.where(again, curve, np.nan), linestyle=style, **AGAIN)


def _line(
    axes: Axes,
    side: str,
    place: Array,
    curve: Array,
    *,
    linestyle: str,
    width: float = 1.0,
    alpha: float = 1.0,
) -> None:
    axes.plot(
        place,
        curve,
        color=SIDE_COLOR[side],
        linewidth=width * SIDE_WIDTH[side],
        alpha=alpha,
        linestyle=linestyle,
    )


def with_neighbours(mask: frames.Mask) -> frames.Mask:
    """The frames of a mask and those beside them: a line through a single frame has to reach somewhere."""
    wider = mask.copy()
    wider[1:] |= mask[:-1]
    wider[:-1] |= mask[1:]
    return wider


def mark_stance(axes: Axes, x: Abscissa, side: str, on_ground: frames.Mask) -> None:
    """A bar on the upper edge of the panel, over the frames in which the foot of a leg is on the ground."""
    low, high = STANCE_BAR[side]
    for part in x.passes[side]:
        axes.fill_between(
            part.place,
            low,
            high,
            where=on_ground[part.index].tolist(),
            transform=axes.get_xaxis_transform(),
            color=STANCE_COLOR[side],
            linewidth=0.0,
            zorder=1.0,
        )
