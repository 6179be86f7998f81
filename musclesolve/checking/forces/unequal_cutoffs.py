"""Are the forces filtered less than the markers, although the foot strikes with an impact?

The ground stops a foot that strikes. The filters keep the parts of force F and foot acceleration below the cut-offs of
forces and markers. The force between the two cut-offs has no acceleration: at a height h of the hip its horizontal part
leaves a moment of up to h |dF| at the hip, and less at the knee,

    dF = low-pass at the cut-off of the forces (F) - low-pass at the cut-off of the markers (F).

Divided by the mass this moment is 0.1 N m/kg on the synthetic walk and 0.16 to 0.18 on the recorded walk, both without
impacts, and 0.3 to 0.7 on a treadmill (6 and 25 Hz). There peaks of hip extension grow by 0.1 to 0.5 N m/kg; where the
truth is known (docs/motion.md) they grow by 0.3, none of it made by muscles.
"""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import Array, at_times
from musclesolve.checking.case import Case
from musclesolve.checking.stages import Stage, check_at
from musclesolve.motion.events.foot_events import FootLoads, force_events
from musclesolve.motion.ground_reaction import wrench_at_origin
from musclesolve.motion.signals.low_pass import low_pass, lowest_carried
from musclesolve.recording.data import SIDE_NAMES, SIDES, Side, Trial
from musclesolve.results.finding import Finding, finding

STRIKE = 0.08
"""Duration of a heel strike after the beginning of a contact [s]."""
HIP_HEIGHT = 0.52
"""Height of the hip in standing, as a share of the stature; 0.51 and 0.53 in two people."""
SPURIOUS = 0.25
"""Moment of the hip from which it is reported [N m/kg]: between walks without and with impacts."""


@check_at(Stage.ANALYSIS)
def unequal_cutoffs(case: Case) -> Iterator[Finding]:
    """Find heel strikes at which forces that are filtered less than the markers leave a moment at the hip."""
    trial, how = case.trial, case.settings.filter
    markers, forces = how.fixed_cutoff, how.force_cutoff_hz
    if markers is None or forces is None or forces <= markers or not trial.forces:
        return
    moments = {side: unanswered(trial, side, markers, forces) for side in SIDES}
    side, largest = max(moments.items(), key=lambda item: item[1])
    if largest <= SPURIOUS:
        return
    values = {"forces": forces, "markers": markers, "side": SIDE_NAMES[side], "moment": largest}
    yield finding("force_cutoff", "warning", values, case.key("filter", "force_cutoff_hz"))


def unanswered(trial: Trial, side: Side, markers_hz: float, forces_hz: float) -> float:
    """Return the largest moment of one hip after its heel strikes that no acceleration answers [N m/kg].

    It is zero where no strike was measured or a plate was too slow or too short for the filters.
    """
    plates = [plate for plate in trial.forces if plate.side == side]
    time = plates[0].time if plates else np.zeros(0)
    between = np.zeros((time.size, 3))
    for plate in plates:
        count = plate.time.size
        if not 2.0 * lowest_carried(count, plate.rate) < markers_hz < forces_hz < 0.45 * plate.rate:
            return 0.0
        force = wrench_at_origin(plate, trial.unloaded_below)[:, :3]
        parts: list[Array] = [low_pass(force, plate.rate, cutoff) for cutoff in (forces_hz, markers_hz)]
        between += at_times(plate.time, parts[0] - parts[1], time)
    first, last = trial.time_range
    struck = np.zeros(time.size, bool)
    for event in force_events(FootLoads.from_trial(trial)):
        if (event.side, event.kind) == (side, "heel_strike"):
            struck |= (time >= event.time) & (time < event.time + STRIKE)
    struck &= (time >= first) & (time <= last)
    if not struck.any():
        return 0.0
    horizontal = float(np.linalg.norm(between[struck, :2], axis=1).max())
    return horizontal * HIP_HEIGHT * trial.subject.stature / trial.subject.mass
