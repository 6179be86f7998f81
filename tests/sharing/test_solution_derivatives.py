"""Derivatives of the solution against differences of solutions, and the laws that they obey."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layer_cases import SHARP
from refusals import refused
from sharing_cases import SMOOTH, equipped, pennate

from musclesolve import Cost, Problem, Status, costs, solve
from musclesolve.constants import USUAL_COST
from musclesolve.sharing import (
    expression_constraint,
    expression_cost,
    solution_derivatives,
    solve_constrained,
)
from musclesolve.sharing.cost import (
    ActivationPower,
    EmgTracking,
    JointReactionSquared,
    KneeSparingActivation,
    SoftSaturation,
    StressCubed,
)
from musclesolve.sharing.problem_change import CHANGEABLE, ProblemChange
from musclesolve.sharing.solution_derivatives import OptimalitySystem

CHANGING = (
    *("moment", "moment_arm", "force_capacity", "max_isometric_force", "fiber_velocity"),
    *("optimal_fiber_length", "reaction_matrix", "reaction_offset", "emg", "fiber_force_capacity"),
)


def moved(problem, changes, step):
    return ProblemChange.from_changes(problem, changes).moved(problem, step)


def differences(problem, cost, changes, solver=SHARP, step=1e-4):
    """Central differences of fourth order."""
    ends = {j: solve(moved(problem, changes, j * step), cost, solver) for j in (1, -1, 2, -2)}
    found = {}
    for name in ("activation", "force", "reserve", "multiplier"):
        value = {j: getattr(end, name) for j, end in ends.items()}
        found[name] = (8 * (value[1] - value[-1]) - (value[2] - value[-2])) / (12 * step)
    return found


def check(problem, cost, names=CHANGING, least_margin=1e-3, solver=SHARP):
    """A random relative change of every array at once, in the frames away from changes."""
    random = np.random.default_rng(8)
    solution = solve(problem, cost, solver)
    derivatives = solution_derivatives(problem, cost, solution)
    assert derivatives.unique.mean() > 0.9
    away = derivatives.margin > least_margin
    assert away.any()
    every = {
        f"d_{name}": 0.1 * getattr(problem, name) * random.normal(size=getattr(problem, name).shape)
        for name in names
        if getattr(problem, name) is not None
    }
    there = derivatives.along(**every)
    for name, theirs in differences(problem, cost, every, solver).items():
        # what does not move at all differs by what the solver leaves open
        scale = np.maximum(np.abs(theirs[away]).max(), 1e-3 * np.abs(getattr(solution, name)).max())
        ours = getattr(there, name)[away]
        np.testing.assert_allclose(ours, theirs[away], rtol=0, atol=1e-5 * scale, err_msg=name)


@pytest.mark.parametrize("cost", SMOOTH)
def test_they_are_those_of_the_solver(cost, make_leg):
    check(pennate(make_leg(20, seed=1)), cost)


@pytest.mark.parametrize("cost", ["stress_cubed", "joint_reaction_squared"])
def test_with_reserves(cost, make_leg):
    problem = make_leg(20, seed=1)
    full = costs()[cost]().value(problem, problem.upper)[:, None] / 1e3
    problem = problem.with_arrays(reserve_weight=np.broadcast_to(full, problem.moment.shape))
    check(problem, cost, (*CHANGING, "reserve_weight"))


@dataclass(frozen=True)
class OwnCost(Cost):
    """sum_i F0_i a_i^4, without a formula for its dependence on the problem."""

    name: ClassVar[str] = "own"

    def term_value(self, problem, activation):
        return (problem.max_isometric_force * activation**4).sum(axis=1)

    def term_gradient(self, problem, activation):
        return 4 * problem.max_isometric_force * activation**3

    def term_hessian_diagonal(self, problem, activation):
        return 12 * problem.max_isometric_force * activation**2

    def term_parameters(self, problem):
        return (np.broadcast_to(problem.max_isometric_force, problem.force_capacity.shape),)

    def term_expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        return casadi.sum1(parameters[0] * activation**4)


@dataclass(frozen=True)
class OwnStress(StressCubed):
    """A cost of the library with other coefficients: its formula for changes no longer holds."""

    name: ClassVar[str] = "own_stress"

    def coefficient(self, problem):
        return problem.force_capacity / np.sqrt(problem.max_isometric_force)


written = expression_cost(
    "written",
    lambda a, force, data: (force / data.max_isometric_force).T @ force + 9.0 * (a**3).T @ a,
    uses=("max_isometric_force",),
    convex=True,
)


reaching = expression_cost(
    "reaching", lambda a, force, data: ((a / data.upper) ** 2).T @ a, uses=("upper",), convex=True
)
"""A cost of the share of the largest activation: the upper bounds of the problem are its parameters."""


@pytest.mark.parametrize(
    "cost",
    [
        OwnCost(),
        OwnStress(),
        written,
        ActivationPower(exponent=3.5),
        SoftSaturation(exponent=3.0),
        costs()["joint_reaction_squared"]() + 2e4 * costs()["soft_saturation"](),
        0.5 * (costs()["emg_tracking"]() + costs()["normalized_force_squared"]()),
    ],
    ids=lambda cost: cost.name,
)
def test_of_other_costs(cost, make_leg):
    check(make_leg(12, seed=2), cost)


@pytest.mark.parametrize("cost", [reaching, reaching + 0.1 * SoftSaturation()], ids=lambda cost: cost.name)
def test_of_a_cost_whose_parameters_are_upper_bounds(cost, make_leg):
    problem = make_leg(12, seed=2)
    check(problem.with_arrays(upper=0.9 * problem.upper), cost, (*CHANGING, "upper"))


def test_of_a_cost_that_couples_muscles(make_leg):
    coupled = expression_cost(
        "coupled", lambda a, force, data: a.T @ a + 1e-3 * (force[0] + force[1] - force[2]) ** 2, convex=True
    )
    problem = make_leg(3, seed=5, dofs=3, muscles=8)
    check(problem, coupled, ("moment", "force_capacity", "moment_arm"), solver="ipopt")


def test_linear_costs_stay_on_a_corner(make_leg):
    """As many muscles as moments are free, and A da = db alone determines how they move."""
    problem = make_leg(20, seed=4)
    check(
        problem, ActivationPower(exponent=1.0), ("moment", "force_capacity", "moment_arm"), least_margin=1e-4
    )


def synergists(moment, strongest=(100.0, 100.0), arm=(0.1, 0.05), **fields):
    return Problem(
        np.array([arm]), np.atleast_2d(moment).T, np.array(strongest), np.array(strongest), **fields
    )


def test_two_muscles_on_both_sides_of_a_change():
    """sum a^2 shares b = 10 a_1 + 5 a_2 as a_1 = 10 b / 125 until the first is fully active at b = 12.5."""
    problem = synergists([6.0, 12.5, 12.5 - 1e-3, 12.5 + 1e-3])
    found = solution_derivatives(problem, "activation_power", solve(problem, "activation_power"))
    np.testing.assert_array_equal(found.unique, [True, False, True, True])
    both, one = np.array([10.0, 5.0]) / 125.0, np.array([0.0, 0.2])
    np.testing.assert_allclose(found.by_moment[[0, 2, 3], :, 0], [both, both, one], atol=1e-12)
    np.testing.assert_allclose(found.margin[[0, 2]], [0.24, 0.08e-3], rtol=1e-6)
    assert "muscle_1: it is free, 24 % from its lower bound" in found.sentence(0)
    assert "keeps it at its upper bound, 1" in found.sentence(3)
    assert "differ" in found.sentence(1) and "differ" not in found.sentence(3)


def test_a_muscle_about_to_start():
    """The second is an antagonist with activity of its own (emg): it becomes active where its marginal cost is met."""
    # min (a1 - 0.5)^2 + (a2 - 0.2)^2 with 10 a1 - 5 a2 = b: at a2 = 0 both lines meet in b = 9
    switch = 5.0 + 10.0 * 0.2 * 2.0
    problem = synergists(
        switch + np.array([-1e-3, 0.0, 1e-3]), arm=(0.1, -0.05), emg=np.tile([0.5, 0.2], (3, 1))
    )
    found = solution_derivatives(problem, "emg_tracking", solve(problem, "emg_tracking"))
    np.testing.assert_array_equal(found.unique, [True, False, True])
    np.testing.assert_allclose(found.by_moment[[0, 2], :, 0], [[0.08, -0.04], [0.1, 0.0]], atol=1e-12)


def test_a_held_muscle_moves_with_its_bound():
    problem = synergists([14.0])
    found = solution_derivatives(problem, "activation_power", solve(problem, "activation_power"))
    np.testing.assert_allclose(found.along(d_upper=np.ones((1, 2))).activation, [[1.0, -2.0]], atol=1e-12)
    assert np.all(found.along(d_lower=np.ones((1, 2))).activation == 0.0)


def test_the_end_of_soft_saturation_moves_with_strength_and_capacity():
    """A muscle that must all but reach F0 holds F = (1 - 1e-9) F0, whatever its capacity; a weak one fills in."""
    arm, strongest = np.array([[0.1, 5e-6]]), np.array([100.0, 100.0])
    moment = 0.1 * 100.0 * (1.0 - 1e-9) + 5e-6 * 90.0
    problem = Problem(arm, [moment], 1.25 * strongest, strongest)
    found = solution_derivatives(problem, "soft_saturation", solve(problem, "soft_saturation"))
    assert found.optimum.above[0, 0] and found.unique
    change = found.along(d_max_isometric_force=np.array([1.0, 0.0]))
    np.testing.assert_allclose(change.force, [1.0, -2e4], rtol=1e-8)
    change = found.along(d_force_capacity=np.array([1.0, 0.0]))
    np.testing.assert_allclose(change.activation, [-0.8 / 125.0, 0.0], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("cost", ["force_squared", "stress_cubed", "activation_power", "muscle_power"])
def test_homogeneous_costs_scale_with_the_moments(cost, make_leg):
    """a(t b) = t a(b) while no muscle is at its upper bound, hence by_moment b = a (Euler)."""
    problem = make_leg(20, seed=6).with_arrays(upper=np.full((20, 43), 50.0))
    solution = solve(problem, cost, SHARP)
    found = solution_derivatives(problem, cost, solution)
    scaled = np.einsum("tnm,tm->tn", found.by_moment, problem.moment)
    clear = found.margin > 1e-6
    assert clear.mean() > 0.8
    np.testing.assert_allclose(scaled[clear], found.optimum.activation[clear], atol=1e-9)
    np.testing.assert_allclose(scaled[clear], solution.activation[clear], atol=1e-6)


fraction = st.one_of(st.floats(0.05, 0.95), st.floats(0.0, 1.0))


@st.composite
def feasible(draw):
    """Arms, capacities and activations of any kind; moments that these activations produce; a cost."""
    dofs = draw(st.integers(1, 3))
    muscles = draw(st.integers(2 * dofs, 8))
    pick = st.one_of(st.floats(-0.1, 0.1), st.floats(-0.1, -0.01), st.floats(0.01, 0.1), st.just(0.0))
    arm = np.array(
        draw(st.lists(pick.map(lambda x: round(x, 4)), min_size=dofs * muscles, max_size=dofs * muscles))
    )
    some = {"min_size": muscles, "max_size": muscles}
    strongest = np.array(draw(st.lists(st.floats(10.0, 5000.0), **some)))
    capacity = strongest * np.array(draw(st.lists(st.one_of(st.just(0.0), st.floats(0.01, 1.5)), **some)))
    activation = np.array(draw(st.lists(fraction, **some)))
    cost = draw(st.sampled_from(sorted(SMOOTH)))
    arm = arm.reshape(dofs, muscles)
    bare = Problem(arm, np.zeros(dofs), capacity, strongest)
    activation = np.minimum(activation, 0.999 * costs()[cost]().largest_activation(bare)[0])
    return equipped(Problem(arm, (arm * capacity) @ activation, capacity, strongest)), cost


@settings(max_examples=40, derandomize=True)
@given(feasible(), st.integers(0, 2**31 - 1))
def test_laws_and_differences_of_any_problem(case, seed):
    problem, cost = case
    solution = solve(problem, cost)
    assert solution.status == Status.SOLVED
    found = solution_derivatives(problem, cost, solution)
    assert 0.0 <= found.margin <= 1.0
    assert found.sentence().endswith(".")
    if not found.unique:
        return
    held = found.optimum.below[0] | found.optimum.above[0]
    assert np.all(found.by_moment[held] == 0.0)
    matrix, a = problem.moment_matrix[0], found.optimum.activation[0]
    size = np.abs(matrix).max() * (1.0 + np.abs(found.by_moment).max())
    np.testing.assert_allclose(matrix @ found.by_moment, np.eye(problem.n_dof), atol=1e-9 * size)
    random = np.random.default_rng(seed)
    stronger, asked = problem.force_capacity[0] * random.normal(size=a.shape), random.normal(size=len(matrix))
    change = found.along(d_force_capacity=stronger, d_moment=asked)
    produced = matrix @ change.activation + problem.moment_arm[0] @ (stronger * a)
    size = np.abs(matrix).max() * (1.0 + np.abs(change.activation).max())
    np.testing.assert_allclose(produced, asked, atol=1e-9 * size)
    if found.margin < 1e-2:
        return
    changes = {"d_moment": 1e-3 * np.abs(matrix).max() * random.normal(size=len(matrix))}
    ours = found.along(**changes).activation
    if np.abs(ours).max() > 0.1:
        return  # the step would lead too far
    theirs = differences(problem, cost, changes, step=1e-2)["activation"]
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(ours).max() + 1e-9)


def test_frames_without_a_solution_are_nan_and_reported_so():
    problem = synergists([6.0, 16.0, np.nan, 9.0])
    found = solution_derivatives(problem, "force_squared", solve(problem, "force_squared"))
    np.testing.assert_array_equal(found.unique, [True, False, False, True])
    np.testing.assert_array_equal(np.isnan(found.by_moment).all(axis=(1, 2)), [False, True, True, False])
    np.testing.assert_array_equal(np.isnan(found.margin), [False, True, True, False])
    assert "not solved" in found.sentence(1) and "muscle" in found.sentence(-1)
    change = found.along(d_moment=np.ones((3, 1, 1)))
    assert change.activation.shape == change.force.shape == (3, 4, 2)
    assert change.reserve.shape == change.multiplier.shape == (3, 4, 1)
    np.testing.assert_array_equal(np.isnan(change.force[0, :, 0]), [False, True, True, False])


@pytest.mark.parametrize("moments", [[16.0], [], [np.nan, 16.0]])
def test_where_no_frame_has_a_solution(moments):
    problem, frames = synergists(moments), len(moments)
    found = solution_derivatives(problem, "force_squared", solve(problem, "force_squared"))
    assert found.by_moment.shape == (frames, 2, 1) and not found.unique.any()
    change = found.along(d_moment=np.ones((3, 1, 1)), d_max_isometric_force=np.ones(2))
    assert change.force.shape == (3, frames, 2) and np.isnan(change.force).all()
    gradient = found.gradient_of(np.zeros((frames, 2)))
    assert gradient["moment"].shape == (frames, 1) and gradient["max_isometric_force"].shape == (2,)


def test_curvatures_that_are_infinite_at_rest():
    """With a^1.5 and moments that are almost alike, forward and backward agree, and the moments are produced."""
    arm = np.array([[0.05, 0.04, -0.03, 0.02], [0.050001, 0.039999, -0.03, 0.02]])
    capacity, cost = np.full(4, 1000.0), ActivationPower(exponent=1.5)
    problem = Problem(arm, 1000.0 * arm @ [0.5, 0.4, 0.0, 0.3], capacity, capacity)
    solution = solve(problem, cost)
    found = solution_derivatives(problem, cost, solution)
    assert found.unique and solution.activation[2] < 1e-9
    np.testing.assert_allclose(1000.0 * arm @ found.by_moment, np.eye(2), atol=1e-8)
    weight, direction = np.arange(1.0, 5.0), np.full((2, 4), 0.01)
    forward = weight @ found.along(d_moment_arm=direction, d_lower=[0.0, 0.0, 0.1, 0.0]).activation
    backward = found.gradient_of(weight)
    np.testing.assert_allclose(
        forward, (backward["moment_arm"] * direction).sum() + 0.1 * backward["lower"][2], rtol=1e-8
    )


def test_a_curvature_too_small_for_its_inverse():
    """Of the power 300 it is 1e-149 at a third of full load, 1e-314 at a twelfth."""
    arm, full = [[0.05, 0.03, 0.0, 0.0], [0.0, 0.0, 0.05, 0.03]], np.full(4, 1000.0)
    problem, cost = Problem(arm, [20.0, 6.8], full, full), ActivationPower(300.0)
    solution = solve(problem, cost)
    assert solution.solved and solution.activation[2:] == pytest.approx(0.085, rel=1e-2)
    found = solution_derivatives(problem, cost, solution).along(d_moment=[20.0, 6.8]).activation
    assert np.isnan(found).all() or found == pytest.approx(solution.activation, rel=1e-6)


def test_a_free_muscle_at_rest_whose_curvature_is_infinite_does_not_move():
    """As on the first step of Newton's method, in a frame whose moments are almost alike."""
    arm = np.array([[[0.05, 0.04, -0.03, 0.02], [0.050001, 0.039999, -0.03, 0.02]]])
    capacity, cost = np.full((1, 4), 1000.0), ActivationPower(exponent=1.5)
    problem, free = Problem(arm, np.zeros((1, 2)), capacity, capacity[0]), np.ones((1, 4), bool)
    system = OptimalitySystem.from_activation(
        problem, cost, np.array([[0.5, 0.4, 0.0, 0.3]]), free, np.zeros((1, 2))
    )
    assert system.dense.size and system.regular.all()
    nothing = np.zeros((1, 4, 1))
    moved, _ = system.solve(nothing, np.broadcast_to(np.eye(2), (1, 2, 2)), nothing)
    np.testing.assert_allclose(moved[0, 2], 0.0, atol=1e-12)
    np.testing.assert_allclose(1000.0 * arm[0] @ moved[0], np.eye(2), atol=1e-8)


