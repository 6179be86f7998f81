"""Figures 5.17 and 5.18: reaction force and moment of ankle and knee under several cut-offs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.thesis_figures.drawing import COLORS, Finding, key, over_cycle, panels
from benchmarks.thesis_figures.study import SAGITTAL, Study
from musclesolve._util.arrays import Array
from musclesolve.dynamics import joint_loads
from musclesolve.dynamics.inverse.newton_euler import segment_motion
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.plotting.page.sheet import heading

CUTOFFS = (2.0, 4.0, 6.0, 8.0)
ALL_PASS = 0.49  # of the sampling rate: as good as no filter


@dataclass(frozen=True)
class Loads:
    """Upward reaction that the proximal segment receives, (K,) [N], and sagittal moment (K,) [N m], by joint."""

    reaction: dict[str, Array]
    moment: dict[str, Array]


@cache
def by_cutoff(study: Study) -> dict[str, Loads]:
    """Loads over the cycle with markers filtered at each cut-off, with no filter, and with chosen cut-offs."""
    rate = study.trial.markers.rate
    hertz = {f"{cutoff:g} Hz": cutoff for cutoff in CUTOFFS} | {"no filter": ALL_PASS * rate}
    return {name: _loads(study, cutoff) for name, cutoff in hertz.items()} | {"chosen": _loads(study, None)}


def _loads(study: Study, cutoff: float | None) -> Loads:
    recorded = mechanics(study.filtered(cutoff))
    segments, dofs = segment_motion(recorded.model, recorded.motion), list(SAGITTAL.values())
    found = joint_loads(recorded.model, recorded.motion, segments, recorded.wrenches, dofs)
    upward = {joint: study.of_cycle(-found[dof].force[:, 2]) for joint, dof in SAGITTAL.items()}
    return Loads(upward, study.moments(recorded))


def cutoffs_of(study: Study, joint: str) -> Finding:
    """Figure 5.17 (ankle) or 5.18 (knee)."""
    found = by_cutoff(study)
    figure, axes = panels(
        study, f"{joint.capitalize()}: markers under different cut-off frequencies", 1, 2, 0.38
    )
    left, right = axes[0]
    for color, (name, loads) in zip(COLORS, found.items(), strict=False):
        style = {"color": color, "linewidth": 0.8 if name == "no filter" else 1.2, "label": name}
        style |= {"color": "#9A9A9A", "zorder": 1.0} if name == "no filter" else {}
        left.plot(study.percent, loads.reaction[joint], **style)
        right.plot(study.percent, loads.moment[joint], **style)
    if study.true_moments is not None:
        right.plot(study.percent, study.true_moments[joint], "k:", linewidth=1.2, label="truth")
    heading(left, "(a) vertical reaction force, upward on the proximal segment")
    heading(right, f"(b) moment, {SAGITTAL[joint].removesuffix('_r').replace('_', ' ')} positive")
    over_cycle(left, study, "[N]")
    over_cycle(right, study, "[N m]")
    key(right, ncols=2)
    return Finding(figure, _found(study, joint, found))


def _found(study: Study, joint: str, found: dict[str, Loads]) -> str:
    def of_each(number: dict[str, float], form: str) -> str:
        return ", ".join(f"{form.format(value)} ({name})" for name, value in number.items())

    peak = {name: float(np.abs(loads.moment[joint]).max()) for name, loads in found.items()}
    upward = {name: float(loads.reaction[joint].max()) for name, loads in found.items()}
    rough = {name: roughness(loads.moment[joint]) for name, loads in found.items()}
    text = f"Largest moment [N m]: {of_each(peak, '{:.0f}')}. Largest reaction [N]: {of_each(upward, '{:.0f}')}. "
    text += f"Oscillation, rms of the second difference of the moment [N m]: {of_each(rough, '{:.1f}')}."
    low, middle, high = np.percentile(study.by_method["nearest"].measured.filter.cutoff_hz, [5, 50, 95])
    text += f" Chosen are {low:.1f} to {high:.1f} Hz, median {middle:.1f} (9 of 10 coordinates)."
    if study.true_moments is not None:
        truth = study.true_moments[joint]
        off = {
            name: float(np.sqrt(np.mean((each.moment[joint] - truth) ** 2))) for name, each in found.items()
        }
        text += f" Off the truth, rms [N m]: {of_each(off, '{:.1f}')}."
    return text


def roughness(values: Array) -> float:
    """Root mean square of the second differences of a curve."""
    return float(np.sqrt(np.mean(np.diff(values, 2) ** 2)))
