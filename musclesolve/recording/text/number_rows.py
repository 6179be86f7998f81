"""Rows of numbers out of a text file of any size: piece by piece, so that memory holds little beside the numbers.

The lines of a piece become numbers all at once in numpy's parser, which is stricter than Python's. Only a piece that
it refuses is read cell by cell, to understand what it does not (cells of blanks) or to name the line at fault.
"""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import AnyArray, Array
from musclesolve.recording.place_errors import EXPORT_AGAIN, error_at
from musclesolve.recording.text.repeated_names import blanked, repeated_notes
from musclesolve.recording.text.text_file import (
    TEXT,
    binary_file,
    decimal_point,
    decoded,
    empty_file,
    open_input,
    opening,
)
from musclesolve.recording.text.time_grid import checked_times
from musclesolve.recording.units import LARGEST

Split = Callable[[str], list[str]]

PIECE = 1 << 18
"""Characters read at a time: enough to keep numpy busy, little beside any recording."""

LONGEST_LINE = 1 << 24
"""Characters after which a line without an end is no row of a recording: a million numbers."""

_NO_NUMBERS = ("nan", "inf", "infinity")
_CORRECT_CELL = f"correct the cell, write nan where nothing was measured, or {EXPORT_AGAIN}"


Block = tuple[Array, NDArray[np.int64]]
"""Some rows: values (r, k), NaN for an empty cell, and the line of every row in the file (r,)."""


class RowReader:
    """An open text file: first its header line by line, then its rows block by block."""

    def __init__(self, path: Path) -> None:
        """Open a text file."""
        self.path = path
        self.line_number = 0
        self.open_end = False
        """Whether the file has ended without the end of its last line: that line may be cut short."""
        self.left_out = 0
        """The line without an end that holds too few cells for a row and was left out; 0: there is none."""
        self._rest = ""
        self._read = 0
        # Every byte is a character in Latin-1, so positions in the text are positions in the file.
        self._stream = io.TextIOWrapper(open_input(path), encoding="latin-1")
        self._size = os.fstat(self._stream.fileno()).st_size
        try:
            self._lines = deque(self._more())
            if not any(line.strip() for line in self._lines):
                raise empty_file(path)
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> RowReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    @property
    def share_read(self) -> float:
        """How much of the file has been read, 0 to 1."""
        return min(self._read / self._size, 1.0) if self._size else 1.0

    def line(self) -> str | None:
        """Return the next line without its end; None at the end of the file."""
        if not self.ahead:
            return None
        self.line_number += 1
        text = decoded(self._lines.popleft())
        return text.removeprefix("\ufeff") if self.line_number == 1 else text

    @property
    def ahead(self) -> Sequence[str]:
        """The lines that have been read from the file already and not been handed out; some, unless it ends here."""
        if not self._lines:
            self._lines.extend(self._more())
        return self._lines

    def put_back(self, line: str) -> None:
        """Let the line that came last come again."""
        self._lines.appendleft(line.encode("utf-8").decode("latin-1"))
        self.line_number -= 1

    def filled_line(self) -> str | None:
        """Return the next line that is not blank; None at the end of the file."""
        while (text := self.line()) is not None:
            if text.strip():
                return text
        return None

    def blocks(
        self,
        names: Sequence[str],
        split: Split,
        separator: str | None = None,
        decimal: str = ".",
        blank_end: bool = False,
    ) -> Iterator[Block]:
        """Read the rest of the file as rows of numbers; blank lines are skipped, an empty cell is a gap (NaN).

        Each line is `split` into cells of k named columns; `separator` is the one character between them, None for
        blanks; `decimal` is "." or ",". With `blank_end` a row may have blank cells beyond its last column. Not where a
        decimal comma could be taken for a separator: it would move the numbers behind it by a cell, and a gap at the
        end hide that. A last line without its end that holds too few cells is a row of which the rest was never
        written, as where a recording broke off: it is left out, and `left_out` says which line it is.
        """
        while lines := list(self.ahead):
            self._lines.clear()
            first = self.line_number + 1
            self.line_number += len(lines)
            kept = [k for k, line in enumerate(lines) if line and not line.isspace()]
            if not kept:
                continue
            if len(kept) < len(lines):
                lines = [lines[k] for k in kept]
            # a line without its end comes alone, after all others
            if self.open_end and len(split(decoded(lines[-1]))) < len(names):
                self.left_out = first + kept.pop()
                lines.pop()
                if not kept:
                    continue
            numbers = np.array(kept, dtype=np.int64) + first
            values = _all_at_once(lines, len(names), separator, decimal, blank_end)
            if values is None:
                rows = [split(decoded(line)) for line in lines]
                if blank_end:
                    rows = [_without_blank_end(row, len(names)) for row in rows]
                values = number_table(rows, numbers, names, self.path, decimal)
            check_measured(values, numbers, names, self.path)
            yield values, numbers

    def _more(self) -> list[str]:
        """Return the next lines of the file; none at its end."""
        lines: list[str] = []
        while not lines:
            with opening(self.path):
                piece = self._stream.read(PIECE)
            if not piece:
                lines, self._rest = ([self._rest] if self._rest else []), ""
                self.open_end = self.open_end or any(line.strip() for line in lines)
                return lines
            if "\0" in piece:
                raise binary_file(self.path)
            self._read += len(piece)
            *lines, self._rest = (self._rest + piece).split("\n")
            if len(self._rest) > LONGEST_LINE:
                problem = f"a line of more than {LONGEST_LINE} characters"
                raise error_at(self.path, None, problem, TEXT, f"the line ends are lost; {EXPORT_AGAIN}")
        return lines


