"""Newton's method for costs that are no data of the kernel: dense programs, coupled costs, curved constraints."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import musclesolve as ms
from musclesolve.sharing import expression_constraint, expression_cost, solve_constrained
from musclesolve.sharing.cost import ActivationPower
from musclesolve.sharing.solver.newton import solve_quadratic

RANKS = (1, 5, 20)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("weight", [np.inf, 2.0])
def test_dense_programs_meet_the_conditions_of_their_optimum(rank: int, weight: float) -> None:
    """Strongly coupled muscles, where steps on all sets at once go in circles; with and without reserves."""
    random = np.random.default_rng(rank)
    frames, moments, muscles = 20, 4, 20
    factor = random.normal(size=(frames, rank, muscles))
    hessian = np.matmul(factor.transpose(0, 2, 1), factor)
    linear, matrix = random.normal(size=(frames, muscles)), random.normal(size=(frames, moments, muscles))
    upper = np.where(random.random((frames, muscles)) < 0.1, 0.0, 1.0)
    start = upper * random.random((frames, muscles)) * (random.random((frames, muscles)) < 0.5)
    right = np.einsum("tmn,tn->tm", matrix, start)
    compliance = np.full_like(right, 1.0 / weight)
    x, multiplier, steps = solve_quadratic(
        hessian, np.full(frames, 0.01), linear, matrix, right, compliance, np.zeros_like(upper), upper, start
    )
    assert (steps > 0).all() and (x >= 0.0).all() and (x <= upper).all()
    np.testing.assert_allclose(np.einsum("tmn,tn->tm", matrix, x) + compliance * multiplier, right, atol=1e-9)
    slope = (
        np.einsum("tij,tj->ti", hessian + 0.01 * np.eye(muscles), x)
        + linear
        - np.einsum("tm,tmn->tn", multiplier, matrix)
    )
    assert (slope[(x == 0.0) & (upper > 0.0)] > -1e-9).all() and (
        slope[(x == upper) & (upper > 0.0)] < 1e-9
    ).all()
    np.testing.assert_allclose(slope[(x > 0.0) & (x < upper)], 0.0, atol=1e-9)


def pairs(a, force, data):
    """Cubed activations and squared sums of neighbors."""
    return casadi.sum1(a**3) + 0.5 * casadi.sumsqr(a[1:] + a[:-1])


def largest(a, force, data):
    """A smooth maximum beside squares."""
    return casadi.log(casadi.sum1(casadi.exp(8.0 * a))) / 8.0 + casadi.sumsqr(a)


def total(a, force, data):
    """Squares of two sums of forces alone: no second derivative along most directions."""
    return casadi.sumsqr(data.R @ force / 500.0)


@pytest.mark.parametrize("function", [pairs, largest, total])
@pytest.mark.parametrize("reserve_weight", [None, 5.0])
def test_a_coupled_cost_has_the_cost_that_ipopt_finds(make_leg, function, reserve_weight) -> None:
    problem = make_leg(4).with_arrays(reserve_weight=None)
    if reserve_weight is not None:
        problem = problem.with_arrays(reserve_weight=np.full_like(problem.moment, reserve_weight))
    constants = {}
    if function is total:
        constants = {"R": np.random.default_rng(1).random((2, problem.n_muscles))}
    cost = expression_cost("coupled", function, constants=constants, convex=True)
    mine, theirs = ms.solve(problem, cost), ms.solve(problem, cost, "ipopt")
    assert mine.solver == "batch" and mine.solved.all() and (mine.gap <= 1e-9).all()
    both = theirs.solved
    assert both.any()
    np.testing.assert_allclose(mine.cost[both], theirs.cost[both], rtol=1e-6, atol=1e-9)


def test_convex_quadratic_constraints_bind_as_in_ipopt(make_leg) -> None:
    """Half of the sum of squares of the free optimum of some muscles, the other muscles free."""
    problem = make_leg(4)
    free = ms.solve(problem, "activation_power").activation
    some = np.argsort(-free.sum(axis=0))[:4].tolist()
    bound = 0.9 * (free[:, some] ** 2).sum(axis=1)
    held = expression_constraint("held", lambda a, f, d: casadi.sumsqr(a[some]), upper=bound)
    mine = solve_constrained(problem, ActivationPower(), held)
    theirs = solve_constrained(problem, ActivationPower(), held, "ipopt")
    assert mine.solver == "batch" and mine.solved.any() and not mine.stationary_only
    np.testing.assert_array_equal(mine.status, theirs.status)
    both = mine.solved & theirs.solved
    np.testing.assert_allclose(mine.activation[both], theirs.activation[both], atol=1e-6)
    np.testing.assert_allclose(
        mine.constraint_multiplier[both], theirs.constraint_multiplier[both], rtol=1e-4, atol=1e-7
    )
    assert (mine.constraint_multiplier[both] < 0.0).any()


@pytest.mark.parametrize("muscles", [3, 5000])
def test_weights_of_every_frame_are_the_weights_of_each_frame(muscles: int) -> None:
    """Also of so many muscles that work arrays are long."""
    random = np.random.default_rng(0)
    arm, weight = random.uniform(0.01, 0.05, (3, 2, muscles)), random.uniform(0.5, 2.0, (3, muscles))
    moment = np.einsum("tmn->tm", arm) * 100.0
    problem = ms.Problem(arm, moment, np.full(muscles, 1000.0), np.full(muscles, 1000.0))
    together = ms.solve(problem, ActivationPower(weights=weight))
    assert together.solved.all() and together.solver == "batch"
    for t in range(3):
        alone = ms.solve(problem.frames([t]), ActivationPower(weights=weight[t]))
        np.testing.assert_allclose(together.activation[t], alone.activation[0], atol=1e-9)
        part = ms.solve(problem.frames([t]), ActivationPower(weights=weight))
        np.testing.assert_allclose(part.activation[0], together.activation[t], atol=1e-9)
