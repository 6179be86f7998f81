"""Commands on the contents of the package, such as `muscles` and `costs`, and `benchmark`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve._util.messages import similar
from musclesolve.cli.options import marker_set_names, muscle_names, output_option, with_settings
from musclesolve.cli.printing import console, finish, print_files, progress
from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.command_settings import CommandSettings, command_arguments

if TYPE_CHECKING:
    from rich.console import RenderableType

    from muscle_db import MuscleDatabase


@with_settings(CommandSettings, command_arguments("muscles"))
def muscles(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A muscle, by its name or short name, or a muscle set.", autocompletion=muscle_names
        ),
    ] = None,
    passive_moments: Annotated[
        bool,
        typer.Option("--passive-moments", help="Passive joint moments of the set, beside measured ones."),
    ] = False,
    output: Annotated[Path | None, output_option("Folder for the passive moments, table and figure.")] = None,
    **settings: Any,
) -> None:
    """List the muscle sets and the muscles of one of them, show one muscle in full, or passive joint moments."""
    import muscle_db
    from musclesolve.cli.tables.list_tables import muscle_in_full, muscle_table, person_table, set_table
    from musclesolve.models.opensim.find_muscle_set import find_muscle_set
    from musclesolve.models.opensim.person_file import person_of_set

    database = settings.get("database")
    if database is None and name and similar(name, muscle_db.available()):
        name, database = None, name
    shown: list[RenderableType] = []
    person = None if database is None else person_of_set(database)
    if person is not None:
        shown.append(person_table(person))
        database = person.parent
    loaded = muscle_db.load() if database is None else find_muscle_set(database)
    if passive_moments or output is not None:
        if name is not None or not passive_moments:
            problem, expected = "a folder without --passive-moments", "--passive-moments -o FOLDER"
            if passive_moments:
                problem, expected = f"passive moments of {name!r} alone", "--passive-moments without a muscle"
            raise input_error("conflict", where="muscles", problem=problem, expected=expected)
        _passive_moments(loaded, output, shown)
        return
    if name is None and database is None:
        shown.append(set_table([muscle_db.load(one) for one in muscle_db.available()]))
    listed = loaded.muscles if name is None else [loaded[name]]
    shown.append(muscle_table(loaded) if name is None else muscle_in_full(loaded, *listed))
    document = {"sets": muscle_db.available(), "database": loaded.name, "muscles": list(map(asdict, listed))}
    finish("muscles", shown, lambda: document)


def person(
    file: Annotated[
        Path,
        typer.Argument(metavar="PERSON.toml", help="The muscles of one person, as of calibrate-muscles."),
    ],
    osim: Annotated[
        Path | None, typer.Option(help="Write the OpenSim model that is their parent with their numbers.")
    ] = None,
) -> None:
    """Show the factors of one person's muscles, and write them as an OpenSim model."""
    from musclesolve.cli.tables.list_tables import person_table
    from musclesolve.models.opensim.person_file import read_person

    read = read_person(file)
    console().print(person_table(read))
    if osim is not None:
        from musclesolve.models.opensim.person_file import write_person_model

        for note in write_person_model(read, osim):
            console().print(f"note: {note}")
        print_files([osim])


def _passive_moments(database: MuscleDatabase, output: Path | None, shown: list[RenderableType]) -> None:
    """Print the passive joint moments of a set; write table and figure where a folder is given."""
    import xarray as xr

    from musclesolve.cli.tables.list_tables import FILE, passive_moment_csv, passive_moment_table
    from musclesolve.laboratory.results.files.atomic_writing import write_files
    from musclesolve.muscles.passive.joint_moments import passive_moments

    rules = ("table",) if database.calibrated_passive is None else ("table", "calibrated")
    moments = {rule: passive_moments(database, rule) for rule in rules}
    paths: list[Path] = []
    if output is not None:
        from musclesolve.laboratory.plotting.page.page_style import figures_of
        from musclesolve.laboratory.plotting.study import listed_figures

        draw = {
            listed_figures.PASSIVE_FILE: lambda _: listed_figures.passive_moment_figure(
                database.name, moments
            )
        }
        files = {FILE: passive_moment_csv(moments), **figures_of(xr.Dataset(), draw)}
        paths = write_files(output, files)
    shown = [*shown, passive_moment_table(database.name, moments)]
    numbers = {rule: list(map(asdict, sweeps)) for rule, sweeps in moments.items()}
    finish("muscles", shown, lambda: {"passive_moments": numbers}, paths)


def markers(
    name: Annotated[
        str | None, typer.Argument(help="A marker set, by its name.", autocompletion=marker_set_names)
    ] = None,
) -> None:
    """List the marker sets, or show one in full."""
    from musclesolve.cli.tables.list_tables import marker_set_in_full
    from musclesolve.laboratory.markers.marker_names import marker_sets

    if name is None:
        rows = [
            {"name": name, "labels": len(chosen.markers), "description": chosen.description}
            for name, chosen in marker_sets().items()
        ]
        caption = '[markers] set = "name" in a trial file'
        _listed("markers", ("name", "labels", "description"), rows, caption)
        return
    table = marker_set_in_full(name)
    finish("markers", [table], lambda: {"markers": [asdict(marker_sets()[name])]})


