"""The arrays of an analysis as one labelled Dataset, with units and provenance."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve.motion.motion_plausibility import FOOT_LIMIT
from musclesolve.muscles.muscle_placement import LEG_DOFS
from musclesolve.recording.text.text_file import sha256
from musclesolve.results.dataset.filter_variables import (
    filter_attributes,
    filter_coordinates,
    filter_variables,
    name_verdicts,
)
from musclesolve.results.dataset.gait_variables import Gait
from musclesolve.results.dataset.reserve_reasons import reasons
from musclesolve.results.files.storable import storable
from musclesolve.sharing.status import Status
from musclesolve.version import __version__

if TYPE_CHECKING:
    from musclesolve.dynamics.kinematics.motion_derivatives import Motion
    from musclesolve.dynamics.model.model import Model
    from musclesolve.motion.ground_reaction import GroundReaction
    from musclesolve.pipeline.run import LegResult, Mechanics
    from musclesolve.recording.data import Trial

Variable = tuple[tuple[str, ...], AnyArray]

AXES = ["x", "y", "z"]
COMPONENTS = [f"{kind}_{axis}" for kind in ("force", "moment") for axis in AXES]

_OF_STATE = (
    "musculotendon_length",
    "musculotendon_velocity",
    "fiber_length",
    "fiber_velocity",
    "force_capacity",
    "passive_force",
)
_OF_MUSCLES = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")


def assemble(trial: Trial, recorded: Mechanics, moments: AnyArray, legs: list[LegResult]) -> xr.Dataset:
    """Label everything an analysis computed.

    Args:
        trial: the recording and its options.
        recorded: the same as mechanics.
        moments: (T, K+6) generalized forces; the last six are the residual at the pelvis.
        legs: one per analysed side.
    """
    model, motion = recorded.model, recorded.motion
    gait, doubtful = Gait.of(trial, recorded.measured), recorded.doubts(trial)
    dofs = _ordered(model)
    rows = [model.dof(dof) for dof in dofs]
    variables = _body_variables(model, motion, moments, rows)
    variables |= _left_to_others(legs, moments[:, rows], dofs)
    variables |= _muscle_variables(legs, dofs) | _side_variables(legs)
    points = sorted(recorded.fit.points, key=model.slot)
    order = [recorded.fit.points.index(point) for point in points]
    variables["consistency_shift"] = (("time", "point"), recorded.shift[:, order])
    variables |= _validity(recorded, moments, legs)
    variables |= _ground_variables(trial, recorded.reactions, legs, motion) | gait.variables()
    variables["heading"] = (("time",), gait.heading_at(motion.time))
    variables |= filter_variables(recorded.measured.filter)
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
        "point": points,
        **gait.coords(),
        **filter_coordinates(recorded.measured.filter),
    }
    attributes = _provenance(trial, recorded, legs, gait) | _reasons(model, motion, moments, legs)
    attributes["notes"] = [*map(str, doubtful), *recorded.measured.notes, *gait.notes]
    result = xr.Dataset(variables, coords, {key: storable(value) for key, value in attributes.items()})
    result["status"].attrs |= {
        "flag_values": np.array([int(status) for status in Status], dtype=np.int8),
        "flag_meanings": " ".join(status.name for status in Status),
    }
    name_verdicts(result)
    meaning = _meaning()
    for name in result.data_vars:
        result.variables[name].attrs |= meaning[str(name)]
    return result


@cache
def _meaning() -> dict[str, dict[str, str]]:
    """Unit and sentence of every variable."""
    return tomllib.loads(resources.files(__package__).joinpath("variables.toml").read_text(encoding="utf-8"))


def _ordered(model: Model) -> list[str]:
    """Joint degrees of freedom: right leg, left leg, then the rest from the pelvis outwards."""
    joints = model.topology.dof_names[: model.tree.joint_count]
    legs = [f"{dof}_{side}" for side in "rl" for dof in LEG_DOFS]
    return legs + [name for name in joints if name not in legs]


def _body_variables(model: Model, motion: Motion, moments: AnyArray, rows: list[int]) -> dict[str, Variable]:
    joints = model.tree.joint_count
    rates = model.constraints.rate_violation(motion.q, motion.qd, motion.qdd)
    velocity, acceleration = (np.abs(rate).max(axis=1) for rate in rates)
    return {
        "joint_angle": (("time", "dof"), motion.coordinates[:, rows]),
        "joint_moment": (("time", "dof"), moments[:, rows]),
        "pelvis_residual": (("time", "component"), moments[:, joints:]),
        "pelvis_position": (("time", "axis"), motion.origin),
        "constraint_violation": (("time",), np.abs(model.constraints.violation(motion.q)).max(axis=1)),
        "velocity_violation": (("time",), velocity),
        "acceleration_violation": (("time",), acceleration),
    }


def _validity(recorded: Mechanics, moments: AnyArray, legs: list[LegResult]) -> dict[str, Variable]:
    """Which frames may be used, and what can be wrong with the motion of the others."""
    found = recorded.validity(moments)
    per_leg = {
        "valid": [leg.solution.solved for leg in legs],
        "foot_in_place": [found.foot_in_place[leg.side] for leg in legs],
    }
    return {
        **{name: (("time", "side"), np.stack(masks, axis=1)) for name, masks in per_leg.items()},
        "steady": (("time",), found.steady),
        "balanced": (("time",), found.balanced),
    }


def _left_to_others(legs: list[LegResult], moments: AnyArray, dofs: list[str]) -> dict[str, Variable]:
    """What the muscles of the analysed legs do not produce of the moments (T, dof); NaN where there are no muscles.

    A reserve where the moment is shared among the muscles, an unassigned moment where it is not: the other is zero.
    """
    reserve, unassigned = (np.full((len(moments), len(dofs)), np.nan) for _ in range(2))
    for leg in legs:
        tension = leg.solution.force + leg.state.passive_force
        produced = np.einsum("tkm,tm->tk", leg.state.moment_arm, tension)
        columns = [dofs.index(dof) for dof in leg.state.muscles.dof_names]
        shared = [dofs.index(dof) for dof in leg.dofs]
        unassigned[:, columns] = moments[:, columns] - produced
        reserve[:, columns] = _zero(unassigned[:, columns])
        reserve[:, shared] = leg.solution.reserve
        unassigned[:, shared] = _zero(leg.solution.reserve)
    over = ("time", "dof")
    return {"reserve_moment": (over, reserve), "unassigned_moment": (over, unassigned)}


def _zero(values: AnyArray) -> AnyArray:
    """Zero where there is a number, NaN elsewhere."""
    return np.where(np.isfinite(values), 0.0, np.nan)


def _muscle_variables(legs: list[LegResult], dofs: list[str]) -> dict[str, Variable]:
    def over_time(parts: Iterable[AnyArray]) -> Variable:
        return ("time", "muscle"), np.concatenate(list(parts), axis=1)

    variables = {name: over_time(getattr(leg.state, name) for leg in legs) for name in _OF_STATE}
    variables["activation"] = over_time(leg.solution.activation for leg in legs)
    variables["muscle_force"] = over_time(leg.solution.force + leg.state.passive_force for leg in legs)
    for name in _OF_MUSCLES:
        variables[name] = (("muscle",), np.concatenate([getattr(leg.state.muscles, name) for leg in legs]))
    frames, muscles = variables["muscle_force"][1].shape
    arm, column = np.zeros((frames, len(dofs), muscles)), 0
    for leg in legs:
        rows, count = [dofs.index(dof) for dof in leg.state.muscles.dof_names], leg.state.moment_arm.shape[2]
        arm[:, rows, column : column + count] = leg.state.moment_arm
        column += count
    variables["moment_arm"] = (("time", "dof", "muscle"), arm)
    return variables


def _side_variables(legs: list[LegResult]) -> dict[str, Variable]:
    def stack(name: str) -> Variable:
        return ("time", "side"), np.stack([getattr(leg.solution, name) for leg in legs], axis=1)

    return {name: stack(name) for name in ("status", "kkt_residual", "cost")} | {
        "joint_reaction": (("time", "joint", "axis"), _joints(leg.contact_force for leg in legs)),
        "joint_reaction_net": (("time", "joint", "axis"), _joints(leg.net_reaction for leg in legs)),
    }


def _joints(forces: Iterable[dict[str, AnyArray]]) -> AnyArray:
    """(T, joint, 3) of the joints of all legs."""
    return np.stack([force for leg in forces for force in leg.values()], axis=1)


def _ground_variables(
    trial: Trial, reactions: list[GroundReaction], legs: list[LegResult], motion: Motion
) -> dict[str, Variable]:
    frames = len(motion.time)
    force, point = np.zeros((frames, len(legs), 3)), np.full((frames, len(legs), 3), np.nan)
    for reaction in reactions:
        for place, leg in enumerate(legs):
            if leg.side == reaction.side:
                force[:, place], point[:, place] = reaction.force, reaction.center_of_pressure
    for place, leg in enumerate(legs):
        lost = ~trial.measured("r" if leg.side == "r" else "l", motion.time)
        force[lost, place], point[lost, place] = np.nan, np.nan
    over = ("time", "side", "axis")
    return {"ground_reaction_force": (over, force), "center_of_pressure": (over, point)}


def _provenance(trial: Trial, recorded: Mechanics, legs: list[LegResult], gait: Gait) -> dict[str, object]:
    """What the numbers were made of: version, inputs, person, options, and what a reader should know."""
    person, measured, fit, consistency = trial.subject, recorded.measured, recorded.fit, trial.consistency
    return {
        "musclesolve_version": __version__,
        "subject": person.name,
        "subject_mass_kg": person.mass,
        "subject_stature_m": person.stature,
        "subject_sex": person.sex,
        "subject_shoe_mass_kg": person.shoe_mass,
        "trial_file": os.path.realpath(trial.path),
        "inputs": [f"{role} {path.name} sha256:{sha256(path)}" for role, path in trial.files.items()],
        "cost": legs[0].solution.cost_name,
        "solver": legs[0].solution.solver,
        **filter_attributes(measured.filter),
        "hip_method": trial.hip_method,
        "consistency_method": consistency.method,
        "consistency_derivatives": consistency.derivatives,
        "consistency_weights": [f"{name} {weight:g}" for name, weight in consistency.weights.items()],
        "muscle_database": trial.muscles.database,
        "strength_factor": trial.muscles.strength_factor,
        "balance_limit": recorded.balance_limit,
        "foot_limit_m": FOOT_LIMIT,
        "shared_dofs": [dof for leg in legs for dof in leg.dofs],
        "locked_dofs": list(fit.locked),
        "borrowed_dofs": list(fit.borrowed),
        "segment_scales": [
            f"{frame} {leg.side}: {', '.join(f'{part:.3f}' for part in scale)}"
            for leg in legs
            for frame, scale in leg.state.muscles.segment_scale.items()
        ],
        "completed": measured.completed,
        "analysed": list(trial.analysed),
    } | gait.strike_times()


def _reasons(model: Model, motion: Motion, moments: AnyArray, legs: list[LegResult]) -> dict[str, list[str]]:
    """Sentences on what the muscles of each leg cannot bear; none for a leg whose muscles bear everything."""
    found = {}
    for leg in legs:
        own = moments[:, [model.dof(dof) for dof in leg.dofs]]
        if sentences := reasons(leg, own, motion.time):
            found[f"reasons_{leg.side}"] = sentences
    return found
