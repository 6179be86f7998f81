"""Commands that list what is there: `muscles`, `markers` and `faults`."""

from __future__ import annotations

from typing import Annotated

import typer

from musclesolve.cli.printing import console


def muscles(
    name: Annotated[str | None, typer.Argument(help="A muscle, by its name or short name.")] = None,
    database: Annotated[str, typer.Option(help="Name of a muscle database, or a file.")] = "silva_2003",
) -> None:
    """List the muscles, or show one in full."""
    import muscle_db
    from musclesolve.cli.list_tables import muscle_in_full, muscle_table

    loaded = muscle_db.load(database)
    console().print(muscle_table(loaded) if name is None else muscle_in_full(loaded[name]))


def markers(name: Annotated[str | None, typer.Argument(help="A marker set, by its name.")] = None) -> None:
    """List the marker sets, or show one in full."""
    from musclesolve.cli.list_tables import marker_set_in_full, marker_set_table

    console().print(marker_set_table() if name is None else marker_set_in_full(name))


def faults() -> None:
    """List the faults that `synthesize` can plant into a recording."""
    from musclesolve.cli.list_tables import fault_table

    console().print(fault_table())
