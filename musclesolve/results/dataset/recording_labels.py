"""What only a recording knows of a result: body, ground, gait, filter and provenance."""

from __future__ import annotations

import os

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.motion.ground_reaction import GroundReaction
from musclesolve.motion.motion_plausibility import FOOT_LIMIT
from musclesolve.muscles.tendon_strain import stated_texts
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.mechanics import Mechanics
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.recording.data import SIDES
from musclesolve.recording.text.text_file import sha256
from musclesolve.results.dataset.emg_variables import emg_attributes, emg_notes
from musclesolve.results.dataset.fiber_ranges import fiber_notes
from musclesolve.results.dataset.filter_variables import (
    filter_attributes,
    filter_coordinates,
    filter_variables,
)
from musclesolve.results.dataset.gait_variables import gait_coordinates, gait_variables, strike_times
from musclesolve.results.dataset.labels import MEDIAL, SEGMENT_OF, Labels, Variable
from musclesolve.results.dataset.picture import Drawn, MusclePaths, subject_skeleton
from musclesolve.results.dataset.reasons import reasons_of_sides

PELVIS_ROTATIONS = ["tilt", "list", "rotation"]
COMPONENTS = [f"{kind}_{axis}" for kind in ("force", "moment") for axis in "xyz"]


def recording_labels(analysis: Analysis) -> Labels:
    """Labels of the human along a recording."""
    body = analysis.body
    assert isinstance(body, RecordedBody)
    mechanics, gait, measured = body.mechanics, body.gait, body.mechanics.measured
    motion, placed = mechanics.motion, [leg.muscles for leg in body.legs]
    lines = [(leg.names, leg.paths.lines(motion.q, motion.coordinates)) for leg in placed]
    warnings = mechanics.warnings(body.trial.mapping, body.trial.consistency.method)
    return Labels(
        variables={
            **_of_body(body),
            **_of_ground(body),
            **gait_variables(gait),
            "heading": (("time",), gait.heading_at(body.time)),
            **filter_variables(measured.filter),
        },
        coordinates={
            "short_name": ("muscle", [name for leg in placed for name in leg.short_names]),
            "group": ("muscle", [name for leg in placed for name in leg.groups]),
            "component": COMPONENTS,
            "pelvis_rotation": PELVIS_ROTATIONS,
            "point": sorted(mechanics.fit.points, key=mechanics.model.slot),
            **gait_coordinates(gait),
            **filter_coordinates(measured.filter),
        },
        attributes=_provenance(body) | strike_times(gait) | reasons_of_sides(analysis),
        notes=[
            *map(str, warnings),
            *fiber_notes(analysis, body.options),
            *measured.notes,
            *dict.fromkeys(note for part in analysis.parts for note in part.notes),
            *body.options.database.notes,
            *gait.notes,
            *emg_notes(body),
        ],
        picture=Drawn(subject_skeleton(mechanics.model, motion), MusclePaths.of(lines)),
        segment_axes=_segment_axes(mechanics, body.joints),
    )


def _of_body(body: RecordedBody) -> dict[str, Variable]:
    """Motion of the pelvis and its residual, how far the model's points are off, and which frames are valid."""
    mechanics, points = body.mechanics, body.mechanics.fit.points
    model, motion = mechanics.model, mechanics.motion
    rates = model.constraints.rate_violation(motion.q, motion.qd, motion.qdd)
    velocity, acceleration = (np.abs(rate).max(axis=1) for rate in rates)
    order = [points.index(point) for point in sorted(points, key=model.slot)]
    in_place = [body.validity.foot_in_place[side] for side in body.options.sides]
    return {
        "pelvis_residual": (("time", "component"), body.moments[:, model.tree.joint_count :]),
        "pelvis_position": (("time", "axis"), motion.origin),
        "pelvis_angle": (("time", "pelvis_rotation"), motion.coordinates[:, -3:]),
        "constraint_violation": (("time",), mechanics.constraint_violation),
        "velocity_violation": (("time",), velocity),
        "acceleration_violation": (("time",), acceleration),
        "consistency_shift": (("time", "point"), mechanics.marker_residual[:, order]),
        "steady": (("time",), body.validity.steady),
        "balanced": (("time",), body.validity.balanced),
        "consistent": (("time",), body.validity.consistent),
        "foot_in_place": (("time", "side"), np.stack(in_place, axis=1)),
    }


