"""The files of a report, recognized by their content and grouped by trial; whether a recording is still the same."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve.errors import InputError, MuscleSolveError, file_error, input_error
from musclesolve.laboratory.results.dataset.checked import MODEL, check_status
from musclesolve.laboratory.results.dataset.result_quantities import inputs_of, listed
from musclesolve.laboratory.results.fact_table import Fact, fact
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.files.result_netcdf import read_result, trial_path
from musclesolve.laboratory.results.result_facts import facts_of
from musclesolve.laboratory.results.tables.question_tables import QUESTION
from musclesolve.tables.text_file import hash_of, sha256

DAMAGE = (MuscleSolveError, LookupError, ValueError, TypeError, ArithmeticError)
"""Errors of a damaged file: a report names the damage in place of the part. Other errors are raised."""


def reason(error: Exception) -> str:
    """Return the reason of a missing part, in a line."""
    text = error.problem if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return text.partition("\n")[0]


RESULT, UNCERTAINTY, COMPARISON, AVERAGE = "result", "uncertainty", "comparison", "average"
KIND_NAMES = {
    RESULT: "result of a trial",
    UNCERTAINTY: "uncertainty of a trial",
    COMPARISON: "comparison of costs",
    AVERAGE: "average of gait cycles",
    "contributions": "contributions of muscles to a trial",
    "margins": "margins of strength of a trial",
    "what_if": "scenarios of a trial",
}
ANSWERS = {"contributions": "center_acceleration", "margins": "least_strength", "what_if": "device_torque"}
"""Question about a trial -> a variable that only its answer has."""
CHOICES = ("cost", "muscle_database", "passive", "strength")
"""Attributes that are equal in an uncertainty and its result."""


@dataclass(frozen=True)
class ReportFile:
    """An input file with its content."""

    path: Path
    kind: str  # one of KIND_NAMES
    data: xr.Dataset
    digest: str  # SHA-256 of the file


@dataclass
class TrialFiles:
    """Files of one trial; most sections show `base`."""

    base: xr.Dataset  # with the layout of a result
    origin: str  # the kind of file that it comes from
    path: Path  # that file
    uncertainty: xr.Dataset | None = None
    comparison: xr.Dataset | None = None
    answers: dict[str, xr.Dataset] = field(default_factory=dict)  # by question

    @cached_property
    def facts(self) -> Facts:
        """Facts of the result."""
        return Facts(self.base)

    @cached_property
    def recording(self) -> str:
        """See `recording_state`; empty for a result in memory."""
        try:
            return recording_state(self.base) if self.path.name else ""
        except DAMAGE as error:
            return reason(error)

    @property
    def changed(self) -> str:
        """A sentence where the recording has changed since the analysis."""
        return self.recording if isinstance(self.recording, Changed) else ""

    @cached_property
    def table(self) -> list[Fact]:
        """The facts of the result, and of changes of its recording since the analysis."""
        changed = [fact("changed", text=self.changed)] if self.changed else []
        return [*changed, *facts_of(self.facts, damage=DAMAGE)]

    @property
    def of_model(self) -> bool:
        """Whether the muscles belong to an OpenSim model."""
        return MODEL in self.base.attrs


@dataclass(frozen=True)
class Inputs:
    """All inputs of a report."""

    trials: tuple[TrialFiles, ...]
    averages: tuple[ReportFile, ...]
    sources: tuple[ReportFile, ...]
    unreadable: Mapping[Path, str] = field(default_factory=dict)  # files that cannot be used, with the reason


def read_inputs(paths: Sequence[str | Path], known: Mapping[Path, xr.Dataset] | None = None) -> Inputs:
    """Read the files of a report, in any order; `known`: the content of files that need not be read."""
    sources: list[ReportFile] = []
    unreadable: dict[Path, str] = {}
    fault: InputError | None = None
    for path in {os.path.realpath(path): Path(path) for path in paths}.values():
        try:
            data = known[path] if known and path in known else read_result(path)
            sources.append(ReportFile(path, _kind(data, path), data, sha256(path)))
        except InputError as error:
            if error.code == "missing_file":
                raise
            fault = fault or error
            unreadable[path] = error.problem
    if not sources:
        raise fault or input_error(
            "missing_argument",
            where="report",
            problem="a report needs a file",
            expected="one result.nc or more",
            remedy="musclesolve report FOLDER/result.nc",
        )
    averages = tuple(source for source in sources if source.kind == AVERAGE)
    trials = _trials(sources)
    for source in (source for source in sources if source.kind in ANSWERS):
        about = [trial for trial in trials if _is_about(source.data, trial)]
        if not about:
            unreadable[source.path] = NO_RESULT
        for trial in about[:1]:
            trial.answers.setdefault(source.kind, source.data)
    kept = tuple(source for source in sources if source.path not in unreadable)
    if not trials and not averages:
        raise fault or file_error(
            "missing_file",
            next(iter(unreadable)),
            "there is no result of the trial that the answer is about",
            "result.nc of the trial beside its answers",
            "name the result.nc, too, or compute the answer again",
        )
    return Inputs(tuple(trials), averages, kept, unreadable)


NO_RESULT = "it answers a question about another trial, or with another cost, than the results that are given"


def _is_about(data: xr.Dataset, trial: TrialFiles) -> bool:
    """Return whether an answer belongs to a trial, with the same cost if it depends on a cost."""
    costs = str(np.atleast_1d(data.attrs.get("costs", data.attrs.get("cost", "")))[0])
    same_cost = costs in ("", str(trial.base.attrs.get("cost", "")))
    return identity(data) == identity(trial.base) and same_cost


def _kind(data: xr.Dataset, path: Path) -> str:
    """Return the kind of a dataset; a dataset from elsewhere is refused."""
    for name, index in data.indexes.items():
        if not index.is_unique:  # names could not be looked up
            raise file_error(
                "bad_result",
                (path, str(name)),
                f"two entries of {name} have the same name: {index[index.duplicated()][0]}",
                "names that occur once",
                "compute it again: musclesolve run TRIAL.toml -o FOLDER",
            )
    if kind := question_of(data) or kind_of(data):
        return kind
    raise file_error(
        "bad_result",
        path,
        "this file holds nothing that a report can show",
        "result.nc of `run` or `share`, uncertainty.nc, comparison.nc of `compare`, average.nc of `average`",
        "name the files that these commands wrote",
    )


def question_of(data: xr.Dataset) -> str:
    """The question of an answer, also of one that has only a reason; empty for any other dataset."""
    stated = str(data.attrs.get(QUESTION, ""))
    return stated if stated in ANSWERS else next((name for name, key in ANSWERS.items() if key in data), "")


def kind_of(data: xr.Dataset) -> str:
    """Return the kind of a dataset by its variables, one of KIND_NAMES; empty for a dataset from elsewhere."""
    names = set(map(str, data.variables))
    if "percent" in data.dims and "cycles" in names:
        return AVERAGE
    if "status" in names and {"time", "muscle", "side"} <= set(data.dims) and data.sizes["time"] > 0:
        check_status(data)
        if data.sizes.get("cost"):
            return COMPARISON
        return UNCERTAINTY if "quantile_samples" in data.attrs else RESULT
    return ""


def _trials(sources: Sequence[ReportFile]) -> list[TrialFiles]:
    """Every result as a trial; uncertainties and comparisons with the trial of the same recording and choices."""
    trials = [TrialFiles(source.data, RESULT, source.path) for source in sources if source.kind == RESULT]
    for kind, choices in ((UNCERTAINTY, CHOICES), (COMPARISON, CHOICES[1:])):
        for source in (source for source in sources if source.kind == kind):
            for trial in trials:
                agree = all(
                    str(trial.base.attrs.get(name)) == str(source.data.attrs.get(name)) for name in choices
                )
                if identity(trial.base) == identity(source.data) and agree and getattr(trial, kind) is None:
                    break
            else:
                base = first_cost(source.data) if kind == COMPARISON else source.data
                trials.append(trial := TrialFiles(base, kind, source.path))
            setattr(trial, kind, source.data)
    return trials


def identity(data: xr.Dataset) -> frozenset[str]:
    """The hashes of the input files of a dataset; without hashes its trial file."""
    return frozenset(sha for _, _, sha in inputs_of(data)) or frozenset(listed(data, "trial_file"))


def first_cost(comparison: xr.Dataset) -> xr.Dataset:
    """The result under the first cost of a comparison."""
    name = str(comparison["cost"].values[0])
    names = [variable for variable in comparison.data_vars if "other" not in comparison[variable].dims]
    result = comparison[names].isel(cost=0).drop_vars("cost")
    if "least_cost" in result:
        result = result.rename(least_cost="cost")
    return result.assign_attrs(cost=name)


class Changed(str):
    """A sentence: the recording of a result is not the one that was analyzed."""

    __slots__ = ()


def recording_state(result: xr.Dataset) -> str:
    """A sentence if the recording of a result has changed since the analysis (`Changed`) or is missing; else ""."""
    path = analyzed_trial(result)
    if MODEL in result.attrs and (path is None or path.suffix != ".toml"):
        return ""  # the files were given to `share`
    if path is None:
        return "The result does not name the trial file that it was computed from."
    files = inputs_of(result)
    if not files:
        return (
            "The result holds no hashes of its files: whether the recording is still the same is not known."
        )
    if not path.is_file():
        return (
            f"The recording is not at hand to see whether it is still the same: {path} does not exist here."
        )
    folder = path.resolve().parent
    trial = [sha for role, _, sha in files if role == "trial"]
    if trial and hash_of(path) != trial[0] and not _same_settings(result, path):  # it may name other files
        changed = [path.name]
    elif absent := [name for _, name, _ in files if not (folder / name).is_file()]:
        return (
            f"The recording of {path} is not at hand any more as it was analyzed: {absent[0]} does not exist"
        )
    else:
        changed = [name for role, name, sha in files if role != "trial" and hash_of(folder / name) != sha]
    if changed:
        what = f"The recording of {path} has changed since it was analyzed ({', '.join(changed)})"
        return Changed(f"{what}: this result is of what it was before.")
    return ""


def _same_settings(result: xr.Dataset, path: Path) -> bool:
    """Whether a trial file differs from the one of a result in comments or [questions] alone."""
    from musclesolve.laboratory.results.recipe import ATTRIBUTE, has_settings

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return has_settings(result.attrs.get(ATTRIBUTE, ""), content)


def analyzed_trial(result: xr.Dataset) -> Path | None:
    """The trial file of a result, looked for from the folder of the file that the result was read from."""
    source = result.encoding.get("source")
    return trial_path(result.attrs, Path(source).parent if source else None)
