"""Figures 5.20 to 5.23: sagittal and support moments of consistent and of non-consistent data."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from benchmarks.thesis_figures.comparison import Finding
from benchmarks.thesis_figures.drawing import COLORS, key, over_cycle, panels
from benchmarks.thesis_figures.study import SAGITTAL, Study
from musclesolve._util.arrays import Array
from musclesolve.plotting.page.style import heading

LABEL = {
    "nearest": "consistent (nearest pose)",
    "joint_angles": "consistent (joint angles)",
    "none": "non-consistent",
}


def support(moments: dict[str, Array]) -> Array:
    """Support moment of Winter (1980): extensor moments of hip, knee and ankle added up."""
    return -np.sum(list(moments.values()), axis=0)


def moment_of(study: Study, joint: str) -> Finding:
    """Figure 5.20 (ankle), 5.21 (knee) or 5.22 (hip)."""
    figure, axes = panels(f"Net moment of the right {joint}, sagittal plane", 1, 1, 0.38)
    curves = {name: study.moments(recorded)[joint] for name, recorded in study.by_method.items()}
    mean, spread = (study.weight * each for each in study.winter[joint])
    axes[0, 0].fill_between(
        study.percent,
        mean - spread,
        mean + spread,
        color="#DDDDDD",
        linewidth=0.0,
        label="published: mean and SD",
    )
    truth = None if study.true_moments is None else study.true_moments[joint]
    _curves(axes[0, 0], study, curves, mean, truth)
    heading(axes[0, 0], f"{SAGITTAL[joint].removesuffix('_r').replace('_', ' ')} positive")
    return Finding(figure, _found(study, curves, mean, truth))


def support_moment(study: Study) -> Finding:
    """Figure 5.23."""
    figure, axes = panels("Support moment of the right leg", 1, 1, 0.38)
    curves = {name: support(study.moments(recorded)) for name, recorded in study.by_method.items()}
    mean = study.weight * support({joint: each[0] for joint, each in study.winter.items()})
    truth = None if study.true_moments is None else support(study.true_moments)
    _curves(axes[0, 0], study, curves, mean, truth)
    heading(axes[0, 0], "extensors of hip, knee and ankle positive")
    in_stance = curves["nearest"][study.stance]
    text = (
        f"Positive in {100 * np.mean(in_stance > 0):.0f} % of stance, mean {in_stance.mean():.0f} N m; in swing "
        f"between {curves['nearest'][~study.stance].min():.0f} and {curves['nearest'][~study.stance].max():.0f} N m. "
    )
    return Finding(figure, text + _found(study, curves, mean, truth))


def _curves(axes: Axes, study: Study, curves: dict[str, Array], mean: Array, truth: Array | None) -> None:
    axes.plot(study.percent, mean, color="#7F7F7F", linewidth=0.8, label="Winter (1991)")
    for color, (name, values) in zip(COLORS, curves.items(), strict=False):
        style = {"linestyle": "--", "linewidth": 0.9} if name == "joint_angles" else {"linewidth": 1.4}
        axes.plot(
            study.percent, values, color=color if name != "none" else "#D55E00", label=LABEL[name], **style
        )
    if truth is not None:
        axes.plot(study.percent, truth, "k:", linewidth=1.1, label="truth")
    over_cycle(axes, study, "[N m]")
    key(axes, loc="best")


def _found(study: Study, curves: dict[str, Array], mean: Array, truth: Array | None) -> str:
    used, other = curves["nearest"], curves["none"]
    violation = study.by_method["none"].constraint_violation
    parts = [
        f"Consistent and non-consistent differ by {rms(used - other):.1f} N m rms, {np.abs(used - other).max():.0f} at "
        f"most (constraints violated by up to {100 * violation.max():.1f} cm or hundredths)",
        "correlation with Winter " + ", ".join(
            f"{np.corrcoef(values, mean)[0, 1]:.4f} ({LABEL[name]})" for name, values in curves.items()
        ),
        "off Winter, rms " + ", ".join(f"{rms(values - mean):.1f} ({LABEL[name]})" for name, values in curves.items()),
    ]  # fmt: skip
    if truth is not None:
        off = ", ".join(f"{rms(values - truth):.1f} ({LABEL[name]})" for name, values in curves.items())
        parts.append(f"off the truth, rms [N m] {off}")
    return "; ".join(parts) + "."


def rms(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(values**2)))
