"""Start-up: a module is imported only where it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest
from many_trials import write_stride

HEAVY = ("casadi", "dask", "h5py", "matplotlib", "numba", "pandas", "pydantic", "scipy", "xarray")
UNUSED_IN_A_RUN = ("casadi", "dask.array", "matplotlib", "PIL", "scipy.signal", "scipy.stats")
"""What costs most: matplotlib and dask half of the imports, scipy.signal a third of a second with scipy.stats."""

COMMAND = """
import sys
from musclesolve.cli import app
sys.argv = ["musclesolve", *sys.argv[2:]]
try:
    app.main()
finally:
    print(*(name for name in {names} if sys.modules.get(name)), file=open({found!r}, "w"))
"""


def loaded(code, *words):
    found = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return found.stdout.split()


def loaded_by_command(tmp_path, names, *words):
    """Which modules a whole command has loaded."""
    code = COMMAND.format(names=names, found=str(tmp_path / "found"))
    done = subprocess.run(
        [sys.executable, "-c", code, "", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return (tmp_path / "found").read_text().split()


@pytest.mark.parametrize("module", ["musclesolve", "musclesolve.cli.app", "musclesolve.pipeline.run"])
def test_importing_the_package_loads_nothing_heavy(module):
    assert loaded(f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))") == []


def test_help_loads_nothing_heavy(tmp_path):
    assert loaded_by_command(tmp_path, (*HEAVY, "numpy", "rich.progress"), "--help") == []


def test_a_run_without_figures_loads_only_what_it_uses(tmp_path):
    trial, out = str(write_stride(tmp_path)), str(tmp_path / "out")
    words = ["run", trial, "--no-figures", "-o", out]
    assert loaded_by_command(tmp_path, (*UNUSED_IN_A_RUN, "numba"), *words) == ["numba"]
