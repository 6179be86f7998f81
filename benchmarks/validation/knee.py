"""Sections on forces inside a knee: tables of `benchmarks.instrumented_knee`, and figures."""

from __future__ import annotations

from itertools import chain

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from benchmarks.instrumented_knee import (
    BAND_HEAD,
    HEAD,
    OF_INPUTS,
    PARTS,
    WALKS,
    WEIGHT,
    Agreement,
    Coverage,
    Row,
    bands,
    computed,
    measured,
    models,
    published,
    recordings,
)
from benchmarks.validation.page import picture, table
from musclesolve.constants import USUAL_COST

COSTS = (USUAL_COST, "activation_power", "stress_cubed")
"""The costs of the table."""
COLORS = {"measured": "0.6", "run": "C0", "share": "C1", "OpenSim": "C3"}


def knee() -> str:
    """Combinations without passive forces on both walks, and the default over what was measured."""
    ours, theirs = list(recordings()), list(models())
    rows = [
        (muscles, tendon, f"`{cost}`", *cells(row))
        for row in chain(ours, theirs)
        for muscles, passive, tendon, cost in (row.words,)
        if passive == "none" and cost in COSTS and (tendon == "rigid" or cost == USUAL_COST)
    ]
    known = [Agreement.from_forces(*published(walk), walk).cells for walk in WALKS]
    rows.append(("OpenSim, published, weakened", "rigid", "squared activations", *side_by_side(known)[:-1]))
    head = ("muscles", "tendon", "cost", *HEAD[:-1])
    about = "Force in the left knee over a gait cycle of two walks, measured and computed"
    return f"{table(head, rows)}\n\n{picture(knee_figure(ours[0], theirs[0]), 'validation_knee', about)}"


def knee_bands() -> str:
    """How often the bands of the uncertainty hold the measured force, by the sources that are switched on."""
    found = dict(bands(SAMPLES))
    rows = []
    for (muscles, kind), walks in found.items():
        known = [Coverage.from_uncertainty(each, walk).cells for walk, each in walks.items()]
        rows.append((muscles, kind, *side_by_side(known)))
    (usual, *_, every) = (walks for (muscles, _), walks in found.items() if muscles == rows[0][0])
    about = "Force in the left knee of two walks: measured, computed, and the bands of 95 % of the samples"
    shown = picture(band_figure({OF_INPUTS: usual, "all sources": every}), "validation_knee_bands", about)
    return f"{table(('muscles', 'errors of', *BAND_HEAD), rows)}\n\n{shown}"


SAMPLES = 200
"""Samples of each band."""


def band_figure(found: dict[str, dict[str, xr.Dataset]]) -> Figure:
    """The bands of both walks by their sources, the widest first in the picture, over the measured force."""
    figure = Figure(figsize=(7.5, 3.0), layout="constrained")
    panels = figure.subplots(1, len(WALKS), sharex=True, sharey=True)
    for axes, walk in zip(panels, WALKS, strict=True):
        truth = measured(walk)
        end = truth["time_s"][-1]
        for (kind, walks), opacity in zip(reversed(found.items()), (0.25, 0.45), strict=True):
            samples = walks[walk].sel(joint="knee_l")
            known = samples["valid"].sel(side="l").values.astype(bool) & (samples["time"].values <= end)
            phase = 100.0 * samples["time"].values[known] / end
            low, high = (
                samples["contact_force_quantile"].sel(quantile=share).values[known] / WEIGHT
                for share in (0.025, 0.975)
            )
            axes.fill_between(phase, low, high, color="C0", alpha=opacity, linewidth=0.0, label=kind)
        axes.plot(phase, samples["contact_force"].values[known] / WEIGHT, color="C0", label="computed")
        axes.plot(100.0 * truth["time_s"] / end, truth["total_N"] / WEIGHT, color="0.2", label="measured")
        axes.set_title(f"walk {walk}", fontsize=9)
        axes.tick_params(labelsize=8)
    panels[0].set_ylabel("total [body weights]", fontsize=9)
    panels[0].set_xlim(0.0, 100.0)
    panels[0].legend(fontsize=7, frameon=False)
    figure.supxlabel("gait cycle of the left leg [%]", fontsize=9)
    return figure


def side_by_side(walks: list[tuple[str, ...]]) -> list[str]:
    """The columns of both walks, the first before the second."""
    return [", ".join(pair) for pair in zip(*walks, strict=True)]


def cells(row: Row) -> list[str]:
    """The columns of a combination, without reserves: no frame needs one."""
    return side_by_side([agreement.cells for agreement in row.agreement.values()])[:-1]


def knee_figure(run: Row, share: Row) -> Figure:
    """Total, medial and lateral force of both walks: measured, `run`, `share`, and OpenSim as published."""
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
            time, theirs = published(walk)
            axes.plot(
                100.0 * time / end,
                theirs[part] / WEIGHT,
                color=COLORS["OpenSim"],
                linewidth=1.0,
                linestyle="--",
                label="OpenSim, weakened model",
            )
            axes.tick_params(labelsize=8)
        panels[0, column].set_title(f"walk {walk}", fontsize=9)
    for axes, part in zip(panels[:, 0], PARTS, strict=True):
        axes.set_ylabel(f"{part} [body weights]", fontsize=9)
    panels[0, 0].set_xlim(0.0, 100.0)
    panels[0, 0].legend(fontsize=7, frameon=False)
    figure.supxlabel("gait cycle of the left leg [%]", fontsize=9)
    return figure
