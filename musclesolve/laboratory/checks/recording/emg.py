"""EMG: channels that are constant, dead, clipped, full of spikes or of the mains hum, or of another kind than stated.

`laboratory/recording/emg_state.py` decides on the state of a channel, for the analysis and for this report.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from musclesolve._util.messages import few
from musclesolve.laboratory.checks.case import Case, recording_check, refusal
from musclesolve.laboratory.files.c3d.c3d_file import is_c3d, read_c3d
from musclesolve.laboratory.files.formats import read_channels
from musclesolve.laboratory.recording.emg_state import CLIPPED, DEAD, EMG_HZ, FAINT
from musclesolve.laboratory.results.finding import Finding, Where, finding
from musclesolve.laboratory.trial.muscle_signals import CHANNELS, check_overlap, check_signals, kind_notes

MOVES = 0.3
"""Way of a marker from which a subject moves and muscles are not active evenly [m]."""


@recording_check()
def signals(case: Case) -> Iterator[Finding]:
    """Report signals that do not overlap with the time range, or that reading refuses."""
    trial = case.trial
    for code, of in (("emg", trial.emg), ("fascicle", trial.fascicles)):
        if of is not None:
            yield from refusal(code, partial(check_overlap, case.document, of, *trial.time_range))
    if trial.emg is not None:
        yield from refusal("emg", partial(check_signals, case.document, trial.emg))


@recording_check()
def channels_left_out(case: Case) -> Iterator[Finding]:
    """Note the channels of the file that [emg.channels] does not name: nothing is said of their signals."""
    emg = case.trial.emg
    if emg is None:
        return
    table, plates = read_channels(emg.path).by_written(emg.names), set[str]()
    if is_c3d(emg.path):
        file = read_c3d(emg.path)
        numbers = file.description.numbers("FORCE_PLATFORM:CHANNEL").ravel()
        plates = {file.channel_names.get(int(number) - 1, "") for number in numbers}
    if others := [name for name in table.names if name not in plates.union(emg.names)]:
        values = {"names": few(others, 8), "file": emg.path.name}
        yield finding("emg_left_out", "note", values, case.key("emg", "channels"))


@recording_check()
def channels(case: Case) -> Iterator[Finding]:
    """Find channels that are flat, dead, full of spikes, clipped or full of hum, or of another kind than stated."""
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
        elif state.faint:
            values = {"name": name, "times": 1.0 / state.beside, "limit": 1.0 / FAINT}
            yield finding("emg_dead.faint", "warning", values, case.key(CHANNELS, name))
        if state.spikes:
            text = "emg_spike.many" if state.spiky else "emg_spike.few"
            values = {"name": name, "count": len(state.spikes), "first": state.spikes[0][0]}
            yield finding(text, "warning", values, where)
        if state.clipped >= CLIPPED:
            text = "emg_clipped.lost" if state.lost_peak else "emg_clipped.some"
            values = {"name": name, "share": state.clipped, "first": state.clipped_at}
            yield finding(text, "warning", values, where)
        if state.no_hum:
            values = {"name": name, "share": state.hum, "mains": state.mains}
            yield finding("emg_hum", "warning", values, where)
    changes = max(state.modulation for state in emg.states)
    seen = case.trial.markers.position[:, np.isfinite(case.trial.markers.position).all(axis=(0, 2))]
    moves = bool(seen.size) and float(np.ptp(seen, axis=0).max()) > MOVES
    if changes < DEAD and moves and not any(state.flat or state.dead for state in emg.states):
        values = {"count": len(emg.names), "ratio": changes, "least": DEAD}
        yield finding("emg_dead.all", "warning", values, Where(emg.path))
    for kind in kind_notes(emg, case.settings.emg.processed):
        if kind.envelopes != emg.options.processed:
            shares = {"fast": kind.fast, "negative": kind.negative, "frequency": EMG_HZ}
            text = "emg_kind.envelopes" if kind.envelopes else "emg_kind.raw"
            values = {"names": ", ".join(kind.channels), **shares}
            yield finding(text, "warning", values, case.key("emg", "processed"))
