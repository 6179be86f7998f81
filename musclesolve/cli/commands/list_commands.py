"""Commands on the contents of the package: `list`, and `benchmark`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from muscle_db.similar_names import similar
from musclesolve.cli.options import listed_names, output_option, with_settings
from musclesolve.cli.printing import finish, progress
from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.command_settings import CommandSettings, command_arguments

if TYPE_CHECKING:
    from rich.console import RenderableType


class Listed(StrEnum):
    """Kinds of things that the package has, by name."""

    COSTS = "costs"
    SOLVERS = "solvers"
    MUSCLES = "muscles"
    MARKERS = "markers"
    FIGURES = "figures"


@with_settings(CommandSettings, command_arguments("listed"))
def list_(
    what: Annotated[Listed, typer.Argument(metavar="WHAT", help=f"One of {', '.join(Listed)}.")],
    name: Annotated[
        str | None,
        typer.Argument(
            help="A muscle, by its name or short name; a muscle set; a marker set.",
            autocompletion=listed_names,
        ),
    ] = None,
    **settings: Any,
) -> None:
    """List costs, solvers, muscle sets with their muscles, marker sets or figures; or show one in full."""
    if name is not None and what not in (Listed.MUSCLES, Listed.MARKERS):
        problem, expected = f"the name {name!r} behind {what}", "a name behind muscles or markers alone"
        raise input_error("conflict", where="list", problem=problem, expected=expected)
    database = settings.get("database")
    if database is not None and what is not Listed.MUSCLES:
        problem = f"--database beside {what}"
        raise input_error("conflict", where="list", problem=problem, expected="--database beside muscles")
    match what:
        case Listed.COSTS:
            _costs()
        case Listed.SOLVERS:
            _solvers()
        case Listed.MUSCLES:
            _muscles(name, database)
        case Listed.MARKERS:
            _markers(name)
        case Listed.FIGURES:
            _figures()


def _muscles(name: str | None, database: str | None) -> None:
    """The muscle sets and the muscles of one of them, or one muscle in full."""
    import muscle_db
    from musclesolve.cli.tables.list_tables import muscle_in_full, muscle_table, person_table, set_table
    from musclesolve.models.opensim.find_muscle_set import find_muscle_set
    from musclesolve.models.opensim.person_file import person_of_set

    if database is None and name and _is_like_a_set(name):
        name, database = None, name
    shown: list[RenderableType] = []
    person = None if database is None else person_of_set(database)
    if person is not None:
        shown.append(person_table(person))
        database = person.parent
    loaded = muscle_db.load() if database is None else find_muscle_set(database)
    if name is None and database is None:
        shown.append(set_table([muscle_db.load(one) for one in muscle_db.available()]))
    listed = loaded.muscles if name is None else [loaded[name]]
    shown.append(muscle_table(loaded) if name is None else muscle_in_full(loaded, *listed))
    document = {"sets": muscle_db.available(), "database": loaded.name, "muscles": list(map(asdict, listed))}
    finish("list", shown, lambda: document)


def _is_like_a_set(name: str) -> bool:
    """Whether a name is like the name of a muscle set, or like the first word of one and no name of a muscle."""
    import muscle_db

    sets = muscle_db.available()
    muscles = [word for muscle in muscle_db.load().muscles for word in (muscle.name, muscle.short_name)]
    first_words = {one.split("_")[0] for one in sets}
    return bool(similar(name, sets) or (similar(name, first_words) and not similar(name, muscles)))


def _markers(name: str | None) -> None:
    """The marker sets, or one in full."""
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
    finish("list", [table], lambda: {"markers": [asdict(marker_sets()[name])]})


def _costs() -> None:
    """The costs: formula, and for whom each is; the default is marked."""
    from musclesolve.sharing.cost.cost_registry import costs

    rows = [
        {
            **{"name": name, "default": name == USUAL_COST, "formula": cost.formula, "use": cost.use},
            **{"source": cost.source, "options": list(cost.options), "data": list(cost.data)},
        }
        for name, cost in costs().items()
    ]
    _listed("costs", ("name", "formula", "use"), rows, "--cost NAME, ms.costs()")


def _solvers() -> None:
    """The solvers: what each is, and how to install it; the default is marked."""
    from musclesolve.sharing.solver.solver_registry import solvers

    rows = [
        {
            **{"name": name, "default": name == USUAL_SOLVER, "what": solver.summary},
            "installed": "yes" if solver.installed else f"no: {solver.install}",
        }
        for name, solver in solvers().items()
    ]
    _listed("solvers", ("name", "what", "installed"), rows, "--solver NAME, ms.solvers()")


def _figures() -> None:
    """The figures that commands write: of what, and the variable that each needs."""
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


def _listed(what: str, columns: tuple[str, ...], rows: list[dict[str, Any]], caption: str) -> None:
    """Print a line for each row; the document has the rows with all their keys."""
    from musclesolve.laboratory.results.tables.lines import names, titled_table

    cells = [
        [
            f"{row['name']} (default)" if row.get("default") else row["name"],
            *(str(row[key]) for key in columns[1:]),
        ]
        for row in rows
    ]
    table = titled_table(what, (*names(columns[0]), *columns[1:]), cells, caption=caption)
    finish("list", [table], lambda: {what: rows})


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
