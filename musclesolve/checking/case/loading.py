"""Reading everything that can be read of a trial, and reporting all that cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case.case import Case, Fact, finding_of
from musclesolve.checking.case.containment import contained
from musclesolve.checking.case.lenient_reading import read_leniently
from musclesolve.checking.finding import Finding, Run, Where
from musclesolve.checking.markers.mapping_check import marker_mapping_of
from musclesolve.checking.repair import Recorded
from musclesolve.errors import InputError
from musclesolve.recording.c3d.c3d_file import read_c3d
from musclesolve.recording.c3d.foot_forces import c3d_forces
from musclesolve.recording.data import Markers, PlateForce, Side, Table, Trial
from musclesolve.recording.formats import is_c3d, read_forces_table, read_markers
from musclesolve.recording.markers.marker_mapping import MarkerMapping
from musclesolve.recording.text.text_file import is_file
from musclesolve.recording.trial.emg_channels import read_emg
from musclesolve.recording.trial.force_columns import is_stated, plate_of
from musclesolve.recording.trial.functional_trials import read_functional
from musclesolve.recording.trial.schema import Document, examined, trial_document
from musclesolve.recording.trial.trial_file import (
    assembled,
    marker_notes,
    rotation_of,
    standing_rotation_of,
    subject_of,
    time_range_of,
    with_emg,
)

Rows = TypeVar("Rows", Markers, Table)


def load(path: Path) -> tuple[Case | None, list[Finding]]:
    """Read a trial as far as possible: the case, None where there is no motion to examine, and what was wrong."""
    try:
        document = trial_document(path)
    except InputError as error:
        return None, [finding_of("trial_file" if _is_there(path) else "unreadable", error)]
    content, errors = examined(document)
    findings = _together([finding_of("trial_file", error) for error in errors])
    axes: tuple[Fact, ...] = ("up", "forward")
    unknown: set[Fact] = {axis for axis in axes if content["laboratory"][axis] is None}
    files = _files(document, content, findings)
    rotations = _rotations(document, content, findings)
    reading = _Reading(document, content, files, *rotations, findings)
    walk, static = reading.markers("markers"), reading.markers("static")
    if walk is None:
        # Nothing can be found in forces without the feet, but whether their file can be read.
        if "forces" in files and not is_c3d(files["forces"]):
            read_leniently(files["forces"], read_forces_table, findings)
        return None, findings
    laboratory = {key: axis for key, axis in content["laboratory"].items() if axis is not None}
    recorded = Recorded(reading.trial(walk, static), laboratory)
    if any(finding.code == "mapping" for finding in findings):
        unknown.add("mapping")
    if not recorded.trial.forces or not all(map(is_stated, content["force"])):
        unknown.add("plates")
    return Case(document, content, recorded, tuple(findings), frozenset(unknown)), findings


def _together(findings: list[Finding]) -> list[Finding]:
    """Return what is wrong with several tables of a list, such as [[force]], as one finding in the first of them."""
    same: dict[tuple[str, str | None], list[Finding]] = {}
    for number, each in enumerate(findings):
        field = each.where.field or ""
        key = each.what if field.startswith("[[") else str(number)
        same.setdefault((key, field), []).append(each)
    return [
        own[0]
        if len(own) == 1
        else replace(
            own[0],
            what=f"{own[0].what}; so it is in {len(own)} of these tables, in the "
            f"lines {', '.join(str(each.where.line) for each in own)}",
        )
        for own in same.values()
    ]


def _is_there(path: Path) -> bool:
    try:
        return is_file(path)
    except InputError:
        return False


def _rotations(document: Document, content: dict[str, Any], findings: list[Finding]) -> tuple[Array, Array]:
    """Return the rotations (3, 3) from the files to the global frame, of the motion and of the standing trial."""
    laboratory = content["laboratory"]
    if laboratory["up"] is None:
        laboratory["up"] = "+y" if laboratory["forward"] in ("+z", "-z") else "+z"
    if laboratory["forward"] is None:
        laboratory["forward"] = "+y" if laboratory["up"] in ("+x", "-x") else "+x"
    try:
        rotation = rotation_of(document, laboratory)
    except InputError as error:
        findings.append(finding_of("trial_file", error))
        # Which way is up can be found out again; so any axes will do to go on.
        laboratory["forward"] = "+x" if laboratory["up"][1] != "x" else "+y"
        rotation = rotation_of(document, laboratory)
    try:
        return rotation, standing_rotation_of(document, laboratory)
    except InputError as error:
        findings.append(finding_of("trial_file", error))
        laboratory |= {"static_forward": None, "static_up": None}
        return rotation, rotation


def _files(document: Document, content: dict[str, Any], findings: list[Finding]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for role, name in content["files"].items():
        if name is not None:
            with contained(findings, f"search for the file of {role}", code="unreadable"):
                found[role] = document.input_file("files", role, name)
    return found


@dataclass(frozen=True)
class _Reading:
    """The reading of one trial."""

    document: Document  # the trial file
    content: dict[str, Any]  # its content, with defaults
    files: dict[str, Path]  # role -> file, of those that are there
    rotation: Array  # from the axes of the files to the global ones, (3, 3)
    standing: Array  # the same for the file of the standing trial
    findings: list[Finding]  # what is wrong is added to it

    def markers(self, role: str) -> Markers | None:
        """Return the motion or the standing trial, None where it cannot be read."""
        if role not in self.files:
            return None
        markers = read_leniently(self.files[role], read_markers, self.findings)
        rotation = self.standing if role == "static" else self.rotation
        return None if markers is None else self._whole(markers, "NumFrames").rotated(rotation)

    def trial(self, walk: Markers, static: Markers | None) -> Trial:
        """Return the trial with everything that can be read."""
        document, content, findings = self.document, self.content, self.findings
        unread = static is None and content["files"]["static"] is not None
        marker_mapping = marker_mapping_of(document, content, walk, static, unread, findings)
        functional: dict[Side, Markers] = {}
        with contained(findings, "reading of the functional trials", code="mapping"):
            functional = read_functional(document, content, self.rotation, marker_mapping)
        forces, plate_notes = self._forces(marker_mapping)
        # What is not known is not a number, and no check looks at it.
        given = content["subject"]
        unknown = {key: float("nan") for key in ("mass_kg", "stature_m") if given[key] is None}
        given = given | unknown | {"sex": given["sex"] or "male"}
        subject = subject_of(document, given | {"segments": None})
        with contained(findings, "reading of the subject's segments", code="unreadable"):
            subject = subject_of(document, given)
        time_range = self._time_range(walk, forces)
        notes = (*marker_notes(walk, static, functional), *plate_notes)
        emg, emg_notes = None, list[str]()
        with contained(findings, "reading of the EMG", code="emg"):
            emg, emg_notes = read_emg(document, content, self.files["markers"], checked=False)

        def with_files(files: dict[str, Path]) -> Trial:
            trial = assembled(
                document, content, files, marker_mapping, functional, forces, subject, time_range
            )
            return with_emg(replace(trial, notes=(*trial.notes, *notes)), emg, emg_notes)

        try:
            return with_files(self.files)
        except InputError as error:
            # Events that a file states and that cannot be read: the rest is examined without them.
            findings.append(finding_of("unreadable", error))
            return with_files({})

    def _forces(self, marker_mapping: MarkerMapping) -> tuple[tuple[PlateForce, ...], list[str]]:
        path = self.files.get("forces", self.files["markers"])
        if is_c3d(path):
            with contained(self.findings, "reading of the plates", code="plate_feet"):
                return c3d_forces(
                    self.document,
                    self.content,
                    read_c3d(path),
                    marker_mapping.walk,
                    marker_mapping.mapping,
                    self.rotation,
                )
            return (), []
        table = read_leniently(path, read_forces_table, self.findings) if "forces" in self.files else None
        if table is None:
            return (), []
        table = self._whole(table, "nRows")
        plates = []
        for index, entry in enumerate(self.content["force"]):
            if is_stated(entry):
                with contained(self.findings, "reading of the forces", code="unreadable"):
                    plates.append(plate_of(self.document, self.content, index, table, self.rotation))
        return tuple(plates), list(table.notes)

    def _whole(self, recorded: Rows, count: str) -> Rows:
        """Return what a file holds, its warning on the number of rows made a finding."""
        if not recorded.row_warning:
            return recorded
        remedy = f"export the file again; or correct {count} in its header, if the rows are all there"
        what = recorded.row_warning.rstrip(".")
        self.findings.append(Finding("truncated", "warning", what, remedy, Where(recorded.path)))
        return replace(recorded, row_warning="")

    def _time_range(self, walk: Markers, forces: tuple[PlateForce, ...]) -> Run:
        zero = np.zeros((walk.time.size, 3))
        unloaded = PlateForce("r", walk.time, zero, zero, zero, walk.path)
        with contained(self.findings, "reading of the time range", code="time_range"):
            return time_range_of(self.document, self.content["time"], walk, forces or (unloaded,))
        self.content["time"] = dict.fromkeys(self.content["time"])
        return float(walk.time[0]), float(walk.time[-1])
