"""Atomic writing of files that belong together: all of them appear, complete, or none."""

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from time import monotonic, sleep
from weakref import WeakValueDictionary

from musclesolve._util.locks import Lock
from musclesolve._util.processes import ignore_interrupts
from musclesolve._util.written_files import HIDDEN, PART, note
from musclesolve.errors import BusyError, file_error

Content = bytes | Callable[[Path], None]
LOCK = f"{HIDDEN}lock"

_locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()
"""Folder -> its lock, if this process holds it."""
_patience = ContextVar("_patience", default=0.0)
LOOK = 0.05
"""Interval at which a reserved folder is tried again [s]."""


def text_content(parts: Iterable[str]) -> Content:
    """The content of a text file for `write_files`, written part by part: a whole long text is too large for memory."""

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts)

    return write


def write_files(
    folder: str | Path, contents: Mapping[str, Content], outdated: Iterable[str] = ()
) -> list[Path]:
    """Write files by name into a folder, made if missing; existing ones are replaced when all new ones are complete.

    The content of a file is bytes, or a function that writes the content to a path.
    Files named in `outdated` that are not written are removed: they belong to an earlier result. Returns the files.
    """
    folder = Path(folder)
    if odd := [name for name in contents if Path(name).name != name or name in ("", "..")]:
        raise ValueError(f"{odd[0]!r} would not be a file in the folder")
    paths = [folder / name for name in contents]
    removed = [folder / name for name in outdated if name not in contents]
    with (
        reserved(folder),
        _input_error(paths[0] if len(paths) == 1 else folder),
        hidden_folder(folder) as beside,
    ):
        for name, content in contents.items():
            if callable(content):
                content(beside / name)
            else:
                (beside / name).write_bytes(content)
        _replace(beside, paths, removed)
    return paths


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield the place to write a file too large for memory; it replaces the one at `path` when complete."""
    with reserved(path.parent), _input_error(path), hidden_folder(path.parent) as beside:
        yield beside / path.name
        _replace(beside, [path], [])


@contextlib.contextmanager
def hidden_folder(folder: Path) -> Iterator[Path]:
    """Make a hidden folder for files that are not complete, in a reserved folder; it is removed with them."""
    beside = Path(tempfile.mkdtemp(dir=folder, prefix=HIDDEN))
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _replace(beside: Path, paths: list[Path], removed: list[Path]) -> None:
    """Move all complete files to their places, and remove outdated files."""
    for path in paths:
        if path.is_dir():
            raise IsADirectoryError(0, f"there is a folder of the name {path.name}")
    with ignore_interrupts():
        for place, path in enumerate(paths):
            try:
                (beside / path.name).replace(path)
            except OSError as error:  # such as a file that another program has open on Windows
                done = ", ".join(path.name for path in paths[:place])
                raise file_error(
                    "not_writable",
                    path,
                    f"cannot be replaced: {error.strerror or error}{f'; {done} already are' if done else ''}",
                    remedy="close it where it is open, and give the command again",
                ) from error
        note(paths)
        for path in removed:
            try:
                if path.is_file():
                    path.unlink()
            except OSError as error:
                raise file_error(
                    "not_writable",
                    path,
                    f"the new files are written, but this one cannot be removed: {error.strerror or error}",
                    remedy="remove it: it belongs to an earlier result",
                ) from error
        with contextlib.suppress(OSError):
            beside.rmdir()


@contextlib.contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Reserve a folder against other runs, made if missing, and remove the remains of killed runs.

    A folder that was made is removed if nothing was written into it. Within it, this thread may reserve it again.
    """
    with _input_error(folder):
        key = os.path.realpath(folder)
    mine = _locks.get(key)
    if mine is not None and mine.is_held and mine.thread == threading.get_ident():
        yield
        return
    missing = [parent for parent in (folder, *folder.parents) if not os.path.lexists(parent)]
    try:
        with _lock_of(folder) as lock:
            _locks[key] = lock
            if lock.exclusive:  # then hidden files are those of runs that were killed
                with contextlib.suppress(OSError):
                    for path in folder.glob(f"{HIDDEN}*"):
                        if path.name.endswith(PART):
                            if (left := Lock.acquire(path)) is not None:
                                left.release()
                        elif path.is_dir() and not path.is_symlink():
                            shutil.rmtree(path, ignore_errors=True)
            yield
    finally:
        for made in missing:
            # A folder that is not empty stays.
            with contextlib.suppress(OSError):
                made.rmdir()


@contextlib.contextmanager
def patient(seconds: float) -> Iterator[None]:
    """Within it, a folder that is reserved by another run is waited for so long [s], before it is refused."""
    before = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(before)


def _lock_of(folder: Path) -> Lock:
    until = monotonic() + _patience.get()
    while (lock := _free_lock(folder)) is None:
        if monotonic() >= until:
            raise BusyError.from_template(
                "busy",
                file=folder,
                problem="another run is writing into this folder",
                expected="one run at a time into a folder",
                remedy="wait until it has ended, or choose another folder with -o",
            )
        sleep(LOOK)
    return lock


def _free_lock(folder: Path) -> Lock | None:
    """The lock of a folder, None if another run holds it."""
    with _input_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # another run may have just ended, and removed its empty folder
        with contextlib.suppress(FileNotFoundError):
            return Lock.acquire(folder / LOCK)
        folder.mkdir(parents=True, exist_ok=True)
        return Lock.acquire(folder / LOCK)


@contextlib.contextmanager
def _input_error(place: Path) -> Iterator[None]:
    """Raise an InputError where a place cannot be written."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        present = next(
            (path for path in (place, *place.parents) if path.exists() and not path.is_dir()), place
        )
        raise file_error(
            "not_writable",
            place,
            f"{present.name} is a file, and results are written into a folder",
            remedy="name a folder with -o, a new one or one with earlier results",
        ) from error
    except OSError as error:
        raise file_error(
            "not_writable",
            place,
            f"cannot be written: {error.strerror or error}",
            remedy="choose another place, or make room or permission there",
        ) from error
