"""Results as files of other programs, one function for each format; wide tables with units in header or metadata."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from musclesolve._util.arrays import AnyArray, slices
from musclesolve._util.messages import check_known
from musclesolve.errors import file_error, input_error, not_installed
from musclesolve.laboratory.results.cycles.discrete_values import values_file
from musclesolve.laboratory.results.dataset.quantities import with_formulas
from musclesolve.laboratory.results.export.time_series import (
    Naming,
    abscissa_of,
    check_layout,
    chosen,
    columns,
    find_naming,
    flag_names,
    labels,
    mot_files,
    sto_files,
)
from musclesolve.laboratory.results.files.atomic_writing import Content, text_content, write_files
from musclesolve.laboratory.results.files.result_netcdf import FRAMES, read_result
from musclesolve.laboratory.results.tables.lines import csv_lines
from musclesolve.tables.text_file import file_path

ARMS = "moment_arm"
Column = tuple[str, str, AnyArray]
BLOCK = 500
"""Number of frames whose columns are made together."""
"""Name, unit, values (T,)."""


def wide_columns(
    result: xr.Dataset, variables: Sequence[str] | None, naming: Naming, without: Collection[str] = ()
) -> Iterator[Column]:
    """Time or percentage first, then the columns of each variable, "activation.soleus_r"; without: left out."""
    over = abscissa_of(result)
    yield over, str(result[over].attrs.get("units", "%" if over == "percent" else "s")), result[over].values
    known: set[str] = set()
    for variable in chosen(result, variables):
        table = columns(result, variable, naming)
        values = flag_names(result, table.values) if variable == "status" else table.values
        for k, name in enumerate(table.names):
            if name in known:
                raise input_error(
                    "duplicate_name",
                    problem=f"two columns would be called {name!r}",
                    expected="every name once",
                    remedy="--names own",
                )
            known.add(name)
            if name not in without:
                yield name, table.unit, values[:, k]


def wide_blocks(
    result: xr.Dataset, variables: Sequence[str] | None, naming: Naming, size: int = BLOCK
) -> Iterator[list[Column]]:
    """The columns of `wide_columns` in some frames after the others: all frames are too large for memory."""
    over = abscissa_of(result)
    without = _zero_arms(result, naming) if ARMS in chosen(result, variables) else set[str]()
    return (
        list(wide_columns(result.isel({over: block}), variables, naming, without))
        for block in slices(result.sizes[over], size)
    )


def _zero_arms(result: xr.Dataset, naming: Naming) -> set[str]:
    """The columns of moment arms that are zero in every frame: the muscle does not cross the joint."""
    over, names, some = abscissa_of(result), list[str](), np.zeros(1, bool)
    for block in slices(result.sizes[over], BLOCK):
        table = columns(result.isel({over: block}), ARMS, naming)
        names, some = table.names, some | (table.values != 0.0).any(axis=0)
    return {name for name, crosses in zip(names, some, strict=True) if not crosses}


def csv_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, Content]:
    """A CSV table with a row per frame and a column per series, "joint_moment.knee_flexion_r [N m]"; NaN is empty."""
    blockwise = wide_blocks(result, variables, naming)
    first = next(blockwise)

    def rows() -> Iterator[Iterable[object]]:
        yield [f"{name} [{unit}]" for name, unit, _ in first]
        for series in chain([first], blockwise):
            yield from zip(*(map(_cell, values.tolist()) for _, _, values in series), strict=True)

    return {path.name: text_content(csv_lines(rows()))}


def _cell(value: object) -> object:
    """A cell of a table: numbers with enough digits to restore them, flags as 1 or 0, nothing for NaN."""
    if isinstance(value, bool):
        return int(value)
    return "" if value != value else value


def parquet_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, Content]:
    """The columns of `csv_files`, each with its unit, and the attributes of the result as JSON, in the metadata."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise not_installed(
            "Parquet files need", "pyarrow", "parquet", instead=", or --format csv"
        ) from error
    attributes = {key: np.asarray(value).tolist() for key, value in result.attrs.items()}
    metadata = {"musclesolve": json.dumps(attributes), "names": naming.sentence}

    def table(series: list[Column]) -> Any:
        arrays = [
            pyarrow.array(values.tolist() if values.dtype.kind == "O" else values.copy())
            for _, _, values in series
        ]
        fields = [
            pyarrow.field(name, array.type, metadata={"unit": unit})
            for (name, unit, _), array in zip(series, arrays, strict=True)
        ]
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields, metadata=metadata))

    blockwise = map(table, wide_blocks(result, variables, naming, FRAMES))
    first = next(blockwise)

    def write(file: Path) -> None:
        with parquet.ParquetWriter(file, first.schema) as writer:
            for block in chain([first], blockwise):
                writer.write_table(block)

    return {path.name: write}


