"""Landmarks from markers: filtered, carried over from standing by clusters, cropped to the time range."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import UP, Array, Indices, horizontal, median_of_known
from musclesolve.errors import InputError
from musclesolve.laboratory.markers.gaps.rigid_registration import Poses, Shapes, check_shape
from musclesolve.laboratory.markers.landmarks import cluster_rounds
from musclesolve.laboratory.motion.signals.filter_choice import FilterChoice, needed_markers
from musclesolve.laboratory.recording.data import SIDES, Recording
from musclesolve.tables.sampled import Markers

Points = dict[str, Array]


def filtered_markers(recording: Recording, chosen: FilterChoice, margin: float = 0.0) -> Markers:
    """Return the markers that are needed, low-passed and cropped to the time range, (T, n, 3) [m].

    The filter runs over ``chosen.gap_free``, so that the ends disturb the range as little as possible and jumps outside
    of the range have no effect.

    A `margin` [s] is kept on either side of the range, as far as every marker is seen there.
    """
    frames, gap_free = recording.frames(), chosen.gap_free
    smooth = chosen.smooth(needed_markers(recording)[gap_free], recording.markers.rate)
    extra = round(margin * recording.markers.rate)
    filtered = slice(max(frames.start - extra, gap_free.start), min(frames.stop + extra, gap_free.stop))
    inside = slice(filtered.start - gap_free.start, filtered.stop - gap_free.start)
    return Markers(
        recording.markers.time[filtered], recording.used_markers, smooth[inside], recording.markers.path
    )


def standing_trial(recording: Recording) -> Points:
    """Return the median position (3,) of every marker of the standing trial [m]; empty without a standing trial.

    The median is taken along forward, left and up of the subject, as far as the pelvis shows them.
    """
    static, axes = recording.static, None
    if static is None:
        return {}
    for part in ("hip_center", "asis"):  # the spines come last: their axes count where they are seen
        pair = [recording.mapping.get(f"{part}_{side}", {}) for side in SIDES]
        if all(weights and all(marker in static for marker in weights) for weights in pair):
            right, left = (static.weighted(weights) for weights in pair)
            across = (left - right)[np.isfinite(left - right).all(axis=1)]
            if len(across) and np.linalg.norm(across.mean(axis=0)[:2]) > 0.0:
                y = horizontal(across.mean(axis=0))
                axes = np.stack([np.cross(y, UP), y, UP], axis=1)
    return standing_markers(static, axes)


def standing_markers(static: Markers, axes: Array | None = None) -> Points:
    """Return the median position (3,) of every marker in a recording of standing [m].

    Unlike the mean, the median does not change with one bad frame. It is taken along the axes of the subject, so that
    it does not depend on the axes of the laboratory.
    """
    complete = np.flatnonzero(~np.isnan(static.position).any(axis=2).all(axis=0))
    rotation = np.eye(3) if axes is None else axes
    middle = median_of_known(static.position[:, complete] @ rotation) @ rotation.T
    return {static.names[k]: place for k, place in zip(complete.tolist(), middle, strict=True)}


def axis_end(landmark: str) -> str:
    """Return the marker name in the standing trial of a landmark at an end of a functional axis."""
    return f"{landmark}, functional"


@dataclass(frozen=True, eq=False)
class MarkerMap:
    """Map from n markers to landmarks, the same in every frame.

    clusters: clusters, in standing, that carry a point or represent a body. carrier (P,): the cluster that carries each
    point without a marker; place (P, 3) [m]: the standing position of this point. rounds: registrations until every
    cluster is known, 1 unless a cluster has a carried marker. landmarks (L,): names, each the
    weighted sum of k of the markers and, after them, the carried points: parts (L, k), weights (L, k).
    """

    clusters: Shapes
    carrier: Indices
    place: Array
    rounds: int
    landmarks: tuple[str, ...]
    parts: Indices
    weights: Array

    @classmethod
    def from_recording(cls, recording: Recording, markers: Sequence[str], standing: Points) -> Self:
        """The map for the markers of a motion (n,) from the median positions (3,) [m] of the markers in standing."""
        number = {marker: k for k, marker in enumerate(markers)}
        after = cluster_rounds(recording.clusters, recording.carried, number)
        carried = [
            (marker, cluster, marker) for marker, cluster in recording.carried.items() if cluster in after
        ]
        known = {point: len(markers) + k for k, (point, _, _) in enumerate(carried)} | number
        clusters = {
            name: (np.array([standing[marker] for marker in members]), [known[marker] for marker in members])
            for name, members in recording.clusters.items()
            if name in after
        }
        shapes = body_shapes(recording, clusters)
        carried += [(end, cluster, axis_end(end)) for end, cluster in recording.axis_ends.items()]
        number |= {point: len(markers) + k for k, (point, _, _) in enumerate(carried)}
        sums = {
            landmark: ([number[marker] for marker in weights], list(weights.values()))
            for landmark, weights in recording.mapping.items()
            if weights.keys() <= number.keys()
        }
        sums |= {end: ([number[end]], [1.0]) for end in recording.axis_ends}
        most = max((len(parts) for parts, _ in sums.values()), default=1)
        # padded with the first one: a marker that is not seen makes no other landmark unknown
        padded = [
            (parts + parts[:1] * (most - len(parts)), weights + [0.0] * (most - len(parts)))
            for parts, weights in sums.values()
        ]
        return cls(
            shapes,
            np.array([shapes.names.index(cluster) for _, cluster, _ in carried], np.intp),
            np.array([standing[name] for *_, name in carried]).reshape(-1, 3),
            max(after.values(), default=1),
            tuple(sums),
            np.array([parts for parts, _ in padded], np.intp).reshape(-1, most),
            np.array([weights for _, weights in padded]).reshape(-1, most),
        )

    def follow(self, position: Array) -> tuple[dict[str, Poses], tuple[str, ...], Array]:
        """The clusters, and names (L,) and places (T, L, 3) [m] of all landmarks, of markers (T, n, 3) [m]."""
        measured = position
        if self.rounds > 1:
            unknown = np.full((len(measured), self.carrier.size, 3), np.nan)
            position = np.concatenate([measured, unknown], axis=1)
        for _ in range(self.rounds):
            poses = rotation, translation, _ = self.clusters.register(position)
            if self.carrier.size:
                carried = (rotation[self.carrier] @ self.place[:, None, :, None])[..., 0]
                carried += translation[self.carrier]
                position = np.concatenate([measured, carried.swapaxes(0, 1)], axis=1)

        places = self.weights[:, :1] * position[:, self.parts[:, 0]]
        for k in range(1, self.parts.shape[1]):
            places += self.weights[:, k, None] * position[:, self.parts[:, k]]
        return self.clusters.poses(poses), self.landmarks, places


def body_shapes(recording: Recording, bodies: Mapping[str, tuple[Array, Sequence[int]]]) -> Shapes:
    """The shapes of standing bodies, see `Shapes.from_bodies`; refuses a body whose points show no rotation."""
    for body, (shape, _) in bodies.items():
        try:
            check_shape(shape, body)
        except InputError as error:
            table, key = body_place(recording, body)
            after = f" in {recording.static.path}" if recording.static is not None else ""
            raise recording.document.placed(error, table, key, after=after) from None
    return Shapes.from_bodies(bodies)


def registered(recording: Recording, reference: Array, moving: Array, body: str) -> Poses:
    """Register a body of the trial; see ``register``."""
    shapes = body_shapes(recording, {body: (reference, range(len(reference)))})
    return shapes.poses(shapes.register(moving))[body]


def body_place(recording: Recording, body: str) -> tuple[str, str]:
    """Return table and key of the trial file with the points of a body."""
    if body in recording.clusters:
        return "clusters", body
    if body == "pelvis":
        return "mapping", "asis_r"
    # The others are the feet, and triangles by the names of their corners, of which the wand is named.
    wand = body.partition(", ")[2].partition(" ")[0]
    return "mapping", f"heel_{body[-1]}" if body.startswith("foot") else wand


def standing_landmarks(recording: Recording, standing: Points) -> Points:
    """The landmarks (3,) [m] in the standing trial, with ends of functional axes where these are known already."""
    shown = {
        landmark: np.sum([weight * standing[marker] for marker, weight in weights.items()], axis=0)
        for landmark, weights in recording.mapping.items()
        if all(marker in standing for marker in weights)
    }
    ends = [end for end in recording.axis_ends if axis_end(end) in standing]
    return shown | {end: standing[axis_end(end)] for end in ends}
