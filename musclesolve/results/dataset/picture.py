"""Points and bones of a skeleton, and paths of its muscles, as variables of a result."""

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.vectors import in_blocks
from musclesolve.muscles.paths.paths import joined_paths
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles
from musclesolve.results.dataset.skeleton import Skeleton, VariablesAndAttributes


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
        in_blocks(lambda q, of_bodies=of_bodies: of_bodies(q).astype(np.float32), motion.q)
        for of_bodies in (lambda q: bodies.basic(q)[:, :, 0], bodies.rotation)
    )
    return Skeleton(tuple(chosen), position, tuple(bones), segments, place, turned)
