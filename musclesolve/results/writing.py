"""Writing a file so that nobody ever sees half of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from musclesolve.errors import InputError


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A name beside ``path`` to write to; it becomes ``path`` when the block ends well and vanishes when not.

    Args:
        path: the file that shall exist afterwards; its folder is made when it is missing.

    Raises:
        InputError: the folder or the file cannot be written.
    """
    path = Path(path)
    beside = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield beside
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}",
            file=path,
            remedy="choose another place with -o, or make room or permission there",
        ) from error
