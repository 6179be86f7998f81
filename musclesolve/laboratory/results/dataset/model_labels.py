"""Labels of models of OpenSim, MuJoCo and biorbd: skeleton, paths of the muscles, loads, joints and provenance."""

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, slices
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.sides import LEG_JOINTS, OTHER, has_side, joint_kind, side_of, split_side
from musclesolve.constants import GIVEN, LOADED_FROM_N, RIGID
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis, MeasuredModel
from musclesolve.laboratory.motion.events.foot_events import headings
from musclesolve.laboratory.results.dataset import labels
from musclesolve.laboratory.results.dataset.frame_validity import MUSCLE_SIDE
from musclesolve.laboratory.results.dataset.labels import (
    Labels,
    Skeleton,
    Variable,
    VariablesAndAttributes,
    path_labels,
)
from musclesolve.laboratory.results.dataset.muscle_labels import (
    emg_attributes,
    fascicle_attributes,
    person_attributes,
    reasons_of_sides,
)
from musclesolve.laboratory.trial.trial_file import change_notes, input_lines
from musclesolve.models.body import BLOCK
from musclesolve.models.opensim.coordinate_motion import ORDER
from musclesolve.models.opensim.external_loads import is_whole_person, load_in_ground
from musclesolve.models.opensim.geometry import path_lines
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion, coordinate_values
from musclesolve.models.opensim.load_dynamics import LoadDynamics
from musclesolve.models.opensim.model import GROUND, TO_GLOBAL, Frame, Joint, OpenSimModel
from musclesolve.models.opensim.muscle_set import long_name
from musclesolve.models.opensim.segments import FLEXION, flexion_sign, segments
from musclesolve.models.settings import replaces_file
from musclesolve.models.simulated_body import LENGTH, SimulatedBody
from musclesolve.muscles.strength import stated_texts
from musclesolve.tables.text_file import sha256


def model_labels(body: MeasuredModel, analysis: MeasuredAnalysis, paths: bool) -> labels.Labels:
    """Labels of an OpenSim model along its coordinates; names are the model's; paths: as of `assemble`."""
    model, motion = body.model, body.motion
    values = coordinate_values(model, motion.by_name(motion.value))
    skeleton, points = model_skeleton(model, body.pose).labels
    lines, path_muscles = model_paths(model, values, body.muscles if paths else ())
    loads, load_names = load_labels(model, body.dynamics)
    axis_force, axis_names = axis_forces(body, analysis)
    measured = body.measured.dynamics
    kept = measured.balanced if measured is not None and measured.change_any(body.dofs) else None
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
    return labels.Labels(
        variables={
            **skeleton,
            **lines,
            **loads,
            **axis_force,
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
            **{f"{name}_rotation": labels.ROTATIONS for name in TRUNK_BODIES if f"{name}_angle" in angles},
            **load_names,
            **axis_names,
            **(
                {}
                if body.change is None
                else {"component": labels.COMPONENTS, "point": body.change.before.massive}
            ),
        },
        attributes=_provenance(body) | reasons_of_sides(analysis),
        notes=[
            *body.notes,
            *body.warnings,
            f"Coordinates {filtered}, rates by a quintic spline; tendons {analysis.sharing.tendon}.",
            *analysis.notes,
            *([] if body.trial is None else change_notes(body.trial, read_later=True)),
        ],
        segment_axes=model_axes(body),
        translates=not all(model.coordinates[name].rotational for name in body.dofs),
    )


def _of_change(body: MeasuredModel) -> dict[str, Variable]:
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


