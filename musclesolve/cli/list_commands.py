"""Commands that list what is there: `muscles`, `markers` and `faults`."""

from __future__ import annotations

from typing import Annotated

import typer

from musclesolve.cli.printing import console


def muscles(
    name: Annotated[str | None, typer.Argument(help="A muscle, by its name or short name.")] = None,
    database: Annotated[
        str | None, typer.Option(help="Name of a muscle set, or a file; the default set unless one is given.")
    ] = None,
) -> None:
    """List the muscle sets and the muscles of one of them, or show one muscle in full."""
    import muscle_db
    from musclesolve.cli.list_muscles import muscle_in_full, muscle_table, set_table

    loaded = muscle_db.load() if database is None else muscle_db.load(database)
    if name is None and database is None:
        console().print(set_table([muscle_db.load(each) for each in muscle_db.available()]))
    console().print(muscle_table(loaded) if name is None else muscle_in_full(loaded, loaded[name]))


def markers(name: Annotated[str | None, typer.Argument(help="A marker set, by its name.")] = None) -> None:
    """List the marker sets, or show one in full."""
    from musclesolve.cli.list_tables import marker_set_in_full, marker_set_table

    console().print(marker_set_table() if name is None else marker_set_in_full(name))


def faults() -> None:
    """List the faults that `synthesize` can plant into a recording."""
    from musclesolve.cli.list_tables import fault_table

    console().print(fault_table())
