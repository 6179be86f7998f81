"""The recipes of CONTRIBUTING.md work on a copy of the package; `make recipes` runs all tests on such a copy."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import muscle_db

ROOT = Path(__file__).parents[2]
follow_recipes = runpy.run_path(str(ROOT / "tools" / "follow_recipes.py"))["follow_recipes"]
USE = """
import socket
import struct
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import muscle_db
import musclesolve as ms
from musclesolve.checking.examination import all_checks, examined_file
from musclesolve.data import reference_stride
from musclesolve.live.adapters.registry import open_sink

elbow = ms.Problem([[0.05, 0.03, -0.04]], [20.0], [1000.0, 400.0, 400.0], [1000.0, 400.0, 400.0],
                   optimal_fiber_length=[0.1, 0.1, 0.1], joints_crossed=[1, 1, 2])
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
with socket.socket(type=socket.SOCK_DGRAM) as listener:
    listener.bind(("127.0.0.1", 0))
    sink = open_sink(f"osc:{listener.getsockname()[1]}")
    sink.begin(SimpleNamespace(joints=("hip_r",)))
    sink.take(None, SimpleNamespace(joint_reaction=np.array([[3.0, 4.0, 0.0]])))
    assert listener.recv(99) == b"/joint_reaction\\0,f\\0\\0" + struct.pack(">f", 5.0)
    sink.close()

# Other checks compile the dynamics anew in the copy.
added = [check for check in all_checks() if check.name == "subject_name"]
assert "subject_name" in [found.code for found in examined_file(reference_stride(), added)]
"""


def test_every_recipe_works(tmp_path):
    for package in ("musclesolve", "muscle_db"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    if "one_muscle" not in muscle_db.available():  # else this is the copy in which they were followed
        assert follow_recipes(tmp_path) == 11
    done = subprocess.run(
        [sys.executable, "-c", USE],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
