"""Signals of EMG: do they change, does the amplifier saturate, does the mains hum in them?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case import Case, contained, stretches
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.data import Emg
from musclesolve.recording.trial.emg_channels import (
    CHANNELS,
    check_overlap,
    check_signals,
    is_flat,
    saturated,
)
from musclesolve.results.finding import Finding, Where, finding

# Share of clipped samples from which on the envelope is noticeably too low.
CLIPPED = 0.001
# Mains frequencies [Hz], how far from one of them and its harmonics hum still lies [Hz], and how many of these count.
MAINS_HZ, BESIDE_HZ, HARMONICS = (50.0, 60.0), 1.0, (1, 2, 3)
# Without hum less than a tenth of the power between the cut-offs lies there; and the shortest signal that shows it [s].
HUM, SHORTEST = 0.25, 1.0


@asked_at(Stage.ANALYSIS)
def emg_channels(case: Case) -> Iterator[Finding]:
    """Find channels that are flat, clipped or full of hum."""
    emg = case.trial.emg
    if emg is None:
        return
    for name, signal in zip(emg.names, emg.values.T, strict=True):
        if is_flat(signal):
            yield finding("emg_flat", "error", {"name": name}, case.key(CHANNELS, name))
        if is_flat(signal) or emg.options.processed:
            continue
        where, clipped = Where(emg.path, field=f"channel {name}"), saturated(signal)
        if (share := float(clipped.mean())) >= CLIPPED:
            first = stretches(clipped, emg.time)[0][0]
            yield finding("emg_clipped", "warning", {"name": name, "share": share, "first": first}, where)
        mains, hum = max(((f, _hum(emg, signal, f)) for f in MAINS_HZ), key=lambda pair: pair[1])
        if hum > HUM:
            yield finding("emg_hum", "warning", {"name": name, "share": hum, "mains": mains}, where)


@asked_at(Stage.ANALYSIS)
def emg_refusals(case: Case) -> Iterator[Finding]:
    """Ask what the analysis would refuse of the signals, unless a channel is flat, which is found by itself."""
    emg = case.trial.emg
    if emg is None or any(map(is_flat, emg.values.T)):
        return
    for test in (partial(check_overlap, case.trial, emg), partial(check_signals, case.document, emg)):
        refused: list[Finding] = []
        with contained(refused, "check of the EMG", case, "emg"):
            test()
        yield from refused


def _hum(emg: Emg, signal: Array, mains_hz: float) -> float:
    """Return the share of the power between the cut-offs that lies near a frequency and its harmonics."""
    known = np.isfinite(signal)
    if not known.all() or emg.time[-1] - emg.time[0] < SHORTEST:
        return 0.0
    power = np.abs(np.fft.rfft((signal - signal.mean()) * np.hanning(signal.size))) ** 2
    frequency = np.fft.rfftfreq(signal.size, 1.0 / emg.rate)
    band = (frequency >= emg.options.highpass_hz) & (frequency <= emg.options.lowpass_hz)
    near = np.any([np.abs(frequency - k * mains_hz) <= BESIDE_HZ for k in HARMONICS], axis=0)
    return float(power[band & near].sum() / power[band].sum())
