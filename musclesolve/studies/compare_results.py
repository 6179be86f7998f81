"""Comparison of results of two trials, or of one trial with two choices: mean curves of their cycles, and peaks.

Trials have different times, so curves are compared over their cycles, 0 to 100 %, each leg with the same leg:

    F_group(p) = mean over the cycles, of those with a valid frame at p, of sum_{muscles of the group} F_i(p)
    R_joint(p) = mean over the cycles of |R(p)|                             (contact force, where it is known)
    peak       = max_p of the mean curve;  difference = peak - peak of the first result

in body weights where every result states the body mass, else in newtons.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.sides import ALL_SIDES, OTHER, SIDE_NAMES
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.results.cycles.cycle_averages import common, differences
from musclesolve.laboratory.results.cycles.gait_cycles import cycles
from musclesolve.laboratory.results.cycles.normalization import normalized
from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.dataset.frame_validity import cut_sides
from musclesolve.laboratory.results.dataset.result_quantities import magnitude
from musclesolve.laboratory.results.files.atomic_writing import reserved
from musclesolve.laboratory.results.files.result_netcdf import read_result
from musclesolve.laboratory.results.tables.lines import csv_text
from musclesolve.studies.written_answer import write_answer

MOST = 6
"""Largest number of results that can be distinguished in a figure."""
QUANTITIES = {"group_force": "function_group", "contact_force": "joint"}
"""Curves, and the dimension of their names."""


def compare_results(results: Mapping[str, str | Path]) -> xr.Dataset:
    """Mean curves of the cycles of several results.

    Args:
        results: name -> path of result.nc, two to six; the others are compared with the first.

    Returns:
        group_force (result, side, percent, function_group) and contact_force (result, side, percent, joint), in body
        weights or newtons (attrs["units"]), cycles (result, side): how many. NaN where a result has no cycle of a leg
        or no valid frame. The attribute `unlike` lists the choices of method that differ.
    """
    if not 2 <= len(results) <= MOST:
        raise input_error(
            "bad_value",
            where="results",
            problem=f"a comparison of {len(results)} results",
            expected=f"two to {MOST} results",
            remedy="choose two results of `musclesolve run`",
        )
    loaded = {key: checked_result(read_result(at), ("muscle_force", "group")) for key, at in results.items()}
    weighed = all("subject_mass_kg" in result.attrs for result in loaded.values())
    unit = "BW" if weighed else "N"
    units = {"muscle_force": unit, "force": unit, "moment": "N m", "power": "W", "energy": "J"}
    rows, of_all = list[xr.Dataset](), list[xr.Dataset]()
    for name, result in loaded.items():
        legs = {
            side: normalized(cycles(result, side, without_side=side != OTHER), units)
            for side in cut_sides(result)
        }
        legs = {side: leg for side, leg in legs.items() if leg.sizes["cycle"]}
        if not legs:
            raise file_error(
                "too_few_frames",
                results[name],
                f"the result {name} has no complete cycle of its movement",
                "a stride from heel strike to heel strike, or a cycle of another movement",
                "state the cycles in the trial file, [time] cycles_s, and run it again",
            )
        of_all += legs.values()
        rows.append(
            xr.concat([_means(leg) for leg in legs.values()], xr.Variable("side", list(legs)), join="outer")
        )
    compared = xr.concat(rows, xr.Variable("result", list(loaded)), join="outer", fill_value=np.nan)
    compared = compared.sel(side=[side for side in ALL_SIDES if side in compared["side"].values])
    compared["cycles"] = compared["cycles"].fillna(0).astype(int)
    for name in QUANTITIES:
        if name in compared:
            compared[name].attrs = {"units": unit}
    compared["percent"].attrs = of_all[0]["percent"].attrs
    compared.attrs = common(of_all) | {"unlike": differences(of_all)}
    return compared


def _means(leg: xr.Dataset) -> xr.Dataset:
    """Mean curves of a leg (percent, function_group) and (percent, joint), from its cycles."""
    force = (
        leg["muscle_force"].groupby(leg["group"]).sum("muscle", skipna=False).rename(group="function_group")
    )
    means = {"group_force": force.mean("cycle")}
    if "joint_reaction" in leg:
        means["contact_force"] = magnitude(leg["joint_reaction"]).mean("cycle")
    wanted = {name: mean.transpose("percent", ...).reset_coords(drop=True) for name, mean in means.items()}
    return xr.Dataset({**wanted, "cycles": leg.sizes["cycle"]})


def peak_rows(compared: xr.Dataset) -> list[dict[str, Any]]:
    """The peak of every mean curve: quantity, name, leg, and for each result its peak and difference from the first.

    compared: what `compare_results` returns. Differences are in the unit of the peak; None where there is no curve.
    """
    rows = []
    for quantity, dim in QUANTITIES.items():
        if quantity not in compared:
            continue
        highest = compared[quantity].max("percent").transpose(dim, "side", "result")
        for name, of_name in zip(compared[dim].values, highest.values, strict=True):
            for side, peaks in zip(compared["side"].values, of_name, strict=True):
                if np.isfinite(peaks).any():
                    known = [float(peak) if np.isfinite(peak) else None for peak in peaks]
                    row = {"quantity": quantity, "name": str(name), "leg": SIDE_NAMES.get(str(side), "")}
                    less = [None if peak is None or known[0] is None else peak - known[0] for peak in known]
                    rows.append(row | {"peaks": known, "differences": less})
    return rows


def compare_results_into(
    folder: Path, results: Mapping[str, str | Path], progress: Progress = no_progress
) -> tuple[xr.Dataset, list[Path]]:
    """`compare_results`, and the files compared.nc, peaks.csv and figures, all of them or none."""
    with reserved(folder):
        progress("cycles", 0.1)
        compared = compare_results(results)
        return compared, write_answer(
            folder, "compared.nc", "results", compared, {"peaks.csv": peaks_csv}, progress
        )


def peaks_csv(compared: xr.Dataset) -> bytes:
    """The peaks as comma-separated values, a row for each result and curve."""
    names = [str(name) for name in compared["result"].values]
    lines: list[list[object]] = [["quantity", "name", "leg", "result", "peak", "difference", "unit"]]
    for row in peak_rows(compared):
        unit = compared[row["quantity"]].attrs["units"]
        for name, peak, less in zip(names, row["peaks"], row["differences"], strict=True):
            numbers = ["" if value is None else f"{value:.6g}" for value in (peak, less)]
            lines.append([row["quantity"], row["name"], row["leg"], name, *numbers, unit])
    return csv_text(lines).encode()
