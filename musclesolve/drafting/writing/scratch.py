"""A trial file that is only read back: the readers of trial files judge a draft before anything is written."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from musclesolve.errors import InputError
from musclesolve.recording.trial.schema import Document, examined

NAME = "trial.toml"


def scratch(text: str) -> tuple[Document, dict[str, Any]]:
    """The document of a text, and its content with defaults, as far as it is right."""
    document = _document(text)
    return document, examined(document)[0]


def scratch_errors(text: str) -> list[InputError]:
    """What the schema of trial files finds wrong with a text."""
    return examined(_document(text))[1]


def _document(text: str) -> Document:
    with tempfile.TemporaryDirectory(prefix="musclesolve-") as folder:
        path = Path(folder) / NAME
        path.write_text(text, encoding="utf-8")
        return Document(path)
