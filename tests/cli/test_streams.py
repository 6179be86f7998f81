"""Output never ends a command with a traceback: closed pipes, full disks, narrow encodings, closed streams."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys

import pytest
from stored_results import write_result
from synthetic_result import result

from musclesolve.cli import app as cli
from musclesolve.cli import environment as streams
from musclesolve.laboratory.plotting.page import page_style

MUSCLESOLVE = [sys.executable, "-m", "musclesolve"]


@pytest.fixture
def ended(monkeypatch):
    """Run `main` in this process with given streams, and return how it ends."""

    def run(arguments, stdout, stderr=None):
        monkeypatch.setattr(sys, "argv", ["musclesolve", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdout", stdout)
        monkeypatch.setattr(sys, "stderr", stderr or io.StringIO())
        monkeypatch.setattr(cli, "announce", lambda: None)
        monkeypatch.setattr(cli.environment, "prepare", lambda: None)
        handler = signal.getsignal(signal.SIGINT)
        try:
            cli.main()
        except SystemExit as end:
            return end.code or 0, getattr(sys.stderr, "getvalue", lambda: "")()
        finally:
            signal.signal(signal.SIGINT, handler)
        return None

    return run


@pytest.fixture
def closed_pipe():
    """A stream that nobody reads."""
    there, here = os.pipe()
    os.close(there)
    with os.fdopen(here, "w") as stream:
        yield stream


PRINTING = [
    ["list", "muscles"],
    ["list", "muscles", "soleus"],
    ["list", "markers"],
    ["list", "markers", "plug_in_gait"],
    ["--help"],
    ["--version"],
]


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_reader_that_has_gone_changes_nothing(ended, arguments, closed_pipe):
    assert ended(arguments, closed_pipe) == (0, "")


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_closed_output_changes_nothing(ended, arguments):
    assert ended(arguments, None) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize(
    "arguments", [["list", "muscles"], ["list", "markers", "plug_in_gait"]], ids=" ".join
)
def test_a_full_disk_is_one_message(ended, arguments):
    with open("/dev/full", "w") as full:
        code, message = ended(arguments, full)
    assert code == 2 and message.count("\n") == 1
    assert "the output cannot be printed" in message


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
def test_files_that_are_written_are_named_when_the_summary_cannot_be_printed(ended, tmp_path, monkeypatch):
    monkeypatch.setattr(page_style, "figures_of", lambda *_: {})
    write_result(result(), tmp_path / "result.nc")
    with open("/dev/full", "w") as full:
        code, message = ended(["average", tmp_path / "result.nc", "-o", tmp_path / "out"], full)
    assert code == 2 and "average.nc" in message
    assert (tmp_path / "out" / "average.nc").is_file()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_letters_that_the_encoding_lacks_are_escaped(ended, tmp_path, encoding):
    written = tmp_path / "printed.txt"
    with (
        written.open("w", encoding=encoding) as out,
        (tmp_path / "err.txt").open("w", encoding=encoding) as err,
    ):
        assert ended(["check", tmp_path / "проба\udcff.toml"], out, err)[0] == 2
        assert ended(["plot", tmp_path / "проба\udcff.nc"], out, err)[0] == 2
    assert "no such file" in written.read_text(encoding=encoding)
    assert "udcff" in (tmp_path / "err.txt").read_text(encoding=encoding)


def test_streams_of_somebody_else_are_left_alone(monkeypatch):
    own = io.StringIO()
    monkeypatch.setattr(sys, "stdout", own)
    monkeypatch.setattr(sys, "stderr", None)
    streams.guard_streams()
    assert sys.stdout is own and sys.stderr is None


@pytest.mark.skipif(sys.platform == "win32", reason="there is no head")
def test_in_processes_of_their_own():
    """Test the end of a process: the last flush, and the messages of Python about it."""
    told = subprocess.Popen([*MUSCLESOLVE, "list", "muscles"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    told.stdout.close()
    assert (told.stderr.read(), told.wait()) == (b"", 0)
    told.stderr.close()
    narrow = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run([*MUSCLESOLVE, "check", "проба.toml"], env=narrow, capture_output=True, check=False)
    assert done.returncode == 2 and b"Traceback" not in done.stderr
