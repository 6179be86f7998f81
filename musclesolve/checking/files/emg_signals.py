"""Signals of EMG: is each channel of a muscle, does the amplifier saturate, does the mains hum, are they envelopes?

recording/emg_state.py decides on the state of a channel, for the analysis and for this report.
"""

from collections.abc import Iterator

from musclesolve.checking.case import Case
from musclesolve.checking.stages import Stage, check_at
from musclesolve.recording.emg_state import CLIPPED, DEAD, EMG_HZ
from musclesolve.recording.trial.muscle_signals import CHANNELS, kind_notes
from musclesolve.results.finding import Finding, Where, finding


@check_at(Stage.ANALYSIS)
def emg_channels(case: Case) -> Iterator[Finding]:
    """Find channels that are flat, dead, full of spikes, clipped or full of hum, and envelopes among raw signals."""
    emg = case.trial.emg
    if emg is None:
        return
    for name, state in zip(emg.names, emg.states, strict=True):
        where = Where(emg.path, field=f"channel {name}")
        if state.flat:
            yield finding("emg_flat", "warning", {"name": name}, case.key(CHANNELS, name))
        if state.dead:
            values = {"name": name, "ratio": state.modulation, "least": DEAD}
            yield finding("emg_dead", "warning", values, case.key(CHANNELS, name))
        if state.spikes:
            text = "emg_spike.many" if state.spiky else "emg_spike.few"
            values = {"name": name, "count": len(state.spikes), "first": state.spikes[0][0]}
            yield finding(text, "warning", values, where)
        if state.clipped >= CLIPPED:
            text = "emg_clipped.lost" if state.lost_peak else "emg_clipped.some"
            values = {"name": name, "share": state.clipped, "first": state.clipped_at}
            yield finding(text, "warning", values, where)
        if state.no_hum:
            yield finding(
                "emg_hum", "warning", {"name": name, "share": state.hum, "mains": state.mains}, where
            )


@check_at(Stage.ANALYSIS)
def emg_kind(case: Case) -> Iterator[Finding]:
    """Find channels that are envelopes where the trial file states raw signals, or the reverse."""
    emg = case.trial.emg
    if emg is None:
        return
    for kind in kind_notes(emg, case.settings.emg.processed):
        if kind.envelopes == emg.options.processed:
            continue
        shares = {"fast": kind.fast, "negative": kind.negative, "frequency": EMG_HZ}
        place = case.key("emg", "processed")
        text = "emg_kind.envelopes" if kind.envelopes else "emg_kind.raw"
        yield finding(text, "warning", {"names": ", ".join(kind.channels), **shares}, place)
