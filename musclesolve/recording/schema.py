"""Trial files and others in TOML by a schema: values with defaults, every fault with its line and remedy.

The schema is a file of keys (``trial_keys.toml``, ``camera_keys.toml``): for every table and key its type, range,
choices, default, and what it is. Unknown and missing tables and keys and wrong values are refused.
"""

from __future__ import annotations

import hashlib
import math
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.message_text import as_text
from musclesolve._util.names import suggestion
from musclesolve.errors import InputError
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.text_file import (
    RECORDED,
    decimal_point,
    is_file,
    no_file,
    read_settings,
    settings_lines,
    without_detours,
)

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class ValueKind:
    """A kind of value: what a message calls it, how a file writes it, and which values are of it.

    `holds_part`: of a table whose parts are values of one kind, so that a message can name the part at fault.
    """

    called: str
    form: str
    holds: Callable[[Any], bool]
    holds_part: Callable[[Any], bool] | None = None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_whole(value: Any) -> bool:
    # A TOML integer has any number of digits; one that no float can hold is no measure of anything.
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18


def is_number(value: Any) -> bool:
    """Return whether a value is a number of a size that can be measured."""
    return isinstance(value, float) or _is_whole(value)


def _is_name_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, str) and part for part in value)


def _is_range(value: Any) -> bool:
    if not (isinstance(value, list) and len(value) == 2 and all(map(is_number, value))):
        return False
    return bool(-math.inf < value[0] < value[1] < math.inf)


def _is_triple(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(is_number, value))


def _is_text_or_names(value: Any) -> bool:
    return _is_text(value) or _is_name_list(value)


def _table_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(holds, value.values()))


_is_weights = _table_of(is_number)

KINDS = {
    "text": ValueKind("a text in quotes", '"..."', _is_text),
    "number": ValueKind(
        "a number", "a number such as 1.5, without quotes and with a decimal point", is_number
    ),
    "whole": ValueKind("a whole number", "a whole number such as 1, without quotes", _is_whole),
    "truth": ValueKind(
        "true or false", "true or false, without quotes", lambda value: isinstance(value, bool)
    ),
    "name_list": ValueKind("a list of names", '["...", "..."]', _is_name_list),
    "columns": ValueKind(
        "a list of three column names, or their common beginning",
        '["...x", "...y", "...z"] or their common beginning "..."',
        lambda value: (isinstance(value, str) and bool(value)) or (_is_name_list(value) and len(value) == 3),
    ),
    "triple": ValueKind(
        "a list of three numbers",
        "[0.01, 0.01, 0.002]",
        _is_triple,
    ),
    "numbers": ValueKind(
        "a list of numbers",
        "[0.01, 0.002]",
        lambda value: isinstance(value, list) and bool(value) and all(map(is_number, value)),
    ),
    "ranges": ValueKind(
        "a list of ranges, each of two numbers, the smaller first",
        "[[0.4, 1.5], [1.5, 2.6]]",
        lambda value: isinstance(value, list) and bool(value) and all(map(_is_range, value)),
    ),
    "weights": ValueKind("names with a number each", "{ heel_r = 2.0 }", _is_weights, is_number),
    "triples": ValueKind(
        "names with three numbers each",
        "{ 1 = [4.0, 0.0, -1.5] }",
        _table_of(_is_triple),
        _is_triple,
    ),
    "number_or_weights": ValueKind(
        "a number, or names with a number each",
        "a number such as 1.5, or { ... = 1.5 }",
        lambda value: is_number(value) or _is_weights(value),
    ),
    "name_lists": ValueKind(
        "names with a name or a list of names each",
        '{ SOL = "soleus_r" }',
        _table_of(_is_text_or_names),
        _is_text_or_names,
    ),
    "names": ValueKind(
        "names with a name each", '{ GM = "gastrocnemius_medial_r" }', _table_of(_is_text), _is_text
    ),
    "tables": ValueKind(
        "a table of its own for each name",
        "{ shank_r = { mass_kg = 1.5 } }",
        _table_of(lambda part: isinstance(part, dict)),
    ),
}
"""The types of values that a file of keys may name."""


