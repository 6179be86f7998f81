"""Wide tables of a result: CSV with units in the header, Parquet with units in the metadata."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve.errors import InputError
from musclesolve.results.export.opensim_names import Naming
from musclesolve.results.export.time_series import abscissa_of, chosen, columns, status_names
from musclesolve.results.tables.lines import csv_text

Column = tuple[str, str, AnyArray]
"""Name, unit, values (T,)."""


def wide_columns(result: xr.Dataset, variables: Sequence[str] | None, naming: Naming) -> Iterator[Column]:
    """Time or percentage first, then the columns of each variable, "activation.soleus_r".

    Raises:
        InputError: a name stands twice.
    """
    over = abscissa_of(result)
    yield over, str(result[over].attrs.get("units", "%" if over == "percent" else "s")), result[over].values
    known: set[str] = set()
    for variable in chosen(result, variables):
        found = columns(result, variable, naming)
        values = status_names(result, found.values) if variable == "status" else found.values
        for k, name in enumerate(found.names):
            if name in known:
                raise InputError(
                    f"two columns would be called {name!r}",
                    code="duplicate_name",
                    expected="every name once",
                    remedy="--names own",
                )
            known.add(name)
            yield name, found.unit, values[:, k]


def csv_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, bytes]:
    """A row per frame, a column per series, "joint_moment.knee_flexion_r [N m]"; empty where there is no number."""
    found = list(wide_columns(result, variables, naming))
    heading = [f"{name} [{unit}]" for name, unit, _ in found]
    rows = zip(*(map(_cell, values.tolist()) for _, _, values in found), strict=True)
    return {path.name: csv_text([heading, *rows]).encode()}


def _cell(value: object) -> object:
    """A number in as many digits as give it again, a flag as 1 or 0."""
    if isinstance(value, bool):
        return int(value)
    return "" if isinstance(value, float) and np.isnan(value) else value


def parquet_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, bytes]:
    """The columns of `csv_files`, each with its unit, and the attributes of the result as JSON, in the metadata.

    Raises:
        InputError: the package pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            "Parquet files need the package pyarrow, which is not installed",
            code="missing_package",
            remedy='pip install "musclesolve[parquet]", or --format csv',
        ) from error
    fields, arrays = [], []
    for name, unit, values in wide_columns(result, variables, naming):
        array = pyarrow.array(values.tolist() if values.dtype.kind == "O" else values)
        fields.append(pyarrow.field(name, array.type, metadata={"unit": unit}))
        arrays.append(array)
    attributes = {key: np.asarray(value).tolist() for key, value in result.attrs.items()}
    metadata = {"musclesolve": json.dumps(attributes), "names": naming.sentence}
    table = pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields, metadata=metadata))
    content = io.BytesIO()
    parquet.write_table(table, content)
    return {path.name: content.getvalue()}
