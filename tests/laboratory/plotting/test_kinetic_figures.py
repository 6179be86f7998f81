"""Powers, contact force components, muscle groups and ground reaction: the numbers drawn are those of the result."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic_result import MASS, WEIGHT, result, set_status

import musclesolve as ms
from musclesolve.laboratory.plotting import (
    contact_force_components,
    function_groups,
    ground_reaction,
    joint_powers,
)
from musclesolve.laboratory.plotting.figure_sets import figure_files
from musclesolve.laboratory.plotting.page.page_style import SIDE_COLOR
from musclesolve.laboratory.results.dataset.result_quantities import group_force, joint_dofs, support_moment


def in_time(data):
    """Without heel strikes of the left leg the axis is time: curves are easy to find again."""
    data.attrs["heel_strike_times_l"] = []
    return data


def curve(axes, side):
    lines = [line for line in axes.lines if line.get_color() == SIDE_COLOR[side]]
    return next(
        line.get_ydata()
        for line in lines
        if line.get_linestyle() in ("-", "--") and len(line.get_ydata()) > 9
    )


def panel(figure, title):
    return next(axes for axes in figure.axes if axes.get_title(loc="left").startswith(title))


def test_the_power_of_a_joint_is_that_of_its_degrees_of_freedom():
    data = in_time(result())
    figure = joint_powers(data)
    dofs = [f"hip_{name}_r" for name in ("flexion", "adduction", "internal_rotation")]
    assert sorted(joint_dofs(data, "hip", "r")) == sorted(dofs)
    expected = data["joint_power"].sel(dof=dofs).sum("dof") / MASS
    np.testing.assert_allclose(curve(panel(figure, "hip: power of all"), "r"), expected)
    alone = data["joint_power"].sel(dof="hip_flexion_r") / MASS
    np.testing.assert_allclose(curve(panel(figure, "hip: power of flexion"), "r"), alone)


def test_bursts_are_printed_with_their_sign_where_winter_has_them():
    data = result(n_frames=251)
    data["joint_power"][:] = 0.0
    phase = (data["time"].values - 0.2) % 1.0
    push = 3.0 * MASS * np.exp(-(((phase - 0.55) / 0.03) ** 2))
    data["joint_power"].loc[{"dof": "ankle_dorsiflexion_r"}] = push
    data["joint_power"].loc[{"dof": "ankle_dorsiflexion_r"}][60] = 9.0 * MASS  # no valid solution
    set_status(data, ms.Status.INFEASIBLE, 60, 0)
    notes = [text.get_text() for text in panel(joint_powers(data), "ankle: power of flexion").texts]
    assert any("A2 3.00 / 0.00" in text for text in notes)


def test_a_burst_that_was_not_recorded_has_no_number():
    data = result(n_frames=251)
    phase = (data["time"].values - 0.2) % 1.0
    data["joint_power"].loc[{"dof": "ankle_dorsiflexion_r"}] = np.where(
        (phase > 0.3) & (phase < 0.8), np.nan, 1.0
    )
    notes = [text.get_text() for text in panel(joint_powers(data), "ankle: power of flexion").texts]
    assert any("A2 – / " in text for text in notes) and not any("nan" in text for text in notes)


def test_a_burst_is_not_read_at_the_edge_of_a_recording():
    """The power rises to where the recording begins, at 45 % of the cycle: A2 is of the cycles that hold its window."""
    data = result(n_frames=351)
    data = data.assign_coords(time=0.01 * np.arange(351))
    data.attrs |= {"heel_strike_times_r": [-0.45, 0.55, 1.55, 2.55], "heel_strike_times_l": [0.55, 1.55]}
    phase = np.mod(data["time"].values - 0.55, 1.0)
    power = MASS * (2.0 * np.exp(-(((phase - 0.6) / 0.03) ** 2)))
    data["joint_power"][:] = 0.0
    data["joint_power"].loc[{"dof": "ankle_dorsiflexion_r"}] = np.where(
        data["time"].values < 0.02, 9.0 * MASS, power
    )
    assert any(
        "A2 2.00 / " in text.get_text() for text in panel(joint_powers(data), "ankle: power of f").texts
    )
    short = data.sel(time=slice(0.0, 0.56))
    short.attrs |= {"heel_strike_times_l": [-0.45, 0.55]}
    assert any(
        "A2 – / –" in text.get_text() for text in panel(joint_powers(short), "ankle: power of f").texts
    )


def test_bursts_of_walking_are_not_read_from_a_run():
    data = result(n_frames=251)
    assert any("A2" in text.get_text() for text in panel(joint_powers(data), "ankle: power of flexion").texts)
    data.attrs["movement"] = "running"
    assert not panel(joint_powers(data), "ankle: power of flexion").texts


def test_the_support_moment_extends_the_leg():
    data = result()
    data["joint_moment"][:] = 0.0
    for dof, moment in (("hip_flexion_r", -50.0), ("knee_flexion_r", -40.0), ("ankle_dorsiflexion_r", -30.0)):
        data["joint_moment"].loc[{"dof": dof}] = moment
    np.testing.assert_allclose(support_moment(data, "r"), 120.0)
    np.testing.assert_allclose(support_moment(data, "l"), 0.0)
    other = data.assign_coords(dof=[str(d).replace("knee_flexion", "knee_angle") for d in data["dof"].values])
    assert support_moment(other, "r") is None and joint_dofs(other, "knee", "r") == ["knee_angle_r"]


def test_components_are_drawn_in_body_weights_by_direction():
    data = in_time(result())
    data["contact_force_component"].loc[{"joint": "knee_l", "direction": "anterior"}] = 0.5 * WEIGHT
    axes = panel(contact_force_components(data), "knee: fore-aft")
    np.testing.assert_allclose(curve(axes, "l"), 0.5)


def test_a_group_is_the_sum_of_its_muscles_over_the_sum_of_their_capacities():
    data = in_time(result())
    own = [
        k
        for k, name in enumerate(data["muscle"].values)
        if data["group"].values[k] == "triceps_surae" and name[-1] == "r"
    ]
    assert len(own) == 3
    force = data["muscle_force"].isel(muscle=own).sum("muscle").values
    capacity = float(data["max_isometric_force"].isel(muscle=own).sum())
    np.testing.assert_allclose(group_force(data, "triceps_surae", "r")[0], force)
    figure = function_groups(data)
    axes = panel(figure, "triceps surae")
    np.testing.assert_allclose(curve(axes, "r"), 100.0 * force / capacity)
    assert any(f"peak {force.max():.0f} N" in text.get_text() for text in axes.texts)
    groups = {str(group).replace("_", " ") for group in data["group"].values}
    assert {axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()} == groups


def test_the_medio_lateral_force_points_to_the_other_leg():
    data = in_time(result())
    data["ground_reaction_force"].loc[{"axis": "y"}] = 0.1 * WEIGHT  # to the left
    axes = panel(ground_reaction(data), "medio-lateral")
    assert np.allclose(curve(axes, "r"), 0.1) and np.allclose(curve(axes, "l"), -0.1)


@pytest.mark.parametrize("heading", [0.0, 0.5 * np.pi, np.pi])
def test_the_center_of_pressure_is_drawn_from_above_in_the_walking_direction(heading):
    data = result()
    ahead = data["time"].values
    forward, left = (
        np.array([np.cos(heading), np.sin(heading)]),
        np.array([-np.sin(heading), np.cos(heading)]),
    )
    point = np.zeros((ahead.size, 2, 3))
    for k, side in enumerate((-0.1, 0.1)):
        point[:, k, :2] = ahead[:, None] * forward + side * left + 7.0
    point[ahead > 2.0] = np.nan
    data["center_of_pressure"] = (("time", "side", "axis"), point)
    data["heading"] = (("time",), np.full(ahead.size, heading))
    axes = panel(ground_reaction(data), "center of pressure")
    for side, place in (("r", 0.0), ("l", 0.2)):
        path = next(line for line in axes.lines if line.get_color() == SIDE_COLOR[side])
        known = ahead <= 2.0
        np.testing.assert_allclose(path.get_xdata()[known], ahead[known], atol=1e-9)
        np.testing.assert_allclose(path.get_ydata()[known], place, atol=1e-9)
    assert sum(line.get_marker() == "o" for line in axes.lines) == 2


@pytest.mark.thorough
def test_an_older_result_has_the_figures_it_can_have():
    names = ("joint_power", "contact_force_component", "max_isometric_force")
    older = result().drop_vars(["direction", *names])
    files = {name.removesuffix(".png") for name in figure_files(older.isel(muscle=[0, 43]))}
    assert "ground_reaction" in files and "joint_angles_and_moments" in files
    assert not files & {"joint_powers", "contact_force_components", "function_groups"}
