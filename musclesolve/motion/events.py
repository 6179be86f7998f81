"""Heel strikes and toe-offs of a trial from all there is: what a file states, the forces, the markers.

Of one event the surest source counts: stated before forces, forces before markers. So the markers give the steps that
no plate caught. Where nothing shows the strike that the first or last frames need, walking is taken as periodic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from musclesolve.motion.force_events import foot_contacts, force_events
from musclesolve.motion.marker_events import marker_events, walk
from musclesolve.recording.data import SIDE_NAMES, SIDES, Event, EventKind, Side, Trial

Array = NDArray[np.float64]

SAME = 0.3
"""Events of one kind and foot closer together than this are one event: no foot steps twice in so short a time [s]."""
CONFLICT = 0.05
"""Sources that differ by more than this on one event are worth a word [s]."""
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

    Marker events count where neither a file nor the forces have the event, and the foot was not on a plate by which
    it is impossible. They are moved by the median difference between them and the surer sources in this recording.

    Args:
        trial: the trial.

    Returns:
        Events with the source "stated", "forces", "markers" or "periodic"; notes on conflicts between the sources, on
        marker events that fill in, and on events that were not recorded.
    """
    walking = walk(trial)
    seen = [] if walking is None else marker_events(walking)
    plates = force_events(trial)
    known = [*trial.events, *(event for event in plates if _twin(event, trial.events) is None)]
    notes = [*_conflicts(trial.events, plates), *_conflicts(known, seen)]
    possible, contradictions = _possible(trial, [event for event in seen if _twin(event, known) is None])
    filled, shift = _moved(possible, known, seen)
    if known and filled:
        notes.append(f"Steps that no plate caught, from the markers{shift}: {_listed(filled)}.")
    known = sorted([*known, *filled], key=_time)
    periodic = _periodic(trial, known)
    if periodic:
        notes.append(f"Not recorded, walking is taken as periodic: {_listed(periodic)}.")
    return GaitEvents(tuple(sorted([*known, *periodic], key=_time)), (*contradictions, *notes))


def heel_strikes(trial: Trial) -> dict[Side, Array]:
    """Times [s] at which each foot strikes the ground, by ``gait_events``; legs without any strike are left out."""
    found = gait_events(trial)
    times = {side: np.array([event.time for event in found.of("heel_strike", side)]) for side in SIDES}
    return {side: strikes for side, strikes in times.items() if strikes.size}


def _time(event: Event) -> float:
    return event.time


def _twin(event: Event, others: Sequence[Event]) -> Event | None:
    """The nearest of the others that is the same event, seen by another source."""
    same = [
        other
        for other in others
        if (other.kind, other.side) == (event.kind, event.side) and abs(other.time - event.time) < SAME
    ]
    return min(same, key=lambda other: abs(other.time - event.time), default=None)


def _conflicts(sure: Sequence[Event], other: Sequence[Event]) -> list[str]:
    """One sentence on the events on which two sources differ by more than ``CONFLICT``."""
    pairs = [(twin, event) for event in other if (twin := _twin(event, sure)) is not None]
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


def _possible(trial: Trial, events: list[Event]) -> tuple[list[Event], list[str]]:
    """Marker events without those that happen while the foot is firmly on a plate, and a sentence on these."""
    possible: list[Event] = []
    refused: list[Event] = []
    contacts = {side: foot_contacts(trial, side) for side in SIDES}
    for event in events:
        start, end = contacts[event.side].T
        (refused if ((start < event.time) & (event.time < end)).any() else possible).append(event)
    notes = [f"By the markers, but against the forces and left out: {_listed(refused)}."] if refused else []
    return possible, notes


def _moved(events: list[Event], known: Sequence[Event], seen: Sequence[Event]) -> tuple[list[Event], str]:
    """Marker events moved by how much markers are late or early in this recording, and by how much that was."""
    shift: dict[EventKind, float] = {}
    for kind in _NAMES:
        pairs = [(twin, event) for event in seen if event.kind == kind and (twin := _twin(event, known))]
        late = [event.time - twin.time for twin, event in pairs if abs(event.time - twin.time) <= CONFLICT]
        if late and any(event.kind == kind for event in events):
            shift[kind] = -float(np.median(late))
    moved = [replace(event, time=event.time + shift.get(event.kind, 0.0)) for event in events]
    how = " and ".join(f"{_NAMES[kind]}s by {1000 * by:+.0f} ms" for kind, by in shift.items())
    return moved, f" (moved to agree with the other steps: {how})" if how else ""


def _periodic(trial: Trial, known: Sequence[Event]) -> list[Event]:
    """A strike one stride before the first and after the last one, where frames of the time range lie beyond."""
    strikes = {
        side: np.array([e.time for e in known if (e.kind, e.side) == ("heel_strike", side)]) for side in SIDES
    }
    strides = {side: float(np.median(np.diff(times))) for side, times in strikes.items() if times.size > 1}
    start, end = trial.time_range
    half = 0.5 / trial.markers.rate
    added = []
    for side, times in strikes.items():
        if times.size == 0 or not strides:
            continue
        stride = strides.get(side, float(np.mean(list(strides.values()))))
        wanted = (times[0] > start + half, times[0] - stride), (times[-1] < end - half, times[-1] + stride)
        added += [Event("heel_strike", side, float(time), "periodic") for needed, time in wanted if needed]
    return sorted(added, key=_time)


def _listed(events: Sequence[Event]) -> str:
    """Right heel strike at 1.234, 2.345 s; left toe-off at 0.456 s."""
    groups: dict[str, list[str]] = {}
    for event in events:
        groups.setdefault(f"{SIDE_NAMES[event.side]} {_NAMES[event.kind]}", []).append(f"{event.time:.3f}")
    return "; ".join(f"{name} at {', '.join(times)} s" for name, times in groups.items())