def test_a_stiff_reserve_beside_a_muscle_without_stiffness():
    """One muscle, two moments, sum a^7: da/db = w A / (42 a^5 + w |A|^2), of which the first term is 1e-13."""
    arm = np.array([[0.0457], [0.0301]])
    problem = Problem(arm, [0.4438, 0.2920], [1000.0], [1000.0], reserve_weight=5.547)
    cost = ActivationPower(exponent=7.0)
    solution = solve(problem, cost)
    found = solution_derivatives(problem, cost, solution)
    curvature, strength = 42.0 * solution.activation[0] ** 5, 1000.0 * arm[:, 0]
    exact = 5.547 * strength / (curvature + 5.547 * (strength**2).sum())
    assert found.unique and curvature < 1e-12 * 5.547 * (strength**2).sum()
    np.testing.assert_allclose(found.by_moment[0], exact, rtol=1e-8)


def test_muscles_whose_curvatures_hardly_compare():
    """With sum a^7 they span ten orders of magnitude and more: forward and backward still agree in every frame."""
    random = np.random.default_rng(6)
    arm, capacity = 0.05 * random.normal(size=(200, 6, 8)), random.uniform(50.0, 2000.0, 8)
    moment = np.einsum("tmn,tn->tm", arm * capacity, random.random((200, 8)) ** 3)
    problem, cost = Problem(arm, moment, capacity, np.full(8, 1000.0)), ActivationPower(exponent=7.0)
    found = solution_derivatives(problem, cost, solve(problem, cost))
    assert found.unique.mean() > 0.98
    direction = 0.1 * arm * random.normal(size=arm.shape)
    weight = random.normal(size=(200, 8)) * found.unique[:, None]
    forward = np.nansum(weight * found.along(d_moment_arm=direction).activation, axis=1)
    backward = np.nan_to_num(found.gradient_of(weight)["moment_arm"] * direction)
    scale = np.abs(backward).sum(axis=(1, 2))
    assert (np.abs(forward - backward.sum(axis=(1, 2))) <= 1e-8 * scale).all()


