"""Meaning of the markers of a recording: a bundled set if its names are there, else landmarks by the words in names.

Clusters of markers that move as one body, and the markers that they carry on from the standing trial.

A marker is of a segment by the landmark or the word in its name, or by its place on the standing subject: with h, k, a
the middle of the landmarks at hip, knee and ankle, its share along the segment from h to k is
(p - h).(k - h) / |k - h|^2. A cluster has the markers among them that keep their distances: the distance of two of them
strays over the motion from the one of the standing trial by less than RIGID in 95 of 100 frames.

A label without any place in a recording is none of its markers. Landmarks of knees, ankles and feet that no name shows
are guessed by the places of markers on the standing subject (`marker_places`). Wands, and what a program computed, are
used for what is missing then.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, median_of_known
from musclesolve._util.sides import has_side
from musclesolve.errors import InputError
from musclesolve.laboratory.draft.draft_text import DraftTable, Line, draft_text, lines_of, scratch
from musclesolve.laboratory.markers.gaps.rigid_registration import breadth
from musclesolve.laboratory.markers.landmarks import (
    ARMS_AND_HEAD,
    FUNCTIONAL,
    HINGES,
    TRUNK,
    Weights,
    absences,
    examined_mapping,
    landmarks,
    markers_of,
    needs_chord,
    one_marker,
    read_clusters,
)
from musclesolve.laboratory.markers.marker_names import (
    NamedMarkers,
    marker_sets,
    named_markers,
    split_label,
    with_places,
)
from musclesolve.laboratory.markers.marker_places import GUESSED, Body, guessed_by_place
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES
from musclesolve.laboratory.trial.functional_trials import BODIES, place_along
from musclesolve.laboratory.trial.marker_mapping import requested_mapping
from musclesolve.tables.sampled import Markers

FEWEST_MARKERS = 3
RIGID = 0.03
"""Largest change of the distance of two markers of a segment by skin motion and placement [m]."""
BROAD = 0.01
"""Distance from a line, rms, below which markers do not show the rotation about it [m]."""
SEEN = 0.95
"""Least share of the frames with the subject in which markers of a cluster are seen: a gap in one of them stops it."""
THERE = 0.8
"""Least share of all markers that are seen in a frame in which the subject is there."""
CARRIERS = {
    **dict.fromkeys(("asis", "psis", "sacrum"), ("pelvis",)),
    **dict.fromkeys(("knee_lateral", "knee_medial", "knee_center"), ("thigh", "shank")),
    **dict.fromkeys(("ankle_lateral", "ankle_medial", "ankle_center"), ("shank",)),
    **dict.fromkeys(("heel", "toe", "metatarsal_5"), ("foot",)),
}
"""Landmark -> segments that can carry it, the better one first."""
CHAIN = {
    ("ankle_medial", "foot"): ("ankle_lateral", "heel", "toe"),
    ("knee_medial", "shank"): ("knee_lateral", "ankle_lateral", "ankle_medial"),
    ("heel", "foot"): ("ankle_lateral", "ankle_medial", "ankle_center", "toe", "metatarsal_5"),
}
"""Landmark and segment -> landmarks that carry it where no other markers of the segment do.

