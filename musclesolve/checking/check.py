"""``check``: all checks of one recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from musclesolve._util.message_text import as_text
from musclesolve.checking import files, forces, markers
from musclesolve.checking.analysis import find_time_range, findings_of_model, refusal
from musclesolve.checking.case import Case, contained, finding_of
from musclesolve.checking.cost import with_costs
from musclesolve.checking.loading import load
from musclesolve.checking.markers.trajectories import fill_and_complete, remove_and_fill_jumps
from musclesolve.checking.stages import Check, Stage, checks_of, examine
from musclesolve.errors import InputError
from musclesolve.recording.trial.model_trial import names_model
from musclesolve.results.finding import Finding, Report, sorted_findings

# What is done with the recording before the checks of a stage look at it.
PREPARE: Mapping[Stage, Callable[[Case], Case]] = {
    # Gaps end the time range; axes and sides that are wrong would hide the contacts that do.
    Stage.HELD_SAMPLES: find_time_range,
    Stage.MERGED_MARKERS: fill_and_complete,
    Stage.SLIPS: remove_and_fill_jumps,
    # The forces are right by now.
    Stage.PLATE_POSITION: find_time_range,
}


def check(path: str | Path) -> Report:
    """Examine a trial file and the recordings it names, and report everything that is wrong with them.

    Nothing is computed that a result would need; nothing is changed on disk. A fault that is found is repaired in
    memory, so that what follows from it is not reported as a fault of its own.

    Args:
        path: the trial file.

    Returns:
        The findings. At least one is an error whenever ``read_trial`` or ``run`` would refuse the recording.

    Raises:
        InputError: the argument is no path.
    """
    if not isinstance(path, str | Path):
        raise InputError(
            f"{as_text(path)} is not a path",
            code="bad_type",
            where="check",
            expected="the path of a trial file",
            remedy='check("trial.toml")',
        )
    path = Path(path)
    # What is wrong with markers and plates is no question of a model: its trial is analysed, or refused.
    if names_model(path):
        findings: list[Finding] = []
        with contained(findings, "analysis of the model"):
            findings += findings_of_model(path)
        return Report(path, sorted_findings(findings))
    findings = findings_of(path, all_checks(), costs=True)
    if not any(finding.severity == "error" for finding in findings):
        with contained(findings, "measuring of the recording as it is"):
            refused = refusal(path)
            if refused is not None:
                findings.append(finding_of("refused", refused))
    return Report(path, sorted_findings(findings))


@cache
def all_checks() -> tuple[Check, ...]:
    """Return the checks of the analysis and of all modules in the folders of checks."""
    return checks_of("musclesolve.checking.analysis", files, forces, markers)


def findings_of(path: Path, checks: Iterable[Check], costs: bool = False) -> list[Finding]:
    """Return what some checks find, in any order of them; one that fails is a finding too.

    costs: whether findings that are repaired say what they cost.
    """
    failed: list[Finding] = []
    with contained(failed, "reading of the recording"):
        case, findings = load(path)
        if case is None:
            return findings
        examined = examine(case, checks, PREPARE)
        return list(with_costs(examined) if costs else examined.findings)
    return failed
