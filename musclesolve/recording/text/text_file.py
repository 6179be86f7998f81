"""What the text readers and writers share: opening, numbers with a line to blame, writing without half files."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muscle_db.regular_file import (
    RECORDING,
    SETTINGS,
    UnsuitableFileError,
    check_regular,
    kind_of,
    open_regular,
    read_regular,
)
from musclesolve._util.arrays import Array
from musclesolve._util.interrupts import ignore_interrupts
from musclesolve._util.locks import Lock
from musclesolve._util.names import suggestion
from musclesolve._util.written_files import HIDDEN, PART, note
from musclesolve.errors import InputError

EXPORT_AGAIN = "export the file again"
RECORDED = (".trc", ".c3d", ".csv", ".mot", ".sto", ".toml")
"""How the names of the files end that a trial consists of."""
TEXT = "a text file (TRC, MOT, STO, CSV or TOML)"


def file_path(path: str | Path) -> Path:
    """Return a path that a person gave.

    Raises:
        InputError: it is none.
    """
    if not isinstance(path, str | Path):
        raise InputError(
            f"{path!r} is not a path", expected="the path of a file", remedy="give its name as text"
        )
    return Path(path)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file that a person wrote, without their ends.

    Raises:
        InputError: the file is missing, unreadable, binary or empty.
    """
    with opening(path):
        raw = read_regular(path, SETTINGS)
    if b"\0" in raw:
        raise binary_file(path)
    text = decoded(raw.decode("latin-1")).removeprefix("\ufeff")
    if not text.strip():
        raise empty_file(path, remedy="write into it what it should say, or name another file")
    # Not str.splitlines: form feeds and the like inside a name do not end a line.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn whatever keeps a file from being written into an InputError."""
    try:
        yield
    except OSError as reason:
        folder = path.parent.absolute()
        if path.is_dir():
            problem, expected, remedy = "this is a folder", "the name of a file", "name a file in it"
        elif not folder.is_dir():
            problem, expected, remedy = (
                "there is no such folder",
                "a folder that exists",
                f"make {folder} first",
            )
        else:
            problem = f"the file cannot be written ({reason.strerror or reason})"
            expected, remedy = "a place where you may write", "name another file, or make room for it"
        raise InputError(problem, file=path, expected=expected, remedy=remedy) from None


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn whatever keeps a file from being read into an InputError."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        problem, expected, remedy = no_file(path)
        raise InputError(problem, file=path, expected=expected, remedy=remedy) from None
    except UnsuitableFileError as reason:
        raise InputError(reason.problem, file=path, expected=reason.expected, remedy=reason.remedy) from None
    except OSError as reason:
        raise InputError(
            f"the file cannot be read ({reason.strerror})",
            file=path,
            expected="a file that you may read",
            remedy="ask for the right to read it, or copy it elsewhere",
        ) from None
    except ValueError:
        raise InputError(
            f"{str(path)!r} is not a file name", expected="a file name", remedy="check the name"
        ) from None


def open_input(path: Path, most: int = RECORDING) -> BufferedReader:
    """Open a file of a recording, or another one of at most so many bytes, for reading.

    Raises:
        InputError: it is missing, unreadable, too large, or no regular file: a device, a pipe.
    """
    with opening(path):
        return open_regular(path, most)


def check_input(path: Path, most: int) -> None:
    """Refuse what `open_input` refuses, before a library opens it by its name."""
    with opening(path):
        check_regular(os.stat(path), most)


def sha256(path: Path) -> str:
    """Return the hash of a file that was read for an analysis; errors as of `open_input`."""
    with open_input(path) as file, opening(path):
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_file(path: Path) -> bool:
    """Return whether a path is that of a regular file.

    Raises:
        InputError: it cannot be looked at: the name is too long, or a folder is closed.
    """
    with opening(path):
        return path.is_file()


