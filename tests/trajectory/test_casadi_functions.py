"""CasADi computes the same curves, balance and cost as numpy, with first and second derivatives."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from motion_cases import small_motion, small_muscles

from musclesolve import costs
from musclesolve.trajectory.collocation import cost_integral, fiber_forces, spline, tendon_force
from musclesolve.trajectory.motion_problem import MotionCost, equilibrium

FAMILIES = ["de_groote_2016", "millard_2013", "thelen_2003", "silva_2003"]


def with_derivatives(expression, symbol) -> casadi.Function:
    """Value, slope and curvature of an expression that depends on its column element by element."""
    slope = casadi.jtimes(expression, symbol, casadi.DM.ones(symbol.shape))
    curvature = casadi.jtimes(slope, symbol, casadi.DM.ones(symbol.shape))
    return casadi.Function("all", [symbol], [expression, slope, curvature])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["active", "velocity", "passive", "tendon"])
def test_curves_are_the_same_inside_and_beyond_the_grid(family, name):
    curves = getattr(small_muscles(family).curves, name)
    grid, rows = curves.grid, 41
    inside = np.random.default_rng(0).uniform(grid.first, grid.last, (rows - 4, 4))
    beyond = np.array([grid.first - 0.7, grid.first - 1e-3, grid.last + 1e-3, grid.last + 0.7])
    at = np.vstack([inside, np.repeat(beyond[:, None], 4, axis=1)])
    x = casadi.MX.sym("x", at.size)
    found = with_derivatives(spline(curves, x, rows), x)(at.ravel())
    for of_casadi, of_numpy in zip(found, curves(at), strict=True):
        size = np.maximum(1.0, np.abs(of_numpy))
        assert np.abs((np.asarray(of_casadi).reshape(at.shape) - of_numpy) / size).max() <= 1e-12


@pytest.mark.parametrize("family", FAMILIES)
def test_balance_is_the_same(family):
    problem = small_motion(family=family, moments=2)
    random = np.random.default_rng(1)
    shape = problem.musculotendon_length.shape
    z, y = random.uniform(0.05, 1.2, shape), random.uniform(-20.0, 20.0, shape)
    lengths = problem.musculotendon_length, problem.musculotendon_velocity
    state = equilibrium(problem.muscles, *lengths, z, y)
    at, rate = casadi.MX.sym("z", z.size), casadi.MX.sym("y", y.size)
    capacity, passive, _ = fiber_forces(problem, at, rate)
    ones = casadi.DM.ones(at.shape)
    by_z, by_y = casadi.jtimes(capacity, at, ones), casadi.jtimes(capacity, rate, ones)
    bent = [casadi.jtimes(*parts, ones) for parts in ((by_z, at), (by_z, rate), (by_y, rate))]
    results = [capacity, by_z, by_y, *bent, passive, tendon_force(problem, at)]
    found = casadi.Function("forces", [at, rate], results)(z.ravel(), y.ravel())
    for own, other in zip(found, (*state.capacity, state.passive.value, state.tendon.value), strict=True):
        assert np.abs(np.asarray(own).reshape(shape) - other).max() <= 1e-10 * max(1.0, np.abs(other).max())


@pytest.mark.parametrize("cost", ["force_squared", "stress_cubed", "soft_saturation", "activation_volume"])
def test_cost_is_the_same_and_goes_on_straight_below_zero_force(cost):
    problem = small_motion()
    chosen = MotionCost.from_cost(problem, 0.5 * costs()[cost]() + costs()["activation_power"]())
    random = np.random.default_rng(2)
    shape = problem.musculotendon_length.shape
    force, activation = random.uniform(-0.2, 0.9, shape), random.uniform(0.0, 1.0, shape)
    x, a = casadi.MX.sym("x", force.size), casadi.MX.sym("a", force.size)
    total = cost_integral(chosen, problem.weight, x, a)
    results = [total, casadi.gradient(total, x), casadi.gradient(total, a)]
    function = casadi.Function("cost", [x, a], results)
    by_force, _, by_activation, _ = chosen.slopes(force, activation)
    _, *slopes = function(force.ravel(), activation.ravel())
    for own, other in zip(slopes, (by_force, by_activation), strict=True):
        expected = problem.weight[:, None] * other
        assert np.abs(np.asarray(own).reshape(shape) - expected).max() <= 1e-12 * np.abs(expected).max()
    positive = np.maximum(force, 0.0)
    value = float(function(positive.ravel(), activation.ravel())[0])
    assert value == pytest.approx(problem.weight @ chosen.value(positive, activation), rel=1e-12)
