"""Gait of a trial: its heel strikes and toe-offs from all sources, its strides with length, width and speed.

A stride lasts from a heel strike to the next one of the same foot. The six events by which the source reads muscle
forces (Silva 2003, section 6.8) are, for the right leg: heel strike (0 %), opposite toe-off (about 15 %), the moment
when the left foot passes the point below the right hip joint (30 %), opposite heel strike (50 %), the moment when the
right foot passes the point below the left hip joint (80 %), and the next heel strike. Toe-off (60 %) separates stance
from swing.

Each heel strike and toe-off is taken from the most reliable source: stated before forces, forces before markers. So
markers supply the steps that no plate measured. If no source shows the strike that the first or last frames need,
walking is assumed to be periodic; a movement with flight is not.
"""

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times, grouped
from musclesolve._util.checks import check_type
from musclesolve._util.messages import WarningNote, shortened
from musclesolve.laboratory.motion.anatomy.anatomy import Anatomy
from musclesolve.laboratory.motion.events.foot_events import (
    FootLoads,
    Walk,
    contacts,
    flights,
    foot_contacts,
    force_events,
    headings,
    marker_events,
    walk,
)
from musclesolve.laboratory.motion.ground_reaction import GroundReaction
from musclesolve.laboratory.recording.data import (
    SAME_EVENT_S,
    SIDE_NAMES,
    SIDES,
    Event,
    EventKind,
    Side,
    Trial,
)
from musclesolve.laboratory.trial.trial_file import read_trial

CONFLICT = 0.05
"""Sources that differ by more than this on one event are reported [s]."""
CONFLICT_IN_RUNNING = 0.08
"""Strikes by the markers in running that differ by more than this from another source are reported [s]."""
FEWEST_SHIFTED, SHIFTED_SHARE = 3, 0.8
"""Least number and share of stated events that one shift makes agree with the measured ones: another clock."""
LONGEST_SHIFT = 1.5
"""Longest shift [s] that is tried beside the time of the first frame; a longer one is a shorter one a stride away."""
RANGE_START_TOLERANCE = 0.01
"""Share of a stride: a time range that begins at most this long before a strike begins with the strike."""
MOST_TIMES_LISTED = 5
"""Largest number of times of one kind in a sentence."""
_NAMES: dict[EventKind, str] = {
    "heel_strike": "heel strike",
    "toe_off": "toe-off",
    "foot_below_hip": "foot below the opposite hip",
}
_SOURCES = {
    "stated": "the file",
    "forces": "the forces",
    "predicted": "the predicted forces",
    "markers": "the markers",
}
BEARING_WEIGHTS = 0.3
"""Force [body weights] from which a foot stands: it neither strikes nor leaves."""
LONGEST_RAMP = 0.2
"""Longest time that the force of a step takes from the threshold to bearing weight, and back [s]."""
LOADING_EDGE_S = 0.05
"""Possible error of marker events at the ends of a loading [s]."""


@dataclass(frozen=True)
class GaitEvents:
    """The events of a trial, in order of time, and sentences on their reliability."""

    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def of(self, kind: EventKind, side: Side) -> list[Event]:
        """The events of one kind and one foot."""
        return [event for event in self.events if (event.kind, event.side) == (kind, side)]


