"""Contact and force must go together: no force on a foot in the air, no unloaded foot on the ground."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import long_enough
from musclesolve.checking.case.case import Case, stretches
from musclesolve.checking.case.observed_body import case_feet
from musclesolve.checking.forces.support import eroded, within
from musclesolve.recording.data import SIDE_NAMES
from musclesolve.recording.plates.foot_contacts import EDGE, touch, vertical_force
from musclesolve.recording.trial.analysed_range import finds_range

# Shorter disagreements are those of the threshold [s].
SHORTEST_FORCE, SHORTEST_CONTACT = 0.03, 0.06


def all_contacts(case: Case) -> None:
    """Compare what the feet do with what the plates say, within the time range."""
    if not case.trial.forces:
        return
    time, rate, inside = case.trial.markers.time, case.trial.markers.rate, within(case)
    edge = max(1, round(EDGE * rate))
    for side, foot in case_feet(case).items():
        vertical = vertical_force(case.trial, side)
        least = touch(case.trial)
        flying = long_enough(
            eroded(foot.air, edge) & inside & (vertical > least), round(SHORTEST_FORCE * rate)
        )
        if flying.any():
            case.tell(
                "force_without_contact",
                "error",
                f"the plate carries up to {vertical[flying].max():.0f} N while the {SIDE_NAMES[side]} foot is in the "
                f"air, expected less than {least:.0f} N",
                "give the force to the foot that stands there, or set it to zero in the software that exported it; "
                "see whether somebody else stepped on the plate",
                file=case.trial.forces[0].path,
                plate=side,
                times=stretches(flying, time),
            )
        there = any(plate.side == side for plate in case.trial.forces)
        standing = long_enough(
            eroded(foot.ground, edge) & inside & case.trial.measured(side, time) & (vertical < least),
            round(SHORTEST_CONTACT * rate),
        )
        if standing.any():
            lasting = sum(b - a for a, b in stretches(standing, time)) + 1.0 / rate
            case.tell(
                "contact_without_force",
                "error" if there else "warning",
                f"the {SIDE_NAMES[side]} foot stands on the ground for {lasting:.2f} s of the time range and no plate "
                + _shown(float(np.max(vertical[standing]))),
                "choose a range in which every contact is measured ([time])"
                + ("" if finds_range(case.content) else ", or leave [time] out and it is found")
                + ("" if there else ", or add the plate of this foot as [[force]]"),
                file=case.trial.forces[0].path,
                plate=side,
                times=stretches(standing, time),
            )


def _shown(most: float) -> str:
    return "carries it" if most < 0.5 else f"shows more than {most:.0f} N under it"