def _of_ground(analysis: MeasuredAnalysis, body: MeasuredModel) -> dict[str, Variable]:
    """Ground reaction force and its center of pressure under each side, NaN where its moments are not measured.

    Loads on several bodies of a side are summed; empty where no load acts on a body of a side.
    """
    if body.dynamics is None or not (
        loads := [load for load in body.dynamics.loads if side_of(load.body) != OTHER]
    ):
        return {}
    pose = body.dynamics.dynamics.bodies.pose
    force = np.zeros((len(body.time), len(analysis.sides), 3))
    moment, point, floor = np.zeros_like(force), np.zeros_like(force), np.zeros(force.shape[:2])
    for load in loads:
        if (side := side_of(load.body)) in analysis.sides:
            acting, at = (part @ TO_GLOBAL.T for part in load_in_ground(body.model, load, body.time, pose))
            at = np.where(np.isfinite(at), at, 0.0)
            place = analysis.sides.index(side)
            force[:, place] += acting
            moment[:, place] += np.cross(at, acting)
            floor[:, place] += acting[:, 2] * at[:, 2]
    for place, side in enumerate(analysis.sides):
        # the floor is where the loads act
        level = floor[:, place] / np.maximum(force[:, place, 2], LOADED_FROM_N)
        point[:, place] = center_of_pressure(force[:, place], moment[:, place], level)
        lost = ~np.all([part.part.measured for part in analysis.of_side(side)], axis=0)
        point[lost | (force[:, place, 2] <= LOADED_FROM_N), place] = np.nan
        force[lost, place] = np.nan
    over = ("time", "side", "axis")
    return {
        "ground_reaction_force": (over, force),
        "center_of_pressure": (over, point),
        "ground_predicted": (over[:2], np.full(force.shape[:2], body.settings.files.predicted)),
    }


def axis_forces(body: MeasuredModel, analysis: MeasuredAnalysis) -> labels.VariablesAndAttributes:
    """Forces at joints beside hip, knee and ankle in the axes of the joint: of its frame on the proximal body.

    The words of an axis name the body; in a spine compression and shear, by the directions of the axes with all
    coordinates zero.
    """
    contact = {name: force for part in analysis.parts for name, force in part.contact_force.items()}
    known = [joint for joint in body.model.joints if joint.name in contact and joint.name in body.joints]
    known = [joint for joint in known if joint_kind(joint.name) not in LEG_JOINTS]
    if not known:
        return {}, {}
    model, parts, number = body.model, segments(body.model), body.model.body_number
    rest = body_motion(model, coordinate_values(model, {}))
    force = np.full((len(body.time), len(body.joints), 3), np.nan)
    words = np.full((len(body.joints), 3), "", dtype=object)
    for joint in known:
        frame, place = parts.proximal(joint), body.joints.index(joint.name)
        axes = TO_GLOBAL @ body.pose.rotation[:, number[frame.body]] @ frame.rotation
        force[:, place] = np.einsum("tgx,tg->tx", axes, contact[joint.name])
        words[place] = [f"{axis} of {frame.body}" for axis in "xyz"]
        standing = TO_GLOBAL @ rest.rotation[0, number[frame.body]] @ frame.rotation  # forward, left, up
        largest = np.abs(standing).argmax(axis=0)
        if is_of_spine(joint.name) and len({*largest}) == 3:
            below = _lies_below(model, rest, frame, joint)
            for k, towards in enumerate(largest):
                against = (standing[towards, k] < 0.0) != below
                words[place, k] = f"{SPINE_WORDS[towards][int(against)]} (+)"
    over = ("time", "joint", "joint_axis")
    return {"joint_axis_force": (over, force)}, {
        "joint_axis": list("xyz"),
        "joint_axis_words": (over[1:], words.astype(str)),
    }


def _lies_below(model: OpenSimModel, rest: BodyMotion, proximal: Frame, joint: Joint) -> bool:
    """Return whether the center of the distal body of a joint is below the proximal body's, with coordinates zero.

    The joint itself stands for the center of the ground.
    """

    def height(body: str, point: Array) -> float:
        number = model.body_number[body]
        return float((TO_GLOBAL @ (rest.rotation[0, number] @ point + rest.position[0, number]))[2])

    def center(frame: Frame) -> float:
        mass = model.masses.get(frame.body)
        if mass is None or frame.body == GROUND:
            return height(frame.body, frame.position)
        return height(frame.body, mass.center)

    distal = joint.outboard if proximal.body == joint.inboard.body else joint.inboard
    return center(distal) < center(proximal)


