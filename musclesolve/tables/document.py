"""Settings in a TOML file: its text with the lines of its keys, and every fault with its line and remedy.

A class with `Settings` as its base (tables/settings.py) defines the tables and keys of a file. Unknown and missing
tables and keys and wrong values are refused.

Drafted and changed files are written as TOML text from values and tables.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from muscle_db.parsed_toml import toml_table
from muscle_db.regular_file import FileState, file_state
from muscle_db.similar_names import similar, suggestion
from musclesolve._util.messages import as_text, listed_beside
from musclesolve.constants import NO_LOADS, PREDICTED
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.tables.settings import KINDS, FileTable, Setting, Settings, listed, tables_of
from musclesolve.tables.text_file import (
    decimal_point,
    is_file,
    no_file,
    read_settings,
    settings_lines,
    toml_content,
    without_detours,
)

REPLACE_FILES = {"forces": (PREDICTED,), "loads": (PREDICTED, NO_LOADS)}
"""Words that replace a file, by key of [files]."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def key_text(key: str) -> str:
    """A key of TOML, in quotes if necessary."""
    return key if _BARE.fullmatch(key) else quoted(key)


def value_text(value: Any) -> str:
    """A value of TOML: text, number, boolean, list, or inline table."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key_text(k)} = {value_text(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return str(value)


def quoted(text: str) -> str:
    """A basic string of TOML."""
    # JSON escapes what a basic string of TOML must not hold, except for the sign "delete".
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def tables_text(content: Mapping[str, Any]) -> str:
    """TOML of tables of values, and of lists of tables; without the empty ones."""
    blocks = list[str]()
    for name, table in content.items():
        if table in ({}, []):
            continue
        listed = isinstance(table, list)
        for part in table if listed else [table]:
            if not isinstance(part, Mapping):
                # a value that is no table is kept: the reader of trial files refuses it
                blocks.insert(0, f"{key_text(name)} = {value_text(table)}")
                break
            header = f"[[{key_text(name)}]]" if listed else f"[{key_text(name)}]"
            blocks.append("\n".join([header, *(f"{key_text(k)} = {value_text(v)}" for k, v in part.items())]))
    return "\n\n".join(blocks) + "\n"


S = TypeVar("S", bound=Settings)


def toml_remedy(line: str) -> str:
    """Return the remedy for a line that is not valid TOML; the line is empty where the file ends too early."""
    key, _, value = (part.strip() for part in line.partition("="))
    if written := decimal_point(value.partition("#")[0].strip()):
        return written
    if "\\" in value and '"' in value:
        return (
            f"write / instead of \\ between folders: {line.replace(chr(92) * 2, '/').replace(chr(92), '/')}"
        )
    if value and re.fullmatch(r"[\w -]+", key) and not re.fullmatch(r"[A-Za-z0-9_-]+", key):
        return f'put a name with blanks or other letters than a to z in quotes: "{key}" = ...'
    return f"correct {line!r}" if line else "close every quote and bracket"


class Document:
    """The text of a trial file beside its content, so that every error can name a line.

    `kind` defines its tables, or chooses them by the content. `sha256` is the hash of the text; `states` the
    `file_state` of this file and of every file that it names, before each is opened; `arguments` the words for keys of
    tables whose values are arguments instead.
    """

    arguments: Mapping[tuple[str, str | None], str] = {}

    def __init__(self, path: Path, kind: type[Settings] | Callable[[dict[str, Any]], type[Settings]]) -> None:
        self.path = path
        self.states: dict[Path, FileState] = {path: file_state(path)}
        raw = read_settings(path, ".toml")
        self.sha256 = hashlib.sha256(raw).hexdigest()
        self.lines = settings_lines(path, raw)
        try:
            self.content: dict[str, Any] = toml_table("\n".join(self.lines))
        except tomllib.TOMLDecodeError as reason:
            place = re.search(r"\s*\(at line (\d+), column \d+\)", str(reason))
            text = self.lines[int(place[1]) - 1].strip() if place else ""
            raise file_error(
                "bad_format",
                (path, int(place[1]) if place else None),
                f"the file is not valid TOML: {str(reason).replace(place[0], '') if place else reason}",
                "key = value, one on each line, below the [table] of the key; each key once",
                f"write its keys below one {text}"
                if "twice" in str(reason)
                else f"keep one of the lines of {text.partition('=')[0].strip()} in this table"
                if "overwrite" in str(reason)
                else toml_remedy(text),
            ) from None
        except (ValueError, RecursionError):
            worst = max(range(len(self.lines)), key=lambda k: len(self.lines[k]))
            raise file_error(
                "bad_format",
                (path, worst + 1),
                "a number has thousands of digits, or brackets are nested too deep",
                "the description of a trial",
                "correct the line",
            ) from None
        self.kind: type[Settings] = kind if isinstance(kind, type) else kind(self.content)
        self.tables = tables_of(self.kind)

    def changed(self, table: str, values: Mapping[str, Any], words: Mapping[str, str]) -> Self:
        """Return the document with other values of some keys of a table, and the words for them in errors."""
        document = copy(self)
        document.arguments = {**self.arguments, **{(table, key): words[key] for key in values}}
        document.content = {**self.content, table: {**self.content.get(table, {}), **values}}
        return document

    def error(
        self, key: str, table: str, name: str | None = None, index: int = 0, /, **fields: Any
    ) -> InputError:
        """Return the error of a template of `errors.toml` that points at a key of a table: its name, and its index."""
        return input_error(key, file=self.path, where=self.place(table, name, index), **fields)

    def fault(
        self,
        code: str,
        place: str | tuple[Any, ...],
        problem: str,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> InputError:
        """Return the error of a place: a table, or table, key and the index in a list of tables."""
        where = self.place(*((place,) if isinstance(place, str) else place))
        return file_error(code, (self.path, where), problem, expected, remedy)

    def place(self, table: str, name: str | None = None, index: int = 0) -> str:
        """Return the place of a key of a table in words; an argument has no line."""
        if (table, name) in self.arguments:
            return self.arguments[table, name]
        line = self.line(table, name, index)
        place = self.header(table) + (f" {name}" if name else "")
        return f"line {line}, {place}" if line else place

    def unknown(
        self,
        key: str,
        name: object,
        known: Iterable[str],
        table: str,
        entry: str | None = None,
        index: int = 0,
        /,
        **fields: Any,
    ) -> InputError:
        """Return the error of an unknown name, with the most similar known names."""
        known = list(known)
        meant = suggestion(str(name), known)
        names = listed_beside(meant, known)
        remedy = meant or (f"use one of {names}, or remove it" if names else "remove it")
        expected = f"one of {names}" if names else "a known name; there is none"
        return self.error(key, table, entry, index, **{"expected": expected, "remedy": remedy} | fields)

    def check_known(
        self,
        names: Iterable[object],
        lacks: str,
        known: Iterable[str],
        *place: Any,
        after: str = "",
        code: str = "unknown_name",
        **fields: Any,
    ) -> None:
        """Refuse the first of some names that is not among the known ones: "there is no cluster 'thigh'".

        lacks: the words before the name; after: the words after it; place: table, key and index; fields: expectation
        and remedy in place of the usual ones.
        """
        known = list(known)
        for name in names:
            if name not in known:
                problem = f"{lacks} {as_text(name)}{after}"
                raise self.unknown(code, name, known, *place, problem=problem, **fields)

    def header(self, table: str) -> str:
        """Return the heading of a table as written in the file."""
        return f"[[{table}]]" if table in self.tables and self.tables[table].one_per else f"[{table}]"

    def placed(
        self,
        error: InputError,
        table: str,
        key: str | None = None,
        index: int = 0,
        before: str = "",
        after: str = "",
    ) -> InputError:
        """The error of a stage that does not know the trial file, with the place of a key; see `InputError.moved`."""
        return error.moved(self.path, self.place(table, key, index), before, after)

    def input_file(self, table: str, key: str, name: str, index: int = 0) -> Path:
        """Return the path of a file that the trial file names, from the folder of the trial file."""
        path = without_detours(self.path.parent / name)
        try:
            if is_file(path):
                self.states[path] = file_state(path)
                return path
            error = no_file(path)
        except InputError as refusal:
            error = refusal
        if table == "files" and (word := similar(name, REPLACE_FILES.get(key, ()))):
            remedy = f'did you mean "{word[0]}"? Else {error.remedy}'
            error = file_error(
                "missing_file", error.file, "there is no such file of forces", error.expected, remedy
            )
        raise self.placed(error, table, key, index, before=f"{name!r}: ")

    def line(self, table: str, key: str | None = None, index: int = 0) -> int | None:
        """Return the line of a key, or of the heading [table.key], else the line of its table, else None."""
        start = self._heading(table, index)
        if key is None:
            return start
        pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""")
        for k in range(start or len(self.lines), len(self.lines)):
            if self.lines[k].lstrip().startswith("["):
                break
            if pattern.match(self.lines[k]):
                return k + 1
        return (self._heading(f"{table}.{key}") if index == 0 else None) or start

    def _heading(self, table: str, index: int = 0) -> int | None:
        """The line of the heading of a table, or of the table at an index in a list of tables; None without one."""
        header = re.compile(rf"\s*\[\[?\s*{re.escape(table)}\s*\]\]?")
        lines = [number for number, text in enumerate(self.lines, start=1) if header.match(text)]
        return lines[index] if index < len(lines) else None