def costs(
    figure: Annotated[
        Path | None,
        typer.Option(help="Draw the cost of four muscles over their force into a file: PNG, PDF or SVG."),
    ] = None,
) -> None:
    """List the costs: formula, and for whom each is; the default is marked."""
    from musclesolve.sharing.cost.cost_registry import costs

    paths = [] if figure is None else _cost_figure(figure)
    rows = [
        {
            **{"name": name, "default": name == USUAL_COST, "formula": cost.formula, "use": cost.use},
            **{"source": cost.source, "options": list(cost.options), "data": list(cost.data)},
        }
        for name, cost in costs().items()
    ]
    _listed("costs", ("name", "formula", "use"), rows, "--cost NAME, ms.costs()", paths)


def _cost_figure(path: Path) -> list[Path]:
    """Draw the shapes of the costs, of muscles of the default set in a bent leg at rest."""
    import muscle_db
    from musclesolve.laboratory.plotting.page.page_style import file_content, page_style
    from musclesolve.laboratory.plotting.study.listed_figures import cost_shapes
    from musclesolve.laboratory.results.files.atomic_writing import write_files
    from musclesolve.models.pose_problem import pose_problem

    bent = {"hip_flexion_r": 0.4, "knee_flexion_r": 0.7, "ankle_dorsiflexion_r": 0.1}  # [rad]
    problem = pose_problem(bent, None, dict.fromkeys(bent, 0.0), muscle_db.DEFAULT)
    muscles = ("soleus_r", "gastrocnemius_medial_r", "vastus_lateralis_r", "gracilis_r")
    with page_style(file_format=path.suffix[1:].casefold()):
        return write_files(path.parent, {path.name: file_content(cost_shapes(problem, muscles))})


def solvers() -> None:
    """List the solvers: what each is, and how to install it; the default is marked."""
    from musclesolve.sharing.solver.solver_registry import solvers

    rows = [
        {
            **{"name": name, "default": name == USUAL_SOLVER, "what": solver.summary},
            "installed": "yes" if solver.installed else f"no: {solver.install}",
        }
        for name, solver in solvers().items()
    ]
    _listed("solvers", ("name", "what", "installed"), rows, "--solver NAME, ms.solvers()")


def figures() -> None:
    """List the figures that commands write: of what, and the variable that each needs."""
    from musclesolve.laboratory.plotting.figure_names import FIGURE_NAMES

    rows = [
        {"name": name, "of": ", ".join(figure.of), "needs": figure.needs}
        for name, figure in FIGURE_NAMES.items()
    ]
    caption = (
        "of recording, model, uncertainty: musclesolve plot RESULT.nc --figure NAME; of results: the desk, Compare; "
        "of others: the command of this name draws them (comparison: musclesolve compare)"
    )
    _listed("figures", ("name", "of", "needs"), rows, caption)


def _listed(
    command: str,
    columns: tuple[str, ...],
    rows: list[dict[str, Any]],
    caption: str,
    files: Iterable[Path] = (),
) -> None:
    """Print a line for each row; the document has the rows with all their keys."""
    from musclesolve.laboratory.results.tables.lines import names, titled_table

    cells = [
        [
            f"{row['name']} (default)" if row.get("default") else row["name"],
            *(str(row[key]) for key in columns[1:]),
        ]
        for row in rows
    ]
    table = titled_table(command, (*names(columns[0]), *columns[1:]), cells, caption=caption)
    finish(command, [table], lambda: {command: rows}, files)


@with_settings(CommandSettings, command_arguments("benchmark"))
def benchmark(
    trial: Annotated[
        Path | None,
        typer.Argument(metavar="TRIAL.toml", help="The trial file; default: the bundled reference stride."),
    ] = None,
    output: Annotated[
        Path | None, output_option("Folder for the tables as CSV and the figure of the times.")
    ] = None,
    **settings: Any,
) -> None:
    """Measure the solvers side by side on this machine, and the latency of one frame."""
    from musclesolve.cli.result_documents import benchmark_document
    from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
    from musclesolve.studies.benchmark import benchmark as study

    with nullcontext() if output is None else reserved(output):
        with progress() as update:
            report = study.benchmark(trial, progress=update, **settings)
        paths = [] if output is None else write_files(output, study.files(report))

    where = ", ".join(f"{name} {value}" for name, value in report.machine.items() if value != "not installed")
    text: list[RenderableType] = [where, study.COLUMN_MEANING, *study.tables(report)]
    finish("benchmark", text, lambda: benchmark_document(report), paths)
