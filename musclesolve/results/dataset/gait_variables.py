"""Events and strides of a trial as part of a result."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.motion.events.gait import Gait
from musclesolve.recording.data import SIDES

Variable = tuple[tuple[str, ...], Array]

PHASES = {
    "opposite_toe_off": "opposite_toe_off",
    "opposite_foot_below_hip": "opposite_foot_below_hip",
    "opposite_heel_strike": "opposite_heel_strike",
    "stance": "toe_off",
    "foot_below_opposite_hip": "foot_below_opposite_hip",
}
"""Variable without ``_percent`` -> the event of a stride that it is the place of."""


def gait_variables(gait: Gait) -> dict[str, Variable]:
    """Over the dimensions event and stride, named as in variables.toml."""
    own = gait.strides
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
    return {"event_time": (("event",), np.array([event.time for event in gait.events], float))} | {
        name: (("stride",), np.array(values, float)) for name, values in numbers.items()
    }


def gait_coordinates(gait: Gait) -> dict[str, object]:
    """Kind, side and source of each event; the leg of each stride and its first and last time."""
    texts: dict[str, object] = {
        f"event_{name}": (("event",), np.array([str(getattr(event, name)) for event in gait.events], np.str_))
        for name in ("kind", "side", "source")
    }
    times: dict[str, object] = {
        f"stride_{name}": xr.Variable(
            "stride", np.array([getattr(stride, name) for stride in gait.strides], float), {"units": "s"}
        )
        for name in ("start", "end")
    }
    sides = np.array([stride.side for stride in gait.strides], np.str_)
    return texts | {"stride_side": (("stride",), sides)} | times


def strike_times(gait: Gait) -> dict[str, Array]:
    """The attributes ``heel_strike_times_r`` and ``_l`` [s], periodic ones included; none for a leg without."""
    strikes = [event for event in gait.events if event.kind == "heel_strike"]
    times = {side: [strike.time for strike in strikes if strike.side == side] for side in SIDES}
    return {f"heel_strike_times_{side}": np.array(found) for side, found in times.items() if found}
