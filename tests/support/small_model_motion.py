"""Smooth motion of the small OpenSim model, and moments that known activations produce."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from musclesolve import opensim_problem
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.tables import Table, write_mot

DOFS = ("hip_a_r", "ankle_a_r")
HIP = ("hip_a_r", "hip_b_r", "hip_c_r")
TIME = np.linspace(0.0, 1.0, 61)


def small_motion(model) -> dict[str, np.ndarray]:
    """Every coordinate but the driven one swings [rad or m]."""
    names = [name for name in model.coordinates if name != "beta_r"]
    waves = {name: 0.3 + 0.2 * np.sin(2.0 * np.pi * TIME + k) for k, name in enumerate(names)}
    return {"time": TIME, **waves}


def feasible_moments(model, **choices: object) -> dict[str, np.ndarray]:
    """Moments [N m] of activations 0.3 and of the passive forces."""
    given: dict[str, Any] = {"dofs": DOFS, "passive": "table", **choices}
    none = {name: np.zeros(len(TIME)) for name in DOFS}
    problem = opensim_problem(model, small_motion(model), none, **given)
    assert problem.passive_force is not None
    force = 0.3 * problem.force_capacity + problem.passive_force
    moment = np.einsum("tmn,tn->tm", problem.moment_arm, force)
    return dict(zip(DOFS, moment.T, strict=True))


def save_inputs(folder: Path, model) -> tuple[Path, Path]:
    """Coordinates in degrees and moments as files, those of the hip about the axes of the pelvis, as OpenSim's are."""
    motion = small_motion(model)
    moments = about_parent_axes(model, feasible_moments(model))
    names = [name for name in motion if name != "time"]
    angles = np.stack(
        [np.degrees(motion[name]) if is_angle(name) else motion[name] for name in names], axis=1
    )
    forces = np.stack(list(moments.values()), axis=1)
    coordinates, moment_file = folder / "ik.mot", folder / "id.sto"
    write_mot(coordinates, Table(TIME, tuple(names), angles, True, coordinates), decimals=12)
    columns = tuple(f"{name}_moment" for name in moments)
    write_mot(moment_file, Table(TIME, columns, forces, False, moment_file), decimals=12)
    return coordinates, moment_file


def about_parent_axes(model, moments: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The moments with those of the ball joint about its parent's axes: M with a_k . M = M_k, in closed form."""
    motion = coordinate_motion(model, small_motion(model))
    a, b = (motion.by_name(motion.value)[name] for name in HIP[:2])
    zero, one = np.zeros_like(a), np.ones_like(a)
    axes = np.stack(
        [
            np.stack([one, zero, zero], axis=1),
            np.stack([zero, np.cos(a), np.sin(a)], axis=1),
            np.stack([np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)], axis=1),
        ],
        axis=1,
    )
    of_rates = np.stack([moments.get(name, zero) for name in HIP], axis=1)
    about = np.linalg.solve(axes, of_rates[..., None])[..., 0]
    return {**moments, **dict(zip(HIP, about.T, strict=True))}


def is_angle(name: str) -> bool:
    """Whether a coordinate of the small model is an angle."""
    return not name.startswith(("t", "slide"))
