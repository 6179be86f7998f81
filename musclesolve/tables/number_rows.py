"""Rows of numbers from a text file of any size: piece by piece, so that memory holds little more than the numbers.

The lines of a piece are converted at once by numpy's parser, which is stricter than Python's. Only a piece that it
refuses is read cell by cell, to read cells of blanks or to name the line at fault.

Printed times are rounded; the even grid of the sampling clock is reconstructed. A file may print a 60 Hz clock as
0.000, 0.017, 0.033, 0.050. Unchanged, these times would add a sawtooth to velocities, and one of 20 Hz to all
accelerations. If an even grid agrees with every time to the printed digits, its times are used. If not, the samples are
uneven or rows are missing, and the times do not change.

If a name is repeated in a file, the right column is unknown, so that the name has no numbers; "RKNE (column 3)" names
one of them. A recording with an unused repeated name is not refused; its use is refused by ``repeated_name``.
"""

import gzip
import io
import os
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

import numpy as np
from numpy.typing import NDArray

from muscle_db.regular_file import RECORDING
from musclesolve._util.arrays import AnyArray, Array, grouped
from musclesolve._util.messages import NO_WARNING, WarningNote, few, shortened
from musclesolve.errors import InputError, file_error
from musclesolve.tables.text_file import (
    EXPORT_AGAIN,
    TEXT,
    HashedReader,
    binary_file,
    damaged,
    decimal_point,
    decoded,
    empty_file,
    open_input,
    opening,
    wide_encoding,
)
from musclesolve.tables.units import LARGEST

_MOST_NAMED, _MOST_WRONG = 5, 9  # names in a note, and cells beside the first one that hold no number


def distinct_names(
    columns: Iterable[tuple[int, str]], where: str = ""
) -> tuple[dict[str, int], dict[str, str]]:
    """Return the column of every name, and the places of repeated names.

    A repeated name alone means none of its columns; "RKNE (column 3)" is one of them.

    columns: numbers, from zero, and names. where: the words before the numbers, from one, of a place: "line 9,
    columns".
    """
    places = grouped((name, column) for column, name in columns)
    repeated = {name: numbered(where, columns) for name, columns in places.items() if len(columns) > 1}
    column_of: dict[str, int] = {}
    for name, several in places.items():
        column_of[name] = several[0]
        if name in repeated:
            column_of |= zip(by_place(name, repeated[name]), several, strict=True)
    return column_of, repeated


def by_place(name: str, where: str) -> list[str]:
    """Return the names of the columns of a repeated name, by its places "line 9, columns 3 and 7"."""
    kind, numbers = re.findall(r"(?:(\w+)s )?([\d, and]+)$", where)[-1]
    return [f"{name} ({kind or 'column'} {number})" for number in re.findall(r"\d+", numbers)]


def numbered(where: str, columns: Sequence[int]) -> str:
    """Return the place of columns, counted from zero, with numbers from one: "line 9, columns 3 and 7"."""
    *numbers, last = [str(column + 1) for column in columns]
    return f"{where} {', '.join(numbers)} and {last}"


def blanked(values: Array, names: Sequence[str], repeated: Mapping[str, str]) -> None:
    """Set the columns (T, n, ...) of repeated names to NaN, in place."""
    values[:, [k for k, name in enumerate(names) if name in repeated]] = np.nan


def repeated_notes(kind: str, repeated: Mapping[str, str], path: Path) -> tuple[str, ...]:
    """Return a note on repeated names; empty without any."""
    if not repeated:
        return ()
    named = shortened([f"'{name}'" for name in repeated], _MOST_NAMED)
    first = next(f"'{by_place(name, where)[0]}'" for name, where in repeated.items())
    by_places = f"Each of them has a name by its place, such as {first}."
    return (f"In {path.name} a {kind} occurs twice: {named}. {by_places}",)


def repeated_name(kind: str, name: str, where: object, path: Path, by_places: bool = True) -> InputError:
    """Return the error of a repeated name in use; `by_places`: one of them may be named by its place."""
    how = "rename or remove one of them"
    if by_places and isinstance(where, str):
        places = [f"'{place}'" for place in by_place(name, where)]
        how = f"name the one that is meant by its place: {few(places)}"
    return file_error(
        "duplicate_name",
        (path, where),
        f"the {kind} '{name}' occurs twice",
        f"every {kind} that is used once",
        how,
    )


