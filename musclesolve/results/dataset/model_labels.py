"""Labels of an OpenSim model: its skeleton, loads, joints and provenance."""

import os
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import OTHER, has_side, side_of, split_side
from musclesolve.constants import LOADED_FROM_N, RIGID
from musclesolve.motion.walking_direction import headings
from musclesolve.muscles.tendon_strain import stated_texts
from musclesolve.opensim.external_loads import load_in_ground
from musclesolve.opensim.kinematics import coordinate_values
from musclesolve.opensim.model import TO_GLOBAL
from musclesolve.opensim.muscle_set import long_name
from musclesolve.opensim.segments import segments
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.opensim.coordinate_motion import ORDER
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.recording.text.text_file import sha256
from musclesolve.recording.trial.input_hashes import change_notes, input_lines
from musclesolve.results.dataset.frame_validity import MUSCLE_SIDE
from musclesolve.results.dataset.labels import (
    COMPONENTS,
    MEDIAL,
    ROTATIONS,
    SEGMENT_OF,
    Labels,
    body_angles,
    change_attributes,
)
from musclesolve.results.dataset.model_picture import load_labels, model_paths, model_skeleton
from musclesolve.results.dataset.muscle_variables import (
    beyond_plausible,
    emg_attributes,
    fascicle_attributes,
    fiber_range,
    person_attributes,
)
from musclesolve.results.dataset.reasons import reasons_of_sides
from musclesolve.results.dataset.skeleton import Variable
from musclesolve.settings.trial import PREDICTED


def model_labels(body: ModelBody, analysis: Analysis, paths: bool) -> Labels:
    """Labels of an OpenSim model along its coordinates; names are the model's; paths: as of `assemble`."""
    model, motion = body.model, body.motion
    values = coordinate_values(model, motion.by_name(motion.value))
    skeleton, points = model_skeleton(model, body.pose).labels
    lines, path_muscles = model_paths(model, values, body.muscles if paths else ())
    loads, load_names = load_labels(model, body.dynamics)
    measured = body.measured.dynamics
    kept = None if measured is None else measured.balanced
    angles = _angles(analysis, body)
    balance: dict[str, Variable] = {} if kept is None else {"balanced": (("time",), kept)}
    # the function group of each muscle that is known by its name, else the joints with shared coordinates that it
    # crosses, without side: "hip, walker_knee"
    joint_of = {name: joint.name for joint in model.joints for name in joint.moved_by}
    groups = []
    for name in body.muscles:
        joints = [joint_of[dof] for dof in body.dofs if dof in body.choice.crossing[name] and dof in joint_of]
        stems = (joint[:-2] if has_side(joint) else joint for joint in joints)
        function = long_name(split_side(name)[0])[1]
        groups.append(function if function != "other" else ", ".join(dict.fromkeys(stems)))
    filtered = (
        "not filtered"
        if motion.cutoff_hz is None
        else f"low-pass filtered as OpenSim does (order {ORDER}, zero-lag, amplitude halved at {motion.cutoff_hz:g} Hz)"
    )
    return Labels(
        variables={
            **skeleton,
            **lines,
            **loads,
            **balance,
            **_of_change(body),
            **_of_ground(analysis, body),
            **angles,
            "short_name": (("muscle",), np.array(body.muscles)),
            "group": (("muscle",), np.array(groups)),
            MUSCLE_SIDE: (("muscle",), np.array(analysis.muscle_sides)),
        },
        coordinates={
            **points,
            **path_muscles,
            **{f"{name}_rotation": ROTATIONS for name in TRUNK_BODIES if f"{name}_angle" in angles},
            **load_names,
            **({} if body.change is None else {"component": COMPONENTS, "point": body.change.before.massive}),
        },
        attributes=_provenance(body) | reasons_of_sides(analysis),
        notes=[
            *body.notes,
            *body.warnings,
            f"Coordinates {filtered}, rates by a quintic spline; tendons {analysis.sharing.tendon}.",
            *analysis.notes,
            *beyond_plausible(body.muscles, *fiber_range(analysis)),
            *([] if body.trial is None else change_notes(body.trial, read_later=True)),
        ],
        segment_axes=model_axes(body),
        translates=not all(model.coordinates[name].rotational for name in body.dofs),
    )


