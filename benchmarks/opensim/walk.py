"""The recorded walk of the benchmarks beside OpenSim, and the Python with the wheel `opensim` that they run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.arguments import command_line
from benchmarks.timing import console
from benchmarks.validation.page import data_folder

ROOT = Path(__file__).resolve().parents[2]
START, END, CUTOFF_HZ = 0.45, 1.80, 6.0
MODEL, COORDINATES, MOMENTS = "rajagopal_lai_uhlrich_2023_scaled.osim", "opensim_ik.mot", "opensim_id.sto"
"""Files of the folder `reference` of the walk."""


def python_and_walk(about: str) -> tuple[str, Path] | None:
    """The Python with `opensim` and the folder of the walk; None, and a sentence is printed, where OpenSim is missing.

    Args:
        about: what the command does, for its help.
    """
    parser = command_line(about)
    parser.add_argument("--opensim-python", default=sys.executable)
    python = parser.parse_args().opensim_python
    walk = data_folder().resolve() / "rajagopal_walk"
    if subprocess.run([python, "-c", "import opensim"], capture_output=True, check=False).returncode:
        console.print(f"skipped: {python} has no opensim; pip install opensim, or --opensim-python")
        return None
    return python, walk


def run_tool(python: str, tool: str, walk: Path, folder: Path) -> None:
    """Run a script of this folder, which imports `opensim`, on the walk; it writes into `folder`."""
    files = [walk / "reference" / MODEL, walk / "reference" / COORDINATES, walk / "walk_grf.mot"]
    inputs = [Path(__file__).with_name(tool), *files, START, END, CUTOFF_HZ, folder]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, *map(str, inputs)], check=True, env=alone, stdout=subprocess.DEVNULL)
