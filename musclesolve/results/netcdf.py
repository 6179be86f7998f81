"""The file a result is kept in: NetCDF 4, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from musclesolve.errors import InputError
from musclesolve.results.writing import whole_file


def write_result(result: xr.Dataset, path: str | Path) -> None:
    """Write a result; a file of that name is replaced only when the new one is complete.

    Raises:
        InputError: the file cannot be written.
    """
    with whole_file(path) as beside:
        result.to_netcdf(beside, engine="h5netcdf")


def read_result(path: str | Path) -> xr.Dataset:
    """Read a result into memory.

    Raises:
        InputError: there is no such file, or it is not NetCDF 4.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("there is no such file", file=path, expected="a result.nc of `musclesolve run`")
    try:
        with xr.open_dataset(path, engine="h5netcdf") as result:
            return result.load()
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"cannot be read as NetCDF 4: {error}", file=path, expected="a result.nc of `musclesolve run`"
        ) from error
