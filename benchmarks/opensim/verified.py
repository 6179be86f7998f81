"""`musclesolve verify` on solutions that OpenSim's own tools make of a model here.

    python -m benchmarks.opensim.verified [--opensim-python PYTHON]

PYTHON is one that has the wheel `opensim`, this one unless given; it runs in a process of its own. The model is the leg
of examples/opensim_model, and the arm of ../shared/data (or MUSCLESOLVE_DATA) where it is there. Forces of static
optimization are also read as columns of names and numbers between commas, and its activations between semicolons, as
users export solutions of CEINMS and bioptim.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line
from benchmarks.timing import console
from benchmarks.validation.page import data_folder
from musclesolve.errors import InputError
from musclesolve.models import verify_solution
from musclesolve.tables.opensim_text import read_mot

ROOT = Path(__file__).parents[2]
MOVES = {
    "leg.osim": ("hip_flexion_r:0.5:0.1", "knee_angle_r:-0.8:-0.2", "ankle_angle_r:0.15:-0.05"),
    "arm26.osim": ("r_shoulder_elev:0.6:0.1", "r_elbow_flex:1.2:0.3"),
}
TABLES = {
    "so_StaticOptimization_force.sto": "model_with_reserves.osim",
    "so_StaticOptimization_activation.sto": "model_with_reserves.osim",
    "ceinms_like_forces.csv": "model_with_reserves.osim",
    "bioptim_like_activations.csv": "model_with_reserves.osim",
    "moco_solution.sto": "moco_model.osim",
    "cmc_Actuation_force.sto": "model_with_reserves.osim",
    "cmc_states.sto": "model_with_reserves.osim",
    "cmc_controls.sto": "model_with_reserves.osim",
}
"""Table -> the model that it was made with."""


def main() -> None:
    """Print a line for each table."""
    parser = command_line(__doc__)
    parser.add_argument("--opensim-python", default=sys.executable)
    python = parser.parse_args().opensim_python
    table = Table(
        "model", "table", "moment missed, due [N m]", "excess: mean, worst frame", "largest difference [N]"
    )
    for model in (
        ROOT / "examples" / "opensim_model" / "leg.osim",
        data_folder() / "opensim_models" / "arm26.osim",
    ):
        if not model.is_file():
            continue
        with TemporaryDirectory() as where:
            tool = Path(__file__).with_name("opensim_solutions.py")
            command = [python, str(tool), str(model.resolve()), where, *MOVES[model.name]]
            called = subprocess.run(command, capture_output=True, check=False)
            if not (Path(where) / "so_StaticOptimization_force.sto").is_file():
                console.print(f"skipped: {called.stderr.decode(errors='replace').strip()[-300:]}")
                continue
            foreign_columns(Path(where))
            for name, made_with in TABLES.items():
                table.add_row(model.name, name, *verified(Path(where), name, made_with))
    console.print(table)


def foreign_columns(folder: Path) -> None:
    """The solution of static optimization as other programs write theirs: time and names, without a header."""
    for kind, name, separator in (
        ("force", "ceinms_like_forces", ","),
        ("activation", "bioptim_like_activations", ";"),
    ):
        table = read_mot(folder / f"so_StaticOptimization_{kind}.sto")
        rows = np.column_stack([table.time, table.values])
        head = separator.join(["time", *table.names])
        np.savetxt(folder / f"{name}.csv", rows, "%.8f", separator, header=head, comments="")


def verified(folder: Path, name: str, made_with: str) -> tuple[str, str, str]:
    """Moments missed, excess and largest difference of a table, or why there is none."""
    if not (folder / name).is_file():
        return "the tool gave up", "", ""
    own = folder / "cmc_Kinematics_q.sto"
    motion = own if name.startswith("cmc") and own.is_file() else folder / "ik.mot"
    try:
        found = verify_solution(
            folder / name, folder / made_with, motion, folder / "id.sto", cutoff_hz="none"
        )
    except InputError as error:
        return f"refused: {error.problem}", "", ""
    missed = max(abs(row["missing_most"]) for row in found.facts["moments"])
    due = max(row["due_most"] for row in found.facts["moments"])
    cost = found.facts["cost"]
    if cost is None or "excess" not in cost:
        return f"{missed:.2g}, {due:.3g}", "not compared", ""
    excess = f"{100 * cost['excess']:.2g} %, {100 * cost['worst_excess']:.2g} %"
    by = cost["difference"]
    return f"{missed:.2g}, {due:.3g}", excess, f"{by['force_n']:.3g} {by['muscle']}"


if __name__ == "__main__":
    main()
