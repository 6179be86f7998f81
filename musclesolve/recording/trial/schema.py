"""The schema of a trial file: unknown keys, missing keys and wrong values are refused with line and remedy."""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.message_text import as_text
from musclesolve._util.names import suggestion
from musclesolve.errors import InputError
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.text_file import RECORDED, decimal_point, is_file, no_file, read_lines

Fields = Mapping[str, Any]

_KINDS = {
    "text": "a text in quotes",
    "number": "a number",
    "whole": "a whole number",
    "name_list": "a list of names",
    "columns": "a list of three column names, or their common beginning",
    "weights": "names with a number each",
    "number_or_weights": "a number, or names with a number each",
    "truth": "true or false",
    "name_lists": "names with a name or a list of names each",
    "tables": "a table of its own for each name",
    "triple": "a list of three numbers",
}

_FORMS = {
    "text": '"..."',
    "number": "a number such as 1.5, without quotes and with a decimal point",
    "whole": "a whole number such as 1, without quotes",
    "name_list": '["...", "..."]',
    "columns": '["...x", "...y", "...z"] or their common beginning "..."',
    "weights": "{ heel_r = 2.0 }",
    "number_or_weights": "a number such as 1.5, or { ... = 1.5 }",
    "truth": "true or false, without quotes",
    "name_lists": '{ SOL = "soleus_r" }',
    "tables": "{ shank_r = { mass_kg = 1.5 } }",
    "triple": "[0.01, 0.01, 0.002]",
}


class Document:
    """The text of a trial file beside its content, so that every error can name a line.

    `keys` is the file beside this one that describes its tables and keys.
    """

    def __init__(self, path: Path, keys: str = "trial_keys.toml") -> None:
        self.path = path
        self.tables = described_keys(keys)
        self.lines = read_lines(path)
        try:
            self.content: dict[str, Any] = tomllib.loads("\n".join(self.lines))
        except tomllib.TOMLDecodeError as reason:
            raise self._not_toml(str(reason)) from None
        except (ValueError, RecursionError):
            raise self._not_sane() from None

    def _not_sane(self) -> InputError:
        """Return the refusal of a number of thousands of digits, or of as many brackets in brackets."""
        worst = max(range(len(self.lines)), key=lambda k: len(self.lines[k]))
        problem = "a number has thousands of digits, or brackets are nested too deep"
        return error_at(self.path, worst + 1, problem, "the description of a trial", "correct the line")

    def _not_toml(self, reason: str) -> InputError:
        place = re.search(r"\s*\(at line (\d+), column \d+\)", reason)
        text = self.lines[int(place[1]) - 1] if place else ""
        remedy = f"correct {text.strip()!r}" if text.strip() else "close every quote and bracket"
        return error_at(
            self.path,
            int(place[1]) if place else None,
            "the file is not valid TOML: " + (reason.replace(place[0], "") if place else reason),
            "key = value, each on a line of its own, below the [table] it belongs to; each of them once",
            decimal_point(text.partition("=")[2].partition("#")[0].strip()) or remedy,
        )

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
        path = self.path.parent / name
        try:
            if is_file(path):
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


def trial_document(path: Path) -> Document:
    """Return the text and content of a trial file.

    Raises:
        InputError: it cannot be read, is no TOML, or is a recording: the message names the command that drafts one.
    """
    if path.suffix.casefold() in RECORDED and path.suffix.casefold() != ".toml" and is_file(path):
        folder = path.parent
        problem, expected = (
            "this is a recording",
            "a trial file (.toml), which names the recordings and the subject",
        )
        draft = f"musclesolve init {shlex.quote(str(folder))}"
        remedy = (
            f"draft one first: {draft}; it writes {shlex.quote(str(folder / 'trial.toml'))} for run and check"
        )
        raise error_at(path, None, problem, expected, remedy)
    return Document(path)


def described_keys(file: str) -> dict[str, Any]:
    """Return the description of every table and key, from a file of this package."""
    return bundled_toml(__package__, file)


def trial_keys() -> dict[str, Any]:
    """Return the description of every table and key, as ``trial_keys.toml`` has it."""
    return described_keys("trial_keys.toml")


def validated(document: Document) -> dict[str, Any]:
    """Return the content of a trial file with defaults filled in, or raise its first error.

    Tables with free keys (mapping, clusters, carried) come as they are; "force" is a list of tables.
    """
    content, errors = examined(document)
    if errors:
        raise errors[0]
    return content


def examined(document: Document) -> tuple[dict[str, Any], list[InputError]]:
    """Return what ``validated`` returns, as far as it goes, and everything that is wrong with it.

    A table or key that is at fault is left out: it has its default, or None where there is none.
    """
    return _Examination(document).content()


