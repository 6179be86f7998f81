"""Laws of every cost: its derivatives and its expression agree with its value."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np

from musclesolve.sharing.cost import SoftSaturation
from musclesolve.sharing.cost.cost_terms import arrays_of, flat, parameter_symbols, shapes_of


def activations_inside(problem):
    """Activations (T, n) inside the domain of every cost."""
    random = np.random.default_rng(3)
    ends = np.minimum(1.0, SoftSaturation().largest_activation(problem))
    return random.uniform(0.02, 0.95, ends.shape) * ends


def separately(problem, cost, activation):
    """The cost of every muscle by itself, (T, n)."""
    alone = activation[:, None, :] * np.eye(activation.shape[1])
    rest = cost.term_value(problem, np.zeros_like(activation))
    return (
        np.stack([cost.term_value(problem, alone[:, i]) for i in range(alone.shape[1])], axis=1)
        - rest[:, None]
    )


def derivatives_agree_with_central_differences(problem, cost):
    """Compare the derivatives of the terms, muscle by muscle, so that small terms are not lost in the sum."""
    activation = activations_inside(problem)
    step = 1e-6 * activation
    up, down = activation + step, activation - step
    slope = (separately(problem, cost, up) - separately(problem, cost, down)) / (2 * step)
    found = cost.term_gradient(problem, activation)
    np.testing.assert_allclose(found, slope, rtol=2e-6, atol=1e-9 * np.abs(found).max())
    curvature = (cost.term_gradient(problem, up) - cost.term_gradient(problem, down)) / (2 * step)
    np.testing.assert_allclose(
        cost.term_hessian_diagonal(problem, activation), curvature, rtol=1e-6, atol=1e-9 * np.abs(found).max()
    )


def derivatives_of_terms_and_rows_together(problem, cost):
    """Along random directions: slope of the value, slope of the gradient."""
    activation = activations_inside(problem)
    slope, hessian = cost.gradient(problem, activation), cost.hessian(problem, activation)
    for along in np.random.default_rng(5).standard_normal((4, *activation.shape)) * activation:
        up, down = activation + 1e-4 * along, activation - 1e-4 * along
        ahead = (cost.value(problem, up) - cost.value(problem, down)) / 2e-4
        size = np.abs(slope * along).sum(axis=1)
        np.testing.assert_allclose((slope * along).sum(axis=1) / size, ahead / size, atol=1e-6)
        bent = (cost.gradient(problem, up) - cost.gradient(problem, down)) / 2e-4
        expected = np.einsum("tij,tj->ti", hessian, along)
        np.testing.assert_allclose(bent, expected, rtol=1e-4, atol=1e-5 * (1e-9 + np.abs(expected).max()))


def the_symbolic_cost_is_the_numeric_one(problem, cost):
    """CasADi's value and gradient of the expression are those of the cost."""
    activation = activations_inside(problem)
    numbers = cost.parameters(problem)
    a = casadi.SX.sym("a", problem.n_muscles)
    symbols = parameter_symbols(casadi.SX.sym, shapes_of(numbers))
    value = cost.expression(casadi, a, symbols)
    p = casadi.vertcat(*map(casadi.vec, arrays_of(symbols)))
    everything = casadi.Function("f", [a, p], [value, casadi.gradient(value, a)])
    flattened = flat(numbers, problem.n_frames)
    expected = cost.value(problem, activation), cost.gradient(problem, activation)
    for t in range(problem.n_frames):
        found = everything(activation[t], flattened[t])
        np.testing.assert_allclose(float(found[0]), expected[0][t], rtol=1e-9)
        np.testing.assert_allclose(np.asarray(found[1])[:, 0], expected[1][t], rtol=1e-9)


def some_frames_have_the_cost_of_the_whole(problem, cost):
    """A frame in which no muscle crosses a joint has, alone, the slopes that it has among the others."""
    arm = np.where(np.arange(problem.n_frames)[:, None, None] == 0, 0.0, problem.moment_arm)
    names = [f"knee_{number}" for number in range(problem.n_dof)]
    whole = replace(problem, moment_arm=arm, dof=names, joints_crossed=None)
    activation = activations_inside(problem)
    alone = cost.gradient(whole.frames(np.array([0])), activation[:1])
    np.testing.assert_array_equal(alone, cost.gradient(whole, activation)[:1])


LAWS = (
    derivatives_agree_with_central_differences,
    derivatives_of_terms_and_rows_together,
    the_symbolic_cost_is_the_numeric_one,
    some_frames_have_the_cost_of_the_whole,
)
