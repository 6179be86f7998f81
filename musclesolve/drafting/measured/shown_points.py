"""Middle points of landmarks in one recording, in whatever axes it is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import Markers
from musclesolve.recording.markers.mapping_tables import Weights

LandmarkWeights = Mapping[str, Weights]


def path_of(markers: Markers, mapping: LandmarkWeights, landmark: str) -> Array | None:
    """The path (T, 3) of a landmark [m], NaN in gaps; None where the recording does not show it."""
    weights = mapping.get(landmark)
    if not weights or not all(name in markers for name in weights):
        return None
    return markers.weighted(weights)


def middle_path(markers: Markers, mapping: LandmarkWeights, names: Iterable[str]) -> Array | None:
    """The path (T, 3) midway between those of some landmarks that a recording shows; None where it shows none."""
    paths = [path for name in names if (path := path_of(markers, mapping, name)) is not None]
    return np.mean(paths, axis=0) if paths else None


def seen(path: Array | None) -> Array:
    """The points (k, 3) of a path in which it is seen."""
    return np.zeros((0, 3)) if path is None else path[np.isfinite(path).all(axis=1)]


def mean_between(
    markers: Markers, mapping: LandmarkWeights, start: Iterable[str], end: Iterable[str]
) -> Array | None:
    """The mean vector (3,) from some landmarks to others, None where they are never seen together."""
    first, last = (middle_path(markers, mapping, names) for names in (start, end))
    if first is None or last is None or not (points := seen(last - first)).size:
        return None
    return np.asarray(points.mean(axis=0))


def both(*landmarks: str) -> list[str]:
    """Landmarks of the right and the left side."""
    return [f"{name}_{side}" for name in landmarks for side in "rl"]
