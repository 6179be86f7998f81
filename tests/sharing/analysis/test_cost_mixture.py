"""The inverse question: which mixture of costs makes a given activation pattern optimal."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import nnls

import musclesolve as ms
from musclesolve import Problem, solve
from musclesolve.sharing import fit_cost_weights
from musclesolve.sharing.cost import ForceSquared, SoftSaturation, StressCubed

EVEN = np.full((20, 43), 0.1)
COSTS = (StressCubed(), ForceSquared(), SoftSaturation())


@pytest.fixture
def problem(make_leg) -> Problem:
    leg = make_leg(20, seed=3, effort=0.6)
    return leg.with_arrays(upper=np.minimum(leg.upper, SoftSaturation().largest_activation(leg)))


def mixed(weight):
    terms = [float(w) * cost for w, cost in zip(weight, COSTS, strict=True) if w]
    return sum(terms[1:], start=terms[0])


@pytest.mark.parametrize(
    "weight", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0.5, 0), (0.3, 0, 500), (1, 0.01, 1e3), (1, 0.2, 1e3)]
)
def test_a_known_mixture_is_recovered_from_its_own_optimum(problem, weight):
    pattern = solve(problem, mixed(weight)).activation
    found = fit_cost_weights(problem, pattern, COSTS)
    weight = np.array(weight, dtype=float)
    scale = found.weight.sum() / weight.sum()
    np.testing.assert_allclose(found.weight, scale * weight, rtol=1e-5, atol=1e-6 * scale)
    assert found.total_residual < 1e-7 and found.share.sum() == pytest.approx(1.0)
    assert found.distinctness > 0.05
    assert np.nanmax(found.residual) < 1e-6


def test_the_mixture_found_gives_the_pattern_back(problem):
    pattern = solve(problem, mixed((1, 0.01, 0))).activation
    found = fit_cost_weights(problem, pattern, ["stress_cubed", "force_squared"])
    np.testing.assert_allclose(solve(problem, found.cost).activation, pattern, atol=1e-5)


def test_multipliers_are_those_of_the_optimum(problem):
    answer = solve(problem, "stress_cubed")
    found = fit_cost_weights(problem, answer.activation, ["stress_cubed", "force_squared"])
    assert np.isfinite(found.multiplier).all()
    scale = np.abs(answer.multiplier).max(axis=1, keepdims=True)
    np.testing.assert_allclose(
        found.multiplier / found.weight[0] / scale, answer.multiplier / scale, atol=1e-5
    )


def test_a_cost_that_is_not_in_the_pattern_explains_it_worse(problem):
    pattern = solve(problem, "stress_cubed").activation
    right, wrong = (fit_cost_weights(problem, pattern, [cost]) for cost in ("stress_cubed", "force_squared"))
    assert right.total_residual < 1e-7 < 1e-2 < wrong.total_residual
    assert right.distinctness == wrong.distinctness == 1.0


def test_a_little_noise_moves_the_mixture_a_little(problem):
    random = np.random.default_rng(0)
    pattern = solve(problem, mixed((1, 0.01, 0))).activation
    clean = fit_cost_weights(problem, pattern, COSTS[:2])
    noise = np.where((pattern > 0.05) & (pattern < 0.8), 0.005 * random.standard_normal(pattern.shape), 0.0)
    noisy = fit_cost_weights(problem, pattern + noise, COSTS[:2])
    assert 1e-4 < noisy.total_residual < 0.2
    np.testing.assert_allclose(noisy.share, clean.share, atol=0.1)


def test_it_is_the_least_squares_solution_with_every_unknown_at_once():
    """Weights, multipliers (of either sign) and bound forces as unknowns of one non-negative least-squares problem."""
    random = np.random.default_rng(5)
    arm, capacity = random.uniform(-0.05, 0.05, (1, 2, 8)), random.uniform(200.0, 900.0, (1, 8))
    strongest = np.full(8, 1000.0)
    pattern = random.uniform(0.05, 0.8, (1, 8))
    pattern[0, :2] = 0.0
    problem = Problem(arm, np.zeros((1, 2)), capacity, strongest)
    costs = COSTS[:2]
    found = fit_cost_weights(problem, pattern, costs)
    slope = np.stack([cost.gradient(problem, pattern)[0] for cost in costs], axis=1)
    unit = np.sqrt(np.square(slope[2:]).mean(axis=0))
    slope /= unit
    size = np.sqrt(np.square(slope[2:]).sum() / 6)
    rows = problem.moment_matrix[0].T
    system = np.hstack([slope / size, -rows, rows, -np.eye(8)[:, :2]])
    system = np.vstack([system, np.append(np.ones(2), np.zeros(6))])
    known, _ = nnls(system, np.append(np.zeros(8), 1.0))
    np.testing.assert_allclose(found.share, known[:2] / known[:2].sum(), atol=1e-8)


def test_costs_that_cannot_be_distinguished_are_reported(problem):
    pattern = solve(problem, "force_squared").activation
    found = fit_cost_weights(problem, pattern, [ForceSquared(), 2.0 * ForceSquared()])
    assert found.distinctness < 1e-8 and found.total_residual < 1e-7


def test_the_units_of_a_cost_change_its_weight_only(problem):
    pattern = solve(problem, mixed((1, 0.01, 0))).activation
    one, other = (
        fit_cost_weights(problem, pattern, [StressCubed(), factor * ForceSquared()]) for factor in (1.0, 1e6)
    )
    np.testing.assert_allclose(one.share, other.share, rtol=1e-6)
    assert other.weight[1] / other.weight[0] == pytest.approx(1e-6 * one.weight[1] / one.weight[0])


def test_frames_that_are_not_known_are_left_out(problem):
    pattern = solve(problem, "stress_cubed").activation
    pattern[4] = np.nan
    found = fit_cost_weights(problem, pattern, ["stress_cubed", "force_squared"])
    assert np.isnan(found.residual[4]) and np.isnan(found.multiplier[4]).all()
    assert found.share[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("pattern", "costs", "code", "parts"),
    [
        (EVEN, [], "missing_argument", ("costs",)),
        (EVEN, "stress_cubed", "missing_argument", ("costs",)),
        (EVEN, np.array(5), "missing_argument", ("costs",)),
        (EVEN, None, "missing_argument", ("costs",)),
        (EVEN[:3], ["stress_cubed"], "bad_shape", ("(3, 43)",)),
        ("abc", ["stress_cubed"], "not_numbers", ("activation",)),
        (17 * EVEN, ["stress_cubed"], "bad_value", ("muscle_0", "frame 0", "1.7")),
        (0 * EVEN, ["stress_cubed"], "bad_value", ("activation",)),
        (np.nan * EVEN, ["stress_cubed"], "bad_value", ("activation",)),
        (EVEN, ["min_max"], "bad_cost", ("min_max",)),
        (EVEN, ["emg_tracking"], "missing_argument", ("emg_tracking", "Problem.emg")),
    ],
)
def test_bad_input_is_named(make_leg, pattern, costs, code, parts):
    leg = make_leg(20)
    bare = Problem(leg.moment_arm, leg.moment, leg.force_capacity, leg.max_isometric_force)
    with refused(code, *parts):
        fit_cost_weights(bare, pattern, costs)


@pytest.mark.parametrize("at_bound", [np.inf, 0.0, "near", True])
def test_a_distance_from_the_bounds_that_is_none_is_named(problem, at_bound):
    with refused("bad_number", "at_bound"):
        fit_cost_weights(problem, EVEN, ["stress_cubed"], at_bound)


def test_costs_may_come_from_a_generator(problem):
    names, pattern = ["stress_cubed", "force_squared"], solve(problem, "stress_cubed").activation
    found = fit_cost_weights(problem, pattern, (name for name in names))
    np.testing.assert_array_equal(found.share, fit_cost_weights(problem, pattern, names).share)


def test_a_single_frame_may_drop_its_axis(make_leg):
    leg = make_leg(1, seed=3)
    one = Problem(leg.moment_arm[0], leg.moment[0], leg.force_capacity[0], leg.max_isometric_force)
    found = fit_cost_weights(one, solve(one, "stress_cubed").activation, ["stress_cubed", "force_squared"])
    assert found.share[0] == pytest.approx(1.0)


def test_soft_rows_take_part_in_a_mixture(problem):
    costs = [ms.costs()["joint_reaction_squared"](), StressCubed()]
    pattern = solve(problem, 1e-3 * costs[0] + costs[1])
    assert pattern.solved.all()
    found = fit_cost_weights(problem, pattern.activation, costs)
    assert found.total_residual < 1e-6
    assert found.weight[0] / found.weight[1] == pytest.approx(1e-3, rel=1e-4)
