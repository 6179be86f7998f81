"""Sections on recordings whose truth is known."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

import musclesolve as ms
from benchmarks.validation.page import picture, recorded_walk, table
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial

MOMENTS = {
    "hip_flexion": "hip flexion",
    "hip_adduction": "hip adduction",
    "knee_flexion": "knee flexion",
    "ankle_dorsiflexion": "ankle flexion",
}
SEEDS = range(4)
CASES: dict[str, dict[str, object]] = {
    "no noise, 15 Hz": {"cutoff_hz": 15},
    "no noise, 6 Hz": {"cutoff_hz": 6},
    "3 mm white noise, 6 Hz": {"noise_mm": 3.0, "cutoff_hz": 6},
    "3 mm white noise, cut-off from the data, forces 20 Hz": {
        "noise_mm": 3.0,
        "cutoff_hz": "residual_analysis",
        "force_cutoff_hz": 20,
    },
    "3 mm of sliding skin, cut-off from the data": {
        "noise_mm": 3.0,
        "noise": "skin",
        "cutoff_hz": "residual_analysis",
    },
}
SHOWN = "3 mm white noise, cut-off from the data, forces 20 Hz"


def recovery() -> str:
    """Errors of joint moments of synthetic recordings, and one of them drawn."""
    rows, drawn = [], None
    for name, options in CASES.items():
        seeds = SEEDS if "noise_mm" in options else SEEDS[:1]
        pairs = [recovered(options, seed) for seed in seeds]
        drawn = pairs[0] if name == SHOWN else drawn
        rows.append((name, *(errors(pairs, dof) for dof in MOMENTS)))
    assert drawn is not None
    about = "True joint moments of the right leg and those computed from a recording with 3 mm of noise"
    shown = picture(recovery_figure(*drawn), "validation_recovery", about)
    return f"{table(('recording', *MOMENTS.values()), rows)}\n\n{shown}"


def recovered(options: dict[str, object], seed: int) -> tuple[xr.Dataset, xr.Dataset]:
    """A result and its truth at the same times."""
    with TemporaryDirectory() as folder:
        trial = ms.studies.synthetic_recording(Path(folder) / "walk", seed=seed, **options)
        truth = ms.read_result(Path(folder) / "walk" / "truth.nc").load()
        result = ms.run(trial)
    return result, truth.interp(time=result.time)


def errors(pairs: list[tuple[xr.Dataset, xr.Dataset]], dof: str) -> str:
    """Root mean square error over seeds and legs, and the largest of all, as shares of the true peak."""
    rms, worst = [], []
    for result, truth in pairs:
        for side in "rl":
            true = truth.joint_moment.sel(dof=f"{dof}_{side}")
            off = (result.joint_moment.sel(dof=f"{dof}_{side}") - true) / np.abs(true).max()
            rms.append(float(np.sqrt((off**2).mean())))
            worst.append(float(np.abs(off).max()))
    return f"{100 * np.sqrt(np.mean(np.square(rms))):.1f} % ({100 * max(worst):.0f})"


def recovery_figure(result: xr.Dataset, truth: xr.Dataset) -> Figure:
    """Moments of the right leg, true and computed."""
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True).ravel()
    for axes, (dof, title) in zip(panels, MOMENTS.items(), strict=True):
        axes.plot(
            truth.time, truth.joint_moment.sel(dof=f"{dof}_r"), color="0.65", linewidth=4, label="truth"
        )
        axes.plot(
            result.time, result.joint_moment.sel(dof=f"{dof}_r"), color="C0", linewidth=1.2, label="computed"
        )
        axes.set_title(title, fontsize=9)
        axes.grid(alpha=0.3)
        axes.tick_params(labelsize=8)
    panels[0].legend(fontsize=8, frameon=False)
    figure.supxlabel("time [s]", fontsize=9)
    figure.supylabel("moment [N m]", fontsize=9)
    return figure


def criteria() -> str:
    """The two criteria of the thesis on one leg: sum of squared forces against sum of cubed stresses."""
    trials = {"bundled stride": ms.read_trial(reference_stride()), "recorded walk": recorded_walk()}
    sets = (("silva_2003", "table"), ("gait2392_hip", "none"))
    rows = [
        (name, f"`{database}`", *agreement(with_set(trial, database, passive)))
        for name, trial in trials.items()
        for database, passive in sets
    ]
    measures = ("above 100 N", "r, median", "r, lowest", "r below 0.8", "ratio of peaks")
    groups = ("groups: r, lowest", "ratio of peaks")
    return table(("motion", "muscles", *measures, *groups, "contact"), rows)


def with_set(trial: Trial, database: str, passive: str) -> Trial:
    """The trial with another muscle set."""
    return trial.with_settings(muscles={"database": database, "passive": passive})


def agreement(trial: Trial) -> tuple[str, ...]:
    """How the forces of the right leg agree under the two criteria."""
    both = ms.compare(trial, ["force_squared", "stress_cubed"], side="r")
    r, ratio = pair_measures(both, "muscle_force", "muscle", "")
    of_groups, group_ratio = pair_measures(both, "group_force", "function_group", "group_")
    weight = float(both.attrs["subject_mass_kg"]) * 9.80665
    peak = np.sqrt((both.joint_reaction**2).sum("axis")).max("time") / weight
    contact = "; ".join(
        f"{joint} {peak.sel(joint=f'{joint}_r', cost='force_squared'):.1f}, "
        f"{peak.sel(joint=f'{joint}_r', cost='stress_cubed'):.1f}"
        for joint in ("hip", "knee", "ankle")
    )
    muscles = (str(len(r)), f"{r.median():.2f}", least(r), str(int((r < 0.8).sum())), span(ratio))
    return (*muscles, least(of_groups), span(group_ratio), contact)


def pair_measures(both: xr.Dataset, force: str, over: str, prefix: str) -> tuple[pd.Series, pd.Series]:
    """Correlation and ratio of peaks of what reaches 100 N under one of the criteria."""
    pair = {"cost": "force_squared", "other": "stress_cubed"}
    large = both[force].max("time").max("cost") > 100.0
    r, ratio = (
        both[prefix + name].sel(pair).where(large, drop=True).to_series()
        for name in ("correlation", "peak_ratio")
    )
    return r, ratio


def least(r: pd.Series) -> str:
    """The smallest value, and of what."""
    return f"{r.min():.2f} ({str(r.idxmin()).removesuffix('_r').replace('_', ' ')})"


def span(ratio: pd.Series) -> str:
    """Smallest and largest."""
    return f"{ratio.min():.1f} to {ratio.max():.1f}"
