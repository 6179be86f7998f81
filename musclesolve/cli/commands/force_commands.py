"""Commands that compute muscle forces: `demo`, `run` and `share`; and `verify` for forces of other programs."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from musclesolve._util.sides import BOTH
from musclesolve.cli.finished_result import finish_result, report_pages
from musclesolve.cli.options import (
    RESULTS,
    Coordinates,
    Cost,
    Figures,
    Loads,
    Model,
    Moments,
    Output,
    Questions,
    Side,
    Solver,
    drawn_figures,
    output_option,
    results_of,
    setting_option,
    with_settings,
)
from musclesolve.cli.printing import complain, finish, progress
from musclesolve.constants import SEED
from musclesolve.data.bundled import reference_stride
from musclesolve.laboratory.plotting.page.page_style import PageStyle, page_style
from musclesolve.laboratory.recording.command_settings import (
    CommandSettings,
    FigureSettings,
    command_arguments,
)
from musclesolve.laboratory.recording.trial_settings import (
    ModelSettings,
    RecordedSettings,
    run_arguments,
    share_arguments,
)
from musclesolve.models.settings import model_arguments
from musclesolve.tables.settings import settings_of


def demo(
    output: Annotated[Path, output_option("Folder for result.nc and the page.")] = Path("demo-output"),
    figures: Figures = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Compute the bundled reference stride, end to end."""
    analyze("demo", reference_stride(), output, figures, show=show)


@with_settings(CommandSettings, command_arguments("many", "run", "figures"))
@with_settings(RecordedSettings, run_arguments())
def run(
    trial: Annotated[
        list[Path], typer.Argument(metavar="TRIAL.toml", help="Trial files, or folders of trial files.")
    ],
    output: Output = None,
    cost: Cost = None,
    solver: Solver = None,
    side: Side = BOTH,
    figures: Figures = None,
    questions: Questions = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page of one trial in the browser.")] = False,
    **settings: Any,
) -> None:
    """Compute the muscle forces of trials: result.nc, its page report.html, and a printed summary.

    With several trials, a folder, --jobs, --scheduler or --again: each trial in a folder of its own, and trials.csv.

    Results of the same input, options and version are kept; a trial that fails does not stop the others.
    """
    jobs, scheduler, again = (settings.pop(key, None) for key in ("jobs", "scheduler", "again"))
    uncertainty, seed = settings.pop("samples", None), settings.pop("seed")
    style = PageStyle(**{key: settings.pop(key) for key in settings_of(FigureSettings)})
    options: dict[str, Any] = {"cost": cost, "solver": solver, "side": side, **settings}
    many = len(trial) > 1 or os.path.isdir(trial[0]) or jobs is not None or scheduler is not None or again
    figures = drawn_figures(figures, style)
    with page_style(style):
        if many and (uncertainty is not None or show):
            option = "--open" if show else "--uncertainty"
            raise typer.BadParameter(f"{option} is for one trial, without --jobs, --scheduler and --again")
        if many:
            how = {"jobs": jobs, "scheduler": scheduler, "again": again, "questions": questions or ()}
            analyze_many(trial, output or RESULTS, figures, options, **how)
        else:
            folder = results_of(output, trial[0])
            analyze("run", trial[0], folder, figures, uncertainty, seed, show, questions or (), **options)


@with_settings(ModelSettings, share_arguments())
def share(
    model: Model,
    coordinates: Coordinates,
    output: Output = None,
    moments: Moments = None,
    loads: Loads = None,
    solver: Solver = None,
    side: Side = BOTH,
    figures: Figures = None,
    **settings: Any,
) -> None:
    """Muscle forces of an OpenSim model from its coordinates and joint moments or loads: result.nc, page, STO.

    A trial file of a model, with the same inputs, is for `musclesolve run`. A model of MuJoCo or biorbd gives
    result.nc, page, activations.csv.
    """
    from musclesolve.sharing.solver.kernel_problem import compile_kernel_beside
    from musclesolve.studies.many_trials.one_trial import share_into

    compile_kernel_beside()
    options = {"side": side, "loads": loads, "solver": solver, **settings}
    with progress() as report:
        result, paths = share_into(
            results_of(output, coordinates),
            (model, coordinates, moments),
            options,
            report,
            figures=figures is True,
        )
    finish_result("share", result, paths, page=figures is not False)


