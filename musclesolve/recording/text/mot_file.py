"""MOT and STO files: named columns over time, as text.

A header of ``name=value`` lines (older files: ``name value``) up to ``endheader``, one line of column names that
begins with ``time``, then one row per sample. Files of OpenSim 4 state neither ``nRows`` nor ``nColumns``: columns and
rows are counted. Many state no ``inDegrees``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from musclesolve.recording.data import Table
from musclesolve.recording.place_errors import EXPORT_AGAIN, error_at
from musclesolve.recording.text.number_rows import RowReader, timed_rows
from musclesolve.recording.text.repeated_names import check_unique, distinct_names
from musclesolve.recording.text.text_file import check_writable, file_path, split_cells, write_text

# The names of the two generations of the format.
_ROWS = ("nRows", "datarows")
_COLUMNS = ("nColumns", "datacolumns")
_LONGEST_HEADER = 10_000


def read_mot(path: str | Path) -> Table:
    """Read a MOT or STO file.

    Raises:
        InputError: with the line, for anything that does not fit together.
    """
    path = file_path(path)
    with RowReader(path) as reader:
        header = _header(reader, path)
        end, line = reader.line_number, reader.filled_line()
        if line is None:
            problem, expected = "nothing follows the header", "column names and rows"
            raise error_at(path, end, problem, expected, code="truncated_file")
        names, number = [cell for cell in split_cells(line) if cell], reader.line_number
        if names[0].casefold() != "time":
            problem = f"the first column is '{names[0]}'"
            remedy = "export the time as the first column, and name it time"
            raise error_at(path, number, problem, "time", remedy, code="missing_column")
        check_unique([name for name in names if name.casefold() == "time"], "column", path, number)
        if len(names) < 2:
            problem, expected = "the file has no column but the time", "one or more"
            raise error_at(path, number, problem, expected, code="missing_column")
        if (stated := _stated_count(header, _COLUMNS)) not in ("", str(len(names))):
            problem = f"{len(names)} column names, but {_COLUMNS[0]} is {stated}"
            remedy = f"the header is of another file; {EXPORT_AGAIN}"
            raise error_at(path, None, problem, "as many as the header says", remedy, code="truncated_file")
        columns, repeated = distinct_names(list(enumerate(names))[1:], f"line {number}, columns")
        kept = slice(1, None) if not repeated else list(columns.values())
        time, values, lines, notes, warning = timed_rows(
            reader,
            reader.blocks(names, str.split),
            lambda rows: (rows[:, 0], rows[:, kept]),
            "column",
            tuple(columns),
            repeated,
            _stated_count(header, _ROWS),
        )
    degrees = header["indegrees"].casefold() if "indegrees" in header else None
    if degrees not in (None, "yes", "no"):
        raise error_at(path, None, f"inDegrees is '{degrees}'", "yes or no", "write inDegrees=no for forces")
    in_degrees = None if degrees is None else degrees == "yes"
    return Table(time, tuple(columns), values, in_degrees, path, lines, (), notes, repeated, warning)


def _header(reader: RowReader, path: Path) -> dict[str, str]:
    """Return the fields of the header, up to the line endheader."""
    fields: dict[str, str] = {}
    while reader.line_number < _LONGEST_HEADER and (line := reader.line()) is not None:
        if line.strip().casefold() == "endheader":
            return fields
        name, separator, value = line.partition("=")
        if not separator:
            name, _, value = line.strip().partition(" ")
        fields[name.strip().casefold()] = value.strip()
    remedy = f"name a MOT or STO file, or {EXPORT_AGAIN}"
    raise error_at(path, None, "the header does not end", "a line that says endheader", remedy)


def _stated_count(header: dict[str, str], keys: tuple[str, str]) -> str:
    """Return a count as the header states it; "" where it states none."""
    return next((header[key.casefold()] or "nothing" for key in keys if key.casefold() in header), "")


def write_mot(path: str | Path, table: Table, *, decimals: int = 6) -> None:
    """Write columns over time as a MOT or STO file.

    Args:
        path: the file to write; it appears complete or not at all.
        table: what to write.
        decimals: decimals of every number except the time, which has eight.

    Raises:
        InputError: what no reader would accept: a name that the format cannot hold or that stands twice, fewer than
            two rows, infinite numbers; or a place where nothing can be written.
    """
    write_text(file_path(path), mot_text(path, table, decimals=decimals))


def mot_text(
    path: str | Path,
    table: Table,
    *,
    decimals: int | None = 6,
    remarks: Sequence[str] = (),
    title: str | None = None,
) -> Iterator[str]:
    """Return the parts of the text of a MOT or STO file, checked as by `write_mot`.

    Args:
        path: the file that it is for.
        table: what to write.
        decimals: as of `write_mot`; None: every number, the time too, in as many digits as give the same number again.
        remarks: further lines of the header.
        title: the first line of the header; the stem of the path unless given.
    """
    digits = 6 if decimals is None else decimals
    path = check_writable(path, "column", table.names, table.time, table.values, digits)
    if bad := [name for name in table.names if name == "time" or name.split() != [name] or "\0" in name]:
        problem = f"a MOT file cannot hold the column name {bad[0]!r}"
        raise error_at(path, None, problem, "no blanks, and not time", "rename the column", code="bad_value")
    header = [
        title or path.stem,
        "version=1",
        f"nRows={len(table.values)}",
        f"nColumns={len(table.names) + 1}",
        *([] if table.in_degrees is None else [f"inDegrees={'yes' if table.in_degrees else 'no'}"]),
        *remarks,
        "endheader",
        "\t".join(("time", *table.names)) + "\n",
    ]
    rows = ((time, *row.tolist()) for time, row in zip(table.time.tolist(), table.values, strict=True))
    if decimals is None:
        return chain(["\n".join(header)], ("\t".join(map(repr, row)) + "\n" for row in rows))
    form = "%.8f" + f"\t%.{decimals}f" * len(table.names) + "\n"
    return chain(["\n".join(header)], (form % row for row in rows))
