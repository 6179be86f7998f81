"""The meaning of the name of a marker, read as words: side, part of the body, end, number.

A name without its side is divided into words of `marker_words.toml` in every way: "latcon" is lateral and condyle,
"1stmet" first and metatarsal, "heelsup" heel and upper. What the words mean together is a landmark, a segment that the
marker only tracks, or nothing. A name may be read in several ways, and a short word ("kn") may stand for something
else: such readings are possible, and the place of the marker on the body decides (`marker_places`). Before the words
come the names of the vocabulary that the recording is of (`marker_vocabularies.toml`) and the abbreviations of
protocols, which no word explains.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import normalize

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import folded
from musclesolve._util.sides import SAID_SIDES, Side, has_side
from musclesolve.laboratory.markers.landmarks import landmarks

HEEL_TOP, HEEL_BOTTOM = "heel_top", "heel_bottom"
"""Markers high and low on the back of the calcaneus: together they show the heel between them."""
ENDED = {
    frozenset({"knee"}): "knee",
    frozenset({"knee", "epicondyle"}): "knee",
    frozenset({"thigh", "epicondyle"}): "knee",
    frozenset({"elbow"}): "elbow",
    frozenset({"elbow", "epicondyle"}): "elbow",
    frozenset({"arm", "epicondyle"}): "elbow",
    frozenset({"ankle"}): "ankle",
    frozenset({"malleolus"}): "ankle",
    frozenset({"ankle", "malleolus"}): "ankle",
}
"""Parts of the body in a name -> the joint with a lateral and a medial landmark."""
CENTERS = {
    frozenset({"hip"}): "hip_center",
    frozenset({"pelvis", "thigh"}): "hip_center",
    frozenset({"knee"}): "knee_center",
    frozenset({"thigh", "shank"}): "knee_center",
    frozenset({"ankle"}): "ankle_center",
    frozenset({"shank", "foot"}): "ankle_center",
    frozenset({"shoulder"}): "shoulder_center",
}
"""Parts of the body -> the center of the joint of one, or between two of them ("Pelvis_RFemur_score")."""
RAYS = {
    "1": "metatarsal_1",
    "2": "toe",
    "5": "metatarsal_5",
    "lateral": "metatarsal_5",
    "medial": "metatarsal_1",
}
RAYED = ("toe", "metatarsal")
"""Parts of which a roman number states the ray, and after which a letter is no end."""
_PART = re.compile(
    r"(upper|lower|front|rear|lat|med|lateral|medial|anterior|posterior|superior|inferior|proximal|distal|up|low|dist|prox"
    r"|top|bot|[a-dlmu])?\d*$"
)
"""Endings of the names of tracking markers after the segment: "u" and "l" are upper and lower."""
_COUNTED = re.compile(r"^\s*\d+\s*[-–.:)]\s*(?=[^\W\d])")
"""The number of a marker in a list, before its name: "19 - R_Toe_II"."""
_POINT = re.compile(r"^p(?=(?i:right|left))")
"""The letter of a point before the side: "pRightASI"."""
_VIRTUAL = re.compile(r"^v[\W_]*(?=[rl])", re.IGNORECASE)
"""The letter of a virtual marker before the side: "VRHI"."""


@dataclass(frozen=True)
class MarkerMeaning:
    """The meaning of a name.

    landmark: with its side where it has one; of no landmark in `landmarks.toml` where two markers show one together
    ("wrist_thumb", "heel_top"); "" where it is not known. possible: landmarks of which the place on the body decides.
    instead: whether the marker is a wand, or what a program computed, used only without a better one. segment: the
    segment that the marker tracks, with its side.
    """

    landmark: str = ""
    possible: tuple[str, ...] = ()
    instead: bool = False
    segment: str = ""


@dataclass(frozen=True)
class _Words:
    """Names -> landmark: with a side, without, of what serves instead; first words of tracking markers -> segment; word
    -> its (kind, value); number of letters of the longest word.
    """

    sided: Mapping[str, str]
    unsided: Mapping[str, str]
    instead: Mapping[str, str]
    tracking: Mapping[str, str]
    words: Mapping[str, tuple[tuple[str, str], ...]]
    longest: int


@cache
def _words() -> _Words:
    tables = bundled_toml(__package__, "marker_words.toml")
    named = {
        kind: {name: landmark for landmark, names in table.items() for name in names}
        for kind, table in tables["names"].items()
    }
    stems = {name[:-2] for name in landmarks() if has_side(name)}
    named["sided"] |= {folded(stem): stem for stem in stems}
    named["unsided"] |= {folded(name): name for name in landmarks() if name[:-2] not in stems}
    for vocabulary in bundled_toml(__package__, "marker_vocabularies.toml")["vocabulary"]:
        for landmark, names in vocabulary["always"].items():
            named["sided"] |= dict.fromkeys(names, landmark)
    words: dict[str, tuple[tuple[str, str], ...]] = {}
    for kind in ("parts", "short", "ends", "center", "numbers", "without_meaning"):
        for value, several in tables[kind].items():
            for word in several:
                words[word] = (*words.get(word, ()), (kind, value))
    tracking = {begin: segment for segment, begins in tables["tracking"].items() for begin in begins}
    longest = max(map(len, words))
    return _Words(named["sided"], named["unsided"], named["instead"], tracking, words, longest)


def plain_name(label: str) -> str:
    """Return a name without the number that a program counts it by, and without the letter of a virtual marker."""
    return _VIRTUAL.sub("", _uncounted(label))


def _uncounted(label: str) -> str:
    return _POINT.sub("", _COUNTED.sub("", label))


@lru_cache(maxsize=4096)
def without_side(name: str) -> list[tuple[str, Side]]:
    """Return the name without the word of its side, and the side; every way to read the name, the surest first."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", normalize("NFC", name))
    words = re.findall(r"[^\W\d_]+|\d+", parted)
    said = [word.casefold() for word in words]
    ways: list[tuple[str, Side]] = []
    for word, side in SAID_SIDES.items():
        places = [k for k in range(len(words)) if said[k] == word and len(words) > 1]
        ways += [(folded("".join(words[:k] + words[k + 1 :])), side) for k in places]
        if len(places) > 1:  # "RFemur_RTibia" states it twice
            ways.append((folded("".join(w for k, w in enumerate(words) if k not in places)), side))
    whole = folded(name)
    for word, side in SAID_SIDES.items():
        if whole.startswith(word):
            ways.append((whole[len(word) :], side))
        if whole.endswith(word):
            ways.append((whole[: -len(word)], side))
    return ways


