"""Results as files of other programs, one function for each format."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import xarray as xr

from musclesolve._util.names import check_known
from musclesolve.errors import file_error, input_error
from musclesolve.recording.text.text_file import file_path
from musclesolve.results.cycles.discrete_values import values_file
from musclesolve.results.dataset.quantities import with_formulas
from musclesolve.results.export.opensim_files import mot_files, sto_files
from musclesolve.results.export.table_files import csv_files, mat_files, parquet_files
from musclesolve.results.export.time_series import Naming, check_layout, chosen, find_naming
from musclesolve.results.files.atomic_writing import Content, write_files
from musclesolve.results.files.result_netcdf import read_result

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
        "of them; a time range in [time] of the trial, or fewer sides, leaves them out"
    )


def target_path(result: Path, output: Path | None, format: str | None) -> Path:
    """Path of the file that a command writes: the named file, or the name of the result beside it or in a folder."""
    if output is not None and output.suffix and not output.is_dir():
        return output
    if format is None:
        raise input_error(
            "missing_argument",
            where="export",
            problem="no format is given",
            expected=f"one of {', '.join(map(str, FORMATS))}",
            remedy="--format sto, or -o with a name that ends in .sto",
        )
    check_known([format], "format", FORMATS, where="--format")
    if output is not None and not output.is_dir():
        return output.with_name(f"{output.name}.{format}")
    return (output or result.parent) / f"{result.stem}.{format}"
