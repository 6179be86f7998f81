"""A folder of results belongs to one trial: what may be replaced in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from musclesolve.errors import InputError
from musclesolve.results.files.netcdf import result_attribute
from musclesolve.results.files.storable import storable


def check_folder(folder: Path, name: str, trial: Path) -> None:
    """Refuse a folder in which the file `name` is the result of another trial, before anything is computed.

    A trial file of the same name that has moved is the same trial; a file that names no trial may be replaced.

    Raises:
        InputError: there is a result of another trial.
    """
    stored = result_attribute(folder / name, "trial_file")
    if stored is None or stored == storable(os.path.realpath(trial)):
        return
    there = Path(stored)
    if os.path.realpath(there) == os.path.realpath(trial):
        return
    if there.name == storable(trial.name) and not os.path.exists(there):
        return
    raise InputError(
        f"this is the result of another trial, {there}",
        code="occupied_folder",
        file=folder / name,
        expected="a new folder, or that of the same trial",
        remedy="choose another folder with -o, or remove this one first",
    )


def check_inputs(inputs: Iterable[Path], folder: Path, names: Iterable[str]) -> None:
    """Refuse to write a file of these names into a folder where it is one of the inputs of a trial.

    Raises:
        InputError: one of them is.
    """
    given = {os.path.realpath(path) for path in inputs}
    for name in names:
        if os.path.realpath(folder / name) in given:
            raise InputError(
                "this is a file of the trial, and a table of this name is to be written: it would be lost",
                code="occupied_folder",
                file=folder / name,
                remedy="choose another folder with -o",
            )
