"""What the plates show beside what the feet do: forces on frames of the motion, and the frames that are measured.

Contact and force must go together: no force on a foot in the air, no unloaded foot on the ground.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times, long_enough
from musclesolve.checking.case import Case, stretches
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.observed_body import SMOOTH_HZ, Foot, case_feet, clearly_seen
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.motion.signals.low_pass import low_pass, lowest_carried
from musclesolve.recording.data import SIDE_NAMES, PlateForce, Side, Trial
from musclesolve.recording.plates.foot_contacts import EDGE, touch, unmeasured_contacts, vertical_force
from musclesolve.recording.trial.analysed_range import finds_range

# Contact and force may disagree by so long before it is used to judge others [s].
DEEP = 0.08


def smooth_force(plate: PlateForce) -> Array:
    """Return the force of a plate (S, 3), low-passed like the markers."""
    rate = plate.rate
    cutoff = min(SMOOTH_HZ, 0.4 * rate)
    if plate.time.size < 10 or cutoff < lowest_carried(plate.time.size, rate):
        return plate.force
    return low_pass(np.nan_to_num(plate.force), rate, cutoff)


def eroded(mask: Mask, count: int) -> Mask:
    """Return a mask (T,) without the first and last samples of each run; the ends of the recording are no ends."""
    kept = mask.copy()
    for shift in range(1, count + 1):
        if shift < mask.size:
            kept[shift:] &= mask[:-shift]
            kept[:-shift] &= mask[shift:]
    return kept


def grown(mask: Mask, count: int) -> Mask:
    """Return a mask (T,) with so many samples more at both ends of each run."""
    return ~eroded(~mask, count)


def within(case: Case) -> Mask:
    """Return which frames (T,) lie in the time range and in the recording of the forces."""
    inside = np.zeros(case.trial.markers.time.size, bool)
    inside[case.trial.frames()] = True
    return inside & _recorded(case.trial)


def _recorded(trial: Trial) -> Mask:
    """Return the frames (T,) of which every plate was recorded."""
    time = trial.markers.time
    recorded = np.ones(time.size, bool)
    for plate in trial.forces:
        recorded &= (time >= plate.time[0]) & (time <= plate.time[-1])
    return recorded


def measured(case: Case, feet: dict[Side, Foot] | None = None) -> Mask:
    """Return the frames (T,) in which the plates hold all that carries the subject, as far as the feet show it."""
    feet = case_feet(case) if feet is None else feet
    trial, whole = case.trial, within(case) & clearly_seen(case.trial, list(case.trial.mapping))
    count = round(DEEP * trial.markers.rate)
    for side, foot in feet.items():
        loaded = vertical_force(trial, side) > touch(trial)
        at_odds = (eroded(foot.ground, count) & ~loaded) | (eroded(foot.air, count) & loaded)
        whole &= ~grown(at_odds & _recorded(trial), 3 * count)
    # Contacts that the time range leaves out for what their plates lack show nothing of the others.
    lost = unmeasured_contacts(trial) if trial.legs else {}
    for frames in lost.values():
        whole &= ~grown(frames, 2 * count)
    return whole


def away(case: Case, plate: PlateForce, point: Array) -> float:
    """Return the middle horizontal distance from points of force (S, 3) to the middle of the foot on the plate [m]."""
    foot = case_feet(case).get(plate.side)
    loaded = plate.force[:, 2] > 0.3 * plate.force[:, 2].max(initial=0.0)
    loaded &= np.isfinite(point).all(axis=1)
    if foot is None or not loaded.any():
        return 0.0
    return from_middle(case, foot, plate.time[loaded], point[loaded])


def from_middle(case: Case, foot: Foot, time: Array, point: Array) -> float:
    """Return the middle horizontal distance from points (S, 3) at times (S,) to the middle of a foot [m]; 0 of none."""
    middle = 0.5 * (foot.heel + foot.toe)
    distance = np.linalg.norm(point[:, :2] - at_times(case.trial.markers.time, middle[:, :2], time), axis=1)
    known = np.isfinite(distance)
    return float(np.median(distance[known])) if known.any() else 0.0


# Shorter disagreements are those of the threshold [s].
SHORTEST_FORCE, SHORTEST_CONTACT = 0.03, 0.06


@asked_at(Stage.SUPPORT, needs=["plates"])
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
