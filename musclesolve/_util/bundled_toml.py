"""TOML files that come with the package."""

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from muscle_db.kept import kept_toml


@cache
def bundled_toml(package: str, *place: str) -> dict[str, Any]:
    """Content of the file at a place below a package, read once; callers must not change it."""
    file = resources.files(package).joinpath(*place)
    return kept_toml(Path(str(file)), file.read_text(encoding="utf-8"))
