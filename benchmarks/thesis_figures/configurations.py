"""Chapter 6 under two configurations on the same motion: the configuration of the source, and the defaults of a run.

Figures 6.15 to 6.20 have the muscles, the passive forces and the cost of the source; a run without choices has others.
Both share the same moments of the same frames, so that what differs is the configuration alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

import musclesolve as ms
from benchmarks.thesis_figures import drawing
from benchmarks.thesis_figures.comparison import Finding
from benchmarks.thesis_figures.drawing import COLORS, key, panels, when
from benchmarks.thesis_figures.muscle_forces import claims
from benchmarks.thesis_figures.muscle_names import (
    MARGIN,
    bursts_of,
    groups_of_source,
    over_cycle,
    total,
    within,
)
from benchmarks.thesis_figures.study import SIDE, Study
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.plotting.page.sheet import heading
from musclesolve.settings.trial import MuscleSettings, SharingSettings

JOINTS = ("hip", "knee", "ankle")
STYLES = ("-", "--")


def results(study: Study) -> dict[str, xr.Dataset]:
    """Result of the right leg by configuration in words; EMG is compared where the trial has some, never followed."""
    trial = ms.read_trial(study.path)
    source = replace(study.trial, emg=trial.emg)
    default = trial.with_settings(muscles=MuscleSettings(), sharing=SharingSettings())
    found = {}
    for name, each in (("source", source), ("default", default)):
        muscles, cost = each.settings.muscles, each.settings.sharing.cost
        found[f"{name}: {muscles.database}, passive {muscles.passive}, {cost}"] = ms.run(each, side=SIDE)
    return found


def configurations(study: Study) -> Finding:
    """Forces of the eight function groups of figure 6.20 under both, and a table of what can be compared."""
    found, groups = results(study), groups_of_source()["group"].values()
    figure, axes = panels(study, "Configuration of the source and the defaults of a run", 4, 2, 0.98)
    forces = [over_cycle(study, "muscle_force", result) for result in found.values()]
    for number, (panel, group) in enumerate(zip(axes.flat, groups, strict=True)):
        for color, style, name, series in zip(COLORS, STYLES, found, forces, strict=False):
            values = total(series, group["muscles"])
            panel.plot(study.percent, values, style, color=color, linewidth=1.3, label=name)
        panel.set_ylim(bottom=0.0)
        heading(panel, group["panel"])
        drawing.over_cycle(panel, study, "[N]", labeled=number >= 6)
    axes[0, 0].set_ylim(top=1.5 * axes[0, 0].get_ylim()[1])
    key(axes[0, 0], loc="upper left")
    columns = [of_result(study, result) for result in found.values()]
    rows = tuple((what, *(column[what] for column in columns)) for what in columns[0])
    peaks = [np.array([np.nanmax(total(series, group["muscles"])) for group in groups]) for series in forces]
    ratio = peaks[1] / peaks[0]
    like = [correlation(*(total(series, group["muscles"]) for series in forces)) for group in groups]
    names = [group["panel"][4:] for group in groups]
    least, most, unlike = int(ratio.argmin()), int(ratio.argmax()), int(np.argmin(like))
    return Finding(
        figure,
        f"Peaks of the groups under the defaults are {ratio.min():.2g} ({names[least]}) to {ratio.max():.2g} "
        f"({names[most]}) times those of the source's configuration, curves correlate by {np.median(like):.2f} in the "
        f"median, least {like[unlike]:.2f} ({names[unlike]}). Table below.",
        (("", *found), *rows),
    )


def of_result(study: Study, result: xr.Dataset) -> dict[str, str]:
    """Return the curves of a result that can be compared over the cycle, by their names in words."""
    flags = dict(zip(result["status"].flag_meanings.split(), result["status"].flag_values, strict=True))
    status = study.of_cycle(result["status"].sel(side=SIDE).values)
    reserves = status == flags["SOLVED_WITH_RESERVE"]
    largest = np.nanmax(np.abs(study.of_cycle(result["reserve_moment"].values)))
    series = over_cycle(study, "activation", result)
    activation = np.array(list(series.values()))
    force = over_cycle(study, "muscle_force", result)
    weight = study.weight * STANDARD_GRAVITY
    held, missing = claims(study.percent, series)
    found = {
        "frames solved, of these with a reserve (largest)": f"{np.isfinite(activation[0]).sum()} of {status.size}, "
        f"{reserves.sum()} ({largest:.0f} N m)",
        "muscles at full activation, mean of a frame": f"{np.nanmean((activation > 0.99).sum(axis=0)):.1f}",
        "activation within published bursts, median": f"{100 * within_bursts(study.percent, series):.0f} %",
        "statements of 6.8 that hold": f"{held} of {held + len(missing)}",
    }
    if "emg_correlation" in result:
        r = result["emg_correlation"].values
        found["correlation with measured EMG, median (least)"] = f"{np.nanmedian(r):.2f} ({np.nanmin(r):.2f})"
    for joint in JOINTS:
        contact = result["joint_reaction"].sel(joint=f"{joint}_{SIDE}").transpose("time", "axis").values
        size = study.of_cycle(np.linalg.norm(contact, axis=1)) / weight
        found[f"peak of the contact force, {joint} [body weights]"] = when(size, study.percent)
    for group in groups_of_source()["group"].values():
        found[f"peak, {group['panel'][4:]} [N]"] = when(total(force, group["muscles"]), study.percent)
    return found


def within_bursts(percent: Array, series: dict[str, Array]) -> float:
    """Share of the activation within published bursts of EMG, give or take `MARGIN`, median of muscles in use."""
    timed = [name for name in series if bursts_of(name) and np.nanmax(series[name]) > 0.01]
    inside = [np.where(within(percent, bursts_of(name), MARGIN), series[name], 0.0) for name in timed]
    shares = [np.nansum(values) / np.nansum(series[name]) for name, values in zip(timed, inside, strict=True)]
    return float(np.median(shares))


def correlation(one: Array, other: Array) -> float:
    """Pearson's r over the frames that both have."""
    both = np.isfinite(one) & np.isfinite(other)
    return float(np.corrcoef(one[both], other[both])[0, 1])
