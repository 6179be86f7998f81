"""Points of an OpenSim model's bodies along its motion, the bones between them, and its muscles."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.muscles.paths.layout import PathLines
from musclesolve.opensim.geometry import path_lines
from musclesolve.opensim.kinematics import BodyMotion, body_motion, coordinate_values
from musclesolve.opensim.model import Joint, OpenSimModel
from musclesolve.results.dataset.picture.skeleton import MusclePaths, Skeleton

_SAME = 1e-3
"""Points of two bodies that never lie farther apart are one [m]."""
_SHORTEST = 0.01
"""Shorter bones are not drawn [m]."""
TO_GLOBAL = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""From the axes of OpenSim (x forward, y up, z right)."""


def model_skeleton(model: OpenSimModel, values: Array) -> Skeleton:
    """Joints of a model as points, for values (T, K) of all coordinates: each body from its joint to those beyond.

    A joint lies where the frame of the body beyond it is, and bears the name of the joint. The nearer body has its own
    point there if the joint lets the two move apart: where that frame is in the default pose.
    """
    drawing = _Drawing(model, body_motion(model, values), body_motion(model, coordinate_values(model, {})))
    for joint in model.joints:
        drawing.points[joint.name] = drawing.place(joint.outboard.body, joint.outboard.position)
    for body in (joint.outboard.body for joint in model.joints):
        drawing.draw(body)
    points = drawing.points
    long = [(a, b) for a, b in drawing.bones if np.linalg.norm(points[a][0] - points[b][0]) > _SHORTEST]
    position = (np.stack(list(points.values()), axis=1) @ TO_GLOBAL.T).astype(np.float32)
    return Skeleton(tuple(points), position, tuple(long))


@dataclass(eq=False)
class _Drawing:
    """The points (T, 3) and bones found so far, along a motion and with the default pose."""

    model: OpenSimModel
    motion: BodyMotion
    rest: BodyMotion
    points: dict[str, Array] = field(default_factory=dict)
    bones: list[tuple[str, str]] = field(default_factory=list)

    def place(self, body: str, local: Array) -> Array:
        """A point of a body in the ground, (T, 3)."""
        number = self.model.body_number[body]
        return np.asarray(self.motion.rotation[:, number] @ local + self.motion.position[:, number])

    def draw(self, body: str) -> None:
        """The bones of a body: from its joint to those beyond it, and to its tip."""
        start = next(joint.name for joint in self.model.joints if joint.outboard.body == body)
        beyond = [self._end(joint) for joint in self.model.joints if joint.inboard.body == body]
        upright = body in bundled_toml(__package__, "skeleton.toml")["model"]["upright"]
        if upright and len(beyond) > 1:
            middle = f"middle of {body}"
            self.points[middle] = np.mean([self.points[end] for end in beyond], axis=0)
            self.bones.append((start, middle))
            start = middle
        self.bones += [(start, end) for end in beyond]
        if len(beyond) > 2:
            self.bones += list(zip(beyond, [*beyond[1:], beyond[0]], strict=True))
        mass = self.model.masses.get(body)
        if mass is not None and (upright or not beyond):
            own = next(joint for joint in self.model.joints if joint.outboard.body == body)
            self.points[f"end of {body}"] = self.place(body, 2.0 * mass.center - own.outboard.position)
            self.bones.append((start, f"end of {body}"))

    def _end(self, joint: Joint) -> str:
        """Name of the point of the nearer body at a joint."""
        inner, outer = (self.model.body_number[frame.body] for frame in (joint.inboard, joint.outboard))
        at_rest = self.rest.rotation[0, outer] @ joint.outboard.position + self.rest.position[0, outer]
        local = self.rest.rotation[0, inner].T @ (at_rest - self.rest.position[0, inner])
        own = self.place(joint.inboard.body, local)
        if np.linalg.norm(own - self.points[joint.name], axis=1).max() <= _SAME:
            return joint.name
        name = f"{joint.name} on {joint.inboard.body}"
        self.points[name] = own
        return name


def model_paths(model: OpenSimModel, values: Array, muscles: tuple[str, ...]) -> MusclePaths:
    """The paths of some muscles for values (T, K) of all coordinates."""
    lines = path_lines(model, values, muscles)
    turned = (lines.position @ TO_GLOBAL.T).astype(np.float32)
    return MusclePaths(muscles, PathLines(lines.muscle, turned, lines.used))
