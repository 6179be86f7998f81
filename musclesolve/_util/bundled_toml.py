"""TOML files that come with the package."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def bundled_toml(package: str, *place: str) -> dict[str, Any]:
    """Content of the file at a place below a package, read once; callers must not change it."""
    return tomllib.loads(resources.files(package).joinpath(*place).read_text(encoding="utf-8"))