LONGEST_NAME = 63
"""Longest name of a variable in MATLAB."""
_OTHER = re.compile(r"\W", re.ASCII)


def mat_files(
    result: xr.Dataset, path: Path, variables: Sequence[str] | None, naming: Naming
) -> dict[str, Content]:
    """One MAT file, version 5: `time` (T, 1), and each variable as a structure with a (T, 1) field for each name.

    moment_arm.knee_flexion_r.soleus_r; `names` holds the names along each dimension, `units` the unit of each variable,
    `provenance` the attributes; texts are cell arrays. Letters that MATLAB does not allow become "_".
    """
    from scipy.io import savemat  # imported only for MAT files

    over = abscissa_of(result)
    content: dict[str, Any] = {over: np.reshape(result[over].values, (-1, 1))}
    units, names = {}, {}
    for variable in chosen(result, variables):
        table = columns(result, variable, naming)
        values = flag_names(result, table.values) if variable == "status" else table.values
        tree: dict[str, Any] = {}
        for k, label in enumerate(table.labels):
            _put(tree, [variable, *label.values()], values[:, k : k + 1])
        content |= tree
        units[_field(variable)] = table.unit
        for dim in table.labels[0] if table.labels else ():
            names[_field(dim)] = _cells(dict.fromkeys(label[dim] for label in table.labels))
    names |= {over: _cells(labels(result, over))} if over == "percent" else {}
    provenance = {_field(key): _attribute(value) for key, value in result.attrs.items()}
    stated = provenance | {"names_and_signs": naming.sentence}
    content |= {"names": names, "units": units, "provenance": stated}

    def write(file: Path) -> None:
        with file.open("wb") as stream:
            savemat(stream, content, long_field_names=True)

    return {path.name: write}


def _put(tree: dict[str, Any], place: list[str], values: Any) -> None:
    """Store values under nested names."""
    *parents, last = map(_field, place)
    for name in parents:
        tree = tree.setdefault(name, {})
    if last in tree:
        raise input_error(
            "duplicate_name",
            problem=f"two series would be called {'.'.join(map(str, place))} in MATLAB",
            expected="names that differ in letters and digits",
            remedy="--format csv",
        )
    tree[last] = values


def _field(name: str) -> str:
    """A name that MATLAB allows: letters, digits and _, a letter first."""
    name = _OTHER.sub("_", name)
    return (name if name[:1].isalpha() else f"x{name}")[:LONGEST_NAME]


def _cells(texts: Iterable[str]) -> Any:
    """A column cell array of texts."""
    listed = list(texts)
    cells = np.empty((len(listed), 1), dtype=object)
    cells[:, 0] = listed
    return cells


def _attribute(value: Any) -> Any:
    """Convert an attribute for MATLAB: a list of texts becomes a cell array, other values are unchanged."""
    array = np.asarray(value)
    if array.ndim and array.dtype.kind in "UO":
        return _cells(map(str, array.ravel().tolist()))
    return value


Writer = Callable[[xr.Dataset, Path, Sequence[str] | None, Naming], dict[str, Content]]

FORMATS: dict[str, Writer] = {
    "sto": sto_files,
    "mot": mot_files,
    "csv": csv_files,
    "mat": mat_files,
    "parquet": parquet_files,
}
"""Format, which is the suffix of its files -> contents of files by name."""
FOR_OPENSIM = ("sto", "mot")


