"""Landmarks by the words in the names of markers: "R.Knee.Lat", "RightLateralMalleolus", "LFC_r"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.drafting.column_triples import SIDE_WORDS
from musclesolve.recording.data import SIDES, Side
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.marker_names import split_label
from musclesolve.recording.markers.marker_set import markers_of

_PART = re.compile(
    r"(upper|lower|front|rear|lat|med|lateral|medial|anterior|posterior|superior|inferior|proximal|distal|up|low|dist|prox"
    r"|top|bot|[a-d])?\d*$"
)
"""What follows the segment in the name of a marker that tracks it."""


@dataclass(frozen=True)
class NamedMarkers:
    """Landmark -> how the mapping writes it; segment with side -> markers that track it; what no name explains."""

    mapping: dict[str, Any]
    tracking: dict[str, list[str]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def markers(self) -> tuple[str, ...]:
        """The markers that show a landmark."""
        return tuple(marker for way in self.mapping.values() for marker in markers_of(way))


@cache
def _words() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Folded name -> landmark, of those with a side and of those without; beginning of a name -> segment."""
    tables = bundled_toml(__package__, "landmark_words.toml")
    sided, unsided = (
        {name: landmark for landmark, names in tables[kind].items() for name in (*names, folded(landmark))}
        for kind in ("sided", "unsided")
    )
    for name in landmarks():
        if name[:-2] in {other[:-2] for other in landmarks() if other.endswith(("_r", "_l"))}:
            sided.setdefault(folded(name[:-2]), name[:-2])
        else:
            unsided.setdefault(folded(name), name)
    tracking = {begin: segment for segment, begins in tables["tracking"].items() for begin in begins}
    return sided, unsided, tracking


def folded(name: str) -> str:
    """A name in small letters, without signs."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def named_markers(names: Iterable[str]) -> NamedMarkers:
    """The landmarks that some markers show, by their names; the first marker of several that would do."""
    shown: dict[str, str] = {}
    tracking: dict[str, list[str]] = {}
    unknown = []
    for label in names:
        plain = split_label(label)[1]
        if (landmark := _landmark(plain)) is not None and landmark not in shown:
            shown[landmark] = plain
        elif landmark is None and (segment := _segment(plain)) is not None:
            tracking.setdefault(segment, []).append(plain)
        else:
            unknown.append(plain)
    # Two markers beside a wrist show it between them, and so do those at the neck.
    mapping: dict[str, Any] = dict(shown)
    pairs = [(f"wrist_{s}", f"wrist_thumb_{s}", f"wrist_finger_{s}") for s in SIDES]
    for between, one, other in [*pairs, ("neck_base", "neck_back", "neck_front")]:
        first, second = mapping.pop(one, None), mapping.pop(other, None)
        if between in mapping:
            continue
        if first is not None and second is not None:
            mapping[between] = {"midpoint": [first, second]}
        elif (single := first or second) and between != "neck_base":
            mapping[between] = single
    known = {name: mapping[name] for name in landmarks() if name in mapping}
    return NamedMarkers(known, tracking, tuple(unknown))


def _splits(name: str) -> list[tuple[str, Side]]:
    """What is left of a name without the word of its side, and the side; every way to read it, the surest first."""
    words = re.findall(r"[A-Za-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    ways: list[tuple[str, Side]] = []
    for word, side in SIDE_WORDS.items():
        ways += [
            (folded("".join(words[:k] + words[k + 1 :])), side)
            for k in range(len(words))
            if words[k].casefold() == word and len(words) > 1
        ]
    whole = folded(name)
    for word, side in SIDE_WORDS.items():
        if whole.startswith(word):
            ways.append((whole[len(word) :], side))
        if whole.endswith(word):
            ways.append((whole[: -len(word)], side))
    return ways


def _landmark(name: str) -> str | None:
    """The landmark that a name means, with its side."""
    sided, unsided, _ = _words()
    if name in landmarks():
        return name
    for rest, side in _splits(name):
        if rest in sided:
            return f"{sided[rest]}_{side}"
    return unsided.get(folded(name))


def _segment(name: str) -> str | None:
    """The segment that a marker tracks, with its side: a usual beginning, then a number or a letter."""
    tracking = _words()[2]
    for rest, side in _splits(name):
        stem = _PART.sub("", rest)
        if stem in tracking:
            return f"{tracking[stem]}_{side}"
    return None
