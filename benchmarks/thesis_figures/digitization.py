"""Figures 5.4 and 5.11 to 5.14: positions as digitized, their residual curves, cut-offs and noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib.axes import Axes

from benchmarks.thesis_figures.cutoffs import ALL_PASS
from benchmarks.thesis_figures.drawing import COLORS, Finding, key, panels
from benchmarks.thesis_figures.study import SIDE, Study
from musclesolve._util.arrays import Array
from musclesolve.dynamics import low_pass
from musclesolve.laboratory import residual_analysis
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.motion.signals.filter_choice import RULES, CutoffVerdict, ResidualAnalysis
from musclesolve.laboratory.plotting.page.page_style import SMALL, TEXT
from musclesolve.laboratory.plotting.page.sheet import Sheet, heading

RULE = RULES[1]
SHOWN = tuple(f"{joint}_{SIDE}" for joint in ("ankle", "knee", "hip"))
CORRELATIONS = (0.80, 0.90, 0.97, 0.99)
HIGHEST = 15.0
"""Range of frequencies that is drawn [Hz]."""


@dataclass(frozen=True)
class Points:
    """Anatomical points as digitized, and without the errors where these are known, (T, 3) [m] by name."""

    time: Array
    rate: float
    raw: dict[str, Array]
    true: dict[str, Array] | None

    @property
    def names(self) -> list[str]:
        """Names of the points."""
        return list(self.raw)

    @property
    def signals(self) -> Array:
        """All coordinates, (T, P, 3) [m]."""
        return np.stack(list(self.raw.values()), axis=1)

    @property
    def planted(self) -> Array | None:
        """Root mean square of the planted errors, (P, 3) [m]."""
        if self.true is None:
            return None
        errors = self.signals - np.stack([self.true[name] for name in self.raw], axis=1)
        return np.sqrt(np.mean(errors**2, axis=0))


@cache
def points(study: Study) -> Points:
    """The points of the model from markers that no filter has seen."""
    raw = mechanics(study.filtered(ALL_PASS * study.trial.markers.rate)).measured
    true = None
    if study.bundled:
        plain = study.trial.with_settings(filter={"cutoff_hz": ALL_PASS * study.trial.markers.rate})
        true = mechanics(plain).measured.points
    return Points(raw.time, study.trial.markers.rate, raw.points, true)


@cache
def analysis(study: Study) -> ResidualAnalysis:
    """The thesis' residual analysis of every coordinate of every point, correlation 0.99."""
    found = points(study)
    return residual_analysis(found.signals, found.rate, rule=RULE)


def positions(study: Study) -> Finding:
    """Figure 5.4: coordinates of ankle, knee and hip, raw, and smoothed with the cut-offs that are chosen."""
    found, chosen = points(study), analysis(study)
    smooth = low_pass(found.signals, found.rate, chosen.cutoff_hz)
    figure, axes = panels(study, "Raw and smoothed positions", 3, 1, 0.9)
    text = []
    for axis, (panel, letter) in enumerate(zip(axes[:, 0], "XYZ", strict=True)):
        for color, name in zip(COLORS, SHOWN, strict=False):
            k = found.names.index(name)
            panel.plot(found.time, found.raw[name][:, axis], ".", color=color, markersize=3)
            panel.plot(found.time, smooth[:, k, axis], color=color, linewidth=1.2, label=name[:-2])
        heading(panel, f"{letter} coordinate", "points: as digitized; lines: smoothed")
        panel.set_ylabel("[m]", fontsize=TEXT)
        panel.tick_params(labelbottom=axis == 2)
        panel.set_xlabel("time [s]" if axis == 2 else "", fontsize=TEXT)
        off = [
            1000.0 * float(np.sqrt(np.mean((found.signals - smooth)[:, found.names.index(name), axis] ** 2)))
            for name in SHOWN
        ]
        text.append(f"{letter} {', '.join(f'{each:.1f}' for each in off)}")
    key(axes[0, 0])
    return Finding(figure, f"Raw less smoothed, rms of ankle, knee, hip [mm]: {'; '.join(text)}.")


def residuals(study: Study) -> Finding:
    """Figure 5.11: residual curves of the X coordinates of ankle, knee and hip, their lines, noise and cut-offs."""
    found, chosen = points(study), analysis(study)
    figure, axes = panels(study, "Residual analysis of the X coordinates", 1, 1, 0.45)
    panel, parts = axes[0, 0], []
    for color, name in zip(COLORS, SHOWN, strict=False):
        k = found.names.index(name)
        _curve(panel, chosen, (k, 0), color, name[:-2])
        parts.append(f"{name[:-2]} {chosen.cutoff_hz[k, 0]:.1f} Hz and {1000.0 * chosen.noise[k, 0]:.1f} mm")
    _axes_of(panel)
    heading(panel, "Curves, regression lines to the axis (noise), cut-off where the residual is the noise")
    key(panel)
    return Finding(figure, f"Cut-off and noise: {', '.join(parts)}.")


