"""Discrete values of the curves of cycles, one row each, for statistics programs (long format).

With duration T of a phase and the curve x over it:

    mean = integral of x over the phase / T          impulse = integral of x dt = mean * T
    positive_work = integral of max(x, 0) dt          negative_work = integral of min(x, 0) dt        of a power x

so that positive and negative work add up to the integral of the power. Integrals use the trapezoidal rule over the
percentages. A phase counts if 95 % of it or more have values; integrals then scale the mean of these values.

Outcomes of a study are the stated curves and values that are compared, and the defaults.
An outcome is a curve, "joint_moment knee_flexion", or a value of it, "joint_moment knee_flexion max" (of the cycle)
or "joint_moment knee_flexion stance max", or a measure of the cycles, "stride_time" or "margin triceps_surae".
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.messages import check_known
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.errors import file_error, input_error, not_installed
from musclesolve.laboratory.results.cycles.gait_cycles import PERCENT, curves_of
from musclesolve.laboratory.results.cycles.normalization import check_cycles
from musclesolve.laboratory.results.dataset.quantities import KINDS, QUANTITIES, in_set
from musclesolve.laboratory.results.files.atomic_writing import written_whole
from musclesolve.laboratory.results.tables.lines import frame_csv

OF_CYCLE = (
    *("subject", "group", "condition", "session", "cycle_trial", "cycle_side", "cycle_start", "cycle_end"),
    *("cycle_movement", "coverage", "missing", "outlier", "counts", "cycle_leg", "plausibility"),
)
"""Coordinates of a cycle that each of its rows repeats, as far as the cycles have them."""
ENOUGH = 0.95
"""Least share of a phase that must have values."""
CYCLES_AT_ONCE = 1000
"""Number of cycles whose curves are in memory at the same time."""


def discrete_values(cycles: xr.Dataset, variables: Sequence[str] | None = None) -> pd.DataFrame:
    """Compute peaks, means, impulses and work of cycles, and measures of strides, as a table in long format.

    Args:
        cycles: what ``cycles`` returned, or the cycles of a study along ``cycle``; in the units that the
            values are to have (``normalized``).
        variables: curves, of `quantities.toml`; by default the angles, moments, powers, muscle, contact and ground
            forces that exist.

    Returns:
        A row for each cycle, variable, name, phase and measure. Columns: ``cycle`` (its number), the coordinates of
        the cycle (subject, condition, cycle_trial, cycle_side, ...), ``variable``, ``name`` ("knee_flexion"; of
        vectors "hip z", and "hip resultant", their magnitude),
        ``phase`` ("cycle", or "stance" where its end is known), ``measure`` (max, min, range, mean, impulse,
        positive_work, negative_work; "value" of a measure of the stride), ``value``, ``percent`` of the cycle where a
        peak is, else NaN, and ``unit``. The value is NaN where less than 95 % of the phase have one.

    Raises:
        InputError: a variable is not in these cycles, or no curve of a known kind.

    Examples:
        >>> cycles = ms.laboratory.cycles(ms.run(ms.data.reference_stride()), "r")
        >>> table = ms.laboratory.discrete_values(cycles, ["joint_moment"])
        >>> sorted(set(table["measure"]))
        ['impulse', 'max', 'mean', 'min', 'range', 'value']
    """
    check_cycles(cycles)
    known = [name for kind in KINDS.values() for name in kind.names]
    there = [name for name in known if name in cycles.data_vars and "percent" in cycles[name].dims]
    variables = [variables] if isinstance(variables, str) else variables
    check_known(variables or (), "curve", there, " in these cycles", where="variables")
    chosen = [name for name in in_set("values") if name in there] if variables is None else list(variables)
    parts = [
        part for name in chosen for part in _of_curves(cycles, name, KINDS[QUANTITIES[name].kind].measures)
    ] + list(_of_strides(cycles))
    columns: dict[str, Any] = {}
    if parts:
        number = np.concatenate([part["cycle"] for part in parts])
        columns["cycle"] = number
        for name in OF_CYCLE:
            if name in cycles.coords and cycles[name].dims == ("cycle",):
                values = cycles[name].values
                if values.dtype.kind in "UO":
                    texts, codes = np.unique(values.astype(str), return_inverse=True)
                    columns[name] = pd.Categorical.from_codes(codes[number], texts)
                else:
                    columns[name] = values[number]
        for name in ("variable", "name", "phase", "measure"):
            columns[name] = _categories(parts, name)
        for name in ("value", "percent"):
            columns[name] = np.concatenate([part[name] for part in parts])
        columns["unit"] = _categories(parts, "unit")
    table = pd.DataFrame(columns)
    return table.sort_values("cycle", kind="stable", ignore_index=True) if parts else table


@contextmanager
def values_file(path: Path) -> Iterator[Callable[[pd.DataFrame], object]]:
    """A file of values, CSV or Parquet, that tables are added to one by one; it appears when it is complete."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise file_error(
            "bad_format",
            path,
            f"values cannot be written as {path.suffix or 'a file without suffix'}",
            "a file that ends in .csv or .parquet",
            f"name it {path.stem}.csv",
        )
    with written_whole(path) as beside, _csv(beside) if suffix == ".csv" else _parquet(beside) as add:
        yield add


