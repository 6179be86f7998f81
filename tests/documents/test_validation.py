"""docs/validation.md has the sections that its command writes, and a section is written in its place alone."""

from __future__ import annotations

import re

import pytest
from document_pages import DOCS, text_of
from matplotlib.figure import Figure

from benchmarks.validation import constitution
from benchmarks.validation.__main__ import SECTIONS
from benchmarks.validation.page import data_folder, picture, table, write_sections, written
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory.forces import mechanics

PAGE = text_of(DOCS / "validation.md")


def test_every_section_is_computed_and_filled():
    found = re.findall(r"<!-- computed: (\w+) -->\n(.*?)<!-- end: (\w+) -->", PAGE, flags=re.DOTALL)
    assert {first for first, _, _ in found} == set(SECTIONS)
    for first, text, last in found:
        assert first == last and text.count("|") > 10, first


def test_a_section_is_written_in_its_place():
    page = "a\n<!-- computed: laws -->\nold\n<!-- end: laws -->\nb\n"
    new = written(page, "laws", "new")
    assert new == "a\n<!-- computed: laws -->\n\nnew\n\n<!-- end: laws -->\nb\n"
    assert written(new, "laws", "new") == new
    with pytest.raises(LookupError):
        written(page, "solvers", "new")


def test_a_page_is_rewritten_only_where_that_is_asked(tmp_path, capsys):
    page, folder = tmp_path / "page.md", tmp_path / "new" / "folder"
    before = "a\n<!-- computed: laws -->\nold\n<!-- end: laws -->\nb\n"
    page.write_text(before, encoding="utf-8")

    def section() -> str:
        return f"some text\n\n{picture(Figure(figsize=(1, 1)), 'a_figure', 'about')}"

    write_sections(page, {"laws": section}, "about", ["laws"])
    assert "some text" in capsys.readouterr().out and page.read_text(encoding="utf-8") == before
    write_sections(page, {"laws": section}, "about", ["-o", str(folder)])
    assert page.read_text(encoding="utf-8") == before and not (tmp_path / "a_figure.png").exists()
    assert "some text" in (folder / "page.md").read_text(encoding="utf-8")
    assert (folder / "a_figure.png").read_bytes().startswith(b"\x89PNG")
    write_sections(page, {"laws": section}, "about", ["--write"])
    assert page.read_text(encoding="utf-8") == (folder / "page.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        write_sections(page, {"laws": section}, "about", ["lows"])


def test_without_recordings_a_section_is_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("MUSCLESOLVE_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match="set MUSCLESOLVE_DATA"):
        data_folder()


def test_a_table_is_one_of_markdown():
    assert table(("a", "b"), [(1, 2)]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_an_error_of_a_knee_reaches_the_other_leg_with_the_nearest_pose_alone():
    """A knee marker moves the other leg with the nearest pose, and not with the pose driven by joint angles."""
    body = mechanics(read_trial(reference_stride()))
    near = constitution.of_legs(body, constitution.response_of_nearest(body, "knee_r"))
    driven = constitution.of_legs(body, constitution.response_of_driven(body, "knee_r"))
    assert near[1] > 10.0 > 1e-3 > driven[1]
