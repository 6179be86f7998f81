"""An analysis as one labelled Dataset: what every body has, and what only its maker knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.warning_note import WarningNote
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.emg_informed import followed_notes
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.results.dataset.knee_variables import knee_labels
from musclesolve.results.dataset.labels import DIRECTIONS
from musclesolve.results.dataset.model_labels import model_labels
from musclesolve.results.dataset.muscle_variables import (
    emg_labels,
    fascicle_labels,
    fiber_range,
    tendon_variables,
)
from musclesolve.results.dataset.picture import Variable
from musclesolve.results.dataset.recording_labels import recording_labels
from musclesolve.results.dataset.result_dataset import ResultDataset
from musclesolve.results.files.result_netcdf import storable
from musclesolve.results.finding import FINDINGS, Finding, finding, texts
from musclesolve.sharing.status import Status
from musclesolve.version import __version__

_OF_STATE = (
    *("musculotendon_length", "musculotendon_velocity", "fiber_length", "fiber_velocity"),
    *("force_capacity", "passive_force"),
)
_OF_MUSCLES = (
    *("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle"),
    "joints_crossed",
)
OWN = ("file_changed", "gait_events", "remark")
"""Codes of the warnings of an analysis that an examination of the recording or model does not find."""
TRANSLATIONS = {"joint_angle": "rad; m of a translation", "joint_moment": "N m; N of a translation"}
TRANSLATIONS["reserve_moment"] = TRANSLATIONS["joint_moment"]


def assemble(analysis: Analysis, found: Sequence[Finding] | None = None) -> xr.Dataset:
    """Label everything an analysis computed, with units and provenance.

    found: what was found wrong with the recording or model; None where nobody looked, and then the warnings of the
    analysis itself stand in their place.
    """
    body, parts = analysis.body, analysis.parts
    labels = recording_labels(analysis) if isinstance(body, RecordedBody) else model_labels(analysis)
    emg, channels = emg_labels(analysis)
    fascicles, columns = fascicle_labels(analysis)
    knees = knee_labels(analysis, labels.segment_axes)
    variables = {
        **_of_dofs(analysis),
        **_of_muscles(analysis),
        **_of_sides(analysis),
        **_of_joints(analysis, labels.segment_axes),
        **knees.variables,
        **tendon_variables(analysis),
        **emg,
        **fascicles,
        **labels.variables,
    }
    coordinates = {
        "time": ("time", body.time, {"units": "s"}),
        "dof": list(body.dofs),
        "muscle": list(body.muscles),
        "side": list(analysis.sides),
        "axis": list("xyz"),
        **channels,
        **columns,
        **labels.coordinates,
    }
    if body.joints:
        coordinates |= {"joint": list(body.joints)}
    if "contact_force_component" in variables:
        coordinates |= {"direction": list(DIRECTIONS)}
    # the most iterations that a motion with elastic tendons took, by side: "r 31"
    iterations = {
        side: [
            int(np.max(part.solution.iterations, initial=0))
            for part in analysis.of_side(side)
            if part.tendons is not None
        ]
        for side in analysis.sides
    }
    most = [f"{side} {max(counts)}" for side, counts in iterations.items() if counts]
    notes = [*labels.notes, *knees.notes, *followed_notes(analysis)]
    warnings = [note for note in notes if isinstance(note, WarningNote)]
    findings = [
        *(found or ()),
        *(_of_warning(note) for note in warnings if found is None or note.code in OWN),
    ]
    first = [each.line for each in findings if each.severity != "note"]
    attributes = {
        "musclesolve_version": __version__,
        "cost": parts[0].solution.cost_name,
        "solver": ", ".join(dict.fromkeys(part.solution.solver for part in parts if part.solution.solver)),
        "tendon": analysis.sharing.tendon,
        **({"motion_iterations": most} if most else {}),
        "shared_dofs": sorted((dof for part in parts for dof in part.part.shared), key=body.dofs.index),
        **labels.attributes,
        **knees.attributes,
        FINDINGS: json.dumps([each.as_dict() for each in findings]),
        **({"warnings": first} if first else {}),
        "notes": [str(note) for note in notes if not isinstance(note, WarningNote)],
    }
    attributes = {key: storable(value) for key, value in attributes.items()}
    result = ResultDataset(variables, coordinates, attributes)
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


def _of_warning(note: WarningNote) -> Finding:
    """The finding of a warning of the analysis."""
    code = note.code if "sentence" in texts()[note.code].get("what", "") else "remark"
    return replace(finding(code, "warning", {"sentence": str(note)}), code=note.code)


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
        left = moment[:, rows] - produced
        unassigned[:, rows], reserve[:, rows] = left, np.where(np.isfinite(left), 0.0, np.nan)
        reserve[:, shared] = part.solution.reserve
        unassigned[:, shared] = np.where(np.isfinite(part.solution.reserve), 0.0, np.nan)
    arrays = {
        "joint_angle": body.angle,
        "joint_moment": moment,
        "joint_power": moment * body.speed,
        "reserve_moment": reserve,
        "unassigned_moment": unassigned,
    }
    return {name: (("time", "dof"), values) for name, values in arrays.items()}


def _of_muscles(analysis: Analysis) -> dict[str, Variable]:
    parts, over_muscles = analysis.parts, analysis.over_muscles
    over = ("time", "muscle")
    variables: dict[str, Variable] = {
        name: (over, over_muscles([getattr(part.state, name) for part in parts])) for name in _OF_STATE
    }
    variables["activation"] = (over, over_muscles([part.solution.activation for part in parts]))
    variables["muscle_force"] = (over, over_muscles([part.tension for part in parts]))
    for name in _OF_MUSCLES:
        parameters = [getattr(part.state.parameters, name) for part in parts]
        variables[name] = (("muscle",), over_muscles(parameters))
    arm = np.zeros((len(analysis.body.time), len(analysis.body.dofs), len(analysis.body.muscles)))
    for part, columns in zip(parts, analysis.columns, strict=True):
        rows = np.array([analysis.body.dofs.index(dof) for dof in part.part.dofs])
        arm[:, rows[:, None], columns] = part.state.moment_arm
    variables["moment_arm"] = (("time", "dof", "muscle"), arm)
    for name, lengths in zip(("least", "greatest"), fiber_range(analysis), strict=True):
        variables[f"{name}_normalized_fiber_length"] = (("muscle",), lengths)
    return variables


def _of_sides(analysis: Analysis) -> dict[str, Variable]:
    """Status (the worst of its parts), certificate and cost of each side."""
    of_sides = [[part.solution for part in analysis.of_side(side)] for side in analysis.sides]
    combined: dict[str, tuple[str, Callable[..., AnyArray]]] = {
        "status": ("status", np.max),
        "valid": ("solved", np.all),
        "kkt_residual": ("kkt_residual", np.max),
        "cost": ("cost", np.sum),
    }
    variables: dict[str, Variable] = {}
    for name, (field, combine) in combined.items():
        columns = [combine([getattr(solution, field) for solution in side], axis=0) for side in of_sides]
        variables[name] = (("time", "side"), np.stack(columns, axis=1))
    return variables


def _of_joints(analysis: Analysis, segment_axes: dict[str, Array]) -> dict[str, Variable]:
    """Forces at the joints with muscle forces and without, in the axes of a segment with them; moments with them."""
    joints = analysis.body.joints
    if not joints:
        return {}
    contact = {name: force for part in analysis.parts for name, force in part.contact_force.items()}
    moment = {name: each for part in analysis.parts for name, each in part.contact_moment.items()}
    net = {name: force for part in analysis.parts for name, force in part.net_reaction.items()}
    variables: dict[str, Variable] = {
        name: (("time", "joint", "axis"), np.stack([forces[joint] for joint in joints], axis=1))
        for name, forces in (
            ("joint_reaction", contact),
            ("joint_reaction_net", net),
            ("joint_reaction_moment", moment),
        )
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
