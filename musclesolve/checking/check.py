"""``check``: what is wrong with a trial, and the judgement of the result that a run would give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from musclesolve._util.message_text import as_text
from musclesolve._util.progress import Progress, no_progress
from musclesolve.checking.case import contained
from musclesolve.checking.examination import all_checks, examined_file, findings_of_body
from musclesolve.checking.judged_run import judged_result
from musclesolve.errors import InputError
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.run import prepare
from musclesolve.recording.trial.model_trial import names_model
from musclesolve.results.facts import Facts
from musclesolve.results.finding import Finding, Where, finding
from musclesolve.results.judgement import Report, judge, judge_findings, sorted_findings


def check(path: str | Path, progress: Progress | None = None) -> Report:
    """Examine a trial file and what it names, and judge the result that `run` would give.

    Forces are shared in memory, with the options of the trial file; nothing is changed on disk. A fault that is found
    in a recording is repaired in memory, so that what follows from it is not reported as a fault of its own.

    Args:
        path: the trial file, of a recording or of an OpenSim model.
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        The findings and the judgement. At least one finding is an error whenever ``read_trial`` or ``run`` would
        refuse the trial.

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
    path, report = Path(path), progress or no_progress
    findings = list[Finding]() if names_model(path) else examined_file(path, all_checks(), costs=True)
    refused, judgement, notes = list[Finding](), None, list[Finding]()
    with contained(refused, "sharing of the forces"):
        body = prepare(path, progress=report)
        if isinstance(body, ModelBody):
            findings += findings_of_body(body)
            notes += (finding("model", "note", {"note": note}, Where(file=path)) for note in body.notes)
        judgement = judge(Facts(judged_result(body, sorted_findings(findings), report)))
    if refused:  # a fault with which the trial cannot be analysed is an error, whatever it costs
        findings = [replace(each, severity="error") if each.lowered else each for each in findings]
    # What follows from an error is no finding of its own.
    if not any(each.severity == "error" for each in findings):
        findings += refused
    findings += notes
    ordered = sorted_findings(findings)
    return Report(path, ordered, judgement or judge_findings(ordered))
