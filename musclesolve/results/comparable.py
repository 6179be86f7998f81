"""Whether gait cycles may be averaged together: none of them twice, and all computed in the same way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from musclesolve.errors import InputError
from musclesolve.results.cycles import METHODS, cycle_names

MOST_COMMON = 0.5
"""Cycles of one recording that have more than this share of the shorter one in common are the same stride."""


class _Stride(NamedTuple):
    start: float
    end: float
    name: str


def check_once(cycles: Sequence[xr.Dataset]) -> None:
    """Refuse a stride that is there twice, also where its result was copied or computed in two ways.

    The recording is told by the contents of its marker files (``attrs["inputs"]``), not by a name; of a result that
    does not say them nothing is known.

    Raises:
        InputError: two cycles of the same leg are of the same time in the same recording.
    """
    strides: dict[object, list[_Stride]] = defaultdict(list)
    for each in cycles:
        if recording := _recording(each):
            file = each.encoding.get("source")
            ends = (each[f"cycle_{name}"].values.tolist() for name in ("start", "end"))
            for side, start, end, name in zip(
                each["cycle_side"].values, *ends, cycle_names(each), strict=True
            ):
                told = name + (f" ({Path(file).name})" if file else "")
                strides[recording, str(side)].append(_Stride(start, end, told))
    for own in strides.values():
        for one, other in pairwise(sorted(own)):
            common = min(one.end, other.end) - other.start
            if common > MOST_COMMON * min(one.end - one.start, other.end - other.start):
                raise InputError(
                    f"the same stride is there twice: {one.name}; {other.name}",
                    expected="every recorded stride once: one that counts twice makes the spread too small",
                    remedy="leave one of the results of this recording out",
                )


def differences(cycles: Sequence[xr.Dataset]) -> list[str]:
    """A sentence for every choice of method that is not the same for all of them: ``cost: fatigue, sum_cubed``."""
    sentences = []
    for key in METHODS:
        values = dict.fromkeys(_told(each.attrs.get(key)) for each in cycles)
        if len(values) > 1:
            sentences.append(f"{key.replace('_', ' ')}: {' or '.join(values)}")
    return sentences


def _told(value: object) -> str:
    if value is None:
        return "not said"
    parts = np.atleast_1d(np.asarray(value)).tolist()
    return ", ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in parts) or "none"


def _recording(cycles: xr.Dataset) -> frozenset[str]:
    """The hashes of the files that the markers of the walk were read from."""
    inputs = map(str, np.atleast_1d(cycles.attrs.get("inputs", [])))
    return frozenset(each.rpartition("sha256:")[2] for each in inputs if each.startswith("markers "))
