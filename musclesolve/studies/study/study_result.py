"""The result of a study, and the file in which it is kept for the next call without a change."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve.recording.text.text_file import hash_of
from musclesolve.results.files.atomic_writing import marked, unchanged
from musclesolve.results.finding import Cost, Finding, Where
from musclesolve.studies.many_trials.one_trial import RESULT
from musclesolve.studies.study.compare_subjects import ComparedSubjects
from musclesolve.studies.study.cycles_file import CYCLES
from musclesolve.studies.study.run_study import ComputedStudy
from musclesolve.studies.study.study_data import open_study
from musclesolve.studies.study.study_findings import LegVerdict, Listed
from musclesolve.version import __version__, version_of

KEPT = "study.kept"
"""File with the analysis: JSON, then the arrays that it numbers, each as `numpy.save` writes it."""
NO_CYCLES = "there are no cycles"
PACKAGES = ("numpy", "scipy", "pandas", "xarray", "spm1d", "matplotlib")
"""Packages on which the analysis rests; spm1d is optional, and loads matplotlib."""


@dataclass(frozen=True)
class StudyResult:
    """The result of a study: trials, cycles, means, tests and values.

    Args:
        computed: the trials.
        cycles: of all trials (`open_study`); None where no trial has any.
        groups: mean curves of groups and conditions (`group_means`).
        comparisons: tests (`compare_curves`); None where there are none.
        not_compared: reason without tests; "" with tests.
        not_averaged: name of a trial with a result -> why none of its cycles is in `cycles`.
        compared: each subject held against the others.
        left_out: name of a trial whose cycles are in `cycles` -> why its subject does not count there.
        findings: all findings, on subjects and on trials, each fault once with its trials.
        verdicts: whether each leg of each trial in `cycles` is plausible, and why not.
        plausible: tests without the legs that are not plausible; None where all are, or nothing can be tested.
        sensitivity: change of the differences without these legs, in a sentence; "" where all are plausible.
        values: mean and standard deviation over subjects of the discrete values, by variable, name, phase, measure,
            unit, group and condition.
        sizes: subject -> mass_kg and stature_m that its trial files and models state, means over its trials.
        files: files that were written beside the folders of the trials.
    """

    computed: ComputedStudy
    cycles: xr.Dataset | None = None
    groups: xr.Dataset | None = None
    comparisons: xr.Dataset | None = None
    not_compared: str = NO_CYCLES
    not_averaged: Mapping[str, str] = field(default_factory=dict)
    compared: ComparedSubjects = field(default_factory=ComparedSubjects)
    left_out: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[Listed] = ()
    verdicts: Sequence[LegVerdict] = ()
    plausible: xr.Dataset | None = None
    sensitivity: str = ""
    values: pd.DataFrame = field(default_factory=pd.DataFrame)
    sizes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    files: tuple[Path, ...] = ()


def kept_result(computed: ComputedStudy, made_of: Sequence[object]) -> StudyResult | None:
    """The result as an earlier call kept it; None where what it follows from, or a file of it, is another now."""
    content = unchanged(computed.folder / KEPT, *made_of)
    if content is None:
        return None
    file = io.BytesIO(content)
    facts = json.loads(np.load(file).tobytes())
    arrays = [np.load(file) for _ in range(facts["arrays"])]
    own = _unpacked(facts["result"], arrays)
    hashes = own["files"]
    if any(hash_of(computed.folder / name) != sha for name, sha in hashes.items()):
        return None
    own["computed"] = replace(computed, notes=own["computed"])
    own["cycles"] = open_study(computed.folder) if own["cycles"] else None
    own["files"] = tuple(computed.folder / name for name in hashes)
    return StudyResult(**own)


def kept_content(result: StudyResult, made_of: Sequence[object]) -> bytes:
    """The content of the file from which `kept_result` reads a result."""
    own = {each.name: getattr(result, each.name) for each in fields(result)}
    own |= {"computed": result.computed.notes, "cycles": result.cycles is not None}
    own["files"] = {path.name: hash_of(path) for path in result.files}
    arrays, file = list[AnyArray](), io.BytesIO()
    facts = {"result": _packed(own, arrays), "arrays": len(arrays)}
    text = json.dumps(facts, default=lambda number: number.item())
    for array in (np.frombuffer(text.encode(), np.uint8), *arrays):
        np.save(file, array, allow_pickle=False)
    return marked(file.getvalue(), *made_of)


def made_of(computed: ComputedStudy, values_format: str) -> tuple[object, ...]:
    """All that the analysis of a study follows from."""
    study, records = computed.study, computed.records.values()
    trials = [(record.name, record.outcome.at_last, record.measures, record.message) for record in records]
    hashes = [hash_of(record.folder / name) for record in records for name in (RESULT, CYCLES)]
    stated = hash_of(study.path), study.title, study.design, study.units, study.subjects, study.trials
    versions = __version__, *map(version_of, PACKAGES)
    return versions, values_format, stated, computed.notes, trials, hashes


KINDS: dict[str, tuple[Callable[..., Iterable[Any]], Callable[..., Any]]] = {
    "Dataset": (lambda data: (dict(data.data_vars), dict(data.coords), dict(data.attrs)), xr.Dataset),
    "DataArray": (lambda array: (array.dims, array.values, dict(array.attrs)), xr.Variable),
    "DataFrame": (
        lambda table: (table.to_dict("list"), table.dtypes.astype(str).to_dict()),
        lambda columns, types: pd.DataFrame(columns).astype(types),
    ),
    "dict": (dict.items, lambda *pairs: dict(pairs)),
    "list": (iter, lambda *parts: list(parts)),
    "tuple": (iter, lambda *parts: parts),
    **dict.fromkeys(("PosixPath", "WindowsPath"), (lambda path: [str(path)], Path)),
    **{
        each.__name__: (lambda value: [getattr(value, own.name) for own in fields(value)], each)
        for each in (ComparedSubjects, LegVerdict, Finding, Where, Cost)
    },
}
"""Name of a type -> the parts of a value of this type, and what makes the value of the parts."""


def _packed(value: Any, arrays: list[AnyArray]) -> Any:
    """A value in the form of JSON, as {type: parts}; the numbers of arrays are added to `arrays`."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"texts": [value.tolist()]}
        arrays.append(value)
        return {"array": [len(arrays) - 1]}
    kind = type(value).__name__
    if kind not in KINDS:
        return value
    return {kind: [_packed(part, arrays) for part in KINDS[kind][0](value)]}


def _unpacked(value: Any, arrays: Sequence[AnyArray]) -> Any:
    """The value that `_packed` packed."""
    if not isinstance(value, dict):
        return value
    ((kind, parts),) = value.items()
    if kind in ("array", "texts"):
        return arrays[parts[0]] if kind == "array" else np.array(parts[0], object)
    return KINDS[kind][1](*(_unpacked(part, arrays) for part in parts))
