"""What the text readers and writers share: opening, numbers with a line to blame, writing without half files."""

from __future__ import annotations

import difflib
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve.errors import InputError

Array = NDArray[np.float64]

EXPORT_AGAIN = "export the file again"
_MEND_CELL = f"correct the cell, leave it empty where nothing was measured, or {EXPORT_AGAIN}"
_TEXT = "a text file (TRC, MOT, STO or TOML)"


def nearest(name: str, candidates: Iterable[str], count: int = 3) -> list[str]:
    """Return the candidates that look most like ``name``, without regard to case, best first."""
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.5)
    return [by_folded[folded] for folded in close]


def suggestion(name: str, candidates: Iterable[str]) -> str | None:
    """Return "did you mean ...?" or None when nothing is near."""
    close = nearest(name, candidates)
    return "did you mean " + " or ".join(f"'{c}'" for c in close) + "?" if close else None


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file without their ends.

    Raises:
        InputError: the file is missing, unreadable, binary or empty.
    """
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        problem, expected, remedy = no_file(path)
        raise InputError(problem, file=path, expected=expected, remedy=remedy) from None
    except OSError as reason:
        raise InputError(
            f"the file cannot be read ({reason.strerror})",
            file=path,
            expected="a file that you may read",
            remedy="ask for the right to read it, or copy it elsewhere",
        ) from None
    except ValueError:
        raise InputError(
            f"{str(path)!r} is not a file name", expected="a file name", remedy="check the name"
        ) from None
    if b"\0" in raw:
        raise InputError(
            "this is a binary file",
            file=path,
            expected=_TEXT,
            remedy="export it as text, or name another file",
        )
    text = _decode(raw)
    if not text.strip():
        raise InputError("the file is empty", file=path, expected=_TEXT, remedy=EXPORT_AGAIN)
    # Not str.splitlines: form feeds and the like inside a name do not end a line.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def no_file(path: Path) -> tuple[str, str, str]:
    """Return why a path is not a file: the problem, what was expected, and the way out."""
    if path.is_dir():
        return "this is a folder", "a file", "name a file in it"
    folder = path.parent.absolute()
    if not folder.is_dir():
        return "there is no such file", f"a file in {folder}, but there is no such folder", "check the folder"
    try:
        there = sorted(os.listdir(folder))
    except OSError:
        there = []
    return (
        "there is no such file",
        f"a file in {folder}",
        suggestion(path.name, there) or "check the name and the folder",
    )


def decimal_point(text: str) -> str | None:
    """Return the remedy for a number written with a decimal comma; None for any other text."""
    if not re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", text):
        return None
    return f"write a decimal point instead of the comma: {text.replace(',', '.')}"


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Capture software on Windows writes the local code page; every byte is a character there.
        return raw.decode("latin-1")


def split_cells(line: str) -> list[str]:
    """Split a line at tabs, or at blanks where it has none; the cells come stripped."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def number_table(
    rows: Sequence[list[str]], line_numbers: Sequence[int], names: Sequence[str], path: Path
) -> Array:
    """Turn rows of cells into numbers; an empty cell is a gap (NaN).

    Args:
        rows: T rows of cells.
        line_numbers: (T,) the line of each row in the file, for messages.
        names: the k column names.
        path: the file, for messages.

    Returns:
        (T, k) numbers.

    Raises:
        InputError: a row has too few or too many cells, or a cell is not a finite number.
    """
    for row, line in zip(rows, line_numbers, strict=True):
        if len(row) != len(names):
            raise InputError(
                f"{len(row)} cells in this row",
                file=path,
                where=f"line {line}",
                expected=f"{len(names)} cells, as the column names say",
                remedy=f"the row is cut short or has cells too many; {EXPORT_AGAIN}",
            )
    cells = [[cell or "nan" for cell in row] for row in rows]
    try:
        if any("_" in cell for row in cells for cell in row):
            raise ValueError("digits grouped by underscores")
        table = np.array(cells, dtype=np.str_).astype(np.float64).reshape(len(rows), len(names))
    except ValueError:
        raise _not_a_number(cells, line_numbers, names, path) from None
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        where = f"line {line_numbers[row]}, column '{names[column]}'"
        raise InputError(
            "an infinite number", file=path, where=where, expected="a finite number", remedy=_MEND_CELL
        )
    return table


def _not_a_number(
    cells: Sequence[list[str]], line_numbers: Sequence[int], names: Sequence[str], path: Path
) -> InputError:
    for row, line in zip(cells, line_numbers, strict=True):
        for cell, name in zip(row, names, strict=True):
            if not _is_number(cell):
                where = f"line {line}, column '{name}'"
                return InputError(
                    f"'{cell}' is not a number",
                    file=path,
                    where=where,
                    expected="a number",
                    remedy=decimal_point(cell) or _MEND_CELL,
                )
    return InputError("a cell is not a number", file=path, expected="numbers", remedy=_MEND_CELL)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    # Python reads "1_000" as a thousand; no measuring software writes it, so it is a slip.
    return "_" not in cell


def check_time(time: Array, line_numbers: Sequence[int], path: Path) -> None:
    """Refuse a time column with gaps or one that does not increase."""
    if np.isnan(time).any():
        line = line_numbers[int(np.argmax(np.isnan(time)))]
        raise InputError(
            "the time is missing",
            file=path,
            where=f"line {line}",
            expected="a time in seconds",
            remedy=EXPORT_AGAIN,
        )
    step = np.diff(time)
    if (step <= 0).any():
        k = int(np.argmax(step <= 0))
        raise InputError(
            f"the time goes from {time[k]:g} s to {time[k + 1]:g} s",
            file=path,
            where=f"line {line_numbers[k + 1]}",
            expected="times that increase from row to row",
            remedy=f"{EXPORT_AGAIN}, with more decimals of the time if two rows have the same",
        )


def check_unique(names: Sequence[str], kind: str, path: Path, line: int) -> None:
    """Refuse a name that stands twice among the names of markers or columns."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"the {kind} '{name}' stands twice",
                file=path,
                where=f"line {line}",
                expected=f"every {kind} once",
                remedy="rename or remove one of them",
            )
        seen.add(name)


def write_text(path: Path, text: str) -> None:
    """Write a file so that a reader never sees half of it: written beside, then renamed."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        # mkstemp makes the file private; a recording is as readable as any other file.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
