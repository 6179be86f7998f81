"""An average over gait cycles on a terminal and a page: the measures of its strides, and remarks on its cycles."""

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr
from rich.table import Table

from musclesolve._util.sides import SIDE_NAMES, sided, with_side
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.fact_table import Fact, plain_fact
from musclesolve.laboratory.results.facts import STRIDE_MEASURES
from musclesolve.laboratory.results.tables.lines import names, numbers


def average_table(average: xr.Dataset) -> Table:
    """Mean and standard deviation of the measures of the strides, a column for each leg.

    The first rows are the number of cycles in the mean curves, and the number of strides with measures. Movements
    without strides have cycles and their time.
    """
    legs = [average.sel(side=side) for side in average["side"].values]
    sides = numbers(*(SIDE_NAMES.get(str(leg["side"].values), "") for leg in legs), whole=True)
    title = "complete cycles, of several the mean (standard deviation)"
    without_strides = "cycle_time" in average
    rows = Table(*names(""), *sides, title=None if without_strides else title)
    rows.add_row("cycles", *(str(int(leg["cycles"])) for leg in legs))
    if without_strides:
        rows.add_row("cycle time [s], mean (standard deviation)", *_cells(legs, "cycle_time", 3))
        return rows
    counts = [name for of in STRIDE_MEASURES if (name := f"{of.variable}_count") in average]
    strides = [np.nan_to_num([leg[name].values for name in counts]).max(initial=0) for leg in legs]
    rows.add_row("strides", *(str(int(count)) for count in strides), end_section=True)
    for measure in STRIDE_MEASURES:
        rows.add_row(measure.heading, *_cells(legs, measure.variable, measure.decimals))
    return rows


def _cells(legs: Sequence[xr.Dataset], name: str, decimals: int) -> Iterator[str]:
    """Mean and, of several, standard deviation of a measure of each leg; a dash where it is not known."""
    for leg in legs:
        known = name in leg and np.isfinite(leg[name])
        spread = float(leg[f"{name}_std"]) if known else np.nan
        mean = f"{float(leg[name]):.{decimals}f}" if known else "-"
        yield mean + (f" ({spread:.{decimals}f})" if np.isfinite(spread) else "")


def average_facts(average: xr.Dataset) -> list[Fact]:
    """Facts on results in the mean that are not usable without care, on cycles and frames that are left out, methods
    that differ, several subjects, and reserves.
    """
    words = {
        "verdicts": "verdict",
        "left_out": "left out",
        "invalid": "not in the mean",
        "unlike": "unlike methods",
    }
    table = [
        plain_fact(subject, sentence) for key, subject in words.items() for sentence in listed(average, key)
    ]
    if len(persons := listed(average, "persons")) > 1:
        table.append(plain_fact("several persons", "; ".join(persons)))
    if reserves := listed(average, "reserves"):
        shares = 100.0 * (average["cycles_with_reserve"] > 0).mean("percent")
        legs = " and ".join(
            f"{float(shares.sel(side=side)):.0f} % of the {sided(with_side('mean', str(side)))}"
            for side in average["side"].values
        )
        count = f"{len(reserves)} of {int(average['cycles'].sum())} cycles"
        bound = "muscle forces are a lower bound there (dotted in the figures)"
        table.append(plain_fact("with reserve", f"{count}, {legs}: {bound}"))
    return table
