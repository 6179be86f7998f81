"""Activation and force of every muscle as small multiples, both legs in one panel."""

from __future__ import annotations

from dataclasses import dataclass

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve._util.arrays import Array
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.panels import Grid, muscles_by_group, small_multiples
from musclesolve.plotting.page.style import note, page_note
from musclesolve.results.dataset.frame_validity import ALL_SIDES, split_side, with_side

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
    legs = Legs.of(result)
    curves = dict(zip(map(str, result["muscle"].values), _of_muscles(result, name), strict=True))
    envelopes = _envelopes(result) if with_emg else {}

    def fill(axes: Axes, muscle: str) -> None:
        own = [(side, each) for side in legs.sides for each in envelopes.get(f"{muscle}_{side}", ())]
        for side, each in own:
            legs.shade(axes, side, each.curve)
        note(axes, ", ".join(each.text for _, each in own))
        for side in ALL_SIDES:
            if (full := with_side(muscle, side)) in curves:
                legs.draw_muscle(axes, full, curves[full])
                legs.mark_events(axes, side)

    figure = small_multiples(result, titles, legs.x, muscles(result), fill, grid)
    sides = {full[-1] for full in envelopes}
    legs.legend(figure, events=True, shaded=ENVELOPE if with_emg else "", of=sides)
    if with_emg:
        page_note(figure, EXPLAINED)
    return figure


def _of_muscles(result: xr.Dataset, name: str) -> Array:
    """A quantity of every muscle over time, (n, T)."""
    values: Array = result[name].transpose("muscle", "time").values
    return values


@dataclass(frozen=True, eq=False)
class _Envelope:
    """EMG that belongs to a muscle."""

    curve: Array  # (T,) as it is compared with the activation
    text: str  # channel and correlation


def _envelopes(result: xr.Dataset) -> dict[str, list[_Envelope]]:
    """By muscle, with side."""
    found: dict[str, list[_Envelope]] = {}
    curves = result["emg_delayed"].transpose("channel", "time").values
    names = [_short(str(name)) for name in result["channel"].values]
    fits = [f"{float(r):.2f}" for r in result["emg_correlation"].values]
    for curve, name, r, of in zip(curves, names, fits, result["channel_muscles"].values, strict=True):
        for muscle in str(of).split(", "):
            found.setdefault(muscle, []).append(_Envelope(curve, f"{name} {r}"))
    return found


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def muscles(result: xr.Dataset) -> dict[str, str]:
    """Names without side, muscles of one group side by side; the group of each."""
    names = [split_side(str(name))[0] for name in result["muscle"].values]
    return muscles_by_group(names, [str(group) for group in result["group"].values])
