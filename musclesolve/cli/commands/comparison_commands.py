"""Commands that compare: costs of a trial, cycles of results, effort and EMG; and the muscles of one person by EMG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve._util.sides import BOTH
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.options import Side, Solver, TrialFile, output_option, with_settings
from musclesolve.cli.printing import finish, progress
from musclesolve.constants import AVERAGE_FILE
from musclesolve.settings.commands import CommandSettings, command_arguments

if TYPE_CHECKING:
    from rich.console import RenderableType


@with_settings(CommandSettings, command_arguments("compare"))
def compare(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for the comparison and its figures.")],
    solver: Solver = None,
    side: Side = BOTH,
    full: Annotated[
        bool, typer.Option("--full", help="Print every function group, muscle pair by pair, and EMG channel.")
    ] = False,
    **settings: Any,
) -> None:
    """Compare the muscle forces of one trial under several costs: comparison.nc, a table of agreement, figures."""
    from musclesolve.cli.result_documents import comparison_document
    from musclesolve.results.tables.comparison_tables import ComparisonFacts, summary_parts, tables
    from musclesolve.studies.compare import compare_into

    with progress() as report:
        result, paths = compare_into(output, trial, settings["costs"], solver, side, report)
    parts = (tables if full else summary_parts)(result)
    code = 0 if ComparisonFacts(result).complete else SOME_FRAMES_FAILED
    finish("compare", parts, lambda: comparison_document(result), paths, code)


@with_settings(CommandSettings, command_arguments("average"))
def average(
    result: Annotated[
        list[Path], typer.Argument(metavar="RESULT.nc...", help="Results of `musclesolve run`.")
    ],
    output: Annotated[Path, output_option("Folder for average.nc and its figures.")],
    **settings: Any,
) -> None:
    """Average the cycles of results, each leg by itself: average.nc, a table of the strides, figures."""
    from musclesolve.cli.result_documents import average_document
    from musclesolve.results.cycles.cycle_averages import average_results, stated_units
    from musclesolve.results.files.atomic_writing import reserved
    from musclesolve.results.tables.comparison_tables import remarks, table
    from musclesolve.studies.written_answer import write_answer

    with progress() as report, reserved(output):
        averaged = average_results(
            result, partial=settings["partial"], units=stated_units(settings.get("units", ()))
        )
        paths = write_answer(output, AVERAGE_FILE, "average", averaged, {}, report)

    text: list[RenderableType] = [table(averaged), *remarks(averaged)]
    failed = averaged.attrs["invalid"]
    finish("average", text, lambda: average_document(averaged), paths, SOME_FRAMES_FAILED if failed else 0)
