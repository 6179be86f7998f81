"""The problem of one leg, rebuilt from a result."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from stored_results import write_result

import musclesolve as ms


@pytest.fixture(scope="module")
def result(recorded_walk_trial):
    return ms.run(recorded_walk_trial)


@pytest.mark.parametrize("side", ["r", "l"])
def test_solving_the_problem_of_a_leg_again_gives_its_activations(result, side):
    problem = ms.leg_problem(result, side)
    again = ms.solve(problem, result.attrs["cost"])
    solved = again.status == ms.Status.SOLVED
    np.testing.assert_array_equal(solved, result.status.sel(side=side).values == ms.Status.SOLVED)
    known = result.activation.sel(muscle=list(problem.muscle)).values
    np.testing.assert_allclose(again.activation[solved], known[solved], atol=1e-9)


def test_the_problem_survives_the_file(result, tmp_path):
    file = tmp_path / "result.nc"
    write_result(result, file)
    kept, direct = ms.leg_problem(ms.read_result(file), "l"), ms.leg_problem(result, "l")
    np.testing.assert_array_equal(kept.moment, direct.moment)
    assert kept.muscle == direct.muscle and kept.dof == direct.dof


def test_the_best_answer_lies_within_its_ranges(result):
    problem = ms.leg_problem(result.isel(time=slice(60, 70)), "r")
    best = ms.solve(problem)
    wide = ms.sharing.force_range(problem, ["soleus_r"])
    near = ms.sharing.force_range(problem, within=0.05, muscles=["soleus_r"])
    k, solved = problem.muscle.index("soleus_r"), best.status == ms.Status.SOLVED
    assert solved.sum() > 4
    for low, high in ((wide.least, near.least), (near.least, best.force), (best.force, near.greatest)):
        assert (low[solved, k] <= high[solved, k] + 0.5).all()
    assert (near.greatest[solved, k] <= wide.greatest[solved, k] + 0.5).all()
    assert (near.greatest - near.least)[solved, k].min() > 0


def test_what_is_not_the_result_of_a_run_is_refused(result):
    with refused("unknown_name", "'x'"):
        ms.leg_problem(result, "x")
    with refused("bad_result", "moment_arm"):
        ms.leg_problem(result.drop_vars("moment_arm"), "r")
    for axis in ("time", "dof", "muscle"):
        with refused("bad_result", repr(axis)):
            ms.leg_problem(result.isel({axis: 5}), "r")
    with refused("bad_type"):
        ms.leg_problem(None, "r")
