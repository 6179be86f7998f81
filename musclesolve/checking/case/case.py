"""A recording under examination: what is known of it, mended as far as the faults that were found allow."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.checking.finding import Finding, Severity, Where
from musclesolve.errors import InputError
from musclesolve.recording.data import SIDE_NAMES, Markers, Side, Trial
from musclesolve.recording.trial.schema import Document

Run = tuple[float, float]
# The filter carries what happens outside of the time range so far into it [s]: at 6 Hz a step that lies farther away
# disturbs it by less than half a hundredth of its height.
REACH = 0.2
OUTSIDE = " (outside of the time range)"


@dataclass
class Case:
    """What the checks look at and write into.

    A fault that is found is mended here as well, in memory only, so that the checks that follow do not stumble over
    its consequences and still find what else is wrong.

    Args:
        document: the trial file.
        content: its content, with defaults where it is at fault.
        trial: the recording, mended so far.
        findings: what was found so far.
        anywhere: those of them that matter wherever they are.
    """

    document: Document
    content: dict[str, Any]
    trial: Trial
    findings: list[Finding] = field(default_factory=list)
    anywhere: list[Finding] = field(default_factory=list)

    def tell(
        self,
        code: str,
        severity: Severity,
        what: str,
        remedy: str,
        *,
        file: Path | None = None,
        key: tuple[str, str] | tuple[str, str, int] | None = None,
        markers: tuple[str, ...] = (),
        plate: Side | None = None,
        times: tuple[tuple[float, float], ...] = (),
        anywhere: bool = False,
    ) -> None:
        """Add a finding; ``key`` is the place in the trial file: table, key and number of the table.

        What lies out of reach of the time range is a note at most, unless it matters ``anywhere``.
        """
        line = self.document.line(*key) if key else None
        at = f"[{key[0]}] {key[1]}" if key else None
        where = Where(
            file or (self.document.path if key else None),
            line,
            at,
            markers,
            SIDE_NAMES[plate] if plate else None,
            times,
        )
        finding = Finding(code, severity, what, remedy, where)
        if anywhere:
            self.anywhere.append(finding)
        self.findings.append(self._in_range(finding))

    def demote(self) -> None:
        """Make notes of the findings that lie outside of a time range that was found after them."""
        self.findings[:] = map(self._in_range, self.findings)

    def _in_range(self, finding: Finding) -> Finding:
        times = finding.where.times
        if not times or finding in self.anywhere or any(self._reaches(*span) for span in times):
            return finding
        more = "" if finding.what.endswith(OUTSIDE) else OUTSIDE
        return replace(finding, severity="note", what=f"{finding.what}{more}")

    def _reaches(self, first: float, last: float) -> bool:
        """Return whether a stretch of time lies in the time range, or so near that the filter carries it there."""
        start, end = self.trial.time_range
        return first < end + REACH and last > start - REACH

    def refuse(self, code: str, error: InputError, severity: Severity = "error") -> None:
        """Add what an error of another stage says."""
        self.findings.append(finding_of(code, error, severity))

    def mend(self, **changes: Any) -> None:
        """Replace fields of the trial."""
        self.trial = replace(self.trial, **changes)

    def mend_markers(self, position: Array) -> None:
        """Replace the positions (T, n, 3) of the motion."""
        self.mend(markers=replace(self.trial.markers, position=position))

    def mend_plate(self, index: int, **changes: Any) -> None:
        """Replace fields of one plate."""
        plates = list(self.trial.forces)
        plates[index] = replace(plates[index], **changes)
        self.mend(forces=tuple(plates))


def finding_of(code: str, error: InputError, severity: Severity = "error") -> Finding:
    """Return a finding that says what an error says."""
    line = re.match(r"line (\d+)(?:, )?", error.where or "")
    rest = (error.where or "")[line.end() :] if line else error.where
    where = Where(Path(error.file) if error.file else None, int(line[1]) if line else None, rest or None)
    what = error.problem + (f" (expected: {error.expected})" if error.expected else "")
    return Finding(code, severity, what, error.remedy or "correct it", where)


def stretches(mask: Mask, time: Array | NDArray[np.int_]) -> tuple[tuple[float, float], ...]:
    """Return first and last time of every unbroken run of a mask (T,)."""
    return tuple((float(time[first]), float(time[stop - 1])) for first, stop in true_runs(mask))


def filled(markers: Markers) -> Markers:
    """Return markers with gaps closed by straight lines; a marker that is never seen stays lost."""
    position = markers.position.copy()
    flat = position.reshape(position.shape[0], -1)
    for column in np.flatnonzero(np.isnan(flat).any(axis=0)):
        seen = ~np.isnan(flat[:, column])
        if seen.any():
            flat[:, column] = np.interp(markers.time, markers.time[seen], flat[seen, column])
    return replace(markers, position=position)
