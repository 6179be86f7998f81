"""Functions of coordinates: derivatives, knots, ends."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.opensim.functions import Linear, Polynomial, Scaled, piecewise_linear, simm_spline

X = np.array([-1.0, -0.3, 0.2, 0.9, 2.0])
Y = np.array([0.2, -0.1, 0.4, 0.3, 1.0])
ONE = {
    "spline": simm_spline(X, Y),
    "spline of three": simm_spline(X[:3], Y[:3]),
    "spline of two": simm_spline(X[:2], Y[:2]),
    "pieces": piecewise_linear(X, Y),
    "polynomial": Polynomial(np.array([1.0, -2.0, 0.5])),
    "scaled": Scaled(simm_spline(X, Y), -3.0),
}


@pytest.mark.parametrize("name", ONE)
def test_derivative_is_the_slope(name: str) -> None:
    x, step = np.linspace(-2.02, 3.03, 60)[:, None], 1e-6
    slope = (ONE[name].value(x + step) - ONE[name].value(x - step)) / (2.0 * step)
    np.testing.assert_allclose(ONE[name].derivative(x)[:, 0], slope, rtol=1e-7, atol=1e-8)


def test_linear_of_several_coordinates() -> None:
    function = Linear(np.array([2.0, -1.0]), 0.5)
    x = np.array([[1.0, 2.0], [0.0, 3.0]])
    np.testing.assert_allclose(function.value(x), [0.5, -2.5])
    np.testing.assert_allclose(function.derivative(x), [[2.0, -1.0]] * 2)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_spline_passes_its_knots_and_is_straight_beyond(count: int) -> None:
    spline = simm_spline(X[:count], Y[:count])
    np.testing.assert_allclose(spline.value(X[:count, None]), Y[:count], atol=1e-14)
    for beyond in (X[0] - np.array([0.1, 0.2, 0.3]), X[count - 1] + np.array([0.1, 0.2, 0.3])):
        np.testing.assert_allclose(np.diff(spline.value(beyond[:, None]), 2), 0.0, atol=1e-14)


def test_spline_is_exact_for_cubics() -> None:
    """The ends take the third derivative of the cubic through four knots, so a cubic is its own spline."""
    cubic = Polynomial(np.array([1.0, -0.5, 2.0, 0.3]))
    x = np.linspace(-1.0, 2.0, 31)[:, None]
    np.testing.assert_allclose(simm_spline(X, cubic.value(X[:, None])).value(x), cubic.value(x), atol=1e-13)
