"""Commands beyond a single run: `compare`, `benchmark`, `plot` and `average`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve.cli import page_options
from musclesolve.cli.completion import cost_names, solver_names
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.finishing import finish
from musclesolve.cli.options import Side, Sides, Solver, TrialFile
from musclesolve.cli.printing import print_files
from musclesolve.cli.progress_bar import progress
from musclesolve.plotting.page.page_style import A4_PAGE, page_style

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType


def compare(
    trial: TrialFile,
    cost: Annotated[
        list[str],
        typer.Option(help="A cost function; give the option twice or more.", autocompletion=cost_names),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the comparison and its figures.")
    ],
    solver: Solver = None,
    side: Sides = Side.both,
    full: Annotated[
        bool, typer.Option("--full", help="Print every function group, muscle pair by pair, and EMG channel.")
    ] = False,
) -> None:
    """Compare the muscle forces of one trial under several costs: comparison.nc, a table of agreement, figures."""
    from musclesolve.plotting.study.comparison_figures import FILES, comparison_files
    from musclesolve.recording.trial import trial_file
    from musclesolve.results.comparison_facts import agreement_csv
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import check_folder, check_inputs, netcdf_bytes
    from musclesolve.studies import compare as comparison

    with progress() as report, reserved(output):
        check_folder(output, "comparison.nc", trial)
        loaded = trial_file.read_trial(trial)
        check_inputs(loaded.files.values(), output, ["agreement.csv"])
        result = comparison.compare(loaded, cost, solver, side.value, progress=report)
        files = {"comparison.nc": netcdf_bytes(result), **comparison_files(result, report)}
        files["agreement.csv"] = agreement_csv(result)
        report("writing", 1.0)
        paths = write_files(output, files, FILES)
    _finish_comparison(result, paths, full)


def _finish_comparison(result: xr.Dataset, paths: list[Path], full: bool) -> None:
    from musclesolve.results.comparison_facts import ComparisonFacts
    from musclesolve.results.tables.comparison_tables import summary_parts, tables

    def document() -> dict[str, Any]:
        from musclesolve.cli.documents.result_documents import comparison_document

        return comparison_document(result)

    parts = tables if full else summary_parts
    failed = ComparisonFacts(result).any_failed
    finish("compare", parts(result), document, paths, SOME_FRAMES_FAILED if failed else 0)


def benchmark(
    trial: Annotated[
        Path | None,
        typer.Argument(metavar="TRIAL.toml", help="The trial file; default: the bundled reference stride."),
    ] = None,
    frames: Annotated[int, typer.Option(help="Maximum number of frames per solver.")] = 10_000,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            help="A cost function; repeatable; default: three smooth ones and min_max.",
            autocompletion=cost_names,
        ),
    ] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option(help="A solver; repeatable; default: all.", autocompletion=solver_names),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the tables as CSV.")
    ] = None,
) -> None:
    """Measure the solvers side by side on this machine, and the latency of one frame."""
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.studies.benchmark import benchmark as study

    with nullcontext() if output is None else reserved(output):
        with progress() as update:
            found = study.benchmark(trial, frames, tuple(cost or ()), tuple(solver or ()), update)
        paths = [] if output is None else write_files(output, study.files(found))

    def document() -> dict[str, Any]:
        from musclesolve.cli.documents.result_documents import benchmark_document

        return benchmark_document(found)

    text: list[RenderableType] = [study.machine_line(found), study.COLUMN_MEANING, *study.tables(found)]
    finish("benchmark", text, document, paths)


def plot(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT.nc", help="result.nc or uncertainty.nc of `musclesolve run`.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the figures; default: that of the result."),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(help="Name of a figure, such as activations; repeatable; default: all."),
    ] = None,
    file_format: page_options.Format = page_options.FileFormat.png,
    width: page_options.Width = A4_PAGE.width_mm,
    font: page_options.Font = A4_PAGE.font_pt,
    titles: page_options.Titles = True,
    norms: page_options.Norms = True,
) -> None:
    """Draw the figures of a result again, also for a paper; they replace those of the folder, of whatever format."""
    from musclesolve.plotting.figure_sets import figures_again
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import read_result

    loaded, folder = read_result(result), output or result.parent
    with (
        page_style(page_options.style(file_format, width, font, titles, norms)),
        progress() as report,
        reserved(folder),
    ):
        figures, outdated = figures_again(loaded, report, figure or ())
        report("writing", 1.0)
        paths = write_files(folder, figures, outdated)
    print_files(paths)


def average(
    result: Annotated[
        list[Path], typer.Argument(metavar="RESULT.nc...", help="Results of `musclesolve run`.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for average.nc and its figures.")],
    partial: Annotated[
        bool, typer.Option("--partial", help="Include gait cycles of which the frames cover less than 95 %.")
    ] = False,
) -> None:
    """Average the gait cycles of results, each leg by itself: average.nc, a table of the strides, figures."""
    from musclesolve.plotting.study.average_figures import average_files
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import netcdf_bytes
    from musclesolve.results.tables.average_table import remarks, table
    from musclesolve.studies.average import average_results

    with progress() as report, reserved(output):
        averaged = average_results(result, partial=partial)
        files = {"average.nc": netcdf_bytes(averaged), **average_files(averaged, report)}
        report("writing", 1.0)
        paths = write_files(output, files)

    def document() -> dict[str, Any]:
        from musclesolve.cli.documents.result_documents import average_document

        return average_document(averaged)

    text: list[RenderableType] = [table(averaged), *remarks(averaged)]
    failed = averaged.attrs["invalid"]
    finish("average", text, document, paths, SOME_FRAMES_FAILED if failed else 0)
