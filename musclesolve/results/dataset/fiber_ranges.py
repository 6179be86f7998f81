"""The normalised fiber lengths between which each muscle works during a motion, and warnings on those beyond reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.placing.fiber_lengths import USABLE, operating_range

if TYPE_CHECKING:
    from musclesolve.pipeline.body import Analysis
    from musclesolve.pipeline.run_options import Options


def fiber_range(analysis: Analysis) -> tuple[Array, Array]:
    """Least and greatest fiber length over optimal fiber length (N,) in the frames that are solved; NaN without any."""
    ends = []
    for part in analysis.parts:
        normal = part.state.fiber_length[part.solution.solved] / part.state.parameters.optimal_fiber_length
        if not len(normal):
            normal = np.full((1, normal.shape[1]), np.nan)
        ends.append((normal.min(axis=0), normal.max(axis=0)))
    least, greatest = (analysis.over_muscles(parts) for parts in zip(*ends, strict=True))
    return least, greatest


def fiber_variables(analysis: Analysis) -> dict[str, tuple[tuple[str, ...], Array]]:
    """The ranges of all muscles as variables of a result."""
    names = ("least_normalized_fiber_length", "greatest_normalized_fiber_length")
    return {name: (("muscle",), values) for name, values in zip(names, fiber_range(analysis), strict=True)}


def fiber_notes(analysis: Analysis, options: Options) -> list[str]:
    """One sentence for the muscles whose fibers leave the plausible range; none where all stay within.

    A second sentence says which of them do so in the model that their ranges are of as well.
    """
    names, (least, greatest) = analysis.body.muscles, fiber_range(analysis)
    notes = beyond_plausible(names, least, greatest)
    if not notes:
        return []
    own, known = dict[str, str](), _own_ranges(options)
    for name, a, b in zip(names, least.tolist(), greatest.tolist(), strict=True):
        low, high = known.get(name[:-2], (np.inf, -np.inf))
        if (a < USABLE[0] or b > USABLE[1]) and low <= a and b <= high:
            own[name[:-2]] = f"{name[:-2]} {low:.2f} to {high:.2f}"
    source = options.database.operating_range_of or options.database.name
    also = f" The model of {source} has them there too, over its range of motion: {', '.join(own.values())}."
    return [notes[0] + also * bool(own)]


def _own_ranges(options: Options) -> dict[str, tuple[float, float]]:
    """The ranges over the range of motion that the rule keeps, by muscle without side; none by another rule."""
    if options.fiber_length_rule != "operating_range":
        return {}
    own = operating_range(options.database)
    ends = np.nanmin(own.normalized_length, axis=0), np.nanmax(own.normalized_length, axis=0)
    return {name: (low, high) for name, low, high in zip(own.names, *ends, strict=True)}


def beyond_plausible(names: Sequence[str], least: Array, greatest: Array) -> list[str]:
    """The sentence for muscles with these least and greatest normalised fiber lengths (n,)."""
    low, high = USABLE
    ranges = zip(names, least.tolist(), greatest.tolist(), strict=True)
    beyond = [f"{name} {a:.2f} to {b:.2f}" for name, a, b in ranges if a < low or b > high]
    if not beyond:
        return []
    return [f"Fibers work beyond {low:g} to {high:g} optimal fiber lengths: {', '.join(beyond)}."]
