"""Joint angles, moments and powers, and the reaction of the ground, as tables beside their figures."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.report.content.pieces import Absent, Table, cell, plain
from musclesolve.report.inputs import TrialFiles
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import number
from musclesolve.results.dataset.checked import MODEL
from musclesolve.results.dataset.result_quantities import OPPOSITE, along_heading, body_weight

AXES = {"z": "vertical", "x": "fore-aft (+ forward)", "y": "sideways (+ to the left)"}


def joints(trial: TrialFiles) -> dict[str, object]:
    """Ranges of the joint angles, extremes of moments and powers."""
    result = trial.base
    mass = None if trial.of_model else number(result, "subject_mass_kg")
    unit, factor = ("N m/kg", 1.0 / mass) if mass else ("N m", 1.0)
    tables = []
    if "joint_angle" in result:
        tables.append(_extremes(result, "joint_angle", "Range of joint angles [deg]", 180.0 / np.pi, 0))
    if "joint_moment" in result:
        tables.append(_extremes(result, "joint_moment", f"Extremes of joint moments [{unit}]", factor, 2))
    if "joint_power" in result:
        tables.append(
            _extremes(
                result, "joint_power", f"Extremes of joint powers [{unit.replace('N m', 'W')}]", factor, 2
            )
        )
    if not tables:
        raise Absent("This file holds neither joint angles nor joint moments.")
    return {"tables": tables}


def _extremes(result: xr.Dataset, name: str, title: str, factor: float, digits: int) -> Table:
    """Least and greatest value over the frames, a row for each degree of freedom, two columns for each leg."""
    values = result[name]
    dofs = [str(each) for each in values["dof"].values]
    sides = [side for side in frames.ALL_SIDES if side in {frames.side_of(dof) for dof in dofs}]
    stems = list(dict.fromkeys(frames.split_side(dof)[0] for dof in dofs))
    legs = set(OPPOSITE)
    # A model's own coordinates are few, and only some of them have these names.
    shown = [stem for stem in stems if MODEL in result.attrs or stem in legs] or stems
    shown_sides = [side for side in sides if any(frames.with_side(stem, side) in dofs for stem in shown)]
    rows = []
    for stem in shown:
        row = [plain(stem) + (f" (–: {OPPOSITE[stem]})" if stem in legs else "")]
        for side in shown_sides:
            dof = frames.with_side(stem, side)
            own = factor * values.sel(dof=dof).values if dof in dofs else np.empty(0)
            row += [cell(each, digits) for each in _range(own)]
        rows.append(row)
    columns = [
        f"{frames.SIDE_NAMES.get(side, '')} {end}".strip()
        for side in shown_sides
        for end in ("least", "greatest")
    ]
    return Table(title, ("degree of freedom (+)", *columns), rows)


def _range(values: Array) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)


def ground(trial: TrialFiles) -> dict[str, object]:
    """Extremes of the reaction of the ground in body weights."""
    result = trial.base
    if "ground_reaction_force" not in result:
        raise Absent("This file holds no ground reactions.")
    if not number(result, "subject_mass_kg"):
        raise Absent("This file does not state the body mass, in whose weight ground reactions are given.")
    weight = body_weight(result)
    force = along_heading(result, result["ground_reaction_force"]) / weight
    sides = [str(side) for side in result["side"].values]
    rows = []
    for axis, name in AXES.items():
        ends = [_range(force.sel(side=side, axis=axis).values) for side in sides]
        rows.append((name, *(cell(each, 2) for pair in ends for each in pair)))
    columns = [
        f"{frames.SIDE_NAMES.get(side, side)} {end}" for side in sides for end in ("least", "greatest")
    ]
    return {"tables": [Table("Ground reaction [body weights]", ("component", *columns), rows)]}