def test_a_reserve_where_the_muscles_do_not_suffice():
    problem = synergists([6.0, 16.0])
    solution = solve(problem, "force_squared", on_infeasible="reserve")
    found = solution_derivatives(problem, "force_squared", solution)
    assert found.unique.all()
    np.testing.assert_allclose(found.by_moment[1], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.reserve_by_moment[:, 0, 0], [0.0, 1.0], atol=1e-12)


def test_muscles_that_cannot_vary_every_moment_have_no_derivative():
    """Two moments, two free muscles with the same ratio of arms: any other ratio is out of reach."""
    arm = np.array([[0.1, 0.05], [0.2, 0.1]])
    problem = Problem(arm, [4.0, 8.0], [100.0, 100.0], [100.0, 100.0])
    found = solution_derivatives(problem, "force_squared", solve(problem, "force_squared"))
    assert not found.unique and np.isnan(found.by_moment).all()
    assert "not defined" in found.sentence()


def test_equal_muscles_of_a_linear_cost_have_no_derivative():
    problem = synergists([6.0], arm=(0.1, 0.1))
    cost = ActivationPower(exponent=1.0)
    found = solution_derivatives(problem, cost, solve(problem, cost))
    assert not found.unique.any()


def test_many_directions_are_each_of_them(make_leg):
    problem = make_leg(5)
    found = solution_derivatives(problem, USUAL_COST, solve(problem))
    random = np.random.default_rng(2)
    arms, strengths = random.normal(size=(6, 5, 7, 43)), random.normal(size=(6, 43))
    together = found.along(d_moment_arm=arms, d_max_isometric_force=strengths)
    for k in range(6):
        one = found.along(d_moment_arm=arms[k], d_max_isometric_force=strengths[k])
        np.testing.assert_allclose(together.force[k], one.force, rtol=1e-9, atol=1e-9)
    still = found.along()
    assert still.activation.shape == (5, 43) and not still.activation.any()


