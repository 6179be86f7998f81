"""Figures 5.20 to 5.23: sagittal and support moments of consistent and of non-consistent data."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from matplotlib.axes import Axes

from benchmarks.thesis_figures.drawing import Finding, key, over_cycle, panels
from benchmarks.thesis_figures.study import SAGITTAL, Study
from benchmarks.timing import rms
from musclesolve._util.arrays import Array
from musclesolve.laboratory.plotting.page.sheet import heading

COLOR = {"nearest": "#0072B2", "joint_angles": "#009E73", "none": "#D55E00"}
DRAWS = 12
"""Other errors of the same size, to say what holds on the whole and not of one draw."""
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
    figure, axes = panels(study, f"Net moment of the right {joint}, sagittal plane", 1, 1, 0.38)
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
    further = over_draws(study, lambda moments: moments[joint], mean, truth)
    return Finding(figure, _found(study, curves, mean, truth) + further)


def support_moment(study: Study) -> Finding:
    """Figure 5.23."""
    figure, axes = panels(study, "Support moment of the right leg", 1, 1, 0.38)
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
    further = over_draws(study, support, mean, truth)
    return Finding(figure, text + _found(study, curves, mean, truth) + further)


def _curves(axes: Axes, study: Study, curves: dict[str, Array], mean: Array, truth: Array | None) -> None:
    axes.plot(study.percent, mean, color="#7F7F7F", linewidth=0.8, label="Winter (1991)")
    for name, values in curves.items():
        style = {"linestyle": "--", "linewidth": 0.9} if name == "joint_angles" else {"linewidth": 1.4}
        axes.plot(study.percent, values, color=COLOR[name], label=LABEL[name], **style)
    if truth is not None:
        axes.plot(study.percent, truth, "k:", linewidth=1.1, label="truth")
    over_cycle(axes, study, "[N m]")
    key(axes, loc="best")


def _found(study: Study, curves: dict[str, Array], mean: Array, truth: Array | None) -> str:
    def of_each(number: Callable[[Array], float], form: str) -> str:
        return ", ".join(f"{number(values):{form}} ({LABEL[name]})" for name, values in curves.items())

    gap = curves["nearest"] - curves["none"]
    parts = [
        f"Consistent and non-consistent differ by {rms(gap):.1f} N m rms, {np.abs(gap).max():.0f} at most",
        f"correlation with Winter {of_each(lambda values: float(np.corrcoef(values, mean)[0, 1]), '.4f')}",
        f"off Winter, rms [N m], {of_each(lambda values: rms(values - mean), '.1f')}",
    ]
    if truth is not None:
        parts.append(f"off the truth {of_each(lambda values: rms(values - truth), '.1f')}")
    return f"{'; '.join(parts)}. {violated(study)}"


def violated(study: Study) -> str:
    """How far non-consistent data violate the constraints."""
    recorded = study.by_method["none"]
    rows = recorded.model.constraints
    lengths = (rows.first == rows.second).all(axis=1)
    off = np.abs(rows.violation(recorded.motion.q))[:, : len(lengths)]
    return (
        f"Lengths of the non-consistent data are off by up to {1000 * off[:, lengths].max():.0f} mm "
        f"({1000 * rms(off[:, lengths]):.1f} rms), cosines between axes by up to {off[:, ~lengths].max():.2f}."
    )


@cache
def drawn_moments(study: Study) -> list[tuple[dict[str, Array], dict[str, Array]]]:
    """Consistent (nearest) and non-consistent moments by joint, with other errors each time; none of a recording."""
    draws = range(1, DRAWS + 1) if study.bundled else ()
    every = (study.drawn_by_method(draw, "nearest", "none") for draw in draws)
    return [(study.moments(found["nearest"]), study.moments(found["none"])) for found in every]


def over_draws(
    study: Study, of: Callable[[dict[str, Array]], Array], mean: Array, truth: Array | None
) -> str:
    """Return a sentence on other draws of the errors; empty where there are none."""
    drawn = drawn_moments(study)
    if not drawn or truth is None:
        return ""
    off = np.array([[rms(of(moments) - truth) for moments in pair] for pair in drawn])
    like = np.array([[np.corrcoef(of(moments), mean)[0, 1] for moments in pair] for pair in drawn])
    return (
        f" Over {len(drawn)} draws of the errors: off the truth {off[:, 0].mean():.1f} N m consistent, "
        f"{off[:, 1].mean():.1f} non-consistent (consistent nearer in {(off[:, 0] < off[:, 1]).sum()}); correlation "
        f"with Winter {like[:, 0].mean():.3f} and {like[:, 1].mean():.3f} "
        f"(better in {(like[:, 0] > like[:, 1]).sum()})."
    )
