"""Events, strides and walking direction of a trial; length, width and speed of strides.

A stride lasts from a heel strike to the next one of the same foot. The six events by which the source reads muscle
forces (Silva 2003, section 6.8) are, for the right leg: heel strike (0 %), opposite toe-off (about 15 %), the moment
when the left foot passes the point below the right hip joint (30 %), opposite heel strike (50 %), the moment when the
right foot passes the point below the left hip joint (80 %), and the next heel strike. Toe-off (60 %) separates stance
from swing.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, at_times
from musclesolve.motion.anatomy.anatomy import Anatomy
from musclesolve.motion.events.gait_events import gait_events
from musclesolve.motion.events.marker_events import Walk, headings, walk
from musclesolve.motion.ground_reaction import GroundReaction
from musclesolve.recording.data import SIDES, Event, EventKind, Side, Trial

LONGEST_STRIDE = 1.5
"""Duration over the usual duration from which a stride lacks a strike in its middle."""
SIMULTANEOUS_SHARE = 0.1
"""Share of a stride within which two strikes are simultaneous: a jump, no step."""
FOOT_FLAT = (0.15, 0.35)
"""Part of a stride in which the foot rests on the ground or the belt."""


@dataclass(frozen=True)
class Stride:
    """One stride of one leg; times on the clock of the recording [s], NaN for unknown values."""

    side: Side
    start: float  # its heel strike
    end: float  # its next heel strike
    opposite_toe_off: float  # the other foot leaves the ground
    opposite_foot_below_hip: float  # the other foot passes the point below the hip joint of this leg
    opposite_heel_strike: float  # the other foot strikes
    toe_off: float  # this foot leaves the ground
    foot_below_opposite_hip: float  # this foot passes the point below the hip joint of the other leg
    # distance between the two heel strikes along the walking direction, plus the travel of the belt [m]
    length: float = np.nan
    # of the second step, from the other heel's strike to the strike of this foot [m]
    step_length: float = np.nan
    # distance of the other heel's strike from the line through the two strikes of this foot [m]
    step_width: float = np.nan
    # whether forces or a file show when feet strike and leave in this recording. Events from markers alone are some
    # hundredths of a second early or late: little for a stride, much for a double support
    timed: bool = True

    @property
    def duration(self) -> float:
        """Time from strike to strike [s]."""
        return self.end - self.start

    @property
    def cadence(self) -> float:
        """Steps per minute, two in a stride."""
        return 120.0 / self.duration

    @property
    def speed(self) -> float:
        """Walking speed [m/s]."""
        return self.length / self.duration

    @property
    def double_support(self) -> float:
        """Time with both feet on the ground [s]; NaN in running, which has no such time, and if not `timed`."""
        order = (self.start, self.opposite_toe_off, self.opposite_heel_strike, self.toe_off, self.end)
        if not (self.timed and all(early <= late for early, late in pairwise(order))):
            return float(np.nan)
        return self.opposite_toe_off - self.start + self.toe_off - self.opposite_heel_strike

    def percent(self, time: float) -> float:
        """Return the place of a time in the stride, 0 to 100 [%]."""
        return 100.0 * (time - self.start) / self.duration


@dataclass(frozen=True)
class Gait:
    """Events and strides of a trial, with notes on them."""

    events: list[Event]  # all events, in order of time; passages below the hip only within the time range
    strides: list[Stride]  # between recorded strikes, in order of time
    notes: list[str]  # sentences on conflicts and on filled-in events
    time: Array = field(default_factory=lambda: np.zeros(0))  # (T,) frames of the measured anatomy [s]
    # (T, 3) horizontal unit vector of the walking direction in these frames
    heading: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @classmethod
    def from_trial(
        cls,
        trial: Trial,
        measured: Anatomy,
        time: Array | None = None,
        reactions: Sequence[GroundReaction] = (),
    ) -> Gait:
        """Find events and strides of a trial and its anatomy; time, reactions as in `gait_events`."""
        struck, walking = gait_events(trial, time, reactions), walk(trial)
        if walking is None:
            # Some markers of the steps are missing: the direction comes from the anatomy.
            hips = 0.5 * (measured.points["hip_r"] + measured.points["hip_l"])
            heading = headings(measured.time, hips, measured.directions["pelvis_forward"])[0]
            passages = []
        else:
            heading = at_times(walking.time, walking.heading, measured.time)
            passages = hip_passages(measured.time, measured.points, heading)
        events = sorted([*struck.events, *passages], key=lambda event: event.time)
        return cls(events, strides(events, walking), list(struck.notes), measured.time, heading)

    def heading_at(self, time: Array) -> Array:
        """The walking direction (T,) at times within the times of the anatomy, as an angle from x to the left [rad]."""
        angle = np.unwrap(np.arctan2(self.heading[:, 1], self.heading[:, 0]))
        return np.interp(time, self.time, angle)


def strides(events: Sequence[Event], walking: Walk | None = None) -> list[Stride]:
    """Strides of both legs between strikes that were recorded, in order of time.

    Events of the source "periodic" do not count. Without the markers of `walking` lengths and widths are NaN.
    """
    times_of: dict[tuple[EventKind, Side], list[float]] = {}
    for event in sorted(events, key=lambda event: event.time):
        if event.source != "periodic":
            times_of.setdefault((event.kind, event.side), []).append(event.time)
    pairs = [(side, *pair) for side in SIDES for pair in pairwise(times_of.get(("heel_strike", side), []))]
    longest = LONGEST_STRIDE * np.median([end - start for _, start, end in pairs]) if pairs else 0.0
    timed = {"heel_strike", "toe_off"} <= {
        event.kind for event in events if event.source in ("stated", "forces", "predicted")
    }

    def first(kind: EventKind, side: Side, start: float, end: float) -> float:
        times = times_of.get((kind, side), [])
        place = bisect(times, start)
        return times[place] if place < len(times) and times[place] < end else float(np.nan)

    whole = []
    for side, start, end in pairs:
        other: Side = "l" if side == "r" else "r"
        # The other foot strikes in between, as far as it was seen; who jumps lands on both feet at once.
        strikes, near = np.array(times_of.get(("heel_strike", other), [])), SIMULTANEOUS_SHARE * (end - start)
        between = (strikes > start + near) & (strikes < end - near)
        together = np.minimum(np.abs(strikes - start), np.abs(strikes - end)) <= near
        if end - start > longest or (together.any() and not between.any()):
            continue
        strike = first("heel_strike", other, start, end)
        sizes = {} if walking is None else _sizes(walking, side, start, strike, end)
        stride = Stride(
            side=side,
            start=start,
            end=end,
            opposite_toe_off=first("toe_off", other, start, end),
            opposite_foot_below_hip=first("foot_below_hip", other, start, end),
            opposite_heel_strike=strike,
            toe_off=first("toe_off", side, start, end),
            foot_below_opposite_hip=first("foot_below_hip", side, start, end),
            timed=timed,
            **sizes,
        )
        whole.append(stride)
    return sorted(whole, key=lambda stride: stride.start)


def _sizes(walking: Walk, side: Side, start: float, middle: float, end: float) -> dict[str, float]:
    """Stride length, step length and step width [m] from three heel positions: of this foot, the other, this foot."""

    def at(path: Array, moment: float) -> Array:
        # NaN beside a gap and outside of the recording
        return np.array([np.interp(moment, walking.time, x, left=np.nan, right=np.nan) for x in path.T])

    heel, opposite = walking.feet[f"heel_{side}"], walking.feet[f"heel_{'l' if side == 'r' else 'r'}"]
    first, second, last = at(heel, start), at(opposite, middle), at(heel, end)
    forward = at(walking.heading, 0.5 * (start + end))
    left = np.array([-forward[1], forward[0], 0.0])
    feet = [
        at(walking.feet[f"toe_{foot}"] - walking.feet[f"heel_{foot}"], 0.5 * (start + end)) for foot in SIDES
    ]
    # The left of a subject who walks backward is to the right of the path.
    left = left if not np.sum(feet, axis=0) @ forward < 0.0 else -left
    belt = 0.0
    if not walking.travels:  # the speed [m/s] at which the belt carries the resting foot back
        rests = slice(*np.searchsorted(walking.time, np.array(FOOT_FLAT) * (end - start) + start))
        time, ahead = walking.time[rests], heel[rests] @ forward
        known = np.isfinite(ahead)
        belt = -np.polyfit(time[known] - start, ahead[known], 1)[0] if known.sum() >= 3 else np.nan
    return {
        "length": float((last - first) @ forward + belt * (end - start)),
        "step_length": float((last - second) @ forward + belt * (end - middle)),
        "step_width": float((second - 0.5 * (first + last)) @ left * (1.0 if side == "r" else -1.0)),
    }


def hip_passages(time: Array, points: Mapping[str, Array], heading: Array) -> list[Event]:
    """Moments at which the middle of a foot passes the point below the opposite hip joint, from behind.

    points: hips, heels and toes (T, 3) [m]; heading: horizontal unit vectors (T, 3) of the walking direction.
    """
    events = []
    for side, other in (SIDES, SIDES[::-1]):
        foot = 0.5 * (points[f"heel_{side}"] + points[f"toe_{side}"])
        ahead = np.sum((foot - points[f"hip_{other}"]) * heading, axis=1)
        before = np.flatnonzero((ahead[:-1] < 0.0) & (ahead[1:] >= 0.0))
        share = ahead[before] / (ahead[before] - ahead[before + 1])
        passed = time[before] + share * (time[before + 1] - time[before])
        events += [Event("foot_below_hip", side, float(moment), "markers") for moment in passed]
    return sorted(events, key=lambda event: event.time)