@pytest.mark.parametrize("cost", SMOOTH)
def test_one_pass_serves_the_changes_of_single_muscles(cost, make_leg):
    problem = make_leg(5)
    found, random = solution_derivatives(problem, cost, solve(problem, cost)), np.random.default_rng(3)
    columns = {
        f"d_{name}": random.normal(size=array.shape) * array
        for name in CHANGING
        if name not in ("moment", "reaction_offset", "emg") and (array := getattr(problem, name)) is not None
    }
    chosen, moment = np.array([0, 7, 42]), random.normal(size=(3, *problem.moment.shape))
    together = found.of_muscles(chosen, moment, **columns)
    for k, muscle in enumerate(chosen):
        of_one = {name: np.where(np.arange(43) == muscle, array, 0.0) for name, array in columns.items()}
        one = found.along(d_moment=moment[k], **of_one)
        np.testing.assert_allclose(together[k], one.force, rtol=1e-9, atol=1e-9)


def test_the_least_cost_grows_by_the_multiplier(make_leg):
    """The envelope theorem, and its derivative: the multipliers change as a symmetric matrix times the moments."""
    problem, step = make_leg(4), 1e-4
    found = solution_derivatives(problem, "soft_saturation", solve(problem, "soft_saturation", SHARP))
    unit = np.eye(7)[:, None, :]
    grows = found.along(d_moment=unit).multiplier
    np.testing.assert_allclose(grows, grows.transpose(2, 1, 0), rtol=1e-7, atol=1e-9 * np.abs(grows).max())
    for k in range(7):
        ends = [
            solve(
                moved(problem, {"d_moment": unit[k][None].repeat(4, 1)[0]}, j * step),
                "soft_saturation",
                SHARP,
            )
            for j in (1, -1)
        ]
        slope = (ends[0].cost - ends[1].cost) / (2 * step)
        np.testing.assert_allclose(slope, found.optimum.multiplier[:, k], rtol=1e-6, atol=1e-8)


