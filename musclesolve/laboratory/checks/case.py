"""A recording under examination: its lenient reading, its repairs and findings, and the stages of the checks.

All readable parts of a trial are read, and the unreadable ones become findings (`load`). A check that fails hides no
other check: its exception becomes a finding, and the next checks run (`collect_errors`). Repairs are values that a
finding proposes; they change nothing on disk. A check sees the recording with faults of earlier stages repaired in
memory.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import IntEnum, auto
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Literal, Self

import numpy as np

from musclesolve._util.arrays import Array, Mask, time_spans
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.long_arrays import in_blocks, in_files
from musclesolve._util.sides import has_side
from musclesolve.errors import InputError, MuscleSolveError, PoseError
from musclesolve.laboratory.analysis.recorded_body import RecordedBody
from musclesolve.laboratory.files.formats import Faults, read_markers
from musclesolve.laboratory.recording.data import SIDE_NAMES, PlateForce, Subject, Trial
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.laboratory.recording.trial_settings import FileSettings, LaboratorySettings, RecordedSettings
from musclesolve.laboratory.results.finding import Cost, Finding, Run, Severity, Where, error_if, finding
from musclesolve.laboratory.trial.plates.foot_forces import is_stated
from musclesolve.laboratory.trial.time_range import finds_range
from musclesolve.laboratory.trial.trial_file import WITHOUT_PARTS, TrialReader
from musclesolve.tables.document import Document, examined
from musclesolve.tables.sampled import Markers
from musclesolve.tables.settings import FileTable, Settings, same
from musclesolve.tables.text_file import is_file

Role = Literal["markers", "static"]
ROLES: tuple[Role, ...] = ("markers", "static")


@dataclass(frozen=True)
class Recorded:
    """Parts of a recording that a repair may change."""

    trial: Trial  # the recording
    laboratory: LaboratorySettings  # which axes of the files point forward and up


Repair = Callable[[Recorded], Recorded]


def in_order(*repairs: Repair) -> Repair:
    """Return the repair that applies some others one after the other."""

    def repair(recorded: Recorded) -> Recorded:
        for change in repairs:
            recorded = change(recorded)
        return recorded

    return repair


def replace_fields(**changes: Any) -> Repair:
    """Replace fields of the trial."""
    return lambda recorded: replace(recorded, trial=replace(recorded.trial, **changes))


def change_markers(role: Role, change: Callable[[Markers], Markers]) -> Repair:
    """Change the motion or the standing trial."""
    return lambda recorded: replace_fields(**{role: change(getattr(recorded.trial, role))})(recorded)


def exchange_labels(
    trial: Trial, pairs: Mapping[Role, Mapping[str, str]], frames: Mask | None = None
) -> tuple[Repair, dict[tuple[str | int, ...], Any]]:
    """Return the repair that exchanges pairs of markers of files, in some frames (T,), and its table [[exchanged]]."""
    place, time = ("exchanged", len(trial.settings.exchanged)), trial.markers.time
    change: dict[tuple[str | int, ...], Any] = {(*place, role): dict(names) for role, names in pairs.items()}
    if frames is not None:
        half = 0.5 * float(np.median(np.diff(time)))  # a stretch of one frame has a length, too
        spans = time_spans(frames, time)
        change[(*place, "times_s")] = [[round(a - half, 4), round(b + half, 4)] for a, b in spans]

    def exchange(recorded: Recorded) -> Recorded:
        when = slice(None) if frames is None else frames
        files = {role: getattr(recorded.trial, role).exchanged(names, when) for role, names in pairs.items()}
        return replace_fields(**files)(recorded)

    return exchange, change


def exchange_landmarks(one: str, other: str) -> Repair:
    """Exchange two landmarks of the mapping."""

    def repair(recorded: Recorded) -> Recorded:
        mapping = recorded.trial.mapping
        return replace_fields(mapping={**mapping, one: mapping[other], other: mapping[one]})(recorded)

    return repair


def remove_samples(name: str, frames: Mask) -> Repair:
    """Take a marker as not seen in some frames (T,)."""

    def change(markers: Markers) -> Markers:
        position = in_blocks(np.ndarray.copy, markers.position)
        position[frames, markers.names.index(name)] = float("nan")
        return replace(markers, position=position)

    return change_markers("markers", change)


def move_back(name: str, slips: Sequence[tuple[int, int, Array]]) -> Repair:
    """Take back slips of a marker: last frame before, first frame after, displacement (3,) [m].

    The segment is taken to keep its orientation after the slip: good enough to say what the slip costs.
    """

    def change(markers: Markers) -> Markers:
        position = in_blocks(np.ndarray.copy, markers.position)
        column = markers.names.index(name)
        for before, after, moved in slips:
            position[after:, column] -= moved
            share = np.linspace(0.0, 1.0, after - before + 1)[:, None]
            start, end = position[before, column].copy(), position[after, column].copy()
            position[before : after + 1, column] = start + share * (end - start)
        return replace(markers, position=position)

    return change_markers("markers", change)


def change_plate(index: int, **changes: Any) -> Repair:
    """Replace fields of one plate."""

    def repair(recorded: Recorded) -> Recorded:
        plates = list(recorded.trial.forces)
        plates[index] = replace(plates[index], **changes)
        return replace_fields(forces=tuple(plates))(recorded)

    return repair


def rotate_plate(index: int, rotation: Array) -> Repair:
    """Rotate forces, points and moments of one plate by a rotation (3, 3).

    Where this turns up into down, forces on the foot were read as those on the plate, or the reverse.
    """

    def repair(recorded: Recorded) -> Recorded:
        plate, over = recorded.trial.forces[index], rotation[2, 2] < 0.0
        columns = {name: getattr(plate, name) @ rotation.T for name in ("force", "point", "moment")}
        for name in ("force", "moment") if over else ():
            columns[name] = -columns[name]
        return change_plate(index, **columns, turned=plate.turned != over)(recorded)

    return repair


def rotate_recordings(rotation: Array, laboratory: Mapping[str, str] | None) -> Repair:
    """Rotate all recordings by a rotation (3, 3), but a standing trial whose axes are stated apart.

    laboratory: the right axes of the files; None where the forces are right as they are.
    """

    def repair(recorded: Recorded) -> Recorded:
        trial = recorded.trial
        apart = {"static_up", "static_forward"} & recorded.laboratory.stated.keys()
        changes: dict[str, Any] = {
            role: markers.rotated(rotation)
            for role in ROLES
            if (markers := getattr(trial, role)) is not None and not (role == "static" and apart)
        }
        changes["functional"] = {side: of.rotated(rotation) for side, of in trial.functional.items()}
        changes["hinges"] = {
            joint: replace(movement, markers=movement.markers.rotated(rotation))
            for joint, movement in trial.hinges.items()
        }
        recorded = replace_fields(**changes)(recorded)
        if laboratory is None:
            return recorded
        plates = in_order(*(rotate_plate(index, rotation) for index in range(len(trial.forces))))
        return replace(plates(recorded), laboratory=recorded.laboratory.changed(**laboratory))

    return repair


# Distance from which the filter carries disturbances into the time range [s]: at 6 Hz a step that lies farther away
# disturbs the range by less than 0.5 % of its height.
REACH = 0.2
OUTSIDE = " (outside of the time range)"
TABLES = bundled_toml(__package__, "tables.toml")
"""Names and words of the checks."""


Fact = Literal["up", "forward", "plates", "mapping"]
"""Items that a trial file may leave open: an axis of the files, a plate of a foot, a landmark."""


@dataclass(frozen=True)
class Case:
    """The recording for a check, which changes nothing in it."""

    document: Document  # the trial file
    recorded: Recorded  # the recording, with the repairs of earlier stages
    findings: tuple[Finding, ...] = ()  # findings of earlier stages
    # Unreadable tables, each with a finding: no other finding may follow from them.
    unknown: frozenset[Fact] = frozenset()
    # Each repair of an error or a warning: its finding, the recording before it and after it.
    steps: tuple[tuple[Finding, Recorded, Recorded], ...] = ()
    prepared: RecordedBody | None = None  # the body of the recording as it was read, where it can be prepared

    @property
    def settings(self) -> RecordedSettings:
        """The settings of the trial, with defaults in place of faulty ones."""
        return self.trial.settings

    @property
    def trial(self) -> Trial:
        """The recording with the repairs so far."""
        return self.recorded.trial

    def found(self, *codes: str, severity: Severity | None = None) -> bool:
        """Return whether there is a finding with one of the codes, of one severity or any."""
        return any(f.code in codes and severity in (None, f.severity) for f in self.findings)

    @property
    def lacks_range(self) -> bool:
        """Whether plates or a marker lack, so that no time range is found and the whole recording stands for it."""
        lacks = "plates" in self.unknown or self.found(
            "marker_moved", "markers_merged", "gap", severity="error"
        )
        return lacks and finds_range(self.settings) and not self.trial.legs

    def key(self, table: str, key: str, index: int = 0, *, plate: PlateForce | None = None) -> Where:
        """Return a key of the trial file as the place of a finding."""
        line, field = self.document.line(table, key, index), f"[{table}] {key}"
        return Where(self.document.path, line, field, plate=SIDE_NAMES[plate.side] if plate else None)

    def with_findings(self, findings: Iterable[Finding]) -> Self:
        """Return the case with more findings, those out of reach of the time range as notes."""
        return replace(self, findings=(*self.findings, *map(self._in_range, findings)))

    def with_trial(self, trial: Trial) -> Self:
        """Return the case with another state of the recording; findings that its range leaves out become notes."""
        case = replace(self, recorded=replace(self.recorded, trial=trial))
        return replace(case, findings=tuple(map(case._in_range, case.findings)))

    def repaired(self, finding: Finding) -> Self:
        """Return the case with the repair of a finding applied, if it has one."""
        if finding.repair is None:
            return self
        recorded = finding.repair(self.recorded)
        step = () if finding.severity == "note" else ((finding, self.recorded, recorded),)
        return replace(self, recorded=recorded, steps=(*self.steps, *step))

    def at_exchange(self, finding: Finding) -> Finding:
        """Return the finding of labels that [[exchanged]] exchanges at this table; the file may have them right."""
        tables = self.settings.exchanged if finding.code in TABLES["label_codes"] else ()
        for number, role in ((k, role) for k in range(len(tables)) for role in ROLES):
            file, markers = getattr(self.trial, role), {*finding.where.markers}
            if file is None or file.path != finding.where.file:
                continue
            if any({*pair} <= markers for pair in tables[number][role].items()):
                place = self.key("exchanged", role, number)
                where = replace(place, markers=finding.where.markers, times=finding.where.times)
                what = f"{finding.what}, as [[exchanged]] has them"
                remedy = "leave this pair out of the table, or state in times_s when the labels are exchanged"
                return replace(finding, what=what, remedy=remedy, where=where)
        return finding

    def _in_range(self, finding: Finding) -> Finding:
        start, end = self.trial.time_range
        times = finding.where.times
        # Near enough to the range for the filter to carry it there.
        if not times or finding.anywhere or any(a < end + REACH and b > start - REACH for a, b in times):
            return finding
        more = "" if finding.what.endswith(OUTSIDE) else OUTSIDE
        return replace(finding, severity="note", what=f"{finding.what}{more}")


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
    return _case(document, trial, unknown, findings), findings


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
    return Case(document, Recorded(trial, trial.settings.laboratory), tuple(findings), frozenset(unknown))


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


SERIOUS = 0.2
"""Change of a moment below which a fault is a warning instead of an error [N m/kg]: a tenth of the peak moment of the
ankle in walking. Two programs differ by up to 0.14 on the moments of one recording."""
TALL = 1.75
"""Stature from which limits of the size of body parts grow with the body [m]."""


def moment_cost(change: float, of: str, mass: float) -> Cost:
    """Return the cost of a change of a moment [N m] of a body of a mass [kg]."""
    return Cost(change, "N m", of, SERIOUS * mass)


def frames_of(duration: float, rate: float) -> int:
    """Return the least number of frames at a rate [Hz] that last a duration [s]."""
    return max(1, int(np.ceil(duration * rate - 1e-6)))


def growth(subject: Subject) -> float:
    """Return how much larger than a person of stature `TALL` a subject is, at least 1; 1 where that is unknown."""
    return float(np.fmax(subject.stature / TALL, 1.0))


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
def collect_errors(
    findings: list[Finding], what: str, case: Case | None = None, code: str = "refused"
) -> Iterator[None]:
    """Turn every exception into a finding and continue; arguments as for `finding_of_failure`."""
    try:
        yield
    except Exception as error:
        findings.append(finding_of_failure(error, what, case, code))


class Stage(IntEnum):
    """The faults that are looked for together: none of them can be the consequence of another one of its stage.

    A check sees the recording with the faults of all earlier stages repaired, and what was found in them.
    """

    SAMPLE_TIMES = auto()
    COPIED_FRAMES = auto()
    LOST_FRAMES = auto()
    UNITS = auto()
    POINTS = auto()
    UNITS_OF_POINTS = auto()
    # The axes are read from the pelvis.
    PELVIS_LABELS = auto()
    VERTICAL_AXIS = auto()
    FORWARD_AXIS = auto()
    OTHER_VERTICAL_AXES = auto()
    SIDES = auto()
    SIZE_WHEN_STANDING = auto()
    LABELS_THROUGHOUT = auto()
    LABELS_AT_CROSSINGS = auto()
    LABELS_BETWEEN_GAPS = auto()
    # All other pairs are measured from the front spines.
    FRONT_SPINES = auto()
    PAIRS_OF_LANDMARKS = auto()
    LANDMARK_ORDER = auto()
    HELD_SAMPLES = auto()
    GAPS = auto()
    MERGED_MARKERS = auto()
    JUMPS = auto()
    SLIPS = auto()
    STANDING_PLACES = auto()
    PLATES = auto()
    # The zero of the plates is looked for while a foot swings.
    SYNCHRONY = auto()
    PLATE_ZERO = auto()
    PLATE_AXES = auto()
    PRESSURE_DIRECTION = auto()
    SYNCHRONY_IN_RIGHT_AXES = auto()
    # A shift of the forces makes them begin and end at other times: that is no fault of its own.
    PLATE_POSITION = auto()
    SUPPORT = auto()
    ANALYSIS = auto()
    ANATOMY = auto()


Detect = Callable[[Case], Iterable[Finding]]


@dataclass(frozen=True)
class Check:
    """A check of a recording."""

    detect: Detect  # returns what is wrong; changes nothing
    stage: Stage  # when it is asked
    needs: frozenset[Fact] = frozenset()  # it is not asked where one of them is not known


_CHECKS: dict[str, list[Check]] = {}


def check_at(*stages: Stage, needs: Iterable[Fact] = ()) -> Callable[[Detect], Detect]:
    """Make a function a check that runs at one stage or at several.

    needs: what its findings would be due to where the trial file leaves it open; that is a finding already.
    """

    def register(detect: Detect) -> Detect:
        checks = (Check(detect, stage, frozenset(needs)) for stage in stages)
        _CHECKS.setdefault(detect.__module__, []).extend(checks)
        return detect

    return register


def checks_of(module: str, *folders: ModuleType) -> tuple[Check, ...]:
    """Return the checks of a module, by its name, and of all modules in some folders."""
    of_folders = (iter_modules(folder.__path__, f"{folder.__name__}.") for folder in folders)
    names = [module, *(part.name for parts in of_folders for part in parts)]
    for name in names:
        import_module(name)
    return tuple(check for name in names for check in _CHECKS.get(name, ()))


def examine(case: Case, checks: Iterable[Check], prepare: Mapping[Stage, Callable[[Case], Case]]) -> Case:
    """Run all checks stage by stage; after each stage repair what was found.

    Within a stage every check looks at the same recording, and findings are put in the order of the names of the
    checks: the order of `checks` does not matter. prepare: what is done with the case before a stage.
    """
    ordered = sorted(checks, key=lambda check: check.detect.__name__)
    for stage in Stage:
        in_files(case.recorded)
        findings: list[Finding] = []
        if stage in prepare:
            with collect_errors(findings, f"preparation of {stage.name.lower()}", case):
                case = prepare[stage](case)
        for check in ordered:
            if check.stage == stage and not check.needs & case.unknown:
                with collect_errors(findings, f"check '{check.detect.__name__}'", case):
                    # One by one: what was found before a failure is kept.
                    for finding in check.detect(case):
                        findings.append(case.at_exchange(finding))
        case = case.with_findings(findings)
        for finding in findings:
            failed: list[Finding] = []
            with collect_errors(failed, f"repair of '{finding.code}'", case):
                case = case.repaired(finding)
            case = case.with_findings(failed)
    return case
