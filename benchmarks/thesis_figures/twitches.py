"""Figure 6.5: twitches that follow each other add up (temporal summation).

A twitch is the impulse response of a critically damped system of second order (Winter 1990), with its peak at T:

    h(t) = (t / T) exp(1 - t / T).

Stimulated every d = 1/f seconds for long, the sum in the interval 0 <= s < d is, with x = exp(-d / T),

    F(s) = exp(1 - s / T) (s / T / (1 - x) + d / T x / (1 - x)^2),

whose mean is f times the area of a twitch, e f T: it grows with the frequency, and the ripple vanishes (tetanus). That
force stops growing above some frequency, as the source says, is no property of a sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.thesis_figures.drawing import COLORS, Finding, panels, plain
from benchmarks.thesis_figures.study import Study
from musclesolve._util.arrays import Array
from musclesolve.laboratory.plotting.page.page_style import TEXT
from musclesolve.laboratory.plotting.page.sheet import heading

PEAK = 0.05
"""T [s]; twitches of human muscles peak after 0.02 to 0.15 s (Winter 1990)."""
RATES = (1.0, 5.0, 10.0, 20.0, 50.0)
"""Stimulations a second."""
SHOWN = 1.2
"""[s]"""


def twitch(time: ArrayLike) -> Array:
    """h(t) of times (...) [s], 0 before the stimulus, 1 at `PEAK`."""
    share = np.maximum(np.asarray(time, dtype=float), 0.0) / PEAK
    return np.asarray(share * np.exp(1.0 - share))


def summed(time: Array, rate: float) -> Array:
    """The sum of twitches that begin at 0, 1/rate, ..., at times (T,) [s]."""
    starts = np.arange(0.0, time[-1], 1.0 / rate)
    return twitch(time[:, None] - starts).sum(axis=1)


def sustained(since: ArrayLike, rate: float) -> Array:
    """F(s) of times s (...) [s] after the last of infinitely many stimuli."""
    s, d = np.asarray(since, dtype=float) / PEAK, 1.0 / (rate * PEAK)
    x = np.exp(-d)
    return np.asarray(np.exp(1.0 - s) * (s / (1.0 - x) + d * x / (1.0 - x) ** 2))


def temporal_summation(study: Study) -> Finding:
    """Figure 6.5: the sums at several rates of stimulation."""
    time = np.linspace(0.0, SHOWN, 1201)
    figure, axes = panels(None, "Temporal summation of twitches", len(RATES), 1, 0.9)
    parts = []
    for number, (panel, rate) in enumerate(zip(axes[:, 0], RATES, strict=True)):
        panel.plot(time, summed(time, rate), color=COLORS[0])
        panel.plot(time, twitch(time), ":", color=COLORS[7])
        panel.axhline(np.e * rate * PEAK, color=COLORS[1], linewidth=0.8, linestyle="--")
        panel.set_xlim(0.0, SHOWN)
        panel.set_ylim(bottom=0.0)
        panel.tick_params(labelbottom=number == len(RATES) - 1)
        heading(
            panel,
            f"{rate:g} stimuli a second",
            "dotted: one twitch; dashed: mean of the sustained force, e f T",
        )
        force = sustained(np.linspace(0.0, 1.0 / rate, 501), rate)
        parts.append(
            f"{rate:g}/s {plain(float(force.max()))}, {plain(100.0 * float(np.ptp(force) / force.max()))} %"
        )
    axes[-1, 0].set_xlabel("time [s]", fontsize=TEXT)
    axes[len(RATES) // 2, 0].set_ylabel("force [twitch peaks]", fontsize=TEXT)
    return Finding(figure, f"Largest sustained force in twitch peaks, and its ripple: {'; '.join(parts)}.")
