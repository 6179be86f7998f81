"""Points of a subject's skeleton along a motion, and the bones between them."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.results.dataset.picture.skeleton import Skeleton


def subject_skeleton(model: Model, motion: Motion) -> Skeleton:
    """The points of the model and those of the pelvis and the hands that skeleton.toml adds."""
    table = bundled_toml(__package__, "skeleton.toml")
    names = [point.name for point in model.topology.points]
    places = {name: motion.q[:, model.slot(name)] for name in names}
    places |= {name: 0.5 * (places[one] + places[other]) for name, (one, other) in table["middle"].items()}
    places |= _on_pelvis(model, motion, table["pelvis"])
    chosen = {name: place for name, place in places.items() if name not in table["subject"]["left_out"]}
    position = np.stack(list(chosen.values()), axis=1).astype(np.float32)
    bones = [(str(start), str(end)) for start, end in table["subject"]["bones"]]
    return Skeleton(tuple(chosen), position, tuple(bones))


def _on_pelvis(model: Model, motion: Motion, offsets: dict[str, list[float]]) -> dict[str, Array]:
    """Points that are fixed to the pelvis, by their offsets in half distances of the hip centers."""
    hips = motion.q[:, model.slot("hip_l")] - motion.q[:, model.slot("hip_r")]
    unit = 0.5 * np.linalg.norm(hips, axis=1).mean()
    pelvis = model.rigid_bodies.subset(np.array([model.body("pelvis")]))
    rotation = pelvis.rotation(motion.q)[:, 0]
    return {name: motion.origin + rotation @ (unit * np.array(offset)) for name, offset in offsets.items()}
