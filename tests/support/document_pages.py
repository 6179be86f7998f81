"""The pages of the documentation, and what is in them: code blocks, links, headings, as GitHub understands them."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
EVERY = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
FENCE = re.compile(r"^(```+)([^\n]*)\n(.*?)^\1[ ]*$", flags=re.DOTALL | re.MULTILINE)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    """The contents of the code blocks of a language."""
    return [body for _, info, body in FENCE.findall(text_of(page)) if info.strip() == language]


def prose(page: Path) -> str:
    """The text without code blocks and comments."""
    return re.sub(r"<!--.*?-->", "", FENCE.sub("", text_of(page)), flags=re.DOTALL)


def links(page: Path) -> list[tuple[str, str]]:
    """Texts and targets of the links that lead to another place of the repository."""
    found = re.findall(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)", prose(page))
    return [(text, target) for text, target in found if "://" not in target]


def anchors(page: Path) -> set[str]:
    """The anchors of the headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*)$", prose(page), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-"))
    return found


def site_module(name: str) -> ModuleType:
    """A module of tools/site, which is no package."""
    file = ROOT / "tools" / "site" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def commands() -> list[tuple[str, str]]:
    """Pages and lines of their code blocks that call the command line, without comments and pipes."""
    found = []
    for page in EVERY:
        for _, info, body in FENCE.findall(text_of(page)):
            lines = body.splitlines() if info.strip() in ("", "bash") else []
            found += [
                (page.name, re.split("[#|]", line)[0]) for line in lines if line.startswith("musclesolve ")
            ]
    return found
