"""Sides of the body, by the ends of names of muscles, coordinates and joints; joints of a leg by their names."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

Side = Literal["r", "l"]
SIDES: tuple[Side, Side] = ("r", "l")
BOTH = "both"
"""Both sides, in the place of one."""
SIDE_NAMES: dict[Any, str] = {"r": "right", "l": "left"}
"""Side -> its word; the key is one of SIDES, often as the end of a name."""
SIDE_LETTERS: dict[str, Side] = {SIDE_NAMES[side]: side for side in SIDES}
"""Word of a side -> side."""
SIDE_WORDS: dict[str, Side] = SIDE_LETTERS | {side: side for side in SIDES}
"""Words and letters that state a side in a name; whole words first."""
SAID_SIDES: dict[str, Side] = {
    **SIDE_WORDS,
    **dict.fromkeys(
        "rechts re rt dx droite droit derecha derecho destra destro direita direito der 右".split(), "r"
    ),
    **dict.fromkeys(
        "links li lt sx gauche izquierda izquierdo sinistra sinistro esquerda esquerdo izq 左".split(), "l"
    ),
}
"""Words of a side as names of other languages have them, too: German, French, Spanish, Italian, Portuguese, Chinese."""
OTHER = "other"
OPPOSITE = {"r": "l", "l": "r", OTHER: OTHER}
"""Side -> the other side of the body; what belongs to neither stays."""
ALL_SIDES = (*SIDE_NAMES, OTHER)
"""Sides of muscles; `other` is the side of muscles whose names do not end in _r or _l."""
LEG_JOINTS = ("hip", "knee", "ankle")


def side_of(name: str) -> str:
    """The side of a muscle or coordinate, by the end of its name."""
    return name[-1] if name[-2:] in ("_r", "_l") else OTHER


def has_side(name: str) -> bool:
    """Return whether the name of a muscle, coordinate, landmark or joint ends in a side."""
    return side_of(name) != OTHER


def sides_of(names: Iterable[str]) -> tuple[str, ...]:
    """The sides of some names, in the order of `ALL_SIDES`."""
    present = {side_of(name) for name in names}
    return tuple(side for side in ALL_SIDES if side in present)


def split_side(name: str) -> tuple[str, str]:
    """Name without side, and side: soleus_r is soleus and r."""
    side = side_of(name)
    return (name if side == OTHER else name[:-2]), side


def once_for_both_sides(names: Iterable[str]) -> list[str]:
    """The names, without the side where both are named: soleus_r, soleus_l and psoas_r are soleus and psoas_r."""
    listed = list(names)
    stems = [split_side(name)[0] for name in listed]
    shown = (stem if stems.count(stem) > 1 else name for name, stem in zip(listed, stems, strict=True))
    return list(dict.fromkeys(shown))


def with_side(stem: str, side: str) -> str:
    """The name with these parts."""
    return stem if side == OTHER else f"{stem}_{side}"


def twin(name: str) -> str:
    """The name of a muscle or coordinate on the other side; the name itself if it has no side."""
    stem, side = split_side(name)
    return with_side(stem, OPPOSITE[side])


def sided(name: str) -> str:
    """A name with its side in words: soleus_r is "right soleus", r_elbow "right elbow"."""
    stem, side = split_side(name)
    if side == OTHER and name[:2] in ("r_", "l_"):
        stem, side = name[2:], name[0]
    return f"{SIDE_NAMES.get(side, '')} {stem.replace('_', ' ')}".strip()


def joint_kind(joint: str) -> str:
    """The joint of LEG_JOINTS in a name, as in walker_knee and knee_joint_r; else the name."""
    return next((kind for kind in LEG_JOINTS if kind in joint.lower()), joint)


def joint_titles(stems: Iterable[str]) -> dict[str, str]:
    """Return the words for joints of a result, without side: walker_knee is knee, unless two joints would be knee."""
    kinds = {stem: joint_kind(stem) for stem in stems}
    often = Counter(kinds.values())
    return {stem: sided(kind if often[kind] == 1 else stem) for stem, kind in kinds.items()}