class Document:
    """The text of a trial file beside its content, so that every error can name a line.

    `keys` describes its tables and keys: a file beside this one, or what such a file says. `sha256` is the hash of the
    text that was read; `states` the `file_state` of every file that it names, from before that is opened.
    """

    def __init__(self, path: Path, keys: str | Fields = "trial_keys.toml") -> None:
        self.path = path
        self.tables = described_keys(keys) if isinstance(keys, str) else keys
        raw = read_settings(path)
        self.sha256 = hashlib.sha256(raw).hexdigest()
        self.states: dict[Path, tuple[int, int] | None] = {}
        self.lines = settings_lines(path, raw)
        try:
            self.content: dict[str, Any] = tomllib.loads("\n".join(self.lines))
        except tomllib.TOMLDecodeError as reason:
            place = re.search(r"\s*\(at line (\d+), column \d+\)", str(reason))
            text = self.lines[int(place[1]) - 1].strip() if place else ""
            remedy = f"correct {text!r}" if text else "close every quote and bracket"
            raise error_at(
                path,
                int(place[1]) if place else None,
                f"the file is not valid TOML: {str(reason).replace(place[0], '') if place else reason}",
                "key = value, each on a line of its own, below the [table] it belongs to; each of them once",
                decimal_point(text.partition("=")[2].partition("#")[0].strip()) or remedy,
            ) from None
        except (ValueError, RecursionError):
            worst = max(range(len(self.lines)), key=lambda k: len(self.lines[k]))
            problem = "a number has thousands of digits, or brackets are nested too deep"
            raise error_at(
                path, worst + 1, problem, "the description of a trial", "correct the line"
            ) from None

    def error(
        self,
        problem: str,
        table: str,
        key: str | None = None,
        index: int = 0,
        expected: str | None = None,
        remedy: str | None = None,
        *,
        code: str = "bad_value",
    ) -> InputError:
        """Return an InputError that points at a key of a table."""
        line = self.line(table, key, index)
        place = self.header(table) + (f" {key}" if key else "")
        where = f"line {line}, {place}" if line else place
        return InputError(problem, code=code, file=self.path, where=where, expected=expected, remedy=remedy)

    def unknown(
        self,
        problem: str,
        name: object,
        known: Iterable[str],
        table: str,
        key: str | None = None,
        index: int = 0,
        *,
        code: str = "unknown_name",
        expected: str | None = None,
    ) -> InputError:
        """Return the error of a name that does not exist, with the known names most like it."""
        known = list(known)
        listed = _list(known)
        remedy = suggestion(str(name), known) or f"use one of {listed or 'none'}, or remove it"
        expected = expected or f"one of {listed}"
        return self.error(problem, table, key, index, code=code, expected=expected, remedy=remedy)

    def header(self, table: str) -> str:
        """Return the heading of a table as the file writes it."""
        return f"[[{table}]]" if self.tables.get(table, {}).get("list") else f"[{table}]"

    def placed(self, error: InputError, table: str, key: str | None = None, index: int = 0) -> InputError:
        """Return an error of a stage that knows no trial file, pointing at a key of a table."""
        return self.error(
            error.problem, table, key, index, code=error.code, expected=error.expected, remedy=error.remedy
        )

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
        error.problem = f"{name!r}: {error.problem}"
        raise self.placed(error, table, key, index)

    def line(self, table: str, key: str | None = None, index: int = 0) -> int | None:
        """Return the line of a key, or of the heading [table.key], else that of its table, else None."""
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
        """Return the line of the heading of a table, of the list of them the one at an index; None without any."""
        header = re.compile(rf"\s*\[\[?\s*{re.escape(table)}\s*\]\]?")
        lines = [number for number, text in enumerate(self.lines, start=1) if header.match(text)]
        return lines[index] if index < len(lines) else None


