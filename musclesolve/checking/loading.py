"""Reading everything that can be read of a trial, and reporting all that cannot.

Text recordings that the strict readers refuse are repaired one fault at a time, so that the rest can be examined; of
the mapping of markers every line that is wrong is reported.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case import Case, Fact, contained, finding_of
from musclesolve.checking.repair import ROLES, Recorded
from musclesolve.errors import InputError
from musclesolve.recording.c3d.c3d_file import is_c3d, read_c3d
from musclesolve.recording.data import Markers, PlateForce, Table, Trial
from musclesolve.recording.formats import read_forces_table, read_markers
from musclesolve.recording.markers.mapping_tables import (
    absences,
    examined_mapping,
    functional_joints,
    joint_errors,
    read_carried,
    read_clusters,
)
from musclesolve.recording.markers.marker_mapping import MarkerMapping, read_marker_mapping, requested_mapping
from musclesolve.recording.plates.foot_forces import c3d_forces, is_stated, plate_of, with_feet
from musclesolve.recording.plates.plate_corrections import corrected_plates
from musclesolve.recording.schema import Document, examined, trial_document
from musclesolve.recording.text.text_file import is_file, read_lines, split_cells
from musclesolve.recording.text.trc_file import RATE_TOLERANCE
from musclesolve.recording.trial.emg_channels import read_emg
from musclesolve.recording.trial.fascicle_lengths import read_fascicles
from musclesolve.recording.trial.functional_trials import FunctionalTrials, read_functional
from musclesolve.recording.trial.settings import consistency_of, filter_of, muscles_of, with_stated_events
from musclesolve.recording.trial.trial_file import (
    assembled,
    marker_notes,
    rotation_of,
    subject_of,
    time_range_of,
    with_emg,
    with_fascicles,
)
from musclesolve.results.finding import Finding, Run, Where

Rows = TypeVar("Rows", Markers, Table)
MARKER_TABLES = ("laboratory", "files", "markers", "mapping", "clusters", "carried")
"""What states how markers are read and what they mean."""
WITHOUT_PARTS: dict[str, Any] = {"segments": None, "body": None}
"""What [subject] states of segments and of a calibrated body is read apart from the rest."""


def load(path: Path) -> tuple[Case | None, list[Finding]]:
    """Read a trial as far as possible: the case, None where there is no motion to examine, and what was wrong."""
    try:
        document = trial_document(path)
    except InputError as error:
        code = "unreadable"
        with suppress(InputError):
            code = "trial_file" if is_file(path) else code
        return None, [finding_of(code, error)]
    content, errors = examined(document)
    findings = _together([finding_of("trial_file", error) for error in errors])
    unknown = _unknown_axes(content)
    files = _files(document, content, findings)
    rotation, walk, static = _motion_and_standing(document, content, files, findings, read_markers)
    if walk is None:
        # Nothing can be found in forces without the feet, but whether their file can be read.
        if "forces" in files and not is_c3d(files["forces"]):
            read_leniently(files["forces"], read_forces_table, findings)
        return None, findings
    trial = _trial(document, content, files, rotation, walk, static, findings)
    if any(finding.code == "mapping" for finding in findings):
        unknown.add("mapping")
    if not trial.forces or not all(map(is_stated, content["force"])):
        unknown.add("plates")
    case = Case(document, content, _recorded(trial, content), tuple(findings), frozenset(unknown))
    return case, findings


def load_markers(
    path: Path, read: Callable[[Path], Markers] = read_markers, axes: Mapping[str, str | None] | None = None
) -> tuple[Case | None, list[Finding]]:
    """As `load`, of motion, standing trial and what their markers mean; nothing else is read, or reported.

    read: reader of the markers of a file. axes: what is used instead of [laboratory], by its keys.
    """
    try:
        document = trial_document(path)
    except InputError as error:
        return None, [finding_of("trial_file", error)]
    # What joints need beside markers; the other tables have their defaults.
    used = (*MARKER_TABLES, "subject", "joint_centers")
    document.content = {name: table for name, table in document.content.items() if name in used}
    files, keys = document.content.get("files"), document.tables["files"]["keys"]
    if isinstance(files, dict):
        document.content["files"] = {role: name for role, name in files.items() if role in ROLES}
    document.tables = {**document.tables, "files": {"keys": {role: keys[role] for role in ROLES}}}
    content, errors = examined(document)
    concerned = tuple(f"[{name}]" for name in MARKER_TABLES)
    found = [finding_of("trial_file", error) for error in errors]
    findings = [finding for finding in found if (finding.where.field or "").startswith(concerned)]
    unknown, files = _unknown_axes(content), _files(document, content, findings)
    content["laboratory"] |= axes or {}
    _, walk, static = _motion_and_standing(document, content, files, findings, read)
    if walk is None:
        return None, findings
    unread = static is None and content["files"]["static"] is not None
    marker_mapping = _marker_mapping(document, content, walk, static, unread, findings)
    subject = subject_of(document, _subject_values(content) | WITHOUT_PARTS)
    span = float(walk.time[0]), float(walk.time[-1])
    trial = assembled(document, content, {}, marker_mapping, FunctionalTrials(), (), subject, span)
    case = Case(document, content, _recorded(trial, content), tuple(findings), frozenset(unknown))
    return case, findings


def _files(document: Document, content: dict[str, Any], findings: list[Finding]) -> dict[str, Path]:
    """Return role -> file of those that are named and there."""
    files: dict[str, Path] = {}
    for role, name in content["files"].items():
        if name is not None:
            with contained(findings, f"search for the file of {role}", code="unreadable"):
                files[role] = document.input_file("files", role, name)
    return files


def _motion_and_standing(
    document: Document,
    content: dict[str, Any],
    files: dict[str, Path],
    findings: list[Finding],
    read: Callable[[Path], Markers],
) -> tuple[Array, Markers | None, Markers | None]:
    """Return the rotation (3, 3) from the files to the global frame, and both recordings in that frame."""
    rotation, standing = _rotations(document, content["laboratory"], findings)

    def markers(role: str, rotation: Array) -> Markers | None:
        recorded = read_leniently(files[role], read, findings) if role in files else None
        return None if recorded is None else _whole(recorded, "NumFrames", findings).rotated(rotation)

    return rotation, markers("markers", rotation), markers("static", standing)


def case_of(trial: Trial) -> Case:
    """Return the case of a recording that was read, and may have been changed in memory since."""
    content, _ = examined(trial.document)
    unknown = _unknown_axes(content)
    return Case(trial.document, content, _recorded(trial, content), (), frozenset(unknown))


def _recorded(trial: Trial, content: dict[str, Any]) -> Recorded:
    return Recorded(trial, {key: axis for key, axis in content["laboratory"].items() if axis is not None})


def _subject_values(content: dict[str, Any]) -> dict[str, Any]:
    """Return [subject]; what is not known is not a number, and no check looks at it."""
    values: dict[str, Any] = content["subject"]
    unknown = {key: float("nan") for key in ("mass_kg", "stature_m") if values[key] is None}
    return values | unknown | {"sex": values["sex"] or "male"}


def _unknown_axes(content: dict[str, Any]) -> set[Fact]:
    axes: tuple[Fact, ...] = ("up", "forward")
    return {axis for axis in axes if content["laboratory"][axis] is None}


def _together(findings: list[Finding]) -> list[Finding]:
    """Return what is wrong with several tables of a list, such as [[force]], as one finding in the first of them."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for number, finding in enumerate(findings):
        field = finding.where.field or ""
        what = finding.what if field.startswith("[[") else str(number)
        alike.setdefault((what, field), []).append(finding)
    joined = []
    for first, *others in alike.values():
        if others:
            lines = ", ".join(str(finding.where.line) for finding in (first, *others))
            more = f"so it is in {1 + len(others)} of these tables, in the lines {lines}"
            first = replace(first, what=f"{first.what}; {more}")
        joined.append(first)
    return joined


