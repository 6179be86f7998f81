"""The names of figure files are those of the figures that are drawn."""

from __future__ import annotations

from musclesolve.plotting import figure_sets
from musclesolve.plotting.figure_names import MODEL_FIGURES, RESULT_FIGURES, UNCERTAINTY_FIGURES
from musclesolve.plotting.study import uncertainty_figures


def test_every_figure_has_its_name():
    assert RESULT_FIGURES == tuple(f"{name}.png" for name in figure_sets.FIGURES)
    assert MODEL_FIGURES == tuple(f"{name}.png" for name in figure_sets.OF_MODEL)
    assert UNCERTAINTY_FIGURES == tuple(f"{name}.png" for name in uncertainty_figures.FIGURES)
