"""Curves over time on the page, with instants on them that are moved by dragging or by the arrow keys."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from nicegui.element import Element

from musclesolve._util.arrays import Array

MOST_POINTS = 1500
"""Largest number of points of a curve on the page."""


@dataclass(frozen=True)
class Handle:
    """An instant on the curves.

    time [s]; low, high: between which it may be moved [s], None: the ends of the curves. short: beside its line. row:
    of its text, from 0. turned: whether the text stands on its left.
    """

    id: str
    time: float
    label: str
    short: str
    color: str
    movable: bool = True
    dashed: bool = False
    low: float | None = None
    high: float | None = None
    row: int = 0
    turned: bool = False


class TimeCurves(Element, component="time_curves.js"):
    """Curves, handles, and what lies outside of the analyzed range.

    Args:
        label: what is shown, for those who do not see it.
        unit: of the values.
        curves: name, color, time (S,) [s] and value (S,) of each.
        handles: the instants.
        outside: first and last time of what is shown in gray [s].
        moved: called with the id of a handle and its new time [s].
        removed: called with the id of a handle on which Delete was pressed.
        picked: called with a time that was clicked [s].
    """

    def __init__(
        self,
        label: str,
        unit: str,
        curves: Sequence[tuple[str, str, Array, Array]],
        handles: Sequence[Handle] = (),
        outside: Sequence[tuple[float, float]] = (),
        moved: Callable[[str, float], Any] = lambda name, time: None,
        removed: Callable[[str], Any] = lambda name: None,
        picked: Callable[[float], Any] = lambda time: None,
    ) -> None:
        super().__init__()
        shown = [_thinned(*curve) for curve in curves]
        times = np.concatenate([time for _, _, time, _ in curves])
        values = np.concatenate([value for *_, value in curves])
        self._props |= {
            "label": label,
            "unit": unit,
            "curves": shown,
            "span": [float(times.min()), float(times.max())],
            "largest": 1.05 * max(float(np.nanmax(values, initial=1.0)), 1.0),
            "handles": [asdict(handle) for handle in handles],
            "outside": [list(span) for span in outside],
        }
        self.on("moved", lambda event: moved(str(event.args["id"]), float(event.args["time"])))
        self.on("removed", lambda event: removed(str(event.args["id"])))
        self.on("picked", lambda event: picked(float(event.args["time"])))

    def show_cursor(self, time: float) -> None:
        """Mark an instant [s]."""
        self._props["cursor"] = time
        self.update()


def _thinned(name: str, color: str, time: Array, value: Array) -> dict[str, Any]:
    """Thin a curve: the largest value of each stretch of time remains, so that no peak is lost."""
    step = -(-time.size // MOST_POINTS)
    ends = range(0, time.size, step)
    value = np.nan_to_num(value, nan=-np.inf)
    peaks = [k + int(np.argmax(value[k : k + step])) for k in ends]
    values = [None if value[k] == -np.inf else round(float(value[k]), 1) for k in peaks]
    return {"name": name, "color": color, "time": [round(float(time[k]), 4) for k in peaks], "value": values}
