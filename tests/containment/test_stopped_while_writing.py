"""Ctrl-C at every moment of the writing: what the last message says is what is on the disk."""

from __future__ import annotations

import io
import shutil
import signal
import subprocess
import sys
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from command_line import typed
from many_trials import write_stride
from stored_results import write_result
from synthetic_result import result
from thorough import THOROUGH

from musclesolve._util import written_files as written
from musclesolve.cli import app as cli
from musclesolve.laboratory.plotting import figure_sets as save
from musclesolve.studies.many_trials import one_trial as one

# What is open when Ctrl-C comes is closed when it is forgotten, and says so where warnings are errors.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WATCHED = (
    "laboratory/results/files/atomic_writing.py",
    "_util/locks.py",
    "_util/written_files.py",
    "_util/processes.py",
    "cli/app.py",
    "cli/errors.py",
    "cli/printing.py",
)
OWN = ("text_file.py", "formats.py", "studies/many_trials/one_trial.py")


class Presser:
    """Presses Ctrl-C before the n-th line that is executed in one of the watched files."""

    def __init__(self, n: int, watched: tuple[str, ...]) -> None:
        self.left = n
        self.watches = cache(lambda file: file.replace("\\", "/").endswith(watched))

    def __call__(self, frame, event, argument):
        if not self.watches(frame.f_code.co_filename):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)
        return self


class Done(NamedTuple):
    """The end of a command: its exit code and its output."""

    exit_code: int | str | None
    stdout: str
    stderr: str


def pressed_at(n, watched, arguments):
    """Run a command, press Ctrl-C at its n-th line, and return its end and whether it reached this line."""
    presser, out, err, code = Presser(n, watched), io.StringIO(), io.StringIO(), None
    before, handler = sys.gettrace(), signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["musclesolve", *map(str, arguments)])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(cli, "announce", lambda: None)
        patch.setattr(cli.environment, "prepare", lambda: None)
        written.reset()  # as in a process of its own
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
        sys.settrace(presser)
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            sys.settrace(before)
            signal.signal(signal.SIGINT, handler)
    return Done(code, out.getvalue(), err.getvalue()), presser.left <= 0


def contents(folder):
    """The files of a folder; unfinished ones lie in a hidden folder, which the next run removes."""
    there = folder.iterdir() if folder.is_dir() else ()
    return {path.name: path.read_bytes() for path in there if path.is_file()}


def agrees(done, old, new, now, names, partly=None):
    """Whether message and exit code say what is on the disk; all files are old, or all are new, or those of a part."""
    if done.exit_code == 130 and partly is not None and now == partly:
        return all((name in done.stderr) == (name in now) for name in new)
    if done.exit_code == 130 and done.stderr.count("stopped by Ctrl-C") != 1:
        return False
    if done.exit_code == 130 and "nothing was written" in done.stderr:
        return now == old
    if done.exit_code == 130:
        return now == new and all(name in done.stderr for name in names)
    return done.exit_code == 0 and now == new


@pytest.fixture
def pipeline(monkeypatch):
    """In the place of the computation: a result at once, without figures."""

    def read(path, options):
        trial = SimpleNamespace(path=path, files={}, hashes={}, document=SimpleNamespace(content={}))
        return trial, options

    monkeypatch.setattr(one, "read_in_time_range", read)
    data = result()
    monkeypatch.setattr(one, "prepare", lambda trial, progress, **options: SimpleNamespace(time=()))
    monkeypatch.setattr(one, "findings_of", lambda body, trial: [])
    monkeypatch.setattr(one, "shared_result", lambda body, *further: data.copy())
    monkeypatch.setattr(one, "result_content", lambda data: b"new")
    monkeypatch.setattr(
        "musclesolve.laboratory.report.page.trial_report", lambda result, path, facts: b"page"
    )
    monkeypatch.setattr(save, "FIGURES", {})


