"""Objects that another package adds by entry points are registered and pass the contract; broken ones hinder nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import muscle_db
from muscle_db.toml_text import to_toml

ROOT = Path(__file__).parents[2]
MODULE = '''
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from musclesolve.tables import Markers
from musclesolve.errors import InputError
from musclesolve.tables.text_file import read_lines
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms
from musclesolve.sharing.solver.batch import Batch

THEIR_SET = Path(__file__).with_name("their_set.toml")


@dataclass(frozen=True)
class TheirCost(SumOfTerms):
    """Assumes nothing."""

    name, formula, source, exponent = "their_cost", "sum_i F_i^4", "a test", 4.0

    def coefficient(self, problem):
        return problem.force_capacity


@dataclass(frozen=True)
class TheirSolver:
    """The compiled solver under another name."""

    name: ClassVar[str] = "their_solver"
    can: ClassVar[frozenset[str]] = frozenset({"separable", "rows"})

    def solve(self, problem, cost, warm_start=None):
        return Batch().solve(problem, cost, warm_start)


def refused(path, number, problem):
    where = f"line {number}" if number else None
    return InputError(
        problem, code="not_numbers", file=path, where=where, expected="t,x,y,z", remedy="export again"
    )


def read_theirs(path):
    rows = []
    for number, line in enumerate(filter(None, read_lines(path)), start=1):
        try:
            rows.append([float(word) for word in line.split(",")])
            assert len(rows[-1]) == 4
        except (ValueError, AssertionError):
            raise refused(path, number, repr(line)) from None
    if not rows:
        raise refused(path, None, "no rows")
    table = np.array(rows)
    return Markers(table[:, 0], (path.stem,), table[:, None, 1:], path)
'''
POINTS = """
[musclesolve.costs]
their_cost = their_package:TheirCost
force_squared = their_package:TheirCost
[musclesolve.solvers]
their_solver = their_package:TheirSolver
lost_solver = their_package.lost:Solver
[musclesolve.readers]
markers.theirs = their_package:read_theirs
[musclesolve.muscle_sets]
their_set = their_package:THEIR_SET
"""
ASK = r"""
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import muscle_db, musclesolve as ms
    from musclesolve.laboratory.files.formats import MARKERS, read_markers
    assert ms.costs()["their_cost"].source == "a test" and ms.costs()["force_squared"].source != "a test"
    assert ms.solvers()["their_solver"].summary == "The compiled solver under another name."
    assert "lost_solver" not in ms.solvers() and "batch" in ms.solvers()
    from pathlib import Path
    Path("walk.theirs").write_text("0,1,2,3\n0.1,1,2,4\n")
    assert read_markers("walk.theirs").position[1].tolist() == [[1.0, 2.0, 4.0]] and ".theirs" in MARKERS
left_out = sorted(str(each.message).split(" of ")[0] for each in said if "left out" in str(each.message))
assert left_out == ["'force_squared'", "'lost_solver'"], left_out
assert muscle_db.load("their_set").name == "their_set"
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with a package and what an installer writes beside it."""
    (tmp_path / "their_package").mkdir()
    (tmp_path / "their_package" / "__init__.py").write_text(MODULE, encoding="utf-8")
    text = to_toml(muscle_db.load("gait2392"), "").replace('name = "gait2392"', 'name = "their_set"', 1)
    (tmp_path / "their_package" / "their_set.toml").write_text(text, encoding="utf-8")
    about = tmp_path / "their_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    return tmp_path


def finished(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    places = os.pathsep.join([str(folder), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": places}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=folder, env=environment
    )


def test_another_package_adds_a_cost_a_solver_a_reader_and_a_muscle_set(installed: Path) -> None:
    done = finished(installed, "-c", ASK)
    assert done.returncode == 0, done.stderr


def test_what_another_package_adds_passes_the_contract_by_being_registered(installed: Path) -> None:
    points = installed / "their_package-1.0.dist-info" / "entry_points.txt"
    sound = [line for line in POINTS.splitlines() if not line.startswith(("lost", "force_squared"))]
    points.write_text("\n".join(sound), encoding="utf-8")
    suite = str(Path(__file__).with_name("test_contract.py"))
    done = finished(installed, "-m", "pytest", "-v", "-p", "no:cacheprovider", suite, "-k", "their")
    assert done.returncode == 0 and "11 passed" in done.stdout, done.stdout
