"""The trade-off of effort and misfit to EMG as a table and a document, and the offset of the clock in words."""

from typing import Any

import numpy as np
import xarray as xr
from rich.table import Table

from musclesolve.results.tables.lines import decimal, line, numbers, titled_table


def _median(trade_off: xr.Dataset, name: str) -> list[float]:
    """Median over the channels whose correlation is known at each weight, (W,)."""
    rows = trade_off[name].transpose("weight", "channel").values
    return [float(np.median(row[np.isfinite(row)])) if np.isfinite(row).any() else np.nan for row in rows]


def trade_off_table(trade_off: xr.Dataset) -> Table:
    """A line for each weight."""
    knees = [name for name in trade_off.get("joint", xr.DataArray([])).values.astype(str) if "knee" in name]
    left_out, followed = _median(trade_off, "emg_correlation"), _median(trade_off, "emg_correlation_followed")
    rows = []
    for place, weight in enumerate(trade_off["weight"].values):
        at = trade_off.isel(weight=place)
        misfit, peaks = float(at["emg_rms"]), [float(at["contact_peak"].sel(joint=name)) for name in knees]
        rows.append(
            (
                *(f"{weight:g}", f"{float(at['effort']):.4g}", decimal(misfit, 3)),
                *(decimal(left_out[place], 2), decimal(followed[place], 2)),
                *(*(decimal(peak, 0) for peak in peaks), str(int(at["reserve_frames"]))),
            )
        )
    columns = ("weight of EMG", "effort", "rms misfit", "r left out", "r followed (no test)")
    return titled_table(
        f"{trade_off.attrs['cost']} + weight * misfit to EMG: medians over {trade_off.sizes['channel']} channels",
        numbers(*columns, *(f"{name}: peak contact [N]" for name in knees), "reserves"),
        rows,
    )


def clock_lines(trade_off: xr.Dataset, clock: xr.Dataset | str) -> list[str]:
    """Return lines on the curve and on the clock offset of the EMG; the offset is never applied by itself."""
    knee = float(trade_off.attrs["knee_weight"])
    of_curve = (
        "none between these weights" if np.isnan(knee) else f"at a weight of {knee:g}, of these weights"
    )
    lines = [line("knee of the curve", f"{of_curve}; it need not be the best weight: see r left out")]
    if isinstance(clock, str):
        return [*lines, line("clock of the EMG", clock)]
    given = clock.attrs
    low, high = given["interval_s"]
    ends = "; at the end of the range: no estimate" if given["at_end"] else ""
    return [
        *lines,
        line(
            "clock of the EMG",
            f"activation and EMG agree best at offset_s = {given['offset_s']:.3f} (95 % {low:.3f} to {high:.3f}; now "
            f"{given['present_offset_s']:g}), if activation follows EMG by {given['assumed_delay_s']:g} s{ends}; "
            "nothing was changed",
        ),
    ]


def trade_off_document(trade_off: xr.Dataset, clock: xr.Dataset | str) -> dict[str, Any]:
    """The trade-off of EMG and the clock as numbers, for a JSON document."""
    left_out, followed = _median(trade_off, "emg_correlation"), _median(trade_off, "emg_correlation_followed")
    columns = ("effort", "emg_misfit", "emg_rms", "reserve_frames")
    offset = None
    if not isinstance(clock, str):
        names = (
            "offset_s",
            "standard_error_s",
            "interval_s",
            "present_offset_s",
            "assumed_delay_s",
            "at_end",
        )
        offset = {name: clock.attrs[name] for name in names}
    return {
        "cost": trade_off.attrs["cost"],
        "weights": [
            {"weight": float(weight)}
            | {name: float(trade_off[name].values[place]) for name in columns}
            | {"median_correlation": left_out[place], "median_correlation_followed": followed[place]}
            for place, weight in enumerate(trade_off["weight"].values)
        ],
        "knee_weight": trade_off.attrs["knee_weight"],
        "clock": offset,
    }
