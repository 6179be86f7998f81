"""The tables of a trial file for another trial file in another folder, with adapted paths."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from musclesolve.recording.markers.marker_names import marker_sets
from musclesolve.recording.text.text_file import name_from
from musclesolve.recording.trial.settings import is_own_set
from musclesolve.settings.trial import is_predicted


def with_paths(content: Mapping[str, Any], folder: Path, path: Path) -> dict[str, Any]:
    """The tables of a trial file in a folder, with paths relative to the folder of another trial file."""

    def moved(name: Any) -> Any:
        return name_from(folder / name, path) if isinstance(name, str | Path) else name

    tables = {name: dict(table) if isinstance(table, Mapping) else table for name, table in content.items()}
    if isinstance(tables.get("files"), dict):
        tables["files"] = {
            role: name if is_predicted(name) else moved(name) for role, name in tables["files"].items()
        }
    files = (
        ("subject", "body"),
        ("subject", "skeleton"),
        ("emg", "file"),
        ("fascicle", "file"),
        ("markers", "set"),
        ("muscles", "database"),
    )
    for table, key in files:
        values = tables.get(table)
        name = values.get(key) if isinstance(values, dict) else None
        if not isinstance(name, str):
            continue
        bundled = (key == "set" and name in marker_sets()) or (key == "database" and not is_own_set(name))
        if not bundled:
            tables[table][key] = moved(name)
    return tables