def correlations(study: Study) -> Finding:
    """Figure 5.12: the line, and with it noise and cut-off, under several correlations, X of the ankle."""
    found, k = points(study), points(study).names.index(SHOWN[0])
    signal = found.raw[SHOWN[0]][:, 0]
    figure, axes = panels(study, "Regression line under several correlations, X of the ankle", 1, 1, 0.45)
    panel, parts = axes[0, 0], []
    for color, correlation in zip(COLORS, CORRELATIONS, strict=False):
        one = residual_analysis(signal, found.rate, rule=RULE, correlation=correlation)
        _curve(panel, one, (), color, f"r = {correlation:g}", curve=correlation == CORRELATIONS[-1])
        parts.append(f"{correlation:g}: {float(one.cutoff_hz):.1f} Hz, {1000.0 * float(one.noise):.1f} mm")
    _axes_of(panel)
    heading(panel, "Residual curve, and the line that each correlation gives")
    key(panel)
    planted = found.planted
    true = "" if planted is None else f" Planted: {1000.0 * planted[k, 0]:.1f} mm."
    return Finding(figure, f"Cut-off and noise by correlation: {'; '.join(parts)}.{true}")


def _curve(
    panel: Axes, of: ResidualAnalysis, at: tuple[int, ...], color: str, label: str, curve: bool = True
) -> None:
    frequency, noise, cutoff = of.frequency_hz, float(of.noise[at]), float(of.cutoff_hz[at])
    residual, line = of.residual[(slice(None), *at)], of.line[(slice(None), *at)]
    if curve:
        panel.plot(frequency, 1000.0 * residual, color=color, linewidth=1.6)
    slope = (line[-1] - line[0]) / (frequency[-1] - frequency[0])
    ends = np.array([0.0, HIGHEST])
    panel.plot(
        ends,
        1000.0 * (line[0] + slope * (ends - frequency[0])),
        "--",
        color=color,
        linewidth=0.9,
        label=label,
    )
    panel.plot([0.0, cutoff, cutoff], [1000.0 * noise, 1000.0 * noise, 0.0], ":", color=color, linewidth=1.2)


def _axes_of(panel: Axes) -> None:
    panel.set(xlim=(0.0, HIGHEST), ylim=(0.0, 30.0))
    panel.set_xlabel("cut-off frequency [Hz]", fontsize=TEXT)
    panel.set_ylabel("residual [mm]", fontsize=TEXT)


def chosen_cutoffs(study: Study) -> Finding:
    """Figure 5.13: cut-off frequency of each coordinate of each point."""
    found, cutoff = points(study), analysis(study).cutoff_hz
    low, high = np.percentile(cutoff, [5, 95])
    fast = [
        k for k, name in enumerate(found.names) if name.startswith(("toe", "heel", "ankle", "hand", "wrist"))
    ]
    slow = [k for k, name in enumerate(found.names) if name.startswith(("hip", "shoulder", "head"))]
    higher = int((cutoff[:, 0] > cutoff[:, 1:].max(axis=1)).sum())
    figure = _bars(study, "Cut-off frequencies by residual analysis", cutoff, "[Hz]")
    return Finding(
        figure,
        f"{low:.1f} to {high:.1f} Hz (9 of 10 coordinates); median of feet and hands {np.median(cutoff[fast]):.1f}, of "
        f"hips, shoulders and head {np.median(cutoff[slow]):.1f} Hz; X is highest at {higher} of {len(cutoff)} points.",
    )


def noise(study: Study) -> Finding:
    """Figure 5.14: noise of each coordinate of each point, beside the planted one."""
    found, by = points(study), analysis(study)
    of = np.where(by.verdict == CutoffVerdict.FOUND, 1000.0 * by.noise, np.nan)
    figure = _bars(study, "Noise by residual analysis", of, "[mm]")
    text = (
        f"Mean over the points, X, Y, Z [mm]: {', '.join(f'{each:.1f}' for each in np.nanmean(of, axis=0))}."
    )
    if np.isnan(of).any():
        text += f" {int(np.isnan(of).sum())} of {of.size} coordinates, whose curve lacks a part, have no bar."
    if found.planted is not None:
        planted = 1000.0 * found.planted
        text += (
            f" Planted: {', '.join(f'{each:.1f}' for each in planted.mean(axis=0))} (points of two markers have less); "
            f"found over planted {np.nanmedian(of / planted):.2f} at the median."
        )
    return Finding(figure, text)


def _bars(study: Study, title: str, values: Array, unit: str) -> Sheet:
    names = points(study).names
    figure, axes = panels(study, title, 1, 1, 0.5)
    panel, place = axes[0, 0], np.arange(len(names))
    for axis, (color, letter) in enumerate(zip(COLORS, "XYZ", strict=False)):
        panel.bar(place + 0.27 * (axis - 1), values[:, axis], 0.25, color=color, label=letter)
    panel.set_xticks(
        place, [name.replace("_", " ") for name in names], rotation=60, ha="right", fontsize=SMALL - 1
    )
    panel.set_ylabel(unit, fontsize=TEXT)
    key(panel, ncols=3)
    return figure
