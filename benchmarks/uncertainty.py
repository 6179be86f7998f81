"""Bands of designed samples and of the first order beside bands of Monte Carlo, and what they cost.

python -m benchmarks.uncertainty [--samples 1000] [--only BODY ...]

On the recorded walk of Rajagopal et al. (2016), both walks with an instrumented knee (its leg) and the scaled OpenSim
model of the first of these (Fregly et al. 2012), in the folder that MUSCLESOLVE_DATA names. For each quantity the
standard deviation of designed samples and of the first order, over the Monte Carlo samples, where this is a
twentieth of its largest value or more: median, and share of the values within 15 %; the same where the first order is
within 15 % of Monte Carlo. "Away from bounds": muscle forces where 95 % of the Monte Carlo activations lie between 0.05
and 0.99, so that the muscle stays between its bounds. There the first order should hold. The ends of the bands of 95 %
are off by a share of their width (mean). Processor times are of one process, over the time of preparing and sharing the
body without errors.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import xarray as xr
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.instrumented_knee import MODELS, SETS, body_with
from benchmarks.timing import console
from benchmarks.validation.page import data_folder
from musclesolve._util.arrays import Array
from musclesolve.constants import FAST
from musclesolve.forces import prepare
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.results.facts import NEAR_FIRST_ORDER, between_bounds
from musclesolve.results.shared_result import judged_result

WALK = "tests/real/rajagopal_walk.toml"
QUANTITIES = ("joint_moment", "muscle_force", "contact_force")
BODIES: dict[str, Callable[[], RecordedBody | ModelBody]] = {
    "recorded walk": lambda: prepare(WALK),
    "ss1": lambda: body_with(SETS[0], "ss1"),
    "ss9": lambda: body_with(SETS[0], "ss9"),
    "scaled model, ss1": lambda: body_with(MODELS["Rajagopal2015-scaled"], "ss1"),
}


def timed(work: Callable[[], xr.Dataset]) -> tuple[xr.Dataset, float]:
    """Return the value of some work, and its processor time [s]."""
    start = time.process_time()
    return work(), time.process_time() - start


def ratio_cells(ratio: Array) -> tuple[str, str]:
    """Median, and share within 15 %."""
    near = np.abs(ratio - 1.0) <= NEAR_FIRST_ORDER
    return f"{np.median(ratio):.2f}", f"{100.0 * near.mean():.0f} %"


def rows(fast: xr.Dataset, drawn: xr.Dataset) -> list[tuple[str, ...]]:
    """A line for each quantity."""
    found = []
    for name in QUANTITIES:
        truth, own, first = (
            each.values for each in (drawn[f"{name}_sd"], fast[f"{name}_sd"], drawn[f"{name}_first_order_sd"])
        )
        known = np.isfinite(truth) & np.isfinite(own) & np.isfinite(first) & (truth > 0.0)
        known &= np.nan_to_num(truth) >= 0.05 * np.where(known, truth, 0.0).max(axis=0)
        linear = known.copy()
        linear[known] = np.abs(first[known] / truth[known] - 1.0) <= NEAR_FIRST_ORDER
        ends, own_ends = (
            each[f"{name}_quantile"].sel(quantile=[0.025, 0.975]).transpose("quantile", ...).values
            for each in (drawn, fast)
        )
        off = np.abs(own_ends - ends)[:, known] / (ends[1] - ends[0])[known]
        free = np.zeros_like(known)
        if name == "muscle_force":
            free = known & between_bounds(drawn).transpose(*drawn[f"{name}_sd"].dims).values
        away = ("", "")
        if free.any():
            share = f"{100.0 * free.sum() / known.sum():.0f} %"
            away = share, ratio_cells(first[free] / truth[free])[1]
        found.append(
            (
                name.replace("_", " "),
                *ratio_cells(first[known] / truth[known]),
                *away,
                *ratio_cells(own[known] / truth[known]),
                *(f"{100.0 * linear.sum() / known.sum():.0f} %", ratio_cells(own[linear] / truth[linear])[1]),
                f"{100.0 * off.mean():.0f} %",
            )
        )
    return found


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--samples", type=int, default=1000, help="of Monte Carlo")
    parser.add_argument("--only", action="append", choices=BODIES, help="one of the bodies, again for more")
    given = parser.parse_args()
    data_folder()
    console.width = 220
    shown = Table(
        *("body", "quantity", "first order", "within 15 %", "away from bounds", "there within 15 %"),
        *("designed", "within 15 %"),
        *("first order holds in", "there designed within 15 %", "ends off by"),
        title=f"standard deviations over those of {given.samples} Monte Carlo samples",
    )
    times = Table("body", "prepared and shared [s]", "designed [s]", "times", "Monte Carlo [s]", "times")
    for name in given.only or BODIES:
        make = BODIES[name]
        ms.uncertainty(make(), 2, workers=1)  # compiles
        body, prepared = timed(make)  # type: ignore[arg-type,var-annotated]
        result, shared = timed(lambda body=body: judged_result(body, ()))
        found = [
            timed(lambda body=body, result=result, n=n: ms.uncertainty(body, n, workers=1, result=result))
            for n in (FAST, given.samples)
        ]
        for row in rows(found[0][0], found[1][0]):
            shown.add_row(name, *row)
        alone = prepared + shared
        cells = [cell for _, spent in found for cell in (f"{spent:.1f}", f"{spent / alone:.1f}")]
        times.add_row(name, f"{alone:.2f}", *cells)
    console.print(shown, times)


if __name__ == "__main__":
    main()
