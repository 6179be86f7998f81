"""One legend for a page, of what is drawn there and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from musclesolve.plotting.page.abscissa import Abscissa
from musclesolve.plotting.page.curves import Validity
from musclesolve.plotting.page.style import (
    AGAIN,
    FAILED_MARK,
    NOTE_COLOR,
    RESERVE_STYLE,
    SIDE_COLOR,
    SIDE_WIDTH,
    STANCE_COLOR,
    place_legend,
)
from musclesolve.results.dataset import frame_validity as frames


def legend(
    figure: Figure,
    x: Abscissa,
    sides: list[str],
    *,
    validity: Mapping[str, Validity] | None = None,
    stance: bool = False,
) -> None:
    """The legs, and as far as they occur: reserves, frames without solution, further cycles, feet on the ground.

    Args:
        figure: the page.
        x: its horizontal axis.
        sides: the legs drawn.
        validity: of each leg, where curves depend on it.
        stance: whether there are bars for the feet on the ground.
    """
    handles: list[Any] = [_line(_leg(x, s), SIDE_COLOR[s], linewidth=SIDE_WIDTH[s]) for s in sides]
    verdicts = validity or {}
    if any(each.reserve.any() for each in verdicts.values()):
        handles.append(_line("with reserve", NOTE_COLOR, linestyle=RESERVE_STYLE))
    if any(part.again.any() for side in sides for part in x.passes[side]):
        handles.append(_line("further cycle", NOTE_COLOR, linewidth=AGAIN["width"], alpha=AGAIN["alpha"]))
    labels = [handle.get_label() for handle in handles]
    if crossed := [side for side, each in verdicts.items() if each.failed.any()]:
        handles.append(tuple(Line2D([], [], color=SIDE_COLOR[side], **FAILED_MARK) for side in crossed))
        labels.append("no valid solution")
    if stance:
        handles.append(tuple(Patch(color=STANCE_COLOR[side]) for side in sides))
        labels.append("foot on the ground")
    pairs = {tuple: HandlerTuple(ndivide=None, pad=0.0)}
    place_legend(figure, handles, labels=labels, handler_map=pairs)


def _leg(x: Abscissa, side: str) -> str:
    """Name of a leg, and of how many cycles its full curve shows a part."""
    parts = sum(not part.again.all() for part in x.passes[side])
    return frames.SIDE_NAMES[side] + (f" (parts of {parts} cycles)" if parts > 1 else "")


def _line(label: str, color: str, **style: Any) -> Line2D:
    return Line2D([], [], color=color, label=label, **style)
