"""Command lines of the benchmarks: one parser, and types of arguments that refuse a bad value in one line."""

from __future__ import annotations

import argparse
import sys
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


def input_file(text: str) -> Path:
    """A file that is there."""
    path = Path(text)
    if not path.is_file():
        reason = "is a folder" if path.is_dir() else "does not exist"
        raise argparse.ArgumentTypeError(f"{text!r} {reason}: name a file")
    return path
