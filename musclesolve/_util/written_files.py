"""Which files a command has completed, so that its last message is true; what unfinished ones are called."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

HIDDEN, PART = ".musclesolve-", ".part"
"""How the names of unfinished files and folders begin; how those of single files end."""
MOST_NAMES = 10

_complete: list[Path] = []


def note(paths: Iterable[Path]) -> None:
    """These files are in their places, and complete."""
    _complete.extend(paths)


def reset() -> None:
    """A command begins."""
    _complete.clear()


def what_was_written() -> str:
    """The sentence on it: "nothing was written", or which files are complete."""
    if not _complete:
        return "nothing was written"
    folders: dict[Path, list[str]] = {}
    for path in dict.fromkeys(_complete):
        folders.setdefault(path.parent, []).append(path.name)
    return "complete are " + "; ".join(f"{_short(names)} in {folder}" for folder, names in folders.items())


def _short(names: list[str]) -> str:
    more = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*names[:MOST_NAMES], *more])
