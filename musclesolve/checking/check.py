"""The examination of a trial, ``check``: its faults, and the judgement of the result of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, cast

from musclesolve._util.message_text import REMARK
from musclesolve._util.progress import Progress, no_progress
from musclesolve.checking import files, forces, markers
from musclesolve.checking.analysis import find_predicted_spans, find_time_range
from musclesolve.checking.case import Case, collect_errors
from musclesolve.checking.cost import with_costs
from musclesolve.checking.loading import case_of, load
from musclesolve.checking.markers.trajectories import fill_and_complete, remove_and_fill_jumps
from musclesolve.checking.observed_body import forget
from musclesolve.checking.stages import Check, Stage, checks_of, examine
from musclesolve.forces import prepare
from musclesolve.pipeline.body import Body
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.recording.data import AnyTrial, Trial
from musclesolve.recording.text.text_file import file_path
from musclesolve.recording.trial.trial_file import as_read, names_model
from musclesolve.results.dataset.assemble import shared_result, without_remarks
from musclesolve.results.dataset.result_quantities import listed
from musclesolve.results.facts import Facts
from musclesolve.results.finding import Finding, Where, finding, sorted_findings
from musclesolve.results.judgement import Report, judge, judge_findings

if TYPE_CHECKING:
    from musclesolve.pipeline.opensim.model_body import ModelBody

# Preparation of the recording before the checks of a stage.
PREPARE: Mapping[Stage, Callable[[Case], Case]] = {
    # Gaps end the time range; wrong axes and sides would hide the contacts that end it, too.
    Stage.HELD_SAMPLES: find_time_range,
    Stage.MERGED_MARKERS: fill_and_complete,
    Stage.SLIPS: remove_and_fill_jumps,
    # The forces are repaired at this point.
    Stage.PLATE_POSITION: find_predicted_spans,
}


@singledispatch
def findings_of(body: Body, trial: AnyTrial | None = None) -> tuple[Finding, ...]:
    """Return the findings on a trial that could be read and prepared, as `check` reports them.

    For a model they are on the model, its motion and its loads, unless another kind of body is registered.
    """
    from musclesolve.checking.model.examine import findings_of_body

    findings, own = list[Finding](), cast("ModelBody", body)
    with collect_errors(findings, "examination of the model"):
        findings += findings_of_body(own)
        place = Where(file=own.model.file)
        findings += (finding(each.code, "warning", {"sentence": each}, place) for each in own.warnings)
    return sorted_findings(findings)


@findings_of.register(RecordedBody)
def _(body: RecordedBody, trial: Trial) -> tuple[Finding, ...]:
    """Return the findings on a recording.

    A recording that equals its file is read again without filled gaps; a recording that was changed in memory is
    examined in its present state.
    """
    if trial.as_read and trial.recorded is None:
        return findings_of_file(trial.path)
    case = replace(case_of(trial.recorded or trial), prepared=body)
    findings = sorted_findings(with_costs(examine(case, all_checks(), PREPARE)))
    forget(case.trial)
    return findings


def findings_of_file(path: Path) -> tuple[Finding, ...]:
    """Return the findings on the recording of a trial file."""
    return sorted_findings(examined_file(path, all_checks(), costs=True))


@cache
def all_checks() -> tuple[Check, ...]:
    """Return the checks of the analysis and of all modules in the folders of checks."""
    return checks_of("musclesolve.checking.analysis", files, forces, markers)


def examined_file(path: Path, checks: Iterable[Check], costs: bool = False) -> list[Finding]:
    """Return the findings of some checks, in any order; a check that fails is a finding, too.

    costs: whether repaired findings state their costs.
    """
    failed: list[Finding] = []
    with collect_errors(failed, "reading of the recording"):
        case, findings = load(path)
        if case is None:
            return findings
        examined = examine(case, checks, PREPARE)
        return list(with_costs(examined) if costs else examined.findings)
    return failed


def check(path: str | Path, progress: Progress | None = None) -> Report:
    """Examine a trial file and its files, and judge the result that `run` would give.

    Forces are shared in memory, with the options of the trial file; nothing is changed on disk. Faults of a recording
    are repaired in memory, so that their consequences are not reported as separate faults.

    Args:
        path: the trial file, of a recording or of an OpenSim model.
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        The findings and the judgement. At least one finding is an error whenever ``read_trial`` or ``run`` would
        refuse the trial.

    Raises:
        InputError: the argument is no path.

    Examples:
        >>> ms.check(ms.data.reference_stride()).judgement.label
        'Usable: certified and plausible'
    """
    path, report = file_path(path, "check"), progress or no_progress
    findings, case = list[Finding](), None
    if not names_model(path):
        with collect_errors(findings, "reading of the recording"):
            case, findings = load(path)
    refused, judgement, notes = list[Finding](), None, list[Finding]()
    body: RecordedBody | ModelBody | None = None
    with collect_errors(refused, "sharing of the forces"):
        body = prepare(path if case is None or findings else as_read(case.trial), progress=report)
    if body is not None and not isinstance(body, RecordedBody):
        findings += findings_of(body)
        notes += (finding("model", "note", {"sentence": note}, Where(file=path)) for note in body.notes)
    elif case is not None:
        case = replace(case, prepared=body)
        with collect_errors(findings, "examination of the recording"):
            findings = list(with_costs(examine(case, all_checks(), PREPARE)))
    with collect_errors(refused, "sharing of the forces"):
        if body is not None:
            result = shared_result(body, sorted_findings(findings), report)
            judgement = judge(Facts(result))
            findings = without_remarks(findings)
            notes = [finding(REMARK, "note", {"sentence": note}) for note in listed(result, "notes")]
    # a fault that prevents the analysis is an error, whatever its cost, unless another error prevents it
    if refused and not any(entry.severity == "error" for entry in findings):
        findings = [replace(entry, severity="error") if entry.lowered else entry for entry in findings]
    # Consequences of an error are no separate findings.
    if not any(entry.severity == "error" for entry in findings):
        findings += refused
    findings += notes
    ordered = sorted_findings(findings)
    return Report(path, ordered, judgement or judge_findings(ordered))
