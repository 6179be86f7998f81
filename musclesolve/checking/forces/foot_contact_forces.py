"""Contact and force must go together: no force on a foot in the air, no unloaded foot on the ground."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import long_enough
from musclesolve.checking.case.case import Case, stretches
from musclesolve.checking.case.observed_body import case_feet
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.forces.support import eroded, within
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.data import SIDE_NAMES
from musclesolve.recording.plates.foot_contacts import EDGE, touch, vertical_force
from musclesolve.recording.trial.analysed_range import finds_range

# Shorter disagreements are those of the threshold [s].
SHORTEST_FORCE, SHORTEST_CONTACT = 0.03, 0.06


@asked_at(Stage.SUPPORT)
def contacts_and_forces(case: Case) -> Iterator[Finding]:
    """Compare what the feet do with what the plates show, within the time range."""
    if not case.trial.forces:
        return
    time, rate, inside = case.trial.markers.time, case.trial.markers.rate, within(case)
    edge, least, path = max(1, round(EDGE * rate)), touch(case.trial), case.trial.forces[0].path
    for side, foot in case_feet(case).items():
        name, vertical = SIDE_NAMES[side], vertical_force(case.trial, side)
        loaded = eroded(foot.air, edge) & inside & (vertical > least)
        loaded = long_enough(loaded, round(SHORTEST_FORCE * rate))
        if loaded.any():
            values = {"most": vertical[loaded].max(), "side": name, "limit": least}
            where = Where(path, plate=name, times=stretches(loaded, time))
            yield finding("force_without_contact", "error", values, where)
        standing = eroded(foot.ground, edge) & inside & case.trial.measured(side, time) & (vertical < least)
        standing = long_enough(standing, round(SHORTEST_CONTACT * rate))
        if standing.any():
            spans = stretches(standing, time)
            most = float(np.max(vertical[standing]))
            has_plate = any(plate.side == side for plate in case.trial.forces)
            values = {
                "side": name,
                "duration": sum(b - a for a, b in spans) + 1.0 / rate,
                "shows": "carries it" if most < 0.5 else f"shows more than {most:.0f} N under it",
                "more": ("" if finds_range(case.content) else ", or leave [time] out and it is found")
                + ("" if has_plate else ", or add the plate of this foot as [[force]]"),
            }
            where = Where(path, plate=name, times=spans)
            yield finding("contact_without_force", "error" if has_plate else "warning", values, where)
