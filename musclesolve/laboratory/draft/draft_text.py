"""A drafted trial file as text: values with their sources, and open values.

The reader of trial files judges a draft before anything is written: a value that the reader refuses is left open
instead.
"""

import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import starmap
from pathlib import Path
from typing import Any

from musclesolve.constants import TODO, TRIAL_FILE
from musclesolve.errors import InputError
from musclesolve.laboratory.recording.trial_document import trial_kind
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.tables.document import Document, examined, key_text, value_text
from musclesolve.tables.settings import schema_line

WIDTH = 110
COLUMN = 38
"""Column at which comments after values begin."""
NAME = TRIAL_FILE


@dataclass(frozen=True)
class Line:
    """One key of a table.

    value: None without a suggestion; an open line is then the key without a value. comment: source of the value, or
    what the value is for. todo: the open decision and its reason. open: the line is written as a comment, so that the
    reader of trial files does not see it.
    """

    key: str
    value: Any = None
    comment: str = ""
    todo: str = ""
    open: bool = False

    def texts(self) -> Iterator[str]:
        """The lines of the file."""
        if self.todo:
            yield from _wrapped(self.todo, TODO)
        if self.value is None and not self.open:
            return
        value = "" if self.value is None else f" {value_text(self.value)}"
        text = f"{'# ' if self.open else ''}{key_text(self.key)} ={value}"
        comment = _plain(self.comment)
        if not comment:
            yield text
        elif len(beside := f"{text:<{COLUMN}}  # {comment}") <= WIDTH:
            yield beside
        else:
            yield from _wrapped(comment, "# ")
            yield text


def lines_of(values: Mapping[str, Any]) -> tuple[Line, ...]:
    """The lines of some values, without comments."""
    return tuple(starmap(Line, values.items()))


@dataclass(frozen=True)
class DraftTable:
    """One table of a trial file: its name, remarks, and lines; `listed`: one of several, [[name]]."""

    name: str
    lines: tuple[Line, ...] = ()
    about: tuple[str, ...] = ()
    todo: str = ""
    listed: bool = False
    open: bool = False

    @property
    def written(self) -> bool:
        """Whether the table has a line that the reader of trial files sees, or is a list of tables."""
        return not self.open and (self.listed or any(not x.open and x.value is not None for x in self.lines))

    @property
    def todos(self) -> list[str]:
        """Decisions that are left open in the table."""
        return [text for text in (self.todo, *(line.todo for line in self.lines)) if text]

    def texts(self) -> Iterator[str]:
        """The lines of the file."""
        for sentence in self.about:
            yield from _wrapped(sentence, "# ")
        if self.todo:
            yield from _wrapped(self.todo, TODO)
        header = f"[[{self.name}]]" if self.listed else f"[{self.name}]"
        if self.lines or self.listed:
            yield f"# {header}" if self.open else header
        for line in self.lines:
            yield from (f"# {text.removeprefix('# ')}" if self.open else text for text in line.texts())


def draft_text(title: tuple[str, ...], tables: tuple[DraftTable, ...], kind: str = "trial") -> str:
    """The text of a trial file, or of another kind of file; its first line names its JSON Schema."""
    blocks = ["\n".join([schema_line(kind), *(text for line in title for text in _wrapped(line, "# "))])]
    blocks += ["\n".join(table.texts()) for table in tables]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _plain(sentence: str) -> str:
    """A sentence in one line, without signs that a comment must not hold."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in sentence).split())


def _wrapped(sentence: str, begin: str) -> list[str]:
    return textwrap.wrap(
        _plain(sentence),
        WIDTH,
        initial_indent=begin,
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def read_back(title: tuple[str, ...], tables: tuple[DraftTable, ...]) -> tuple[DraftTable, ...]:
    """The tables of a draft, with every line open that the schema of trial files refuses.

    A missing key with an open line is no fault of a draft.
    """
    for _ in range(sum(len(table.lines) for table in tables) + 1):
        changed, (_, _, errors) = tables, scratch(draft_text(title, tables))
        for error in errors:
            if error.code != "missing_key":
                changed = tuple(_opened(table, error) for table in changed)
        if changed == tables:
            return tables
        tables = changed
    return tables


def _opened(table: DraftTable, error: InputError) -> DraftTable:
    """A table with the line open that an error points at."""
    where = f"{error.where or ''} "
    header = f"[[{table.name}]]" if table.listed else f"[{table.name}]"
    if f"{header} " not in where:
        return table
    todo = f"{error.problem}, expected {error.expected}"
    lines = tuple(
        replace(line, open=True, todo=line.todo or f"enter {line.key}: {todo}")
        if f"{header} {line.key} " in where
        else line
        for line in table.lines
    )
    return replace(table, lines=lines)


def scratch(text: str) -> tuple[Document, RecordedSettings, list[InputError]]:
    """The document of a text, its settings with defaults for faulty ones, and its errors."""
    with tempfile.TemporaryDirectory(prefix="musclesolve-") as folder:
        path = Path(folder) / NAME
        path.write_text(text, encoding="utf-8")
        document = Document(path, trial_kind)
    return document, *examined(document, RecordedSettings)
