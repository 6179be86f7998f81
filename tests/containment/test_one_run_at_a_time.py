"""Two runs never write into one folder at once, and a killed one leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import typed
from many_trials import write_stride
from stored_results import write_result
from synthetic_result import result

from musclesolve._util.locks import Lock
from musclesolve.errors import BusyError, InputError
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.studies.many_trials.one_trial import Job, attempt, leave_message
from musclesolve.tables.text_file import write_text


def elsewhere(function, *arguments):
    """Return the exception of a function in another thread, for which a lock is the same as for another process."""
    raised = []

    def call():
        try:
            function(*arguments)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def test_another_run_is_refused_and_told_why(tmp_path):
    with reserved(tmp_path):
        write_files(tmp_path, {"mine.txt": b"1"})  # who has it may write
        error = elsewhere(write_files, tmp_path, {"theirs.txt": b"1"})
    assert isinstance(error, BusyError)
    assert str(tmp_path) in str(error) and "another run" in str(error) and "-o" in str(error)
    assert elsewhere(write_files, tmp_path, {"theirs.txt": b"1"}) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", "theirs.txt"]


@pytest.mark.parametrize("name", ["../up.txt", "/tmp/up.txt", "a/b.txt", "..", ".", ""])
def test_nothing_is_written_but_files_in_the_folder(tmp_path, name):
    with pytest.raises(ValueError, match="would not be a file in the folder"):
        write_files(tmp_path / "out", {"good.txt": b"1", name: b"1"})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_under_another_name_is_the_same_folder(tmp_path):
    (tmp_path / "out").mkdir()
    with reserved(tmp_path / "out"):
        assert isinstance(elsewhere(write_files, tmp_path / "x" / ".." / "out", {"a": b""}), InputError)


def test_a_folder_that_was_made_for_nothing_goes_again(tmp_path):
    with pytest.raises(ZeroDivisionError), reserved(tmp_path / "a" / "b"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def busy(tmp_path):
    """A folder that another run has."""
    ready, ended = threading.Event(), threading.Event()

    def run():
        with reserved(tmp_path / "out"):
            ready.set()
            ended.wait()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    yield tmp_path / "out"
    ended.set()
    thread.join()


COMMANDS = {
    "demo": ["demo", "-o", "{out}"],
    "run": ["run", "{trial}", "-o", "{out}"],
    "run many": ["run", "{trial}", "--jobs", "1", "-o", "{out}"],
    "compare": ["compare", "{trial}", "--cost", "stress_cubed", "--cost", "force_squared", "-o", "{out}"],
    "benchmark": ["benchmark", "-o", "{out}"],
    "plot": ["plot", "{result}", "-o", "{out}"],
    "average": ["average", "{result}", "-o", "{out}"],
    "synthesize": ["synthesize", "-o", "{out}"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_refused_before_it_computes(tmp_path, monkeypatch, busy, command):
    for name in (
        "many_trials.one_trial.read_in_time_range",
        "many_trials.one_trial.prepare",
        "compare.compare",
    ):
        monkeypatch.setattr(f"musclesolve.studies.{name}", None)
    write_result(result(), tmp_path / "result.nc")
    names = {"trial": write_stride(tmp_path), "result": tmp_path / "result.nc", "out": busy}
    done = typed(*[word.format(**names) for word in COMMANDS[command]])
    assert done.exit_code == 2, done.exception
    assert "another run is writing into this folder" in done.stderr


def test_a_trial_whose_folder_is_busy_is_not_done_and_its_folder_is_left_alone(busy):
    (busy / "result.nc").touch()
    before = sorted(path.name for path in busy.iterdir())
    record = attempt(Job("a", busy / "a.toml", busy, {}))
    leave_message(record)
    assert record.outcome == "not done" and "another run" in record.message
    assert sorted(path.name for path in busy.iterdir()) == before


KILLED = """
import os, signal, sys
from pathlib import Path
from musclesolve._util.locks import Lock
kept = [Lock.acquire(Path(path)) for path in sys.argv[1:]]
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_the_lock_of_a_killed_run_is_none_and_what_it_left_goes(tmp_path):
    lock, part = tmp_path / ".musclesolve-lock", tmp_path / ".musclesolve-0123456789abcdef.part"
    ended = subprocess.run([sys.executable, "-c", KILLED, lock, part], check=False)
    assert ended.returncode == -signal.SIGKILL and lock.exists() and part.exists()
    (tmp_path / ".musclesolve-abcdefgh").mkdir()
    (tmp_path / ".musclesolve-abcdefgh" / "result.nc").write_bytes(b"half")
    (tmp_path / ".other").touch()
    write_files(tmp_path, {"new": b"1"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other", "new"]


def test_a_file_that_is_just_being_written_is_no_leftover(tmp_path):
    part = tmp_path / ".musclesolve-0123456789abcdef.part"
    with Lock.acquire(part):
        write_files(tmp_path, {"new": b"1"})
        assert part.exists()
    assert not part.exists()


def test_one_file_has_one_writer_and_others_are_free(tmp_path):
    def lines():
        yield "first\n"
        errors.append(elsewhere(write_text, tmp_path / "a.trc", "other"))
        errors.append(elsewhere(write_text, tmp_path / "b.trc", "other"))
        yield "last\n"

    errors = []
    write_text(tmp_path / "a.trc", lines())
    assert "another run is writing this file" in str(errors[0]) and errors[1] is None
    assert (tmp_path / "a.trc").read_text() == "first\nlast\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.trc", "b.trc"]


def test_what_a_killed_writer_left_of_a_file_does_not_show_in_the_next(tmp_path):
    with Lock.acquire(tmp_path / ".musclesolve-x.part") as lock:
        lock.move(tmp_path / "long.txt")
    (tmp_path / "long.txt").unlink()
    write_text(tmp_path / "a.trc", "short")
    assert (tmp_path / "a.trc").read_text() == "short"
    assert [path.name for path in tmp_path.iterdir()] == ["a.trc"]


def test_a_file_system_without_locks_keeps_nobody_from_working(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="locks of files are of POSIX")

    def unknown(number, how):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unknown)
    (tmp_path / ".musclesolve-abcdefgh").mkdir()  # it could be of a run that is at work
    write_files(tmp_path, {"new": b"1"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".musclesolve-abcdefgh", "new"]


def test_a_moment_between_opening_and_locking_does_not_give_the_lock_to_two(tmp_path, monkeypatch):
    """Its holder removes the file just when another one has opened it."""
    fcntl = pytest.importorskip("fcntl", reason="locks of files are of POSIX")
    path, held = tmp_path / "lock", SimpleNamespace(lock=Lock.acquire(tmp_path / "lock"))
    flock, calls = fcntl.flock, []

    def late(number, how):
        calls.append(number)
        if len(calls) == 1:
            held.lock.release()
        flock(number, how)

    monkeypatch.setattr(fcntl, "flock", late)
    lock = Lock.acquire(path)
    assert len(calls) == 2 and path.exists()
    assert Lock.acquire(path) is None
    lock.release()
    assert not Path(path).exists()