@with_settings(ModelSettings, model_arguments())
def verify(
    solution: Annotated[
        Path,
        typer.Argument(metavar="SOLUTION", help="Table of muscle forces or activations (STO, MOT, CSV)."),
    ],
    model: Model,
    coordinates: Annotated[
        Path | None,
        typer.Option(help="Coordinates over time (MOT, STO); of SOLUTION where it has them, as of Moco."),
    ] = None,
    moments: Moments = None,
    loads: Loads = None,
    output: Annotated[Path | None, output_option("Table of all frames (.csv).")] = None,
    cost: Annotated[str, setting_option(CommandSettings, "verify", "cost")] = "activation_power",
    quantity: Annotated[str | None, setting_option(CommandSettings, "verify", "quantity")] = None,
    strength: Annotated[str | None, setting_option(CommandSettings, "verify", "strength")] = None,
    reserve_strength: Annotated[
        float | None, setting_option(CommandSettings, "verify", "reserve_strength")
    ] = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Verify the muscle forces of another program: moments, bounds, distance from the proved least cost.

    A table of static optimization, Moco, CMC, CEINMS or any other program, by the names of the model.
    """
    from musclesolve.cli.errors import SOME_FRAMES_FAILED
    from musclesolve.laboratory.results.files.atomic_writing import write_files
    from musclesolve.laboratory.results.tables.lines import csv_text, lines
    from musclesolve.models.opensim.verify_solution import verify_solution
    from musclesolve.sharing.solver.kernel_problem import compile_kernel_beside
    from musclesolve.tables.text_file import check_place

    if output is not None:
        check_place(output, "the frames of a verified solution", ".csv")
    compile_kernel_beside()
    options: dict[str, Any] = {
        "quantity": quantity,
        "strength": strength,
        "reserve_strength": reserve_strength,
    }
    with progress() as report:
        report("verifying", 0.0)
        verified = verify_solution(
            solution, model, coordinates, moments, cost, side=side, loads=loads, **options, **settings
        )
    paths = []
    if output is not None:
        columns = verified.columns()
        rows = [columns, *([f"{value:.9g}" for value in row] for row in zip(*columns.values(), strict=True))]
        paths = write_files(output.parent, {output.name: csv_text(rows).encode()})
    text = [line for subject, said in verified.sentences.items() for line in lines(subject, said)]
    code = 0 if verified.complete else SOME_FRAMES_FAILED
    finish("verify", text, lambda: verified.facts, paths, code)


def analyze(
    command: str,
    trial: Path,
    output: Path,
    figures: bool | None = None,
    samples: int | str | None = None,
    seed: int = SEED,
    show: bool = False,
    questions: Sequence[str] = (),
    **options: Any,
) -> None:
    """Read, compute, write, summarize; ends with exit code 3 where frames have no valid solution.

    figures: also as files; False: neither figures nor page. show: write the page in any case, and open it.
    questions: answered beside the questions of the trial file.
    """
    from musclesolve.laboratory.results.files.result_netcdf import check_folder
    from musclesolve.sharing.solver.kernel_problem import compile_kernel_beside
    from musclesolve.studies.many_trials.one_trial import analyze_with_uncertainty
    from musclesolve.studies.questions.answers import answer_files, asked_of

    compile_kernel_beside()
    stated = {key: value for key, value in options.items() if value is not None}
    answers = {name: make for name, make in answer_files(asked_of(trial, questions), stated).items() if make}
    for name in answers:
        check_folder(output, name, trial)
    with progress() as report:
        done = analyze_with_uncertainty(trial, output, stated, figures is True, report, samples, seed)
    result, paths, answer = done
    finish_result(
        command, result, paths, answer, page=show or figures is not False, show=show, answers=answers
    )


def analyze_many(
    trials: list[Path], output: Path, figures: bool | None, options: dict[str, Any], **how: Any
) -> None:
    """Compute trials side by side and report the outcome of each; exit code 2 where none could be read."""
    from musclesolve.cli.result_documents import many_trials_document
    from musclesolve.cli.tables.trial_tables import exit_code_of, trials_remarks, trials_table
    from musclesolve.studies.many_trials import run_many

    def text() -> Iterator[Table | str]:
        yield trials_table(records)
        yield from trials_remarks(records, output)

    with progress() as report:
        how |= {"figures": figures is True, "progress": report, "further": report_pages(figures is not False)}
        records = run_many.run_many(trials, output, **options, **how)
    for record in records:
        if record.message:
            complain(f"{record.name}: {record.message}")
    finish("run", text(), lambda: many_trials_document(records), code=exit_code_of(records))