def test_what_does_not_fit_is_refused(make_leg):
    problem = make_leg(3)
    solution = solve(problem, "stress_cubed")
    with refused("bad_cost", "min_max"):
        solution_derivatives(problem, "min_max", solution)
    with refused("conflict", "stress_cubed", "force_squared"):
        solution_derivatives(problem, "force_squared", solution)
    with refused("bad_shape", "(3, 43)", "(4, 43)"):
        solution_derivatives(make_leg(4), "stress_cubed", solution)
    with refused("bad_type", "NoneType"):
        solution_derivatives(problem, USUAL_COST, None)
    found = solution_derivatives(problem, "stress_cubed", solution)
    with refused("unknown_name", "'d_strength'"):
        found.along(d_strength=1.0)
    with refused("bad_shape", "d_moment"):
        found.along(d_moment=np.ones(7))
    with refused("bad_shape", "d_moment 2", "d_upper 4"):
        found.along(d_moment=np.ones((2, 3, 7)), d_upper=np.ones((4, 3, 43)))
    with refused("not_numbers", "d_moment"):
        found.along(d_moment=[["a"]])
    with refused("missing_argument", "reserve_weight"):
        found.along(d_reserve_weight=np.ones((3, 7)))
    with refused("bad_number", "3"):
        found.sentence(3)


