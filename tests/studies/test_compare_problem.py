"""A problem under several costs and solvers: every cost is least at its own optimum, and solvers agree."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms

COSTS = ["stress_cubed", "force_squared", "joint_weighted_activation"]


@pytest.fixture(scope="module")
def squat():
    time = np.linspace(0.0, 1.0, 5)
    bend = 0.4 - 0.2 * np.cos(2.0 * np.pi * time)
    angles = {"hip_flexion_r": bend, "knee_flexion_r": 2.0 * bend}
    return ms.pose_problem(
        angles, None, {"hip_flexion_r": -60.0 * bend, "knee_flexion_r": -80.0 * bend}, time=time
    )


@pytest.fixture(scope="module")
def compared(squat):
    return ms.compare(squat, COSTS)


def test_every_cost_is_least_at_its_own_optimum(compared):
    value = compared["cost_value"].transpose("evaluated_cost", "cost", "time")
    for cost in COSTS:
        own = value.sel(evaluated_cost=cost, cost=cost)
        np.testing.assert_allclose(own, compared["least_cost"].sel(cost=cost), rtol=1e-9)
        others = value.sel(evaluated_cost=cost)
        assert (others >= own * (1.0 - 1e-6)).all() and (others.max("cost") > 1.01 * own).any()


def test_solutions_are_those_of_solve_with_certificate_and_time(compared, squat):
    for cost in COSTS:
        alone = ms.solve(squat, cost)
        np.testing.assert_array_equal(compared["activation"].sel(cost=cost), alone.activation)
        np.testing.assert_array_equal(compared["gap"].sel(cost=cost), alone.gap)
    assert compared["valid"].all() and (compared["time_per_frame"] > 0.0).all()
    assert compared["moment_arm"].dims == ("time", "dof", "muscle")
    np.testing.assert_array_equal(compared["time"], squat.time)


def test_solvers_find_the_same_forces(squat):
    both = ms.compare(squat, ["stress_cubed"], solvers=["batch", "slsqp"])
    assert both["activation"].dims == ("cost", "solver", "time", "muscle")
    force = both["muscle_force"].isel(cost=0)
    np.testing.assert_allclose(force.sel(solver="slsqp"), force.sel(solver="batch"), atol=0.5)
    one = ms.compare(squat, COSTS[:2], "slsqp")
    assert one.attrs["solver"] == "slsqp" and "solver" not in one.dims


def test_a_cost_beyond_the_usual_solver_gets_one_that_can(squat):
    both = ms.compare(squat, ["stress_cubed", "min_max"])
    assert both["valid"].all() and both.attrs["cost"] == "stress_cubed, min_max"


def test_a_single_frame(squat):
    arrays = squat.moment_arm[0], squat.moment[0], squat.force_capacity[0], squat.max_isometric_force
    fibers = squat.fiber_force_capacity[0]
    first = ms.Problem(*arrays, lower=squat.lower[0], fiber_force_capacity=fibers)
    one, every = (ms.compare(problem, COSTS[:2])["cost_value"] for problem in (first, squat))
    every = every.isel(time=0)
    assert one.dims == ("cost", "evaluated_cost")
    np.testing.assert_allclose(one, every, rtol=1e-6)


def test_wrong_arguments_are_refused(squat):
    with refused("duplicate_name", "solvers"):
        ms.compare(squat, COSTS, solvers=["batch", "batch"])
    with refused("missing_argument"):
        ms.compare(squat, COSTS[:1])
    with refused("conflict", "solvers"):
        ms.compare(ms.data.reference_stride(), COSTS, solvers=["batch"])


def test_frames_out_of_reach_are_treated_as_by_solve(squat):
    """A moment 40 times as large in one frame, without a solution or with a reserve."""
    far = squat.with_arrays(moment=squat.moment * np.array([1.0, 1.0, 40.0, 1.0, 1.0])[:, None])
    for choice in (None, "report", "reserve"):
        both = ms.compare(far, COSTS[:2], on_infeasible=choice)
        for cost in COSTS[:2]:
            alone = ms.solve(far, cost, on_infeasible=choice or "report")
            np.testing.assert_array_equal(both["status"].sel(cost=cost), alone.status)
            np.testing.assert_array_equal(both["reserve_moment"].sel(cost=cost), alone.reserve)
        helped = (both["status"] == ms.Status.SOLVED_WITH_RESERVE).sum()
        assert helped == (2 if choice == "reserve" else 0)
    with refused("unknown_name", "on_infeasible", "hope"):
        ms.compare(far, COSTS, on_infeasible="hope")


def test_reserves_that_the_muscles_do_not_need_are_a_remark(squat):
    weak = replace(squat, reserve_weight=1e-3)
    both = ms.compare(weak, COSTS[:2])
    lines = both.attrs["needless_reserves"].splitlines()
    assert len(lines) == 2
    for cost, line in zip(COSTS[:2], lines, strict=True):
        (note,) = (note for note in ms.solve(weak, cost).notes if "Reserves of weight" in note)
        assert line == f"{cost}: {note}"
    solvers = ms.compare(weak, ["stress_cubed"], solvers=["batch", "slsqp"]).attrs["needless_reserves"]
    assert [line.split(":")[0] for line in solvers.splitlines()] == [
        "stress_cubed, batch",
        "stress_cubed, slsqp",
    ]
    sheet = ms.plotting.compare_muscle_forces(both, "r")
    drawn = " ".join(text.get_text().replace("\n", " ") for text in sheet.texts)
    assert all(line[:60] in drawn for line in lines)
    assert "needless_reserves" not in ms.compare(squat, COSTS[:2]).attrs
