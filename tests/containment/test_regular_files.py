"""Only regular files of a sane size are opened, whatever reads them."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from command_line import typed
from many_trials import write_stride

import muscle_db
import musclesolve as ms
from muscle_db.regular_file import RECORDING, RESULT, SETTINGS
from musclesolve.dynamics import load_topology
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.results.files.result_netcdf import result_attributes
from musclesolve.studies.many_trials.run_many import find_trials
from musclesolve.studies.many_trials.trial_record import check_table
from musclesolve.tables.text_file import sha256

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these kinds of files are of POSIX")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    # A name of a socket is short: it is made in its folder.
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


KINDS = {"a device": device, "a pipe": pipe, "a socket": listening}

READERS = {
    "trial.toml": ms.read_trial,
    "walk.trc": ms.laboratory.read_markers,
    "walk.c3d": ms.laboratory.read_markers,
    "walk.csv": ms.laboratory.read_markers,
    "cameras.toml": ms.laboratory.read_markers,
    "calibrated.toml": ms.laboratory.read_camera_file,
    "forces.mot": ms.laboratory.read_forces_table,
    "forces.sto": ms.laboratory.read_forces_table,
    "forces.csv": ms.laboratory.read_forces_table,
    "muscles.toml": muscle_db.load,
    "result.nc": ms.read_result,
    "model.toml": load_topology,
    "hashed.nc": sha256,
}


@pytest.mark.every_pair
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_refuses_what_is_no_regular_file(tmp_path, name, kind):
    KINDS[kind](tmp_path / name)
    with pytest.raises((MuscleSolveError, muscle_db.MuscleDatabaseError), match=f"this is {kind}") as refusal:
        READERS[name](tmp_path / name)
    assert "traceback" not in str(refusal.value).casefold()


LIMITS = {".toml": SETTINGS, ".nc": RESULT}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_refuses_a_file_beyond_the_limit_of_its_kind(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(LIMITS.get(path.suffix, RECORDING) + 1)  # takes no room on the disk
    with pytest.raises((MuscleSolveError, muscle_db.MuscleDatabaseError), match=r"at most \d+ MiB"):
        READERS[name](path)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_only_looked_at_is_passed_over(tmp_path, kind):
    KINDS[kind](tmp_path / "other.toml")
    KINDS[kind](tmp_path / "trials.csv")
    trial = write_stride(tmp_path)
    assert find_trials([tmp_path]) == [trial.resolve()]
    assert result_attributes(tmp_path / "trials.csv") == {}
    check_table(tmp_path / "trials.csv")


FIELDS = {
    "markers": ('markers = "walk.trc"', 'markers = "odd.trc"'),
    "static": ('static = "static.trc"', 'static = "odd.trc"'),
    "forces": ('forces = "forces.mot"', 'forces = "odd.mot"'),
    "database": ("[mapping]", '[muscles]\ndatabase = "odd.toml"\n[mapping]'),
    "set": ("[mapping]", '[markers]\nset = "odd.toml"\n[mapping]'),
}


@pytest.mark.every_pair
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("field", FIELDS)
def test_a_trial_that_names_one_is_refused_with_one_message(tmp_path, field, kind):
    trial = write_stride(tmp_path, "trial", *FIELDS[field])
    for suffix in (".trc", ".mot", ".toml"):
        KINDS[kind](tmp_path / f"odd{suffix}")
    for command in (["run", str(trial), "-o", str(tmp_path / "out")], ["check", str(trial)]):
        done = typed(*command)
        assert done.exit_code == 2 and isinstance(done.exception, SystemExit), done.output
        assert f"this is {kind}" in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()


COMMANDS = {
    "run": ["run", "{file}", "-o", "{out}"],
    "check": ["check", "{file}"],
    "check --json": ["check", "--json", "{file}"],
    "compare": ["compare", "{file}", "--cost", "stress_cubed", "--cost", "force_squared", "-o", "{out}"],
    "plot": ["plot", "{file}", "-o", "{out}"],
    "average": ["average", "{file}", "-o", "{out}"],
    "convert": ["convert", "{file}", "-o", "{folder}/new.trc"],
    "list": ["list", "muscles", "--database", "{file}"],
    "benchmark": ["benchmark", "{file}", "-o", "{out}"],
}
NAMES = (
    "/dev/zero",
    "/dev/full",
    "pipe.toml",
    "loop.toml",
    "a" * 300 + ".toml",
    "b/" * 3000 + "x.toml",
    "nul\0.toml",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_odd_names_with_one_message(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    pipe(Path("pipe.toml"))
    Path("loop.toml").symlink_to("loop.toml")
    for name in NAMES:
        words = [word.format(file=name, out=tmp_path / "out", folder=tmp_path) for word in COMMANDS[command]]
        done = typed(*words)
        assert done.exit_code == 2 and isinstance(done.exception, SystemExit), (name, done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop.toml", "pipe.toml"]


@pytest.mark.parametrize(
    "text", ["[[force]]\n", "[[force]]\n[[force]]\n", "force = []\n", '[[force]]\nside = "r"\n']
)
def test_an_empty_force_is_refused_with_its_place(tmp_path, text):
    trial = write_stride(tmp_path)
    kept, _, _ = trial.read_text(encoding="utf-8").partition("[[force]]")
    trial.write_text(text + kept if "=" in text[:8] else kept + text, encoding="utf-8")
    for command in (["run", str(trial), "-o", str(tmp_path / "out")], ["check", str(trial)]):
        done = typed(*command)
        assert done.exit_code == 2 and isinstance(done.exception, SystemExit), done.exception
        assert "[[force]]" in done.output
        assert "missing" in done.output