The axis of a joint runs through both of its ends, so these are fixed in the segment below as in that above.
"""
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
"""Joint -> landmarks around it whose middle is near enough to distinguish the segments."""
ALONG = {"thigh": (0.15, 0.92), "shank": (0.1, 1.0)}
"""Range of a segment, as shares of its length, for its markers: without pelvis and patella."""
ASIDE = 0.5
"""Largest distance of a marker from the axis of its segment, as a share of its length, also on a wand."""
NOWHERE = np.zeros((0, 3))


def tracking_clusters(
    walk: Markers, static: Markers, mapping: Mapping[str, Weights], named: NamedMarkers, person: str | None
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The clusters that are needed: those that carry a landmark whose marker only the standing trial shows.

    Returns cluster -> its markers, and marker that only the standing trial shows -> the cluster that carries it.

    Args:
        walk: the motion.
        static: the standing trial.
        mapping: landmark -> marker -> weight, those included that only the standing trial shows.
        named: meaning of the names of the markers.
        person: whose markers are meant, where there are several.
    """
    moving, places = paths_of(walk, person), _standing_places(static, person)
    tracked = _tracked(moving, places)
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
            if stem(landmark) == "metatarsal_5" and name not in clusters:
                continue  # the foot is known without it
            kept = clusters.get(name) or _rigid(on_segment.get(name, []), tracked, places)
            if len(kept) >= FEWEST_MARKERS:
                clusters[name], carried[marker] = kept, name
                break
    for (wanted, segment), carriers in CHAIN.items():
        for suffix in ("_r", "_l"):
            ends = [marker for landmark, marker in lost if landmark == wanted + suffix]
            name = segment + suffix
            if len(ends) != 1 or ends[0] in carried or name in clusters:
                continue
            of = [mapping.get(landmark + suffix, {}) for landmark in carriers]
            single = [next(iter(weights)) for weights in of if len(weights) == 1]
            follows = [marker for marker in single if marker in carried and marker not in tracked]
            seen = [marker for marker in single if marker in tracked]
            if not follows:
                seen = _rigid(seen, tracked, places)
            shape = np.array([places[marker] for marker in (*seen, *follows)]).reshape(-1, 3)
            if len(shape) >= FEWEST_MARKERS and breadth(shape) >= BROAD:
                clusters[name], carried[ends[0]] = [*seen, *follows], name
    return clusters, carried


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
    moving, places = paths_of(walk, person), _standing_places(static, person)
    tracked = _tracked(moving, places)
    on_segment = _segments(tracked, places, mapping, named)
    clusters = {body: _rigid(on_segment.get(body, []), tracked, places) for body in bodies}
    return {body: markers for body, markers in clusters.items() if len(markers) >= FEWEST_MARKERS}


def stem(landmark: str) -> str:
    """A landmark without its side."""
    return landmark[:-2] if has_side(landmark) else landmark


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


def _shares(paths: Mapping[str, Array]) -> dict[str, float]:
    """Marker -> the share of frames in which it is seen, of those in which most markers are: the subject is there."""
    seen = {name: frames for name, path in paths.items() if (frames := _seen(path)).any()}
    there = np.mean(list(seen.values()), axis=0) >= THERE if seen else np.zeros(0, bool)
    return {name: float(frames[there].mean()) if there.any() else 0.0 for name, frames in seen.items()}


def _tracked(moving: Mapping[str, Array], places: Mapping[str, Array]) -> dict[str, Array]:
    """The paths of markers of the standing trial that the motion shows while the subject is there."""
    shares = _shares(moving)
    return {name: path for name, path in moving.items() if name in places and shares.get(name, 0.0) >= SEEN}


def _standing_places(static: Markers, person: str | None) -> dict[str, Array]:
    """Marker -> its place (3,) on the standing subject [m], of the markers that are seen."""
    paths = paths_of(static, person)
    return {name: median_of_known(path) for name, path in paths.items() if _seen(path).any()}


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
        for segment, stems in LANDMARKS.items():
            if stem(landmark) in stems:
                name = segment if segment == "pelvis" else segment + suffix
                segments.setdefault(name, []).extend(marker for marker in weights if marker in tracked)
    return segments


def _located(place: Array, joints: Mapping[str, list[Array]]) -> str | None:
    """The segment that a place (3,) of the standing subject is on, nearest to its axis; None where it is on none."""
    ways = []
    for side, (hip, knee, ankle) in joints.items():
        for segment, start, end in (("thigh", hip, knee), ("shank", knee, ankle), ("foot", knee, ankle)):
            share, aside = place_along(place, start, end)
            low, high = ALONG.get(segment, (1.0, 1.5))
            if low < share < high and aside < ASIDE:
                ways.append((aside * float(np.linalg.norm(end - start)), f"{segment}_{side}"))
    return min(ways)[1] if ways else None


