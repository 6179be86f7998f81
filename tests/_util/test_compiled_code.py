"""Compiled functions on disk: what happens where the cache is damaged, and what the key of the path engine covers."""

from __future__ import annotations

import ast
import gc
import importlib
import os
import runpy
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from numba import types
from numba.core.compiler import Flags
from numba.core.targetconfig import TargetConfig

from musclesolve._util import compiled_code
from musclesolve._util.compiled_code import (
    OPTIONS,
    CompiledFunction,
    compile_beside,
    compiled,
    source_version,
)
from musclesolve._util.joined_compilation import PartLibrary, WholeLibrary, without_detours
from musclesolve.muscles.paths.engine import PathLayout, solve_paths
from musclesolve.muscles.paths.kernel import entry


@pytest.mark.every_pair
@pytest.mark.parametrize("ending", [".nbc", ".nbi"])
@pytest.mark.parametrize("left", [0, 100, None])
def test_damaged_cache_files_are_replaced(ending, left, tmp_path, caplog, monkeypatch):
    (tmp_path / "small.py").write_text("def small(x):\n    return 2.0 * x\n")

    def made():
        spec = spec_from_file_location("small_code", tmp_path / "small.py")
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "small_code", module)  # compiled code on disk names it
        spec.loader.exec_module(module)
        return CompiledFunction(module.small, (types.float64,), {}, "1", "compiling")

    assert made().load()(3.0) == 6.0
    kept = made()
    assert kept.is_kept()
    (damaged,) = Path(kept.dispatcher.stats.cache_path).glob(f"*small*{ending}")
    code = damaged.read_bytes()
    damaged.write_bytes(code[:left] if left is not None else code[:-20] + bytes([code[-20] ^ 4]) + code[-19:])
    with caplog.at_level("INFO", "musclesolve"):
        assert made().load()(3.0) == 6.0
    assert "cannot be read" in caplog.text
    caplog.clear()
    assert made().load()(3.0) == 6.0 and not caplog.text
    kept._seal().unlink()  # as of a compilation that was cut short
    assert made().load()(3.0) == 6.0 and "cannot be read" not in caplog.text


KEPT = """
import sys
from numba import types
from musclesolve._util.compiled_code import CompiledFunction
def sum_of(x):
    total = 0.0
    for each in x:
        total += each
    return total
import numpy
function = CompiledFunction(sum_of, (types.float64[::1],), {}, "1", "compiling")
print(function.is_kept(), function.load()(numpy.arange(4.0)), "numba.np.arraymath" in sys.modules)
"""


