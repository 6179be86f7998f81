"""The command `desk`: everything by clicks."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from musclesolve.cli.options import with_settings
from musclesolve.cli.printing import print_address
from musclesolve.errors import not_installed
from musclesolve.laboratory.recording.command_settings import CommandSettings, DeskSettings, command_arguments


@with_settings(CommandSettings, command_arguments("desk"))
def desk(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder with the recordings; it may be new.")
    ] = Path("."),
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")] = True,
    **stated: Any,
) -> None:
    """Lead from recordings to a report by clicks: a page on this machine, until Ctrl-C; it writes the trial file.

    Nothing leaves the machine, and nothing outside the folder is written.
    """
    for package in ("nicegui", "tomlkit"):
        if find_spec(package) is None:
            raise not_installed("the desk needs", package, "desk")
    from musclesolve.apps.desk.server import serve

    serve(folder, DeskSettings(**stated).port, browser, lambda address: print_address(address, "desk"))
