"""Events, strides and walking direction of a trial."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array, at_times
from musclesolve.motion.anatomy.anatomy import Anatomy
from musclesolve.motion.events.gait_events import gait_events
from musclesolve.motion.events.marker_events import walk
from musclesolve.motion.events.strides import Stride, hip_passages, strides
from musclesolve.motion.walking_direction import headings
from musclesolve.recording.data import Event, Trial


@dataclass(frozen=True)
class Gait:
    """Events and strides of a trial, with notes on them."""

    events: list[Event]  # all of them, in order of time; passages below the hip only within the time range
    strides: list[Stride]  # between recorded strikes, in order of time
    notes: list[str]  # sentences on conflicts and on what was filled in
    time: Array = field(default_factory=lambda: np.zeros(0))  # (T,) frames of the measured anatomy [s]
    # (T, 3) horizontal unit vector of the walking direction in these frames
    heading: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @classmethod
    def of(cls, trial: Trial, measured: Anatomy) -> Gait:
        """Find them, given the anatomy, whose hip joints the feet pass below."""
        found, walking = gait_events(trial), walk(trial)
        if walking is None:
            # Not all markers of the steps are there: the direction comes from the anatomy alone.
            hips = 0.5 * (measured.points["hip_r"] + measured.points["hip_l"])
            heading = headings(measured.time, hips, measured.directions["pelvis_forward"])[0]
            passages = []
        else:
            heading = at_times(walking.time, walking.heading, measured.time)
            passages = hip_passages(measured.time, measured.points, heading)
        events = sorted([*found, *passages], key=lambda event: event.time)
        return cls(events, strides(events, walking), list(found.notes), measured.time, heading)

    def heading_at(self, time: Array) -> Array:
        """The walking direction (T,) at times within those of the anatomy, as an angle from x to the left [rad]."""
        angle = np.unwrap(np.arctan2(self.heading[:, 1], self.heading[:, 0]))
        return np.interp(time, self.time, angle)
