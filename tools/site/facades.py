"""The pages of the API reference: the names that each facade lists, by the part they come from.

A facade is a package whose names stand in its `__init__.pyi`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from places import ROOT


@dataclass(frozen=True)
class Facade:
    """A package whose names users import."""

    package: str

    @property
    def page(self) -> str:
        """Its page."""
        return f"api/{self.package.removeprefix('musclesolve.')}.md"

    @property
    def stub(self) -> Path:
        """Its list of names."""
        return ROOT / self.package.replace(".", "/") / "__init__.pyi"


FACADES = tuple(
    Facade(f"musclesolve{part}")
    for part in (
        *("", ".tables", ".dynamics", ".muscles", ".models", ".models.opensim"),
        *(
            ".sharing",
            ".sharing.cost",
            ".symbolic",
            ".trajectory",
            *(".laboratory", ".laboratory.plotting"),
            *(".studies", ".studies.synthetic"),
            *(".apps", ".apps.live"),
        ),
    )
)
PARTS = {"errors": "errors and version", "version": "errors and version"}


def facade_page(facade: Facade) -> str:
    """The text of a page: a heading for each part of the package, a directive of mkdocstrings for each name.

    A name that an earlier facade lends too is described there.
    """
    earlier = {name for other in FACADES[: FACADES.index(facade)] for name in public_names(other)}
    names = sorted({*public_names(facade)} - earlier, key=lambda pair: (*order(facade, pair[0]), *pair))
    lines = [f"# {facade.package}", "", f"`from {facade.package} import ...`", ""]
    if also := sorted(earlier.intersection(public_names(facade)), key=lambda pair: pair[1].lower()):
        links = ", ".join(f"[`{name}`][{module}.{name}]" for module, name in also)
        lines += [f"Also here, described where they stand first: {links}.", ""]
    for part, members in groupby(names, key=lambda pair: part_of(facade, pair[0])):
        lines += [f"## {part}", ""]
        for module, name in members:
            lines += [f"::: {module}.{name}", ""]
    return "\n".join(lines)


def public_names(facade: Facade) -> Iterator[tuple[str, str]]:
    """Modules and the names that they lend to the facade."""
    for node in ast.parse(facade.stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            module = f"{facade.package}.{node.module}" if node.level else node.module
            yield from ((module, each.name) for each in node.names if each.name != "__version__")


def part_of(facade: Facade, module: str) -> str:
    """The folder, or the module, directly below the facade."""
    part = module.removeprefix(facade.package + ".").split(".")[0]
    return PARTS.get(part, part).replace("_", " ")


def order(facade: Facade, module: str) -> tuple[bool, str]:
    """Errors last."""
    part = part_of(facade, module)
    return (part in PARTS.values(), part)
