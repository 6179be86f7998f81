"""Every page: links and anchors lead somewhere, the site lists it, and it reads alike on GitHub and on the site."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from document_pages import DOCS, EVERY, PAGES, ROOT, anchors, blocks, links, prose, site_module, text_of

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
every_page = pytest.mark.parametrize("page", EVERY, ids=lambda page: page.stem)
SITE = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
MADE = {"contributing.md", "changelog.md", "limits.md", "quantities.md"}
"""Pages of the site that are made from files beside docs/."""


@every_page
def test_links_and_anchors_lead_somewhere(page):
    for text, target in links(page):
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), (text, target)
        if anchor and place.suffix == ".md":
            assert anchor in anchors(place), (text, target)


@each_page
def test_a_page_begins_with_what_it_answers(page):
    title, answer = text_of(page).split("\n\n")[:2]
    assert re.fullmatch(r"# [^\n]+", title)
    assert re.match(r"[A-Z`m][^|#]{30}", answer), answer


@every_page
def test_lists_stand_after_an_empty_line(page):
    """Without it GitHub shows a list and the site a paragraph."""
    lines = prose(page).splitlines()
    for before, line in pairwise(lines):
        begins = re.match(r"(-|\d+\.) ", line)
        assert not begins or not before.strip() or re.match(r"\s*(-|\d+\.) |  ", before), line


@every_page
def test_tables_begin_with_a_header(page):
    """An empty line within a table ends it, and the rows below it are shown as text."""
    for rows in re.findall(r"(?:^\|.*\|[ ]*\n)+", prose(page) + "\n", flags=re.MULTILINE):
        first, *rest = rows.splitlines()
        assert rest and re.fullmatch(r"\|[\s:|-]+\|\s*", rest[0]), first


@every_page
def test_tables_have_as_many_cells_in_every_row(page):
    for rows in re.findall(r"(?:^\|.*\|[ ]*\n)+", prose(page), flags=re.MULTILINE):
        widths = {len(re.split(r"(?<!\\)\|", row)) for row in rows.splitlines()}
        assert len(widths) == 1, rows.splitlines()[0]


@every_page
def test_toml_is_toml(page):
    for block in blocks(page, "toml"):
        tomllib.loads(block)


@every_page
def test_benchmarks_that_a_page_names_exist(page):
    text = text_of(page)
    for module in re.findall(r"\bbenchmarks((?:\.\w+)+)", text):
        place = ROOT / "benchmarks" / Path(*module.strip(".").split("."))
        of = place.parent.with_suffix(".py")  # a name in a module
        assert place.with_suffix(".py").is_file() or place.is_dir() or of.is_file(), module
    for file in re.findall(r"\bbenchmarks/[\w/]+\.\w+", text):
        assert (ROOT / file).is_file(), file


def test_the_site_lists_every_page_once():
    listed = re.findall(r": ([\w./]+\.md)$", SITE, flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    own = {name for name in listed if not name.startswith("api/")} - MADE
    assert own == {page.name for page in PAGES}


def test_the_site_lists_every_facade():
    site_module("places")
    facades = site_module("facades").FACADES
    assert {facade.page for facade in facades} == set(re.findall(r"api/[\w.]+\.md", SITE))
    stubs = {*(ROOT / "musclesolve").rglob("__init__.pyi")} - {ROOT / "musclesolve" / "data" / "__init__.pyi"}
    assert stubs <= {facade.stub for facade in facades}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "`muscle_forces`: force of each.",
            ['<img src="made/a/b.png" alt="muscle_forces"', "`muscle_forces`: force of"],
        ),
        (
            "The force\nof [a muscle](#x) of `r`. More.",
            ['<img src="made/a/b.png" alt="The force of a muscle of r"', "The force\nof [a muscle](#x)"],
        ),
        (
            "![A stride](figures/s.png)\\\n`a`: more.",
            ['<img src="made/a/b.png" alt="A stride"', "\n\n`a`: more."],
        ),
        ("![A stride](s.gif)", ['<iframe class="made" src="made/a/b.html" title="A stride"']),
        (
            "`report`: one page.",
            ["`report`: one page.", '<iframe class="made" src="made/a/b.html" title="report"'],
        ),
    ],
    ids=[
        "a figure above its sentence",
        "a sentence with a link",
        "a figure in the place of a picture",
        "a page in the place of a picture",
        "a page below its sentence",
    ],
)
def test_what_the_site_makes_is_shown(text, shown):
    site_module("places")
    made = site_module("made")
    file = "a/b.png" if "<img" in shown[0] else "a/b.html"
    result = made.with_made(f"before\n\n<!-- made: {file} -->\n{text}\n\nafter\n")
    places = [result.index(part) for part in ("before", *shown, "after")]
    assert places == sorted(places) and not re.search(r"<!--|s\.gif|figures/|\\\\", result)


def test_nothing_is_fetched_from_elsewhere():
    """Fonts and scripts of the site are its own."""
    assert "font: false" in SITE and "polyfills: [assets/iframe-worker.js]" in SITE and "- offline" in SITE
    own = [file for file in (DOCS / "assets").iterdir() if file.suffix in (".js", ".css")]
    assert own and not any("http" in text_of(file) for file in own)


def test_every_figure_is_shown_and_small():
    shown = {target for page in PAGES for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text_of(page))}
    doors = re.findall(r"^\[\w+\]: docs/(\S+\.png)$", text_of(ROOT / "README.md"), flags=re.MULTILINE)
    figures = {file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.png")}
    assert figures == shown | set(doors)
    assert all((DOCS / name).stat().st_size < 200_000 for name in figures)


def test_every_figure_of_the_site_stands_in_its_page():
    """A reader of the repository sees the figures that the site makes (`tools/site/repository_figures.py`)."""
    site_module("places")
    site_module("made")
    pictures = site_module("repository_figures")
    for page in PAGES:
        assert pictures.with_pictures(text_of(page)) == text_of(page)
        for file in re.findall(r"<!-- made: (\S+\.png) -->", text_of(page)):
            assert (pictures.FIGURES / pictures.figure_name(file)).is_file()
