"""Derivatives of the force sharing of the recorded walk, for every smooth cost, against differences of solutions."""

from __future__ import annotations

import numpy as np
import pytest
from layer_cases import SHARP
from sharing_cases import SMOOTH, equipped

import musclesolve as ms
from musclesolve.sharing.problem_change import ProblemChange

STEP = 1e-4
CHANGING = ("moment", "moment_arm", "force_capacity", "max_isometric_force", "fiber_velocity")


@pytest.fixture(scope="module")
def legs(recorded_walk_trial):
    """Every fourth frame of both legs, with reactions and activations of a plausible kind."""
    result = ms.run(recorded_walk_trial, cost="force_squared")
    return [equipped(ms.leg_problem(result.isel(time=slice(None, None, 4)), side)) for side in "rl"]


@pytest.mark.parametrize("cost", SMOOTH)
def test_away_from_changes_they_are_exact_and_elsewhere_they_say_so(legs, cost):
    random, share = np.random.default_rng(3), 0
    for problem in legs:
        solution = ms.solve(problem, cost, SHARP)
        found = ms.sharing.solution_derivatives(problem, cost, solution)
        direction = {
            f"d_{name}": 0.03 * getattr(problem, name) * random.normal(size=getattr(problem, name).shape)
            for name in CHANGING
        }
        change = ProblemChange.from_changes(problem, direction)
        ends = {j: ms.solve(change.moved(problem, j * STEP), cost, SHARP) for j in (1, -1, 2, -2)}
        solved = np.all([end.solved for end in ends.values()], axis=0)
        clear = solved & (found.margin > 1e-3)
        share += clear.sum()
        assert np.isnan(found.margin[~solution.solved]).all() and not found.unique[~solution.solved].any()
        for name in ("activation", "multiplier"):
            value = {j: getattr(end, name)[clear] for j, end in ends.items()}
            theirs = (8 * (value[1] - value[-1]) - (value[2] - value[-2])) / (12 * STEP)
            ours = getattr(found.along(**direction), name)[clear]
            scale = np.maximum(np.abs(theirs).max(axis=1, keepdims=True), 1e-3 * np.abs(theirs).max())
            np.testing.assert_allclose(ours / scale, theirs / scale, rtol=0, atol=1e-5)
    assert share > 15
