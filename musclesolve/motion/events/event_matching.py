"""Which events of two sources are the same one."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

from musclesolve.recording.data import Event, EventKind, Side

SAME = 0.3
"""Events of one kind and foot closer together than this are one event: no foot steps twice in so short a time [s]."""


class Known:
    """Events by kind and foot, so that the nearest of thousands is found at once."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._groups: dict[tuple[EventKind, Side], list[Event]] = {}
        for event in sorted(events, key=lambda event: event.time):
            self._groups.setdefault((event.kind, event.side), []).append(event)

    def twin(self, event: Event) -> Event | None:
        """The nearest event that is the same one, seen by another source."""
        group = self._groups.get((event.kind, event.side), [])
        place = bisect(group, event.time, key=lambda other: other.time)
        around = [
            other for other in group[max(place - 1, 0) : place + 1] if abs(other.time - event.time) < SAME
        ]
        return min(around, key=lambda other: abs(other.time - event.time), default=None)

    def pairs(self, events: Sequence[Event]) -> list[tuple[Event, Event]]:
        """Each event that has a twin, behind it."""
        return [(twin, event) for event in events if (twin := self.twin(event)) is not None]
