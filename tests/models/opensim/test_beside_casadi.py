"""CasADi after OpenSim's package: one clear error, and its remedy works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from packages import need

import musclesolve

PROGRAM = """
import multiprocessing, os
from concurrent.futures import ProcessPoolExecutor
import musclesolve as ms

problem = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])

def refused(ask):
    try:
        ask()
    except ms.MuscleSolveError as error:
        print(error.code, "|", error.problem)

def in_new_process():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(ms.solve, problem, "stress_cubed", "ipopt").result()

if __name__ == "__main__":
    import opensim
    print(ms.solve(problem, "stress_cubed").solved)
    refused(lambda: ms.solve(problem, "stress_cubed", "ipopt"))
    refused(lambda: ms.solve(problem, "stress_cubed", "ipopt"))
    refused(lambda: ms.symbolic.muscle_chain)
    refused(lambda: ms.solve(problem, ms.sharing.expression_cost("x", lambda a, force, data: a.T @ a, convex=True)))
    refused(in_new_process)
    os.environ.pop("LD_LIBRARY_PATH", None)
    print(in_new_process().solved)
"""


PAGE = Path(__file__).parents[3] / "docs" / "coming_from.md"


def printed(folder: Path, program: str) -> list[str]:
    """The lines that a program prints; skipped where OpenSim is not installed."""
    need("opensim")
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_casadi_after_opensim_is_refused_and_the_remedy_works(tmp_path: Path) -> None:
    first, *refusals, last = (
        line for line in printed(tmp_path, PROGRAM) if line.startswith(("True", "bad_"))
    )
    assert first == last == "True"
    assert len(refusals) == 5
    for refusal in refusals:
        assert refusal.startswith("bad_environment | the package casadi") and "package opensim" in refusal
    assert "imported" in refusals[0] and "LD_LIBRARY_PATH" in refusals[-1]


def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    (program,) = re.findall(
        r"```python\n(import os.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert "1 solved" in printed(tmp_path, program)[-1]


def test_casadi_is_imported_in_one_place() -> None:
    folder = Path(musclesolve.__file__).parent
    plain = re.compile(r"^\s*(import casadi|from casadi)", re.MULTILINE)
    found = [path.name for path in folder.rglob("*.py") if plain.search(path.read_text(encoding="utf-8"))]
    assert found == ["casadi_module.py"]
