"""The bank of problems: its optima are certified again, its reader needs numpy alone, the command makes the file."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from benchmarks.bank import read_bank
from benchmarks.bank.__main__ import ARRAYS, BUNDLED, COSTS, SOLUTIONS, digest, unproved, write
from benchmarks.bank.problems import degenerate, out_of_reach
from musclesolve.sharing.cost.cost_registry import find_cost

INDEX, BANK = read_bank.read_bank(BUNDLED)


@pytest.mark.parametrize("name", BANK)
def test_reference_optima_are_certified(name: str) -> None:
    """By the reader, which proves them by duality, and by the certificate of the package."""
    problem, index = BANK[name], INDEX["problems"][name]
    arrays = {array: problem[array] for array in ARRAYS}
    assert index["sha256"] == digest(arrays) and not index["left_out"] and set(problem["costs"]) == set(COSTS)
    made = ms.Problem(**{array: value for array, value in arrays.items() if array not in ("muscle", "dof")})
    for label, solution in problem["costs"].items():
        assert set(solution) <= set(SOLUTIONS) and not unproved(made, COSTS[label], solution)
        solved = np.isfinite(solution["cost"])
        np.testing.assert_allclose(
            read_bank.value(COSTS[label], solution["coefficient"], solution["activation"])[solved],
            solution["cost"][solved],
            rtol=1e-12,
            atol=1e-30,
        )
        if label == "min_max":  # the reader's bound is the certificate of its first level
            continue
        cost, part = find_cost(label), made.frames(np.flatnonzero(solved))
        none = np.zeros_like(part.moment)
        found = ms.sharing.certify(
            part, cost, solution["activation"][solved], none, solution["multiplier"][solved]
        )
        assert found.holds.all()


@pytest.mark.parametrize("label", [label for label in COSTS if label != "min_max"])
def test_a_worse_solution_has_a_gap_as_large_as_its_excess(label: str) -> None:
    """Mixed with the optimum of another cost, which meets the moments, too."""
    problem = BANK["walk"]
    best = problem["costs"][label]
    other = problem["costs"]["stress_cubed" if label != "stress_cubed" else "force_squared"]
    mixed = 0.9 * best["activation"] + 0.1 * other["activation"]
    arguments = (COSTS[label], problem, best["coefficient"])
    excess = read_bank.value(COSTS[label], best["coefficient"], mixed) / best["cost"] - 1.0
    gap = read_bank.gap(*arguments, mixed, best["multiplier"])
    assert (excess > 1e-9).all()
    np.testing.assert_allclose(gap * (1.0 + excess), excess, rtol=1e-6, atol=1e-9)


def test_a_proof_of_moments_within_reach_fails() -> None:
    """The proof of a frame out of reach proves nothing where the moment is small enough."""
    problem = BANK["partly out of reach"]
    solution = problem["costs"]["force_squared"]
    solved = np.isfinite(solution["cost"])
    assert solved.any() and not solved.all()
    small = {name: problem[name][~solved] for name in ("moment_arm", "force_capacity", "lower", "upper")}
    small["moment"] = 1e-3 * problem["moment"][~solved]
    ratio = read_bank.farkas_ratio(COSTS["force_squared"], small, None, solution["proof"][~solved])
    assert (ratio < 0.0).all()


def test_the_reader_needs_numpy_alone() -> None:
    code = (
        "import sys, runpy\n"
        "for name in ('musclesolve', 'scipy', 'numba', 'xarray', 'casadi'): sys.modules[name] = None\n"
        f"sys.argv = ['read_bank.py', {str(BUNDLED)!r}]\n"
        f"runpy.run_path({str(Path(read_bank.__file__))!r}, run_name='__main__')"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = found.stdout.splitlines()
    assert lines[0].startswith("force-sharing bank") and len(lines) == 2 + len(BANK) * len(COSTS)
    assert len(read_bank.__doc__ or "") and BUNDLED.stat().st_size < 1e6


def test_the_file_is_what_the_command_makes(tmp_path: Path) -> None:
    """Problems made by hand, solved again, have the optima of the file."""
    walk = ms.Problem(**{name: BANK["walk"][name] for name in ARRAYS if name not in ("muscle", "dof")})
    chosen = [*islice(degenerate(), 1), *islice(out_of_reach(walk), 1)]
    write(tmp_path / "some.npz", chosen)
    _, made = read_bank.read_bank(tmp_path / "some.npz")
    assert list(made) == [name for name, _, _ in chosen]
    for name, problem in made.items():
        np.testing.assert_allclose(problem["moment"], BANK[name]["moment"], rtol=1e-12, atol=1e-12)
        for label, solution in problem["costs"].items():
            stored = BANK[name]["costs"][label]
            np.testing.assert_allclose(solution["cost"], stored["cost"], rtol=1e-8, atol=1e-15)
            if label != "min_max":  # levels may have several proofs
                np.testing.assert_allclose(solution["activation"], stored["activation"], atol=1e-6)