def gait_events(
    trial: Trial | str | Path, time: Array | None = None, reactions: Sequence[GroundReaction] = ()
) -> GaitEvents:
    """Heel strikes and toe-offs of both feet over the whole recording, not only the time range.

    If the trial file states events of a kind in [events], there are no others of this kind. Marker events of other
    kinds are used where neither a file nor the forces have the event, and no plate shows that the foot stands. They are
    shifted by the median difference between them and the more reliable sources in this recording. Events of a C3D file
    that are on another clock than forces and markers are not used.

    Args:
        trial: a trial of a recording, or the path of its file.
        time, reactions: (T,) [s], and ground reactions at these times, of which the predicted ones are used.

    Returns:
        Events with the source "stated", "forces", "predicted", "markers" or "periodic"; where there is flight neither
        toe-offs by markers nor periodic strikes. Notes on conflicts between the sources, on marker events that fill in,
        and on events that were not recorded.

    Raises:
        InputError: a trial that cannot be read, or is not of a recording.

    Examples:
        >>> found = ms.laboratory.gait_events(ms.data.reference_stride())
        >>> sorted({event.kind for event in found.events})
        ['heel_strike', 'toe_off']
    """
    trial = check_type(read_trial(trial), Trial, "gait_events", "a trial of a recording")
    loads = FootLoads.from_trial(trial, time, reactions)
    walking, flight = walk(trial), len(flights(trial, loads)) > 0
    by_markers = [] if walking is None else marker_events(walking)
    by_markers = [event for event in by_markers if (event.kind, event.side) not in trial.all_events_of]
    if flight:
        # A toe moves on backward after toe-off, relative to the pelvis, and is farthest behind in flight.
        by_markers = [event for event in by_markers if event.kind == "heel_strike"]

    notes: list[str] = []
    plates = force_events(loads)
    stated, shifted = _on_the_clock(trial, EventsByFoot(plates), EventsByFoot(by_markers))
    notes += shifted

    # Of one event the surest source counts.
    of_file = EventsByFoot(stated)
    conflicts = _conflicts([(twin, event) for event in plates if (twin := of_file.twin(event)) is not None])
    stands = {side: standing(loads, side) for side in SIDES}
    conflicts += _contradicted(stated, EventsByFoot(plates), {side: stands[side][0] for side in SIDES})
    plates = [event for event in plates if (event.kind, event.side) not in trial.all_events_of]
    events = [*stated, *(event for event in plates if of_file.twin(event) is None)]
    surer = EventsByFoot(events)

    # Markers are early or late by much the same in all steps of a recording, and are moved by that.
    pairs = [(twin, event) for event in by_markers if (twin := surer.twin(event)) is not None]
    limit = CONFLICT_IN_RUNNING if flight else CONFLICT
    late = {
        kind: float(np.median([event.time - twin.time for twin, event in pairs if event.kind == kind]))
        for kind in sorted({event.kind for _, event in pairs})
    }
    by_markers = [replace(event, time=event.time - late.get(event.kind, 0.0)) for event in by_markers]
    if len(late) == 2 and (min(late.values()) > limit or max(late.values()) < -limit):
        # Strikes and toe-offs alike: that is no property of the markers.
        cause = "Forces and markers are not synchronous."
    else:
        cause = (
            "A foot beside its plate, a plate that is assigned to the wrong foot, or a foot that rests on the ground "
            "without a load."
        )
        pairs = [(twin, replace(event, time=event.time - late[event.kind])) for twin, event in pairs]
    conflicts += _conflicts([pair for pair in pairs if pair[0].source != "predicted"], limit, cause)
    lone = [event for event in by_markers if surer.twin(event) is None]

    # Marker events while the foot certainly stands on a plate are ignored.
    sure = [_inside(stands[event.side][0], event).any() for event in lone]
    filled = [event for event, stood in zip(lone, sure, strict=True) if not stood]
    if any(sure):
        refused = [event for event, stood in zip(lone, sure, strict=True) if stood]
        notes.append(f"Contradicted by the forces and left out: {_listed(refused)}.")
    for side, (_, unclear, lowest) in stands.items():
        steps = [_inside(unclear, event) for event in filled if event.side == side]
        # Force that remains on the plate during the swing of the foot.
        left = float(lowest[np.any(steps, axis=0)].max(initial=0.0)) if steps else 0.0
        if left > 0.0 and any(plate.side == side for plate in loads.plates):
            notes.append(
                f"The plate of the {SIDE_NAMES[side]} foot does not unload where it steps by the markers: {left:.0f} N "
                f"are left, more than unloaded_below_n ({loads.unloaded_below:g} N). Its zero is off: the markers "
                "are used there."
            )
    notes += conflicts

    if events and filled:
        moved = " and ".join(
            f"{_NAMES[kind]}s by {-1000 * late[kind]:+.0f} ms"
            for kind in late
            if any(event.kind == kind for event in filled)
        )
        how = f" (moved to agree with the other steps: {moved})" if moved else ""
        notes.append(f"Steps that no plate measured, from the markers{how}: {_listed(filled)}.")
    elif filled:
        notes.append(
            "Heel strikes and toe-offs come from the markers alone: in walking at usual speed good to about 40 ms, "
            "in slow walking and running to 60 ms. Double support is not computed from them."
        )
    events += filled

    # A strike one stride before the first and after the last one, where frames of the time range lie beyond.
    strikes = {
        side: np.sort([e.time for e in events if (e.kind, e.side) == ("heel_strike", side)]) for side in SIDES
    }
    strides = {side: float(np.median(np.diff(times))) for side, times in strikes.items() if times.size > 1}
    start, end = trial.time_range
    periodic = []
    for side, times in strikes.items() if strides and not flight else ():
        if times.size:
            stride = strides.get(side, float(np.mean(list(strides.values()))))
            near = RANGE_START_TOLERANCE * stride
            missing = (
                (times[0] > start + near, times[0] - stride),
                (times[-1] < end - near, times[-1] + stride),
            )
            periodic += [
                Event("heel_strike", side, float(at), "periodic") for needed, at in missing if needed
            ]
    if periodic:
        periodic.sort(key=attrgetter("time"))
        notes.append(
            f"Walking is assumed to be periodic. Events that were not recorded: {_listed(periodic)}."
        )
    return GaitEvents(tuple(sorted([*events, *periodic], key=attrgetter("time"))), tuple(notes))


