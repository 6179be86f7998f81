"""Pieces of sections: numbers that keep their full value, and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup
from rich.table import Table as RichTable

from musclesolve._util.message_text import capitalized
from musclesolve.errors import InputError, MuscleSolveError

DASH = "–"


class Absent(Exception):
    """A section has nothing to show; the message has the reason."""


@dataclass(frozen=True)
class PageTable:
    """A table with a caption; the first column has the names of the rows."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""
    compact: bool = field(default=False)  # whether it is shown folded
    prose: bool = False  # whether the last column holds sentences


def cell(value: float, digits: int = 2) -> str:
    """A number of a table; a dash where there is none."""
    return f"{value:z.{digits}f}" if np.isfinite(value) else DASH


def plain(name: str) -> str:
    """A name with blanks."""
    return name.replace("_", " ")


LONGEST_WORDS = 60
"""A cell with more characters is a sentence."""


def from_rich(table: RichTable) -> PageTable:
    """Convert the table of a command, with a capital letter in the title like all captions of a page."""
    columns = [str(column.header) for column in table.columns]
    cells = [[str(each) for each in column.cells] for column in table.columns]
    prose = any(len(cell) > LONGEST_WORDS for column in cells for cell in column)
    title = capitalized(str(table.title or ""))
    return PageTable(title, columns, list(zip(*cells, strict=True)), prose=prose)


def digest(value: str) -> Markup:
    """A hash with possible line breaks at every character."""
    return Markup('<code class="hash">{}</code>').format(value)


DAMAGE = (MuscleSolveError, LookupError, ValueError, TypeError, ArithmeticError)
"""Errors of a damaged file: a report names the damage in place of the part. Other errors are raised."""


def reason(error: Exception) -> str:
    """Return the reason of a missing part, in a line."""
    text = error.problem if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return text.partition("\n")[0]