def _rigid(names: list[str], tracked: Mapping[str, Array], places: Mapping[str, Array]) -> list[str]:
    """The markers that keep their distances: again and again without the one that strays most from the others."""
    kept, strays = list(dict.fromkeys(names)), {}
    for one, other in combinations(kept, 2):
        apart = np.linalg.norm(tracked[one] - tracked[other], axis=1)
        away = np.abs(apart[np.isfinite(apart)] - np.linalg.norm(places[one] - places[other]))
        strays[frozenset((one, other))] = float(np.quantile(away, 0.95)) if away.size else np.inf
    while len(kept) >= FEWEST_MARKERS and any(
        strays[frozenset(pair)] >= RIGID for pair in combinations(kept, 2)
    ):
        median = {
            name: float(np.median([strays[frozenset((name, other))] for other in kept if other != name]))
            for name in kept
        }
        kept.remove(max(kept, key=lambda name: median[name]))
    broad = len(kept) >= FEWEST_MARKERS and breadth(np.stack([places[name] for name in kept])) >= BROAD
    return kept if broad else []


LEAST_SHARE = 0.5
"""Least share of the landmarks of a set in the recordings for the set to be considered."""
MARKER = "MARKER"
"""Stands for the name of a marker in the line of a landmark that a draft leaves open."""
MOST_NAMES, MOST_ALIKE, MOST_NEAR = 24, 5, 3


@dataclass(frozen=True)
class MarkerChoice:
    """Meaning of the markers.

    Name of a set, or None; lines of [mapping], [clusters], [carried]; subject before the labels, where there are
    several. Markers by the names of the mapping; landmark -> weights of what is resolved; required landmarks that are
    not, with the reason; joints whose widths are needed; markers that no name explains; landmark -> weights of what is
    mapped and cannot be followed; optional landmarks whose markers are seen in too few frames; joints that their motion
    shows; clusters that the files show; landmarks whose markers are guessed by their places; toes whose marker is the
    only one ahead on the foot; landmarks by a wand or by what a program computed; marker that no name explains -> its
    place on the body; missing landmark -> such markers near its place; the vocabulary that the names of the markers are
    of, with its source; whether all names are numbers.
    """

    walk: Markers
    static: Markers | None
    set: str | None = None
    mapping: Mapping[str, Any] = field(default_factory=dict)
    clusters: Mapping[str, list[str]] = field(default_factory=dict)
    carried: Mapping[str, str] = field(default_factory=dict)
    person: str | None = None
    persons: tuple[str, ...] = ()
    resolved: Mapping[str, Weights] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    widths: tuple[str, ...] = ()
    leftover: tuple[str, ...] = ()
    unseen: Mapping[str, Weights] = field(default_factory=dict)
    seldom: tuple[str, ...] = ()
    functional: tuple[str, ...] = ()
    shown_clusters: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    lone_toes: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    near: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vocabulary: str = ""
    numbered: bool = False

    @property
    def tables(self) -> tuple[DraftTable, ...]:
        """The tables as they are, without comments."""
        chosen = {"set": self.set, "person": self.person, "guessed": [*self.guessed] or None}
        tables: dict[str, Mapping[str, Any]] = {
            "markers": {key: value for key, value in chosen.items() if value is not None},
            "mapping": self.mapping,
            "clusters": self.clusters,
            "carried": self.carried,
            "joint_centers": dict.fromkeys(self.functional, FUNCTIONAL),
        }
        return tuple(DraftTable(name, lines_of(values)) for name, values in tables.items() if values)


