"""What is wrong with a trial: findings on a recording, or on an OpenSim model with its motion, moments and loads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from musclesolve.checking import files, forces, markers
from musclesolve.checking.analysis import find_time_range
from musclesolve.checking.case import Case, contained
from musclesolve.checking.cost import with_costs
from musclesolve.checking.loading import case_of, load
from musclesolve.checking.markers.trajectories import fill_and_complete, remove_and_fill_jumps
from musclesolve.checking.model.examine import findings_of_body as model_findings
from musclesolve.checking.stages import Check, Stage, checks_of, examine
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.recording.data import Trial
from musclesolve.recording.trial.model_trial import ModelTrial
from musclesolve.results.finding import Finding, Where, finding
from musclesolve.results.judgement import sorted_findings

# What is done with the recording before the checks of a stage look at it.
PREPARE: Mapping[Stage, Callable[[Case], Case]] = {
    # Gaps end the time range; axes and sides that are wrong would hide the contacts that do.
    Stage.HELD_SAMPLES: find_time_range,
    Stage.MERGED_MARKERS: fill_and_complete,
    Stage.SLIPS: remove_and_fill_jumps,
    # The forces are right by now.
    Stage.PLATE_POSITION: find_time_range,
}


def findings_of(trial: Trial | ModelTrial, body: RecordedBody | ModelBody) -> tuple[Finding, ...]:
    """What is wrong with a trial that could be read and prepared, as `check` says it.

    A recording that is as its file holds it is examined from the file, since reading fills gaps; one that was changed
    in memory is examined as it is.
    """
    if isinstance(body, ModelBody):
        return findings_of_body(body)
    assert isinstance(trial, Trial)
    if trial.as_read:
        return findings_of_file(trial.path)
    return sorted_findings(with_costs(examine(case_of(trial), all_checks(), PREPARE)))


def findings_of_body(body: ModelBody) -> tuple[Finding, ...]:
    """What is wrong with an OpenSim model, its motion and its loads."""
    findings: list[Finding] = []
    with contained(findings, "examination of the model"):
        findings += model_findings(body)
        place = Where(file=body.model.file)
        findings += (finding("model", "warning", {"note": warning}, place) for warning in body.warnings)
    return sorted_findings(findings)


def findings_of_file(path: Path) -> tuple[Finding, ...]:
    """What is wrong with the recording of a trial file."""
    return sorted_findings(examined_file(path, all_checks(), costs=True))


@cache
def all_checks() -> tuple[Check, ...]:
    """Return the checks of the analysis and of all modules in the folders of checks."""
    return checks_of("musclesolve.checking.analysis", files, forces, markers)


def examined_file(path: Path, checks: Iterable[Check], costs: bool = False) -> list[Finding]:
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