def check_unique(names: Sequence[str], kind: str, path: Path, line: int | None) -> None:
    """Refuse a repeated name of markers or columns."""
    for name in distinct_names(enumerate(names))[1]:
        raise repeated_name(kind, name, line, path)


def check_used(names: Iterable[str], kind: str, repeated: Mapping[str, str], path: Path) -> None:
    """Refuse the use of repeated names of a file."""
    for name in names:
        if name in repeated:
            raise repeated_name(kind, name, repeated[name], path)


EVEN = 1e-6
"""Largest deviation from even sampling, as a share of a step, without effect."""
NOTED_S = 1e-5
"""Change of the times without a note [s]: at 5 m/s it moves a marker by 0.05 mm."""
COARSE, VERY_COARSE, COARSEST = 0.4, 0.8, 4.0
"""Units of printed times, in steps. Beyond the first a rate must be stated or common, because a fitted one could
hide a missing row. Beyond the second, up to one step, it must be stated, and the clock must have started at a whole
number of steps or at the first time. Beyond the third the steps are unknown.
"""
FEWEST_ROWS = 30
"""Least number of rows that show a rate without a header: with fewer a slightly lower rate could hide a missing row."""
SLOWEST_HZ = 0.1
"""Lowest rate of a recorded motion or force [Hz]."""
_MOST_DECIMALS = 15
_FARTHEST = 9.9
"""No marker has three equal coordinates beyond this, in meters or more."""
_EPS = float(np.finfo(float).eps)


def not_increasing(place: tuple[Path, Any], before: float, after: float, of: str, remedy: str) -> InputError:
    """The refusal of a time [s] that does not exceed the one before; of: what has a time, "row" or "sample"."""
    return file_error(
        "time_not_increasing",
        place,
        f"the time goes from {before:g} s to {after:g} s",
        f"times that increase from {of} to {of}",
        remedy,
    )


def checked_times(
    printed: Array, lines: NDArray[np.int64], path: Path, stated_hz: float | None = None
) -> tuple[Array, tuple[str, ...]]:
    """Return the times (T,) [s] of a file, evened if only rounding made them uneven, and notes on changes.

    Refuses missing or decreasing times with their line (T,); `stated_hz` is the rate of the header.
    """
    if printed.size < 2:
        raise damaged("too_few_frames", path, f"{printed.size} row(s) of data", "at least two")
    grid = even_grid(printed, stated_hz)
    if grid is None:
        for k in np.flatnonzero(np.isnan(printed)):
            place, expected = (path, lines[k]), "a time in seconds"
            raise file_error("missing_samples", place, "the time is missing", expected, _ENTER_TIME)
        for k in np.flatnonzero(np.diff(printed) <= 0):
            same = printed[k + 1] == printed[k]
            remedy = (
                "export the file again, with one row for each time, and enough decimals of it"
                if same
                else "where another recording begins here, put each of them into a file of its own; else sort the rows"
            )
            raise not_increasing((path, lines[k + 1]), printed[k], printed[k + 1], "row", remedy)
        return printed, ()
    time, rate, is_stated = grid
    moved = float(np.abs(time - printed).max())
    if moved < NOTED_S:
        return time, ()
    source = "of its header" if is_stated else "that fit them"
    if stated_hz and not is_stated:
        source += f", not the {stated_hz:g} Hz of its header"
    return time, (
        f"The times of {path.name} are rounded: they are taken as the even {rate:.6g} Hz {source}, up to "
        f"{1000 * moved:.2g} ms from the printed times.",
    )


