"""The examination of a trial, `check`: its findings, and the judgement of its result."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, singledispatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from musclesolve._util.messages import REMARK, Progress, no_progress
from musclesolve.errors import PoseError
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.checks import recording
from musclesolve.laboratory.checks.case import (
    Case,
    Check,
    case_of,
    checks_of,
    collect_errors,
    examine,
    load,
    pose_finding,
)
from musclesolve.laboratory.checks.observed_body import forget
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial, Trial
from musclesolve.laboratory.recording.trial_settings import is_model_trial
from musclesolve.laboratory.results.dataset.assemble import shared_result, without_remarks
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.finding import Finding, Where, finding, sorted_findings
from musclesolve.laboratory.results.judgement import Report, judge, judge_findings
from musclesolve.laboratory.trial.trial_file import as_read
from musclesolve.models.body import Body
from musclesolve.tables.text_file import file_path, toml_content

if TYPE_CHECKING:
    from musclesolve.laboratory.bodies.measured_body import MeasuredModel


@singledispatch
def findings_of(body: Body, trial: AnyTrial | None = None) -> tuple[Finding, ...]:
    """Return the findings on a trial that could be read and prepared, as `check` reports them.

    For a model they are on the model, its motion and its loads, unless another kind of body is registered.
    """
    from musclesolve.laboratory.checks.model.examine import findings_of_body

    findings, model = list[Finding](), cast("MeasuredModel", body)
    with collect_errors(findings, "examination of the model"):
        findings += findings_of_body(model)
        place = Where(file=model.model.file)
        findings += (finding(note.code, "warning", {"sentence": note}, place) for note in model.warnings)
    return sorted_findings(findings)


@findings_of.register(RecordedBody)
def _(body: RecordedBody, trial: Trial) -> tuple[Finding, ...]:
    """Return the findings on a recording.

    A recording that equals its file is read again without filled gaps; a recording that was changed in memory is
    examined in its present state.
    """
    if trial.as_read and trial.recorded is None:
        return sorted_findings(examined_file(trial.path, all_checks(), body))
    return sorted_findings(_findings(replace(case_of(trial.recorded or trial), body=body), all_checks()))


def _findings(case: Case, checks: Iterable[Check]) -> list[Finding]:
    """Return the findings of checks, and release what they computed in common."""
    findings = examine(case, checks)
    forget(case.trial)
    return findings


@cache
def all_checks() -> tuple[Check, ...]:
    """Return the checks of recordings."""
    return checks_of(recording)


def examined_file(path: Path, checks: Iterable[Check], body: RecordedBody | None = None) -> list[Finding]:
    """Return the findings of some checks, in any order; a check that fails is a finding, too.

    body: of the recording, where it could be prepared: without it its motion and its balance are not examined.
    """
    failed: list[Finding] = []
    with collect_errors(failed, "reading of the recording"):
        case, findings = load(path)
        return findings if case is None else _findings(replace(case, body=body), checks)
    return failed


def check(path: str | Path, progress: Progress | None = None) -> Report:
    """Examine a trial file and its files, and judge the result that `run` would give.

    Forces are shared in memory, with the options of the trial file; nothing is changed on disk.

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
    if not is_model_trial(toml_content(path)):
        with collect_errors(findings, "reading of the recording"):
            case, findings = load(path)
    refused, judgement, notes = list[Finding](), None, list[Finding]()
    body: RecordedBody | MeasuredModel | None = None
    with collect_errors(refused, "sharing of the forces"):
        try:
            body = prepare(path if case is None or findings else as_read(case.trial), progress=report)
        except PoseError as error:
            refused.append(pose_finding(error, case))
    if body is not None and not isinstance(body, RecordedBody):
        findings += findings_of(body)
        notes += (finding("model", "note", {"sentence": note}, Where(file=path)) for note in body.notes)
    elif case is not None:
        with collect_errors(findings, "examination of the recording"):
            findings = _findings(replace(case, body=body), all_checks())
    with collect_errors(refused, "sharing of the forces"):
        if body is not None:
            # most numbers of a long recording are never read again
            with TemporaryDirectory(prefix="musclesolve-", ignore_cleanup_errors=True) as folder:
                result = shared_result(body, sorted_findings(findings), report, False, Path(folder))
                judgement = judge(Facts(result))
            findings = without_remarks(findings)
            notes = [finding(REMARK, "note", {"sentence": note}) for note in listed(result, "notes")]
    # Consequences of an error are no separate findings.
    if not any(entry.severity == "error" for entry in findings):
        findings += refused
    findings += notes
    ordered = sorted_findings(findings)
    return Report(path, ordered, judgement or judge_findings(ordered))
