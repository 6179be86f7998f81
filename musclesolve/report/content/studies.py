"""Uncertainty, comparison of costs, and averages, where they were given."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve.report.content.pieces import DASH, Absent, Table, cell, from_rich, sided
from musclesolve.report.inputs import TrialFiles
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import listed, number
from musclesolve.results.dataset.result_quantities import body_weight
from musclesolve.results.tables import average_table, comparison_tables
from musclesolve.results.tables.uncertainty_summary import Peak, peak

MOST_MUSCLES, MOST_SOURCES = 12, 3
SENTENCES = ("left_out", "invalid", "unlike", "persons", "reserves", "cycles")
"""Attributes of an average that are lists, whatever NetCDF made of short ones."""


def uncertainty(trial: TrialFiles) -> dict[str, object]:
    """Peaks with their standard deviations, of the joints and of the least certain muscles; the sources of error."""
    found = trial.uncertainty
    if found is None:
        raise Absent(
            "No uncertainty.nc was given. It is computed by: musclesolve run TRIAL.toml -o FOLDER --uncertainty 1000"
        )
    weight = body_weight(found) if number(found, "subject_mass_kg") else 1.0
    joints = {name: peak(found, "contact_force", name) for name in map(str, found["joint"].values)}
    muscles = {name: peak(found, "muscle_force", name) for name in map(str, found["muscle"].values)}
    order = sorted((name for name, at in muscles.items() if at), key=lambda name: -_sd(muscles[name]))
    columns = ("", "peak in stance", "standard deviation", "mean of the samples", "at [s]", "mostly from")
    tables = [
        Table(f"{heading}", columns, [_row(name, of[name], scale, digits) for name in names])
        for heading, of, names, scale, digits in (
            ("Contact forces [body weights]", joints, list(joints), weight, 2),
            (f"The {MOST_MUSCLES} least certain muscles [N]", muscles, order[:MOST_MUSCLES], 1.0, 0),
        )
    ]
    return {
        "tables": [*tables, _sources(found)],
        "samples": _samples(found),
        "why_not": found.attrs.get("without_contributions", ""),
    }


def _sd(at: Peak | None) -> float:
    return float(np.nan_to_num(at.sd)) if at else 0.0


def _row(name: str, at: Peak | None, scale: float, digits: int) -> list[str]:
    if at is None:
        return [sided(name), *[DASH] * 5]
    values = [cell(each / scale, digits) for each in (at.value, at.sd, at.mean)]
    return [sided(name), *values, cell(at.time, 2), _mostly(at.shares)]


def _mostly(shares: xr.DataArray | None) -> str:
    if shares is None:
        return DASH
    share, labels = np.nan_to_num(shares.values), shares["source_label"].values
    order = np.argsort(-share)[:MOST_SOURCES]
    return ", ".join(f"{labels[k]} {100.0 * share[k]:.0f} %" for k in order if share[k] > 0.0) or DASH


def _sources(found: xr.Dataset) -> Table:
    """The sources of error and how large they were taken to be."""
    rows = []
    for number_ in range(found.sizes["source"]):
        source = found.isel(source=number_)
        value, unit = float(source["standard_deviation"]), str(source["source_unit"].item())
        shown = f"{1000.0 * value:.3g} mm" if unit in ("m", "mm") else f"{100.0 * value:.3g} %"
        rows.append((str(source["source_label"].item()), shown))
    return Table("Sources of error", ("source", "standard deviation assumed"), rows, compact=True)


def _samples(found: xr.Dataset) -> str:
    given = found.attrs
    failed = int(given.get("failed_samples", 0))
    return f"{given['samples']} samples" + (f", {failed} of which failed" if failed else "")


def costs(trial: TrialFiles) -> dict[str, object]:
    """The tables that `compare` prints."""
    if trial.comparison is None:
        raise Absent(
            "No comparison.nc was given. It is computed by: musclesolve compare TRIAL.toml --cost A --cost B -o FOLDER"
        )
    tables = [from_rich(table) for table in comparison_tables.tables(trial.comparison)]
    long = {table.caption for table in tables if len(table.rows) > 14}
    folded = [Table(t.caption, t.columns, t.rows, t.note, t.caption in long) for t in tables]
    return {"tables": folded, "costs": [str(name) for name in trial.comparison["cost"].values]}


def average(data: xr.Dataset) -> dict[str, object]:
    """Strides in numbers, and what is left out."""
    data = data.assign_attrs({name: listed(data, name) for name in SENTENCES})
    remarks = [line.partition(" ") for line in average_table.remarks(data)]
    legs = ", ".join(
        f"{int(data['cycles'].sel(side=side))} of the {frames.SIDE_NAMES.get(str(side), side)} leg"
        for side in data["side"].values
    )
    return {
        "tables": [from_rich(average_table.table(data))],
        "remarks": [" ".join(f"{first} {rest}".split()) for first, _, rest in remarks],
        "cycles": listed(data, "cycles"),
        "legs": legs,
    }
