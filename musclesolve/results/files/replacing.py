"""A folder of results belongs to one trial: what may be replaced in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from musclesolve.errors import InputError
from musclesolve.results.files.netcdf import result_attribute
from musclesolve.results.files.storable import storable


def check_folder(folder: Path, name: str, trial: Path) -> None:
    """Refuse a folder that holds the result of another trial, before anything is computed.

    The result of the same trial file is replaced. A trial file of the same name that has moved is the same; a file
    that does not say what trial it is of protects nothing.

    Args:
        folder: where the new result is to go.
        name: of the file of the result in it.
        trial: the trial file of the new result.

    Raises:
        InputError: there is a result of another trial.
    """
    said = result_attribute(folder / name, "trial_file")
    if said is None or said == storable(os.path.realpath(trial)):
        return
    there = Path(said)
    if os.path.realpath(there) == os.path.realpath(trial):
        return
    if there.name == storable(trial.name) and not os.path.exists(there):
        return
    raise InputError(
        f"this is the result of another trial, {there}",
        file=folder / name,
        expected="a new folder, or that of the same trial",
        remedy="choose another folder with -o, or remove this one first",
    )


def check_inputs(inputs: Iterable[Path], folder: Path, names: Iterable[str]) -> None:
    """Refuse to write over what a trial is computed from.

    Args:
        inputs: files of the trial.
        folder: where the new files are to go.
        names: of those among them that could be files of a recording.

    Raises:
        InputError: one of them is.
    """
    given = {os.path.realpath(path) for path in inputs}
    for name in names:
        if os.path.realpath(folder / name) in given:
            raise InputError(
                "this is a file of the trial, and a table of this name is to be written: it would be lost",
                file=folder / name,
                remedy="choose another folder with -o",
            )
