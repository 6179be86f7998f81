"""The calf in stance behind rigid and elastic tendons, as a figure."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.elastic_tendons.published import tendon
from benchmarks.elastic_tendons.variants import OWN, RIGID, SETS, SOFT, TRICEPS, Tendons, moving, result
from benchmarks.validation.page import picture

KINDS = {RIGID: "0.6", OWN: "C0", SOFT[1]: "C3"}
CHANNELS = {"soleus": "SOL", "gastrocnemius_medial": "GAS"}
QUANTITIES = ("activation", "force [N]", "fiber length [L0]", "fiber velocity [L0/s]", "tendon strain [%]")


def calf() -> str:
    """The right leg of the default set, with the envelopes."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    panels = figure.subplots(2, len(QUANTITIES), sharex=True)
    for row, name in zip(panels, CHANNELS, strict=True):
        _envelope(row[0], CHANNELS[name])
        for kind, color in KINDS.items():
            _draw(row, name, kind, color)
        row[0].set_ylabel(name.replace("_", " "), fontsize=9)
    for panel, title in zip(panels[0], QUANTITIES, strict=True):
        panel.set_title(title, fontsize=9)
    for panel in panels.flat:
        panel.grid(alpha=0.3)
        panel.tick_params(labelsize=7)
    for panel in panels[1]:
        panel.set_xlabel("time [s]", fontsize=8)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    return picture(figure, "elastic_tendons", "Soleus and gastrocnemius in stance, rigid and elastic tendons")


def _envelope(panel: Axes, channel: str) -> None:
    found = result(SETS[0], RIGID)
    muscle = moving(found, "r")[0]
    envelope = found.emg_delayed.sel(channel=channel, time=muscle.time)
    panel.fill_between(muscle.time, envelope, color="0.9", label="EMG, at the best delay of rigid tendons")


def _draw(row: Sequence[Axes], name: str, kind: Tendons, color: str) -> None:
    muscle = moving(result(SETS[0], kind), "r")[TRICEPS.index(name)]
    optimal = float(muscle.optimal_fiber_length)
    courses = (
        muscle.activation,
        muscle.muscle_force,
        muscle.fiber_length / optimal,
        muscle.fiber_velocity / optimal,
        100.0 * tendon(muscle, "tendon_strain"),
    )
    for panel, course in zip(row, courses, strict=True):
        panel.plot(muscle.time, course, color=color, linewidth=1.3, label=kind.label)
