"""Front and back of one side of the pelvis exchanged: told by vote of the body before anything is turned by them."""

from __future__ import annotations

import numpy as np

from musclesolve.checking.body import landmark, upwards
from musclesolve.checking.case import Array, Case
from musclesolve.checking.labels import exchanged
from musclesolve.recording.data import SIDES, Markers, Side, Trial

# Directions with a cosine below this point opposite ways.
OPPOSITE = -0.5


def front_and_back(case: Case) -> None:
    """Find a side of the pelvis that faces the other way than the other side and both feet.

    The way the person faces is read from these markers: with two of them exchanged everything else seems turned.
    """
    trial = case.trial
    wrong = _against_the_others(trial, trial.markers)
    if wrong is None:
        return
    standing = trial.static is not None and _against_the_others(trial, trial.static) == wrong
    names = f"asis_{wrong}", f"psis_{wrong}"
    own = [list(trial.mapping[name]) for name in names]
    single = all(len(markers) == 1 and markers[0] in trial.markers for markers in own)
    in_file = single and not standing
    case.tell(
        "labels_exchanged",
        "error",
        f"{names[0]} lies behind {names[1]}, but the other side of the pelvis and both feet point the other way: they "
        "carry each other's label" + ("" if in_file else ", in the motion and standing" if standing else ""),
        f"exchange the labels {own[0][0]} and {own[1][0]} in this file"
        if in_file
        else f"check which markers are mapped to {names[0]} and {names[1]}",
        file=trial.markers.path,
        markers=tuple(marker for markers in own for marker in markers),
    )
    if in_file:
        case.mend(markers=exchanged(trial.markers, own[0][0], own[1][0]))
    else:
        mapping = dict(trial.mapping)
        mapping[names[0]], mapping[names[1]] = mapping[names[1]], mapping[names[0]]
        case.mend(mapping=mapping)


def _against_the_others(trial: Trial, markers: Markers) -> Side | None:
    """Return the side of the pelvis that points opposite to the other side and to both feet, None where none does."""
    up = upwards(trial, markers)
    if up is None:
        return None
    pelvis = {side: _way(trial, markers, ("asis", "psis"), side, up) for side in SIDES}
    feet = [_way(trial, markers, ("toe", "heel"), side, up) for side in SIDES]
    ways = [*pelvis.values(), *feet]
    if any(way is None for way in ways):
        return None
    for k, side in enumerate(SIDES):
        if all(ways[k] @ way < OPPOSITE for j, way in enumerate(ways) if j != k):  # type: ignore[operator]
            return side
    return None


def _way(trial: Trial, markers: Markers, ends: tuple[str, str], side: Side, up: Array) -> Array | None:
    """Return the mean direction (3,) from the hind to the front landmark, square to what is up."""
    front, back = (landmark(trial, f"{name}_{side}", markers) for name in ends)
    if front is None or back is None:
        return None
    way = (front - back)[np.isfinite(front - back).all(axis=1)]
    mean = way.mean(axis=0) if len(way) else np.zeros(3)
    across: Array = mean - (mean @ up) * up
    length = float(np.linalg.norm(across))
    return across / length if length > 0.0 else None
