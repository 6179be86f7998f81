"""Frames of a problem keep their numbers in its parts: costs and bounds with numbers of every frame follow them."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve.sharing import expression_constraint, expression_cost, program, solve_constrained
from musclesolve.sharing.analysis.several_costs import pareto_front
from musclesolve.sharing.analysis.strength_margin import least_assistance
from musclesolve.sharing.cost.cost_base import Cost

FRAMES = 9
PARTS = {
    "mask": np.arange(FRAMES) > 4,
    "reordered": np.array([7, 0, 5]),
    "repeated": np.array([6, 6, 2]),
    "slice": slice(3, None, 2),
    "one": [8],
}


class Weighted(Cost):
    """sum_i w_ti a_i^2 with weights of every frame of the whole problem."""

    name = "weighted"

    def __init__(self, weight):
        self.weight = weight

    def term_value(self, problem, activation):
        return (self.weight[problem.frame_number] * activation**2).sum(axis=1)

    def term_gradient(self, problem, activation):
        return 2.0 * self.weight[problem.frame_number] * activation

    def term_hessian_diagonal(self, problem, activation):
        return 2.0 * self.weight[problem.frame_number]


@pytest.fixture(scope="module")
def problem(make_leg):
    return make_leg(FRAMES)


@pytest.fixture(scope="module")
def costs(problem):
    """One cost as a class and as an expression."""
    weight = np.random.default_rng(4).uniform(0.2, 5.0, problem.lower.shape)
    expression = expression_cost(
        "expression",
        lambda a, force, data: casadi.dot(data.w, a**2),
        frame_constants={"w": weight},
        convex=True,
    )
    return Weighted(weight), expression


@pytest.fixture(scope="module")
def whole(problem, costs):
    found = ms.solve(problem, costs[0])
    assert found.solved.all()
    return found.activation


@pytest.mark.parametrize("which", PARTS.values(), ids=PARTS)
def test_a_part_is_solved_as_in_the_whole(problem, costs, whole, which):
    part = problem.frames(which)
    for cost in costs:
        np.testing.assert_allclose(ms.solve(part, cost).activation, whole[which], atol=1e-7)
        value = cost.value(problem, whole)[which]
        np.testing.assert_allclose(cost.value(part, whole[which]), value, rtol=1e-12)
    np.testing.assert_array_equal(part.frame_number, np.arange(FRAMES)[which])
    assert part.whole_frames == FRAMES


def test_a_part_of_a_part_and_a_changed_part_keep_the_numbers(problem, costs, whole):
    part = replace(problem.frames(problem.frame_number > 2).frames([4, 1]), reserve_weight=None)
    np.testing.assert_array_equal(part.frame_number, [7, 4])
    for cost in costs:
        np.testing.assert_allclose(ms.solve(part, cost).activation, whole[[7, 4]], atol=1e-7)


def test_a_frame_without_axis_is_a_whole_of_one_frame(problem):
    arrays = {name: getattr(problem, name)[0] for name in ("moment_arm", "moment", "force_capacity")}
    single = ms.Problem(**arrays, max_isometric_force=problem.max_isometric_force)
    weight = np.linspace(0.5, 3.0, problem.n_muscles)[None]
    for one in (single, single.frames([0])):
        assert ms.solve(one, Weighted(weight)).activation.shape == (problem.n_muscles,)
        np.testing.assert_array_equal(one.frame_number, [0])


def test_a_frame_that_is_left_out_moves_no_other(problem, costs, whole):
    moment = np.where(problem.frame_number[:, None] == 3, np.nan, problem.moment)
    lacking = replace(problem, moment=moment)
    part, left = lacking.frames(lacking.valid), np.delete(whole, 3, axis=0)
    np.testing.assert_allclose(program(part, costs[1]).solve().activation, left, atol=1e-6)
    for cost in costs:
        np.testing.assert_allclose(ms.solve(part, cost).activation, left, atol=1e-7)


def test_analyses_of_a_part_are_those_of_the_whole(problem, costs):
    which = [7, 2]
    part, (weighted, _) = problem.frames(which), costs
    how = {"within": 0.05, "cost": weighted, "accuracy": 1e-7, "muscles": ["muscle_0"]}
    ranges = [ms.sharing.force_range(one, **how).greatest for one in (problem, part)]
    allowed = 2.0 * how["accuracy"] * part.force_capacity.max()  # each end is enclosed so closely
    np.testing.assert_allclose(ranges[1], ranges[0][which], rtol=0.0, atol=allowed)
    fronts = [
        pareto_front(one, [weighted, "force_squared"], divisions=2).activation for one in (problem, part)
    ]
    np.testing.assert_allclose(fronts[1], fronts[0][:, which], atol=1e-7)
    derivatives = []
    for one in (problem, part):
        found = ms.sharing.solution_derivatives(one, weighted, ms.solve(one, weighted))
        derivatives.append(found.along(d_moment=np.ones(one.moment.shape)).activation)
    np.testing.assert_allclose(derivatives[1], derivatives[0][which], rtol=1e-5, atol=1e-9)
    dof = problem.dof[0]
    weak = problem.with_arrays(upper=0.3 * problem.upper)
    np.testing.assert_allclose(
        least_assistance(weak.frames([5, 5, 1]), dof), least_assistance(weak, dof)[[5, 5, 1]], atol=1e-6
    )


def test_bounds_of_a_constraint_follow_their_frames(problem):
    free = ms.solve(problem, "activation_power").activation[:, 0]
    upper = free * np.linspace(0.5, 0.9, FRAMES) + 0.01
    held = expression_constraint("first", lambda a, force, data: a[0], upper=upper)
    found = solve_constrained(problem, "activation_power", held).activation
    for which in ([8, 1], np.arange(FRAMES) % 2 == 1):
        part = solve_constrained(problem.frames(which), "activation_power", held)
        np.testing.assert_allclose(part.activation, found[which], atol=1e-6)
    of_part = expression_constraint("first", lambda a, force, data: a[0], upper=upper[[8, 1]])
    part = solve_constrained(problem.frames([8, 1]), "activation_power", of_part)
    np.testing.assert_allclose(part.activation, found[[8, 1]], atol=1e-6)
    with refused("bad_shape", "first", "2 frames", "9"):
        short = expression_constraint("first", lambda a, force, data: a[0], upper=upper[:3])
        solve_constrained(problem.frames([8, 1]), "activation_power", short)


def test_numbers_for_a_part_alone_are_refused_unless_it_is_a_problem_of_its_own(problem, costs):
    which = np.array([6, 1, 4])
    part, weight = problem.frames(which), costs[0].weight[which]
    expression = expression_cost(
        "of part", lambda a, force, data: casadi.dot(data.w, a**2), frame_constants={"w": weight}, convex=True
    )
    with refused("bad_shape", "'w'", "3 frames", "9, as the whole problem", "source_frames=None"):
        ms.solve(part, expression)
    with pytest.raises(IndexError) as raised:
        ms.solve(part, Weighted(weight))
    assert "w (9, ...)" in raised.value.__notes__[0]
    own = replace(part, source_frames=None)
    for cost in (expression, Weighted(weight)):
        np.testing.assert_allclose(
            ms.solve(own, cost).activation, ms.solve(part, costs[1]).activation, atol=1e-7
        )


def test_numbers_of_another_count_of_frames_are_refused(problem):
    part = problem.frames([4, 2])
    with refused("bad_shape", "source_frames", "(3,)"):
        ms.Problem(
            **{name: getattr(problem, name)[:3] for name in ("moment_arm", "moment", "force_capacity")},
            max_isometric_force=problem.max_isometric_force,
            source_frames=part.source_frames,
        )
