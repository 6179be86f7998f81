"""Rate limits: what activation dynamics allows."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.integrate import solve_ivp

from musclesolve.sharing import RateLimits
from musclesolve.sharing.rate_limits import ActivationLimits


@pytest.mark.parametrize(("start", "excitation"), [(0.0, 1.0), (0.7, 0.0), (0.3, 1.0), (1.0, 0.0)])
def test_full_and_no_excitation_end_at_the_limits(start, excitation):
    """The differential equation of the docstring, integrated."""
    limits = RateLimits(0.012, 0.045)
    beta = limits.activation_time / limits.deactivation_time

    def rate(_, a):
        return (excitation - (beta + (1 - beta) * excitation) * a) / limits.activation_time

    end = solve_ivp(rate, (0.0, 0.02), [start], rtol=1e-10, atol=1e-12).y[0, -1]
    low, high = limits.reach(np.array(start), 0.02)
    assert end == pytest.approx(high if excitation else low, abs=1e-8)


def test_any_excitation_between_stays_between():
    limits, random = RateLimits(), np.random.default_rng(0)
    beta = limits.activation_time / limits.deactivation_time
    for start in random.uniform(0, 1, 20):
        a, steps = start, 2000
        for u in np.repeat(random.uniform(0, 1, 10), steps // 10):
            a += 0.01 / steps * (u - (beta + (1 - beta) * u) * a) / limits.activation_time
        low, high = limits.reach(np.array(start), 0.01)
        assert low - 1e-4 < a < high + 1e-4


def test_two_short_steps_reach_as_far_as_a_long_one():
    limits, start = RateLimits(), np.array([0.0, 0.2, 0.9])
    once, twice = limits.reach(start, 0.02), [limits.reach(x, 0.01) for x in limits.reach(start, 0.01)]
    np.testing.assert_allclose(once[0], twice[0][0])
    np.testing.assert_allclose(once[1], twice[1][1])


def test_multipliers_pull_as_the_slack_changes():
    """y . G d = G^T y . d, and the sizes of the terms are those of |G|^T |y|."""
    random = np.random.default_rng(4)
    limits = ActivationLimits.from_rate_limits(RateLimits(), np.array([0.0, 0.01, 0.03, 0.035]))
    change, multiplier = random.normal(size=(4, 3)), random.normal(size=(2, 3, 3))
    assert (limits.pull(multiplier) * change).sum() == pytest.approx(
        (multiplier * limits.change(change)).sum()
    )
    rows = np.array([limits.change(each) for each in np.eye(12).reshape(12, 4, 3)]).reshape(12, -1)
    expected = np.abs(rows) @ np.abs(multiplier).ravel()
    np.testing.assert_allclose(limits.size_of_pull(multiplier).ravel(), expected)


def test_bad_constants_are_named():
    for value in (-0.01, np.nan, np.inf, "a", None, True, [0.04]):
        with refused("bad_number", "deactivation_time"):
            RateLimits(0.01, value)
