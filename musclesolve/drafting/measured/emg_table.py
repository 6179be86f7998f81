"""The table [emg]: channels and the muscles that their names mean, with the side that names or signals show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.checking.case import Case
from musclesolve.drafting.folder.folder_contents import EmgFile
from musclesolve.drafting.measured.emg_muscles import stance_muscles
from musclesolve.drafting.writing.draft_text import DraftTable, Line
from musclesolve.motion.signals.emg_envelope import linear_envelope
from musclesolve.recording.data import SIDE_NAMES, SIDES, EmgOptions, Side, sampling_rate
from musclesolve.recording.plates.foot_contacts import vertical_force
from musclesolve.recording.trial.emg_faults import is_flat, is_one_sided

CLEAR = 1.3
"""The stance muscles of a leg are so many times as active while its own foot is loaded as while the other one is."""
LOADED_N = 50.0
SLOWEST_RAW_HZ = 400.0
"""Raw EMG is sampled faster than this."""


@dataclass(frozen=True)
class FoundSide:
    """The leg that channels without a side belong to, and how it was found; None where it was not."""

    side: Side | None
    source: str


def emg_tables(file: EmgFile, name: str, in_markers: bool, case: Case | None) -> tuple[DraftTable, ...]:
    """The tables [emg] and [emg.channels]; `name`: the file as the trial file names it."""
    table, channels = file.table, file.channels
    kept = [
        c for c in channels.muscles if c in table.names and c not in table.repeated and not is_flat(table[c])
    ]
    flat = [c for c in channels.muscles if c not in kept]
    unknown = (*channels.unknown, *flat)
    if not kept:
        return _nameless(unknown)
    processed = all(is_one_sided(table[c]) for c in kept)
    found = (
        _side_by_signals(file, kept, processed, case) if any(c not in channels.sides for c in kept) else None
    )
    lines = (
        []
        if in_markers
        else [Line("file", name, f"{len(kept)} channels at {sampling_rate(table.time):g} Hz")]
    )
    source = (
        "no sample is negative: envelopes already"
        if processed
        else "raw: the samples are on both sides of zero"
    )
    lines.append(Line("processed", processed, source))
    about = (f"Left out, flat or of a name that means no muscle: {', '.join(unknown)}.",) if unknown else ()
    todo = ""
    if found is not None and found.side is None:
        todo = f"enter the side of every channel behind its muscle, _r or _l: the names state none, and {found.source}"
    elif found is not None:
        todo = f"check the side: the names of the channels state none, and {found.source}"
    own = tuple(_channel(file, channel, found) for channel in kept)
    opened = all(line.open for line in own)
    return (
        DraftTable("emg", tuple(lines), about, todo, open=opened),
        DraftTable("emg.channels", own, open=opened),
    )


def _nameless(channels: tuple[str, ...]) -> tuple[DraftTable, ...]:
    """The tables of channels none of which means a muscle: left open."""
    todo = (
        "enter what each channel of the EMG shows, such as soleus_r, or leave the tables out: no name means a muscle "
        f"({', '.join(channels)})"
    )
    lines = tuple(Line(channel, "MUSCLE_r") for channel in channels)
    table = Line("processed", False, "raw; true: linear envelopes")
    return DraftTable("emg", (table,), todo=todo, open=True), DraftTable("emg.channels", lines, open=True)


def _channel(file: EmgFile, channel: str, found: FoundSide | None) -> Line:
    side = file.channels.sides.get(channel) or (found.side if found is not None else None)
    muscles = [f"{muscle}_{side or 'r'}" for muscle in file.channels.muscles[channel]]
    return Line(channel, muscles[0] if len(muscles) == 1 else muscles, open=side is None)


def _side_by_signals(file: EmgFile, kept: list[str], processed: bool, case: Case | None) -> FoundSide:
    """The leg whose stance the stance muscles show: how active they are while either foot is loaded alone."""
    own = [
        channel
        for channel in kept
        if channel not in file.channels.sides and set(file.channels.muscles[channel]) <= stance_muscles()
    ]
    rate = sampling_rate(file.table.time)
    if case is None or not own or (not processed and rate < SLOWEST_RAW_HZ):
        return FoundSide(None, "no muscle of the stance shows it")
    time = case.trial.markers.time
    right, left = (vertical_force(case.trial, side) > LOADED_N for side in SIDES)
    inside = (time >= file.table.time[0]) & (time <= file.table.time[-1])
    alone = {"r": right & ~left & inside, "l": left & ~right & inside}
    if not all(mask.any() for mask in alone.values()):
        return FoundSide(None, "the plates do not show both feet")
    options = EmgOptions(processed=processed, lowpass_hz=min(400.0, 0.45 * rate))
    ratios = []
    for channel in own:
        signal = np.nan_to_num(file.table[channel])[:, None]
        whole = signal if processed else linear_envelope(signal, rate, options)
        envelope = np.interp(time, file.table.time, whole[:, 0])
        means = [float(np.nanmean(envelope[alone[side]])) for side in SIDES]
        if min(means) > 0.0:
            ratios.append(means[0] / means[1])
    ratio = float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0
    if max(ratio, 1.0 / ratio) < CLEAR:
        return FoundSide(None, "the signals do not show it")
    side: Side = "r" if ratio > 1.0 else "l"
    return FoundSide(
        side,
        f"{', '.join(own)} are {max(ratio, 1.0 / ratio):.1f} times as active while the {SIDE_NAMES[side]} foot alone "
        "is on its plate as while the other one is",
    )
