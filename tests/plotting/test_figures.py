"""The figures: all there, and a frame without a valid solution never drawn as a good one."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic_result import MASS, result, with_troubles

import muscle_db
from musclesolve.errors import InputError
from musclesolve.plotting import FIGURES, save_figures
from musclesolve.plotting.abscissa import abscissa
from musclesolve.plotting.forces import ground_reaction
from musclesolve.plotting.joints import joint_angles_and_moments
from musclesolve.plotting.muscles import activations, muscle_forces
from musclesolve.plotting.style import FAILED_MARK, SIDE_COLOR
from musclesolve.results import frames


def in_time(data):
    """Without heel strikes of the left leg the axis is time, which makes curves easy to find again."""
    data.attrs["heel_strike_times_l"] = []
    return data


def lines_of(axes, side, style):
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


@pytest.mark.parametrize("draw", [activations, muscle_forces])
def test_a_panel_for_every_muscle_with_its_group(draw):
    panels = visible(draw(result()))
    drawn = {axes.get_title(loc="left"): axes.texts[0].get_text() for axes in panels}
    assert drawn == {m.name.replace("_", " "): m.group.replace("_", " ") for m in muscle_db.load().muscles}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("sides", ["r", "l"])
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
        assert len(drawn) == 2
        assert all(np.isnan(curve[where]).all() for curve in drawn)
        marks = [line.get_xdata() for line in axes.lines if line.get_color() == FAILED_MARK["color"]]
        assert any(np.array_equal(mark, time[where]) for mark in marks)


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


def test_the_axis_is_the_gait_cycle_only_when_every_leg_has_one():
    data = result()
    assert "%" in abscissa(data).label
    assert [len(abscissa(data).segments[side]) for side in "rl"] == [2, 1]
    assert abscissa(in_time(data)).label == "time [s]"


def test_a_dataset_of_another_kind_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"activation.*subject_mass_kg"):
        save_figures(result().drop_vars("activation").drop_attrs(), tmp_path)
    with pytest.raises(InputError, match="single frame"):
        save_figures(result().isel(time=[0]), tmp_path)
    assert list(tmp_path.iterdir()) == []