def export(
    result: xr.Dataset | pd.DataFrame | str | Path,
    path: str | Path,
    format: str | None = None,
    *,
    variables: Sequence[str] | None = None,
    names: str | None = None,
) -> list[Path]:
    """Write the series of a result for another program; all files appear, complete, or none.

    Args:
        result: of `run`, `share`, `average`, `compare`, or the path of its file; or the table of `discrete_values`, as
            CSV or Parquet.
        path: of the file; for STO files with several variables the beginning of their names: walk.sto gives
            walk_activation.sto, walk_force.sto, ...
        format: "sto" (a file for each variable), "mot" (joint angles in degrees), "csv" (one table, units in its
            header), "mat" (nested structures), "parquet" (needs pyarrow); None: by the suffix of the path.
        variables: names of series; None: the series listed in `sto_files`, all in the other formats.
        names: "gait2392", "rajagopal": muscles, coordinates, signs and axes of this OpenSim model; "own": the names of
            this project; None: the names of the muscle set's model in STO and MOT files, otherwise "own".

    Returns:
        The files.

    Raises:
        InputError: an unknown format, series or naming; a dataset that is no result; nowhere to write.

    Examples:
        >>> result = ms.run(ms.data.reference_stride())
        >>> [path.name for path in ms.export(result, "walk.csv")]
        ['walk.csv']
    """
    path = file_path(path)
    if isinstance(result, pd.DataFrame):
        if variables is not None or names is not None or format not in (None, path.suffix.lower()[1:]):
            raise file_error(
                "conflict",
                path,
                "a table of values is written as it is, in the format of the suffix",
                "no variables, no names, and no other format",
            )
        with values_file(path) as add:
            add(result)
        return [path]
    loaded = result if isinstance(result, xr.Dataset) else read_result(result)
    # the requested format, or the format of the suffix of the path; the two must agree
    suffix = path.suffix.casefold().removeprefix(".")
    kind = suffix if format is None else format
    check_known([kind], "format", FORMATS, where="--format" if format else str(path))
    if suffix != kind:
        raise file_error(
            "conflict",
            path,
            f"the name ends in '{path.suffix}', the format is {kind}",
            f"a name that ends in .{kind}",
            f"-o {path.stem}.{kind}",
        )
    naming = find_naming(loaded, names, kind in FOR_OPENSIM)
    check_layout(loaded, naming)
    loaded = with_formulas(loaded, "export")
    if variables is not None:
        variables = chosen(loaded, [variables] if isinstance(variables, str) else variables)
    return write_files(path.parent, FORMATS[kind](loaded, path, variables, naming))


def opensim_note(result: xr.Dataset, kind: str) -> str | None:
    """The sentence on frames that are nan in the files of a format; None where there are none, or not for OpenSim."""
    missing, why = 0, ""
    if kind == "sto" and "valid" in result and "side" in result["valid"].dims:
        missing, why = int((~result["valid"].astype(bool)).any("side").sum()), " without a valid solution"
    elif kind == "mot" and "joint_angle" in result:
        missing = int(result["joint_angle"].isnull().any("dof").sum())
    if not missing:
        return None
    return (
        f"{missing} frames{why} are nan: the TimeSeriesTable of OpenSim reads them, its Storage ends before the first "
        "of them; a shorter time range (--start, --end of run and share), or fewer sides, leaves them out"
    )


def target_path(result: Path, output: Path | None, format: str | None) -> Path:
    """Path of the file that a command writes: as named, or with the name of the result, beside it or in a folder."""
    if output is not None and output.suffix and not output.is_dir():
        return output
    if format is None:
        fault = "no format is given"
        expected = f"one of {', '.join(map(str, FORMATS))}"
        remedy = "--format sto, or -o with a name that ends in .sto"
        raise input_error("missing_argument", where="export", problem=fault, expected=expected, remedy=remedy)
    check_known([format], "format", FORMATS, where="--format")
    return (output or result.parent) / f"{result.stem}.{format}"
