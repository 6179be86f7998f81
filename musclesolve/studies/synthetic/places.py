"""Places of the markers on the subject of the reference stride, and of the plates of the walkway.

A plate lies under every contact of a foot, or under some of them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.constants import LOADED_FROM_N
from musclesolve.errors import input_error
from musclesolve.laboratory.markers.marker_names import MarkerSet, marker_sets, markers_of
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.studies.synthetic.reference_stride import StrideSubject

PAIR_OFFSET = np.array([0.03, 0.03, 0.0])
"""Distance of two markers from the landmark in their middle [m]."""

CLUSTER_BODIES = dict.fromkeys(("knee", "shank"), "shank_distal")
CLUSTER_BODIES |= {name: name for name in ("thigh", "pelvis", "foot")}
CLUSTER_ENDS = {"thigh": ("hip", "knee"), "shank_distal": ("knee", "ankle")}
CLUSTER_SHARES = (0.3, 0.45, 0.6, 0.7)
CLUSTER_OFFSETS = ((-0.02, -0.07), (0.06, -0.03), (-0.06, -0.03), (0.05, -0.04))
"""Markers of a cluster that are no landmarks: distances down the segment, ahead of and to the left of its line [m], on
the right side; mirrored on the left.
"""


FOOT_OFFSETS = ((-0.08, 0.0, 0.06), (-0.02, 0.05, 0.01))
"""Markers of a foot that are no landmarks, on its back and at its inner edge: distances ahead of, left of and above the
toe [m], on the right side; mirrored on the left.
"""


@dataclass(frozen=True)
class Places:
    """Markers and their places on bodies."""

    names: tuple[str, ...]  # n markers
    standing: Array  # (n, 3) their places on the standing subject, from the middle of the hips [m]
    bodies: tuple[str, ...]  # n bodies that carry them
    removed: frozenset[str] = frozenset()  # markers that are taken off before walking


def marker_places(person: StrideSubject, name: str | None, by_motion: bool = False) -> Places:
    """The markers of a set by its name; without a set, a marker on every landmark with its name.

    by_motion: knees and ankles are functional, see `segment_places`.
    """
    if name is None:
        return segment_places(person) if by_motion else Places(*person.markers)
    chosen, landmarks = marker_sets()[name], landmark_places(person)
    places = _on_landmarks(landmarks, chosen)
    for cluster, markers in chosen.clusters.items():
        kind, _, side = cluster.partition("_")
        body, loose = CLUSTER_BODIES[kind], [marker for marker in markers if marker not in places]
        for k, marker in enumerate(loose):
            if body in CLUSTER_ENDS:
                places[marker] = (_on_segment(person, body, side, k), f"{body}_{side}")
            else:
                # Additional markers of a set on pelvis or foot are beside its landmarks.
                at, carrier = landmarks["sacrum" if body == "pelvis" else f"heel_{side}"]
                places[marker] = (at - [0.0, 0.0, 0.03 * (k + 1)], carrier)
    standing, bodies = zip(*places.values(), strict=True)
    # Hip centers have no marker to take off: they are known in every frame.
    hips = [ways for landmark, ways in chosen.mapping.items() if landmark.startswith("hip_center")]
    kept = {marker for ways in hips for way in ways for marker in markers_of(way)}
    return Places(tuple(places), np.array(standing), bodies, frozenset(chosen.carried) - kept)


def _on_segment(person: StrideSubject, body: str, side: str, number: int) -> Array:
    """Return the place of a numbered marker on a thigh or shank of the standing subject (3,) [m]."""
    upper, lower = (person.model.standing[person.slot(f"{end}_{side}")] for end in CLUSTER_ENDS[body])
    share, (ahead, left) = CLUSTER_SHARES[number % 4], CLUSTER_OFFSETS[number % 4]
    return np.asarray(upper + share * (lower - upper) + [ahead, left if side == "r" else -left, 0.0])


def segment_clusters() -> dict[str, list[str]]:
    """Thigh, shank and foot of each side -> its markers, for functional knees and ankles."""
    loose = {"thigh": len(CLUSTER_SHARES), "shank": len(CLUSTER_SHARES), "foot": len(FOOT_OFFSETS)}
    named = {
        f"{body}_{side}": [f"{body}_{side}_{number}" for number in range(1, count + 1)]
        for side in SIDES
        for body, count in loose.items()
    }
    for side in SIDES:
        named[f"foot_{side}"] += [f"{part}_{side}" for part in ("heel", "toe", "metatarsal_5")]
    return named


def segment_places(person: StrideSubject) -> Places:
    """Markers on every thigh, shank and foot, and one on every landmark except epicondyles and malleoli."""
    places = {
        name: (at, body)
        for name, at, body in zip(*person.markers, strict=True)
        if not name.startswith(("knee_", "ankle_"))
    }
    for cluster, markers in segment_clusters().items():
        segment, _, side = cluster.partition("_")
        body, mirror = CLUSTER_BODIES[segment], 1.0 if side == "r" else -1.0
        for number, marker in enumerate(name for name in markers if name not in places):
            if body in CLUSTER_ENDS:
                place = _on_segment(person, body, side, number)
            else:
                place = places[f"toe_{side}"][0] + np.array(FOOT_OFFSETS[number]) * [1.0, mirror, 1.0]
            places[marker] = (place, f"{body}_{side}")
    standing, bodies = zip(*places.values(), strict=True)
    return Places(tuple(places), np.array(standing), bodies)


def _on_landmarks(known: Mapping[str, tuple[Array, str]], chosen: MarkerSet) -> dict[str, tuple[Array, str]]:
    """Markers that show a landmark, by its first definition in the set; known: place and body of landmarks."""
    places: dict[str, tuple[Array, str]] = {}
    # Weighted sums last: they add one marker to the markers of other landmarks.
    for landmark, (definition, *_) in sorted(
        chosen.mapping.items(), key=lambda item: _is_weighted(item[1][0])
    ):
        at, body = known[landmark]
        if _is_weighted(definition):
            # The marker that is not placed yet, where the weighted sum of all is the landmark.
            (marker,) = set(definition["weights"]) - set(places)
            others = [w * places[name][0] for name, w in definition["weights"].items() if name != marker]
            places[marker] = ((at - sum(others, np.zeros(3))) / definition["weights"][marker], body)
            continue
        markers = markers_of(definition)
        for k, marker in enumerate(markers):
            aside = PAIR_OFFSET * (1 - 2 * k) if len(markers) == 2 else np.zeros(3)
            places[marker] = (at + aside, body)
    return places


def _is_weighted(way: Any) -> bool:
    return isinstance(way, dict) and "weights" in way


def landmark_places(person: StrideSubject) -> dict[str, tuple[Array, str]]:
    """Every possible landmark of a set: the landmarks of stride_subject.toml, and others derived from them."""
    places = {name: (at, body) for name, at, body in zip(*person.markers, strict=True)}
    places["sacrum"] = (0.5 * (places["psis_r"][0] + places["psis_l"][0]), "pelvis")
    for side, mirror in (("r", 1.0), ("l", -1.0)):
        hip, knee, ankle = (person.model.standing[person.slot(f"{joint}_{side}")] for joint in LEG_JOINTS)
        beside = np.array([0.0, -0.08 * mirror, 0.0])
        places[f"knee_center_{side}"] = (knee, f"thigh_{side}")
        places[f"ankle_center_{side}"] = (ankle, f"shank_distal_{side}")
        places[f"thigh_wand_{side}"] = (0.5 * (hip + knee) + beside, f"thigh_{side}")
        places[f"shank_wand_{side}"] = (0.5 * (knee + ankle) + beside, f"shank_distal_{side}")
    return places


def plate_middles(vertical: Array, point: Array) -> Array:
    """The middle of the plate of a foot: mean center of pressure of its contact nearest in time, (T, 3) [m], or zero.

    vertical (T,): vertical force of the foot [N]; point (T, 3): its center of pressure [m].
    """
    contacts = true_runs(vertical >= LOADED_FROM_N)
    if not contacts:
        return np.zeros_like(point)
    middles = np.array([point[first:last].mean(axis=0) for first, last in contacts])
    # From the middle of a swing on, the next contact is nearer.
    swings = [0.5 * (last + first) for (_, last), (first, _) in pairwise(contacts)]
    return np.asarray(middles[np.searchsorted(swings, np.arange(len(vertical)), side="right")])


def on_plates(side: str, vertical: Array, steps: Collection[str] | None) -> Array:
    """Return the frames (T,) in which the vertical force (T,) [N] of the foot "r" or "l" acts on a plate, as a mask.

    steps: contacts on plates, of both feet: r2 is the second one of the right foot; None: all.
    """
    if steps is None:
        return np.ones(len(vertical), bool)
    contacts = true_runs(vertical > 0.0)
    borne = np.zeros(len(vertical), bool)
    for number in (int(step[1:]) for step in steps if step[0] == side):
        if number > len(contacts):
            raise input_error(
                "unknown_name",
                where="steps",
                problem=f"there is no contact {side}{number}",
                expected=f"{side}1 to {side}{len(contacts)}",
                remedy="choose one of these, or record more strides",
            )
        borne[slice(*contacts[number - 1])] = True
    return borne
