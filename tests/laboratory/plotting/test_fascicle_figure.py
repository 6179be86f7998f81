"""The figure of measured fascicles: fiber and measured length of every muscle that was measured, in millimeters."""

from __future__ import annotations

import numpy as np
from refusals import refused
from report_inputs import small
from synthetic_result import with_fascicles

from musclesolve.laboratory.plotting import measured_fascicles
from musclesolve.laboratory.plotting.figure_sets import figure_files
from musclesolve.laboratory.plotting.page.page_style import SIDE_COLOR
from musclesolve.laboratory.plotting.result.muscle_figures import MEASURED


def test_the_curves_are_those_of_the_result():
    data = with_fascicles(small())
    panels = [axes for axes in measured_fascicles(data).axes if axes.get_visible()]
    assert len(panels) == data.sizes["fascicle"]
    for axes, column, side in zip(panels, ("US1", "US2"), "rl", strict=True):
        muscle = str(data["fascicle_muscle"].sel(fascicle=column).item())
        lines = {line.get_color(): np.asarray(line.get_ydata(), float) for line in axes.lines[::-1]}
        measured = 1000.0 * data["measured_fascicle_length"].sel(muscle=muscle).values
        drawn, known = lines[MEASURED["color"]], ~np.isnan(lines[MEASURED["color"]])
        assert known.sum() > 10
        assert set(np.round(drawn[known], 6)) <= set(np.round(measured[~np.isnan(measured)], 6))
        fiber = lines[SIDE_COLOR[side]]
        assert np.isin(
            np.round(fiber[~np.isnan(fiber)], 6),
            np.round(1000.0 * data["fiber_length"].sel(muscle=muscle), 6),
        ).all()
        assert "mm" in axes.get_title(loc="left") or any("mm" in text.get_text() for text in axes.texts)


def test_results_without_measured_lengths_have_no_such_figure():
    data = with_fascicles(small())
    assert "measured_fascicles.png" in figure_files(data, only=["measured_fascicles"])
    with refused("bad_result", "measured_fascicles", "measured_fascicle_length"):
        figure_files(small(), only=["measured_fascicles"])
