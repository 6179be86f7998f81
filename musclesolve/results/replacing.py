"""A folder of results belongs to one trial: what may be replaced in it."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from musclesolve.errors import InputError


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
    there = _trial_of(folder / name)
    if there is None or there.resolve() == trial.resolve():
        return
    if there.name == trial.name and not there.exists():
        return
    raise InputError(
        f"this is the result of another trial, {there}",
        file=folder / name,
        expected="a new folder, or that of the same trial",
        remedy="choose another folder with -o, or remove this one first",
    )


def _trial_of(path: Path) -> Path | None:
    """The trial file of a result, if there is one and it says so."""
    try:
        with xr.open_dataset(path, engine="h5netcdf") as result:
            trial = result.attrs.get("trial_file")
    except (OSError, ValueError, KeyError):
        return None
    return None if trial is None else Path(str(trial))
