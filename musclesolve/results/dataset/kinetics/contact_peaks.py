"""Greatest contact force of every joint over the valid frames of its leg."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import number
from musclesolve.results.dataset.result_quantities import body_weight, magnitude


@dataclass(frozen=True)
class ContactPeak:
    """The greatest contact force of a joint over the valid frames of its leg."""

    joint: str  # with its side, hip_r
    newton: float
    body_weights: float
    time: float  # [s]


def peaks_of_joints(result: xr.Dataset) -> list[ContactPeak]:
    """The peaks of all joints that have a valid frame; none of a result without contact forces."""
    if "joint_reaction" in result:
        force = magnitude(result["joint_reaction"])
    elif "contact_force" in result:
        force = result["contact_force"]
    else:
        return []
    weight = body_weight(result) if number(result, "subject_mass_kg") else np.nan
    found = []
    for joint in map(str, force["joint"].values):
        side = frames.side_of(joint)
        if side not in result["side"].values:
            continue
        values = np.where(frames.valid(result, side), force.sel(joint=joint).values, np.nan)
        if np.isfinite(values).any():
            frame = int(np.nanargmax(values))
            peak = float(values[frame])
            found.append(ContactPeak(joint, peak, peak / weight, float(result["time"].values[frame])))
    return found


def contact_peaks(result: xr.Dataset, joint: str) -> dict[str, float]:
    """Greatest contact force [body weights] at a joint of each leg over its valid frames; none without."""
    peaks = {frames.split_side(peak.joint): peak.body_weights for peak in peaks_of_joints(result)}
    return {side: peaks[joint, side] for side in frames.sides(result) if (joint, side) in peaks}
