"""Functions of coordinates: derivatives, knots, ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from musclesolve.models.opensim.functions import (
    ArcComponent,
    Function,
    LinearFunction,
    Polynomial,
    Scaled,
    Sine,
    multivariate_powers,
    natural_spline,
    piecewise_constant,
    piecewise_linear,
    polynomial,
    simm_spline,
    smooth_step,
)
from musclesolve.models.opensim.xml_tree import read_function, read_xml

X = np.array([-1.0, -0.3, 0.2, 0.9, 2.0])
Y = np.array([0.2, -0.1, 0.4, 0.3, 1.0])
ONE = {
    "spline": simm_spline(X, Y),
    "spline of three": simm_spline(X[:3], Y[:3]),
    "spline of two": simm_spline(X[:2], Y[:2]),
    "pieces": piecewise_linear(X, Y),
    "polynomial": polynomial(np.array([1.0, -2.0, 0.5])),
    "scaled": Scaled(simm_spline(X, Y), -3.0),
    "natural spline of degree 1": natural_spline(X, Y, 1),
    "natural spline of degree 3": natural_spline(X, Y, 2),
    "step": smooth_step(-0.5, 1.5, 2.0, -1.0),
    "sine": Sine(2.0, 3.0, 0.4, 0.7),
}


@pytest.mark.parametrize("name", ONE)
def test_derivative_is_the_slope(name: str) -> None:
    x, step = np.linspace(-2.02, 3.03, 60)[:, None], 1e-6
    slope = (ONE[name].value(x + step) - ONE[name].value(x - step)) / (2.0 * step)
    np.testing.assert_allclose(ONE[name].derivative(x)[:, 0], slope, rtol=1e-7, atol=1e-8)


def test_linear_of_several_coordinates() -> None:
    function = LinearFunction(np.array([2.0, -1.0]), 0.5)
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
    cubic = polynomial(np.array([1.0, -0.5, 2.0, 0.3]))
    x = np.linspace(-1.0, 2.0, 31)[:, None]
    np.testing.assert_allclose(simm_spline(X, cubic.value(X[:, None])).value(x), cubic.value(x), atol=1e-13)


@pytest.mark.parametrize("name", ONE)
def test_bend_is_the_second_derivative_in_time(name: str) -> None:
    x, step = np.linspace(-2.02, 3.03, 60)[:, None], 1e-5
    slope = (ONE[name].derivative(x + step) - ONE[name].derivative(x - step))[:, 0] / (2.0 * step)
    found = ONE[name].bend(x, np.full_like(x, 3.0))
    np.testing.assert_allclose(found, 9.0 * slope, rtol=1e-5, atol=1e-5)


SEVERAL = np.array([[0.3, 0.2], [2.0, 1.0], [1.0, 2.0], [0.0, 2.0], [2.0, 0.0]])


def test_polynomial_of_several_coordinates() -> None:
    """Values that OpenSim 4.6 gives for these coefficients; the powers of the last coordinate come first."""
    function = Polynomial(10.0 ** np.arange(6), multivariate_powers(2, 2))
    np.testing.assert_allclose(function.value(SEVERAL), [9907.0, 422111.0, 121421.0, 421.0, 402001.0])
    x = np.random.default_rng(1).normal(size=(20, 2))
    speed, step = np.array([0.7, -1.3]), 1e-4
    for i in range(2):
        moved = step * np.eye(2)[i]
        slope = (function.value(x + moved) - function.value(x - moved)) / (2.0 * step)
        np.testing.assert_allclose(function.derivative(x)[:, i], slope, rtol=1e-6)
    ends = [function.value(x + speed * h) for h in (step, 0.0, -step)]
    second = (ends[0] - 2.0 * ends[1] + ends[2]) / step**2
    np.testing.assert_allclose(function.bend(x, np.tile(speed, (20, 1))), second, rtol=1e-4)


KNOTS = np.array([-1.0, -0.3, 0.0, 0.5, 1.1, 1.7, 2.5])
HEIGHTS = np.array([0.1, 0.5, -0.2, 0.3, 0.9, 0.4, 0.6])
AT = np.array([[-2.0], [-0.999], [0.3], [1.0], [1.5], [4.0]])


@pytest.mark.parametrize(
    ("half_order", "expected"),
    [
        (1, [0.1, 0.10057, 0.1, 0.8, 0.56667, 0.6]),
        (2, [-1.75456, 0.10185, -0.07916, 0.89544, 0.57879, 1.64905]),
        (3, [-11.72248, 0.10497, -0.10617, 0.91489, 0.58419, 6.52307]),
    ],
)
def test_natural_splines_are_those_of_opensim(half_order: int, expected: list[float]) -> None:
    """Its GCVSpline 4.6 with these knots, also beyond them."""
    np.testing.assert_allclose(natural_spline(KNOTS, HEIGHTS, half_order).value(AT), expected, atol=6e-6)


def test_steps() -> None:
    """StepFunction of OpenSim 4.6 from -1 at 0.2 to 3 at 1.2; pieces of a constant function."""
    step = smooth_step(0.2, 1.2, -1.0, 3.0)
    x = np.array([[-2.0], [0.3], [0.5], [0.7], [1.0], [2.5]])
    np.testing.assert_allclose(step.value(x), [-1.0, -0.96576, -0.34768, 1.0, 2.76832, 3.0], atol=1e-9)
    np.testing.assert_allclose(step.derivative(x)[:, 0], [0.0, 0.972, 5.292, 7.5, 3.072, 0.0], atol=1e-9)
    pieces = piecewise_constant(KNOTS, HEIGHTS)
    np.testing.assert_allclose(pieces.value(AT), [0.1, 0.1, -0.2, 0.3, 0.9, 0.6])
    assert not pieces.derivative(AT).any()


X_Y = "<x>-1 0 1 2</x><y>0 1 0 2</y>"
NATURAL = CubicSpline([-1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 0.0, 2.0], bc_type="natural")


@pytest.mark.parametrize(
    ("text", "value", "derivative"),
    [
        (
            f"<GCVSpline><half_order>2</half_order><error_variance>0</error_variance>{X_Y}</GCVSpline>",
            NATURAL(0.25),
            [NATURAL(0.25, 1)],
        ),
        (f"<PiecewiseConstantFunction>{X_Y}</PiecewiseConstantFunction>", 1.0, [0.0]),
        ("<Sine><amplitude>2</amplitude><omega>3</omega></Sine>", 2.0 * np.sin(0.75), [6.0 * np.cos(0.75)]),
        (
            "<StepFunction><transition_start_time>0</transition_start_time><transition_end_time>1</transition_end_time>"
            "<start_value>2</start_value><end_value>3</end_value></StepFunction>",
            2.0 + 10.0 / 4**3 - 15.0 / 4**4 + 6.0 / 4**5,
            [30.0 / 4**2 - 60.0 / 4**3 + 30.0 / 4**4],
        ),
        (
            # the powers of the last coordinate come first: 1 + 2 y + 3 x
            "<MultivariatePolynomialFunction><coefficients>1 2 3</coefficients><dimension>2</dimension><order>1</order>"
            "</MultivariatePolynomialFunction>",
            2.25,
            [3.0, 2.0],
        ),
        (
            "<MultiplierFunction><function><Sine/></function><scale>4</scale></MultiplierFunction>",
            4.0 * np.sin(0.25),
            [4.0 * np.cos(0.25)],
        ),
    ],
)
def test_functions_are_read(tmp_path: Path, text: str, value: float, derivative: list[float]) -> None:
    """Value and derivative where each coordinate is 0.25."""
    function = read(tmp_path, text, len(derivative))
    assert function is not None
    x = np.full((1, len(derivative)), 0.25)
    np.testing.assert_allclose(function.value(x), [value], rtol=1e-12)
    np.testing.assert_allclose(function.derivative(x), [derivative], rtol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        f"<GCVSpline><half_order>2</half_order><error_variance>-1</error_variance>{X_Y}</GCVSpline>",
        "<ExpressionBasedFunction/>",
    ],
)
def test_functions_of_other_kinds(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) is None


def read(folder: Path, text: str, count: int = 1) -> Function | None:
    (folder / "f.xml").write_text(text, encoding="utf-8")
    return read_function(read_xml(folder / "f.xml"), count)


@pytest.mark.parametrize("size", [1e-4, 0.2, 0.23, 1.2])
@pytest.mark.parametrize("component", [0, 1, 2])
def test_derivatives_of_an_arc(component: int, size: float) -> None:
    """Up to the second, straight and bent, on both sides of the end of the series (a bend of 0.22)."""
    arc = ArcComponent(component, 0.7, np.array([0.02, -0.03]) * min(size, 1.0))
    x = np.random.default_rng(3).uniform(-size, size, (50, 2))
    for i, along in enumerate(1e-5 * np.eye(2)):
        slope = (arc.partial(x + along) - arc.partial(x - along)) / 2e-5
        np.testing.assert_allclose(arc.partial(x, i), slope, atol=1e-9)
        for j in range(2):
            bend = (arc.partial(x + along, j) - arc.partial(x - along, j)) / 2e-5
            np.testing.assert_allclose(arc.partial(x, i, j), bend, atol=1e-9)


def test_an_arc_is_as_long_as_stated() -> None:
    """Its ends are 2 d / t sin(t / 2) apart, with the bend t."""
    ends = np.array([[0.4, 0.0], [0.0, -0.9], [0.0, 0.0]])
    place = np.stack([ArcComponent(k, 0.7, np.zeros(2)).value(ends) for k in range(3)], axis=1)
    bend = np.array([0.4, 0.9])
    np.testing.assert_allclose(np.linalg.norm(place[:2], axis=1), 1.4 / bend * np.sin(bend / 2.0))
    np.testing.assert_allclose(place[2], [0.0, 0.7, 0.0], atol=1e-15)
