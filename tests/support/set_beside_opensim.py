"""OpenSim's own lengths and arms (the sampled poses) in the poses and about the axes of a set's own skeleton.

Both skeletons have a ball at the hip, flexion about the left axis and adduction about the forward one. OpenSim's
internal rotation is about the vertical of the thigh, ours about the line from hip to knee, one degree apart: the same
pose has other angles, and the moment about each of our axes is a combination of those about OpenSim's. The knee of a
set glides as OpenSim's does, so its angle and arm are the same. Our ankle has other axes than OpenSim's, and there are
no toes. In the sampled poses ankle, subtalar joint and toes move too: muscles that do not cross the ankle are
comparable.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from muscle_db import MuscleDatabase
from musclesolve.dynamics import Model

MODELS = {"gait2392": ("gait2392", -1.0), "rajagopal_2023": ("rajagopal_lai_uhlrich_2023", 1.0)}
"""File of the model of each set, and the sense of its knee angle."""
DOFS = ("hip_flexion", "hip_adduction", "hip_internal_rotation", "knee_flexion")
_HIP = ("hip_flexion", "hip_adduction", "hip_rotation")


class Sampled(NamedTuple):
    """Joint coordinates (P, K+6), lengths (P, n) [m] and arms (P, 4, n) [m] about `DOFS`, of muscles `own` of a set."""

    coordinates: np.ndarray
    own: list[int]
    length: np.ndarray
    moment_arm: np.ndarray


def sampled_geometry(folder: Path, database: MuscleDatabase, model: Model, side: str) -> Sampled:
    """The sampled poses of one leg on the own skeleton of a set; see above."""
    file, sense = MODELS[database.name]
    with np.load(folder / f"{file}_geometry.npz") as data:
        values = dict(zip(data["coordinate"].tolist(), data["value_rad"].T, strict=True))
        arms = dict(zip(data["coordinate"].tolist(), np.moveaxis(data["moment_arm_m"], 1, 0), strict=True))
        names, length = [name.lower() for name in data["muscle"].tolist()], data["length_m"]
    own = [k for k, muscle in enumerate(database) if not crosses_the_ankle(database, k)]
    columns = [names.index(f"{database.muscles[k].short_name}_{side}") for k in own]
    dofs = [model.dof(f"{dof}_{side}") for dof in DOFS]
    angle = np.stack([values[f"{name}_{side}"] for name in _HIP], axis=1)
    theirs = _signed(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), side)
    axes = model.tree.axes(model.standing[None])[0, dofs[:3]]
    ours = _angles(axes, _rotation(theirs, angle), angle)
    coordinates = np.zeros((len(angle), len(model.topology.dof_names)))
    coordinates[:, dofs[:3]] = ours
    coordinates[:, dofs[3]] = sense * values[f"knee_angle_{side}"]
    hip = np.stack([arms[f"{name}_{side}"][:, columns] for name in _HIP], axis=1)
    turned = _axes(axes, ours) @ np.linalg.inv(_axes(theirs, angle)) @ hip
    knee = sense * arms[f"knee_angle_{side}"][:, None, columns]
    return Sampled(coordinates, own, length[:, columns], np.concatenate([turned, knee], axis=1))


def crosses_the_ankle(database: MuscleDatabase, number: int) -> bool:
    """Whether a muscle has a point or a wrap object on the foot."""
    muscle = database.muscles[number]
    frames = [point.frame for point in muscle.path]
    return "foot" in [*frames, *(database.wrap_objects[wrap.object].frame for wrap in muscle.wraps)]


def _signed(axes: np.ndarray, side: str) -> np.ndarray:
    """Return axes with signs by side: in the left leg, adduction and rotation are about the opposite axes."""
    return axes if side == "r" else axes * [[1.0], [-1.0], [-1.0]]


def _rotation(axes: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Rotations (P, 3, 3) about three body-fixed axes one after the other."""
    first, second, third = (Rotation.from_rotvec(angles[:, k, None] * axes[k]) for k in range(3))
    return (first * second * third).as_matrix()


def _axes(axes: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """The three axes in the pose, (P, 3, 3), one in a row."""
    first, second = (Rotation.from_rotvec(angles[:, k, None] * axes[k]) for k in range(2))
    still = np.broadcast_to(axes[0], (len(angles), 3))
    return np.stack([still, first.apply(axes[1]), (first * second).apply(axes[2])], axis=1)


def _angles(axes: np.ndarray, rotation: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """Angles about three axes that give rotations (P, 3, 3), by Newton's method."""
    angles = guess.copy()
    for _ in range(6):
        left = Rotation.from_matrix(rotation @ np.swapaxes(_rotation(axes, angles), 1, 2)).as_rotvec()
        angles += np.linalg.solve(np.swapaxes(_axes(axes, angles), 1, 2), left[..., None])[..., 0]
    return angles