@contextmanager
def _csv(path: Path) -> Iterator[Callable[[pd.DataFrame], object]]:
    with open(path, "wb") as file:
        yield lambda table: file.write(frame_csv(table, "", 8, header=file.tell() == 0))


@contextmanager
def _parquet(path: Path) -> Iterator[Callable[[pd.DataFrame], object]]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise not_installed("Parquet files need", "pyarrow", "parquet", instead=", or take CSV") from error
    with ExitStack() as stack:
        writers: list[Any] = []

        def add(table: pd.DataFrame) -> None:
            texts = dict.fromkeys(table.select_dtypes("category"), str)
            rows = pa.Table.from_pandas(table.astype(texts), preserve_index=False)
            if not writers:
                writers.append(stack.enter_context(parquet.ParquetWriter(path, rows.schema)))
            writers[0].write_table(rows)

        yield add


def _of_curves(cycles: xr.Dataset, name: str, measures: Sequence[str]) -> Iterator[dict[str, AnyArray | str]]:
    """Yield rows of one variable, some cycles at a time: by phase and measure the rows of all names and cycles."""
    cube = cycles[name].transpose("cycle", "percent", ...)
    dims = [str(dim) for dim in cube.dims if dim not in ("cycle", "percent")]
    shape = [cube.sizes[dim] for dim in dims]
    names = np.array(
        [
            " ".join(str(cube[dim].values[k]) for dim, k in zip(dims, place, strict=True))
            for place in np.ndindex(*shape)
        ]
    )
    vectors = dims[-1:] == ["axis"]
    if vectors:
        names = np.concatenate(
            [names, [f"{name.rpartition(' ')[0]} resultant".strip() for name in names[:: shape[-1]]]]
        )
    unit = str(cube.attrs.get("units", ""))
    percent = np.asarray(cycles["percent"].values, dtype=float)
    time = np.asarray((cycles["cycle_end"] - cycles["cycle_start"]).values, dtype=float)
    ends = {CYCLE: np.full(time.size, 100.0)}
    if "stance_percent" in cycles:
        ends[STANCE] = np.asarray(cycles["stance_percent"].values, dtype=float)
    for first in range(0, time.size, CYCLES_AT_ONCE):
        rows = np.arange(first, min(first + CYCLES_AT_ONCE, time.size))
        values = np.asarray(cube[rows].values, dtype=float).reshape(rows.size, percent.size, -1)
        if vectors:
            parts = values.reshape(rows.size, percent.size, -1, shape[-1])
            values = np.concatenate([values, np.linalg.norm(parts, axis=3)], axis=2)
        for phase, every in ends.items():
            known = np.isfinite(every[rows])
            picked, end = rows[known], every[rows][known]
            result = _measured(values[known], percent, end, 0.01 * end * time[picked], measures)
            for measure, (numbers, at) in result.items():
                yield {
                    "cycle": np.repeat(picked, names.size),
                    "variable": name,
                    "name": np.tile(names, picked.size),
                    "phase": phase,
                    "measure": measure,
                    "unit": _unit(unit, measure),
                    "value": numbers.ravel(),
                    "percent": at.ravel(),
                }


