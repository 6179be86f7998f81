"""The figure of fibers and elastic tendons: drawn from the result, and only where tendons are elastic."""

from __future__ import annotations

import numpy as np
import pytest
from elastic_stride import elastic_result
from refusals import refused
from synthetic_result import result

from musclesolve.laboratory.plotting import fibers_and_tendons
from musclesolve.laboratory.plotting.figure_sets import figure_files
from musclesolve.laboratory.plotting.page.page_style import SIDE_COLOR
from musclesolve.laboratory.plotting.result.muscle_figures import ROWS


def test_the_curves_are_those_of_the_result():
    data = elastic_result()
    figure = fibers_and_tendons(data)
    assert len(figure.axes) == 3 * ROWS
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    row = next(k for k, title in enumerate(titles) if title.startswith("soleus"))
    drawn = [
        next(line.get_ydata() for line in axes.lines if line.get_color() == SIDE_COLOR["r"])
        for axes in figure.axes[row : row + 3]
    ]
    own = data.sel(muscle="soleus_r")
    optimal = float(own["optimal_fiber_length"])
    expected = (own["fiber_length"] / optimal, own["fiber_velocity"] / optimal, 100.0 * own["tendon_strain"])
    for curve, quantity in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(curve, quantity.values)


def test_the_muscles_of_the_achilles_tendon_come_first():
    rows = [
        axes.get_title(loc="left").replace("\n", " ").partition(", ")[0]
        for axes in fibers_and_tendons(elastic_result()).axes[::3]
    ]
    assert sorted(rows[:3]) == ["gastrocnemius lateral", "gastrocnemius medial", "soleus"]
    assert len(set(rows)) == ROWS


@pytest.mark.thorough
def test_rigid_results_have_no_such_figure():
    assert "fibers_and_tendons.png" in figure_files(elastic_result(), only=["fibers_and_tendons"])
    with refused("bad_result", "fibers_and_tendons", "tendon_strain", "elastic tendons"):
        figure_files(result(), only=["fibers_and_tendons"])