@pytest.mark.parametrize(
    "cost",
    [
        *(*SMOOTH, OwnCost(), written, reaching, reaching + 0.1 * SoftSaturation()),
        costs()["joint_reaction_squared"]() + 2e4 * costs()["soft_saturation"](),
    ],
    ids=lambda cost: getattr(cost, "label", cost),
)
def test_backward_is_forward_transposed(cost, make_leg):
    """sum w (da along d) = gradient . d, for all arrays at once, muscles at their bounds included."""
    problem = pennate(make_leg(4, seed=3, effort=1.0, dofs=4, muscles=12))
    problem = problem.with_arrays(upper=0.8 * problem.upper).with_arrays(reserve_weight=np.full((4, 4), 1e4))
    found = solution_derivatives(problem, cost, solve(problem, cost))
    assert found.unique.all() and (found.optimum.below | found.optimum.above).any()
    random = np.random.default_rng(5)
    weight = random.normal(size=(4, 12))
    gradient = found.gradient_of(weight)
    names = CHANGEABLE
    assert list(gradient) == list(names)
    arrays = {name: getattr(problem, name, problem.upper) for name in names}
    changes = {name: array * random.normal(size=array.shape) for name, array in arrays.items()}
    for name, change in changes.items():
        assert gradient[name].shape == arrays[name].shape
        forward = (weight * found.along(**{f"d_{name}": change}).activation).sum()
        size = np.abs(np.nan_to_num(gradient[name] * change)).sum()
        backward = np.nan_to_num(gradient[name] * change).sum()
        np.testing.assert_allclose(backward, forward, rtol=0, atol=1e-8 * max(size, 1e-3), err_msg=name)


