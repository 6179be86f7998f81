"""What only an OpenSim model knows of a result: its skeleton, loads, joints and provenance."""

from __future__ import annotations

import os

import numpy as np

from musclesolve.muscles.tendon_strain import stated_texts
from musclesolve.opensim.kinematics import coordinate_values
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.opensim.coordinate_motion import ORDER
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.recording.text.text_file import sha256
from musclesolve.results.dataset.fiber_ranges import beyond_plausible, fiber_range
from musclesolve.results.dataset.frame_validity import MUSCLE_SIDE
from musclesolve.results.dataset.labels import Labels
from musclesolve.results.dataset.picture import (
    Drawn,
    load_coordinates,
    load_variables,
    model_paths,
    model_skeleton,
)
from musclesolve.results.dataset.reasons import reasons_of_sides


def model_labels(analysis: Analysis) -> Labels:
    """Labels of an OpenSim model along its coordinates; names are those of the model."""
    body = analysis.body
    assert isinstance(body, ModelBody)
    model, motion = body.model, body.motion
    values = coordinate_values(model, motion.by_name(motion.value))
    return Labels(
        variables=load_variables(model, body.dynamics),
        coordinates={
            "short_name": ("muscle", list(body.muscles)),
            "group": ("muscle", _joints_crossed(body)),
            MUSCLE_SIDE: ("muscle", analysis.muscle_sides),
            **load_coordinates(body.dynamics),
        },
        attributes=_provenance(body) | reasons_of_sides(analysis),
        notes=[
            *body.notes,
            *(f"{beyond.sentence}: moment arms there are extrapolated." for beyond in body.beyond),
            _method(body, analysis.sharing.tendon),
            *dict.fromkeys(note for part in analysis.parts for note in part.notes),
            *beyond_plausible(body.muscles, *fiber_range(analysis)),
        ],
        picture=Drawn(model_skeleton(model, values), model_paths(model, values, body.muscles)),
        translates=not all(model.coordinates[name].rotational for name in body.dofs),
    )


def _joints_crossed(body: ModelBody) -> list[str]:
    """The joints with shared coordinates that each muscle crosses, without side: "hip, walker_knee"."""
    joint_of = {name: joint.name for joint in body.model.joints for name in joint.moved_by}
    found = []
    for name in body.muscles:
        own = body.choice.crossing[name]
        joints = [joint_of[dof] for dof in body.choice.dofs if dof in own and dof in joint_of]
        found.append(
            ", ".join(dict.fromkeys(joint[:-2] if joint[-2:] in ("_r", "_l") else joint for joint in joints))
        )
    return found


def _method(body: ModelBody, tendon: str) -> str:
    cutoff = body.motion.cutoff_hz
    filtered = (
        "not filtered"
        if cutoff is None
        else (
            f"low-pass filtered as OpenSim does (order {ORDER}, zero-lag, amplitude halved at {cutoff:g} Hz)"
        )
    )
    return f"Coordinates {filtered}, rates by a quintic spline; tendons {tendon}."


def _provenance(body: ModelBody) -> dict[str, object]:
    motion, model, options = body.motion, body.model, body.options
    source = "moments" if body.dynamics is None else "loads"
    files = {"model": model.file, "coordinates": motion.file, source: body.moment_file}
    attributes: dict[str, object] = {
        "subject": model.name,
        "model_file": os.path.realpath(model.file),
        "inputs": [f"{role} {path.name} sha256:{sha256(path)}" for role, path in files.items() if path],
        "muscle_database": model.file.name,
        "passive": options.passive,
        "musculotendon_length_over_several_wraps": "OpenSim 4" if options.tendon == "rigid" else "path",
        "tendon_strain": stated_texts(options.tendon_strain),
    }
    if model.masses:
        attributes["subject_mass_kg"] = float(sum(body.mass for body in model.masses.values()))
    residual = None if body.dynamics is None else body.dynamics.root_residual(model)
    if residual is not None and np.isfinite(residual).any():
        attributes["root_residual_n"] = float(np.nanmax(residual))
    if motion.file is not None:
        attributes["trial_file"] = os.path.realpath(motion.file)
    if motion.cutoff_hz is not None:
        attributes |= {"filter_method": "butterworth", "filter_order": ORDER, "cutoff_hz": motion.cutoff_hz}
    return attributes
