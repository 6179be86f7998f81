"""Timing: the first call (imports, caches) apart from the best of the following ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from rich.console import Console

console = Console(width=110, markup=False)


@dataclass(frozen=True)
class Timing:
    """Seconds of the first call and of the fastest later one, and what the last call returned."""

    first: float
    best: float
    value: object


def measure(call: Callable[[], object], repeats: int = 5) -> Timing:
    """Time a call once cold and `repeats` times warm."""
    start = perf_counter()
    value = call()
    first = perf_counter() - start
    best = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        value = call()
        best = min(best, perf_counter() - start)
    return Timing(first, best, value)
