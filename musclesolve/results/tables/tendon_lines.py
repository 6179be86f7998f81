"""Elastic tendons as lines of a summary, and as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.muscles.tendon_strain import achilles_muscles
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import listed
from musclesolve.results.dataset.tendons.tendon_variables import BALANCE_ERROR, is_elastic

LARGE_ERROR = 0.1
"""An error of activation that a summary counts the frames of."""


@dataclass(frozen=True)
class Largest:
    """The largest strain of some tendons."""

    strain: float
    muscle: str
    time: float  # [s]


def tendon_lines(result: xr.Dataset) -> list[str]:
    """How tendons were solved, then the largest strains; none where they are rigid."""
    if not is_elastic(result):
        return []
    steps = " and ".join(
        f"{count} ({frames.SIDE_NAMES.get(side, side)})"
        for side, _, count in (each.partition(" ") for each in listed(result, "motion_iterations"))
    )
    solver = result.attrs.get("solver")
    first = f"elastic, with activation dynamics; {solver}, {steps} iterations" if solver else "elastic"
    found = {"Achilles tendon": largest_strain(result, achilles(result)), "of all": largest_strain(result)}
    strains = [
        f"{whose} {100.0 * each.strain:.1f} % ({each.muscle} at {each.time:.3f} s)"
        for whose, each in found.items()
        if each is not None
    ]
    return [
        first,
        *_between_frames(result),
        *([f"largest strain: {'; '.join(strains)}"] if strains else []),
    ]


def _between_frames(result: xr.Dataset) -> list[str]:
    """How far fibers and tendons are from balance midway between frames: the largest error, and where it is."""
    if (error := balance_error(result)) is None:
        return []
    errors: Array = result[BALANCE_ERROR].transpose("time", "side").values
    frame, column = np.unravel_index(int(np.nanargmax(errors)), errors.shape)
    side = str(result["side"].values[column])
    where = f"{frames.SIDE_NAMES.get(side, side)} at {result['time'].values[frame]:.3f} s"
    large = np.count_nonzero(errors > LARGE_ERROR)
    many = (
        f"; above {LARGE_ERROR:g} in {large} of {np.isfinite(errors).sum()} frames of the legs"
        if large
        else ""
    )
    return [f"balance midway between frames: activation to {error:.2g} ({where}){many}"]


def achilles(result: xr.Dataset) -> list[str]:
    """The muscles of the Achilles tendon, with side."""
    names = [str(name) for name in result["muscle"].values]
    short = [str(name) for name in result["short_name"].values] if "short_name" in result.coords else names
    return [names[k] for k in achilles_muscles(list(zip(names, short, strict=True)))]


def largest_strain(result: xr.Dataset, muscles: list[str] | None = None) -> Largest | None:
    """Of some of the muscles, or of all; None where there are none, or no frame has a solution."""
    if "tendon_strain" not in result:
        return None
    of = result if muscles is None else result.sel(muscle=muscles)
    strain: Array = of["tendon_strain"].transpose("time", "muscle").values
    if not np.isfinite(strain).any():
        return None
    frame, column = np.unravel_index(int(np.nanargmax(strain)), strain.shape)
    times, names = of["time"].values, of["muscle"].values
    return Largest(float(strain[frame, column]), str(names[column]), float(times[frame]))


def balance_error(result: xr.Dataset) -> float | None:
    """The largest error of an activation between two frames; None where it is not known."""
    if BALANCE_ERROR not in result or not np.isfinite(result[BALANCE_ERROR].values).any():
        return None
    return float(np.nanmax(result[BALANCE_ERROR].values))
