"""Commands that compute trials: `demo` and `run`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve.cli import page_options
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.finishing import finish
from musclesolve.cli.options import Cost, Output, Side, Sides, Solver
from musclesolve.cli.printing import complain
from musclesolve.cli.progress_bar import progress
from musclesolve.data.bundled import reference_stride
from musclesolve.plotting.page.page_style import A4_PAGE, page_style

if TYPE_CHECKING:
    import xarray as xr
    from rich.table import Table


def demo(output: Output = Path("demo-output")) -> None:
    """Compute the bundled reference stride, end to end."""
    analyse("demo", reference_stride(), output)


def run(
    trial: Annotated[
        list[Path], typer.Argument(metavar="TRIAL.toml...", help="Trial files, or folders of trial files.")
    ],
    output: Output,
    cost: Cost = None,
    solver: Solver = None,
    side: Sides = Side.both,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures.")] = True,
    jobs: Annotated[
        int | None, typer.Option(help="Number of trials computed at a time; default: one per core.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Compute on a cluster: address of a dask.distributed scheduler.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Recompute trials whose result is up to date.")
    ] = False,
    uncertainty: Annotated[
        int | None,
        typer.Option(min=2, help="Number of Monte Carlo samples over the sources of error: uncertainty.nc."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers of the samples.")] = 0,
    file_format: page_options.Format = page_options.FileFormat.png,
    width: page_options.Width = A4_PAGE.width_mm,
    font: page_options.Font = A4_PAGE.font_pt,
) -> None:
    """Compute the muscle forces of one trial: result.nc, figures and a printed summary.

    With several trials, a folder, --jobs, --scheduler or --again: each trial in a folder of its own, and trials.csv.

    Results of the same input, options and version are kept; a trial that fails does not stop the others.
    """
    options = {"cost": cost, "solver": solver, "side": side.value}
    many = len(trial) > 1 or os.path.isdir(trial[0]) or jobs is not None or scheduler is not None or again
    with page_style(page_options.style(file_format, width, font)):
        if many and uncertainty is None:
            analyse_many(trial, output, figures, options, jobs=jobs, scheduler=scheduler, again=again)
        elif many:
            raise typer.BadParameter(
                "--uncertainty is for one trial, without --jobs, --scheduler and --again"
            )
        else:
            analyse("run", trial[0], output, figures, uncertainty, seed, **options)


def analyse(
    command: str,
    trial: Path,
    output: Path,
    figures: bool = True,
    samples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> None:
    """Read, compute, write, summarise; ends with exit code 3 where frames have no valid solution."""
    from musclesolve.studies.many_trials.one_trial import analyse as compute

    given = {key: value for key, value in options.items() if value is not None}
    with progress() as report:
        further = []
        if samples is not None:
            from musclesolve.studies.uncertainty.monte_carlo import UncertaintyFiles

            further.append(UncertaintyFiles(samples, seed, figures, given, report))
        result, paths = compute(trial, output, given, figures, report, *further)
    finish_result(command, result, paths, further[0].found if further else None)


def finish_result(
    command: str, result: xr.Dataset, paths: list[Path], uncertainty: xr.Dataset | None = None
) -> None:
    """Summarise a result, with its uncertainty where that is known."""
    from musclesolve.results.facts import Facts
    from musclesolve.results.tables.run_summary import summary, uncertainty_summary

    def document() -> dict[str, Any]:
        from musclesolve.cli.documents.result_documents import run_document

        return run_document(result, uncertainty)

    def text() -> Iterator[str]:
        yield summary(result)
        if uncertainty is not None:
            yield uncertainty_summary(uncertainty)

    finish(command, text(), document, paths, SOME_FRAMES_FAILED if Facts(result).any_failed else 0)


def analyse_many(
    trials: list[Path], output: Path, figures: bool, options: dict[str, Any], **how: Any
) -> None:
    """Compute trials side by side and report the outcome of each; exit code 2 where none could be read."""
    from musclesolve.cli.tables import trial_table as tables
    from musclesolve.studies.many_trials import run_many

    def document() -> dict[str, Any]:
        from musclesolve.cli.documents.result_documents import many_trials_document

        return many_trials_document(records)

    def text() -> Iterator[Table | str]:
        yield tables.table(records)
        yield from tables.remarks(records, output)

    with progress() as report:
        records = run_many.run_many(trials, output, figures=figures, progress=report, **options, **how)
    for record in records:
        if record.message:
            complain(f"{record.name}: {record.message}")
    finish("run", text(), document, code=tables.exit_code(records))
