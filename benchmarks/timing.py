"""Functions with which benchmarks print, time and compare."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from musclesolve._util.arrays import Array
from musclesolve.studies.benchmark.measure import measure

__all__ = ["console", "measure", "rms"]

console = Console(width=150, markup=False)


def rms(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