def _measured(
    values: Array, percent: Array, end: Array, time: Array, measures: Sequence[str]
) -> dict[str, tuple[Array, Array]]:
    """Measures (C, K) of curves (C, P, K) from 0 to an end (C,) [%] of duration `time` (C,) [s], and their places."""
    inside: Mask = percent <= end[:, None] + 1e-9
    within = (inside[:, 1:] & inside[:, :-1])[..., None]
    pieces = np.isfinite(values[:, 1:]) & np.isfinite(values[:, :-1]) & within
    count = pieces.sum(axis=1)
    enough = count >= ENOUGH * np.maximum(within.sum(axis=1), 1)
    nowhere = np.full(enough.shape, np.nan)

    def mean(curve: Array) -> Array:
        middle = np.where(pieces, 0.5 * (curve[:, 1:] + curve[:, :-1]), 0.0)
        return np.asarray(middle.sum(axis=1) / np.maximum(count, 1))

    def peak(sign: float) -> tuple[Array, Array]:
        held = np.where(inside[..., None] & np.isfinite(values), sign * values, -np.inf)
        place = held.argmax(axis=1)
        return sign * np.take_along_axis(held, place[:, None], axis=1)[:, 0], percent[place]

    values_at: dict[str, tuple[Array, Array]] = {}
    for measure in measures:
        if measure in ("max", "min"):
            values_at[measure] = peak(1.0 if measure == "max" else -1.0)
        elif measure == "range":
            values_at[measure] = peak(1.0)[0] - peak(-1.0)[0], nowhere
        elif measure == "mean":
            values_at[measure] = mean(values), nowhere
        else:
            part = {"positive_work": np.maximum, "negative_work": np.minimum}.get(measure)
            curve = values if part is None else part(values, 0.0)
            values_at[measure] = mean(curve) * time[:, None], nowhere
    return {
        measure: (np.where(enough, number, np.nan), np.where(enough, at, np.nan))
        for measure, (number, at) in values_at.items()
    }


def _unit(unit: str, measure: str) -> str:
    """Unit of a measure: N m/kg -> N m s/kg for an impulse, W/kg -> J/kg for work."""
    over, slash, under = unit.partition("/")
    if measure == "impulse":
        return f"{over} s{slash}{under}"
    return unit.replace("W", "J") if measure.endswith("work") else unit


def _of_strides(cycles: xr.Dataset) -> Iterator[dict[str, AnyArray | str]]:
    """Yield rows of quantities with one number for a cycle, or one for each name: stride time, margin of a group."""
    count = cycles.sizes["cycle"]
    for name, variable in cycles.data_vars.items():
        if variable.dims[:1] != ("cycle",) or not np.issubdtype(variable.dtype, np.floating):
            continue
        for label, values in curves_of(variable) if "percent" not in variable.dims else ():
            yield {
                "cycle": np.arange(count),
                "variable": str(name),
                "name": np.full(count, label if len(variable.dims) > 1 else ""),
                "phase": CYCLE,
                "measure": "value",
                "unit": str(variable.attrs.get("units", "")),
                "value": np.asarray(values.values, dtype=float),
                "percent": np.full(count, np.nan),
            }


def _categories(parts: Sequence[dict[str, Any]], name: str) -> pd.Categorical:
    """Make a column of few different texts, from parts with one text for all rows or one for each row."""
    places: dict[str, int] = {}
    codes = []
    for part in parts:
        texts, count = part[name], len(part["cycle"])
        if isinstance(texts, str):
            codes.append(np.full(count, places.setdefault(texts, len(places)), dtype=np.int32))
        else:
            unique, inverse = np.unique(texts, return_inverse=True)
            numbers = np.array([places.setdefault(str(text), len(places)) for text in unique], dtype=np.int32)
            codes.append(numbers[inverse])
    return pd.Categorical.from_codes(np.concatenate(codes), list(places))


PHASES = CYCLE, STANCE = "cycle", "stance"
STRIDE = "value"
MEASURES = tuple(dict.fromkeys(measure for kind in KINDS.values() for measure in kind.measures))
ARM = ("arm", "girdle", "shoulder", "elbow", "wrist", "hand", "pro_sup", "radioulnar", "radius_", "finger")
"""Parts of the names of degrees of freedom and joints of arms and shoulder girdles."""


@dataclass(frozen=True)
class Outcome:
    """An outcome: a curve, or one number for each subject, that is compared."""

    variable: str
    name: str

    def __str__(self) -> str:
        return self.variable if self.name == self.variable else f"{self.variable} {self.name}"


def is_number_of_cycle(name: str) -> bool:
    """Whether a quantity has no percentages: one number of a cycle (stride_time), or of each name (margin)."""
    quantity = QUANTITIES.get(name)
    if quantity is None:
        return False
    of_answer = bool(quantity.answer) and quantity.dims in (("of",), ("side",))
    return of_answer or quantity.dims in ((), ("stride",), ("cycle",))


