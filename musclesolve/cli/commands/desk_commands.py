"""Commands `desk`, everything by clicks; `warm`, compile beforehand."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from musclesolve.cli.options import with_settings
from musclesolve.cli.printing import print_address, print_plain, progress
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


KERNELS = (
    "musclesolve.sharing.kernel.entry",
    "musclesolve.sharing.kernel.level_walk",
    "musclesolve.sharing.kernel.simplex",
    "musclesolve.muscles.paths.kernel.entry",
    "musclesolve.models.opensim.joint_kernel",
    "musclesolve.dynamics.kernel.entry",
    "musclesolve.trajectory.chain_kernel",
    "musclesolve._util.series_kernel",
)
"""Modules with compiled functions; the first takes longest."""


def warm() -> None:
    """Compile everything for this machine, once, so that no other command waits for it; a minute or two.

    Machine code, and the byte code of Python, which some installations lack.
    """
    import compileall
    from importlib import import_module

    from musclesolve._util.compiled_code import compiled_functions

    for package in ("musclesolve", "muscle_db"):
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            compileall.compile_dir(folder, quiet=2)
    functions = [
        (module, name, function)
        for module in KERNELS
        for name, function in compiled_functions(import_module(module)).items()
    ]
    there = sum(function.is_kept() for _, _, function in functions)
    with progress() as report:
        functions[0][2].compile_beside(*functions[0][:2])  # the second processor, if there is one
        for number, (module, name, function) in enumerate(functions[1:] + functions[:1]):
            report(f"{module.split('.')[1]}: {name.lower()}", number / len(functions))
            function.load()
    kept = sum(function.is_kept() for _, _, function in functions)
    print_plain(
        f"{kept} of {len(functions)} functions are compiled and kept on disk, {there} of them before."
    )
    if kept < len(functions):
        print_plain(
            "The others are compiled again by each command: the folder of the program cannot be written."
        )
