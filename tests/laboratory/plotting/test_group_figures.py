"""Figures of groups: the curves and bands are the means', bars lie where the clusters are, text fits at any width."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from refusals import refused
from synthetic_study import bump, cycles, smooth

from musclesolve.laboratory.plotting import group_curves, page_style
from musclesolve.laboratory.plotting.figure_names import group_figures_in
from musclesolve.laboratory.plotting.page.page_style import figures_of
from musclesolve.laboratory.plotting.study.group_figures import EFFECTS, group_drawings
from musclesolve.laboratory.results.dataset.quantities import shown
from musclesolve.studies import compare_curves, group_means, subject_means

DOFS = ["hip_flexion", "knee_flexion", "ankle_dorsiflexion"]


def study(groups=None, conditions=("slow", "fast")):
    """Joint angles [rad] whose first curve differs between the conditions around 40 %."""
    curves = smooth(np.random.default_rng(3), 12, len(conditions), 3)
    curves[:, -1, 0] += 6.0 * bump(40) * (len(conditions) > 1)
    data = cycles(curves, groups=groups, conditions=list(conditions), units="rad").rename(
        joint_moment="joint_angle"
    )
    means = subject_means(data.assign_coords(dof=DOFS))
    return group_means(means), compare_curves(means)


def panel(figure, title):
    return next(axes for axes in figure.axes if axes.get_title(loc="left").startswith(title))


def test_curves_bands_and_bars_are_those_of_the_numbers():
    means, found = study()
    axes = panel(group_curves(means, "joint_angle", found), "hip flexion")
    factor = shown("rad")[0]
    for line, condition in zip(axes.lines, ("slow", "fast"), strict=False):
        expected = factor * means["joint_angle"].sel(condition=condition, dof="hip_flexion").values[0]
        np.testing.assert_allclose(line.get_ydata(), expected)
    high = means["joint_angle_high"].sel(condition="slow", dof="hip_flexion").values
    assert axes.collections[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(factor * high.max())
    (cluster,) = np.flatnonzero(found["cluster_test"].values == 0)
    ends = [0.01 * float(found[key].values[cluster]) for key in ("start", "end")]
    assert any(list(line.get_xdata()) == pytest.approx(ends) for line in axes.lines)
    assert [text.get_text() for text in axes.texts if text.get_text().startswith("p")] == ["p<0.001"]
    (strip,) = axes.child_axes
    np.testing.assert_allclose(strip.lines[0].get_ydata(), found["statistic"].values[0])
    assert strip.get_yticks() == pytest.approx([found["threshold"].values[0]])


def test_the_legend_shows_the_band_in_the_colors_of_the_curves():
    means, found = study()
    sheet = group_curves(means, "joint_angle", found)
    curves = [line.get_color() for line in panel(sheet, "hip flexion").lines[:2]]
    bands = [patch.get_facecolor() for patch in sheet.legends[0].findobj(Rectangle)]
    assert len(bands) == 2
    for band, color in zip(bands, curves, strict=True):
        assert band[:3] == pytest.approx(to_rgb(color))


def test_without_comparisons_there_are_curves_alone():
    means, _ = study()
    sheet = group_curves(means, "joint_angle", names=["knee_flexion"], band="sd")
    (axes,) = (axes for axes in sheet.axes if axes.get_visible())
    assert not axes.child_axes


@pytest.mark.parametrize("width", [85.0, 210.0])
@pytest.mark.parametrize("groups", [None, ["control"] * 6 + ["patient"] * 6])
def test_all_text_lies_within_the_page(width, groups):
    means, found = study(groups)
    with page_style(width_mm=width, font_pt=7):
        sheet = group_curves(means, "joint_angle", found)
    sheet.canvas.draw()
    pixels = sheet.get_window_extent()
    texts = [text for axes in sheet.axes for text in axes.texts] + sheet.texts + sheet.legends[0].get_texts()
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= 0.0 and box.x1 <= pixels.x1, text.get_text()


def test_several_effects_are_drawn_over_their_thresholds():
    means, found = study(["control"] * 6 + ["patient"] * 6)
    axes = panel(group_curves(means, "joint_angle", found), "hip flexion")
    ratio = found["statistic"].values[1] / found["threshold"].values[1]
    assert any(
        np.allclose(line.get_ydata(), ratio) for line in axes.child_axes[0].lines if len(line.get_ydata()) > 2
    )


def test_every_effect_has_a_look_of_its_own():
    """Groups, conditions, their interaction, legs with both, and a number of the subjects."""
    assert len(set(EFFECTS)) == len(EFFECTS) >= 7


def test_files_have_the_names_of_the_variables(tmp_path):
    means, found = study()
    files = figures_of(means, group_drawings(means, found))
    assert list(files) == ["group_joint_angle.png"]
    own = {*files, "group_muscle_force_2.pdf"}
    for name in own | {"group_photo.png", "group_joint_angle.txt"}:
        (tmp_path / name).touch()
    assert set(group_figures_in(tmp_path)) == own


def test_subjects_without_a_group_have_a_name_beside_groups():
    means, found = study(["control"] * 6 + [""] * 6)
    texts = [each.get_text() for each in group_curves(means, "joint_angle", found).legends[0].get_texts()]
    assert any(text.startswith("no group, slow (n = 6)") for text in texts), texts


def test_what_is_not_there_is_refused():
    means, found = study()
    with refused("unknown_name", "joint_power", "joint_angle"):
        group_curves(means, "joint_power", found)
    with refused("unknown_name", "elbow"):
        group_curves(means, "joint_angle", found, names=["elbow"])


def many(count, groups=None):
    """Joint angles of so many conditions, of which the last differs."""
    curves = smooth(np.random.default_rng(4), 12, count, 2)
    curves[:, -1, 0] += 6.0 * bump(40)
    data = cycles(curves, groups=groups, conditions=[f"c{k}" for k in range(count)]).assign_coords(
        dof=DOFS[:2]
    )
    means = subject_means(data.rename(joint_moment="joint_angle"))
    return group_means(means), compare_curves(means)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("groups", [None, ["a"] * 6 + ["b"] * 6, [f"g{k}" for k in range(4)] * 3])
def test_many_conditions_are_small_multiples_with_one_look_each(groups):
    """Four curves a panel, every group and condition on some page, and drawn there as on every other one."""
    means, found = many(11, groups)
    drawings = group_drawings(means, found)
    assert list(drawings)[:2] == ["group_joint_angle", "group_joint_angle_2"]
    seen = {}
    for draw in drawings.values():
        sheet = draw(means)
        legend = sheet.legends[0]
        for text, handle in zip(legend.get_texts(), legend.get_lines(), strict=False):
            if "(n =" in text.get_text():
                look = (handle.get_color(), str(handle._unscaled_dash_pattern))
                assert seen.setdefault(text.get_text(), look) == look
        for axes in sheet.axes:
            assert len([curve for curve in axes.lines if len(curve.get_xdata()) > 50]) <= 4 + 1
    assert len(seen) == 11 * (len(set(groups)) if groups else 1)
    if groups is None:
        assert len(set(seen.values())) == 11
        assert next(iter(seen)).startswith("c0")


def test_what_is_drawn_is_chosen_and_a_single_comparison_has_the_color_of_its_condition():
    means, found = many(11)
    drawings = group_drawings(means, found, ["c10", "c4"])
    (draw,) = drawings.values()
    sheet = draw(means)
    texts = [text.get_text() for text in sheet.legends[0].get_texts()]
    assert [text for text in texts if "(n" in text] == ["c0 (n = 12)", "c4 (n = 12)", "c10 (n = 12)"]
    axes = panel(sheet, "hip flexion")
    color = axes.lines[2].get_color()
    assert any(line.get_color() == color and line.get_linewidth() == 3.0 for line in axes.lines)
    assert any("against c0" in text.get_text() for text in sheet.texts)


def test_colors_and_widths_that_the_user_changed_are_those_of_the_curves():
    means, found = many(3)
    (draw,) = group_drawings(means, found).values()
    usual = panel(draw(means), "hip flexion").lines[0].get_linewidth()
    with mpl.rc_context(
        {"axes.prop_cycle": mpl.cycler(color=["red", "green", "blue"]), "lines.linewidth": 3.0}
    ):
        curves = panel(draw(means), "hip flexion").lines[:3]
    assert [curve.get_color() for curve in curves] == ["red", "green", "blue"]
    assert {curve.get_linewidth() for curve in curves} == {2.0 * usual}


def test_a_band_ends_where_a_subject_has_no_value():
    curves = smooth(np.random.default_rng(3), 8, 1, 1)
    curves[:3, :, :, 70:] = np.nan
    means = group_means(subject_means(cycles(curves)))
    sheet = group_curves(means, "joint_moment")
    (axes,) = (axes for axes in sheet.axes if axes.get_visible())
    assert axes.collections[0].get_paths()[0].vertices[:, 0].max() == 69.0
    thin = axes.lines[1].get_ydata()
    np.testing.assert_allclose(thin[70:], means["joint_moment"].values[0, 0, 70:, 0])
    assert any("n = 5" in text.get_text() for text in sheet.legends[0].get_texts())


def test_legs_that_are_compared_have_dashes():
    data = cycles(smooth(np.random.default_rng(3), 6, 2, 1), conditions=["slow", "fast"])
    data = data.assign_coords(cycle_leg=("cycle", np.where(data["cycle_side"] == "r", "right", "left")))
    means = group_means(subject_means(data, legs=["right", "left"]))
    sheet = group_curves(means, "joint_moment")
    texts = [text.get_text() for text in sheet.legends[0].get_texts()]
    assert texts[:2] == ["slow, right (n = 6)", "slow, left (n = 6)"]
    one_leg = data.isel(cycle=np.flatnonzero((data["subject"] != "S01") | (data["cycle_leg"] != "left")))
    legend = group_curves(
        group_means(subject_means(one_leg, legs=["right", "left"])), "joint_moment"
    ).legends[0]
    assert [text.get_text() for text in legend.get_texts()][:2] == [*texts[:1], "slow, left (n = 5)"]
    first, second = panel(sheet, "dof 0").lines[:2]
    assert first.get_color() == second.get_color() and first.get_linestyle() != second.get_linestyle()
