"""The normalised fiber lengths between which each muscle works during a motion, and warnings on those beyond reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.placing.fiber_lengths import operating_range
from musclesolve.pipeline.run_options import Options
from musclesolve.pipeline.types import LegResult

PLAUSIBLE = (0.4, 1.6)
"""Where sarcomeres work; a muscle beyond it has fiber or tendon lengths that do not fit its path."""


def fiber_range(leg: LegResult) -> tuple[Array, Array]:
    """Least and greatest fiber length over optimal fiber length (n,) in the frames that are solved; NaN without any."""
    normal = leg.state.fiber_length[leg.solution.solved] / leg.state.muscles.optimal_fiber_length
    if not len(normal):
        normal = np.full((1, normal.shape[1]), np.nan)
    return normal.min(axis=0), normal.max(axis=0)


def fiber_variables(legs: Sequence[LegResult]) -> dict[str, tuple[tuple[str, ...], Array]]:
    """The ranges of all muscles as variables of a result."""
    least, greatest = (np.concatenate(values) for values in zip(*map(fiber_range, legs), strict=True))
    names = ("least_normalized_fiber_length", "greatest_normalized_fiber_length")
    return {name: (("muscle",), values) for name, values in zip(names, (least, greatest), strict=True)}


def fiber_notes(legs: Sequence[LegResult], options: Options) -> list[str]:
    """One sentence for the muscles whose fibers leave the plausible range; none where all stay within.

    A second sentence says which of them do so in the model that their ranges are of as well.
    """
    beyond, own = [], dict[str, str]()
    known = _own_ranges(options)
    for leg in legs:
        for name, least, greatest in zip(leg.state.muscles.names, *fiber_range(leg), strict=True):
            if least < PLAUSIBLE[0] or greatest > PLAUSIBLE[1]:
                beyond.append(f"{name} {least:.2f} to {greatest:.2f}")
                low, high = known.get(name[:-2], (np.inf, -np.inf))
                if low <= least and greatest <= high:
                    own[name[:-2]] = f"{name[:-2]} {low:.2f} to {high:.2f}"
    if not beyond:
        return []
    note = (
        f"Fibers work beyond {PLAUSIBLE[0]:g} to {PLAUSIBLE[1]:g} optimal fiber lengths: {', '.join(beyond)}."
    )
    source = options.database.operating_range_of or options.database.name
    also = f" The model of {source} has them there too, over its range of motion: {', '.join(own.values())}."
    return [note + also * bool(own)]


def _own_ranges(options: Options) -> dict[str, tuple[float, float]]:
    """The ranges over the range of motion that the rule keeps, by muscle without side; none by another rule."""
    if (options.fiber_lengths or options.database.fiber_lengths) != "operating_range":
        return {}
    own = operating_range(options.database)
    ends = np.nanmin(own.normalized_length, axis=0), np.nanmax(own.normalized_length, axis=0)
    return {name: (low, high) for name, low, high in zip(own.names, *ends, strict=True)}
