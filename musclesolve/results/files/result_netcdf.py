"""The file of a result, NetCDF 4: writing, reading, texts that it can hold, and what may be replaced in its folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import netCDF4
import numpy as np
import xarray as xr
from xarray.backends import NetCDF4DataStore
from xarray.backends.common import ArrayWriter

from muscle_db.regular_file import RESULT, check_regular
from musclesolve.errors import InputError
from musclesolve.recording.text.text_file import check_input, is_file, name_in, no_file
from musclesolve.results.dataset.result_dataset import ResultDataset
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.results.files.earlier_versions import updated

Value = TypeVar("Value")

_BYTE = re.compile(r"[\udc80-\udcff]")
_NEITHER = re.compile(r"[\x00\ud800-\udfff]")
TRIAL_FROM_RESULT = "trial_file_from_result"
"""Attribute of a result: the path of its trial file from the folder of the result."""


def storable(value: Any) -> Any:
    r"""A text, or the texts of a list, with "\xff" for a byte that is no character; anything else as it is."""
    if isinstance(value, str):
        text = _BYTE.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", value)
        return _NEITHER.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text)
    return [storable(part) for part in value] if isinstance(value, list | tuple) else value


def with_storable_texts(data: xr.Dataset) -> xr.Dataset:
    """A dataset whose attributes and texts can be written; the given one where they can."""
    data = data.assign_attrs({key: storable(value) for key, value in data.attrs.items()})
    changed = {
        name: variable.copy(
            data=np.reshape([storable(str(each)) for each in variable.values.flat], variable.shape)
        )
        for name, variable in data.variables.items()
        if variable.dtype.kind in "UO" and any(_NEITHER.search(str(each)) for each in variable.values.flat)
    }
    return data.assign(
        {name: each for name, each in changed.items() if name in data.data_vars}
    ).assign_coords({name: each for name, each in changed.items() if name in data.coords})


EXPECTED = "a result.nc of `musclesolve run`"
REMEDY = "name the result.nc in the folder that was given to `musclesolve run` with -o"


_LIBRARY = RLock()
"""Held while a file is open: the HDF5 library ends the program where two threads are in it at the same time."""
SIZE = 1 << 20
"""Bytes that a file in memory begins with; it grows as needed."""


class _Later(ArrayWriter):
    """Writes numbers when all variables exist: the library writes all headers anew where one follows numbers."""

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        """See ArrayWriter."""
        del region
        self.sources.append(source)
        self.targets.append(target)

    def write(self) -> None:
        """Write the numbers."""
        for source, target in zip(self.sources, self.targets, strict=True):
            target[...] = source


def netcdf_bytes(result: xr.Dataset) -> bytes:
    """A result as the content of a NetCDF 4 file.

    Made in memory: on a full disk, or stopped half-way, the HDF5 library leaves broken files and may end the program.
    """
    with _LIBRARY:
        file = netCDF4.Dataset("memory", "w", memory=SIZE)
        try:
            writer = _Later()
            with_storable_texts(result).dump_to_store(NetCDF4DataStore(file), writer=writer)
            writer.write()
        except BaseException:
            file.close()
            raise
        return bytes(file.close())


def write_result(result: xr.Dataset, path: str | Path) -> None:
    """Write a result; a file of that name is replaced only when the new one is complete."""
    path = Path(path)
    write_files(path.parent, {path.name: netcdf_bytes(result)})


def opened_netcdf(path: Path) -> netCDF4.Dataset:
    """A file of which the library may not know the name: it knows texts alone, and a name may be any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return netCDF4.Dataset("memory", memory=path.read_bytes())
    return netCDF4.Dataset(path)


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
        with _LIBRARY, opened_netcdf(path) as file:
            result = xr.open_dataset(NetCDF4DataStore(file)).load()
        result.encoding["source"] = str(path)
        return ResultDataset.of(updated(result))
    except (OSError, ValueError, KeyError) as error:
        problem = "this is no NetCDF 4 file, or a damaged one"
        raise InputError(problem, code="bad_format", file=path, expected=EXPECTED) from error


def result_attributes(path: Path) -> dict[str, str]:
    """The attributes of a result as texts, without reading the numbers; none where there is no such file."""
    try:
        check_regular(os.stat(path), RESULT)
        with _LIBRARY, opened_netcdf(path) as file:
            return {name: str(file.getncattr(name)) for name in file.ncattrs()}
    except (OSError, ValueError, KeyError):
        return {}


def trial_from(trial: str | Path, folder: Path) -> dict[str, str]:
    """The attribute of a result in a folder that names its trial file from there."""
    return {TRIAL_FROM_RESULT: str(storable(name_in(folder.resolve(), Path(trial).resolve())))}


def trial_path(attributes: Mapping[str, Any], folder: Path | None) -> Path | None:
    """The trial file of a result in a folder: as named from there if it exists, else by its absolute path.

    A project that was copied or moved as a whole has its own trial file. None where the attributes name none; the file
    that is returned need not exist. `folder` is None where the result is of no file.
    """
    relative, absolute = (str(attributes.get(name, "")) for name in (TRIAL_FROM_RESULT, "trial_file"))
    if folder is not None and relative:
        own = Path(os.path.normpath(Path(os.path.realpath(folder)) / relative))
        if own.is_file():
            return own
    return Path(absolute) if absolute else None


def check_folder(folder: Path, name: str, trial: Path, attributes: Mapping[str, str] | None = None) -> None:
    """Refuse a folder in which the file `name` is the result of another trial, before anything is computed.

    A trial file of the same name that has moved is the same trial, and so is that of a copied project, `trial_path`; a
    file that names no trial may be replaced. `attributes` are its `result_attributes`, if they are known.
    """
    attributes = result_attributes(folder / name) if attributes is None else attributes
    there = trial_path(attributes, folder)
    if there is None or attributes.get("trial_file") == storable(os.path.realpath(trial)):
        return
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
    """Refuse to write a file of these names into a folder where it is one of the inputs of a trial."""
    given = {os.path.realpath(path) for path in inputs}
    for name in names:
        if os.path.realpath(folder / name) in given:
            raise InputError(
                "this is a file of the trial, and a table of this name is to be written: it would be lost",
                code="occupied_folder",
                file=folder / name,
                remedy="choose another folder with -o",
            )
