"""What a trial file may say: unknown keys, missing keys and wrong values are refused with the line and the way out."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from musclesolve.errors import InputError
from musclesolve.recording.textfile import read_lines, suggestion

Fields = Mapping[str, Any]

_KINDS = {
    "text": "a text in quotes",
    "number": "a number",
    "name_list": "a list of names",
    "columns": "a list of three column names, or their common beginning",
}


class Document:
    """The text of a trial file beside its content, so that every complaint can name a line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = read_lines(path)
        try:
            self.content: dict[str, Any] = tomllib.loads("\n".join(self.lines))
        except tomllib.TOMLDecodeError as reason:
            raise InputError(f"the file is not valid TOML: {reason}", file=path) from None

    def error(
        self, problem: str, table: str, key: str | None = None, index: int = 0, **more: str | None
    ) -> InputError:
        """Return an InputError that points at a key of a table."""
        line = self._line(table, key, index)
        place = f"[{table}]" + (f" {key}" if key else "")
        return InputError(problem, file=self.path, where=f"line {line}, {place}" if line else place, **more)

    def _line(self, table: str, key: str | None, index: int) -> int | None:
        header = re.compile(rf"\s*\[\[?\s*{re.escape(table)}\s*\]\]?")
        starts = [k for k, line in enumerate(self.lines) if header.match(line)]
        if index >= len(starts):
            return None
        start = starts[index]
        if key is None:
            return start + 1
        pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
        for k in range(start + 1, len(self.lines)):
            if self.lines[k].lstrip().startswith("["):
                break
            if pattern.match(self.lines[k]):
                return k + 1
        return start + 1


@cache
def trial_keys() -> dict[str, Any]:
    """Return the description of every table and key, as ``trial_keys.toml`` has it."""
    text = resources.files(__package__).joinpath("trial_keys.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def validated(document: Document) -> dict[str, Any]:
    """Return the content of a trial file with defaults filled in.

    Tables with free keys (mapping, clusters, carried) come as they are; "force" is a list of tables.

    Raises:
        InputError: an unknown or missing table or key, a value of the wrong type or outside its range.
    """
    tables = trial_keys()
    for name in document.content:
        if name not in tables:
            raise document.error(
                "there is no such table",
                name,
                remedy=suggestion(name, tables) or f"the tables are {_list(tables)}",
            )
    return {name: _table(document, name, rules) for name, rules in tables.items()}


def _table(document: Document, name: str, rules: Fields) -> Any:
    given = document.content.get(name)
    if given is None:
        if rules.get("required"):
            raise InputError(f"the table [{name}] is missing", file=document.path, expected=_needed(rules))
        given = {}
    if rules.get("list"):
        if not isinstance(given, list) or not all(isinstance(part, dict) for part in given):
            raise document.error("this is not a list of tables", name, expected=f"one [[{name}]] per plate")
        return [_fields(document, name, part, rules["keys"], k) for k, part in enumerate(given)]
    if not isinstance(given, dict):
        raise document.error("this is not a table", name, expected=f"[{name}] on a line of its own")
    return dict(given) if rules.get("free") else _fields(document, name, given, rules["keys"], 0)


def _fields(document: Document, table: str, given: Fields, keys: Fields, index: int) -> dict[str, Any]:
    for key in given:
        if key not in keys:
            remedy = suggestion(key, keys) or f"the keys of [{table}] are {_list(keys)}"
            raise document.error("there is no such key", table, key, index, remedy=remedy)
    values: dict[str, Any] = {}
    for key, rule in keys.items():
        if key in given:
            if problem := _problem(given[key], rule):
                raise document.error(problem[0], table, key, index, expected=problem[1])
            values[key] = given[key]
        elif rule.get("required"):
            raise document.error(
                f"'{key}' is missing", table, None, index, expected=f"{key}: {rule['about']}"
            )
        else:
            values[key] = rule.get("default")
    return values


def _problem(value: Any, rule: Fields) -> tuple[str, str] | None:
    """Return what is wrong with a value and what was expected, or None."""
    kind = rule["type"]
    expected = f"{_KINDS[kind]}: {rule['about']}"
    if not _is_kind(value, kind):
        return f"the value is {value!r}", expected
    if "choices" in rule and value not in rule["choices"]:
        return f"the value is {value!r}", f"one of {_list(rule['choices'])}"
    if kind == "number":
        low, high = rule.get("minimum", -math.inf), rule.get("maximum", math.inf)
        above = rule.get("above", -math.inf)
        if not (low <= value <= high and value > above and math.isfinite(value)):
            return f"the value is {value!r}", _range(rule) + f": {rule['about']}"
    return None


def _is_kind(value: Any, kind: str) -> bool:
    if kind == "text":
        return isinstance(value, str) and bool(value.strip())
    if kind == "number":
        # A TOML integer has any number of digits; one that no float can hold is no measure of anything.
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18
        return whole or isinstance(value, float)
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
    return "a finite number " + " and ".join(parts) if parts else "a finite number"


def _needed(rules: Fields) -> str | None:
    keys = [key for key, rule in rules.get("keys", {}).items() if rule.get("required")]
    return f"it needs {_list(keys)}" if keys else None


def _list(names: Iterable[str]) -> str:
    return ", ".join(str(name) for name in names)
