"""How near to the best do cut-offs come that a recording chooses by itself? On noisy strides whose truth is known.

    python -m benchmarks.cutoff

Best is the Butterworth filter of second order with the least error of acceleration, coordinate by coordinate. All 38
markers of the reference stride, white noise and noise of the first order with a corner frequency, as the software of
cameras leaves it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from scipy.interpolate import CubicSpline
from scipy.signal import lfilter

from benchmarks.timing import console
from musclesolve.motion import low_pass
from musclesolve.motion.residual_analysis import RULES, residual_analysis
from musclesolve.motion.smoothing_spline import smoothing_spline
from musclesolve.synthetic import reference_stride

Array = NDArray[np.float64]

TRIED = np.arange(1.5, 20.0, 0.1)
EDGE = 0.25  # s, not counted at either end
STEP = 1e-4  # s, of the difference quotient that gives the true acceleration
NAMES = dict(zip(RULES, ("residuals", "residuals, Silva 2003"), strict=True))
LEAD = 400  # frames in which coloured noise forgets its start


@dataclass(frozen=True)
class Walk:
    """A noisy walk: time (T,), recorded positions (T, n), true accelerations (T, n)."""

    rate: float
    time: Array
    noisy: Array
    acceleration: Array

    def error(self, acceleration: Array) -> Array:
        """Root mean square error (n,) of accelerations, away from the ends."""
        inside = (self.time >= EDGE) & (self.time <= self.time[-1] - EDGE)
        return np.sqrt(np.mean((acceleration - self.acceleration)[inside] ** 2, axis=0))

    def filtered_error(self, cutoff_hz: Array | float) -> Array:
        """The same of the second derivative of the filtered positions."""
        smooth = low_pass(self.noisy, self.rate, cutoff_hz)
        return self.error(CubicSpline(self.time, smooth, axis=0)(self.time, 2))


def walk(rate: float, duration: float, noise: float, corner: float | None, seed: int = 1) -> Walk:
    """Record the reference stride again and again."""
    stride, time = reference_stride(), np.arange(round(rate * duration)) / rate
    before, now, after = (stride.markers(time + shift).reshape(len(time), -1) for shift in (-STEP, 0.0, STEP))
    white = np.random.default_rng(seed).normal(size=(len(time) + LEAD, now.shape[1]))
    pole = 0.0 if corner is None else np.exp(-2.0 * np.pi * corner / rate)
    coloured = np.sqrt(1.0 - pole**2) * lfilter([1.0], [1.0, -pole], white, axis=0)[LEAD:]
    return Walk(rate, time, now + noise * coloured, (before - 2.0 * now + after) / STEP**2)


def main() -> None:
    """Print one line per recording and way to choose."""
    table = Table(title="medians over 114 coordinates; error of acceleration over the least possible one")
    for heading in ("rate [Hz]", "s", "noise [mm]", "corner [Hz]", "chosen by"):
        table.add_column(heading, no_wrap=True)
    for heading in (
        "best [Hz]",
        "chosen",
        "off",
        "within 1 Hz",
        "by marker",
        "error",
        "9 of 10",
        "noise found",
    ):
        table.add_column(heading, justify="right")
    cases = [(rate, 5.0, size, None) for rate in (60.0, 100.0, 200.0) for size in (0.0003, 0.001, 0.003)]
    cases += [(rate, 2.0, 0.001, None) for rate in (60.0, 100.0, 200.0)]
    cases += [(rate, 5.0, 0.001, corner) for corner in (20.0, 10.0) for rate in (60.0, 100.0, 200.0)]
    for rate, duration, size, corner in cases:
        recorded = walk(rate, duration, size, corner)
        errors = np.stack([recorded.filtered_error(cutoff) for cutoff in TRIED])
        for name, cutoff, error, noise in _choices(recorded):
            where = (f"{rate:g}", f"{duration:g}", f"{1000 * size:g}", f"{corner:g}" if corner else "white")
            table.add_row(*where, name, *_figures(errors, cutoff, error, noise / size))
        table.add_section()
    console.width = 150
    console.print(table)


def _choices(recorded: Walk) -> list[tuple[str, Array, Array, Array]]:
    """Way to choose, cut-offs (n,), errors (n,) and noise (n,)."""
    chosen = []
    for rule in reversed(RULES):
        found = residual_analysis(recorded.noisy, recorded.rate, rule=rule)
        chosen.append((NAMES[rule], found.cutoff_hz, recorded.filtered_error(found.cutoff_hz), found.noise))
    spline = smoothing_spline(recorded.noisy, recorded.rate)
    chosen.append(("quintic spline", spline.cutoff_hz, recorded.error(spline.derivative(2)), spline.noise))
    six = np.full(recorded.noisy.shape[1], 6.0)
    chosen.append(("6 Hz", six, recorded.filtered_error(6.0), np.full(len(six), np.nan)))
    return chosen


def _figures(errors: Array, cutoff: Array, error: Array, noise: Array) -> list[str]:
    best, ratio = TRIED[errors.argmin(axis=0)], error / errors.min(axis=0)
    off = cutoff - best
    by_marker = np.median(off.reshape(-1, 3), axis=1)
    return [
        f"{np.median(best):.1f}",
        f"{np.median(cutoff):.1f}",
        f"{np.median(off):+.2f}",
        f"{100 * np.mean(np.abs(off) <= 1.0):.0f} %",
        f"{100 * np.mean(np.abs(by_marker) <= 1.0):.0f} %",
        f"{np.median(ratio):.2f}",
        f"{np.quantile(ratio, 0.9):.2f}",
        "" if np.isnan(noise).all() else f"{np.median(noise):.2f}",
    ]


if __name__ == "__main__":
    main()
