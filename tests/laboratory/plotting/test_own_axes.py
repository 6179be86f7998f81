"""Figures in axes that a user has made, in colors and lines that the user chose."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from cycler import cycler
from drawn_texts import drawn_texts, outside, overprinted
from matplotlib.colors import same_color
from refusals import refused
from synthetic_result import result as every_muscle

from musclesolve.laboratory import plotting
from musclesolve.laboratory.plotting import page_style
from musclesolve.laboratory.plotting.page.page_style import file_content
from musclesolve.laboratory.plotting.study.comparison_figures import line_style
from musclesolve.laboratory.plotting.study.listed_figures import solver_times
from musclesolve.studies.benchmark.measure import Row


@pytest.fixture(scope="module")
def data():
    return every_muscle(n_frames=61)


@pytest.fixture
def axes():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def labels(axes):
    return axes.get_legend_handles_labels()[1]


def curve(axes, color):
    """The points of the longest curve of a color."""
    lines = [line for line in axes.lines if same_color(line.get_color(), color)]
    return max((line.get_xydata() for line in lines), key=len)


def test_a_muscle_is_drawn_into_any_axes_and_leaves_the_others_alone(data):
    figure, grid = plt.subplots(1, 2)
    assert plotting.one_muscle(data, "soleus", "muscle_force", ax=grid[0]) is grid[0]
    assert not grid[1].lines and grid[0].get_title().startswith("soleus")
    right = curve(grid[0], "#0072B2")
    assert np.nanmax(right[:, 1]) == pytest.approx(float(data["muscle_force"].sel(muscle="soleus_r").max()))
    assert {"right", "left"} <= set(labels(grid[0]))
    assert len(labels(grid[0])) == len(set(labels(grid[0])))
    plt.close(figure)


def test_one_side_has_no_other_in_the_legend(data, axes):
    plotting.one_muscle(data, "soleus_l", ax=axes)
    assert "right" not in labels(axes)


def test_color_label_and_lines_by_keyword(data, axes):
    look = {"color": {"right": "black"}, "label": {"right": "operated"}, "linestyle": "--", "linewidth": 3.0}
    plotting.one_muscle(data, "soleus", ax=axes, **look)
    assert {"operated", "left"} <= set(labels(axes))
    drawn = [line for line in axes.lines if len(line.get_xdata())]
    colors = {line.get_color() for line in drawn}
    assert "black" in colors and "#0072B2" not in colors and "#E69F00" in colors
    assert any(line.get_linewidth() == 3.0 and line.get_linestyle() == "--" for line in drawn)
    plain = plotting.one_muscle(data, "soleus").axes[0]
    assert not any(line.get_color() == "black" and line.get_linewidth() == 3.0 for line in plain.lines)


def test_a_figure_of_several_panels_takes_as_many_axes(data, axes):
    count = len(plotting.joint_moments(data).axes)
    with refused("bad_value"):
        plotting.contact_forces(data, ax=axes)
    figure, grid = plt.subplots(3, 2)
    plotting.contact_forces(data, ax=grid)
    assert count > 1 and all(panel.lines for panel in grid.flat)
    plt.close(figure)


def test_an_unknown_muscle_or_quantity_is_refused(data):
    with refused("unknown_name", "soleos"):
        plotting.one_muscle(data, "soleos")
    with refused("unknown_name"):
        plotting.one_muscle(data, "soleus", "speed")


def test_a_norm_of_a_muscle_stands_behind_it(data, tmp_path):
    rows = [f"activation,soleus,1,{percent},0.5,0.1,20" for percent in range(0, 101, 2)]
    file = tmp_path / "norms.csv"
    file.write_text("\n".join(["quantity,name,unit,percent,mean,sd,subjects", *rows]))
    walk = data.assign_attrs(heel_strike_times_r=[0.0, 0.5], heel_strike_times_l=[0.0, 0.5])
    walk["walking_speed"] = walk["time"].copy(data=np.full(walk.sizes["time"], 1.2))
    with page_style(norm_file=str(file)):
        soleus = plotting.one_muscle(walk, "soleus").axes[0]
        other = plotting.one_muscle(walk, "tibialis_anterior").axes[0]
    bands = [
        [each for each in panel.collections if each.get_label() == "norms.csv"] for panel in (soleus, other)
    ]
    ((band,), none) = bands
    low, high = band.get_paths()[0].vertices[:, 1].min(), band.get_paths()[0].vertices[:, 1].max()
    assert (low, high) == (pytest.approx(0.4), pytest.approx(0.6)) and not none


def test_settings_that_the_user_changed_come_before_the_style(data):
    usual = plotting.one_muscle(data, "soleus")
    with mpl.rc_context(
        {"axes.grid": True, "axes.spines.top": True, "font.size": 11.0, "lines.linewidth": 3.0}
    ):
        figure = plotting.one_muscle(data, "soleus")
        drawn = drawn_texts(figure)
    assert 11.0 in {text.points for text in drawn} and not outside(figure, drawn) and not overprinted(drawn)
    widest = [max(line.get_linewidth() for line in each.axes[0].lines) for each in (usual, figure)]
    assert widest[1] == pytest.approx(2.0 * widest[0])
    with mpl.rc_context({"figure.figsize": (5.0, 3.0)}):
        assert plotting.one_muscle(data, "soleus").get_figwidth() == 5.0
        with page_style(width_mm=85.0):
            assert plotting.one_muscle(data, "soleus").get_figwidth() == pytest.approx(85.0 / 25.4)
    with mpl.rc_context({"xtick.major.size": 9.0}):
        assert (
            plotting.one_muscle(data, "soleus").axes[0].xaxis.get_major_ticks()[0].tick1line.get_markersize()
            == 9
        )


def test_compared_costs_have_the_colors_of_the_user():
    usual = line_style(0, 2, "stress_cubed")["color"]
    with mpl.rc_context({"axes.prop_cycle": cycler(color=["red", "green"])}):
        assert [line_style(number, 2)["color"] for number in (0, 1)] == ["red", "green"]
        with page_style(look={"color": {"stress_cubed": "black"}}):
            assert line_style(0, 2, "stress_cubed")["color"] == "black"
    assert line_style(0, 2, "stress_cubed")["color"] == usual


def test_a_png_has_the_resolution_asked_for(data):
    figure = plotting.one_muscle(data, "soleus")
    widths = []
    for dpi in (None, 100, 300):
        with page_style(dpi=dpi):
            content = file_content(figure)
        widths.append(int.from_bytes(content[16:20], "big"))
    with mpl.rc_context({"savefig.dpi": 150.0}):
        assert int.from_bytes(file_content(figure)[16:20], "big") == pytest.approx(1.5 * widths[1], abs=2)
    assert widths[1] == pytest.approx(figure.get_figwidth() * 100, abs=1)
    assert widths[0] == pytest.approx(2 * widths[1], abs=2) and widths[2] == pytest.approx(
        3 * widths[1], abs=3
    )


def test_times_of_solvers_are_marks_hollow_where_a_frame_fails():
    rows = [
        Row("recorded leg", 7, 43, "force_squared", "batch", frames=9, us_per_frame=10.0, solved=9),
        Row("recorded leg", 7, 43, "force_squared", "slow", frames=9, us_per_frame=1000.0, solved=8),
        Row("recorded leg", 7, 43, "force_squared", "broken", remark="not installed"),
    ]
    (panel,) = solver_times(pd.DataFrame(rows)).axes
    assert [text.get_text() for text in panel.get_yticklabels()] == ["slow", "batch"]
    marks = {int(line.get_ydata()[0]): line for line in panel.lines}
    assert marks[1].get_xdata()[0] == pytest.approx(1.0) and marks[0].get_xdata()[0] == pytest.approx(3.0)
    assert marks[0].get_markerfacecolor() == "none" and marks[1].get_markerfacecolor() != "none"
