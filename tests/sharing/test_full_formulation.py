"""The full formulation on arrays: constraint forces and activations together, whatever the mechanism."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

from musclesolve import Status, costs, solve
from musclesolve.sharing import certify, solve_full
from musclesolve.sharing.full_formulation import FullProblem

COSTS = ("force_squared", "stress_cubed", "soft_saturation")
pytestmark = pytest.mark.filterwarnings("ignore:moment_arm is up to")  # random mechanisms are no bodies


def mechanism(frames=4, size=12, dofs=3, muscles=8, seed=0, redundant=0, **fields):
    """Random constraints on some coordinates, feasible forces: activations and multipliers are known beforehand."""
    random = np.random.default_rng(seed)
    jacobian = random.standard_normal((frames, size - dofs, size))
    mixed = random.standard_normal((redundant, size - dofs)) @ jacobian
    jacobian = np.concatenate([jacobian, mixed], axis=1)
    rows = 0.05 * random.standard_normal((frames, muscles, size))
    moments = random.standard_normal((frames, dofs, size))
    capacity = random.uniform(200.0, 1500.0, (frames, muscles))
    activation = random.uniform(0.0, 0.6, (frames, muscles))
    held = random.normal(0.0, 300.0, (frames, jacobian.shape[1]))
    needed = -np.einsum("tcq,tc->tq", jacobian, held)
    needed -= np.einsum("tnq,tn->tq", rows, capacity * activation)
    strongest = 1.2 * capacity.max(axis=0)
    return FullProblem(jacobian, rows, moments, needed, capacity, strongest, **fields)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("redundant", [0, 4])
def test_same_activations_as_without_multipliers(cost, redundant):
    full = mechanism(redundant=redundant)
    found, reduced = solve_full(full, cost), solve(full.reduced, cost)
    assert (found.status == Status.SOLVED).all() and found.gap.max() <= 1e-9
    np.testing.assert_allclose(found.activation, reduced.activation, atol=1e-6)


def test_the_equations_of_motion_hold():
    full = mechanism(redundant=2)
    found = solve_full(full, "force_squared")
    error = full.equation_error(found.multiplier, found.force, found.reserve)
    assert np.abs(error).max() < 1e-6 * np.abs(full.needed).max()
    assert (found.reserve == 0).all()


def test_independent_multipliers_are_those_of_the_equations():
    """With the activations known, the multipliers follow from the equations alone."""
    full = mechanism()
    found = solve_full(full, "force_squared")
    for t in range(4):
        rest = -full.needed[t] - full.muscle_rows[t].T @ found.force[t]
        expected = np.linalg.lstsq(full.jacobian[t].T, rest, rcond=None)[0]
        np.testing.assert_allclose(found.multiplier[t], expected, rtol=1e-6, atol=1e-4)


def test_directions_keep_constraints_and_are_units():
    full = mechanism(redundant=3)
    np.testing.assert_allclose(full.jacobian @ full.directions, 0.0, atol=1e-10)
    np.testing.assert_allclose(full.moment_rows @ full.directions, np.tile(np.eye(3), (4, 1, 1)), atol=1e-10)


@pytest.mark.parametrize("cost", COSTS)
def test_reserves_are_those_of_the_reduced_formulation(cost):
    full = mechanism(seed=3)
    full = replace(full, needed=full.needed * 3.0, reserve_weight=10.0)
    found, reduced = solve_full(full, cost), solve(full.reduced, cost)
    assert (found.status == Status.SOLVED_WITH_RESERVE).any()
    np.testing.assert_array_equal(found.status, reduced.status)
    np.testing.assert_allclose(found.activation, reduced.activation, atol=1e-6)
    np.testing.assert_allclose(found.reserve, reduced.reserve, atol=1e-6 * np.abs(reduced.reserve).max())


def test_what_is_out_of_reach_is_proved_so():
    full = mechanism(seed=3)
    full = replace(full, needed=full.needed * np.array([1.0, 30.0, 1.0, 30.0])[:, None])
    found = solve_full(full, "force_squared")
    expected = solve(full.reduced, "force_squared").status
    np.testing.assert_array_equal(found.status, expected)
    bad = found.status == Status.INFEASIBLE
    assert bad.any() and not bad.all()
    assert np.isnan(found.multiplier[bad]).all() and np.isnan(found.activation[bad]).all()


def test_a_frame_that_is_no_number_is_left_out():
    full = mechanism()
    needed = full.needed.copy()
    needed[2, 5] = np.nan
    found, whole = solve_full(replace(full, needed=needed)), solve_full(full)
    assert found.status.tolist() == [0, 0, Status.INVALID_INPUT, 0]
    np.testing.assert_allclose(found.activation[[0, 1, 3]], whole.activation[[0, 1, 3]], atol=1e-9)


def test_the_certificate_sees_a_multiplier_that_is_wrong():
    """Activations alone could be right: the equations of motion are part of what is certified."""
    full = mechanism()
    found = solve_full(full, "force_squared", max_iterations=3)
    assert not found.solved.any() and (found.status == Status.MAX_ITERATIONS).all()
    assert (found.gap > 1e-9).all()


def test_the_multipliers_certify_the_reduced_problem():
    full = mechanism()
    found = solve_full(full, "stress_cubed")
    worth = np.einsum("tmq,tq->tm", full.moment_rows, found.equation_multiplier)
    cost = costs()["stress_cubed"]()
    assert certify(full.reduced, cost, found.activation, found.reserve, worth).holds.all()


def test_a_motion_that_nothing_holds_is_refused():
    full = mechanism()
    with refused("bad_model", "frame 0"):
        solve_full(replace(full, jacobian=full.jacobian[:, 1:]))


def test_a_shared_motion_with_a_driver_is_refused():
    full = mechanism()
    driven = np.concatenate([full.jacobian, full.moment_rows[:, :1]], axis=1)
    with refused("bad_model", "frame 0"):
        solve_full(replace(full, jacobian=driven))


def test_joint_reactions_as_a_cost():
    """Soft rows are part of the program: the same answer as the reduced formulation gives."""
    random = np.random.default_rng(5)
    data = {"reaction_matrix": random.standard_normal((4, 3, 8)), "reaction_offset": np.full((4, 3), 50.0)}
    full = mechanism(data=data)
    mixed = costs()["joint_reaction_squared"]() + 0.1 * costs()["force_squared"]()
    found, reduced = solve_full(full, mixed), solve(full.reduced, mixed)
    assert found.solved.all() and reduced.solved.all()
    np.testing.assert_allclose(found.activation, reduced.activation, atol=1e-6)
    np.testing.assert_allclose(found.cost, reduced.cost, rtol=1e-6)
    assert found.cost_name == reduced.cost_name


def test_a_cost_of_levels_is_refused():
    with refused("bad_cost", "min_max"):
        solve_full(mechanism(), "min_max")


def test_data_that_a_cost_needs_is_required():
    with refused("missing_argument", "Problem.fiber_velocity"):
        solve_full(mechanism(), "muscle_power")


@pytest.mark.parametrize("name", ["jacobian", "muscle_rows", "moment_rows", "force_capacity", "needed"])
def test_a_wrong_shape_is_named(name):
    full = mechanism()
    with refused("bad_shape", f"FullProblem.{name}"):
        replace(full, **{name: np.zeros((4, 3, 5)) if name != "jacobian" else np.zeros((4, 3))})


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        ({"full": {}}, "bad_type", "dict"),
        ({"tolerance": -1}, "bad_number", "tolerance is -1"),
        ({"tolerance": "small"}, "bad_number", "tolerance is 'small'"),
        ({"max_iterations": "a"}, "bad_number", "max_iterations is 'a'"),
        ({"max_iterations": 0}, "bad_number", "max_iterations is 0"),
        ({"max_iterations": 2.5}, "bad_number", "max_iterations is 2.5"),
    ],
)
def test_options_that_are_none_are_named(options, code, part):
    with refused(code, part):
        solve_full(**({"full": mechanism()} | options))


@pytest.mark.parametrize(("data", "part"), [({"foo": 1}, "'foo'"), (3, "'3'")])
def test_further_fields_that_a_problem_does_not_have_are_named(data, part):
    with refused("unknown_name", part):
        mechanism(data=data)


def test_text_in_place_of_numbers_is_refused():
    with refused("not_numbers", "needed"):
        replace(mechanism(), needed="heavy")