def _rotations(
    document: Document, laboratory: dict[str, Any], findings: list[Finding]
) -> tuple[Array, Array]:
    """Return the rotations (3, 3) from the files to the global frame, of the motion and of the standing trial.

    laboratory: axes that are not stated, or not to be used, are set in it.
    """
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
        return rotation, rotation_of(document, laboratory, standing=True)
    except InputError as error:
        findings.append(finding_of("trial_file", error))
        laboratory |= {"static_forward": None, "static_up": None}
        return rotation, rotation


def _trial(
    document: Document,
    content: dict[str, Any],
    files: dict[str, Path],
    rotation: Array,
    walk: Markers,
    static: Markers | None,
    findings: list[Finding],
) -> Trial:
    """Return the trial with everything that can be read; what cannot is added to the findings.

    files: role -> file, of those that are there. rotation: from their axes to the global ones, (3, 3). What is at fault
    in the content is replaced in it by what the trial is made with.
    """
    unread = static is None and content["files"]["static"] is not None
    marker_mapping = _marker_mapping(document, content, walk, static, unread, findings)
    functional = FunctionalTrials()
    with contained(findings, "reading of the functional trials", code="mapping"):
        functional = read_functional(document, content, rotation, marker_mapping)

    forces: tuple[PlateForce, ...] = ()
    notes = list(marker_notes(walk, static, functional))
    path = files.get("forces", files["markers"])
    if is_c3d(path):
        with contained(findings, "reading of the plates", code="plate_feet"):
            recorded, mapping = read_c3d(path), marker_mapping.mapping
            forces, plate_notes = c3d_forces(
                document, content, recorded, marker_mapping.walk, mapping, rotation
            )
            notes += plate_notes
    elif "forces" in files and (table := read_leniently(path, read_forces_table, findings)) is not None:
        table = _whole(table, "nRows", findings)
        of_place = dict[int, PlateForce]()
        for index, entry in enumerate(content["force"]):
            if is_stated(entry):
                with contained(findings, "reading of the forces", code="unreadable"):
                    of_place[index] = plate_of(document, content, index, table, rotation)
        with contained(findings, "finding of the feet on the plates", code="plate_feet"):
            shown = marker_mapping.walk, marker_mapping.mapping
            forces, plate_notes = with_feet(document, content, of_place, *shown)
            notes += plate_notes
        notes += table.notes
    with contained(findings, "reading of the corrections of plates", code="unreadable"):
        forces, corrections = corrected_plates(document, content, forces, rotation)
        notes += corrections

    values = _subject_values(content)
    subject = subject_of(document, values | WITHOUT_PARTS)
    with contained(findings, "reading of the subject's segments and body", code="unreadable"):
        subject = subject_of(document, values)

    zero = np.zeros((walk.time.size, 3))
    plates = forces or (PlateForce("r", walk.time, zero, zero, zero, walk.path),)
    time_range: Run | None = None
    with contained(findings, "reading of the time range", code="time_range"):
        time_range = time_range_of(document, content["time"], walk, plates)
    if time_range is None:
        content["time"] = dict.fromkeys(content["time"])
        time_range = float(walk.time[0]), float(walk.time[-1])

    emg, emg_notes = None, list[str]()
    with contained(findings, "reading of the EMG", code="emg"):
        emg, emg_notes = read_emg(document, content, files["markers"], checked=False)
    fascicles, fascicle_notes = None, list[str]()
    with contained(findings, "reading of the fascicle lengths", code="fascicle"):
        fascicles, fascicle_notes = read_fascicles(document, content)

    # Settings of which one rules out another: the examination goes on with those that are usual.
    settings: dict[str, tuple[Callable[[Document, dict[str, Any]], Any], tuple[str, ...]]] = {
        "filter": (filter_of, ("method", "order", "cutoff_hz")),
        "consistency": (consistency_of, ("method",)),
        "muscles": (muscles_of, ("tendon_strain",)),
    }
    for name, (read, keys) in settings.items():
        try:
            read(document, content[name])
        except InputError as error:
            findings.append(finding_of("trial_file", error))
            rules = document.tables[name]["keys"]
            content[name] = content[name] | {key: rules[key].get("default") for key in keys}
    try:
        with_stated_events(document, content["events"], (), walk)
    except InputError as error:
        findings.append(finding_of("trial_file", error))
        content["events"] = dict.fromkeys(content["events"])

    def with_files(files: dict[str, Path]) -> Trial:
        trial = assembled(document, content, files, marker_mapping, functional, forces, subject, time_range)
        trial = with_emg(replace(trial, notes=(*trial.notes, *notes)), emg, emg_notes)
        return with_fascicles(trial, fascicles, fascicle_notes)

    try:
        return with_files(files)
    except InputError as error:
        # Events that a file states and that cannot be read: the rest is examined without them.
        findings.append(finding_of("unreadable", error))
        return with_files({})


