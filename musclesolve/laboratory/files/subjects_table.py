"""A laboratory's table of subjects, text or Excel: one row per subject, understood by headings and units."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from math import isnan
from pathlib import Path
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import as_text, folded
from musclesolve.errors import InputError, file_error, not_installed
from musclesolve.laboratory.recording.trial_settings import SubjectSettings
from musclesolve.tables.number_rows import number_in
from musclesolve.tables.settings import settings_of
from musclesolve.tables.text_file import is_file, no_file, open_input, opening, read_lines

EXCEL = ".xlsx"
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", EXCEL)
DAY = re.compile(
    r"(?<!\d)((?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])\2(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[1-9]|[12]\d|3[01])[-_.](?:0[1-9]|1[0-2])[-_.](?:19|20)\d\d)(?!\d)"
)
"""A day: 2024-03-05, 20240305, 05.03.2024."""
_BESIDE_NAME = re.compile(rf"[\s_.,\-]*{DAY.pattern}[\s_.,\-]*")
_UNIT = re.compile(r"[(\[]\s*([^)\]]*?)\s*[)\]]\s*$")
_EMPTY = frozenset({"", "-", "--", "?", "na", "n/a", "nan", "none", "null", "unknown"})
_TALLEST_M, _TALLEST_CM = 3.0, 300.0
"""Largest lengths without a unit that are in meters and in centimeters; larger ones are in millimeters."""
_MOST_ROWS = 100_000


@dataclass(frozen=True)
class SubjectsTable:
    """A table of subjects.

    Args:
        path: the file.
        rows: subject by its name in the table -> values, by the columns of a study on a subject.
        columns: keys that have a column.
        unused: headings of columns without a known meaning.
    """

    path: Path
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def row_of(self, subject: str) -> str | None:
        """The row of a subject by its exact name, else by its name without signs and leading zeros, else by such a
        name as the first word of a row ("S01 Anna"), apart from a day (2024-03-05_S01); None without one.
        """
        if subject in self.rows:
            return subject
        plain = plain_name(subject)
        alike = [name for name in self.rows if plain_name(name) == plain]
        alike = alike or [name for name in self.rows if plain_name(without_day(name).split()[0]) == plain]
        return alike[0] if len(alike) == 1 else None


def plain_name(name: str) -> str:
    """A name of a subject in small letters, without signs and leading zeros: "sub-01" is "sub1"."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", folded(name))


def without_day(name: str) -> str:
    """A name of a subject without a day before or behind it; a day alone stays."""
    return _BESIDE_NAME.sub(" ", name).strip() or name


def names_subjects(path: Path) -> bool:
    """Return whether a file of text or Excel is a table of subjects by its headings; False for an unreadable file.

    Without openpyxl an Excel file is judged by its name.
    """
    try:
        with_cells = table_cells(path, most=1)
    except InputError as error:
        name = folded(path.stem)
        return error.code == "missing_package" and any(
            word in name for word in ("subject", "participant", "patient")
        )
    headings = [key_of(str(cell)) for cell in with_cells[0]] if with_cells else []
    return "name" in headings and len({key for key in headings if key}) > 1


def read_subjects(path: Path) -> SubjectsTable:
    """Read a table of subjects: its first row has the headings.

    Cells may be empty. Lengths and masses are in the unit of the heading ("Height [cm]"), without one in kilograms and,
    by their size, in meters, centimeters or millimeters. Columns of numbers without a key are further numbers of the
    subject, by their headings.
    """
    cells = table_cells(path)
    headings = [str(cell).strip() for cell in cells[0]] if cells else []
    keys = [key_of(heading) for heading in headings]
    if "name" not in keys:
        raise file_error(
            "missing_key",
            path,
            f"no column names the subjects; the headings are {', '.join(map(str, headings))}",
            "headings in the first row, one of them such as Subject, ID or Participant",
            "name the column of the subjects Subject",
        )
    if twice := next((key for key in keys if key and keys.count(key) > 1), None):
        both = [heading for heading, key in zip(headings, keys, strict=True) if key == twice]
        raise file_error(
            "conflict",
            path,
            f"two columns state {twice}: {' and '.join(map(str, both))}",
            "one column for each",
            "rename or remove one of them",
        )
    rules = settings_of(SubjectSettings)
    rows: dict[str, dict[str, Any]] = {}
    filled = [[_text(row[k]) for row in cells[1:] if k < len(row)] for k in range(len(keys))]
    filled = [[text for text in texts if text.casefold() not in _EMPTY] for texts in filled]
    of_words = [key is None and None in map(_number, filled[k]) for k, key in enumerate(keys)]
    sexes = {folded(text) for text in filled[keys.index("sex")]} if "sex" in keys else set()
    said = {"h": "homme", "m": "mujer"} if "h" in sexes else {}  # beside an H, for a man, M is a woman
    for number, row in enumerate(cells[1:], start=2):
        texts = [_text(cell) for cell in row]
        if not any(texts):
            continue
        if any(texts[len(keys) :]):
            count = len(keys) + max(k for k, text in enumerate(texts[len(keys) :], start=1) if text)
            raise file_error(
                "bad_format",
                (path, f"row {number}"),
                f"the row has {count} cells",
                f"at most {len(keys)} cells, one for each heading",
                "write numbers with a decimal point (1.82), or separate the cells with "
                "semicolons where numbers have a decimal comma (1,82); give a further column "
                "a heading",
            )
        texts = [*texts, *[""] * len(keys)][: len(keys)]
        name = texts[keys.index("name")]
        if not name or name in rows:
            fault = f"the subject {name!r} has a second row" if name else "the row names no subject"
            raise file_error(
                "bad_value",
                (path, f"row {number}"),
                fault,
                "a row for each subject, which names it",
                "correct the row",
            )
        stated: dict[str, Any] = {}
        for k, text in enumerate(texts):
            key = keys[k]
            small = text.casefold()
            if key == "name" or (small in _EMPTY and not (small == "none" and key == "affected_side")):
                continue
            if key is None:
                if headings[k] and not of_words[k]:
                    name_of = re.sub(r"\W+", "_", headings[k]).strip("_") or "number"
                    stated.setdefault("numbers", {})[name_of] = _number(text)
                continue
            value = _value(key, said.get(folded(text), text) if key == "sex" else text, headings[k])
            rule = rules.get(key)
            if value is None or (rule is not None and rule.problem(value)):
                words = bundled_toml(__package__, "subject_columns.toml")["words"].get(key)
                expected = " or ".join(words) if words else rule.range if rule is not None else "a text"
                raise file_error(
                    "bad_value",
                    (path, f"row {number}, column {headings[k]!r}"),
                    f"the cell is {as_text(text)}{_meaning(key, text, value)}",
                    f"{expected}{f': {rule.about}' if rule is not None else ''}",
                    (rule.in_another_unit(value) if rule else "") or "correct the cell, or leave it empty",
                )
            stated[key] = value
        rows[name] = stated
    unused = tuple(heading for heading, words in zip(headings, of_words, strict=True) if words)
    return SubjectsTable(path, rows, tuple(key for key in keys if key and key != "name"), unused)