def _of_change(body: ModelBody) -> dict[str, Variable]:
    """Residual at the root after and before a change of the motion, and the change; none without a change."""
    if (change := body.change) is None or body.dynamics is None:
        return {}
    known = np.isfinite(np.asarray(change.before.dynamics.root_residual))[:, None]
    residual = {}
    for name, moved in {
        "pelvis_residual": body.motion,
        "pelvis_residual_before": change.before.motion,
    }.items():
        lacking = replace(change.before, motion=moved).lacking().reshape(-1, 2, 3) @ TO_GLOBAL.T
        residual[name] = ("time", "component"), np.where(known, lacking.reshape(-1, 6), np.nan)
    return {**residual, "motion_change": (("time", "point"), change.change)}


def _of_ground(analysis: Analysis, body: ModelBody) -> dict[str, Variable]:
    """Ground reaction force and its center of pressure under each side, NaN where its moments are not measured.

    Loads on several bodies of a side are summed; empty where no load acts on a body of a side.
    """
    if body.dynamics is None or not (
        loads := [load for load in body.dynamics.loads if side_of(load.body) != OTHER]
    ):
        return {}
    pose = body.dynamics.dynamics.bodies.pose
    force = np.zeros((len(body.time), len(analysis.sides), 3))
    moment, point, floor = np.zeros_like(force), np.full(force.shape, np.nan), np.zeros(force.shape[:2])
    for load in loads:
        if (side := side_of(load.body)) in analysis.sides:
            acting, at = (part @ TO_GLOBAL.T for part in load_in_ground(body.model, load, body.time, pose))
            at = np.where(np.isfinite(at), at, 0.0)
            place = analysis.sides.index(side)
            force[:, place] += acting
            moment[:, place] += np.cross(at, acting)
            floor[:, place] += acting[:, 2] * at[:, 2]
    up = force[..., 2]
    stands = up > LOADED_FROM_N
    # the point of the floor, where the loads act, about which the force has no moment but a vertical one
    (forward, left, upward), level = force[stands].T, floor[stands] / up[stands]
    over_x = (level * forward - moment[stands, 1]) / upward
    over_y = (level * left + moment[stands, 0]) / upward
    point[stands] = np.stack([over_x, over_y, level], axis=1)
    for place, side in enumerate(analysis.sides):
        lost = ~np.all([part.part.measured for part in analysis.of_side(side)], axis=0)
        force[lost, place], point[lost, place] = np.nan, np.nan
    over = ("time", "side", "axis")
    predicted = np.full(force.shape[:2], body.settings.files.predicted)
    return {
        "ground_reaction_force": (over, force),
        "center_of_pressure": (over, point),
        "ground_predicted": (over[:2], predicted),
    }


TRUNK_BODIES = {"pelvis": ("pelvis",), "trunk": ("torso", "thorax", "trunk")}
"""Segment -> names of its body in models, in lower case."""
FEET = ("calcn", "foot")
"""Names of the body with heel and sole, without side."""