def test_backward_where_the_domain_of_soft_saturation_ends():
    arm, strongest = np.array([[0.1, 5e-6]]), np.array([100.0, 100.0])
    problem = Problem(arm, [10.0 * (1.0 - 1e-9) + 4.5e-4], 1.25 * strongest, strongest)
    found = solution_derivatives(problem, "soft_saturation", solve(problem, "soft_saturation"))
    gradient = found.gradient_of([1.0, 0.0])
    np.testing.assert_allclose(gradient["max_isometric_force"], [0.8 / 100.0, 0.0], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(gradient["force_capacity"], [-0.8 / 125.0, 0.0], rtol=1e-8, atol=1e-12)
    assert gradient["moment"].shape == (1,) and gradient["moment_arm"].shape == (1, 2)
    assert gradient["moment"] == 0.0 and not gradient["upper"].any()


def by_weight_of_emg(w):
    return ActivationPower(3.0) + w * EmgTracking()


def by_weight_of_a_muscle(w):
    return StressCubed(weights={"2": w})


OF_PARAMETERS = [
    (ActivationPower, 2.5),
    (by_weight_of_emg, 0.7),
    (by_weight_of_a_muscle, 1.5),
    (lambda scale: KneeSparingActivation(scale=scale), 1400.0),
    (lambda effort: JointReactionSquared(effort=effort), 1e4),
    (
        lambda w: expression_cost(
            "w", lambda a, f, d: d.w * a.T @ a + a.T @ a**2, constants={"w": w}, convex=True
        ),
        2.0,
    ),
]


@pytest.mark.parametrize(("cost_of", "value"), OF_PARAMETERS)
def test_by_a_parameter_of_the_cost(cost_of, value, make_leg):
    """Forward against differences of solutions, backward against forward."""
    problem, h = equipped(make_leg(12, seed=1)), 1e-3 * value
    problem = replace(problem, dof=["knee", *(problem.dof or ())[1:]])
    cost = cost_of(value)
    solution = solve(problem, cost, SHARP)
    found = solution_derivatives(problem, cost, solution)
    slope = [cost_of(value + way * h).gradient(problem, solution.activation) for way in (1, -1, 2, -2)]
    slope = (8 * (slope[0] - slope[1]) - (slope[2] - slope[3])) / (12 * h)
    there = found.along(d_marginal_cost=slope)
    away = found.margin > 1e-3
    assert away.any()
    ends = [solve(problem, cost_of(value + way * h), SHARP).activation for way in (1, -1, 2, -2)]
    theirs = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h)
    scale = np.abs(theirs[away]).max()
    assert scale * value > 1e-4
    np.testing.assert_allclose(there.activation[away], theirs[away], rtol=0, atol=2e-5 * scale)
    weight = np.random.default_rng(2).normal(size=slope.shape) * away[:, None]
    backward = (found.gradient_of(weight)["marginal_cost"] * slope).sum()
    np.testing.assert_allclose(backward, np.nansum(weight * there.activation), rtol=1e-7)
    several = found.along(
        d_marginal_cost=np.stack([slope, -2.0 * slope]), d_moment=np.zeros_like(problem.moment)
    )
    np.testing.assert_allclose(several.activation[1], -2.0 * there.activation, rtol=0, atol=1e-9 * scale)