@pytest.mark.thorough
def test_code_on_disk_is_loaded_without_the_rules_of_compilation(tmp_path):
    """These take several times as long as the code."""
    (tmp_path / "kept.py").write_text(KEPT)
    shown = [
        subprocess.run([sys.executable, "kept.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [each.stdout.split() for each in shown] == [["False", "6.0", "True"], ["True", "6.0", "False"]]


@pytest.mark.parametrize("works", [True, False])
def test_another_process_compiles_beside_this_one(works, tmp_path, monkeypatch):
    """Where it fails, this one compiles."""
    (tmp_path / "beside.py").write_text(
        "from numba import types\n"
        "from musclesolve._util.compiled_code import CompiledFunction\n"
        "def triple(x):\n    return 3.0 * x\n"
        'FUNCTION = CompiledFunction(triple, (types.float64,), {}, "1", "compiling")\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(compiled_code, "cores", lambda: 2)
    if not works:
        monkeypatch.setattr(sys, "executable", shutil.which("false"))
    module = importlib.import_module("beside")
    process = compile_beside(module, "FUNCTION")
    assert (process.wait() == 0) == works == module.FUNCTION.is_kept()
    assert module.FUNCTION.load()(2.0) == 6.0
    assert compile_beside(module, "FUNCTION") is None  # kept already
    del sys.modules["beside"]


def test_parts_are_joined_in_the_function_that_python_calls():
    """Parts of parts, too, each once; only the whole has machine code."""

    @compiled
    def twice(x):
        return 2.0 * x

    @compiled
    def sum_of_parts(x):
        return twice(x) + twice(x + 1.0)

    def whole(x):
        return sum_of_parts(x) * twice(x)

    function = CompiledFunction(whole, (types.float64,), OPTIONS, "parts", "compiling").load()
    assert function(3.0) == (6.0 + 8.0) * 6.0
    (of_whole,) = (each.library for each in function.overloads.values())
    assert isinstance(of_whole, WholeLibrary)
    for part in (twice, sum_of_parts):
        (compiled_part,) = part.overloads.values()
        library = compiled_part.library
        assert isinstance(library, PartLibrary)
        assert library.get_pointer_to_function(compiled_part.fndesc.llvm_func_name) == 0


def test_other_insides_of_numba_only_cost_time(tmp_path, monkeypatch, caplog):
    """Kept code is loaded by numba itself where its private names are others."""
    (tmp_path / "small.py").write_text("def small(x):\n    return 2.0 * x\n")

    def made():
        function = runpy.run_path(str(tmp_path / "small.py"))["small"]
        return CompiledFunction(function, (types.float64,), {}, "1", "compiling")

    assert made().load()(3.0) == 6.0
    monkeypatch.delattr("numba.core.runtime.rtsys")
    kept = made()
    with caplog.at_level("INFO", "musclesolve"):
        assert not kept._from_disk() and kept.load()(3.0) == 6.0 and not caplog.text


PLAIN = """
import sys
import numba
{broken}
from musclesolve._util import compiled_code
from musclesolve._util.compiled_code import OPTIONS, CompiledFunction, compiled
from numba import types

@compiled
def twice(x):
    return 2.0 * x

def whole(x):
    return twice(x) + 1.0

function = CompiledFunction(whole, (types.float64,), OPTIONS, "plain", "compiling").load()
print(function(3.0), compiled_code.PART, compiled_code.WHOLE)
"""


BROKEN = (
    'numba.__version__ = "9.0.1"',
    'sys.modules["musclesolve._util.joined_compilation"] = None',
    "import numba.core.compiler; del numba.core.compiler.CompilerBase",
)

EACH = """
import os
import runpy
import sys
from multiprocessing import get_context
import numba
for file in sys.argv[1:]:
    process = get_context("fork" if hasattr(os, "fork") else None).Process(target=runpy.run_path, args=(file,))
    process.start()
    process.join()
    print(process.exitcode, flush=True)
"""
"""Runs each file in a process of its own; a fork has numba already."""


def test_an_unknown_numba_compiles_its_own_way(tmp_path):
    files = [f"plain_{number}.py" for number, _ in enumerate(BROKEN)]
    for file, broken in zip(files, BROKEN, strict=True):
        (tmp_path / file).write_text(PLAIN.format(broken=broken))
    shown = subprocess.run(
        [sys.executable, "-c", EACH, *files], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["7.0", "{}", "{}", "0"] * len(BROKEN), shown.stderr


def test_the_version_is_that_of_the_sources(tmp_path):
    (tmp_path / "a.py").write_text("A = 1")
    before = source_version(tmp_path)
    assert before == source_version(tmp_path)
    (tmp_path / "a.py").write_text("A = 2")
    assert source_version(tmp_path) != before


def test_the_path_engine_is_made_of_its_own_folder_and_the_motion_of_bodies():
    """The key of its cache hashes both."""
    bodies = {"", ".arrays", ".bodies"}
    folder = Path(entry.__file__).parent
    for path in folder.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        own = {name for name in names if name.startswith("musclesolve")}
        outside = {name for name in own if not name.startswith("musclesolve.muscles.paths.kernel")}
        outside -= {f"musclesolve.dynamics.kernel{name}" for name in bodies}
        assert outside <= {"musclesolve._util.compiled_code", "musclesolve._util.arrays"}, path.name


def test_the_path_engine_of_a_path_is_compiled_once():
    layout = PathLayout(np.zeros(2, dtype=int))
    ends = np.array([[[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]])
    found = solve_paths(layout, ends, np.ones((1, 2), bool), np.zeros((1, 0, 3)), np.zeros((1, 0, 3, 3)))
    assert found.length[0, 0] == 5.0
    kernel = entry.OVER_CYLINDERS
    assert kernel.is_kept() and len(kernel.load().signatures) == 1


SMALL = """
import numpy as np
from musclesolve.muscles.paths.engine import PathLayout
from musclesolve.muscles.paths.engine import solve_paths
none = np.zeros((1, 0, 3)), np.zeros((1, 0, 3, 3))
print(solve_paths(PathLayout(np.zeros(2, int)), np.eye(3)[None, :2], np.ones((1, 2), bool), *none).length)
"""


def test_without_compilation_the_path_engine_still_works():
    done = subprocess.run(
        [sys.executable, "-c", SMALL],
        capture_output=True,
        text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    assert done.stdout.strip() == "[[1.41421356]]"


def test_without_detours_options_are_the_same_and_everything_is_as_before_afterward():
    flags = Flags()
    flags.release_gil, flags.error_model = True, "numpy"
    usual, values = TargetConfig.values, flags.values()
    assert gc.isenabled()
    with pytest.raises(KeyError), without_detours():
        assert flags.values() == values and flags == flags.copy() and hash(flags) == hash(flags.copy())
        assert not gc.isenabled() and TargetConfig.values is not usual
        raise KeyError
    assert gc.isenabled() and TargetConfig.values is usual
