"""A comparison of costs: the facts under each cost, the agreement of the costs, and all of it as tables.

For the force F of a muscle, or the sum of the forces of a function group, under cost c and under cost o, over the
frames in which both have a valid solution:

    rms_difference  sqrt(mean((F_c - F_o)^2)) [N]
    correlation     Pearson's; NaN where a force is constant
    peak_ratio      max(F_c) / max(F_o); NaN where the second is zero

A cell holds the numbers of both legs, and muscles and groups have a column for each cost.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr
from rich import box
from rich.table import Table

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.sides import SIDE_NAMES, side_of, split_side, with_side
from musclesolve.laboratory.results.dataset.frame_validity import muscle_sides
from musclesolve.laboratory.results.dataset.result_quantities import force_unit
from musclesolve.laboratory.results.fact_table import Fact, plain_fact
from musclesolve.laboratory.results.facts import Facts, LegFacts
from musclesolve.laboratory.results.finding import Finding
from musclesolve.laboratory.results.judgement import judge
from musclesolve.laboratory.results.plausibility import criteria, plausibility
from musclesolve.laboratory.results.tables.lines import decimal, frame_csv, names, numbers

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
        columns = [part.transpose(dim, "cost").values for part in (self.peaks(dim), *against)]
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
    groups, members = _members(comparison)
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


def _members(comparison: xr.Dataset) -> tuple[list[str], Mask]:
    """Function groups, named with the side in the names of their muscles, and the muscles (muscle, group) of each."""
    pairs = zip(comparison["group"].values, comparison["muscle"].values, strict=True)
    group_of = np.array([with_side(str(group), side_of(str(muscle))) for group, muscle in pairs], dtype=str)
    groups = list(dict.fromkeys(group_of.tolist()))
    return groups, group_of[:, None] == np.array(groups, dtype=str)


def valid_of(comparison: xr.Dataset, dim: str) -> xr.DataArray:
    """Return which frames (cost, time, dim) are valid: for a muscle by its side, for a group by all muscles in it."""
    sides = list(muscle_sides(comparison).values())
    valid = comparison["valid"].transpose("cost", "time", "side").reindex(side=sides, fill_value=False)
    of_muscle = valid.rename(side="muscle").drop_vars("muscle")
    if dim == "muscle":
        return of_muscle
    names = [str(name) for name in comparison[dim].values]
    # a group whose muscles were left out has the frames of its side
    of_side = comparison["valid"].transpose("cost", "time", "side")
    of_group = of_side.reindex(side=[side_of(name) for name in names], fill_value=False).values.copy()
    groups, members = _members(comparison)
    for group, column in zip(groups, members.T, strict=True):
        if group in names:
            of_group[..., names.index(group)] = of_muscle.values[..., column].all(axis=-1)
    return xr.DataArray(of_group, dims=("cost", "time", dim))


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


MOST_MUSCLES = 8
COUNTS = {
    "solved": "solved",
    "with reserve": "with_reserve",
    "without solution": "without_solution",
    "not analyzed": "not_analyzed",
}
"""Headings of the numbers of frames, with the facts of a leg."""


def comparison_tables(comparison: xr.Dataset) -> dict[str, Table]:
    """Heading -> table: frames, contact forces and EMG if any, co-contraction, groups, and muscles that differ most.

    They fit a terminal of 80 columns; `agreement_csv` has every muscle and measure.
    """
    facts = ComparisonFacts(comparison)
    apart = f"rms difference from {facts.costs[0]}"
    sided = any(leg.side in SIDE_NAMES for leg in facts.legs)  # an arm or a spine has no sides
    legs = f" ({', '.join(leg.name for leg in facts.legs)})" if sided else ""
    tables = {f"frames{legs}": _frames(facts)}
    if "joint_reaction" in comparison:
        unit = force_unit(comparison)[1]
        tables[f"peak contact force [{unit}]{legs}"] = _contact(facts, unit)
    if comparison.sizes.get("channel"):
        tables["correlation r of activation and EMG envelope"] = _emg(facts)
    return tables | {
        f"mean co-contraction [%]{legs}": _co_contraction(facts),
        f"function groups: peak force [N]{legs}": _groups(facts),
        f"muscles that differ most: peak force ({apart}) [N]": _muscles(facts),
    }


def comparison_facts(comparison: xr.Dataset) -> list[Fact]:
    """The errors and warnings on the trial, costs that were left out, and reserves that the muscles do not need."""
    found = [
        plain_fact(entry.severity, entry.line, severity=entry.severity)
        for entry in ComparisonFacts(comparison).findings
    ]
    left = {"refused": "left out", "needless_reserves": "needless reserves"}
    return found + [
        plain_fact(subject, text)
        for name, subject in left.items()
        for text in comparison.attrs.get(name, "").splitlines()
    ]


def _table(first: str, headings: Iterable[str]) -> Table:
    style = {"box": box.SIMPLE_HEAD, "show_edge": False, "pad_edge": False, "padding": (0, 1, 0, 0)}
    return Table(*names(first), *numbers(*headings), **style)  # type: ignore[arg-type]


def _frames(facts: ComparisonFacts) -> Table:
    """A table of the frames by status under each cost, its certificate, and its agreement with EMG, if any."""
    emg = bool(facts.comparison.sizes.get("channel"))
    headings = [*COUNTS, "largest gap"]
    table = _table("cost", [*headings, *["EMG r median, mean"] * emg])
    for cost, under in facts.under.items():
        legs, largest = under.legs.values(), under.largest_gap
        counts = [", ".join(str(getattr(leg, fact)) for leg in legs) for fact in COUNTS.values()]
        agreement = ", ".join(f"{r:.2f}" for r in under.median_and_mean_correlation or ()) or "-"
        table.add_row(cost, *counts, "-" if np.isnan(largest) else f"{largest:.1e}", *[agreement] * emg)
    return table


def _contact(facts: ComparisonFacts, unit: str) -> Table:
    joints = list(next(iter(facts.under.values())).contact_by_joint)
    table = _table("cost", [*joints, "verdict"])
    for cost, under in facts.under.items():
        of_weight, digits = unit != "N", 0 if unit == "N" else 2
        peaks = {peak.joint: peak.body_weights if of_weight else peak.newton for peak in under.contact_peaks}
        judged = plausibility(under)
        beyond = dict.fromkeys(
            (comparison.place.split() or [criteria()[comparison.criterion]["label"]])[-1]
            for comparison in judged.failed or judged.at_edge
        )
        verdict = judge(under).label + (f" ({', '.join(beyond)})" if beyond else "")
        table.add_row(cost, *(_of_legs(facts, joint, peaks, digits) for joint in joints), verdict)
    return table


def _emg(facts: ComparisonFacts) -> Table:
    table = _table("channel", facts.costs)
    for channels in zip(*(under.channels for under in facts.under.values()), strict=True):
        table.add_row(channels[0].name, *(decimal(channel.correlation, 2) for channel in channels))
    return table


def _co_contraction(facts: ComparisonFacts) -> Table:
    dofs = (dof for means in facts.co_contraction.values() for dof in means)
    angles = list(dict.fromkeys(split_side(dof)[0] for dof in dofs))
    table = _table("cost", [angle.replace("_", "\n", 1).replace("_", " ") for angle in angles])
    for cost, means in facts.co_contraction.items():
        table.add_row(cost, *(_of_legs(facts, angle, means, 0, 100.0) for angle in angles))
    return table


def _of_legs(
    facts: ComparisonFacts, stem: str, values: Mapping[str, float], digits: int, factor: float = 1.0
) -> str:
    """The number of each leg, a dash where it has none."""
    names = (with_side(stem, leg.side) for leg in facts.legs)
    return ", ".join(decimal(factor * values.get(name, np.nan), digits) for name in names)


def _groups(facts: ComparisonFacts) -> Table:
    table, peaks = _table("group", facts.costs), facts.rows("function_group")
    sides = [leg.side for leg in facts.legs]
    # the muscles of a trunk have sides in their names, but are analyzed together
    stems = (stem if side in sides else name for name in peaks for stem, side in [split_side(name)])
    for group in dict.fromkeys(stems):
        named = dict.fromkeys([*(with_side(group, side) for side in sides), group])
        forces_of = [peaks[name] for name in named if name in peaks]
        forces = (", ".join(decimal(row[k, 0], 0) for row in forces_of) for k in range(len(facts.costs)))
        table.add_row(group, *forces)
    return table


def _muscles(facts: ComparisonFacts) -> Table:
    table, rows = _table("muscle", facts.costs), facts.rows("muscle")
    for muscle in facts.most_different(MOST_MUSCLES):
        (first, *_), *others = rows[muscle]
        cells = (f"{decimal(peak, 0)} ({decimal(apart, 0)})" for peak, apart, *_ in others)
        table.add_row(muscle, decimal(first, 0), *cells)
    return table