SPINE = re.compile(
    r"(?<![a-z])(back|neck|spine|spinal|lumb(ar|o)[a-z]*|cervical|cervico[a-z]*|thoracic|thoraco(lumbar|sacral)"
    r"|(inter)?vertebra[a-z]*|ivd[a-z]*|sacrum|sacral)(?=jnt|joint|[^a-z]|$)"
    r"|(?<![a-z0-9])[ctl]\d{1,2}(?=[^a-z0-9]|$|[ctls]\d)|(?<![a-z0-9])s1[_-]?l\d",
    re.IGNORECASE,
)
"""Words and levels in the names of the joints of a spine: back, lumbosacral, L5_S1_IVDjnt, c7t1."""
BESIDE_SPINE = re.compile(
    r"scapul|clavi|acromi|femor|femur|humer|radi[au]|talus|talar|iliac|rib|cost[ao]|cv(jnt|joint)|(^|_)r\d+[rl]?(_|$)",
    re.IGNORECASE,
)
"""What shows in a name that a joint is beside the spine: ribs, and necks and spines of other bones."""


def is_of_spine(joint: str) -> bool:
    """Return whether a joint is one of the spine, by its name; joints of one side of the body are not."""
    return bool(SPINE.search(joint)) and not has_side(joint) and not BESIDE_SPINE.search(joint)


SPINE_WORDS = (
    ("shear forward", "shear backward"),
    ("shear to the left", "shear to the right"),
    ("compression", "tension"),
)
"""Force on the upper body of a joint of the spine along and against the directions forward, left and up."""
TRUNK_BODIES = {"pelvis": ("pelvis",), "trunk": ("torso", "thorax", "trunk")}
"""Segment -> names of its body in models, in lower case."""
FEET = ("calcn", "foot")
"""Names of the body with heel and sole, without side."""


def _angles(analysis: MeasuredAnalysis, body: MeasuredModel) -> dict[str, Variable]:
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
        segment: rotation(bone)
        for segment, names in TRUNK_BODIES.items()
        if (bone := next((name for name in names if name in numbers), None)) is not None
    }
    if "pelvis" not in turned or len(body.time) < 2:
        return {}
    feet = {
        side: rotation(bone)[:, :, 0]
        for side in labels.MEDIAL
        if (bone := next((f"{name}_{side}" for name in FEET if f"{name}_{side}" in numbers), None))
    }
    place = motion.position[:, numbers["pelvis"]] @ TO_GLOBAL.T
    direction, _ = headings(body.time, place, turned["pelvis"][:, :, 0])
    heading = np.unwrap(np.arctan2(direction[:, 1], direction[:, 0]))
    return {"heading": (("time",), heading), **labels.body_angles(turned, feet, heading, analysis.sides)}


def model_axes(body: MeasuredModel) -> dict[str, Array]:
    """Axes of `DIRECTIONS` at hips, knees and ankles whose force is known, (T, 3, 3), by the names of the joints.

    The axes belong to the segment distal to a hip or knee, or above an ankle.
    """
    motion, axes, parts = body.pose, {}, segments(body.model)
    for joint in body.model.joints:
        stem, side = split_side(joint.name)
        kind = next((kind for kind in labels.SEGMENT_OF if kind in stem.lower()), None)
        if joint.name in body.joints and kind is not None and side in labels.MEDIAL:
            segment = (parts.proximal_segment if kind == "ankle" else parts.distal_segment)(joint)
            forward, up, right = np.moveaxis(TO_GLOBAL @ parts.axes(motion.rotation, segment), 2, 0)
            axes[joint.name] = np.stack([-up, forward, -labels.MEDIAL[side] * right], axis=1)
    return axes


