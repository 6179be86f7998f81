"""The examination of a trial, `check`: its findings, the costs of repaired faults, and the judgement of its result.

A fault costs the largest change of a joint moment by its repair.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import REMARK, Progress, no_progress
from musclesolve.dynamics.inverse.newton_euler import net_moments
from musclesolve.laboratory.analysis.mechanics import TIME_MARGIN, Mechanics, carries_foot
from musclesolve.laboratory.analysis.recorded_body import RecordedBody
from musclesolve.laboratory.checks import files, forces, markers
from musclesolve.laboratory.checks.analysis import find_predicted_spans, find_time_range
from musclesolve.laboratory.checks.case import (
    SERIOUS,
    Case,
    Check,
    Recorded,
    Stage,
    case_of,
    checks_of,
    collect_errors,
    examine,
    load,
    moment_cost,
)
from musclesolve.laboratory.checks.markers.trajectories import fill_and_complete, remove_and_fill_jumps
from musclesolve.laboratory.checks.observed_body import forget
from musclesolve.laboratory.forces import mechanics_of, prepare
from musclesolve.laboratory.markers.gaps.gap_filling import completed_trial
from musclesolve.laboratory.motion.anatomy.anatomy import anatomy
from musclesolve.laboratory.recording.data import SIDES, AnyTrial, Side, Trial
from musclesolve.laboratory.recording.trial_settings import is_model_trial
from musclesolve.laboratory.results.dataset.assemble import shared_result, without_remarks
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.finding import Cost, Finding, Where, finding, sorted_findings
from musclesolve.laboratory.results.judgement import Report, judge, judge_findings
from musclesolve.laboratory.trial.trial_file import as_read
from musclesolve.models.body import Body
from musclesolve.tables.text_file import file_path, toml_content

if TYPE_CHECKING:
    from musclesolve.laboratory.analysis.measured_body import MeasuredModel


SMALLEST_NM = 0.5
"""Cost below which a fault has no stated cost [N m]."""
LEFT_OUT = ("plate_instant", "another_trial")
"""Codes of faults whose measurements are left out of what is compared: their cost is not known."""
Moments = tuple[Array, dict[Side, dict[str, Array]]]
"""Time (T,) [s] and moments (T,) [N m] about the joints between pelvis and each foot, by side and name."""


def with_costs(case: Case) -> tuple[Finding, ...]:
    """Return the findings of an examined case with the costs of repaired errors and warnings.

    An error that costs less than `SERIOUS` becomes a warning. The cost is None where the recording cannot be analyzed
    with the fault, or without it, or the frames are others.
    """
    moments: dict[int, Moments | None] = {}
    known = None if case.prepared is None else (case.prepared.trial, case.prepared.mechanics)
    states: list[tuple[Trial, Mechanics]] = [] if known is None else [known]

    def moments_of(recorded: Recorded) -> Moments | None:
        if id(recorded) not in moments:
            moments[id(recorded)] = _moments(case, recorded.trial, states)
        return moments[id(recorded)]

    findings = list(case.findings)
    for repaired, before, after in case.steps:
        for place, entry in enumerate(findings):
            alike = all(getattr(entry, of) == getattr(repaired, of) for of in ("code", "what", "where"))
            if not alike or entry.severity == "note" or entry.code in LEFT_OUT:
                continue
            cost = _cost(before.trial, moments_of(before), moments_of(after))
            if cost is not None and cost.size < SERIOUS * case.trial.subject.mass:
                lowered = entry.severity == "error"
                findings[place] = entry = replace(entry, severity="warning", lowered=lowered)
            if cost is not None and cost.size > SMALLEST_NM:
                findings[place] = replace(entry, cost=cost)
    return tuple(findings)


def _moments(case: Case, trial: Trial, states: list[tuple[Trial, Mechanics]]) -> Moments | None:
    """Return the moments; contacts that are only partly measured count, too.

    states: the recording and its mechanics at the last place
    computed: with equal markers the motion is reused.
    """
    last = case.trial
    trial = replace(trial, time_range=last.time_range, legs=last.legs, predicted_spans=last.predicted_spans)
    try:
        whole = completed_trial(trial, case.settings.gaps)[0]
        recorded = mechanics_of(whole, anatomy(whole, TIME_MARGIN), known=states[-1] if states else None)
        states[:] = [(whole, recorded)]
        moments = net_moments(recorded.model, recorded.motion, recorded.wrenches)
    except Exception:
        # With a fault, or faults hidden by it, a recording may lack any data: then the cost is unknown.
        return None
    names = recorded.model.topology.dof_names[: recorded.model.tree.joint_count]
    rows = {side: np.flatnonzero(carries_foot(recorded.model, side)[: len(names)]) for side in SIDES}
    of_sides = {side: {names[k]: moments[:, k] for k in legs} for side, legs in rows.items()}
    return recorded.motion.time, of_sides


def _cost(trial: Trial, faulty: Moments | None, sound: Moments | None) -> Cost | None:
    """Return the largest change in the frames of a leg in which its foot counted as measured with the fault.

    None where it is not known.
    """
    if faulty is None or sound is None:
        return None
    (time, with_fault), (other, without) = faulty, sound
    if time.shape != other.shape or np.abs(time - other).max() > 1e-6:
        return None
    most, of = 0.0, ""
    for side in SIDES:
        measured = trial.measured(side, time)
        for dof, moment in with_fault[side].items():
            change: Array = np.abs(moment - without[side][dof])[measured]
            if change.size and np.isfinite(change).all() and change.max() > most:
                most, of = float(change.max()), dof
    return moment_cost(most, of, trial.subject.mass)


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
        return sorted_findings(examined_file(trial.path, all_checks(), costs=True))
    case = replace(case_of(trial.recorded or trial), prepared=body)
    findings = sorted_findings(with_costs(examine(case, all_checks(), PREPARE)))
    forget(case.trial)
    return findings


@cache
def all_checks() -> tuple[Check, ...]:
    """Return the checks of the analysis and of all modules in the folders of checks."""
    return checks_of("musclesolve.laboratory.checks.analysis", files, forces, markers)


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
    if not is_model_trial(toml_content(path)):
        with collect_errors(findings, "reading of the recording"):
            case, findings = load(path)
    refused, judgement, notes = list[Finding](), None, list[Finding]()
    body: RecordedBody | MeasuredModel | None = None
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
