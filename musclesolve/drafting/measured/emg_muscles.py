"""Which muscle a channel of EMG shows, by its name: "R_SOL", "soleus_r", "EMG VL right"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
    """Channel -> its muscles without side; channel -> the side that its name states; channels whose names mean no
    muscle; whether a model computed them.
    """

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
