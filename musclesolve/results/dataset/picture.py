"""Points and bones of a skeleton, and paths of its muscles, as variables of a result."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import RigidBodies
from musclesolve.dynamics.vectors import MOST_FRAMES, in_blocks
from musclesolve.muscles.paths.engine import PathLines
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles
from musclesolve.results.dataset.block_array import MotionArray
from musclesolve.results.dataset.skeleton import Skeleton, VariablesAndAttributes


def path_labels(parts: Sequence[tuple[Sequence[str], PathLines]]) -> VariablesAndAttributes:
    """Paths of muscles, of parts with their names and lines one after the other; the muscle of every point."""
    muscle = [np.asarray(names, np.str_)[lines.muscle] for names, lines in parts]
    return labels_of_paths(
        np.concatenate(muscle), np.concatenate([lines.position for _, lines in parts], axis=1)
    )


def labels_of_paths(muscle: AnyArray, position: Any) -> VariablesAndAttributes:
    """Paths by the muscle (S,) of every point and their positions (T, S, 3) [m]."""
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
    return labels_of_paths(muscle, MotionArray(partial(_lines, paths), q, coordinates).variable_data())


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
