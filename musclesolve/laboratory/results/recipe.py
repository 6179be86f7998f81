"""The recipe of a result: its settings and the files it was made of, as an attribute of the file."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

ATTRIBUTE = "recipe"
"""Name of the attribute of result.nc: JSON with version, options, hash of every input file, names of all outputs."""


def settings_hash(content: Mapping[str, Any]) -> str:
    """Hash of the settings of a trial file on which its result depends: comments and [questions] do not matter."""
    settings = {table: values for table, values in content.items() if table != "questions"}
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def _read(text: str) -> dict[str, Any]:
    """The parts of the JSON of a recipe; empty without any."""
    try:
        made = json.loads(text)
    except ValueError:
        return {}
    whole = isinstance(made, dict) and {"files", "written", "options", "settings", "page"} <= made.keys()
    return made if whole else {}


def has_settings(text: str, content: Mapping[str, Any]) -> bool:
    """Return whether the result of a recipe belongs to the settings of a trial file as they are."""
    return bool(_read(text).get("settings") == settings_hash(content))


def options_in(text: str) -> dict[str, Any]:
    """The options in the JSON of a recipe, except objects; empty without any."""
    options = _read(text).get("options", {})
    return {key: value for key, value in options.items() if " sha256:" not in str(value)}
