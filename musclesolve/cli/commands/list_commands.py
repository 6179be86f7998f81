"""Commands that list what is there: `muscles`, `markers` and `faults`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musclesolve.cli.completion import marker_set_names, muscle_names, muscle_set_names
from musclesolve.cli.printing import console, print_files
from musclesolve.errors import InputError

if TYPE_CHECKING:
    from muscle_db import MuscleDatabase


def muscles(
    name: Annotated[
        str | None, typer.Argument(help="A muscle, by its name or short name.", autocompletion=muscle_names)
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            help="Name of a muscle set, or a file (.toml, .osim); the default set unless one is given.",
            autocompletion=muscle_set_names,
        ),
    ] = None,
    passive_moments: Annotated[
        bool,
        typer.Option("--passive-moments", help="Passive joint moments of the set, beside measured ones."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the passive moments, table and figure.")
    ] = None,
) -> None:
    """List the muscle sets and the muscles of one of them, show one muscle in full, or passive joint moments."""
    import muscle_db
    from musclesolve.cli.tables.list_tables import muscle_in_full, muscle_table, set_table
    from musclesolve.opensim.find_muscle_set import find_muscle_set

    loaded = muscle_db.load() if database is None else find_muscle_set(database)
    if passive_moments or output is not None:
        _passive_moments(loaded, name, output, asked=passive_moments)
        return
    if name is None and database is None:
        console().print(set_table([muscle_db.load(each) for each in muscle_db.available()]))
    console().print(muscle_table(loaded) if name is None else muscle_in_full(loaded, loaded[name]))


def _passive_moments(
    database: MuscleDatabase, muscle: str | None, output: Path | None, *, asked: bool
) -> None:
    """Print the passive joint moments of a set; write table and figure where a folder is given."""
    import xarray as xr

    from musclesolve.muscles.passive.joint_moments import passive_moments
    from musclesolve.results.files.atomic_writing import write_files
    from musclesolve.results.tables.passive_moment_table import FILE, passive_moment_csv, passive_moment_table

    if not asked or muscle is not None:
        problem, expected = "a folder without --passive-moments", "--passive-moments -o FOLDER"
        if asked:
            problem, expected = f"passive moments of {muscle!r} alone", "--passive-moments without a muscle"
        raise InputError(problem, code="conflict", where="muscles", expected=expected)
    rules = ("table",) if database.calibrated_passive is None else ("table", "calibrated")
    moments = {rule: passive_moments(database, rule) for rule in rules}
    console().print(passive_moment_table(database.name, moments))
    if output is not None:
        from musclesolve.plotting.page.figure_files import figures_of
        from musclesolve.plotting.result import passive_moment_figure as figure

        draw = {figure.FILE: lambda _: figure.passive_moment_figure(database.name, moments)}
        files = {FILE: passive_moment_csv(moments), **figures_of(xr.Dataset(), draw)}
        print_files(write_files(output, files))


def markers(
    name: Annotated[
        str | None, typer.Argument(help="A marker set, by its name.", autocompletion=marker_set_names)
    ] = None,
) -> None:
    """List the marker sets, or show one in full."""
    from musclesolve.cli.tables.list_tables import marker_set_in_full, marker_set_table

    console().print(marker_set_table() if name is None else marker_set_in_full(name))


def faults() -> None:
    """List the faults that `synthesize` can plant into a recording."""
    from musclesolve.cli.tables.list_tables import fault_table

    console().print(fault_table())
