"""Sound variations of a file of moments: parts of it, rounded numbers, another time step, a heavier person.

What is sound as a whole is sound in each of these forms: a finding that the whole file does not have accuses sound
data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.planted_model_faults import Case
from musclesolve.files import Table

LENGTHS_S = 0.6, 0.8, 1.0, 1.2, 1.35, 1.5
FACTORS = 0.5, 0.8, 1.25, 1.7
ROUNDED = 0.1, 1.0
STEPS_S = 0.004, 0.008, 0.02


def part(table: Table, first: float, last: float) -> Table:
    """The rows of a table between two times [s]."""
    inside = (table.time >= first - 1e-9) & (table.time <= last + 1e-9)
    return replace(table, time=table.time[inside], values=table.values[inside])


def at_steps(table: Table, step: float) -> Table:
    """A table with another time step [s]."""
    time = np.arange(table.time[0], table.time[-1], step)
    values = np.stack([np.interp(time, table.time, each) for each in table.values.T], axis=1)
    return replace(table, time=time, values=values)


def windows(case: Case, step: float, lengths: Sequence[float] = LENGTHS_S) -> Iterator[tuple[str, Case]]:
    """Parts of both files, and of the moments alone, with starts that are a step apart [s]."""
    moments = case.moments
    assert moments is not None
    for length in lengths:
        for first in np.arange(moments.time[0] - 0.3, moments.time[-1] + 0.3 - length, step):
            last = first + length
            cut = part(moments, first, last)
            if len(cut.time) > 0.4 / float(np.diff(moments.time).mean()):
                text = f"from {first:.2f} to {last:.2f} s"
                both = part(case.coordinates, first, last)
                yield f"moments {text}", replace(case, moments=cut)
                yield f"both files {text}", replace(case, coordinates=both, moments=cut)


def variations(case: Case) -> Iterator[tuple[str, Case]]:
    """The whole case with other numbers of the same meaning."""
    moments = case.moments
    assert moments is not None
    for factor in FACTORS:
        masses = {
            name: replace(each, mass=factor * each.mass, inertia=factor * each.inertia)
            for name, each in case.model.masses.items()
        }
        heavier = replace(case.model, masses=masses)
        scaled = replace(moments, values=factor * moments.values)
        yield f"mass x {factor:g}", replace(case, model=heavier, moments=scaled)
    for unit in ROUNDED:
        rounded = replace(moments, values=unit * np.round(moments.values / unit))
        yield f"moments in steps of {unit:g} N m", replace(case, moments=rounded)
    for step in STEPS_S:
        yield f"moments every {1000.0 * step:g} ms", replace(case, moments=at_steps(moments, step))
