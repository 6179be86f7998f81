"""How near to the best do cut-offs come that a recording chooses by itself? On noisy motions whose truth is known.

    python -m benchmarks.cutoff [walk.trc]

Best is the Butterworth filter of second order with the least error of acceleration, coordinate by coordinate. First
all 38 markers of the reference stride, case by case; then motions of other kinds, with them a recorded walk if one is
named, each over all rates and sizes of noise: white, and of the first order with a corner frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from scipy.interpolate import CubicSpline

from benchmarks.arguments import command_line, input_file
from benchmarks.motions import Motion, motions, noise
from benchmarks.timing import console
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.motion.signals.residual_analysis import RULES, residual_analysis
from musclesolve.motion.signals.smoothing_spline import smoothing_spline

Array = NDArray[np.float64]
# By kind of noise and way to choose.
Figures = dict[tuple[str, str], list[list[float]]]

TRIED = np.geomspace(1.5, 24.0, 120)
EDGE = 0.25  # s, not counted at either end
NAMES = dict(zip(RULES, ("residuals", "residuals, Silva 2003"), strict=True))
RATES = (60.0, 100.0, 200.0)
# Noise [m] and its corner frequency [Hz].
WHITE: list[tuple[float, float | None]] = [(size, None) for size in (0.0001, 0.00033, 0.001, 0.003)]
COLORED: list[tuple[float, float | None]] = [(0.00033, 20.0), (0.001, 20.0), (0.001, 10.0)]
HEADINGS = ("best [Hz]", "chosen", "off", "within 1 Hz", "error", "9 of 10", "noise found")


@dataclass(frozen=True)
class Recording:
    """A noisy motion: time (T,), recorded positions (T, n), true accelerations (T, n)."""

    rate: float
    time: Array
    noisy: Array
    acceleration: Array

    def error(self, acceleration: Array) -> Array:
        """Root mean square error (n,) of accelerations, away from the ends."""
        inside = (self.time >= EDGE) & (self.time <= self.time[-1] - EDGE)
        return np.sqrt(np.mean((acceleration - self.acceleration)[inside] ** 2, axis=0))

    def filtered_error(self, cutoff_hz: Array | float) -> Array:
        """Return the error of the second derivative of the filtered positions."""
        smooth = low_pass(self.noisy, self.rate, cutoff_hz)
        return self.error(CubicSpline(self.time, smooth, axis=0)(self.time, 2))


@dataclass(frozen=True)
class Choice:
    """Cut-offs (n,), the same less the best ones (n,) [Hz]; error over the least (n,), noise over the planted (n,)."""

    cutoff: Array
    off: Array
    ratio: Array
    noise: Array


def main(walk: Path | None) -> None:
    """Print one line per recording of the stride, then one per motion, and way to choose."""
    by_case = _table(
        "reference stride: medians over 114 coordinates; error over the least possible one",
        "rate [Hz]",
        "noise [mm]",
        "corner [Hz]",
    )
    by_motion = _table(
        "motions: means of these medians over rates of 60, 100, 200 Hz and sizes of noise", "motion", "noise"
    )
    everything: Figures = {}
    for number, motion in enumerate(motions(walk)):
        for kind, noises in (("white", WHITE), ("colored", COLORED)):
            own: Figures = {}
            for rate, (size, corner) in product(RATES, noises):
                where = (f"{rate:g}", f"{1000 * size:g}", f"{corner:g}" if corner else "white")
                for name, choice in choices(motion, rate, size, corner).items():
                    own.setdefault((kind, name), []).append(_figures(choice))
                    if number == 0:
                        by_case.add_row(*where, name, *_shown(_figures(choice)))
                by_case.add_section()
            _add_means(by_motion, motion.name, own)
            for key, figures in own.items():
                everything.setdefault(key, []).extend(figures)
    _add_means(by_motion, "all", everything)
    console.print(by_case)
    console.print(by_motion)


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title)
    for heading in (*headings, "chosen by"):
        table.add_column(heading, no_wrap=True)
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    return table


def _add_means(table: Table, motion: str, figures: Figures) -> None:
    for (kind, name), values in figures.items():
        table.add_row(motion, kind, name, *_shown(list(np.mean(values, axis=0))))
    table.add_section()


def choices(motion: Motion, rate: float, size: float, corner: float | None) -> dict[str, Choice]:
    """Record a motion with noise and let every way choose."""
    time = np.arange(int(motion.duration * rate)) / rate
    position = motion.position(time)
    noisy = position + noise(position.shape, size, corner, rate, seed=1)
    recorded = Recording(rate, time, noisy, motion.acceleration(time))
    errors = np.stack([recorded.filtered_error(cutoff) for cutoff in TRIED])
    best, least = TRIED[errors.argmin(axis=0)], errors.min(axis=0)
    return {
        name: Choice(cutoff, cutoff - best, error / least, noise_found / size)
        for name, (cutoff, error, noise_found) in _chosen(recorded).items()
    }


def _chosen(recorded: Recording) -> dict[str, tuple[Array, Array, Array]]:
    """Way to choose: cut-offs (n,), errors (n,) and noise (n,)."""
    found = {}
    for rule in RULES:
        by = residual_analysis(recorded.noisy, recorded.rate, rule=rule)
        found[NAMES[rule]] = (by.cutoff_hz, recorded.filtered_error(by.cutoff_hz), by.noise)
    spline = smoothing_spline(recorded.noisy, recorded.rate)
    found["quintic spline"] = (spline.cutoff_hz, recorded.error(spline.derivative(2)), spline.noise)
    six = np.full(recorded.noisy.shape[1], 6.0)
    found["6 Hz"] = (six, recorded.filtered_error(6.0), np.full(len(six), np.nan))
    return found


def _figures(choice: Choice) -> list[float]:
    """Figures of the ``HEADINGS``."""
    return [
        float(np.median(choice.cutoff - choice.off)),
        float(np.median(choice.cutoff)),
        float(np.median(choice.off)),
        100.0 * float(np.mean(np.abs(choice.off) <= 1.0)),
        float(np.median(choice.ratio)),
        float(np.quantile(choice.ratio, 0.9)),
        float(np.median(choice.noise)),
    ]


def _shown(figures: list[float]) -> list[str]:
    forms = ("{:.1f}", "{:.1f}", "{:+.2f}", "{:.0f} %", "{:.2f}", "{:.2f}", "{:.2f}")
    return ["" if np.isnan(value) else form.format(value) for form, value in zip(forms, figures, strict=True)]


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("walk", nargs="?", type=input_file, metavar="walk.trc")
    main(parser.parse_args().walk)
