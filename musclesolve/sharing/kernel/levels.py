"""The levels of min/max from Python. Only `level_walk`, imported at the first call, imports numba."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Indices, Mask


@dataclass(frozen=True, eq=False)
class Levels:
    """The end of the walk in every frame."""

    activation: Array  # (T, n)
    multiplier: Array  # (T, L, m) y of every level, NaN below the last; of an infeasible frame its proof
    claim: NDArray[np.int64]  # (T,) members of Status
    iterations: NDArray[np.int64]  # (T,) exchanges of muscles

    def store(self, which: Indices, other: Levels) -> None:
        """Replace some frames, none of which has two levels, by the frames of another walk with no more room."""
        for each in fields(self):
            new = getattr(other, each.name)
            getattr(self, each.name)[(which, *map(slice, new.shape[1:]))] = new


def walk_levels(
    matrix: Array, moment: Array, load: Array, lower: Array, upper: Array, start: Array, open_: Mask
) -> Levels:
    """The levels of every frame by the walk of level_walk.py.

    Args:
        matrix: (T, m, n) moments [N m] at activation 1.
        moment: (T, m) [N m].
        load: (T, n) rho, the loads at activation 1.
        lower, upper: (T, n) bounds of the activations.
        start: (T, n) activations of the muscles that are not open.
        open_: (T, n) muscles that the walk may move.
    """
    from musclesolve.sharing.kernel.level_walk import WALK

    frames, hard, muscles = matrix.shape
    most = hard + int((load * lower > 0.0).sum(axis=1).max(initial=0))
    activation, multiplier = np.empty((frames, muscles)), np.full((frames, most, hard), np.nan)
    count, claim, iterations = np.zeros((3, frames), np.int64)
    work = [np.empty(size) for size in (muscles, muscles, muscles + hard, hard, hard)]
    places = [np.zeros(size, np.int64) for size in (muscles, hard, hard)]
    arrays = [np.ascontiguousarray(x) for x in (matrix, moment, load, lower, upper, start, open_)]
    results = activation, multiplier, count, claim, iterations
    WALK.load()(*arrays, *results, np.empty((hard, muscles + hard)), *work, *places)
    multiplier[np.arange(most) >= count[:, None]] = np.nan
    return Levels(activation, multiplier, claim, iterations)
