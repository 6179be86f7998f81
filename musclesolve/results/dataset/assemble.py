"""The arrays of an analysis as one labelled Dataset, with units and provenance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.dynamics.model.model import Model
from musclesolve.motion.motion_plausibility import FOOT_LIMIT
from musclesolve.muscles.placing.place_muscles import LEG_DOFS
from musclesolve.muscles.tendon_strain import stated_texts
from musclesolve.pipeline.types import Analysis, LegResult, Prepared
from musclesolve.recording.data import SIDES
from musclesolve.recording.text.text_file import sha256
from musclesolve.results.dataset.emg_variables import (
    emg_attributes,
    emg_coordinates,
    emg_notes,
    emg_variables,
)
from musclesolve.results.dataset.fiber_ranges import fiber_notes, fiber_variables
from musclesolve.results.dataset.filter_variables import (
    filter_attributes,
    filter_coordinates,
    filter_variables,
    name_verdicts,
)
from musclesolve.results.dataset.gait_variables import gait_coordinates, gait_variables, strike_times
from musclesolve.results.dataset.kinetics.kinetic_variables import (
    DIRECTIONS,
    contact_components,
    free_moment,
    joint_power,
)
from musclesolve.results.dataset.picture.skeleton import Drawn, MusclePaths
from musclesolve.results.dataset.picture.subject_skeleton import subject_skeleton
from musclesolve.results.dataset.reserve_reasons import reasons
from musclesolve.results.dataset.tendons.tendon_variables import (
    iterations,
    tendon_variables,
)
from musclesolve.results.files.result_netcdf import storable
from musclesolve.sharing.status import Status
from musclesolve.version import __version__

Variable = tuple[tuple[str, ...], AnyArray]

AXES = ["x", "y", "z"]
PELVIS_ROTATIONS = ["tilt", "list", "rotation"]
COMPONENTS = [f"{kind}_{axis}" for kind in ("force", "moment") for axis in AXES]

_OF_STATE = (
    *("musculotendon_length", "musculotendon_velocity", "fiber_length", "fiber_velocity"),
    *("force_capacity", "passive_force"),
)
_OF_MUSCLES = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")


def assemble(analysis: Analysis) -> xr.Dataset:
    """Label everything an analysis computed."""
    prepared, legs = analysis.prepared, analysis.legs
    measured, time = prepared.mechanics.measured, prepared.mechanics.motion.time
    gait = prepared.gait
    picture = _drawn(analysis)
    variables = {
        **_body_variables(prepared),
        **_remainders(legs, prepared),
        **_muscle_variables(legs, _dofs(prepared.mechanics.model)),
        **fiber_variables(legs),
        **tendon_variables({leg.side: leg.tendons for leg in legs}),
        **_side_variables(analysis),
        **_ground_variables(analysis),
        **gait_variables(gait),
        "heading": (("time",), gait.heading_at(time)),
        **filter_variables(measured.filter),
        **emg_variables(analysis),
        **picture.variables,
    }
    attributes = _provenance(analysis) | strike_times(gait) | _reasons(analysis)
    warnings = prepared.mechanics.warnings(prepared.trial.mapping, prepared.trial.consistency.method)
    own = [*map(str, warnings), *fiber_notes(legs, prepared.options), *measured.notes]
    own += dict.fromkeys(note for leg in legs for note in leg.notes)
    attributes["notes"] = [*own, *prepared.options.database.notes, *gait.notes, *emg_notes(analysis)]
    result = xr.Dataset(
        variables,
        _coordinates(analysis)
        | gait_coordinates(gait)
        | filter_coordinates(measured.filter)
        | emg_coordinates(analysis)
        | picture.coordinates,
        {key: storable(value) for key, value in attributes.items()},
    )
    result["status"].attrs |= {
        "flag_values": np.array([int(status) for status in Status], dtype=np.int8),
        "flag_meanings": " ".join(status.name for status in Status),
    }
    name_verdicts(result)
    meaning = _meaning()
    for name in result.data_vars:
        result.variables[name].attrs |= meaning[str(name)]
    return result


def _drawn(analysis: Analysis) -> Drawn:
    """Skeleton and muscle paths, for pictures."""
    mechanics = analysis.prepared.mechanics
    model, motion = mechanics.model, mechanics.motion
    muscles = [leg.state.muscles for leg in analysis.legs]
    lines = [(own.names, own.paths.lines(motion.q, motion.coordinates)) for own in muscles]
    return Drawn(subject_skeleton(model, motion), MusclePaths.of(lines))


def _coordinates(analysis: Analysis) -> dict[str, object]:
    mechanics, legs = analysis.prepared.mechanics, analysis.legs
    return {
        "time": ("time", mechanics.motion.time, {"units": "s"}),
        "dof": _dofs(mechanics.model),
        "muscle": [name for leg in legs for name in leg.state.muscles.names],
        "short_name": ("muscle", [name for leg in legs for name in leg.state.muscles.short_names]),
        "group": ("muscle", [name for leg in legs for name in leg.state.muscles.groups]),
        "side": [leg.side for leg in legs],
        "joint": [f"{joint}_{leg.side}" for leg in legs for joint in leg.contact_force],
        "axis": AXES,
        "component": COMPONENTS,
        "pelvis_rotation": PELVIS_ROTATIONS,
        "point": sorted(mechanics.fit.points, key=mechanics.model.slot),
        "direction": list(DIRECTIONS),
    }


def _meaning() -> dict[str, dict[str, str]]:
    """Unit and sentence of every variable."""
    return bundled_toml(__package__, "variables.toml")


def _dofs(model: Model) -> list[str]:
    """Joint degrees of freedom: right leg, left leg, then the rest from the pelvis outwards."""
    joints = model.topology.dof_names[: model.tree.joint_count]
    legs = [f"{dof}_{side}" for side in SIDES for dof in LEG_DOFS]
    return legs + [name for name in joints if name not in legs]


def _body_variables(prepared: Prepared) -> dict[str, Variable]:
    """Motion and moments of the whole body, how far the model's points are off, and which frames are valid."""
    mechanics, moments = prepared.mechanics, prepared.moments
    model, motion, points = mechanics.model, mechanics.motion, mechanics.fit.points
    joints = model.tree.joint_count
    rows = [model.dof(dof) for dof in _dofs(model)]
    rates = model.constraints.rate_violation(motion.q, motion.qd, motion.qdd)
    velocity, acceleration = (np.abs(rate).max(axis=1) for rate in rates)
    order = [points.index(point) for point in sorted(points, key=model.slot)]
    return {
        "joint_angle": (("time", "dof"), motion.coordinates[:, rows]),
        "joint_moment": (("time", "dof"), moments[:, rows]),
        "joint_power": joint_power(prepared, _dofs(model)),
        "pelvis_residual": (("time", "component"), moments[:, joints:]),
        "pelvis_position": (("time", "axis"), motion.origin),
        "pelvis_angle": (("time", "pelvis_rotation"), motion.coordinates[:, -3:]),
        "constraint_violation": (("time",), mechanics.constraint_violation),
        "velocity_violation": (("time",), velocity),
        "acceleration_violation": (("time",), acceleration),
        "consistency_shift": (("time", "point"), mechanics.marker_residual[:, order]),
        "steady": (("time",), prepared.validity.steady),
        "balanced": (("time",), prepared.validity.balanced),
        "consistent": (("time",), prepared.validity.consistent),
    }


