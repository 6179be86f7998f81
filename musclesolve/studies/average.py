"""Results of several trials averaged over gait cycles, each leg for itself, side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from rich.table import Table

from musclesolve.errors import InputError
from musclesolve.recording.data import SIDES, Side
from musclesolve.results.cycles.comparable import check_alike, differences, persons
from musclesolve.results.cycles.cycle_averages import average_cycles, common
from musclesolve.results.cycles.gait_cycles import gait_cycles
from musclesolve.results.dataset.checked import checked_result
from musclesolve.results.dataset.frame_validity import SIDE_NAMES, sides
from musclesolve.results.files.netcdf import read_result

MEASURES = {
    "stride time [s]": ("stride_time", 3),
    "cadence [steps/min]": ("cadence", 1),
    "speed [m/s]": ("walking_speed", 2),
    "stride [m]": ("stride_length", 2),
    "step width [m]": ("step_width", 3),
    "stance [%]": ("stance_percent", 1),
    "double support [%]": ("double_support_percent", 1),
}
"""Rows of the printed table: variable, decimals."""
NEEDED = ("activation", "muscle_force", "joint_angle", "joint_moment", "group")
"""What the figures of an average draw."""


def average_results(paths: Sequence[str | Path], *, partial: bool = False) -> xr.Dataset:
    """Average the gait cycles of results that are kept in files.

    Args:
        paths: one or more ``result.nc``.
        partial: whether cycles count of which the frames cover less than 95 %.

    Returns:
        What ``average_cycles`` gives for each leg, over the dimension side, names without side. A leg of which no
        result has a complete cycle is not in it.

    Raises:
        InputError: a file is no result or lacks what is averaged, a file or a stride is there twice, no leg has a
            cycle, or the muscle forces minimise different costs or are of different muscles.
    """
    found: dict[Side, list[xr.Dataset]] = {side: [] for side in SIDES}
    for path in _once(paths):
        result = checked_result(read_result(path), NEEDED)
        for side in SIDES:
            if side in sides(result):
                found[side].append(gait_cycles(result, side, partial=partial, without_side=True))
    every = [each for cycles in found.values() for each in cycles]
    counted = {side: sum(each.sizes["cycle"] for each in cycles) for side, cycles in found.items()}
    if not any(counted.values()):
        return average_cycles(every)  # refuses, and says why
    check_alike([each for each in every if each.sizes["cycle"]])
    legs = {side: average_cycles(found[side]) for side, count in counted.items() if count}
    together = xr.concat(
        list(legs.values()), xr.Variable("side", list(legs)), combine_attrs="drop", join="outer"
    )
    return together.assign_attrs(_attributes(list(legs.values()), every))


def _attributes(legs: list[xr.Dataset], every: list[xr.Dataset]) -> dict[str, object]:
    """What both legs have in common, and the sentences on either of them."""
    used = [each for each in every if each.sizes["cycle"]]
    attributes = common(used)
    attributes.pop("side", None)
    people = persons(used)
    if len(people) > 1:
        attributes["subject"] = "several persons"
    for key in ("cycles", "invalid", "reserves"):
        attributes[key] = [sentence for leg in legs for sentence in leg.attrs[key]]
    attributes["left_out"] = [sentence for each in every for sentence in each.attrs["left_out"]]
    return attributes | {"unlike": differences(used), "persons": people}


def table(average: xr.Dataset) -> Table:
    """Mean and standard deviation of the measures of the strides, a column for each leg.

    Above them stands how many cycles the curves of the leg are the mean of, and how many strides of these were recorded
    from strike to strike and have measures.
    """
    rows = Table(title="mean (standard deviation) over the strides that were recorded whole")
    rows.add_column("", no_wrap=True)
    legs = [average.sel(side=side) for side in average["side"].values]
    for leg in legs:
        rows.add_column(SIDE_NAMES[str(leg["side"].values)], justify="right", no_wrap=True)
    rows.add_row("cycles", *(str(int(leg["cycles"])) for leg in legs))
    rows.add_row("strides", *(str(_strides(leg)) for leg in legs), end_section=True)
    for heading, (name, decimals) in MEASURES.items():
        rows.add_row(heading, *(_cell(leg, name, decimals) for leg in legs))
    return rows


def remarks(average: xr.Dataset) -> list[str]:
    """A line for every cycle that is left out or has frames that are, for every method that is not the same.

    One line each says of several persons who they are, and of reserves how much of the means they concern.
    """
    words = {"left_out": "left out", "invalid": "not in the mean", "unlike": "unlike methods"}
    told = [(word, sentence) for key, word in words.items() for sentence in average.attrs[key]]
    if len(average.attrs["persons"]) > 1:
        told.append(("several persons", "; ".join(average.attrs["persons"])))
    if average.attrs["reserves"]:
        told.append(("with reserve", _reserves(average)))
    return [f"{word:<17} {sentence}" for word, sentence in told]


def _reserves(average: xr.Dataset) -> str:
    """Of how many cycles, and over how much of the mean of each leg."""
    shares = 100.0 * (average["cycles_with_reserve"] > 0).mean("percent")
    legs = " and ".join(
        f"{float(shares.sel(side=side)):.0f} % of the {SIDE_NAMES[str(side)]} mean"
        for side in average["side"].values
    )
    return (
        f"{len(average.attrs['reserves'])} of {int(average['cycles'].sum())} cycles, {legs}: "
        "muscle forces are a lower bound there (dotted in the figures)"
    )


def _strides(leg: xr.Dataset) -> int:
    counts = [leg[f"{name}_count"].values for name, _ in MEASURES.values() if f"{name}_count" in leg]
    return int(np.nan_to_num(counts).max(initial=0))


def _cell(leg: xr.Dataset, name: str, decimals: int) -> str:
    if name not in leg or not np.isfinite(leg[name]):
        return "-"
    spread = float(leg[f"{name}_std"])
    return f"{float(leg[name]):.{decimals}f}" + (f" ({spread:.{decimals}f})" if np.isfinite(spread) else "")


def _once(paths: Sequence[str | Path]) -> list[Path]:
    seen: dict[str, Path] = {}
    for path in map(Path, paths):
        if os.path.realpath(path) in seen:
            raise InputError(
                "this result is named twice",
                file=path,
                expected="every result once: a cycle that counts twice makes the spread too small",
                remedy="leave one of them out",
            )
        seen[os.path.realpath(path)] = path
    return list(seen.values())
