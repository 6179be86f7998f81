"""Meaning of the names of markers: person, side, landmark or segment.

A label joins the person and the name, "Ann:LASI"; other signs and the other order serve where most labels share them
("S01_LASI", "LASI-S01"). A name is known by the words that laboratories use (`landmark_words.toml`), by the vocabulary
that most names of the recording are of (`marker_vocabularies.toml`), and by the same name on the other side.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.names import folded
from musclesolve._util.sides import SAID_SIDES, SIDES, Side, has_side
from musclesolve.recording.data import Markers
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.mapping_tables import markers_of


def split_label(label: str) -> tuple[str, str]:
    """Return person and name of a label such as "Ann:LASI"; the person is "" for a label without one."""
    person, _, plain = label.partition(":")
    return (person, plain) if person and plain else ("", label)


FEWEST_NAMED = 6
"""Least number of landmarks that labels show where a common word before or behind them is a person."""


def by_person(markers: Markers) -> Markers:
    """Return the markers of labels that join person and name by a sign as "S01:LASI": "S01_LASI", "LASI-S01".

    A person is a word in most labels that together show landmarks once it is left out, where the labels show none.
    """
    labels = [name for name in markers.names if not split_label(name)[0]]
    of_word: dict[str, dict[str, str]] = {}
    for label in labels:
        for word, rest in _parted(label):
            of_word.setdefault(word, {})[label] = rest
    of_word = {word: rests for word, rests in of_word.items() if len(rests) >= FEWEST_NAMED}
    if not of_word or len(named_markers(labels).mapping) >= FEWEST_NAMED:
        return markers
    new: dict[str, str] = {}
    # The word of most labels; of equal ones the longest, so that no part of it stays before the names.
    for word in sorted(of_word, key=lambda word: (-len(of_word[word]), -len(word))):
        rests = {label: rest for label, rest in of_word[word].items() if label not in new}
        if len(rests) >= FEWEST_NAMED and len(named_markers(rests.values()).mapping) >= FEWEST_NAMED:
            new |= {label: f"{word}:{rest}" for label, rest in rests.items()}
    names = tuple(new.get(name, name) for name in markers.names)
    if not new or len(set(names)) < len(names):
        return markers
    repeated = {new.get(name, name): where for name, where in markers.repeated.items()}
    return replace(markers, names=names, repeated=repeated, aliases={**markers.aliases, **new})


def _parted(label: str) -> Iterator[tuple[str, str]]:
    """Yield (word, rest) at every sign of a label, the word before or behind it; the word of a side is none."""
    for sign in re.finditer(r"[\W_]+", label):
        before, behind = label[: sign.start()], label[sign.end() :]
        for word, rest in ((before, behind), (behind, before)):
            if word and rest and word.casefold() not in SAID_SIDES:
                yield word, rest


_PART = re.compile(
    r"(upper|lower|front|rear|lat|med|lateral|medial|anterior|posterior|superior|inferior|proximal|distal|up|low|dist|prox"
    r"|top|bot|[a-d])?\d*$"
)
"""Endings of the names of tracking markers after the segment."""


@dataclass(frozen=True)
class NamedMarkers:
    """Landmark -> its mapping; segment with side -> tracking markers; markers without a known meaning."""

    mapping: dict[str, Any]
    tracking: dict[str, list[str]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    vocabulary: str = ""  # vocabulary of the recording, and its source

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
        if name[:-2] in {other[:-2] for other in landmarks() if has_side(other)}:
            sided.setdefault(folded(name[:-2]), name[:-2])
        else:
            unsided.setdefault(folded(name), name)
    tracking = {begin: segment for segment, begins in tables["tracking"].items() for begin in begins}
    for vocabulary in _vocabularies():
        for landmark, names in vocabulary["always"].items():
            sided |= dict.fromkeys(names, landmark)
    return sided, unsided, tracking


@cache
def _vocabularies() -> list[dict[str, Any]]:
    """The names of protocols and laboratories, as `marker_vocabularies.toml` has them."""
    return list(bundled_toml(__package__, "marker_vocabularies.toml")["vocabulary"])


def _spoken(names: Iterable[str]) -> tuple[dict[str, str], str]:
    """Folded name -> landmark of the best matching vocabulary, and its name; empty without a match."""
    sides: dict[str, set[Side]] = {}
    for name in names:
        for rest, side in _splits(name):
            sides.setdefault(rest, set()).add(side)
    best, share = None, SPOKEN
    for vocabulary in _vocabularies():
        landmarks_of = vocabulary["spoken"].values()
        there = sum(any(len(sides.get(word, ())) == 2 for word in words) for words in landmarks_of)
        if there / len(landmarks_of) > share:
            best, share = vocabulary, there / len(landmarks_of)
    if best is None:
        return {}, ""
    words = {word: landmark for landmark, several in best["spoken"].items() for word in several}
    return words, f"{best['name']} ({best['source']})"


def named_markers(names: Iterable[str]) -> NamedMarkers:
    """The landmarks that some markers show, by their names; the first of several possible markers."""
    shown: dict[str, str] = {}
    tracking: dict[str, list[str]] = {}
    unknown = []
    names = list(names)
    plains = [split_label(label)[1] for label in names]
    for words in (plains, _with_english_sides(plains)):
        spoken, vocabulary = _spoken(words)
        meant = _with_mirrors({word: _landmark(word, spoken) for word in words})
        if sum(landmark is not None for landmark in meant.values()) >= FEWEST_NAMED:
            break
    for plain, word in zip(plains, words, strict=True):
        if (landmark := meant[word]) is not None and landmark not in shown:
            shown[landmark] = plain
        elif landmark is None and (segment := _segment(word)) is not None:
            tracking.setdefault(segment, []).append(plain)
        else:
            unknown.append(plain)
    # Two markers beside a wrist show it between them, and so do those at the neck.
    mapping: dict[str, Any] = dict(shown)
    for side in SIDES:
        # The forefoot lies between its first and its fifth metatarsal head; a marker on it comes first.
        head_1, head_5 = mapping.pop(f"metatarsal_1_{side}", None), mapping.get(f"metatarsal_5_{side}")
        if head_1 is not None and head_5 is not None:
            mapping.setdefault(f"toe_{side}", {"midpoint": [head_1, head_5]})
        if head_1 is not None:
            tracking.setdefault(f"foot_{side}", []).append(head_1)
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
    return NamedMarkers(known, tracking, tuple(unknown), vocabulary)


def _with_english_sides(names: list[str]) -> list[str]:
    """Names with R for D, droite, and L for G, gauche, where the same name has the other letter, first or last."""
    other, english = str.maketrans("dgDG", "gdGD"), str.maketrans("dgDG", "rlRL")
    there, found = set(names), list[str]()
    for name in names:
        first, last = name[:1].translate(other) + name[1:], name[:-1] + name[-1:].translate(other)
        if last != name and last in there:
            name = name[:-1] + name[-1].translate(english)
        elif first != name and first in there:
            name = name[0].translate(english) + name[1:]
        found.append(name)
    return found


SPOKEN = 0.6
"""Least share of a vocabulary in a recording that uses it, with both sides of each landmark."""


@lru_cache(maxsize=4096)
def _splits(name: str) -> list[tuple[str, Side]]:
    """Return the name without the word of its side, and the side; every way to read the name, the surest first."""
    words = re.findall(r"[A-Za-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    ways: list[tuple[str, Side]] = []
    for word, side in SAID_SIDES.items():
        ways += [
            (folded("".join(words[:k] + words[k + 1 :])), side)
            for k in range(len(words))
            if words[k].casefold() == word and len(words) > 1
        ]
    whole = folded(name)
    for word, side in SAID_SIDES.items():
        if whole.startswith(word):
            ways.append((whole[len(word) :], side))
        if whole.endswith(word):
            ways.append((whole[: -len(word)], side))
    return ways


def _landmark(name: str, spoken: Mapping[str, str]) -> str | None:
    """The landmark that a name means, with its side; the words of a vocabulary that is spoken come first."""
    sided, unsided, _ = _words()
    if name in landmarks():
        return name
    ways = _splits(name)
    for rest, side in ways:
        if rest in spoken:
            return f"{spoken[rest]}_{side}"
    for rest, side in ways:
        if rest in sided:
            return f"{sided[rest]}_{side}"
    return unsided.get(folded(name))


def _with_mirrors(meant: Mapping[str, str | None]) -> dict[str, str | None]:
    """Name -> landmark, also of a name that is unknown beside the same name of the other side: "RFCL" beside "LFCL"."""
    of_ways: dict[tuple[str, Side], str] = {}
    for name, landmark in meant.items():
        if landmark is not None and has_side(landmark):
            of_ways |= {
                (rest, side): landmark for rest, side in _splits(name) if landmark.endswith(f"_{side}")
            }
    there, found = set(meant.values()), dict(meant)
    for name in [name for name, landmark in meant.items() if landmark is None]:
        for rest, side in _splits(name):
            other: Side = "l" if side == "r" else "r"
            mirrored = of_ways.get((rest, other), "")
            if mirrored and (landmark := f"{mirrored[:-2]}_{side}") not in there:
                found[name] = landmark
                there.add(landmark)
                break
    return found


def _segment(name: str) -> str | None:
    """The segment that a marker tracks, with its side: a usual beginning, then a number or a letter."""
    tracking = _words()[2]
    for rest, side in _splits(name):
        stem = _PART.sub("", rest)
        if stem in tracking:
            return f"{tracking[stem]}_{side}"
    return None
