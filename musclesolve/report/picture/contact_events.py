"""When surfaces of a simulation met and parted, by the frame that shows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr


@dataclass(frozen=True, eq=False)
class Event:
    """Two surfaces of a simulation begin to touch, or part: when [s], in which frame, and how fast [m/s]."""

    time: float
    frame: int
    pair: str
    begins: bool
    speed: float


def contact_events(result: xr.Dataset) -> tuple[Event, ...]:
    """Each in the first frame at or after it."""
    if "contact_event_time" not in result.variables:
        return ()
    time, last = result["time"].values, result.sizes["time"] - 1
    columns = (result[f"contact_event_{name}"].values for name in ("time", "pair", "begins", "speed"))
    return tuple(
        Event(float(at), min(int(np.searchsorted(time, at)), last), str(pair), bool(begins), float(speed))
        for at, pair, begins, speed in zip(*columns, strict=True)
    )
