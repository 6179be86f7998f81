"""Times in which the plates contradict heel strikes and toe-offs of the markers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.motion.events.force_events import FootLoads, contacts, foot_contacts
from musclesolve.recording.data import Side

BEARING_WEIGHTS = 0.3
"""A foot that bears this part of the body weight stands: it neither strikes nor leaves [body weights]."""
LONGEST_RAMP = 0.2
"""From the threshold to that, and back, a step takes less than this [s]."""
EDGE = 0.05
"""But near the ends of that time, because markers are early or late [s]."""


@dataclass(frozen=True)
class Standing:
    """Times in which the plates of a foot contradict events from other sources.

    Args:
        sure: (k, 2) beginning and end of the times in which the foot neither strikes nor leaves [s].
        unclear: (m, 2) the same of contacts that are no steps: the zero of the plate may be off [s].
        lowest: (m,) lowest vertical force in each of these [N].
    """

    sure: Array
    unclear: Array
    lowest: Array


def standing(loads: FootLoads, side: Side) -> Standing:
    """When one foot surely stands on its plates, and contacts that leave it open.

    A step is a contact with one loading that fills it but for short ramps: the foot stands throughout. Any other
    contact may be the zero of a plate that is off by more than the threshold, with or without steps on top; in it the
    foot surely stands only while it bears the body.
    """
    time, vertical = loads.vertical(side)
    bearing = loads.level(BEARING_WEIGHTS)
    loadings = contacts(time, vertical, bearing, bearing)
    found = foot_contacts(loads, side)
    step = np.array([_is_step(contact, loadings, time) for contact in found], bool)
    lowest = [vertical[(a <= time) & (time <= b)].min() for a, b in found[~step]]
    sure = np.concatenate([found[step], loadings + np.array([EDGE, -EDGE])])
    return Standing(sure, found[~step], np.array(lowest))


def _is_step(contact: Array, loadings: Array, time: Array) -> bool:
    """Whether one of the loadings (k, 2), and no other one, fills the contact (2,) but for its ramps."""
    start, end = np.clip(contact, time[0], time[-1])
    first, last = np.clip(loadings, time[0], time[-1]).T
    held = (start <= first) & (last <= end)
    short = (first - start < LONGEST_RAMP) & (end - last < LONGEST_RAMP)
    return int(held.sum()) == 1 and bool(short[held].all())


def within(spans: Array, time: float) -> Mask:
    """Which spans of time (k, 2) a moment lies in."""
    return (spans[:, 0] < time) & (time < spans[:, 1])
