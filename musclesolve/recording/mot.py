"""MOT and STO files: named columns over time, as text.

A header of ``name=value`` lines (older files: ``name value``) up to ``endheader``, one line of column names that
begins with ``time``, then one row per sample.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from musclesolve.errors import InputError
from musclesolve.recording.data import Table
from musclesolve.recording.textfile import (
    EXPORT_AGAIN,
    check_time,
    check_unique,
    number_table,
    read_lines,
    split_cells,
    write_text,
)

# What the two generations of the format call the same thing.
_ROWS = ("nRows", "datarows")
_COLUMNS = ("nColumns", "datacolumns")


def read_mot(path: str | Path) -> Table:
    """Read a MOT or STO file.

    Raises:
        InputError: with the line, for anything that does not fit together.
    """
    path = Path(path)
    lines = read_lines(path)
    end = next((k for k, line in enumerate(lines) if line.strip().casefold() == "endheader"), None)
    if end is None:
        raise InputError(
            "the header does not end",
            file=path,
            expected="a line that says endheader",
            remedy="name a MOT or STO file, or export it again",
        )
    header = _header(lines[:end])
    label_line = next((k for k in range(end + 1, len(lines)) if lines[k].strip()), None)
    if label_line is None:
        raise InputError(
            "nothing follows the header",
            file=path,
            where=f"line {end + 1}",
            expected="a line of column names and rows of numbers",
            remedy=EXPORT_AGAIN,
        )
    names = [cell for cell in split_cells(lines[label_line]) if cell]
    if names[0].casefold() != "time":
        raise InputError(
            f"the first column is '{names[0]}'",
            file=path,
            where=f"line {label_line + 1}",
            expected="time",
            remedy="export the time as the first column, and call it time",
        )
    check_unique(names, "column", path, label_line + 1)
    numbers = [k + 1 for k in range(label_line + 1, len(lines)) if lines[k].strip()]
    _check_count(header, _COLUMNS, len(names), "column names", path)
    _check_count(header, _ROWS, len(numbers), "rows of data", path)
    values = number_table([lines[k - 1].split() for k in numbers], numbers, names, path)
    if len(values) < 2:
        raise InputError(
            f"{len(values)} row(s) of data", file=path, expected="at least two", remedy=EXPORT_AGAIN
        )
    check_time(values[:, 0], numbers, path)
    in_degrees = _in_degrees(header, path)
    return Table(values[:, 0], tuple(names[1:]), values[:, 1:], in_degrees, path, tuple(numbers))


def _header(lines: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in lines:
        name, separator, value = line.partition("=")
        if not separator:
            name, _, value = line.strip().partition(" ")
        fields[name.strip().casefold()] = value.strip()
    return fields


def _check_count(header: dict[str, str], keys: tuple[str, str], found: int, what: str, path: Path) -> None:
    given = next((header[key.casefold()] for key in keys if key.casefold() in header), None)
    if given is None:
        line = f"{keys[0]}={found}"
        raise InputError(
            f"the header has no {keys[0]}", file=path, expected=line, remedy=f"add {line} above endheader"
        )
    if given != str(found):
        raise InputError(
            f"{found} {what}, but {keys[0]} is {given}",
            file=path,
            expected="as many as the header says",
            remedy=f"the file is cut short, or the header is of another file; {EXPORT_AGAIN}",
        )


def _in_degrees(header: dict[str, str], path: Path) -> bool:
    given = header.get("indegrees", "no").casefold()
    if given not in ("yes", "no"):
        raise InputError(
            f"inDegrees is '{given}'", file=path, expected="yes or no", remedy="write inDegrees=no for forces"
        )
    return given == "yes"


def write_mot(path: str | Path, table: Table, *, decimals: int = 6) -> None:
    """Write columns over time as a MOT or STO file.

    Args:
        path: the file to write; it appears complete or not at all.
        table: what to write.
        decimals: decimals of every number except the time, which has eight.

    Raises:
        InputError: a column name that the format cannot hold.
    """
    path = Path(path)
    if bad := [name for name in table.names if len(name.split()) != 1 or name.split()[0] != name]:
        raise InputError(
            f"a MOT file cannot hold the column name {bad[0]!r}",
            file=path,
            expected="a name without blanks",
            remedy="rename the column before writing",
        )
    rows, columns = table.values.shape
    lines = [
        path.stem,
        "version=1",
        f"nRows={rows}",
        f"nColumns={columns + 1}",
        f"inDegrees={'yes' if table.in_degrees else 'no'}",
        "endheader",
        "\t".join(("time", *table.names)),
    ]
    for time, row in zip(table.time, table.values, strict=True):
        cells = ("nan" if np.isnan(value) else f"{value:.{decimals}f}" for value in row)
        lines.append(f"{time:.8f}\t" + "\t".join(cells))
    write_text(path, "\n".join(lines) + "\n")
