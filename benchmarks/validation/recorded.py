"""Sections on the recorded walk of Rajagopal et al. (2016): OpenSim's moments, EMG, muscle sets, costs."""

from __future__ import annotations

from functools import cache

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

import musclesolve as ms
from benchmarks.accuracy import COLUMNS
from benchmarks.muscle_sets import Agreement, combinations
from benchmarks.validation.page import picture, recorded_walk, reference, table
from musclesolve.constants import STANDARD_GRAVITY, USUAL_COST
from musclesolve.laboratory.forces import prepare_recording
from musclesolve.laboratory.motion.signals.emg_envelope import best_delays
from musclesolve.tables import read_mot

JOINTS = ("hip", "knee", "ankle")
THEIRS = {  # channel -> muscles of the Rajagopal 2016 model
    "SOL": ("soleus",),
    "GAS": ("gasmed", "gaslat"),
    "TA": ("tibant",),
    "MH": ("semimem", "semiten"),
    "BF": ("bflh",),
    "VL": ("vaslat",),
    "VM": ("vasmed",),
    "RF": ("recfem",),
    "GMAX": ("glmax1", "glmax2", "glmax3"),
    "GMED": ("glmed1", "glmed2", "glmed3"),
}


@cache
def result() -> xr.Dataset:
    """The recorded walk with the defaults."""
    return ms.run(recorded_walk())


def opensim() -> str:
    """Joint moments beside OpenSim's inverse dynamics."""
    ours, theirs = result(), read_mot(reference("opensim_id.sto"))
    rows = []
    for dof, column in COLUMNS.items():
        cells = []
        for side in "rl":
            there = np.interp(ours.time, theirs.time, theirs[column.format(side=side)])
            here = ours.joint_moment.sel(dof=f"{dof}_{side}").values
            off, r = np.sqrt(np.mean((here - there) ** 2)), np.corrcoef(here, there)[0, 1]
            cells += [f"{off:.1f} N m, {r:.3f}", f"{peak(here):.0f}, {peak(there):.0f} N m"]
        rows.append((dof.replace("_", " "), *cells))
    head = (
        "moment",
        "right: rms difference, r",
        "peaks here, there",
        "left: rms difference, r",
        "peaks here, there",
    )
    about = "Joint moments of both legs, here and by OpenSim"
    return f"{table(head, rows)}\n\n{picture(moment_figure(ours), 'validation_moments', about)}"


def peak(values: np.ndarray) -> float:
    """The value of largest magnitude."""
    return float(values[np.abs(values).argmax()])


def moment_figure(ours: xr.Dataset) -> Figure:
    """Moments of both legs over the moments of OpenSim."""
    theirs = read_mot(reference("opensim_id.sto"))
    figure = Figure(figsize=(7.5, 7.0), layout="constrained")
    panels = figure.subplots(len(COLUMNS), 2, sharex=True, sharey="row")
    inside = (theirs.time >= float(ours.time[0])) & (theirs.time <= float(ours.time[-1]))
    for row, (dof, column) in zip(panels, COLUMNS.items(), strict=True):
        for axes, side, leg in zip(row, "rl", ("right", "left"), strict=True):
            there = theirs[column.format(side=side)][inside]
            axes.plot(theirs.time[inside], there, color="0.65", linewidth=4, label="OpenSim")
            axes.plot(
                ours.time, ours.joint_moment.sel(dof=f"{dof}_{side}"), color="C0", linewidth=1.2, label="here"
            )
            axes.set_title(f"{dof.replace('_', ' ')}, {leg}", fontsize=9)
            axes.grid(alpha=0.3)
            axes.tick_params(labelsize=8)
    panels[0, 0].legend(fontsize=8, frameon=False)
    figure.supxlabel("time [s]", fontsize=9)
    figure.supylabel("moment [N m]", fontsize=9)
    return figure


def emg() -> str:
    """Activation beside the envelope of every channel, and r beside the r of OpenSim's static optimization."""
    ours = result()
    channels = [str(name) for name in ours.channel.values]
    theirs = dict(zip(channels, static_optimization(channels), strict=True))
    rows = [
        (name, f"{r:.2f}", f"{1000 * delay:.0f}", f"{theirs[name]:.2f}")
        for name, r, delay in zip(channels, ours.emg_correlation.values, ours.emg_delay.values, strict=True)
    ]
    here, there = ours.emg_correlation.values, np.array(list(theirs.values()))
    rows.append(("median", f"{np.median(here):.2f}", "", f"{np.median(there):.2f}"))
    rows.append(("mean", f"{here.mean():.2f}", "", f"{there.mean():.2f}"))
    about = "Activation of ten muscles of the right leg over the envelope of their EMG"
    shown = picture(emg_figure(ours, channels), "validation_emg", about)
    return f"{table(('channel', 'r here', 'delay [ms]', 'r, OpenSim'), rows)}\n\n{shown}"


