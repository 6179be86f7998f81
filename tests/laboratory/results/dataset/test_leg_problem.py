"""The problem of a leg with the trial of its result: joint reactions are those of the result."""

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms


@pytest.fixture(scope="module")
def trial():
    return ms.data.reference_stride()


@pytest.fixture(scope="module")
def result(trial):
    return ms.run(trial, cost="joint_reaction_squared", side="r")


@pytest.fixture(scope="module")
def leg(result, trial):
    return ms.leg_problem(result, "r", trial=trial)


def test_reactions_are_those_of_the_result(result, leg):
    force = result["muscle_force"].sel(muscle=list(leg.muscle)).values - leg.passive_force
    reaction = np.einsum("tkn,tn->tk", leg.reaction_matrix, force) + leg.reaction_offset
    joints = [name[:-2] for name in leg.reaction[::3]]
    expected = result["joint_reaction"].sel(joint=joints).transpose("time", "joint", "axis").values
    np.testing.assert_allclose(reaction.reshape(expected.shape), expected, atol=1e-6)


def test_cost_of_reactions_has_the_solution_of_the_run(result, leg):
    solution = ms.solve(leg, "joint_reaction_squared")
    assert (solution.gap <= 1e-9).all()
    expected = result["activation"].sel(muscle=list(leg.muscle))
    np.testing.assert_allclose(solution.activation, expected, atol=1e-6)


def test_rates_are_the_slopes_of_the_angles_and_time_is_that_of_the_result(result, leg):
    slope = np.gradient(leg.joint_angle, leg.time, axis=0)[1:-1]
    np.testing.assert_allclose(leg.joint_rate[1:-1], slope, atol=0.05 * np.abs(slope).max())
    np.testing.assert_array_equal(leg.time, result["time"])
    np.testing.assert_array_equal(leg.fiber_length, result["fiber_length"].sel(muscle=list(leg.muscle)))


def test_without_the_trial_there_are_no_reactions_and_another_trial_is_refused(result, trial):
    plain = ms.leg_problem(result, "r")
    assert plain.reaction_matrix is None and plain.joint_rate is None and plain.joint_angle is not None
    with refused("conflict", "trial"):
        ms.leg_problem(result.isel(time=slice(1, None)), "r", trial=trial)
    with refused("bad_result", "no side"):
        ms.leg_problem(ms.compare(plain, ["stress_cubed", "force_squared"]), "r")
    changed = result.assign(moment_arm=1.01 * result["moment_arm"])
    with refused("conflict", "moment arms"):
        ms.leg_problem(changed, "r", trial=trial)
