"""A recording under examination: the trial file, the recording with the repairs so far, and the findings.

A check that fails hides no other check: its exception becomes a finding, and the next checks run (`collect_errors`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import has_side
from musclesolve.checking.repair import ROLES, Recorded
from musclesolve.errors import InputError, MuscleSolveError, PoseError
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.recording.data import SIDE_NAMES, Markers, PlateForce, Subject, Trial
from musclesolve.recording.schema import Document
from musclesolve.results.finding import Finding, Run, Severity, Where, finding
from musclesolve.settings.trial import RecordedSettings

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

    def key(self, table: str, key: str, index: int = 0, *, plate: PlateForce | None = None) -> Where:
        """Return a key of the trial file as the place of a finding."""
        line, field = self.document.line(table, key, index), f"[{table}] {key}"
        return Where(self.document.path, line, field, plate=SIDE_NAMES[plate.side] if plate else None)

    def with_findings(self, findings: Iterable[Finding]) -> Case:
        """Return the case with more findings, those out of reach of the time range as notes."""
        return replace(self, findings=(*self.findings, *map(self._in_range, findings)))

    def with_trial(self, trial: Trial) -> Case:
        """Return the case with another state of the recording; findings that its range leaves out become notes."""
        case = replace(self, recorded=replace(self.recorded, trial=trial))
        return replace(case, findings=tuple(map(case._in_range, case.findings)))

    def repaired(self, finding: Finding) -> Case:
        """Return the case with the repair of a finding applied, if it has one."""
        if finding.repair is None:
            return self
        recorded = finding.repair(self.recorded)
        step = (finding, self.recorded, recorded)
        return replace(
            self, recorded=recorded, steps=self.steps if finding.severity == "note" else (*self.steps, step)
        )

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


TALL = 1.75
"""Stature from which limits of the size of body parts grow with the body [m]."""


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


def filled(markers: Markers) -> Markers:
    """Return markers with gaps closed by straight lines; a marker that is never seen stays lost."""
    position = markers.position.copy()
    flat = position.reshape(position.shape[0], -1)
    for column in np.flatnonzero(np.isnan(flat).any(axis=0)):
        seen = ~np.isnan(flat[:, column])
        if seen.any():
            flat[:, column] = np.interp(markers.time, markers.time[seen], flat[seen, column])
    return replace(markers, position=position)


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
