"""What a fault costs: the largest change of a moment of the legs between a recording with it and without it.

Repairs follow each other, and each is made of what the ones before it left. So a fault is compared with its own repair
at that place: all faults that were found before it are repaired in both, those that were found after it in neither.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case import Case
from musclesolve.checking.repair import Recorded
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.muscles.placing.place_muscles import LEG_DOFS
from musclesolve.pipeline.mechanics import leg_moments, mechanics
from musclesolve.recording.data import SIDES, Side, Trial
from musclesolve.recording.trial.trial_file import completed_trial
from musclesolve.results.finding import Cost, Finding

SMALLEST = 0.5
"""Costs below this are not worth a word [N m]."""
LEFT_OUT = ("plate_instant",)
"""What these find is left out of the analysis, and costs nothing but these frames."""
SERIOUS = 0.2
"""A fault that changes no moment by so much is no error but a warning [N m/kg]: a tenth of the peak moment of the ankle
in walking. Two programs differ by up to 0.14 on the moments of one recording."""


def with_costs(case: Case) -> tuple[Finding, ...]:
    """Return the findings of an examined case; errors and warnings that were repaired say what they cost.

    An error that costs less than `SERIOUS` becomes a warning. The cost is None where the recording cannot be analysed
    with the fault, or without it, or the frames are others.
    """
    moments: dict[int, Any] = {}

    def moments_of(recorded: Recorded) -> tuple[Array, dict[Side, Array]] | None:
        if id(recorded) not in moments:
            moments[id(recorded)] = _moments(case, recorded.trial)
        found: tuple[Array, dict[Side, Array]] | None = moments[id(recorded)]
        return found

    findings = list(case.findings)
    for repaired, before, after in case.steps:
        for place, finding in enumerate(findings):
            alike = (finding.code, finding.what, finding.where) == (
                repaired.code,
                repaired.what,
                repaired.where,
            )
            if not alike or finding.severity == "note" or finding.code in LEFT_OUT:
                continue
            cost = _cost(before.trial, moments_of(before), moments_of(after))
            if cost is not None and cost.size < SERIOUS * case.trial.subject.mass:
                lowered = finding.severity == "error"
                findings[place] = finding = replace(finding, severity="warning", lowered=lowered)
            if cost is not None and cost.size > SMALLEST:
                findings[place] = replace(finding, cost=cost)
    return tuple(findings)


def _moments(case: Case, trial: Trial) -> tuple[Array, dict[Side, Array]] | None:
    """Return time (T,) [s] and moments of each leg (T, 7) [N m], of contacts too that are not measured whole."""
    last = case.trial
    trial = replace(trial, time_range=last.time_range, legs=last.legs)
    try:
        recorded = mechanics(completed_trial(trial, case.content)[0])
        moments = projected_moments(recorded.model, recorded.motion, recorded.wrenches)
    except Exception:
        # With a fault, or what was not found because of it, a recording may lack anything: there is no cost then.
        return None
    return recorded.motion.time, {side: leg_moments(recorded.model, moments, side) for side in SIDES}


def _cost(
    trial: Trial,
    faulty: tuple[Array, dict[Side, Array]] | None,
    sound: tuple[Array, dict[Side, Array]] | None,
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
        change: Array = np.abs(with_fault[side] - without[side])[trial.measured(side, time)]
        if change.size and np.isfinite(change).all() and change.max() > most:
            most = float(change.max())
            of = f"{LEG_DOFS[int(np.argmax(change.max(axis=0)))]}_{side}"
    return Cost(most, "N m", of)