class Stack:
    """Blocks of rows in a single array that grows in place: nothing is held twice."""

    def __init__(self) -> None:
        self._array: AnyArray = np.empty(0)
        self._count = 0

    def append(self, block: AnyArray, share: float) -> None:
        """Add rows (r, ...), given the share of all rows that is known once they are added, 0 to 1."""
        if not self._count:
            self._array = np.empty((0, *block.shape[1:]), block.dtype)
        count = self._count + len(block)
        if count > len(self._array):
            # One hundredth of slack: the rows that follow may be a little shorter than those before.
            expected = int(1.01 * count / share) + 1 if share > 0.0 else 2 * count
            self._array.resize((max(count, expected), *block.shape[1:]), refcheck=False)
        self._array[self._count : count] = block
        self._count = count

    def finished(self) -> AnyArray:
        """Return all rows in one array; nothing can be added afterwards."""
        self._array.resize((self._count, *self._array.shape[1:]), refcheck=False)
        return self._array


def timed_rows(
    reader: RowReader,
    blocks: Iterable[Block],
    parts: Callable[[Array], tuple[Array, Array]],
    kind: str,
    names: Sequence[str],
    repeated: Mapping[str, str],
    count: str | None = None,
    rate_hz: float | None = None,
) -> tuple[Array, Array, NDArray[np.int64], tuple[str, ...], str]:
    """Read all rows of a recording, its times checked and put on their even grid.

    The last row of a file that ends without the end of a line may be cut short within a number: it does not count
    where the header states another number of rows, or none; nor does it where it has too few cells.

    Args:
        reader: the file, whose header has been read.
        blocks: its rows (r, k).
        parts: gives the times (r,) [s] and the values (r, n, ...) of a block.
        kind: "marker" or "column", of n names.
        names: n names.
        repeated: name -> where in the file, of those that stand twice.
        count: the number of rows as the header states it, "" where it states none; None where the format has none.
        rate_hz: the rate that the header states [Hz].

    Returns:
        Times (T,) [s], values (T, n, ...), NaN where a name stands twice, the line of every row (T,), notes for the
        results, and a warning where the header states another number of rows, else "".

    Raises:
        InputError: fewer than two rows, or times that are missing or do not increase.
    """
    times, values, lines = Stack(), Stack(), Stack()
    for rows, of_rows in blocks:
        time, of_names = parts(rows)
        blanked(of_names, names, repeated)
        for stack, block in ((times, time), (values, of_names), (lines, of_rows)):
            stack.append(block, reader.share_read)
    printed, numbers, every = times.finished(), values.finished(), lines.finished()
    kept, warning, name = printed.size, "", reader.path.name
    if reader.left_out:
        warning = (
            f"Line {reader.left_out} of {name} ends in the middle of a row: the recording broke off there"
        )
        warning = f"{warning}; the row is left out."
    elif count == "" and reader.open_end:
        warning = f"The header of {name} states no number of rows, and its last line has no end: it may be cut short"
        warning, kept = f"{warning}; the last row is left out.", kept - 1
    elif count and count != str(kept):
        warning = f"{name} holds {kept} rows of data, its header says {count[:40]}: it may be cut short"
        cut = reader.open_end and count.isdecimal()
        warning, kept = (
            f"{warning}; the last row is left out." if cut else f"{warning}, or edited.",
            kept - cut,
        )
    even, notes = checked_times(printed[:kept], every[:kept], reader.path, rate_hz)
    notes = (*repeated_notes(kind, repeated, reader.path), *notes)
    return even, numbers[:kept], every[:kept], notes, warning


