"""Own splines beside SciPy's: the same functions, and polynomials exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator, make_interp_spline
from scipy.linalg import solve_banded
from scipy.ndimage import median_filter

from musclesolve._util.series_kernel import BAND, MEDIAN
from musclesolve._util.splines import MonotoneCubic, spline_through

RNG = np.random.default_rng(3)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12 * np.abs(theirs).max())


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("natural", [False, True])
@pytest.mark.parametrize("count", [6, 7, 150])
def test_splines_are_those_of_scipy(degree, natural, count):
    x = np.cumsum(RNG.uniform(0.2, 1.8, count)) * 0.01
    values = np.cumsum(RNG.normal(size=(count, 2, 3)), axis=0)
    at = np.concatenate([x, RNG.uniform(x[0] - 0.01, x[-1] + 0.01, 50)])  # and beyond the ends
    zero = [(order, np.zeros((2, 3))) for order in range((degree + 1) // 2, degree)]
    theirs = make_interp_spline(x, values, degree, bc_type=(zero, zero) if natural else None)
    ours = spline_through(x, values, degree, natural)
    for order in range(degree):
        close(ours(at, order), theirs(at, order))
    assert ours(x[3]).shape == (2, 3) and spline_through(x, x)(x[3]).shape == ()


@pytest.mark.parametrize("count", [2, 3, 9])
@pytest.mark.parametrize("digits", [1, 9])
def test_monotone_cubics_are_bit_for_bit_those_of_scipy(count, digits):
    """With few digits some values are equal, and slopes zero."""
    knots, values = np.cumsum(RNG.uniform(0.1, 2.0, count)), RNG.normal(size=(count, 40)).round(digits)
    at = np.concatenate([knots, RNG.uniform(knots[0] - 0.1, knots[-1] + 0.1, 50)])
    ours, theirs = MonotoneCubic.through(knots, values), PchipInterpolator(knots, values)
    np.testing.assert_array_equal(ours(at), theirs(at))
    np.testing.assert_array_equal(ours(at, 1), theirs(at, 1))


def test_complex_values_and_few_points():
    x, values = np.linspace(0.0, 1.0, 9), RNG.normal(size=(9, 2)) + 1j * RNG.normal(size=(9, 2))
    close(spline_through(x, values, 5)(x + 0.03, 2), make_interp_spline(x, values, 5)(x + 0.03, 2))
    for few in (2, 3, 4):  # the polynomial of degree n - 1
        cube = spline_through(x[:few], x[:few] ** (few - 1))
        close(cube(x), x ** (few - 1))


def test_banded_equations_and_running_median():
    band, right = RNG.uniform(-1.0, 1.0, (30, 5)), RNG.normal(size=(30, 2))
    band[:, 2] += 6.0
    theirs = np.zeros((5, 30))
    for k in range(5):  # SciPy has diagonals as rows, counted by columns
        theirs[4 - k] = np.roll(band[:, k], k - 2)
    inside = np.arange(30)[:, None] + np.arange(-2, 3)
    band[(inside < 0) | (inside >= 30)] = 0.0
    expected = solve_banded((2, 2), theirs, right)
    BAND.load()(band, right)
    close(right, expected)
    for count in (3, 20, 500):
        signal, median = np.round(RNG.normal(size=count), 1), np.empty(count)  # equal samples among them
        MEDIAN.load()(signal, np.empty(21), median)
        np.testing.assert_array_equal(median, median_filter(signal, 21, mode="nearest"))
