from __future__ import annotations

import casadi
import numpy as np
import pytest

from musclesolve.errors import InputError
from musclesolve.sharing import Problem
from musclesolve.sharing.cost import ForceSquared, SoftSaturation, StressCubed, costs
from musclesolve.sharing.cost.registry import REGISTRY, find_cost

EVERY = [pytest.param(kind(), id=name) for name, kind in REGISTRY.items()]
EVERY.append(pytest.param(2.0 * StressCubed() + ForceSquared() * 1e-3, id="sum"))


@pytest.fixture
def case(make_leg):
    problem = make_leg(5)
    random = np.random.default_rng(3)
    ends = np.minimum(1.0, SoftSaturation().largest_activation(problem))
    return problem, random.uniform(0.02, 0.95, ends.shape) * ends


def separately(problem, cost, activation):
    """The cost of every muscle by itself, (T, n)."""
    alone = activation[:, None, :] * np.eye(activation.shape[1])
    rest = cost.value(problem, np.zeros_like(activation))
    return np.stack([cost.value(problem, alone[:, i]) for i in range(alone.shape[1])], axis=1) - rest[:, None]


@pytest.mark.parametrize("cost", EVERY)
def test_derivatives_agree_with_central_differences(case, cost):
    problem, activation = case
    step = 1e-6 * activation
    up, down = activation + step, activation - step
    slope = (separately(problem, cost, up) - separately(problem, cost, down)) / (2 * step)
    np.testing.assert_allclose(cost.gradient(problem, activation), slope, rtol=1e-6)
    curvature = (cost.gradient(problem, up) - cost.gradient(problem, down)) / (2 * step)
    np.testing.assert_allclose(cost.hessian_diagonal(problem, activation), curvature, rtol=1e-6)


@pytest.mark.parametrize("cost", EVERY)
def test_the_symbolic_cost_is_the_numeric_one(case, cost):
    problem, activation = case
    numbers = cost.parameters(problem)
    a = casadi.SX.sym("a", problem.n_muscles)
    p = casadi.SX.sym("p", *numbers.shape[1:])
    value = cost.expression(casadi, a, p)
    everything = casadi.Function("f", [a, p], [value, casadi.gradient(value, a)])
    expected = cost.value(problem, activation), cost.gradient(problem, activation)
    for t in range(problem.n_frames):
        found = everything(activation[t], numbers[t])
        np.testing.assert_allclose(float(found[0]), expected[0][t], rtol=1e-12)
        np.testing.assert_allclose(np.asarray(found[1])[:, 0], expected[1][t], rtol=1e-10)


@pytest.mark.parametrize("cost", EVERY)
def test_rest_costs_nothing_and_cost_only_grows(case, cost):
    problem, activation = case
    rest = np.zeros_like(activation)
    assert (cost.value(problem, rest) == 0).all() and (cost.gradient(problem, rest) == 0).all()
    assert (cost.gradient(problem, activation) > 0).all() and (
        cost.hessian_diagonal(problem, activation) > 0
    ).all()


def test_printed_formulas():
    problem = Problem([[0.05, 0.04]], [10.0], [800.0, 600.0], [1000.0, 800.0])
    a = np.array([[0.5, 0.25]])
    force, strongest = np.array([400.0, 150.0]), np.array([1000.0, 800.0])
    assert ForceSquared().value(problem, a)[0] == pytest.approx((force**2).sum())
    area = strongest / 31.39
    assert StressCubed().value(problem, a)[0] == pytest.approx(((force / area) ** 3).sum())
    assert SoftSaturation().value(problem, a)[0] == pytest.approx(
        2 - np.sqrt(1 - (force / strongest) ** 2).sum()
    )


def test_soft_saturation_ends_at_the_maximum_isometric_force():
    problem = Problem([[0.05, 0.05]], [10.0], [1250.0, 0.0], [1000.0, 800.0])
    cost = SoftSaturation()
    np.testing.assert_allclose(cost.largest_activation(problem), [[0.8, np.inf]], rtol=1e-8)
    assert np.isinf(cost.gradient(problem, np.array([[0.8, 1.0]]))[0, 0])


def test_costs_add_up(case):
    problem, activation = case
    mixed = 2 * StressCubed() + SoftSaturation() * 3.0
    expected = 2 * StressCubed().value(problem, activation) + 3 * SoftSaturation().value(problem, activation)
    np.testing.assert_allclose(mixed.value(problem, activation), expected)
    np.testing.assert_array_equal(
        mixed.largest_activation(problem), SoftSaturation().largest_activation(problem)
    )
    assert mixed.name == "2 * stress_cubed + 3 * soft_saturation"
    assert (2 * mixed).name == "2 * (2 * stress_cubed + 3 * soft_saturation)"
    assert hash(mixed) == hash(2 * StressCubed() + SoftSaturation() * 3.0)


@pytest.mark.parametrize("factor", [0.0, -1.0, np.inf, np.nan])
def test_only_positive_multiples(factor):
    with pytest.raises(InputError, match="force_squared"):
        factor * ForceSquared()


def test_registry_lists_and_finds():
    assert set(costs()) == {"force_squared", "stress_cubed", "soft_saturation"}
    assert all(record.formula and "Silva" in record.source for record in costs().values())
    assert find_cost("stress_cubed") == StressCubed()
    with pytest.raises(InputError, match="did you mean 'stress_cubed'"):
        find_cost("stress_qubed")
    with pytest.raises(InputError, match="no cost 3"):
        find_cost(3)
