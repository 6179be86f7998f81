"""Reading everything that can be read of a trial, and telling all that cannot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve.checking.case import Array, Case, finding_of
from musclesolve.checking.lenient import MOT_MENDS, TRC_MENDS, read_leniently
from musclesolve.checking.report import Finding
from musclesolve.errors import InputError
from musclesolve.recording.data import Markers, PlateForce, Subject, Table, Trial
from musclesolve.recording.mapping import check_markers_exist, examined_mapping, read_carried, read_clusters
from musclesolve.recording.mot import read_mot
from musclesolve.recording.schema import Document, examined
from musclesolve.recording.trc import read_trc
from musclesolve.recording.trial import (
    muscles_of,
    notes_of,
    plate_of,
    rotation_of,
    sharing_of,
    time_range_of,
)

Weights = dict[str, dict[str, float]]


def load(path: Path) -> tuple[Case | None, list[Finding]]:
    """Read a trial as far as possible.

    Returns:
        The case, None where there is no motion to examine, and everything that was wrong on the way.
    """
    try:
        document = Document(path)
    except InputError as error:
        code = "trial_file" if path.is_file() else "unreadable"
        return None, [finding_of(code, error)]
    content, errors = examined(document)
    findings = [finding_of("trial_file", error) for error in errors]
    rotation = _rotation(document, content, findings)
    walk = _markers(document, content, "markers", rotation, findings)
    static = _markers(document, content, "static", rotation, findings)
    table = _table(document, content, findings)
    if walk is None:
        return None, findings
    trial = _trial(document, content, rotation, walk, static, table, findings)
    return Case(document, content, trial), findings


def _rotation(document: Document, content: dict[str, Any], findings: list[Finding]) -> Array:
    laboratory = content["laboratory"]
    if None in laboratory.values():
        laboratory |= {"forward": "+x", "up": "+z"}
    try:
        return rotation_of(document, laboratory)
    except InputError as error:
        findings.append(finding_of("trial_file", error))
        # Which way is up can be found out again; so any axes will do to go on.
        laboratory["forward"] = "+x" if laboratory["up"][1] != "x" else "+y"
        return rotation_of(document, laboratory)


def _path(document: Document, content: dict[str, Any], role: str, findings: list[Finding]) -> Path | None:
    name = content["files"][role]
    if name is None:
        return None
    try:
        return document.input_file("files", role, name)
    except InputError as error:
        findings.append(finding_of("unreadable", error))
        return None


def _markers(
    document: Document, content: dict[str, Any], role: str, rotation: Array, findings: list[Finding]
) -> Markers | None:
    path = _path(document, content, role, findings)
    if path is None:
        return None
    markers, told = read_leniently(path, read_trc, TRC_MENDS)
    findings.extend(told)
    return None if markers is None else markers.rotated(rotation)


def _table(document: Document, content: dict[str, Any], findings: list[Finding]) -> Table | None:
    path = _path(document, content, "forces", findings)
    if path is None:
        return None
    table, told = read_leniently(path, read_mot, MOT_MENDS)
    findings.extend(told)
    return table


def _trial(
    document: Document,
    content: dict[str, Any],
    rotation: Array,
    walk: Markers,
    static: Markers | None,
    table: Table | None,
    findings: list[Finding],
) -> Trial:
    mapping = _mapping(document, content, findings)
    clusters, carried = _clusters(document, content, findings)
    mapping, clusters = _existing(document, mapping, clusters, carried, walk, static, findings)
    forces = _plates(document, content, table, rotation, findings)
    paths = {
        role: document.path.parent / name for role, name in content["files"].items() if isinstance(name, str)
    }
    return Trial(
        path=document.path,
        subject=_subject(content["subject"]),
        markers=walk,
        static=static,
        forces=forces,
        mapping=mapping,
        clusters=clusters,
        carried={m: c for m, c in carried.items() if c in clusters and static is not None and m in static},
        time_range=_time_range(document, content, walk, forces, findings),
        cutoff_hz=float(content["filter"]["cutoff_hz"]),
        unloaded_below=float(content["filter"]["unloaded_below_n"]),
        hip_regression=content["joint_centers"]["hip"],
        muscles=muscles_of(document, content["muscles"]),
        sharing=sharing_of(content["sharing"]),
        files={"trial": document.path, **paths},
        notes=notes_of(content, forces),
    )


def _subject(given: dict[str, Any]) -> Subject:
    """Return the person; what is not known is not a number, and no check looks at it."""
    leg = given["leg_length_m"]
    return Subject(
        name=given["name"],
        mass=math.nan if given["mass_kg"] is None else float(given["mass_kg"]),
        stature=math.nan if given["stature_m"] is None else float(given["stature_m"]),
        sex=given["sex"] or "male",
        leg_length=None if leg is None else float(leg),
        shoe_mass=float(given["shoe_mass_kg"]),
    )


def _mapping(document: Document, content: dict[str, Any], findings: list[Finding]) -> Weights:
    mapping, errors = examined_mapping(document, content["mapping"])
    findings.extend(finding_of("mapping", error) for error in errors)
    return {name: dict(weights) for name, weights in mapping.items()}


def _clusters(
    document: Document, content: dict[str, Any], findings: list[Finding]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return clusters and carried markers as far as their lines are right; those that are not are told one by one."""
    clusters: dict[str, tuple[str, ...]] = {}
    carried: dict[str, str] = {}
    for name, value in content["clusters"].items():
        with _told("mapping", findings):
            clusters |= read_clusters(document, {name: value})
    for marker, cluster in content["carried"].items():
        if cluster in clusters or cluster not in content["clusters"]:
            with _told("mapping", findings):
                carried |= read_carried(document, {marker: cluster}, clusters)
    return clusters, carried


