"""Benchmarks and tools import what there is: most of them are never run by a test."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported(file: Path) -> set[tuple[str, str]]:
    """Modules of the package, and the names that a file imports from them, also within functions."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    found = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {
        (node.module, each.name)
        for node in found
        if node.module and node.module.partition(".")[0] in ("musclesolve", "muscle_db")
        for each in node.names
    }


def exists(module: str, name: str) -> bool:
    try:
        return hasattr(import_module(module), name) or bool(import_module(f"{module}.{name}"))
    except ModuleNotFoundError as error:  # an optional library is not installed
        return not (error.name or "").startswith("musclesolve")


def test_every_name_that_they_import_exists():
    files = [file for folder in ("benchmarks", "tools") for file in sorted((ROOT / folder).rglob("*.py"))]
    names = {file: imported(file) for file in files}
    assert sum(map(len, names.values())) > 300
    assert [
        f"{file.name}: {pair}" for file, pairs in names.items() for pair in sorted(pairs) if not exists(*pair)
    ] == []
