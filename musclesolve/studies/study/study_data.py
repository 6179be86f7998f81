"""The cycles of all trials of a study in one file, written trial by trial and opened lazily.

Curves are stored in single precision in chunks of cycles, so that a selection reads its own data and the memory of
whoever writes or reads does not grow with the number of trials.
"""

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.messages import Progress, no_progress, shortened
from musclesolve.constants import STUDY_FILE
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.results.cycles.cycle_averages import PROBLEM, check_alike, common
from musclesolve.laboratory.results.cycles.gait_cycles import SPREAD, STRENGTH
from musclesolve.laboratory.results.cycles.movement_landmarks import CYCLES_ATTRIBUTE, NO_CYCLE, WITHOUT_LEGS
from musclesolve.laboratory.results.cycles.normalization import OF_SUBJECT, normalized
from musclesolve.laboratory.results.dataset.quantities import KINDS, in_set
from musclesolve.laboratory.results.dataset.result_quantities import storable, texts
from musclesolve.laboratory.results.files.atomic_writing import written_whole
from musclesolve.laboratory.results.files.result_netcdf import DAMAGED, opened_netcdf
from musclesolve.laboratory.results.finding import Finding
from musclesolve.studies.many_trials.one_trial import RESULT
from musclesolve.studies.study.cycles_file import CYCLES
from musclesolve.studies.study.run_study import ComputedStudy
from musclesolve.studies.study.study_file import Study
from musclesolve.studies.study.study_findings import (
    LegVerdict,
    Unusable,
    findings_of_result,
    leg_verdicts,
    unusable,
)
from musclesolve.tables.text_file import file_path
from musclesolve.version import __version__

DATA = STUDY_FILE
CYCLE = "cycle"
TEXT, NUMBER, CURVE, FLAG = str, np.dtype("f8"), np.dtype("f4"), np.dtype("i1")
OF_STUDY = ("trial", "subject", "group", "condition", "session")
"""Coordinates of the cycles that the study file gives."""
EXTENDS = "extension_positive"
"""Attribute of cycles: coordinates that are positive in extension or plantarflexion."""
OF_FILE = ("left_out", "no_answer", EXTENDS, *OF_SUBJECT.values())
"""Attributes of the cycles of a trial that the analysis needs."""
CHUNK = 64
"""Cycles in a chunk of the file."""
NOT_USABLE = "not usable"
KEEP = "mend it, or keep it: state the reason in its column keep"
"""Text and remedy for a trial with an error."""
OTHER_MOVEMENT = "another movement"
REMEDY = (
    "compute it in a study of its own, exclude it, or state its movement and cycles_s in the table of trials"
)
STATE_CYCLES = "state cycles within its frames in the column cycles_s: [[start, end]], in seconds"
WIDEN = "widen its range (columns start_s, end_s) if more was measured, or"
"""Remedies for a trial of another movement, for one without cycles, and for one whose legs show cycles."""