def _remainders(legs: Sequence[LegResult], prepared: Prepared) -> dict[str, Variable]:
    """Moments (T, dof) that the muscles of the analysed legs do not produce; NaN where there are no muscles.

    A reserve where the moment is shared among the muscles, an unassigned moment where it is not: the other is zero.
    """
    model = prepared.mechanics.model
    dofs = _dofs(model)
    moments = prepared.moments[:, [model.dof(dof) for dof in dofs]]
    reserve, unassigned = (np.full(moments.shape, np.nan) for _ in range(2))
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


def _muscle_variables(legs: Sequence[LegResult], dofs: list[str]) -> dict[str, Variable]:
    def over_time(parts: Iterable[AnyArray]) -> Variable:
        return ("time", "muscle"), np.concatenate(list(parts), axis=1)

    variables = {name: over_time(getattr(leg.state, name) for leg in legs) for name in _OF_STATE}
    variables["activation"] = over_time(leg.solution.activation for leg in legs)
    variables["muscle_force"] = over_time(leg.solution.force + leg.state.passive_force for leg in legs)
    for name in _OF_MUSCLES:
        variables[name] = (
            ("muscle",),
            np.concatenate([getattr(leg.state.muscles.parameters, name) for leg in legs]),
        )
    frames, muscles = variables["muscle_force"][1].shape
    arm, column = np.zeros((frames, len(dofs), muscles)), 0
    for leg in legs:
        rows, count = [dofs.index(dof) for dof in leg.state.muscles.dof_names], leg.state.moment_arm.shape[2]
        arm[:, rows, column : column + count] = leg.state.moment_arm
        column += count
    variables["moment_arm"] = (("time", "dof", "muscle"), arm)
    return variables


