"""The pose of each sample of a stream: the nearest consistent one, from the pose of the sample before."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask, by_name, mean_length
from musclesolve._util.long_arrays import in_blocks
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.pose_fit import NearestPose, Pose, fit_pose
from musclesolve.dynamics.rotations import angle_between, to_cardan
from musclesolve.errors import MuscleSolveError
from musclesolve.live.marker_bridging import MarkerBodies
from musclesolve.motion.anatomy.anatomy import Following, Seen, check_axes, measured_body
from musclesolve.motion.anatomy.functional_axes import with_functional_axes
from musclesolve.motion.anatomy.joint_centers import between
from musclesolve.motion.anatomy.landmark_positions import MarkerMap, filtered_markers, standing_trial
from musclesolve.motion.motion_plausibility import FOOT, FOOT_LIMIT, REACH, jumps
from musclesolve.pipeline.mechanics import TIME_MARGIN, Mechanics, carries_foot
from musclesolve.recording.data import SIDES, Trial
from musclesolve.recording.trial.recording_checks import check_sides

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
        pose, legs = (
            in_blocks(self.bodies, fit.q),
            np.any([carries_foot(model, side) for side in SIDES], axis=0),
        )
        angles = fit.coordinates[:, np.flatnonzero(legs[: model.tree.joint_count])]
        self.walk, self.moves = walk.position, bool(np.ptp(angles, axis=0).max() > LEAST_ANGLE_RANGE)
        self.marker_bodies = (
            MarkerBodies.from_poses(self.walk, *pose)
            if self.moves
            else MarkerBodies.from_standing(trial, model, self.walk, pose)
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
            return None, None, str(error)
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
        return ", ".join(self._markers[k] for k in np.flatnonzero(which))
