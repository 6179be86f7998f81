"""Where is the center of pressure under the foot? Displaced as a whole, or outside of the sole at times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, at_times
from musclesolve.checking.case import Case, on_plate, stretches
from musclesolve.checking.observed_body import foot
from musclesolve.checking.repair import change_plate
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.motion.events.force_events import FootLoads, flights
from musclesolve.recording.data import SIDE_NAMES, PlateForce
from musclesolve.recording.plates.foot_contacts import touch
from musclesolve.results.finding import Finding, Run, finding

# Loads below this share of the body weight have an uncertain center of pressure.
LOADED = 0.15
# The sole beyond the markers [m]: behind the heel, ahead of the toe (the marker is on the forefoot), to either side of
# the line from heel to toe; and the margin given to it.
BEHIND, AHEAD, BESIDE, MARGIN = 0.03, 0.08, 0.06, 0.02
# In walking the center of pressure goes from the heel to the forefoot; the middle between its ends lies about so far
# ahead of the heel marker: this share of the stature, between those of the recorded walk (0.074) and the reference
# stride (0.081). The toe marker is put in too many places to count from it.
USUAL = 0.078
ENDS = (0.05, 0.95)
# How far off it may be before a plate counts as displaced, and before its moments are wrong [m]; smaller displacements
# show in the balance of forces.
DISPLACED, FAR = 0.06, 0.08
# Markers of both feet sit too far in or out by so much at most [m].
ALIKE = 0.025
SHORTEST = 0.02
# A shorter piece of a contact does not show where the whole of it lies under the foot [s].
SHORTEST_TRACK = 0.2
# Share of a contact that a track must cover to count as whole.
WHOLE = 0.75


@dataclass(frozen=True)
class Track:
    """The center of pressure during one contact, S samples while the foot is on the ground and loaded."""

    time: Array  # (S,) [s]
    point: Array  # (S, 2) horizontal place [m]
    along: Array  # (S,) from the heel marker towards the toe marker, horizontally [m]
    across: Array  # (S,) to the left of the line from heel to toe [m]
    length: Array  # (S,) from heel to toe marker, horizontally [m]
    axis: Array  # (2,) mean horizontal direction from heel to toe
    whole: bool  # whether it runs from the beginning to the end of a contact


def tracks(case: Case, plate: PlateForce) -> list[Track]:
    """Return the track of every contact of a plate with its foot."""
    seen, trial = foot(case.trial, plate.side), case.trial
    if seen is None:
        return []
    weight = trial.subject.mass * STANDARD_GRAVITY
    least = max(touch(trial), LOADED * weight if np.isfinite(weight) else 0.0)
    time = trial.markers.time
    on_ground = np.interp(plate.time, time, seen.ground.astype(float)) > 0.99
    loaded = plate.force[:, 2] > least
    good = on_ground & loaded & np.isfinite(plate.point).all(axis=1)
    good &= (plate.time >= time[0]) & (plate.time <= time[-1])
    contacts = stretches(loaded, plate.time)
    of_plate = []
    for start, end in stretches(good, plate.time):
        samples = (plate.time >= start) & (plate.time <= end)
        if end - start < SHORTEST_TRACK or samples.sum() < 8:
            continue
        at = plate.time[samples]
        heel, toe = (at_times(time, path[:, :2], at) for path in (seen.heel, seen.toe))
        first, last = next(contact for contact in contacts if contact[0] <= start <= contact[1])
        whole = end - start > WHOLE * (last - first) and plate.time[0] < first and last < plate.time[-1]
        length = np.maximum(np.linalg.norm(toe - heel, axis=1), 1e-6)
        axis, point = (toe - heel) / length[:, None], plate.point[samples, :2]
        away = point - heel
        along = np.sum(away * axis, axis=1)
        across = axis[:, 0] * away[:, 1] - axis[:, 1] * away[:, 0]
        of_plate.append(Track(at, point, along, across, length, axis.mean(axis=0), whole))
    return of_plate


def _off(track: Track, stature: float, runs: bool) -> Array:
    """Return from where the middle of a track usually is to where it is (2,) [m]; runners may land on the forefoot."""
    usual = USUAL * stature if np.isfinite(stature) else 0.5 * float(np.median(track.length))
    middle, toe = float(np.quantile(track.along, ENDS).mean()), float(np.median(track.length))
    ahead = middle - float(np.clip(middle, usual, max(usual, toe if runs else usual)))
    left = np.array([-track.axis[1], track.axis[0]])
    return ahead * track.axis + float(np.median(track.across)) * left


@dataclass(frozen=True)
class Passage:
    """Where the center of pressure of a plate passes under its foot, in all its whole contacts."""

    plate: int  # which plate
    off: Array  # (2,) from where it usually passes, forward and left [m]
    ahead: Array  # (2,) horizontal unit vector from heel to toe
    outward: Array  # (2,) horizontal unit vector square to it, away from the other foot
    times: tuple[Run, ...]  # of the contacts


def passages(case: Case) -> list[Passage]:
    """Compare every plate that shows a whole contact with the foot."""
    runs, stature = len(flights(case.trial, FootLoads.of(case.trial))) > 0, case.trial.subject.stature
    under_feet = []
    for index, plate in enumerate(case.trial.forces):
        whole = [track for track in tracks(case, plate) if track.whole]
        if not whole:
            continue
        off = np.mean([_off(track, stature, runs) for track in whole], axis=0)
        ahead = np.mean([track.axis for track in whole], axis=0)
        outward = np.array([-ahead[1], ahead[0]]) * (1.0 if plate.side == "l" else -1.0)
        times = tuple((float(track.time[0]), float(track.time[-1])) for track in whole)
        under_feet.append(Passage(index, off, ahead, outward, times))
    return under_feet


@asked_at(Stage.PLATE_POSITION)
def displaced_plates(case: Case) -> Iterator[Finding]:
    """Find plates whose center of pressure is off the foot by the same amount all the time.

    Toe and heel markers that sit too far in or out do so on both feet: what both show of it is left out.
    """
    under_feet = passages(case)
    for passage in under_feet:
        plate = case.trial.forces[passage.plate]
        others = [p.off @ p.outward for p in under_feet if case.trial.forces[p.plate].side != plate.side]
        here, there = float(passage.off @ passage.outward), float(np.mean(others)) if others else 0.0
        alike = np.sign(here) * min(abs(here), abs(there), ALIKE) if here * there > 0.0 else 0.0
        off = passage.off - alike * passage.outward
        size = float(np.linalg.norm(off))
        if size < DISPLACED:
            continue
        values = {
            "size": size,
            "side": SIDE_NAMES[plate.side],
            "forward": off[0],
            "left": off[1],
            "limit": DISPLACED,
        }
        where = on_plate(plate, passage.times)
        repair = change_plate(passage.plate, point=plate.point - [*off, 0.0])
        yield finding(
            "pressure_offset", "error" if size >= FAR else "warning", values, where, repair, anywhere=True
        )


@asked_at(Stage.SUPPORT)
def pressure_outside_sole(case: Case) -> Iterator[Finding]:
    """Find times at which the center of pressure leaves the sole."""
    first, last = case.trial.time_range
    for plate in case.trial.forces:
        spans: list[Run] = []
        farthest = 0.0
        for track in tracks(case, plate):
            lengthwise = np.maximum(-BEHIND - track.along, track.along - track.length - AHEAD)
            beyond = np.maximum(np.maximum(lengthwise, np.abs(track.across) - BESIDE), 0.0)
            inside = (track.time >= first) & (track.time <= last)
            for start, end in stretches((beyond > MARGIN) & inside, track.time):
                if end - start >= SHORTEST:
                    spans.append((start, end))
                    farthest = max(farthest, float(beyond[(track.time >= start) & (track.time <= end)].max()))
        if spans:
            values = {"side": SIDE_NAMES[plate.side], "farthest": farthest, "limit": MARGIN}
            yield finding("pressure_outside", "warning", values, on_plate(plate, tuple(spans)))
