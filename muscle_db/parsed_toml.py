"""TOML of users, parsed after a look at the length of its keys."""

from __future__ import annotations

import re
import tomllib
from typing import Any

DEEPEST_KEY = 50
"""Most dots in a key: tomllib takes time and memory with the square of their number."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*')


def toml_table(text: str) -> dict[str, Any]:
    """Return the content of a TOML text.

    Raises:
        tomllib.TOMLDecodeError: it is no TOML, or a key has more than `DEEPEST_KEY` dots.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > DEEPEST_KEY:
            words = re.split(r"[^\w.\s-]", _QUOTED.sub('"', line))
            if any(word.count(".") > DEEPEST_KEY for word in words):
                raise tomllib.TOMLDecodeError(f"A key has many dots (at line {number}, column 1)")
    return tomllib.loads(text)
