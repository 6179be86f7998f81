"""Heel strikes and toe-offs of the legs, where they lie on the horizontal axis of a page."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.plotting.page.abscissa import Pass
from musclesolve.results.dataset import frame_validity as frames

HEEL_STRIKE, TOE_OFF = "heel_strike", "toe_off"
NAMES = {HEEL_STRIKE: "heel strike", TOE_OFF: "toe-off"}
EVENT_STYLE: dict[str, dict[str, Any]] = {
    HEEL_STRIKE: {"linewidth": 0.6, "linestyle": "-"},
    TOE_OFF: {"linewidth": 0.6, "linestyle": (0, (4, 2))},
}


def event_times(result: xr.Dataset, side: str) -> dict[str, Array]:
    """Times of heel strikes and toe-offs of a leg [s]: those of the result, otherwise beginnings and ends of stance."""
    if "event_kind" in result:
        of_leg = result["event_side"].values == side
        kind, time = result["event_kind"].values, np.asarray(result["event_time"].values, dtype=float)
        return {name: time[of_leg & (kind == name)] for name in NAMES}
    if "ground_reaction_force" not in result or side not in frames.SIDE_NAMES:
        return {name: np.empty(0) for name in NAMES}
    on_ground, time = frames.stance(result, side), np.asarray(result["time"].values, dtype=float)
    ends = time[1:][on_ground[:-1] & ~on_ground[1:]]
    return {HEEL_STRIKE: frames.heel_strikes(result, side), TOE_OFF: ends}


def event_places(result: xr.Dataset, side: str, passes: list[Pass], cycle: bool) -> dict[str, Array]:
    """Places of the events on the axis, within its frames; of cycles, which begin with heel strikes, the toe-offs."""
    time = np.asarray(result["time"].values, dtype=float)
    found: dict[str, Array] = {}
    for name, times in event_times(result, side).items():
        places = [np.empty(0)]
        for part in passes:
            own, fresh = time[part.index], ~part.repeated
            inside = times[(times >= own[0]) & (times <= own[-1])]
            shown = np.interp(inside, own, fresh.astype(float)) > 0.5
            places.append(np.interp(inside, own, part.place)[shown])
        if not (cycle and name == HEEL_STRIKE):
            found[name] = np.concatenate(places)
    return found
