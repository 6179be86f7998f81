"""Motions over any time at any rate with their true accelerations, of the reference stride and made up, and noise."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.signal import lfilter

from musclesolve.studies.synthetic import reference_stride

Array = NDArray[np.float64]

SAMPLES = 128  # a stride: more than any harmonic of it needs
EDGE = 0.25  # s, not counted at either end


@cache
def harmonics() -> tuple[float, Array, Array]:
    """Period [s], advance (n,) [m] and Fourier coefficients (harmonic, n) [m] of all marker coordinates."""
    stride = reference_stride()
    time = np.arange(SAMPLES + 1) / SAMPLES * stride.period
    position = stride.markers(time).reshape(SAMPLES + 1, -1)
    advance = position[-1] - position[0]
    periodic = position[:-1] - advance * (time[:-1, None] / stride.period)
    return stride.period, advance, np.fft.rfft(periodic, axis=0)[: SAMPLES // 2] / SAMPLES


def walking(rate: float, duration: float) -> tuple[Array, Array, Array]:
    """Time (T,), positions (T, n) [m] and accelerations (T, n) [m/s2] of the marker coordinates."""
    period, advance, coefficients = harmonics()
    time = np.arange(round(rate * duration)) / rate
    omega = 2.0 * np.pi / period * np.arange(1, len(coefficients))
    turn = 2.0 * np.exp(1j * omega * time[:, None])
    position = coefficients[0].real + (turn @ coefficients[1:]).real + advance * (time / period)[:, None]
    return time, position, -((turn * omega**2) @ coefficients[1:]).real


def random_motion(rate: float, duration: float, power: float, seed: int) -> tuple[Array, Array, Array]:
    """Return the errors of 40 random motions of 0.1 m whose power spectrum falls with this power of the frequency."""
    rng, time, length = np.random.default_rng(seed), np.arange(round(rate * duration)) / rate, 3.2 * duration
    frequency = np.arange(1, int(min(0.5 * rate, 60.0) * length)) / length
    frequency = frequency[frequency > 0.3]
    size = np.maximum(frequency, 0.8) ** (-0.5 * power)
    return _waves(time, frequency, size[:, None] * np.exp(1j * rng.uniform(0.0, 7.0, (len(frequency), 40))))


def harmonic_motion(rate: float, duration: float, seed: int) -> tuple[Array, Array, Array]:
    """Return the errors of 40 motions of six harmonics of 0.95 Hz, and nothing above."""
    rng, time = np.random.default_rng(seed), np.arange(round(rate * duration)) / rate
    size = np.array([0.2, 0.1, 0.03, 0.01, 0.005, 0.002])
    phase = np.exp(1j * rng.uniform(0.0, 7.0, (6, 40)))
    return _waves(time, 0.95 * np.arange(1, 7), size[:, None] * phase)


def _waves(time: Array, frequency: Array, amplitude: NDArray[np.complex128]) -> tuple[Array, Array, Array]:
    omega = 2.0 * np.pi * frequency
    turn = np.exp(1j * omega * time[:, None])
    position, acceleration = (turn @ amplitude).real, -((turn * omega**2) @ amplitude).real
    scale = 0.1 / position.std(axis=0)
    return time, scale * position, scale * acceleration


def noise(
    shape: tuple[int, ...], size: float, seed: int, corner: float | None = None, rate: float = 0.0
) -> Array:
    """White noise of this standard deviation, or noise of the first order with a corner frequency [Hz]."""
    rng, lead = np.random.default_rng(seed), 400
    if corner is None:
        return size * rng.normal(size=shape)
    pole = np.exp(-2.0 * np.pi * corner / rate)
    white = rng.normal(size=(shape[0] + lead, *shape[1:]))
    return size * np.sqrt(1.0 - pole**2) * lfilter([1.0], [1.0, -pole], white, axis=0)[lead:]


def acceleration_error(time: Array, position: Array, acceleration: Array) -> Array:
    """Root mean square error (n,) of the second derivative of positions, away from the ends [m/s2]."""
    inside = (time >= time[0] + EDGE) & (time <= time[-1] - EDGE)
    found = CubicSpline(time, position, axis=0)(time, 2)
    return np.sqrt(np.mean((found - acceleration)[inside] ** 2, axis=0))