def choose_mapping(
    walk: Markers, static: Markers | None, bending: Mapping[str, Markers] | None = None
) -> MarkerChoice:
    """Choose the meaning of the markers with the fewest open landmarks; a set before names, the most complete set.

    `bending` are recordings in which joints such as "knee_r" bend: they show those that no landmark shows.
    """
    labeled = [split_label(label)[1] for file in (walk, static) if file is not None for label in file.names]
    walk, static = with_places(walk), None if static is None else with_places(static)
    # Persons with markers of equal names in the file, the one with most markers first.
    labels = [split_label(label) for label in walk.names]
    count = Counter(person for person, _ in labels if person)
    twice = {plain for plain, times in Counter(plain for _, plain in labels).items() if times > 1}
    persons = tuple(who for who, _ in count.most_common() if any((who, plain) in labels for plain in twice))
    person = persons[0] if len(persons) > 1 else None
    recordings = [paths_of(file, person) for file in (static, walk) if file is not None]
    names = dict.fromkeys((*names_of(walk, person), *(() if static is None else names_of(static, person))))
    named = named_markers(names, recordings)
    open_choice = MarkerChoice(
        walk,
        static,
        person=person,
        persons=persons,
        vocabulary=named.vocabulary,
        numbered=all(plain.isdecimal() for _, plain in labels),
    )
    choices = []
    for name, chosen in marker_sets().items():
        choice = _with_clusters(_resolved(replace(open_choice, set=name)), named)
        if len(choice.resolved) < LEAST_SHARE * len(chosen.mapping):
            continue
        choices.append(_with_holes_filled(choice, named))
    choices.append(_by_names(open_choice, named))

    def rank(choice: MarkerChoice) -> tuple[int, bool, int, bool]:
        """The rank of a choice: number of open landmarks, then a set that is complete, then the number shown."""
        alone = choice.set is not None and not choice.mapping and not choice.clusters and not choice.missing
        return len(choice.missing), not alone, -len(choice.resolved), choice.set is None

    choice = _by_place(_by_motion(min(choices, key=rank), named, bending or {}), named)
    choice = _with_lone_toes(_with_instead(choice, named), named)
    return _with_places(_with_empty_labels(choice, labeled), named, recordings)


def _with_empty_labels(choice: MarkerChoice, labeled: Iterable[str]) -> MarkerChoice:
    """The choice whose missing landmarks name the label that stands in the file without any place."""
    files = [file for file in (choice.walk, choice.static) if file is not None]
    seen = {name for file in files for name in names_of(file, choice.person)}
    empty = [name for name in dict.fromkeys(labeled) if name not in seen]
    if not choice.missing or not empty:
        return choice
    meant = named_markers([*seen, *empty]).mapping
    labels = {
        name: [marker for marker in markers_of(meant[name]) if marker in empty]
        for name in choice.missing
        if name in meant
    }
    reasons = {
        name: f"the label '{' and '.join(markers)}' is there without a place in any frame"
        for name, markers in labels.items()
        if markers
    }
    return replace(choice, missing={**choice.missing, **reasons})


def _with_holes_filled(choice: MarkerChoice, named: NamedMarkers) -> MarkerChoice:
    """The choice of a set with the landmarks of the legs that it lacks, by the words in the names of the markers."""
    holes = {
        name: way
        for name, way in named.mapping.items()
        if landmarks()[name].required and name not in choice.resolved
    }
    for wanted in (holes, {name: way for name, way in holes.items() if name in choice.missing}):
        filled = _with_clusters(_resolved(replace(choice, mapping=wanted)), named) if wanted else choice
        shown = {name: way for name, way in wanted.items() if name in filled.resolved}
        if shown and len(filled.missing) <= len(choice.missing):
            return _with_clusters(_resolved(replace(choice, mapping=shown)), named)
    return choice


def _with_instead(choice: MarkerChoice, named: NamedMarkers) -> MarkerChoice:
    """The choice with wands, and with what a program computed, where a landmark is missing that they replace."""
    replaced = [
        [other for other in landmarks()[name].instead if other in named.instead] for name in choice.missing
    ]
    wanted = {others[0]: named.instead[others[0]] for others in replaced if others}
    if not wanted:
        return choice
    tried = _resolved(replace(choice, mapping={**choice.mapping, **wanted}))
    used = {name: marker for name, marker in wanted.items() if name in tried.resolved}
    if not used:
        return choice
    chosen = replace(_resolved(replace(choice, mapping={**choice.mapping, **used})), instead=tuple(used))
    return chosen if chosen.functional else _with_clusters(chosen, named)


