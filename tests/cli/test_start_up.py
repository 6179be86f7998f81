"""Start-up: what is heavy is imported when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("casadi", "dask", "matplotlib", "numba", "pandas", "scipy", "xarray")


@pytest.mark.parametrize("module", ["musclesolve", "musclesolve.cli.app", "musclesolve.pipeline.run"])
def test_importing_the_package_loads_nothing_heavy(module):
    code = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def test_a_run_loads_only_what_it_uses(recorded_walk_trial):
    """scipy.signal drags scipy.stats along, a third of a second each time the program starts."""
    code = (
        "import sys, musclesolve; musclesolve.run(sys.argv[1]); "
        "print(*(name for name in ('casadi', 'matplotlib', 'scipy.stats') if name in sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(recorded_walk_trial.path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == []
