"""A small result with the layout of the public contract: two legs, some frames solved, some not."""

from __future__ import annotations

import numpy as np
import xarray as xr

import muscle_db
from muscle_db.model import LEG_DOFS
from musclesolve import Status

MASS = 70.0
WEIGHT = MASS * 9.80665  # N


def result(n_frames: int = 60, sides: str = "rl") -> xr.Dataset:
    """Two and a half strides of one second; every value follows from the phase of its leg."""
    muscles = muscle_db.load("silva_2003").muscles
    time = np.linspace(0.0, 2.5, n_frames)
    phase = {"r": (time - 0.2) % 1.0, "l": (time - 0.7) % 1.0}
    names = [f"{m.name}_{s}" for s in sides for m in muscles]
    dofs = [f"{d}_{s}" for s in "rl" for d in LEG_DOFS]
    joints = [f"{j}_{s}" for s in "rl" for j in ("hip", "knee", "ankle")]
    bump = {
        s: np.stack([0.5 + 0.4 * np.sin(2 * np.pi * (p + i / 43)) for i in range(43)], -1)
        for s, p in phase.items()
    }
    activation = np.concatenate([bump[s] for s in sides], -1)
    strength = np.array([m.max_isometric_force for _ in sides for m in muscles])
    wave = np.stack([np.sin(2 * np.pi * (phase[d[-1]] + 0.1 * i)) for i, d in enumerate(dofs)], -1)
    on_ground = np.stack([phase[s] < 0.6 for s in "rl"], -1)
    ground = on_ground[..., None] * np.array([30.0, 5.0, WEIGHT])
    reaction = np.stack([ground[:, "rl".index(j[-1])] for j in joints], 1)
    data = xr.Dataset(
        {
            "activation": (("time", "muscle"), activation),
            "muscle_force": (("time", "muscle"), activation * strength),
            "max_isometric_force": (("muscle",), strength),
            "joint_angle": (("time", "dof"), 0.4 * wave),
            "group": ("muscle", [m.group for _ in sides for m in muscles]),
            "short_name": ("muscle", [m.short_name for _ in sides for m in muscles]),
            "joint_moment": (("time", "dof"), 60.0 * wave),
            "joint_power": (("time", "dof"), 100.0 * wave),
            "reserve_moment": (("time", "dof"), 0.0 * wave),
            "unassigned_moment": (("time", "dof"), 0.0 * wave),
            "joint_reaction": (("time", "joint", "axis"), 3.0 * reaction),
            "joint_reaction_net": (("time", "joint", "axis"), reaction),
            "contact_force_component": (("time", "joint", "direction"), 3.0 * reaction[..., ::-1]),
            "joint_reaction_moment": (("time", "joint", "axis"), 0.02 * reaction),
            "knee_contact_medial": (("time", "side"), 2.0 * ground[..., 2]),
            "knee_contact_lateral": (("time", "side"), ground[..., 2]),
            "patellofemoral_force": (("time", "side"), 0.5 * ground[..., 2]),
            "ground_reaction_force": (("time", "side", "axis"), ground),
            "pelvis_residual": (("time", "component"), np.full((n_frames, 6), 7.0)),
            "status": (("time", "side"), np.zeros((n_frames, 2), dtype=np.int8)),
            "valid": (("time", "side"), np.ones((n_frames, 2), dtype=bool)),
            "gap": (("time", "side"), np.full((n_frames, 2), 1e-13)),
        },
        coords={
            "time": time,
            "muscle": names,
            "dof": dofs,
            "side": ["r", "l"],
            "joint": joints,
            "axis": ["x", "y", "z"],
            "direction": ["axial", "anterior", "medial"],
            "component": [f"{kind}_{axis}" for kind in ("force", "moment") for axis in "xyz"],
        },
        attrs={"subject_mass_kg": MASS, "findings": "[]"},
    )
    points = [f"{point}_{side}" for point in ("toe", "ankle", "knee") for side in "rl"] + ["back"]
    shift = 0.002 * (1.0 + np.arange(len(points))) * (1.0 + 0.5 * np.sin(time))[:, None]
    data["consistency_shift"] = (("time", "point"), shift)
    data = data.assign_coords(point=points)
    data["status"].attrs = {
        "flag_values": np.array([int(status) for status in Status], dtype=np.int8),
        "flag_meanings": " ".join(status.name for status in Status),
    }
    return data


def few_muscles(data: xr.Dataset) -> xr.Dataset:
    """Two muscles of each leg, the first and the soleus: as many panels as a test of drawing needs."""
    first = str(data["muscle"].values[0])[:-2]
    return data.isel(muscle=[str(name)[:-2] in (first, "soleus") for name in data["muscle"].values])


def with_tendons(data: xr.Dataset) -> xr.Dataset:
    """Return a result with fibers of 0.1 m and elastic tendons, whose strain follows the activation."""
    data, over = data.copy(deep=True), ("time", "muscle")
    activation = data["activation"].values
    data["joints_crossed"] = (("muscle",), np.ones(activation.shape[1]))
    data["optimal_fiber_length"] = (("muscle",), np.full(activation.shape[1], 0.1))
    data["fiber_length"] = (over, 0.12 - 0.04 * activation)
    data["fiber_velocity"] = (over, np.gradient(data["fiber_length"].values, data["time"].values, axis=0))
    data["tendon_strain"] = (over, 0.05 * activation)
    data["tendon_energy"] = (over, 5.0 * activation**2)
    return data


def with_fascicles(data: xr.Dataset) -> xr.Dataset:
    """Return a result with a measured fascicle of each leg; the fibers are 5 mm and 2 mm too long."""
    every, over = list(map(str, data["muscle"].values)), ("time", "muscle")
    names = [
        next(name for name in every if name[-1] == side) for side in dict.fromkeys(name[-1] for name in every)
    ]
    if "fiber_length" not in data:
        wave = np.sin(np.linspace(0.0, 6.0, data.sizes["time"]))
        data = data.assign(fiber_length=(over, 0.05 + 0.01 * np.repeat(wave[:, None], len(every), axis=1)))
    columns = [f"US{k}" for k in range(1, len(names) + 1)]
    data = data.assign_coords(fascicle=columns, fascicle_muscle=("fascicle", names))
    error = np.array([0.005, 0.002])[: len(names)]
    own, measured = [every.index(name) for name in names], np.full(data["fiber_length"].shape, np.nan)
    measured[4:, own] = data["fiber_length"].values[4:, own] - error
    data["measured_fascicle_length"] = (over, measured)
    for name, values in (("rms_error", error), ("mean_error", error), ("correlation", np.ones(len(names)))):
        data[f"fascicle_{name}"] = ("fascicle", values)
    return data.assign_attrs(fascicle_error_m=0.003)


def set_status(data: xr.Dataset, status: Status, frames: object, legs: object = slice(None)) -> None:
    """Give frames of legs, by their numbers, a status, and `valid` what follows from it."""
    data["status"][frames, legs] = status
    data["valid"][:] = data["status"].isin([Status.SOLVED, Status.SOLVED_WITH_RESERVE])


def with_troubles(data: xr.Dataset) -> xr.Dataset:
    """Return a result with a stretch of reserves on the right and some frames without solution on both legs."""
    data = data.copy(deep=True)
    set_status(data, Status.SOLVED_WITH_RESERVE, slice(20, 26), 0)
    data["reserve_moment"][20:26, 3] = -12.5
    set_status(data, Status.INFEASIBLE, slice(40, 43), 0)
    set_status(data, Status.INVALID_INPUT, 50, 1)
    data["gap"][40:43, 0] = np.nan
    data["gap"][50, 1] = np.nan
    return data


def with_cutoffs(data: xr.Dataset, curves: bool = True) -> xr.Dataset:
    """Return a result with cut-offs that the recording chose, of four markers."""
    data, names = data.copy(deep=True), ["pelvis", "knee", "heel", "toe"]
    frequency = np.arange(0.5, 29.0, 0.2)
    cutoff = np.linspace(4.1, 7.9, 12).reshape(4, 3)
    noise = np.full((4, 3), 0.0004)
    line = noise * np.sqrt(1.0 - frequency[:, None, None] / 30.0)
    data = data.assign_coords(marker=names, tried_cutoff=("tried_cutoff", frequency, {"units": "Hz"}))
    data["marker_cutoff"] = (("marker", "axis"), cutoff)
    data["marker_noise"] = (("marker", "axis"), noise)
    if curves:
        over = ("tried_cutoff", "marker", "axis")
        data["marker_residual"] = (over, line + 0.3 * np.exp(-frequency[:, None, None]))
        data["marker_residual_line"] = (over, line)
        data["marker_linear_from"] = (("marker", "axis"), cutoff + 2.0)
        data["marker_linear_to"] = (("marker", "axis"), 3.0 * cutoff)
        data["marker_verdict"] = (("marker", "axis"), np.zeros((4, 3), dtype=np.int8))
    data.attrs |= {"cutoff_choice": "residual_analysis", "force_cutoff_hz": 7.2}
    return data
