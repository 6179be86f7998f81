"""Rate limits, the Pareto front and mixtures on the recorded walk."""

from __future__ import annotations

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.sharing.cost import ForceSquared, StressCubed

COSTS = ["stress_cubed", "force_squared"]


@pytest.fixture(scope="module")
def leg(recorded_walk_trial):
    """Times and the problem of the right leg."""
    result = ms.run(recorded_walk_trial, side="r")
    dofs = result.attrs["shared_dofs"]
    arm = result.moment_arm.sel(dof=dofs).values
    needed = result.joint_moment.sel(dof=dofs).values
    needed = needed - np.einsum("tkm,tm->tk", arm, result.passive_force.values)
    fields = (arm, needed, result.force_capacity.values, result.max_isometric_force.values)
    return result.time.values, ms.Problem(*fields, muscle=result.muscle.values, dof=dofs)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", COSTS)
def test_single_frames_ask_for_changes_that_muscles_cannot_make(leg, cost):
    time, problem = leg
    single = ms.solve(problem, cost, on_infeasible="reserve")
    answer = ms.trajectory.solve_rate_limited(problem, time, cost, on_infeasible="reserve")
    assert answer.solution.solved.all() and answer.solution.gap.max() <= 1e-9
    limits = ms.sharing.RateLimits()
    too_fast = (limits.excess(single.activation, time) > 1e-6).mean()
    assert 0.02 < too_fast < 0.15
    assert limits.excess(answer.solution.activation, time).max() < 1e-9
    least = np.abs(single.reserve).sum()
    assert least < np.abs(answer.solution.reserve).sum() < 1.1 * least


@pytest.mark.thorough
def test_the_motion_is_proved_to_be_out_of_reach_without_reserves(leg):
    time, problem = leg
    answer = ms.trajectory.solve_rate_limited(problem, time)
    assert (answer.solution.status == ms.Status.INFEASIBLE).all()
    lacking = (np.abs(answer.shortage) > 1e-3).any(axis=1)
    alone = ms.solve(problem).status == ms.Status.INFEASIBLE
    assert lacking[alone].all() and alone.sum() <= lacking.sum() < 60


def test_a_mixture_is_recovered_from_the_recorded_walk(leg):
    _, problem = leg
    known = 1.0 * StressCubed() + 0.01 * ForceSquared()
    pattern = ms.solve(problem, known).activation
    found = ms.sharing.fit_cost(problem, pattern, family=COSTS)
    (_, first), (_, second) = pairs = found.cost.summands
    assert (type(first), type(second)) == (StressCubed, ForceSquared)
    assert pairs[1][0] / pairs[0][0] == pytest.approx(0.01, rel=1e-4)


def test_the_front_of_the_walk_is_convex_between_its_ends(leg):
    _, problem = leg
    front = ms.sharing.pareto_front(problem, COSTS, divisions=4, scope="motion")
    assert front.complete.sum() > 100
    first, second = front.normalized[np.argsort(front.weight[:, 0])].T
    slope = np.diff(second) / np.diff(first)
    assert (np.diff(first) < 0).all() and (np.diff(slope) < 0).all()
