"""Clusters of markers that move as one body, and the markers that they carry on from the standing trial.

A marker is of a segment by the landmark or the word in its name, or by its place on the standing subject: with h, k, a
the middle of the landmarks at hip, knee and ankle, its share along the segment from h to k is
(p - h).(k - h) / |k - h|^2. Of these markers a cluster has those that keep their distances: the distance of two of them
strays over the motion from the one of the standing trial by less than RIGID in 95 of 100 frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.drafting.name_landmarks import NamedMarkers
from musclesolve.recording.data import SIDES, Markers
from musclesolve.recording.gaps.rigid_registration import breadth
from musclesolve.recording.markers.mapping_tables import Weights
from musclesolve.recording.markers.marker_names import split_label

FEWEST = 3
RIGID = 0.03
"""Skin, and markers put on anew, change the distance of two markers of a segment by less than this [m]."""
BROAD = 0.01
"""Markers nearer to a line than this, rms, show no rotation about it that could carry a marker [m]."""
SEEN = 0.95
"""A cluster has markers that are seen in this share of the frames: a gap in one of them stops it."""
CARRIERS = {
    **dict.fromkeys(("asis", "psis", "sacrum"), ("pelvis",)),
    **dict.fromkeys(("knee_lateral", "knee_medial", "knee_center"), ("thigh", "shank")),
    **dict.fromkeys(("ankle_lateral", "ankle_medial", "ankle_center"), ("shank",)),
    **dict.fromkeys(("heel", "toe", "metatarsal_5"), ("foot",)),
}
"""Landmark -> the segments that can carry it, the better one first."""
LANDMARKS = {
    "pelvis": ("asis", "psis", "sacrum"),
    "thigh": ("knee_lateral", "knee_medial"),
    "shank": ("ankle_lateral", "ankle_medial"),
    "foot": ("heel", "toe", "metatarsal_5"),
}
"""Segment -> its own landmarks."""
JOINTS = {
    "hip": ("asis", "psis"),
    "knee": ("knee_lateral", "knee_medial", "knee_center"),
    "ankle": ("ankle_lateral", "ankle_medial", "ankle_center"),
}
"""Joint -> the landmarks around it whose middle is near enough to it to know the segments apart."""
ALONG = {"thigh": (0.15, 0.92), "shank": (0.1, 1.0)}
"""Share of the segment over which a marker on it lies: not the pelvis above it, nor the patella."""
ASIDE = 0.5
"""A marker on a segment is not farther from its axis than this share of its length, on a wand."""
NOWHERE = np.zeros((0, 3))


@dataclass(frozen=True)
class Clusters:
    """Cluster -> its markers, and marker that only the standing trial shows -> the cluster that carries it."""

    markers: Mapping[str, list[str]] = field(default_factory=dict)
    carried: Mapping[str, str] = field(default_factory=dict)


def tracking_clusters(
    walk: Markers, static: Markers, mapping: Mapping[str, Weights], named: NamedMarkers, person: str | None
) -> Clusters:
    """The clusters that are needed: those that carry a landmark whose marker only the standing trial shows.

    Args:
        walk: the motion.
        static: the standing trial.
        mapping: landmark -> marker -> weight, those included that only the standing trial shows.
        named: what the names of the markers say.
        person: whose markers are meant, where there are several.
    """
    moving, standing = paths_of(walk, person), paths_of(static, person)
    places = {name: np.nanmedian(path, axis=0) for name, path in standing.items() if _seen(path).any()}
    tracked = {name: path for name, path in moving.items() if name in places and _seen(path).mean() >= SEEN}
    lost = [
        (landmark, marker)
        for landmark, weights in mapping.items()
        for marker in weights
        if stem(landmark) in CARRIERS and marker in places and not _seen(moving.get(marker, NOWHERE)).any()
    ]
    on_segment = _segments(tracked, places, mapping, named) if lost else {}
    clusters: dict[str, list[str]] = {}
    carried: dict[str, str] = {}
    for landmark, marker in lost:
        suffix = landmark.removeprefix(stem(landmark))
        for segment in CARRIERS[stem(landmark)]:
            name = segment if segment == "pelvis" else segment + suffix
            kept = clusters.get(name) or _rigid(on_segment.get(name, []), tracked, places)
            if len(kept) >= FEWEST:
                clusters[name], carried[marker] = kept, name
                break
    return Clusters(clusters, carried)


def body_clusters(
    walk: Markers,
    static: Markers,
    mapping: Mapping[str, Weights],
    named: NamedMarkers,
    person: str | None,
    bodies: Iterable[str],
) -> dict[str, list[str]]:
    """Bodies such as "thigh_r" -> markers on them that keep their distances, of those that have three or more.

    Arguments as of `tracking_clusters`.
    """
    moving, standing = paths_of(walk, person), paths_of(static, person)
    places = {name: np.nanmedian(path, axis=0) for name, path in standing.items() if _seen(path).any()}
    tracked = {name: path for name, path in moving.items() if name in places and _seen(path).mean() >= SEEN}
    on_segment = _segments(tracked, places, mapping, named)
    kept = {body: _rigid(on_segment.get(body, []), tracked, places) for body in bodies}
    return {body: markers for body, markers in kept.items() if len(markers) >= FEWEST}


def stem(landmark: str) -> str:
    """A landmark without its side."""
    return landmark[:-2] if landmark.endswith(("_r", "_l")) else landmark


def paths_of(markers: Markers, person: str | None) -> dict[str, Array]:
    """Marker without its person -> its path (T, 3) [m]; without those that stand twice."""
    paths: dict[str, Array] = {}
    for label in markers.names:
        who, plain = split_label(label)
        if label not in markers.repeated and (person is None or who in ("", person)):
            paths.setdefault(plain, markers[label])
    return paths


def _seen(path: Array) -> Array:
    return np.asarray(np.isfinite(path).all(axis=1))


def _segments(
    tracked: Mapping[str, Array],
    places: Mapping[str, Array],
    mapping: Mapping[str, Weights],
    named: NamedMarkers,
) -> dict[str, list[str]]:
    """Segment with side -> the markers on it: by their names, by their landmarks, by their places."""
    by_name = {
        marker: "pelvis" if stem(segment) == "pelvis" else segment
        for segment, markers in named.tracking.items()
        for marker in markers
    }
    mapped = {marker for weights in mapping.values() for marker in weights} | set(named.markers)
    # Side -> hip, knee and ankle (3,) of the standing subject [m], of the sides that show all of them.
    joints: dict[str, list[Array]] = {}
    shown = {
        landmark: np.sum([weight * places[marker] for marker, weight in weights.items()], axis=0)
        for landmark, weights in mapping.items()
        if all(marker in places for marker in weights)
    }
    for side in SIDES:
        near = [[shown[f"{n}_{side}"] for n in names if f"{n}_{side}" in shown] for names in JOINTS.values()]
        if all(near):
            joints[side] = [np.mean(points, axis=0) for points in near]
    segments: dict[str, list[str]] = {}
    for marker in tracked:
        if marker not in mapped:
            segment = by_name.get(marker) or _located(places[marker], joints)
            if segment is not None:
                segments.setdefault(segment, []).append(marker)
    for landmark, weights in mapping.items():
        suffix = landmark.removeprefix(stem(landmark))
        for segment, landmarks in LANDMARKS.items():
            if stem(landmark) in landmarks:
                name = segment if segment == "pelvis" else segment + suffix
                segments.setdefault(name, []).extend(marker for marker in weights if marker in tracked)
    return segments


def _located(place: Array, joints: Mapping[str, list[Array]]) -> str | None:
    """The segment that a place (3,) of the standing subject is on, nearest to its axis; None where it is on none."""
    ways = []
    for side, (hip, knee, ankle) in joints.items():
        for segment, start, end in (("thigh", hip, knee), ("shank", knee, ankle), ("foot", knee, ankle)):
            axis, reach = end - start, place - start
            length = float(np.linalg.norm(axis))
            share = float(reach @ axis) / length**2
            aside = float(np.linalg.norm(reach - share * axis)) / length
            low, high = ALONG.get(segment, (1.0, 1.5))
            if low < share < high and aside < ASIDE:
                ways.append((aside * length, f"{segment}_{side}"))
    return min(ways)[1] if ways else None


def _rigid(names: list[str], tracked: Mapping[str, Array], places: Mapping[str, Array]) -> list[str]:
    """The markers that keep their distances: again and again without the one that strays most from the others."""
    kept, strays = list(dict.fromkeys(names)), {}
    for one, other in combinations(kept, 2):
        apart = np.linalg.norm(tracked[one] - tracked[other], axis=1)
        away = np.abs(apart[np.isfinite(apart)] - np.linalg.norm(places[one] - places[other]))
        strays[frozenset((one, other))] = float(np.quantile(away, 0.95)) if away.size else np.inf
    while len(kept) >= FEWEST and any(strays[frozenset(pair)] >= RIGID for pair in combinations(kept, 2)):
        median = {
            name: float(np.median([strays[frozenset((name, other))] for other in kept if other != name]))
            for name in kept
        }
        kept.remove(max(kept, key=lambda name: median[name]))
    broad = len(kept) >= FEWEST and breadth(np.stack([places[name] for name in kept])) >= BROAD
    return kept if broad else []