def _segment_axes(mechanics: Mechanics, joints: tuple[str, ...]) -> dict[str, Array]:
    """Axes of `DIRECTIONS` at each joint, (T, 3, 3).

    In standing all segments have the axes of the body: forward, left, up. The force is that on the distal segment, as
    instrumented implants measure it on stem and tray (Bergmann et al. 2016, PLoS ONE 11:e0155612).
    """
    axes = {}
    for joint in joints:
        name, side = joint[:-2], joint[-1]
        segment = np.array([mechanics.model.body(f"{SEGMENT_OF[name]}_{side}")])
        rotation = mechanics.model.rigid_bodies.subset(segment).rotation(mechanics.motion.q)[:, 0]
        forward, left, up = np.moveaxis(rotation, 2, 0)
        axes[joint] = np.stack([-up, forward, MEDIAL[side] * left], axis=1)
    return axes


def _of_ground(body: RecordedBody) -> dict[str, Variable]:
    """Ground reaction force, its center of pressure and free moment under the analysed legs, NaN where not measured."""
    reactions = {reaction.side: reaction for reaction in body.mechanics.reactions}
    sides = [side for side in SIDES if side in body.options.sides]
    force = np.zeros((len(body.time), len(sides), 3))
    point, free = np.full(force.shape, np.nan), np.full(force.shape[:2], np.nan)
    for place, side in enumerate(sides):
        if side in reactions:
            force[:, place], point[:, place] = reactions[side].force, reactions[side].center_of_pressure
            free[:, place] = free_moment(reactions[side])
        lost = ~body.trial.measured(side, body.time)
        for values in (force, point, free):
            values[lost, place] = np.nan
    over = ("time", "side", "axis")
    return {
        "ground_reaction_force": (over, force),
        "center_of_pressure": (over, point),
        "ground_free_moment": (over[:2], free),
    }


def free_moment(reaction: GroundReaction) -> Array:
    """Moment of the ground about the vertical through the center of pressure, (T,) [N m]; NaN where there is none.

    Positive where it turns the toes to the median plane (adduction), so that both feet have the same sign.
    """
    point, force = reaction.center_of_pressure, reaction.force
    about_vertical = reaction.moment[:, 2] - point[:, 0] * force[:, 1] + point[:, 1] * force[:, 0]
    return np.asarray(MEDIAL[reaction.side] * about_vertical)


def _provenance(body: RecordedBody) -> dict[str, object]:
    """What the numbers were made of: inputs, subject, options."""
    trial, mechanics, options = body.trial, body.mechanics, body.options
    subject, consistency, measured = trial.subject, trial.consistency, mechanics.measured
    return {
        "subject": subject.name,
        "subject_mass_kg": subject.mass,
        "subject_stature_m": subject.stature,
        "subject_sex": subject.sex,
        "subject_shoe_mass_kg": subject.shoe_mass,
        "subject_segments": [f"{name} {each.sentence}" for name, each in subject.segments.items()],
        "trial_file": os.path.realpath(trial.path),
        "inputs": [f"{role} {path.name} sha256:{sha256(path)}" for role, path in trial.files.items()],
        **filter_attributes(measured.filter),
        **emg_attributes(trial.emg),
        "hip_method": trial.hip_method,
        "consistency_method": consistency.method,
        "consistency_derivatives": consistency.derivatives,
        "consistency_weights": [f"{name} {weight:g}" for name, weight in consistency.weights.items()],
        "muscle_database": trial.muscles.database,
        "muscle_coordinates": [f"{dof} {name}" for dof, name in options.database.coordinates.items()],
        "passive": trial.muscles.passive,
        "strength": trial.muscles.strength,
        "fiber_lengths": options.fiber_length_rule,
        "tendon_strain": stated_texts(options.tendon_strain),
        "curves": options.curve_name,
        "balance_limit": mechanics.balance_limit,
        "foot_limit_m": FOOT_LIMIT,
        "locked_dofs": list(mechanics.fit.locked),
        "borrowed_dofs": list(mechanics.fit.borrowed),
        "segment_scales": [
            f"{frame} {leg.side}: {', '.join(f'{part:.3f}' for part in scale)}"
            for leg in (state.muscles for state in body.legs)
            for frame, scale in leg.segment_scale.items()
        ],
        "completed": measured.completed,
        "analysed": list(trial.analysed),
    }
