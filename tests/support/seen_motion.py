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
    heading_deg: np.ndarray | float = 0.0,
    width: float = 0.0,
    reach: np.ndarray | float = 0.0,
    raised: np.ndarray | float = 0.0,
    sides: str = "rl",
) -> xr.Dataset:
    """Vertical forces of the feet (T,) [body weights], place and height of hips [m], flexion of both knees [deg].

    Where the body faces is the direction of `ahead`, and `heading_deg` from the axis x; the hips are `width` apart [m].
    The right ankle is `reach` ahead of the hips and the left one as far behind, both `raised` from below them [m].
    """
    count = right.size
    hip = np.zeros((count, 3))
    heading = np.deg2rad(np.broadcast_to(heading_deg, count))
    facing = np.stack([np.cos(heading), np.sin(heading), 0.0 * heading], axis=1)
    to_left = np.stack([-np.sin(heading), np.cos(heading), 0.0 * heading], axis=1)
    way = np.broadcast_to(ahead, count)
    hip += way[0] * facing[0] + np.cumsum(np.diff(way, prepend=way[0])[:, None] * facing, axis=0)
    hip[:, 2] = height
    bend = np.deg2rad(np.broadcast_to(knee_deg, count))
    down = np.array([0.0, 0.0, -1.0])
    half_sine, half_cosine = np.sin(0.5 * bend)[:, None], np.cos(0.5 * bend)[:, None]
    points = {}
    for side, sign in (("r", -1.0), ("l", 1.0)):
        own = hip + 0.5 * sign * width * to_left
        knee = own + THIGH * (half_sine * facing + half_cosine * down)
        ankle = knee - SHANK * (half_sine * facing - half_cosine * down)
        ankle = ankle - sign * np.broadcast_to(reach, count)[:, None] * facing
        ankle = ankle - np.broadcast_to(raised, count)[:, None] * down
        points |= {f"hip_{side}": own, f"knee_{side}": knee, f"ankle_{side}": ankle}
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
