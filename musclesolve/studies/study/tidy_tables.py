"""Means of subjects as tables for statistics programs: a row for each observation, a column for each quantity with its
unit in the name.
"""

import re
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from musclesolve.results.cycles.gait_cycles import PERCENT, SPREAD, curves_of
from musclesolve.results.tables.lines import frame_csv
from musclesolve.studies.study.means import WITHIN

CURVES, SUBJECT_VALUES = "curves.csv", "subject_values.csv"
csv_of = partial(frame_csv, missing="")
"""A table as comma-separated values with six digits, empty where there is no number."""


def column(*parts: str, unit: str = "") -> str:
    """The name of a column, of letters, digits and underscores: joint_moment_knee_flexion_max_N_m_per_kg."""
    unit = unit.replace("%", "percent").replace("/", " per ")
    words = [part for part in parts if part] + ([unit] if unit not in ("", "1") else [])
    return re.sub(r"[^0-9A-Za-z]+", "_", " ".join(words)).strip("_")


def curves_table(means: xr.Dataset) -> pd.DataFrame:
    """Mean curves of the subjects: a row for each subject, condition (leg) and percentage, a column for each curve.

    Args:
        means: as `subject_means` returns them.
    """
    over = ["subject", "condition", *(["leg"] if "leg" in means.dims else []), PERCENT]
    sizes = [means.sizes[dim] for dim in over]
    columns: dict[str, np.ndarray] = {}
    for name, variable in means.data_vars.items():
        if PERCENT not in variable.dims or str(name).endswith((WITHIN, SPREAD)):
            continue
        unit = str(variable.attrs.get("units", ""))
        for label, curve in curves_of(variable):
            own = label if label != name else ""
            columns[column(str(name), own, unit=unit)] = curve.transpose(*over).values.ravel()
    index = pd.MultiIndex.from_product([means[dim].values for dim in over], names=over)
    table = pd.DataFrame(columns, index=index).reset_index()
    present = np.broadcast_to((means["cycles"].values > 0)[..., None], sizes).ravel()
    group = dict(zip(means["subject"].values.tolist(), means["group"].values.tolist(), strict=True))
    table.insert(1, "group", table["subject"].map(group))
    return table[present]


def values_table(values: pd.DataFrame, apart: Sequence[str] = ()) -> pd.DataFrame:
    """Values of the subjects: a row for each subject and condition (leg), a column for each value.

    Args:
        values: mean of each value over the cycles of a subject in a condition, a row each (column ``value``).
        apart: further columns that tell observations apart, such as the leg.
    """
    keys = list(values[["variable", "name", "phase", "measure", "unit"]].itertuples(index=False, name=None))
    names = {}
    for key in dict.fromkeys(keys):
        variable, name, phase, measure, unit = key
        words = [name * (name != variable), "stance" * (phase == "stance"), measure * (measure != "value")]
        names[key] = column(variable, *words, unit=unit)
    own = values.assign(column=[names[key] for key in keys])
    over = ["subject", "group", "condition", *apart]
    table = own.pivot_table(index=over, columns="column", values="value", sort=False, observed=True)
    return table.reset_index().rename_axis(columns=None)
