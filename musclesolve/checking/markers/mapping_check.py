"""What the markers mean, as far as the trial file is right; every line that is wrong is reported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from musclesolve.checking.case.case import finding_of
from musclesolve.checking.case.containment import contained
from musclesolve.checking.finding import Finding
from musclesolve.errors import InputError
from musclesolve.recording.data import Markers
from musclesolve.recording.markers.joint_requirements import joint_errors
from musclesolve.recording.markers.mapping_tables import (
    absences,
    examined_mapping,
    read_carried,
    read_clusters,
)
from musclesolve.recording.markers.marker_mapping import MarkerMapping, read_marker_mapping, requested_mapping
from musclesolve.recording.trial.schema import Document


def marker_mapping_of(
    document: Document,
    content: dict[str, Any],
    walk: Markers,
    static: Markers | None,
    unread: bool,
    findings: list[Finding],
) -> MarkerMapping:
    """Return the landmarks, clusters and carried markers that the files provide; faults are added to the findings.

    unread: whether a standing trial is named that could not be read.
    """
    try:
        return read_marker_mapping(document, content, walk, static)
    except InputError as error:
        first = finding_of("mapping", error)
    try:
        requested = requested_mapping(document, content, walk, static)
    except InputError:
        # Without the set, or without the owners of the markers, every line would seem wrong.
        findings.append(first)
        return MarkerMapping(walk, static, {}, {}, {})
    wrong: list[Finding] = []
    walk, static, tables = requested.walk, requested.static, requested.tables
    mapping, errors = examined_mapping(document, tables["mapping"])
    # What a set has for markers of the standing trial is missing for want of it.
    if tables["mapping"] and not (unread and content["markers"]["set"]):
        if not errors:
            errors = joint_errors(document, mapping, content["subject"], static is not None or unread)
        wrong += [finding_of("mapping", error) for error in errors]
    clusters, carried = _clusters(document, tables, wrong)
    # What a cluster that is at fault would carry is missing for want of it.
    mapping = {
        name: weights
        for name, weights in mapping.items()
        if not any(marker in tables["carried"] and marker not in carried for marker in weights)
    }
    mapped = _resolved(
        document,
        MarkerMapping(walk, static, mapping, clusters, carried, requested.notes, requested.names),
        unread,
        wrong,
    )
    # The error of the strict reader is all that is known, unless it is due to a file that cannot be read.
    findings.extend(wrong or ([] if unread else [first]))
    return mapped


def _clusters(
    document: Document, tables: dict[str, dict[str, Any]], wrong: list[Finding]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    clusters: dict[str, tuple[str, ...]] = {}
    carried: dict[str, str] = {}
    for name, value in tables["clusters"].items():
        with contained(wrong, "reading of the mapping", code="mapping"):
            clusters |= read_clusters(document, {name: value})
    for marker, cluster in tables["carried"].items():
        if not isinstance(cluster, str) or cluster in clusters or cluster not in tables["clusters"]:
            with contained(wrong, "reading of the mapping", code="mapping"):
                carried |= read_carried(document, {marker: cluster}, clusters)
    return clusters, carried


def _resolved(
    document: Document, requested: MarkerMapping, unread: bool, wrong: list[Finding]
) -> MarkerMapping:
    """Return what the files provide of a mapping; what they do not provide is reported one by one."""
    errors = absences(
        document, requested.mapping, requested.clusters, requested.carried, requested.walk, requested.static
    )
    if not unread:
        wrong += [finding_of("mapping", error) for error in errors.values()]
    clusters = {
        name: markers
        for name, markers in requested.clusters.items()
        if not unread and ("clusters", name) not in errors
    }
    carried = {
        marker: cluster
        for marker, cluster in requested.carried.items()
        if cluster in clusters and ("carried", marker) not in errors
    }
    lost = set(requested.carried) - set(carried)
    mapping = {
        name: weights
        for name, weights in requested.mapping.items()
        if all(marker in requested.walk or marker in carried for marker in weights)
        or not (("mapping", name) in errors or lost & set(weights))
    }
    return replace(requested, mapping=mapping, clusters=clusters, carried=carried)
