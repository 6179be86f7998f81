"""The figures: all there, and a frame without a valid solution never drawn as a good one."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from refusals import refused
from said import summary
from synthetic_result import (
    MASS,
    WEIGHT,
    few_muscles,
    set_status,
    with_fascicles,
    with_tendons,
    with_troubles,
)
from synthetic_result import result as every_muscle
from thorough import some

import muscle_db
import musclesolve as ms
from musclesolve.laboratory.plotting import (
    activations,
    consistency_shift,
    contact_forces,
    ground_reaction,
    joint_angles_and_moments,
    reserves_and_residual,
    save_figures,
)
from musclesolve.laboratory.plotting.figure_sets import FIGURES as ALL_FIGURES
from musclesolve.laboratory.plotting.figure_sets import drawable_of
from musclesolve.laboratory.plotting.page.curves import BEYOND, SEAM, abscissa
from musclesolve.laboratory.plotting.page.page_style import (
    BAND,
    FAILED_MARK,
    FAILED_ROW,
    SIDE_COLOR,
    SIDE_WIDTH,
    STANCE_BAR,
    STANCE_COLOR,
)
from musclesolve.laboratory.plotting.page.panels import muscles_by_group
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.quantities import with_formulas
from musclesolve.laboratory.results.dataset.result_quantities import without_turns


def result(**size):
    return with_formulas(with_fascicles(with_tendons(few_muscles(every_muscle(**size)))), "result")


FIGURES = drawable_of(result(), ALL_FIGURES, ())
"""Figures of every trial; the figure of the filter needs a chosen cut-off (test_cutoff_figures.py)."""
OVER_TIME = [name for name in FIGURES if name != "consistency_shift"]
"""Figures of curves; the others have bars."""


def in_time(data):
    """Without heel strikes of the left leg the axis is time, which makes curves easy to find again."""
    data.attrs["heel_strike_times_l"] = []
    return data


def lines_of(axes, side, style):
    style = "--" if (side, style) == ("l", "-") else style  # a full curve of the left leg is dashed
    return [
        line for line in axes.lines if line.get_color() == SIDE_COLOR[side] and line.get_linestyle() == style
    ]


def visible(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


def test_every_figure_is_written(tmp_path):
    paths = save_figures(with_troubles(result()), tmp_path / "figures")
    assert [path.stem for path in paths] == list(FIGURES)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    assert sorted(paths) == sorted((tmp_path / "figures").iterdir())


def test_a_panel_for_every_muscle_with_its_group():
    panels = visible(activations(every_muscle()))
    drawn = {axes.get_title(loc="left").replace("\n", " "): axes.texts[0].get_text() for axes in panels}
    assert drawn == {
        m.name.replace("_", " "): m.group.replace("_", " ") for m in muscle_db.load("silva_2003").muscles
    }


@pytest.mark.in_part(8)
@pytest.mark.parametrize(("name", "sides"), some([(name, side) for side in "rl" for name in FIGURES], 2))
def test_one_leg_alone_can_be_drawn(name, sides):
    data = result(sides=sides).sel(side=[sides])
    assert visible(FIGURES[name](data))


@pytest.mark.parametrize("name", ["activations", "muscle_forces", "contact_forces"])
def test_failed_frames_are_marked_and_not_drawn(name):
    data = in_time(with_troubles(result()))
    time = data["time"].values
    axes = FIGURES[name](data).axes[0]
    for side, where in (("r", [40, 41, 42]), ("l", [50])):
        drawn = [line.get_ydata() for style in ("-", ":") for line in lines_of(axes, side, style)]
        assert drawn and all(np.isnan(curve[where]).all() for curve in drawn)
        marks = [line for line in axes.lines if line.get_marker() == FAILED_MARK["marker"]]
        (own,) = [line for line in marks if line.get_color() == SIDE_COLOR[side]]
        assert np.array_equal(own.get_xdata(), time[where]) and set(own.get_ydata()) == {FAILED_ROW[side]}


def test_a_cycle_without_a_solution_is_not_crossed_below_the_curve_of_a_valid_one():
    data = result(n_frames=251)
    set_status(data, ms.Status.INFEASIBLE, slice(30, 50), 0)  # of the first of two right cycles
    longest, other = abscissa(data).passes["r"]
    assert data["time"].values[longest.index[0]] > 1.0 and other.index[0] < 30
    axes = activations(data).axes[0]
    assert not any(len(line.get_xdata()) for line in axes.lines if line.get_marker() == FAILED_MARK["marker"])


def test_the_legend_says_where_a_full_curve_is_of_two_cycles():
    assert entries(activations(cut(0.3, 1.1)))[:2] == [
        "right",
        "left (parts of 2 cycles, a gap between them)",
    ]
    (left,) = (part for part in [abscissa(cut(0.3, 1.1)).passes["l"]])
    ends = [part.place[part.apart][[0, -1]] for part in left if part.apart.any()]
    (_, low), (high, _) = sorted(map(tuple, ends))
    assert len(ends) == 2 and high - low >= SEAM


def test_the_legend_says_why_a_curve_has_gaps():
    data = result()
    set_status(data, ms.Status.NOT_MEASURED, slice(3, 9), 1)
    assert entries(activations(data))[:2] == ["right", "left (gaps: not measured)"]


def test_no_line_is_drawn_across_frames_that_were_not_measured():
    data = result(n_frames=251)
    data.attrs |= {"heel_strike_times_r": [0.2, 1.2], "heel_strike_times_l": [0.2, 1.2]}
    set_status(data, ms.Status.NOT_MEASURED, slice(50, 60), 0)
    (curve,) = lines_of(activations(data).axes[0], "r", "-")
    places = curve.get_xdata()
    lost = (places > 29.9) & (places < 39.1)
    assert (
        lost.sum() == 10
        and np.isnan(curve.get_ydata()[lost]).all()
        and np.isfinite(curve.get_ydata()[~lost]).all()
    )
    (angle,) = lines_of(joint_angles_and_moments(data).axes[0], "r", "-")
    assert np.isfinite(angle.get_ydata()).all(), "the motion was measured"


def test_without_reserves_only_the_residual_is_drawn():
    figure = reserves_and_residual(in_time(result()))
    headings = [axes.get_title(loc="left") for axes in figure.axes]
    assert headings == ["pelvis residual: force, magnitude", "pelvis residual: moment, magnitude"]
    assert "Residual at the pelvis; no frame needs a reserve" in [text.get_text() for text in figure.texts]


def test_a_residual_that_was_never_measured_has_no_figure():
    data = in_time(result())
    name = "reserves_and_residual"
    assert name in drawable_of(data, ALL_FIGURES, ())
    data["pelvis_residual"] = data["pelvis_residual"] * np.nan
    assert name not in drawable_of(data, ALL_FIGURES, ())
    with refused("bad_result", "pelvis_residual"):
        drawable_of(data, ALL_FIGURES, (name,))
    helped = in_time(with_troubles(result()))
    helped["pelvis_residual"] = helped["pelvis_residual"] * np.nan
    figure = drawable_of(helped, ALL_FIGURES, ())[name](helped)
    assert "Reserve moments; residual not measured" in [text.get_text() for text in figure.texts]
    headings = [axes.get_title(loc="left") for axes in figure.axes]
    assert any("reserve" in each for each in headings) and not any("residual" in each for each in headings)


def test_a_direction_without_a_reserve_looks_like_it():
    data = in_time(with_troubles(result()))
    low, high = reserves_and_residual(data).axes[0].get_ylim()
    assert low <= -1.0 and high >= 1.0


def test_groups_are_in_the_same_order_whatever_the_set():
    groups = ["ankle_dorsiflexors", "arm", "hamstrings", "iliopsoas", "hamstrings"]
    assert list(muscles_by_group("abcde", groups)) == list("dceab")


def test_peaks_of_contact_forces_are_printed_in_body_weights():
    data = in_time(with_troubles(result()))
    data["joint_reaction"][:] = 0.0
    data["joint_reaction"].loc[{"joint": "knee_r", "axis": "z"}][10] = -3.0 * WEIGHT
    data["joint_reaction"].loc[{"joint": "knee_r", "axis": "z"}][41] = -9.0 * WEIGHT  # no valid solution
    data["joint_reaction"].loc[{"joint": "knee_l", "axis": "x"}][12] = 2.0 * WEIGHT
    notes = [text.get_text() for text in contact_forces(data).axes[2].texts]
    assert notes == ["peak right 3.00, left 2.00"]
    assert "knee 3.00, 2.00; ankle 0.00, 0.00 body weights" in summary(data)


def test_solved_is_solid_and_reserve_is_dotted():
    data = in_time(with_troubles(result()))
    muscle = data["muscle"].values[0]
    values = data["activation"].sel(muscle=muscle).values
    axes = activations(data).axes[0]
    ((solid,), (dotted,)) = (lines_of(axes, "r", style) for style in ("-", ":"))
    good, reserve = frames.solved(data, "r"), frames.solved_with_reserve(data, "r")
    assert np.array_equal(solid.get_ydata(), np.where(good, values, np.nan), equal_nan=True)
    assert np.array_equal(dotted.get_ydata()[reserve], values[reserve])
    assert np.flatnonzero(np.isfinite(dotted.get_ydata())).tolist() == list(range(19, 27))


def test_units_at_the_edge():
    data = in_time(result())
    left, right = joint_angles_and_moments(data).axes[:2]
    ((angle,), (moment,)) = (lines_of(axes, "r", "-") for axes in (left, right))
    assert np.allclose(np.radians(angle.get_ydata()), data["joint_angle"].sel(dof="hip_flexion_r"))
    assert np.allclose(moment.get_ydata() * MASS, data["joint_moment"].sel(dof="hip_flexion_r"))
    (vertical,) = lines_of(ground_reaction(data).axes[0], "r", "-")
    assert np.isclose(vertical.get_ydata().max(), 1.0)


def test_whole_turns_of_an_angle_are_not_drawn_and_noted():
    data = in_time(result())
    name = {"dof": "ankle_adduction_r"}
    true = np.degrees(data["joint_angle"].loc[name].values.copy())
    data["joint_angle"].loc[name] = np.radians(true - np.where(np.arange(true.size) < 20, 360.0, 0.0))
    data["joint_angle"].loc[{"dof": "ankle_inversion_l"}] -= 2.0 * np.pi
    figure = joint_angles_and_moments(data)
    angles = {
        axes.get_title(loc="left").partition(" (+)")[0]: axes for axes in figure.axes if axes.get_visible()
    }
    (curve,) = lines_of(angles["ankle adduction"], "r", "-")
    np.testing.assert_allclose(curve.get_ydata(), true, atol=1e-9)
    notes = {name: [text.get_text() for text in axes.texts] for name, axes in angles.items()}
    assert notes["ankle adduction"] == ["turns of 360 deg removed: right"]
    assert notes["ankle inversion"] == ["turns of 360 deg removed: left"]
    assert not any("turns" in text for text in notes["knee flexion"])


def test_an_arm_raised_beyond_half_a_turn_stays_there():
    raised = np.linspace(0.0, 250.0, 26)
    np.testing.assert_allclose(without_turns(raised), raised)
    wrapped = np.where(raised > 180.0, raised - 360.0, raised)
    np.testing.assert_allclose(without_turns(wrapped), raised)
    np.testing.assert_allclose(without_turns(np.array([np.nan, 359.0, 361.0])), [np.nan, -1.0, 1.0])


def test_the_axis_is_the_gait_cycle_only_when_every_leg_has_one():
    data = result()
    assert "%" in abscissa(data).label
    assert [len(abscissa(data).passes[side]) for side in "rl"] == [2, 1]
    assert abscissa(in_time(data)).label == "time [s]"


def cut(start: float, end: float):
    """One and a bit of a gait cycle of the right leg, so that the last part of it comes a second time."""
    data = result(n_frames=251)
    data.attrs["heel_strike_times_r"] = [0.2, 1.2, 2.2]
    data.attrs["heel_strike_times_l"] = [-0.3, 0.7, 1.7]
    return data.sel(time=slice(start, end))


def test_what_a_further_cycle_repeats_is_marked():
    x = abscissa(cut(0.4, 1.6))
    longest, other = x.passes["r"]
    assert (longest.place[0], longest.place[-1]) == pytest.approx((20.0, 100.0))
    assert not longest.repeated.any()
    assert np.array_equal(other.repeated, other.place >= 20.0 - 1e-9)
    shown = [part.place[~part.repeated] for part in (longest, other)]
    assert np.allclose(np.sort(np.concatenate(shown)), np.arange(0.0, 100.5, 1.0), atol=1e-6)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", some(OVER_TIME, 3))
def test_a_curve_shown_again_is_thinner_and_in_the_legend(name):
    figure = FIGURES[name](cut(0.4, 1.6))
    lines = [line for line in figure.axes[0].lines if line.get_color() == SIDE_COLOR["r"]]
    pale = [line for line in lines if line.get_alpha() is not None and line.get_alpha() < 1.0]
    assert bool(pale) == ("further cycle" in entries(figure)) == (name != "reserves_and_residual")
    assert all(line.get_linewidth() < SIDE_WIDTH["r"] for line in pale)
    assert "further cycle" not in entries(FIGURES[name](cut(0.3, 1.1)))


def strides(*levels: float):
    """Complete strides of both legs, in which the activation of every muscle is one of these numbers (100 Hz)."""
    data = result(n_frames=100 * len(levels) + 101)
    data = data.assign_coords(time=0.01 * np.arange(data.sizes["time"]))
    starts = 0.2 + np.arange(len(levels) + 1.0)
    data.attrs |= {"heel_strike_times_r": starts, "heel_strike_times_l": starts}
    which = np.clip(np.floor(data["time"].values - 0.2 + 1e-9), 0, len(levels) - 1).astype(int)
    data["activation"][:] = np.array(levels)[which][:, None]
    return data


def test_of_several_strides_mean_and_standard_deviation_are_drawn():
    data = strides(0.2, 0.3, 0.7)
    figure = activations(data)
    axes = figure.axes[0]
    single, mean = lines_of(axes, "r", "-")
    values = mean.get_ydata()[:100]  # at 100 % the last stride has begun, whose activation is another one
    np.testing.assert_allclose(values, 0.4, atol=1e-12)
    assert len(single.get_ydata()) == 3 * 102 and single.get_linewidth() < 0.5 * mean.get_linewidth()
    bands = [c for c in axes.collections if c.get_alpha() == BAND]
    edges = bands[0].get_paths()[0].vertices[1:100, 1]
    np.testing.assert_allclose(np.unique(edges.round(6)), [0.4 - np.std([0.2, 0.3, 0.7], ddof=1).round(6)])
    assert entries(figure)[:4] == [
        *("right (mean of 3 strides)", "left (mean of 3 strides)"),
        *("± standard deviation", "single stride"),
    ]


def test_a_stride_without_a_solution_is_not_part_of_the_mean():
    data = strides(0.2, 0.3, 0.7)
    set_status(data, ms.Status.INFEASIBLE, slice(250, 260), 0)  # in the last one
    set_status(data, ms.Status.INFEASIBLE, [40, 140, 240], 0)  # at 20 % of each
    figure = activations(data)
    axes = figure.axes[0]
    _, full, pale = lines_of(axes, "r", "-")
    assert np.isnan(full.get_ydata()[30:40]).all() and np.isfinite(full.get_ydata()[50:90]).all()
    np.testing.assert_allclose(pale.get_ydata()[31:39], 0.25)
    (marks,) = [line for line in axes.lines if line.get_marker() == FAILED_MARK["marker"]]
    assert marks.get_xdata().tolist() == [20.0]
    assert {"fewer strides", "no valid solution"} <= set(entries(figure))


def test_events_of_many_strides_are_not_marked():
    figure = reserves_and_residual(strides(*[0.5] * 9))
    assert not {"heel strike", "toe-off"} & set(entries(figure))
    assert {"heel strike", "toe-off"} <= set(entries(reserves_and_residual(strides(0.5, 0.5))))


def test_the_end_of_a_recording_does_not_make_the_scale():
    data = in_time(result())
    muscle = {"muscle": data["muscle"].values[0]}
    usual = FIGURES["muscle_forces"](data)
    data["muscle_force"].loc[muscle][-1] = 20.0 * float(data["muscle_force"].loc[muscle].max())
    figure = FIGURES["muscle_forces"](data)
    assert figure.axes[0].get_ylim() == pytest.approx(usual.axes[0].get_ylim(), rel=0.05)
    heights = [
        np.nanmax(path.vertices[:, 1])
        for collection in figure.axes[0].collections
        if isinstance(collection, LineCollection)
        for path in collection.get_paths()
    ]
    assert max(heights) == data["muscle_force"].loc[muscle].max(), "it is drawn, beyond the panel"
    assert BEYOND in " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert BEYOND not in " ".join(text.get_text() for text in usual.texts).replace("\n", " ")
    data["muscle_force"].loc[muscle][30] = float(data["muscle_force"].loc[muscle].max())  # not at an end
    assert FIGURES["muscle_forces"](data).axes[0].get_ylim()[1] > 10.0 * usual.axes[0].get_ylim()[1]


def test_a_legend_has_the_colors_of_the_curves():
    figure = activations(with_troubles(cut(0.4, 1.6)))
    (legend,) = figure.legends
    drawn = {SIDE_COLOR[side].lower() for side in "rl"}
    assert {to_hex(handle.get_color()) for handle in legend.findobj(Line2D)} <= drawn


def entries(figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", some(OVER_TIME, 3))
def test_the_legend_holds_what_occurs(name):
    verdicts = {"with reserve", "no valid solution"}
    assert not verdicts & set(entries(FIGURES[name](result())))
    expected = set() if name == "ground_reaction" else verdicts
    assert verdicts & set(entries(FIGURES[name](with_troubles(result())))) == expected


def test_legs_that_agree_are_both_seen():
    data = in_time(result())
    data["ground_reaction_force"][:, 1] = data["ground_reaction_force"][:, 0]
    axes = ground_reaction(data).axes[0]
    ((right,), (left,)) = (lines_of(axes, side, "-") for side in "rl")
    assert axes.lines.index(right) < axes.lines.index(left)
    assert right.get_linewidth() > 1.5 * left.get_linewidth()
    assert (right.is_dashed(), left.is_dashed()) == (False, True)


def test_one_bar_a_leg_says_where_its_foot_is_on_the_ground():
    data = cut(0.2, 2.2)
    axes = ground_reaction(data).axes[0]
    bars = {side: [c for c in axes.collections if colored(c, side)] for side in "rl"}
    heights = {
        side: {tuple(p.get_extents().intervaly) for b in bars[side] for p in b.get_paths()} for side in "rl"
    }
    assert heights == {side: {STANCE_BAR[side]} for side in "rl"}
    assert STANCE_BAR["l"][1] <= STANCE_BAR["r"][0], "the bars of the legs do not lie on each other"
    assert all(bar.get_alpha() is None for bar in bars["r"]), "bars of two cycles add no color"


def colored(collection, side: str) -> bool:
    return to_hex(collection.get_facecolor()[0]) == STANCE_COLOR[side].lower()


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", some(FIGURES, 2))
def test_every_figure_says_of_what_it_is(name):
    data = result()
    data.attrs |= {"subject": "S01", "trial_file": "/a/b/walk.toml", "cost": "stress_cubed", "strength": 1.5}
    texts = [text.get_text() for text in FIGURES[name](data).texts]
    assert "S01,  trial walk.toml,  cost stress_cubed,  strength 1.5" in texts


def test_full_activation_is_not_at_the_edge():
    assert activations(result()).axes[0].get_ylim()[1] >= 1.04


@pytest.mark.parametrize("draw", [joint_angles_and_moments, contact_forces])
def test_moments_and_net_reactions_mark_reserves_and_failures_as_well(draw):
    data = in_time(with_troubles(result()))
    axes = draw(data).axes[1]
    ((solid,), (dotted,)) = (lines_of(axes, "r", style) for style in ("-", ":"))
    assert np.isnan(solid.get_ydata()[20:26]).all()
    assert np.isfinite(dotted.get_ydata()[20:26]).all()
    assert np.isnan(solid.get_ydata()[40:43]).all()


def test_residual_is_drawn_in_body_weights_with_its_limit():
    data = result()
    data["pelvis_residual"][:] = 0.0
    data["pelvis_residual"][:, 2] = 0.1 * WEIGHT
    data.attrs["balance_limit"] = 0.25
    force = reserves_and_residual(data).axes[-2]
    curve, limit = force.lines
    assert np.allclose(curve.get_ydata(), 10.0)
    assert np.allclose(limit.get_ydata(), 25.0)


def test_bars_show_how_far_points_were_moved():
    data = result()
    figure = consistency_shift(data)
    (axes,) = figure.axes
    lengths = {bar.get_width() for bar in axes.patches}
    shift = 1000.0 * data["consistency_shift"].values
    assert np.allclose(sorted(lengths), np.sort(np.sqrt((shift**2).mean(axis=0))))
    marks = [line.get_xdata() for line in axes.lines if line.get_marker() == "|"]
    assert np.allclose(np.sort(np.ravel(marks)), np.sort(shift.max(axis=0)))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["toe", "ankle", "knee", "back"]
    assert {to_hex(bar.get_facecolor()).upper() for bar in axes.patches} >= {SIDE_COLOR["r"], SIDE_COLOR["l"]}
    assert {"right", "left", "middle"} < set(entries(figure))


@pytest.mark.thorough
def test_a_result_without_a_newer_variable_is_drawn_without_its_figure(tmp_path, monkeypatch):
    few = {name: FIGURES[name] for name in ("ground_reaction", "consistency_shift")}
    monkeypatch.setattr("musclesolve.laboratory.plotting.figure_sets.FIGURES", few)
    assert len(save_figures(result(), tmp_path)) == 2
    older = save_figures(result().drop_vars("consistency_shift"), tmp_path)
    assert [path.stem for path in older] == ["ground_reaction"]


def test_a_dataset_of_another_kind_is_refused(tmp_path):
    with refused("bad_result", "activation", "subject_mass_kg"):
        save_figures(result().drop_vars("activation").drop_attrs(), tmp_path)
    with refused("bad_result", "time", "1 frame"):
        save_figures(result().isel(time=[0]), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_events_are_marked_where_no_bar_shows_them():
    data = in_time(result())
    data.attrs["heel_strike_times_r"] = [0.2, 1.2, 2.2]
    axes = activations(data).axes[0]
    (strikes, toe_offs) = [
        c for c in axes.collections if to_hex(c.get_color()[0]).upper() == SIDE_COLOR["r"] and c.get_alpha()
    ]
    assert [float(path.vertices[0, 0]) for path in strikes.get_paths()] == [0.2, 1.2, 2.2]
    assert [float(path.vertices[0, 0]) for path in toe_offs.get_paths()] == pytest.approx(
        [0.8, 1.8], abs=0.05
    )
    assert {"heel strike", "toe-off"} <= set(entries(activations(data)))
    assert "heel strike" not in entries(activations(result())), "a cycle begins with it"
    assert not {"heel strike", "toe-off"} & set(entries(ground_reaction(data))), "bars show stance"
