"""The normalised fiber lengths between which each muscle works during a motion, and warnings on those beyond reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array

if TYPE_CHECKING:
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


def fiber_notes(legs: Sequence[LegResult]) -> list[str]:
    """One sentence for the muscles whose fibers leave the plausible range; none where all stay within."""
    names = [name for leg in legs for name in leg.state.muscles.names]
    least, greatest = (np.concatenate(values) for values in zip(*map(fiber_range, legs), strict=True))
    return beyond_plausible(names, least, greatest)


def beyond_plausible(names: Sequence[str], least: Array, greatest: Array) -> list[str]:
    """The sentence for muscles with these least and greatest normalised fiber lengths (n,)."""
    low, high = PLAUSIBLE
    ranges = zip(names, least.tolist(), greatest.tolist(), strict=True)
    beyond = [f"{name} {a:.2f} to {b:.2f}" for name, a, b in ranges if a < low or b > high]
    if not beyond:
        return []
    return [f"Fibers work beyond {low:g} to {high:g} optimal fiber lengths: {', '.join(beyond)}."]
