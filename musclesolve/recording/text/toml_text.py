"""Values and tables as TOML text."""

import json
import re
from collections.abc import Mapping
from typing import Any

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
