"""Opening, decoding and writing files, and what is tested before; whatever prevents it becomes an InputError."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

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
from musclesolve._util.message_text import as_text
from musclesolve._util.names import suggestion
from musclesolve._util.written_files import HIDDEN, PART, note
from musclesolve.errors import InputError
from musclesolve.recording.place_errors import EXPORT_AGAIN, error_at
from musclesolve.recording.text.repeated_names import distinct_names
from musclesolve.recording.units import LARGEST

RECORDED = (".trc", ".c3d", ".csv", ".mot", ".sto", ".toml")
"""Suffixes of the files of a trial."""
TEXT = "a text file (TRC, MOT, STO, CSV or TOML)"
MOST_DECIMALS = 30


def file_path(path: str | Path) -> Path:
    """Return a path that was given as text or as a path."""
    if not isinstance(path, str | Path):
        problem = f"{as_text(path)} is not a path"
        raise error_at(None, None, problem, "the path of a file", "give its name as text", code="bad_type")
    return Path(path)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file of settings, without their ends."""
    return settings_lines(path, read_settings(path))


def read_settings(path: Path) -> bytes:
    """Return the content of a text file of settings."""
    with opening(path):
        return read_regular(path, SETTINGS)


def settings_lines(path: Path, raw: bytes) -> list[str]:
    """Return the lines of the content of a file, without their ends; the path is for errors."""
    if b"\0" in raw:
        raise binary_file(path)
    text = decoded(raw.decode("latin-1")).removeprefix("\ufeff")
    if not text.strip():
        raise empty_file(path, remedy="write its content, or name another file")
    # Not str.splitlines: form feeds and the like inside a name do not end a line.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn whatever keeps a file from being written into an InputError."""
    try:
        yield
    except OSError as reason:
        if fault := _no_place(path):
            raise fault from None
        problem = f"the file cannot be written ({reason.strerror or reason})"
        expected, remedy = "a place where you may write", "name another file, or make room for it"
        raise error_at(path, None, problem, expected, remedy, code="not_writable") from None


def _no_place(path: Path) -> InputError | None:
    """The refusal of a path at which there can be no file: a folder, or in a folder that does not exist."""
    folder = path.parent.absolute()
    if path.is_dir():
        problem, expected, remedy = "this is a folder", "the name of a file", "name a file in it"
    elif not folder.is_dir():
        problem, expected, remedy = "there is no such folder", "a folder", f"make {folder} first"
    else:
        return None
    return error_at(path, None, problem, expected, remedy, code="not_writable")


def check_place(path: str | Path, what: str, *suffixes: str, table: str | None = None) -> None:
    """See that a file may be written there, before anything is computed.

    Args:
        path: of the file.
        what: it holds, in messages: "the muscles of one person".
        suffixes: with which its name may end.
        table: a table of TOML that every such file has; a file without it is of something else and is not replaced.

    Raises:
        InputError: another suffix, a folder of that name, a folder that does not exist, a file of something else.
    """
    path = file_path(path)
    if path.suffix.casefold() not in suffixes:
        problem = f"a file of {what} does not end in '{path.suffix}'"
        expected, remedy = (
            f"a name that ends in {', '.join(suffixes)}",
            f"-o {path.stem or 'name'}{suffixes[0]}",
        )
        raise error_at(path, None, problem, expected, remedy)
    if fault := _no_place(path):
        raise fault
    if table is not None and path.exists() and stated_table(path, table) is None:
        problem, expected = (
            f"this is not a file of {what}, and would be lost",
            "a new file, or one of the same kind",
        )
        raise error_at(path, None, problem, expected, "choose another name", code="occupied_folder")


def stated_table(path: Path, name: str) -> dict[str, Any] | None:
    """Return a table of a TOML file; None of any other file, and where it has none of this name."""
    if path.suffix.casefold() == ".toml":
        with suppress(InputError, tomllib.TOMLDecodeError):
            table = tomllib.loads("\n".join(read_lines(path))).get(name)
            return table if isinstance(table, dict) else None
    return None


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn whatever keeps a file from being read into an InputError."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise no_file(path) from None
    except UnsuitableFileError as reason:
        problem, expected, remedy = reason.problem, reason.expected, reason.remedy
        raise error_at(path, None, problem, expected, remedy, code="unreadable_file") from None
    except OSError as reason:
        problem, expected = f"the file cannot be read ({reason.strerror})", "a file that you may read"
        raise error_at(path, None, problem, expected, "copy it elsewhere", code="unreadable_file") from None
    except ValueError:
        problem = f"{str(path)!r} is not a file name"
        raise error_at(None, None, problem, "a file name", "check the name", code="missing_file") from None


def open_input(path: Path, most: int = RECORDING) -> BufferedReader:
    """Open a file of a recording, or another one of at most so many bytes, for reading."""
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


def has_hash(path: Path, sha: str) -> bool:
    """Return whether a file is there, can be read and has this `sha256`."""
    try:
        return sha256(path) == sha
    except InputError:
        return False


def is_file(path: Path) -> bool:
    """Return whether a path is that of a regular file."""
    with opening(path):
        return path.is_file()


def without_detours(path: Path) -> Path:
    """The path a/c of a/b/../c, where it is in the same folder: beyond a link to a folder it need not be."""
    short = Path(os.path.normpath(path))
    with suppress(OSError, ValueError):
        if short != path and os.path.samefile(short.parent, path.parent):
            return short
    return path


