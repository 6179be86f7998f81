"""Sweeps that ask the same of hundreds of cases: a part of them by default, all in `make test-thorough`.

Where a test has several parametrizations, each value of each occurs by default, but not each with each, unless the test
is marked `every_pair`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby, product
from typing import TypeVar

import pytest

Case = TypeVar("Case")

THOROUGH = os.environ.get("MUSCLESOLVE_TESTS") == "thorough"


def some(cases: Iterable[Case], every: int) -> list[Case]:
    """Every so many of the cases; all of them in a thorough run."""
    return list(cases)[:: 1 if THOROUGH else every]


def examples(count: int) -> int:
    """Return the number of inputs that hypothesis draws: a quarter, and all of them in a thorough run."""
    return count if THOROUGH else count // 4


def left_out(items: Iterable[pytest.Item]) -> set[str]:
    """The cases of crossed parametrizations that do not run by default: all off a diagonal."""
    found: set[str] = set()
    for _, group in groupby(items, lambda item: item.nodeid.partition("[")[0]):
        cases = list(group)
        marks = list(cases[0].iter_markers("parametrize"))
        if THOROUGH or len(marks) < 2 or cases[0].get_closest_marker("every_pair"):
            continue
        if not all(len(mark.args) > 1 and isinstance(mark.args[1], Collection) for mark in marks):
            continue
        sizes = [len(mark.args[1]) for mark in marks]  # the last one changes from case to case
        if math.prod(sizes) != len(cases):
            continue
        kept = diagonal(sizes)
        places = product(*(range(size) for size in sizes))
        found |= {case.nodeid for case, place in zip(cases, places, strict=True) if place not in kept}
    return found


def diagonal(sizes: Sequence[int]) -> set[tuple[int, ...]]:
    """Places in which every value of every axis occurs; the first of three axes is once in step, and once not."""
    shifts = range(1 if len(sizes) == 2 else 2)
    return {
        ((k + shift) % sizes[0], *(k % size for size in sizes[1:]))
        for k in range(max(sizes))
        for shift in shifts
    }
