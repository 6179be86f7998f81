"""Events and strides of a trial as part of a result."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, at_times
from musclesolve.motion.anatomy.anatomy import Anatomy
from musclesolve.motion.events.gait_events import gait_events
from musclesolve.motion.events.marker_events import Walk, walk
from musclesolve.motion.events.strides import Stride, hip_passages, strides
from musclesolve.motion.walking_direction import headings
from musclesolve.recording.data import SIDES, Event, Trial

Variable = tuple[tuple[str, ...], Array]

PHASES = {
    "opposite_toe_off": "opposite_toe_off",
    "opposite_foot_below_hip": "opposite_foot_below_hip",
    "opposite_heel_strike": "opposite_heel_strike",
    "stance": "toe_off",
    "foot_below_opposite_hip": "foot_below_opposite_hip",
}
"""Variable without ``_percent`` -> the event of a stride that it is the place of."""


@dataclass(frozen=True)
class Gait:
    """Events and strides of a trial, and what to know of them.

    Args:
        events: all of them, in order of time; passages below the hip only within the time range.
        strides: between recorded strikes, in order of time.
        notes: sentences on conflicts and on what was filled in.
        time: (T,) frames of the measured anatomy [s].
        heading: (T, 3) horizontal unit vector of the walking direction in these frames.
    """

    events: list[Event]
    strides: list[Stride]
    notes: list[str]
    time: Array = field(default_factory=lambda: np.zeros(0))
    heading: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @classmethod
    def of(cls, trial: Trial, measured: Anatomy) -> Gait:
        """Find them.

        Args:
            trial: the trial.
            measured: its points, whose hip joints the feet pass below.
        """
        found, walking = gait_events(trial), walk(trial)
        heading = _heading(walking, measured)
        passages = [] if walking is None else hip_passages(measured.time, measured.points, heading)
        events = sorted([*found, *passages], key=lambda event: event.time)
        return cls(events, strides(events, walking), list(found.notes), measured.time, heading)

    def variables(self) -> dict[str, Variable]:
        """Over the dimensions event and stride, named as in variables.toml."""
        own = self.strides
        numbers: dict[str, list[float]] = {
            "stride_time": [stride.duration for stride in own],
            "cadence": [stride.cadence for stride in own],
            "walking_speed": [stride.speed for stride in own],
            "stride_length": [stride.length for stride in own],
            "step_length": [stride.step_length for stride in own],
            "step_width": [stride.step_width for stride in own],
            "double_support_percent": [100.0 * stride.double_support / stride.duration for stride in own],
        }
        for name, event in PHASES.items():
            numbers[f"{name}_percent"] = [stride.percent(getattr(stride, event)) for stride in own]
        return {"event_time": (("event",), np.array([event.time for event in self.events], float))} | {
            name: (("stride",), np.array(values, float)) for name, values in numbers.items()
        }

    def heading_at(self, time: Array) -> Array:
        """The walking direction (T,) at times within those of the anatomy, as an angle from x to the left [rad]."""
        angle = np.unwrap(np.arctan2(self.heading[:, 1], self.heading[:, 0]))
        return np.interp(time, self.time, angle)

    def coords(self) -> dict[str, Variable | xr.Variable]:
        """What kind of event of which foot by which source; which leg each stride is of, from when to when."""
        texts = {name: [str(getattr(event, name)) for event in self.events] for name in _OF_EVENTS}
        times = {name: np.array([getattr(stride, name) for stride in self.strides], float) for name in _ENDS}
        return {
            **{f"event_{name}": (("event",), np.array(values, np.str_)) for name, values in texts.items()},
            "stride_side": (("stride",), np.array([stride.side for stride in self.strides], np.str_)),
            **{f"stride_{name}": xr.Variable("stride", at, {"units": "s"}) for name, at in times.items()},
        }

    def strike_times(self) -> dict[str, Array]:
        """The attributes ``heel_strike_times_r`` and ``_l`` [s], periodic ones included; none for a leg without."""
        times = {side: [e.time for e in self.events if _strike(e) and e.side == side] for side in SIDES}
        return {f"heel_strike_times_{side}": np.array(found) for side, found in times.items() if found}


_OF_EVENTS = ("kind", "side", "source")
_ENDS = ("start", "end")


def _strike(event: Event) -> bool:
    return event.kind == "heel_strike"


def _heading(walking: Walk | None, measured: Anatomy) -> Array:
    """The walking direction (T, 3) in the frames of the anatomy; from the anatomy alone where not all markers are."""
    if walking is not None:
        return at_times(walking.time, walking.heading, measured.time)
    hips = 0.5 * (measured.points["hip_r"] + measured.points["hip_l"])
    return headings(measured.time, hips, measured.directions["pelvis_forward"])[0]
