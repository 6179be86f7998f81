"""The completed files of a command, for its last message; names that files can have on every system."""

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from musclesolve._util.messages import shortened

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


DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}
"""Names that no file can have on Windows, whatever their suffix."""
MOST_FOLDER_BYTES = 120
"""Bytes of the name of a folder: file systems allow 255, some for the whole path."""


def safe(name: str) -> str:
    """A name of a visible file inside its folder on every system.

    Separators and other forbidden characters become "_", bytes that are no text their hexadecimal number; dots and
    blanks at the ends are removed; a very long name ends in a number. A safe name is its own.
    """
    text = re.sub(r"[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02x}", name)
    text = re.sub(r'[<>:"/\\|?*\x00-\x1f\x7f]', "_", text).strip(". ") or "trial"
    if text.split(".")[0].casefold() in DEVICES:
        text = f"_{text}"
    if len(text.encode()) > MOST_FOLDER_BYTES:
        short = text.encode()[: MOST_FOLDER_BYTES - 9].decode(errors="ignore").rstrip(". ")
        text = f"{short}-{number_of(name)}"
    return text


def number_of(name: str) -> str:
    """A number of eight digits that belongs to a name."""
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
