"""The landmarks of a marker set that two recordings show, and by which of its definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from musclesolve.recording.markers.joint_requirements import follows_segment
from musclesolve.recording.markers.landmark_names import Landmark, landmarks


def markers_of(way: Any) -> list[str]:
    """Return the markers of one way to map a landmark: a name, a midpoint or weights."""
    if isinstance(way, str):
        return [way]
    named = [way.get(form) for form in ("midpoint", "weights")] if isinstance(way, dict) else []
    return [
        marker
        for form in named
        if isinstance(form, list | dict)
        for marker in form
        if isinstance(marker, str)
    ]


def first_way(ways: Iterable[Any], markers: set[str]) -> Any:
    """Return the first way to map a landmark whose markers are all there, None where there is none."""
    return next((way for way in ways if set(markers_of(way)) <= markers), None)


def resolve_landmarks(
    offered: Mapping[str, list[Any]],
    own: Mapping[str, Any],
    moving: set[str],
    standing: set[str],
    carried: set[str],
) -> tuple[dict[str, Any], list[str]]:
    """Return the mapping that the recordings show, and a note on every landmark that just one of them shows.

    Each landmark has ways to map it in the set (`offered`), or one in the trial file (`own`). The motion must show it,
    unless a cluster or its segment carries it; the standing trial as well, where it is measured there. A required
    landmark is kept, so that its absence is reported. `moving`, `standing` and `carried` are markers.
    """
    known, everywhere = landmarks(), moving | standing
    mapping: dict[str, Any] = {}
    # Medial landmarks follow the marker on the side of their segment, which is resolved before them.
    for name in sorted(offered, key=lambda name: "_medial" in name):
        shown = set(moving & standing if known[name].standing else moving) | carried
        if follows_segment(dict(own) | mapping, name):
            shown |= standing
        way = first_way(offered[name], shown)
        if way is not None:
            mapping[name] = way
    notes = []
    for name, ways in offered.items():
        way = None if name in mapping else first_way(ways, everywhere)
        if way is not None and _wanted(known[name], {*mapping, *own}):
            mapping[name] = way
        elif way is not None:
            lacking = sorted(set(markers_of(way)) - moving) or sorted(set(markers_of(way)) - standing)
            which = "motion" if lacking[0] not in moving else "standing trial"
            notes.append(f"{name} is left out: the {which} has no marker '{lacking[0]}'.")
    return {name: mapping[name] for name in offered if name in mapping} | dict(own), notes


def _wanted(landmark: Landmark, there: set[str]) -> bool:
    """Return whether a landmark is required, or serves instead of a required one for which there is nothing else."""
    return landmark.required or any(
        other.required and landmark.name in other.instead and not {other.name, *other.instead} & there
        for other in landmarks().values()
    )