def name_from(path: Path, holder: Path) -> str:
    """Return a file as another file names it: from the folder of that other file, `holder`."""
    return name_in(holder.parent.absolute(), path.absolute())


def name_in(folder: Path, path: Path) -> str:
    """Return an absolute path as named from an absolute folder, so that both can move; on another drive as it is."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return path.as_posix()


def binary_file(path: Path) -> InputError:
    """Return the refusal of a file that is not text, or text that Windows calls Unicode."""
    with open_input(path) as stream:
        start = stream.read(2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        problem, remedy = "the text is UTF-16", "save it again as UTF-8"
        return error_at(path, None, problem, "UTF-8", remedy, code="bad_encoding")
    return error_at(path, None, "this is a binary file", TEXT, "export it as text, or name another file")


def empty_file(path: Path, remedy: str = EXPORT_AGAIN) -> InputError:
    """Return the refusal of a file without content."""
    return error_at(path, None, "the file is empty", TEXT, remedy, code="truncated_file")


def no_file(path: Path) -> InputError:
    """Return the refusal of a path that is not a regular file."""
    folder = path.parent.absolute()
    problem, expected = "there is no such file", f"a file in {folder}"
    remedy = "check the name and the folder"
    if path.is_dir():
        problem, expected, remedy = "this is a folder", "a file", "name a file in it"
    elif path.exists():
        problem, expected = f"this is {kind_of(path.stat().st_mode)}", "a regular file"
        remedy = "name a file that holds the same"
    elif not folder.is_dir():
        expected, remedy = f"a file in {folder}, but there is no such folder", "check the folder"
    else:
        # Files of a recording, or of the same kind; no script of a similar name.
        kinds = (*RECORDED, path.suffix.casefold())
        with suppress(OSError):
            there = sorted(name for name in os.listdir(folder) if Path(name).suffix.casefold() in kinds)
            remedy = suggestion(path.name, there) or remedy
    return error_at(path, None, problem, expected, remedy, code="missing_file")


def decimal_point(text: str) -> str | None:
    """Return the remedy for a number written with a decimal comma; None for any other text."""
    if not re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", text):
        return None
    return f"write a decimal point instead of the comma: {text.replace(',', '.')}"


def decoded(text: str) -> str:
    """Return a text that was read as Latin-1, decoded as UTF-8 wherever it can be."""
    # Capture software on Windows writes the local code page; every byte is a character there.
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return text


def split_cells(line: str) -> list[str]:
    """Split a line at tabs, or at blanks where it has none; the cells come stripped."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Write a file so that a reader never sees half of it: into a locked file beside it, which is then renamed."""
    with writing(path):
        name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
        lock = Lock.acquire(path.with_name(f"{HIDDEN}{name}{PART}"))
        if lock is None:
            problem, remedy = (
                "another run is writing this file",
                "wait until it has ended, or name another file",
            )
            raise error_at(path, None, problem, "one run at a time", remedy, code="busy")
        with lock as part:
            os.ftruncate(part.number, 0)  # what a killed run left
            with os.fdopen(part.number, "w", encoding="utf-8", newline="\n", closefd=False) as stream:
                stream.writelines([text] if isinstance(text, str) else text)
            # A lock is private; a recording is as readable as any other file.
            os.umask(mask := os.umask(0))
            os.chmod(part.path, 0o666 & ~mask)
            with ignore_interrupts():
                part.move(path)
                note([path])


def check_writable(
    path: str | Path, kind: str, names: Sequence[str], time: Array, values: Array, decimals: int
) -> Path:
    """Return the path of a file that can be written: the readers would accept it.

    `kind` is "marker" or "column", of n names; times are (T,) [s], values (T, n, ...) in the unit that is written with
    so many decimals, NaN for a gap.
    """
    path = file_path(path)
    if not isinstance(decimals, int) or isinstance(decimals, bool) or not 0 <= decimals <= MOST_DECIMALS:
        expected = f"a whole number from 0 to {MOST_DECIMALS}"
        raise error_at(
            path, None, f"{as_text(decimals)} decimals", expected, "write decimals=6", code="bad_number"
        )
    if time.ndim != 1 or time.size < 2:
        problem = f"{time.size} frame(s) have no rate to write"
        raise error_at(path, None, problem, "at least two", "write more frames", code="too_few_frames")
    if values.shape[:2] != (time.size, len(names)):
        problem = f"{time.size} frames and {len(names)} names for values of the shape {values.shape}"
        expected = f"as many rows as frames, and one {kind} for every name"
        raise error_at(path, None, problem, expected, "give matching names and times", code="bad_shape")
    for name in distinct_names(enumerate(names))[1]:
        problem, expected = f"the {kind} '{name}' stands twice", f"every {kind} once"
        raise error_at(path, None, problem, expected, "rename one of them", code="duplicate_name")
    if not (np.abs(time) <= LARGEST).all() or (np.diff(time) <= 0.0).any():
        problem = "the times do not increase from frame to frame"
        raise error_at(
            path, None, problem, "finite, increasing times", "sort the frames", code="time_not_increasing"
        )
    beyond = np.abs(values) > LARGEST
    if beyond.any():
        row, column = np.argwhere(beyond)[0, :2]
        problem = f"'{names[column]}' has the value {values[beyond][0]:g} at {time[row]:g} s"
        expected = f"numbers of at most {LARGEST:g}, or nan where nothing was measured"
        raise error_at(path, None, problem, expected, "correct the value before writing", code="not_finite")
    return path
