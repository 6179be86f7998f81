"""The page of the limits: numbers that decide what is reported, from the modules that define them.

A limit is a constant of a module whose value is numbers. What it means stands in the comment above it, or in the
docstring below it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from places import ROOT

PAGE = "limits.md"
ROOMS = {
    "laboratory/recording": "Records",
    "laboratory/markers": "Markers",
    "laboratory/files": "Reading recordings",
    "laboratory/trial": "Reading trials",
    "laboratory/motion": "From markers to motion",
    "laboratory/checks": "Checks",
    "laboratory/bodies": "Validity of frames",
    "laboratory/results": "Judgement of results",
}
HEAD = """# Limits

These numbers decide what is reported and what is refused. The program reads them from the modules named below.
Change a limit in its module, not by a setting. Units are in brackets. A row with several names gives their values in
the order of the sentence.
"""


def limits_page() -> str:
    """The text of the page: one table for each module."""
    text = [HEAD]
    for room, title in ROOMS.items():
        text.append(f"## {title}\n")
        for file in sorted((ROOT / "musclesolve" / room).rglob("*.py")):
            if rows := [f"| `{name}` | {value} | {meaning} |" for name, value, meaning in limits(file)]:
                path = file.relative_to(ROOT)
                text += [
                    f"`{path.as_posix()}`\n",
                    "| name | value | meaning |",
                    "| --- | --- | --- |",
                    *rows,
                    "",
                ]
    return "\n".join(text)


def limits(file: Path) -> Iterator[tuple[str, str, str]]:
    """Names, values and meanings of the limits of a module; a meaning may serve several names in one statement."""
    source = file.read_text(encoding="utf-8")
    lines, body = source.splitlines(), ast.parse(source).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.Assign) or not _is_number(node.value):
            continue
        above = takewhile(lambda line: line.startswith("#"), reversed(lines[: node.lineno - 1]))
        meaning = " ".join(line.removeprefix("#").strip() for line in reversed(list(above)))
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            meaning = str(after.value.value)
        if meaning:
            name, value = _plain(node.targets[0]), _plain(node.value)
            yield name, value, " ".join(meaning.split()).replace("|", "\\|")


def _plain(value: ast.expr) -> str:
    """The text of an expression; of a tuple without its parentheses."""
    return ", ".join(map(ast.unparse, value.elts)) if isinstance(value, ast.Tuple) else ast.unparse(value)


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is a number, or a tuple of numbers."""
    if isinstance(value, ast.Tuple):
        return all(map(_is_number, value.elts))
    if isinstance(value, ast.UnaryOp | ast.BinOp):
        return all(_is_number(part) for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)