def even_grid(printed: Array, stated_hz: float | None = None) -> tuple[Array, float, bool] | None:
    """Return the even grid whose rounded or truncated times are the printed times (T,) [s]; a stated rate is tried
    first.

    A grid is its times (T,) [s], their rate [Hz], and whether the header states this rate. None if no grid agrees with
    every time to the printed digits, and if the times are even.
    """
    if printed.size < 3 or not (np.diff(printed) >= 0.0).all() or printed[-1] == printed[0]:
        return None
    even, step = np.linspace(printed[0], printed[-1], printed.size), np.ptp(printed) / (printed.size - 1)
    if np.abs(printed - even).max() <= EVEN * step:
        return None
    stated = [stated_hz] if stated_hz and SLOWEST_HZ <= stated_hz < np.inf else []
    for half in _half_units(printed):
        fitted = _fitted(printed, half) if printed.size >= FEWEST_ROWS else ()
        for rate, is_stated in chain(((rate, True) for rate in stated), ((rate, False) for rate in fitted)):
            if (time := _agreeing(printed, half, rate)) is not None:
                return time, rate, is_stated
    return None


def _half_units(printed: Array) -> Iterator[Array]:
    """Yield half the possible unit (T,) of rounding of every time (T,) [s]; nothing if all digits are used.

    The first is equal for all times: the largest unit of which all times are multiples. 0.000, 0.017, 0.033 are
    multiples of 1 ms. The second grows with the time, for times with a fixed number of significant digits: 0.0166667
    and 10.0167 both have six.
    """
    for decimals in range(_MOST_DECIMALS):  # of the time that has the most of them
        scaled = printed * 10.0**decimals
        slack = 8.0 * _EPS * np.abs(scaled)
        if slack.max() > 0.01:
            return
        if (np.abs(scaled - np.rint(scaled)) <= slack).all():
            break
    else:
        return
    whole = np.rint(np.abs(scaled)).astype(np.int64)
    common = 10.0**-decimals * float(np.gcd.reduce(whole))
    yield np.full(printed.size, 0.5 * common)
    rest = whole.copy()
    while (ends := (rest > 0) & (rest % 10 == 0)).any():
        rest[ends] //= 10
    significant = len(str(rest.max()))
    size = np.floor(np.log10(np.maximum(whole, 1)) + 1e-12) - decimals
    growing = np.maximum(common, 10.0 ** (size + 1.0 - significant))
    if growing.max() > common:
        yield 0.5 * growing


def _fitted(printed: Array, half: Array) -> Iterator[float]:
    """Yield the rates [Hz] that may fit the times: common ones near the slope, then the best fits."""
    index: Array = np.arange(printed.size, dtype=np.float64) - 0.5 * (printed.size - 1)
    period, unit = float(index @ printed / (index @ index)), 2.0 * float(half.max())
    # Round rates, rates of video (59.94, 119.88), and periods of whole milliseconds (62.5).
    common = (
        *(round(1.0 / period, -places) for places in (2, 1, 0)),
        round(1.001 / period) / 1.001,
        1000.0 / max(round(1000.0 * period), 1),
    )
    for rate in dict.fromkeys(common):
        # Times that are multiples of the step are even, or have a hole that a lower rate would hide.
        if rate > 0.0 and not VERY_COARSE < unit * rate <= 1.0 + EVEN:
            yield float(rate)
    if unit / period >= COARSE:
        return
    yield 1.0 / period

    def strip(period: float) -> float:
        residual = printed - period * index
        return float((residual - half).max() - (residual + half).min())

    # The width of the strip that contains all times, to their digits, is a convex function of the period: ternary
    # search.
    low, high = (period + sign * 4.0 * half.max() / printed.size for sign in (-1.0, 1.0))
    for _ in range(60):
        one, other = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, other) if strip(one) < strip(other) else (one, high)
    yield 1.0 / (0.5 * (low + high))


def _agreeing(printed: Array, half: Array, rate: float) -> Array | None:
    """Return the even times (T,) of a rate that agree with the printed ones to half a unit, or None."""
    steps, unit = np.arange(printed.size) / rate, 2.0 * float(half.max())
    if unit * rate > COARSEST:
        return None
    residual, very_coarse = printed - steps, unit * rate > VERY_COARSE
    slack = 1e-6 * unit + 8.0 * _EPS * float(np.abs(printed).max())
    low, high = float((residual - half).max()) - slack, float((residual + half).min()) + slack
    # Digits that were cut off leave the true time above the printed one by less than a unit.
    cut_low, cut_high = float(residual.max()) - slack, float((residual + 2.0 * half).min())
    cut_high += -slack if very_coarse else slack
    for first, last in ((low, high), (cut_low, cut_high)):
        for start in (round(0.5 * (first + last) * rate) / rate, float(printed[0])):
            if first <= start <= last:
                return start + steps
    return None if very_coarse or low > high else 0.5 * (low + high) + steps


