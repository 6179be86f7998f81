"""Means of subjects over the movement cycle, and of groups over their subjects.

The observation of a study is a subject, not a cycle: the cycles of a subject in a condition are averaged first
(`subject_means`), and groups and conditions are described on these (`group_means`).

Tables for statistics programs have a row for each observation, and a column for each quantity with its unit in the
name.
"""

import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from musclesolve._util.arrays import Array, Mask, equal_groups, mean_of_known, sd_of_known
from musclesolve._util.checks import check_choice, check_number
from musclesolve._util.messages import check_known
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.file_settings import DesignSettings
from musclesolve.laboratory.results.cycles.gait_cycles import PERCENT, SPREAD, curves_of
from musclesolve.laboratory.results.tables.lines import frame_csv
from musclesolve.studies.study.random_field import contrast, on_varying, smoothness
from musclesolve.tables.settings import settings_of

COVERED = 0.5
"""Least share of the percentages that the mean curve of a subject must have to be compared."""
WITHIN = "_std"
"""Suffix of the standard deviation within the subject; SPREAD is that of a Monte Carlo analysis of the cycles."""
OF_CYCLES = "subject group condition session coverage distance outlier counts plausibility".split()
"""Coordinates over the cycles that are no numbers of the subjects."""


def subject_means(
    cycles: xr.Dataset,
    *,
    variables: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    conditions: Sequence[str] | None = None,
    by_side: bool = False,
    legs: Sequence[str] = (),
    outliers: bool = True,
) -> xr.Dataset:
    """Average the cycles of each subject in each condition.

    At each percentage all cycles with a value count. The standard deviation has the divisor n - 1.

    Args:
        cycles: the cycles of a study (study.nc): over ``cycle`` the coordinates ``subject`` and, if there are any,
            ``group`` and ``condition``; other numbers over ``cycle`` that are the same in all cycles of a subject, such
            as ``age_years``, become numbers of the subjects.
        variables: which variables; all numbers over ``cycle`` unless given.
        groups: in their order; subjects of others are left out. As they come unless given.
        conditions: the same for conditions.
        by_side: keep the legs apart (dimension ``side``), otherwise the cycles of both legs are averaged.
        legs: names of the legs by the coordinate ``cycle_leg``, such as ("sound", "affected"): keep these apart
            (dimension ``leg``); cycles of neither do not count.
        outliers: whether cycles that are marked as outliers count.

    Returns:
        Dataset over subject, condition, (side or leg,) percent, dof, muscle, joint, axis: each variable by its name is
        the mean, with ``_std`` the standard deviation within the subject. ``cycles`` is the number of cycles. A
        variable ``NAME_uncertainty_sd`` is the root mean square of the subject's cycles. ``group`` is a coordinate over
        subject. ``attrs["groups"]`` lists the groups in their order.

    Raises:
        InputError: no cycles of a study, no subjects among them, a subject in two groups, unknown variables.
    """
    if not isinstance(cycles, xr.Dataset) or "cycle" not in cycles.dims or "subject" not in cycles.variables:
        raise input_error(
            "bad_result",
            problem="these are not the cycles of a study",
            expected="a dataset over `cycle` with the coordinate `subject`, such as study.nc",
            remedy="musclesolve study STUDY.toml -o OUT writes study.nc",
        )
    if "group" in cycles.variables and "muscle" in cycles["group"].dims:  # function groups of the muscles
        cycles = cycles.rename(group="function_group")
    subject, group, condition, side = (
        _labels(cycles, name)
        for name in ("subject", "group", "condition", "cycle_leg" if legs else "cycle_side")
    )
    apart = "leg" if legs else "side"
    group_order, condition_order = in_order(groups, group), in_order(conditions, condition)
    used = np.isin(group, group_order) & np.isin(condition, condition_order) & (subject != "")
    if legs:
        used &= np.isin(side, list(legs))
    if not outliers and "outlier" in cycles.variables:
        used &= ~cycles["outlier"].values.astype(bool)
    if "counts" in cycles.variables:
        used &= cycles["counts"].values.astype(bool)
    if not used.any():
        raise input_error(
            "not_comparable",
            problem="no cycle belongs to a subject of these groups and conditions",
            expected="; ".join(
                f"{key}: {', '.join(sorted({*there} - {''})) or 'the cycles name none'}"
                for key, there in (("groups", group), ("conditions", condition))
            ),
            remedy="name a group and a condition that have cycles, or none",
        )
    subjects = list(dict.fromkeys(subject[used]))
    group_of = [sorted(set(group[used & (subject == name)])) for name in subjects]
    for name, several in zip(subjects, group_of, strict=True):
        if len(several) > 1:
            raise input_error(
                "conflict",
                problem=f"the subject {name} is in several groups: {', '.join(map(str, several))}",
                expected="one group for each subject",
                remedy="give what changes within a subject as `condition`",
            )
    by_side = by_side or bool(legs)
    axes = [subjects, condition_order, *[list(legs) or sorted(set(side[used]))] * by_side]
    rows = np.flatnonzero(used)
    labels = zip(axes, (subject, condition, side), strict=False)
    keys = [pd.Index(axis).get_indexer(of[rows]).tolist() for axis, of in labels]
    cells = {tuple(of[alike[0]] for of in keys): rows[alike] for alike in equal_groups(*keys)}
    shape, dims = tuple(map(len, axes)), ("subject", "condition", *[apart] * by_side)
    numeric = [
        str(name)
        for name, variable in cycles.data_vars.items()
        if variable.dims[:1] == ("cycle",) and np.issubdtype(variable.dtype, np.floating)
    ]
    check_known(variables or (), "variable", numeric, " of the cycles")
    counts = np.zeros(shape, np.int32)
    for place, members in cells.items():
        counts[place] = len(members)
    averaged: dict[str, xr.Variable] = {
        "cycles": xr.Variable(dims, counts, {"units": "1", "long_name": "cycles that count"})
    }
    for name in numeric if variables is None else variables:
        curve = cycles[name].variable
        mean, spread = np.full((2, *shape, *curve.shape[1:]), np.nan)
        for place, members in cells.items():  # of a file that is opened lazily only these cycles are read
            values = np.asarray(curve.isel(cycle=members).values, float)
            if name.endswith(SPREAD):
                mean[place] = np.sqrt(mean_of_known(values**2))
            else:
                mean[place], spread[place] = mean_of_known(values), sd_of_known(values)
        over = (*dims, *map(str, curve.dims[1:]))
        averaged[name] = xr.Variable(over, mean, curve.attrs)
        if not name.endswith(SPREAD):
            about = {
                key: f"standard deviation within the subject: {curve.attrs.get(key, name)}"
                for key in ("long_name", "description")
            }
            averaged[name + WITHIN] = xr.Variable(over, spread, {**curve.attrs, **about})
    kept = {dim for curve in averaged.values() for dim in curve.dims}
    coords: dict[str, Any] = {
        str(name): coord.variable for name, coord in cycles.coords.items() if set(coord.dims) <= kept
    }
    coords |= dict(zip(dims, axes, strict=True)) | {"group": ("subject", [of[0] for of in group_of])}
    coords |= _numbers_of_subjects(cycles, subject, subjects, used)
    movements = sorted(set(_labels(cycles, "cycle_movement")[used]) - {""})
    attrs = {"groups": group_order, "movements": movements, "cycles": int(used.sum())}
    attrs |= {key: value for key, value in cycles.attrs.items() if key == "extension_positive"}
    return xr.Dataset(averaged, coords, attrs)


