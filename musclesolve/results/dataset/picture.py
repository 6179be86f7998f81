"""Points and bones of a skeleton, and paths of its muscles, as variables of a result."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.constants import LOADED_FROM_N
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import RigidBodies
from musclesolve.dynamics.vectors import MOST_FRAMES, blocks, in_blocks
from musclesolve.muscles.paths.engine import PathLines
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles
from musclesolve.opensim.external_loads import load_in_ground
from musclesolve.opensim.geometry import path_lines
from musclesolve.opensim.kinematics import BodyMotion, body_motion, body_poses, coordinate_values
from musclesolve.opensim.model import GROUND, TO_GLOBAL, Joint, OpenSimModel
from musclesolve.pipeline.opensim.load_dynamics import LoadDynamics
from musclesolve.results.dataset.block_array import MotionArray
from musclesolve.results.dataset.skeleton import Skeleton, VariablesAndAttributes


def path_labels(parts: Sequence[tuple[Sequence[str], PathLines]]) -> VariablesAndAttributes:
    """Paths of muscles, of parts with their names and lines one after the other; the muscle of every point."""
    muscle = [np.asarray(names, np.str_)[lines.muscle] for names, lines in parts]
    return _of_paths(np.concatenate(muscle), np.concatenate([lines.position for _, lines in parts], axis=1))


def _of_paths(muscle: AnyArray, position: Any) -> VariablesAndAttributes:
    return {"path_position": (("time", "path_point", "axis"), position)}, {
        "path_muscle": ("path_point", muscle)
    }


def subject_paths(groups: Sequence[ScaledMuscles], motion: Motion) -> VariablesAndAttributes:
    """Paths of the muscles of a subject; beyond `MOST_FRAMES` frames they are traced when they are read."""
    q, coordinates = motion.q, motion.coordinates
    if len(q) <= MOST_FRAMES:
        return path_labels([(group.names, group.paths.lines(q, coordinates)) for group in groups])
    most = [group.paths.points_used(q, coordinates).max(axis=0) for group in groups]
    muscle = np.concatenate([np.repeat(group.names, each) for group, each in zip(groups, most, strict=True)])
    paths = [(group.paths, each) for group, each in zip(groups, most, strict=True)]
    return _of_paths(muscle, MotionArray(partial(_lines, paths), q, coordinates).variable_data())


def _lines(paths: Sequence[tuple[Paths, Indices]], q: Array, coordinates: Array) -> AnyArray:
    """Lines (T, S, 3) of groups of muscles, one after the other, each with the number of points of its muscles (n,)."""
    return np.concatenate([group.lines_of(q, coordinates, most) for group, most in paths], axis=1)


def subject_skeleton(model: Model, motion: Motion) -> Skeleton:
    """The points of the model and the points of the pelvis and the hands that skeleton.toml adds.

    Beyond `MOST_FRAMES` frames the poses of the segments are computed when they are read.
    """
    table = bundled_toml(__package__, "skeleton.toml")
    names = [point.name for point in model.topology.points]
    places = {name: motion.q[:, model.slot(name)] for name in names}
    places |= {name: 0.5 * (places[one] + places[other]) for name, (one, other) in table["middle"].items()}
    # points fixed to the pelvis, by their offsets in half distances of the hip centers
    unit = 0.5 * np.linalg.norm(places["hip_l"] - places["hip_r"], axis=1).mean()
    pelvis = model.rigid_bodies.subset(np.array([model.body("pelvis")]))
    rotation = in_blocks(pelvis.rotation, motion.q)[:, 0]
    for name, offset in table["pelvis"].items():
        places[name] = motion.origin + rotation @ (unit * np.array(offset))
    chosen = {name: place for name, place in places.items() if name not in table["subject"]["left_out"]}
    position = np.stack(list(chosen.values()), axis=1, dtype=np.float32, casting="same_kind")
    bones = [(str(start), str(end), str(segment)) for start, end, segment in table["subject"]["bones"]]
    segments = tuple(str(name) for name in dict.fromkeys(segment for *_, segment in bones))
    bodies = model.rigid_bodies.subset(np.array([model.body(name) for name in segments]))
    place, turned = (
        MotionArray(function, motion.q).variable_data()
        if len(motion.q) > MOST_FRAMES
        else function(motion.q).astype(np.float32)
        for function in (partial(_origins, bodies), bodies.rotation)
    )
    return Skeleton(tuple(chosen), position, tuple(bones), segments, place, turned)


def _origins(bodies: RigidBodies, q: Array) -> AnyArray:
    """Positions (T, B, 3) [m] of the first points of some bodies."""
    return bodies.basic(q)[:, :, 0]


_SAME = 1e-3
"""Largest distance between points of two bodies that count as one point [m]."""
_SHORTEST_BONE = 0.01
"""Least length of a bone that is drawn [m]."""


def model_skeleton(model: OpenSimModel, values: Array) -> Skeleton:
    """Make a skeleton from a model for values (T, K) of all coordinates: lines from a body's joint to its distal
    joints.

    The point of a joint is the origin of its frame on the distal body. If the joint translates, the proximal body has
    its own point, at the origin of this frame in the default pose.
    """
    motion = body_poses(model, values)
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
    position = (np.stack(list(points.values()), axis=1) @ TO_GLOBAL.T).astype(np.float32)
    moved = [k for k, body in enumerate(model.bodies) if body in model.reachable and body != GROUND]
    place = (motion.position[:, moved] @ TO_GLOBAL.T).astype(np.float32)
    rotation = (TO_GLOBAL @ motion.rotation[:, moved] @ TO_GLOBAL.T).astype(np.float32)
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
    """The paths of muscles with points for values (T, K) of all coordinates; beyond `MOST_FRAMES` traced when read."""
    muscles = tuple(name for name in muscles if model.muscles[name].points)
    if not muscles:
        return {}, {}
    if len(values) <= MOST_FRAMES:
        lines = path_lines(model, values, muscles)
        return path_labels([(muscles, lines._replace(position=_turned(lines)))])
    used = (path_lines(model, values[part], muscles).used for part in blocks(len(values)))
    most = np.max([block.max(axis=0, initial=1) for block in used], axis=0)
    later = MotionArray(partial(_model_lines, model, muscles, most), values)
    return _of_paths(np.repeat(muscles, most), later.variable_data())


def _model_lines(model: OpenSimModel, muscles: tuple[str, ...], most: Indices, values: Array) -> AnyArray:
    """The paths (T, S, 3) [m] of some muscles with so many points (n,) each."""
    return _turned(path_lines(model, values, muscles, most))


def _turned(lines: PathLines) -> AnyArray:
    return (lines.position @ TO_GLOBAL.T).astype(np.float32)


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
