"""Figures of averages show the mean, the band of one standard deviation, and where fewer cycles count."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import LineCollection
from synthetic_result import MASS, few_muscles, result, with_troubles

import musclesolve as ms
from musclesolve.laboratory.plotting.figure_names import pages_of
from musclesolve.laboratory.plotting.page.page_style import SIDE_COLOR, figures_of
from musclesolve.laboratory.plotting.study import comparison_figures as averages


@pytest.fixture(scope="module")
def average():
    """Two results of both legs, the second one stronger and with frames that have no solution."""
    second = with_troubles(few_muscles(result(n_frames=251)))
    second["joint_moment"] *= 1.5
    second["stance_percent"] = ("stride", [61.5])
    second = second.assign_coords(stride_side=("stride", ["r"]), stride_start=("stride", [0.2]))
    legs = []
    for side in "rl":
        cycles = [
            ms.laboratory.cycles(data, side, without_side=True, strides=True)
            for data in (second, second.assign(joint_moment=second.joint_moment / 1.5))
        ]
        legs.append(ms.laboratory.average_cycles(cycles))
    together = xr.concat(legs, xr.Variable("side", ["r", "l"]), combine_attrs="override")
    return together


def panel(figure, title):
    return next(axes for axes in figure.axes if axes.get_title(loc="left").startswith(title))


def test_moments_per_body_mass_with_their_band(average):
    axes = panel(averages.average_angles_and_moments(average), "knee flexion moment")
    leg = average.sel(side="r", dof="knee_flexion")
    curves = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) > 100]
    drawn = np.concatenate(curves)
    np.testing.assert_allclose(np.nanmax(drawn), float(leg["joint_moment"].max()) / MASS)
    np.testing.assert_allclose(np.nanmin(drawn), float(leg["joint_moment"].min()) / MASS)
    band = axes.collections[0].get_paths()[0].vertices
    upper = (leg["joint_moment"] + leg["joint_moment_std"]).values / MASS
    assert band[:, 1].max() == pytest.approx(upper.max())
    upright = [each for each in axes.collections if isinstance(each, LineCollection)]
    assert any(each.get_segments()[0][0][0] == 61.5 for each in upright), "no toe-off"


def test_moments_of_several_subjects_are_not_divided_by_a_mass(average):
    mixed = average.copy()
    mixed.attrs = {key: value for key, value in average.attrs.items() if key != "subject_mass_kg"}
    axes = panel(averages.average_angles_and_moments(mixed), "knee flexion moment")
    assert axes.get_ylabel() == "[N m]"


def right_lines(axes):
    """The lines of the mean of the right leg, whole cycles."""
    lines = [line for line in axes.lines if line.get_color() == SIDE_COLOR["r"]]
    return [line for line in lines if len(line.get_xdata()) > 100]


def test_the_full_line_ends_where_cycles_are_missing(average):
    average = average.assign(cycles_with_reserve=0 * average["cycles_with_reserve"])
    axes = panel(averages.average_activations(average), "soleus")
    leg = average.sel(side="r", muscle="soleus")
    fewer = (leg["activation_count"] < leg["activation_count"].max()).values
    assert fewer.any() and not fewer.all()
    full, pale = [line.get_xydata() for line in right_lines(axes)]
    # Both are parted where the number of cycles changes; without these places they are the percentages.
    whole = np.isfinite(pale[:, 0])
    np.testing.assert_array_equal(pale[whole, 0], average["percent"])
    np.testing.assert_array_equal(np.isnan(full[whole, 1]), fewer)
    np.testing.assert_array_equal(np.isnan(pale[whole, 1]), ~fewer)
    parted = np.flatnonzero(~whole) - np.arange((~whole).sum())
    np.testing.assert_array_equal(parted, np.flatnonzero(np.diff(leg["activation_count"])) + 1)


def test_where_a_cycle_needed_a_reserve_the_mean_is_dotted(average):
    """The means of activations and moments are dotted; angles do not depend on the muscles."""
    needed = (average["cycles_with_reserve"].sel(side="r") > 0).values
    assert 3 <= needed.sum() <= 12
    for draw, title, several in (
        (averages.average_activations, "soleus", True),
        (averages.average_angles_and_moments, "knee flexion moment", True),
        (averages.average_angles_and_moments, "knee flexion (+)", False),
    ):
        lines = right_lines(panel(draw(average), title))
        drawn = {
            style: [line.get_xydata() for line in lines if line.get_linestyle() == style] for style in "-:"
        }
        at = {
            style: {x for curve in curves for x, y in curve if np.isfinite(y)}
            for style, curves in drawn.items()
        }
        if several:
            assert at["-"] == set(average["percent"].values[~needed])
            assert at[":"] >= set(average["percent"].values[needed]) and len(at[":"]) <= needed.sum() + 2
        else:
            assert len(at["-"]) == 101 and not at[":"]


def test_the_band_of_activations_stays_between_nought_and_one(average):
    wide = average.assign(activation_std=average["activation_std"] + 2.0)
    axes = panel(averages.average_activations(wide), "soleus")
    band = np.concatenate([each.get_paths()[0].vertices for each in axes.collections])
    assert band[:, 1].min() == 0.0 and band[:, 1].max() == 1.0


@pytest.mark.thorough
def test_titles_say_mean_and_the_legend_only_what_is_drawn(average):
    shown = averages.average_activations(average)
    plain = averages.average_activations(
        average.drop_vars("stance_percent").assign(
            activation_count=average["activation_count"] * 0 + 4,
            cycles_with_reserve=average["cycles_with_reserve"] * 0,
        )
    )
    labels = [[text.get_text() for text in figure.legends[0].get_texts()] for figure in (shown, plain)]
    assert "fewer cycles" in labels[0]
    assert labels[0][-2:] == ["a cycle with reserve", "toe-off"]
    assert labels[1] == ["right, 4 cycles", "left, 2 cycles", "± standard deviation"]
    for draw in pages_of(average, "average").values():
        assert draw(average).texts[0].get_text().startswith("Mean ")


def test_every_figure_has_a_panel_for_each_muscle_and_says_how_many_cycles(average):
    figure = averages.average_muscle_forces(average)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == average.sizes["muscle"] == 2
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[:2] == ["right, 4 cycles", "left, 2 cycles"]


def test_files(average):
    stages = []
    one = {"one": pages_of(average, "average")["average_activations"]}
    files = figures_of(average, one, lambda stage, share: stages.append((stage, share)))
    assert list(files) == ["one.png"] and files["one.png"].startswith(b"\x89PNG")
    assert stages == [("drawing", 0.0)]
