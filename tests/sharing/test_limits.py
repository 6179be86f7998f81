"""Limits of the costs, and relations between them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from musclesolve import Problem, Status, solve
from musclesolve.sharing.cost import ActivationPower, EmgTracking, MinMax, MusclePower, SoftSaturation

ARM, STRONGEST = np.array([0.04, 0.02, 0.06]), np.array([700.0, 900.0, 250.0])
"""Biceps, brachialis and brachioradialis at an elbow, in round figures."""


def elbow(moment):
    return Problem(ARM[None], [moment], STRONGEST, STRONGEST)


def least_maximum(matrix, moment, ratio):
    """The first level of min/max as a linear program in (a, t)."""
    count = len(ratio)
    rows = np.hstack([np.diag(ratio), -np.ones((count, 1))])
    found = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=rows,
        b_ub=np.zeros(count),
        A_eq=np.hstack([matrix, np.zeros((len(matrix), 1))]),
        b_eq=moment,
        bounds=[(0, 1)] * count + [(0, None)],
    )
    assert found.status == 0
    return found.x[-1]


@pytest.mark.parametrize("kind", [ActivationPower, SoftSaturation])
@pytest.mark.parametrize("moment", [10.0, 30.0, 50.0])
def test_high_powers_approach_min_max(kind, moment):
    """All muscles of one joint are then loaded alike, M / sum r F0; the distance falls with 1 / p."""
    even = moment / (ARM @ STRONGEST)
    np.testing.assert_allclose(solve(elbow(moment), "min_max", "linprog").activation, even, rtol=1e-7)
    assert least_maximum((ARM * STRONGEST)[None], [moment], np.ones(3)) == pytest.approx(even)
    distance = []
    for exponent in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0):
        answer = solve(elbow(moment), kind(exponent))
        assert answer.status == Status.SOLVED
        assert MinMax().value(elbow(moment), answer.activation[None])[0] >= even * (1 - 1e-7)
        distance.append(np.abs(answer.activation / even - 1).max())
    ratio = np.array(distance[1:]) / distance[:-1]
    assert (ratio < 0.75).all() and distance[-1] < 0.01
    np.testing.assert_allclose(ratio[-2:], 0.5, atol=0.02)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 3.0, 5.0])
@pytest.mark.parametrize("solver", ["batch", "ipopt"])
def test_a_power_of_activation_on_one_joint(exponent, solver):
    """p a^(p-1) = lambda r c, so a is proportional to (r c)^(1 / (p-1))."""
    answer = solve(elbow(30.0), ActivationPower(exponent), solver)
    shape = (ARM * STRONGEST) ** (1 / (exponent - 1))
    expected = 30.0 * shape / (ARM @ (STRONGEST * shape))
    if expected.max() < 1:
        np.testing.assert_allclose(answer.activation, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [ActivationPower, MusclePower, SoftSaturation])
def test_linear_costs_are_linear_programs(make_leg, kind):
    problem = make_leg(15, seed=31, effort=0.5)
    cost = kind(1.0)
    assert cost.linear and not kind().linear and (2 * cost + cost).linear
    answer = solve(problem, cost)
    assert (answer.status == Status.SOLVED).all()
    ends = np.minimum(problem.upper, cost.largest_activation(problem))
    for t in range(problem.n_frames):
        best = linprog(
            cost.gradient(problem, np.full_like(problem.upper, 0.5))[t],
            A_eq=problem.moment_matrix[t],
            b_eq=problem.moment[t],
            bounds=list(zip(problem.lower[t], ends[t], strict=True)),
        )
        assert answer.cost[t] == pytest.approx(best.fun, rel=1e-6)


def test_what_was_measured_and_is_possible_is_kept(make_leg):
    """The moments are those of the measured activations: nothing has to give way."""
    problem = make_leg(10, seed=32)
    measured = np.random.default_rng(4).uniform(0.05, 0.9, problem.force_capacity.shape)
    moment = np.einsum("tmn,tn->tm", problem.moment_matrix, measured)
    answer = solve(replace(problem, moment=moment, emg=measured), EmgTracking())
    np.testing.assert_allclose(answer.activation, measured, atol=1e-6)
    assert (answer.cost < 1e-12).all() and (answer.status == Status.SOLVED).all()


def test_without_any_measurement_tracking_is_activation_squared(make_leg):
    problem = replace(make_leg(10, seed=33), emg=np.nan)
    np.testing.assert_allclose(
        solve(problem, "emg_tracking").activation, solve(problem, "activation_power").activation, atol=1e-7
    )


@pytest.mark.parametrize(
    ("arm", "emg"),
    [
        ([[0.0625, 0.0]], [0.62, np.nan]),
        ([[0.05, 0.0, 0.05]], [1.0, 1.0, 0.0]),
        ([[0.0, 0.05], [-0.006, 0.05]], [0.62, 0.62]),
        ([[0.007, 0.05, 0.05]], [0.62, np.nan, 1.0]),
    ],
)
def test_moments_that_only_rest_meets_are_solved_beside_any_measurement(arm, emg):
    """Muscles that a zero moment ties rest; others do as measured."""
    arm, emg = np.array(arm), np.array(emg)
    strength = np.geomspace(1.0, 300.0, emg.size)
    answer = solve(Problem(arm, np.zeros(len(arm)), strength, strength, emg=emg), "emg_tracking")
    assert answer.status == Status.SOLVED
    tied = (arm != 0.0).any(axis=0)
    np.testing.assert_allclose(answer.activation, np.where(tied, 0.0, np.nan_to_num(emg)), atol=1e-12)


def test_min_max_has_the_slope_of_its_largest_load(make_leg):
    problem = make_leg(5)
    activation = np.random.default_rng(5).random(problem.force_capacity.shape)
    slope = MinMax().gradient(problem, activation)
    assert ((slope != 0).sum(axis=1) == 1).all()
    np.testing.assert_allclose((slope * activation).sum(axis=1), MinMax().value(problem, activation))
    assert MinMax().needs == (2 * MinMax()).needs == {"linear_program"}
