"""Rows that a file lost: an even grid of times of which some are absent. They come back without values, as gaps."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.messages import count_of
from musclesolve.tables.sampled import Markers, Table

OFF_GRID = 0.2
"""Largest distance of a time from the grid [steps]: times rounded to milliseconds are off by 0.12 steps at 240 Hz."""
MOST_LOST = 0.1
"""Share of the rows that may be absent: of a grid with more of them the step is not known."""
Rows = TypeVar("Rows", Markers, Table)


def rows_of_grid(time: Array) -> tuple[Array, Mask] | None:
    """Return the even grid (N,) [s] of which increasing times (T,) are a part, and which of its times they are.

    None where no row is absent, or the times lie on no even grid.
    """
    steps = np.diff(time)
    if time.size < 3 or not steps.min() > 0.0:
        return None
    single = steps[
        steps < 1.5 * np.median(steps)
    ]  # of rounded times the mean is the step, and the median is not
    counts = np.rint(steps / single.mean()).astype(np.int64)
    lost = int((counts - 1).sum())
    if counts.min() < 1 or not 0 < lost <= MOST_LOST * time.size:
        return None
    place = np.concatenate([[0], np.cumsum(counts)])
    step, start = np.polyfit(place, time, 1)  # the first and the last time may be rounded
    grid = start + step * np.arange(place[-1] + 1)
    if np.abs(time - grid[place]).max() > OFF_GRID * step:
        return None
    present = np.zeros(grid.size, bool)
    present[place] = True
    return grid, present


def with_lost_rows(rows: Rows) -> Rows:
    """Return markers or a table in which rows that the file lost are rows without values, with a note on them."""
    found = rows_of_grid(rows.time)
    if found is None:
        return rows
    grid, present = found
    lost = np.flatnonzero(~present)
    first = f"{count_of(lost.size, 'row')} of {rows.path.name} {'is' if lost.size == 1 else 'are'} absent"
    note = f"{first}, the first one at {grid[lost[0]]:.3f} s: a gap takes the place of each."
    source = np.maximum.accumulate(np.where(present, np.cumsum(present) - 1, 0))
    name = "position" if isinstance(rows, Markers) else "values"
    values = getattr(rows, name)[source]
    values[lost] = np.nan
    changed: dict[str, Any] = {"time": grid, name: values, "notes": (*rows.notes, note)}
    if isinstance(rows, Table) and rows.lines.size:
        changed["lines"] = rows.lines[source]
    return replace(rows, **changed)