def _angles(analysis: Analysis, body: ModelBody) -> dict[str, Variable]:
    """Walking direction, and angles of pelvis, trunk and feet to the ground; none of a model without a pelvis.

    Axes of bodies: x forward, y up, z to the right with all coordinates zero; x of the foot from heel to toes.
    """
    motion, parts = body.pose, segments(body.model)
    numbers = {name.lower(): number for name, number in body.model.body_number.items()}

    def rotation(name: str) -> Array:
        """Rotation (T, 3, 3) of a body."""
        axes = parts.axes(motion.rotation, body.model.bodies[numbers[name]])
        return np.asarray(TO_GLOBAL @ axes @ TO_GLOBAL.T)

    turned = {
        segment: rotation(found)
        for segment, names in TRUNK_BODIES.items()
        if (found := next((name for name in names if name in numbers), None)) is not None
    }
    if "pelvis" not in turned or len(body.time) < 2:
        return {}
    feet = {
        side: rotation(found)[:, :, 0]
        for side in MEDIAL
        if (found := next((f"{name}_{side}" for name in FEET if f"{name}_{side}" in numbers), None))
    }
    place = motion.position[:, numbers["pelvis"]] @ TO_GLOBAL.T
    direction, _ = headings(body.time, place, turned["pelvis"][:, :, 0])
    heading = np.unwrap(np.arctan2(direction[:, 1], direction[:, 0]))
    return {"heading": (("time",), heading), **body_angles(turned, feet, heading, analysis.sides)}


def model_axes(body: ModelBody) -> dict[str, Array]:
    """Axes of `DIRECTIONS` at hips, knees and ankles whose force is known, (T, 3, 3), by the names of the joints.

    The axes belong to the segment distal to a hip or knee, or above an ankle.
    """
    motion, axes, parts = body.pose, {}, segments(body.model)
    for joint in body.model.joints:
        stem, side = split_side(joint.name)
        kind = next((kind for kind in SEGMENT_OF if kind in stem.lower()), None)
        if joint.name in body.joints and kind is not None and side in MEDIAL:
            segment = (parts.proximal_segment if kind == "ankle" else parts.distal_segment)(joint)
            rotation = TO_GLOBAL @ parts.axes(motion.rotation, segment)
            forward, up, right = np.moveaxis(rotation, 2, 0)
            axes[joint.name] = np.stack([-up, forward, -MEDIAL[side] * right], axis=1)
    return axes


def _provenance(body: ModelBody) -> dict[str, object]:
    motion, model, muscles, time = body.motion, body.model, body.settings.muscles, body.settings.time
    if body.trial is not None:
        inputs = input_lines(body.trial)
    else:
        files = {"model": model.file, "coordinates": motion.file, body.kind: body.moment_file}
        if body.person is not None:
            files |= {"muscles": body.person.path, "muscle_parent": body.person.parent_file}
        inputs = [f"{role} {path.name} sha256:{sha256(path)}" for role, path in files.items() if path]
    attributes: dict[str, object] = {
        "subject": model.name,
        "model_file": os.path.realpath(model.file),
        "inputs": inputs,
        "muscle_database": model.file.name,
        **person_attributes(body.person),
        "passive": muscles.passive,
        "musculotendon_length_over_several_wraps": "OpenSim 4" if muscles.tendon == RIGID else "path",
        "tendon_strain": stated_texts(muscles.tendon_strain),
    }
    if body.unserved:
        attributes["unserved_dofs"] = list(body.unserved)
    if model.masses:
        attributes["subject_mass_kg"] = model.mass
    if (change := body.change) is not None:
        attributes |= change_attributes(change, body.settings.consistency.largest_change_mm)
    if (dynamics := body.measured.dynamics) is not None:
        attributes["ground_reactions"] = PREDICTED if body.settings.files.predicted else "measured"
        if dynamics.balance_limit is not None:
            attributes["balance_limit"] = dynamics.balance_limit
        attributes |= {} if dynamics.residual is None else dynamics.residual.attributes()
    trial_file = motion.file if body.trial is None else body.trial.path
    if trial_file is not None:
        attributes["trial_file"] = os.path.realpath(trial_file)
    if body.trial is not None:
        attributes |= emg_attributes(body.trial.emg, body.settings.emg.weight) | fascicle_attributes(
            body.trial.fascicles
        )
    if time.movement is not None:
        attributes["movement"] = time.movement
    if time.cycles_s is not None and len(time.cycles_s):
        attributes["cycles_s"] = np.ravel(time.cycles_s).astype(float)
    if motion.cutoff_hz is not None:
        attributes |= {"filter_method": "butterworth", "filter_order": ORDER, "cutoff_hz": motion.cutoff_hz}
    return attributes
