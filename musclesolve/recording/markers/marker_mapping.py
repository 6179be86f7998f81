"""The marker mapping: that of a trial file, and that of the marker set it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Mask
from musclesolve.recording.data import Markers
from musclesolve.recording.markers.mapping_tables import (
    Weights,
    absences,
    examined_mapping,
    functional_joints,
    joint_errors,
    read_carried,
    read_clusters,
)
from musclesolve.recording.markers.marker_names import MarkerNames
from musclesolve.recording.markers.marker_set import (
    apply_marker_set,
    best_marker_set,
    find_marker_set,
    marker_names_of,
    markers_of,
)
from musclesolve.recording.schema import Document


@dataclass(frozen=True)
class MarkerMapping:
    """Markers by the names of the mapping, and the landmarks that they show.

    Markers of the motion and of the standing trial; landmark -> marker -> weight; cluster -> its markers; marker that
    only the standing trial shows -> the cluster that carries it; notes for the results; and how labels of the files
    become names of the mapping.
    """

    walk: Markers
    static: Markers | None
    mapping: Mapping[str, Weights]
    clusters: Mapping[str, tuple[str, ...]]
    carried: Mapping[str, str]
    notes: tuple[str, ...] = ()
    names: MarkerNames = field(default_factory=MarkerNames)


def read_marker_mapping(
    document: Document, content: Mapping[str, Any], walk: Markers, static: Markers | None
) -> MarkerMapping:
    """Return the marker mapping, checked against the recordings.

    Refused are an unknown set, landmark or marker, and a mapping from which a joint cannot be found.
    """
    asked = requested_mapping(document, content, walk, static)
    if not asked.tables["mapping"] and not content["markers"]["set"]:
        remedy = "add [mapping] with a line for every landmark, or [markers] with the name of a marker set"
        if (best := best_marker_set(walk)) is not None:
            shown = f"the recording has the markers of {best[1]} of its landmarks"
            remedy = f'add [markers] with set = "{best[0]}": {shown}'
        problem = "the markers have no mapping"
        raise document.error(problem, "mapping", None, 0, "[mapping]", remedy, code="missing_key")
    walk, static = asked.walk, asked.static
    functional = functional_joints(content)
    mapping, wrong = examined_mapping(document, asked.tables["mapping"], functional)
    if wrong:
        raise wrong[0]
    clusters = read_clusters(document, asked.tables["clusters"])
    carried = read_carried(document, asked.tables["carried"], clusters)
    lacking = joint_errors(document, mapping, content["subject"], static is not None, functional)
    for error in (*lacking, *absences(document, mapping, clusters, carried, walk, static).values()):
        raise error
    notes = [
        f"The motion shows the marker '{marker}', but by [carried] it follows the cluster {cluster}."
        for marker, cluster in carried.items()
        if marker in walk and np.isfinite(walk[marker]).all(axis=1).any()
    ]
    return MarkerMapping(walk, static, mapping, clusters, carried, (*asked.notes, *notes), asked.names)


@dataclass(frozen=True)
class RequestedMapping:
    """The marker tables of the trial file and its marker set as they are written, not checked yet."""

    walk: Markers
    static: Markers | None
    tables: dict[str, dict[str, Any]]
    names: MarkerNames
    notes: tuple[str, ...] = ()


def requested_mapping(
    document: Document, content: Mapping[str, Any], walk: Markers, static: Markers | None
) -> RequestedMapping:
    """Return the recordings by the names of the mapping, and the tables that hold for them."""
    tables: dict[str, dict[str, Any]] = {
        name: dict(content[name]) for name in ("mapping", "clusters", "carried")
    }
    mapped = (marker for way in tables["mapping"].values() for marker in markers_of(way))
    listed = (marker for names in tables["clusters"].values() if isinstance(names, list) for marker in names)
    written = frozenset(m for m in (*mapped, *listed, *tables["carried"]) if isinstance(m, str))
    person, asked = content["markers"]["person"], content["markers"]["set"]
    chosen = find_marker_set(document, asked) if asked else None
    names = MarkerNames(written, person=person)
    if chosen is not None:
        names = marker_names_of(chosen, written, person)
    notes = []
    one, other = names.persons(walk), [] if static is None else names.persons(static)
    if person is None and len(one) == len(other) == 1 and one != other:
        notes.append(
            f"The motion is of {one[0]}, the standing trial of {other[0]}, by the labels of the markers."
        )
    walk, static = names.checked(document, walk), None if static is None else names.checked(document, static)
    if chosen is None:
        return RequestedMapping(walk, static, tables, names, tuple(notes))
    if static is not None:
        # Some programs list in the motion what only the standing trial sees.
        seen: Mask = np.asarray((~np.isnan(walk.position).any(axis=2)).any(axis=0))
        kept = [
            k for k, name in enumerate(walk.names) if seen[k] or name not in static or name in walk.repeated
        ]
        walk = replace(walk, names=tuple(walk.names[k] for k in kept), position=walk.position[:, kept])
    tables, left_out = apply_marker_set(chosen, tables, walk, static)
    if {*walk.names, *(() if static is None else static.names)} & set(chosen.markers):
        notes.append(f"The markers are read as {chosen.name}: {chosen.description}.")
    else:
        notes.append(
            f"None of the markers of the set {chosen.name} is in the recordings: the mapping is taken from "
            "[mapping] alone, leave the set out."
        )
    return RequestedMapping(walk, static, tables, names, (*notes, *left_out))
