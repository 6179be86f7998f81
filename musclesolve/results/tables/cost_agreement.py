"""How well the costs of a comparison agree, per muscle and per function group."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Mask

SAME = 1e-12
"""A curve of a smaller relative spread is constant and has no correlation."""

MEANING = {
    "rms_difference": ("N", "root mean square of force minus that of the other cost"),
    "correlation": ("1", "Pearson correlation of the force with that of the other cost over the frames"),
    "peak_ratio": ("1", "largest force over the largest force under the other cost"),
}


def agreement(comparison: xr.Dataset) -> xr.Dataset:
    """Agreement between the costs, over the frames in which both have a valid solution.

    For the force F of a muscle, or the sum of the forces of a function group, under cost c and under cost o:

        rms_difference  sqrt(mean((F_c - F_o)^2)) [N]
        correlation     Pearson's; NaN where a force is constant
        peak_ratio      max(F_c) / max(F_o); NaN where the second is zero

    Returns:
        group_force (cost, time, function_group), and each measure (cost, other, muscle), as group_... (cost, other,
        function_group); groups are named with the side. NaN where no frame is valid under both costs.
    """
    force = comparison["muscle_force"].transpose("cost", "time", "muscle").values
    pairs = zip(comparison["group"].values, comparison["muscle"].values, strict=True)
    group_of = np.array([f"{group}_{str(muscle)[-1]}" for group, muscle in pairs])
    groups = list(dict.fromkeys(group_of.tolist()))
    members = group_of[:, None] == np.array(groups)
    total = np.stack([force[..., column].sum(axis=-1) for column in members.T], axis=-1)
    names = comparison["cost"].values
    per_muscle = _measures(force, valid_of(comparison, "muscle").values)
    grouped = comparison.assign_coords(function_group=groups)
    per_group = _measures(total, valid_of(grouped, "function_group").values)
    result = xr.Dataset(coords={"cost": names, "other": names, "function_group": groups})
    about = {"units": "N", "long_name": "sum of the forces of the muscles of a function group"}
    result["group_force"] = (("cost", "time", "function_group"), total, about)
    for name, (units, meaning) in MEANING.items():
        about = {"units": units, "long_name": meaning}
        result[name] = (("cost", "other", "muscle"), per_muscle[name], about)
        result[f"group_{name}"] = (("cost", "other", "function_group"), per_group[name], about)
    return result


def valid_of(comparison: xr.Dataset, dim: str) -> xr.DataArray:
    """Which frames (cost, time, dim) are valid for the leg that each entry of a dimension belongs to."""
    legs = xr.DataArray([str(name)[-1] for name in comparison[dim].values], dims=dim)
    return comparison["valid"].sel(side=legs).drop_vars("side").transpose("cost", "time", dim)


def _measures(force: Array, valid: Mask) -> dict[str, Array]:
    """Every measure, (C, C, n), of forces (C, T, n) over the frames that are valid (C, T, n) for both costs."""
    costs, _, entries = force.shape
    measures = {name: np.full((costs, costs, entries), np.nan) for name in MEANING}
    for c, o in np.ndindex(costs, costs):
        both = valid[c] & valid[o]
        one, other = np.where(both, force[c], 0.0), np.where(both, force[o], 0.0)
        count = both.sum(axis=0).astype(float)
        count[count == 0] = np.nan
        measures["rms_difference"][c, o] = np.sqrt(np.square(one - other).sum(axis=0) / count)
        measures["correlation"][c, o] = _correlation(one, other, both, count)
        peak = other.max(axis=0, initial=0.0)
        measures["peak_ratio"][c, o] = one.max(axis=0, initial=0.0) / np.where(peak > 0, peak, np.nan)
    return measures


def _correlation(one: Array, other: Array, both: Mask, count: Array) -> Array:
    first = np.where(both, one - one.sum(axis=0) / count, 0.0)
    second = np.where(both, other - other.sum(axis=0) / count, 0.0)
    size = np.sqrt(np.square(first).sum(axis=0)), np.sqrt(np.square(second).sum(axis=0))
    scale = np.sqrt(np.square(one).sum(axis=0)), np.sqrt(np.square(other).sum(axis=0))
    varies = (size[0] > SAME * scale[0]) & (size[1] > SAME * scale[1])
    product = np.where(varies, size[0] * size[1], np.nan)
    return np.clip((first * second).sum(axis=0) / product, -1.0, 1.0)
