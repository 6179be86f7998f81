"""The anatomical landmarks of trial files, and the parts of the body that they show.

``landmarks.toml`` and ``bodies.toml`` state which landmarks the legs need, which show only trunk, arms and head, and
which move together.
"""

from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cache

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.recording.data import SIDE_NAMES, Trial

_SIDED = {"_r": "right ", "_l": "left ", "": ""}
ARMS_AND_HEAD, TRUNK = ("upper_arm", "forearm", "hand", "head"), ("thorax",)
"""Bones of landmarks without which the legs are known."""


@dataclass(frozen=True)
class Landmark:
    """One landmark by its name in the trial file, with side.

    Examples:
        >>> ms.files.landmarks()["knee_lateral_r"].required
        True
    """

    name: str  # for example "asis_r"
    on: str  # the bone on which it stands, without side
    description: str  # its place on the body
    required: bool  # whether the motion cannot be measured without it
    standing: bool  # whether an existing standing trial must show it, too
    instead: tuple[str, ...]  # names of the landmarks of which one can replace it
    without: str | None  # consequence of its absence


@cache
def landmarks() -> dict[str, Landmark]:
    """Return every landmark by its name, with separate right and left ones.

    Examples:
        >>> "knee_lateral_r" in ms.files.landmarks()
        True
    """
    named: dict[str, Landmark] = {}
    for stem, entry in bundled_toml(__package__, "landmarks.toml").items():
        for suffix in ("_r", "_l") if entry.get("sided") else ("",):
            named[stem + suffix] = Landmark(
                name=stem + suffix,
                on=entry["on"],
                description=_SIDED[suffix] + entry["description"],
                required=entry.get("required", False),
                standing=entry.get("standing", False),
                # The sacrum has no side.
                instead=tuple(
                    name if name == "sacrum" else name + suffix for name in entry.get("instead", ())
                ),
                without=entry.get("without"),
            )
    return named


def back_landmarks(names: Container[str]) -> tuple[str, ...]:
    """Return the landmarks that show the back of the pelvis: both PSIS or the sacrum.

    One PSIS alone does not show a direction.
    """
    if "psis_r" in names and "psis_l" in names:
        return ("psis_r", "psis_l")
    return ("sacrum",) if "sacrum" in names else ()


def shows_spines(names: Container[str]) -> bool:
    """Return whether landmarks include the spines of the pelvis, in front and behind."""
    return "asis_r" in names and "asis_l" in names and bool(back_landmarks(names))


def bounding_markers(trial: Trial) -> tuple[str, ...]:
    """Return the needed markers of legs and pelvis: without them no frame can be analyzed."""
    # Without the spines of the pelvis the top of the trunk shows how it tilts.
    above = (*ARMS_AND_HEAD, *TRUNK) if shows_spines(trial.mapping) else ARMS_AND_HEAD
    below = {name: weights for name, weights in trial.mapping.items() if landmarks()[name].on not in above}
    return replace(trial, mapping=below).used_markers


def upper_markers(trial: Trial) -> tuple[str, ...]:
    """Return the needed markers that show only trunk, arms or head: these are completed where they are lost."""
    bounding = set(bounding_markers(trial))
    return tuple(name for name in trial.used_markers if name not in bounding)


@cache
def bodies() -> dict[str, tuple[str, ...]]:
    """Return body, in words -> its landmarks, as ``bodies.toml`` has them; sided ones once for each side."""
    named: dict[str, tuple[str, ...]] = {}
    for name, entry in bundled_toml(__package__, "bodies.toml").items():
        if not entry.get("sided", False):
            named[f"the {name}"] = tuple(entry["landmarks"])
            continue
        for side, word in SIDE_NAMES.items():
            named[f"the {word} {name}"] = tuple(f"{landmark}_{side}" for landmark in entry["landmarks"])
    return named


def groups(trial: Trial) -> dict[str, tuple[str, ...]]:
    """Return group -> four or more markers of the motion that move together; a cluster is a group of its name."""
    together = {
        name: tuple(
            dict.fromkeys(
                marker
                for landmark in landmarks
                for marker in trial.mapping.get(landmark, ())
                if marker in trial.markers and marker not in trial.carried
            )
        )
        for name, landmarks in bodies().items()
    }
    together |= {f"the cluster {name}": tuple(markers) for name, markers in trial.clusters.items()}
    return {name: markers for name, markers in together.items() if len(markers) > 3}
