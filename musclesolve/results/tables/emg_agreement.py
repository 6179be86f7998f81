"""How well activation agrees with measured EMG, as lines of a summary and as a table of a comparison."""

from __future__ import annotations

import numpy as np
import xarray as xr
from rich.table import Table

from musclesolve.results.tables.lines import decimal

IN_A_LINE = 5
"""Channels in a line of the summary."""


def emg_lines(result: xr.Dataset) -> list[str]:
    """Median and mean of the correlations, then each channel with its delay; none without EMG."""
    if "emg_correlation" not in result or not result.sizes["channel"]:
        return []
    r, delay = result["emg_correlation"].values, result["emg_delay"].values
    each = [
        f"{name} {decimal(own, 2)}" + (f" ({1000.0 * late:.0f} ms)" if np.isfinite(late) else "")
        for name, own, late in zip(result["channel"].values, r, delay, strict=True)
    ]
    first = f"{len(r)} channels, r of activation and envelope {median_and_mean(r)}; in brackets the delay of activation"
    if "emg_tracking" in str(result.attrs.get("cost")):
        first += "; no test, the cost follows this EMG"
    return [first, *(", ".join(each[k : k + IN_A_LINE]) for k in range(0, len(each), IN_A_LINE))]


def median_and_mean(correlation: np.ndarray) -> str:
    """Those of the correlations (k,) that are known."""
    known = correlation[np.isfinite(correlation)]
    if not known.size:
        return "not known"
    return f"median {np.median(known):.2f}, mean {known.mean():.2f}"


def emg_table(comparison: xr.Dataset) -> Table:
    """Median and mean of the correlations, and that of every channel, under every cost."""
    table = Table(title="r of activation and EMG envelope", title_justify="left")
    table.add_column("channel", no_wrap=True)
    for name in comparison["cost"].values:
        table.add_column(str(name), justify="right")
    by_channel = comparison["emg_correlation"].transpose("channel", "cost").values
    known = [column[np.isfinite(column)] for column in by_channel.T]
    for heading, of in (("median", np.median), ("mean", np.mean)):
        table.add_row(heading, *(decimal(float(of(each)), 2) if each.size else "-" for each in known))
    for channel, row in zip(comparison["channel"].values, by_channel, strict=True):
        table.add_row(str(channel), *(decimal(float(r), 2) for r in row))
    return table
