"""Text of tables: lines of a summary, numbers, comma-separated values, and columns of printed tables."""

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rich.table import Column, Table

from musclesolve._util.messages import inert

if TYPE_CHECKING:
    import pandas as pd

INDENT = 18
"""Width of the first column with the blank after it, in characters."""


def line(subject: str, statement: str) -> str:
    """Make a line of a summary: the subject in the first column, then the statement."""
    return f"{subject:<{INDENT - 1}} {statement}"


def lines(subject: str, statements: Iterable[str]) -> list[str]:
    """A line for each statement; only the first one has the subject."""
    return [line("" if number else subject, statement) for number, statement in enumerate(statements)]


def decimal(value: float, digits: int) -> str:
    """A number with some decimals, zero without a sign; a dash where it is not finite."""
    return f"{value:z.{digits}f}" if math.isfinite(value) else "-"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as comma-separated values; the first one is the heading."""
    return "".join(csv_lines(rows))


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Rows as lines of comma-separated values, one after the other."""
    # returns what `write` returns
    line = csv.writer(SimpleNamespace(write=str), lineterminator="\n").writerow
    return (line([inert(cell) for cell in row]) for row in rows)


def inert_frame(table: "pd.DataFrame") -> "pd.DataFrame":
    """A frame with `inert` texts and headings; numbers are not looked at."""
    texts = {name: values.map(inert) for name, values in table.items() if values.dtype.kind == "O"}
    return table.assign(**texts).rename(columns=inert) if texts else table.rename(columns=inert)


def frame_csv(table: "pd.DataFrame", missing: str = "nan", digits: int = 6, header: bool = True) -> bytes:
    """A frame as comma-separated values of some digits, with a word where a number is missing.

    Numbers are written here: pandas takes four times as long.
    """
    form, table = f"%.{digits}g", inert_frame(table)
    written = {
        name: [form % value if value == value else missing for value in values.tolist()]
        for name, values in table.items()
        if values.dtype.kind == "f"
    }
    table = table.assign(**written)
    return table.to_csv(index=False, header=header, na_rep=missing, lineterminator="\n").encode()


def show(title: str, table: "pd.DataFrame", formats: Sequence[str]) -> Table:
    """A table of a frame; a dash where a number is missing.

    formats: of each column: ".1f" for numbers, or texts of numbers, on the right; "" for texts, which are broken
    between words.
    """
    columns, cells = [], []
    for (heading, values), form in zip(table.items(), formats, strict=True):
        columns += numbers(str(heading), whole=True) if form else words(str(heading))
        rounded = form.replace(".", "z.")  # 0.0 in place of -0.0
        cells.append(
            [
                value if isinstance(value, str) else f"{value:{rounded}}" if math.isfinite(value) else "-"
                for value in values
            ]
        )
    return titled_table(title, columns, zip(*cells, strict=True))


def names(*headings: str) -> list[Column]:
    """Columns that are never broken."""
    return [Column(heading, no_wrap=True) for heading in headings]


def words(*headings: str) -> list[Column]:
    """Columns that are broken between words, or within a word that is too long."""
    return [Column(heading, overflow="fold") for heading in headings]


def numbers(*headings: str, whole: bool = False) -> list[Column]:
    """Columns on the right; `whole` ones are never broken."""
    return [Column(heading, justify="right", no_wrap=whole, overflow="fold") for heading in headings]


def titled_table(
    title: str | None, columns: Iterable[Column | str], rows: Iterable[Iterable[str]], **style: Any
) -> Table:
    """A table with its title on the left above it; style: as of `rich.table.Table`."""
    made = Table(*columns, title=title, title_justify="left", **style)
    for row in rows:
        made.add_row(*row)
    return made