def _with_lone_toes(choice: MarkerChoice, named: NamedMarkers) -> MarkerChoice:
    """The choice with the marker of a metatarsal head as the toe, where each foot has no other marker ahead."""
    toes: dict[str, Any] = {}
    for side in SIDES:
        ahead = [marker for marker, of in named.possible.items() if f"toe_{side}" in of]
        way = choice.mapping.get(f"metatarsal_5_{side}", ahead[0] if len(ahead) == 1 else None)
        if way is not None:
            toes[f"toe_{side}"] = way
    if len(toes) < len(SIDES) or not toes.keys() <= set(choice.missing):
        return choice
    heads = [f"metatarsal_5_{side}" for side in SIDES]
    kept = {name: way for name, way in choice.mapping.items() if name not in heads}
    chosen = _resolved(replace(choice, mapping=kept | toes))
    return replace(chosen, lone_toes=tuple(toes)) if len(chosen.missing) < len(choice.missing) else choice


def _with_places(
    choice: MarkerChoice, named: NamedMarkers, recordings: Sequence[Mapping[str, Array]]
) -> MarkerChoice:
    """The choice with the places on the body of markers that no name explains, where a landmark is missing."""
    if not choice.missing:
        return choice
    used = {marker for weights in choice.resolved.values() for marker in weights}
    used |= {
        marker for markers in (*named.tracking.values(), *choice.clusters.values()) for marker in markers
    }
    places: dict[str, str] = {}
    near: dict[str, list[str]] = {}
    for paths in recordings:
        body = Body.of(
            {
                landmark: np.asarray(sum(weight * paths[marker] for marker, weight in weights.items()))
                for landmark, weights in choice.resolved.items()
                if weights and set(weights) <= set(paths)
            }
        )
        if body is None:
            continue
        for marker in [name for name in paths if name not in used and name not in places]:
            if not (words := body.where(paths[marker])):
                continue
            places[marker] = words
            place = body.place(paths[marker][body.frames])
            for name in choice.missing:
                if body.may_be(name, place):
                    near.setdefault(name, []).append(marker)
    return replace(choice, places=places, near={name: tuple(markers) for name, markers in near.items()})


def _by_place(choice: MarkerChoice, named: NamedMarkers) -> MarkerChoice:
    """The choice with landmarks of knees, ankles and toes that no name shows, by places of markers when standing."""
    lacking = [name for name in choice.missing if stem(name) in GUESSED]
    if choice.static is None or not lacking:
        return choice
    places = _standing_places(choice.static, choice.person)
    used = {marker for weights in choice.resolved.values() for marker in weights}
    used |= {marker for markers in named.tracking.values() for marker in markers}
    known = {
        name: np.asarray(sum(weight * places[marker] for marker, weight in weights.items()))
        for name, weights in choice.resolved.items()
        if weights and set(weights) <= set(places)
    }
    free = {name: place for name, place in places.items() if name not in used}
    guesses = guessed_by_place(known, free, lacking)
    if not guesses:
        return choice
    guessed = _with_clusters(_resolved(replace(choice, mapping={**choice.mapping, **guesses})), named)
    kept = {name: marker for name, marker in guesses.items() if name in guessed.resolved}
    if not kept:
        return choice
    final = _with_clusters(_resolved(replace(choice, mapping={**choice.mapping, **kept})), named)
    left = tuple(name for name in final.leftover if name not in kept.values())
    return replace(final, guessed=tuple(kept), leftover=left)


