"""Motions whose accelerations are known, to try filters on: a walking person, made-up spectra, impacts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from musclesolve.motion.signals.smoothing_spline import smoothing_spline
from musclesolve.recording.text.opensim_text import read_trc
from musclesolve.synthetic.reference_stride import reference_stride

Array = NDArray[np.float64]
Position = Callable[[Array], Array]

DURATION = 5.0  # s
COORDINATES = 40  # of a made-up motion
STEP = 1e-4  # s, of the difference quotient that gives the true acceleration
LEAD = 400  # frames in which colored noise forgets its start


@dataclass(frozen=True)
class Motion:
    """A motion (T, n) of a duration [s] as a function of times (T,) within it."""

    name: str
    duration: float
    position: Position

    def acceleration(self, time: Array) -> Array:
        """Second derivative (T, n)."""
        before, now, after = (self.position(time + shift) for shift in (-STEP, 0.0, STEP))
        return (before - 2.0 * now + after) / STEP**2


def motions(walk: Path | None) -> list[Motion]:
    """The reference stride again and again, made-up motions, and a recorded walk smoothed in four ways."""
    stride, rng = reference_stride(), np.random.default_rng(1)
    found = [Motion("reference stride", DURATION, lambda time: stride.markers(time).reshape(len(time), -1))]
    for power in (6, 8, 10):
        frequency = np.arange(0.35, 30.0, 0.06)
        size = np.maximum(frequency, 0.8) ** (-0.5 * power)
        found.append(Motion(f"random, f^-{power}", DURATION, _waves(frequency, size, rng)))
    sizes = np.array([0.2, 0.1, 0.03, 0.01, 0.005, 0.002])
    found.append(Motion("six harmonics", DURATION, _waves(0.95 * np.arange(1, 7), sizes, rng)))
    found.append(Motion("impacts of 15 Hz", DURATION, _impacts(rng)))
    if walk is not None:
        for cutoff in (8.0, 10.0, 12.0):
            found.append(_smoothed(walk, cutoff))
    return found


def noise(shape: tuple[int, ...], size: float, corner: float | None, rate: float, seed: int) -> Array:
    """White noise, or noise of the first order with a corner frequency, as the software of cameras leaves it."""
    white = np.random.default_rng(seed).normal(size=(shape[0] + LEAD, *shape[1:]))
    pole = 0.0 if corner is None else np.exp(-2.0 * np.pi * corner / rate)
    colored: Array = lfilter([1.0], [1.0, -pole], white, axis=0)[LEAD:]
    return size * np.sqrt(1.0 - pole**2) * colored


def _waves(frequency: Array, size: Array, rng: np.random.Generator) -> Position:
    """Waves of random phases and, where there are many, random sizes, scaled to 0.1 m."""
    phase = rng.uniform(0.0, 2.0 * np.pi, (len(frequency), COORDINATES))
    spread = np.abs(rng.normal(size=phase.shape)) if len(frequency) > 10 else 1.0
    amplitude = size[:, None] * spread * np.exp(1j * phase)
    amplitude *= 0.1 / np.sqrt(0.5 * np.sum(np.abs(amplitude) ** 2, axis=0))
    return lambda time: (np.exp(2j * np.pi * time[:, None] * frequency) @ amplitude).real


def _impacts(rng: np.random.Generator) -> Position:
    """0.2 m at 0.9 Hz and, every 1.1 s, 3 mm at 15 Hz that die away within 30 ms."""
    phase, first = rng.uniform(0.0, 2.0 * np.pi, COORDINATES), rng.uniform(0.3, 0.8, COORDINATES)

    def position(time: Array) -> Array:
        whole = 0.2 * np.sin(2.0 * np.pi * 0.9 * time[:, None] + phase)
        for strike in np.arange(0.0, DURATION, 1.1):
            since = np.maximum(time[:, None] - first - strike, 0.0)
            whole += 0.003 * np.exp(-since / 0.03) * np.sin(2.0 * np.pi * 15.0 * since)
        return whole

    return position


def _smoothed(walk: Path, cutoff: float) -> Motion:
    """Markers that are never lost, smoothed by a quintic spline."""
    markers = read_trc(walk)
    recorded = markers.position.reshape(len(markers.position), -1)
    recorded = recorded[:, np.isfinite(recorded).all(axis=0)]
    curve = smoothing_spline(recorded, markers.rate, cutoff).curve()
    return Motion(f"walk, spline {cutoff:g} Hz", (len(recorded) - 1) / markers.rate, curve)
