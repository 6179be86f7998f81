"""The cycles of all trials of a study in one file, written trial by trial and opened lazily.

Curves are stored in single precision in chunks of cycles, so that a selection reads what it needs and the memory of
whoever writes or reads does not grow with the number of trials.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.progress import Progress, no_progress
from musclesolve._util.written_files import HIDDEN
from musclesolve.errors import InputError
from musclesolve.results.cycles.cycle_averages import PROBLEM, check_alike
from musclesolve.results.cycles.normalisation import normalised
from musclesolve.results.files.atomic_writing import reserved
from musclesolve.results.files.result_netcdf import storable
from musclesolve.studies.study.cycles_file import CYCLES
from musclesolve.studies.study.run_study import ComputedStudy
from musclesolve.studies.study.statistics import UNCERTAINTY
from musclesolve.studies.study.study_file import Study
from musclesolve.version import __version__

DATA = "study.nc"
CYCLE = "cycle"
TEXT, NUMBER, CURVE, FLAG = str, np.dtype("f8"), np.dtype("f4"), np.dtype("i1")
OF_STUDY = ("trial", "subject", "group", "condition", "session")
"""Coordinates of the cycles that the study file gives."""
CHUNK = 64
"""Cycles in a chunk of the file."""


KEPT = (
    *("joint_angle", "joint_moment", "joint_power", "activation", "muscle_force", "reserve_moment"),
    *("joint_reaction", "knee_contact_medial", "knee_contact_lateral", "patellofemoral_force"),
    *("contact_force_component", "ground_reaction_force"),
)
"""Curves of the file, besides those that the design names; cycles.nc of every trial has the others."""


def write_study_data(computed: ComputedStudy, progress: Progress | None = None) -> Path | None:
    """Write the cycles of all trials of a study into study.nc, and return its path; None where there are no cycles.

    Quantities are in the units of the study. Each trial's cycles.nc is read twice: for its names, and for its numbers.

    Raises:
        InputError: forces of different muscles or costs, a unit that a subject's data do not allow, a full disk.
    """
    report = progress or no_progress
    files = [
        (name, record.folder / CYCLES)
        for name, record in computed.records.items()
        if record.outcome.has_result
    ]
    wanted = {*KEPT, *(computed.study.design["quantities"] or ())}
    layout = _Layout(wanted)
    for _, file in files:
        with xr.open_dataset(file, engine="netcdf4") as cycles:
            layout.add(cycles)
    path = computed.folder / DATA
    if not layout.cycles:
        path.unlink(missing_ok=True)
        return None
    beside = computed.folder / f"{HIDDEN}{DATA}"
    with reserved(computed.folder):
        try:
            with netCDF4.Dataset(beside, "w") as target:
                layout.create(target, computed)
                place = 0
                for number, (name, file) in enumerate(files):
                    report("cycles", number / len(files))
                    with xr.open_dataset(file, engine="netcdf4") as opened:
                        cycles = in_units(opened.load(), computed.study, name)
                    layout.write(target, place, cycles, _said(computed.study, name))
                    place += cycles.sizes[CYCLE]
            os.replace(beside, path)
        except OSError as error:
            problem = f"cannot be written: {error.strerror or error}"
            raise InputError(problem, code="not_writable", file=path, remedy="make room there") from error
        finally:
            beside.unlink(missing_ok=True)
    return path


def open_study(folder: str | Path) -> xr.Dataset:
    """Open the cycles of a study: curves are read where they are used, the coordinates of the cycles at once.

    Args:
        folder: that of the study's results, or study.nc in it.

    Raises:
        InputError: there is no study.nc, or it is damaged.
    """
    path = Path(folder) / DATA if os.path.isdir(folder) else Path(folder)
    try:
        return xr.open_dataset(path, engine="netcdf4")
    except (OSError, ValueError, KeyError) as error:
        problem = "there is no such file" if not path.exists() else "this is no study.nc, or a damaged one"
        expected = "the folder that was given to `musclesolve study` with -o"
        raise InputError(problem, code="missing_file", file=path, expected=expected) from error


def in_units(cycles: xr.Dataset, study: Study, name: str) -> xr.Dataset:
    """Return the cycles of a trial in the units of the study, by the mass and stature that it states."""
    trial = next(each for each in study.trials if each.name == name)
    for key in ("mass_kg", "stature_m"):
        if (stated := study.of_subject(trial.subject, key)) is not None:
            cycles.attrs[f"subject_{key}"] = stated
    spreads = {
        str(name): str(name).removesuffix(UNCERTAINTY) for name in cycles if str(name).endswith(UNCERTAINTY)
    }
    try:
        spread = normalised(cycles[list(spreads)].rename(spreads), study.units)
        of_spread = {name: spread[quantity].variable for name, quantity in spreads.items()}
        return normalised(cycles, study.units).assign(of_spread)
    except InputError as error:
        raise study.document.placed(error, "trials", name) from None


def _said(study: Study, name: str) -> dict[str, str]:
    """What the study file says of a trial, as coordinates of its cycles."""
    trial = next(each for each in study.trials if each.name == name)
    group = str(study.of_subject(trial.subject, "group", ""))
    return dict(zip(OF_STUDY, (name, trial.subject, group, trial.condition, trial.session), strict=True))


@dataclass
class _Layout:
    """Dimensions, labels and variables of the file, as all trials together have them."""

    wanted: set[str]  # curves
    cycles: int = 0
    labels: dict[str, dict[str, int]] = field(default_factory=dict)  # dimension -> label -> its place
    beside: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)  # texts of labels
    percent: Array = field(default_factory=lambda: np.empty(0))
    variables: dict[str, tuple[tuple[str, ...], Any]] = field(default_factory=dict)
    coordinates: dict[str, None] = field(default_factory=dict)  # over the cycles
    choices: list[xr.Dataset] = field(default_factory=list)  # without numbers

    def add(self, cycles: xr.Dataset) -> None:
        """Add the cycles of a trial, if it has any."""
        if not cycles.sizes[CYCLE]:
            return
        self.cycles += cycles.sizes[CYCLE]
        self.percent = cycles["percent"].values
        alike = {key: value for key, value in cycles.attrs.items() if key in PROBLEM}
        meaning = cycles["percent"].attrs.get("long_name")
        if not any(
            each.attrs == alike and each["percent"].attrs.get("long_name") == meaning for each in self.choices
        ):
            self.choices.append(xr.Dataset(coords={"percent": cycles["percent"]}, attrs=alike))
        for dim in set(cycles.dims) - {CYCLE, "percent"}:
            places = self.labels.setdefault(str(dim), {})
            for label in map(str, cycles[dim].values):
                places.setdefault(label, len(places))
        for name, variable in cycles.variables.items():
            text = variable.dtype.kind in "UO"
            if variable.dims and CYCLE not in variable.dims and name not in variable.dims and text:
                dim = str(variable.dims[0])
                known = self.beside.setdefault(str(name), (dim, {}))[1]
                known.update(zip(map(str, cycles[dim].values), map(str, variable.values), strict=True))
            if CYCLE not in variable.dims or (
                len(variable.dims) > 1 and str(name).removesuffix(UNCERTAINTY) not in self.wanted
            ):
                continue
            dims = (CYCLE, *(str(dim) for dim in variable.dims if dim != CYCLE))
            kind: Any = (
                TEXT if text else FLAG if variable.dtype.kind == "b" else CURVE if len(dims) > 1 else NUMBER
            )
            self.variables.setdefault(str(name), (dims, kind))
            if name in cycles.coords:
                self.coordinates[str(name)] = None

    def create(self, target: netCDF4.Dataset, computed: ComputedStudy) -> None:
        """Create dimensions and variables in the file."""
        check_alike(self.choices)
        size = {CYCLE: self.cycles, "percent": self.percent.size}
        size |= {dim: len(places) for dim, places in self.labels.items()}
        for dim, length in size.items():
            target.createDimension(dim, length)
        percent = target.createVariable("percent", NUMBER, ("percent",))
        percent[:] = self.percent
        percent.setncatts({"units": "%", "long_name": "share of the cycle"})
        for dim, places in self.labels.items():
            target.createVariable(dim, TEXT, (dim,))[:] = np.array(list(places), object)
        for name, (dim, texts) in self.beside.items():
            values = [texts.get(label, "") for label in self.labels[dim]]
            target.createVariable(name, TEXT, (dim,))[:] = np.array(values, object)
        for name, (dims, kind) in self.variables.items():
            if kind is CURVE:
                chunk = (min(CHUNK, self.cycles), *(size[dim] for dim in dims[1:]))
                target.createVariable(name, kind, dims, chunksizes=chunk, fill_value=np.float32(np.nan))
            else:
                stored = target.createVariable(name, kind, dims)
                if kind is FLAG:  # as xarray writes it
                    stored.setncattr("dtype", "bool")
        for name in OF_STUDY:
            target.createVariable(name, TEXT, (CYCLE,))
        common = self.choices[0].attrs if len(self.choices) == 1 else {}
        stated = {
            "title": storable(computed.study.title),
            "musclesolve_version": __version__,
            "coordinates": " ".join([*self.coordinates, *OF_STUDY, *self.beside]),
        }
        target.setncatts({**common, **stated})

    def write(self, target: netCDF4.Dataset, place: int, cycles: xr.Dataset, said: dict[str, str]) -> None:
        """Write the cycles of a trial from a place on."""
        count = cycles.sizes[CYCLE]
        if not count:
            return
        rows = slice(place, place + count)
        for name, text in said.items():
            target[name][rows] = np.array([storable(text)] * count, object)
        for name, (dims, kind) in self.variables.items():
            if name not in cycles.variables:
                continue
            variable = cycles[name].transpose(*dims)
            _same_unit(target[name], variable, said["trial"])
            if kind is TEXT:
                target[name][rows] = np.array([storable(str(each)) for each in variable.values], object)
                continue
            shape = (count, *(target.dimensions[dim].size for dim in dims[1:]))
            values = np.zeros(shape) if kind is FLAG else np.full(shape, np.nan)
            labels = [
                range(shape[k + 1])
                if dim == "percent"
                else [self.labels[dim][str(label)] for label in cycles[dim].values]
                for k, dim in enumerate(dims[1:])
            ]
            values[np.ix_(range(count), *labels)] = variable.values
            target[name][rows] = values.astype(kind)


def _same_unit(target: netCDF4.Variable, variable: xr.DataArray, trial: str) -> None:
    """Take over unit and meaning of the first trial; refuse another unit in a later one."""
    unit = str(variable.attrs.get("units", ""))
    known = getattr(target, "units", None)
    if known is None:
        target.units = unit
        if "long_name" in variable.attrs:
            target.long_name = storable(str(variable.attrs["long_name"]))
    elif known != unit:
        raise InputError(
            f"{variable.name} of {trial} is in {unit or 'no unit'}, that of other trials in {known or 'no unit'}",
            code="not_comparable",
            where=trial,
            expected="one unit for all trials of a study",
            remedy="compute the trials again with one version: --again",
        )


def add_to_cycles(path: Path, make: Callable[[xr.Dataset], xr.Dataset]) -> None:
    """Add variables over the cycles to study.nc that follow from all cycles together."""
    with xr.open_dataset(path, engine="netcdf4") as cycles:
        found = make(cycles).load()
    with netCDF4.Dataset(path, "a") as target:
        coordinates = str(target.getncattr("coordinates")).split()
        for name, variable in found.data_vars.items():
            values = variable.values
            kind: Any = TEXT if values.dtype.kind in "UO" else FLAG if values.dtype.kind == "b" else NUMBER
            stored = target.createVariable(str(name), kind, (CYCLE,))
            stored[:] = (
                np.array([storable(str(each)) for each in values], object)
                if kind is TEXT
                else values.astype(kind)
            )
            stored.setncatts({key: value for key, value in variable.attrs.items() if key != "threshold"})
            if kind is FLAG:
                stored.setncattr("dtype", "bool")
        target.setncattr("coordinates", " ".join([*coordinates, *map(str, found.data_vars)]))
