"""What the markers mean: the mapping of a trial file, and that of the marker set it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from musclesolve.recording.data import Markers
from musclesolve.recording.joints import check_joints
from musclesolve.recording.mapping import (
    Weights,
    check_markers_exist,
    read_carried,
    read_clusters,
    read_mapping,
)
from musclesolve.recording.marker_set import MarkerSet, applied, find_marker_set, fitting, renamed
from musclesolve.recording.schema import Document


@dataclass(frozen=True)
class Meaning:
    """Markers by the names that the mapping uses, and what they mean.

    Args:
        walk: markers of the motion.
        static: markers of the standing trial, if there is one.
        mapping: landmark -> marker -> weight.
        clusters: cluster -> its markers.
        carried: marker that only the standing trial shows -> the cluster that carries it.
        notes: what a reader of the results should know of it.
        chosen: the marker set that was applied, if one was.
    """

    walk: Markers
    static: Markers | None
    mapping: Mapping[str, Weights]
    clusters: Mapping[str, tuple[str, ...]]
    carried: Mapping[str, str]
    notes: tuple[str, ...] = ()
    chosen: MarkerSet | None = None


def read_meaning(
    document: Document, content: Mapping[str, Any], walk: Markers, static: Markers | None
) -> Meaning:
    """Return what the markers mean, checked against the recordings.

    Args:
        document: the trial file.
        content: its content, with defaults.
        walk: markers of the motion.
        static: markers of the standing trial, if there is one.

    Raises:
        InputError: an unknown set, landmark or marker, or a mapping from which a joint cannot be found.
    """
    tables: dict[str, dict[str, Any]] = {
        name: dict(content[name]) for name in ("mapping", "clusters", "carried")
    }
    notes: list[str] = []
    chosen = None
    if asked := content["markers"]["set"]:
        chosen = find_marker_set(document, asked)
        walk, static = renamed(walk, chosen), None if static is None else renamed(static, chosen)
        tables = applied(chosen, tables, walk, static)
        notes.append(f"The markers are read as {chosen.name}: {chosen.description}.")
    elif not tables["mapping"]:
        raise _no_mapping(document, walk)
    mapping = read_mapping(document, tables["mapping"])
    clusters = read_clusters(document, tables["clusters"])
    carried = read_carried(document, tables["carried"], clusters)
    check_joints(document, mapping, content["subject"], static is not None)
    check_markers_exist(document, mapping, clusters, carried, walk, static)
    return Meaning(walk, static, mapping, clusters, carried, tuple(notes), chosen)


def by_set(markers: Markers, meaning: Meaning) -> Markers:
    """Return the markers of a further recording by the names that the mapping uses."""
    return markers if meaning.chosen is None else renamed(markers, meaning.chosen)


def _no_mapping(document: Document, walk: Markers) -> Exception:
    best = fitting(walk)
    remedy = "add [mapping] with a line for every landmark, or [markers] with the name of a marker set"
    if best is not None:
        remedy = f'add [markers] with set = "{best[0]}": the recording has the markers of {best[1]} of its landmarks'
    return document.error(
        "nothing says what the markers mean", "mapping", expected="[mapping], or a marker set", remedy=remedy
    )
