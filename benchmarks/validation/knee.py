"""Section on the forces measured inside a knee: tables of `benchmarks.instrumented_knee` and a figure."""

from __future__ import annotations

from itertools import chain

import numpy as np
from matplotlib.figure import Figure

from benchmarks.instrumented_knee import (
    HEAD,
    PARTS,
    WALKS,
    WEIGHT,
    Row,
    computed,
    folder,
    measured,
    models,
    recordings,
)
from benchmarks.validation.page import picture, table
from musclesolve.recording.text.mot_file import read_mot

COLORS = {"measured": "0.6", "run": "C0", "share": "C1", "OpenSim": "C3"}


def knee() -> str:
    """Every combination on both walks, and the default over what was measured."""
    ours, theirs = list(recordings()), list(models())
    rows = [(row.words[0], *row.words[1:3], f"`{row.words[3]}`", *cells(row)) for row in chain(ours, theirs)]
    head = ("muscles", "passive", "tendon", "cost", *HEAD, "EMG")
    about = "Force in the left knee over a gait cycle of two walks, measured and computed"
    return f"{table(head, rows)}\n\n{picture(knee_figure(ours[0], theirs[0]), 'validation_knee', about)}"


def cells(row: Row) -> list[str]:
    """The columns of both walks, the first before the second."""
    columns = [agreement.cells for agreement in row.agreement.values()]
    joined = [", ".join(pair) for pair in zip(*columns, strict=True)]
    return [*joined, ", ".join("{:.2f} {:.2f}".format(*pair) for pair in row.emg.values())]


def knee_figure(run: Row, share: Row) -> Figure:
    """Total, medial and lateral force of both walks: measured, `run`, `share`, and OpenSim's total."""
    figure = Figure(figsize=(7.5, 6.0), layout="constrained")
    panels = figure.subplots(len(PARTS), len(WALKS), sharex=True, sharey="row")
    for column, walk in enumerate(WALKS):
        truth = measured(walk)
        end = truth["time_s"][-1]
        for axes, part in zip(panels[:, column], PARTS, strict=True):
            axes.plot(
                100.0 * truth["time_s"] / end,
                truth[f"{part}_N"] / WEIGHT,
                color=COLORS["measured"],
                linewidth=4,
                label="measured",
            )
            for label, row in {"run": run, "share": share}.items():
                result = row.results[walk]
                kept = result["valid"].sel(side="l").values.astype(bool) & (result["time"].values <= end)
                force = np.where(kept, computed(result)[part], np.nan) / WEIGHT
                axes.plot(100.0 * result["time"].values / end, force, color=COLORS[label], label=label)
            axes.tick_params(labelsize=8)
        theirs = read_mot(folder() / f"opensim_joint_reactions_{walk}.sto")
        axis = [theirs[f"walker_knee_l_on_tibia_l_in_tibia_l_f{name}"] for name in "xyz"]
        panels[0, column].plot(
            100.0 * theirs.time / end,
            np.linalg.norm(axis, axis=0) / WEIGHT,
            color=COLORS["OpenSim"],
            linewidth=1.0,
            linestyle="--",
            label="OpenSim, weakened model",
        )
        panels[0, column].set_title(f"walk {walk}", fontsize=9)
    for axes, part in zip(panels[:, 0], PARTS, strict=True):
        axes.set_ylabel(f"{part} [body weights]", fontsize=9)
    panels[0, 0].set_xlim(0.0, 100.0)
    panels[0, 0].legend(fontsize=7, frameon=False)
    figure.supxlabel("gait cycle of the left leg [%]", fontsize=9)
    return figure