def meaning_of(name: str, spoken: Mapping[str, str]) -> MarkerMeaning:
    """Return what a name means.

    Args:
        name: without the person before it.
        spoken: folded name without side -> landmark, of the vocabulary that the recording is of.
    """
    known = _words()
    if name in landmarks():
        return MarkerMeaning(name)
    plain = plain_name(name)
    virtual, ways = plain != _uncounted(name), without_side(plain)
    for rest, side in ways:
        if rest in spoken:
            return MarkerMeaning(f"{spoken[rest]}_{side}")
    exact = [f"{known.sided[rest]}_{side}" for rest, side in ways if rest in known.sided and not virtual]
    possible: list[str] = []
    for rest, side in ways:
        if rest in known.instead and not exact:
            return MarkerMeaning(f"{known.instead[rest]}_{side}", instead=True, segment=_segment(plain))
        if rest in known.sided and not virtual:
            return MarkerMeaning(exact[0])
        readings = set(_readings(f"v{rest}" if virtual else rest))
        sure = {(stem, instead) for stem, certain, instead in readings if certain}
        if len(sure) == 1 and len({stem for stem, _, _ in readings}) == 1:
            (stem, instead), *_ = sure
            if (
                exact and exact[0] != f"{stem}_{side}"
            ):  # "LWRISTR" is of the left wrist, on the side of the radius
                return MarkerMeaning(exact[0])
            return MarkerMeaning(f"{stem}_{side}", instead=instead)
        if any(
            stem in known.tracking for stem in _stems(rest)
        ):  # "RTHL" is R and THL, of the thigh, not RT and HL
            return MarkerMeaning(segment=_segment(plain))
        if virtual and len(readings) == 1:  # used after all others, and only in its place
            ((stem, _, _),) = readings
            return MarkerMeaning(f"{stem}_{side}", instead=True)
        possible += [f"{stem}_{side}" for stem, _, _ in sorted(readings)]
    if (landmark := known.unsided.get(folded(plain))) is not None:
        return MarkerMeaning(landmark)
    return MarkerMeaning("", tuple(dict.fromkeys(possible)), segment=_segment(plain))


def _segment(name: str) -> str:
    """The segment that a marker tracks, with its side: a usual beginning, then a number or a letter."""
    tracking = _words().tracking
    stems = ((stem, side) for rest, side in without_side(name) for stem in _stems(rest))
    return next((f"{tracking[stem]}_{side}" for stem, side in stems if stem in tracking), "")


