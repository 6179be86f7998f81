"""Writing files that belong together so that nobody ever sees some of them, or half of one."""

from __future__ import annotations

import contextlib
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from musclesolve.errors import InputError


def write_files(
    folder: str | Path, contents: Mapping[str, bytes], outdated: Iterable[str] = ()
) -> list[Path]:
    """Write files into a folder; those of the same names are replaced when all new ones are complete.

    Args:
        folder: where to; made when it is missing.
        contents: what each file shall hold, by name.
        outdated: names of files that would belong to what was there before: removed where they are not written.

    Returns:
        The files.

    Raises:
        InputError: the folder or a file cannot be written; then nothing has changed.
    """
    folder = Path(folder)
    paths = [folder / name for name in contents]
    removed = [folder / name for name in outdated if name not in contents]
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".musclesolve-") as beside:
            for name, content in contents.items():
                (Path(beside) / name).write_bytes(content)
            _replace(Path(beside), paths, removed)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}",
            file=folder if len(paths) > 1 else paths[0],
            remedy="choose another place with -o, or make room or permission there",
        ) from error
    finally:
        for each in missing:
            with contextlib.suppress(
                OSError
            ):  # it holds something: the files, or what somebody else put there
                each.rmdir()
    return paths


def _replace(beside: Path, paths: list[Path], removed: list[Path]) -> None:
    """Put complete files in their places, all of them, and take away what they make untrue."""
    for path in paths:
        if path.is_dir():
            raise IsADirectoryError(0, f"there is a folder of the name {path.name}")
    with _undisturbed():
        for path in paths:
            (beside / path.name).replace(path)
        for path in removed:
            if path.is_file():
                path.unlink()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A Ctrl-C in the moment in which finished files are put in place comes too late; so does a SIGTERM that raises."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [each for each in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(each))]
    handlers = {each: signal.signal(each, signal.SIG_IGN) for each in heeded}
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
