"""Heel strikes and toe-offs from the markers alone (Zeni, Richards & Higginson 2008, Gait Posture 27:710-714).

Seen from the pelvis, the heel is farthest ahead when it strikes the ground, and the toes are farthest behind when
they leave it: swing ends and stance begins with the first, stance ends and swing begins with the second. That holds
on the floor and on a treadmill.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.motion.anatomy.unit_vectors import UP
from musclesolve.motion.events.extrema import maxima
from musclesolve.motion.walking_direction import headings
from musclesolve.recording.data import SIDES, Event, EventKind, Recording
from musclesolve.recording.gaps.marker_jumps import jumps

SHORTEST_SWING = 0.15
"""A foot that moves less than this along the walking direction, seen from the pelvis, does not step [m]."""

_FARTHEST: tuple[tuple[EventKind, str, float], ...] = (("heel_strike", "heel", 1.0), ("toe_off", "toe", -1.0))


@dataclass(frozen=True)
class Walk:
    """The markers that show the steps, over the whole recording."""

    time: Array  # (T,) [s]
    rate: float  # sampling rate [Hz]
    pelvis: Array  # (T, 3) midpoint of the posterior superior iliac spines [m], NaN where it was not seen
    feet: dict[str, Array]  # heel_r, heel_l, toe_r, toe_l -> (T, 3) [m], NaN where it was not seen
    heading: Array  # (T, 3) horizontal unit vector of the walking direction
    travels: (
        bool  # whether the pelvis travels; if not, a belt runs under the feet, or the subject does not walk
    )


def walk(recording: Recording) -> Walk | None:
    """Return pelvis, heels and toes of the whole recording, or None where one of them or a second frame is missing."""
    parts = [f"{part}_{side}" for part in ("heel", "toe") for side in SIDES]
    behind = ["sacrum"] if recording.sees("sacrum") else ["psis_r", "psis_l"]
    if recording.markers.time.size < 2 or not all(recording.sees(name) for name in (*parts, *behind)):
        return None
    pelvis = np.mean([_path(recording, name) for name in behind], axis=0)
    feet = {name: _path(recording, name) for name in parts}
    faced = _facing(recording, feet)
    if not (np.isfinite(pelvis).all(axis=1).any() and np.isfinite(faced).all(axis=1).any()):
        return None
    heading, travels = headings(recording.markers.time, pelvis, faced)
    return Walk(recording.markers.time, recording.markers.rate, pelvis, feet, heading, travels)


def _facing(recording: Recording, feet: dict[str, Array]) -> Array:
    """Which way the pelvis faces (T, 3), square to a pair of its spines; without one, which way the feet point."""
    for part in ("asis", "psis"):
        if all(recording.sees(f"{part}_{side}") for side in SIDES):
            return np.cross(_path(recording, f"{part}_l") - _path(recording, f"{part}_r"), UP)
    return np.sum([feet[f"toe_{side}"] - feet[f"heel_{side}"] for side in SIDES], axis=0)


def marker_events(walking: Walk) -> list[Event]:
    """Heel strikes and toe-offs of both feet, in order of time.

    On the recorded walk of the tests heel strikes come 11 to 22 ms and toe-offs up to 6 ms before those of the
    plates; on the bundled stride 10 ms before and 11 ms after them.
    """
    events = []
    frames = np.arange(walking.time.size)
    for side in SIDES:
        if not _moves(walking, side):
            continue
        for kind, part, sign in _FARTHEST:
            ahead = np.sum((walking.feet[f"{part}_{side}"] - walking.pelvis) * walking.heading, axis=1)
            times = np.interp(maxima(sign * ahead, walking.rate, SHORTEST_SWING), frames, walking.time)
            events += [Event(kind, side, float(time), "markers") for time in times]
    return sorted(events, key=lambda event: event.time)


def _moves(walking: Walk, side: str) -> bool:
    """Whether a foot leaves its place: in a squat it is the pelvis that moves."""
    heel = walking.feet[f"heel_{side}"][:, :2]
    seen = heel[np.isfinite(heel).all(axis=1)]
    return len(seen) > 0 and float(np.linalg.norm(np.ptp(seen, axis=0))) > SHORTEST_SWING


def _path(recording: Recording, landmark: str) -> Array:
    """Trajectory (T, 3) of a landmark [m], NaN where it was not seen or jumps."""
    path = recording.markers.weighted(recording.mapping[landmark])
    return np.where(jumps(path, recording.markers.rate)[:, None], np.nan, path)
