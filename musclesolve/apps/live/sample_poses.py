"""The pose of each sample of a stream: the nearest consistent one, from the pose of the sample before.

Briefly hidden markers are placed on their body as long as its pose is known (`MarkerBodies`). Every marker that is
needed belongs to the body of the model against which it moves least in the recording of the trial, and stands at a
place of that body. Where the subject stands still all through it, no motion shows the body: the body follows from the
landmark that the marker shows, else from the landmarks in its clusters, else the body whose segment is nearest. A
hidden marker is put there: on the body as its other markers show it where three or more of them are seen and span a
triangle (least squares, `register`), without a limit in time; else on the body as the motion goes on, which is known
for a moment only.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, by_name, mean_length
from musclesolve._util.sides import split_side, with_side
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.pose_fit import NearestPose, Pose, fit_pose
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import angle_between, to_cardan
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.bodies.mechanics import TIME_MARGIN, Mechanics, carries_foot
from musclesolve.laboratory.markers.gaps.rigid_registration import SMALLEST_BREADTH, breadth, register
from musclesolve.laboratory.markers.landmarks import landmarks
from musclesolve.laboratory.motion.anatomy.anatomy import Following, Seen, check_axes, measured_body
from musclesolve.laboratory.motion.anatomy.functional_axes import with_functional_axes
from musclesolve.laboratory.motion.anatomy.joint_centers import between
from musclesolve.laboratory.motion.anatomy.landmark_positions import (
    MarkerMap,
    filtered_markers,
    standing_trial,
)
from musclesolve.laboratory.motion.motion_plausibility import FOOT, FOOT_LIMIT, REACH, jumps
from musclesolve.laboratory.recording.data import SIDES, Recording, Trial
from musclesolve.laboratory.trial.recording_checks import check_sides

SEGMENTS = {
    "thigh": ("hip", "knee"),
    "shank": ("knee", "ankle"),
    "foot": ("heel", "toe"),
    "upper_arm": ("shoulder", "elbow"),
    "forearm": ("elbow", "wrist"),
}
"""Body -> the points of the model between which its segment lies."""


@dataclass(frozen=True, eq=False)
class MarkerBodies:
    """The body of every one of n markers: number (n,) and place (n, 3) [m] in the standing layout of the model."""

    body: Indices
    place: Array

    @classmethod
    def from_poses(cls, position: Array, rotation: Array, translation: Array) -> Self:
        """The bodies against which markers move least.

        Args:
            position: markers (T, n, 3) [m], without gaps.
            rotation, translation: of the bodies from standing, (T, B, 3, 3) and (T, B, 3) [m].
        """
        poses, mean = (position, rotation, translation), cls._mean(position, rotation, translation)
        squares = ((cls._local(*poses) - mean) ** 2).mean(axis=0)
        body = np.argmin(np.linalg.norm(np.sqrt(squares), axis=2), axis=1)
        return cls(body, mean[np.arange(len(body)), body])

    @classmethod
    def from_standing(
        cls, trial: Recording, model: Model, position: Array, pose: tuple[Array, Array]
    ) -> Self:
        """The bodies of the needed markers on a subject who stands.

        Args:
            trial: its mapping and clusters.
            model: of the subject.
            position: of its needed markers (T, n, 3) [m], without gaps.
            pose: rotation (T, B, 3, 3) and translation (T, B, 3) [m] of the bodies from standing.
        """
        body = np.zeros(len(trial.used_markers), np.intp)
        lines = _segment_lines(model)
        bones = {name: landmarks()[name].on for name in trial.mapping}
        by_landmark = {
            marker: with_side(bones[landmark], split_side(landmark)[1])
            for landmark, weights in trial.mapping.items()
            if bones[landmark] in (*SEGMENTS, "pelvis", "thorax")
            for marker in weights
        }
        for k, marker in enumerate(trial.used_markers):
            others = (other for cluster in trial.clusters.values() if marker in cluster for other in cluster)
            beside = [by_landmark[other] for other in others if other in by_landmark]
            if marker in by_landmark:
                name = by_landmark[marker]
            elif beside:
                name = max(dict.fromkeys(beside), key=beside.count)
            else:
                rotation, translation = (part.mean(axis=0) for part in pose)
                away = {}
                for segment, (first, last) in lines.items():
                    turn, shift = rotation[model.body(segment)], translation[model.body(segment)]
                    middle = position[:, k].mean(axis=0)
                    away[segment] = _distance(middle, turn @ first + shift, turn @ last + shift)
                name = min(away, key=away.__getitem__)
            body[k] = model.body(name if name in lines else split_side(name)[0])
        return cls(body, cls._mean(position, *pose)[np.arange(len(body)), body])

    @staticmethod
    def _local(position: Array, rotation: Array, translation: Array) -> Array:
        """Places of markers in the standing layout of every body, (T, n, B, 3) [m]."""
        return np.einsum("tbyx,tnby->tnbx", rotation, position[:, :, None] - translation[:, None])

    @classmethod
    def _mean(cls, *poses: Array) -> Array:
        """The mean of these places over the frames, (n, B, 3) [m]."""
        return cls._local(*poses).mean(axis=0)

    def filled(self, position: Array, rotation: Array, translation: Array) -> tuple[Array, Mask]:
        """Markers with the hidden ones put in their places, (n, 3) [m], and which of them the motion alone shows (n,).

        Args:
            position: markers of one frame (n, 3) [m], NaN where hidden.
            rotation, translation: of the bodies as the motion goes on, (B, 3, 3) and (B, 3) [m].
        """
        hidden = ~np.isfinite(position).all(axis=1)
        guessed = np.zeros(len(position), bool)
        whole = position.copy()
        for body in np.unique(self.body[hidden]):
            lost = hidden & (self.body == body)
            others = ~hidden & (self.body == body)
            if breadth(self.place[others]) >= SMALLEST_BREADTH:
                pose = register(self.place[others], position[None, others])
                whole[lost] = self.place[lost] @ pose.rotation[0].T + pose.translation[0]
            else:
                whole[lost] = self.place[lost] @ rotation[body].T + translation[body]
                guessed |= lost
        return whole, guessed


def _segment_lines(model: Model) -> dict[str, tuple[Array, Array]]:
    """Body -> both ends of its segment in the standing layout [m]."""
    lines = {}
    for stem, (first, last) in SEGMENTS.items():
        for side in SIDES:
            ends = [model.standing[model.slot(f"{end}_{side}")] for end in (first, last)]
            lines[f"{stem}_{side}"] = ends[0], ends[1]
    hips = [model.standing[model.slot(f"hip_{side}")] for side in SIDES]
    lines["pelvis"] = hips[0], hips[1]
    lines["thorax"] = 0.5 * (hips[0] + hips[1]), model.standing[model.slot("neck_base")]
    return lines


def _distance(point: Array, first: Array, last: Array) -> float:
    """Distance of a point from the line between two others, (3,) each [m]."""
    along = last - first
    share = np.clip(along @ (point - first) / (along @ along), 0.0, 1.0)
    return float(np.linalg.norm(point - first - share * along))


LEAST_ANGLE_RANGE = 0.35
"""A motion in which no angle of a leg changes by more than this [rad] does not show which body carries which marker."""


class SamplePoses:
    """Poses of samples, of the model of a recording.

    Args:
        trial: the recording, with the labels right.
        mechanics: its model and motion.
        rate: samples a second.
        bridge: longest time for which markers that only the motion shows are bridged [s].

    Attributes:
        walk: the markers (T, n, 3) of the recording, filtered [m]; moves: whether they show which body carries them.
        marker_bodies: the body of the model on which each marker is. feet: numbers of heel and toe of the right and the
            left foot among the points, (2, 2). coordinates (K+6,): of the newest sample, None where not known; shift
            (p,): how far that moved each measured point [m].
    """

    def __init__(self, trial: Trial, mechanics: Mechanics, rate: float, bridge: float) -> None:
        self._trial, self._rate, self._bridge = trial, rate, bridge
        self._model, measured, fit = mechanics.model, mechanics.measured, mechanics.fit
        self._markers, model = trial.used_markers, self._model
        standing, _ = with_functional_axes(trial, standing_trial(trial))
        walk = filtered_markers(trial, measured.filter, TIME_MARGIN)
        shown = (trial, trial.subject, trial.hip_regression, walk, standing)
        stance = measured_body(*shown, checked=False).stance
        self._map = MarkerMap.from_recording(trial, self._markers, standing)
        seen = Seen.from_markers(self._map, walk.position[:1])
        self._following = Following.from_posture(trial, trial.subject, stance, seen)
        hips = between(measured.points["hip_r"], measured.points["hip_l"])
        self._trunk = mean_length(measured.points["neck_base"] - hips)
        weights = trial.settings.consistency.weights
        targets = Targets.build(model, measured.points, measured.directions, weights).frames(slice(0, 1))
        self._nearest = NearestPose.from_targets(model, targets)
        self._are_points = targets.slots < model.topology.point_count
        self._point_slots = targets.slots[self._are_points]
        rotation, translation = self.bodies(fit.q)
        legs = np.any([carries_foot(model, side) for side in SIDES], axis=0)
        angles = fit.coordinates[:, np.flatnonzero(legs[: model.tree.joint_count])]
        self.walk, self.moves = walk.position, bool(np.ptp(angles, axis=0).max() > LEAST_ANGLE_RANGE)
        self.marker_bodies = (
            MarkerBodies.from_poses(self.walk, rotation, translation)
            if self.moves
            else MarkerBodies.from_standing(trial, model, self.walk, (rotation, translation))
        )
        self.feet = np.array([[model.slot(f"{end}_{side}") for end in ("heel", "toe")] for side in SIDES])
        self._foot_columns = np.array(
            [[fit.points.index(f"{part}_{side}") for part in FOOT] for side in SIDES]
        )
        chain = [f"{name}_{side}" for side in SIDES for name in ("thigh", "shank", "foot")]
        self._links = np.array([model.body(name) for name in ("pelvis", *chain)])
        self.clear()

    def clear(self) -> None:
        """Forget all samples."""
        self._lose()
        self.shift = np.zeros(0)
        self._guessed_since: float | None = None  # since when a marker is where the motion alone puts it [s]
        self._not_plausible = np.full(2, -np.inf)  # last such sample by foot [s]

    def _lose(self) -> None:
        """Forget the pose: the next one is found without it."""
        self.coordinates: Array | None = None
        self._step: Array | None = None  # how far it went since the sample before (K+6,)
        self._base: Array | None = None  # rotation of the pelvis in it (3, 3)
        self._joints: Array | None = None  # rotations of hips, knees and ankles in it (6, 3, 3)

    def plausible(self, at: float) -> Mask:
        """(2,) whether the samples near a time [s] are plausible for the right and the left foot."""
        return np.asarray(at > self._not_plausible + REACH / self._rate)

    def bodies(self, q: Array) -> tuple[Array, Array]:
        """Rotation (T, B, 3, 3) and translation (T, B, 3) [m] of the bodies from standing, in poses q (T, N, 3)."""
        bodies = self._model.rigid_bodies
        rotation = bodies.rotation(q)
        return rotation, q[:, bodies.slots[:, 0]] - np.einsum("tbxy,by->tbx", rotation, bodies.origin)

    def fitted(
        self, markers: Array, near: Array | None, base: Array | None = None
    ) -> tuple[Array, Array, tuple[Array, Array]]:
        """Coordinates (K+6,) of one frame of markers (n, 3) [m], and how far each measured point was moved (p,) [m].

        Also natural coordinates (N, 3) and rotations of the bodies (B, 3, 3) of the pose. near: (K+6,) a pose to start
        from, with which angles go on; None: from standing. base (3, 3): rotation of the pelvis in it.
        """
        seen = Seen.from_markers(self._map, markers[None])
        followed = self._following.follow(seen, trunk=self._trunk)
        values = np.concatenate([followed.place, followed.direction], axis=1)
        nearest = self._nearest.at(values)
        if near is None:
            check_sides(self._trial, seen.moving)
            check_axes(self._trial, by_name(followed.axes, followed.direction))
            coordinates = fit_pose(self._model, nearest.targets).coordinates[0]
            pose = Pose.from_coordinates(coordinates[None])
        else:
            base = Pose.from_coordinates(near[None]).rotation[0] if base is None else base
            start = Pose(near[None, :-6], near[None, -6:-3], base[None])
            # Coordinates that the markers do not show stay unchanged.
            pose = nearest.going_on(start, 1.0 / self._rate).converge(start, 1e-8, 60)
            cardan = np.ravel(to_cardan(pose.rotation))
            coordinates = np.concatenate([pose.angles[0], pose.position[0], cardan])
            turns = np.round((coordinates - near) / (2.0 * np.pi))
            turns[-6:-3] = 0.0
            coordinates -= 2.0 * np.pi * turns
        (q,), (rotation,) = pose.placed(self._model)
        off = q[self._point_slots] - values[0, self._are_points]
        return coordinates, np.sqrt(np.vecdot(off, off)), (q, rotation)

    def take(self, time: float, markers: Array) -> tuple[Array | None, Array | None, str]:
        """Coordinates (K+6,) of a sample and the ends of its feet (2, 2, 3) [m], None where not known; a note."""
        before, hidden = self.coordinates, np.asarray(~np.isfinite(markers).all(axis=1))
        guessed = hidden
        if hidden.any():
            if before is None:
                return None, None, f"hidden: {self._named(hidden)}"
            step = np.zeros_like(before) if self._step is None else self._step
            q, _ = Pose.from_coordinates((before + step)[None]).placed(self._model)
            rotation, translation = self.bodies(q)
            markers, guessed = self.marker_bodies.filled(markers, rotation[0], translation[0])
        if not guessed.any():
            self._guessed_since = None
        else:
            self._guessed_since = time if self._guessed_since is None else self._guessed_since
            if time - self._guessed_since > self._bridge + 1e-9:
                self._lose()
                return None, None, f"hidden for too long: {self._named(guessed)}"
        try:
            coordinates, self.shift, (q, rotation) = self.fitted(markers, before, self._base)
        except MuscleSolveError as error:
            self._lose()
            problem = getattr(error, "problem", None)
            # the remedy of the error is for the trial file, whose recording has passed the same check
            of_stream = f"{problem}; not so in the recording of the trial: see the labels of the stream"
            return None, None, str(error) if problem is None else of_stream
        links = rotation[self._links]
        joints = np.swapaxes(links[[0, 1, 2, 0, 4, 5]], 1, 2) @ links[1:]
        if self._joints is not None and jumps(angle_between(self._joints, joints), 1.0 / self._rate).any():
            self._not_plausible[:] = time
        of_feet = self.shift[self._foot_columns]
        self._not_plausible[np.vecdot(of_feet, of_feet) > of_feet.shape[1] * FOOT_LIMIT**2] = time
        self._step = None if before is None else coordinates - before
        self.coordinates, self._base, self._joints = coordinates, links[0], joints
        return coordinates, q[self.feet], ""

    def _named(self, which: Mask) -> str:
        return "all markers" if which.all() else ", ".join(self._markers[k] for k in np.flatnonzero(which))