def _by_motion(choice: MarkerChoice, named: NamedMarkers, bending: Mapping[str, Markers]) -> MarkerChoice:
    """The choice with joints found by their motion that lack a landmark; unchanged where no clusters show them."""
    for joint in HINGES:
        lacking = any(name.startswith(f"{joint}_") for name in choice.missing)
        if choice.static is None or not lacking or not all(f"{joint}_{side}" in bending for side in SIDES):
            continue
        bodies = [f"{body}_{side}" for body in BODIES[joint] for side in SIDES]
        clusters = body_clusters(choice.walk, choice.static, choice.resolved, named, choice.person, bodies)
        clusters = {name: of for name, of in clusters.items() if name not in choice.shown_clusters}
        by_motion = _resolved(
            replace(choice, clusters={**choice.clusters, **clusters}, functional=(*choice.functional, joint))
        )
        seen = all(
            set(markers) <= set(names_of(bending[f"{joint}_{name[-1]}"], choice.person))
            for name, markers in clusters.items()
        )
        if seen and set(bodies) <= set(by_motion.shown_clusters):
            used = {marker for markers in clusters.values() for marker in markers}
            choice = replace(by_motion, leftover=tuple(m for m in by_motion.leftover if m not in used))
    return choice


def _with_clusters(choice: MarkerChoice, named: NamedMarkers) -> MarkerChoice:
    """The choice with clusters that carry what only the standing trial shows; unchanged where that helps nothing."""
    if choice.static is None or not choice.unseen:
        return choice
    mapping = {**choice.resolved, **choice.unseen}
    clusters, carried = tracking_clusters(choice.walk, choice.static, mapping, named, choice.person)
    tried = _resolved(replace(choice, clusters=clusters, carried=carried)) if clusters else choice
    return tried if len(tried.resolved) > len(choice.resolved) else choice


def names_of(markers: Markers, person: str | None) -> list[str]:
    """The names of the markers of one person, without the person."""
    split = [split_label(label) for label in markers.names]
    return [plain for who, plain in split if person is None or who in ("", person)]


def _by_names(choice: MarkerChoice, named: NamedMarkers) -> MarkerChoice:
    """The choice with the landmarks that the names of the markers mean, as far as the recordings show them."""
    walk, static, person = choice.walk, choice.static, choice.person
    moving = set(names_of(walk, person))
    standing = moving if static is None else set(names_of(static, person))

    def is_shown(landmark: str, way: Any) -> bool:
        if stem(landmark) in CARRIERS:  # a cluster may carry it on from the standing trial
            return set(markers_of(way)) <= standing
        return set(markers_of(way)) <= (moving & standing if landmarks()[landmark].standing else moving)

    shown = {name: way for name, way in named.mapping.items() if is_shown(name, way)}
    seldom = tuple(name for name in shown if _seldom_seen(name, shown, walk, person))
    needed = {name: way for name, way in shown.items() if name not in seldom}
    choice = _with_clusters(_resolved(replace(choice, mapping=needed)), named)
    # What is not carried after all is asked for where it is needed, and left out else.
    kept = {name: way for name, way in needed.items() if name in choice.resolved or name in choice.missing}
    heads = [name for name in kept if stem(name) == "metatarsal_5"]
    if len(heads) == 1 and all(f"metatarsal_5_{side}" in named.mapping for side in SIDES):
        del kept[heads[0]]
        choice = _resolved(replace(choice, mapping=kept))
    clustered = {marker for markers in choice.clusters.values() for marker in markers}
    left = tuple(name for name in named.unknown if name not in clustered)
    return replace(choice, mapping=kept, leftover=left, seldom=seldom)


def _seldom_seen(landmark: str, mapping: Mapping[str, Any], walk: Markers, person: str | None) -> bool:
    """Whether the motion shows an optional landmark of the legs in too few frames, on either side.

    Its gaps would end the time range. One that stands in for a required landmark is kept.
    """
    lacking = [other for other in landmarks().values() if other.required and other.name not in mapping]
    needed = {name for other in lacking for name in (other.name, *other.instead)}
    stated = landmarks()[landmark]
    if stated.required or landmark in needed or stated.on in (*ARMS_AND_HEAD, *TRUNK):
        return False
    sides = {f"{stem(landmark)}{suffix}" for suffix in ("", "_r", "_l")} & set(mapping)
    markers = {marker for name in sides for marker in markers_of(mapping[name])}
    return any(share < SEEN for marker, share in _shares(paths_of(walk, person)).items() if marker in markers)


