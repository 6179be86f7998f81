"""Writes examples/first_forces.ipynb with its outputs: a first look in a browser, by Binder or Colab.

python tools/site/notebook.py

With MUSCLESOLVE_REPOSITORY, the address of the repository, the first cell installs from there; else from PyPI.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from places import ROOT

NOTEBOOK = ROOT / "examples" / "first_forces.ipynb"
INSTALL = '%pip install -q "{}"  # on Colab; Binder has it'
TEXT = """# First muscle forces

Two muscles bend an elbow, then all muscles of a stride. `solution.gap` is a proved excess over the least cost."""
CELLS = (
    """import musclesolve as ms

elbow = ms.Problem(
    moment_arm=[[0.04, 0.03]],
    moment=[13.0],  # [m], [N m]
    force_capacity=[500.0, 1000.0],
    max_isometric_force=[500.0, 1000.0],  # [N]
    muscle=["biceps", "brachialis"],
    dof=["elbow_flexion"],
)
solution = ms.solve(elbow, "activation_power")
print(solution.force.round(1), solution.gap.max() <= 1e-9)""",
    """result = ms.run(ms.data.reference_stride())
soleus = result.muscle_force.sel(muscle="soleus_r")
soleus.plot();""",
)


def cell(kind: str, text: str, outputs: list[dict] | None = None) -> dict:
    """A cell of a notebook."""
    made = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    return made if kind == "markdown" else made | {"execution_count": None, "outputs": outputs or []}


def run_cell(text: str, names: dict[str, object]) -> list[dict]:
    """Run a cell: what it prints, and its figure as PNG."""
    with contextlib.redirect_stdout(said := io.StringIO()):
        exec(compile(text, NOTEBOOK.name, "exec"), names)
    outputs = []
    if said.getvalue():
        lines = said.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    if plt.get_fignums():
        plt.gcf().savefig(memory := io.BytesIO(), dpi=80)
        plt.close("all")
        data = {"image/png": base64.b64encode(memory.getvalue()).decode()}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    return outputs


def main() -> None:
    """Run every cell, and write the notebook."""
    repository = os.environ.get("MUSCLESOLVE_REPOSITORY", "").strip().rstrip("/")
    names: dict[str, object] = {}
    cells = [
        cell("markdown", TEXT),
        cell("code", INSTALL.format(f"git+{repository}" if repository else "musclesolve")),
        *(cell("code", text, run_cell(text, names)) for text in CELLS),
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    content = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 4}
    NOTEBOOK.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
