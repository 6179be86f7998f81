"""The normalised fiber lengths between which each muscle works during a motion, and warnings on those beyond reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.placing.fiber_lengths import operating_range
from musclesolve.muscles.placing.operating_range import USABLE

if TYPE_CHECKING:
    from musclesolve.pipeline.run_options import Options
    from musclesolve.pipeline.types import LegResult


def fiber_range(leg: LegResult) -> tuple[Array, Array]:
    """Least and greatest fiber length over optimal fiber length (n,) in the frames that are solved; NaN without any."""
    normal = leg.state.fiber_length[leg.solution.solved] / leg.state.muscles.parameters.optimal_fiber_length
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
    names = [name for leg in legs for name in leg.state.muscles.names]
    least, greatest = (np.concatenate(values) for values in zip(*map(fiber_range, legs), strict=True))
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
