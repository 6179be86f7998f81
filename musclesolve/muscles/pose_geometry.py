"""Muscle geometry in any pose, without a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

import muscle_db
from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_type
from musclesolve._util.message_text import as_text
from musclesolve._util.names import unknown_name
from musclesolve._util.sides import SIDES
from musclesolve.dynamics.kinematics.motion_derivatives import check_joint_angle, motion_from
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.muscles.muscle_set import load_muscle_set
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.scaling.scale_muscles import joined, scale_muscles

if TYPE_CHECKING:
    import xarray as xr


def muscle_geometry(
    angles: Mapping[str, ArrayLike],
    subject: Model | None = None,
    database: muscle_db.MuscleDatabase | str | Path | None = None,
) -> xr.Dataset:
    """Musculotendon lengths, moment arms, fiber lengths and capacities over a set of poses at rest.

    Args:
        angles: joint angles [rad] by name ("knee_flexion_r"), scalars or (P,) arrays; every other angle is zero.
        subject: a subject's model; the standard subject (1.70 m, 70.25 kg, male) unless given.
        database: a muscle set, its name ("rajagopal_2023"), or the path of its file; gait2392_hip unless given.

    Returns:
        Dataset over pose, dof, muscle (both sides): musculotendon_length, fiber_length, normalized_fiber_length,
        moment_arm, force_capacity, passive_force, and the angles as coordinates of pose. Passive forces follow
        `[muscles] passive = "table"` of a trial file, strains of the muscle set; the usual rule has no passive force.

    Raises:
        InputError: a subject that is no model, an unknown or faulty muscle set, an unknown angle, angles of different
            lengths, not finite or of more than 360 degrees.

    Examples:
        >>> poses = ms.muscle_geometry({"knee_flexion_r": np.radians([0.0, 45.0, 90.0])})
        >>> arm = poses["moment_arm"].sel(dof="knee_flexion_r", muscle="vastus_lateralis_r")     # (pose) [m]
        >>> bool((arm < 0.0).all())
        True
    """
    import xarray as xr

    model = (
        human_model()
        if subject is None
        else check_type(subject, Model, "subject", "a model, such as human_model() makes")
    )
    if database is None:
        database = muscle_db.load()
    elif isinstance(database, str | Path):
        database = load_muscle_set(database)
    expected = "a muscle set, its name, or the path of its file"
    database = check_type(database, muscle_db.MuscleDatabase, "database", expected)
    dof_names = model.topology.dof_names[: model.tree.joint_count]
    if not isinstance(angles, Mapping):
        raise input_error("muscles.no_angles", given=as_text(angles))
    values = {name: _radians(name, value, dof_names) for name, value in angles.items()}
    sizes = {value.size for value in values.values()} - {1} or {1}
    if len(sizes) > 1:
        raise input_error("muscles.angles_different_lengths", sizes=sorted(sizes))
    coordinates = np.zeros((sizes.pop(), len(model.topology.dof_names)))
    for name, value in values.items():
        coordinates[:, model.dof(name)] = value
    still = np.zeros_like(coordinates)
    motion = motion_from(model, np.arange(len(coordinates), dtype=float), coordinates, still, still)
    muscles = joined([scale_muscles(model, database, side, passive="table") for side in SIDES])
    state = muscle_state(model, muscles, motion)
    optimal = state.parameters.optimal_fiber_length
    quantities = {
        "musculotendon_length": (state.musculotendon_length, "m"),
        "fiber_length": (state.fiber_length, "m"),
        "normalized_fiber_length": (state.fiber_length / optimal, "1"),
        "moment_arm": (state.moment_arm, "m"),
        "force_capacity": (state.force_capacity, "N"),
        "passive_force": (state.passive_force, "N"),
    }
    dims = {3: ("pose", "dof", "muscle"), 2: ("pose", "muscle")}
    return xr.Dataset(
        {name: (dims[array.ndim], array, {"units": unit}) for name, (array, unit) in quantities.items()},
        coords={"dof": list(state.muscles.dof_names), "muscle": list(state.muscles.names)}
        | {name: ("pose", coordinates[:, model.dof(name)], {"units": "rad"}) for name in angles},
    )


def _radians(name: str, value: ArrayLike, known: Sequence[str]) -> Array:
    """One angle (P,) or (1,) [rad], checked."""
    if name not in known:
        raise unknown_name(name, "joint angle", known)
    try:
        array = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.ndim > 1 or not array.size or not np.isfinite(array).all():
        raise input_error("muscles.no_angle", where=name, value=as_text(value))
    check_joint_angle(name, array)
    return array