def _whole(recorded: Rows, count: str, findings: list[Finding]) -> Rows:
    """Return what a file holds, its warning on the number of rows made a finding; count: where its header has it."""
    if not recorded.row_warning:
        return recorded
    remedy = f"export the file again; or correct {count} in its header, if the rows are all there"
    what = recorded.row_warning.rstrip(".")
    findings.append(Finding("truncated", "warning", what, remedy, Where(recorded.path)))
    return replace(recorded, row_warning="")


def _marker_mapping(
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
        refused = finding_of("mapping", error)
    try:
        requested = requested_mapping(document, content, walk, static)
    except InputError:
        # Without the set, or without the owners of the markers, every line would seem wrong.
        findings.append(refused)
        return MarkerMapping(walk, static, {}, {}, {})
    wrong: list[Finding] = []
    walk, static, tables = requested.walk, requested.static, requested.tables
    by_motion = functional_joints(content)
    mapping, errors = examined_mapping(document, tables["mapping"], by_motion)
    # What a set has for markers of the standing trial is missing for want of it.
    if tables["mapping"] and not (unread and content["markers"]["set"]):
        if not errors:
            errors = joint_errors(
                document, mapping, content["subject"], static is not None or unread, by_motion
            )
        wrong += [finding_of("mapping", error) for error in errors]

    clusters: dict[str, tuple[str, ...]] = {}
    for name, value in tables["clusters"].items():
        with contained(wrong, "reading of the mapping", code="mapping"):
            clusters |= read_clusters(document, {name: value})
    carried: dict[str, str] = {}
    for marker, cluster in tables["carried"].items():
        if not isinstance(cluster, str) or cluster in clusters or cluster not in tables["clusters"]:
            with contained(wrong, "reading of the mapping", code="mapping"):
                carried |= read_carried(document, {marker: cluster}, clusters)
    # What a cluster that is at fault would carry is missing for want of it.
    mapping = {
        name: weights
        for name, weights in mapping.items()
        if not any(marker in tables["carried"] and marker not in carried for marker in weights)
    }

    absent = absences(document, mapping, clusters, carried, walk, static)
    if not unread:
        wrong += [finding_of("mapping", error) for error in absent.values()]
    clusters = {k: markers for k, markers in clusters.items() if not unread and ("clusters", k) not in absent}
    lost = {
        marker
        for marker, cluster in carried.items()
        if cluster not in clusters or ("carried", marker) in absent
    }
    carried = {marker: cluster for marker, cluster in carried.items() if marker not in lost}
    mapping = {
        name: weights
        for name, weights in mapping.items()
        if all(marker in walk or marker in carried for marker in weights)
        or not (("mapping", name) in absent or lost & set(weights))
    }
    # The error of the strict reader is all that is known, unless it is due to a file that cannot be read.
    findings.extend(wrong or ([] if unread else [refused]))
    return MarkerMapping(walk, static, mapping, clusters, carried, requested.notes, requested.names)


Lines = list[str]
TextRepair = Callable[[Lines], Lines]


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
        recorded, next_error = None, None
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_text("\n".join(repaired), encoding="utf-8")
            try:
                recorded = replace(reader(copy), path=path)
            except InputError as refused:
                next_error = refused
                next_error.file = path
        if next_error is not None and next_error.problem == error.problem:
            continue
        findings.append(finding_of(code, error))
        if next_error is None:
            return recorded
        lines, error = repaired, next_error
    findings.append(finding_of("unreadable", error))
    return None


@dataclass(frozen=True)
class _Layout:
    """Layout of a format: where it keeps its rows of data and their number."""

    first_row: Callable[[Lines], int]  # the first line that can be data
    time: int  # the column of times
    cells: Callable[[str], list[str]]  # the cells of a line
    with_count: Callable[[Lines, int], Lines]  # writes the number of rows into the header

    def rows(self, lines: Lines) -> list[int]:
        """Return which lines are rows of data: they begin with a number."""
        first = self.first_row(lines)
        return [
            k for k, line in enumerate(lines) if k >= first and line.split() and _is_number(line.split()[0])
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


def _with_trc_field(lines: Lines, name: str, value: float, tolerance: float = 0.0) -> Lines:
    """Return the lines with a value of the TRC header replaced, unless it is right to a relative tolerance."""
    names, values = (lines[1].split(), lines[2].split()) if len(lines) > 4 else ([], [])
    at = names.index(name) if name in names else len(values)
    if at >= len(values):
        return lines
    if _is_number(values[at]) and abs(float(values[at]) - value) <= tolerance * float(values[at]):
        return lines
    values[at] = repr(value)
    return [*lines[:2], "\t".join(values), *lines[3:]]


def _with_trc_rate(lines: Lines) -> Lines:
    """Write the rate of the time column into the header."""
    rows = [split_cells(lines[k]) for k in _TRC.rows(lines)]
    times = [cells[1] for cells in rows if len(cells) > 1]
    if len(times) < 2 or not (_is_number(times[0]) and _is_number(times[-1])):
        return lines
    span = float(times[-1]) - float(times[0])
    return (
        lines if span <= 0.0 else _with_trc_field(lines, "DataRate", (len(times) - 1) / span, RATE_TOLERANCE)
    )


def _after_mot_header(lines: Lines) -> int:
    return next((k + 1 for k, line in enumerate(lines) if line.strip().casefold() == "endheader"), len(lines))


def _with_mot_count(lines: Lines, rows: int) -> Lines:
    header = _after_mot_header(lines)
    return [
        f"nRows={rows}" if k < header and line.strip().casefold().startswith(("nrows", "datarows")) else line
        for k, line in enumerate(lines)
    ]


_TRC = _Layout(lambda lines: 4, 1, split_cells, lambda lines, rows: _with_trc_field(lines, "NumFrames", rows))
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
