"""A folder of results belongs to one trial: what may be replaced in it."""

from __future__ import annotations

from pathlib import Path

from musclesolve.errors import InputError
from musclesolve.results.netcdf import result_attribute


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
    there = trial if said is None else Path(said)
    if there.resolve() == trial.resolve():
        return
    if there.name == trial.name and not there.exists():
        return
    raise InputError(
        f"this is the result of another trial, {there}",
        file=folder / name,
        expected="a new folder, or that of the same trial",
        remedy="choose another folder with -o, or remove this one first",
    )
