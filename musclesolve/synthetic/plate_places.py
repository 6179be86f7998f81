"""Where the plates of a walkway lie: one under every contact of a foot."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from musclesolve.runs import true_runs

Array = np.ndarray

LOADED = 20.0
"""A plate carries something from this vertical force on [N]."""


def plate_middles(vertical: Array, point: Array) -> Array:
    """The middle of the plate on which a foot stands, stood last or stands next, whichever is nearer in time.

    Args:
        vertical: (T,) vertical force of one foot [N].
        point: (T, 3) its centre of pressure [m], of which only what is loaded counts.

    Returns:
        (T, 3) the mean place of the pressure of the nearest contact [m]; zero where there is none at all.
    """
    contacts = true_runs(vertical >= LOADED)
    if not contacts:
        return np.zeros_like(point)
    middles = np.array([point[first:last].mean(axis=0) for first, last in contacts])
    # From the middle of a swing on, the next contact is nearer.
    swings = [0.5 * (last + first) for (_, last), (first, _) in pairwise(contacts)]
    nearest: Array = middles[np.searchsorted(swings, np.arange(len(vertical)), side="right")]
    return nearest