def _labels(cycles: xr.Dataset, name: str) -> np.ndarray[Any, Any]:
    """A text over the cycles; empty where there is none."""
    if name not in cycles.variables or cycles[name].dims != ("cycle",):
        return np.full(cycles.sizes["cycle"], "", dtype=object)
    return np.array([str(value) for value in cycles[name].values], dtype=object)


def in_order(wanted: Sequence[str] | None, there: np.ndarray[Any, Any]) -> list[str]:
    """The wanted names, or all names in the order of their first occurrence."""
    return list(wanted) if wanted else list(dict.fromkeys(there.tolist()))


def check_means(means: object) -> None:
    """Refuse what is no Dataset of the means of subjects."""
    if not isinstance(means, xr.Dataset) or "subject" not in means.dims or "groups" not in means.attrs:
        raise input_error(
            "bad_type", problem="these are no means of subjects", expected="what subject_means returns"
        )


def groups_of(means: xr.Dataset) -> list[str]:
    """Groups in their order; a list of one is read from a file as its only entry."""
    return [str(name) for name in np.atleast_1d(means.attrs["groups"])]


def without(means: xr.Dataset, cells: Collection[tuple[str, str]]) -> xr.Dataset:
    """Means of subjects without some subjects in some conditions: (subject, condition)."""
    subjects, conditions = ([str(value) for value in means[key].values] for key in ("subject", "condition"))
    left = np.array([[(subject, condition) not in cells for condition in conditions] for subject in subjects])
    there = xr.DataArray(left, dims=("subject", "condition"))
    counted = means["cycles"].transpose("subject", "condition", ...).values
    kept = {
        name: variable.where(there, 0).astype(variable.dtype) if name == "cycles" else variable.where(there)
        for name, variable in means.data_vars.items()
    }
    present = left & (counted.reshape(*left.shape, -1) > 0).any(axis=-1)
    rest = means.assign(kept).isel(
        subject=np.flatnonzero(present.any(axis=1)), condition=np.flatnonzero(present.any(axis=0))
    )
    groups = [name for name in groups_of(means) if name in rest["group"].values]
    return rest.assign_attrs(groups=groups, cycles=int(rest["cycles"].sum()))


