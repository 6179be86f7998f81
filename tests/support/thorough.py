"""Sweeps that ask the same of hundreds of cases: a part of them by default, all in `make test-thorough`.

Where a test has several parametrizations, each value of each occurs by default, but not each with each, unless the test
is marked `every_pair`. Of a test marked `in_part(n)` every nth case runs by default. A test marked `thorough` is a long
form of what shorter tests show, or shows it on a further example: it runs in a thorough run, or where it is named.
"""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import groupby, product
from typing import TypeVar

import pytest

Case = TypeVar("Case")

THOROUGH = os.environ.get("MUSCLESOLVE_TESTS") == "thorough"


def some(cases: Iterable[Case], every: int) -> list[Case]:
    """Every so many of the cases; all of them in a thorough run."""
    return list(cases)[:: 1 if THOROUGH else every]


def of_each(cases: Iterable[Case], kind: Callable[[Case], Hashable], count: int = 1) -> list[Case]:
    """The first cases of each kind, so many of them; all in a thorough run."""
    seen, found = Counter[Hashable](), list[Case]()
    for case in cases:
        seen[kind(case)] += 1
        found += [case] if THOROUGH or seen[kind(case)] <= count else []
    return found


def examples(count: int) -> int:
    """Return the number of inputs that hypothesis draws: a quarter, and all of them in a thorough run."""
    return count if THOROUGH else count // 4


def left_out(items: Iterable[pytest.Item]) -> set[str]:
    """The cases that do not run by default."""
    if THOROUGH:
        return set()
    items = list(items)
    found = {item.nodeid for item in items if item.get_closest_marker("thorough")}
    for _, group in groupby(items, function_of):
        found |= off_the_diagonal(list(group))
    # cases of a fixture with parameters do not follow each other
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.nodeid not in found and item.get_closest_marker("in_part"):
            cases[function_of(item)].append(item)
    for each in cases.values():
        (every,) = each[0].get_closest_marker("in_part").args
        found |= {item.nodeid for item in each} - {item.nodeid for item in each[::every]}
    return found


def function_of(item: pytest.Item) -> str:
    """The test of which an item is a case."""
    return item.nodeid.partition("[")[0]


def off_the_diagonal(cases: Sequence[pytest.Item]) -> set[str]:
    """The cases of a test with crossed parametrizations that do not run by default: all off a diagonal."""
    marks = list(cases[0].iter_markers("parametrize"))
    if len(marks) < 2 or cases[0].get_closest_marker("every_pair"):
        return set()
    if not all(len(mark.args) > 1 and isinstance(mark.args[1], Collection) for mark in marks):
        return set()
    sizes = [len(mark.args[1]) for mark in marks]  # the last one changes from case to case
    if math.prod(sizes) != len(cases):
        return set()
    kept = diagonal(sizes)
    places = product(*(range(size) for size in sizes))
    return {case.nodeid for case, place in zip(cases, places, strict=True) if place not in kept}


def diagonal(sizes: Sequence[int]) -> set[tuple[int, ...]]:
    """Places in which every value of every axis occurs; the first of three axes is once in step, and once not."""
    shifts = range(1 if len(sizes) == 2 else 2)
    return {
        ((k + shift) % sizes[0], *(k % size for size in sizes[1:]))
        for k in range(max(sizes))
        for shift in shifts
    }
