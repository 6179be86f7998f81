"""The marker mapping: from a trial file and its marker set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from musclesolve._util.messages import few
from musclesolve.errors import InputError
from musclesolve.laboratory.files.formats import Faults
from musclesolve.laboratory.markers.landmarks import (
    ARMS_AND_HEAD,
    TRUNK,
    Weights,
    absences,
    cluster_rounds,
    examined_mapping,
    functional_joints,
    landmarks,
    markers_of,
    other_marker_set,
    pelvis_error,
    read_clusters,
)
from musclesolve.laboratory.markers.marker_names import (
    MarkerNames,
    apply_marker_set,
    best_marker_set,
    find_marker_set,
    marker_names_of,
    with_places,
)
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.laboratory.trial.exchanged_labels import check_exchanged, with_exchanged
from musclesolve.tables.document import Document
from musclesolve.tables.sampled import Markers


@dataclass(frozen=True)
class MarkerMapping:
    """Markers by the names of the mapping, and the landmarks that they show.

    Markers of the motion and of the standing trial; landmark -> marker -> weight; cluster -> its markers; marker that
    only the standing trial shows -> the cluster that carries it; notes for the results; and the map from labels of the
    files to names of the mapping.
    """

    walk: Markers
    static: Markers | None
    mapping: Mapping[str, Weights]
    clusters: Mapping[str, tuple[str, ...]]
    carried: Mapping[str, str]
    notes: tuple[str, ...] = ()
    names: MarkerNames = field(default_factory=MarkerNames)


def read_marker_mapping(
    document: Document,
    settings: RecordedSettings,
    walk: Markers,
    static: Markers | None,
    faults: Faults | None = None,
) -> MarkerMapping:
    """Return the marker mapping as far as the recordings show it.

    Faults are an unknown set, landmark or marker, and a mapping from which a joint cannot be found. If the standing
    trial could not be read, its absence is not reported again.
    """
    faults = faults or Faults()
    try:
        requested = requested_mapping(document, settings, walk, static)
    except InputError as error:
        # Without the set, or without the owners of the markers, every line would seem wrong.
        faults.add("mapping", error)
        return MarkerMapping(walk, static, {}, {}, {})
    walk, static, tables, chosen = requested.walk, requested.static, requested.tables, settings.markers.set
    unread, functional = static is None and settings.files.static is not None, functional_joints(settings)
    mapping, wrong = examined_mapping(document, tables["mapping"], functional)
    if not tables["mapping"] and not chosen:
        remedy = "add [mapping] with a line for every landmark, or [markers] with the name of a marker set"
        if (best := best_marker_set(walk)) is not None:
            shown = f"the recording has the markers of {best[1]} of its landmarks"
            remedy = f'add [markers] with set = "{best[0]}": {shown}'
        wrong = [document.fault("missing_key", "mapping", "the markers have no mapping", "[mapping]", remedy)]
    elif not tables["mapping"]:
        wrong = wrong[:1]
    if not (unread and chosen):
        # entries of a set for markers of the standing trial are missing because the trial is
        faults.add("mapping", *wrong)

    clusters: dict[str, tuple[str, ...]] = {}
    for name, value in tables["clusters"].items():
        clusters |= faults.attempt("mapping", {}, read_clusters, document, {name: value})
    carried: dict[str, str] = {}
    for marker, cluster in tables["carried"].items():
        if not isinstance(cluster, str) or cluster in clusters or cluster not in tables["clusters"]:
            said = [cluster], "there is no cluster", clusters, "carried", marker
            if faults.passes("mapping", document.check_known, *said):
                carried[marker] = cluster
    hidden = None if wrong or (unread and chosen) else pelvis_error(document, mapping)
    faults.add("mapping", *(() if hidden is None else (hidden,)))
    # Landmarks carried by a cluster at fault are missing because of this fault.
    uncarried = tables["carried"].keys() - carried.keys()
    mapping = {name: weights for name, weights in mapping.items() if not uncarried & set(weights)}

    absent = absences(document, mapping, clusters, carried, walk, static)
    if not unread:
        other = other_marker_set(document, mapping, clusters, carried, walk)
        faults.add("mapping", *([other] if other is not None else absent.values()))
    clusters = {k: markers for k, markers in clusters.items() if not unread and ("clusters", k) not in absent}
    whole = {m: c for m, c in carried.items() if c in clusters and ("carried", m) not in absent}
    rounds = cluster_rounds(clusters, whole, walk)
    clusters = {k: markers for k, markers in clusters.items() if k in rounds}
    known = {marker: cluster for marker, cluster in whole.items() if cluster in clusters}
    lost, carried = carried.keys() - known.keys(), known
    mapping = {
        name: weights
        for name, weights in mapping.items()
        if all(marker in walk or marker in carried for marker in weights)
        or not (("mapping", name) in absent or lost & set(weights))
    }
    notes = [
        f"The motion shows the marker '{marker}', but by [carried] it follows the cluster {cluster}."
        for marker, cluster in carried.items()
        if marker in walk and np.isfinite(walk[marker]).all(axis=1).any()
    ]
    notes += [
        f"The cluster {name} has a marker that another cluster carries, {few(chained)}: it is taken to be fixed in "
        "both segments, as the ends of the axis of their joint are. On a recorded walk this changed joint moments "
        "by up to 4 N m (rms)."
        for name, markers in clusters.items()
        if (chained := [marker for marker in markers if marker in carried])
    ]
    return MarkerMapping(
        walk, static, mapping, clusters, carried, (*requested.notes, *notes), requested.names
    )


@dataclass(frozen=True)
class RequestedMapping:
    """The marker tables of the trial file and its marker set, not checked yet."""

    walk: Markers
    static: Markers | None
    tables: dict[str, dict[str, Any]]
    names: MarkerNames
    notes: tuple[str, ...] = ()


def requested_mapping(
    document: Document, settings: RecordedSettings, walk: Markers, static: Markers | None
) -> RequestedMapping:
    """Return the recordings by the names of the mapping, and the mapping tables for them."""
    tables: dict[str, dict[str, Any]] = {
        name: dict(settings[name]) for name in ("mapping", "clusters", "carried")
    }
    mapped = (marker for definition in tables["mapping"].values() for marker in markers_of(definition))
    listed = (marker for names in tables["clusters"].values() if isinstance(names, list) for marker in names)
    written = frozenset(m for m in (*mapped, *listed, *tables["carried"]) if isinstance(m, str))
    person, requested = settings.markers.person, settings.markers.set
    chosen = find_marker_set(document, requested) if requested else None
    names = marker_names_of(chosen, written, person) if chosen else MarkerNames(written, person=person)
    notes = []
    one, other = names.persons(walk), [] if static is None else names.persons(static)
    if person is None and len(one) == len(other) == 1 and one != other:
        notes.append(
            f"The motion is of {one[0]}, the standing trial of {other[0]}, by the labels of the markers."
        )
    needless = {
        marker
        for name, way in tables["mapping"].items()
        if name in landmarks() and landmarks()[name].on in (*ARMS_AND_HEAD, *TRUNK)
        for marker in markers_of(way)
    }
    walk = with_places(names.checked(document, walk), needless)
    static = None if static is None else with_places(names.checked(document, static), needless)
    check_exchanged(document, settings, static is not None)
    walk = with_exchanged(document, settings, "markers", walk, notes)
    static = None if static is None else with_exchanged(document, settings, "static", static, notes)
    if chosen is None:
        return RequestedMapping(walk, static, tables, names, tuple(notes))
    tables, left_out = apply_marker_set(chosen, tables, walk, static)
    if {*walk.names, *(() if static is None else static.names)} & set(chosen.markers):
        notes.append(f"The markers are read as {chosen.name}: {chosen.description}.")
    else:
        notes.append(
            f"None of the markers of the set {chosen.name} is in the recordings: the mapping is taken from "
            "[mapping] alone, leave the set out."
        )
    return RequestedMapping(walk, static, tables, names, (*notes, *left_out))
