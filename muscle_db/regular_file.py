"""Opening of all input files: only regular files up to a size.

A device, a pipe or a file of another kind may have no end, or block its reader forever. `musclesolve` opens its files
with this module, too; it is here because `muscle_db` does not import `musclesolve`.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import BufferedReader
from pathlib import Path

MEBIBYTE = 1 << 20
SETTINGS = 16 * MEBIBYTE
"""Largest size [bytes] of files written by hand: trial files, camera files, marker sets, muscles, model definitions
(TOML).
"""
RECORDING = 4096 * MEBIBYTE
"""Largest size [bytes] of recordings: C3D, TRC, MOT, STO, CSV."""
RESULT = 16384 * MEBIBYTE
"""Largest size [bytes] of a result."""


FileState = tuple[int, int] | None
"""Time of the last change [ns] and size [bytes] of a file; None where there is none."""
_notes = ContextVar[tuple[dict[Path, FileState], ...]]("_notes", default=())


@contextmanager
def noted_files() -> Iterator[dict[Path, FileState]]:
    """Yield the files that this thread opens or looks for within it, with their states before."""
    files = dict[Path, FileState]()
    before = _notes.set((*_notes.get(), files))
    try:
        yield files
    finally:
        _notes.reset(before)


def note_file(path: str | Path) -> None:
    """Note a file that is opened, or looked for, in each open `noted_files`."""
    for files in _notes.get():
        if (absolute := Path(os.path.abspath(path))) not in files:
            files[absolute] = file_state(absolute)


def file_state(path: Path) -> FileState:
    """Return the state of a file."""
    try:
        state = path.stat()
    except (OSError, ValueError):  # ValueError: a null character in the name
        return None
    return state.st_mtime_ns, state.st_size


class UnsuitableFileError(OSError):
    """A file that must not be read: problem, expected value and remedy."""

    def __init__(self, problem: str, expected: str, remedy: str) -> None:
        super().__init__(f"{problem}, expected: {expected}")
        self.problem, self.expected, self.remedy = problem, expected, remedy


def open_regular(path: str | Path, most: int) -> BufferedReader:
    """Open a regular file of at most `most` bytes for reading.

    Raises:
        UnsuitableFileError: it is of another kind, or larger.
        OSError: it cannot be opened; IsADirectoryError for a folder.
    """
    note_file(path)
    # Looked at before it is opened, for opening a device can do something; and again, for it can have been replaced.
    check_regular(os.stat(path), most)
    waiting, binary = getattr(os, "O_NONBLOCK", 0), getattr(os, "O_BINARY", 0)
    stream = os.fdopen(os.open(path, os.O_RDONLY | waiting | binary), "rb")
    try:
        check_regular(os.fstat(stream.fileno()), most)
    except BaseException:
        stream.close()
        raise
    return stream


def check_regular(found: os.stat_result, most: int) -> None:
    """Refuse a file that is not regular or too large; errors as of `open_regular`."""
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError("this is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise UnsuitableFileError(
            f"this is {kind_of(found.st_mode)}",
            "a regular file",
            "copy what it holds into a file, and name that",
        )
    if found.st_size > most:
        raise _too_large(f"{found.st_size / MEBIBYTE:.0f} MiB", most)


def read_regular(path: str | Path, most: int) -> bytes:
    """Read a regular file of at most `most` bytes; errors as of `open_regular`."""
    content = bytearray()
    with open_regular(path, most) as stream:
        # In pieces, because a read reserves memory for all that it may return.
        while piece := stream.read(MEBIBYTE):
            content += piece
            if len(content) > most:  # it grew, or does not know its size
                raise _too_large(f"more than {most / MEBIBYTE:.0f} MiB", most)
    if piece is None:  # some files of the system wait for more data
        raise UnsuitableFileError(
            "the file has no end", "a regular file", "copy what it holds into a file, and name that"
        )
    return bytes(content)


def kind_of(mode: int) -> str:
    """Return the kind of an entry of the file system that is neither a file nor a folder."""
    kinds = (
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISLNK, "a link that leads to no file"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((name for is_of_kind, name in kinds if is_of_kind(mode)), "no regular file")


def _too_large(size: str, most: int) -> UnsuitableFileError:
    return UnsuitableFileError(
        f"the file has {size}",
        f"at most {most / MEBIBYTE:.0f} MiB for a file of this kind",
        "check whether this is the right file",
    )
