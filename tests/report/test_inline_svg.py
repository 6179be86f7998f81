"""Figures inside a page."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from matplotlib.figure import Figure

from musclesolve.report.figures.inline_svg import compact, inline_svg


def drawing(name: str = 'a <b> & "c"') -> Figure:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0.0, 1.0, 2.0], [0.123456, 1.987654, 0.5], marker="o")
    axes.set_title(name)
    return figure


def test_the_svg_is_whole_and_says_what_it_shows():
    svg = inline_svg(drawing, "t1-x", 'what "it" shows')
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == 'what "it" shows' and root.get("role") == "img"
    assert "width" not in root.attrib and root.get("viewBox")
    assert 'a <b> & "c"' in [each.text for each in root.iter("text")]


def test_ids_of_two_figures_do_not_clash_and_lead_somewhere():
    one, other = (inline_svg(drawing, key, "") for key in ("t1-x", "t1-y"))
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, other)]
    assert ids[0] and not ids[0] & ids[1]
    for svg, own in zip((one, other), ids, strict=True):
        assert set(re.findall(r'(?:url\(#|href="#)([^")]+)', svg)) == own


def test_the_same_figure_is_the_same_text():
    assert inline_svg(drawing, "k", "") == inline_svg(drawing, "k", "")


def test_numbers_are_rounded_not_cut():
    svg = '<svg viewBox="0 0 1 1"><path d="M 0.06 -0.16 L 12.349 7.0"/></svg>'
    assert 'd="M0.1 -0.2L12.3 7"' in compact(svg, "k", "")


def test_it_is_much_smaller_than_what_matplotlib_writes(tmp_path):
    drawing().savefig(tmp_path / "a.svg")
    assert len(inline_svg(drawing, "k", "")) < 0.5 * (tmp_path / "a.svg").stat().st_size
