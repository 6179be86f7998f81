"""Front and back of one side of the pelvis exchanged: decided by vote of the body before any axis is read from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case.case import Case
from musclesolve.checking.case.observed_body import between, landmark, upwards
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.repair import exchange_labels, exchange_landmarks
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.data import SIDES, Markers, Side, Trial

# Directions with a cosine below this point opposite ways.
OPPOSITE = -0.5
# A pelvis that goes so far shows the way the subject walks [m].
TRAVELS = 0.3


@asked_at(Stage.PELVIS_LABELS)
def front_and_back(case: Case) -> Iterator[Finding]:
    """Find one side of the pelvis that faces against the other side and both feet, or a pelvis that does as a whole.

    The way the subject faces is read from these markers: with them exchanged everything else seems rotated.
    """
    trial = case.trial
    wrong = _against_the_others(trial, trial.markers)
    if not wrong or (len(wrong) == 2 and not _goes_where_feet_point(trial)):
        return
    standing = trial.static is not None and _against_the_others(trial, trial.static) == wrong
    against = (
        "but the subject walks the way that both feet point, against the pelvis"
        if len(wrong) == 2
        else "but the other side of the pelvis and both feet point the other way"
    )
    for side in wrong:
        names = f"asis_{side}", f"psis_{side}"
        own = [list(trial.mapping[name]) for name in names]
        single = all(len(markers) == 1 and markers[0] in trial.markers for markers in own)
        in_file = single and not standing
        values = {
            "front": names[0],
            "back": names[1],
            "against": against,
            "recordings": ", in the motion and standing" if standing and not in_file else "",
            "remedy": f"exchange the labels {own[0][0]} and {own[1][0]} in this file"
            if in_file
            else f"check which markers are mapped to {names[0]} and {names[1]}",
        }
        where = Where(trial.markers.path, markers=tuple(marker for markers in own for marker in markers))
        repair = exchange_labels(own[0][0], own[1][0]) if in_file else exchange_landmarks(*names)
        yield finding("labels_exchanged.pelvis", "error", values, where, repair)


def _against_the_others(trial: Trial, markers: Markers) -> tuple[Side, ...]:
    """Return the side of the pelvis that points opposite to the other side and both feet, or both, or none."""
    up = upwards(trial, markers)
    if up is None:
        return ()
    pelvis = {side: _way(trial, markers, ("asis", "psis"), side, up) for side in SIDES}
    feet = [_way(trial, markers, ("toe", "heel"), side, up) for side in SIDES]
    ways = [way for way in (*pelvis.values(), *feet) if way is not None]
    if len(ways) < 4:
        return ()
    cosine = np.array([[float(one @ other) for other in ways] for one in ways])
    if (cosine[:2, 2:] < OPPOSITE).all() and cosine[0, 1] > -OPPOSITE and cosine[2, 3] > -OPPOSITE:
        return SIDES
    alone = [side for k, side in enumerate(SIDES) if (np.delete(cosine[k], k) < OPPOSITE).all()]
    return tuple(alone[:1])


def _goes_where_feet_point(trial: Trial) -> bool:
    """Whether the pelvis travels the way the feet point, frame by frame: then the pelvis is the wrong way."""
    front = between(trial, "asis_r", "asis_l")
    feet = [between(trial, f"{end}_{side}") for end in ("toe", "heel") for side in SIDES]
    if front is None or any(foot is None for foot in feet):
        return False
    pointing = feet[0] + feet[1] - feet[2] - feet[3]  # type: ignore[operator]
    unit = pointing / np.maximum(np.linalg.norm(pointing, axis=1, keepdims=True), 1e-9)
    return float(np.sum(np.diff(front, axis=0) * unit[1:])) > TRAVELS


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