def _provenance(body: MeasuredModel) -> dict[str, object]:
    motion, model, muscles, time = body.motion, body.model, body.settings.muscles, body.settings.time
    if body.trial is not None:
        inputs = input_lines(body.trial)
    else:
        files = {"model": model.file, "coordinates": motion.file, body.kind: body.moment_file}
        loads = body.settings.files.loads
        if body.kind == "moments" and loads is not None and not replaces_file(loads):
            files |= {"loads": Path(loads)}
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
    flexed = (name for name in body.dofs if split_side(name)[0] in FLEXION)
    if extended := [name for name in flexed if flexion_sign(model, name) < 0.0]:
        attributes["extension_positive"] = extended
    attributes |= _mass_attributes(body.settings.subject.mass_kg, model.bodies, model.mass)
    if body.stature is not None:
        attributes["subject_stature_m"] = body.stature
    if (change := body.change) is not None:
        attributes |= labels.change_attributes(change, body.settings.consistency.largest_change_mm)
    if (dynamics := body.measured.dynamics) is not None:
        loads = body.settings.files.loads
        measured = "found in the moments" if loads is None else "measured"
        attributes["ground_reactions"] = str(loads) if replaces_file(loads) else measured
        attributes |= {"joint_moments": GIVEN} if body.kind == "moments" else {}
        if dynamics.change_any(body.dofs):  # else the balance at the root is of no part of it
            attributes |= {} if dynamics.residual is None else dynamics.residual.attributes()
            if dynamics.balance_limit is not None:
                # the loads carry the model; body weights are the person's
                person = body.settings.subject.mass_kg or model.mass
                attributes["balance_limit"] = limit_of_person(dynamics.balance_limit, model.mass, person)
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


def limit_of_person(limit: float, model_mass: float, person_mass: float) -> float:
    """Convert a limit in weights of the model to body weights of the person."""
    return limit * model_mass / person_mass


def _mass_attributes(stated: float | None, bodies: Iterable[str], mass: float) -> dict[str, object]:
    """Mass of the person [kg], stated or of a model with two feet, and mass of the model."""
    whole, attributes = is_whole_person(bodies), dict[str, object]()
    person = stated if stated is not None else mass if whole else 0.0
    if person > 0.0:
        attributes["subject_mass_kg"] = person
    if mass > 0.0:
        attributes["model_mass_kg"] = mass
    return attributes


_SAME = 1e-3
"""Largest distance between points of two bodies that count as one point [m]."""
_SHORTEST_BONE = 0.01
"""Least length of a bone that is drawn [m]."""


def model_skeleton(model: OpenSimModel, motion: BodyMotion) -> Skeleton:
    """Make a skeleton from the poses of a model: lines from a body's joint to its distal joints.

    The point of a joint is the origin of its frame on the distal body. If the joint translates, the proximal body has
    its own point, at the origin of this frame in the default pose.
    """
    rest, number = body_motion(model, coordinate_values(model, {})), model.body_number
    points, bones = dict[str, Array](), list[tuple[str, str, str]]()

    def place_of(body: str, local: Array) -> Array:
        """Position (T, 3) [m] of a point of a body in the ground."""
        return np.asarray(motion.rotation[:, number[body]] @ local + motion.position[:, number[body]])

    def end_of(joint: Joint) -> str:
        """Name of the point of the nearer body at a joint."""
        inner, outer = (number[frame.body] for frame in (joint.inboard, joint.outboard))
        at_rest = rest.rotation[0, outer] @ joint.outboard.position + rest.position[0, outer]
        local = rest.rotation[0, inner].T @ (at_rest - rest.position[0, inner])
        here = place_of(joint.inboard.body, local)
        if np.linalg.norm(here - points[joint.name], axis=1).max() <= _SAME:
            return joint.name
        name = f"{joint.name} on {joint.inboard.body}"
        points[name] = here
        return name

    for joint in model.joints:
        points[joint.name] = place_of(joint.outboard.body, joint.outboard.position)
    for joint in model.joints:
        body, start = joint.outboard.body, joint.name
        beyond = [end_of(other) for other in model.joints if other.inboard.body == body]
        upright = body in labels.skeleton_table()["model"]["upright"]
        if upright and len(beyond) > 1:
            middle = f"middle of {body}"
            points[middle] = np.mean([points[end] for end in beyond], axis=0)
            bones.append((start, middle, body))
            start = middle
        bones += [(start, end, body) for end in beyond]
        if len(beyond) > 2:
            bones += [(a, b, body) for a, b in zip(beyond, [*beyond[1:], beyond[0]], strict=True)]
        mass = model.masses.get(body)
        if mass is not None and (upright or not beyond):
            points[f"end of {body}"] = place_of(body, 2.0 * mass.center - joint.outboard.position)
            bones.append((start, f"end of {body}", body))
    ends = [(bone, points[bone[0]][0] - points[bone[1]][0]) for bone in bones]
    long = [bone for bone, way in ends if np.linalg.norm(way) > _SHORTEST_BONE]
    moved = [k for k, body in enumerate(model.bodies) if body in model.reachable and body != GROUND]

    # in the global frame, in single precision
    position = (np.stack(list(points.values()), axis=1) @ TO_GLOBAL.T).astype(np.float32)
    place = (motion.position[:, moved] @ TO_GLOBAL.T).astype(np.float32)
    rotation = (TO_GLOBAL @ motion.rotation[:, moved] @ TO_GLOBAL.T).astype(np.float32)
    segments = tuple(model.bodies[k] for k in moved)
    return Skeleton(tuple(points), position, tuple(long), segments, place, rotation)


