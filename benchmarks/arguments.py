"""Command lines of the benchmarks: one parser, and types of arguments that refuse a bad value in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path


def command_line(about: str | None) -> argparse.ArgumentParser:
    """Return the parser of the module that runs as a command; about: its documentation, which the help prints."""
    spec = sys.modules["__main__"].__spec__
    return argparse.ArgumentParser(
        prog=spec and f"python -m {spec.name.removesuffix('.__main__')}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def output_folder(text: str) -> Path:
    """A folder for what is written, made where it is not there."""
    folder = Path(text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "there is a file of this name" if folder.exists() else error.strerror
        raise argparse.ArgumentTypeError(f"{text!r} cannot be a folder: {reason}") from error
    return folder


def input_folder(text: str) -> Path:
    """A folder that is there."""
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is no folder: name a folder with recordings")
    return path


def bank_arguments(about: str | None, count: int, kinds: Iterable[str]) -> tuple[Path, int, int, list[str]]:
    """DATA, COUNT, SEED and KIND ... of a bank that draws: folder, number of draws, seed, kinds that are named."""
    parser = command_line(about)
    parser.add_argument("data", type=input_folder, metavar="DATA")
    parser.add_argument("count", type=int, nargs="?", default=count, metavar="COUNT")
    parser.add_argument("seed", type=int, nargs="?", default=1, metavar="SEED")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"all unless named: {', '.join(kinds)}")
    given = parser.parse_args()
    if unknown := sorted({*given.kinds} - {*kinds}):
        parser.error(f"there is no kind {', '.join(unknown)}")
    return given.data, given.count, given.seed, given.kinds


def input_file(text: str) -> Path:
    """A file that is there."""
    path = Path(text)
    if not path.is_file():
        reason = "is a folder" if path.is_dir() else "does not exist"
        raise argparse.ArgumentTypeError(f"{text!r} {reason}: name a file")
    return path