def binary_file(path: Path) -> InputError:
    """Return the refusal of a file that is not text, or text that Windows calls Unicode."""
    with open_input(path) as stream:
        start = stream.read(2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return InputError(
            "the text is UTF-16", file=path, expected="UTF-8", remedy="save it again with the encoding UTF-8"
        )
    return InputError(
        "this is a binary file",
        file=path,
        expected=TEXT,
        remedy="export it as text, or name another file",
    )


def empty_file(path: Path, remedy: str = EXPORT_AGAIN) -> InputError:
    """Return the refusal of a file without anything in it."""
    return InputError("the file is empty", file=path, expected=TEXT, remedy=remedy)


def no_file(path: Path) -> tuple[str, str, str]:
    """Return why a path is not a file: the problem, what was expected, and the way out."""
    if path.is_dir():
        return "this is a folder", "a file", "name a file in it"
    if path.exists():
        return f"this is {kind_of(path.stat().st_mode)}", "a regular file", "name a file that holds the same"
    folder = path.parent.absolute()
    if not folder.is_dir():
        return "there is no such file", f"a file in {folder}, but there is no such folder", "check the folder"
    try:
        there = sorted(name for name in os.listdir(folder) if _alike(name, path))
    except OSError:
        there = []
    return (
        "there is no such file",
        f"a file in {folder}",
        suggestion(path.name, there) or "check the name and the folder",
    )


def _alike(name: str, path: Path) -> bool:
    """Whether a file could be meant: a recording or a file of the same kind, no script that is called alike."""
    return Path(name).suffix.casefold() in (*RECORDED, path.suffix.casefold())


def decimal_point(text: str) -> str | None:
    """Return the remedy for a number written with a decimal comma; None for any other text."""
    if not re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", text):
        return None
    return f"write a decimal point instead of the comma: {text.replace(',', '.')}"


def decoded(text: str) -> str:
    """Return a text that was read as Latin-1 as what it is: UTF-8 wherever it can be."""
    # Capture software on Windows writes the local code page; every byte is a character there.
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return text


def split_cells(line: str) -> list[str]:
    """Split a line at tabs, or at blanks where it has none; the cells come stripped."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def check_time(time: Array, line_numbers: NDArray[np.int64], path: Path) -> None:
    """Refuse a time column with gaps or one that does not increase."""
    if np.isnan(time).any():
        line = line_numbers[int(np.argmax(np.isnan(time)))]
        raise InputError(
            "the time is missing",
            file=path,
            where=f"line {line}",
            expected="a time in seconds",
            remedy=EXPORT_AGAIN,
        )
    step = np.diff(time)
    if (step <= 0).any():
        k = int(np.argmax(step <= 0))
        raise InputError(
            f"the time goes from {time[k]:g} s to {time[k + 1]:g} s",
            file=path,
            where=f"line {line_numbers[k + 1]}",
            expected="times that increase from row to row",
            remedy=f"{EXPORT_AGAIN}, with more decimals of the time if two rows have the same",
        )


def check_unique(names: Sequence[str], kind: str, path: Path, line: int) -> None:
    """Refuse a name that stands twice among the names of markers or columns."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"the {kind} '{name}' stands twice",
                file=path,
                where=f"line {line}",
                expected=f"every {kind} once",
                remedy="rename or remove one of them",
            )
        seen.add(name)


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Write a file so that a reader never sees half of it: written beside, then renamed.

    Args:
        path: the file.
        text: its content, whole or in parts.

    Raises:
        InputError: the file cannot be written.
    """
    with writing(path), _part_of(path) as part:
        os.ftruncate(part.number, 0)  # what a killed run left
        with os.fdopen(part.number, "w", encoding="utf-8", newline="\n", closefd=False) as stream:
            stream.writelines([text] if isinstance(text, str) else text)
        # A lock is private; a recording is as readable as any other file.
        os.chmod(part.path, 0o666 & ~_umask())
        with ignore_interrupts():
            part.move(path)
            note([path])


def _part_of(path: Path) -> Lock:
    """The locked file beside another one in which that is written."""
    name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
    lock = Lock.acquire(path.with_name(f"{HIDDEN}{name}{PART}"))
    if lock is None:
        raise InputError(
            "another run is writing this file",
            file=path,
            expected="one run at a time",
            remedy="wait until it has ended, or name another file",
        )
    return lock


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
