"""Where the compiled kernel is kept, and what happens where it cannot be."""

from __future__ import annotations

import logging
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit, types
from numba.core import caching

from musclesolve.cli.printing import announce
from musclesolve.sharing.kernel import entry
from musclesolve.sharing.kernel.compiled_solver import compile_kernel
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status


def test_it_is_compiled_once():
    compile_kernel()
    assert entry.is_kept() and not compile_kernel()
    assert len(entry.compiled_run().signatures) == 1


def test_without_any_folder_to_keep_it_in_it_is_still_made(monkeypatch):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert entry._made("nowhere").stats.cache_path is None


@pytest.mark.parametrize("kind", ["*.nbc", "*.nbi"])
@pytest.mark.parametrize("left", [0, 100])
def test_files_that_are_damaged_are_made_anew(kind, left, tmp_path, monkeypatch, caplog):
    (tmp_path / "small.py").write_text("def small(x):\n    return 2.0 * x\n")
    monkeypatch.setattr(entry, "SIGNATURE", (types.float64,))

    def loaded():
        names = runpy.run_path(str(tmp_path / "small.py"))
        monkeypatch.setattr(entry, "_run", njit(cache=True)(names["small"]))
        return entry._compiled_once.__wrapped__()

    assert loaded()(3.0) == 6.0
    (damaged,) = Path(entry._run.stats.cache_path).glob(f"*small*{kind[1:]}")
    damaged.write_bytes(damaged.read_bytes()[:left])
    with caplog.at_level("INFO", "musclesolve"):
        assert loaded()(3.0) == 6.0
    assert "cannot be read" in caplog.text
    caplog.clear()
    assert loaded()(3.0) == 6.0 and not caplog.text


def test_other_sources_have_another_name():
    assert entry._made("a").py_func.__name__ != entry._made("b").py_func.__name__
    assert entry._version() == entry._version()


def test_importing_the_package_does_not_import_numba():
    code = "import sys, musclesolve.sharing, musclesolve.sharing.solver.batch; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_command_line_says_that_it_compiles(capsys):
    log = logging.getLogger("musclesolve")
    before, level = list(log.handlers), log.level
    announce()
    try:
        log.info(entry.MESSAGE)
    finally:
        log.handlers[:], log.level = before, level
    assert "compiling the force-sharing kernel" in capsys.readouterr().err


def test_arrays_that_cannot_be_written_or_lie_otherwise(make_leg):
    problem = make_leg(6)
    arm = np.asfortranarray(problem.moment_arm)
    moment = np.repeat(problem.moment, 2, axis=1)[:, ::2]
    capacity = problem.force_capacity.copy()
    capacity.flags.writeable = False
    answer = solve(Problem(arm, moment, capacity, problem.max_isometric_force))
    assert (answer.status == Status.SOLVED).all()
    np.testing.assert_array_equal(answer.activation, solve(problem).activation)


SMALL = """
import numpy as np
import musclesolve as ms
answer = ms.solve(ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 800.0], [1000.0, 800.0]))
print(answer.status, ms.compile_kernel())
"""


@pytest.mark.parametrize(
    ("name", "value", "code", "said"),
    [
        ("NUMBA_DISABLE_JIT", "1", 0, "NUMBA_DISABLE_JIT is set"),
        ("NUMBA_NUM_THREADS", "0", 1, "NUMBA_NUM_THREADS = '0'"),
    ],
)
def test_environments_that_numba_does_not_work_in(name, value, code, said):
    done = subprocess.run(
        [sys.executable, "-c", SMALL], capture_output=True, text=True, env=os.environ | {name: value}
    )
    assert done.returncode == code and said in done.stderr, done.stderr
    assert done.stdout.strip() == ("" if code else "0 False")
