"""Severity index and head injury criterion against closed forms of pulses."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

import musclesolve as ms
from musclesolve.constants import STANDARD_GRAVITY as G


def pulse(kind, peak=80.0, width=0.02, count=4001):
    """Time [s] and acceleration [m/s2] of a pulse in the middle of silence."""
    time = np.linspace(-width, 2.0 * width, count)
    phase = np.clip(time / width, 0.0, 1.0)
    shape = {"half sine": np.sin(np.pi * phase), "triangle": 1.0 - np.abs(2.0 * phase - 1.0)}[kind]
    return time, G * peak * shape


@pytest.mark.parametrize("window", [0.015, 0.036, 1.0])
def test_a_constant_acceleration_fills_the_window(window):
    time = np.linspace(0.0, 0.05, 73)
    found = ms.laboratory.head_injury_criterion(time, np.full(73, 60.0 * G), window)
    width = min(window, 0.05)
    assert found.value == pytest.approx(width * 60.0**2.5, rel=1e-12)
    assert found.end - found.start == pytest.approx(width, abs=1e-12)
    assert ms.laboratory.severity_index(time, np.full(73, 60.0 * G)) == pytest.approx(
        0.05 * 60.0**2.5, rel=1e-12
    )


def test_severity_index_of_a_triangle_needs_three_samples():
    """The index of a pulse with the peak A is A^2.5 T / 3.5."""
    found = ms.laboratory.severity_index([0.0, 0.01, 0.02], [0.0, 80.0 * G, 0.0])
    assert found == pytest.approx(80.0**2.5 * 0.02 / 3.5, rel=1e-12)


def test_severity_index_of_a_half_sine():
    expected = 80.0**2.5 * quad(lambda t: np.sin(np.pi * t / 0.02) ** 2.5, 0.0, 0.02)[0]
    assert ms.laboratory.severity_index(*pulse("half sine")) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("window", [0.004, 0.015, 0.036])
def test_head_injury_criterion_of_a_half_sine(window):
    """The best window lies about the peak: (2h) (A T / (pi h) sin(pi h / T))^2.5 with half its width h."""

    def value(h):
        return 2.0 * h * (80.0 * 0.02 / (np.pi * h) * np.sin(np.pi * h / 0.02)) ** 2.5

    best = minimize_scalar(
        lambda h: -value(h),
        bounds=(1e-6, min(window, 0.02) / 2.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    found = ms.laboratory.head_injury_criterion(*pulse("half sine"), window)
    assert found.value == pytest.approx(-best.fun, rel=1e-5)
    assert 0.5 * (found.start + found.end) == pytest.approx(0.01, abs=2e-5)


@pytest.mark.thorough
def test_the_best_window_of_a_long_pulse_ends_where_theory_says():
    """Without a bound both ends lie where a = 3/5 of the mean over the window (Chou and Nyquist 1974)."""
    time, level = pulse("half sine", count=12001)
    found = ms.laboratory.head_injury_criterion(time, level, 1.0)
    inside = (time >= found.start) & (time <= found.end)
    ends = np.interp([found.start, found.end], time, level)
    np.testing.assert_allclose(ends, 0.6 * level[inside].mean(), rtol=2e-3)


def test_the_criterion_of_any_window_is_no_larger():
    rng = np.random.default_rng(7)
    time = np.cumsum(rng.uniform(0.0005, 0.002, 80))
    level = 50.0 * G * rng.uniform(size=80)
    found = ms.laboratory.head_injury_criterion(time, level, 0.015)
    fine = np.linspace(time[0], time[-1], 400)
    velocity = np.array([np.trapezoid(*dense(time, level, t)) for t in fine]) / G
    width = fine[None, :] - fine[:, None]
    mean = (velocity[None, :] - velocity[:, None]) / np.where(width > 0.0, width, 1.0)
    values = np.where((width > 1e-4) & (width <= 0.015), width * np.maximum(mean, 0.0) ** 2.5, 0.0)
    assert values.max() <= 1.05 * found.value  # windows of which neither end is a sample
    assert found.end - found.start <= 0.015 + 1e-12


def dense(time, level, end):
    """Values and times of a signal up to a time."""
    at = np.append(time[time < end], end)
    return np.interp(at, time, level), at


def test_components_count_by_their_magnitude():
    time, level = pulse("triangle")
    direction = np.array([2.0, -1.0, 2.0]) / 3.0
    one, three = (ms.laboratory.head_injury_criterion(time, a) for a in (level, level[:, None] * direction))
    assert three.value == pytest.approx(one.value, rel=1e-12)
    assert ms.laboratory.severity_index(time, -level) == pytest.approx(
        ms.laboratory.severity_index(time, level)
    )


def test_bad_signals_are_refused():
    time, level = pulse("triangle")
    for code, call in (
        ("bad_shape", lambda: ms.laboratory.severity_index(time, level[:-1])),
        (
            "not_finite",
            lambda: ms.laboratory.head_injury_criterion(time, np.where(time > 0.01, np.nan, level)),
        ),
        ("time_not_increasing", lambda: ms.laboratory.severity_index(time[::-1], level)),
        ("bad_number", lambda: ms.laboratory.head_injury_criterion(time, level, 0.0)),
    ):
        with refused(code):
            call()
