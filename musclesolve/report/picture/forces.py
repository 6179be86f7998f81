"""Forces that are drawn as arrows: of the ground on the feet, at the joints, and where surfaces press."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Indices
from musclesolve.results.dataset.frame_validity import STANCE_THRESHOLD, side_of


@dataclass(frozen=True, eq=False)
class Arrows:
    """Forces (T, k, 3) [N], NaN where there is none, with names and sides (k).

    They act at places (T, k, 3) [m], or at points of the skeleton (k,) by number.
    """

    names: tuple[str, ...]
    sides: tuple[str, ...]
    force: Array
    place: Array | None = None
    at: Indices | None = None


def ground_arrows(result: xr.Dataset) -> Arrows:
    """From the center of pressure; nothing where the vertical force does not exceed 20 N."""
    if {"ground_reaction_force", "center_of_pressure"} <= set(result.variables):
        names, dim = ("ground_reaction_force", "center_of_pressure"), "side"
    elif {"external_force", "external_point"} <= set(result.variables):
        names, dim = ("external_force", "external_point"), "external_load"
    else:
        return Arrows((), (), np.zeros((result.sizes["time"], 0, 3)), np.zeros((result.sizes["time"], 0, 3)))
    force, place = (
        np.array(result[name].transpose("time", dim, "axis").values, dtype=float) for name in names
    )
    known = np.isfinite(force).all(axis=2) & np.isfinite(place).all(axis=2)
    known &= np.nan_to_num(force[..., 2]) > STANCE_THRESHOLD
    force[~known], place[~known] = np.nan, np.nan
    labels = tuple(str(name) for name in result[dim].values)
    sides = labels if dim == "side" else tuple(side_of(name) for name in labels)
    return Arrows(labels, sides, force, place=place)


def pressing_arrows(result: xr.Dataset) -> Arrows:
    """Of a simulation: forces on the second surface of every pair, where it presses."""
    frames = result.sizes["time"]
    if not {"contact_force", "contact_point"} <= set(result.variables):
        return Arrows((), (), np.zeros((frames, 0, 3)), np.zeros((frames, 0, 3)))
    names = tuple(str(name) for name in result["contact_pair"].values)
    force, place = (
        np.array(result[name].transpose("time", "contact_pair", "axis").values, dtype=float)
        for name in ("contact_force", "contact_point")
    )
    return Arrows(names, tuple(map(side_of, names)), force, place=place)


def contact_arrows(result: xr.Dataset, points: tuple[str, ...]) -> Arrows:
    """At the points of the skeleton that bear the names of the joints."""
    none = Arrows((), (), np.zeros((result.sizes["time"], 0, 3)), at=np.zeros(0, np.intp))
    if not {"joint_reaction", "joint"} <= set(result.variables):
        return none
    kept = [k for k, name in enumerate(result["joint"].values) if str(name) in points]
    if not kept:
        return none
    names = tuple(str(result["joint"].values[k]) for k in kept)
    force = np.array(result["joint_reaction"].transpose("time", "joint", "axis").values[:, kept], dtype=float)
    at = np.array([points.index(name) for name in names], np.intp)
    return Arrows(names, tuple(map(side_of, names)), force, at=at)
