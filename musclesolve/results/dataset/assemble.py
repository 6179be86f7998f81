"""An analysis as one labelled Dataset: what every body has, and what only its maker knows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.pipeline.body import Analysis, SharedPart
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.results.dataset.labels import DIRECTIONS, Labels
from musclesolve.results.dataset.model_labels import model_labels
from musclesolve.results.dataset.muscle_variables import (
    emg_coordinates,
    emg_variables,
    fiber_variables,
    iterations,
    tendon_variables,
)
from musclesolve.results.dataset.picture import Variable
from musclesolve.results.dataset.recording_labels import recording_labels
from musclesolve.results.files.result_netcdf import storable
from musclesolve.sharing.status import Status
from musclesolve.version import __version__

_OF_STATE = (
    *("musculotendon_length", "musculotendon_velocity", "fiber_length", "fiber_velocity"),
    *("force_capacity", "passive_force"),
)
_OF_MUSCLES = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")
TRANSLATIONS = {"joint_angle": "rad; m of a translation", "joint_moment": "N m; N of a translation"}
TRANSLATIONS["reserve_moment"] = TRANSLATIONS["joint_moment"]


def assemble(analysis: Analysis) -> xr.Dataset:
    """Label everything an analysis computed, with units and provenance."""
    labels = labels_of(analysis)
    variables = {
        **_of_dofs(analysis),
        **_of_muscles(analysis),
        **fiber_variables(analysis),
        **_of_sides(analysis),
        **_of_joints(analysis, labels.segment_axes),
        **tendon_variables(analysis),
        **emg_variables(analysis),
        **labels.picture.variables,
        **labels.variables,
    }
    coordinates = {
        "time": ("time", analysis.body.time, {"units": "s"}),
        "dof": list(analysis.body.dofs),
        "muscle": list(analysis.body.muscles),
        "side": list(analysis.sides),
        "axis": list("xyz"),
        **emg_coordinates(analysis),
        **labels.picture.coordinates,
        **labels.coordinates,
    }
    if analysis.body.joints:
        coordinates |= {"joint": list(analysis.body.joints)}
    if "contact_force_component" in variables:
        coordinates |= {"direction": list(DIRECTIONS)}
    attributes = _provenance(analysis) | labels.attributes | {"notes": labels.notes}
    result = xr.Dataset(variables, coordinates, {key: storable(value) for key, value in attributes.items()})
    result["status"].attrs |= {
        "flag_values": np.array([int(status) for status in Status], dtype=np.int8),
        "flag_meanings": " ".join(status.name for status in Status),
    }
    meaning = bundled_toml(__package__, "variables.toml")
    for name in result.data_vars:
        result.variables[name].attrs |= meaning[str(name)]
    if labels.translates:
        for name, units in TRANSLATIONS.items():
            result[name].attrs["units"] = units
    return result


def labels_of(analysis: Analysis) -> Labels:
    """What only the maker of the body knows of a result."""
    return (recording_labels if isinstance(analysis.body, RecordedBody) else model_labels)(analysis)


def _of_dofs(analysis: Analysis) -> dict[str, Variable]:
    """Motion and moments, and what of the moments the muscles do not produce; NaN where there are no muscles.

    What is left is a reserve where the moment is shared among the muscles, an unassigned moment where it is not: the
    other is zero.
    """
    body, row = analysis.body, {name: k for k, name in enumerate(analysis.body.dofs)}
    moment = body.moment
    reserve, unassigned = (np.full(moment.shape, np.nan) for _ in range(2))
    for part in analysis.parts:
        produced = np.einsum("tkm,tm->tk", part.state.moment_arm, part.tension)
        rows, shared = [row[dof] for dof in part.part.dofs], [row[dof] for dof in part.part.shared]
        unassigned[:, rows] = moment[:, rows] - produced
        reserve[:, rows] = _zero(unassigned[:, rows])
        reserve[:, shared] = part.solution.reserve
        unassigned[:, shared] = _zero(part.solution.reserve)
    arrays = {
        "joint_angle": body.angle,
        "joint_moment": moment,
        "joint_power": moment * body.speed,
        "reserve_moment": reserve,
        "unassigned_moment": unassigned,
    }
    return {name: (("time", "dof"), values) for name, values in arrays.items()}


def _zero(values: AnyArray) -> AnyArray:
    """Zero where there is a number, NaN elsewhere."""
    return np.where(np.isfinite(values), 0.0, np.nan)


def _of_muscles(analysis: Analysis) -> dict[str, Variable]:
    def over_time(get: Callable[[SharedPart], Array]) -> Variable:
        return ("time", "muscle"), analysis.over_muscles([get(part) for part in analysis.parts])

    variables = {name: over_time(partial(_of_state, name)) for name in _OF_STATE}
    variables["activation"] = over_time(lambda part: part.solution.activation)
    variables["muscle_force"] = over_time(lambda part: part.tension)
    for name in _OF_MUSCLES:
        parameters = [getattr(part.state.parameters, name) for part in analysis.parts]
        variables[name] = (("muscle",), analysis.over_muscles(parameters))
    arm = np.zeros((len(analysis.body.time), len(analysis.body.dofs), len(analysis.body.muscles)))
    for part, columns in zip(analysis.parts, analysis.columns, strict=True):
        rows = np.array([analysis.body.dofs.index(dof) for dof in part.part.dofs])
        arm[:, rows[:, None], columns] = part.state.moment_arm
    variables["moment_arm"] = (("time", "dof", "muscle"), arm)
    return variables


def _of_state(name: str, part: SharedPart) -> Array:
    return np.asarray(getattr(part.state, name))


def _of_sides(analysis: Analysis) -> dict[str, Variable]:
    """Status (the worst of its parts), certificate and cost of each side."""
    of_sides = [[part.solution for part in analysis.of_side(side)] for side in analysis.sides]

    def over_time(get: Callable[[list[AnyArray]], AnyArray], name: str) -> Variable:
        columns = [get([getattr(solution, name) for solution in parts]) for parts in of_sides]
        return ("time", "side"), np.stack(columns, axis=1)

    return {
        "status": over_time(lambda parts: np.max(parts, axis=0), "status"),
        "valid": over_time(lambda parts: np.all(parts, axis=0), "solved"),
        "kkt_residual": over_time(lambda parts: np.max(parts, axis=0), "kkt_residual"),
        "cost": over_time(lambda parts: np.sum(parts, axis=0), "cost"),
    }


def _of_joints(analysis: Analysis, segment_axes: dict[str, Array]) -> dict[str, Variable]:
    """Forces at the joints with muscle forces and without, and with them in the axes of a segment."""
    joints = analysis.body.joints
    if not joints:
        return {}
    contact = {name: force for part in analysis.parts for name, force in part.contact_force.items()}
    net = {name: force for part in analysis.parts for name, force in part.net_reaction.items()}
    variables: dict[str, Variable] = {
        name: (("time", "joint", "axis"), np.stack([forces[joint] for joint in joints], axis=1))
        for name, forces in (("joint_reaction", contact), ("joint_reaction_net", net))
    }
    if segment_axes:
        components = [
            np.einsum("tdx,tx->td", segment_axes[joint], contact[joint])
            if joint in segment_axes
            else np.full((len(analysis.body.time), len(DIRECTIONS)), np.nan)
            for joint in joints
        ]
        over = ("time", "joint", "direction")
        variables["contact_force_component"] = (over, np.stack(components, axis=1))
    return variables


def _provenance(analysis: Analysis) -> dict[str, object]:
    """What every result says of how it was computed."""
    shared = [dof for part in analysis.parts for dof in part.part.shared]
    solvers = dict.fromkeys(part.solution.solver for part in analysis.parts if part.solution.solver)
    return {
        "musclesolve_version": __version__,
        "cost": analysis.parts[0].solution.cost_name,
        "solver": ", ".join(solvers),
        "tendon": analysis.sharing.tendon,
        **iterations(analysis),
        "shared_dofs": sorted(shared, key=analysis.body.dofs.index),
    }