def _resolved(choice: MarkerChoice) -> MarkerChoice:
    """Resolve a choice by the readers of trial files."""
    required = [name for name, landmark in landmarks().items() if landmark.required]
    document, content, _ = scratch(draft_text((), choice.tables))
    try:
        requested = requested_mapping(document, content, choice.walk, choice.static)
        clusters = read_clusters(document, requested.tables["clusters"])
    except InputError as error:
        return replace(choice, missing=dict.fromkeys(required, error.problem))
    mapping, _ = examined_mapping(document, requested.tables["mapping"], choice.functional)
    carried = {m: c for m, c in requested.tables["carried"].items() if c in clusters}
    lost = absences(document, mapping, clusters, carried, requested.walk, requested.static)
    kept = {name: weights for name, weights in mapping.items() if ("mapping", name) not in lost}
    reasons = {key: error.problem for (table, key), error in lost.items() if table == "mapping"}
    alone = ", and there is no standing trial" if choice.static is None else ""
    legs = [side for side in SIDES if any(f"{n}_{side}" in kept for n in (*JOINTS["knee"], *JOINTS["ankle"]))]
    unknown = {
        f"_{side}": f"no marker of a known name is on the {SIDE_NAMES[side]} leg, and both legs are needed"
        for side in SIDES
        if len(legs) == 1 and side not in legs
    }
    missing = {
        name: reasons.get(name, unknown.get(name[-2:], "the names of the markers show none" + alone))
        for name in required
        if name.partition("_")[0] not in choice.functional
        and not any(other in kept for other in (name, *landmarks()[name].instead))
    }
    widths = [
        joint
        for joint in HINGES
        if any(
            one_marker(kept, joint, side)
            if joint in choice.functional
            else needs_chord(kept, joint, side) and f"{joint}_medial_{side}" not in missing
            for side in SIDES
        )
    ]
    return replace(
        choice,
        walk=requested.walk,
        static=requested.static,
        resolved=kept,
        missing=missing,
        widths=tuple(widths),
        unseen={name: weights for name, weights in mapping.items() if name not in kept},
        shown_clusters=tuple(name for name in clusters if ("clusters", name) not in lost),
    )


def marker_tables(choice: MarkerChoice) -> tuple[DraftTable, ...]:
    """The tables that state what the markers mean."""
    tables = (_set_table(choice), _mapping_table(choice), *_cluster_tables(choice))
    return tuple(table for table in tables if table.lines or table.about or table.todos)


def _set_table(choice: MarkerChoice) -> DraftTable:
    """The table [markers]: the set and the person, and what is guessed."""
    lines: list[Line] = []
    described: tuple[str, ...] = ()
    if choice.set is not None:
        chosen = marker_sets()[choice.set]
        count = sum(name in choice.resolved for name in chosen.mapping)
        source = (
            f"{count} of its {len(chosen.mapping)} landmarks are there: musclesolve list markers {choice.set}"
        )
        todo = "check the markers: their names are numbers, and other programs count in another order"
        lines.append(Line("set", choice.set, source, todo if choice.numbered else ""))
        described = (f"By the names of the markers: {chosen.description}.",)
    if choice.person is not None:
        todo = f"check whose markers are meant: the file also has markers of {', '.join(choice.persons[1:])}"
        lines.append(Line("person", choice.person, "most markers", todo))
    if choice.guessed:
        todo = (
            f"check the markers of {', '.join(choice.guessed)}: their names say nothing, they are guessed by their "
            "places on the standing subject; take what is right off the list"
        )
        lines.append(Line("guessed", list(choice.guessed), "", todo))
    return DraftTable("markers", tuple(lines), described)


