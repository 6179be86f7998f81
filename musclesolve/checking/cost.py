"""Cost of a fault: the largest change of a moment of the legs between a recording with the fault and without it.

Repairs are made in sequence, each on the result of the repairs before it. So a fault is compared with its own repair at
its place in the sequence: all earlier faults are repaired in both cases, later faults in neither.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case import Case
from musclesolve.checking.repair import Recorded
from musclesolve.dynamics.inverse.newton_euler import net_moments
from musclesolve.forces import mechanics_of
from musclesolve.motion.anatomy.anatomy import anatomy
from musclesolve.pipeline.mechanics import TIME_MARGIN, Mechanics, carries_foot
from musclesolve.recording.data import SIDES, Side, Trial
from musclesolve.recording.gaps.gap_filling import completed_trial
from musclesolve.results.finding import Cost, Finding

SMALLEST_NM = 0.5
"""Cost below which a fault has no stated cost [N m]."""
LEFT_OUT = ("plate_instant",)
"""Codes of faults whose frames are left out of the analysis, and which cost nothing else."""
SERIOUS = 0.2
"""Change of a moment below which a fault is a warning instead of an error [N m/kg]: a tenth of the peak moment of the
ankle in walking. Two programs differ by up to 0.14 on the moments of one recording."""


def with_costs(case: Case) -> tuple[Finding, ...]:
    """Return the findings of an examined case with the costs of repaired errors and warnings.

    An error that costs less than `SERIOUS` becomes a warning. The cost is None where the recording cannot be analyzed
    with the fault, or without it, or the frames are others.
    """
    moments: dict[int, Any] = {}
    known = None if case.prepared is None else (case.prepared.trial, case.prepared.mechanics)
    states: list[tuple[Trial, Mechanics]] = [] if known is None else [known]

    def moments_of(recorded: Recorded) -> tuple[Array, dict[Side, dict[str, Array]]] | None:
        if id(recorded) not in moments:
            moments[id(recorded)] = _moments(case, recorded.trial, states)
        found: tuple[Array, dict[Side, dict[str, Array]]] | None = moments[id(recorded)]
        return found

    findings = list(case.findings)
    for repaired, before, after in case.steps:
        for place, finding in enumerate(findings):
            alike = all(getattr(finding, of) == getattr(repaired, of) for of in ("code", "what", "where"))
            if not alike or finding.severity == "note" or finding.code in LEFT_OUT:
                continue
            cost = _cost(before.trial, moments_of(before), moments_of(after))
            if cost is not None and cost.size < SERIOUS * case.trial.subject.mass:
                lowered = finding.severity == "error"
                findings[place] = finding = replace(finding, severity="warning", lowered=lowered)
            if cost is not None and cost.size > SMALLEST_NM:
                findings[place] = replace(finding, cost=cost)
    return tuple(findings)


def _moments(
    case: Case, trial: Trial, states: list[tuple[Trial, Mechanics]]
) -> tuple[Array, dict[Side, dict[str, Array]]] | None:
    """Return time (T,) [s] and moments (T,) [N m] about the joints between pelvis and each foot, by side and name.

    Contacts that are only partly measured count, too. states: the recording and its mechanics at the last place
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
    of_sides = {side: {names[k]: moments[:, k] for k in own} for side, own in rows.items()}
    return recorded.motion.time, of_sides


def _cost(
    trial: Trial,
    faulty: tuple[Array, dict[Side, dict[str, Array]]] | None,
    sound: tuple[Array, dict[Side, dict[str, Array]]] | None,
) -> Cost | None:
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


def moment_cost(change: float, of: str, mass: float) -> Cost:
    """Return the cost of a change of a moment [N m] of a body of a mass [kg]."""
    return Cost(change, "N m", of, SERIOUS * mass)
