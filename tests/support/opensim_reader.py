"""OpenSim's own reader of storage files, in a process of its own: its wheel and casadi cannot share one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from packages import need

READ = """
import sys
import numpy, opensim
for path in sys.argv[1:]:
    table = opensim.TimeSeriesTable(path)
    time = numpy.array(table.getIndependentColumn())
    numpy.savez(path + ".npz", names=table.getColumnLabels(), values=table.getMatrix().to_numpy(), time=time)
"""


def read_by_opensim(paths: list[Path], folder: Path) -> list[tuple[tuple[str, ...], np.ndarray, np.ndarray]]:
    """Column names, values (T, k) and times (T,) of each file; skips where OpenSim is not installed."""
    need("opensim")
    subprocess.run([sys.executable, "-c", READ, *map(str, paths)], check=True, cwd=folder)
    found = []
    for path in paths:
        with np.load(f"{path}.npz") as table:
            found.append((tuple(table["names"]), table["values"], table["time"]))
    return found
