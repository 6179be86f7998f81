"""Points and bones of the skeleton of an OpenSim model, and paths of its muscles, as variables of a result."""

from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.long_arrays import blocks, in_blocks
from musclesolve.constants import LOADED_FROM_N
from musclesolve.opensim.external_loads import load_in_ground
from musclesolve.opensim.geometry import path_lines
from musclesolve.opensim.kinematics import BodyMotion, body_motion, coordinate_values
from musclesolve.opensim.model import GROUND, TO_GLOBAL, Joint, OpenSimModel
from musclesolve.pipeline.opensim.load_dynamics import LoadDynamics
from musclesolve.results.dataset.skeleton import Skeleton, VariablesAndAttributes, path_labels

_SAME = 1e-3
"""Largest distance between points of two bodies that count as one point [m]."""
_SHORTEST_BONE = 0.01
"""Least length of a bone that is drawn [m]."""


def model_skeleton(model: OpenSimModel, motion: BodyMotion) -> Skeleton:
    """Make a skeleton from the poses of a model: lines from a body's joint to its distal joints.

    The point of a joint is the origin of its frame on the distal body. If the joint translates, the proximal body has
    its own point, at the origin of this frame in the default pose.
    """
    drawing = _Drawing(model, motion, body_motion(model, coordinate_values(model, {})))
    for joint in model.joints:
        drawing.points[joint.name] = drawing.place(joint.outboard.body, joint.outboard.position)
    for body in (joint.outboard.body for joint in model.joints):
        drawing.draw(body)
    points = drawing.points
    long = [
        bone
        for bone in drawing.bones
        if np.linalg.norm(points[bone[0]][0] - points[bone[1]][0]) > _SHORTEST_BONE
    ]
    moved = [k for k, body in enumerate(model.bodies) if body in model.reachable and body != GROUND]

    def turned(place: Array, rotation: Array, *own: Array) -> tuple[AnyArray, ...]:
        """Points, places and rotations of some frames in the global frame, in single precision."""
        position = np.stack(own, axis=1) @ TO_GLOBAL.T
        of_bodies = place[:, moved] @ TO_GLOBAL.T, TO_GLOBAL @ rotation[:, moved] @ TO_GLOBAL.T
        return tuple(values.astype(np.float32) for values in (position, *of_bodies))

    position, place, rotation = in_blocks(turned, motion.position, motion.rotation, *points.values())
    segments = tuple(model.bodies[k] for k in moved)
    return Skeleton(tuple(points), position, tuple(long), segments, place, rotation)


@dataclass(eq=False)
class _Drawing:
    """The points (T, 3) and bones found so far, along a motion and with the default pose."""

    model: OpenSimModel
    motion: BodyMotion
    rest: BodyMotion
    points: dict[str, Array] = field(default_factory=dict)
    bones: list[tuple[str, str, str]] = field(default_factory=list)

    def place(self, body: str, local: Array) -> Array:
        """Position (T, 3) [m] of a point of a body in the ground."""
        number = self.model.body_number[body]
        return np.asarray(self.motion.rotation[:, number] @ local + self.motion.position[:, number])

    def draw(self, body: str) -> None:
        """Add the bones of a body: lines from its joint to its distal joints, and to its tip."""
        start = next(joint.name for joint in self.model.joints if joint.outboard.body == body)
        beyond = [self._end(joint) for joint in self.model.joints if joint.inboard.body == body]
        upright = body in bundled_toml(__package__, "skeleton.toml")["model"]["upright"]
        if upright and len(beyond) > 1:
            middle = f"middle of {body}"
            self.points[middle] = np.mean([self.points[end] for end in beyond], axis=0)
            self.bones.append((start, middle, body))
            start = middle
        self.bones += [(start, end, body) for end in beyond]
        if len(beyond) > 2:
            self.bones += [(a, b, body) for a, b in zip(beyond, [*beyond[1:], beyond[0]], strict=True)]
        mass = self.model.masses.get(body)
        if mass is not None and (upright or not beyond):
            own = next(joint for joint in self.model.joints if joint.outboard.body == body)
            self.points[f"end of {body}"] = self.place(body, 2.0 * mass.center - own.outboard.position)
            self.bones.append((start, f"end of {body}", body))

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


def model_paths(model: OpenSimModel, values: Array, muscles: tuple[str, ...]) -> VariablesAndAttributes:
    """The paths of muscles with points for values (T, K) of all coordinates."""
    muscles = tuple(name for name in muscles if model.muscles[name].points)
    if not muscles:
        return {}, {}
    lines = path_lines(model, values, muscles)
    for block in blocks(len(values)):  # in place: the points are a third of a long result
        lines.position[block] = lines.position[block] @ TO_GLOBAL.T
    return path_labels(np.array(muscles)[lines.muscle], lines.position)


def load_labels(model: OpenSimModel, dynamics: LoadDynamics | None) -> VariablesAndAttributes:
    """Forces and their points over time and external_load; names of the loads with the loaded bodies."""
    if dynamics is None or not dynamics.loads:
        return {}, {}
    time, pose = dynamics.motion.time, dynamics.dynamics.bodies.pose
    placed = [load_in_ground(model, load, time, pose) for load in dynamics.loads]
    force, point = (np.stack(parts, axis=1) @ TO_GLOBAL.T for parts in zip(*placed, strict=True))
    point = np.where(force[..., 2:] > LOADED_FROM_N, point, np.nan)
    over = ("time", "external_load", "axis")
    return {"external_force": (over, force), "external_point": (over, point)}, {
        "external_load": [f"{load.name} on {load.body}" for load in dynamics.loads]
    }