@contextmanager
def _told(code: str, findings: list[Finding]) -> Iterator[None]:
    """Turn an InputError into a finding, and go on."""
    try:
        yield
    except InputError as error:
        findings.append(finding_of(code, error))


def _existing(
    document: Document,
    mapping: Weights,
    clusters: dict[str, tuple[str, ...]],
    carried: dict[str, str],
    walk: Markers,
    static: Markers | None,
    findings: list[Finding],
) -> tuple[Weights, dict[str, tuple[str, ...]]]:
    """Return the landmarks and clusters whose markers are in the files; the others are told one by one."""
    # Where the standing trial was named and cannot be read, it is not asked for what it shows.
    unread = static is None and isinstance(document.content.get("files", {}).get("static"), str)
    shown: dict[str, tuple[str, ...]] = {}
    for name, markers in clusters.items():
        if unread:
            continue
        with _told("mapping", findings):
            check_markers_exist(document, {}, {name: markers}, {}, walk, static)
            shown[name] = markers
    for marker in carried:
        if static is not None:
            with _told("mapping", findings):
                check_markers_exist(document, {}, {}, {marker: carried[marker]}, walk, static)
    seen: Weights = {}
    for name, weights in mapping.items():
        if unread and not all(marker in walk for marker in weights):
            continue
        with _told("mapping", findings):
            check_markers_exist(document, {name: weights}, {}, carried, walk, static)
            if all(carried.get(marker, marker) in (*shown, *walk.names) for marker in weights):
                seen[name] = weights
    return seen, shown


def _plates(
    document: Document, content: dict[str, Any], table: Table | None, rotation: Array, findings: list[Finding]
) -> tuple[PlateForce, ...]:
    plates = []
    for index, entry in enumerate(content["force"]):
        if table is not None and None not in [entry[key] for key in ("side", "force", "point")]:
            with _told("unreadable", findings):
                plates.append(plate_of(document, content, index, table, rotation))
    return tuple(plates)


def _time_range(
    document: Document,
    content: dict[str, Any],
    walk: Markers,
    forces: tuple[PlateForce, ...],
    findings: list[Finding],
) -> tuple[float, float]:
    given = content["time"]
    with _told("time_range", findings):
        return time_range_of(document, given, walk, forces or (_nothing(walk),))
    return float(walk.time[0]), float(walk.time[-1])


def _nothing(walk: Markers) -> PlateForce:
    """Return a plate that carries nothing as long as the motion lasts."""
    zero = np.zeros((walk.time.size, 3))
    return PlateForce("r", walk.time, zero, zero, zero, walk.path)
