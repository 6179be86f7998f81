"""Reading everything that can be read of a trial, and telling all that cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case.case import Case, finding_of
from musclesolve.checking.case.containment import contained
from musclesolve.checking.case.lenient_reading import FORCE_MENDS, MARKER_MENDS, read_leniently
from musclesolve.checking.finding import Finding, Where
from musclesolve.checking.markers.mapping_check import meaning_of
from musclesolve.errors import InputError
from musclesolve.recording.c3d.c3d_file import read_c3d
from musclesolve.recording.c3d.foot_forces import c3d_forces
from musclesolve.recording.data import Markers, PlateForce, Side, Subject, Table, Trial
from musclesolve.recording.formats import is_c3d, read_forces_table, read_markers
from musclesolve.recording.markers.marker_mapping import Meaning
from musclesolve.recording.text.text_file import is_file
from musclesolve.recording.trial.functional_trials import read_functional
from musclesolve.recording.trial.schema import Document, examined
from musclesolve.recording.trial.trial_file import (
    assembled,
    marker_notes,
    plate_of,
    rotation_of,
    subject_of,
    time_range_of,
)


def load(path: Path) -> tuple[Case | None, list[Finding]]:
    """Read a trial as far as possible.

    Returns:
        The case, None where there is no motion to examine, and everything that was wrong on the way.
    """
    try:
        document = Document(path)
    except InputError as error:
        return None, [finding_of("trial_file" if _there(path) else "unreadable", error)]
    content, errors = examined(document)
    findings = [finding_of("trial_file", error) for error in errors]
    rotation = _rotation(document, content, findings)
    files = _files(document, content, findings)
    walk = _markers(files, "markers", rotation, findings)
    static = _markers(files, "static", rotation, findings)
    if walk is None:
        # Nothing can be said of forces without the feet, but whether their file can be read.
        _tables(files, findings)
        return None, findings
    trial = _trial(document, content, files, rotation, walk, static, findings)
    return Case(document, content, trial, findings), findings


def _there(path: Path) -> bool:
    try:
        return is_file(path)
    except InputError:
        return False


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


def _files(document: Document, content: dict[str, Any], findings: list[Finding]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for role, name in content["files"].items():
        if name is not None:
            with contained(findings, f"search for the file of {role}", code="unreadable"):
                found[role] = document.input_file("files", role, name)
    return found


def _markers(files: dict[str, Path], role: str, rotation: Array, findings: list[Finding]) -> Markers | None:
    if role not in files:
        return None
    mends = MARKER_MENDS.get(files[role].suffix.casefold(), ())
    markers, wrong = read_leniently(files[role], read_markers, mends)
    findings.extend(wrong)
    return None if markers is None else markers.rotated(rotation)


def _tables(files: dict[str, Path], findings: list[Finding]) -> None:
    if "forces" in files and not is_c3d(files["forces"]):
        _, wrong = read_leniently(files["forces"], read_forces_table, _force_mends(files["forces"]))
        findings.extend(wrong)


def _force_mends(path: Path) -> Any:
    return FORCE_MENDS.get(path.suffix.casefold(), ())


def _trial(
    document: Document,
    content: dict[str, Any],
    files: dict[str, Path],
    rotation: Array,
    walk: Markers,
    static: Markers | None,
    findings: list[Finding],
) -> Trial:
    unread = static is None and content["files"]["static"] is not None
    meaning = meaning_of(document, content, walk, static, unread, findings)
    functional: dict[Side, Markers] = {}
    with contained(findings, "reading of the functional trials", code="mapping"):
        functional = read_functional(document, content, rotation, meaning)
    forces, said = _forces(document, content, files, meaning, rotation, findings)
    subject = _subject(content["subject"])
    time_range = _time_range(document, content, walk, forces, findings)
    try:
        trial = assembled(document, content, files, meaning, functional, forces, subject, time_range)
    except InputError as error:
        # Events that a file states and that cannot be read: the rest is examined without them.
        findings.append(finding_of("unreadable", error))
        trial = assembled(document, content, {}, meaning, functional, forces, subject, time_range)
    return replace(trial, notes=(*trial.notes, *marker_notes(walk, static), *said))


def _subject(given: dict[str, Any]) -> Subject:
    """Return the person; what is not known is not a number, and no check looks at it."""
    unknown = {key: float("nan") for key in ("mass_kg", "stature_m") if given[key] is None}
    return subject_of(given | unknown | {"sex": given["sex"] or "male"})


def _forces(
    document: Document,
    content: dict[str, Any],
    files: dict[str, Path],
    meaning: Meaning,
    rotation: Array,
    findings: list[Finding],
) -> tuple[tuple[PlateForce, ...], list[str]]:
    path = files.get("forces", files["markers"])
    if is_c3d(path):
        with contained(findings, "reading of the plates", code="plate_feet"):
            return c3d_forces(document, content, read_c3d(path), meaning.walk, meaning.mapping, rotation)
        return (), []
    if "forces" not in files:
        return (), []
    table, wrong = read_leniently(path, read_forces_table, _force_mends(path))
    findings.extend(wrong)
    plates = []
    for index, entry in enumerate(content["force"]):
        if table is not None and None not in [entry[key] for key in ("side", "force", "point")]:
            with contained(findings, "reading of the forces", code="unreadable"):
                plates.append(plate_of(document, content, index, table, rotation))
    if table is None:
        return (), []
    if table.row_warning:
        findings.append(_miscounted(table))
    return tuple(plates), list(table.notes)


def _miscounted(table: Table) -> Finding:
    """Return the warning of a header that counts other rows than the file holds."""
    remedy = "export the file again; or correct nRows in its header, if the rows are all there"
    return Finding("truncated", "warning", table.row_warning.rstrip("."), remedy, Where(table.path))


def _time_range(
    document: Document,
    content: dict[str, Any],
    walk: Markers,
    forces: tuple[PlateForce, ...],
    findings: list[Finding],
) -> tuple[float, float]:
    with contained(findings, "reading of the time range", code="time_range"):
        return time_range_of(document, content["time"], walk, forces or (_nothing(walk),))
    content["time"] = dict.fromkeys(content["time"])
    return float(walk.time[0]), float(walk.time[-1])


def _nothing(walk: Markers) -> PlateForce:
    """Return a plate that carries nothing as long as the motion lasts."""
    zero = np.zeros((walk.time.size, 3))
    return PlateForce("r", walk.time, zero, zero, zero, walk.path)
