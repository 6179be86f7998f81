"""Places in the code that the pages name, as `room.module:Name.method`."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"\A`(?P<module>[a-z_0-9.]+):(?P<name>[A-Za-z_0-9.]+)`\Z")


def link_of(text: str) -> tuple[Path, str] | None:
    """The file and the name that a link text of the form `module:name` stands for; None for another text."""
    found = PLACE.match(text)
    if found is None:
        return None
    path = found["module"].replace(".", "/")
    inside = ROOT / "musclesolve" / f"{path}.py"
    return (inside if inside.is_file() else ROOT / f"{path}.py"), found["name"]


def defined_at(file: Path, name: str) -> int:
    """The line on which a module defines a function, a class, a method or a constant.

    Raises:
        LookupError: it does not.
    """
    lines = definitions(file)
    if name not in lines:
        raise LookupError(f"{file.relative_to(ROOT)} defines no {name}")
    return lines[name]


@cache
def definitions(file: Path) -> dict[str, int]:
    """The lines of all names that a module defines, methods as Class.method."""
    found: dict[str, int] = {}
    _collect(ast.parse(file.read_text(encoding="utf-8")).body, "", found)
    return found


def _collect(body: list[ast.stmt], before: str, found: dict[str, int]) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[before + node.name] = node.lineno
            if isinstance(node, ast.ClassDef):
                _collect(node.body, f"{before}{node.name}.", found)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {before + each.id: node.lineno for each in targets if isinstance(each, ast.Name)}