def static_optimization(channels: list[str]) -> np.ndarray:
    """Correlations of OpenSim's static optimization with the Rajagopal 2016 model, by the same measure."""
    prepared = prepare_recording(recorded_walk(), side="both")
    file = read_mot(reference("opensim_so_rajagopal2016_activation.sto"))
    means = np.stack(
        [np.mean([file[f"{name}_r"] for name in THEIRS[channel]], axis=0) for channel in channels], axis=-1
    )
    measured = prepared.emg
    assert measured is not None
    return best_delays(file.time, means, measured.time, measured.envelope, measured.max_delay)[0]


def emg_figure(ours: xr.Dataset, channels: list[str]) -> Figure:
    """Activation over the delayed envelope, channel by channel."""
    figure = Figure(figsize=(7.5, 5.6), layout="constrained")
    panels = figure.subplots(4, 3, sharex=True, sharey=True).ravel()
    for axes, channel in zip(panels, channels, strict=False):
        muscles = str(ours.channel_muscles.sel(channel=channel).values).replace(",", " ").split()
        mean = ours.activation.sel(muscle=muscles).mean("muscle")
        envelope = ours.emg_delayed.sel(channel=channel)
        axes.fill_between(ours.time, envelope, color="0.8", linewidth=0, label="EMG envelope")
        axes.plot(ours.time, mean, color="C0", linewidth=1.3, label="activation")
        r = float(ours.emg_correlation.sel(channel=channel))
        axes.set_title(f"{channel}, r = {r:.2f}", fontsize=9)
        axes.tick_params(labelsize=8)
        axes.set_ylim(0.0, 1.02)
    for axes in panels[len(channels) :]:
        axes.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, labels, loc="center", fontsize=9, frameon=False)
    figure.supxlabel("time [s]", fontsize=9)
    return figure


def sets() -> str:
    """Every set with the default cost and the passive rule of the best median; the best median first."""
    prepared = prepare_recording(recorded_walk(), side="both")
    found = combinations(prepared)
    channels = prepared.emg.channels if prepared.emg is not None else ()
    kept = [key for key in found if key[2] == USUAL_COST]
    best: dict[tuple[str, str], tuple[str, str, str]] = {}
    for key in sorted(kept, key=lambda key: -np.nanmedian(found[key].correlation)):
        best.setdefault((key[0], key[2]), key)
    rows = [
        (f"`{name}`", passive, f"`{cost}`", *summary(found[name, passive, cost], channels))
        for name, passive, cost in best.values()
    ]
    head = (
        "set",
        "passive",
        "cost",
        "r median",
        "mean",
        "lowest",
        "reserves",
        "at full activation",
        "contact",
    )
    return table(head, rows)


def summary(one: Agreement, channels: tuple[str, ...]) -> tuple[str, ...]:
    """The cells of one combination."""
    lowest = int(np.nanargmin(one.correlation))
    return (
        f"{np.nanmedian(one.correlation):.2f}",
        f"{np.nanmean(one.correlation):.2f}",
        f"{one.correlation[lowest]:.2f} {channels[lowest]}",
        f"{one.reserve_frames} ({one.largest_reserve:.1f})",
        f"{one.full:.1f}",
        " ".join(f"{value:.1f}" for value in one.contact),
    )


def costs() -> str:
    """Every cost with the default muscles."""
    names = [name for name in ms.costs() if name not in ("emg_tracking", "general_power")]  # an EMG, a family
    both = ms.compare(recorded_walk(), names)
    weight = float(both.attrs["subject_mass_kg"]) * STANDARD_GRAVITY
    length = np.sqrt((both.joint_reaction**2).sum("axis")).max("time") / weight
    rows = []
    for name in names:
        one = both.sel(cost=name)
        peaks = [
            max(float(length.sel(cost=name, joint=f"{joint}_{side}")) for side in "rl") for joint in JOINTS
        ]
        r, active = one.emg_correlation.values, one.activation > 0.05
        rows.append(
            (
                f"`{name}`",
                f"{np.nanmedian(r):.2f}",
                f"{np.nanmean(r):.2f}",
                f"{np.nanmin(r):.2f}",
                f"{float(active.sum('muscle').mean('time')) / 2:.0f}",
                f"{100 * float(one.co_contraction.sel(dof='knee_flexion_r').mean()):.0f} %",
                " ".join(f"{value:.1f}" for value in peaks),
            )
        )
    head = ("cost", "r median", "mean", "lowest", "active muscles of a leg")
    return table((*head, "co-contraction, right knee", "contact"), rows)