def _mapping_table(choice: MarkerChoice) -> DraftTable:
    """The table [mapping]: the landmarks with their markers, and the landmarks whose markers are to be entered."""
    guessed = dict.fromkeys(choice.guessed, "guessed by its place")
    lone = {
        name: f"check {name}: of the markers ahead on this foot only the name of {choice.mapping[name]} is known"
        for name in choice.lone_toes
    }
    ways = {name: way for name, way in choice.mapping.items() if name not in choice.missing}
    sources = guessed | dict.fromkeys(choice.instead, "used in the place of a marker that is missing")
    lines = [Line(name, way, sources.get(name, ""), lone.get(name, "")) for name, way in ways.items()]
    reasons = Counter(choice.missing.values())
    for name, reason in choice.missing.items():
        landmark = landmarks()[name]
        instead = list(landmark.instead)
        what = landmark.description + (f" (or map {', or '.join(instead)})" if instead else "")
        if near := choice.near.get(name, ())[:MOST_NEAR]:
            reason += "; near there: " + "; ".join(f"{marker}, {choice.places[marker]}" for marker in near)
        todo = f"enter the marker of {name}, {what}: {reason}"
        is_one_of_many = not near and reasons[choice.missing[name]] > MOST_ALIKE
        words = (what, "") if is_one_of_many else ("", todo)
        lines.append(Line(name, MARKER, *words, open=True))
    alike = [
        f"enter the markers of {', '.join(names)}, {len(names)} landmarks: {reason}; musclesolve desk shows the "
        "markers in space"
        for reason, count in reasons.items()
        if count > MOST_ALIKE
        and (names := [n for n, why in choice.missing.items() if why == reason and not choice.near.get(n)])
    ]
    about = _about_markers(choice) if lines or choice.set is None else ()
    return DraftTable("mapping", tuple(lines), about, "; ".join(alike))


def _about_markers(choice: MarkerChoice) -> tuple[str, ...]:
    """Sentences on the names of the markers, on those without a meaning, and on those left out."""
    about = list[str]()
    if choice.set is None:
        about.append(
            "Landmarks by the words in the names of the markers: no bundled set fits (musclesolve list markers)."
        )
        if choice.vocabulary:
            about.append(f"Most names belong to: {choice.vocabulary}.")
    else:
        about.append("What the set does not know, by the words in the names of the markers.")
    if choice.leftover and choice.set is None:
        left, more = ", ".join(choice.leftover[:MOST_NAMES]), len(choice.leftover) > MOST_NAMES
        about.append(f"Markers that no name explains: {left}{', ...' if more else ''}.")
    for marker, place in [*choice.places.items()][:MOST_NAMES]:
        about.append(f"{marker} is {place}.")
    if choice.seldom:
        about.append(
            f"Left out, because the motion shows their markers in too few frames: {', '.join(choice.seldom)}."
        )
    return tuple(about)


def _cluster_tables(choice: MarkerChoice) -> list[DraftTable]:
    """The tables of clusters, of the markers that they carry, and of joints that the clusters show by their motion."""
    tables = list[DraftTable]()
    if choice.clusters:
        distances = (
            "Markers that keep their distances in the motion, and those that they have in the standing trial."
        )
        carries = "Only the standing trial shows these; the cluster carries them on."
        if {marker for markers in choice.clusters.values() for marker in markers} & choice.carried.keys():
            carries += (
                " It is assumed that the axis of the ankle runs through both malleoli and the axis of the knee through"
                " both epicondyles: the medial ones are fixed in foot and shank."
            )
        tables.append(DraftTable("clusters", lines_of(choice.clusters), (distances,)))
        tables += [DraftTable("carried", lines_of(choice.carried), (carries,))] if choice.carried else []
    if choice.functional:
        why = "No markers on epicondyles or malleoli: the movement of the clusters shows axis and center."
        by_motion = dict.fromkeys(choice.functional, FUNCTIONAL)
        tables.append(DraftTable("joint_centers", lines_of(by_motion), (why,)))
    return tables
