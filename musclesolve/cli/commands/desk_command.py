"""The command `desk`: everything by clicks, on a local page."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from musclesolve.cli.printing import print_address
from musclesolve.errors import not_installed


def desk(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="The folder with the recordings; it may be new.")
    ] = Path("."),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0: one that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")] = True,
) -> None:
    """Lead from recordings to a report by clicks: a page on this machine, until Ctrl-C; it writes the trial file.

    Nothing leaves the machine, and nothing outside the folder is written.
    """
    for package in ("nicegui", "tomlkit"):
        if find_spec(package) is None:
            raise not_installed("the desk needs", package, "desk")
    from musclesolve.desk.server import serve

    serve(folder, port, browser, lambda address: print_address(address, "desk"))
