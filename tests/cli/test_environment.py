"""Variables of the environment, a folder that is gone, names that are no text: a command gets along with them."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from many_trials import write_stride
from stored_results import write_result
from synthetic_result import result

from musclesolve import read_result
from musclesolve._util.processes import BLAS_THREADS
from musclesolve.cli import environment, printing
from musclesolve.laboratory.plotting import figure_sets as save
from musclesolve.studies.many_trials.one_trial import Job, attempt
from musclesolve.studies.many_trials.trial_record import Outcome, TrialRecord, csv_bytes

ODD = "w\udcff\udc80lk"
"""As Python has it when a name holds the bytes FF and 80."""


@pytest.mark.parametrize("value", ["0", "-1", "x", "", "1.5", "٣", "9" * 30])
def test_a_number_of_threads_that_is_none_is_ignored(monkeypatch, caplog, value):
    monkeypatch.setenv("NUMBA_NUM_THREADS", value)
    monkeypatch.setenv("MPLBACKEND", "nonsense")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "x")
    environment.correct_variables()
    assert "SOURCE_DATE_EPOCH" not in os.environ
    assert "NUMBA_NUM_THREADS" not in os.environ
    assert os.environ["MPLBACKEND"] == "agg"
    assert "NUMBA_NUM_THREADS is ignored" in caplog.text


@pytest.mark.parametrize(("value", "kept"), [("0", True), ("", True), ("1", False), ("yes", False)])
def test_compiling_is_not_switched_off(monkeypatch, caplog, value, kept):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", value)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    monkeypatch.setenv("MPLBACKEND", "svg")
    environment.correct_variables()
    assert ("NUMBA_DISABLE_JIT" in os.environ) == kept
    assert ("is ignored" in caplog.text) == (not kept)
    assert os.environ["NUMBA_NUM_THREADS"] == "2"


def test_a_warning_of_a_library_is_one_line(capsys):
    printing.print_warning(UserWarning("first\nTraceback\nmore"), UserWarning, "file.py", 3)
    assert capsys.readouterr().err == "musclesolve: UserWarning: first\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that somebody is in cannot be removed there")
def test_every_command_in_a_folder_that_is_gone(tmp_path, monkeypatch):
    write_result(result(), tmp_path / "result.nc")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    commands = [
        *(
            ["demo", "-o", "o"],
            ["run", "a.toml", "-o", "o"],
            ["run", "a.toml", "b.toml", "-o", "o"],
            ["check", "a.toml"],
        ),
        *(["plot", tmp_path / "result.nc", "-o", "o"], ["plot", "r.nc"], ["average", "r.nc", "-o", "o"]),
        *(
            ["average", tmp_path / "result.nc", "-o", "o"],
            ["convert", "a.trc", "-o", "b.trc"],
            ["synthesize", "-o", "o"],
        ),
        *(["check", "c.toml"], ["list", "muscles", "--database", "m.toml"], ["benchmark", "a.toml"]),
        ["compare", "a.toml", "--cost", "stress_cubed", "--cost", "force_squared", "-o", "o"],
    ]
    for command in commands:
        done = typed(*command)
        assert done.exit_code == 2 and isinstance(done.exception, SystemExit), (command, done.exception)
        assert "fix" in done.stdout or "remedy" in done.stderr
    assert typed("list", "muscles").exit_code == 0


def can_hold(folder, name):
    try:
        (folder / name).mkdir()
    except OSError:
        return False
    return True


@pytest.mark.thorough
def test_a_name_that_is_no_text_loses_no_result(tmp_path, monkeypatch):
    if sys.platform == "win32" or not can_hold(tmp_path, ODD):
        pytest.skip("this file system has no such names")
    trial = write_stride(tmp_path / ODD, ODD)
    (tmp_path / ODD / f"{ODD}.trc").write_bytes((tmp_path / ODD / "walk.trc").read_bytes())
    job = Job("odd", trial, tmp_path / "out" / ODD, {"side": "r"}, figures=False)
    record = attempt(job)
    assert record.outcome is Outcome.COMPUTED, record.message + record.details
    kept = read_result(job.folder / "result.nc").attrs
    assert kept["trial_file"].endswith("w\\xff\\x80lk.toml")
    assert any("w\\xff\\x80lk.toml" in text for text in np.atleast_1d(kept["inputs"]))
    # It is recognized, and distinguished from that of another trial.
    assert attempt(job).outcome is Outcome.UNCHANGED
    other = write_stride(tmp_path, "other")
    assert "another trial" in attempt(Job("o", other, job.folder, {})).message
    monkeypatch.setattr(save, "FIGURES", {"activations": save.FIGURES["activations"]})
    figures, _ = save.figures_again(read_result(job.folder / "result.nc"))
    assert figures["activations.png"].startswith(b"\x89PNG")


def test_odd_texts_anywhere_in_a_dataset_can_be_written(tmp_path):
    data = xr.Dataset(
        {"name": ("k", ["fine", ODD])},
        {"k": ["a\0b", "c"]},
        {"one": "x\0" + ODD, "list": [ODD, "y"], "number": 3},
    )
    write_result(data, tmp_path / "data.nc")
    back = read_result(tmp_path / "data.nc")
    assert back["name"].values.tolist() == ["fine", "w\\xff\\x80lk"]
    assert back["k"].values.tolist() == ["a\\u0000b", "c"]
    assert back.attrs["one"] == "x\\u0000w\\xff\\x80lk" and back.attrs["number"] == 3
    assert back.attrs["list"] == ["w\\xff\\x80lk", "y"]
    assert data.attrs["one"] == "x\0" + ODD


def test_the_table_of_trials_holds_odd_names(tmp_path):
    record = TrialRecord(ODD, tmp_path / ODD, tmp_path / ODD, Outcome.REFUSED, message=f"{ODD}: no")
    assert b"w\\xff\\x80lk" in csv_bytes([record])


def test_memory_that_is_used_up_and_other_refusals_of_the_system_are_one_message(tmp_path, monkeypatch):
    for error, words in (
        (MemoryError(), "out of memory; nothing was written"),
        (OSError(5, "Input/output error", "disk"), "disk: Input/output error; nothing was written"),
    ):

        def refused(path, options, error=error):
            raise error

        monkeypatch.setattr("musclesolve.studies.many_trials.one_trial.read_in_time_range", refused)
        done = typed("run", "a.toml", "-o", tmp_path / "out")
        assert (done.exit_code, done.stderr) == (2, f"musclesolve: {words}\n")
        assert not (tmp_path / "out").exists()


def test_a_program_that_has_run_a_command_can_import_what_the_command_did_not_need():
    code = """
import sys
from musclesolve.cli import environment
sys.argv = ["musclesolve", "run", "trial.toml"]
environment.prepare()
assert sys.modules["dask"] is None and sys.modules["pyarrow"] is None
environment.finish()
assert not {"dask", "pyarrow"} & set(sys.modules)
sys.argv = ["musclesolve", "study", "study.toml"]  # which writes Parquet
environment.prepare()
assert "pyarrow" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("stated", "threads"), [({}, 1), ({"OMP_NUM_THREADS": "3"}, None)])
def test_linear_algebra_of_a_command_has_one_thread_unless_the_environment_says_otherwise(stated, threads):
    code = """
from musclesolve.cli import environment
environment.prepare()
import numpy
from threadpoolctl import threadpool_info
print(*{each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"})
import os
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""
    free = {name: value for name, value in os.environ.items() if name not in BLAS_THREADS}
    done = subprocess.run(
        [sys.executable, "-c", code], env=free | stated, capture_output=True, text=True, check=True
    )
    in_use, variable = done.stdout.split()
    assert variable == str(threads)
    if threads:
        assert in_use == "1"
