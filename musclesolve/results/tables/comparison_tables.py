"""A comparison of costs as text: how the frames ended, and how far the costs agree."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import xarray as xr
from rich.table import Table

from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import body_weight, magnitude
from musclesolve.results.tables.cost_agreement import valid_of
from musclesolve.results.tables.emg_agreement import emg_table
from musclesolve.results.tables.lines import csv_text, decimal

MOST_MUSCLES = 10
COUNTS = {
    "solved": frames.solved,
    "with reserve": frames.solved_with_reserve,
    "without valid solution": frames.unsolved,
    "not analysed": frames.not_measured,
}
OF_PAIR = {"rms [N]": "rms_difference", "correlation": "correlation", "peak ratio": "peak_ratio"}


def tables(comparison: xr.Dataset) -> list[Table]:
    """All of them: how the frames ended, the joints, EMG if any, function groups, the muscles that differ most."""
    emg = [emg_table] if comparison.sizes.get("channel") else []
    return [each(comparison) for each in (frame_counts, joints, *emg, groups, muscles)]


def any_failed(comparison: xr.Dataset) -> bool:
    """Whether a frame of an analysed leg has no valid solution under one of the costs."""
    return any(
        frames.unsolved(comparison.sel(cost=name), side).any()
        for name in comparison["cost"].values
        for side in frames.sides(comparison)
    )


def frame_counts(comparison: xr.Dataset) -> Table:
    """How the frames of each cost and leg ended."""
    table = Table(title="frames", title_justify="left")
    for heading in ("cost", "leg"):
        table.add_column(heading, no_wrap=True)
    for heading in (*COUNTS, "largest KKT residual"):
        table.add_column(heading, justify="right")
    for name in comparison["cost"].values:
        one = comparison.sel(cost=name)
        for side in frames.sides(comparison):
            failed = frames.failed(one, side)
            residual = one["kkt_residual"].sel(side=side).values[~failed]
            counts = (count(one, side).sum() for count in COUNTS.values())
            largest = f"{residual.max():.1e}" if residual.size else "-"
            table.add_row(str(name), side, *(str(int(number)) for number in counts), largest)
    return table


def groups(comparison: xr.Dataset) -> Table:
    """Peak force of every function group, and its agreement with the first cost."""
    first = str(comparison["cost"].values[0])
    names = [str(name) for name in comparison["function_group"].values]
    return _agreement(comparison, "function_group", "group_", names, f"against {first}")


def muscles(comparison: xr.Dataset, most: int = MOST_MUSCLES) -> Table:
    """The muscles about which the costs disagree most, by the root mean square of the difference."""
    first, chosen = str(comparison["cost"].values[0]), most_different(comparison, most)
    title = f"against {first}: the {len(chosen)} muscles that differ most"
    return _agreement(comparison, "muscle", "", chosen, title)


def most_different(comparison: xr.Dataset, most: int) -> list[str]:
    """Names of so many muscles, by the largest root mean square of the difference from the first cost."""
    apart = comparison["rms_difference"].sel(other=comparison["cost"].values[0]).max("cost").fillna(0.0)
    order = np.argsort(-apart.values, kind="stable")[:most]
    return [str(name) for name in comparison["muscle"].values[order]]


def _agreement(comparison: xr.Dataset, dim: str, prefix: str, rows: Iterable[str], title: str) -> Table:
    """A section for each row, in it a line for each cost: names are not broken on a terminal of 80 columns."""
    table = Table(title=title, title_justify="left")
    names = [str(name) for name in comparison["cost"].values]
    table.add_column(dim.replace("_", " "), overflow="fold")
    for heading in ("peak [N]", *OF_PAIR):
        table.add_column(heading, justify="right", no_wrap=True)
    peak = peaks(comparison, dim)
    for row in rows:
        table.add_row(row)
        for number, name in enumerate(names):
            at = {"cost": name, "other": names[0], dim: row}
            pair = [float(comparison[prefix + measure].sel(at)) for measure in OF_PAIR.values()]
            numbers = (
                [decimal(pair[0], 0), decimal(pair[1], 3), decimal(pair[2], 2)] if number else ["", "", ""]
            )
            most = decimal(float(peak.sel({"cost": name, dim: row})), 0)
            table.add_row(f"  {name}", most, *numbers, end_section=number == len(names) - 1)
    return table


def joints(comparison: xr.Dataset) -> Table:
    """Peak contact forces [body weights] and mean co-contraction [%] under every cost."""
    names = [str(name) for name in comparison["cost"].values]
    table = Table(title="joints", title_justify="left")
    table.add_column("quantity", overflow="fold")
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    force = magnitude(comparison["joint_reaction"]).where(valid_of(comparison, "joint"))
    peak = (force / body_weight(comparison)).max("time")
    for joint in comparison["joint"].values:
        values = [decimal(float(peak.sel(cost=name, joint=joint)), 2) for name in names]
        table.add_row(f"{joint}: peak contact force [body weights]", *values)
    means = [co_contraction_means(comparison.sel(cost=name)) for name in names]
    for dof in dict.fromkeys(dof for each in means for dof in each):
        values = [decimal(100.0 * each.get(dof, np.nan), 0) for each in means]
        table.add_row(f"{dof}: mean co-contraction [%]", *values)
    return table


def co_contraction_means(one: xr.Dataset) -> dict[str, float]:
    """The mean over the frames about each angle that has one, 0 to 1, under one cost."""
    mean = one["co_contraction"].mean("time")
    pairs = zip(mean["dof"].values, mean.values, strict=True)
    return {str(dof): float(value) for dof, value in pairs if np.isfinite(value)}


def agreement_csv(comparison: xr.Dataset) -> bytes:
    """The agreement of every pair of costs on every muscle and function group, for other programs."""
    heading = ("kind", "name", "cost", "other", "peak_N", "rms_difference_N", "correlation", "peak_ratio")
    table: list[Iterable[object]] = [heading]
    for dim, prefix in (("function_group", "group_"), ("muscle", "")):
        peak = peaks(comparison, dim)
        pairs = {measure: comparison[prefix + measure] for measure in OF_PAIR.values()}
        costs = comparison["cost"].values
        for row, cost, other in itertools.product(comparison[dim].values, costs, costs):
            if cost != other:
                at = {"cost": cost, "other": other, dim: row}
                numbers = [peak.sel({"cost": cost, dim: row}), *(array.sel(at) for array in pairs.values())]
                table.append([dim, row, cost, other, *(f"{float(number):.6g}" for number in numbers)])
    return csv_text(table).encode()


def peaks(comparison: xr.Dataset, dim: str) -> xr.DataArray:
    """Largest force (cost, dim) [N] over the frames with a valid solution."""
    force = comparison["group_force" if dim == "function_group" else "muscle_force"]
    return force.where(valid_of(comparison, dim)).max("time")
