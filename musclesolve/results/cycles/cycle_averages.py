"""Gait cycles averaged: mean, spread and number at every percentage of the cycle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.results.cycles.comparable import check_alike, check_once, differences, persons
from musclesolve.results.cycles.gait_cycles import RESERVES, cycle_names

STATISTICS = ("std", "median", "count")
"""What each variable gets besides its mean, as ``activation_std`` and so on."""
SENTENCES = ("left_out", "invalid", "reserves")
"""Attributes of gait cycles that are sentences on some of them."""


def average_cycles(cycles: xr.Dataset | Sequence[xr.Dataset]) -> xr.Dataset:
    """Mean, standard deviation, median and number of gait cycles, of one result or of many.

    At each percentage the cycles count that have a valid value there. The standard deviation is that of a sample
    (n - 1) and NaN for a single cycle.

    Args:
        cycles: what ``gait_cycles`` returned, for one result or for each of many; of one leg, or of both with
            ``without_side=True``.

    Returns:
        Dataset over percent, dof, muscle, joint and axis: each variable by its name is the mean; with ``_std``,
        ``_median`` and ``_count`` the other statistics. ``cycles`` is their number, ``cycles_with_reserve`` that of
        those which needed a reserve at each percentage. ``attrs["cycles"]`` lists them, ``left_out``, ``invalid`` and
        ``reserves`` are those of ``gait_cycles``, ``unlike`` the methods in which their results differ, ``persons``
        the subjects.

    Raises:
        InputError: these are no gait cycles or none at all, one of them is there twice, their forces minimise
            different costs or are of different muscles, or they have unlike names or percentages.
    """
    cycles = _checked(cycles)
    sentences = {key: _gathered(cycles, key) for key in SENTENCES}
    used = _used(cycles, sentences["left_out"])
    together = _stacked(used)
    needed = together[RESERVES].sum("cycle").astype(np.int32).variable
    needed.attrs = {"units": "1", "long_name": "gait cycles in the average that needed a reserve"}
    together = together.drop_vars(RESERVES)
    averaged = _averages(together)
    number = {"units": "1", "long_name": "gait cycles in the average"}
    averaged["cycles"] = xr.Variable((), np.int32(together.sizes["cycle"]), number)
    averaged["cycles_with_reserve"] = needed
    coords = {name: coord for name, coord in together.coords.items() if "cycle" not in coord.dims}
    alike = {"unlike": differences(used), "persons": persons(used)}
    return xr.Dataset(
        averaged, coords, {**common(used), **sentences, **alike, "cycles": cycle_names(together)}
    )


def _used(cycles: list[xr.Dataset], left_out: list[str]) -> list[xr.Dataset]:
    """The datasets that have cycles, if these can be averaged."""
    used = [each for each in cycles if each.sizes["cycle"]]
    if not used:
        raise InputError(
            "there is no complete gait cycle to average" + (f": {'; '.join(left_out)}" if left_out else ""),
            code="not_comparable",
            expected="frames from one heel strike of a leg to its next one",
            remedy="widen [time] of the trial if more was measured, or take incomplete cycles: partial=True, on the "
            "command line --partial",
        )
    check_once(used)
    check_alike(used)
    return used


def _averages(together: xr.Dataset) -> dict[str, xr.Variable]:
    """Every variable over its first dimension, the cycles."""
    averaged = {}
    for name, variable in together.data_vars.items():
        dims = tuple(str(dim) for dim in variable.dims if dim != "cycle")
        values = np.moveaxis(variable.values, variable.dims.index("cycle"), 0)
        for suffix, numbers in zip(("", *STATISTICS), _statistics(values), strict=True):
            attrs = {"units": "1"} if suffix == "count" else dict(variable.attrs)
            if suffix:
                attrs["long_name"] = f"{suffix} over cycles: {variable.attrs.get('long_name', name)}"
            averaged["_".join(filter(None, (str(name), suffix)))] = xr.Variable(dims, numbers, attrs)
    return averaged


def _checked(cycles: object) -> list[xr.Dataset]:
    """What was given as a list, one dataset as a list of one."""
    given = list(cycles) if isinstance(cycles, Iterable) and not isinstance(cycles, xr.Dataset) else [cycles]
    return [_cycles(each) for each in given]


def _cycles(given: object) -> xr.Dataset:
    needed = {"cycle_trial", "cycle_side", "cycle_start", "cycle_end", "percent", RESERVES}
    if isinstance(given, xr.Dataset) and "cycle" in given.dims and needed <= set(given.variables):
        return given
    raise InputError(
        f"these are no gait cycles: {type(given).__name__}",
        code="bad_type",
        expected="what gait_cycles returns, one or a list of them",
        remedy="cut the result into its cycles first: gait_cycles(result, side)",
    )


def _stacked(cycles: Sequence[xr.Dataset]) -> xr.Dataset:
    shared = set.intersection(*(set(each.data_vars) for each in cycles))
    try:
        return xr.concat(
            [each[sorted(map(str, shared))] for each in cycles],
            "cycle",
            join="exact",
            combine_attrs="override",
            coords="minimal",
            compat="override",
        )
    except ValueError as error:
        raise InputError(
            "these gait cycles do not have the same names or percentages",
            code="not_comparable",
            expected="cycles of one leg, or of both without side; the same muscles and the same number of points",
            remedy="ask for all of them in the same way: gait_cycles(result, side, without_side=True)",
        ) from error


def _statistics(values: Array) -> tuple[Array, Array, Array, Array]:
    """Mean, standard deviation, median and number over the first axis, of the values that are there."""
    there = np.isfinite(values)
    count = there.sum(axis=0)
    some, several = np.maximum(count, 1), np.maximum(count - 1, 1)
    mean = np.where(there, values, 0.0).sum(axis=0) / some
    spread = np.sqrt((np.where(there, values - mean, 0.0) ** 2).sum(axis=0) / several)
    # Zeros in all-NaN columns avoid a warning of numpy.
    median = np.nanmedian(np.where(count > 0, values, 0.0), axis=0)
    return (
        np.where(count > 0, mean, np.nan),
        np.where(count > 1, spread, np.nan),
        np.where(count > 0, median, np.nan),
        count.astype(np.int32),
    )


def common(cycles: Sequence[xr.Dataset]) -> dict[str, object]:
    """Attributes on which all of them agree."""
    first = cycles[0].attrs
    return {
        key: value
        for key, value in first.items()
        if key not in SENTENCES and all(np.array_equal(each.attrs.get(key, ()), value) for each in cycles)
    }


def _gathered(cycles: Sequence[xr.Dataset], key: str) -> list[str]:
    """The sentences that an attribute holds in each of them."""
    return [str(one) for each in cycles for one in np.atleast_1d(each.attrs.get(key, [])).tolist()]
