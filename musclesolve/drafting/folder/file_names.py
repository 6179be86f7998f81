"""What the name of a file says: static trial, functional trial, and which recordings belong together."""

from __future__ import annotations

import re

_STATIC = re.compile(
    r"static|stand|statisch|neutral|t-?_?pose|n-?_?pose|(?:^|[^a-z])(?:cal|calib\w*|stat|ref)(?:[^a-z]|$)"
)
_FUNCTIONAL = re.compile(
    r"func|star_?arc|circl|score(?:[^a-z]|$)|hjc|hip_?(?:rom|joint|cent)|(?:^|[^a-z])(?:rom|star)(?:[^a-z]|$)"
)
_MAXIMUM = re.compile(r"mvc|mvic|maxim|(?:^|[^a-z])max(?:[^a-z]|$)")
_IDLE = {
    "grf", "grfs", "force", "forces", "emg", "markers", "marker", "trc", "mot", "sto", "kinetics", "analog", "loads",
    "external", "ground", "reaction", "reactions", "raw", "filtered", "data", "exp", "trajectories", "plates",
}  # fmt: skip


def says_static(stem: str) -> bool:
    """Whether a name says that the subject stands."""
    return _STATIC.search(stem.casefold()) is not None


def says_functional(stem: str) -> bool:
    """Whether a name says that a hip moves in all directions."""
    return _FUNCTIONAL.search(stem.casefold()) is not None


def says_maximum(stem: str) -> bool:
    """Whether a name says that muscles contract as strongly as they can."""
    return _MAXIMUM.search(stem.casefold()) is not None


def kinship(one: str, other: str) -> int:
    """How clearly two names belong to one trial: 3 the same, 2 one begins with the other, 1 words in common, 0 none."""
    first, second = _words(one), _words(other)
    if first == second and first:
        return 3
    shorter, longer = sorted((first, second), key=len)
    if shorter and longer[: len(shorter)] == shorter:
        return 2
    return int(bool(set(first) & set(second)))


def _words(stem: str) -> list[str]:
    words = re.findall(r"[a-z]+|\d+", stem.casefold())
    return [str(int(word)) if word.isdigit() else word for word in words if word not in _IDLE]
