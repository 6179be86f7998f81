"""JSON Schema of the files: editors complete their keys and check their values (taplo, Even Better TOML).

The first line of a file names its schema, ``#:schema .musclesolve/trial.schema.json``; `init` writes both.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from musclesolve.settings.schema import KINDS, FileTable, Setting, Settings, tables_of

FOLDER = ".musclesolve"
"""Folder beside a drafted file with its schema."""


def schema_line(kind: str) -> str:
    """Return the first line of a file of a kind, such as "trial", which names its schema."""
    return f"#:schema {FOLDER}/{schema_name(kind)}"


def schema_name(kind: str) -> str:
    """Return the name of the file with the schema of a kind of file."""
    return f"{kind}.schema.json"


def schema_text(file: type[Settings], more: Mapping[str, Any] | None = None) -> str:
    """Return the JSON Schema (draft 7) of a kind of file.

    Args:
        file: class of the tables of the file. more: schemas of keys above all tables, and of tables with free keys.
    """
    tables = tables_of(file)
    described = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": (file.__doc__ or file.__name__).strip().split("\n")[0],
        "type": "object",
        "properties": {name: _of_table(table) for name, table in tables.items()} | dict(more or {}),
        "required": [name for name, table in tables.items() if table.required],
        "additionalProperties": False,
    }
    return json.dumps(described, indent=1) + "\n"


def of_settings(settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the schema of a table with some settings."""
    return {
        "type": "object",
        "properties": {key: of_setting(setting) for key, setting in settings.items()},
        "required": [key for key, setting in settings.items() if setting.required],
        "additionalProperties": False,
    }


def _of_table(table: FileTable) -> dict[str, Any]:
    """Return the schema of a table, or of a list of tables."""
    described: dict[str, Any] = {"type": "object"} if table.holds is None else of_settings(table.settings)
    return {"type": "array", "items": described} if table.one_per else described


def of_setting(setting: Setting) -> dict[str, Any]:
    """Return the schema of the values of a setting."""
    described = _in_range(dict(KINDS[setting.kind].json), setting)
    if setting.choices:
        texts = {"enum": list(setting.choices)}
        described = {**described, "items": texts} if setting.kind == "name_list" else described | texts
    if setting.words:
        described = {"anyOf": [described, {"enum": list(setting.words)}]}
    described["description"] = setting.about
    if setting.default is not None:
        described["default"] = setting.default
    return described


def _in_range(described: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """Return the schema of a value with the range of the setting at every number in it."""
    if described.get("type") in ("number", "integer"):
        limits = {"minimum": setting.minimum, "exclusiveMinimum": setting.above, "maximum": setting.maximum}
        return described | {word: limit for word, limit in limits.items() if math.isfinite(limit)}
    described = {
        key: _in_range(value, setting) if isinstance(value, dict) else value
        for key, value in described.items()
    }
    if "anyOf" in described:
        described["anyOf"] = [_in_range(value, setting) for value in described["anyOf"]]
    return described
