"""Muscles by function group: peaks of the sums of their forces, and what is at its limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.report.content.pieces import Absent, Table, cell, plain, sided
from musclesolve.report.inputs import TrialFiles
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import number
from musclesolve.results.dataset.kinetics.leg_kinetics import group_muscles
from musclesolve.results.dataset.result_quantities import body_weight

FULL = 0.99
"""A muscle of this activation works at its limit."""
MAIN = 2
"""Muscles of a group that are named."""


@dataclass(frozen=True)
class AtLimit:
    """A muscle that works at its limit in some valid frames."""

    muscle: str
    count: int  # frames
    share: float  # of the valid frames of its leg


def muscles(trial: TrialFiles) -> dict[str, object]:
    """A table of the function groups of each leg, and one of the muscles at full activation."""
    result = trial.base
    if "muscle_force" not in result:
        raise Absent("This file holds no muscle forces.")
    if not any(frames.valid(result, side).any() for side in frames.sides(result)):
        raise Absent("No frame has a valid solution, so there are no muscle forces to show.")
    tables = [_groups(result)] if "group" in result.variables else []
    if full := muscles_at_limit(result):
        rows = [(sided(each.muscle), each.count, cell(100.0 * each.share, 0)) for each in full]
        columns = ("muscle", "frames", "share of the valid frames [%]")
        tables.append(
            Table(f"Muscles at full activation (at least {FULL:g})", columns, rows, compact=len(rows) > 8)
        )
    return {"tables": tables}


def _groups(result: xr.Dataset) -> Table:
    """Peak of the sum of forces, its time, and the largest parts in it."""
    weight = body_weight(result) if number(result, "subject_mass_kg") else None
    groups = list(dict.fromkeys(str(group) for group in result["group"].values))
    rows = []
    for group in groups:
        for side in frames.sides(result):
            own = group_muscles(result, group, side)
            if own and (row := _peak(result, own, side, weight)):
                rows.append((plain(group), frames.SIDE_NAMES.get(side, "–"), *row))
    columns = ("function group", "leg", "peak [N]", "peak [body weights]", "at [s]", "largest parts then")
    return Table("Peak of the sum of the muscle forces of each function group", columns, rows)


def _peak(result: xr.Dataset, names: list[str], side: str, weight: float | None) -> list[str] | None:
    force = result["muscle_force"].sel(muscle=names).transpose("time", "muscle").values
    total = np.where(frames.valid(result, side), force.sum(axis=1), np.nan)
    if not np.isfinite(total).any():
        return None
    frame = int(np.nanargmax(total))
    parts = [
        f"{plain(frames.split_side(names[k])[0])} {100.0 * force[frame, k] / total[frame]:.0f} %"
        for k in np.argsort(-force[frame])[:MAIN]
        if force[frame, k] > 0.0
    ]
    share = cell(total[frame] / weight, 2) if weight else "–"
    return [cell(total[frame], 0), share, cell(float(result["time"].values[frame]), 2), ", ".join(parts)]


def muscles_at_limit(result: xr.Dataset) -> list[AtLimit]:
    """Muscles that reach full activation in valid frames, those that do so longest first."""
    if "activation" not in result:
        return []
    activation: Array = result["activation"].transpose("time", "muscle").values
    found = []
    for column, (name, side) in enumerate(frames.muscle_sides(result).items()):
        valid = frames.valid(result, side)
        count = int((valid & (np.nan_to_num(activation[:, column]) >= FULL)).sum())
        if count:
            found.append(AtLimit(name, count, count / int(valid.sum())))
    return sorted(found, key=lambda each: (-each.count, each.muscle))
