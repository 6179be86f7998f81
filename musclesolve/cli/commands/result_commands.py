"""Commands that show and export results: `report`, `picture`, `plot` and `export`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from musclesolve.cli.options import Questions, output_option, with_settings
from musclesolve.cli.printing import print_files, print_lines, print_summary, progress
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.page.page_style import page_style
from musclesolve.laboratory.recording.command_settings import (
    CommandSettings,
    ExportSettings,
    command_arguments,
)
from musclesolve.laboratory.results.tables.lines import line

Geometry = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Folder with the .vtp, .stl or .obj files of the bones of an OpenSim model; default: Geometry beside the "
        "model.",
    ),
]


@with_settings(CommandSettings, {"norm_file": ("plot", "norm_file")})
def report(
    result: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT.nc",
            help="result.nc of `run` or `share`, and uncertainty.nc, comparison.nc, average.nc, answers to "
            "questions such as margins.nc, in any order.",
        ),
    ],
    output: Annotated[
        Path | None,
        output_option("The page, NAME.html, or a folder; default: report.html beside the result."),
    ] = None,
    geometry: Geometry = None,
    questions: Questions = None,
    **settings: Any,
) -> None:
    """Write a report: one page with verdict, figures, tables, limits and a methods paragraph, for any browser."""
    from musclesolve.laboratory.report.page import write_report

    with page_style(**settings), progress() as update:
        if questions:
            from musclesolve.studies.questions.answers import answer_results  # loads the analysis

            answer_results(result, questions, update)
        written, inputs = write_report(result, output, update, geometry)
    for trial in inputs.trials:
        if trial.changed:
            print_summary(line("warning", trial.changed))
    for path, reason in inputs.unreadable.items():
        print_summary(line("left out", f"{path}: {reason}"))
    print_files([written])


def picture(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT.nc", help="result.nc of `musclesolve run` or `musclesolve share`."),
    ],
    output: Annotated[
        Path | None,
        output_option(
            "The file: .html (needs nothing else), or .png for a still with poses, activations and verdict; or a "
            "folder; default: picture.html beside the result."
        ),
    ] = None,
    geometry: Geometry = None,
) -> None:
    """Show the subject in motion: bones, muscles colored by activation, ground and contact forces."""
    from musclesolve.laboratory.report.inputs import Changed, recording_state
    from musclesolve.laboratory.report.picture.moving_picture import save_picture
    from musclesolve.laboratory.results.files.atomic_writing import reserved
    from musclesolve.laboratory.results.files.result_netcdf import read_result

    path = output or result.parent
    path = path / "picture.html" if path.is_dir() else path
    with progress() as report, reserved(path.parent):
        missing = save_picture(result, path, progress=report, geometry=geometry)
    if isinstance(changed := recording_state(read_result(result)), Changed):
        print_summary(line("warning", changed))
    print_lines("note", missing)
    print_files([path])


@with_settings(CommandSettings, command_arguments("plot"))
def plot(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT.nc", help="result.nc or uncertainty.nc of `musclesolve run`.")
    ],
    output: Annotated[
        Path | None, output_option("Folder for the figures; default: the folder of the result.")
    ] = None,
    **settings: Any,
) -> None:
    """Draw the figures of a result as files, also for a paper; they replace the figures in the folder."""
    from musclesolve.laboratory.plotting.figure_sets import save_figures
    from musclesolve.laboratory.results.files.result_netcdf import read_result

    figures = settings.pop("figures", ())
    if output is not None and output.suffix.casefold() in (".png", ".pdf", ".svg") and not output.is_dir():
        raise input_error(
            "bad_value",
            problem=f"-o {output} is the name of a figure",
            expected="a folder, in which each figure is a file of its name",
            remedy=f"-o {output.parent}, with --format {output.suffix.casefold()[1:]}",
        )
    with page_style(**settings), progress() as report:
        paths = save_figures(read_result(result), output or result.parent, figures=figures, progress=report)
    print_files(paths)


@with_settings(CommandSettings, command_arguments("export"))
def export(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT.nc", help="A result: of `run`, `share`, `average` or `compare`.")
    ],
    output: Annotated[
        Path | None,
        output_option(
            "The file, or a folder; default: beside the result. STO: NAME.sto gives NAME_activation.sto, "
            "NAME_force.sto, ..."
        ),
    ] = None,
    **settings: Any,
) -> None:
    """Write the series of a result for OpenSim, spreadsheets, MATLAB or data frames."""
    from musclesolve.laboratory.results.export import export as exporting
    from musclesolve.laboratory.results.export.time_series import find_naming
    from musclesolve.laboratory.results.files.result_netcdf import read_result

    stated = ExportSettings(**settings)
    target = exporting.target_path(result, output, stated.format)
    loaded = read_result(result)
    paths = exporting.export(loaded, target, **settings)
    kind = target.suffix.casefold().removeprefix(".")
    print_summary(line("names", find_naming(loaded, stated.names, kind in exporting.FOR_OPENSIM).sentence))
    if note := exporting.opensim_note(loaded, kind):
        print_summary(line("note", note))
    print_files(paths)
