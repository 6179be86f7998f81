"""The file a result is kept in: NetCDF 4."""

from __future__ import annotations

import io
import os
from pathlib import Path

import h5netcdf
import xarray as xr
from xarray.backends import H5NetCDFStore

from muscle_db.regular_file import RESULT, check_regular
from musclesolve.errors import InputError
from musclesolve.recording.text.text_file import check_input, is_file, no_file
from musclesolve.results.files.earlier_versions import updated
from musclesolve.results.files.storable import with_storable_texts
from musclesolve.results.files.writing import write_files

EXPECTED = "a result.nc of `musclesolve run`"
REMEDY = "name the result.nc in the folder that was given to `musclesolve run` with -o"


def netcdf_bytes(result: xr.Dataset) -> bytes:
    """A result as the content of a NetCDF 4 file.

    Made in memory: on a full disk, or stopped half-way, the HDF5 library leaves broken files and may end the program.
    """
    memory = io.BytesIO()
    with h5netcdf.File(memory, "w") as file:
        with_storable_texts(result).dump_to_store(H5NetCDFStore(file))
    return memory.getvalue()


def write_result(result: xr.Dataset, path: str | Path) -> None:
    """Write a result; a file of that name is replaced only when the new one is complete.

    Raises:
        InputError: the file cannot be written.
    """
    path = Path(path)
    write_files(path.parent, {path.name: netcdf_bytes(result)})


def read_result(path: str | Path) -> xr.Dataset:
    """Read a result into memory; one of an earlier version as this one would have written it.

    Raises:
        InputError: there is no such file, or it is not NetCDF 4.
    """
    path = Path(path)
    if os.path.isdir(path):
        inside = path / "result.nc"
        remedy = f"did you mean {inside}?" if inside.is_file() else REMEDY
        raise InputError("this is a folder", code="missing_file", file=path, expected=EXPECTED, remedy=remedy)
    if not is_file(path):
        problem = no_file(path).problem
        raise InputError(problem, code="missing_file", file=path, expected=EXPECTED, remedy=REMEDY)
    check_input(path, RESULT)
    try:
        with xr.open_dataset(path, engine="h5netcdf") as result:
            return updated(result.load())
    except (OSError, ValueError, KeyError) as error:
        problem = "this is no NetCDF 4 file, or a damaged one"
        raise InputError(problem, code="bad_format", file=path, expected=EXPECTED) from error


def result_attribute(path: Path, name: str) -> str | None:
    """One attribute of a result, without reading the numbers; None where there is no such file or attribute."""
    try:
        check_regular(os.stat(path), RESULT)
        with h5netcdf.File(path, "r") as file:
            value = file.attrs.get(name)
    except (OSError, ValueError, KeyError):
        return None
    return None if value is None else str(value)
