"""Heel strikes and toe-offs that a C3D file states: group EVENT."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from musclesolve.recording.c3d.c3d_file import C3D, read_c3d
from musclesolve.recording.data import Event, EventKind, Side
from musclesolve.recording.formats import is_c3d

# What capture software calls them.
_KINDS: dict[str, EventKind] = {
    "foot strike": "heel_strike",
    "heel strike": "heel_strike",
    "foot contact": "heel_strike",
    "initial contact": "heel_strike",
    "foot off": "toe_off",
    "toe off": "toe_off",
}
_SIDES: dict[str, Side] = {"right": "r", "left": "l"}
# Longest plausible recording [s].
_LONGEST = 1e7


def stated_events(files: Mapping[str, Path]) -> tuple[Event, ...]:
    """Return the events that the C3D file of the motion states, or else that of the forces."""
    for role in ("markers", "forces"):
        if role in files and is_c3d(files[role]) and (events := read_events(read_c3d(files[role]))):
            return events
    return ()


def read_events(file: C3D) -> tuple[Event, ...]:
    """Return the heel strikes and toe-offs that a file states, in the order of time.

    EVENT:TIMES holds minutes and seconds of each on the clock on which frame 1 is at 0, CONTEXTS the side, LABELS the
    kind (www.c3d.org/HTML/Documents, "The EVENT Group"). Others, and those without a side, are left out.
    """
    description = file.description
    times = description.numbers("EVENT:TIMES")
    if times.ndim != 2 or times.shape[0] != 2:
        return ()
    used = description.count("EVENT:USED") or 0
    with np.errstate(over="ignore", invalid="ignore"):
        seconds = 60.0 * times[0] + times[1]
    events = []
    named = zip(
        description.texts("EVENT:CONTEXTS"), description.texts("EVENT:LABELS"), seconds[:used], strict=False
    )
    for context, label, second in named:
        side = _SIDES.get(context.casefold())
        kind = _KINDS.get(" ".join(label.casefold().replace("-", " ").replace("_", " ").split()))
        if side and kind and math.isfinite(second) and abs(second) < _LONGEST:
            events.append(Event(kind, side, float(second), "stated"))
    return tuple(sorted(events, key=lambda event: event.time))
