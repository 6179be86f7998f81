"""Which muscle a channel of EMG shows, by its name: "R_SOL", "soleus_r", "EMG VL right"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.drafting.folder.column_triples import SIDE_WORDS
from musclesolve.recording.data import Side

_MOST_CHANNELS = 32
"""Nobody records more muscles than this at once: a file with more was computed by a model."""
_SHARE = 0.5
"""Channels of a file are taken for EMG where so many of them name a muscle."""


@dataclass(frozen=True)
class EmgChannels:
    """Channel -> its muscles without side; channel -> the side that its name states; whether a model computed them."""

    muscles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sides: dict[str, Side] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    computed: bool = False


@cache
def muscles_by_name() -> dict[str, tuple[str, ...]]:
    """Folded name -> muscles."""
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
    """The channels among some columns that name a muscle."""
    names = list(names)
    read = {name: _muscle_and_side(name) for name in names}
    muscles = {name: found for name, (found, _) in read.items() if found}
    sides = {name: side for name, (found, side) in read.items() if found and side is not None}
    if len(names) > _MOST_CHANNELS:
        return EmgChannels(muscles, sides, computed=len(muscles) > 0)
    in_name = [name for name in names if "emg" in name.casefold()]
    if len(muscles) < _SHARE * len(names) and not in_name and not _telling(muscles):
        return EmgChannels()
    return EmgChannels(muscles, sides, tuple(name for name in in_name if name not in muscles))


def _telling(muscles: dict[str, tuple[str, ...]]) -> bool:
    """Whether names are certainly those of muscles: two letters may mean anything among other channels."""
    return sum(len(re.sub(r"[^a-z]", "", name.casefold())) > 3 for name in muscles) >= 2


def _muscle_and_side(name: str) -> tuple[tuple[str, ...], Side | None]:
    """The muscles of a channel, none where its name is not known, and its side."""
    known, idle = muscles_by_name(), set(bundled_toml(__package__, "emg_muscles.toml")["idle"]["words"])
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.rpartition(":")[2])
    words = [word for word in re.findall(r"[a-z]+", split.casefold()) if word not in idle]
    sides: set[Side] = {SIDE_WORDS[word] for word in words if word in SIDE_WORDS}
    stem = "".join(word for word in words if word not in SIDE_WORDS)
    side = sides.pop() if len(sides) == 1 else None
    if stem in known:
        return known[stem], side
    # "RSOL", "LTA", "SOLR": one letter of a side before or behind the name.
    for letter in ("r", "l"):
        if side is None and stem.startswith(letter) and stem[1:] in known:
            return known[stem[1:]], SIDE_WORDS[letter]
        if side is None and stem.endswith(letter) and stem[:-1] in known:
            return known[stem[:-1]], SIDE_WORDS[letter]
    return (), None
