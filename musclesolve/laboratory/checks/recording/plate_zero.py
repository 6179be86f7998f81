"""Zero of a plate: the force that it shows while nobody is on it.

The force on a foot is wrong by the same newtons in every frame. Files that set small forces to zero show no level.
"""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import within
from musclesolve.laboratory.checks.case import Case, on_plate, recording_check
from musclesolve.laboratory.recording.data import LIGHT_N, PlateForce
from musclesolve.laboratory.results.finding import Cost, Finding, finding
from musclesolve.laboratory.trial.plates.foot_forces import plate_numbers

ZERO = 5.0
"""Force of an unloaded plate that is no wrong zero [N]: noise and crosstalk of strain gauges after warming up. More
show mac/jump2 (5.3, 19.3 N) and pycgm (8.7, 9.8 N). The middle half of the forces of an unloaded plate agrees to it, or
to the level itself."""
SHORTEST = 0.1
"""Least time in which nobody is on the plate [s]."""


def level(plate: PlateForce) -> float:
    """Return the median vertical force while nobody is on a plate [N]; zero where the file does not show it.

    Samples that are exactly zero were set to it, and in gaps nothing was measured. The middle half of the others must
    agree to `ZERO`, or lie on one side of zero as a whole: the ends of contacts do not.
    """
    vertical = plate.plate_force[:, 2]
    light = np.isfinite(vertical) & (vertical != 0.0)
    for gap in plate.gaps:
        light &= ~within(plate.time, gap.first, gap.last)
    if plate.unloaded is None:
        light &= np.abs(vertical) < LIGHT_N
    rest = vertical[light]
    if rest.size < SHORTEST * plate.rate:
        return 0.0
    low, middle, high = np.quantile(rest, [0.25, 0.5, 0.75])
    return float(middle) if high - low < max(ZERO, abs(middle)) else 0.0


@recording_check("plates", "upright")
def plate_zero(case: Case) -> Iterator[Finding]:
    """Find plates that show a force while nobody is on them."""
    plates = dict(zip(plate_numbers(case.trial.forces), case.trial.forces, strict=True))
    for number, plate in plates.items():  # one of both feet that stand on a plate
        zero = level(plate)
        if abs(zero) > ZERO:
            zeros = {**(case.settings.plates.vertical_zero_n or {}), str(number): round(zero, 1)}
            values = {"number": number, "level": zero, "limit": ZERO}
            cost = Cost(abs(zero), "N", "the vertical ground reaction in every frame")
            change = {("plates", "vertical_zero_n"): zeros}
            yield finding("plate_baseline", "warning", values, on_plate(plate), cost=cost, change=change)