class _Examination:
    """The examination of one trial file, with the errors found so far."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.errors: list[InputError] = []
        self.tables = {name: self._for_forces(rules) for name, rules in document.tables.items()}

    def content(self) -> tuple[dict[str, Any], list[InputError]]:
        """Return the content with defaults, and everything that is wrong with it."""
        for name in self.document.content:
            if name not in self.tables:
                problem = "there is no such table"
                self.errors.append(
                    self.document.unknown(problem, name, self.tables, name, code="unknown_key")
                )
        return {name: self._table(name, rules) for name, rules in self.tables.items()}, self.errors

    def _refuse(
        self, problem: str, place: tuple[Any, ...], expected: str, remedy: str, code: str = "bad_value"
    ) -> None:
        """Note an error of a place: table, key and index, as in ``Document.error``."""
        table, key, index = (*place, None, 0)[:3]
        self.errors.append(self.document.error(problem, table, key, index, expected, remedy, code=code))

    def _for_forces(self, rules: Fields) -> dict[str, Any]:
        """Return the rules of a table for the trial's own kind of force file.

        A C3D file has plates by number; a file of text has columns. ``needed_with`` and ``only_with`` name the kind
        that a table or key is required or of use with.
        """
        files = self.document.content.get("files")
        given = files.get("forces", files.get("markers")) if isinstance(files, dict) else None
        kind = "plates" if isinstance(given, str) and given.casefold().endswith(".c3d") else "columns"

        def own(rule: Fields) -> dict[str, Any]:
            needed = rule.get("required", False) or rule.get("needed_with") == kind
            return {**rule, "required": needed, "barred": rule.get("only_with", kind) != kind}

        keys = {key: own(rule) for key, rule in rules.get("keys", {}).items()}
        return {**own(rules), "keys": keys} if keys else own(rules)

    def _table(self, name: str, rules: Fields) -> Any:
        given, header = self.document.content.get(name), self.document.header(name)
        if given in (None, []) and rules.get("required"):
            problem = f"the table {header} is missing"
            remedy = f"add {header} with these keys, each on its own line"
            error = error_at(self.document.path, None, problem, _needed(rules), remedy, code="missing_key")
            self.errors.append(error)
        if rules.get("list"):
            if given is not None and not (
                isinstance(given, list) and all(isinstance(part, dict) for part in given)
            ):
                expected = (
                    f"one {header}, with two brackets on either side, per {rules.get('one_per', 'entry')}"
                )
                self._refuse("this is not a list of tables", (name,), expected, f"write the heading {header}")
                given = None
            return [self._fields(name, part, rules["keys"], k) for k, part in enumerate(given or [])]
        if given is not None and not isinstance(given, dict):
            expected = f"[{name}] on a line of its own, with its keys below"
            self._refuse("this is not a table", (name,), expected, f"write the heading [{name}]")
            given = None
        if rules.get("free"):
            return dict(given or {})
        # An absent table lacks nothing, or its one error names the keys that it lacks.
        return self._fields(name, given or {}, rules["keys"], 0, lacking=given is not None)

    def _fields(
        self, table: str, given: Fields, keys: Fields, index: int, lacking: bool = True
    ) -> dict[str, Any]:
        """Return the values of a table; `lacking` says whether keys that are missing are errors."""
        for key in given:
            if key not in keys:
                problem = "there is no such key"
                self.errors.append(
                    self.document.unknown(problem, key, keys, table, key, index, code="unknown_key")
                )
            elif keys[key]["barred"]:
                self._bar(table, key, index, keys)
        values: dict[str, Any] = {}
        for key, rule in keys.items():
            wrong = value_problem(given[key], rule) if key in given else None
            if wrong:
                self._refuse(wrong[0], (table, key, index), wrong[1], _remedy(key, given[key], rule))
            elif key not in given and rule.get("required") and lacking:
                expected, remedy = f"{key}: {rule['about']}", f"add a line {_example(key, rule)}"
                self._refuse(f"'{key}' is missing", (table, None, index), expected, remedy, "missing_key")
            values[key] = given[key] if key in given and not wrong else rule.get("default")
        return values

    def _bar(self, table: str, key: str, index: int, keys: Fields) -> None:
        """Note the error of a key that is of use with the other kind of force file only."""
        own = [name for name, rule in keys.items() if not rule["barred"] and "only_with" in rule]
        source, remedy = "columns", "name the columns of force and point instead"
        if keys[key]["only_with"] == "columns":
            source = "a C3D file, which has no columns"
            remedy = f"write {_example(own[0], keys[own[0]])} instead, the number of the plate in the file"
        problem = f"'{key}' is of no use with forces that come from {source}"
        self._refuse(problem, (table, key, index), _list(own), remedy, "conflict")


def value_problem(value: Any, rule: Fields) -> tuple[str, str] | None:
    """Return what is wrong with a value and what was expected, or None."""
    if isinstance(value, str) and value in rule.get("words", ()):
        return None
    instead = f" or one of {_list(rule['words'])}" if "words" in rule else ""
    expected = f"{_KINDS[rule['type']]}{instead}: {rule['about']}"
    kind = rule["type"]
    if kind == "number_or_weights":
        kind = "weights" if isinstance(value, dict) else "number"
    if not is_kind(value, kind):
        return f"the value {_wrong_part(value, kind)}", expected
    if "choices" in rule and value not in rule["choices"]:
        return f"the value is {as_text(value)}", f"one of {_list(rule['choices'])}"
    if kind in ("number", "whole") and not _within(value, rule):
        return f"the value is {as_text(value)}", _range(rule) + f": {rule['about']}"
    if kind == "weights":
        for name, part in value.items():
            if not _within(part, rule):
                return (
                    f"the value of '{name}' is {as_text(part)}",
                    f"{_KINDS[kind]}, {_range(rule)}: {rule['about']}",
                )
    return None


def _wrong_part(value: Any, kind: str) -> str:
    """Say what a value of another kind is; of a table only its first entry that is wrong."""
    part_kinds = {"name_lists": ("text", "name_list"), "weights": ("number",)}.get(kind, ())
    if part_kinds and isinstance(value, dict):
        for name, part in value.items():
            if not any(is_kind(part, each) for each in part_kinds):
                return f"of '{name}' is {as_text(part)}"
    return f"is {as_text(value)}"


def _within(value: float, rule: Fields) -> bool:
    """Return whether a number is finite and in the range of its rule."""
    low, high = rule.get("minimum", -math.inf), rule.get("maximum", math.inf)
    return bool(low <= value <= high and value > rule.get("above", -math.inf) and math.isfinite(value))


def _remedy(key: str, value: Any, rule: Fields) -> str:
    if "choices" not in rule and is_kind(value, rule["type"]):
        return "check the value and its unit"
    known = rule.get("choices", rule.get("words"))
    near = suggestion(value, known) if isinstance(value, str) and known else None
    return near or f"write {_example(key, rule)}"


def _example(key: str, rule: Fields) -> str:
    """Return a line of a trial file in the right form."""
    if "choices" in rule:
        return f"{key} = " + " or ".join(f'"{choice}"' for choice in rule["choices"])
    form = rule.get("example", _FORMS[rule["type"]])
    return f"{key} = {form}" + "".join(f' or "{word}"' for word in rule.get("words", ()))


def is_kind(value: Any, kind: str) -> bool:
    """Return whether a value is of a kind of ``trial_keys.toml``."""
    if kind == "text":
        return isinstance(value, str) and bool(value.strip())
    if kind in ("number", "whole"):
        # A TOML integer has any number of digits; one that no float can hold is no measure of anything.
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18
        return whole or (kind == "number" and isinstance(value, float))
    if kind == "truth":
        return isinstance(value, bool)
    if kind == "name_lists":
        return isinstance(value, dict) and all(
            is_kind(part, "text") or is_kind(part, "name_list") for part in value.values()
        )
    if kind == "tables":
        return isinstance(value, dict) and all(isinstance(part, dict) for part in value.values())
    if kind == "triple":
        return isinstance(value, list) and len(value) == 3 and all(is_kind(part, "number") for part in value)
    if kind == "weights":
        return isinstance(value, dict) and all(is_kind(part, "number") for part in value.values())
    if kind == "number_or_weights":
        return is_kind(value, "number") or is_kind(value, "weights")
    names = isinstance(value, list) and bool(value) and all(isinstance(part, str) and part for part in value)
    if kind == "columns":
        return (isinstance(value, str) and bool(value)) or (names and len(value) == 3)
    return names


def _range(rule: Fields) -> str:
    parts = []
    if "minimum" in rule:
        parts.append(f"at least {rule['minimum']:g}")
    if "above" in rule:
        parts.append(f"above {rule['above']:g}")
    if "maximum" in rule:
        parts.append(f"at most {rule['maximum']:g}")
    number = "a whole number" if rule["type"] == "whole" else "a finite number"
    return f"{number} " + " and ".join(parts) if parts else number


def _needed(rules: Fields) -> str | None:
    if rules.get("free"):
        return "one line for every landmark"
    keys = [key for key, rule in rules.get("keys", {}).items() if rule.get("required")]
    return f"it needs {_list(keys)}" if keys else None


def _list(names: Iterable[str]) -> str:
    return ", ".join(str(name) for name in names)
