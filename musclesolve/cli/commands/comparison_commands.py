"""Commands that compare: costs of a trial, cycles of results; and the muscles of one person by EMG."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve._util.sides import BOTH
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.options import (
    BY_NAME,
    RESULTS,
    Cost,
    Side,
    Solver,
    TrialFile,
    output_option,
    results_of,
    with_settings,
)
from musclesolve.cli.printing import finish, progress
from musclesolve.constants import AVERAGE_FILE
from musclesolve.laboratory.recording.command_settings import CommandSettings, command_arguments

if TYPE_CHECKING:
    from rich.console import RenderableType


@with_settings(CommandSettings, command_arguments("compare"))
def compare(
    trial: TrialFile,
    output: Annotated[
        Path | None, output_option("Folder for the comparison and its figures.", BY_NAME)
    ] = None,
    solver: Solver = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Compare the muscle forces of one trial under several costs: comparison.nc, a table of agreement, figures."""
    from musclesolve.cli.result_documents import comparison_document
    from musclesolve.laboratory.results.fact_table import summary
    from musclesolve.laboratory.results.tables.comparison_tables import (
        ComparisonFacts,
        comparison_facts,
        comparison_tables,
    )
    from musclesolve.studies.compare import compare_into

    with progress() as report:
        result, paths = compare_into(
            results_of(output, trial),
            trial,
            settings["costs"],
            solver,
            side,
            report,
            settings["on_infeasible"],
        )
    facts = comparison_facts(result)
    parts: list[RenderableType] = [summary(facts), ""] if facts else []
    for heading, table in comparison_tables(result).items():
        parts += [heading, table, ""]
    code = 0 if ComparisonFacts(result).complete else SOME_FRAMES_FAILED
    finish("compare", parts, lambda: comparison_document(result), paths, code)


@with_settings(CommandSettings, command_arguments("average"))
def average(
    result: Annotated[list[Path], typer.Argument(metavar="RESULT.nc", help="Results of `musclesolve run`.")],
    output: Annotated[Path, output_option("Folder for average.nc and its figures.")] = RESULTS / "average",
    **settings: Any,
) -> None:
    """Average the cycles of results, each leg by itself: average.nc, a table of the strides, figures."""
    from musclesolve.cli.result_documents import average_document
    from musclesolve.laboratory.results.cycles.cycle_averages import average_results, stated_units
    from musclesolve.laboratory.results.fact_table import summary
    from musclesolve.laboratory.results.files.atomic_writing import reserved
    from musclesolve.laboratory.results.tables.average_tables import average_facts, average_table
    from musclesolve.studies.written_answer import write_answer

    with progress() as report, reserved(output):
        averaged = average_results(
            result, partial=settings["partial"], units=stated_units(settings.get("units", ()))
        )
        paths = write_answer(output, AVERAGE_FILE, "average", averaged, {}, report)

    text: list[RenderableType] = [average_table(averaged)]
    if facts := average_facts(averaged):
        text.append(summary(facts))
    failed = averaged.attrs["invalid"]
    finish("average", text, lambda: average_document(averaged), paths, SOME_FRAMES_FAILED if failed else 0)


@with_settings(CommandSettings, command_arguments("calibrate_muscles"))
def calibrate(
    trial: Annotated[
        list[Path],
        typer.Argument(metavar="TRIAL.toml", help="Trials of one person, with EMG or fascicle lengths."),
    ],
    output: Annotated[
        Path | None, output_option("File of the person's muscles (.toml).", f"{RESULTS / 'person.toml'}")
    ] = None,
    strength: Annotated[Path | None, typer.Option(help="File of strength tests (.toml).")] = None,
    osim: Annotated[
        Path | None, typer.Option("--osim", help="Also an OpenSim model with these muscles (.osim).")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Folder for figures and calibration.nc.")
    ] = None,
    cost: Cost = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Muscles of one person, fitted to EMG, fascicle lengths and strength tests, with standard deviations."""
    from musclesolve.cli.tables.calibration_tables import (
        agreement_table,
        calibration_document,
        calibration_lines,
        factor_table,
    )
    from musclesolve.laboratory.plotting.study.question_figures import calibration_files
    from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
    from musclesolve.laboratory.results.files.result_netcdf import netcdf_bytes
    from musclesolve.laboratory.trial.trial_file import read_trial
    from musclesolve.models.opensim.person_file import write_person, write_person_model
    from musclesolve.studies.calibration.calibrate import calibrate_muscles
    from musclesolve.studies.calibration.calibration_problem import sentences_of
    from musclesolve.studies.calibration.free_parameters import stated_words
    from musclesolve.tables.text_file import check_place

    trials = [read_trial(path) for path in trial]
    folders = [*([RESULTS] if output is None else []), *([] if figures is None else [figures])]
    output = RESULTS / "person.toml" if output is None else output
    settings |= {key: stated_words(settings[key]) for key in ("free", "fixed") if key in settings}
    with progress() as report, ExitStack() as reservations:
        for folder in folders:
            reservations.enter_context(reserved(folder))
        check_place(output, "the muscles of one person", ".toml", table="person")
        if osim is not None:
            check_place(osim, "an OpenSim model", ".osim")
        done = calibrate_muscles(trials, strength=strength, cost=cost, side=side, progress=report, **settings)
        report("writing", 1.0)
        sentences = list(done.notes)
        write_person(done.person, output)
        paths = [output]
        if osim is not None:
            sentences += write_person_model(done.person, osim)
            paths.append(osim)
        if figures is not None:
            files = {"calibration.nc": netcdf_bytes(done.found), **calibration_files(done.found)}
            paths += write_files(figures, files)
    undetermined = sentences_of(done.directions)
    text: list[RenderableType] = [
        factor_table(done.person, done.found),
        agreement_table(done.found),
        "\n".join(calibration_lines(done.person, done.found, undetermined, sentences)),
    ]
    finish(
        "calibrate",
        text,
        lambda: calibration_document(done.person, done.found, undetermined, sentences),
        paths,
    )


@with_settings(CommandSettings, command_arguments("fit_cost"))
def fit_cost(
    trial: Annotated[
        list[Path], typer.Argument(metavar="TRIAL.toml", help="Trials of one person, with EMG.")
    ],
    output: Annotated[
        Path | None, output_option("Folder for cost_fit.nc, its table and its figure.", BY_NAME)
    ] = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Fit a cost to EMG: its parameters with intervals, and a test on channels and strides left out."""
    from musclesolve.cli.tables.calibration_tables import cost_fit_csv, cost_fit_document, cost_fit_table
    from musclesolve.laboratory.plotting.study.question_figures import cost_fit_files
    from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
    from musclesolve.laboratory.results.files.result_netcdf import netcdf_bytes
    from musclesolve.studies.calibration.cost_from_emg import fit_cost

    output = results_of(output, trial[0])
    family = settings.get("family") or ("general_power",)
    with progress() as report, reserved(output):
        fit = fit_cost(trial, family[0] if len(family) == 1 else family, side, settings.get("delay"), report)
        report("writing", 1.0)
        files = {"cost_fit.nc": netcdf_bytes(fit), "cost_fit.csv": cost_fit_csv(fit), **cost_fit_files(fit)}
        paths = write_files(output, files)
    text: list[RenderableType] = [
        cost_fit_table(fit),
        fit.attrs["sentences"],
        f"The fitted cost, for run --cost: {fit.attrs['fitted_cost']}",
    ]
    finish("fit-cost", text, lambda: cost_fit_document(fit), paths)
