"""Results that hold no more than a movement shows: ground reactions, hips and knees of a body of simple shape."""

from __future__ import annotations

import numpy as np
import xarray as xr

MASS, RATE = 70.0, 100.0
WEIGHT = MASS * 9.80665
THIGH = SHANK = 0.42


def motion(
    right: np.ndarray,
    left: np.ndarray,
    *,
    ahead: np.ndarray | float = 0.0,
    height: np.ndarray | float = 0.9,
    knee_deg: np.ndarray | float = 10.0,
    sides: str = "rl",
) -> xr.Dataset:
    """Vertical forces of the feet (T,) [body weights], place and height of hips [m], flexion of both knees [deg]."""
    count = right.size
    hip = np.zeros((count, 3))
    hip[:, 0], hip[:, 2] = ahead, height
    bend = np.deg2rad(np.broadcast_to(knee_deg, count))
    knee = hip + THIGH * np.stack([np.sin(0.5 * bend), 0.0 * bend, -np.cos(0.5 * bend)], axis=1)
    ankle = knee - SHANK * np.stack([np.sin(0.5 * bend), 0.0 * bend, np.cos(0.5 * bend)], axis=1)
    points = {
        f"{name}_{side}": place
        for side in "rl"
        for name, place in zip(("hip", "knee", "ankle"), (hip, knee, ankle), strict=True)
    }
    force = np.zeros((count, len(sides), 3))
    for column, side in enumerate(sides):
        force[:, column, 2] = WEIGHT * {"r": right, "l": left}[side]
    return xr.Dataset(
        {
            "ground_reaction_force": (("time", "side", "axis"), force),
            "skeleton_position": (
                ("time", "skeleton_point", "axis"),
                np.stack(list(points.values()), axis=1),
            ),
        },
        {
            "time": np.arange(count) / RATE,
            "side": list(sides),
            "axis": list("xyz"),
            "skeleton_point": list(points),
        },
        {"subject_mass_kg": MASS},
    )


def stances(count: int, *runs: tuple[int, int], force: float = 1.0) -> np.ndarray:
    """A force in some runs of frames, zero in the others, (T,)."""
    found = np.zeros(count)
    for first, stop in runs:
        found[first:stop] = force
    return found
