"""Steps of a recording at which two markers take each other's place: where labels are exchanged, paths are crossed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask

Pair = tuple[int, int]

# Markers that go on less far than this from where they were expected have not changed places [m].
LEAST = 0.02
# Each is so much nearer to where the other one was expected.
NEARER = 0.4


def crossings(position: Array) -> dict[Pair, NDArray[np.int_]]:
    """Return pair of markers -> the frames at which they take each other's place; position (T, n, 3) [m], NaN in gaps.

    A marker is expected where the two frames before, or the two frames after, lead along a straight line; on a
    moving subject it is within centimetres of that.
    """
    found: dict[Pair, set[int]] = {}
    count = position.shape[0]
    for backwards in (False, True):
        path = position[::-1] if backwards else position
        for pair, frames in _forwards(path).items():
            # Frame k of the reversed path is the last one before the step in the path itself.
            found.setdefault(pair, set()).update(count - int(k) if backwards else int(k) for k in frames)
    return {pair: np.array(sorted(frames)) for pair, frames in found.items()}


def _forwards(path: Array) -> dict[Pair, NDArray[np.int_]]:
    """Return the frames (from the third on) at which two markers are where the other one was expected."""
    if path.shape[0] < 3:
        return {}
    expected, here = 2.0 * path[1:-1] - path[:-2], path[2:]
    off = np.nan_to_num(np.linalg.norm(here - expected, axis=-1))
    jumping = off > LEAST
    found = {}
    for one in np.flatnonzero(jumping.any(axis=0)):
        for other in np.flatnonzero((jumping & jumping[:, [one]]).any(axis=0)):
            if other <= one:
                continue
            at = np.flatnonzero(jumping[:, one] & jumping[:, other])
            crossed = np.maximum(
                np.linalg.norm(here[at, one] - expected[at, other], axis=-1),
                np.linalg.norm(here[at, other] - expected[at, one], axis=-1),
            )
            at = at[crossed < NEARER * np.minimum(off[at, one], off[at, other])]
            if at.size:
                found[int(one), int(other)] = at + 2
    return found


def pieces(position: Array, pair: Pair, crossed: NDArray[np.int_]) -> list[Mask]:
    """Return the frames (T,) of each stretch within which two markers cannot have changed places.

    A stretch ends where they take each other's place and where one of them is lost.
    """
    seen: Mask = np.asarray(np.isfinite(position[:, list(pair)]).all(axis=(1, 2)))
    number = np.cumsum(np.diff(seen.astype(int), prepend=int(seen[0])) != 0)
    number = number + np.searchsorted(crossed, np.arange(seen.size), side="right")
    return [(number == k) & seen for k in np.unique(number[seen])]
