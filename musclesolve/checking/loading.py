"""Lenient reading of a trial for its examination: all readable parts, and findings on the unreadable ones."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from musclesolve.checking.case import TABLES, Case, Fact, finding_of, finding_of_failure
from musclesolve.checking.repair import ROLES, Recorded
from musclesolve.errors import InputError
from musclesolve.recording.data import Markers, Trial
from musclesolve.recording.formats import Faults, read_markers
from musclesolve.recording.plates.foot_forces import is_stated
from musclesolve.recording.schema import examined, trial_document
from musclesolve.recording.text.text_file import is_file
from musclesolve.recording.trial.trial_file import WITHOUT_PARTS, TrialReader
from musclesolve.results.finding import Finding, Severity
from musclesolve.settings.schema import FileTable, Settings, same
from musclesolve.settings.trial import FileSettings, RecordedSettings

MARKER_TABLES = ("laboratory", "files", "markers", "exchanged", "mapping", "clusters", "carried")
"""Tables of the trial file that define the reading and the meaning of markers."""


class MarkerFileSettings(Settings):
    """The files of [files] with markers."""

    markers: str | None = same(FileSettings, "markers", required=False)
    static: str | None = same(FileSettings, "static")


def load(path: Path) -> tuple[Case | None, list[Finding]]:
    """Read a trial as far as possible: the case, None where there is no motion to examine, and the findings."""
    try:
        document = trial_document(path)
    except InputError as error:
        code = "unreadable"
        with suppress(InputError):
            code = "trial_file" if is_file(path) else code
        return None, [finding_of(code, error)]
    settings, errors = examined(document, RecordedSettings)
    faults = Faults(collects=True)
    faults.add("trial file", *errors)
    trial = TrialReader(document, settings, faults).trial()
    findings = _findings(faults)
    if trial is None:
        return None, findings
    unknown = _unknown_axes(settings) | _unknown_plates(trial, settings)
    if any(finding.code == "mapping" for finding in findings):
        unknown.add("mapping")
    return Case(
        document, Recorded(trial, trial.settings.laboratory), tuple(findings), frozenset(unknown)
    ), findings


def load_markers(
    path: Path, read: Callable[[Path], Markers] = read_markers, axes: Mapping[str, str | None] | None = None
) -> tuple[Case | None, list[Finding]]:
    """Read motion, standing trial and the meaning of their markers, as `load` does; nothing else is read or reported.

    read: reader of the markers of a file. axes: what is used instead of [laboratory], by its keys.
    """
    try:
        document = trial_document(path)
    except InputError as error:
        return None, [finding_of("trial_file", error)]
    # Tables for joints beside markers; the other tables have their defaults.
    used = (*MARKER_TABLES, "subject", "joint_centers")
    document.content = {name: table for name, table in document.content.items() if name in used}
    files = document.content.get("files")
    if isinstance(files, dict):
        document.content["files"] = {role: name for role, name in files.items() if role in ROLES}
    document.tables = {**document.tables, "files": FileTable(MarkerFileSettings)}
    settings, errors = examined(document, RecordedSettings)
    faults = Faults(collects=True)
    faults.add(
        "trial file", *(e for e in errors if any(f"[{name}]" in (e.where or "") for name in MARKER_TABLES))
    )
    unknown = _unknown_axes(settings)
    reader = TrialReader(document, settings.changed(laboratory=dict(axes or {})), faults, read)
    mapped, findings = reader.markers(), _findings(faults)
    if mapped is None:
        return None, findings
    trial = Trial(
        document=document,
        subject=reader.subject(**WITHOUT_PARTS),
        settings=reader.settings,
        markers=mapped.walk,
        static=mapped.static,
        forces=(),
        mapping=mapped.mapping,
        clusters=mapped.clusters,
        carried=mapped.carried,
        time_range=(float(mapped.walk.time[0]), float(mapped.walk.time[-1])),
        notes=mapped.notes,
    )
    return Case(
        document, Recorded(trial, trial.settings.laboratory), tuple(findings), frozenset(unknown)
    ), findings


def case_of(trial: Trial) -> Case:
    """Return the case of a recording that was read, and may have been changed in memory since."""
    settings, _ = examined(trial.document, RecordedSettings)
    recorded = Recorded(trial, trial.settings.laboratory)
    unknown = _unknown_axes(settings) | _unknown_plates(trial, settings)
    return Case(trial.document, recorded, (), frozenset(unknown))


def _findings(faults: Faults) -> list[Finding]:
    """Return the finding of every fault; a failure of a reader is one, too."""
    findings = list[Finding]()
    for stage, error in faults.found:
        severity: Severity = "warning" if stage == "row count" else "error"
        code = TABLES["reading"].get(stage, stage)
        findings.append(finding_of_failure(error, f"reading of the {stage}", None, code, severity))
    return _together(findings)


def _unknown_plates(trial: Trial, settings: RecordedSettings) -> set[Fact]:
    """Return the fact "plates" where forces are expected and no plate, or no foot of a plate, is stated."""
    stated = bool(trial.forces) and all(map(is_stated, settings.force))
    return set() if stated or settings.files.predicted else {"plates"}


def _unknown_axes(settings: RecordedSettings) -> set[Fact]:
    """Return the axes that the trial file leaves open; both where it states one axis of the files for both."""
    axes: tuple[Fact, ...] = ("up", "forward")
    open_axes = {axis for axis in axes if settings.laboratory[axis] is None}
    one_axis = not open_axes and len({settings.laboratory[axis][1] for axis in axes}) == 1
    return set(axes) if one_axis else open_axes


def _together(findings: list[Finding]) -> list[Finding]:
    """Join findings on several tables of a list, such as [[force]], to one finding in the first of them."""
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