def _on_the_clock(trial: Trial, *measured: "EventsByFoot") -> tuple[tuple[Event, ...], list[str]]:
    """Return the stated events, without the events of a file on another clock, and one sentence on such a file.

    If one shift makes the events of the file agree with the measured ones, and they do not as they are, the file counts
    them from another zero, such as its first frame. Then the measured ones are used. measured: the surest first.
    """
    of_file = [event for event in trial.events if (event.kind, event.side) not in trial.all_events_of]

    def agreeing(shift: float, events: Sequence[Event] = of_file) -> list[float]:
        """How much later [s] the measured events are than the stated ones, where a shift makes both agree."""
        apart = []
        for event in events:
            moved = replace(event, time=event.time + shift)
            twins = (source.twin(moved) for source in measured)
            near = [twin for twin in twins if twin and abs(twin.time - moved.time) <= CONFLICT]
            apart += [twin.time - event.time for twin in near[:1]]
        return apart

    enough = max(FEWEST_SHIFTED, SHIFTED_SHARE * len(of_file))
    if len(of_file) < FEWEST_SHIFTED or len(agreeing(0.0)) > len(of_file) - enough:
        return trial.events, []
    start = float(trial.markers.time[0])
    from_first_frame = start > 2.0 * CONFLICT and len(agreeing(start)) >= enough
    # Exchanged sides look like a shift by half a stride.
    exchanged = [replace(event, side="l" if event.side == "r" else "r") for event in of_file]
    if not from_first_frame and len(agreeing(0.0, exchanged)) >= enough:
        return trial.events, []
    first = {(event.kind, event.side): event for event in reversed(of_file)}.values()
    near = [other.time - event.time for event in first for source in measured for other in source.of(event)]
    near = [by for by in near if abs(by) <= LONGEST_SHIFT]
    tried = [start] if from_first_frame else sorted(near, key=abs)
    shifts = [shift for shift in tried if abs(shift) > 2.0 * CONFLICT and len(agreeing(shift)) >= enough]
    if not shifts:
        return trial.events, []
    shift = float(np.median(agreeing(shifts[0])))
    why = (
        f": it counts them from its first frame, at {start:.3f} s"
        if from_first_frame
        else ", on another clock"
    )
    sentence = (
        f"The file states its {len(of_file)} gait events {abs(shift):.2f} s too {'early' if shift > 0 else 'late'}, by "
        f"the forces and markers{why}. The measured events are used."
    )
    others = tuple(event for event in trial.events if event not in of_file)
    return others, [WarningNote(sentence, "gait_events")]


def _conflicts(
    pairs: Sequence[tuple[Event, Event]],
    limit: float = CONFLICT,
    cause: str = "A foot beside its plate, or stated events on another clock.",
) -> list[str]:
    """One sentence on the events on which two sources differ by more than a limit [s], with its likely cause."""
    apart = [(twin, event) for twin, event in pairs if abs(event.time - twin.time) > limit]
    if not apart:
        return []
    listed = [
        f"{SIDE_NAMES[twin.side]} {_NAMES[twin.kind]} at {twin.time:.3f} s by {_SOURCES[twin.source]}, "
        f"{event.time:.3f} s by {_SOURCES[event.source]}"
        for twin, event in apart
    ]
    return [
        WarningNote(
            f"Sources differ by more than {1000 * limit:.0f} ms on {len(apart)} of {len(pairs)} gait events: "
            f"{shortened(listed, between='; ')}. {cause}",
            "gait_events",
        )
    ]


