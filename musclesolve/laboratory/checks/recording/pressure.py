"""Pressure under the sole: the center of pressure lies under the foot that it loads."""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import long_enough, time_spans
from musclesolve.laboratory.checks.case import Case, frames_of, on_plate, recording_check
from musclesolve.laboratory.checks.observed_body import seen_feet
from musclesolve.laboratory.recording.data import SIDE_NAMES
from musclesolve.laboratory.results.finding import Cost, Finding, finding
from musclesolve.laboratory.trial.plates.foot_contacts import SHORTEST_CONTACT, touch
from musclesolve.laboratory.trial.plates.plate_checks import without_instants

SOLE = 0.12
"""Distance from the line from heel to toe marker at which no sole reaches [m]: soles are up to 11 cm wide, and the toe
marker may be at either edge."""


@recording_check("plates", "upright")
def pressure_outside_sole(case: Case) -> Iterator[Finding]:
    """Find times at which the center of pressure is beside the sole of a foot that stands and carries the body."""
    trial, feet = case.trial, seen_feet(case.trial)
    for plate in (without_instants(trial, plate) for plate in trial.forces if plate.side in feet):
        foot = feet[plate.side]
        stands = np.interp(plate.time, foot.time, foot.ground.astype(float)) > 0.99
        away = np.nan_to_num(foot.distance(plate.point, plate.time))
        outside = stands & plate.measured & (plate.force[:, 2] > touch(trial, 0.3)) & (away > SOLE)
        outside = long_enough(outside, frames_of(SHORTEST_CONTACT, plate.rate))
        if outside.any():
            moment = float(((away - SOLE) * plate.force[:, 2])[outside].max())
            values = {"side": SIDE_NAMES[plate.side], "away": float(away[outside].max()), "limit": SOLE}
            values |= {"force": float(plate.force[outside, 2].max())}
            where = on_plate(plate, time_spans(outside, plate.time))
            cost = Cost(moment, "N m", f"the {SIDE_NAMES[plate.side]} ankle")
            yield finding("pressure_outside", "warning", values, where, cost=cost, side=plate.side)
