"""Signals of EMG as small pictures, and the faults of each: dead, clipped, full of spikes or hum."""

from dataclasses import dataclass
from html import escape

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import capitalized, count_of
from musclesolve.drafting.emg_channels import EmgFile
from musclesolve.recording.emg_state import ChannelState, channel_states, saturated
from musclesolve.recording.trial.emg_channels import are_envelopes

WIDE, HIGH, BINS = 300, 40, 300
"""Size of a picture [px], and how many stretches of time it shows."""
LITTLE = 0.001
"""Share of samples at the end of the range of the amplifier that is not reported."""


@dataclass(frozen=True)
class Signal:
    """A channel: its picture as SVG, its faults in words ("" without any), and whether it is unusable."""

    picture: str
    trouble: str = ""
    unusable: bool = False


def signals_of(file: EmgFile, names: list[str]) -> dict[str, Signal]:
    """The signals of some channels of a file, by their names; without those that the file does not have."""
    table = file.table
    there = [name for name in names if name in table.names]
    if not there:
        return {}
    values = np.stack([table[name] for name in there], axis=-1)
    processed = are_envelopes(values, table.rate)
    _, states = channel_states(values, table.time, processed, [None] * len(there))
    return {
        name: Signal(_picture(name, table.time, values[:, k]), _trouble(states[k]), bool(states[k].unusable))
        for k, name in enumerate(there)
    }


def _trouble(state: ChannelState) -> str:
    """Return the faults of a channel in words."""
    if state.unusable:
        return f"Not used: {state.unusable}."
    said = []
    if state.clipped > LITTLE:
        said.append(
            f"{100.0 * state.clipped:.2g} % of its samples are clipped, from {state.clipped_at:.2f} s"
        )
    if state.spikes:
        said.append(f"{count_of(len(state.spikes), 'spike')} removed")
    if state.no_hum:
        said.append(f"hum of {state.mains:.0f} Hz removed")
    return f"{capitalized('; '.join(said))}." if said else ""


def _picture(name: str, time: Array, signal: Array) -> str:
    """The smallest and largest sample of each stretch of time; red where the amplifier was at its end."""
    known = np.nan_to_num(signal)
    edges = np.unique(np.linspace(0, len(signal), BINS + 1).astype(int))
    low, high = np.minimum.reduceat(known, edges[:-1]), np.maximum.reduceat(known, edges[:-1])
    bottom, top = min(float(low.min()), 0.0), max(float(high.max()), 0.0)
    scale = HIGH / (top - bottom) if top > bottom else 0.0
    x = WIDE * edges[:-1] / len(signal)

    def y(value: Array) -> Array:
        return (top - value) * scale if scale else np.full(value.shape, HIGH / 2.0)

    up = [f"{a:.1f} {b:.1f}" for a, b in zip(x, y(high), strict=True)]
    down = [f"{a:.1f} {b + 0.8:.1f}" for a, b in zip(x[::-1], y(low)[::-1], strict=True)]
    clipped = np.logical_or.reduceat(saturated(signal), edges[:-1])
    marks = "".join(f'<path class="ms-clipped" d="M{a:.1f} 0V{HIGH}"/>' for a in x[clipped])
    said = f"Signal of {name}, {time[0]:.2f} to {time[-1]:.2f} s, {bottom:.3g} to {top:.3g}"
    return (
        f'<svg class="ms-signal" viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(said)}"><title>{escape(said)}</title><path d="M{"L".join([*up, *down])}Z"/>{marks}</svg>'
    )