@dataclass(frozen=True)
class Collected:
    """Outcome of the collection of the cycles of the trials of a study.

    Args:
        path: study.nc; None where there are no cycles.
        not_averaged: name of a trial with a result -> why no cycle of it is in study.nc.
        findings, verdicts: name of a trial with a result -> what is stored with it.
        notes: on masses that differ.
        sizes: subject -> mass_kg and stature_m that trial files and models state, means over its trials.
    """

    path: Path | None = None
    not_averaged: Mapping[str, str] = field(default_factory=dict)
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    verdicts: Mapping[str, Sequence[LegVerdict]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sizes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def write_study_data(computed: ComputedStudy, progress: Progress | None = None) -> Collected:
    """Write the cycles of the trials of a study into study.nc.

    Equal percentages must have the same meaning in all curves: of several movements the one of most trials is written,
    or the first one of equally many. Quantities are in the units of the study. Each trial's cycles.nc is read twice:
    for its names, and for its numbers.
    """
    report, study = progress or no_progress, computed.study
    trials, verdicts = list[_Trial](), dict[str, Sequence[LegVerdict]]()
    for name, record in computed.records.items():
        if record.outcome.has_result:
            with _opened(record.folder / RESULT) as result:
                verdicts[name] = leg_verdicts(name, result)
                stated = CYCLES_ATTRIBUTE in result.ncattrs()
                trials.append(_Trial(name, record.folder / CYCLES, findings_of_result(result), study, stated))
    # cycles.nc of every trial has the other curves
    wanted = {*in_set("study"), *(study.design.quantities or ()), *study.outcome_variables}
    layouts = dict[str, _Layout]()
    for number, trial in enumerate(trials):
        report("names", 0.3 * number / len(trials))
        with _opened(trial.file) as source:
            trial.look(source)
            if trial.kind:
                layouts.setdefault(trial.kind, _Layout(wanted)).add(source, trial.count)
    path = computed.folder / DATA
    count = Counter(trial.kind for trial in trials if trial.kind)
    used = max(layouts, key=lambda kind: count[kind], default="")
    for trial in trials:
        if trial.kind != used:
            trial.why = (
                trial.why or f"{OTHER_MOVEMENT}: a {trial.kind}, where most trials have a {used}; {REMEDY}"
            )
    if used:
        with _written(path) as target:
            layouts[used].create(target, computed)
            of_kind = [trial for trial in trials if trial.kind == used]
            place, waiting = 0, list[dict[str, AnyArray]]()
            for number, trial in enumerate(of_kind):
                report("cycles", 0.3 + 0.7 * number / len(of_kind))
                cycles = in_units(_read(trial.file, wanted), study, trial.name)
                if trial.spoiled:
                    cycles = cycles.isel(cycle=np.flatnonzero(_counting(trial.spoiled, cycles)))
                waiting.append(layouts[used].arrays(target, cycles, _said(study, trial.name)))
                # some trials at a time, as whole chunks of the file are
                more = sum(block["trial"].size for block in waiting)
                if more >= CHUNK or trial is of_kind[-1]:
                    for name in waiting[0] if more else ():
                        target[name][place : place + more] = np.concatenate([part[name] for part in waiting])
                    place, waiting = place + more, []
    else:
        path.unlink(missing_ok=True)
    return Collected(
        path if used else None,
        {trial.name: trial.why for trial in trials if trial.why},
        {trial.name: trial.findings for trial in trials},
        verdicts,
        tuple(_notes(trials)),
        _mean_sizes(trials),
    )


@dataclass
class _Trial:
    """The cycles of a trial with a result, as the first reading of their file finds them."""

    name: str
    file: Path
    findings: tuple[Finding, ...]
    study: Study
    stated: bool  # whether its cycles are
    attrs: dict[str, Any] = field(default_factory=dict)  # of the file, see OF_FILE
    dofs: tuple[str, ...] = ()  # degrees of freedom of its curves
    kind: str = ""  # of its cycles; "" where none is averaged
    why: str = ""  # why none is averaged
    count: int = 0  # cycles that count
    lost: int = 0  # cycles that do not

    @cached_property
    def spoiled(self) -> Sequence[Unusable]:
        """Errors that spoil cycles, unless the study file keeps the trial."""
        return () if self.study.trial_of[self.name].keep else unusable(self.findings)

    def look(self, source: netCDF4.Dataset) -> None:
        """Read from the file which cycles count, or why none does."""
        self.attrs = {key: source.getncattr(key) for key in OF_FILE if key in source.ncattrs()}
        self.dofs = tuple(source["dof"][:].tolist()) if "dof" in source.variables else ()
        if not source.dimensions[CYCLE].size:
            reasons = dict.fromkeys(map(_without_file, texts(self.attrs.get("left_out"))))
            why = "; ".join(reasons) or "it has no cycles"
            self.why = f"{why}; {'' if WITHOUT_LEGS in why else f'{WIDEN} '}{STATE_CYCLES}"
            return
        counting = _counting(self.spoiled, source)
        self.count, self.lost = int(counting.sum()), int((~counting).sum())
        if lacking := self._lacking_size(source):
            self.why = lacking
        elif not self.count:
            self.why = f"{NOT_USABLE}: {self.spoiled[0].what}; {KEEP}"
        else:
            self.kind = str(getattr(source["percent"], "long_name", "cycle"))

    def _lacking_size(self, source: netCDF4.Dataset) -> str:
        """Return the reason why the trial cannot be stated in the units of the study; "" where it can."""
        trial = self.study.trial_of[self.name]
        for kind, rules in KINDS.items():
            unit = self.study.units[kind]
            for size in rules.units[unit].by:
                key = OF_SUBJECT.get(size, "")
                what = key.removeprefix("subject_")
                needed = bool(key) and any(name in source.variables for name in rules.names)
                if needed and what not in trial.body and key not in self.attrs:
                    return (
                        f"the {size} of {trial.subject} is not known, which {kind} in {unit} needs: state it in the "
                        f'column {what}, or another unit in the study file: [units] {kind} = "{rules.base}"'
                    )
        return ""


def _notes(trials: Sequence[_Trial]) -> Iterator[str]:
    """Yield notes on signs that differ, cycles that do not count, and questions without an answer."""
    odd, stated, unanswered = list[str](), list[str](), dict[str, list[str]]()
    for trial in trials:
        said = [f"{trial.name}: {_without_file(text)}" for text in texts(trial.attrs.get("left_out"))]
        odd += [text for text in said if NO_CYCLE in text]
        stated += said if trial.stated and trial.kind else []
        for text in texts(trial.attrs.get("no_answer")):
            unanswered.setdefault(text, []).append(trial.name)
    if not any(trial.kind for trial in trials):
        return
    for trial in trials:
        if trial.lost and not trial.why:
            total = trial.count + trial.lost
            yield f"{trial.name}: {trial.lost} of {total} cycles do not count: {trial.spoiled[0].what}; {KEEP}"
    yield from _opposite_signs([trial for trial in trials if not trial.why])
    if odd:
        yield f"left out for their length: {shortened(odd)}"
    if stated:
        yield f"stated cycles that are left out: {shortened(stated)}; {STATE_CYCLES}"
    for text, names in unanswered.items():
        yield f"without an answer: {text} ({shortened(names)})"


def _without_file(text: str) -> str:
    """The reason for a cycle that is left out, without the name of the trial file before it."""
    return re.sub(r"^[^,:]*[,:] ", "", text)


def _opposite_signs(trials: Sequence[_Trial]) -> Iterator[str]:
    """Yield a sentence on each coordinate that is positive in extension in some trials and in flexion in others."""
    signs = dict[str, dict[bool, list[str]]]()
    for trial in trials:
        extended = texts(trial.attrs.get(EXTENDS))
        for dof in trial.dofs:
            signs.setdefault(dof, {True: [], False: []})[dof in extended].append(trial.name)
    for dof, names in signs.items():
        if all(names.values()):
            yield (
                f"{dof} is positive in extension or plantarflexion in {shortened(names[True])}, and in flexion or "
                f"dorsiflexion in {shortened(names[False])}: its angles and moments are averaged with both signs, and "
                "its means and tests have no meaning; compute the trials of each sign in a study of its own"
            )


def _mean_sizes(trials: Sequence[_Trial]) -> dict[str, dict[str, float]]:
    """Subject -> mass_kg and stature_m, means over the trials."""
    sizes = dict[str, dict[str, list[float]]]()
    for trial in trials:
        for key in OF_SUBJECT.values():
            if key in trial.attrs:
                of = sizes.setdefault(trial.study.trial_of[trial.name].subject, {})
                of.setdefault(key.removeprefix("subject_"), []).append(float(trial.attrs[key]))
    return {name: {key: float(np.mean(size)) for key, size in of.items()} for name, of in sizes.items()}


def _counting(spoiled: Sequence[Unusable], cycles: netCDF4.Dataset | xr.Dataset) -> Mask:
    """Return which cycles of a trial no error spoils, (C,)."""
    side, start, end = (np.asarray(cycles[f"cycle_{key}"][:]) for key in ("side", "start", "end"))
    spoils = [record.spoils(side.astype(str), start, end) for record in spoiled]
    return ~np.any([np.zeros(len(side), bool), *spoils], axis=0)


@contextmanager
def _written(path: Path) -> Iterator[netCDF4.Dataset]:
    """Open a file that replaces `path` when complete; a full disk is reported, which netCDF4 does without OSError."""
    try:
        with written_whole(path) as beside, netCDF4.Dataset(beside, "w") as target:
            yield target
    except RuntimeError as error:
        free = shutil.disk_usage(path.parent).free / 1e6
        raise file_error(
            "not_writable",
            path,
            f"cannot be written: {error} ({free:.0f} MB are free there)",
            remedy="choose another place with -o, or make room or permission there",
        ) from error


@contextmanager
def _opened(file: Path) -> Iterator[netCDF4.Dataset]:
    """The cycles of a trial, or its result."""
    try:
        with opened_netcdf(file) as source:
            yield source
    except (OSError, RuntimeError) as error:
        raise file_error(
            "bad_result",
            file,
            f"it cannot be read: {getattr(error, 'strerror', None) or error}",
            remedy="delete this file: the next call writes it again",
        ) from error


def open_study(folder: str | Path) -> xr.Dataset:
    """Open the cycles of a study: curves are read where they are used, the coordinates of the cycles at once.

    Args:
        folder: folder of the study's results, or study.nc in it.

    Returns:
        Dataset over cycle, percent, dof, muscle, joint and axis, as of `cycles`, with subject, group and condition.

    Raises:
        InputError: there is no study.nc, or it is damaged.

    Examples:
        >>> data = ms.studies.make_dataset(ms.data.reference_stride().parent, "walks", jobs=1)   # drafts a study
        >>> study = ms.studies.run_study("walks/inputs/study.toml", "study", jobs=1)
        >>> ms.studies.open_study("study").sizes["percent"]
        101
    """
    path = file_path(folder)
    path = path / DATA if os.path.isdir(path) else path
    try:
        cycles = xr.open_dataset(path, engine="netcdf4")
        for coordinate in cycles.coords.values():
            coordinate.variable.load()
        return cycles
    except DAMAGED as error:
        raise input_error(
            "studies.no_such_file" if not path.exists() else "studies.no_study_nc_damaged", file=path
        ) from error


def in_units(cycles: xr.Dataset, study: Study, name: str) -> xr.Dataset:
    """Return the cycles of a trial in the units of the study, by the mass and stature that it states."""
    trial = study.trial_of[name]
    for key in ("mass_kg", "stature_m"):
        if key in trial.body:
            cycles.attrs[f"subject_{key}"] = trial.body[key]
    spreads = {str(name): str(name).removesuffix(SPREAD) for name in cycles if str(name).endswith(SPREAD)}
    try:
        in_their_units = normalized(cycles, study.units)
        if not spreads:
            return in_their_units
        spread = normalized(cycles[list(spreads)].rename(spreads), study.units)
        return in_their_units.assign({name: spread[label].variable for name, label in spreads.items()})
    except InputError as error:
        raise error.moved(*study.place(trial)) from None


def _said(study: Study, name: str) -> dict[str, str]:
    """Return the data of a trial in the study file, as coordinates of its cycles."""
    trial = study.trial_of[name]
    group = str(study.of_subject(trial.subject, "group", ""))
    return dict(zip(OF_STUDY, (name, trial.subject, group, trial.condition, trial.session), strict=True))


def _read(file: Path, wanted: Collection[str]) -> xr.Dataset:
    """Read the cycles of a trial with the wanted curves from the file of `cycles_file`."""
    with xr.open_dataset(file, engine="netcdf4") as source:
        curves = (str(name) for name, variable in source.variables.items() if _is_curve(variable.dims))
        unwanted = [name for name in curves if name != STRENGTH and name.removesuffix(SPREAD) not in wanted]
        return source.drop_vars(unwanted).load()


def _coordinates(source: netCDF4.Dataset) -> set[str]:
    """The coordinates that a file names, as xarray writes them, and its dimensions."""
    owners: list[netCDF4.Dataset | netCDF4.Variable] = [source, *source.variables.values()]
    texts = (str(owner.getncattr("coordinates")) for owner in owners if "coordinates" in owner.ncattrs())
    return {*source.dimensions, *" ".join(texts).split()}


def _kind(variable: netCDF4.Variable) -> Any:
    """Return the type with which a variable over the cycles is stored."""
    if variable.dtype is str:
        return TEXT
    if "dtype" in variable.ncattrs() and variable.getncattr("dtype") == "bool":
        return FLAG
    return CURVE if len(variable.dimensions) > 1 else NUMBER


def _created(target: netCDF4.Dataset, name: str, kind: Any, dims: tuple[str, ...]) -> netCDF4.Variable:
    """A new variable of a file; truth values as xarray writes them."""
    stored = target.createVariable(name, kind, dims)
    if kind is FLAG:
        stored.setncattr("dtype", "bool")
    return stored


def _is_curve(dims: Collection[Hashable]) -> bool:
    return CYCLE in dims and len(dims) > 1


@dataclass
class _Layout:
    """Dimensions, labels and variables of the file, joined from all trials."""

    wanted: set[str]  # curves
    cycles: int = 0
    labels: dict[str, dict[str, None]] = field(default_factory=dict)  # dimension -> its labels
    beside: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)  # texts of labels
    percent: Array = field(default_factory=lambda: np.empty(0))
    variables: dict[str, tuple[tuple[str, ...], Any]] = field(default_factory=dict)
    coordinates: dict[str, None] = field(default_factory=dict)  # over the cycles
    units: dict[str, str] = field(default_factory=dict)  # of the variables
    # without numbers
    choices: dict[tuple[str, str, tuple[str, ...]], xr.Dataset] = field(default_factory=dict)

    def add(self, source: netCDF4.Dataset, count: int) -> None:
        """Add the names in the cycles of a trial, of which `count` cycles count."""
        self.cycles += count
        self.percent = source["percent"][:].data
        labels = {dim: source[dim][:].tolist() for dim in source.dimensions if dim not in (CYCLE, "percent")}
        stated = (*PROBLEM, EXTENDS)
        alike = {key: source.getncattr(key) for key in source.ncattrs() if key in stated}
        meaning, muscles = getattr(source["percent"], "long_name", ""), tuple(labels.get("muscle", ()))
        if (choice := (str(alike), meaning, muscles)) not in self.choices:
            percent = xr.Variable("percent", self.percent, {"long_name": meaning})
            self.choices[choice] = xr.Dataset(
                coords={"percent": percent, "muscle": list(muscles)}, attrs=alike
            )
        for dim, names in labels.items():
            self.labels.setdefault(dim, {}).update(dict.fromkeys(names))
        coordinates = _coordinates(source)
        for name, variable in source.variables.items():
            dims, kind = variable.dimensions, _kind(variable)
            if len(dims) == 1 and CYCLE not in dims and name not in dims and kind is TEXT:
                known = self.beside.setdefault(name, (dims[0], {}))[1]
                known.update(zip(labels[dims[0]], variable[:].tolist(), strict=True))
            if CYCLE not in dims or (_is_curve(dims) and name.removesuffix(SPREAD) not in self.wanted):
                continue
            self.variables.setdefault(name, ((CYCLE, *(dim for dim in dims if dim != CYCLE)), kind))
            if name in coordinates:
                self.coordinates[name] = None

    def create(self, target: netCDF4.Dataset, computed: ComputedStudy) -> None:
        """Create dimensions and variables in the file."""
        choices = list(self.choices.values())
        check_alike(choices)
        size = {CYCLE: self.cycles, "percent": self.percent.size}
        size |= {dim: len(labels) for dim, labels in self.labels.items()}
        for dim, length in size.items():
            target.createDimension(dim, length)
        percent = target.createVariable("percent", NUMBER, ("percent",))
        percent[:] = self.percent
        percent.setncatts({"units": "%", "long_name": "share of the cycle"})
        for dim, labels in self.labels.items():
            target.createVariable(dim, TEXT, (dim,))[:] = np.array(list(labels), object)
        for name, (dim, known) in self.beside.items():
            values = [known.get(label, "") for label in self.labels[dim]]
            target.createVariable(name, TEXT, (dim,))[:] = np.array(values, object)
        for name, (dims, kind) in self.variables.items():
            if kind is CURVE:
                chunk = (min(CHUNK, self.cycles), *(size[dim] for dim in dims[1:]))
                stored = target.createVariable(
                    name, kind, dims, chunksizes=chunk, fill_value=np.float32(np.nan)
                )
                # two chunks: the library would keep 16 MB of every variable that has long been written
                stored.set_var_chunk_cache(2 * int(np.prod(chunk)) * CURVE.itemsize)
            else:
                _created(target, name, kind, dims)
        for name in OF_STUDY:
            target.createVariable(name, TEXT, (CYCLE,))
        stated = {
            "title": storable(computed.study.title),
            "musclesolve_version": __version__,
            "coordinates": " ".join([*self.coordinates, *OF_STUDY, *self.beside]),
        }
        target.setncatts({**common(choices), **stated})

    def arrays(
        self, target: netCDF4.Dataset, cycles: xr.Dataset, said: Mapping[str, str]
    ) -> dict[str, AnyArray]:
        """The cycles of a trial as the file has them: every variable (cycles, ...) with the labels of all trials."""
        count = cycles.sizes[CYCLE]
        arrays: dict[str, AnyArray] = {
            name: np.array([storable(text)] * count, object) for name, text in said.items()
        }
        every = {dim: list(labels) for dim, labels in self.labels.items() if dim in cycles.dims}
        cycles = cycles.reindex(every, copy=False)
        for name, (dims, kind) in self.variables.items():
            if name not in cycles.variables or not count:
                shape = (count, *(target.dimensions[dim].size for dim in dims[1:]))
                empty: Any = {TEXT: "", FLAG: 0}.get(kind, np.nan)
                arrays[name] = np.full(shape, empty, object if kind is TEXT else kind)
                continue
            variable = cycles.variables[name].transpose(*dims)
            self._same_unit(target[name], name, variable.attrs, said["trial"])
            if kind is TEXT:
                labels = [said["trial"]] * count if name == "cycle_trial" else variable.values
                arrays[name] = np.array([storable(str(entry)) for entry in labels], object)
            else:
                arrays[name] = variable.values.astype(kind)
        return arrays

    def _same_unit(self, target: netCDF4.Variable, name: str, attrs: Mapping[str, Any], trial: str) -> None:
        """Take over unit and meaning of the first trial; refuse another unit in a later one."""
        unit = str(attrs.get("units", ""))
        if (known := self.units.setdefault(name, unit)) != unit:
            raise input_error(
                "not_comparable",
                where=trial,
                problem=f"{name} of {trial} is in {unit or 'no unit'}, in other trials in {known or 'no unit'}",
                expected="one unit for all trials of a study",
                remedy="compute the trials again with one version: --again",
            )
        if "units" not in target.ncattrs():
            target.units = unit
            for key in {"long_name", "description"} & set(attrs):
                target.setncattr(key, storable(str(attrs[key])))


def add_to_cycles(path: Path, make: Callable[[xr.Dataset], xr.Dataset]) -> None:
    """Add variables over the cycles to study.nc that follow from all cycles together."""
    with xr.open_dataset(path, engine="netcdf4") as cycles:
        added = make(cycles).load()
    with netCDF4.Dataset(path, "a") as target:
        coordinates = str(target.getncattr("coordinates")).split()
        for name, variable in added.data_vars.items():
            values = variable.values
            kind: Any = TEXT if values.dtype.kind in "UO" else FLAG if values.dtype.kind == "b" else NUMBER
            stored = _created(target, str(name), kind, (CYCLE,))
            stored[:] = (
                np.array([storable(str(value)) for value in values], object)
                if kind is TEXT
                else values.astype(kind)
            )
            stored.setncatts({key: value for key, value in variable.attrs.items() if key != "threshold"})
        target.setncattr("coordinates", " ".join([*coordinates, *map(str, added.data_vars)]))
