"""The tables [emg] and [fascicle] of a trial file: signals of muscles, EMG and fascicle lengths from ultrasound."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import WarningNote
from musclesolve.errors import file_error
from musclesolve.laboratory.files.c3d.c3d_file import is_c3d
from musclesolve.laboratory.files.formats import read_channels
from musclesolve.laboratory.recording.data import Emg, Fascicles
from musclesolve.laboratory.recording.emg_state import EMG_HZ, NEGATIVE, is_envelope, is_flat
from musclesolve.laboratory.recording.trial_settings import EmgSettings, TrialSettings
from musclesolve.laboratory.trial.plates.foot_contacts import clock_note, zeros_apart
from musclesolve.laboratory.trial.recording_checks import (
    check_columns,
    check_sampling,
    lacking_samples,
    off_grid,
)
from musclesolve.tables.document import Document
from musclesolve.tables.units import METERS

CHANNELS = "emg.channels"
OF_NYQUIST = 0.9
"""Share of half the sampling rate to which a higher upper cut-off is lowered."""
LONGEST_STEP = 0.05
"""Longest time between two samples of an envelope for interpolation [s]: a third of a period of 6 Hz."""
ONE_SIDED = 0.35
"""Largest median of a rectified signal, as a share of its range; the median of a raw signal is in the middle."""


def read_emg(
    document: Document, settings: TrialSettings, markers: Path, clock: Array | None = None
) -> tuple[Emg | None, list[str]]:
    """Return the signals in [emg] of a trial file and notes on them; None without [emg].

    `markers` is the file of the markers, `clock` (T,) their times [s], by which the zero of another clock is found. The
    caller has to call `check_signals`.
    """
    stated = settings.emg
    if (channels := stated.channels) is None:
        return None, []
    path = markers
    if stated.file is not None:
        path = document.input_file("emg", "file", stated.file)
    elif not is_c3d(markers):
        raise document.fault(
            "missing_key",
            "emg",
            "'file' is missing",
            "the file with the signals; only a C3D file of markers may contain them",
            'add a line file = "..."',
        )
    muscles = {name: (m,) if isinstance(m, str) else tuple(m) for name, m in channels.items()}
    for name, listed in muscles.items():
        if len(set(listed)) < len(listed):
            raise document.fault(
                "duplicate_name",
                (CHANNELS, name),
                f"a muscle of the channel '{name}' is stated twice",
                "every muscle once",
                "remove one of them",
            )
    table = read_channels(path).by_written(muscles)
    check_columns(document, muscles, CHANNELS, table, "channel")
    values = np.stack([table[name] for name in muscles], axis=-1)
    time, values = _evenly(table.time, values)
    processed = stated.processed
    if processed is None:
        processed = are_envelopes(values, (time.size - 1) / float(time[-1] - time[0]))
    evened = list[str]()
    if time is not table.time:
        if not processed:
            check_sampling(table.time, path)
        first, last = 1000.0 * np.quantile(np.diff(table.time), [0.0, 1.0])
        evened.append(
            f"Envelopes of EMG are not evenly sampled ({first:.3g} to {last:.3g} ms from one to the next): "
            f"interpolated to an even {1000.0 / table.rate:.4g} ms."
        )
    # The envelope that corresponds to activation 1; a word is the largest one of the recording.
    maximum = {} if isinstance(stated.maximum, str) else stated.maximum
    document.check_known(maximum, "[emg.channels] has no channel", muscles, "emg", "maximum")
    options, notes = _options(document, stated.changed(processed=processed), table.rate)
    apart = 0.0 if clock is None or path == markers or options.offset_s else zeros_apart(time, clock)
    if apart:
        evened.append(clock_note(apart, path.name, markers.name, float(time[0] + apart), "EMG"))
    emg = Emg(
        time + options.offset_s + apart,
        tuple(muscles),
        values,
        tuple(muscles.values()),
        tuple(maximum.get(name) for name in muscles),
        path,
        options,
    )
    kind = kind_notes(emg, stated.processed)
    return emg, [*table.sentences, *evened, *notes, *(note.sentence for note in kind), *_notes(emg)]


def check_overlap(document: Document, measured: Emg | Fascicles, start: float, end: float) -> None:
    """Refuse EMG or fascicle lengths without a sample in a motion from `start` to `end` [s]."""
    first, last = measured.time[[0, -1]]
    is_emg = isinstance(measured, Emg)
    offset = measured.options.offset_s if isinstance(measured, Emg) else measured.offset
    if last < start or first > end:
        moved = f" ({offset:+g} s of offset_s among it)" if offset else ""
        raise document.fault(
            "no_overlap",
            ("emg" if is_emg else "fascicle", "file"),
            f"{'EMG' if is_emg else 'the fascicles'} lasted from {first:g} to {last:g} s{moved}",
            f"a part of the analyzed {start:g} to {end:g} s",
            "name the file of this trial, or state offset_s (clock of the motion minus clock of the file)",
        )


def _options(document: Document, options: EmgSettings, rate: float) -> tuple[EmgSettings, list[str]]:
    """Return the options, with an upper cut-off that the rate [Hz] allows, and a note if it was lowered."""
    if options.processed:
        return options, []
    if options.lowpass_hz <= options.highpass_hz:
        raise document.fault(
            "conflict",
            ("emg", "lowpass_hz"),
            f"the band from {options.highpass_hz:g} to {options.lowpass_hz:g} Hz is empty",
            "lowpass_hz above highpass_hz",
            "20 and 400 Hz are usual for surface EMG",
        )
    highest = OF_NYQUIST * 0.5 * rate
    for key, cutoff in (("highpass_hz", options.highpass_hz), ("envelope_hz", options.envelope_hz)):
        if cutoff >= highest:
            raise document.fault(
                "bad_value",
                ("emg", key),
                f"EMG of {rate:.4g} samples a second cannot be filtered at {cutoff:g} Hz",
                f"{key} below {highest:.4g} Hz, or a rate above {2.0 * cutoff / OF_NYQUIST:.4g} Hz",
                "processed = true if these are envelopes already; else export at the rate of the recording",
            )
    if options.lowpass_hz <= highest:
        return options, []
    note = (
        f"EMG was recorded at {rate:.4g} Hz: the band-pass filter ends at {highest:.4g} Hz instead of "
        f"{options.lowpass_hz:g} Hz."
    )
    return options.changed(lowpass_hz=highest), [note]


def check_signals(document: Document, emg: Emg) -> None:
    """Refuse signals that are too short to filter, and stated envelopes with values on both sides of zero."""
    options = emg.options
    if not options.processed and emg.time[-1] - emg.time[0] < 1.0 / options.envelope_hz:
        raise file_error(
            "too_few_frames",
            emg.path,
            f"the EMG lasts {emg.time[-1] - emg.time[0]:.3g} s",
            f"more than a period of envelope_hz, {1.0 / options.envelope_hz:.3g} s",
            "export the whole recording",
        )
    for name, signal in zip(emg.names, emg.cleaned.T, strict=True):
        if not options.processed or is_flat(signal):
            continue
        negative = emg.kinds[name][3]
        if negative > NEGATIVE:
            raise document.fault(
                "bad_signal",
                (CHANNELS, name),
                f"{100.0 * negative:.0f} % of the area of the channel '{name}' of {emg.path.name} is negative",
                f"at most {100.0 * NEGATIVE:.0f} % where processed = true: the undershoot of a filter",
                "remove processed = true if the signal is raw",
            )


@dataclass(frozen=True)
class KindNote:
    """Channels with a kind of signal that differs from the trial file, or that the trial file does not state."""

    channels: tuple[str, ...]
    envelopes: bool  # kind of the signals
    stated: bool | None  # kind in the trial file; None: not stated
    fast: float  # share of the power above 20 Hz, of the channel nearest to the other kind
    negative: float  # share of the area below zero, likewise

    @property
    def sentence(self) -> str:
        """Kind of the signals and its consequence; a warning where the trial file states otherwise."""
        numbers = (
            f"{100.0 * self.fast:.2g} % of the power above {EMG_HZ:g} Hz and {100.0 * self.negative:.2g} % of the area "
            "below zero"
        )
        channels = ", ".join(self.channels)
        if self.envelopes and self.stated is None:
            return (
                f"EMG channels {channels} are linear envelopes: at most {numbers}. No filter is applied; "
                "processed = true in [emg] states the same."
            )
        if self.envelopes:
            treated = "processed = false" if self.stated is False else "the other channels"
            return WarningNote(
                f"EMG channel {channels} is a linear envelope, at most {numbers}, but was filtered as raw EMG as "
                f"{treated} ask for: little but noise is left of it."
            )
        return WarningNote(
            f"EMG channel {channels} is not a linear envelope, at least {numbers}, but was not filtered."
        )


def kind_notes(emg: Emg, stated: bool | None) -> list[KindNote]:
    """Return notes on the kind of channels: envelopes if the trial file does not state it, and contradictions to it."""
    processed = bool(emg.options.processed)
    kinds, notes = emg.kinds, []
    for envelopes in (processed, not processed):
        channels = [name for name, (smooth, *_) in kinds.items() if smooth == envelopes]
        if not channels or (envelopes == processed and (stated is not None or not envelopes)):
            continue
        worst = max if envelopes else min
        fast, negative = (worst(kinds[name][k] for name in channels) for k in (1, 3))
        notes.append(KindNote(tuple(channels), envelopes, stated, fast, negative))
    return notes


def _notes(emg: Emg) -> Iterator[str]:
    """Yield a note for every channel that is not used, was rectified, lost spikes, saturates or has gaps."""
    smooth = [name for name, signal in zip(emg.names, emg.values.T, strict=True) if is_one_sided(signal)]
    smooth = [name for name in smooth if not is_envelope(emg.values[:, emg.names.index(name)], emg.rate)]
    if smooth and not emg.options.processed:
        yield f"EMG channel {', '.join(smooth)}: never negative; an envelope needs processed = true in [emg]."
    for name, why in emg.unusable.items():
        yield WarningNote(f"EMG channel {name} is neither followed nor compared: {why}.", "emg")
    for name, state, signal in zip(emg.names, emg.states, emg.values.T, strict=True):
        if state.spikes and not state.spiky:
            yield (
                f"EMG channel {name}: spikes of a few samples ({len(state.spikes)}, the first at "
                f"{state.spikes[0][0]:.3f} s) are replaced by straight lines."
            )
        if state.no_hum:
            yield (
                f"EMG channel {name}: {100.0 * state.hum:.0f} % of the power was hum of {state.mains:g} Hz and its "
                "harmonics, which are left out."
            )
        if state.clipped and not state.unusable:
            yield (
                f"EMG channel {name} is clipped in {100.0 * state.clipped:.2g} % of its samples: the amplifier "
                "saturated, peaks of its envelope are too low."
            )
        if lacking := lacking_samples(signal, emg.rate):
            yield f"EMG channel {name} lacks {lacking}: its envelope is not known there."


def _evenly(time: Array, values: Array) -> tuple[Array, Array]:
    """Return even times (S,), the same where they are even, and the signals (S, k) at these times.

    Signals are NaN between samples farther apart than `LONGEST_STEP`. Rounded times are even already: see `even_grid`.
    """
    if off_grid(time) is None:
        return time, values
    even = np.linspace(time[0], time[-1], time.size)
    columns = [
        np.interp(even, time[known], column[known]) if (known := np.isfinite(column)).any() else column
        for column in values.T
    ]
    resampled = np.stack(columns, axis=-1)
    after = np.searchsorted(time, even, side="left").clip(1, time.size - 1)
    apart = (time[after] - time[after - 1] > LONGEST_STEP) & (even < time[after]) & (even > time[after - 1])
    # gaps of a channel (NaN) stay gaps
    gap = np.isnan(values)
    resampled[apart[:, None] | gap[after] | gap[after - 1]] = np.nan
    return even, resampled


def are_envelopes(values: Array, rate_hz: float) -> bool:
    """Return whether most of the signals (S, k) that change are linear envelopes."""
    envelopes = [is_envelope(signal, rate_hz) for signal in values.T if not is_flat(signal)]
    return 2 * sum(envelopes) > len(envelopes)


def is_one_sided(signal: Array) -> bool:
    """Return whether a signal (S,) seems to be rectified: never negative, and mostly near its least value."""
    known = signal[np.isfinite(signal)]
    if is_flat(signal) or known.min() < 0.0:
        return False
    return bool(np.median(known) - known.min() < ONE_SIDED * np.ptp(known))


FASCICLE_CHANNELS = "fascicle.channels"
SHORTEST_FASCICLE, LONGEST_FASCICLE = 0.005, 0.4
"""Range of the median length of measured fascicles [m]; sartorius, the longest, has 0.40 m (Ward et al. 2009, Clin
Orthop Relat Res 467:1074-82).
"""


UNTRACKED_RANGE = 2e-3
"""Relative change of lengths below which fascicles were not tracked."""


def read_fascicles(document: Document, settings: TrialSettings) -> tuple[Fascicles | None, list[str]]:
    """Return the fascicle lengths [m] in [fascicle] of a trial file and notes on them; None without [fascicle]."""
    stated = settings.fascicle
    if None in (stated.file, stated.channels, stated.unit):
        return None, []
    channels = stated.channels
    path = document.input_file("fascicle", "file", stated.file)
    table = read_channels(path)
    check_columns(document, channels, FASCICLE_CHANNELS, table, "column")
    length = METERS[stated.unit] * np.stack([table[name] for name in channels], axis=-1)
    for name, column in zip(channels, length.T, strict=True):
        known = column[np.isfinite(column)]
        if not known.size or known.min() <= 0.0:
            shown = f"a length of {known.min() / METERS[stated.unit]:g}" if known.size else "no number"
            raise document.fault(
                "bad_signal",
                (FASCICLE_CHANNELS, name),
                f"the column '{name}' of {path.name} has {shown}",
                "lengths above zero",
                "leave cells empty where no fascicle was seen",
            )
        if known.size > 1 and np.ptp(known) < UNTRACKED_RANGE * known.max():
            raise document.fault(
                "bad_signal",
                (FASCICLE_CHANNELS, name),
                f"the column '{name}' of {path.name} does not change",
                "lengths of a fascicle that works",
                "name the column that was tracked, or leave the channel out",
            )
        median = float(np.median(known))
        if not SHORTEST_FASCICLE <= median <= LONGEST_FASCICLE:
            in_file = median / METERS[stated.unit]
            fitting = [
                f'"{unit}"'
                for unit, size in METERS.items()
                if SHORTEST_FASCICLE <= size * in_file <= LONGEST_FASCICLE
            ]
            raise document.fault(
                "bad_units",
                ("fascicle", "unit"),
                f"the fascicles of '{name}' would have a median length of {1000.0 * median:.4g} mm",
                f"between {1000.0 * SHORTEST_FASCICLE:g} and {1000.0 * LONGEST_FASCICLE:g} mm",
                f"write unit = {' or '.join(fitting)}" if fitting else "name a column of fascicle lengths",
            )
    offset = stated.offset_s
    error = 0.001 * stated.error_mm
    names, muscles = tuple(channels), tuple(channels.values())
    fascicles = Fascicles(table.time + offset, names, length, muscles, error, path, offset)
    gaps = {name: lacking_samples(column, table.rate) for name, column in zip(names, length.T, strict=True)}
    notes = [
        f"Fascicle length {name} lacks {lacking}: it is not compared there."
        for name, lacking in gaps.items()
        if lacking
    ]
    return fascicles, [*table.sentences, *notes]
