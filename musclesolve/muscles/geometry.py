"""Muscle geometry in any pose, without a recording."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

import muscle_db
from musclesolve.dynamics.human import human_model
from musclesolve.dynamics.model import Model
from musclesolve.dynamics.motion import motion_from
from musclesolve.errors import InputError
from musclesolve.muscles.legs import place_muscles
from musclesolve.muscles.state import muscle_state


def muscle_geometry(
    angles: Mapping[str, ArrayLike],
    subject: Model | None = None,
    database: muscle_db.MuscleDatabase | None = None,
) -> xr.Dataset:
    """Musculotendon lengths, moment arms, fiber lengths and capacities over a set of poses at rest.

    Args:
        angles: joint angles [rad] by name ("knee_flexion_r"), scalars or (P,) arrays; every other angle is zero.
        subject: a person's model; the standard subject (1.70 m, 70.25 kg, male) unless one is given.
        database: muscles; the bundled ones unless given.

    Returns:
        Dataset over pose, dof, muscle (both legs): musculotendon_length, fiber_length, normalized_fiber_length,
        moment_arm, force_capacity, passive_force, and the angles as coordinates of pose.

    Raises:
        InputError: an unknown angle, angles of different lengths, numbers that are not finite.
    """
    model = human_model() if subject is None else subject
    database = muscle_db.load() if database is None else database
    coordinates = _poses(model, angles)
    still = np.zeros_like(coordinates)
    motion = motion_from(model, np.arange(len(coordinates), dtype=float), coordinates, still, still)
    states = [muscle_state(model, place_muscles(model, database, side), motion) for side in "rl"]
    dofs = [name for state in states for name in state.muscles.dof_names]
    muscles = [name for state in states for name in state.muscles.names]
    arm = np.zeros((len(coordinates), len(dofs), len(muscles)))
    row = column = 0
    for state in states:
        rows, columns = state.moment_arm.shape[1:]
        arm[:, row : row + rows, column : column + columns] = state.moment_arm
        row, column = row + rows, column + columns
    optimal = np.concatenate([state.muscles.optimal_fiber_length for state in states])

    def join(name: str) -> np.ndarray:
        return np.concatenate([getattr(state, name) for state in states], axis=1)

    return xr.Dataset(
        {
            "musculotendon_length": (("pose", "muscle"), join("musculotendon_length"), {"units": "m"}),
            "fiber_length": (("pose", "muscle"), join("fiber_length"), {"units": "m"}),
            "normalized_fiber_length": (("pose", "muscle"), join("fiber_length") / optimal, {"units": "1"}),
            "moment_arm": (("pose", "dof", "muscle"), arm, {"units": "m"}),
            "force_capacity": (("pose", "muscle"), join("force_capacity"), {"units": "N"}),
            "passive_force": (("pose", "muscle"), join("passive_force"), {"units": "N"}),
        },
        coords={"dof": dofs, "muscle": muscles}
        | {name: ("pose", coordinates[:, model.dof(name)], {"units": "rad"}) for name in angles},
    )


def _poses(model: Model, angles: Mapping[str, ArrayLike]) -> np.ndarray:
    """Joint coordinates (P, K+6) of the poses."""
    known = model.topology.dof_names[: model.tree.joint_count]
    unknown = [name for name in angles if name not in known]
    if unknown:
        raise InputError(f"there is no joint angle {unknown[0]!r}", expected=f"one of {', '.join(known)}")
    values = {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in angles.items()}
    sizes = {value.size for value in values.values()} - {1} or {1}
    if len(sizes) > 1 or any(value.ndim > 1 for value in values.values()):
        raise InputError(
            f"angles of different lengths: {sorted(sizes)}", expected="scalars or arrays of one length"
        )
    for name, value in values.items():
        if not np.isfinite(value).all():
            raise InputError(f"{name} has a value that is not a finite number", expected="radians")
    coordinates = np.zeros((sizes.pop(), len(model.topology.dof_names)))
    for name, value in values.items():
        coordinates[:, model.dof(name)] = value
    return coordinates