def _stems(rest: str) -> tuple[str, ...]:
    """The beginnings of a tracking name: without its number, then without one and two endings ("thighlatup")."""
    shorter = _PART.sub("", rest)
    return tuple(dict.fromkeys((re.sub(r"\d+$", "", rest), shorter, _PART.sub("", shorter))))


@lru_cache(maxsize=4096)
def _readings(rest: str) -> tuple[tuple[str, bool, bool], ...]:
    """Every (landmark without side, whether certain, whether it serves instead of a better one) that words mean."""
    found = (_together(items) for items in _divided(rest, ()))
    return tuple(dict.fromkeys(reading for several in found for reading in several))


Word = tuple[str, str, str]
"""A word, its kind and its value."""


def _divided(rest: str, before: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """Yield every way to divide a name into words; letters stand only beside what they belong to."""
    if not rest:
        yield before
        return
    known = _words()
    for length in range(1, min(len(rest), known.longest) + 1):
        for kind, value in known.words.get(rest[:length], ()):
            word = (rest[:length], kind, value)
            if _fits(word, before):
                yield from _divided(rest[length:], (*before, word))


def _fits(word: Word, before: tuple[Word, ...]) -> bool:
    """Whether a word may follow those before it."""
    text, kind, value = word
    last = before[-1] if before else ("", "", "")
    after_part = last[1] in ("parts", "short")
    if last[1] == "ends" and last[0] in ("l", "m") and len(before) == 1 and kind not in ("parts", "short"):
        return False  # a first letter of an end belongs to the part behind it
    if kind in ("parts", "short", "ends", "center", "numbers") and (kind, value) in {b[1:] for b in before}:
        return False
    if kind == "without_meaning":
        return len(text) > 1 or not before
    if kind == "numbers" and set(text) <= set("iv"):
        return last[1] == "parts" and last[2] in RAYED
    if last[1] == "short" and last[2] in RAYED:
        return False
    if len(text) > 1 or text.isdigit() or not text.isascii():
        return True
    if text in ("l", "m"):
        return after_part or not before or last[1] == "without_meaning"
    return after_part and last[2] not in RAYED


def _together(items: tuple[Word, ...]) -> Iterator[tuple[str, bool, bool]]:
    """Yield what the words of one name mean together."""
    of = {
        kind: [value for _, k, value in items if k == kind] for kind in ("parts", "ends", "numbers", "short")
    }
    parts = frozenset(of["parts"] + of["short"])
    virtual = any(value == "virtual" for _, _, value in items)
    centered = any(kind == "center" for _, kind, _ in items)
    sides = [end for end in of["ends"] if end in ("lateral", "medial")]
    levels = [end for end in of["ends"] if end not in sides]
    number = of["numbers"][0] if of["numbers"] else ""
    if len(sides) > 1 or len(levels) > 1 or len(of["numbers"]) > 1 or len(of["short"]) > 1:
        return
    side, level = (sides or [""])[0], (levels or [""])[0]
    certain = not of["short"]
    if side and set(of["short"]) & set(RAYED):  # "LTOL" is an axis of a segment
        return
    foot = parts - {"foot"}
    if foot == {"heel"}:
        if not side and not number:
            name = {"top": HEEL_TOP, "bottom": HEEL_BOTTOM}.get(level, "heel")
            if level in ("", "top", "bottom", "back"):
                yield name, certain, virtual
    elif centered or (virtual and not side and parts in CENTERS):
        if parts in CENTERS and not side and not level and not number:
            yield CENTERS[parts], certain, virtual
    elif foot in ({"toe"}, {"hallux"}, {"metatarsal"}, {"metatarsal", "toe"}):
        ray = number or side
        if level not in ("", "tip") or (number and side):
            return
        if foot == {"metatarsal"} and not ray:
            yield from (("toe", False, virtual), ("metatarsal_5", False, virtual))
        elif not ray:
            yield "toe", certain, virtual
        elif ray in RAYS and (foot != {"toe"} or ray in ("2", "lateral", "medial")):
            yield RAYS[ray], certain, virtual
    elif parts == {"epicondyle"} and side and not level and not number:
        yield from ((f"knee_{side}", False, virtual), (f"elbow_{side}", False, virtual))
    elif parts in ENDED and not level and number in ("", "1"):
        yield f"{ENDED[parts]}_{side or 'lateral'}", certain and not number, virtual
    elif parts == {"wrist"} and not level and not number:
        yield {"lateral": "wrist_thumb", "medial": "wrist_finger", "": "wrist"}[side], certain, virtual
    elif parts in ({"asis"}, {"psis"}, {"shoulder"}) and not (side or level or number):
        (part,) = parts
        yield part, certain, virtual
