"""Which trials are meant, and what their folders are called."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from musclesolve.errors import InputError


def find_trials(arguments: Iterable[str | Path]) -> list[Path]:
    """Trial files, and for each folder those in it; absolute, in the given order, each once.

    A file that does not exist is kept: it is the fault of that trial alone.

    Raises:
        InputError: a folder cannot be read or holds no trial, or nothing is named at all.
    """
    found: list[Path] = []
    for argument in map(Path, arguments):
        found += _in_folder(argument) if argument.is_dir() else [argument]
    if not found:
        raise InputError("no trial is named", expected="trial files, or folders with trial files")
    return list(dict.fromkeys(path.resolve() for path in found))


def _in_folder(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".toml" and _may_be_trial(path))
    except OSError as error:
        raise InputError(f"the folder cannot be read: {error.strerror or error}", file=folder) from error
    if not found:
        raise InputError(
            "there is no trial file in this folder",
            file=folder,
            expected="files *.toml with a table [files]",
            remedy="name the folder that holds them itself: folders inside are not searched",
        )
    return found


def _may_be_trial(path: Path) -> bool:
    """Whether a TOML file has the table that only trials have; one that cannot be read may be a trial."""
    try:
        return "files" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return path.is_file()


def folder_names(trials: list[Path]) -> list[str]:
    """A name for the folder of every trial: its stem, with folders above it where stems repeat: "s1-walk".

    Names that differ only in capital letters count as the same: some file systems think so.

    Args:
        trials: absolute paths, all different.

    Raises:
        InputError: two paths have the same name however much of them is taken.
    """
    depth = dict.fromkeys(trials, 0)
    while True:
        names = [_name(path, depth[path]) for path in trials]
        count = Counter(name.casefold() for name in names)
        same = [path for path, name in zip(trials, names, strict=True) if count[name.casefold()] > 1]
        if not same:
            return names
        longer = [path for path in same if depth[path] < len(path.parent.parts)]
        if not longer:
            raise InputError(
                f"the results of {same[0]} and {same[1]} would have the same name",
                remedy="rename one of them",
            )
        for path in longer:
            depth[path] += 1


def _name(path: Path, depth: int) -> str:
    """Stem of a file, the names of so many folders before it."""
    above = path.parent.parts[-depth:] if depth else ()
    return "-".join([*(part.strip("/\\:") for part in above if part.strip("/\\:")), path.stem])
