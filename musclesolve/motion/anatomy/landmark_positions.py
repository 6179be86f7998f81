"""From markers to landmarks: filtered, carried over from standing by clusters, cropped to the time range."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.motion.anatomy.unit_vectors import UP, horizontal
from musclesolve.motion.signals.filter_choice import FilterChoice, gap_free_range, needed_markers
from musclesolve.recording.data import SIDES, Markers, Recording
from musclesolve.recording.gaps.rigid_registration import Poses, register

Points = dict[str, Array]


def filtered_markers(recording: Recording, chosen: FilterChoice, margin: float = 0.0) -> Markers:
    """Return the markers that are needed, low-passed and cropped to the time range, (T, n, 3) [m].

    The filter runs over ``gap_free_range``, so that its ends disturb the range as little as possible and no jump
    outside of the range reaches into it.

    A `margin` [s] is kept on either side of the range, as far as every marker is seen there.
    """
    frames, seen = recording.frames(), gap_free_range(recording)
    smooth = chosen.smooth(needed_markers(recording)[seen], recording.markers.rate)
    extra = round(margin * recording.markers.rate)
    kept = slice(max(frames.start - extra, seen.start), min(frames.stop + extra, seen.stop))
    inside = slice(kept.start - seen.start, kept.stop - seen.start)
    return Markers(
        recording.markers.time[kept], recording.used_markers, smooth[inside], recording.markers.path
    )


def standing_trial(recording: Recording) -> Points:
    """Return the middle position (3,) of every marker of the standing trial [m]; nothing where there is none.

    The median is taken along forward, left and up of the subject, as far as the pelvis shows them.
    """
    static = recording.static
    if static is None:
        return {}
    for part in ("asis", "hip_center"):
        pair = [recording.mapping.get(f"{part}_{side}", {}) for side in SIDES]
        if all(weights and all(marker in static for marker in weights) for weights in pair):
            right, left = (static.weighted(weights) for weights in pair)
            across = (left - right)[np.isfinite(left - right).all(axis=1)]
            if len(across) and np.linalg.norm(across.mean(axis=0)[:2]) > 0.0:
                y = horizontal(across.mean(axis=0))
                return standing_markers(static, np.stack([np.cross(y, UP), y, UP], axis=1))
    return standing_markers(static)


def standing_markers(static: Markers, axes: Array | None = None) -> Points:
    """Return the middle position (3,) of every marker that a recording of standing shows [m].

    The median over the frames rather than the mean: one bad frame does not move it. It is taken along the axes of the
    subject, so that it does not depend on where those of the laboratory lie.
    """
    seen = np.flatnonzero(~np.isnan(static.position).any(axis=2).all(axis=0))
    rotation = np.eye(3) if axes is None else axes
    middle = np.nanmedian(static.position[:, seen] @ rotation, axis=0) @ rotation.T
    return {static.names[k]: place for k, place in zip(seen.tolist(), middle, strict=True)}


def axis_end(landmark: str) -> str:
    """Return the name, among the markers of the standing trial, of a landmark at an end of a functional axis."""
    return f"{landmark}, functional"


def cluster_poses(recording: Recording, standing: Points, walk: Markers) -> dict[str, Poses]:
    """Register every cluster that carries something or stands for a body, from standing to motion."""
    return {
        name: registered(
            recording,
            np.array([standing[marker] for marker in markers]),
            walk.position[:, [walk.names.index(marker) for marker in markers]],
            name,
        )
        for name, markers in recording.clusters.items()
        if all(marker in walk for marker in markers)
    }


def registered(recording: Recording, reference: Array, moving: Array, body: str) -> Poses:
    """Register a body of the trial; see ``register``."""
    try:
        return register(reference, moving, body)
    except InputError as error:
        table, key = body_place(recording, body)
        if recording.static is not None:
            error.problem += f" in {recording.static.path}"
        raise recording.document.placed(error, table, key) from None


def body_place(recording: Recording, body: str) -> tuple[str, str]:
    """Return table and key of the trial file that say which points belong to a body."""
    if body in recording.clusters:
        return "clusters", body
    if body == "pelvis":
        return "mapping", "asis_r"
    # What is left are the feet, and triangles by the names of their corners: of these the wand is named.
    wand = body.partition(", ")[2].partition(" ")[0]
    return "mapping", f"heel_{body[-1]}" if body.startswith("foot") else wand


def moving_landmarks(
    recording: Recording, walk: Markers, standing: Points, poses: Mapping[str, Poses]
) -> Points:
    """Return every mapped landmark that the markers of the motion or clusters show, (T, 3) [m]."""
    places = {name: walk.position[:, k] for k, name in enumerate(walk.names)}
    places |= {
        marker: poses[cluster].point(standing[marker])
        for marker, cluster in recording.carried.items()
        if cluster in poses
    }
    shown = {
        landmark: reduce(
            add,
            [
                places[marker] if weight == 1.0 else weight * places[marker]
                for marker, weight in weights.items()
            ],
        )
        for landmark, weights in recording.mapping.items()
        if weights.keys() <= places.keys()
    }
    ends = recording.axis_ends.items()
    return shown | {end: poses[cluster].point(standing[axis_end(end)]) for end, cluster in ends}


def standing_landmarks(recording: Recording, standing: Points) -> Points:
    """Return the landmarks (3,) that the standing trial shows [m], and ends of axes where they are known already."""
    shown = {
        landmark: np.sum([weight * standing[marker] for marker, weight in weights.items()], axis=0)
        for landmark, weights in recording.mapping.items()
        if all(marker in standing for marker in weights)
    }
    known = [end for end in recording.axis_ends if axis_end(end) in standing]
    return shown | {end: standing[axis_end(end)] for end in known}
