"""The arrays of an analysis as one labelled Dataset, with units and provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from musclesolve.motion.events import heel_strikes
from musclesolve.sharing.status import Status

if TYPE_CHECKING:
    from musclesolve.dynamics import Model, Motion
    from musclesolve.dynamics.fit import Fit
    from musclesolve.motion import Anatomy, GroundReaction
    from musclesolve.pipeline import LegResult
    from musclesolve.recording import Trial

Array = np.ndarray
Variable = tuple[tuple[str, ...], Array, dict[str, object]]

AXES = ["x", "y", "z"]
COMPONENTS = [f"{kind}_{axis}" for kind in ("force", "moment") for axis in AXES]

_MUSCLE = {
    "musculotendon_length": "m",
    "musculotendon_velocity": "m/s",
    "fiber_length": "m",
    "fiber_velocity": "m/s",
    "force_capacity": "N",
    "passive_force": "N",
}
_PARAMETER = {
    "max_isometric_force": "N",
    "optimal_fiber_length": "m",
    "tendon_slack_length": "m",
    "pennation_angle": "rad",
}


def assemble(
    trial: Trial,
    measured: Anatomy,
    fit: Fit,
    model: Model,
    motion: Motion,
    moments: Array,
    reactions: list[GroundReaction],
    legs: list[LegResult],
) -> xr.Dataset:
    """Label everything an analysis computed.

    Args:
        trial: the recording and its options.
        measured: the anatomy that was measured on it.
        fit: the nearest consistent motion.
        model: the person.
        motion: his motion, in the time range only.
        moments: (T, K+6) generalized forces; the last six are the residual at the pelvis.
        reactions: what the ground does to each foot.
        legs: one per analysed side.
    """
    joints = model.tree.joint_count
    dofs = list(model.topology.dof_names[:joints])
    variables: dict[str, Variable] = {
        "joint_angle": (("time", "dof"), motion.coordinates[:, :joints], {"units": "rad"}),
        "joint_moment": (("time", "dof"), moments[:, :joints], {"units": "N m"}),
        "pelvis_residual": (("time", "component"), moments[:, joints:], {"units": "N, N m"}),
        "pelvis_position": (("time", "axis"), motion.coordinates[:, joints : joints + 3], {"units": "m"}),
        "reserve_moment": (
            ("time", "dof"),
            _reserves(legs, moments, dofs),
            {
                "units": "N m",
                "long_name": "joint moment that the muscles do not produce; see attrs shared_dofs",
            },
        ),
        "constraint_violation": (
            ("time",),
            np.abs(model.constraints.violation(motion.q)).max(axis=1),
            {"units": "m", "long_name": "largest constraint violation of the frame"},
        ),
    }
    variables |= (
        _muscle_variables(legs, dofs) | _side_variables(legs) | _ground_variables(reactions, legs, motion)
    )
    coords = {
        "time": ("time", motion.time, {"units": "s"}),
        "dof": dofs,
        "muscle": [name for leg in legs for name in leg.state.muscles.names],
        "short_name": ("muscle", [name for leg in legs for name in leg.state.muscles.short_names]),
        "group": ("muscle", [name for leg in legs for name in leg.state.muscles.groups]),
        "side": [leg.side for leg in legs],
        "joint": [f"{joint}_{leg.side}" for leg in legs for joint in leg.contact_force],
        "axis": AXES,
        "component": COMPONENTS,
    }
    attributes = _provenance(trial, measured, fit, legs)
    attributes |= {f"heel_strike_times_{side}": times for side, times in heel_strikes(trial).items()}
    return xr.Dataset(variables, coords, attributes)


def _reserves(legs: list[LegResult], moments: Array, dofs: list[str]) -> Array:
    """(T, dof): what the muscles of a leg do not produce of its moments; zero elsewhere.

    A reserve where the moment is shared among the muscles, the part of bones and ligaments where it is not.
    """
    reserves = np.zeros((len(moments), len(dofs)))
    for leg in legs:
        tension = leg.solution.force + leg.state.passive_force
        produced = np.einsum("tkm,tm->tk", leg.state.moment_arm, tension)
        columns = [dofs.index(dof) for dof in leg.state.muscles.dof_names]
        reserves[:, columns] = moments[:, columns] - produced
        reserves[:, [dofs.index(dof) for dof in leg.dofs]] = leg.solution.reserve
    return reserves


def _muscle_variables(legs: list[LegResult], dofs: list[str]) -> dict[str, Variable]:
    over = ("time", "muscle")
    variables: dict[str, Variable] = {
        name: (over, np.concatenate([getattr(leg.state, name) for leg in legs], axis=1), {"units": unit})
        for name, unit in _MUSCLE.items()
    }
    for name, unit in _PARAMETER.items():
        values = np.concatenate([getattr(leg.state.muscles, name) for leg in legs])
        variables[name] = (("muscle",), values, {"units": unit})
    variables["activation"] = (
        over,
        np.concatenate([leg.solution.activation for leg in legs], axis=1),
        {"units": "1"},
    )
    total = [leg.solution.force + leg.state.passive_force for leg in legs]
    variables["muscle_force"] = (
        over,
        np.concatenate(total, axis=1),
        {"units": "N", "long_name": "tendon force, active and passive"},
    )
    arm = np.zeros((len(total[0]), len(dofs), sum(part.shape[1] for part in total)))
    column = 0
    for leg in legs:
        rows, count = [dofs.index(dof) for dof in leg.state.muscles.dof_names], leg.state.moment_arm.shape[2]
        arm[:, rows, column : column + count] = leg.state.moment_arm
        column += count
    variables["moment_arm"] = (("time", "dof", "muscle"), arm, {"units": "m"})
    return variables


def _side_variables(legs: list[LegResult]) -> dict[str, Variable]:
    def stack(name: str) -> Array:
        return np.stack([getattr(leg.solution, name) for leg in legs], axis=1)

    flags = {
        "flag_values": np.array([int(status) for status in Status], dtype=np.int8),
        "flag_meanings": " ".join(status.name for status in Status),
    }
    return {
        "status": (("time", "side"), stack("status").astype(np.int8), flags),
        "kkt_residual": (("time", "side"), stack("kkt_residual"), {"units": "1"}),
        "cost": (("time", "side"), stack("cost"), {"units": "see attrs cost"}),
        "joint_reaction": (
            ("time", "joint", "axis"),
            _joints(leg.contact_force for leg in legs),
            {"units": "N", "long_name": "force on the far segment, muscle forces included: contact force"},
        ),
        "joint_reaction_net": (
            ("time", "joint", "axis"),
            _joints(leg.net_reaction for leg in legs),
            {"units": "N", "long_name": "force on the far segment, without muscle forces"},
        ),
    }


def _joints(forces: Iterable[dict[str, Array]]) -> Array:
    """(T, joint, 3) of the joints of all legs."""
    return np.stack([force for leg in forces for force in leg.values()], axis=1)


def _ground_variables(
    reactions: list[GroundReaction], legs: list[LegResult], motion: Motion
) -> dict[str, Variable]:
    frames = len(motion.time)
    force, point = np.zeros((frames, len(legs), 3)), np.full((frames, len(legs), 3), np.nan)
    for reaction in reactions:
        for place, leg in enumerate(legs):
            if leg.side == reaction.side:
                force[:, place], point[:, place] = reaction.force, reaction.center_of_pressure
    over = ("time", "side", "axis")
    return {
        "ground_reaction_force": (over, force, {"units": "N"}),
        "center_of_pressure": (over, point, {"units": "m"}),
    }


def _provenance(trial: Trial, measured: Anatomy, fit: Fit, legs: list[LegResult]) -> dict[str, object]:
    """What the numbers were made of: version, inputs, person, options, and what a reader should know."""
    person = trial.subject
    rms = 1000.0 * float(np.sqrt(np.mean(fit.residual**2)))
    worst = 1000.0 * float(fit.residual.max())
    notes = [
        *measured.notes,
        f"The consistent motion lies {rms:.1f} mm rms from the measured points (worst {worst:.1f} mm).",
    ]
    return {
        "musclesolve_version": _version(),
        "subject": person.name,
        "subject_mass_kg": person.mass,
        "subject_stature_m": person.stature,
        "subject_sex": person.sex,
        "subject_shoe_mass_kg": person.shoe_mass,
        "trial_file": str(trial.path),
        "inputs": [f"{role} {path.name} sha256:{_sha256(path)}" for role, path in trial.files.items()],
        "cost": legs[0].solution.cost_name,
        "solver": legs[0].solution.solver,
        "cutoff_hz": trial.cutoff_hz,
        "hip_regression": trial.hip_regression,
        "muscle_database": trial.muscles.database,
        "strength_factor": trial.muscles.strength_factor,
        "shared_dofs": [dof for leg in legs for dof in leg.dofs],
        "locked_dofs": list(fit.locked),
        "completed": measured.completed,
        "notes": notes,
    }


def _version() -> str:
    try:
        return version("musclesolve")
    except PackageNotFoundError:
        return "not installed"


def _sha256(path: object) -> str:
    with open(str(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
