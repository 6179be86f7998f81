"""Gauss-Newton with priors: against the closed form of linear problems, bounds, and what is not determined."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.studies.calibration.calibration_problem import (
    Linear,
    Prior,
    minimize,
    sentences_of,
    undetermined,
)


def prior(count: int, sd: float = 1.0, bound: float = 10.0) -> Prior:
    ends = np.full(count, bound)
    return Prior(np.zeros(count), np.diag(np.full(count, sd**2)), -ends, ends)


def linear(matrix: np.ndarray, right: np.ndarray):
    return lambda theta: Linear(matrix @ theta - right, matrix)


def test_linear_problem_ends_at_the_posterior_of_its_closed_form():
    random = np.random.default_rng(0)
    matrix, right = random.standard_normal((30, 4)), 0.2 * random.standard_normal(30)
    known = prior(4, 0.5)
    found = minimize(linear(matrix, right), np.zeros(4), known)
    precision = matrix.T @ matrix + np.eye(4) / 0.25
    assert found.converged
    assert found.theta == pytest.approx(np.linalg.solve(precision, matrix.T @ right), abs=1e-3)
    assert found.covariance == pytest.approx(np.linalg.inv(precision), rel=1e-9)


def test_curved_problem_converges_though_the_first_step_is_too_long():
    def evaluate(theta):
        return Linear(
            np.array([10.0 * np.expm1(3.0 * theta[0]) - 20.0]), np.array([[30.0 * np.exp(3.0 * theta[0])]])
        )

    found = minimize(evaluate, np.array([-1.0]), prior(1, 100.0))
    assert found.converged
    assert found.theta == pytest.approx([np.log(3.0) / 3.0], abs=1e-3)


def test_a_step_without_an_optimum_is_halved():
    def evaluate(theta):
        return None if theta[0] > 0.25 else Linear(10.0 * (theta - 0.24), np.array([[10.0]]))

    found = minimize(evaluate, np.zeros(1), prior(1, 100.0))
    assert found.theta == pytest.approx([0.24], abs=2e-3)


def test_bounds_hold_and_the_rest_is_best_given_them():
    matrix = np.array([[1.0, 1.0], [1.0, -1.0]]) * 100.0
    known = Prior(np.zeros(2), np.diag([1e6, 1e6]), np.array([-0.1, -9.0]), np.array([0.1, 9.0]))
    found = minimize(linear(matrix, np.array([100.0, 0.0])), np.zeros(2), known)
    assert found.theta[0] == pytest.approx(0.1)
    assert found.theta[1] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("which", [0, np.array([True, False])])
def test_parameter_that_is_held_stays_and_the_rest_is_best_given_it(which):
    matrix = np.array([[1.0, 1.0], [1.0, -1.0]]) * 100.0
    known, start = prior(2, 1e3), np.array([0.2, 0.0])
    found = minimize(linear(matrix, np.array([100.0, 0.0])), start, known.held(which, start))
    assert found.theta[0] == pytest.approx(0.2, abs=1e-8)
    assert found.theta[1] == pytest.approx(0.5, abs=1e-3)


def test_direction_that_no_residual_sees_is_named_and_keeps_the_variance_of_the_prior():
    matrix = np.array([[30.0, 30.0, 0.0], [0.0, 0.0, 20.0]])
    known = prior(3, 0.3)
    found = minimize(linear(matrix, np.zeros(2)), np.zeros(3), known)
    (direction,) = undetermined(found, known, ["slack", "fiber", "strength"])
    assert {name for name, _ in direction.shares} == {"slack", "fiber"}
    assert direction.gain == pytest.approx(0.0, abs=1e-9)
    assert "slack" in direction.sentence
    assert "fiber" in direction.sentence
    along = np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0)
    assert along @ found.covariance @ along == pytest.approx(0.3**2, rel=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_parameters_without_any_measurement_are_named_one_by_one(seed):
    """Whatever round-off their derivatives have, and whatever the prior says they have in common."""
    names = ["seen", *(f"unseen {number}" for number in range(5))]
    covariance = 0.09 * (0.5 * np.eye(6) + 0.5)
    known = Prior(np.zeros(6), covariance, np.full(6, -9.0), np.full(6, 9.0))
    matrix = np.zeros((8, 6))
    matrix[:, 0] = 30.0
    matrix[:, 1:] = 1e-14 * np.random.default_rng(seed).standard_normal((8, 5))
    found = minimize(linear(matrix, np.zeros(8)), np.zeros(6), known)
    assert [direction.shares for direction in undetermined(found, known, names)] == [
        ((name, 1.0),) for name in names[1:]
    ]
    (sentence,) = sentences_of(undetermined(found, known, names))
    assert all(name in sentence for name in names[1:])


def test_nothing_is_named_where_all_is_determined():
    found = minimize(linear(100.0 * np.eye(2), np.zeros(2)), np.zeros(2), prior(2))
    assert undetermined(found, prior(2), ["a", "b"]) == ()


def test_what_parameters_have_in_common_is_not_told_by_their_difference():
    """Two strengths with a common part of the prior, of which only the difference is seen."""
    covariance = np.array([[0.16, 0.12], [0.12, 0.16]])
    ends = np.full(2, 9.0)
    known = Prior(np.zeros(2), covariance, -ends, ends)
    found = minimize(linear(np.array([[50.0, -50.0]]), np.zeros(1)), np.zeros(2), known)
    common, difference = np.array([1.0, 1.0]) / 2.0, np.array([1.0, -1.0])
    assert common @ found.covariance @ common == pytest.approx(0.14)
    assert difference @ found.covariance @ difference < 1e-3
    (direction,) = undetermined(found, known, ["one", "other"])
    assert {name for name, _ in direction.shares} == {"one", "other"}
    assert direction.shares[0][1] * direction.shares[1][1] > 0.0
