"""Published curves and times: the tables of tools/reference_stride, which name their sources."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from musclesolve._util.arrays import Array

PUBLISHED = Path(__file__).parents[2] / "tools" / "reference_stride"
FEWEST_SPREAD = 0.05  # N m/kg, least standard deviation: in swing that of the table is rounding
MISPRINT = ("ankle_dorsiflexion", 94.0)  # printed 0.087, see winter_1991.csv


def columns(file: str) -> dict[str, Array]:
    """Columns of numbers of a table of tools/reference_stride, comments left out."""
    lines = (PUBLISHED / file).read_text(encoding="utf-8").splitlines()
    header, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    return {name: np.array([float(row[k]) for row in rows]) for k, name in enumerate(header)}


def published_moment(dof: str, percent: Array) -> tuple[Array, Array]:
    """Winter's (1991) mean moment and the standard deviation of Schwartz et al. (2008), [N m/kg]."""
    winter, spread = columns("winter_1991.csv"), columns("schwartz_2008.csv")
    kept = np.array([(dof, each) != MISPRINT for each in winter["percent"]])
    mean = CubicSpline(winter["percent"][kept], winter[f"{dof}_moment"][kept])(np.clip(percent, 0.0, 100.0))
    deviation = np.interp(percent, spread["percent"], spread[f"{dof}_moment_sd"])
    return mean, np.maximum(deviation, FEWEST_SPREAD)
