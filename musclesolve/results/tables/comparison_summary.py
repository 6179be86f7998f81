"""A comparison of costs in less than a page: frames, contact forces, co-contraction, groups, muscles that differ.

`comparison_tables` has all of it, a line for each cost, group and muscle.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xarray as xr
from rich import box
from rich.table import Table

from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.kinetics.contact_peaks import contact_peaks
from musclesolve.results.dataset.result_quantities import largest_kkt_residual
from musclesolve.results.tables.comparison_tables import COUNTS, co_contraction_means, most_different, peaks
from musclesolve.results.tables.lines import decimal

MOST_MUSCLES = 8
Titled = tuple[str, Table]
"""A table and the line above it, which may be longer than the table is wide."""


def summary_parts(comparison: xr.Dataset) -> list[str | Table]:
    """Heading, table and a blank line each: frames, joints, function groups, the muscles that differ most."""
    found = [frame_counts(comparison)]
    if "joint_reaction" in comparison:
        found.append(contact_forces(comparison))
    found += [co_contraction(comparison), groups(comparison), muscles(comparison)]
    return [part for heading, table in found for part in (heading, table, "")]


def frame_counts(comparison: xr.Dataset) -> Titled:
    """How many frames of each leg ended how under each cost, and how well it agrees with EMG, if there is any."""
    emg = bool(comparison.sizes.get("channel"))
    headings = [*(name.replace(" valid", "") for name in COUNTS), "KKT residual"]
    table = _table("cost", [*headings, *["EMG r median, mean"] * emg])
    for name in map(str, comparison["cost"].values):
        one = comparison.sel(cost=name)
        legs = frames.sides(one)
        counts = [_pair(f"{count(one, side).sum()}" for side in legs) for count in COUNTS.values()]
        residual = largest_kkt_residual(one)
        cells = [*counts, "-" if np.isnan(residual) else f"{residual:.1e}"]
        table.add_row(name, *cells, *([_emg(one["emg_correlation"].values)] if emg else []))
    return f"frames ({_legs(comparison)})", table


def _emg(correlation: np.ndarray) -> str:
    known = correlation[np.isfinite(correlation)]
    return _pair(f"{of(known):.2f}" for of in (np.median, np.mean)) if known.size else "-"


def contact_forces(comparison: xr.Dataset) -> Titled:
    """Peak contact force at each joint of both legs, a line for each cost."""
    joints = list(dict.fromkeys(str(joint)[:-2] for joint in comparison["joint"].values))
    table = _table("cost", joints)
    for name in map(str, comparison["cost"].values):
        one = comparison.sel(cost=name)
        found = [contact_peaks(one, joint) for joint in joints]
        legs = frames.sides(one)
        table.add_row(name, *(_pair(_known(peak.get(side), 2) for side in legs) for peak in found))
    return f"peak contact force [body weights] ({_legs(comparison)})", table


def co_contraction(comparison: xr.Dataset) -> Titled:
    """Mean co-contraction about each shared angle of both legs, a line for each cost."""
    means = {str(name): co_contraction_means(comparison.sel(cost=name)) for name in comparison["cost"].values}
    angles = list(dict.fromkeys(frames.split_side(dof)[0] for each in means.values() for dof in each))
    headings = [angle.replace("_", "\n", 1).replace("_", " ") for angle in angles]
    table = _table("cost", headings)
    for name, own in means.items():
        cells = [
            [_known(own.get(f"{angle}_{side}"), 0, 100.0) for side in frames.sides(comparison)]
            for angle in angles
        ]
        table.add_row(name, *map(_pair, cells))
    return f"mean co-contraction [%] ({_legs(comparison)})", table


def groups(comparison: xr.Dataset) -> Titled:
    """Peak force of every function group of both legs, a column for each cost."""
    names = [str(name) for name in comparison["cost"].values]
    table = _table("group", names)
    peak, legs = peaks(comparison, "function_group"), frames.sides(comparison)
    known = set(map(str, peak["function_group"].values))
    for group in dict.fromkeys(
        frames.split_side(name)[0] for name in map(str, peak["function_group"].values)
    ):
        sides = [f"{group}_{side}" for side in legs if f"{group}_{side}" in known]
        own = [peak.sel(cost=name) for name in names]
        table.add_row(
            group, *(_pair(decimal(float(each.sel(function_group=s)), 0) for s in sides) for each in own)
        )
    return f"function groups: peak force [N] ({_legs(comparison)})", table


def muscles(comparison: xr.Dataset, most: int = MOST_MUSCLES) -> Titled:
    """The muscles that differ most from the first cost: peak force, and the rms of the difference in brackets."""
    names = [str(name) for name in comparison["cost"].values]
    chosen = most_different(comparison, most)
    table = _table("muscle", names)
    peak, apart = peaks(comparison, "muscle"), comparison["rms_difference"].sel(other=names[0])
    for muscle in chosen:
        cells = [decimal(float(peak.sel(cost=names[0], muscle=muscle)), 0)]
        for name in names[1:]:
            at = {"cost": name, "muscle": muscle}
            cells.append(f"{decimal(float(peak.sel(at)), 0)} ({decimal(float(apart.sel(at)), 0)})")
        table.add_row(muscle, *cells)
    return f"muscles that differ most: peak force (rms difference from {names[0]}) [N]", table


def _table(first: str, headings: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", overflow="fold")
    return table


def _legs(comparison: xr.Dataset) -> str:
    return ", ".join(frames.SIDE_NAMES[side] for side in frames.sides(comparison))


def _pair(numbers: Iterable[str]) -> str:
    return ", ".join(numbers)


def _known(value: float | None, digits: int, factor: float = 1.0) -> str:
    return "-" if value is None else decimal(factor * value, digits)
