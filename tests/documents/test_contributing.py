"""The recipes of CONTRIBUTING.md work on a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
USE = """
from pathlib import Path
import numpy as np
import muscle_db
import musclesolve as ms
from musclesolve.data import reference_stride

elbow = ms.Problem([[0.05, 0.03, -0.04]], [20.0], [1000.0, 400.0, 400.0], [1000.0, 400.0, 400.0],
                   optimal_fiber_length=[0.1, 0.1, 0.1])
assert "fiber_work" in ms.costs() and "cobyqa" in ms.solvers()
wanted = ms.solve(elbow, "force_squared", "slsqp").activation
np.testing.assert_allclose(ms.solve(elbow, "fiber_work", "slsqp").activation, wanted, atol=1e-6)
assert np.abs(elbow.moment_matrix[0] @ ms.solve(elbow, "fiber_work", "cobyqa").activation - 20).max() < 1e-4

Path("heel.xyz").write_text("0.00 1 2 3\\n0.01 1 2 3\\n0.02 1 2 4\\n")
assert ms.read_markers("heel.xyz")["heel"][2].tolist() == [0.001, 0.002, 0.004]
Path("heel.xyz").write_text("0.00 1 2 three\\n")
try:
    ms.read_markers("heel.xyz")
except ms.InputError as error:
    assert error.code == "not_numbers" and error.where == "line 1"

assert muscle_db.load("one_muscle")["soleus"].max_isometric_force == 2839
assert "subject_name" in [found.code for found in ms.check(reference_stride()).findings]
"""


def test_every_recipe_works(tmp_path):
    for package in ("musclesolve", "muscle_db"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:python|toml)\n# ([^\n]*)\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 9
    for place, code in blocks:
        follow(tmp_path, place, code)
    done = subprocess.run(
        [sys.executable, "-c", USE],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr


def follow(root: Path, place: str, code: str) -> None:
    """Do what the first line of a block says: a new file, lines after a line, or at the end of a file."""
    if place.startswith("new file: "):
        (root / place.removeprefix("new file: ")).write_text(code, encoding="utf-8")
        return
    if place.startswith("at the end of "):
        file = root / place.removeprefix("at the end of ")
        file.write_text(file.read_text(encoding="utf-8") + "\n" + code, encoding="utf-8")
        return
    name, line = place.removeprefix("in ").split(", after: ")
    file = root / name
    text = file.read_text(encoding="utf-8")
    assert text.count(line + "\n") == 1, place
    file.write_text(text.replace(line + "\n", line + "\n" + code), encoding="utf-8")
