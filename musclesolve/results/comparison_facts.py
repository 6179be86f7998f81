"""Facts of a comparison of costs: the facts under each cost, and the agreement of the costs.

For the force F of a muscle, or the sum of the forces of a function group, under cost c and under cost o, over the
frames in which both have a valid solution:

    rms_difference  sqrt(mean((F_c - F_o)^2)) [N]
    correlation     Pearson's; NaN where a force is constant
    peak_ratio      max(F_c) / max(F_o); NaN where the second is zero
"""

from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from musclesolve._util.arrays import Array, Mask
from musclesolve.results.facts import Facts, LegFacts
from musclesolve.results.finding import Finding
from musclesolve.results.judgement import judge
from musclesolve.results.tables.lines import frame_csv

CONSTANT_SPREAD = 1e-12
"""Relative spread below which a curve counts as constant and has no correlation."""
MEASURES = {
    "rms_difference": ("N", "root mean square of the difference of the forces under both costs"),
    "correlation": ("1", "Pearson correlation of the forces under both costs over the frames"),
    "peak_ratio": ("1", "largest force over the largest force under the other cost"),
}
"""Unit and meaning of each measure of agreement."""
PREFIX = {"function_group": "group_", "muscle": ""}
"""Beginning of the names of measures of groups, and of muscles."""


class ComparisonFacts:
    """Facts of a comparison of costs."""

    def __init__(self, comparison: xr.Dataset) -> None:
        self.comparison = comparison

    @cached_property
    def under(self) -> dict[str, Facts]:
        """The facts under each cost."""
        return {
            name: Facts(self.comparison.sel(cost=name).assign_attrs(cost=name))
            for name in map(str, self.comparison["cost"].values)
        }

    @property
    def costs(self) -> list[str]:
        """Names of the costs; the others are compared with the first one."""
        return list(self.under)

    @property
    def legs(self) -> list[LegFacts]:
        """The analyzed legs, equal under every cost."""
        return list(next(iter(self.under.values())).legs.values())

    @property
    def complete(self) -> bool:
        """Whether no error was found and every analyzed frame has a valid solution under every cost."""
        return all(judge(facts).complete for facts in self.under.values())

    @property
    def findings(self) -> list[Finding]:
        """The errors and warnings on the trial, equal under every cost."""
        return [entry for entry in next(iter(self.under.values())).findings if entry.severity != "note"]

    @cached_property
    def co_contraction(self) -> dict[str, dict[str, float]]:
        """Mean co-contraction over the frames, 0 to 1, by degree of freedom, under each cost."""
        mean = self.comparison["co_contraction"].mean("time").transpose("cost", "dof").values
        dofs = [str(dof) for dof in self.comparison["dof"].values]
        return {
            cost: {dof: float(value) for dof, value in zip(dofs, row, strict=True) if np.isfinite(value)}
            for cost, row in zip(self.costs, mean, strict=True)
        }

    def peaks(self, dim: str) -> xr.DataArray:
        """Largest force (cost, dim) [N] over the frames with a valid solution, of "muscle" or "function_group"."""
        force = self.comparison["group_force" if dim == "function_group" else "muscle_force"]
        return force.where(valid_of(self.comparison, dim)).max("time")

    def measure(self, dim: str, name: str) -> xr.DataArray:
        """A measure of agreement (cost, other, dim)."""
        return self.comparison[PREFIX[dim] + name]

    def rows(self, dim: str) -> dict[str, Array]:
        """Peak, and measures of agreement with the first cost, (costs, 4), of every muscle or function group."""
        against = [self.measure(dim, name).sel(other=self.costs[0]) for name in MEASURES]
        columns = [each.transpose(dim, "cost").values for each in (self.peaks(dim), *against)]
        return dict(zip(map(str, self.comparison[dim].values), np.stack(columns, axis=-1), strict=True))

    def most_different(self, most: int) -> list[str]:
        """Names of the `most` muscles with the largest root mean square difference from the first cost."""
        apart = self.comparison["rms_difference"].sel(other=self.costs[0]).max("cost").fillna(0.0)
        order = np.argsort(-apart.values, kind="stable")[:most]
        return [str(name) for name in self.comparison["muscle"].values[order]]


def agreement_csv(comparison: xr.Dataset) -> bytes:
    """The agreement of every pair of costs on every muscle and function group, as comma-separated values."""
    facts, tables = ComparisonFacts(comparison), []
    for dim in PREFIX:
        measures = {"peak_N": facts.peaks(dim)} | {name: facts.measure(dim, name) for name in MEASURES}
        table = xr.Dataset(measures).to_dataframe([dim, "cost", "other"])[[*measures]].reset_index()
        table.insert(0, "kind", dim)
        tables.append(table[table["cost"] != table["other"]].rename(columns={dim: "name"}))
    return frame_csv(pd.concat(tables).rename(columns={"rms_difference": "rms_difference_N"}))


def agreement(comparison: xr.Dataset) -> xr.Dataset:
    """Agreement between the costs on every muscle and function group.

    Args:
        comparison: `muscle_force` (cost, time, muscle) [N], `valid` (cost, time, side), and `group` of each muscle.

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
    names, grouped = comparison["cost"].values, comparison.assign_coords(function_group=groups)
    measured = {
        "muscle": _measures(force, valid_of(comparison, "muscle").values),
        "function_group": _measures(total, valid_of(grouped, "function_group").values),
    }
    result = xr.Dataset(coords={"cost": names, "other": names, "function_group": groups})
    about = {"units": "N", "long_name": "sum of the forces of the muscles of a function group"}
    result["group_force"] = (("cost", "time", "function_group"), total, about)
    for name, (units, meaning) in MEASURES.items():
        for dim in ("muscle", "function_group"):
            about = {"units": units, "long_name": meaning}
            result[PREFIX[dim] + name] = (("cost", "other", dim), measured[dim][name], about)
    return result


def valid_of(comparison: xr.Dataset, dim: str) -> xr.DataArray:
    """Return which frames (cost, time, dim) are valid for the leg to which each entry of a dimension belongs."""
    legs = xr.DataArray([str(name)[-1] for name in comparison[dim].values], dims=dim)
    return comparison["valid"].sel(side=legs).drop_vars("side").transpose("cost", "time", dim)


def _measures(force: Array, valid: Mask) -> dict[str, Array]:
    """Every measure, (C, C, n), of forces (C, T, n) over the frames that are valid (C, T, n) for both costs."""
    costs, _, entries = force.shape
    measures = {name: np.full((costs, costs, entries), np.nan) for name in MEASURES}
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
    """Pearson's correlation, (n,), of forces (T, n) over `count` (n,) frames, the mask; NaN where one is constant."""
    scaled = []
    for force in (one, other):
        away = np.where(both, force - force.sum(axis=0) / count, 0.0)
        size = np.sqrt(np.square(away).sum(axis=0))
        varies = size > CONSTANT_SPREAD * np.sqrt(np.square(force).sum(axis=0))
        scaled.append(away / np.where(varies, size, np.nan))
    return np.clip((scaled[0] * scaled[1]).sum(axis=0), -1.0, 1.0)