def validated(document: Document, kind: type[S]) -> S:
    """Return the settings of a file with defaults, or raise its first error.

    Tables with free keys (mapping, clusters, carried), and lists of them, are returned unchanged.
    """
    of_study = [table for table in ("trials", "study") if table in document.content]
    if of_study and "trials" not in document.tables and "files" not in document.content:
        raise document.fault(
            "bad_format",
            of_study[0],
            "this is a study file",
            "a trial file, with a table [files]",
            "musclesolve study computes it, musclesolve check examines it",
        )
    settings, errors = examined(document, kind)
    if errors:
        raise errors[0]
    return settings


def examined(document: Document, kind: type[S]) -> tuple[S, list[InputError]]:
    """Return the settings of a file as far as they are valid, and all errors.

    A table or key at fault is ignored: it has its default, or None without a default.
    """
    files = document.content.get("files")
    forces = files.get("forces", files.get("markers")) if isinstance(files, dict) else None
    # A C3D file has plates by number; a file of text has columns.
    c3d = isinstance(forces, str) and forces.casefold().endswith(".c3d")
    source = PREDICTED if forces == PREDICTED else "plates" if c3d else "columns"
    tables = document.tables if kind is document.kind else tables_of(kind)
    examination = _Examination(document, source, [])
    keys = {name: {*table.settings} for name, table in tables.items()}
    single = [name for name, value in document.content.items() if not isinstance(value, (dict, list))]
    if loose := [name for name in single if any(name in of_table for of_table in keys.values())]:
        # everything else that is wrong may follow from the heading that is missing above them
        place = (
            " or ".join(document.header(name) for name in tables if {*loose} <= keys[name])
            or "their headings"
        )
        problem, expected = f"no heading stands above {listed(loose)}", "every key below its [table]"
        remedy = f"move them below {place}; where it is missing, write it above them"
        examination.errors.append(file_error("bad_format", document.path, problem, expected, remedy))
    for name in document.content:
        if name not in tables and not loose:
            problem = "there is no such table"
            examination.errors.append(document.unknown("unknown_key", name, tables, name, problem=problem))
    values = {name: examination.table(name, table) for name, table in tables.items()}
    return kind(**values), examination.errors[:1] if loose else examination.errors