def model_paths(model: OpenSimModel, values: Array, muscles: tuple[str, ...]) -> VariablesAndAttributes:
    """The paths of muscles with points for values (T, K) of all coordinates."""
    muscles = tuple(name for name in muscles if model.muscles[name].points)
    if not muscles:
        return {}, {}
    lines = path_lines(model, values, muscles)
    for some in slices(len(values), BLOCK):  # in single precision, which turned axes keep
        lines.position[some] = lines.position[some] @ TO_GLOBAL.T
    return path_labels(np.array(muscles)[lines.muscle], lines.position)


def load_labels(model: OpenSimModel, dynamics: LoadDynamics | None) -> VariablesAndAttributes:
    """Forces and their points over time and external_load; names of the loads with the loaded bodies."""
    if dynamics is None or not dynamics.loads:
        return {}, {}
    time, pose = dynamics.motion.time, dynamics.dynamics.bodies.pose
    placed = [load_in_ground(model, load, time, pose) for load in dynamics.loads]
    force, point = (np.stack(parts, axis=1) @ TO_GLOBAL.T for parts in zip(*placed, strict=True))
    point = np.where(force[..., 2:] > LOADED_FROM_N, point, np.nan)
    over = ("time", "external_load", "axis")
    return {"external_force": (over, force), "external_point": (over, point)}, {
        "external_load": [f"{load.name} on {load.body}" for load in dynamics.loads]
    }


def simulated_labels(body: SimulatedBody, analysis: MeasuredAnalysis, paths: bool) -> Labels:
    """Labels of a model of another program; names are the model's; paths: as of `assemble`."""
    model, drawing = body.model, body.model.drawing(body.positions)
    bones = [
        (drawing.bodies[parent], name, name)
        for name, parent in zip(drawing.bodies, drawing.parents, strict=True)
        if parent >= 0
    ]
    none = np.zeros((len(body.time), 0, 3))
    origin = drawing.origin.astype(np.float32)
    skeleton, points = Skeleton(
        drawing.bodies, origin, tuple(bones), (), none, np.zeros((*none.shape, 3))
    ).labels
    lines: VariablesAndAttributes = {}, {}
    drawn = {name: path for name, path in drawing.paths.items() if name in body.muscles}
    if paths and drawn:
        owners = np.concatenate([np.repeat(name, path.shape[1]) for name, path in drawn.items()])
        lines = path_labels(owners, np.concatenate(list(drawn.values()), axis=1).astype(np.float32))
    return Labels(
        variables={
            **skeleton,
            **lines[0],
            "short_name": (("muscle",), np.array(body.muscles)),
            "group": (("muscle",), np.array(["other"] * len(body.muscles))),
            MUSCLE_SIDE: (("muscle",), np.array(analysis.muscle_sides)),
        },
        coordinates={**points, **lines[1]},
        attributes={
            "subject": body.files["model"].stem,
            "model_file": os.path.realpath(body.files["model"]),
            "simulator": model.program,
            "inputs": [f"{role} {path.name} sha256:{sha256(path)}" for role, path in body.files.items()],
            "muscle_database": body.files["model"].name,
            "trial_file": os.path.realpath(body.files["coordinates"]),
            **_mass_attributes(body.person_mass, drawing.bodies, model.mass),
            **reasons_of_sides(analysis),
        },
        notes=[
            *body.notes,
            *body.warnings,
            f"{model.program} computed lengths, moment arms, muscle curves and inverse dynamics; coordinates not "
            "filtered, tendons rigid.",
            *analysis.notes,
        ],
        translates=LENGTH in body.motion.units,
    )
