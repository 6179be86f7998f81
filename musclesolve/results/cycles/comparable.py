"""Conditions for averaging gait cycles: none of them twice, and all of the same cost, muscles and passive forces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from musclesolve.errors import InputError
from musclesolve.results.cycles.gait_cycles import METHODS, SUBJECT, cycle_names, short_path

MOST_COMMON = 0.5
"""Cycles of one recording that have more than this share of the shorter one in common are the same stride."""

PROBLEM = ("cost", "muscle_database", "passive", "fiber_lengths", "tendon", "curves")
"""Choices that define the optimisation problem of which the muscle forces are the solution."""
UNSTATED = {"tendon": "rigid"}
"""Choices of results that are older than the choice."""


class _Stride(NamedTuple):
    start: float
    end: float
    name: str


def check_once(cycles: Sequence[xr.Dataset]) -> None:
    """Refuse a stride that is there twice, also where its result was copied or computed in two ways.

    A recording is identified by the contents of its marker files (``attrs["inputs"]``), where a result has these.
    """
    strides: dict[object, list[_Stride]] = defaultdict(list)
    for each in cycles:
        if recording := _recording(each):
            file = each.encoding.get("source")
            ends = (each[f"cycle_{name}"].values.tolist() for name in ("start", "end"))
            for side, start, end, name in zip(
                each["cycle_side"].values, *ends, cycle_names(each), strict=True
            ):
                named = name + (f" ({short_path(file)})" if file else "")
                strides[recording, str(side)].append(_Stride(start, end, named))
    for own in strides.values():
        for one, other in pairwise(sorted(own)):
            common = min(one.end, other.end) - other.start
            if common > MOST_COMMON * min(one.end - one.start, other.end - other.start):
                raise InputError(
                    f"the same stride is there twice: {one.name}; {other.name}",
                    code="not_comparable",
                    expected="every recorded stride once: one that counts twice makes the spread too small",
                    remedy="leave one of the results of this recording out",
                )


def check_alike(cycles: Sequence[xr.Dataset]) -> None:
    """Refuse muscle forces of different optimisation problems: their mean is the solution of none.

    Other choices, of the filter or of the hip joints, change the errors of the same forces; ``differences`` lists them.
    """
    for key in PROBLEM:
        # A database is a name, or a file wherever it lies.
        given = [each.attrs.get(key, UNSTATED.get(key)) for each in cycles]
        values = dict.fromkeys(Path(str(value)).name for value in given if value is not None)
        if len(values) > 1:
            raise InputError(
                f"these gait cycles are not computed with the same {key.replace('_', ' ')}: {' or '.join(values)}",
                code="not_comparable",
                expected="the same cost, muscles and passive forces: the spread is then that of the strides",
                remedy="average the results of each for itself; musclesolve compare shows what the cost changes",
            )


def persons(cycles: Sequence[xr.Dataset]) -> list[str]:
    """The subjects of these cycles, each once: ``S01 (70.25 kg, 1.8 m)``."""
    return list(dict.fromkeys(_person(each) for each in cycles))


def _person(cycles: xr.Dataset) -> str:
    name, mass, stature = (cycles.attrs.get(key) for key in SUBJECT)
    size = [f"{value:g} {unit}" for value, unit in ((mass, "kg"), (stature, "m")) if value is not None]
    return str(name or "no name") + (f" ({', '.join(size)})" if size else "")


def differences(cycles: Sequence[xr.Dataset]) -> list[str]:
    """A sentence for every choice of method that is not the same for all of them: ``cost: fatigue, sum_cubed``."""
    sentences = []
    for key in METHODS:
        values = dict.fromkeys(_text(each.attrs.get(key)) for each in cycles)
        if len(values) > 1:
            sentences.append(f"{key.replace('_', ' ')}: {' or '.join(values)}")
    return sentences


def _text(value: object) -> str:
    if value is None:
        return "not stated"
    parts = np.atleast_1d(np.asarray(value)).tolist()
    return ", ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in parts) or "none"


def _recording(cycles: xr.Dataset) -> frozenset[str]:
    """The hashes of the files that the markers of the walk were read from."""
    inputs = map(str, np.atleast_1d(cycles.attrs.get("inputs", [])))
    return frozenset(each.rpartition("sha256:")[2] for each in inputs if each.startswith("markers "))
