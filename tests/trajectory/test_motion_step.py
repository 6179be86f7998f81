"""A step of the interior point of a motion: what the compiled passes return satisfies the linearized conditions."""

from __future__ import annotations

import numpy as np
import pytest
from motion_cases import small_motion

from musclesolve.trajectory.banded_interior_point import ENOUGH, MotionInteriorPoint
from musclesolve.trajectory.motion_problem import MotionCost
from musclesolve.trajectory.solve_motion import static_start

COSTS = ["activation_power", "stress_cubed"]


@pytest.fixture(params=COSTS)
def stepped(request):
    """A motion, its iterate after some steps, the linearized conditions there, pushes and the move."""
    problem = small_motion()
    cost = MotionCost.from_cost(problem, request.param)
    method = MotionInteriorPoint(problem, cost)
    at = method.start(static_start(problem, cost.cost)[0])
    for _ in range(4):
        at = method.step(at, 1e-13)
    linear = method.linearize(at)
    push = 1e-3 * np.random.default_rng(0).random(at.barrier.x.shape) / at.barrier.x
    return problem, at, linear, push, linear.move(at.barrier, push, ENOUGH)


def test_activations_balance_tendon_and_fiber(stepped):
    problem, _, linear, _, move = stepped
    terms, d_y = linear.terms, problem.basis.rates(move.c)
    np.testing.assert_allclose(move.z, problem.basis.values(move.c), atol=1e-14)
    expected = terms.missing / terms.capacity + terms.by_z * move.z + terms.by_y * d_y
    np.testing.assert_allclose(move.a, expected, rtol=1e-10, atol=1e-13)


def test_distances_and_multipliers_follow(stepped):
    _, at, linear, push, move = stepped
    bounds = move.z, -move.z, move.a, -move.a
    limits = np.concatenate(linear.limits.change(move.a)) + at.missing
    np.testing.assert_allclose(move.dx, np.concatenate([*bounds, limits]), rtol=1e-10, atol=1e-13)
    x, k = at.barrier
    np.testing.assert_allclose(move.dk, push - k - k / x * move.dx, rtol=1e-8, atol=1e-10 * k.max())
    shares = np.minimum(move.dx / x, move.dk / k)
    assert move.least == pytest.approx(min(0.0, shares.min()), rel=1e-9)
    reached = move.longest(0.9)
    assert (x + reached * move.dx > 0.0).all() and (k + reached * move.dk > 0.0).all()


def test_slopes_vanish(stepped):
    """By the activation, and by the coefficients through z and its rate, chains being convex as they are."""
    problem, _, linear, push, move = stepped
    terms, frames, limits = linear.terms, problem.n_frames, linear.limits
    assert not linear.system.share.any()
    of_limits = push[4 * frames :] - linear.ratio * move.dx[4 * frames :]
    pull = limits.pull(of_limits.reshape(2, frames - 1, -1))
    low, high = push[2 * frames : 3 * frames], push[3 * frames : 4 * frames]
    d_y = problem.basis.rates(move.c)
    of_a = terms.slope_a - low + high + terms.za * move.z + terms.ya * d_y + terms.aa * move.a - pull
    left = of_a + move.balance * terms.capacity
    assert np.abs(left).max() <= 1e-10 * np.abs(of_a).max()


def test_moments_are_met(stepped):
    problem, at, linear, _, move = stepped
    z = problem.basis.values(at.c)
    slope = problem.state(z, problem.basis.rates(at.c)).tendon.slope
    produced = np.einsum("tkn,tn->tk", problem.lever * slope[:, None, :], move.z)
    np.testing.assert_allclose(produced, linear.short, atol=1e-7 * max(1.0, np.abs(linear.short).max()))
