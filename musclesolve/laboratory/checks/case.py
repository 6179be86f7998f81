"""A recording under examination: its lenient reading, what it shows, and the checks that look at it.

All readable parts of a trial are read, and the unreadable ones become findings (`load`). Every check looks at the same
recording and changes nothing in it, so their order does not matter. A check that relies on a fact of the recording,
such as axes in which the body stands, does not run where the fact is not so (`Case.unknown`): another check reports
it. A check that fails hides no other check: its exception becomes a finding (`collect_errors`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Literal

import numpy as np

from musclesolve._util.arrays import Mask, time_spans
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import has_side
from musclesolve.errors import InputError, MuscleSolveError, PoseError
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.checks.observed_body import landmark, upward
from musclesolve.laboratory.files.formats import Faults, read_markers
from musclesolve.laboratory.markers.gaps.gap_filling import completed_trial, without_ghosts
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, PlateForce, Trial
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.laboratory.recording.trial_settings import FileSettings, RecordedSettings
from musclesolve.laboratory.results.finding import Finding, Run, Severity, Where, error_if, finding
from musclesolve.laboratory.trial.plates.foot_forces import is_stated
from musclesolve.laboratory.trial.time_range import ranged, with_predicted_spans
from musclesolve.laboratory.trial.trial_file import WITHOUT_PARTS, TrialReader
from musclesolve.tables.document import Document, examined
from musclesolve.tables.sampled import Markers
from musclesolve.tables.settings import FileTable, Settings, same
from musclesolve.tables.text_file import is_file

Role = Literal["markers", "static"]
ROLES: tuple[Role, ...] = ("markers", "static")
Fact = Literal["up", "forward", "plates", "mapping", "upright", "standing"]
"""What a trial file states (an axis of the files, a plate of a foot, a landmark), and whether the subject is upright in
these axes: in the motion (upright), in the standing trial (standing)."""
STANDS: dict[Role, Fact] = {"markers": "upright", "static": "standing"}
"""Recording -> whether its subject is upright in the stated axes."""
REACH = 0.2
"""Distance from which the filter carries disturbances into the time range [s]: at 6 Hz a step that lies farther away
disturbs the range by less than 0.5 % of its height."""
ALONG = 0.8
"""Least cosine between a direction, as from the feet to the shoulders, and the axis along which it lies."""
OUTSIDE = " (outside of the time range)"
TABLES = bundled_toml(__package__, "tables.toml")
"""Names and words of the checks."""


@dataclass(frozen=True)
class Case:
    """The recording for a check, which changes nothing in it."""

    document: Document  # the trial file
    trial: Trial  # the recording
    findings: tuple[Finding, ...] = ()  # of its reading
    # Facts that are not known or not so, each with a finding: no other finding may follow from them.
    unknown: frozenset[Fact] = frozenset()
    body: RecordedBody | None = None  # of the recording, where it can be prepared

    @property
    def settings(self) -> RecordedSettings:
        """The settings of the trial, with defaults in place of faulty ones."""
        return self.trial.settings

    def key(self, table: str, key: str) -> Where:
        """Return a key of the trial file as the place of a finding."""
        return Where(self.document.path, self.document.line(table, key), f"[{table}] {key}")

    @property
    def upright(self) -> dict[Role, Markers]:
        """The recordings whose body stands upright in the stated axes; another axis is reported by `axes`."""
        files = {role: markers for role in ROLES if (markers := getattr(self.trial, role)) is not None}
        return {role: markers for role, markers in files.items() if STANDS[role] not in self.unknown}

    def in_range(self, finding: Finding) -> Finding:
        """Return a finding, as a note where the filter carries nothing from its times into the time range."""
        (start, end), times = self.trial.time_range, finding.where.times
        if not times or any(first < end + REACH and last > start - REACH for first, last in times):
            return finding
        return replace(finding, severity="note", what=f"{finding.what}{OUTSIDE}")


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
    if trial is None:
        return None, _findings(faults)
    unknown = _unknown_axes(settings) | _unknown_plates(trial, settings)
    findings = _findings(_without_consequences(faults, trial, unknown))
    if any(finding.code == "mapping" for finding in findings):
        unknown.add("mapping")
    return _case(document, trial, unknown, findings), findings


def _without_consequences(faults: Faults, trial: Trial, unknown: set[Fact]) -> Faults:
    """Return the faults of reading, less faults of plates that follow from an unknown axis or an unmapped foot."""
    feet = [landmark(trial, f"{part}_{side}") for part in ("heel", "toe") for side in SIDES]
    unseen = any(path is None or not np.isfinite(path).any() for path in feet)

    def follows(stage: str, error: Exception) -> bool:
        return stage in ("plates", "feet on the plates") and (
            "up" in unknown or (unseen and getattr(error, "code", "") == "unseen_feet")
        )

    return replace(faults, found=[entry for entry in faults.found if not follows(*entry)])


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
    return _case(document, trial, unknown, findings), findings


def case_of(trial: Trial) -> Case:
    """Return the case of a recording that was read, and may have been changed in memory since."""
    settings, _ = examined(trial.document, RecordedSettings)
    return _case(trial.document, trial, _unknown_axes(settings) | _unknown_plates(trial, settings))


def _case(document: Document, trial: Trial, unknown: set[Fact], findings: Sequence[Finding] = ()) -> Case:
    """Return the case with what the markers show beside what the trial file leaves open."""
    tilted = set[Fact]()
    for role, fact in STANDS.items():
        markers: Markers | None = getattr(trial, role)
        up = None if markers is None else upward(trial, markers)
        if up is not None and up[2] < ALONG:
            tilted.add(fact)
    return Case(document, trial, tuple(findings), frozenset(unknown | tilted))


def _findings(faults: Faults) -> list[Finding]:
    """Return the finding of every fault; a failure of a reader is one, too."""
    findings = list[Finding]()
    for stage, error in faults.found:
        severity, code = error_if(stage != "row count"), TABLES["reading"].get(stage, stage)
        findings.append(finding_of_failure(error, f"reading of the {stage}", None, code, severity))
    return _together(findings)


def _unknown_plates(trial: Trial, settings: RecordedSettings) -> set[Fact]:
    """Return the fact "plates" where forces are expected and no plate or foot is stated, or columns are unreadable."""
    of_columns = [entry for entry in settings.force if entry.plate is None and entry.side in SIDE_NAMES]
    stated = len(trial.forces) >= max(len(of_columns), 1) and all(map(is_stated, settings.force))
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
    for number, entry in enumerate(findings):
        field = entry.where.field or ""
        what = entry.what if field.startswith("[[") else str(number)
        alike.setdefault((what, field), []).append(entry)
    joined = []
    for first, *others in alike.values():
        if others:
            lines = ", ".join(str(entry.where.line) for entry in (first, *others))
            more = f"so it is in {1 + len(others)} of these tables, in the lines {lines}"
            first = replace(first, what=f"{first.what}; {more}")
        joined.append(first)
    return joined


def exchanged_labels(
    trial: Trial, pairs: Mapping[Role, Mapping[str, str]], frames: Mask | None = None
) -> dict[tuple[str | int, ...], Any]:
    """Return the table [[exchanged]] that exchanges pairs of markers of files, in some frames (T,)."""
    place, time = ("exchanged", len(trial.settings.exchanged)), trial.markers.time
    change: dict[tuple[str | int, ...], Any] = {(*place, role): dict(names) for role, names in pairs.items()}
    if frames is not None:
        half = 0.5 * float(np.median(np.diff(time)))  # a stretch of one frame has a length, too
        spans = time_spans(frames, time)
        change[(*place, "times_s")] = [[round(a - half, 4), round(b + half, 4)] for a, b in spans]
    return change


def frames_of(duration: float, rate: float) -> int:
    """Return the least number of frames at a rate [Hz] that last a duration [s]."""
    return max(1, int(np.ceil(duration * rate - 1e-6)))


def on_plate(plate: PlateForce, times: tuple[Run, ...] = ()) -> Where:
    """Return a plate as the place of a finding."""
    return Where(plate.path, plate=SIDE_NAMES[plate.side], times=times)


def finding_of(code: str, error: InputError, severity: Severity = "error") -> Finding:
    """Return the finding of an input that another stage refuses."""
    line = re.match(r"line (\d+)(?:, )?", error.where or "")
    rest = (error.where or "")[line.end() :] if line else error.where
    where = Where(Path(error.file) if error.file else None, int(line[1]) if line else None, rest or None)
    what = error.problem + (f" (expected: {error.expected})" if error.expected else "")
    return Finding(code, severity, what, error.remedy or "correct it", where)


def pose_finding(error: PoseError, case: Case | None) -> Finding:
    """Return the finding of a failed pose, with its times and the markers of the points that fit worst."""
    where = Where()
    if case is not None:
        time, recorded = np.sort(np.array(error.frames, float)), case.trial.markers
        gaps = np.flatnonzero(np.diff(time) > 1.5 / recorded.rate) + 1
        times = tuple((float(run[0]), float(run[-1])) for run in np.split(time, gaps) if run.size)
        # The markers that show the points or axes of the model, each once.
        markers: dict[str, None] = {}
        for point, _ in error.worst:
            part, side = point.split("_")[0], point[-2:] if has_side(point) else ""
            for landmark, weights in case.trial.mapping.items():
                stem = landmark.removesuffix("_r").removesuffix("_l")
                of_side = not side or landmark.endswith(side) or not has_side(landmark)
                if of_side and (stem in TABLES["shown_by"].get(part, ()) or stem.split("_")[0] == part):
                    markers |= dict.fromkeys(weights)
        where = Where(recorded.path, markers=tuple(markers), times=times)
    points = ", ".join(f"{name} ({1000 * distance:.0f} mm)" for name, distance in error.worst)
    values = {"sentence": str(error).partition("; there")[0], "points": points}
    return finding("pose", "error", values, where)


def finding_of_failure(
    error: Exception, what: str, case: Case | None, code: str, severity: Severity = "error"
) -> Finding:
    """Return the finding of an exception that an action raised.

    what: the action, as "reading of the files". case: None before it is read. code, severity: of an input that is
    refused.
    """
    if isinstance(error, InputError):
        return finding_of(code, error, severity)
    if isinstance(error, PoseError):
        return pose_finding(error, case)
    if isinstance(error, MuscleSolveError):
        return Finding("refused", "error", str(error), "look at the markers and forces it names")
    # Without a case nothing can be examined.
    values = {"action": what, "error": f"{type(error).__name__}: {error}"}
    return finding("check_failed", "error" if case is None else "warning", values)


@contextmanager
def collect_errors(findings: list[Finding], what: str, case: Case | None = None) -> Iterator[None]:
    """Turn every exception into a finding and continue; what, case: as in `finding_of_failure`."""
    try:
        yield
    except Exception as error:
        findings.append(finding_of_failure(error, what, case, "refused"))


def refusal(code: str, test: Callable[[], object]) -> Iterator[Finding]:
    """Yield the finding of an input that a test of reading refuses."""
    try:
        test()
    except InputError as error:
        yield finding_of(code, error)


Detect = Callable[[Case], Iterable[Finding]]


@dataclass(frozen=True)
class Check:
    """A check of a recording."""

    detect: Detect  # returns what is wrong; changes nothing
    needs: frozenset[Fact] = frozenset()  # it does not run where one of them is not known


_CHECKS: dict[str, list[Check]] = {}


def recording_check(*needs: Fact) -> Callable[[Detect], Detect]:
    """Make a function a check of recordings; needs: facts on which its findings rely."""

    def register(detect: Detect) -> Detect:
        _CHECKS.setdefault(detect.__module__, []).append(Check(detect, frozenset(needs)))
        return detect

    return register


def checks_of(*places: ModuleType) -> tuple[Check, ...]:
    """Return the checks of modules, and of all modules in folders."""
    names = [place.__name__ for place in places if not hasattr(place, "__path__")]
    for folder in (place for place in places if hasattr(place, "__path__")):
        names += [part.name for part in iter_modules(folder.__path__, f"{folder.__name__}.")]
    for name in names:
        import_module(name)
    return tuple(check for name in names for check in _CHECKS.get(name, ()))


def _with_range(case: Case) -> Trial:
    """Return the recording with the time range of the analysis, and the steps whose forces are predicted."""
    trial, settings, found = case.trial, case.settings, case.trial
    if case.body is not None:
        found = case.body.trial
    elif trial.forces and not {"plates", "mapping"} & case.unknown:
        with suppress(InputError):
            found = ranged(without_ghosts(trial, settings.gaps)[0], settings)
            found = with_predicted_spans(completed_trial(found, settings.gaps)[0], settings)
    part = {name: getattr(found, name) for name in ("time_range", "legs", "analyzed", "predicted_spans")}
    return replace(trial, **part)


def examine(case: Case, checks: Iterable[Check]) -> list[Finding]:
    """Return the findings of reading and of all checks, those out of reach of the time range as notes."""
    findings = list(case.findings)
    with collect_errors(findings, "search of the time range", case):
        case = replace(case, trial=_with_range(case))
    for check in checks:
        if not check.needs & case.unknown:
            with collect_errors(findings, f"check '{check.detect.__name__}'", case):
                # One by one: what was found before a failure is kept.
                for entry in check.detect(case):
                    findings.append(entry)
    return [case.in_range(entry) for entry in findings]
