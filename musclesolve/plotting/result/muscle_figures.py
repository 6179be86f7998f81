"""Activation and force of every muscle as small multiples, both legs in one panel."""

from __future__ import annotations

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.panels import Grid, muscles_by_group, small_multiples
from musclesolve.plotting.page.style import note, page_note
from musclesolve.results.dataset.frame_validity import split_side, with_side

ACTIVATION = "activation [1]"
FORCE = "force [N]  (each panel has its own scale)"
ENVELOPE = "EMG"
EXPLAINED = "EMG: envelope, peak at 1, delayed to agree best; above it channel and r with the activation"
LONGEST = 9
"""Letters of a channel that are printed beside the group of a muscle."""
OF_EMG = ("emg_delayed", "emg_correlation", "channel_muscles")


def activations(result: xr.Dataset) -> Figure:
    """Activation of each muscle, 0 to 1, over the envelope of its EMG where that was measured."""
    titles, grid = ("Muscle activation", ACTIVATION), Grid(top=1.02, low=True)
    with_emg = all(name in result.variables for name in OF_EMG) and result.sizes["channel"] > 0
    return _every_muscle(result, "activation", titles, grid, with_emg)


def muscle_forces(result: xr.Dataset) -> Figure:
    """Force of each muscle in newton, every panel with its own scale."""
    return _every_muscle(result, "muscle_force", ("Muscle force", FORCE), Grid(low=True))


def _every_muscle(
    result: xr.Dataset, name: str, titles: tuple[str, str], grid: Grid, with_emg: bool = False
) -> Figure:
    legs, known = Legs.of(result), set(map(str, result["muscle"].values))

    def fill(axes: Axes, muscle: str) -> None:
        if with_emg:
            _envelopes(axes, legs, muscle)
        for side in legs.sides:
            if (full := with_side(muscle, side)) in known:
                legs.draw(axes, side, result[name].sel(muscle=full).values)

    figure = small_multiples(result, titles, legs.x, muscles(result), fill, grid)
    sides = {str(names)[-1] for names in result["channel_muscles"].values} if with_emg else set()
    legs.legend(figure, shaded=ENVELOPE if with_emg else "", of=sides)
    if with_emg:
        page_note(figure, EXPLAINED)
    return figure


def _envelopes(axes: Axes, legs: Legs, muscle: str) -> None:
    """Shade the envelopes of a muscle, as they are compared with its activation, and print channel and r."""
    result, notes = legs.result, []
    for number, names in enumerate(result["channel_muscles"].values):
        channel = result.isel(channel=number)
        for side in legs.sides:
            if f"{muscle}_{side}" in str(names).split(", "):
                legs.shade(axes, side, channel["emg_delayed"].values)
                notes.append(
                    f"{_short(str(channel['channel'].item()))} {float(channel['emg_correlation']):.2f}"
                )
    note(axes, ", ".join(notes))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def muscles(result: xr.Dataset) -> dict[str, str]:
    """Names without side, muscles of one group side by side; the group of each."""
    names = [split_side(str(name))[0] for name in result["muscle"].values]
    return muscles_by_group(names, [str(group) for group in result["group"].values])