def table_cells(path: Path, most: int = _MOST_ROWS) -> list[list[Any]]:
    """The rows of a file, of Excel the rows of its first sheet; at most `most`."""
    if not is_file(path):
        raise no_file(path)
    if path.suffix.casefold() == EXCEL:
        try:
            from openpyxl import load_workbook
        except ImportError:
            instead = "; or save the table as CSV"
            raise not_installed(
                f"reading {path.name} needs", "openpyxl", "excel", where=str(path), instead=instead
            ) from None
        try:
            with open_input(path) as stream, opening(path):
                book = load_workbook(stream, read_only=True, data_only=True)
                rows = book.worksheets[0].iter_rows(max_row=most, values_only=True)
                return [list(row) for row in rows]
        except InputError:
            raise
        except Exception as reason:  # openpyxl raises errors of zip, XML and openpyxl
            raise file_error(
                "unreadable_file",
                path,
                f"this is not a readable Excel workbook ({as_text(str(reason))})",
                "a workbook (.xlsx) with the table on its first sheet",
                "save the table again, or as CSV",
            ) from None
    lines = "\n".join(read_lines(path)).rstrip("\n").split("\n")[:most]
    separator = max(";\t,", key=lines[0].count)
    return [list(row) for row in csv.reader(lines, delimiter=separator)]


def key_of(heading: str) -> str | None:
    """The key for a heading, None without one."""
    plain = folded(_UNIT.sub("", heading))
    columns = bundled_toml(__package__, "subject_columns.toml")["columns"]
    return next((key for key, words in columns.items() if plain in words or plain == folded(key)), None)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date) else str(cell).strip()


def _number(text: str) -> float | None:
    """A number from text with a decimal point or comma; None for other text."""
    number = number_in(text.replace(" ", ""))
    return None if isnan(number) else number


def _meaning(key: str, text: str, value: Any) -> str:
    """Statement on a number that was converted by its heading or its size; "" for any other cell."""
    if value is None or value == _number(text):
        return ""
    return f", which under this heading is {value:g} {key.rpartition('_')[2]}"


def _value(key: str, text: str, heading: str) -> Any:
    """The value of a cell, in its unit or in the unit of the heading; None if it is not of the right kind."""
    tables = bundled_toml(__package__, "subject_columns.toml")
    if key == "group":
        return text
    if key in tables["words"]:
        named: Sequence[str] = [word for word, alike in tables["words"][key].items() if folded(text) in alike]
        return named[0] if named else None
    units = tables["units"]["mass_kg" if key == "mass_kg" else "length"]
    number, in_cell = re.fullmatch(r"(.*?)([a-z]*)", text.casefold(), re.DOTALL).groups()  # type: ignore[union-attr]
    value = _number(number if in_cell in units else text)
    if value is None or key == "age_years":
        return value
    behind = re.search(r"(?:^|[_\s])(cm|mm|m|kg|g|lbs?|in)\s*$", heading.casefold())
    stated = _UNIT.search(heading)
    unit = in_cell or (folded(stated[1]) if stated else behind[1] if behind else "")
    if unit in units:
        return round(value * units[unit], 6)
    if key == "mass_kg":
        return value
    factor = 1.0 if value <= _TALLEST_M else 0.01 if value <= _TALLEST_CM else 0.001
    return round(value * factor, 6)
