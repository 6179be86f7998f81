"""The trials that arguments name, and the names of their folders."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from muscle_db.regular_file import SETTINGS, read_regular
from musclesolve.errors import InputError
from musclesolve.studies.many_trials.trial_record import CSV

OWN = (CSV, "average")
"""Names beside those of the trials: the table, and the folder that is proposed for their average."""
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}
"""Names that no file can have on Windows, whatever their suffix."""
LONGEST = 120
"""Bytes of the name of a folder: file systems allow 255, some for the whole path."""


def find_trials(arguments: Iterable[str | Path]) -> list[Path]:
    """Trial files, and for each folder those in it; absolute, in the given order, each once.

    A file that does not exist is kept: that trial alone fails.
    """
    found: list[Path] = []
    for argument in map(Path, arguments):
        found += _in_folder(argument) if os.path.isdir(argument) else [argument]
    if not found:
        raise InputError(
            "no trial is named", code="missing_argument", expected="trial files, or folders with trial files"
        )
    return list(dict.fromkeys(Path(os.path.realpath(path)) for path in found))


def _in_folder(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".toml" and _may_be_trial(path))
    except OSError as error:
        problem = f"the folder cannot be read: {error.strerror or error}"
        raise InputError(problem, code="unreadable_file", file=folder) from error
    if not found:
        raise InputError(
            "there is no trial file in this folder",
            code="missing_file",
            file=folder,
            expected="files *.toml with a table [files]",
            remedy="name the folder in which the trial files lie; folders inside it are not searched",
        )
    return found


def _may_be_trial(path: Path) -> bool:
    """Whether a TOML file has the table [files]; one that cannot be read may be a trial."""
    try:
        return "files" in tomllib.loads(read_regular(path, SETTINGS).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return path.is_file()


def folder_names(trials: list[Path]) -> list[str]:
    """A name (`safe`) for the folder of every trial: its stem, with folders above it where stems repeat: "s1-walk".

    Names that are the same on some file system, such as those that differ only in capital letters, count as the same;
    so do the names in `OWN`. The trials are absolute paths, all different.
    """
    depth = dict.fromkeys(trials, 0)
    numbered: set[Path] = set()
    while True:
        names = [_name(path, depth[path], path in numbered) for path in trials]
        count = Counter(map(_folded, names)) + Counter(map(_folded, OWN))
        same = [path for path, name in zip(trials, names, strict=True) if count[_folded(name)] > 1]
        if not same:
            return names
        changed = {path for path in same if safe(path.stem) != path.stem} - numbered
        longer = [path for path in same if depth[path] < len(path.parent.parts)]
        if not changed and not longer:
            raise InputError(_same_name(same), code="duplicate_name", remedy="rename one of them")
        numbered |= changed
        for path in longer if not changed else ():
            depth[path] += 1


def _name(path: Path, depth: int, numbered: bool) -> str:
    """Stem of a file, the names of so many folders before it; numbered where it had to be changed."""
    above = path.parent.parts[-depth:] if depth else ()
    name = safe("-".join([*(part.strip("/\\:") for part in above if part.strip("/\\:")), path.stem]))
    return f"{name}-{_number(path.stem)}" if numbered else name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _same_name(trials: list[Path]) -> str:
    if len(trials) == 1:
        return f"the results of {trials[0]} would have the name of another file"
    return f"the results of {trials[0]} and {trials[1]} would have the same name"


def safe(name: str) -> str:
    """A name of a visible file inside its folder on every system.

    Separators and other forbidden characters become "_", bytes that are no text their hexadecimal number; dots and
    blanks at the ends are removed; a very long name ends in a number.
    """
    text = re.sub(r"[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02x}", name)
    text = re.sub(r'[<>:"/\\|?*\x00-\x1f\x7f]', "_", text).strip(". ") or "trial"
    if text.split(".")[0].casefold() in DEVICES:
        text = f"_{text}"
    if len(text.encode()) > LONGEST:
        text = f"{text.encode()[:LONGEST].decode(errors='ignore').rstrip('. ')}-{_number(name)}"
    return text


def _number(name: str) -> str:
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
