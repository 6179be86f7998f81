"""Bridging of briefly hidden markers: they are placed on their body as long as its pose is known.

Every marker that is needed belongs to the body of the model against which it moves least in the recording of the trial,
and stands at a place of that body. Where the subject stands still all through it, no motion shows the body: the body
follows from the landmark that the marker shows, else from the landmarks in its clusters, else the body whose segment is
nearest. A hidden marker is put there: on the body as its other markers show it where three or more of them are seen and
span a triangle (least squares, `register`), without a limit in time; else on the body as the motion goes on, which is
known for a moment only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.long_arrays import sum_of
from musclesolve._util.sides import split_side, with_side
from musclesolve.dynamics.model.model import Model
from musclesolve.recording.data import SIDES, Recording
from musclesolve.recording.gaps.rigid_registration import SMALLEST_BREADTH, breadth, register
from musclesolve.recording.markers.landmark_names import landmarks

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
    def from_poses(cls, position: Array, rotation: Array, translation: Array) -> MarkerBodies:
        """The bodies against which markers move least.

        Args:
            position: markers (T, n, 3) [m], without gaps.
            rotation, translation: of the bodies from standing, (T, B, 3, 3) and (T, B, 3) [m].
        """
        poses, mean = (position, rotation, translation), cls._mean(position, rotation, translation)
        squares = sum_of(lambda *some: (cls._local(*some) - mean) ** 2, *poses) / len(position)
        body = np.argmin(np.linalg.norm(np.sqrt(squares), axis=2), axis=1)
        return cls(body, mean[np.arange(len(body)), body])

    @classmethod
    def from_standing(
        cls, trial: Recording, model: Model, position: Array, pose: tuple[Array, Array]
    ) -> MarkerBodies:
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
                rotation, translation = (each.mean(axis=0) for each in pose)
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
        away = position[:, :, None] - translation[:, None]
        return np.einsum("tbyx,tnby->tnbx", rotation, away)

    @classmethod
    def _mean(cls, *poses: Array) -> Array:
        """The mean of these places over the frames, (n, B, 3) [m]."""
        return sum_of(cls._local, *poses) / len(poses[0])

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