def file_state(path: Path) -> tuple[int, int] | None:
    """Return time of the last change [ns] and size [bytes] of a file; None where there is none."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


def trial_document(path: Path, keys: str | Fields = "trial_keys.toml") -> Document:
    """Return the text and content of a trial file.

    Raises:
        InputError: it cannot be read, is no TOML, or is a recording: the message names the command that drafts one.
    """
    if path.suffix.casefold() in RECORDED and path.suffix.casefold() != ".toml" and is_file(path):
        folder = path.parent
        problem = "this is a recording"
        expected = "a trial file (.toml), which names the recordings and the subject"
        draft = f"musclesolve init {shlex.quote(str(folder))}"
        remedy = (
            f"draft one first: {draft}; it writes {shlex.quote(str(folder / 'trial.toml'))} for run and check"
        )
        raise error_at(path, None, problem, expected, remedy)
    return Document(path, keys)


def described_keys(file: str) -> dict[str, Any]:
    """Return the description of every table and key, from a file of this package."""
    return bundled_toml(__package__, file)


def trial_keys() -> dict[str, Any]:
    """Return the description of every table and key, as ``trial_keys.toml`` has it."""
    return described_keys("trial_keys.toml")


def validated(document: Document) -> dict[str, Any]:
    """Return the content of a trial file with defaults filled in, or raise its first error.

    Numbers are floats, counts are not. Tables with free keys (mapping, clusters, carried) come as they are, lists of
    them too; "force" is a list of tables.
    """
    if "trials" in document.content and "trials" not in document.tables and "files" not in document.content:
        problem, expected = "this is a study file", "a trial file, with a table [files]"
        remedy = "musclesolve study computes it, musclesolve check examines it"
        raise document.error(problem, "trials", None, 0, expected, remedy, code="bad_format")
    content, errors = examined(document)
    if errors:
        raise errors[0]
    return content


def examined(document: Document) -> tuple[dict[str, Any], list[InputError]]:
    """Return what ``validated`` returns, as far as it goes, and everything that is wrong with it.

    A table or key that is at fault is left out: it has its default, or None where there is none.
    """
    files = document.content.get("files")
    forces = files.get("forces", files.get("markers")) if isinstance(files, dict) else None
    # A C3D file has plates by number; a file of text has columns.
    c3d = isinstance(forces, str) and forces.casefold().endswith(".c3d")
    examination = _Examination(document, "plates" if c3d else "columns", [])
    for name in document.content:
        if name not in document.tables:
            examination.unknown("there is no such table", name, document.tables, name)
    return {
        name: examination.table(name, rules) for name, rules in document.tables.items()
    }, examination.errors


@dataclass(frozen=True)
class _Examination:
    """The examination of one file, with the errors so far; the source of forces is "plates" or "columns"."""

    document: Document
    source: str
    errors: list[InputError]

    def refuse(
        self, problem: str, place: tuple[Any, ...], expected: str, remedy: str, code: str = "bad_value"
    ) -> None:
        """Note an error of a place: table, key and index, as in ``Document.error``."""
        table, key, index = (*place, None, 0)[:3]
        self.errors.append(self.document.error(problem, table, key, index, expected, remedy, code=code))

    def unknown(self, problem: str, name: str, known: Iterable[str], *place: Any) -> None:
        """Note an unknown name at a place: table, key and index."""
        self.errors.append(self.document.unknown(problem, name, known, *place, code="unknown_key"))

    def required(self, rule: Fields) -> bool:
        """Return whether a table or key must be there, with forces from this kind of file."""
        return bool(rule.get("required")) or rule.get("needed_with") == self.source

    def table(self, name: str, rules: Fields) -> Any:
        """Return the values of a table, of a list of tables those of each; of one with free keys as they are."""
        header, keys = self.document.header(name), rules.get("keys", {})
        value = self.document.content.get(name)
        if value in (None, []) and self.required(rules):
            needed = _list(key for key, rule in keys.items() if self.required(rule))
            expected = "one line for every landmark" if rules.get("free") else needed and f"it needs {needed}"
            problem, path = f"the table {header} is missing", self.document.path
            remedy = f"add {header} with these keys, each on its own line"
            self.errors.append(error_at(path, None, problem, expected or None, remedy, code="missing_key"))
        if rules.get("list"):
            right = isinstance(value, list) and all(isinstance(part, dict) for part in value)
            wrong, article = "this is not a list of tables", rules.get("one_per", "entry")
            expected = f"one {header}, with two brackets on either side, per {article}"
        else:
            right, wrong = isinstance(value, dict), "this is not a table"
            expected = f"[{name}] on a line of its own, with its keys below"
        if value is not None and not right:
            self.refuse(wrong, (name,), expected, f"write the heading {header}")
            value = None
        if rules.get("free"):
            return list(value or []) if rules.get("list") else dict(value or {})
        if rules.get("list"):
            return [self.fields(name, part, keys, k) for k, part in enumerate(value or [])]
        # An absent table lacks nothing, or its one error names the keys that it lacks.
        return self.fields(name, value or {}, keys, 0, lacking=value is not None)

    def fields(
        self, table: str, values: Fields, keys: Fields, index: int, lacking: bool = True
    ) -> dict[str, Any]:
        """Return the values of a table with defaults; `lacking` says whether keys that are missing are errors."""
        for key in values:
            if key not in keys:
                self.unknown("there is no such key", key, keys, table, key, index)
            elif (only := keys[key].get("only_with", self.source)) != self.source:
                # Of use with forces from the other kind of file only.
                useful = [name for name, rule in keys.items() if rule.get("only_with") == self.source]
                source, remedy = "columns", "name the columns of force and point instead"
                if only == "columns":
                    source, example = "a C3D file, which has no columns", _example(useful[0], keys[useful[0]])
                    remedy = f"write {example} instead, the number of the plate in the file"
                problem = f"'{key}' is of no use with forces that come from {source}"
                self.refuse(problem, (table, key, index), _list(useful), remedy, "conflict")
        content: dict[str, Any] = {}
        for key, rule in keys.items():
            content[key] = _as_float(rule.get("default"), rule)
            if key not in values:
                if lacking and self.required(rule):
                    expected, remedy = f"{key}: {rule['about']}", f"add a line {_example(key, rule)}"
                    self.refuse(f"'{key}' is missing", (table, None, index), expected, remedy, "missing_key")
            elif wrong := value_problem(values[key], rule):
                problem, expected = wrong
                remedy, known = f"write {_example(key, rule)}", rule.get("choices", rule.get("words"))
                if "choices" not in rule and KINDS[rule["type"]].holds(values[key]):
                    remedy = in_another_unit(values[key], rule) or "check the value and its unit"
                elif isinstance(values[key], str) and known:
                    remedy = suggestion(values[key], known) or remedy
                self.refuse(problem, (table, key, index), expected, remedy)
            else:
                content[key] = _as_float(values[key], rule)
        return content


def value_problem(value: Any, rule: Fields) -> tuple[str, str] | None:
    """Return what is wrong with a value and what was expected, or None."""
    if isinstance(value, str) and value in rule.get("words", ()):
        return None
    name, about = rule["type"], rule["about"]
    if name == "number_or_weights":
        name = "weights" if isinstance(value, dict) else "number"
    kind = KINDS[name]
    if not kind.holds(value):
        instead = f" or one of {_list(rule['words'])}" if "words" in rule else ""
        wrong = f"is {as_text(value)}"
        if kind.holds_part and isinstance(value, dict):
            part = next(part for part in value if not kind.holds_part(value[part]))
            wrong = f"of '{part}' is {as_text(value[part])}"
        return f"the value {wrong}", f"{KINDS[rule['type']].called}{instead}: {about}"
    if "choices" in rule and value not in rule["choices"]:
        return f"the value is {as_text(value)}", f"one of {_list(rule['choices'])}"
    if name in ("number", "whole") and not within(value, rule):
        return f"the value is {as_text(value)}", f"{_range(rule)}: {about}"
    if name == "weights" and (beyond := [part for part in value if not within(value[part], rule)]):
        problem = f"the value of '{beyond[0]}' is {as_text(value[beyond[0]])}"
        return problem, f"{kind.called}, {_range(rule)}: {about}"
    if name in ("triple", "triples"):
        listed = [value] if name == "triple" else value.values()
        if beyond := [part for part in listed if not all(within(number, rule) for number in part)]:
            return f"a value is {as_text(beyond[0])}", f"{kind.called}, {_range(rule)}: {about}"
    return None


def in_another_unit(value: Any, rule: Fields) -> str:
    """Return the remedy of a number that lies within its range when it is read in another unit; "" where none is."""
    if not is_number(value):
        return ""
    for unit, factor in rule.get("mistaken_units", {}).items():
        if within(value * factor, rule):
            return f"{value:g} looks like {unit}: write {value * factor:.4g}"
    return ""


def check_value(value: Any, table: str, key: str) -> None:
    """Refuse an argument that a key of a trial file would refuse.

    Raises:
        InputError: it is not of the kind of the key, or beyond its range.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if wrong := value_problem(plain, trial_keys()[table]["keys"][key]):
        problem, expected = wrong
        remedy = "check the value and its unit"
        raise InputError(problem, code="bad_number", where=key, expected=expected, remedy=remedy)


