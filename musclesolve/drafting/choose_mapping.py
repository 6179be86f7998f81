"""What the markers of a recording mean: a bundled set if its names are there, else landmarks by the words in names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from musclesolve.drafting.draft_text import DraftTable, Line, draft_text, scratch
from musclesolve.drafting.name_landmarks import NamedMarkers, named_markers
from musclesolve.drafting.tracking_clusters import (
    CARRIERS,
    SEEN,
    Clusters,
    body_clusters,
    paths_of,
    stem,
    tracking_clusters,
)
from musclesolve.errors import InputError
from musclesolve.recording.data import SIDES, Markers
from musclesolve.recording.markers.landmark_names import ARMS_AND_HEAD, TRUNK, landmarks
from musclesolve.recording.markers.mapping_tables import (
    FUNCTIONAL,
    HINGES,
    WANDS,
    Weights,
    absences,
    examined_mapping,
    needs_chord,
    one_marker,
    read_clusters,
)
from musclesolve.recording.markers.marker_mapping import requested_mapping
from musclesolve.recording.markers.marker_names import split_label
from musclesolve.recording.markers.marker_set import marker_sets, markers_of
from musclesolve.recording.trial.functional_trials import BODIES

LEAST_SHARE = 0.5
"""A set is considered where the recordings show this share of its landmarks."""
_WIDTHS = "[subject]\nknee_width_m = 0.1\nankle_width_m = 0.07\n"
MOST_NAMES = 24


@dataclass(frozen=True)
class MarkerChoice:
    """What the markers mean.

    Name of a set, or None; lines of [mapping], [clusters], [carried]; subject before the labels, where there are
    several. Markers by the names of the mapping; landmark -> weights of what is resolved; required landmarks that are
    not, with the reason; joints whose widths are needed; markers that no name explains; landmark -> weights of what is
    mapped and cannot be followed; optional landmarks whose markers are seen in too few frames; joints that their motion
    shows; clusters that the files show.
    """

    walk: Markers
    static: Markers | None
    set: str | None = None
    mapping: Mapping[str, Any] = field(default_factory=dict)
    clusters: Clusters = field(default_factory=Clusters)
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

    @property
    def tables(self) -> tuple[DraftTable, ...]:
        """The tables as they are, without comments."""
        lines = [Line("set", self.set), Line("person", self.person)]
        tables = [
            DraftTable("markers", tuple(line for line in lines if line.value is not None)),
            DraftTable("mapping", tuple(Line(key, value) for key, value in self.mapping.items())),
            DraftTable("clusters", tuple(Line(key, value) for key, value in self.clusters.markers.items())),
            DraftTable("carried", tuple(Line(key, value) for key, value in self.clusters.carried.items())),
            DraftTable("joint_centers", tuple(Line(joint, FUNCTIONAL) for joint in self.functional)),
        ]
        return tuple(table for table in tables if table.lines)


def choose_mapping(
    walk: Markers, static: Markers | None, bending: Mapping[str, Markers] | None = None
) -> MarkerChoice:
    """Choose what the markers mean: what leaves least open; a set before names, of sets the one that shows most.

    `bending` are recordings in which joints such as "knee_r" bend: they show those that no landmark shows.
    """
    # Who has markers of the same name in the file, those with most markers first.
    labels = [split_label(label) for label in walk.names]
    count = Counter(person for person, _ in labels if person)
    twice = {plain for plain, times in Counter(plain for _, plain in labels).items() if times > 1}
    persons = tuple(who for who, _ in count.most_common() if any((who, plain) in labels for plain in twice))
    person = persons[0] if len(persons) > 1 else None
    standing = [] if static is None else names_of(static, person)
    named = named_markers(dict.fromkeys((*names_of(walk, person), *standing)))
    open_choice = MarkerChoice(walk, static, person=person, persons=persons)
    choices = []
    for name, chosen in marker_sets().items():
        choice = _with_clusters(_resolved(replace(open_choice, set=name)), named)
        if len(choice.resolved) < LEAST_SHARE * len(chosen.mapping):
            continue
        extra = {key: way for key, way in named.mapping.items() if key in choice.missing}
        completed = _with_clusters(_resolved(replace(choice, mapping=extra)), named) if extra else choice
        choices.append(completed if len(completed.missing) < len(choice.missing) else choice)
    choices.append(_by_names(open_choice, named))

    def rank(choice: MarkerChoice) -> tuple[int, bool, int, bool]:
        """What is open counts most; then a set that fits as it is; then how much is shown."""
        alone = choice.set is not None and not choice.mapping and not choice.clusters.markers
        return len(choice.missing), not alone, -len(choice.resolved), choice.set is None

    return _by_motion(min(choices, key=rank), named, bending or {})


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
            replace(
                choice,
                clusters=replace(choice.clusters, markers={**choice.clusters.markers, **clusters}),
                functional=(*choice.functional, joint),
            )
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
    clusters = tracking_clusters(choice.walk, choice.static, mapping, named, choice.person)
    carried = _resolved(replace(choice, clusters=clusters)) if clusters.markers else choice
    return carried if len(carried.resolved) > len(choice.resolved) else choice


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
    clustered = {marker for markers in choice.clusters.markers.values() for marker in markers}
    left = tuple(name for name in named.unknown if name not in clustered)
    return replace(choice, mapping=kept, leftover=left, seldom=seldom)


def _seldom_seen(landmark: str, mapping: Mapping[str, Any], walk: Markers, person: str | None) -> bool:
    """Whether the motion shows an optional landmark of the legs in too few frames, on either side.

    Its gaps would end the time range. One that stands in for a required landmark is kept.
    """
    lacking = [other for other in landmarks().values() if other.required and other.name not in mapping]
    needed = {name for other in lacking for name in (other.name, *other.instead)}
    if landmarks()[landmark].required or landmark in needed | ARMS_AND_HEAD | TRUNK:
        return False
    sides = {f"{stem(landmark)}{suffix}" for suffix in ("", "_r", "_l")} & set(mapping)
    markers = {marker for name in sides for marker in markers_of(mapping[name])}
    shown = [path for marker, path in paths_of(walk, person).items() if marker in markers]
    return any(0.0 < np.isfinite(path).all(axis=1).mean() < SEEN for path in shown)


def _instead(landmark: str, standing: bool) -> str:
    """A landmark that may be mapped instead of another one, and all that it needs besides.

    A wand shows the plane of a joint, the width how far its center is from the lateral marker, and the standing trial
    the circle on which it lies.
    """
    joint = next((joint for joint, wand in WANDS.items() if stem(landmark) == wand), None)
    if joint is None:
        return landmark
    trial = "" if standing else ", and a standing trial: static in [files]"
    return f"{landmark} together with {joint}_width_m in [subject]{trial}"


def _resolved(choice: MarkerChoice) -> MarkerChoice:
    """The choice with what the readers of trial files make of it."""
    required = [name for name, landmark in landmarks().items() if landmark.required]
    document, content, _ = scratch(_WIDTHS + draft_text((), choice.tables))
    try:
        asked = requested_mapping(document, content, choice.walk, choice.static)
        clusters = read_clusters(document, asked.tables["clusters"])
    except InputError as error:
        return replace(choice, missing=dict.fromkeys(required, error.problem))
    mapping, _ = examined_mapping(document, asked.tables["mapping"], choice.functional)
    carried = {m: c for m, c in asked.tables["carried"].items() if c in clusters}
    lost = absences(document, mapping, clusters, carried, asked.walk, asked.static)
    kept = {name: weights for name, weights in mapping.items() if ("mapping", name) not in lost}
    reasons = {key: error.problem for (table, key), error in lost.items() if table == "mapping"}
    alone = ", and there is no standing trial" if choice.static is None else ""
    missing = {
        name: reasons.get(name, "no marker of a known name shows it" + alone)
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
        walk=asked.walk,
        static=asked.static,
        resolved=kept,
        missing=missing,
        widths=tuple(widths),
        unseen={name: weights for name, weights in mapping.items() if name not in kept},
        shown_clusters=tuple(name for name in clusters if ("clusters", name) not in lost),
    )


def marker_tables(choice: MarkerChoice) -> tuple[DraftTable, ...]:
    """The tables that state what the markers mean."""
    by_set: list[Line] = []
    described: tuple[str, ...] = ()
    if choice.set is not None:
        chosen = marker_sets()[choice.set]
        count = sum(name in choice.resolved for name in chosen.mapping)
        known = f"{count} of its {len(chosen.mapping)} landmarks are there: musclesolve markers {choice.set}"
        by_set.append(Line("set", choice.set, known))
        described = (f"By the names of the markers: {chosen.description}.",)
    if choice.person is not None:
        todo = f"check whose markers are meant: the file also has those of {', '.join(choice.persons[1:])}"
        by_set.append(Line("person", choice.person, "most markers", todo))
    lines = [Line(name, way) for name, way in choice.mapping.items() if name not in choice.missing]
    for name, reason in choice.missing.items():
        landmark = landmarks()[name]
        ways = [_instead(other, choice.static is not None) for other in landmark.instead]
        other = f" (or map {', or '.join(ways)})" if ways else ""
        todo = f"enter the marker of {name}, {landmark.description}{other}: {reason}"
        lines.append(Line(name, "MARKER", "", todo, open=True))
    about = []
    if choice.set is None:
        about.append(
            "Landmarks by the words in the names of the markers: no bundled set fits (musclesolve markers)."
        )
    elif lines:
        about.append("What the set does not know, by the words in the names of the markers.")
    if choice.leftover and choice.set is None:
        left, more = ", ".join(choice.leftover[:MOST_NAMES]), len(choice.leftover) > MOST_NAMES
        about.append(f"Markers that no name explains: {left}{', ...' if more else ''}.")
    if choice.seldom:
        about.append(
            f"Left out, because the motion shows their markers in too few frames: {', '.join(choice.seldom)}."
        )
    tables = [
        DraftTable("markers", tuple(by_set), described),
        DraftTable("mapping", tuple(lines), tuple(about) if lines or choice.set is None else ()),
    ]
    if choice.clusters.markers:
        distances = (
            "Markers that keep their distances in the motion, and those that they have in the standing trial."
        )
        carries = "Only the standing trial shows these; the cluster carries them on."
        clusters = tuple(Line(name, list(markers)) for name, markers in choice.clusters.markers.items())
        carried = tuple(Line(marker, cluster) for marker, cluster in choice.clusters.carried.items())
        tables.append(DraftTable("clusters", clusters, (distances,)))
        tables += [DraftTable("carried", carried, (carries,))] if carried else []
    if choice.functional:
        why = "No markers on epicondyles or malleoli: the movement of the clusters shows axis and center."
        tables.append(
            DraftTable("joint_centers", tuple(Line(j, FUNCTIONAL) for j in choice.functional), (why,))
        )
    return tuple(table for table in tables if table.lines or table.about or table.todos)
