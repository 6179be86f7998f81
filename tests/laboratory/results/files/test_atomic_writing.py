"""Files that belong together are all there or as they were."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from refusals import refused

from musclesolve._util.processes import interrupts
from musclesolve.errors import InputError
from musclesolve.laboratory.results.files.atomic_writing import write_files

NEW = {"a.txt": b"new a", "b.txt": b"new b"}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def failing(monkeypatch: pytest.MonkeyPatch, method: str, error: BaseException) -> None:
    """Let a method of Path fail for the second file."""
    original = getattr(Path, method)

    def method_that_fails(self: Path, *arguments: object) -> object:
        if self.name == "b.txt":
            raise error
        return original(self, *arguments)

    monkeypatch.setattr(Path, method, method_that_fails)


def test_a_new_folder_holds_just_the_files(tmp_path):
    folder = tmp_path / "new" / "folder"
    assert write_files(folder, NEW) == [folder / "a.txt", folder / "b.txt"]
    assert content(folder) == NEW


def test_other_files_stay(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"old a")
    (tmp_path / "mine.txt").write_bytes(b"mine")
    write_files(tmp_path, NEW)
    assert content(tmp_path) == NEW | {"mine.txt": b"mine"}


def test_outdated_files_go_with_what_is_replaced(tmp_path, monkeypatch):
    for name in ("a.txt", "c.txt", "mine.txt"):
        (tmp_path / name).write_bytes(b"old")
    with monkeypatch.context() as patched, pytest.raises(InputError):
        failing(patched, "write_bytes", OSError(28, "No space left on device"))
        write_files(tmp_path, NEW, ["a.txt", "c.txt", "never.txt"])
    assert set(content(tmp_path)) == {"a.txt", "c.txt", "mine.txt"}
    write_files(tmp_path, NEW, ["a.txt", "c.txt", "never.txt"])
    assert content(tmp_path) == NEW | {"mine.txt": b"old"}


def test_a_full_disk_changes_nothing_and_is_reported(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(b"old a")
    failing(monkeypatch, "write_bytes", OSError(28, "No space left on device"))
    with refused("not_writable", str(tmp_path), "No space left on device"):
        write_files(tmp_path, NEW)
    assert content(tmp_path) == {"a.txt": b"old a"}


def test_ctrl_c_while_writing_changes_nothing(tmp_path, monkeypatch):
    failing(monkeypatch, "write_bytes", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path / "new" / "folder", NEW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_raises_comes_too_late_between_two_finished_files(tmp_path, monkeypatch, number):
    replace = Path.replace

    def replace_and_interrupt(self: Path, target: Path) -> Path:
        signal.raise_signal(number)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replace_and_interrupt)
    with interrupts(number):
        write_files(tmp_path, NEW)
    assert content(tmp_path) == NEW


def test_a_folder_in_the_place_of_a_file_is_named_and_nothing_changes(tmp_path):
    (tmp_path / "b.txt").mkdir()
    with refused("not_writable", "b.txt"):
        write_files(tmp_path, NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


@pytest.mark.parametrize("folder", ["taken", "taken/folder"])
def test_a_file_in_the_place_of_the_folder_is_named(tmp_path, folder):
    (tmp_path / "taken").write_text("")
    with refused("not_writable", "taken is a file", "name a folder"):
        write_files(tmp_path / folder, NEW)
