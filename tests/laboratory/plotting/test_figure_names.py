"""The table of figures: each is drawn by a function of its name; sections and tabs that it names exist."""

from __future__ import annotations

import pytest

from musclesolve.laboratory.plotting.figure_names import FIGURE_NAMES, drawings, figures_by, files_of
from musclesolve.laboratory.report.content.pieces import caption
from musclesolve.laboratory.report.sections import specifications

KINDS = ("recording", "model", "uncertainty", "comparison", "results")


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_by_a_function(kind):
    drawn = drawings(kind)
    assert drawn and all(callable(draw) for draw in drawn.values())


@pytest.mark.parametrize("kind", KINDS)
def test_captions_say_what_is_shown_and_command_nothing(kind):
    said = [caption(name, draw) for name, draw in drawings(kind).items()]
    assert not [each for each in said if each.startswith("Draw ") or each[0].islower()]


def test_sections_are_those_of_the_report_and_every_result_figure_has_a_tab():
    assert set(figures_by("section")) <= set(specifications())
    assert all(each.tab for each in FIGURE_NAMES.values() if "report" not in each.of)


def test_a_comparison_has_a_page_for_each_leg():
    assert {"compare_activations_r.png", "compare_activations_l.png"} <= set(files_of("comparison"))
