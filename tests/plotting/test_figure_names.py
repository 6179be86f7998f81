"""The table of figures: each is drawn by a function of its name; sections and tabs that it names exist."""

from __future__ import annotations

import pytest

from musclesolve.plotting.figure_names import FIGURE_NAMES, drawings, figures_by, files_of
from musclesolve.report.sections import specifications

KINDS = ("recording", "model", "uncertainty", "comparison", "results")


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_by_a_function(kind):
    drawn = drawings(kind)
    assert drawn and all(callable(draw) for draw in drawn.values())


def test_sections_are_those_of_the_report_and_every_result_figure_has_a_tab():
    assert set(figures_by("section")) <= set(specifications())
    assert all(each.tab for each in FIGURE_NAMES.values() if "report" not in each.of)


def test_a_comparison_has_a_page_for_each_leg():
    assert {"compare_activations_r.png", "compare_activations_l.png"} <= set(files_of("comparison"))