FIRST, STEP = 2, 7 if THOROUGH else 41
"""Of the lines every so many, from where `main` begins to handle Ctrl-C."""


@pytest.mark.parametrize("earlier", [False, True])
def test_run_says_truly_what_was_written(tmp_path, pipeline, earlier):
    out = tmp_path / "out"
    arguments = ["run", tmp_path / "walk.toml", "-o", out]
    assert pressed_at(10**9, WATCHED, arguments)[0].exit_code == 0
    new = contents(out)
    old = {"result.nc": b"earlier"} if earlier else {}
    without_page = {"result.nc": b"new"}  # the page is written once the verdict is printed
    n, pressed, outcomes = FIRST, True, set()
    while pressed:
        shutil.rmtree(out, ignore_errors=True)
        if earlier:
            out.mkdir()
            (out / "result.nc").write_bytes(b"earlier")
        done, pressed = pressed_at(n, WATCHED, arguments)
        now = {name: content for name, content in contents(out).items() if not name.startswith(".")}
        assert agrees(done, old, new, now, list(new), without_page), (
            n,
            done.exit_code,
            done.stdout,
            done.stderr,
            sorted(now),
        )
        outcomes.add((done.exit_code, now == new))
        n += STEP
    assert outcomes == {(130, False), (130, True), (0, True)}


@pytest.mark.thorough
def test_convert_names_the_files_that_are_complete(tmp_path):
    source = write_stride(tmp_path).parent / "walk.trc"
    targets = [tmp_path / "out" / "a.trc", tmp_path / "out" / "b.trc"]
    (tmp_path / "out").mkdir()
    arguments = ["convert", source, "-o", targets[0], "-o", targets[1]]
    n, pressed, seen = FIRST, True, set()
    while pressed:
        for path in (tmp_path / "out").iterdir():
            path.unlink()
        done, pressed = pressed_at(n, (*WATCHED, *OWN), arguments)
        there = [path.name for path in targets if path.exists()]
        assert done.exit_code in (0, 130), (done.exit_code, done.stdout)
        if done.exit_code == 130:
            assert ("nothing was written" in done.stderr) == (not there), (n, done.stderr, there)
            assert all((name in done.stderr) == (name in there) for name in ("a.trc", "b.trc")), (
                n,
                done.stderr,
            )
        assert all(path.read_bytes()[-1:] == b"\n" for path in targets if path.exists())
        seen.add(len(there))
        n += STEP
    assert seen == {0, 1, 2}


def test_what_was_left_by_a_stopped_run_is_removed_by_the_next(tmp_path, pipeline, monkeypatch):
    arguments = ["run", tmp_path / "walk.toml", "-o", tmp_path / "out"]
    (tmp_path / "out" / ".musclesolve-abcdefgh").mkdir(parents=True)
    done = typed(*arguments)
    assert done.exit_code == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.html", "result.nc"}


def test_plot_says_truly_what_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(save, "FIGURES", {"ground_reaction": save.FIGURES["ground_reaction"]})
    write_result(result(), tmp_path / "result.nc")
    page = b"drawn"
    monkeypatch.setattr(
        save, "figures_of", lambda result, figures, *more: {f"{name}.png": page for name in figures}
    )
    n, pressed = FIRST, True
    while pressed:
        (tmp_path / "ground_reaction.png").unlink(missing_ok=True)
        done, pressed = pressed_at(n, WATCHED, ["plot", tmp_path / "result.nc"])
        assert done.exit_code in (0, 130)
        there = (tmp_path / "ground_reaction.png").exists()
        assert there == (done.exit_code == 0 or "ground_reaction.png" in done.stderr), (n, done.stderr)
        assert ("nothing was written" in done.stderr) == (not there)
        n += 7 * STEP


IMPORTING = """
import sys
class Presser:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Presser())
import musclesolve.cli.app
"""


def test_ctrl_c_while_the_program_is_loaded_is_one_line():
    done = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "musclesolve: stopped by Ctrl-C; nothing was written\n")
