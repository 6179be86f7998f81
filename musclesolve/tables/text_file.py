"""Opening, decoding and writing files, with checks before; every failure becomes an InputError."""

import codecs
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from time import time_ns
from typing import Any

from muscle_db import regular_file
from muscle_db.parsed_toml import toml_table
from muscle_db.similar_names import similar, suggestion
from musclesolve._util.locks import Lock
from musclesolve._util.messages import as_text, listed_beside
from musclesolve._util.processes import ignore_interrupts
from musclesolve._util.written_files import HIDDEN, PART, note
from musclesolve.errors import FilePlace, InputError, file_error, input_error

EXPORT_AGAIN = "export the file again"
STORAGE = (".mot", ".sto")
"""Suffixes of tables of numbers as OpenSim writes them."""
OPENSIM = (".osim", ".xml")
"""Suffixes of models and settings of OpenSim."""
TABLES = (".csv", ".tsv", ".txt", ".forces", ".emt")
"""Suffixes of tables of text, by hand or as a program exports them."""
MARKER_FILES = (".trc", ".c3d")
"""Suffixes of files of markers."""
RECORDED = (*MARKER_FILES, *TABLES, *STORAGE, ".toml")
"""Suffixes of the files of a trial."""
UNMARKED: dict[tuple[bool, ...], str] = {(True, False) * 2: "utf-16-le", (False, True) * 2: "utf-16-be"}
"""Which of the first bytes are not zero in UTF-16 text without a byte order mark -> its encoding."""
TEXT = "a text file (TRC, MOT, STO, CSV or TOML)"


def wide_encoding(start: bytes) -> str | None:
    """Return the encoding of UTF-16 text ("Unicode" in Windows) by its first bytes; None for other text."""
    marked = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "utf-16" if marked else UNMARKED.get(tuple(map(bool, start[:4])))


def damaged(code: str, place: FilePlace, problem: str, expected: str) -> InputError:
    """Return the error of a file that was not exported whole, or damaged on its way."""
    return file_error(code, place, problem, expected, f"{EXPORT_AGAIN}, or copy it again")


def file_path(path: object, where: str | None = None) -> Path:
    """Return the path for a text or a path; where: the argument or function, for the message."""
    if not isinstance(path, str | Path):
        raise input_error(
            "bad_type",
            where=where,
            problem=f"{as_text(path)} is not a path",
            expected="the path of a file",
            remedy="give its name as text",
        )
    return Path(path)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file of settings, without their ends."""
    return settings_lines(path, read_settings(path))


def read_settings(path: Path, *suffixes: str) -> bytes:
    """Return the content of a text file of settings; suffixes: of such files, for the message about a folder."""
    with opening(path, *suffixes):
        return regular_file.read_regular(path, regular_file.SETTINGS)


def settings_lines(path: Path, raw: bytes) -> list[str]:
    """Return the lines of the content of a file, without their ends; the path is for errors."""
    wide = wide_encoding(raw)
    text = raw.decode(wide or "latin-1", "replace")
    if "\0" in text:
        raise binary_file(path)
    text = text if wide else decoded(text).removeprefix("\ufeff")
    if not text.strip():
        raise empty_file(path, remedy="write its content, or name another file")
    # Not str.splitlines: form feeds and the like inside a name do not end a line.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert errors while writing a file to an InputError."""
    try:
        yield
    except OSError as reason:
        if fault := _no_place(path):
            raise fault from None
        raise file_error(
            "not_writable",
            path,
            f"the file cannot be written ({reason.strerror or reason})",
            "a place where you may write",
            "name another file, or make room for it",
        ) from None


def _no_place(path: Path) -> InputError | None:
    """The error of a path at which no file can be: a folder, or a path in a folder that does not exist."""
    folder = path.parent.absolute()
    if path.is_dir():
        problem, expected, remedy = "this is a folder", "the name of a file", "name a file in it"
    elif not folder.is_dir():
        problem, expected, remedy = "there is no such folder", "a folder", f"make {folder} first"
    else:
        return None
    return file_error("not_writable", path, problem, expected, remedy)


def check_place(path: str | Path, what: str, *suffixes: str, table: str | None = None) -> None:
    """Check that a file may be written at a path, before anything is computed.

    Args:
        path: of the file.
        what: content of the file, for messages: "the muscles of one person". suffixes: possible suffixes of its name.
            table: a table of TOML in every such file; a file without it has other content and is not replaced.
    """
    path = file_path(path)
    if path.suffix.casefold() not in suffixes:
        ending = f"does not end in '{path.suffix}'" if path.suffix else "needs an ending"
        raise file_error(
            "bad_format",
            path,
            f"a file of {what} {ending}",
            f"a name that ends in {', '.join(map(str, suffixes))}",
            f"-o {path.stem or 'name'}{suffixes[0]}",
        )
    if fault := _no_place(path):
        raise fault
    if table is not None and path.exists() and stated_table(path, table) is None:
        raise file_error(
            "occupied_folder",
            path,
            f"this is not a file of {what}; it would be replaced",
            "a new file, or one of the same kind",
            "choose another name",
        )


