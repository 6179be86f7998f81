"""Muscles by the beginnings of their names: function groups of the source, and published times of EMG."""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.thesis_figures.study import PUBLISHED, SIDE, Study
from musclesolve._util.arrays import Array, Mask

MARGIN = 10.0
"""Outside its bursts by so much a muscle may be active [% of the cycle], as the table of bursts says."""
ACTIVE = 0.2
"""A muscle counts as active above this share of its own peak."""


@cache
def groups_of_source() -> dict[str, Any]:
    """Tables `group` and `claim` of function_groups.toml."""
    return tomllib.loads(Path(__file__).with_name("function_groups.toml").read_text(encoding="utf-8"))


@cache
def bursts() -> dict[str, list[tuple[float, float]]]:
    """When muscles are active by EMG: on and off [%] of each burst, by the beginning of the name."""
    lines = (PUBLISHED / "emg_timing.csv").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[tuple[float, float]]] = {}
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        found.setdefault(row["muscle"], []).append((float(row["on_percent"]), float(row["off_percent"])))
    return found


def bursts_of(muscle: str) -> list[tuple[float, float]]:
    """Bursts of a muscle; none where its timing is not published."""
    return next((times for name, times in bursts().items() if muscle.startswith(name)), [])


def within(percent: Array, times: list[tuple[float, float]], margin: float = 0.0) -> Mask:
    """Return the places in the cycle that lie in any of the bursts, widened by a margin on both sides."""
    inside = np.zeros(percent.shape, dtype=bool)
    for on, off in times:
        length = min((off - on) % 100.0 + 2.0 * margin, 100.0)
        inside |= (percent - on + margin) % 100.0 <= length
    return inside


def over_cycle(study: Study, variable: str) -> dict[str, Array]:
    """A variable of every muscle over the cycle, (K,) by name; NaN in frames without a valid solution."""
    result = study.result
    valid = result["valid"].sel(side=SIDE).values
    values = np.where(valid[:, None], result[variable].transpose("time", "muscle").values, np.nan)
    names = [str(name).removesuffix(f"_{SIDE}") for name in result["muscle"].values]
    return dict(zip(names, study.of_cycle(values).T, strict=True))


def total(series: dict[str, Array], beginnings: list[str]) -> Array:
    """Sum over the muscles whose names begin with any of these."""
    return np.sum([series[name] for name in series if name.startswith(tuple(beginnings))], axis=0)
