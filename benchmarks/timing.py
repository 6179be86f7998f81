"""Functions with which benchmarks print and time."""

from __future__ import annotations

from rich.console import Console

from musclesolve.studies.benchmark.measure import measure

__all__ = ["console", "measure"]

console = Console(width=150, markup=False)
