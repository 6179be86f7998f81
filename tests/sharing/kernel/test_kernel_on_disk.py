"""The cache of the compiled kernel on disk: what is in its key, and what happens where it cannot be used."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching

from musclesolve import Problem, Status, solve
from musclesolve.sharing import compile_kernel
from musclesolve.sharing.kernel import entry
from musclesolve.sharing.solver import batch
from musclesolve.sharing.solver.batch import Batch, Vectorized
from musclesolve.sharing.solver.solver_registry import Attempt


def test_it_is_compiled_once():
    compile_kernel()
    assert entry.is_kept() and not compile_kernel()
    assert all(len(function.load().signatures) == 1 for function in (entry.RUN, entry.FINISH))


def test_functions_of_one_name_keep_their_code_beside_each_other(tmp_path, monkeypatch):
    """Two modules of a folder each have a `double`, and one a `redouble`: compiling one leaves the code of all."""
    make = "from pathlib import Path\nfrom musclesolve._util.compiled_code import on_disk\n"
    make += "MAKE = on_disk('compiling', Path(__file__).parent)\n"
    define = "def {0}(x):\n    return {1} * x\n{2} = MAKE({0}, 'r')\n"
    (tmp_path / "even_pair.py").write_text(make + define.format("double", 2.0, "DOUBLE"))
    (tmp_path / "pair.py").write_text(
        make + define.format("double", 2.0, "DOUBLE") + define.format("redouble", 4.0, "REDOUBLE")
    )
    monkeypatch.syspath_prepend(tmp_path)
    pair, even_pair = importlib.import_module("pair"), importlib.import_module("even_pair")
    functions = even_pair.DOUBLE, pair.REDOUBLE, pair.DOUBLE
    for count, function in enumerate(functions, 1):
        assert not function.is_kept()
        assert function.load()(1.5) == (6.0 if function is pair.REDOUBLE else 3.0)
        assert [each.is_kept() for each in functions] == [k < count for k in range(3)]


AT_ONCE = """
import os
from multiprocessing import get_context
from pathlib import Path
from musclesolve._util.compiled_code import on_disk

def triple(x):
    return 3.0 * x

TRIPLE = on_disk("compiling", Path(__file__))(triple, "r")

def load(begin):
    begin.wait()
    compiles, TRIPLE._compile = TRIPLE._compile, lambda: print("compiled", flush=True) or compiles()
    assert TRIPLE.load()(2.0) == 6.0
    os.write(1, f"kept {TRIPLE.is_kept()}\\n".encode())  # in one piece

if __name__ == "__main__":
    context = get_context("fork" if hasattr(os, "fork") else None)  # a fork has numba already
    for count in (3, 1):
        begin = context.Barrier(count)
        begun = [context.Process(target=load, args=(begin,)) for _ in range(count)]
        [each.start() for each in begun]
        [each.join() for each in begun]
        print([each.exitcode for each in begun], flush=True)
"""


def test_processes_that_need_it_at_once_compile_it_once(tmp_path):
    """Two that write one file at a time leave code that has another checksum."""
    (tmp_path / "at_once.py").write_text(AT_ONCE, encoding="utf-8")
    # whatever folder the environment names
    done = subprocess.run(
        [sys.executable, "at_once.py"],
        cwd=tmp_path,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == [
        *("compiled", "kept True", "kept True", "kept True", "[0, 0, 0]"),
        *("kept True", "[0]"),
    ], done.stderr
    assert len(list(tmp_path.rglob("*.nbc"))) == 1 and not list(tmp_path.rglob("*.lock"))


def test_the_interior_point_is_loaded_by_frames_that_need_it_alone(make_leg, monkeypatch):
    def needed():
        raise RuntimeError("the interior point")

    monkeypatch.setattr(entry.FINISH, "load", needed)
    problem = make_leg(70)
    assert (solve(problem, "stress_cubed").status == Status.SOLVED).all()
    with pytest.raises(RuntimeError, match="the interior point"):
        solve(problem, "stress_cubed", Batch(max_iterations=1))


@pytest.mark.parametrize("cost", ["stress_cubed", "soft_saturation", "force_squared"])
def test_few_frames_do_not_wait_while_it_is_compiled(cost, make_leg, monkeypatch):
    """They are the same sharing to 1e-8, and certified; a solver object waits, and so do many frames."""
    problem, here = make_leg(20), [False]
    monkeypatch.setattr(batch, "kernel_is_near", lambda: here[0])
    meanwhile, waited = solve(problem, cost), solve(problem, cost, Batch())
    assert np.array_equal(meanwhile.activation, solve(problem, cost, Vectorized()).activation)
    assert (meanwhile.status == waited.status).all() and meanwhile.solver == waited.solver
    assert 0.0 < np.abs(meanwhile.activation - waited.activation).max() < 1e-8
    monkeypatch.setattr(batch, "FEW_NUMBERS", problem.moment_arm.size - 1)
    assert np.array_equal(solve(problem, cost).activation, waited.activation)
    monkeypatch.undo()
    here[0] = True
    assert np.array_equal(solve(problem, cost, "batch").activation, waited.activation)


def test_frames_that_numpy_leaves_open_wait_for_it(make_leg, monkeypatch):
    monkeypatch.setattr(batch, "kernel_is_near", lambda: False)
    monkeypatch.setattr(
        Vectorized, "solve", lambda self, problem, cost, warm_start=None: Attempt.blank(problem)
    )
    assert (solve(make_leg(3), "stress_cubed").status == Status.SOLVED).all()


NEAR = """
import time
import musclesolve as ms
from musclesolve.sharing.kernel import entry
from musclesolve.sharing.solver import batch
problem = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 800.0], [1000.0, 800.0])
assert ms.solve(problem).status == 0 and entry.RUN._loaded is None
while not batch.kernel_is_near():
    time.sleep(0.1)
