"""Splines through samples: the curves of every family with value and slope, derivatives, and straight ends."""

import numpy as np
import pytest
from elastic_muscle import elastic_muscles, three_muscles

from musclesolve.muscles.curves.curve_family import CURVES, curve_family
from musclesolve.muscles.elastic.elastic_muscles import (
    LEAST_FACTOR,
    PASSIVE_BEND,
    PLATEAU_BEND,
    SampledCurves,
    SampleGrid,
    positive_part,
    tendon_of_family,
)

FAMILIES = pytest.mark.parametrize("family", CURVES)


def bent(value, slope, width):
    """Value and slope of positive_part of a function."""
    root = np.hypot(value, width)
    return 0.5 * (value + root), 0.5 * (1.0 + value / root) * slope


def three(x):
    return np.tile(x[:, None], 3)


def close(curve, x, value, slope, corners=()):
    """Values to 1e-7 and slopes to 1e-4, but next to corners of the family, which a spline makes round."""
    found = curve(three(x))
    away = (
        np.all([np.abs(x - corner) > 0.012 for corner in corners], axis=0)
        if corners
        else np.full(len(x), True)
    )
    np.testing.assert_allclose(found.value[away], value[away], rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.slope[away], slope[away], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.value, value, rtol=0, atol=2e-3)


@FAMILIES
def test_active_curves_are_those_of_the_family(family):
    own, x = curve_family(family), np.linspace(0.3, 1.9, 1777)
    value, slope = bent(own.active(x), own.active_slope(x), LEAST_FACTOR)
    close(elastic_muscles(family).curves.active, x, three(value), three(slope), (0.4441, 1.8123, 0.25, 1.9))


@FAMILIES
def test_force_velocity_curves_are_those_of_the_family(family):
    own, x = curve_family(family), np.linspace(-0.985, 0.985, 1777)
    plain, rate = own.velocity(x), own.velocity_slope(x)
    if family == "silva_2003":  # its corner at 0.2 is rounded
        last = 5.0 / (np.arctan(5.0) * 2.0)
        part, along = bent(x - 0.2, np.ones_like(x), PLATEAU_BEND)
        plain = plain - last * (part - np.maximum(x - 0.2, 0.0))
        rate = rate - last * (along - (x > 0.2))
    value, slope = bent(plain, rate, LEAST_FACTOR)
    corners = {"silva_2003": (0.2,), "thelen_2003": (0.0,)}.get(family, ())
    close(elastic_muscles(family).curves.velocity, x, three(value), three(slope), corners)


@FAMILIES
def test_passive_curves_are_those_of_the_family_on_a_bent_strain(family):
    own, x = curve_family(family), np.linspace(-0.5, 1.2, 1777)
    share, rate = bent(x, np.ones_like(x), PASSIVE_BEND)
    _, zero, one = three_muscles().passive
    length = 1.0 + zero + share[:, None] * (one - zero)
    value, slope = (
        own.passive(length, zero, one),
        own.passive_slope(length, zero, one) * (one - zero) * rate[:, None],
    )
    # the forces of Thelen and De Groote go on straight above one norm force, that of Millard has joints
    close(elastic_muscles(family).curves.passive, x, value, slope, (0.0, 0.05, 1.0))


@FAMILIES
def test_tendon_curves_are_those_that_go_with_the_family(family):
    own, x = tendon_of_family(family).force, np.linspace(0.01, 2.9, 1777)
    slope = (own(x + 1e-6) - own(x - 1e-6)) / 2e-6
    close(
        elastic_muscles(family).curves.tendon, x, three(own(x)), three(slope), (0.0, 0.6087, 0.0758, 0.7576)
    )


@FAMILIES
def test_slopes_and_curvatures_are_the_derivatives_of_the_values(family):
    curves, step = elastic_muscles(family).curves, 1e-5
    x = three(np.round(np.linspace(0.1, 0.9, 203), 3) + 5e-4)  # between knots
    for curve in (curves.active, curves.velocity, curves.passive, curves.tendon):
        at, up, down = (curve(x + d) for d in (0.0, step, -step))
        np.testing.assert_allclose(at.slope, (up.value - down.value) / (2.0 * step), atol=1e-4)
        np.testing.assert_allclose(at.curvature, (up.slope - down.slope) / (2.0 * step), atol=1e-4)


def test_beyond_the_grid_curves_go_on_straight():
    grid = SampleGrid(0.0, 1.0, 100)
    curve = SampledCurves.from_samples(grid, np.exp(grid.points)[:, None], np.zeros(1, dtype=int))
    for end, outside in ((1.0, 1.7), (0.0, -0.4)):
        at, found = curve(np.array([end])), curve(np.array([outside]))
        np.testing.assert_allclose(found.value, at.value + at.slope * (outside - end), rtol=1e-14)
        assert found.slope == at.slope and found.curvature == 0.0
    np.testing.assert_allclose(curve(np.array([0.555])).value, np.exp(0.555), rtol=1e-9)


def test_the_positive_part_is_positive_and_exact_far_from_zero():
    x = np.array([-1e3, -1.0, 0.0, 1.0, 1e3])
    found = positive_part(x, 2e-3)
    assert (found > 0.0).all() and found[2] == pytest.approx(1e-3)
    np.testing.assert_allclose(found * (found - x), 1e-6, rtol=1e-6, atol=1e-9)  # p (p - x) = w^2 / 4
