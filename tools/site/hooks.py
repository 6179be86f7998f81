"""Hooks of mkdocs besides turning docs/ into pages: pages of other files, links out of docs/, equations.

- CONTRIBUTING.md and CHANGELOG.md become pages.
- Every file of the repository that a page links to becomes a page with line numbers. A link whose text is
  `module:name` leads to the line that defines the name.
- Numbers that decide what is reported become a page (limits.py), and so do the quantities of results (quantities.py).
- The names of each facade become a page of the API reference (facades.py).
- Equations in blocks ```math, which GitHub draws, become MathML, which browsers draw without a script (equations.py).
- Figures of the present program are made by the commands of the gallery, and shown where pages ask for them (made.py).
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from equations import with_mathml
from facades import FACADES, facade_page
from limits import PAGE as LIMITS
from limits import limits_page
from made import FOLDER, made_files, shown_files, with_made
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from places import ROOT, defined_at, link_of
from quantities import PAGE as QUANTITIES
from quantities import quantities_page

BESIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
STUBS = {facade.stub.relative_to(ROOT).as_posix(): facade.page for facade in FACADES}
LANGUAGES = {".py": "python", ".toml": "toml", ".csv": "text"}
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1\s*$", flags=re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that have no file in docs/."""
    for file, page in BESIDE.items():
        text = (ROOT / file).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, LIMITS, content=limits_page()))
    files.append(File.generated(config, QUANTITIES, content=quantities_page()))
    for facade in FACADES:
        files.append(File.generated(config, facade.page, content=facade_page(facade)))
    pages = [page.read_text(encoding="utf-8") for page in Path(config.docs_dir).glob("*.md")]
    for path, content in made_files(frozenset().union(*map(shown_files, pages))).items():
        files.append(File.generated(config, f"{FOLDER}/{path}", content=content))
    for path in sorted(linked(Path(config.docs_dir))):
        files.append(File.generated(config, f"source/{path}.md", content=source_page(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Links out of docs/ to their pages, equations as MathML, and what the gallery makes."""
    if page.file.src_uri.startswith(("source/", "api/")):
        return markdown
    markdown = with_made(markdown)
    done, end = [], 0
    for block in CODE.finditer(markdown):
        done += [LINK.sub(site_link, markdown[end : block.start()]), with_mathml(block.group())]
        end = block.end()
    return "".join([*done, LINK.sub(site_link, markdown[end:])])


def on_post_page(output: str, **_: object) -> str:
    """The dialog of the search has a name for screen readers."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">', 1)


def linked(docs: Path) -> set[str]:
    """Files of the repository, relative to its root, that the pages link to."""
    found = set()
    for page in docs.glob("*.md"):
        for _text, target in LINK.findall(page.read_text(encoding="utf-8")):
            if target.startswith("../") and Path(target).suffix in LANGUAGES:
                found.add(posixpath.normpath(target.removeprefix("../")))
    return found


def site_link(match: re.Match[str]) -> str:
    """The link as the site needs it."""
    text, target = match.groups()
    path, _, anchor = target.partition("#")
    if not path.startswith("../"):
        return match.group(0)
    path = path.removeprefix("../")
    if path in STUBS:
        return f"[{text}]({STUBS[path]})"
    if path in BESIDE:
        return f"[{text}]({BESIDE[path]}{'#' + anchor if anchor else ''})"
    place = link_of(text)
    line = f"#__codelineno-0-{defined_at(*place)}" if place else ""
    shown = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
    return f'<a href="source/{path}.html{line}">{shown}</a>'


def source_page(path: str) -> str:
    """A file as a page that the search leaves out."""
    front = "---\nsearch:\n  exclude: true\nhide: [toc, navigation]\n---\n"
    code = (ROOT / path).read_text(encoding="utf-8").rstrip("\n")
    fence = "~" * 8
    return f'{front}# {path}\n\n{fence} {{ .{LANGUAGES[Path(path).suffix]} linenums="1" }}\n{code}\n{fence}\n'
