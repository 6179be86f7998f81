"""The command `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musclesolve.cli.printing import print_files, print_summary
from musclesolve.results.tables.lines import line

NAN = "the TimeSeriesTable of OpenSim reads them, its Storage ends before the first of them"


def export(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT.nc", help="A result: of `run`, `share`, `average` or `compare`."),
    ],
    format: Annotated[
        str | None,
        typer.Option(help="sto, mot, csv, mat or parquet; default: the suffix of the output."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The file, or a folder; default: beside the result. STO: NAME.sto gives NAME_activation.sto, "
            "NAME_force.sto, ...",
        ),
    ] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(help="A series of the result; repeatable. Default: all; STO: the six of most use."),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            help="Names, signs and axes: gait2392, rajagopal or own. Default: those of the model of the muscle set in "
            "STO and MOT files, otherwise own."
        ),
    ] = None,
) -> None:
    """Write the series of a result for OpenSim, spreadsheets, MATLAB or data frames."""
    from musclesolve.results.export import export as exporting
    from musclesolve.results.export.opensim_names import find_naming
    from musclesolve.results.files.result_netcdf import read_result

    target = exporting.target_path(result, output, format)
    loaded = read_result(result)
    paths = exporting.export(loaded, target, format, variables=variable, names=names)
    kind = target.suffix.casefold().removeprefix(".")
    print_summary(line("names", find_naming(loaded, names, kind in exporting.FOR_OPENSIM).sentence))
    if kind in exporting.FOR_OPENSIM and (missing := exporting.invalid_frames(loaded)):
        print_summary(line("note", f"{missing} frames without a valid solution are nan: {NAN}"))
    print_files(paths)
