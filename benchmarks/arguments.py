"""Types of arguments that the commands of the benchmarks share: what cannot be is said in one line."""

from __future__ import annotations

import argparse
from pathlib import Path


def output_folder(text: str) -> Path:
    """A folder for what is written, made where it is not there."""
    folder = Path(text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "there is a file of this name" if folder.exists() else error.strerror
        raise argparse.ArgumentTypeError(f"{text!r} cannot be a folder: {reason}") from error
    return folder


def input_file(text: str) -> Path:
    """A file that is there."""
    path = Path(text)
    if not path.is_file():
        reason = "is a folder" if path.is_dir() else "does not exist"
        raise argparse.ArgumentTypeError(f"{text!r} {reason}: name a file")
    return path
