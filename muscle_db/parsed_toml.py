"""TOML of users, parsed after a look at the length of its keys.

Values made of files of a package, kept where Python keeps its own bytecode: the next process need not make them.
"""

import marshal
import os
import re
import sys
import tomllib
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
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


def read_kept(file: Path, source: str) -> Any:
    """Return what was kept for a file when it had this text; None where there is nothing of the kind."""
    with suppress(OSError, NotImplementedError, ValueError, EOFError, TypeError):
        content, stamp = _place(file).read_bytes(), _stamp(source)
        return marshal.loads(content[len(stamp) :]) if content.startswith(stamp) else None


def keep(file: Path, source: str, value: Any) -> None:
    """Keep a value of Python's own types, or code, for a file with this text, unless the folder cannot be written."""
    if sys.dont_write_bytecode:
        return
    with suppress(OSError, NotImplementedError, ValueError):
        place, content = _place(file), _stamp(source) + marshal.dumps(value)
        beside = place.with_suffix(f".{os.getpid()}")
        place.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(place)


def kept_toml(file: Path, text: str) -> dict[str, Any]:
    """Return the table of a TOML file of a package: tomllib takes twenty times as long as reading what it made."""
    found: dict[str, Any] | None = read_kept(file, text)
    if found is None:
        found = tomllib.loads(text)
        keep(file, text, found)
    return found


def _place(file: Path) -> Path:
    return Path(cache_from_source(f"{file}.py"))


def _stamp(source: str) -> bytes:
    return sha256(source.encode("utf-8", "surrogatepass")).digest()
