"""Which muscle a channel of EMG shows, by its name ("R_SOL", "soleus_r", "EMG VL right"), and the table [emg] of it.

The side is what the name states, else what the signals show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.checking.case import Case
from musclesolve.drafting.column_triples import SIDE_WORDS
from musclesolve.drafting.draft_text import DraftTable, Line
from musclesolve.motion.signals.emg_envelope import linear_envelope
from musclesolve.recording.data import SIDE_NAMES, SIDES, EmgOptions, Side, Table
from musclesolve.recording.plates.foot_contacts import vertical_force
from musclesolve.recording.trial.emg_channels import is_flat, is_one_sided

_MOST_CHANNELS = 32
"""Nobody records more muscles than this at once: a file with more was computed by a model."""
_SHARE = 0.5
"""Channels of a file are taken for EMG where so many of them name a muscle."""
CLEAR = 1.3
"""The stance muscles of a leg are so many times as active while its own foot is loaded as while the other one is."""
LOADED_N = 50.0
SLOWEST_RAW_HZ = 400.0
"""Raw EMG is sampled faster than this."""


@dataclass(frozen=True)
class EmgChannels:
    """Channel -> its muscles without side; channel -> the side that its name states; channels whose names mean no
    muscle; whether a model computed them.
    """

    muscles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sides: dict[str, Side] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    computed: bool = False


@cache
def muscles_by_name() -> dict[str, tuple[str, ...]]:
    """The muscles that each folded name stands for."""
    tables = bundled_toml(__package__, "emg_muscles.toml")
    found: dict[str, tuple[str, ...]] = {
        name: (muscle,) for muscle, names in tables["muscles"].items() for name in names
    }
    for group in tables["groups"].values():
        found |= {name: tuple(group["muscles"]) for name in group["names"]}
    return found


@cache
def stance_muscles() -> frozenset[str]:
    """Muscles that bear weight while their own foot stands."""
    return frozenset(bundled_toml(__package__, "emg_muscles.toml")["stance"]["muscles"])


def emg_channels(names: Iterable[str]) -> EmgChannels:
    """The channels among some columns that name a muscle, and those that name none beside them."""
    names = list(names)
    read = {name: _muscle_and_side(name, names) for name in names}
    muscles = {name: found for name, (found, _) in read.items() if found}
    sides = {name: side for name, (found, side) in read.items() if found and side is not None}
    if len(names) > _MOST_CHANNELS:
        return EmgChannels(muscles, sides, computed=len(muscles) > 0)
    in_name = [name for name in names if "emg" in name.casefold()]
    if len(muscles) < _SHARE * len(names) and not in_name and not _telling(muscles):
        return EmgChannels()
    others = names if muscles else in_name
    return EmgChannels(muscles, sides, tuple(name for name in others if name not in muscles))


def _telling(muscles: dict[str, tuple[str, ...]]) -> bool:
    """Whether names are certainly those of muscles: two letters may mean anything among other channels."""
    return sum(len(re.sub(r"[^a-z]", "", name.casefold())) > 3 for name in muscles) >= 2


def _muscle_and_side(name: str, names: list[str]) -> tuple[tuple[str, ...], Side | None]:
    """The muscles of a channel, none where its name is not known, and its side; `names`: all channels of the file.

    A side that a sign parts from the name comes first ("HamL_r": the lateral hamstrings of the right leg). A letter of
    the name itself is a side where the name means nothing with it, or the file has the same name with the other letter.
    """
    known, idle = muscles_by_name(), set(bundled_toml(__package__, "emg_muscles.toml")["idle"]["words"])
    plain = name.rpartition(":")[2]
    parts = [part for part in re.findall(r"[A-Za-z]+", plain) if part.casefold() not in idle]
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", " ".join(parts)).casefold()
    words = [word for word in split.split() if word not in idle]
    whole = "".join(words)
    for side, rest in _parted(parts):
        if rest in known:
            return known[rest], side
    if whole in known and not (_has_twin(plain, names) and _lettered(whole)[0]):
        return known[whole], None
    sides: set[Side] = {SIDE_WORDS[word] for word in words if word in SIDE_WORDS}
    stem = "".join(word for word in words if word not in SIDE_WORDS)
    if len(sides) == 1 and stem in known:
        return known[stem], sides.pop()
    return _lettered(whole)


def _lettered(whole: str) -> tuple[tuple[str, ...], Side | None]:
    """Muscles and side of a name with one letter of a side before or behind it: "RSOL", "LTA", "SOLR"."""
    known = muscles_by_name()
    for letter in ("r", "l"):
        for rest in (whole.removeprefix(letter), whole.removesuffix(letter)):
            if rest != whole and rest in known:
                return known[rest], SIDE_WORDS[letter]
    return (), None


def _parted(parts: list[str]) -> Iterator[tuple[Side, str]]:
    """The side at either end of a name, parted from it by a sign, and the rest in small letters."""
    for side, rest in ((parts[-1:], parts[:-1]), (parts[:1], parts[1:])):
        if rest and side[0].casefold() in SIDE_WORDS:
            yield SIDE_WORDS[side[0].casefold()], "".join(rest).casefold()


def _has_twin(name: str, names: list[str]) -> bool:
    """Whether a file has a channel of the same name with the other letter of a side at its beginning or end."""
    other = str.maketrans("rlRL", "lrLR")
    twins = {name[:-1] + name[-1:].translate(other), name[:1].translate(other) + name[1:]} - {name}
    return any(each.rpartition(":")[2] in twins for each in names)


@dataclass(frozen=True)
class EmgFile:
    """A file with channels of EMG."""

    path: Path
    table: Table
    channels: EmgChannels


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
    sided = all(channel in channels.sides for channel in kept)
    found = None if sided else _side_by_signals(file, kept, processed, case)
    lines = []
    if not in_markers:
        lines.append(Line("file", name, f"{len(kept)} channels at {table.rate:g} Hz"))
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
    table_emg = DraftTable("emg", tuple(lines), about, todo, open=opened)
    return table_emg, DraftTable("emg.channels", own, open=opened)


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
    rate = file.table.rate
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