def _as_float(value: Any, rule: Fields) -> Any:
    """Return a value of a rule with its numbers as floats, unless it counts something."""
    if "number" not in rule["type"] and rule["type"] != "weights":
        return value
    if isinstance(value, dict):
        return {name: float(part) for name, part in value.items()}
    return float(value) if isinstance(value, int) else value


def within(value: float, rule: Fields) -> bool:
    """Return whether a number is finite and in the range of its rule."""
    low, high = rule.get("minimum", -math.inf), rule.get("maximum", math.inf)
    return bool(low <= value <= high and value > rule.get("above", -math.inf) and math.isfinite(value))


def _range(rule: Fields) -> str:
    """Return the range of a rule in words."""
    limits = (("minimum", "at least"), ("above", "above"), ("maximum", "at most"))
    number = "a whole number" if rule["type"] == "whole" else "a finite number"
    return f"{number} {' and '.join(f'{word} {rule[key]:g}' for key, word in limits if key in rule)}".strip()


def _example(key: str, rule: Fields) -> str:
    """Return a line of a trial file in the right form."""
    if "choices" in rule:
        return f"{key} = " + " or ".join(f'"{choice}"' for choice in rule["choices"])
    form = rule.get("example", KINDS[rule["type"]].form)
    return f"{key} = {form}" + "".join(f' or "{word}"' for word in rule.get("words", ()))


def _list(names: Iterable[str]) -> str:
    return ", ".join(str(name) for name in names)
