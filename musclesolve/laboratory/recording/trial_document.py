"""The document of a trial file: of a recording, or of an OpenSim model."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from musclesolve.constants import TODO, TRIAL_FILE
from musclesolve.errors import file_error
from musclesolve.laboratory.recording.trial_settings import ModelSettings, RecordedSettings, is_model_trial
from musclesolve.tables.document import Document
from musclesolve.tables.settings import Settings
from musclesolve.tables.text_file import RECORDED, is_file

HEADER = re.compile(r"(# )?\[\[?([A-Za-z0-9_.\"-]+)\]\]?\s*(?:#.*)?$")
"""Header of a table, also of one that is open: after a "#"."""
OPEN_KEY = re.compile(r"# ([A-Za-z0-9_-]+) =(?: (.*))?$")
"""A key that is open: after a "#", with a suggestion or without a value."""


def open_decisions(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the open decisions of a trial file: numbers of its first line and of the line after it, and its words.

    The words go on in the comments below the line, as far as these are no keys, tables or other decisions.
    """
    for first, line in enumerate(lines):
        if not line.startswith(TODO):
            continue
        words, last = [line.removeprefix(TODO)], first + 1
        while last < len(lines) and lines[last].startswith("# ") and not lines[last].startswith(TODO):
            if HEADER.match(lines[last]) or OPEN_KEY.match(lines[last]):
                break
            words.append(lines[last].removeprefix("# "))
            last += 1
        yield first, last, " ".join(words)


def trial_kind(content: dict[str, Any]) -> type[Settings]:
    """The settings of a trial file: of an OpenSim model, or of a recording."""
    return ModelSettings if is_model_trial(content) else RecordedSettings


def of_model(document: Document) -> bool:
    """Whether a trial file is of an OpenSim model."""
    return document.kind is ModelSettings


def trial_document(path: Path, kind: type[Settings] | None = None) -> Document:
    """Return the text and content of a trial file; kind: as of `Document`."""
    suffix = path.suffix.casefold()
    if suffix not in (".nc", ".osim", *RECORDED) or suffix == ".toml" or not is_file(path):
        return Document(path, kind or trial_kind)
    expected = "a trial file (.toml)"
    if suffix == ".nc":
        problem = "this is a result"
        remedy = "name the trial file of the result: its attribute trial_file is the path"
    elif suffix == ".osim":
        problem = "this is an OpenSim model"
        remedy = "name the model in a trial file: [files] model; or use musclesolve share --model"
    else:
        draft, trial = shlex.quote(str(path.parent)), shlex.quote(str(path.parent / TRIAL_FILE))
        problem, expected = "this is a recording", f"{expected}, which names the recordings and the subject"
        remedy = f"draft one first: musclesolve init {draft}; it writes {trial} for run and check"
    raise file_error("bad_format", path, problem, expected, remedy)