Split = Callable[[str], list[str]]

_GZIP = b"\x1f\x8b"
PIECE = 1 << 18
"""Number of characters read at a time: large for numpy, small against a recording."""

LONGEST_LINE = 1 << 24
"""Largest number of characters in a row of a recording: a million numbers."""

_NO_NUMBERS = ("nan", "inf", "infinity")
_MISSING = frozenset(
    "- -- null none na n/a #n/a #nv nan -nan nan(ind) -nan(ind) 1.#ind -1.#ind 1.#qnan -1.#qnan".split()
)
"""Words of programs for a number that was not measured."""
_COMMENTS = ("#", "%", "//")
_QUOTED_COMMA = re.compile(r'"[-+]?\d+,\d+"')
_CORRECT_CELL = (
    f"correct the cell, write nan where nothing was measured, remove a column of words, or {EXPORT_AGAIN}"
)
_ENTER_TIME = f"enter the number; remove the line if it is below the table; or {EXPORT_AGAIN}"
TIMES = ("time", "timestamp", "t", "zeit", "temps", "tiempo", "tempo", "tid", "czas", "时间")


Block = tuple[Array, NDArray[np.int64]]
"""Some rows: values (r, k), NaN for an empty cell, and the line of every row in the file (r,)."""


class RowReader:
    """An open text file: first its header line by line, then its rows block by block."""

    def __init__(self, path: Path) -> None:
        """Open a text file."""
        self.path = path
        self.line_number = 0
        self.open_end = False
        """Whether the file has ended without the end of its last line, which may be cut short."""
        self.left_out = 0
        """Number of the last line if it has no end and too few cells and was omitted; else 0."""
        self.passed = 0
        """Number of lines that are comments, repeat a line of the header or stand below the table, and were omitted."""
        self._header = list[str]()
        self._rest = ""
        self._read = 0
        self._bytes = HashedReader(open_input(path))
        self._size = os.fstat(self._bytes.fileno()).st_size
        start = self._bytes.peek(4)[:4]
        self._packed = start.startswith(_GZIP)
        unpacked = cast(BinaryIO, gzip.GzipFile(fileobj=self._bytes)) if self._packed else self._bytes
        wide = wide_encoding(start)
        self._wide = wide is not None
        # Every byte is a character in Latin-1; `decoded` finds the letters.
        self._stream = io.TextIOWrapper(unpacked, encoding=wide or "latin-1", errors="replace")
        try:
            self._lines = deque(self._more())
            if not any(line.strip() for line in self._lines):
                raise empty_file(path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._bytes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def sha256(self) -> str:
        """Hash of the file, after its last line."""
        return self._bytes.sha256.hexdigest()

    @property
    def share_read(self) -> float:
        """Share of the file that has been read, 0 to 1."""
        read = self._bytes.tell() if self._packed else self._read * (1 + self._wide)
        return min(read / self._size, 1.0) if self._size else 1.0

    def line(self) -> str | None:
        """Return the next line without its end; None at the end of the file."""
        if not self.ahead:
            return None
        self.line_number += 1
        text = decoded(self._lines.popleft())
        self._header.append(text.strip())
        return text.removeprefix("\ufeff") if self.line_number == 1 else text

    @property
    def ahead(self) -> Sequence[str]:
        """The lines that are read from the file and not yet returned; at least one, unless the file ends here."""
        if not self._lines:
            self._lines.extend(self._more())
        return self._lines

    def put_back(self, line: str) -> None:
        """Return the last line again at the next call."""
        self._lines.appendleft(line.encode("utf-8").decode("latin-1"))
        self._header.pop()
        self.line_number -= 1

    def first_line(self) -> str:
        """Return the first line of the content: without blank lines and comments above it.

        A comment right above the first row of numbers is the line of names, as numpy.savetxt writes it.
        """
        comment = ""
        while (text := self.filled_line()) is not None and text.lstrip().startswith(_COMMENTS):
            comment = text
        if text is not None and comment and is_row(re.split(r"[\s;,]+", text.strip())):
            self.put_back(text)
            return comment.lstrip("#%/ ")
        return text or ""

    def filled_line(self) -> str | None:
        """Return the next line that is not blank; None at the end of the file."""
        return next((text for text in iter(self.line, None) if text.strip()), None)

    def blocks(
        self,
        names: Sequence[str],
        split: Split,
        separator: str | None = None,
        blank_end: bool = False,
        unnamed: bool = False,
        section: bool = False,
    ) -> Iterator[Block]:
        """Read the rest of the file as rows of numbers; blank lines are skipped, an empty cell is a gap (NaN).

        Each line is `split` into cells of k named columns; `separator` is the character between them, None for blanks.
        The decimal sign is a comma if the first rows have commas in numbers and no point, and no comma separates cells.
        Comments, lines that repeat a line of the header, and words below the last row are omitted and counted in
        `passed`. With `blank_end` a row may have blank cells beyond its last column, unless a decimal comma could be
        mistaken for a separator: this would shift the next numbers by a cell, hidden by a gap at the end. With
        `unnamed` markers, the cells beyond the last column are omitted, three of them for each. A `section` ends at a
        line of empty cells, or at the title of the next one. A last line without line end that breaks off before its
        last cell is an incomplete row, as from an aborted recording: it is omitted, and `left_out` is its number.
        """
        start = list(self.ahead)
        start = start[: section_end(start)] if section else start
        start = [line for line in start if not line.lstrip().startswith(_COMMENTS)]
        # Google Sheets separates by commas, and quotes numbers with a decimal comma.
        commas = any((_QUOTED_COMMA.search(line) if separator == "," else "," in line) for line in start)
        decimal = "," if commas and not any("." in line for line in start) else "."
        ended = False
        while not ended and (lines := list(self.ahead)):
            self._lines.clear()
            first = self.line_number + 1
            self.line_number += len(lines)
            if section and (end := section_end(lines)) is not None:
                lines, ended = lines[:end], True
            filled = [k for k, line in enumerate(lines) if line and not line.isspace()]
            if not filled:
                continue
            if len(filled) < len(lines):
                lines = [lines[k] for k in filled]
            # a line without its end is read separately, after all others
            if self.open_end and not ended and _breaks_off(split(decoded(lines[-1])), len(names)):
                self.left_out = first + filled.pop()
                lines.pop()
                if not filled:
                    continue
            numbers = np.array(filled, dtype=np.int64) + first
            if unnamed:
                lines = [_without_unnamed(line, len(names)) for line in lines]
            values = _all_at_once(lines, len(names), separator, decimal, blank_end)
            if values is None:
                plain = [decoded(line).strip() for line in lines]
                kept = [
                    k
                    for k, text in enumerate(plain)
                    if not (text.startswith(_COMMENTS) or text in self._header)
                ]
                rows = [split(decoded(lines[k])) for k in kept]
                below = [split(decoded(line)) for line in self.ahead if line.strip()]
                rows = rows[: _table_end([*rows, *below], numbers[kept], len(names))]
                self.passed += len(lines) - len(rows)
                numbers = numbers[kept[: len(rows)]]
                if blank_end:
                    rows = [_without_blank_end(row, len(names)) for row in rows]
                values = number_table(rows, numbers, names, self.path, decimal)
            check_measured(values, numbers, names, self.path)
            yield values, numbers

    def _more(self) -> list[str]:
        """Return the next lines of the file; none at its end."""
        lines: list[str] = []
        while not lines:
            try:
                with opening(self.path):
                    piece = self._stream.read(PIECE)
            except (EOFError, zlib.error) as reason:
                raise file_error(
                    "truncated_file",
                    self.path,
                    f"the compressed file cannot be unpacked ({reason})",
                    "a complete file of gzip",
                    "copy the file again, or unpack it and name what is in it",
                ) from None
            if self._wide:
                piece = piece.encode("utf-8", "replace").decode("latin-1")
            if not piece:
                lines, self._rest = ([self._rest] if self._rest else []), ""
                self.open_end = self.open_end or any(line.strip() for line in lines)
                return lines
            if "\0" in piece:
                raise binary_file(self.path)
            self._read += len(piece)
            if self._packed and self._read > RECORDING:
                most = RECORDING >> 20
                raise file_error(
                    "unreadable_file",
                    self.path,
                    f"the compressed file holds more than {most} MiB",
                    f"at most {most} MiB of text",
                    "check whether this is the right file",
                )
            *lines, self._rest = (self._rest + piece).split("\n")
            if len(self._rest) > LONGEST_LINE:
                raise file_error(
                    "bad_format",
                    self.path,
                    f"a line of more than {LONGEST_LINE} characters",
                    TEXT,
                    "the line ends are lost; export the file again",
                )
        return lines


class Stack:
    """Blocks of rows in a single array, which is made anew where it is too short."""

    def __init__(self) -> None:
        self._array: AnyArray = np.empty(0)
        self._count = 0

    def append(self, block: AnyArray, share: float) -> None:
        """Add rows (r, ...); share: share of all rows that are read after this block, 0 to 1."""
        if not self._count:
            self._array = np.empty((0, *block.shape[1:]), block.dtype)
        count = self._count + len(block)
        if count > len(self._array):
            # One hundredth of slack: the next rows may be a little shorter than the earlier ones.
            expected = int(1.01 * count / share) + 1 if share > 0.0 else 2 * count
            longer = np.empty((max(count, expected), *block.shape[1:]), block.dtype)
            longer[: self._count] = self._array[: self._count]
            self._array = longer
        self._array[self._count : count] = block
        self._count = count

    def finished(self) -> AnyArray:
        """Return all rows in one array; nothing can be added afterward."""
        return self._array[: self._count]


def timed_rows(
    reader: RowReader,
    blocks: Iterable[Block],
    parts: Callable[[Array], tuple[Array, Array]],
    kind: str,
    names: Sequence[str],
    repeated: Mapping[str, str],
    count: str | None = None,
    rate_hz: float | None = None,
) -> tuple[Array, Array, NDArray[np.int64], tuple[str, ...], WarningNote]:
    """Read all rows of a recording with checked times on their even grid.

    The last row of a file that ends without a line end may be cut short within a number: it is ignored if the header
    states another number of rows, or none, and if it has too few cells. Rows that repeat the row before, time included,
    but for the last printed digit, are left out.

    Args:
        reader: the file, whose header has been read.
        blocks: its rows (r, k).
        parts: function from a block to times (r,) [s] and values (r, n, ...).
        kind: "marker" or "column", of n names.
        names: n names.
        repeated: repeated name -> its places in the file. count: the number of rows in the header, "" if not stated;
            None if the format has no such number. rate_hz: the rate in the header [Hz].

    Returns: Times (T,) [s], values (T, n, ...) with NaN for repeated names, the line of every row (T,), notes for the
        results, and a warning if a row is cut short or the header states another number of rows, else "".
    """
    times, values, lines = Stack(), Stack(), Stack()
    for rows, of_rows in blocks:
        time, of_names = parts(rows)
        blanked(of_names, names, repeated)
        for stack, block in ((times, time), (values, of_names), (lines, of_rows)):
            stack.append(block, reader.share_read)
    printed, numbers, line_numbers = times.finished(), values.finished(), lines.finished()
    kept, warning, name, remedy = printed.size, "", reader.path.name, "copy or export the file again"
    fewer = bool(count and count.isdecimal() and kept < int(count))
    share = f"{100 * kept // int(count)} %" if count and fewer else ""
    if reader.left_out:
        there = (
            f": {kept} of the {count[:40]} rows that its header states are there ({share})"
            if count and fewer
            else ""
        )
        warning = f"{name} broke off within a row, line {reader.left_out}, which is left out{there}."
    elif count == "" and reader.open_end:
        warning = f"The header of {name} states no number of rows, and its last line has no end: it may be cut short"
    elif count and count != str(kept):
        there = f" ({share} are there)" if fewer else ""
        warning = (
            f"{name} holds {kept} rows of data, its header states {count[:40]}{there}: it may be cut short"
        )
    if warning.endswith("cut short") and reader.open_end and kept > 2 and (not count or count.isdecimal()):
        warning, kept = f"{warning}; the last row is left out.", kept - 1
    elif count and warning.endswith("cut short"):
        warning += ", or edited."
        remedy += "; or correct the number in its header, if the rows are all there"
    printed, numbers, line_numbers = printed[:kept], numbers[:kept], line_numbers[:kept]
    notes = repeated_notes(kind, repeated, reader.path)
    if reader.passed:
        passed = f"comments, repeat its header or stand below the table, and are left out: {reader.passed}"
        notes += (f"Lines of {name} that hold no row are {passed}.",)
    if (np.diff(printed) == 0.0).any() and even_grid(printed, rate_hz) is None:
        twice = np.zeros(kept, dtype=bool)
        for row in np.flatnonzero(np.diff(printed) == 0.0) + 1:
            # OpenSim's RRA computes its last row twice: the numbers differ in the last printed digit.
            twice[row] = np.allclose(numbers[row], numbers[row - 1], 1e-9, 1e-9, equal_nan=True)
        if twice.any():
            at = shortened([str(line) for line in line_numbers[twice]], _MOST_NAMED)
            notes = (*notes, f"{name} repeats rows of the same time, which are left out: line {at}.")
            printed, numbers, line_numbers = printed[~twice], numbers[~twice], line_numbers[~twice]
    even, of_times = checked_times(printed, line_numbers, reader.path, rate_hz)
    noted = WarningNote(warning, "truncated", remedy) if warning else NO_WARNING
    return even, numbers, line_numbers, (*notes, *of_times), noted


def _all_at_once(
    lines: list[str], width: int, separator: str | None, decimal: str, blank_end: bool
) -> Array | None:
    """Return the numbers (r, width) of lines by numpy's parser, or None if it refuses them."""
    if decimal == ",":
        if separator == "," or any("." in line for line in lines):
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


def section_end(lines: list[str]) -> int | None:
    """Return the first of the lines that is no row of a section: empty cells, or a title; None if all are rows."""
    starts = (line.lstrip(' \t;,"\r')[:1] for line in lines)
    return next((k for k, start in enumerate(starts) if not start or start.isalpha()), None)


def _breaks_off(cells: list[str], width: int) -> bool:
    """Whether the cells of a line without its end are a row with too few of them, or the last one is empty."""
    if not cells:  # of white space beyond ASCII alone
        return False
    few = len(cells) < width and (not cells[0] or cells[0][0] in "+-.0123456789")
    return few or (len(cells) == width and not cells[-1])


UNNAMED = 3
"""Number of cells of a marker."""


def _without_unnamed(line: str, width: int) -> str:
    """Return the line without the cells of whole markers beyond its last column."""
    between = "\t" if "\t" in line else None
    cells = line.split(between)
    beyond = len(cells) - width - (len(cells) > width and not cells[-1].strip())
    return (between or " ").join(cells[:width]) if beyond > 0 and beyond % UNNAMED == 0 else line


def _is_words(cells: list[str], width: int) -> bool:
    """Whether a line begins with a word, is no row and has another number of cells, or has none."""
    if not cells:
        return True
    begins = cells[0][:1].isalpha() or (len(cells) != width and not is_row(cells))
    return begins and not is_row(cells[:1])


def _table_end(rows: Sequence[list[str]], lines: NDArray[np.int64], width: int) -> int:
    """Return the number of rows above the last lines, which begin with a word, such as "Mean", or have other numbers of
    cells below the first blank line. Two rows of one length are another table. `lines`: of the first rows.
    """
    end = len(rows)
    parted = np.flatnonzero(np.diff(lines) > 1)
    if len(parted) and all(len(cells) != width for cells in rows[parted[0] + 1 :]):
        end = int(parted[0]) + 1
    while end and _is_words(rows[end - 1], width):
        end -= 1
    numbered = [len(cells) if is_row(cells[:1]) else 0 for cells in rows[end:]]
    return len(rows) if any(one == other > 0 for one, other in pairwise(numbered)) else end


def _without_blank_end(cells: list[str], width: int) -> list[str]:
    """Return the cells without the empty ones beyond the last column."""
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
    """Return positions (..., 3) with NaN in all coordinates if one is missing, or if all are one number of no place.

    Several programs write a lost marker as (0, 0, 0), others as (9999, 9999, 9999) or -999999.
    """
    first = np.abs(position[..., :1])
    nowhere = (position == position[..., :1]) & ((first == 0.0) | (first > _FARTHEST))
    lost = np.isnan(position).any(axis=-1) | nowhere.all(axis=-1)
    return np.where(lost[..., None], np.nan, position)


def number_table(
    rows: list[list[str]], lines: NDArray[np.int64], names: Sequence[str], path: Path, decimal: str = "."
) -> Array:
    """Return the numbers (r, k) of rows of k cells in lines (r,) of a file; an empty cell is a gap (NaN)."""
    values, wrong = np.empty((len(rows), len(names))), list[tuple[int, str, str]]()
    for k, (cells, line) in enumerate(zip(rows, lines, strict=True)):
        if cells and cells[0][:1].isalpha() and cells[0].casefold() not in _NO_NUMBERS and not any(cells[1:]):
            # Capture software exports several tables into one file.
            raise file_error(
                "bad_format",
                (path, line),
                f"after the rows of numbers another table begins, '{_short(cells[0])}'",
                "one table in a file",
                "export the trajectories, or the forces, alone; or remove this line and all below it",
            )
        if len(cells) != len(names):
            raise file_error(
                "truncated_file",
                (path, line),
                f"{len(cells)} cells in this row",
                f"{len(names)} cells, one for each column name",
                "the row is cut short, or has cells too many (decimal commas?); export the file again",
            )
        if cells[-1] == "-" and "-" not in cells[:-1]:  # a lost marker has three of them
            raise damaged(
                "truncated_file", (path, line), "the row ends behind the sign of a number", "a number"
            )
        # Python reads "1_000" as a thousand; no measuring software writes it, so it is a slip. So is a decimal point
        # among decimal commas.
        slips = {"_", ",", "."} - {decimal}
        values[k] = [np.nan if slips & set(cell) else number_in(cell) for cell in cells]
        wrong += [
            (line, names[column], cells[column])
            for column in np.flatnonzero(np.isnan(values[k])).tolist()
            if cells[column] and cells[column].casefold() not in _MISSING
        ]
    if wrong:
        raise _not_numbers(wrong, decimal, path)
    return values


def _not_numbers(wrong: list[tuple[int, str, str]], decimal: str, path: Path) -> InputError:
    """The error of cells that hold no number: line, name of the column, and text of each."""
    (line, name, cell), *others = wrong
    expected = "a number" + " with a decimal comma, as in the rows before" * (decimal == ",")
    remedy = (decimal == "." and decimal_point(cell)) or _correct_cell(name)
    problem = f"{_short(cell)!r} is not a number"
    if others:
        more = [f"line {line}, column '{name}': {_short(cell)!r}" for line, name, cell in others]
        problem += f", nor are other cells: {shortened(more, _MOST_WRONG, '; ')}"
    return file_error("not_numbers", (path, f"line {line}, column '{name}'"), problem, expected, remedy)


def _correct_cell(name: str) -> str:
    """The remedy for a cell of a column; a time and the number of a frame cannot be missing."""
    return _ENTER_TIME if re.split(r"[\W_]", name.casefold())[0] in (*TIMES, "frame") else _CORRECT_CELL


def is_row(cells: Iterable[str]) -> bool:
    """Whether most of the cells are numbers."""
    filled = [cell.casefold() for cell in cells if cell]
    return sum(cell in _MISSING or not np.isnan(number_in(cell)) for cell in filled) > 0.5 * len(filled)


def number_in(cell: str) -> float:
    """Return the number in a cell, with a decimal point or comma; NaN for any other text."""
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return np.nan


def _short(cell: str) -> str:
    return cell if len(cell) <= 40 else cell[:40] + "..."


def check_measured(values: Array, lines: NDArray[np.int64], names: Sequence[str], path: Path) -> None:
    """Refuse numbers (r, k) in lines (r,) too large to be measurements; empty cells (NaN) are allowed."""
    beyond = np.abs(values) > LARGEST
    if beyond.any():
        row, column = np.argwhere(beyond)[0]
        place = (path, f"line {lines[row]}, column '{names[column]}'")
        expected, remedy = f"a number of at most {LARGEST:g}", _correct_cell(names[column])
        raise file_error("not_finite", place, f"the number is {values[row, column]:g}", expected, remedy)
