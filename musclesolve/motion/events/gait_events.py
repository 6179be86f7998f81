"""Heel strikes and toe-offs of a trial from all there is: what a file states, the forces, the markers.

Of one event the surest source counts: stated before forces, forces before markers. So the markers give the steps that
no plate caught. Where nothing shows the strike that the first or last frames need, walking is taken as periodic; not
so a movement with flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve.motion.events.event_matching import Known
from musclesolve.motion.events.flight import flights
from musclesolve.motion.events.force_events import FootLoads, force_events
from musclesolve.motion.events.marker_events import marker_events, walk
from musclesolve.motion.events.standing_feet import Standing, standing, within
from musclesolve.recording.data import SIDE_NAMES, SIDES, Event, EventKind, Side, Trial

CONFLICT = 0.05
"""Sources that differ by more than this on one event are reported [s]."""
NEAR = 0.01
"""A time range that begins so much of a stride before a strike begins with it."""
MOST = 5
"""So many times of one kind are listed in a sentence."""
_NAMES: dict[EventKind, str] = {
    "heel_strike": "heel strike",
    "toe_off": "toe-off",
    "foot_below_hip": "foot below the opposite hip",
}


@dataclass(frozen=True)
class GaitEvents:
    """The events of a trial, in order of time, and sentences on how far they can be trusted."""

    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def of(self, kind: EventKind, side: Side) -> list[Event]:
        """One kind of event of one foot."""
        return [event for event in self.events if (event.kind, event.side) == (kind, side)]


def gait_events(trial: Trial) -> GaitEvents:
    """Heel strikes and toe-offs of both feet over the whole recording, not only the time range.

    Marker events count where neither a file nor the forces have the event, and no plate shows that the foot stands.
    They are moved by the median difference between them and the surer sources in this recording.

    Args:
        trial: the trial.

    Returns:
        Events with the source "stated", "forces", "markers" or "periodic"; where there is flight neither toe-offs by
        markers nor periodic strikes. Notes on conflicts between the sources, on marker events that fill in, and on
        events that were not recorded.
    """
    loads = FootLoads.of(trial)
    walking, flight = walk(trial), len(flights(trial, loads)) > 0
    seen = [] if walking is None else marker_events(walking)
    if flight:
        # A toe that has left the ground goes on backwards, seen from the pelvis: farthest behind it is in flight.
        seen = [event for event in seen if event.kind == "heel_strike"]
    plates = force_events(loads)
    stated = Known(trial.events)
    known = [*trial.events, *(event for event in plates if stated.twin(event) is None)]
    sure = Known(known)
    notes = [*_conflicts(stated.pairs(plates)), *_conflicts(sure.pairs(seen))]
    possible, contradictions = _possible(loads, [event for event in seen if sure.twin(event) is None])
    filled, shift = _moved(possible, sure.pairs(seen))
    if known and filled:
        notes.append(f"Steps that no plate caught, from the markers{shift}: {_listed(filled)}.")
    elif filled:
        notes.append(
            "Heel strikes and toe-offs are those of the markers alone: in walking at usual speed good to about 30 ms, "
            "in slow walking and running to 60 ms. Double support is not computed from them."
        )
    known = sorted([*known, *filled], key=_time)
    periodic = [] if flight else _periodic(trial.time_range, known)
    if periodic:
        notes.append(f"Not recorded, walking is taken as periodic: {_listed(periodic)}.")
    return GaitEvents(tuple(sorted([*known, *periodic], key=_time)), (*contradictions, *notes))


def _time(event: Event) -> float:
    return event.time


def _conflicts(pairs: Sequence[tuple[Event, Event]]) -> list[str]:
    """One sentence on the events on which two sources differ by more than ``CONFLICT``."""
    apart = [(twin, event) for twin, event in pairs if abs(event.time - twin.time) > CONFLICT]
    if not apart:
        return []
    each = "; ".join(
        f"{SIDE_NAMES[twin.side]} {_NAMES[twin.kind]} at {twin.time:.3f} s by {_by(twin)}, {event.time:.3f} s by "
        f"{_by(event)}"
        for twin, event in apart[:3]
    )
    more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
    return [
        f"Sources differ by more than {1000 * CONFLICT:.0f} ms on {len(apart)} of {len(pairs)} gait events: "
        f"{each}{more}. A foot beside its plate, or forces and markers that are not synchronous."
    ]


def _by(event: Event) -> str:
    return {"stated": "the file", "forces": "the forces", "markers": "the markers"}.get(
        event.source, event.source
    )


def _possible(loads: FootLoads, events: list[Event]) -> tuple[list[Event], list[str]]:
    """Marker events without those that happen while the foot surely stands on a plate, and what to know of both."""
    feet = {side: standing(loads, side) for side in SIDES}
    stands = [within(feet[event.side].sure, event.time).any() for event in events]
    refused = [event for event, sure in zip(events, stands, strict=True) if sure]
    possible = [event for event, sure in zip(events, stands, strict=True) if not sure]
    notes = [f"By the markers, but against the forces and left out: {_listed(refused)}."] if refused else []
    for side, foot in feet.items():
        left = _left(foot, [event for event in possible if event.side == side])
        if left > 0.0:
            notes.append(
                f"The plate of the {SIDE_NAMES[side]} foot does not unload where it steps by the markers: {left:.0f} N "
                f"are left, more than unloaded_below_n ({loads.unloaded_below:g} N). Its zero is off: there the "
                "markers count."
            )
    return possible, notes


def _left(foot: Standing, events: list[Event]) -> float:
    """Force that is left on a plate although the foot steps in these events [N]; 0 where there is none."""
    loaded = [within(foot.unclear, event.time) for event in events]
    return float(foot.lowest[np.any(loaded, axis=0)].max(initial=0.0)) if loaded else 0.0


def _moved(events: list[Event], pairs: Sequence[tuple[Event, Event]]) -> tuple[list[Event], str]:
    """Marker events moved by how much markers are late or early in this recording, and by how much that was."""
    shift: dict[EventKind, float] = {}
    for kind in _NAMES:
        both = [(twin.time, event.time) for twin, event in pairs if event.kind == kind]
        late = [seen - true for true, seen in both if abs(seen - true) <= CONFLICT]
        if late and any(event.kind == kind for event in events):
            shift[kind] = -float(np.median(late))
    moved = [replace(event, time=event.time + shift.get(event.kind, 0.0)) for event in events]
    how = " and ".join(f"{_NAMES[kind]}s by {1000 * by:+.0f} ms" for kind, by in shift.items())
    return moved, f" (moved to agree with the other steps: {how})" if how else ""


def _periodic(time_range: tuple[float, float], known: Sequence[Event]) -> list[Event]:
    """A strike one stride before the first and after the last one, where frames of the time range lie beyond."""
    strikes = {
        side: np.array([e.time for e in known if (e.kind, e.side) == ("heel_strike", side)]) for side in SIDES
    }
    strides = {side: float(np.median(np.diff(times))) for side, times in strikes.items() if times.size > 1}
    start, end = time_range
    added = []
    for side, times in strikes.items():
        if times.size == 0 or not strides:
            continue
        stride = strides.get(side, float(np.mean(list(strides.values()))))
        near = NEAR * stride
        wanted = (times[0] > start + near, times[0] - stride), (times[-1] < end - near, times[-1] + stride)
        added += [Event("heel_strike", side, float(time), "periodic") for needed, time in wanted if needed]
    return sorted(added, key=_time)


def _listed(events: Sequence[Event]) -> str:
    """Right heel strike at 1.234, 2.345 s; left toe-off at 0.456 s."""
    groups: dict[str, list[str]] = {}
    for event in events:
        groups.setdefault(f"{SIDE_NAMES[event.side]} {_NAMES[event.kind]}", []).append(f"{event.time:.3f}")
    return "; ".join(
        f"{name} at {', '.join(times[:MOST])}{f' and {len(times) - MOST} more' if len(times) > MOST else ''} s"
        for name, times in groups.items()
    )
