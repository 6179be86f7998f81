"""EMG as part of a result: envelopes, the activation they let expect, and how well activation agrees with them."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.pipeline.body import Analysis, Body
from musclesolve.recording.data import Emg

Variable = tuple[tuple[str, ...], Array]


def emg_variables(analysis: Analysis) -> dict[str, Variable]:
    """Over time, channel and muscle, named as in variables.toml; none without EMG."""
    measured, time = analysis.body.emg, analysis.body.time
    if measured is None:
        return {}
    names = analysis.body.muscles
    correlation, delay = measured.agreement(time, analysis.activation, names)
    return {
        "emg": (("time", "channel"), measured.at(time)),
        "emg_delayed": (("time", "channel"), measured.delayed(time, delay)),
        "measured_activation": (("time", "muscle"), measured.expected(time, names)),
        "emg_correlation": (("channel",), correlation),
        "emg_delay": (("channel",), delay),
    }


def emg_coordinates(analysis: Analysis) -> dict[str, object]:
    """Name of every channel, and of its muscles between commas."""
    measured = analysis.body.emg
    if measured is None:
        return {}
    muscles = np.array([", ".join(names) for names in measured.muscles], np.str_)
    return {"channel": list(measured.channels), "channel_muscles": ("channel", muscles)}


def emg_notes(body: Body) -> list[str]:
    """Sentences on EMG that a reader of the results should see."""
    return [] if body.emg is None else body.emg.notes(body.time)


def emg_attributes(emg: Emg | None) -> dict[str, object]:
    """How the envelopes were made; none without EMG."""
    if emg is None:
        return {}
    options = emg.options
    made = (
        "as recorded"
        if options.processed
        else f"band-pass {options.highpass_hz:g}-{options.lowpass_hz:g} Hz (order {options.band_order}), rectified, "
        f"low-pass {options.envelope_hz:g} Hz (order {options.envelope_order}), zero-lag"
    )
    return {"emg_envelope": made, "emg_max_delay_s": options.max_delay, "emg_tracking_delay_s": options.delay}
