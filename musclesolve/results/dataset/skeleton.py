"""The skeleton of a result and paths of its muscles as they are drawn, and the form of variables of a result."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.long_arrays import in_blocks
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.paths import joined_paths
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles

Variable = tuple[tuple[str, ...], AnyArray] | tuple[tuple[str, ...], AnyArray, dict[str, object]]
"""Dimensions, values and attributes of a variable of a result."""


SEGMENT_AXES = ("forward", "left", "up")
"""Names of the axes of a segment by their direction in the standing pose."""

VariablesAndAttributes = tuple[dict[str, Variable], dict[str, object]]
"""Variables and coordinates of a result, named as in quantities.toml."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Drawing of bones, in single precision: points, lines between them, and segments to which surfaces are fixed.

    points (S): names, at position (T, S, 3) [m]. bones: lines from one point to another, with the segment of each.
    segments (B): names, at place (T, B, 3) [m] with rotation (T, B, 3, 3), whose columns are the axes of the segment:
    forward, left and up in the standing pose.
    """

    points: tuple[str, ...]
    position: AnyArray
    bones: tuple[tuple[str, str, str], ...]
    segments: tuple[str, ...]
    place: AnyArray
    rotation: AnyArray

    @property
    def labels(self) -> VariablesAndAttributes:
        """Poses of points and segments; their names, and ends and segments of the bones."""
        bones = np.array(self.bones, np.str_).reshape(-1, 3)
        variables: dict[str, Variable] = {
            "skeleton_position": (("time", "skeleton_point", "axis"), self.position),
            "segment_position": (("time", "segment", "axis"), self.place),
            "segment_rotation": (("time", "segment", "axis", "segment_axis"), self.rotation),
        }
        return variables, {
            "skeleton_point": list(self.points),
            "bone_start": ("bone", bones[:, 0]),
            "bone_end": ("bone", bones[:, 1]),
            "bone_segment": ("bone", bones[:, 2]),
            "segment": list(self.segments),
            "segment_axis": list(SEGMENT_AXES),
        }


def path_labels(muscle: AnyArray, position: AnyArray) -> VariablesAndAttributes:
    """Paths by the muscle (S,) of every point and their positions (T, S, 3) [m]."""
    over = "time", "path_point", "axis"
    return {"path_position": (over, position)}, {"path_muscle": ("path_point", muscle)}


def subject_paths(groups: Sequence[ScaledMuscles], motion: Motion) -> VariablesAndAttributes:
    """Paths of the muscles of a subject."""
    names = np.array([name for group in groups for name in group.names])
    lines = joined_paths([group.paths for group in groups]).lines(motion.q, motion.coordinates)
    return path_labels(names[lines.muscle], lines.position)


def subject_skeleton(model: Model, motion: Motion) -> Skeleton:
    """The points of the model and the points of the pelvis and the hands that skeleton.toml adds."""
    table = bundled_toml(__package__, "skeleton.toml")
    names = [point.name for point in model.topology.points]
    places = {name: motion.q[:, model.slot(name)] for name in names}
    for name, (one, other) in table["middle"].items():
        places[name] = in_blocks(lambda a, b: 0.5 * (a + b), places[one], places[other])
    # points fixed to the pelvis, by their offsets in half distances of the hip centers
    hips = places["hip_l"], places["hip_r"]
    unit = 0.5 * in_blocks(lambda left, right: np.linalg.norm(left - right, axis=1), *hips).mean()
    pelvis = model.rigid_bodies.subset(np.array([model.body("pelvis")]))
    rotation = in_blocks(pelvis.rotation, motion.q)[:, 0]
    for name, offset in table["pelvis"].items():
        away = unit * np.array(offset)
        places[name] = in_blocks(lambda at, turn, away=away: at + turn @ away, motion.origin, rotation)
    chosen = {name: place for name, place in places.items() if name not in table["subject"]["left_out"]}
    position = in_blocks(lambda *some: np.stack(some, axis=1).astype(np.float32), *chosen.values())
    bones = [(str(start), str(end), str(segment)) for start, end, segment in table["subject"]["bones"]]
    segments = tuple(str(name) for name in dict.fromkeys(segment for *_, segment in bones))
    bodies = model.rigid_bodies.subset(np.array([model.body(name) for name in segments]))
    place, turned = (
        in_blocks(lambda q, of_bodies=of_bodies: of_bodies(q).astype(np.float32), motion.q)
        for of_bodies in (lambda q: bodies.basic(q)[:, :, 0], bodies.rotation)
    )
    return Skeleton(tuple(chosen), position, tuple(bones), segments, place, turned)