def _listed(events: Sequence[Event]) -> str:
    """Text of events, such as "Right heel strike at 1.234, 2.345 s; left toe-off at 0.456 s"."""
    groups = grouped((f"{SIDE_NAMES[x.side]} {_NAMES[x.kind]}", f"{x.time:.3f}") for x in events)
    return "; ".join(f"{name} at {shortened(times, MOST_TIMES_LISTED)} s" for name, times in groups.items())


class EventsByFoot:
    """Events by kind and foot, for a fast search of the nearest one."""

    def __init__(self, events: Sequence[Event]) -> None:
        in_order = sorted(events, key=attrgetter("time"))
        self._groups = grouped(((event.kind, event.side), event) for event in in_order)

    def of(self, event: Event) -> list[Event]:
        """The events of the kind and foot of an event, in order of time."""
        return self._groups.get((event.kind, event.side), [])

    def twin(self, event: Event) -> Event | None:
        """Nearest event of the same kind and foot from another source, if near enough to be the same event."""
        group = self.of(event)
        place = bisect(group, event.time, key=lambda other: other.time)
        around = [
            other
            for other in group[max(place - 1, 0) : place + 1]
            if abs(other.time - event.time) < SAME_EVENT_S
        ]
        return min(around, key=lambda other: abs(other.time - event.time), default=None)


def _contradicted(stated: Sequence[Event], plates: EventsByFoot, stands: dict[Side, Array]) -> list[str]:
    """One sentence on the stated events at which the foot stands on its plate, or does the opposite there."""
    opposite: dict[EventKind, EventKind] = {"heel_strike": "toe_off", "toe_off": "heel_strike"}
    wrong = []
    for event in stated:
        other = plates.twin(replace(event, kind=opposite[event.kind]))
        reversed_ = other is not None and abs(other.time - event.time) <= CONFLICT
        if plates.twin(event) is None and (reversed_ or _inside(stands[event.side], event).any()):
            wrong.append(event)
    if not wrong:
        return []
    return [
        WarningNote(
            f"The forces contradict {len(wrong)} of {len(stated)} stated gait events: {_listed(wrong)}. Their sides "
            "or kinds may be exchanged, or a plate is assigned to the wrong foot.",
            "gait_events",
        )
    ]


def standing(loads: FootLoads, side: Side) -> tuple[Array, Array, Array]:
    """Return the times in which one foot certainly stands on its plates, and the uncertain contacts.

    A step is a contact with one loading that fills it except for short ramps: the foot stands throughout. In any other
    contact the offset of the plate may exceed the threshold, with or without steps; the foot certainly stands only
    while it bears the body.

    Returns:
        Beginning and end (k, 2) [s] of the times in which the foot neither strikes nor leaves, beginning and end (m, 2)
        [s] of the uncertain contacts, and the lowest vertical force in each of them (m,) [N].
    """
    time, vertical = loads.vertical(side)
    bearing = loads.level(BEARING_WEIGHTS)
    loadings, touching = contacts(time, vertical, bearing, bearing), foot_contacts(loads, side)
    step = np.zeros(len(touching), bool)
    for k, contact in enumerate(touching):
        start, end = np.clip(contact, time[0], time[-1])
        first, last = np.clip(loadings, time[0], time[-1]).T
        within = (start <= first) & (last <= end)
        short = (first - start < LONGEST_RAMP) & (end - last < LONGEST_RAMP)
        step[k] = within.sum() == 1 and short[within].all()
    lowest = [vertical[(a <= time) & (time <= b)].min() for a, b in touching[~step]]
    sure = np.concatenate([touching[step], loadings + np.array([LOADING_EDGE_S, -LOADING_EDGE_S])])
    if time.size:
        sure = np.clip(sure, time[0], time[-1])
    return sure, touching[~step], np.array(lowest)


def _inside(spans: Array, event: Event) -> Mask:
    """Return a mask (k,) of the spans of time (k, 2) [s] that contain an event."""
    return (spans[:, 0] < event.time) & (event.time < spans[:, 1])


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
    ) -> Self:
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
    struck = sorted((event for event in events if event.source != "periodic"), key=attrgetter("time"))
    times_of = grouped(((event.kind, event.side), event.time) for event in struck)
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
