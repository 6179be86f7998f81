"""Smoothing splines: those of scipy, a known trace, derivatives of known motions, the noise that was planted."""

from __future__ import annotations

import numpy as np
import pytest
from noisy_stride import EDGE, noise, walking
from refusals import refused
from scipy.interpolate import make_smoothing_spline

from musclesolve.dynamics import smoothing_spline
from musclesolve.dynamics.kinematics.low_pass import HALF_POWER, lowest_cutoff, symbol, unsmooth

RATE = 100.0


def signal(frames: int = 200) -> np.ndarray:
    time = np.arange(frames) / RATE
    return np.sin(2 * np.pi * time) + noise((frames,), 0.01, seed=1)


def dense(frames: int, half_order: int, p: float) -> tuple[np.ndarray, float]:
    """The matrix that makes the smooth signal, its columns the answers to single frames, and its trace."""
    rest, freedom = unsmooth(np.asfortranarray(np.diff(np.eye(frames), half_order, axis=0)), half_order, p)
    return np.eye(frames) - rest, freedom


@pytest.mark.parametrize("cutoff", [0.5, 4.0, 20.0])
def test_the_cubic_spline_is_that_of_scipy(cutoff: float) -> None:
    y, time = signal(), np.arange(200) / RATE
    found = smoothing_spline(y, RATE, cutoff, half_order=2)
    p = HALF_POWER / symbol(2 * np.pi * cutoff / RATE, 2)
    expected = make_smoothing_spline(time, y, lam=float(p) / RATE**3)
    np.testing.assert_allclose(found.position, expected(time), atol=1e-9)
    np.testing.assert_allclose(found.derivative(2), expected.derivative(2)(time), atol=1e-5)


def test_cross_validation_of_the_cubic_spline_is_that_of_scipy() -> None:
    y, time = signal(), np.arange(200) / RATE
    np.testing.assert_allclose(
        smoothing_spline(y, RATE, half_order=2).position, make_smoothing_spline(time, y)(time), atol=1e-3
    )


@pytest.mark.parametrize("half_order", [2, 3])
@pytest.mark.parametrize("p", [1e-3, 1.0, 1e3, 1e6])
def test_the_trace_is_that_of_the_matrix(half_order: int, p: float) -> None:
    matrix, freedom = dense(60, half_order, p)
    assert freedom == pytest.approx(np.trace(matrix), rel=1e-7)


@pytest.mark.parametrize("half_order", [2, 3])
def test_it_is_symmetric_and_keeps_polynomials_below_its_half_order(half_order: int) -> None:
    matrix, _ = dense(50, half_order, 100.0)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-10)
    powers = (np.arange(50.0)[:, None] / 50.0) ** np.arange(half_order)
    np.testing.assert_allclose(matrix @ powers, powers, atol=1e-9)


@pytest.mark.parametrize("half_order", [2, 3])
def test_the_gain_at_the_cutoff_is_that_of_the_filter(half_order: int) -> None:
    time = np.arange(2000) / RATE
    for cutoff in (2.0, 6.0, 20.0):
        wave = np.cos(2 * np.pi * cutoff * time)
        out = smoothing_spline(wave, RATE, cutoff, half_order).position
        np.testing.assert_allclose(out[500:-500], np.sqrt(0.5) * wave[500:-500], atol=1e-6)


def test_derivatives_are_those_of_the_motion() -> None:
    time = np.arange(400) / RATE
    found = smoothing_spline(np.sin(2 * np.pi * time), RATE, 30.0)
    inside = slice(50, -50)
    np.testing.assert_allclose(
        found.derivative(1)[inside], 2 * np.pi * np.cos(2 * np.pi * time)[inside], atol=1e-5
    )
    np.testing.assert_allclose(
        found.derivative(2)[inside], -4 * np.pi**2 * np.sin(2 * np.pi * time)[inside], atol=1e-4
    )


@pytest.mark.parametrize("rate", [60.0, 100.0, 200.0])
@pytest.mark.parametrize("size", [0.001, 0.003])
def test_cross_validation_finds_the_noise_and_useful_accelerations(rate: float, size: float) -> None:
    time, position, acceleration = walking(rate, 4.0)
    found = smoothing_spline(position + noise(position.shape, size, seed=4), rate)
    assert np.mean(np.abs(found.noise / size - 1.0) < 0.15) > 0.9
    inside = (time > EDGE) & (time < time[-1] - EDGE)
    error = np.sqrt(np.mean((found.derivative(2) - acceleration)[inside] ** 2, axis=0))
    twice = np.sqrt(np.mean(acceleration[inside] ** 2, axis=0))
    assert np.median(error / twice) < 0.45


def test_many_coordinates_are_smoothed_each_by_itself() -> None:
    noisy = walking(RATE, 2.0)[1][:, :12].reshape(200, 4, 3) + noise((200, 4, 3), 0.001, seed=3)
    found = smoothing_spline(noisy, RATE)
    alone = smoothing_spline(noisy[:, 2, 1], RATE)
    assert alone.cutoff_hz == pytest.approx(found.cutoff_hz[2, 1])
    np.testing.assert_allclose(found.position[:, 2, 1], alone.position, atol=1e-12)
    assert found.derivative(2).shape == noisy.shape and found.noise.shape == (4, 3)


@pytest.mark.parametrize(
    ("frames", "rate", "cutoff", "half_order", "code"),
    [
        (200, 100.0, 6.0, 4, "bad_number"),
        (11, 100.0, None, 3, "too_few_frames"),
        (200, 0.0, None, 3, "bad_number"),
        (200, 100.0, 50.0, 3, "bad_number"),
        (200, 100.0, 0.9 * lowest_cutoff(100.0, 3), 3, "bad_number"),
        (200, 100.0, float("nan"), 2, "bad_number"),
    ],
)
def test_what_cannot_be_is_refused(
    frames: int, rate: float, cutoff: float | None, half_order: int, code: str
) -> None:
    with refused(code):
        smoothing_spline(np.zeros(frames), rate, cutoff, half_order)
