"""The anatomical landmarks a trial can name, read from ``landmarks.toml``."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cache

from musclesolve._util.bundled_toml import bundled_toml

_SIDED = {"_r": "right ", "_l": "left ", "": ""}


@dataclass(frozen=True)
class Landmark:
    """One landmark as the trial file writes it, side included."""

    name: str  # for example "asis_r"
    description: str  # what it is on the body
    required: bool  # whether the motion cannot be measured without it
    standing: bool  # whether a standing trial, if there is one, must show it too
    instead: tuple[str, ...]  # names of the landmarks of which one can replace it
    without: str | None  # what is done when it is absent


@cache
def landmarks() -> dict[str, Landmark]:
    """Return every landmark by its name, right and left ones apart."""
    found: dict[str, Landmark] = {}
    for stem, entry in bundled_toml(__package__, "landmarks.toml").items():
        for suffix in ("_r", "_l") if entry.get("sided") else ("",):
            found[stem + suffix] = Landmark(
                name=stem + suffix,
                description=_SIDED[suffix] + entry["description"],
                required=entry.get("required", False),
                standing=entry.get("standing", False),
                # The sacrum has no side.
                instead=tuple(
                    name if name == "sacrum" else name + suffix for name in entry.get("instead", ())
                ),
                without=entry.get("without"),
            )
    return found


def back_landmarks(names: Container[str]) -> tuple[str, ...]:
    """Return which of some landmarks show the back of the pelvis: both PSIS or the sacrum.

    One PSIS alone shows no direction.
    """
    if "psis_r" in names and "psis_l" in names:
        return ("psis_r", "psis_l")
    return ("sacrum",) if "sacrum" in names else ()


def shows_spines(names: Container[str]) -> bool:
    """Return whether the spines of the pelvis are among some landmarks, in front and behind."""
    return "asis_r" in names and "asis_l" in names and bool(back_landmarks(names))
