"""The arrays of a solution with names and units."""

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms


@pytest.fixture(scope="module")
def problem():
    arm = np.array([[[0.05, 0.03, -0.04]], [[0.05, 0.03, -0.03]]])
    return ms.Problem(
        moment_arm=arm,
        moment=[[20.0], [5.0]],
        force_capacity=[1000.0, 400.0, 500.0],
        max_isometric_force=[1000.0, 400.0, 500.0],
        muscle=["biceps", "brachialis", "triceps"],
        dof=["elbow_flexion"],
        passive_force=[0.0, 10.0, 30.0],
        time=[0.0, 0.1],
    )


def test_dataset_has_the_arrays_names_units_and_time_of_the_problem(problem):
    solution = ms.solve(problem)
    data = solution.to_dataset(problem)
    assert list(data["muscle"].values) == list(problem.muscle) and list(data["dof"].values) == [
        "elbow_flexion"
    ]
    np.testing.assert_array_equal(data["time"], problem.time)
    assert data["time"].attrs["units"] == "s"
    np.testing.assert_array_equal(data["activation"], solution.activation)
    np.testing.assert_array_equal(data["muscle_force"], solution.force + problem.passive_force)
    np.testing.assert_array_equal(data["valid"], solution.solved)
    assert data["status"].attrs["flag_meanings"].split()[0] == "SOLVED"
    assert all("units" in variable.attrs for variable in data.data_vars.values())
    assert data.attrs == {"cost": solution.cost_name, "solver": "batch"}


def test_variables_fulfill_the_balance_of_moments(problem):
    data = ms.solve(problem, "stress_cubed").to_dataset(problem)
    produced = (data["moment_arm"] * data["muscle_force"]).sum("muscle")
    np.testing.assert_allclose(produced.transpose("time", "dof"), data["joint_moment"], atol=1e-5)


def test_multiplier_is_the_derivative_of_the_least_cost(problem):
    change = 1e-4
    more = problem.with_arrays(moment=problem.moment + change)
    first, second = (ms.solve(each, "stress_cubed").to_dataset() for each in (problem, more))
    slope = (second["cost"] - first["cost"]) / change
    np.testing.assert_allclose(slope, first["multiplier"].sel(dof="elbow_flexion"), rtol=1e-3)


def test_names_remain_without_the_problem_and_frames_are_numbered(problem):
    data = ms.solve(problem.with_arrays(time=None)).to_dataset()
    assert list(data["muscle"].values) == list(problem.muscle)
    assert data["time"].values.tolist() == [0, 1] and data["time"].attrs["long_name"] == "frame"
    timed = ms.solve(problem.with_arrays(time=None)).to_dataset(time=[3.0, 4.0])
    assert timed["time"].values.tolist() == [3.0, 4.0]


def test_a_single_frame_has_no_time(problem):
    single = ms.Problem(
        problem.moment_arm[0], problem.moment[0], problem.force_capacity[0], [1000.0, 400.0, 500.0]
    )
    data = ms.solve(single).to_dataset(single)
    assert data["activation"].dims == ("muscle",) and data["status"].dims == () and "time" not in data.coords


def test_written_and_read_again(problem, tmp_path):
    import xarray as xr

    data = ms.solve(problem).to_dataset(problem)
    data.to_netcdf(tmp_path / "solution.nc", engine="scipy")
    xr.testing.assert_identical(data, xr.load_dataset(tmp_path / "solution.nc", engine="scipy"))


def test_another_problem_and_other_times_are_refused(problem):
    solution = ms.solve(problem)
    with refused("bad_shape", "problem"):
        solution.to_dataset(problem.frames(np.array([0])))
    with refused("bad_shape", "time"):
        solution.to_dataset(time=[0.0])
    with refused("time_not_increasing"):
        solution.to_dataset(time=[1.0, 0.0])


def test_frames_out_of_order_have_no_time(problem):
    assert problem.frames(np.array([1])).time.tolist() == [0.1]
    twice = problem.frames(np.array([0, 1, 0]))
    assert twice.time is None and ms.solve(twice).time is None