def _numbers_of_subjects(
    cycles: xr.Dataset, subject: np.ndarray[Any, Any], subjects: Sequence[str], used: Mask
) -> dict[str, Any]:
    """Coordinates over the cycles that are numbers and the same in all cycles of a subject."""
    numbers = {}
    for name, coord in cycles.coords.items():
        described = str(name).startswith("cycle_") or name in OF_CYCLES
        if coord.dims == ("cycle",) and not described and np.issubdtype(coord.dtype, np.number):
            of = [np.unique(coord.values[used & (subject == person)].astype(float)) for person in subjects]
            if all(values.size == 1 for values in of):
                numbers[str(name)] = ("subject", np.concatenate(of), coord.attrs)
    return numbers


def group_means(
    means: xr.Dataset,
    *,
    level: float = settings_of(DesignSettings)["level"].default,
    band: Literal["pointwise", "simultaneous"] = "pointwise",
    common_errors: bool = False,
) -> xr.Dataset:
    """Compute mean, standard deviation and confidence band over the subjects of each group and condition.

    The band is mean ± u SE. Pointwise, u is the quantile of Student's t with n - 1 degrees of freedom at 1 - level / 2:
    at each percentage by itself it covers the mean of the population with probability 1 - level. Simultaneous, u is the
    threshold of random field theory for a curve of this smoothness: it covers the whole curve with that probability.

    SE^2 = SD^2 / n. The spread SD of the subjects' means contains the errors that are independent from subject to
    subject (markers, joint centers, a subject's own muscle parameters) already. An error that is the same in all
    subjects is in no spread and is not averaged out: with `common_errors`, SE^2 = SD^2 / n + (mean of
    NAME_uncertainty_sd)^2, an upper bound, as if all of that uncertainty were common to the study. uncertainty.nc does
    not say which part of it is; unless requested, the mean is given beside the spread and not combined with it.

    Args:
        means: what `subject_means` returned.
        level: 1 - coverage of the band.
        band: which one.
        common_errors: whether NAME_uncertainty_sd is of errors that all subjects have in common.

    Returns:
        Dataset over group, condition, (side,) percent, ...: mean by the name of the variable, ``_std``, ``_low`` and
        ``_high`` (the band), ``_count`` (subjects at each percentage); ``subjects`` (group, condition, and leg where
        legs are compared) is the number of subjects with cycles. ``attrs["band"]`` says in words what the band is.

    Raises:
        InputError: another band or level, ``means`` of something else.
    """
    check_means(means)
    check_choice(band, "band", ("pointwise", "simultaneous"))
    level = check_number(level, "level", "above 0 and below 1", above=0.0, below=1.0)
    groups, of = groups_of(means), means["group"].values
    members = [np.flatnonzero(of == name) for name in groups]
    present = means["cycles"] > 0
    present = present.any([dim for dim in present.dims if dim == "side"])
    counted = np.stack([present.values[rows].sum(axis=0) for rows in members])
    stated: dict[str, xr.Variable] = {
        "subjects": xr.Variable(("group", *present.dims[1:]), counted.astype(np.int32), {"units": "1"})
    }
    for name, variable in means.data_vars.items():
        if name == "cycles" or str(name).endswith((WITHIN, SPREAD)):
            continue
        dims = ("group", *map(str, variable.dims[1:]))
        values = [variable.values[rows] for rows in members]
        mean, spread = (np.stack([make(part) for part in values]) for make in (mean_of_known, sd_of_known))
        count = np.stack([np.isfinite(part).sum(axis=0) for part in values])
        if band == "simultaneous" and PERCENT in dims:
            factor = np.stack([_field_quantiles(part, dims, level) for part in values])
        else:
            from scipy import stats  # slow to load, and what computes trials reads only names here

            factor = stats.t.isf(0.5 * level, np.maximum(count - 1, 1))
        square = spread**2 / np.maximum(count, 1)
        if common_errors and f"{name}{SPREAD}" in means:
            errors = means[f"{name}{SPREAD}"].values
            square = square + np.stack([mean_of_known(errors[rows]) for rows in members]) ** 2
        half = factor * np.sqrt(square)
        for suffix, numbers in (("", mean), (WITHIN, spread), ("_low", mean - half), ("_high", mean + half)):
            stated[f"{name}{suffix}"] = xr.Variable(dims, numbers, variable.attrs)
        stated[f"{name}_count"] = xr.Variable(dims, count.astype(np.int32), {"units": "1"})
    for name, variable in means.data_vars.items():
        if str(name).endswith(SPREAD):
            beside = np.stack([mean_of_known(variable.values[rows]) for rows in members])
            stated[str(name)] = xr.Variable(("group", *map(str, variable.dims[1:])), beside, variable.attrs)
    words = {
        "pointwise": "of the mean at each percentage (Student's t)",
        "simultaneous": "of the whole mean curve (random field theory)",
    }
    extra = ", the uncertainty of the trials included as common to all" if common_errors else ""
    attrs = {**means.attrs, "band": f"{100.0 * (1.0 - level):g} % confidence band {words[band]}{extra}"}
    coords = {str(key): coord.variable for key, coord in means.coords.items() if "subject" not in coord.dims}
    return xr.Dataset(stated, coords | {"group": groups}, attrs)


