"""Events of the feet of a recording: heel strikes and toe-offs from the ground reaction or from the markers, flight.

`force_events` has the contacts of each foot with its plates. In flight (`flights`) no foot is on the ground: running
and jumping have flight, and assumptions about walking do not hold there. `marker_events` needs the markers alone, and
takes the walking direction from them, for any axes of the laboratory (`headings`).

Relative to the pelvis, the heel is farthest ahead shortly before it strikes the ground, and the toes are farthest
behind when they leave it (Zeni, Richards & Higginson 2008, Gait Posture 27:710-714). Both are maxima, between samples,
of a signal with noise, gaps and cut ends. They count the steps, on the floor and on a treadmill.

The foot then moves back before it lands. It lands where its middle moves down fastest (O'Connor et al. 2007, Gait
Posture 25:469-474). Beside plates it has no bias.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import UP, Array, Mask, time_spans, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.kinematics.low_pass import low_pass, lowest_carried
from musclesolve.laboratory.markers.gaps.gap_filling import jumps as marker_jumps
from musclesolve.laboratory.markers.landmarks import back_landmarks
from musclesolve.laboratory.motion.ground_reaction import GroundReaction
from musclesolve.laboratory.recording.data import SIDES, Event, EventKind, PlateForce, Recording, Side, Trial
from musclesolve.laboratory.trial.plates.foot_contacts import vertical_force

SHORTEST_CONTACT = 0.1
"""Contacts shorter than this are noise of the plate, or a knock against it [s]."""
LONGEST_DROPOUT = 0.05
"""Shortest time for which a foot leaves the ground [s]."""
FIRM_WEIGHTS = 0.1
"""Vertical force that a contact reaches at least once [body weights]; a smaller force is noise or drift."""


@dataclass(frozen=True)
class PredictedLoad:
    """Times (S,) [s] and vertical force (S,) [N] on one foot, and a mask (S,) of predicted samples."""

    time: Array
    vertical: Array
    predicted: Mask


@dataclass(frozen=True)
class FootLoads:
    """The plates, and the levels of vertical force that separate contact from noise.

    plates: of both feet. unloaded_below: vertical force under which a plate counts as unloaded [N]. mass: of the
    subject [kg]. predicted: by foot, the load where the force is predicted at some times, in place of its plates.
    """

    plates: tuple[PlateForce, ...]
    unloaded_below: float
    mass: float
    predicted: Mapping[Side, PredictedLoad] = field(default_factory=dict)

    @classmethod
    def from_trial(
        cls, trial: Trial, time: Array | None = None, reactions: Sequence[GroundReaction] = ()
    ) -> Self:
        """The plates and levels of a trial, with predicted ground reactions over times (T,) [s]."""
        loads = cls(trial.forces, trial.settings.filter.unloaded_below_n, trial.subject.mass)
        if time is None or trial.predicted_spans is None:
            return loads
        completed = {reaction.side: _completed(trial, loads, time, reaction) for reaction in reactions}
        return replace(
            loads, predicted={side: load for side, load in completed.items() if load.predicted.any()}
        )

    def level(self, weights: float) -> float:
        """A level of vertical force [N] from body weights, at least well above the threshold."""
        return max(2.0 * self.unloaded_below, weights * self.mass * STANDARD_GRAVITY)

    def vertical(self, side: Side) -> tuple[Array, Array]:
        """Times (S,) [s] and total vertical force (S,) [N] on one foot from all its plates; empty without a plate.

        The force is 0 in gaps that are too long to be filled.
        """
        if side in self.predicted:
            return self.predicted[side].time, self.predicted[side].vertical
        plates = [plate for plate in self.plates if plate.side == side]
        if not plates:
            return np.zeros(0), np.zeros(0)
        time = plates[0].time
        measured = [np.where(p.in_gap(p.time), 0.0, p.force[:, 2]) for p in plates]
        parts = [np.interp(time, p.time, force, 0.0, 0.0) for p, force in zip(plates, measured, strict=True)]
        return time, np.sum(parts, axis=0)


def _completed(trial: Trial, loads: FootLoads, time: Array, reaction: GroundReaction) -> PredictedLoad:
    """The load of a foot at the samples of its plates, or at times (T,) [s] if there are no plates.

    The force is NaN where it should be predicted and the times of the reaction do not include the sample.
    """
    side = reaction.side
    samples, measured = loads.vertical(side)
    samples, measured = (samples, measured) if samples.size else (time, np.zeros(time.size))
    predicted, reached = trial.predicted(side, samples), (samples >= time[0]) & (samples <= time[-1])
    vertical = np.where(predicted, np.interp(samples, time, reaction.force[:, 2]), measured)
    first, stop = max(
        true_runs(~predicted | reached),
        key=lambda run: np.count_nonzero(reached[slice(*run)]),
        default=(0, 0),
    )
    return PredictedLoad(samples[first:stop], vertical[first:stop], predicted[first:stop])


def force_events(loads: FootLoads) -> list[Event]:
    """Heel strikes and toe-offs by the forces on the feet, over the whole recording, in order of time.

    A foot on a plate at the first or last sample, or where a gap begins or ends, has no event there. A step from one
    plate to the next is no event: the forces of the plates are added. A predicted force is smooth and begins to rise
    before the heel strike: a predicted strike is where the force passes the level of a firm contact.
    """
    events = []
    for side in SIDES:
        load, plates = loads.predicted.get(side), [plate for plate in loads.plates if plate.side == side]
        for start, end in foot_contacts(loads, side):
            ends: list[tuple[EventKind, float]] = [("heel_strike", start), ("toe_off", end)]
            for kind, at in ends:
                # the edge of a gap in a plate changes its load, too
                gap = any(plate.in_gap(np.array([at]), 1.0 / plate.rate).any() for plate in plates)
                if not np.isfinite(at) or gap:
                    continue
                predicted = False
                if load is not None:  # in the sample before or after the time
                    after = int(np.searchsorted(load.time, at))
                    predicted = bool(load.predicted[max(after - 1, 0) : after + 1].any())
                if load is not None and predicted and kind == "heel_strike":
                    level = loads.level(FIRM_WEIGHTS)
                    firm = int(np.argmax((load.time > start) & (load.vertical >= level)))
                    at = _crossing(load.time, load.vertical, firm, level)
                events.append(Event(kind, side, float(at), "predicted" if predicted else "forces"))
    return sorted(events, key=lambda event: event.time)


def _crossing(time: Array, force: Array, sample: int, level: float) -> float:
    """Return the time [s] before a sample at which a force (S,) crosses a level [N], by a straight line."""
    before, after = force[sample - 1], force[sample]
    share = (level - before) / (after - before)
    return float(time[sample - 1] + share * (time[sample] - time[sample - 1]))


def foot_contacts(loads: FootLoads, side: Side) -> Array:
    """Beginning and end of every contact of one foot with its plates, (k, 2) [s]; see ``contacts``."""
    time, vertical = loads.vertical(side)
    return contacts(time, vertical, loads.unloaded_below, loads.level(FIRM_WEIGHTS))


def contacts(time: Array, vertical: Array, threshold: float, firm: float) -> Array:
    """Beginning and end (k, 2) [s] of every contact, where the force crosses the threshold between two samples.

    Two levels (a Schmitt trigger) separate contact from noise: a contact is an unbroken stretch above the threshold [N]
    with samples that reach the firm level [N]. Interruptions that are shorter than 50 ms and shorter than the contacts
    before and after them are dropouts of the plate; contacts shorter than 0.1 s are not steps. The beginning is -inf
    for a contact that began before the first of the samples (S,) of time [s] and vertical force [N], the end +inf for
    one that ends after the last.
    """
    joined: list[tuple[int, int]] = []  # samples [a, b)
    for a, b in true_runs(vertical > threshold):
        if vertical[a:b].max() <= firm:
            continue
        first, last = joined[-1] if joined else (a, a + 1)
        gap = time[a] - time[last - 1]
        dropout = gap < LONGEST_DROPOUT and gap < min(time[last - 1] - time[first], time[b - 1] - time[a])
        if joined and dropout:
            joined[-1] = (first, b)
        else:
            joined.append((a, b))

    def crossing(sample: int, outside: float) -> float:
        return outside if sample in (0, time.size) else _crossing(time, vertical, sample, threshold)

    steps = [(a, b) for a, b in joined if time[b - 1] - time[a] >= SHORTEST_CONTACT]
    return np.array([(crossing(a, -np.inf), crossing(b, np.inf)) for a, b in steps]).reshape(-1, 2)


FALLS = 0.7
"""Downward acceleration of a falling pelvis [g]; in walking it reaches half of this value."""
UNLOADED_WEIGHTS = 0.05
"""Vertical force of both feet below which the plates carry no load [body weights]."""
SHORTEST_FLIGHT = 0.02
"""A shorter flight is noise [s]."""
SIMULTANEOUS_S = 0.06
"""Time within which two feet strike or leave the ground together [s]."""
SMOOTH_HZ = 6.0
"""Cut-off [Hz] for the acceleration of the pelvis: noise of some millimeters must not look like a fall, and a step
of 0.35 s has to pass.
"""
LIFTED = 0.008
"""Height of the lowest of the markers of both feet over their floor in flight [m]: 0.010 and more in running at 2 to 5
m/s (stanford_hamner, stanford_raj, sprint of `benchmarks.real_files`), up to 0.007 where a pelvis falls onto a seat or
a step (stanford_opencap/e1_STS1, cmu/freeform)."""
FLOOR = 0.05
"""Quantile of the heights of a marker of the foot at which it is on the floor."""
PELVIS = ("asis_r", "asis_l", "psis_r", "psis_l", "sacrum", "hip_center_r", "hip_center_l")


def jumps(recording: Recording, loads: FootLoads, flying: Array) -> bool:
    """Return whether both feet leave the ground before a flight, or land on it after it, together.

    A foot is on the ground where its plates carry it; without plates, where its lowest point is within `LIFTED` of its
    floor. flying: beginning and end of every flight (k, 2) [s].
    """
    time = recording.markers.time
    if recording.forces:
        loaded = [vertical_force(recording, side) > loads.level(UNLOADED_WEIGHTS) for side in SIDES]
    else:
        loaded = [_over_floor(time, _foot_heights(recording, side)) < LIFTED for side in SIDES]
    for start, end in flying:
        after = [time[on & (time >= end)] for on in loaded]
        before = [time[on & (time <= start)][::-1] for on in loaded]
        for feet in (before, after):
            if all(len(foot) for foot in feet) and abs(feet[0][0] - feet[1][0]) <= SIMULTANEOUS_S:
                return True
    return False


def flights(recording: Recording, loads: FootLoads) -> Array:
    """Beginning and end of every flight, (k, 2) [s]: no plate carries the subject, the pelvis falls, the feet are up.

    Plates alone do not show flight: a subject may step beside them.
    """
    time, landmarks = recording.markers.time, [name for name in PELVIS if recording.sees(name)]
    if time.size < 2 or not landmarks:
        return np.zeros((0, 2))
    height = np.mean(
        [recording.markers.weighted(recording.mapping[name])[:, 2] for name in landmarks], axis=0
    )
    total = np.sum([vertical_force(recording, side) for side in SIDES], axis=0)
    loaded = total > loads.level(UNLOADED_WEIGHTS)
    feet = [path for side in SIDES for path in _foot_heights(recording, side)]
    return falls_with_lifted_feet(time, recording.markers.rate, height, feet, ~loaded)


def _foot_heights(recording: Recording, side: Side) -> list[Array]:
    """Return the heights (T,) of heel and toe of a foot [m], as far as they are seen."""
    names = [name for part in ("heel", "toe") if recording.sees(name := f"{part}_{side}")]
    return [recording.markers.weighted(recording.mapping[name])[:, 2] for name in names]


def _over_floor(time: Array, points: Sequence[Array]) -> Array:
    """Return the height (T,) of the lowest of some points over its floor [m], infinite where none is seen."""
    lowest = np.full(time.size, np.inf)
    for point in points:
        if np.isfinite(point).any():
            lowest = np.fmin(lowest, point - np.nanquantile(point, FLOOR))
    return lowest


def falls_with_lifted_feet(
    time: Array, rate: float, height: Array, feet: Sequence[Array], unloaded: Mask | None = None
) -> Array:
    """Beginning and end (k, 2) [s] of every fall of a pelvis in which all points of the feet are over their floor.

    A pelvis that falls onto a seat is no flight: the feet stay where they are.

    Args:
        time: (T,) [s]; rate: frames a second.
        height: (T,) of the pelvis [m], NaN in gaps.
        feet: heights (T,) of points of both feet [m], NaN in gaps; one that is never seen says nothing.
        unloaded: frames (T,) in which no plate carries the subject; all where no plate is known.
    """
    falls, cutoff = np.zeros(time.size, bool), min(SMOOTH_HZ, 0.4 * rate)
    for first, stop in true_runs(np.isfinite(height)):
        if stop - first > 5 and cutoff > lowest_carried(stop - first, rate):
            smooth = low_pass(height[first:stop], rate, cutoff)
            acceleration = np.gradient(np.gradient(smooth, 1.0 / rate), 1.0 / rate)
            # At the ends of a stretch there is no second derivative.
            falls[first + 2 : stop - 2] = acceleration[2:-2] < -FALLS * STANDARD_GRAVITY
    lowest = _over_floor(time, feet)
    flying = falls if unloaded is None else falls & unloaded
    spans = [span for span in time_spans(flying, time) if span[1] - span[0] >= SHORTEST_FLIGHT]
    lifted = [lowest[(time >= start) & (time <= end)].max() > LIFTED for start, end in spans]
    return np.array(spans).reshape(-1, 2)[np.array(lifted, bool)]


Complex = NDArray[np.complex128]
"""Horizontal vectors as complex numbers x + iy: products rotate them."""

HEADING_WINDOW = 1.0
"""Time [s] over which the heading is averaged: about a stride, so that sway cancels."""
SLOWEST = 0.25
"""Speed of the pelvis below which its path shows no heading [m/s]: a treadmill, or standing."""


def headings(time: Array, pelvis: Array, facing: Array) -> tuple[Array, bool]:
    """Return horizontal unit vectors (T, 3) of the walking direction, and whether the pelvis travels.

    Where the pelvis travels, the direction is along its path, which may curve or lead backward. Where the pelvis does
    not travel, the direction rotates with it from the nearest frame in which it does. On a treadmill the direction is
    the one in which the pelvis faces.

    Times (T,) increase [s]; `pelvis` (T, 3) is a point of the pelvis [m], `facing` (T, 3) the direction in which the
    subject faces, of any length. Unseen values are NaN, but not all of them.
    """
    early = np.clip(time - 0.5 * HEADING_WINDOW, time[0], max(time[0], time[-1] - HEADING_WINDOW))
    late = np.minimum(early + HEADING_WINDOW, time[-1])

    def change(path: Complex) -> Complex:
        return np.asarray(np.interp(late, time, path) - np.interp(early, time, path))

    path, face = _filled(time, pelvis), _unit(_filled(time, facing))
    travel, faced = change(path), change(_integral(time, face))
    moving = np.flatnonzero(np.abs(travel) > SLOWEST * (late - early))
    if moving.size:
        # Direction of the path relative to the pelvis, from the facing of the pelvis at each time.
        on_the_way = change(_integral(time, face * np.abs(np.gradient(path, time))))
        nearest = moving[np.searchsorted(0.5 * (moving[1:] + moving[:-1]), np.arange(time.size))]
        faced = faced * np.conj(on_the_way[nearest]) * travel[nearest]
        faced[moving] = travel[moving]
    unit = _unit(faced)
    return np.stack([unit.real, unit.imag, 0.0 * unit.real], axis=1), bool(moving.size)


def _filled(time: Array, vector: Array) -> Complex:
    """The horizontal part x + iy (T,) of vectors (T, 3), with NaN interpolated."""
    seen = np.isfinite(vector).all(axis=1)
    x, y = (np.interp(time, time[seen], vector[seen, k]) for k in range(2))
    return np.asarray(x + 1j * y)


def _integral(time: Array, values: Complex) -> Complex:
    """The integral over time (T,) from the first frame on."""
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(time)
    return np.concatenate([np.zeros(1, complex), np.cumsum(steps)])


def _unit(values: Complex) -> Complex:
    """Complex numbers of size one; 1 where there is no direction."""
    size = np.abs(values)
    return np.asarray(np.where(size > 0.0, values, 1.0) / np.where(size > 0.0, size, 1.0), complex)


SHORTEST_SWING = 0.15
"""Least excursion of a stepping foot along the walking direction, relative to the pelvis [m]."""

CUTOFF_HZ = 8.0
"""Cut-off [Hz] of the low-pass filter before the search for maxima: the swing of a foot has little above it, noise
has.
"""
FULL_FALL = 0.35
"""Height of a maximum above the signal on either side, as a share of the whole excursion."""
CUT_FALL = 0.05
"""Least fall, as a share of the excursion, on a side where the recording ends; the other side must show the full
fall.
"""
SHORTEST_PERIOD = 0.4
"""Shortest time between two strikes of one foot, running included [s]."""
PERIOD_SHARE = 0.6
"""Shortest time between two strikes of one foot, as a share of the usual one."""
LANDS = (-0.05, 0.2)
"""Time [s] about the turn of the heel in which the foot lands; any end from 0.1 to 0.3 s gives the same."""
SLOWEST_LANDING = 0.1
"""Speed [m/s] down below which a foot slides: it lands where the heel turns."""


@dataclass(frozen=True)
class Walk:
    """The markers of pelvis and feet over the whole recording."""

    time: Array  # (T,) [s]
    rate: float  # sampling rate [Hz]
    pelvis: Array  # (T, 3) back of the pelvis, PSIS or sacrum [m], NaN where it was not seen
    feet: dict[str, Array]  # heel_r, heel_l, toe_r, toe_l -> (T, 3) [m], NaN where it was not seen
    heading: Array  # (T, 3) horizontal unit vector of the walking direction
    # whether the pelvis travels; if not, a belt runs under the feet, or the subject does not walk
    travels: bool


def walk(recording: Recording) -> Walk | None:
    """Return pelvis, heels and toes of the whole recording, or None where one of them or a second frame is missing."""
    parts = [f"{part}_{side}" for part in ("heel", "toe") for side in SIDES]
    behind = back_landmarks([name for name in recording.mapping if recording.sees(name)])
    if recording.markers.time.size < 2 or not behind or not all(map(recording.sees, parts)):
        return None
    pelvis = np.mean([_path(recording, name) for name in behind], axis=0)
    feet = {name: _path(recording, name) for name in parts}
    # Perpendicular to a pair of spines of the pelvis; without a pair, the direction of the feet.
    spines = [part for part in ("asis", "psis") if all(recording.sees(f"{part}_{side}") for side in SIDES)]
    if spines:
        faced = np.cross(_path(recording, f"{spines[0]}_l") - _path(recording, f"{spines[0]}_r"), UP)
    else:
        faced = np.sum([feet[f"toe_{side}"] - feet[f"heel_{side}"] for side in SIDES], axis=0)
    if not (np.isfinite(pelvis).all(axis=1).any() and np.isfinite(faced).all(axis=1).any()):
        return None
    heading, travels = headings(recording.markers.time, pelvis, faced)
    return Walk(recording.markers.time, recording.markers.rate, pelvis, feet, heading, travels)


def marker_events(walking: Walk) -> list[Event]:
    """Heel strikes and toe-offs of both feet, in order of time."""
    events = []
    frames = np.arange(walking.time.size)
    for side in SIDES:
        feet = {part: walking.feet[f"{part}_{side}"] for part in ("heel", "toe")}
        heel = feet["heel"][:, :2]
        heel_path = heel[np.isfinite(heel).all(axis=1)]
        # In a squat the pelvis moves, and no foot leaves its place.
        if not len(heel_path) or np.linalg.norm(np.ptp(heel_path, axis=0)) <= SHORTEST_SWING:
            continue
        ahead = {
            part: np.sum((path - walking.pelvis) * walking.heading, axis=1) for part, path in feet.items()
        }
        turns = maxima(ahead["heel"], walking.rate, SHORTEST_SWING)
        places: dict[EventKind, Array] = {
            "heel_strike": landings(turns, 0.5 * (feet["heel"] + feet["toe"])[:, 2], walking.rate),
            "toe_off": maxima(-ahead["toe"], walking.rate, SHORTEST_SWING),
        }
        for kind, at in places.items():
            times = np.interp(at, frames, walking.time)
            events += [Event(kind, side, float(time), "markers") for time in times]
    return sorted(events, key=lambda event: event.time)


def landings(turns: Array, height: Array, rate_hz: float) -> Array:
    """Places (k,) from 0 to T - 1 at which a foot lands after its heel turned at places (n,).

    height: (T,) of the middle of the foot [m], NaN in gaps. A foot that does not move down lands where its heel turns.
    A landing beside a gap, or after the end of the recording, is left out.
    """
    down = -np.gradient(_smooth(height, rate_hz)) * rate_hz
    turned = []
    for turn in turns:
        first, last = (round(turn + by * rate_hz) for by in LANDS)
        around = slice(max(first, 0), min(last, height.size - 1) + 1)
        if not np.isfinite(down[around]).all():
            continue
        place = around.start + int(down[around].argmax())
        if down[place] < SLOWEST_LANDING:
            turned.append(turn)
        elif around.start < place < around.stop - 1:
            turned.append(_top(down, np.array([place]))[0])
    return np.array(turned)


def _path(recording: Recording, landmark: str) -> Array:
    """Trajectory (T, 3) of a landmark [m], NaN where it was not seen or jumps."""
    path = recording.markers.weighted(recording.mapping[landmark])
    return np.where(marker_jumps(path, recording.markers.rate)[:, None], np.nan, path)


def maxima(signal: Array, rate_hz: float, least_excursion: float) -> Array:
    """Places (k,) from 0 to T - 1 of the maxima of a signal (T,), by a parabola through the three highest samples.

    The samples are evenly spaced, NaN in gaps. A signal whose highest and lowest value differ by less than
    `least_excursion` has no maxima.
    """
    smooth = _smooth(signal, rate_hz)
    seen = np.isfinite(smooth)
    if not seen.any() or np.ptp(smooth[seen]) < least_excursion:
        return np.zeros(0)
    excursion = float(np.ptp(smooth[seen]))
    peaks = [first + _peaks(smooth[first:end], rate_hz, excursion) for first, end in true_runs(seen)]
    at = np.concatenate(peaks)
    while at.size > 2:  # the lower one of two that follow each other too soon for the usual period
        period = np.diff(at)
        soon = int(period.argmin())
        if period[soon] >= PERIOD_SHARE * np.median(period):
            break
        at = np.delete(at, soon if smooth[at[soon]] < smooth[at[soon + 1]] else soon + 1)
    return _top(smooth, at)


def _smooth(signal: Array, rate_hz: float) -> Array:
    """A signal (T,) with NaN in gaps, low-passed; NaN in stretches that are too short for a step."""
    smooth = np.full(signal.size, np.nan)
    for first, end in true_runs(np.isfinite(signal)):
        if end - first > SHORTEST_PERIOD * rate_hz:
            cutoff = min(CUTOFF_HZ, 0.4 * rate_hz)
            smooth[first:end] = low_pass(signal[first:end], rate_hz, cutoff)
    return smooth


def _top(smooth: Array, at: NDArray[np.intp]) -> Array:
    """Places (k,) of maxima between samples, by parabolas through the samples (k,) and their neighbors."""
    before, top, after = smooth[at - 1], smooth[at], smooth[at + 1]
    bend = before - 2.0 * top + after
    # A flat top has no bend: its first sample is the peak.
    flat = bend == 0.0
    shift: Array = np.where(flat, 0.0, 0.5 * (before - after) / np.where(flat, 1.0, bend))
    return at + shift


def _peaks(smooth: Array, rate_hz: float, excursion: float) -> NDArray[np.intp]:
    """Maxima of one stretch without gaps that are high enough above the signal on both sides."""
    peaks = _far_apart(_local_maxima(smooth), smooth, max(1.0, SHORTEST_PERIOD * rate_hz))
    # A side is cut off if the signal between the peak and the end of the stretch is never as high.
    cut = np.array(
        [[smooth[:k].max() < smooth[k], smooth[k + 1 :].max() < smooth[k]] for k in peaks], bool
    ).reshape(-1, 2)
    fall = np.array([_falls(smooth, int(peak)) for peak in peaks]).reshape(-1, 2)
    enough = fall >= np.where(cut, CUT_FALL, FULL_FALL) * excursion
    return peaks[enough.all(axis=1) & (fall.max(axis=1) >= FULL_FALL * excursion)]


def _local_maxima(signal: Array) -> NDArray[np.intp]:
    """Samples above their neighbors; of a flat top its middle."""
    first = np.flatnonzero(np.diff(signal, prepend=np.nan) != 0.0)
    last = np.append(first[1:], signal.size) - 1
    level = signal[first]
    top = np.zeros(first.size, dtype=bool)
    top[1:-1] = (level[1:-1] > level[:-2]) & (level[1:-1] > level[2:])
    return np.asarray((first[top] + last[top]) // 2)


def _far_apart(peaks: NDArray[np.intp], signal: Array, distance: float) -> NDArray[np.intp]:
    """Remove peaks that are nearer than a distance to a higher peak."""
    stays = np.ones(peaks.size, dtype=bool)
    for k in np.argsort(signal[peaks])[::-1]:
        if stays[k]:
            stays &= np.abs(peaks - peaks[k]) >= np.ceil(distance)
            stays[k] = True
    return peaks[stays]


def _falls(signal: Array, peak: int) -> tuple[float, float]:
    """Return the fall of the signal on either side of a peak before it rises above the peak."""
    higher = np.flatnonzero(signal > signal[peak])
    start = int(higher[higher < peak].max(initial=-1)) + 1
    end = int(higher[higher > peak].min(initial=signal.size))
    return signal[peak] - signal[start : peak + 1].min(), signal[peak] - signal[peak:end].min()
