"""Faults of EMG: electrodes, amplifier, mains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.data import Table
from musclesolve.synthetic.faults.trial_copy import Copy, fault


@fault("emg_flat")
def emg_flat(copy: Copy) -> None:
    """The first channel of EMG has lost its electrode: it is flat."""
    table, _ = _first_channel(copy)
    _put(copy, np.zeros(table.time.size))


@fault("emg_clipped")
def emg_clipped(copy: Copy) -> None:
    """The amplifier of the first channel of EMG saturates at a quarter of the peak."""
    _, signal = _first_channel(copy)
    limit = 0.25 * np.abs(signal).max()
    _put(copy, np.clip(signal, -limit, limit))


@fault("emg_hum")
def emg_hum(copy: Copy) -> None:
    """The mains hum at 50 Hz in the first channel of EMG, as large as the signal."""
    table, signal = _first_channel(copy)
    _put(copy, signal + np.sqrt(2.0) * signal.std() * np.sin(2.0 * np.pi * 50.0 * table.time))


def _first_channel(copy: Copy) -> tuple[Table, Array]:
    """Return the table of the EMG, and the signal (S,) of the first channel that the trial file names."""
    if copy.emg is None:
        expected, remedy = "a trial with [emg] and a file of text", "choose a fault of markers or forces"
        raise InputError("the trial has no EMG", code="missing_key", expected=expected, remedy=remedy)
    return copy.emg, copy.emg[_name(copy)]


def _name(copy: Copy) -> str:
    return str(next(iter(copy.content["emg"]["channels"])))


def _put(copy: Copy, signal: Array) -> None:
    assert copy.emg is not None
    values = copy.emg.values.copy()
    values[:, copy.emg.names.index(_name(copy))] = signal
    copy.emg = replace(copy.emg, values=values)