def stated_table(path: Path, name: str) -> dict[str, Any] | None:
    """Return a table of a TOML file; None for any other file, and for a file without this table."""
    table = toml_content(path).get(name) if path.suffix.casefold() == ".toml" else None
    return table if isinstance(table, dict) else None


def toml_content(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; nothing for a file that cannot be read, or is none."""
    with suppress(InputError, ValueError, RecursionError):
        return toml_table("\n".join(read_lines(path)))
    return {}


@contextmanager
def opening(path: Path, *suffixes: str) -> Iterator[None]:
    """Convert errors while reading a file to an InputError; suffixes: as of `no_file`."""
    try:
        regular_file.note_file(path)
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise no_file(path, *suffixes) from None
    except regular_file.UnsuitableFileError as reason:
        raise file_error("unreadable_file", path, reason.problem, reason.expected, reason.remedy) from None
    except OSError as reason:
        raise file_error(
            "unreadable_file",
            path,
            f"the file cannot be read ({reason.strerror})",
            "a file that you may read",
            "copy it elsewhere; instead of a link, name the file to which it leads",
        ) from None
    except InputError:
        raise
    except ValueError:
        raise input_error(
            "missing_file",
            problem=f"{str(path)!r} is not a file name",
            expected="a file name",
            remedy="check the name",
        ) from None


def open_input(path: Path, most: int = regular_file.RECORDING) -> BufferedReader:
    """Open a file of a recording, or another one of at most `most` bytes, for reading."""
    with opening(path):
        return regular_file.open_regular(path, most)


class HashedReader(BufferedReader):
    """A file that is read piece by piece from its beginning; `sha256` is the hash of the pieces so far."""

    def __init__(self, file: BufferedReader) -> None:
        super().__init__(file.detach())
        self.sha256 = hashlib.sha256()

    def read1(self, size: int = -1, /) -> bytes:
        """Read the next piece."""
        piece = super().read1(size)
        self.sha256.update(piece)
        return piece

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as many bytes, as the reader of compressed files does."""
        piece = super().read(size)
        self.sha256.update(piece)
        return piece


PACKED = ".gz"
"""Suffix of a compressed text file."""


def suffix_of(path: str | Path) -> str:
    """The suffix that says what a file holds, in small letters: ".trc" of "Walk.TRC" and of "walk.trc.gz"."""
    return _unpacked(file_path(path)).suffix.casefold()


def stem_of(path: str | Path) -> str:
    """The name of a file without its suffixes: "Walk" of "Walk.TRC" and of "Walk.trc.gz"."""
    return _unpacked(file_path(path)).stem


def _unpacked(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.casefold() == PACKED else path


def check_input(path: Path, most: int) -> None:
    """Refuse a file that `open_input` refuses, before a library opens it by its name."""
    with opening(path):
        regular_file.check_regular(os.stat(path), most)


SETTLED, MOST_HASHES = 2_000_000_000, 4096
"""Age of a last change from which the next change surely has another time [ns], and number of hashes that are kept."""
_hashes: dict[tuple[int, ...], str] = {}
"""State of a file -> its hash."""


def sha256(path: Path) -> str:
    """Return the hash of a recording or result, which is read once in each of its states; errors as of `open_input`."""
    with open_input(path, regular_file.RESULT) as file, opening(path):
        of = os.fstat(file.fileno())
        state = of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns
        if state in _hashes:
            return _hashes[state]
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if time_ns() - max(of.st_mtime_ns, of.st_ctime_ns) > SETTLED:
        if len(_hashes) >= MOST_HASHES:
            _hashes.clear()
        _hashes[state] = digest
    return digest


def hash_of(path: Path) -> str:
    """Return the `sha256` of a file, "" where there is none that can be read."""
    try:
        return sha256(path)
    except InputError:
        return ""


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file."""
    with opening(path):
        return path.is_file()


def without_detours(path: Path) -> Path:
    """The path a/c for a/b/../c, if both are the same place: with a link to a folder they may differ."""
    short = Path(os.path.normpath(path))
    with suppress(OSError, ValueError):
        if short != path and os.path.samefile(short.parent, path.parent):
            return short
    return path


def name_from(path: Path, holder: Path) -> str:
    """Return the name of a file in another file, relative to the folder of that other file, `holder`."""
    return name_in(holder.parent.absolute(), path.absolute())


def name_in(folder: Path, path: Path) -> str:
    """Return an absolute path relative to an absolute folder, so that both can move; unchanged on another drive."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return path.as_posix()


def binary_file(path: Path) -> InputError:
    """Return the error of a file that is not text."""
    return file_error(
        "bad_format", path, "this is a binary file", TEXT, "export it as text, or name another file"
    )


def empty_file(path: Path, remedy: str = EXPORT_AGAIN) -> InputError:
    """Return the error of a file without content."""
    return file_error("truncated_file", path, "the file is empty", TEXT, remedy)


def no_file(path: Path, *suffixes: str) -> InputError:
    """Return the error of a path that is not a regular file; suffixes: of the files of a folder that would do."""
    folder = path.parent.absolute()
    problem, expected = "there is no such file", f"a file in {folder}"
    remedy = "check the name and the folder"
    if path.is_dir():
        problem, expected, remedy = "this is a folder", "a file", "name a file in it"
        with suppress(OSError):
            wanted = suffixes or RECORDED
            present = sorted(name for name in os.listdir(path) if Path(name).suffix.casefold() in wanted)
            none = f"name a file elsewhere: none in {path.name or path} ends in {', '.join(wanted)}"
            if wanted == (".toml",):
                none += f"; `musclesolve init {path}` drafts a trial file, with --study a study file"
            remedy = f"{remedy}: {listed_beside(None, present)}" if present else none
    elif not path.name.isprintable() or ("\\" in path.name and os.sep == "/"):
        remedy = "write / instead of \\ between folders"  # "data\\trial" in double quotes has a tab
    elif path.exists() or path.is_symlink():
        state = path.stat() if path.exists() else path.lstat()
        problem, expected = f"this is {regular_file.kind_of(state.st_mode)}", "a regular file"
        remedy = "name a file with the same content"
    elif not folder.is_dir():
        expected, remedy = f"a file in {folder}, but there is no such folder", "check the folder"
    else:
        kind = path.suffix.casefold()  # or another file of a recording; TRC has markers alone, storage never
        kinds = {kind, *RECORDED} - set(STORAGE if kind == ".trc" else [".trc"] if kind in STORAGE else [])
        with suppress(OSError):
            present = sorted(name for name in os.listdir(folder) if Path(name).suffix.casefold() in kinds)
            # the ending alone makes no likeness
            stems = similar(path.stem, {Path(name).stem for name in present})
            remedy = suggestion(path.name, [name for name in present if Path(name).stem in stems]) or remedy
    return file_error("missing_file", path, problem, expected, remedy)


def decimal_point(text: str) -> str | None:
    """Return the remedy for a number written with a decimal comma; None for any other text."""
    if not re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", text):
        return None
    return f"write a decimal point instead of the comma: {text.replace(',', '.')}"


def decoded(text: str) -> str:
    """Return a text that was read as Latin-1, decoded as UTF-8 if possible."""
    # Capture software on Windows writes the local code page; every byte is a character there.
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return text


def split_cells(line: str) -> list[str]:
    """Split a line at tabs, or at blanks if it has no tabs, into stripped cells."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def check_separator(line: str, path: Path, number: int) -> None:
    """Refuse a line of names between semicolons or commas."""
    for mark, name in ((";", "semicolons"), (",", "commas")):
        if mark in line and len(split_cells(line)) == 1:
            problem, expected = f"the columns are separated by {name}", "columns separated by tabs or blanks"
            remedy = (
                f"export it as OpenSim writes it; or replace decimal commas by points, then {name} by tabs"
            )
            raise file_error("bad_format", (path, number), problem, expected, remedy)


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Write a file completely or not at all: into a locked file beside it, which is then renamed."""
    with writing(path):
        name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
        lock = Lock.acquire(path.with_name(f"{HIDDEN}{name}{PART}"))
        if lock is None:
            raise file_error(
                "busy",
                path,
                "another run is writing this file",
                "one run at a time",
                "wait until it has ended, or name another file",
            )
        with lock as part:
            os.ftruncate(part.number, 0)  # left by a killed run
            with os.fdopen(part.number, "w", encoding="utf-8", newline="\n", closefd=False) as stream:
                stream.writelines([text] if isinstance(text, str) else text)
            # A lock is private; a recording is as readable as any other file.
            os.umask(mask := os.umask(0))
            os.chmod(part.path, 0o666 & ~mask)
            with ignore_interrupts():
                part.move(path)
                note([path])