def _all_at_once(
    lines: list[str], width: int, separator: str | None, decimal: str, blank_end: bool
) -> Array | None:
    """Return the numbers (r, width) of lines, or None where they are not as plain as this needs."""
    if decimal == ",":
        if any("." in line for line in lines):
            return None
        lines = [line.replace(",", ".") for line in lines]
    if separator:
        if blank_end:
            lines = [
                line
                if line.count(separator) < width
                else separator.join(_without_blank_end(line.split(separator), width))
                for line in lines
            ]
        double = separator + separator
        if any(double in line or line[0] == separator or line[-1] == separator for line in lines):
            lines = [_with_nan(line, separator) for line in lines]
    try:
        values = np.loadtxt(lines, dtype=np.float64, delimiter=separator, comments=None, ndmin=2)
    except ValueError:
        return None
    return values if values.shape == (len(lines), width) else None


def _without_blank_end(cells: list[str], width: int) -> list[str]:
    """Return the cells without the empty ones that stand beyond the last column."""
    while len(cells) > width and not cells[-1]:
        cells.pop()
    return cells


def _with_nan(line: str, separator: str) -> str:
    """Return the line with nan in its empty cells."""
    gap = separator + "nan" + separator
    # Twice: of three separators in a row the middle one belongs to two gaps.
    line = line.replace(separator + separator, gap).replace(separator + separator, gap)
    return ("nan" if line[0] == separator else "") + line + ("nan" if line[-1] == separator else "")


def without_lost(position: Array) -> Array:
    """Return positions (..., 3) with NaN in all coordinates wherever one is missing, or all are exactly zero.

    Several programs write a marker that was lost as (0, 0, 0).
    """
    lost = np.isnan(position).any(axis=-1) | (position == 0.0).all(axis=-1)
    return np.where(lost[..., None], np.nan, position)


def number_table(
    rows: list[list[str]], lines: NDArray[np.int64], names: Sequence[str], path: Path, decimal: str = "."
) -> Array:
    """Return the numbers (r, k) of rows of k cells in lines (r,) of a file; an empty cell is a gap (NaN)."""
    values = np.empty((len(rows), len(names)))
    for k, (cells, line) in enumerate(zip(rows, lines, strict=True)):
        if cells and cells[0][:1].isalpha() and cells[0].casefold() not in _NO_NUMBERS and not any(cells[1:]):
            # Capture software exports several tables into one file.
            problem = f"after the rows of numbers another table begins, '{_short(cells[0])}'"
            remedy = "export the trajectories, or the forces, alone; or remove this line and all below it"
            raise error_at(path, line, problem, "one table in a file", remedy)
        if len(cells) != len(names):
            expected = f"{len(names)} cells, as the column names say"
            remedy = f"the row is cut short, or has cells too many (decimal commas?); {EXPORT_AGAIN}"
            problem = f"{len(cells)} cells in this row"
            raise error_at(path, line, problem, expected, remedy, code="truncated_file")
        values[k] = [
            _number(cell, decimal, path, line, name) for cell, name in zip(cells, names, strict=True)
        ]
    return values


def _number(cell: str, decimal: str, path: Path, line: int, name: str) -> float:
    if not cell:
        return np.nan
    try:
        # Python reads "1_000" as a thousand; no measuring software writes it, so it is a slip. So is a decimal
        # point among decimal commas.
        if "_" not in cell and (decimal == "." or "." not in cell):
            return float(cell.replace(decimal, "."))
    except ValueError:
        pass
    expected, remedy = "a number", decimal_point(cell) or _CORRECT_CELL
    if decimal == ",":
        expected, remedy = "a number with a decimal comma, as in the rows before", _CORRECT_CELL
    where = f"line {line}, column '{name}'"
    raise error_at(path, where, f"{_short(cell)!r} is not a number", expected, remedy, code="not_numbers")


def _short(cell: str) -> str:
    return cell if len(cell) <= 40 else cell[:40] + "..."


def check_measured(values: Array, lines: NDArray[np.int64], names: Sequence[str], path: Path) -> None:
    """Refuse numbers (r, k) in lines (r,) that were not measured; empty cells (NaN) are none."""
    beyond = np.abs(values) > LARGEST
    if beyond.any():
        row, column = np.argwhere(beyond)[0]
        where = f"line {lines[row]}, column '{names[column]}'"
        problem, expected = f"the number is {values[row, column]:g}", f"a number of at most {LARGEST:g}"
        raise error_at(path, where, problem, expected, _CORRECT_CELL, code="not_finite")
