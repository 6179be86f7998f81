"""Clusters of markers that move as one body, and the markers that they carry on from the standing trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.drafting.markers.name_landmarks import NamedMarkers
from musclesolve.recording.data import SIDES, Markers
from musclesolve.recording.markers.marker_names import split_label

FEWEST = 3
RIGID = 0.03
"""The distance of two markers of a segment changes by less than this, skin and all [m]."""
CARRIERS = {
    "knee_lateral": ("thigh", "shank"),
    "knee_medial": ("thigh", "shank"),
    "ankle_lateral": ("shank",),
    "ankle_medial": ("shank",),
}
"""Landmark -> the segments that can carry it, the better one first."""
ENDS = {"thigh": "knee_lateral", "shank": "ankle_lateral"}


@dataclass(frozen=True)
class Clusters:
    """Cluster -> its markers, and marker that only the standing trial shows -> the cluster that carries it."""

    markers: Mapping[str, list[str]] = field(default_factory=dict)
    carried: Mapping[str, str] = field(default_factory=dict)


def tracking_clusters(
    walk: Markers, static: Markers | None, mapping: Mapping[str, Any], named: NamedMarkers
) -> Clusters:
    """The clusters that are needed: those that carry a knee or ankle marker which only the standing trial shows."""
    if static is None:
        return Clusters()
    moving, standing = ({split_label(name)[1] for name in each.names} for each in (walk, static))
    clusters: dict[str, list[str]] = {}
    carried: dict[str, str] = {}
    for landmark, segments in CARRIERS.items():
        for side in SIDES:
            marker = mapping.get(f"{landmark}_{side}")
            if not isinstance(marker, str) or marker in moving:
                continue
            for segment in segments:
                name = f"{segment}_{side}"
                listed = [*named.tracking.get(name, []), mapping.get(f"{ENDS[segment]}_{side}")]
                own = [m for m in listed if isinstance(m, str) and m in moving & standing]
                own = _rigid(walk, own)
                if len(own) >= FEWEST:
                    clusters[name], carried[marker] = own, name
                    break
    return Clusters(clusters, carried)


def _rigid(walk: Markers, names: list[str]) -> list[str]:
    """The markers that keep their distances, without those that move against most of the others."""
    paths = [_path(walk, name) for name in names]
    if len(names) <= FEWEST:
        return names
    changes = np.array([[_change(one, other) for other in paths] for one in paths])
    return [
        name for name, row in zip(names, changes, strict=True) if np.median(np.delete(row, 0)) < RIGID
    ] or names


def _path(walk: Markers, name: str) -> Array:
    label = next(label for label in walk.names if split_label(label)[1] == name)
    return walk[label]


def _change(one: Array, other: Array) -> float:
    """How far the distance of two markers strays, standard deviation [m]; 0 where they are never seen together."""
    apart = np.linalg.norm(one - other, axis=1)
    apart = apart[np.isfinite(apart)]
    return float(apart.std()) if apart.size else 0.0
