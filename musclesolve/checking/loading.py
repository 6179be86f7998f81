"""Reading everything that can be read of a trial, and reporting all that cannot.

Text recordings that the strict readers refuse are repaired one fault at a time, so that the rest can be examined; of
the mapping of markers every line that is wrong is reported.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case import Case, Fact, contained, finding_of
from musclesolve.checking.finding import Finding, Run, Where
from musclesolve.checking.repair import Recorded
from musclesolve.errors import InputError
from musclesolve.recording.c3d.c3d_file import is_c3d, read_c3d
from musclesolve.recording.data import Markers, PlateForce, Side, Table, Trial
from musclesolve.recording.formats import read_forces_table, read_markers
from musclesolve.recording.markers.mapping_tables import (
    absences,
    examined_mapping,
    joint_errors,
    read_carried,
    read_clusters,
)
from musclesolve.recording.markers.marker_mapping import MarkerMapping, read_marker_mapping, requested_mapping
from musclesolve.recording.plates.foot_forces import c3d_forces, is_stated, plate_of
from musclesolve.recording.schema import Document, examined, trial_document
from musclesolve.recording.text.text_file import is_file, read_lines, split_cells
from musclesolve.recording.text.trc_file import RATE_TOLERANCE
from musclesolve.recording.trial.emg_channels import read_emg
from musclesolve.recording.trial.functional_trials import read_functional
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


Lines = list[str]
TextRepair = Callable[[Lines], Lines]

# Line of the TRC header values, and the first line that can be data.
_TRC_VALUES, _TRC_DATA = 2, 4


def read_leniently(path: Path, reader: Callable[[Path], Rows], findings: list[Finding]) -> Rows | None:
    """Read a file, None where no repair helps; faults are repaired in a copy and added to the findings."""
    try:
        return reader(path)
    except InputError as refused:
        error = refused
    repairs = TEXT_REPAIRS.get(path.suffix.casefold(), ())
    try:
        lines = read_lines(path) if repairs else []
    except InputError:
        repairs = ()
    for code, repair in repairs:
        repaired = repair(lines)
        if repaired == lines:
            continue
        recorded, next_error = _read_copy(path, reader, repaired)
        if next_error is not None and next_error.problem == error.problem:
            continue
        findings.append(finding_of(code, error))
        if next_error is None:
            return recorded
        lines, error = repaired, next_error
    findings.append(finding_of("unreadable", error))
    return None


def _read_copy(
    path: Path, reader: Callable[[Path], Rows], lines: Lines
) -> tuple[Rows | None, InputError | None]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_text("\n".join(lines), encoding="utf-8")
        try:
            return replace(reader(copy), path=path), None
        except InputError as error:
            error.file = path
            return None, error


@dataclass(frozen=True)
class _Layout:
    """Layout of a format: where it keeps its rows of data and their number."""

    first_row: Callable[[Lines], int]  # the first line that can be data
    time: int  # the column of times
    cells: Callable[[str], list[str]]  # the cells of a line
    with_count: Callable[[Lines, int], Lines]  # writes the number of rows into the header

    def rows(self, lines: Lines) -> list[int]:
        """Return which lines are rows of data: they begin with a number."""
        return [
            k
            for k in range(self.first_row(lines), len(lines))
            if lines[k].split() and _is_number(lines[k].split()[0])
        ]

    def without(self, lines: Lines, dropped: set[int]) -> Lines:
        """Return the lines without some, and with the right count in the header."""
        kept = [line for k, line in enumerate(lines) if k not in dropped]
        return self.with_count(kept, len(self.rows(kept)))

    def whole_rows(self, lines: Lines) -> Lines:
        """Drop the rows that are cut short."""
        counts = {k: len(self.cells(lines[k])) for k in self.rows(lines)}
        width = Counter(counts.values()).most_common(1)[0][0] if counts else 0
        return self.without(lines, {k for k, count in counts.items() if count < width})

    def rising(self, lines: Lines) -> Lines:
        """Drop the rows that do not lie after all rows before them."""
        latest, dropped = float("-inf"), set()
        for k in self.rows(lines):
            cells = split_cells(lines[k])
            if len(cells) > self.time and _is_number(cells[self.time]):
                time = float(cells[self.time])
                if time <= latest:
                    dropped.add(k)
                latest = max(latest, time)
        return self.without(lines, dropped)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _trc_field(lines: Lines, name: str) -> tuple[int, list[str]] | None:
    """Return where a field stands among the header values of a TRC file, and those values."""
    if len(lines) <= _TRC_DATA:
        return None
    names, values = lines[1].split(), lines[_TRC_VALUES].split()
    at = names.index(name) if name in names else len(values)
    return (at, values) if at < len(values) else None


def _with_trc_field(lines: Lines, name: str, value: str) -> Lines:
    found = _trc_field(lines, name)
    if found is None:
        return lines
    at, values = found
    written = "\t".join([*values[:at], value, *values[at + 1 :]])
    return [*lines[:_TRC_VALUES], written, *lines[_TRC_VALUES + 1 :]]


def _with_trc_count(lines: Lines, rows: int) -> Lines:
    found = _trc_field(lines, "NumFrames")
    same = found is not None and _is_number(found[1][found[0]]) and float(found[1][found[0]]) == rows
    return lines if same else _with_trc_field(lines, "NumFrames", str(rows))


def _with_trc_rate(lines: Lines) -> Lines:
    """Write the rate of the time column into the header."""
    rows = [split_cells(lines[k]) for k in _TRC.rows(lines)]
    times = [cells[1] for cells in rows if len(cells) > 1]
    found = _trc_field(lines, "DataRate")
    if found is None or len(times) < 2 or not (_is_number(times[0]) and _is_number(times[-1])):
        return lines
    span, given = float(times[-1]) - float(times[0]), found[1][found[0]]
    if span <= 0.0:
        return lines
    rate = (len(times) - 1) / span
    right = _is_number(given) and abs(float(given) - rate) <= RATE_TOLERANCE * float(given)
    return lines if right else _with_trc_field(lines, "DataRate", repr(rate))


def _after_mot_header(lines: Lines) -> int:
    return next((k + 1 for k, line in enumerate(lines) if line.strip().casefold() == "endheader"), len(lines))


def _with_mot_count(lines: Lines, rows: int) -> Lines:
    header = _after_mot_header(lines)
    return [
        f"nRows={rows}" if k < header and line.strip().casefold().startswith(("nrows", "datarows")) else line
        for k, line in enumerate(lines)
    ]


_TRC = _Layout(lambda lines: _TRC_DATA, 1, split_cells, _with_trc_count)
_MOT = _Layout(_after_mot_header, 0, str.split, _with_mot_count)
_MOT_REPAIRS = (("truncated", _MOT.whole_rows), ("repeated_times", _MOT.rising))
# Extension -> code of the finding and what makes the lines readable.
TEXT_REPAIRS: dict[str, tuple[tuple[str, TextRepair], ...]] = {
    ".trc": (
        ("truncated", _TRC.whole_rows),
        ("repeated_times", _TRC.rising),
        ("header_rate", _with_trc_rate),
    ),
    ".mot": _MOT_REPAIRS,
    ".sto": _MOT_REPAIRS,
}


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
