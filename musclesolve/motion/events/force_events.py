"""Heel strikes and toe-offs from the ground reaction, and flight: when each foot is on its plates, and when no foot is.

Running and jumping have flight; assumptions about walking do not hold there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, time_spans, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.motion.ground_reaction import GroundReaction
from musclesolve.motion.signals.low_pass import low_pass, lowest_carried
from musclesolve.recording.data import SIDES, Event, EventKind, PlateForce, Recording, Side, Trial
from musclesolve.recording.plates.foot_contacts import vertical_force

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

    def at(self, time: float) -> bool:
        """Return whether the force at a time is predicted, in the sample before or after the time."""
        after = int(np.searchsorted(self.time, time))
        return bool(self.predicted[max(after - 1, 0) : after + 1].any())


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
    ) -> FootLoads:
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

    def cut_short(self, side: Side, time: float) -> bool:
        """Whether a change of load at a time [s] is the edge of a gap in a plate of the foot."""
        return any(
            plate.side == side and plate.in_gap(np.array([time]), 1.0 / plate.rate).any()
            for plate in self.plates
        )


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
        load = loads.predicted.get(side)
        for start, end in foot_contacts(loads, side):
            ends: list[tuple[EventKind, float]] = [("heel_strike", start), ("toe_off", end)]
            for kind, at in ends:
                if not np.isfinite(at) or loads.cut_short(side, at):
                    continue
                predicted = load is not None and load.at(at)
                if load is not None and predicted and kind == "heel_strike":
                    at = _rise(load, at, loads.level(FIRM_WEIGHTS))
                events.append(Event(kind, side, float(at), "predicted" if predicted else "forces"))
    return sorted(events, key=lambda event: event.time)


def _rise(load: PredictedLoad, start: float, level: float) -> float:
    """Return the time at which the force of a contact that begins at `start` [s] first passes a level [N]."""
    sample = int(np.argmax((load.time > start) & (load.vertical >= level)))
    before, after = load.vertical[sample - 1], load.vertical[sample]
    share = (level - before) / (after - before)
    return float(load.time[sample - 1] + share * (load.time[sample] - load.time[sample - 1]))


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
        if sample in (0, time.size):
            return outside
        before, after = vertical[sample - 1], vertical[sample]
        share = (threshold - before) / (after - before)
        return float(time[sample - 1] + share * (time[sample] - time[sample - 1]))

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
PELVIS = ("asis_r", "asis_l", "psis_r", "psis_l", "sacrum", "hip_center_r", "hip_center_l")


def jumps(recording: Recording, loads: FootLoads, flying: Array) -> bool:
    """Return whether both feet leave the plates before a flight, or land on them after it, together.

    flying: beginning and end of every flight (k, 2) [s].
    """
    time = recording.markers.time
    loaded = [vertical_force(recording, side) > loads.level(UNLOADED_WEIGHTS) for side in SIDES]
    for start, end in flying:
        after = [time[on & (time >= end)] for on in loaded]
        before = [time[on & (time <= start)][::-1] for on in loaded]
        for feet in (before, after):
            if all(len(foot) for foot in feet) and abs(feet[0][0] - feet[1][0]) <= SIMULTANEOUS_S:
                return True
    return False


def flights(recording: Recording, loads: FootLoads) -> Array:
    """Beginning and end of every flight, (k, 2) [s]: no plate carries the subject, and the pelvis falls.

    Plates alone do not show flight: a subject may step beside them.
    """
    time, landmarks = recording.markers.time, [name for name in PELVIS if recording.sees(name)]
    if time.size < 2 or not landmarks:
        return np.zeros((0, 2))
    rate, falls = recording.markers.rate, np.zeros(time.size, bool)
    height = np.mean(
        [recording.markers.weighted(recording.mapping[name])[:, 2] for name in landmarks], axis=0
    )
    cutoff = min(SMOOTH_HZ, 0.4 * rate)
    for first, stop in true_runs(np.isfinite(height)):
        if stop - first > 5 and cutoff > lowest_carried(stop - first, rate):
            smooth = low_pass(height[first:stop], rate, cutoff)
            acceleration = np.gradient(np.gradient(smooth, 1.0 / rate), 1.0 / rate)
            # At the ends of a stretch there is no second derivative.
            falls[first + 2 : stop - 2] = acceleration[2:-2] < -FALLS * STANDARD_GRAVITY
    total = np.sum([vertical_force(recording, side) for side in SIDES], axis=0)
    flying = falls & ~(total > loads.level(UNLOADED_WEIGHTS))
    spans = time_spans(flying, time)
    return np.array([span for span in spans if span[1] - span[0] >= SHORTEST_FLIGHT]).reshape(-1, 2)
