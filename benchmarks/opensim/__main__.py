"""OpenSim's static optimization beside `musclesolve share`: time, and cost on the same arrays.

python -m benchmarks.opensim [--opensim-python PYTHON]

PYTHON is one that has the wheel `opensim`, this one unless given. The trial is the recorded walk of ../shared/data (or
MUSCLESOLVE_DATA): 80 muscles, 136 frames. OpenSim has activations from 0.01; its forces are forces of fibers, without
the cosine of the pennation angle, which is taken out where capacities are compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line
from benchmarks.timing import console, measure
from benchmarks.validation.page import data_folder
from musclesolve.models.body import Sharing
from musclesolve.models.body_sharing import share, sharing_problem
from musclesolve.models.opensim.assemble_body import model_body
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.model_settings import model_settings
from musclesolve.models.opensim.read_model import read_osim
from musclesolve.sharing.cost import ActivationPower
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.sharing.solving import solve
from musclesolve.studies.benchmark.measure import machine

LEAST = 0.01
START, END, CUTOFF_HZ = 0.45, 1.80, 6.0
MODEL, COORDINATES, MOMENTS = "rajagopal_lai_uhlrich_2023_scaled.osim", "opensim_ik.mot", "opensim_id.sto"
"""Files of the folder `reference` of the walk."""
Files = tuple[Path, Path, Path]
"""Model, coordinates and moments."""
COST = ActivationPower(2.0)
SHARING = Sharing(COST, find_solver("batch"))


def main() -> None:
    """Run both and print the tables."""
    parser = command_line(__doc__)
    parser.add_argument("--opensim-python", default=sys.executable)
    python = parser.parse_args().opensim_python
    walk = data_folder().resolve() / "rajagopal_walk"
    if subprocess.run([python, "-c", "import opensim"], capture_output=True, check=False).returncode:
        console.print(f"skipped: {python} has no opensim; pip install opensim, or --opensim-python")
        return
    reference = walk / "reference"
    model, coordinates, moments = files = (reference / MODEL, reference / COORDINATES, reference / MOMENTS)
    with TemporaryDirectory() as folder:
        inputs = [model, coordinates, walk / "walk_grf.mot", START, END, CUTOFF_HZ, folder]
        tool = [python, Path(__file__).with_name("opensim_tool.py"), *inputs]
        alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run(list(map(str, tool)), check=True, env=alone, stdout=subprocess.DEVNULL)
        with np.load(Path(folder) / "opensim.npz") as stored:
            there = {name: stored[name] for name in stored}
        whole = _command(files, Path(folder) / "share")
    found = model_body(model, coordinates, moments, model_settings(passive="none", cutoff_hz=CUTOFF_HZ))
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()))
    console.print(_times(there, whole, files, found))
    console.print(_agreement(there, found))


def _command(files: Files, folder: Path) -> dict[str, float]:
    """Seconds of the whole command, with its start and its files; once before, so that all is compiled."""
    names = ("--model", "--coordinates", "--moments")
    inputs = [part for name, file in zip(names, files, strict=True) for part in (name, str(file))]
    command = [sys.executable, "-m", "musclesolve", "share", *inputs, "--passive", "none", "-o", str(folder)]
    seconds = {}
    for label, more in (("", ["--no-figures"]), ("without figures", ["--no-figures"]), ("with figures", [])):
        begin = time.perf_counter()
        subprocess.run([*command, *more], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds[label] = time.perf_counter() - begin
    return {label: value for label, value in seconds.items() if label}


def _times(there: dict[str, Any], whole: dict[str, float], files: Files, found: ModelBody) -> Table:
    model, settings = found.model, found.settings
    steps = {
        "reading the model": lambda: read_osim(files[0]),
        "problem (read, filter, arms, Hill)": lambda: model_body(model, files[1], files[2], settings),
        "sharing": lambda: share(found, SHARING),
    }
    seconds = {name: measure(step)[0] for name, step in steps.items()}
    tool, inner = there["seconds"]
    ours = seconds["problem (read, filter, arms, Hill)"] + seconds["sharing"]
    frames, muscles = there["activation"].shape
    version = str(there["version"])
    table = Table(
        "", "seconds", "OpenSim / this", title=f"{muscles} muscles, {frames} frames, activation squared"
    )
    table.add_row(f"OpenSim {version}: whole, from its import on", f"{tool:.2f}", "")
    table.add_row(f"OpenSim {version}: its computation, AnalyzeTool.run()", f"{inner:.2f}", "")
    for label, value in whole.items():
        table.add_row(f"musclesolve share, whole command {label}", f"{value:.2f}", f"{tool / value:.0f}")
    for name, value in seconds.items():
        table.add_row(name, f"{value:.4f}", "")
    table.add_row("computation: problem and sharing", f"{ours:.4f}", f"{inner / ours:.0f}")
    return table


def _agreement(there: dict[str, Any], found: ModelBody) -> Table:
    """Costs of OpenSim's solution and of ours, on its own arrays and on ours."""
    activation, force, arm = there["activation"], there["force"], there["moment_arm"]
    capacity = force / activation
    state, own = found.whole.state, sharing_problem(found.whole, SHARING)
    fiber = state.parameters.fibers(state.musculotendon_length, state.musculotendon_velocity)
    along = capacity * fiber.cos_pennation
    same = Problem(
        moment_arm=arm,
        moment=np.einsum("tmn,tn->tm", arm, force),
        force_capacity=capacity,
        max_isometric_force=own.max_isometric_force,
        lower=np.full(activation.shape[1], LEAST),
    )
    theirs = (activation**2).sum(axis=1)
    on_same = solve(same, COST)
    excess = (on_same.activation**2).sum(axis=1) - theirs
    result = share(found, SHARING)
    gap = max(float(part.solution.gap.max()) for part in result.parts)
    rows = {
        "frames certified, of all": f"{on_same.solved.sum()} of {len(theirs)}",
        "largest gap, both legs": f"{gap:.1e}",
        "cost, mean: OpenSim": f"{theirs.mean():.6f}",
        "cost, mean: ours on OpenSim's arrays": f"{(on_same.activation**2).sum(axis=1).mean():.6f}",
        "largest excess of ours over OpenSim's in a frame": f"{excess.max():.1e}",
        "cost, mean: ours on our arrays": f"{(result.activation**2).sum(axis=1).mean():.6f}",
        "capacity, difference: median, largest [N]": _spread(np.abs(along - own.force_capacity)),
        "moment arm, difference: median, largest [mm]": _spread(
            1e3 * np.abs(arm - own.moment_arm)[arm != 0.0]
        ),
        "largest reserve that OpenSim uses [N m]": f"{np.abs(there['reserve']).max():.3f}",
    }
    table = Table("", "", title="the same trial, activation squared, rigid tendons, no passive forces")
    for name, text in rows.items():
        table.add_row(name, text)
    return table


def _spread(values: np.ndarray) -> str:
    return f"{np.median(values):.2g}, {values.max():.2g}"


if __name__ == "__main__":
    main()
