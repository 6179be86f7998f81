"""TOML files: bundled ones by package and name, a user's own by path."""

import tomllib
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from muscle_db.parsed_toml import kept_toml, toml_table
from muscle_db.regular_file import SETTINGS, read_regular
from musclesolve.errors import input_error


@cache
def bundled_toml(package: str, *place: str) -> dict[str, Any]:
    """Content of the file at a place below a package, read once; callers must not change it."""
    file = resources.files(package).joinpath(*place)
    return kept_toml(Path(str(file)), file.read_text(encoding="utf-8"))


def locate(name: str | Path, package: str, folder: str) -> Path:
    """Path of a bundled file by its name without suffix; a name that ends in .toml is a path already."""
    path = Path(name)
    return path if path.suffix == ".toml" else Path(str(resources.files(package) / folder / f"{name}.toml"))


def read_text(path: Path, what: str) -> str:
    """Text of a TOML file that describes `what`."""
    try:
        text = read_regular(path, SETTINGS).decode("utf-8")
        toml_of(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise input_error("unreadable_file", file=path, problem=f"cannot read the {what}: {fault}") from fault
    return text


@lru_cache(maxsize=16)
def toml_of(text: str) -> dict:
    """The table of a TOML text, parsed once; callers must not change the dict."""
    return toml_table(text)