def test_by_a_parameter_of_the_cost_in_a_single_frame():
    """Two muscles of equal arms: a_1 / a_2 = w_2 / w_1 by squares, so a_1 = s w_2 / (w_1 + w_2)."""
    problem = Problem([[0.05, 0.05]], [25.0], [1000.0, 1000.0], [1000.0, 1000.0], muscle=["one", "two"])
    cost = ActivationPower(weights={"two": 4.0})
    solution = solve(problem, cost)
    found = solution_derivatives(problem, cost, solution)
    np.testing.assert_allclose(solution.activation, [0.4, 0.1], atol=1e-9)
    slope = np.array([0.0, 2.0 * solution.activation[1]])  # of w_2 a_2^2 by w_2
    there = found.along(d_marginal_cost=slope).activation
    np.testing.assert_allclose(there, [0.5 / 25.0, -0.5 / 25.0], rtol=1e-6)
    np.testing.assert_allclose(found.gradient_of([1.0, 0.0])["marginal_cost"] @ slope, 0.02, rtol=1e-6)
    with refused("bad_shape", "d_marginal_cost"):
        found.along(d_marginal_cost=np.zeros(3))


def test_backward_only_frames_that_count_count():
    problem = synergists([6.0, 16.0])
    found = solution_derivatives(problem, "force_squared", solve(problem, "force_squared"))
    gradient = found.gradient_of([[1.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(gradient["moment"], [[0.08], [0.0]])
    assert np.isfinite(gradient["max_isometric_force"]).all()
    assert np.isnan(found.gradient_of(np.ones((2, 2)))["max_isometric_force"]).all()
    with refused("bad_shape", "weight"):
        found.gradient_of([1.0, 1.0])


def test_a_solution_within_constraints_or_of_another_problem_is_not_differentiated(make_leg):
    problem = make_leg(3)
    free = solve(problem, "stress_cubed")
    most = 0.5 * float(free.activation[:, 0].max())
    bound = expression_constraint("first", lambda activation: activation[0], upper=most)
    held = solve_constrained(problem, "stress_cubed", bound)
    other = solve(problem.with_arrays(moment=0.9 * problem.moment), "stress_cubed")
    idle = expression_constraint("idle", lambda activation: activation[0], upper=2.0)
    unbound = solve_constrained(problem, "stress_cubed", idle)
    for solution, words in (
        (held, "has constraints"),
        (unbound, "has constraints"),
        (other, "no optimum of this problem"),
    ):
        assert solution.solved.all()
        with refused("conflict", words):
            solution_derivatives(problem, "stress_cubed", solution)