assert entry.is_kept() and ms.solve(problem).status == 0 and entry.RUN._loaded is not None
"""


@pytest.mark.thorough
def test_another_process_compiles_it_meanwhile(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", NEAR], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_a_cache_folder_it_is_compiled_in_memory(monkeypatch):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert entry.build_run("nowhere").dispatcher.stats.cache_path is None


def test_other_sources_have_another_name():
    names = [entry.build_run(version).dispatcher.py_func.__name__ for version in "ab"]
    assert names[0] != names[1]


def test_compiled_code_depends_on_nothing_outside_of_its_folder():
    """The cache key hashes the folder: what compiled modules import has to lie there (compiled_code calls numba)."""
    package = "musclesolve.sharing.kernel"
    imports = {path.stem: project_imports(path) for path in Path(entry.__file__).parent.glob("*.py")}
    reached, waiting = set(), ["entry", "level_walk", "simplex", "dense_quadratic", "linked_frames", "tape"]
    while waiting:
        module = waiting.pop()
        reached.add(module)
        inside = {name for name in imports[module] if name.startswith(package)}
        outside = imports[module] - inside
        assert outside <= {"musclesolve._util.compiled_code", "musclesolve._util.arrays"}, (module, outside)
        waiting += [stem for name in inside if (stem := name.removeprefix(f"{package}.")) not in reached]
    assert reached == imports.keys() - {"__init__"}


def project_imports(path):
    """The modules of the project that a source file imports, wherever in it."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [
        f"{node.module}.{alias.name}" if node.module == "musclesolve.sharing.kernel" else node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {name for name in names if name.startswith("musclesolve")}


def test_importing_the_package_does_not_import_numba():
    code = "import sys, musclesolve.sharing, musclesolve.sharing.solver.batch; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_arrays_that_are_read_only_or_in_another_order(make_leg):
    problem = make_leg(6)
    arm = np.asfortranarray(problem.moment_arm)
    moment = np.repeat(problem.moment, 2, axis=1)[:, ::2]
    capacity = problem.force_capacity.copy()
    capacity.flags.writeable = False
    answer = solve(Problem(arm, moment, capacity, problem.max_isometric_force), "stress_cubed")
    assert (answer.status == Status.SOLVED).all()
    np.testing.assert_array_equal(answer.activation, solve(problem, "stress_cubed").activation)


SMALL = """
import numpy as np
import musclesolve as ms
answer = ms.solve(ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 800.0], [1000.0, 800.0]))
print(answer.status, ms.sharing.compile_kernel())
"""


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("name", "value", "code", "message"),
    [
        ("NUMBA_DISABLE_JIT", "1", 0, "NUMBA_DISABLE_JIT is set"),
        ("NUMBA_NUM_THREADS", "0", 1, "NUMBA_NUM_THREADS = '0'"),
    ],
)
def test_environments_that_numba_does_not_work_in(name, value, code, message):
    done = subprocess.run(
        [sys.executable, "-c", SMALL], capture_output=True, text=True, env=os.environ | {name: value}
    )
    assert done.returncode == code and message in done.stderr, done.stderr
    assert done.stdout.strip() == ("" if code else "0 False")