@dataclass(frozen=True)
class _Examination:
    """The examination of one file, with the errors so far; forces: "plates", "columns" or "predicted"."""

    document: Document
    source: str
    errors: list[InputError]

    def refuse(self, key: str, place: tuple[Any, ...], /, **fields: Any) -> None:
        """Note an error at a place: table, key and index, as in ``Document.error``."""
        self.errors.append(self.document.error(key, *place, **fields))

    def required(self, rule: Setting | FileTable) -> bool:
        """Return whether a table or key is required, with forces from this kind of file."""
        return rule.required or rule.needed_with == self.source

    def table(self, name: str, table: FileTable) -> Any:
        """Return the values of a table, or of each table in a list; a table with free keys is returned unchanged."""
        header, settings = self.document.header(name), table.settings
        value = self.document.content.get(name)
        if value in (None, []) and self.required(table):
            needed = listed(key for key, rule in settings.items() if self.required(rule))
            expected = "a line for each of its entries" if table.free else needed and f"it needs {needed}"
            path = self.document.path
            self.errors.append(
                file_error(
                    "missing_key",
                    path,
                    f"the table {header} is missing",
                    expected or None,
                    f"add {header} with these keys, each on its own line",
                )
            )
        if table.one_per:
            right = isinstance(value, list) and all(isinstance(part, dict) for part in value)
            wrong = "this is not a list of tables"
            form = f"one {header}, with two brackets on either side, per {table.one_per}"
        else:
            right, wrong = isinstance(value, dict), "this is not a table"
            form = f"{header} on a separate line, with its keys below"
        if value is not None and not right:
            remedy = f"write the heading {header}"
            self.refuse("bad_value", (name,), problem=wrong, expected=form, remedy=remedy)
            value = None
        if table.holds is None:
            return tuple(value or ()) if table.one_per else dict(value or {})
        if table.one_per:
            return tuple(
                table.holds(**self.values(name, part, settings, k)) for k, part in enumerate(value or [])
            )
        # An absent table either needs no keys, or its one error names the missing keys.
        return table.holds(**self.values(name, value or {}, settings, 0, lacking=value is not None))

    def values(
        self,
        table: str,
        stated: Mapping[str, Any],
        settings: Mapping[str, Setting],
        index: int,
        lacking: bool = True,
    ) -> dict[str, Any]:
        """Return the valid values of a table; lacking: whether missing keys are errors."""
        for key in stated:
            if key not in settings:
                place, problem = (table, key, index), "there is no such key"
                self.errors.append(
                    self.document.unknown("unknown_key", key, settings, *place, problem=problem)
                )
            elif self.source != PREDICTED and (only := settings[key].only_with or self.source) != self.source:
                # Of use with forces from the other kind of file only.
                useful = [name for name, rule in settings.items() if rule.only_with == self.source]
                problem = f"'{key}' is of no use with forces that come from columns"
                remedy = "name the columns of force and point instead"
                if only == "columns":
                    example = settings[useful[0]].line(useful[0])
                    problem = (
                        f"'{key}' is of no use with forces that come from a C3D file, which has no columns"
                    )
                    remedy = f"write {example}: the number of the plate in the file"
                place, shown = (table, key, index), listed(useful)
                self.refuse("conflict", place, problem=problem, expected=shown, remedy=remedy)
        right: dict[str, Any] = {}
        for key, rule in settings.items():
            if key not in stated:
                if lacking and self.required(rule):
                    self.refuse(
                        "missing_key",
                        (table, None, index),
                        problem=f"'{key}' is missing",
                        expected=f"one of {listed(rule.choices)}: {rule.about}"
                        if rule.choices
                        else rule.about,
                        remedy=f"add a line {rule.line(key)}",
                    )
            elif wrong := rule.problem(stated[key]):
                problem, expected = wrong
                remedy, known = f"write {rule.line(key)}", rule.choices or rule.words
                if not rule.choices and KINDS[rule.kind].holds(stated[key]):
                    remedy = rule.in_another_unit(stated[key]) or "check the value and its unit"
                elif known:
                    parts = [part for part in rule.texts(stated[key]) if isinstance(part, str)]
                    unknown = (suggestion(part, known) for part in parts if part not in known)
                    remedy = " ".join(filter(None, unknown)) or remedy
                place = (table, key, index)
                self.refuse("bad_value", place, problem=problem, expected=expected, remedy=remedy)
            else:
                right[key] = rule.converted(stated[key])
        return right


def check_value(value: Any, setting: Setting, where: str) -> None:
    """Refuse an argument that is not a valid value of a setting."""
    plain = value.item() if isinstance(value, np.generic) else value
    if wrong := setting.problem(plain):
        problem, expected = wrong
        raise input_error(
            "bad_number",
            where=where,
            problem=problem,
            expected=expected,
            remedy="check the value and its unit",
        )


def is_camera_file(path: Path) -> bool:
    """Return whether a file is a camera file, not a trial file; False for a file that cannot be read."""
    content = toml_content(path) if path.is_file() else {}
    return "camera" in content and "files" not in content


def is_study(path: Path) -> bool:
    """Return whether a file is a study file, not a trial file; False for a file that cannot be read."""
    content = toml_content(path)
    return "trials" in content and "files" not in content