def _field_quantiles(values: Array, dims: tuple[str, ...], level: float) -> Array:
    """Threshold of the t field of every curve of some subjects (n, ...), the same at all its percentages."""
    axis = dims.index(PERCENT)
    curves = np.moveaxis(values, axis, -1)
    factor = np.full(curves.shape[1:], np.nan)
    for place in np.ndindex(curves.shape[1:-1]):
        curve = curves[(slice(None), *place)]
        there = curve[np.isfinite(curve).any(axis=1)]
        tested = np.isfinite(there).all(axis=0)
        if len(there) > 1 and tested.any():
            whole = np.where(tested, there, np.nan)
            made = on_varying(lambda kept: contrast([kept], [1.0]), whole)
            if made is not None:
                factor[place] = smoothness(*made).threshold(0.5 * level)
    return np.moveaxis(factor, -1, axis - 1)


CURVES, SUBJECT_VALUES = "curves.csv", "subject_values.csv"
csv_of = partial(frame_csv, missing="")
"""A table as comma-separated values with six digits, empty where there is no number."""


def column(*parts: str, unit: str = "") -> str:
    """The name of a column, of letters, digits and underscores: joint_moment_knee_flexion_max_N_m_per_kg."""
    unit = unit.replace("%", "percent").replace("/", " per ")
    words = [part for part in parts if part] + ([unit] if unit not in ("", "1") else [])
    return re.sub(r"[^0-9A-Za-z]+", "_", " ".join(words)).strip("_")


def curves_table(means: xr.Dataset) -> pd.DataFrame:
    """Mean curves of the subjects: a row for each subject, condition (leg) and percentage, a column for each curve."""
    over = ["subject", "condition", *(["leg"] if "leg" in means.dims else []), PERCENT]
    sizes = [means.sizes[dim] for dim in over]
    columns: dict[str, np.ndarray] = {}
    for name, variable in means.data_vars.items():
        if PERCENT not in variable.dims or str(name).endswith((WITHIN, SPREAD)):
            continue
        unit = str(variable.attrs.get("units", ""))
        for label, curve in curves_of(variable):
            shown = label if label != name else ""
            columns[column(str(name), shown, unit=unit)] = curve.transpose(*over).values.ravel()
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
    named = values.assign(column=[names[key] for key in keys])
    over = ["subject", "group", "condition", *apart]
    table = named.pivot_table(index=over, columns="column", values="value", sort=False, observed=True)
    return table.reset_index().rename_axis(columns=None)