def _side_variables(analysis: Analysis) -> dict[str, Variable]:
    legs, in_place = analysis.legs, analysis.prepared.validity.foot_in_place

    def over_time(columns: Iterable[AnyArray]) -> Variable:
        return ("time", "side"), np.stack(list(columns), axis=1)

    def joints(forces: Iterable[dict[str, AnyArray]]) -> Variable:
        joined = [force for leg in forces for force in leg.values()]
        return ("time", "joint", "axis"), np.stack(joined, axis=1)

    return {
        "status": over_time(leg.solution.status for leg in legs),
        "kkt_residual": over_time(leg.solution.kkt_residual for leg in legs),
        "cost": over_time(leg.solution.cost for leg in legs),
        "valid": over_time(leg.solution.solved for leg in legs),
        "foot_in_place": over_time(in_place[leg.side] for leg in legs),
        "joint_reaction": joints(leg.contact_force for leg in legs),
        "joint_reaction_net": joints(leg.net_reaction for leg in legs),
        "contact_force_component": contact_components(analysis.prepared.mechanics, legs),
    }


def _ground_variables(analysis: Analysis) -> dict[str, Variable]:
    """Ground reaction force, its center of pressure and free moment under the analysed legs, NaN where not measured."""
    trial, mechanics = analysis.prepared.trial, analysis.prepared.mechanics
    reactions = {reaction.side: reaction for reaction in mechanics.reactions}
    sides, time = [side for side in SIDES if side in analysis.prepared.options.sides], mechanics.motion.time
    force = np.zeros((len(time), len(sides), 3))
    point, free = np.full(force.shape, np.nan), np.full(force.shape[:2], np.nan)
    for place, side in enumerate(sides):
        if side in reactions:
            force[:, place], point[:, place] = reactions[side].force, reactions[side].center_of_pressure
            free[:, place] = free_moment(reactions[side])
        lost = ~trial.measured(side, time)
        for values in (force, point, free):
            values[lost, place] = np.nan
    over = ("time", "side", "axis")
    return {
        "ground_reaction_force": (over, force),
        "center_of_pressure": (over, point),
        "ground_free_moment": (over[:2], free),
    }


def _provenance(analysis: Analysis) -> dict[str, object]:
    """What the numbers were made of: version, inputs, subject, options, and what a reader should know."""
    trial, mechanics, legs = analysis.prepared.trial, analysis.prepared.mechanics, analysis.legs
    subject, consistency, measured = trial.subject, trial.consistency, mechanics.measured
    options = analysis.prepared.options
    return {
        "musclesolve_version": __version__,
        "subject": subject.name,
        "subject_mass_kg": subject.mass,
        "subject_stature_m": subject.stature,
        "subject_sex": subject.sex,
        "subject_shoe_mass_kg": subject.shoe_mass,
        "subject_segments": [f"{name} {each.sentence}" for name, each in subject.segments.items()],
        "trial_file": os.path.realpath(trial.path),
        "inputs": [f"{role} {path.name} sha256:{sha256(path)}" for role, path in trial.files.items()],
        "cost": legs[0].solution.cost_name,
        "solver": ", ".join(dict.fromkeys(leg.solution.solver for leg in legs if leg.solution.solver)),
        **filter_attributes(measured.filter),
        **emg_attributes(analysis),
        "hip_method": trial.hip_method,
        "consistency_method": consistency.method,
        "consistency_derivatives": consistency.derivatives,
        "consistency_weights": [f"{name} {weight:g}" for name, weight in consistency.weights.items()],
        "muscle_database": trial.muscles.database,
        "muscle_coordinates": [f"{dof} {name}" for dof, name in options.database.coordinates.items()],
        "passive": trial.muscles.passive,
        "strength": trial.muscles.strength,
        "fiber_lengths": options.fiber_length_rule,
        "tendon": options.tendon,
        "tendon_strain": stated_texts(options.tendon_strain),
        "curves": options.curve_name,
        **iterations({leg.side: leg.solution for leg in legs if leg.tendons is not None}),
        "balance_limit": mechanics.balance_limit,
        "foot_limit_m": FOOT_LIMIT,
        "shared_dofs": [dof for leg in legs for dof in leg.dofs],
        "locked_dofs": list(mechanics.fit.locked),
        "borrowed_dofs": list(mechanics.fit.borrowed),
        "segment_scales": [
            f"{frame} {leg.side}: {', '.join(f'{part:.3f}' for part in scale)}"
            for leg in legs
            for frame, scale in leg.state.muscles.segment_scale.items()
        ],
        "completed": measured.completed,
        "analysed": list(trial.analysed),
    }


def _reasons(analysis: Analysis) -> dict[str, list[str]]:
    """Sentences on the moments that the muscles of each leg cannot produce; none for a leg without such frames."""
    prepared = analysis.prepared
    model, time = prepared.mechanics.model, prepared.mechanics.motion.time
    moments = [prepared.moments[:, [model.dof(dof) for dof in leg.dofs]] for leg in analysis.legs]
    options, legs = prepared.options, zip(analysis.legs, moments, strict=True)
    found = {leg.side: reasons(leg, own, time, options) for leg, own in legs}
    return {f"reasons_{side}": sentences for side, sentences in found.items() if sentences}
