"""The file of a result, NetCDF 4: writing, reading, storable texts, and rules for replacing files in its folder."""

import errno
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from threading import RLock
from typing import Any

import netCDF4
import numpy as np
import xarray as xr
from xarray.backends import NetCDF4DataStore
from xarray.backends.common import ArrayWriter

from muscle_db.regular_file import RESULT, check_regular
from musclesolve._util.arrays import slices
from musclesolve.constants import RESULT_FILE
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.recording.trial_settings import QUESTIONS
from musclesolve.laboratory.results.dataset.checked import MODEL, check_moments, check_run
from musclesolve.laboratory.results.dataset.result_quantities import NO_CHARACTER, storable
from musclesolve.laboratory.results.dataset.windows import ARM_FRAMES
from musclesolve.laboratory.results.files.atomic_writing import Content
from musclesolve.muscles.muscle_state import zero_arms
from musclesolve.tables.text_file import check_input, file_path, is_file, name_in, no_file

TRIAL_FROM_RESULT = "trial_file_from_result"
"""Attribute of a result: the path of its trial file from the folder of the result."""


def with_storable_texts(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset whose attributes and texts can be written; the same dataset if they can already."""
    data = data.assign_attrs({key: storable(value) for key, value in data.attrs.items()})
    changed = {
        name: variable.copy(
            data=np.reshape([storable(str(text)) for text in variable.values.flat], variable.shape)
        )
        for name, variable in data.variables.items()
        if variable.dtype.kind in "UO"
        and any(NO_CHARACTER.search(str(text)) for text in variable.values.flat)
    }
    return data.assign(changed)


REMEDY = "name the result.nc in the folder that was given to `musclesolve run` with -o"
AGAIN = "copy the file again, or run the command again that made it"


_LIBRARY = RLock()
"""Lock for open files: the HDF5 library ends the program if two threads use it at the same time."""
SIZE = 1 << 20
"""Initial size of a file in memory [bytes]; the file grows as needed."""

CHECKED = {"fletcher32": True}
"""Checksums of numbers: the HDF5 library refuses to read numbers that have changed on disk."""
COMPRESSED = {"zlib": True, "complevel": 1, "shuffle": False, **CHECKED}
"""Compression of moment arms, two thirds of a result and mostly zeros: the file shrinks to 40 %, in 15 ms more."""

PACKED = {"zlib": True, "complevel": 1, "shuffle": True, **CHECKED}
"""Compression of all numbers of a trial of a data set."""

MOST_DECLARED, MOST_PACKED = 1 << 30, 1000
"""Size of the numbers that a file may declare [bytes], and its ratio to the size of the file above which it is refused
beyond that: moment arms, mostly zeros, are packed to a fortieth.
"""
DAMAGED = (
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
    AttributeError,
    TypeError,
    ArithmeticError,
    MemoryError,
)
"""What the libraries raise where a file is no NetCDF or is damaged, down to a lost attribute or an impossible size."""
LARGE = 1 << 26
"""Size of the numbers beyond which a result is written on disk instead of in memory [bytes]."""
CACHE = 1 << 20
"""Size of the chunks of a variable that the library holds in memory while it reads or writes a result [bytes]."""
FRAMES = 1024
"""Number of frames that are made and written together, of narrow variables over time or of a table."""


class _Later(ArrayWriter):
    """A writer that delays numbers until all variables exist: a header after numbers rewrites all headers."""

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        """See ArrayWriter."""
        del region
        self.sources.append(source)
        self.targets.append(target)

    def write(self, lazy: Mapping[Any, xr.Variable]) -> None:
        """Write the numbers; lazy: variables that are read and written some frames at a time."""
        for source, target in zip(self.sources, self.targets, strict=True):
            variable = lazy.get(target.variable_name)
            if variable is None:
                target[...] = source
            elif len(variable):
                for block in slices(len(variable), _together(variable)):
                    target[block] = variable[block].values


def netcdf_bytes(result: xr.Dataset) -> bytes:
    """A result as the content of a NetCDF 4 file.

    Made in memory: on a full disk, or stopped half-way, the HDF5 library leaves broken files and may end the program.
    """
    with _LIBRARY:
        file = netCDF4.Dataset("memory", "w", memory=SIZE)
        try:
            _dump(result, file)
        except BaseException:
            file.close()
            raise
        return bytes(file.close())


def result_content(result: xr.Dataset, small: bool = False) -> Content:
    """The content of a result for `write_files`: its bytes, or a function where these are too many for memory.

    small: all numbers are compressed; a file made in memory would be a multiple of 256 kB.
    """
    if result.nbytes <= LARGE and not small:
        return netcdf_bytes(result)

    def write(path: Path) -> None:
        """Write the file beside its place; refused before it begins where the disk has no room for it."""
        if shutil.disk_usage(path.parent).free < result.nbytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with _LIBRARY, _small_cache(), netCDF4.Dataset(path, "w") as file:
            _dump(result, file, PACKED if small else CHECKED)

    return write


@contextmanager
def _small_cache() -> Iterator[None]:
    """Within it, variables of files that are opened hold `CACHE` bytes each in memory until their file is closed."""
    usual = netCDF4.get_chunk_cache()
    netCDF4.set_chunk_cache(CACHE)
    try:
        yield
    finally:
        netCDF4.set_chunk_cache(*usual)


def _dump(result: xr.Dataset, file: netCDF4.Dataset, stored: Mapping[str, Any] = CHECKED) -> None:
    """Write a result into an open file; stored: encoding of numbers."""
    writer = _Later()
    later = {
        name: variable
        for name, variable in result.variables.items()
        if variable.dims[:1] == ("time",) and variable.ndim > 1 + (len(variable) <= FRAMES)
    }
    encoding: dict[Any, dict[str, Any]] = {
        name: COMPRESSED if {"dof", "muscle"} <= set(variable.dims) and name in later else dict(stored)
        for name, variable in result.variables.items()
        if variable.ndim and variable.size and variable.dtype.kind in "fiub"
    }
    encoding |= {name: encoding[name] | _chunks(array) for name, array in later.items() if name in encoding}
    # these are read only after the others are written
    empty = {
        name: (array.dims, np.broadcast_to(array.dtype.type(), array.shape), array.attrs)
        for name, array in later.items()
    }
    with_storable_texts(result.assign(empty)).dump_to_store(
        NetCDF4DataStore(file), writer=writer, encoding=encoding
    )
    writer.write(later)


def _together(variable: xr.Variable) -> int:
    """Number of frames of a variable that are made and written together."""
    return ARM_FRAMES if variable.ndim > 2 else FRAMES


def _chunks(variable: xr.Variable) -> dict[str, Any]:
    """Encoding with chunks of some frames for a long variable, so that each chunk is written once."""
    sizes = min(_together(variable), len(variable)), *variable.shape[1:]
    return {"chunksizes": sizes} if len(variable) > FRAMES else {}


def opened_netcdf(path: Path) -> netCDF4.Dataset:
    """Open a file whose name may contain bytes that are no text, which the library cannot take.

    Raises:
        InputError: it declares far more numbers than it can hold.
        OSError: it is no NetCDF, or it is damaged; reading its numbers raises one of `DAMAGED`.
    """
    try:
        str(path).encode()
        file = netCDF4.Dataset(path)
    except UnicodeEncodeError:
        file = netCDF4.Dataset("memory", memory=path.read_bytes())
    declared = sum(
        prod(variable.shape) * getattr(variable.dtype, "itemsize", 1) for variable in file.variables.values()
    )
    size = path.stat().st_size
    if declared > max(MOST_DECLARED, MOST_PACKED * size):
        file.close()
        sizes = f"declares {declared / 1e9:.1f} GB of numbers, and has {size / 1e6:.3f} MB"
        raise _no_result(path, f"the file {sizes}", "bad_format", AGAIN)
    return file


def _no_result(path: Path, problem: str, code: str, remedy: str) -> InputError:
    return file_error(code, path, problem, "a result.nc of `musclesolve run`", remedy)


def read_result(path: str | Path) -> xr.Dataset:
    """Read a result into memory.

    Raises:
        InputError: there is no such file, it is not NetCDF 4 or damaged, lacks a part of a result, or its muscle forces
            do not produce its joint moments.

    Examples:
        >>> ms.run(ms.data.reference_stride()).to_netcdf("result.nc")
        >>> ms.read_result("result.nc").sizes["side"]
        2
    """
    path = file_path(path)
    if os.path.isdir(path):
        inside = path / RESULT_FILE
        remedy = f"did you mean {inside}?" if inside.is_file() else REMEDY
        raise _no_result(path, "this is a folder", "missing_file", remedy)
    if not is_file(path):
        raise _no_result(path, no_file(path).problem, "missing_file", REMEDY)
    check_input(path, RESULT)
    try:
        with _LIBRARY, _small_cache(), opened_netcdf(path) as file:
            result = _by_frames(xr.open_dataset(NetCDF4DataStore(file))).load()
    except InputError:
        raise
    except DAMAGED as error:
        remedy = f"musclesolve run {shlex.quote(str(path))} computes one" if path.suffix == ".toml" else AGAIN
        raise _no_result(path, "this is no NetCDF 4 file, or a damaged one", "bad_format", remedy) from error
    result.encoding["source"] = str(path)
    result.set_close(None)  # the file is closed
    check_run(result)
    check_moments(result)
    return result


def opened_result(path: Path) -> xr.Dataset:
    """Open a result that this program wrote; its numbers are read from the file each time they are needed."""
    with _LIBRARY, _small_cache():
        result = xr.open_dataset(NetCDF4DataStore(opened_netcdf(path)), cache=False)
    result.encoding["source"] = str(path)
    return result


def _by_frames(stored: xr.Dataset) -> xr.Dataset:
    """A stored dataset whose moment arms are read some frames at a time: what is zero throughout takes no memory."""
    read = {}
    for name, variable in stored.variables.items():
        if variable.dims != ("time", "dof", "muscle") or variable.dtype != float:
            continue
        values = zero_arms(*variable.shape)
        # a chunk is read as a whole
        at_once = int((variable.encoding.get("chunksizes") or variable.shape)[0])
        for block in slices(len(variable), max(at_once, FRAMES)):
            some = variable[block].values
            crossed = (some != 0.0).any(axis=0)
            values[block][:, crossed] = some[:, crossed]
        read[name] = variable.copy(data=values)
    return stored.assign(read)


def result_attributes(path: Path) -> dict[str, str]:
    """The attributes of a result as texts, without reading the numbers; none where no file of results can be read."""
    try:
        check_regular(os.stat(path), RESULT)
        with _LIBRARY, opened_netcdf(path) as file:
            return {name: str(file.getncattr(name)) for name in file.ncattrs()}
    except (*DAMAGED, InputError):
        return {}


ASKED = "asked"
"""Attribute of an answer beside a result: the settings of the question, as JSON."""


def answers_beside(result: Path) -> list[Path]:
    """The answer files that were made with a result, without files of commands with other options."""
    files = (result.with_name(f"{name}.nc") for name in QUESTIONS)
    return [file for file in files if ASKED in result_attributes(file)]


def read_answers(folder: Path) -> dict[str, xr.Dataset]:
    """The answers beside a result, by the names of the questions."""
    return {name: read_result(file) for name in QUESTIONS if (file := folder / f"{name}.nc").is_file()}


def trial_from(trial: str | Path, folder: Path) -> dict[str, str]:
    """The attribute of a result with the path of its trial file relative to the folder of the result."""
    return {TRIAL_FROM_RESULT: str(storable(name_in(folder.resolve(), Path(trial).resolve())))}


def trial_path(attributes: Mapping[str, Any], folder: Path | None) -> Path | None:
    """The trial file of a result in a folder: as named from there if it exists, else by its absolute path.

    A project that was copied or moved as a whole has its own trial file. None where the attributes name none; the file
    that is returned need not exist. `folder` is None where the result is of no file.
    """
    relative, absolute = (str(attributes.get(name, "")) for name in (TRIAL_FROM_RESULT, "trial_file"))
    if folder is not None and relative:
        beside = Path(os.path.normpath(Path(os.path.realpath(folder)) / relative))
        if beside.is_file():
            return beside
    return Path(absolute) if absolute else None


def check_folder(folder: Path, name: str, trial: Path, attributes: Mapping[str, str] | None = None) -> None:
    """Refuse a folder in which the file `name` is the result of another trial, before anything is computed.

    A trial file of the same name that has moved is the same trial, and so is the trial file of a copied project,
    `trial_path`; a file that names no trial may be replaced. `attributes` are its `result_attributes`, if they are
    known.
    """
    attributes = result_attributes(folder / name) if attributes is None else attributes
    there = trial_path(attributes, folder)
    if there is None or attributes.get("trial_file") == storable(os.path.realpath(trial)):
        return
    has_moved = there.name == storable(trial.name) and not os.path.exists(there)
    if os.path.realpath(there) != os.path.realpath(trial) and not has_moved:
        raise _occupied(folder / name, "trial", there) if os.path.exists(trial) else no_file(trial)


def check_model(folder: Path, name: str, trial: Path, model: Path) -> None:
    """Refuse a folder in which the file `name` is the result of another trial (`check_folder`), or another model.

    The model of a project that was copied lies beside the trial as the original does.
    """
    attributes = result_attributes(folder / name)
    check_folder(folder, name, trial, attributes)
    there, original = (attributes.get(key, "") for key in (MODEL, "trial_file"))
    if not there or (Path(there).name == storable(model.name) and not os.path.exists(there)):
        return
    copied = Path(os.path.realpath(trial)).parent / name_in(Path(original).parent, Path(there))
    if storable(os.path.realpath(model)) not in (there, os.path.normpath(copied)):
        raise _occupied(folder / name, "model", there)


def _occupied(path: Path, of: str, there: str | Path) -> InputError:
    return file_error(
        "occupied_folder",
        path,
        f"this is the result of another {of}, {there}",
        f"a new folder, or the folder of the same {of}",
        "choose another folder with -o, or remove this one first",
    )


def check_inputs(inputs: Iterable[Path], folder: Path, names: Iterable[str]) -> None:
    """Refuse to overwrite an input of a trial by a file of these names in a folder."""
    real = {os.path.realpath(path) for path in inputs}
    for name in names:
        if os.path.realpath(folder / name) in real:
            raise file_error(
                "occupied_folder",
                folder / name,
                "this is a file of the trial, and a table of this name is to be written: it would be lost",
                remedy="choose another folder with -o",
            )
