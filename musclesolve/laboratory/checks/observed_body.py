"""The body shown by the markers of a case: landmarks, facing direction, feet on the ground, the center of mass."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast
from weakref import finalize

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times, long_enough, mean_of_known, median_of_known
from musclesolve.dynamics.kinematics.low_pass import low_pass, lowest_carried
from musclesolve.errors import InputError
from musclesolve.laboratory.markers.gaps.rigid_registration import register
from musclesolve.laboratory.markers.landmarks import back_landmarks
from musclesolve.laboratory.motion.events.foot_events import FootLoads, flights
from musclesolve.laboratory.recording.data import SIDES, Side, Trial
from musclesolve.laboratory.trial.plates.foot_contacts import FootTrack, ground_contacts, ground_velocity
from musclesolve.tables.sampled import Markers

SMOOTH_HZ = 8.0
"""Cut-off frequency of the checks [Hz], which need no exact derivatives."""
HANGS = 0.8
"""Share of its distance from the feet by which a pelvis hangs below them; legs on a bench or a seat have less."""
# Longest gap that is filled [s].
LONG_GAP = 0.1


P = ParamSpec("P")
R = TypeVar("R")
_KNOWN: dict[int, dict[Any, Any]] = {}


def once(function: Callable[P, R]) -> Callable[P, R]:
    """Cache a function of a trial or a plate, and of names, which many checks call.

    The returned value is kept as long as its first argument, or until `forget`, and must not be changed.
    """

    @wraps(function)
    def known(*args: P.args, **named: P.kwargs) -> R:
        of, *more = args
        if id(of) not in _KNOWN:
            finalize(of, _KNOWN.pop, id(of), None)
        values, key = _KNOWN.setdefault(id(of), {}), (function, *more, *named.items())
        if key not in values:
            values[key] = function(*args, **named)
        return cast(R, values[key])

    return known


def forget(trial: Trial) -> None:
    """Release the cached values of a trial and its plates."""
    for one in (trial, *trial.forces):
        _KNOWN.pop(id(one), None)


def landmark(trial: Trial, name: str, markers: Markers | None = None) -> Array | None:
    """Return a landmark (T, 3) [m] as the markers of one recording show it, NaN in gaps; None where they do not."""
    markers = trial.markers if markers is None else markers
    weights = trial.mapping.get(name)
    if not weights:
        return None
    clusters = trial.carried if markers is trial.markers else {}
    if not all(marker in markers or marker in clusters for marker in weights):
        return None
    paths = {name: markers[name] if name in markers else carried(trial, name) for name in weights}
    return np.asarray(sum(weight * paths[name] for name, weight in weights.items()))


def landmarks(trial: Trial, names: Iterable[str], markers: Markers | None = None) -> list[Array] | None:
    """Return landmarks (T, 3) [m] as `landmark` does, None where one of them is not shown."""
    points = [landmark(trial, name, markers) for name in names]
    known = [point for point in points if point is not None]
    return known if len(known) == len(points) else None


def square_to(up: Array, vector: Array) -> Array:
    """Return a vector (3,) without its part along a unit vector (3,)."""
    return np.asarray(vector - (vector @ up) * up)


@once
def runs(trial: Trial) -> bool:
    """Return whether both feet are in the air at times."""
    return len(flights(trial, FootLoads.from_trial(trial))) > 0


@once
def carried(trial: Trial, marker: str) -> Array:
    """Return a marker (T, 3) that only the standing trial shows, carried by its cluster; NaN where that is not seen."""
    path = np.full((trial.markers.time.size, 3), np.nan)
    names, static = trial.clusters[trial.carried[marker]], trial.static
    if static is None or any(
        name not in static or (name not in trial.markers and name not in trial.carried) for name in names
    ):
        return path
    still = [median_of_known(static[name]) for name in (*names, marker)]
    moving = np.stack(
        [trial.markers[name] if name in trial.markers else carried(trial, name) for name in names], axis=1
    )
    seen = np.isfinite(moving).all(axis=(1, 2))
    if not seen.any() or not np.isfinite(still).all():
        return path
    with suppress(InputError):  # markers on a line: the anatomy reports them
        path[seen] = register(np.stack(still[:-1]), moving[seen]).point(still[-1])
    return path


@once
def smooth(trial: Trial, name: str) -> Array | None:
    """Return a landmark (T, 3) without gaps and noise, None where it is hardly seen."""
    path = landmark(trial, name)
    if path is None or path.shape[0] < 10 or np.isfinite(path).all(axis=1).mean() < 0.3:
        return None
    rate, time, seen = trial.markers.rate, trial.markers.time, np.isfinite(path).all(axis=1)
    cutoff = min(SMOOTH_HZ, 0.4 * rate)
    if cutoff < lowest_carried(path.shape[0], rate):
        return None
    return low_pass(at_times(time[seen], path[seen], time), rate, cutoff)


def between(trial: Trial, *names: str) -> Array | None:
    """Return the middle (T, 3) of landmarks, None without any, or where one is not seen."""
    points = [point for name in names if (point := smooth(trial, name)) is not None]
    return np.mean(points, axis=0) if points and len(points) == len(names) else None


def clearly_seen(trial: Trial, names: list[str]) -> Mask:
    """Return the frames (T,) in which landmarks are seen, or lost for a moment only."""
    shortest, seen = max(2, round(LONG_GAP * trial.markers.rate)), np.ones(trial.markers.time.size, bool)
    for path in (path for name in names if (path := landmark(trial, name)) is not None):
        lost: Mask = np.logical_not(np.isfinite(path).all(axis=1))
        seen &= ~long_enough(lost, shortest)
    return seen


def facing(trial: Trial) -> Array | None:
    """Return the horizontal vector (T, 3) toward which the pelvis faces, not scaled.

    From the back to the front of the pelvis; square to the hip centers where its spines are not seen.
    """
    front = between(trial, "asis_r", "asis_l")
    back = between(trial, *back_landmarks(trial.mapping))
    if front is not None and back is not None:
        return (front - back) * np.array([1.0, 1.0, 0.0])
    right, left = (smooth(trial, f"hip_center_{side}") for side in SIDES)
    if right is None or left is None:
        return None
    return np.cross(left - right, [0.0, 0.0, 1.0])


def ahead(trial: Trial, markers: Markers) -> Array | None:
    """Return the vector (T, 3) from back to front of the pelvis in one recording, NaN in gaps, whatever is up.

    From left and right hip center, square to the direction from feet to head, where the spines are not seen.
    """
    front = landmarks(trial, [f"asis_{side}" for side in SIDES], markers)
    back = landmarks(trial, back_landmarks(trial.mapping), markers)
    if front and back:
        return np.asarray(np.mean(front, axis=0) - np.mean(back, axis=0))
    hips, up = landmarks(trial, [f"hip_center_{side}" for side in SIDES], markers), upward(trial, markers)
    return None if hips is None or up is None else np.cross(hips[1] - hips[0], up)


def upward(trial: Trial, markers: Markers, by_pelvis: bool = False) -> Array | None:
    """Return the mean direction (3,) from feet to shoulders; without these to a pelvis that hangs, or `by_pelvis`."""
    feet = landmarks(trial, [f"{part}_{side}" for part in ("heel", "toe") for side in SIDES], markers)
    tops = [top for side in SIDES if (top := shoulder(trial, side, markers)) is not None]
    if alone := len(tops) < len(SIDES):
        tops = landmarks(trial, [f"asis_{side}" for side in SIDES], markers) or []
    if feet is None or len(tops) < len(SIDES):
        return None
    mean = mean_of_known(np.asarray(np.mean(tops, axis=0) - np.mean(feet, axis=0)))
    length = float(np.linalg.norm(mean))
    lies = alone and not by_pelvis and mean[2] > -HANGS * length
    return mean / length if length > 0.0 and not lies else None


def shoulder(trial: Trial, side: Side, markers: Markers | None = None) -> Array | None:
    """Return the acromion (T, 3), the shoulder center where that is what is seen."""
    seen = landmark(trial, f"shoulder_{side}", markers)
    return landmark(trial, f"shoulder_center_{side}", markers) if seen is None else seen


@dataclass(frozen=True)
class Foot(FootTrack):
    """One foot over the frames of the motion."""

    ground: Mask  # (T,) whether heel or toe is low and slow
    air: Mask  # (T,) whether heel and toe are both high or fast


@once
def feet_by_landmarks(trial: Trial) -> dict[Side, Foot]:
    """Return the feet of which heel and toe are seen."""
    time, pelvis = trial.markers.time, between(trial, "asis_r", "asis_l")
    points: dict[Side, Array] = {}
    speeds: dict[Side, Array] = {}
    known = {side: clearly_seen(trial, [f"heel_{side}", f"toe_{side}"]) for side in SIDES}
    for side in SIDES:
        heel, toe = smooth(trial, f"heel_{side}"), smooth(trial, f"toe_{side}")
        if heel is not None and toe is not None:
            points[side] = np.stack([heel, toe])
            moving = np.gradient(points[side], time, axis=1)
            foot = np.where(known[side][:, None], points[side].mean(axis=0), np.nan)
            speeds[side] = np.linalg.norm(moving - ground_velocity(time, pelvis, foot), axis=2)
    feet = {}
    for side, (ground, air) in ground_contacts(trial, points, speeds).items():
        ground, air = ground & known[side], air & known[side]
        # A few frames at the turning point of a swing are no contact.
        contact = long_enough(ground, max(2, round(0.05 * trial.markers.rate)))
        heel, toe = points[side]
        feet[side] = Foot(time, heel, toe, contact, air & ~ground)
    return feet