def value_of(text: str) -> tuple[str, str, str, str] | None:
    """Variable, name, phase and measure of an outcome that is a value; None where it is a curve or cannot be read."""
    words = text.split()
    if words and is_number_of_cycle(words[0]):
        return words[0], " ".join(words[1:]), CYCLE, STRIDE
    if len(words) < 2 or words[-1] not in MEASURES:
        return None
    rest, phase = words[1:-1], CYCLE
    if rest and rest[-1] in PHASES:
        phase = rest.pop()
    return words[0], " ".join(rest) or words[0], phase, words[-1]


def matching(means: xr.Dataset, stated: Sequence[str]) -> list[Outcome]:
    """Find the stated outcomes among the means of subjects; values are variables without percentages."""
    known = {}
    for name, variable in means.data_vars.items():
        if str(name) in stated and PERCENT not in variable.dims:
            known[str(name)] = Outcome(str(name), str(name))
        elif PERCENT in variable.dims:
            known |= {
                str(Outcome(str(name), label)): Outcome(str(name), label) for label, _ in curves_of(variable)
            }
    for text in stated:
        if text not in known:
            curves = [name for name in known if name.split()[0] in QUANTITIES]  # no spreads
            raise input_error(
                "unknown_name",
                where="[design] outcomes",
                problem=f"there is no curve or value {text!r}",
                expected="a curve (joint_moment knee_flexion), a value of it (joint_moment "
                "knee_flexion max), a measure of the cycles (stride_time)",
                remedy=suggestion(text, curves) or f"such as {next(iter(curves), 'none')}",
            )
    return [known[text] for text in stated]


def with_values(
    means: xr.Dataset, stated: Sequence[str], values: pd.DataFrame, legs: Sequence[str] = ()
) -> xr.Dataset:
    """Add the outcomes that are values to the means of subjects, as variables over subject and condition (and leg).

    Args:
        means: as `subject_means` returns them.
        stated: outcomes.
        values: mean of each value over the cycles of a subject in a condition (column ``value``), with ``leg`` where
            legs are separate.
        legs: names of the legs, in order.
    """
    wanted = {text: of for text in stated if (of := value_of(text)) is not None}
    if not wanted or values.empty:
        return means
    over = ["subject", "condition", *["leg"] * bool(legs)]
    order = {
        "subject": [str(name) for name in means["subject"].values],
        "condition": [str(name) for name in means["condition"].values],
        "leg": list(legs),
    }
    cubes = {}
    for text, (variable, name, phase, measure) in wanted.items():
        rows = values[
            (values["variable"] == variable)
            & (values["phase"] == phase)
            & (values["measure"] == measure)
            & values["name"].isin({name, ""} if name == variable else {name})
        ]
        if rows.empty:
            continue
        table = rows.groupby(over, sort=False)["value"].mean().to_xarray()
        cube = table.reindex({dim: order[dim] for dim in over}).transpose(*over).values
        cubes[text] = (over, cube, {"units": str(rows["unit"].iloc[0])})
    return means.assign(cubes)


def without_arms_and_empty(
    means: xr.Dataset, variables: Sequence[str]
) -> tuple[dict[str, list[str]], list[str]]:
    """Names of the labels that are compared in each variable, and notes on those that are left out.

    Curves of arms are left out if there are curves of legs; also curves without a value, and curves that are zero
    everywhere: locked coordinates, muscles that are silent in all subjects.
    """
    kept, arms, empty = dict[str, list[str]](), dict[str, None](), dict[str, None]()
    for variable in variables:
        array = means[variable]
        curves = dict(curves_of(array))
        of_legs = any(joint in name for name in curves for joint in LEG_JOINTS)
        for name, curve in curves.items():
            if not np.nan_to_num(curve.values).any():
                empty[f"{variable} {name}" if name != variable else name] = None
            elif of_legs and "muscle" not in array.dims and any(part in name.lower() for part in ARM):
                arms[name] = None
            else:
                kept.setdefault(variable, []).append(name)
    notes = []
    if arms:
        how = "name their curves as outcomes to compare them"
        notes.append(f"arms and shoulder girdles are not compared: {', '.join(arms)}; {how}")
    if empty:
        notes.append(f"curves without values, or zero in everyone, are not compared: {', '.join(empty)}")
    return kept, notes
