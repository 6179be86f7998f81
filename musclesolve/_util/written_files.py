"""The completed files of a command, for its last message; names of unfinished files."""

from collections.abc import Iterable
from pathlib import Path

from musclesolve._util.names import shortened

HIDDEN, PART = ".musclesolve-", ".part"
"""Prefix of the names of unfinished files and folders; suffix of those of single files."""
MOST_NAMES = 10

_complete: list[Path] = []


def note(paths: Iterable[Path]) -> None:
    """Record completed files."""
    _complete.extend(paths)


def reset() -> None:
    """Clear the list of files: a new command begins."""
    _complete.clear()


def what_was_written() -> str:
    """Return "nothing was written", or the names of the completed files."""
    if not _complete:
        return "nothing was written"
    folders: dict[Path, list[str]] = {}
    for path in dict.fromkeys(_complete):
        folders.setdefault(path.parent, []).append(path.name)
    listed = (f"{shortened(names, MOST_NAMES)} in {folder}" for folder, names in folders.items())
    return f"complete are {'; '.join(listed)}"
