"""Support: a foot that stands without a plate, a body that something else carries."""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import Mask, long_enough, time_spans, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.checks.case import Case, frames_of, recording_check
from musclesolve.laboratory.checks.newtons_law import SHORTEST_CONTACT, eroded, law, within
from musclesolve.laboratory.checks.observed_body import feet_by_landmarks
from musclesolve.laboratory.checks.recording.sides import reversed_pairs
from musclesolve.laboratory.recording.data import SIDE_NAMES
from musclesolve.laboratory.results.finding import Cost, Finding, Where, finding
from musclesolve.laboratory.trial.plates.foot_contacts import EDGE, touch, vertical_force
from musclesolve.laboratory.trial.time_range import finds_range


@recording_check("plates", "upright")
def contacts_without_force(case: Case) -> Iterator[Finding]:
    """Find stances whose foot no plate loads, where the foot counts as measured.

    A foot that a plate loads at some time while it stands is on this plate: a light foot of a subject who sits, too.
    True where [time] states more than the plates measure: lasem/Walk01, btk_gait, gc6/ngait_og1, leuven2/walk.
    """
    trial, time, rate = case.trial, case.trial.markers.time, case.trial.markers.rate
    if not trial.forces or (finds_range(case.settings) and not trial.legs):
        return  # no range was found: the whole recording stands for it
    if reversed_pairs(trial, trial.markers)[1]:
        return  # the feet are those of the other side
    inside, edge, least, path = within(trial), frames_of(EDGE, rate), touch(trial), trial.forces[0].path
    for side, foot in feet_by_landmarks(trial).items():
        name, vertical = SIDE_NAMES[side], vertical_force(trial, side)
        beside = eroded(foot.ground, edge) & inside & trial.measured(side, time)
        for first, stop in true_runs(foot.ground):
            beside[first:stop] &= not (vertical[first:stop] >= least).any()
        standing = long_enough(beside, frames_of(SHORTEST_CONTACT, rate))
        if standing.any():
            where = Where(path, plate=name, times=time_spans(standing, time))
            values = {"side": name, "duration": float(standing.sum() / rate)}
            lacking = _lacking(case, standing, f"the {name} foot")
            yield finding("contact_without_force", "warning", values, where, cost=lacking, side=side)


@recording_check("plates", "upright")
def carried_beside(case: Case) -> Iterator[Finding]:
    """Find times at which something without a plate carries a part of the body."""
    required = law(case)
    if required is not None and required.beside.any():
        times = time_spans(required.beside, required.time)
        where, cost = (
            Where(case.trial.forces[0].path, times=times),
            _lacking(case, required.beside, "the feet"),
        )
        yield finding("carried_beside", "warning", {}, where, cost=cost)


def _lacking(case: Case, frames: Mask, of: str) -> Cost | None:
    """Return the largest vertical force that the motion requires and no plate shows, in some frames (T,) [N]."""
    required = law(case)
    if required is None or not np.isfinite(case.trial.subject.mass):
        return None
    total = vertical_force(case.trial, "r") + vertical_force(case.trial, "l")
    lacking = float((required.due[frames] * case.trial.subject.mass - total[frames]).max())
    return (
        Cost(min(lacking, 3.0 * case.trial.subject.mass * STANDARD_GRAVITY), "N", of)
        if lacking > 0.0
        else None
    )
