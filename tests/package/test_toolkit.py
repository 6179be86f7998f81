"""Tests of the toolkit know nothing of the laboratory: read from their sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import musclesolve

ROOT = Path(musclesolve.__file__).parents[1]
ABOVE = ("laboratory", "studies", "apps", "cli", "data")
"""Packages that come after the toolkit."""
VERBS = (
    "read_trial",
    "check",
    "run",
    "read_result",
    "export",
    "leg_problem",
    "compare",
    "run_many",
    "share_model",
)
"""Public names of these packages."""


@cache
def folders() -> tuple[str, ...]:
    """The folders of `make test-toolkit`; this one reads sources of the whole package."""
    (line,) = re.findall(r"^TOOLKIT := (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    return tuple(line.split())


def from_above(path: Path) -> Iterator[str]:
    """What a file names of the packages above the toolkit, in imports and as attributes of the package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "musclesolve":
            yield from (each.name for each in node.names if each.name in (*ABOVE, *VERBS))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("musclesolve."):
            yield from (part for part in str(node.module).split(".")[1:2] if part in ABOVE)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ms":
            yield from (part for part in (node.attr,) if part in (*ABOVE, *VERBS))


def test_the_folders_of_the_toolkit_are_there():
    assert folders() and all((ROOT / "tests" / folder).is_dir() for folder in folders())


def test_tests_of_the_toolkit_know_nothing_of_the_laboratory():
    files = [path for folder in folders() for path in sorted((ROOT / "tests" / folder).rglob("*.py"))]
    own = {path.relative_to(ROOT / "tests").as_posix(): [*from_above(path)] for path in files}
    assert {name: names for name, names in own.items() if names and not name.startswith("package/")} == {}
