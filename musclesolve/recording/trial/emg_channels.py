"""The table [emg] of a trial file: channels of EMG, the muscles they show, and how their envelopes are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask, long_enough, true_runs
from musclesolve.recording.c3d.c3d_file import is_c3d
from musclesolve.recording.data import Emg, EmgOptions, Recording
from musclesolve.recording.formats import read_channels
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.schema import Document
from musclesolve.recording.trial.recording_checks import check_columns, check_sampling

CHANNELS = "emg.channels"
OF_NYQUIST = 0.9
"""An upper cut-off that the sampling rate cannot hold is put at this share of half the rate."""
FLAT = 1e-9
"""A signal whose range is below this share of its size is flat."""
SATURATED_RUN = 3
"""So many samples in a row at the largest or the smallest number show that the amplifier saturated."""
FEWEST_LEVELS = 32
"""Signals of fewer different numbers repeat them anyway."""
ONE_SIDED = 0.35
"""The median of a raw signal lies in the middle of its range, that of a rectified one below this share of it."""
NEGATIVE = 0.1
"""An envelope is never below zero by more than this share of its maximum."""


def read_emg(
    document: Document, content: dict[str, Any], markers: Path, *, checked: bool = True
) -> tuple[Emg | None, list[str]]:
    """Return the signals that a trial file names and notes on them; None without [emg].

    `markers` is the file of the markers; unless `checked`, `check_signals` is left to the caller.

    Raises:
        InputError: a file, channel or number that cannot be right, with its place.
    """
    stated = content["emg"]
    channels = stated["channels"]
    if channels is None:
        return None, []
    path = markers
    if stated["file"] is not None:
        path = document.input_file("emg", "file", stated["file"])
    elif not is_c3d(markers):
        problem, expected = (
            "'file' is missing",
            "the file with the signals; only a C3D of markers may hold them",
        )
        raise document.error(problem, "emg", None, 0, expected, 'add a line file = "..."', code="missing_key")
    if not channels:
        problem, expected = "no channel is named", 'channel = "muscle", one line for each'
        remedy = 'add a line such as SOL = "soleus_r", or remove [emg]'
        raise document.error(problem, CHANNELS, None, 0, expected, remedy, code="missing_key")
    muscles = {name: (m,) if isinstance(m, str) else tuple(m) for name, m in channels.items()}
    for name, listed in muscles.items():
        if len(set(listed)) < len(listed):
            problem, remedy = f"a muscle of the channel '{name}' stands twice", "remove one of them"
            raise document.error(
                problem, CHANNELS, name, 0, "every muscle once", remedy, code="duplicate_name"
            )
    table = read_channels(path)
    check_columns(document, muscles, CHANNELS, table, "channel")
    check_sampling(table.time, path)
    # The envelope that counts as activation 1; a word stands for the largest of the recording.
    maximum: dict[str, float] = {} if isinstance(stated["maximum"], str) else stated["maximum"]
    for name in maximum:
        if name not in muscles:
            problem = f"'{name}' is no channel of [{CHANNELS}]"
            raise document.unknown(problem, name, muscles, "emg", "maximum")
    options, notes = _options(document, stated, table.rate)
    emg = Emg(
        table.time + options.offset,
        tuple(muscles),
        np.stack([table[name] for name in muscles], axis=-1),
        tuple(muscles.values()),
        tuple(maximum.get(name) for name in muscles),
        path,
        options,
    )
    if checked:
        check_signals(document, emg)
    return emg, [*table.sentences, *notes, *_notes(emg)]


def check_overlap(recording: Recording, emg: Emg) -> None:
    """Refuse signals that were not recorded at any time of the analysed range."""
    start, end = recording.time_range
    if emg.time[-1] < start or emg.time[0] > end:
        moved = f" ({emg.options.offset:+g} s of offset_s among it)" if emg.options.offset else ""
        problem = f"the EMG was recorded from {emg.time[0]:g} to {emg.time[-1]:g} s{moved}"
        expected = f"a part of the analysed {start:g} to {end:g} s"
        remedy = "name the file of this trial, or export it on the clock of the markers"
        raise recording.document.error(problem, "emg", "file", 0, expected, remedy, code="no_overlap")


def _options(document: Document, stated: dict[str, Any], rate: float) -> tuple[EmgOptions, list[str]]:
    """Return the options, with an upper cut-off that the rate [Hz] can hold, and a note where it was lowered."""
    options = EmgOptions(
        processed=stated["processed"],
        highpass_hz=stated["highpass_hz"],
        lowpass_hz=stated["lowpass_hz"],
        band_order=int(stated["band_order"]),
        envelope_hz=stated["envelope_hz"],
        envelope_order=int(stated["envelope_order"]),
        max_delay=stated["max_delay_s"],
        delay=stated["delay_s"],
        offset=stated["offset_s"],
        weight=stated["weight"],
    )
    if options.processed:
        return options, []
    if options.lowpass_hz <= options.highpass_hz:
        problem = f"the band from {options.highpass_hz:g} to {options.lowpass_hz:g} Hz is empty"
        remedy = "20 and 400 Hz are usual for surface EMG"
        expected = "lowpass_hz above highpass_hz"
        raise document.error(problem, "emg", "lowpass_hz", 0, expected, remedy, code="conflict")
    highest = OF_NYQUIST * 0.5 * rate
    for key, cutoff in (("highpass_hz", options.highpass_hz), ("envelope_hz", options.envelope_hz)):
        if cutoff >= highest:
            problem = f"EMG of {rate:.4g} samples a second cannot be filtered at {cutoff:g} Hz"
            expected = f"{key} below {highest:.4g} Hz, or a rate above {2.0 * cutoff / OF_NYQUIST:.4g} Hz"
            remedy = (
                "processed = true if these are envelopes already; else export at the rate of the recording"
            )
            raise document.error(problem, "emg", key, 0, expected, remedy, code="bad_value")
    if options.lowpass_hz <= highest:
        return options, []
    note = (
        f"EMG was recorded at {rate:.4g} Hz: the band-pass filter ends at {highest:.4g} Hz instead of "
        f"{options.lowpass_hz:g} Hz."
    )
    return replace(options, lowpass_hz=highest), [note]


def check_signals(document: Document, emg: Emg) -> None:
    """Refuse signals that are too short to filter, flat, or no envelopes where they should be."""
    options = emg.options
    if not options.processed and emg.time[-1] - emg.time[0] < 1.0 / options.envelope_hz:
        problem = f"the EMG lasts {emg.time[-1] - emg.time[0]:.3g} s"
        expected = f"more than a period of envelope_hz, {1.0 / options.envelope_hz:.3g} s"
        remedy = "export the whole recording"
        raise error_at(emg.path, None, problem, expected, remedy, code="too_few_frames")
    for name, signal in zip(emg.names, emg.values.T, strict=True):
        if is_flat(signal):
            texts = ("is flat: nothing was recorded", "a signal", "remove its line, or name another channel")
        elif options.processed and np.nanmin(signal) < -NEGATIVE * np.nanmax(np.abs(signal)):
            low, expected = f"goes down to {np.nanmin(signal):.3g}", "zero or more where processed = true"
            texts = (low, expected, "remove processed = true if the signal is raw")
        else:
            continue
        problem = f"the channel '{name}' of {emg.path.name} {texts[0]}"
        raise document.error(problem, CHANNELS, name, 0, texts[1], texts[2], code="bad_signal")


def _notes(emg: Emg) -> Iterator[str]:
    """Yield a note for every channel that saturates or has gaps, and on those that are envelopes already."""
    smooth = [name for name, signal in zip(emg.names, emg.values.T, strict=True) if is_one_sided(signal)]
    if smooth and not emg.options.processed:
        yield f"EMG channel {', '.join(smooth)}: never negative; an envelope needs processed = true in [emg]."
    for name, signal in zip(emg.names, emg.values.T, strict=True):
        if not emg.options.processed and (share := float(saturated(signal).mean())):
            yield (
                f"EMG channel {name} is clipped in {100.0 * share:.2g} % of its samples: the amplifier saturated, "
                "peaks of its envelope are too low."
            )
        if gap := max((stop - first for first, stop in true_runs(~np.isfinite(signal))), default=0):
            yield (
                f"EMG channel {name} lacks {np.isnan(signal).mean():.1%} of its samples, up to "
                f"{1000.0 * gap / emg.rate:.0f} ms at once: its envelope is not known there."
            )


def is_flat(signal: Array) -> bool:
    """Return whether a signal (S,) has no samples, or never changes; gaps (NaN) do not count."""
    known = signal[np.isfinite(signal)]
    return known.size == 0 or bool(np.ptp(known) <= FLAT * np.abs(known).max())


def saturated(signal: Array) -> Mask:
    """Return which samples (S,) lie in a run at the end of the range of the amplifier."""
    none: Mask = np.zeros(signal.size, bool)
    known = signal[np.isfinite(signal)]
    if known.size == 0 or np.unique(known).size < FEWEST_LEVELS:
        return none
    return sum((long_enough(signal == end, SATURATED_RUN) for end in (known.min(), known.max())), none)


def is_one_sided(signal: Array) -> bool:
    """Return whether a signal (S,) seems to be rectified: never negative, and mostly near its least value."""
    known = signal[np.isfinite(signal)]
    if is_flat(signal) or known.min() < 0.0:
        return False
    return bool(np.median(known) - known.min() < ONE_SIDED * np.ptp(known))
