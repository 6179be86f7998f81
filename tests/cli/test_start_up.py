"""Start-up: a module is imported only where it is used."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from many_trials import write_stride

from musclesolve import check, run
from musclesolve.muscles.paths.kernel.entry import PATHS

HEAVY = ("casadi", "dask", "matplotlib", "netCDF4", "numba", "pandas", "pydantic", "scipy", "xarray")
OF_SCIPY = tuple(
    f"scipy.{name}"
    for name in ("fft", "interpolate", "linalg", "ndimage", "optimize", "sparse", "spatial", "special")
)
UNUSED_IN_A_RUN = ("casadi", "dask.array", "matplotlib", "PIL", *OF_SCIPY)
"""What costs most: matplotlib and dask half of the imports, SciPy a fifth of a check."""
OF_MODELS = ("musclesolve.models.opensim.model", "musclesolve.studies.study", "musclesolve.trajectory")

COMMAND = """
import sys
from musclesolve.cli import app
sys.argv = ["musclesolve", *sys.argv[1:]]
try:
    app.main()
finally:
    print(*(name for name in {names} if sys.modules.get(name)), file=open({found!r}, "w"))
"""


def loaded_by_command(tmp_path, names, *words, **environment):
    """Return the modules that a whole command has loaded."""
    code = COMMAND.format(names=names, found=str(tmp_path / "found"))
    command = [sys.executable, "-c", code, *words]
    env = {**os.environ, **environment}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return (tmp_path / "found").read_text().split()


@pytest.mark.parametrize("module", ["musclesolve", "musclesolve.laboratory.forces"])
def test_importing_the_package_loads_nothing_heavy(module):
    code = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def test_help_loads_nothing_heavy(tmp_path):
    assert loaded_by_command(tmp_path, (*HEAVY, "numpy", "rich.progress"), "--help") == []


def test_a_run_loads_only_what_it_uses_in_whatever_environment(tmp_path):
    """The command ignores NUMBA_DISABLE_JIT: it loads compiled code, or compiles what is not on disk."""
    odd = {"NUMBA_DISABLE_JIT": "1", "NUMBA_NUM_THREADS": "0", "NUMBA_OPT": "x", "MPLBACKEND": "nonsense"}
    trial = write_stride(tmp_path)
    run(trial, side="r")  # compiles what is not compiled yet: the compiler of numba loads scipy.linalg
    words = ["run", str(trial), "-o", str(tmp_path / "out"), "--side", "r", "--no-figures"]
    assert loaded_by_command(tmp_path, (*UNUSED_IN_A_RUN, "numba"), *words, **odd) == ["numba"]
    assert (tmp_path / "out" / "result.nc").is_file()


@pytest.mark.thorough
def test_a_check_of_a_recording_loads_only_what_it_uses(tmp_path):
    """numba reads compiled code, xarray has the result that is judged; both bring pandas, yaml and others."""
    asked = *HEAVY[:-2], *HEAVY[-1:], *OF_SCIPY, *OF_MODELS  # numba loads the package scipy itself
    trial = write_stride(tmp_path)
    check(trial)  # compiles what is not compiled yet: the compiler of numba loads scipy.linalg
    found = loaded_by_command(tmp_path, asked, "check", str(trial))
    assert found == ["netCDF4", "numba", "pandas", "pydantic", "xarray"]


@pytest.mark.thorough
def test_the_first_run_on_a_machine_reports_each_compilation_once(tmp_path):
    """A small function stands for the path engine; those beside it are compiled without a word."""
    script = tmp_path / "first.py"
    script.write_text("""
from numba import types
from musclesolve._util.compiled_code import CompiledFunction
from musclesolve.muscles.paths.kernel.entry import PATHS, RATES, WRENCHES
def small(x):
    return 2.0 * x
for function in (CompiledFunction(small, (types.float64,), {}, "1", PATHS.message), WRENCHES, RATES):
    function.load()
""")
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    ]
    assert said[0].splitlines() == [PATHS.message] and said[1] == ""
