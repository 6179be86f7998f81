"""Gait cycles over 0 to 100 %: the strikes are its ends, and what is not valid or not recorded is not there."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from synthetic_result import result, set_status, with_troubles

import musclesolve as ms
from musclesolve.laboratory.results.cycles.gait_cycles import SPREAD
from musclesolve.laboratory.results.dataset import frame_validity as frames


def clocked(n_frames=251):
    """A result in which every joint angle is the time."""
    data = result(n_frames)
    data["joint_angle"][:] = data["time"].values[:, None]
    return data


def test_nought_and_a_hundred_per_cent_are_the_strikes():
    data = clocked()
    data.attrs["heel_strike_times_r"] = [0.203, 1.217, 2.2]
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    angle = cycles["joint_angle"].sel(dof="knee_flexion_r")
    np.testing.assert_allclose(angle.sel(percent=0.0), [0.203, 1.217])
    np.testing.assert_allclose(angle.sel(percent=100.0), [1.217, 2.2])
    np.testing.assert_allclose(angle.sel(percent=50.0), [0.5 * (0.203 + 1.217), 0.5 * (1.217 + 2.2)])
    np.testing.assert_allclose(angle.diff("percent", 2), 0.0, atol=1e-12)
    np.testing.assert_allclose(cycles["cycle_start"], [0.203, 1.217])
    assert cycles.sizes["percent"] == 101


def test_a_periodic_motion_gives_the_same_cycle_again_in_both_legs():
    data = result(n_frames=501)
    legs = {}
    for side in "rl":
        data.attrs[f"heel_strike_times_{side}"] = [0.2, 1.2, 2.2] if side == "r" else [0.7, 1.7]
        legs[side] = ms.laboratory.cycles(data, side, without_side=True, strides=True)
    right, left = legs["r"], legs["l"]
    assert (right.sizes["cycle"], left.sizes["cycle"]) == (2, 1)
    # The activation of the synthetic result is a function of the phase of the leg; its stance jumps at 60 %.
    np.testing.assert_allclose(right.activation[0], right.activation[1], atol=1e-3)
    np.testing.assert_allclose(right.activation[0], left.activation[0], atol=1e-3)
    assert right.muscle.values.tolist() == left.muscle.values.tolist()
    assert right.short_name.values.tolist() == left.short_name.values.tolist()
    assert not any(str(name).endswith(("_r", "_l")) for name in right.dof.values)


def test_without_side_the_lateral_axis_points_to_the_median_plane():
    data = result(n_frames=251)
    kept, turned = (
        ms.laboratory.cycles(data, "l", without_side=each, strides=True) for each in (False, True)
    )
    for name in ("ground_reaction_force", "joint_reaction"):
        np.testing.assert_array_equal(turned[name].sel(axis="y"), -kept[name].sel(axis="y").values)
        np.testing.assert_array_equal(turned[name].sel(axis="z"), kept[name].sel(axis="z").values)
    right = ms.laboratory.cycles(data, "r", without_side=True, strides=True)
    assert float(right["ground_reaction_force"].sel(axis="y").max()) > 0.0


def test_standard_deviations_of_a_vector_are_turned_as_squares():
    """They have no sign, whichever leg, and the sum of their squares in the plane stays."""
    data = result(n_frames=251)
    data["heading"] = ("time", np.full(251, 0.6))
    force = data["ground_reaction_force"]
    name = f"ground_reaction_force{SPREAD}"
    spread = np.broadcast_to(np.array([3.0, 4.0, 5.0]), force.shape)
    data[name] = force.copy(data=spread)
    x, y = np.hypot(3.0 * np.cos(0.6), 4.0 * np.sin(0.6)), np.hypot(4.0 * np.cos(0.6), 3.0 * np.sin(0.6))
    for side in "rl":
        found = ms.laboratory.cycles(data, side, without_side=True, strides=True)[name]
        for axis, expected in zip("xyz", (x, y, 5.0), strict=True):
            np.testing.assert_allclose(found.sel(axis=axis), expected, rtol=1e-6)


def test_frames_without_a_valid_solution_stay_without():
    data = with_troubles(result(n_frames=251))  # the right leg has none at 0.40 to 0.42 s
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    lost = cycles["activation"].isnull().any("muscle").isel(cycle=0)
    between = data["time"].values[[39, 43]]
    start, end = float(cycles["cycle_start"][0]), float(cycles["cycle_end"][0])
    at = start + 0.01 * cycles["percent"].values * (end - start)
    np.testing.assert_array_equal(lost, (at > between[0] + 1e-9) & (at < between[1] - 1e-9))
    assert lost.any()
    assert not cycles["joint_angle"].isnull().any()
    assert cycles.attrs["invalid"] == [
        f"result, right leg, {start:.3f} to {end:.3f} s: 3 frames without a valid solution"
    ]
    assert ms.laboratory.cycles(data, "l", strides=True).attrs["invalid"] == []


def test_forces_that_do_not_carry_the_motion_give_no_moment():
    data = result(n_frames=251)
    set_status(data, ms.Status.INVALID_MOTION, slice(60, 70))
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    for name in ("joint_moment", "muscle_force", "ground_reaction_force"):
        assert cycles[name].isel(cycle=0).isnull().any()
        assert not cycles[name].isel(cycle=1).isnull().any()
    assert not cycles["joint_angle"].isnull().any()


def test_incomplete_cycles_are_left_out_and_named_unless_asked_for():
    data = clocked().isel(time=slice(0, 60))  # 0 to 0.59 s
    data.attrs["heel_strike_times_r"] = [-0.5, 0.5, 1.5]
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    assert cycles.sizes["cycle"] == 0 and cycles.sizes["percent"] == 101
    first, second = cycles.attrs["left_out"]
    assert "-0.500 to 0.500 s: the frames cover 50 % of it" in first and "0.500 to 1.500 s" in second
    half = ms.laboratory.cycles(data, "r", partial=True, strides=True)
    angle = half["joint_angle"].isel(dof=0)
    assert np.isfinite(angle).sum("percent").values.tolist() == [51, 10]
    np.testing.assert_allclose(angle.isel(cycle=0).sel(percent=[50.0, 100.0]), [0.0, 0.5], atol=1e-12)
    assert half.attrs["left_out"] == []


def test_a_strike_just_beyond_the_last_frame_ends_a_complete_cycle():
    """A force that crosses its threshold late puts the strikes a little behind the ends of a range of one stride."""
    data = clocked().isel(time=slice(0, 101))  # 0 to 1 s
    data.attrs["heel_strike_times_r"] = [0.008, 1.008]
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    np.testing.assert_allclose(
        cycles["joint_angle"].isel(cycle=0, dof=0).sel(percent=[0.0, 100.0]), [0.008, 1.008]
    )
    data.attrs["heel_strike_times_r"] = [0.032, 1.032]
    angle = ms.laboratory.cycles(data, "r", strides=True)["joint_angle"].isel(cycle=0, dof=0)
    assert (
        np.isfinite(angle.sel(percent=slice(0, 96))).all()
        and np.isnan(angle.sel(percent=slice(97, 100))).all()
    )
    data.attrs["heel_strike_times_r"] = [0.062, 1.062]
    assert ms.laboratory.cycles(data, "r", strides=True).sizes["cycle"] == 0


def test_an_interval_without_a_strike_in_its_middle_is_no_cycle():
    data = clocked()
    data.attrs["heel_strike_times_r"] = [0.1, 0.6, 1.1, 2.1]
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    assert cycles["cycle_start"].values.tolist() == [0.1, 0.6]
    (sentence,) = cycles.attrs["left_out"]
    assert "1.100 to 2.100 s: much longer" in sentence


def test_a_leg_without_strikes_is_reported():
    data = clocked()
    data.attrs["heel_strike_times_r"] = [0.3]
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    assert cycles.sizes["cycle"] == 0
    assert cycles.attrs["left_out"] == ["result, right leg: no two heel strikes with frames between them"]


def test_measures_of_the_stride_belong_to_its_cycle():
    data = clocked()
    data.attrs["heel_strike_times_r"] = [0.2, 1.2, 2.2]
    data["cadence"] = ("stride", [111.0, 90.0, 112.0], {"units": "1/min"})
    data = data.assign_coords(
        stride_side=("stride", ["r", "l", "r"]), stride_start=("stride", [1.2, 1.2, 5.0])
    )
    cadence = ms.laboratory.cycles(data, "r", strides=True)["cadence"]
    assert cadence.dims == ("cycle",) and cadence.attrs["units"] == "1/min"
    np.testing.assert_array_equal(cadence, [np.nan, 111.0])


def test_what_belongs_to_the_laboratory_or_the_solver_is_not_normalized():
    data = result(n_frames=251)
    data["center_of_pressure"] = data["ground_reaction_force"] * 0.0
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    assert {"center_of_pressure", "gap", "status", "pelvis_residual"}.isdisjoint(cycles.data_vars)
    assert {"activation", "joint_moment", "ground_reaction_force"} <= set(cycles.data_vars)
    assert cycles["ground_reaction_force"].dims == ("cycle", "percent", "axis")


def test_number_of_points():
    cycles = ms.laboratory.cycles(clocked(), "r", points=11, strides=True)
    assert cycles["percent"].values.tolist() == list(np.linspace(0.0, 100.0, 11))
    for points in (1, -5, 10.5, "a", None):
        with refused("bad_number", "points"):
            ms.laboratory.cycles(clocked(), "r", points=points, strides=True)


def test_a_leg_that_is_not_there_and_a_dataset_that_is_no_result_are_refused():
    with refused("bad_result", "'l'"):
        ms.laboratory.cycles(result(sides="r"), "l", strides=True)
    with pytest.raises(ms.InputError, match="status"):
        ms.laboratory.cycles(result().drop_vars("status"), "r", strides=True)
    for other in ("result.nc", None, 3.0):
        with pytest.raises(ms.InputError, match=type(other).__name__):
            ms.laboratory.cycles(other, "r", strides=True)
    for side in ("x", None, ["r"]):
        with refused("bad_result", str(side)):
            ms.laboratory.cycles(result(), side, strides=True)


def test_cycles_agree_with_the_places_that_figures_use():
    data = clocked(126)
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    for number, cycle in enumerate(frames.cycles(data, "r")):
        angle = cycles["joint_angle"].isel(cycle=number, dof=0)
        at = np.interp(cycle.percent, cycles["percent"], angle)
        np.testing.assert_allclose(at, data["time"].values[cycle.index], atol=1e-9)


def test_activations_do_not_leave_those_of_the_frames_beyond_the_last_one():
    data = clocked().isel(time=slice(0, 101))
    data.attrs["heel_strike_times_r"] = [0.008, 1.008]
    data["activation"][:] = np.where(data["time"].values < 0.995, 0.5, 1.0)[:, None]
    cycles = ms.laboratory.cycles(data, "r", strides=True)
    assert float(cycles["activation"].max()) == pytest.approx(1.0, abs=1e-12)
