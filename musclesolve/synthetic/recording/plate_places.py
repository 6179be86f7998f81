"""Where the plates of a walkway lie: one under every contact of a foot, or under some of them."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve.errors import InputError

LOADED = 20.0
"""A plate carries something from this vertical force on [N]."""


def plate_middles(vertical: Array, point: Array) -> Array:
    """The middle of the plate of a foot: mean center of pressure of its contact nearest in time, (T, 3) [m], or zero.

    vertical (T,): vertical force of the foot [N]; point (T, 3): its center of pressure [m].
    """
    contacts = true_runs(vertical >= LOADED)
    if not contacts:
        return np.zeros_like(point)
    middles = np.array([point[first:last].mean(axis=0) for first, last in contacts])
    # From the middle of a swing on, the next contact is nearer.
    swings = [0.5 * (last + first) for (_, last), (first, _) in pairwise(contacts)]
    return np.asarray(middles[np.searchsorted(swings, np.arange(len(vertical)), side="right")])


def on_plates(side: str, vertical: Array, steps: Collection[str] | None) -> Array:
    """Which frames (T,) of the vertical force (T,) [N] of the foot "r" or "l" act on a plate.

    steps: contacts on plates, of both feet: r2 is the second one of the right foot; None: all.
    """
    if steps is None:
        return np.ones(len(vertical), bool)
    contacts = true_runs(vertical > 0.0)
    borne = np.zeros(len(vertical), bool)
    for number in (int(step[1:]) for step in steps if step[0] == side):
        if number > len(contacts):
            raise InputError(
                f"there is no contact {side}{number}",
                code="unknown_name",
                where="steps",
                expected=f"{side}1 to {side}{len(contacts)}",
                remedy="choose one of these, or record more strides",
            )
        borne[slice(*contacts[number - 1])] = True
    return borne
