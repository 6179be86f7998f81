"""One foot a plate: the center of pressure of a plate that carries both feet lies between them, beside each sole."""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import long_enough, time_spans
from musclesolve._util.sides import Side
from musclesolve.laboratory.checks.case import Case, frames_of, on_plate, recording_check
from musclesolve.laboratory.checks.observed_body import seen_feet
from musclesolve.laboratory.recording.data import SIDE_NAMES
from musclesolve.laboratory.results.finding import Cost, Finding, finding
from musclesolve.laboratory.trial.plates.foot_contacts import SHORTEST_CONTACT, touch, vertical_force

BESIDE = 0.09
"""Distance of the center of pressure from the line from heel to toe at which no sole reaches [m]: soles are 8 to 11 cm
wide, and 5 cm longer than the line."""


@recording_check("plates", "upright")
def both_feet_on_a_plate(case: Case) -> Iterator[Finding]:
    """Find times at which one plate carries both feet and gives the force of both to one."""
    trial, feet = case.trial, seen_feet(case.trial)
    if len(feet) < 2:
        return
    for plate in trial.forces:
        other: Side = "l" if plate.side == "r" else "r"
        time = plate.time
        grounded = {
            s: np.interp(time, feet[s].time, feet[s].ground.astype(float)) > 0.5 for s in (plate.side, other)
        }
        alone = np.interp(time, trial.markers.time, vertical_force(trial, other)) < touch(trial)
        vertical = plate.force[:, 2]
        both = (
            grounded[plate.side] & grounded[other] & alone & (vertical > touch(trial, 0.3)) & plate.measured
        )
        own, far = (feet[s].distance(plate.point, time) for s in (plate.side, other))
        heels = np.linalg.norm(
            np.subtract(*(np.mean(feet[s].at(time), axis=0) for s in (plate.side, other))), axis=1
        )
        # between the feet, beside both
        both &= (own > BESIDE) & (far < heels) & (own < heels)
        both = long_enough(both, frames_of(SHORTEST_CONTACT, plate.rate))
        if both.any():
            share = np.clip(own / np.maximum(own + far, 1e-6), 0.0, 1.0)
            wrong = float((share * vertical)[both].max())
            values = {
                "side": SIDE_NAMES[plate.side],
                "other": SIDE_NAMES[other],
                "away": float(own[both].max()),
            }
            where = on_plate(plate, time_spans(both, time))
            cost = Cost(wrong, "N", f"the {SIDE_NAMES[plate.side]} foot")
            yield finding("plate_feet.both", "warning", values, where, cost=cost)
