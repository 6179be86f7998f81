"""What sections are made of: numbers that keep their full value, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup, escape
from rich.table import Table as RichTable

from musclesolve._util.sides import SIDE_NAMES, split_side
from musclesolve.errors import InputError, MuscleSolveError

DASH = "–"


class Absent(Exception):
    """A section has nothing to show; the message says why."""


@dataclass(frozen=True)
class Number:
    """A number in a sentence, printed with few digits; the page keeps its full value and what it is."""

    name: str  # such as "contact_peak hip_r"
    value: float
    digits: int = 2  # decimals printed; negative: so many significant ones

    @property
    def text(self) -> str:
        """As it is printed."""
        if not np.isfinite(self.value):
            return DASH
        if self.digits < 0:
            return f"{self.value:.{-self.digits}g}"
        return f"{self.value:z.{self.digits}f}"

    def __html__(self) -> Markup:
        """As an element of a page."""
        return Markup('<data data-name="{}" value="{}">{}</data>').format(
            self.name, repr(float(self.value)), self.text
        )

    def __str__(self) -> str:
        """As it is printed."""
        return self.text


@dataclass(frozen=True)
class PageTable:
    """A table with a caption; the first column holds what a row is of."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""
    compact: bool = field(default=False)  # whether it is shown folded
    prose: bool = False  # whether the last column holds sentences


def sentence(text: str, *values: object) -> Markup:
    """A sentence with numbers and names in its places {}."""
    return Markup(text).format(*values)


def cell(value: float, digits: int = 2) -> str:
    """A number of a table; a dash where there is none."""
    return f"{value:z.{digits}f}" if np.isfinite(value) else DASH


def plain(name: str) -> str:
    """A name with blanks."""
    return name.replace("_", " ")


def sided(name: str) -> str:
    """A name with its side in words: soleus_r is "right soleus"."""
    stem, side = split_side(name)
    return f"{SIDE_NAMES.get(side, '')} {plain(stem)}".strip()


def from_rich(table: RichTable) -> PageTable:
    """A table that a command prints."""
    columns = [str(column.header) for column in table.columns]
    cells = [[str(each) for each in column.cells] for column in table.columns]
    return PageTable(str(table.title or ""), columns, list(zip(*cells, strict=True)))


def digest(value: str) -> Markup:
    """A hash, which may be broken anywhere."""
    return Markup('<code class="hash">{}</code>').format(value)


def muscle_names(names: Sequence[str], most: int = 8) -> Markup:
    """Muscles with their sides, each name once: "soleus (right, left)"."""
    sides: dict[str, list[str]] = {}
    for name in names:
        stem, side = split_side(name)
        sides.setdefault(stem, []).append(SIDE_NAMES.get(side, ""))
    found = []
    for stem, own in sides.items():
        legs = ", ".join(each for each in SIDE_NAMES.values() if each in own)
        found.append(stem + (f" ({legs})" if legs else ""))
    return joined(found, most)


def joined(names: Sequence[str], most: int = 8) -> Markup:
    """Names between commas, the last ones only counted."""
    shown = Markup(", ").join(escape(plain(name)) for name in names[:most])
    rest = len(names) - most
    return shown + (f" and {rest} more" if rest > 0 else "")


DAMAGE = (MuscleSolveError, LookupError, ValueError, TypeError, ArithmeticError)
"""A report says so in the place of the part and has the others. Anything else is a fault of the program, and raised."""


class Changed(str):
    """A sentence: the recording of a result is not the one that was analysed."""

    __slots__ = ()


def reason(error: Exception) -> str:
    """Why a part is not there, in a line."""
    text = error.problem if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return text.partition("\n")[0]
