"""Labels of a recording: body, ground, gait, filter and provenance."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.messages import WarningNote
from musclesolve._util.sides import side_of, split_side
from musclesolve.constants import PREDICTED
from musclesolve.dynamics.model.segment_inertia import inertia_source
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.mechanics import measured_moments
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.markers.landmarks import HINGES
from musclesolve.laboratory.motion.events.gait import Gait
from musclesolve.laboratory.motion.motion_plausibility import FOOT_LIMIT
from musclesolve.laboratory.motion.signals.filter_choice import CutoffVerdict, FilterChoice
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.recording.trial_settings import PARTLY_PREDICTED
from musclesolve.laboratory.results.dataset import labels
from musclesolve.laboratory.results.dataset.frame_validity import MUSCLE_SIDE
from musclesolve.laboratory.results.dataset.labels import (
    Variable,
    VariablesAndAttributes,
    hip_distance,
    most_points,
    subject_paths,
    subject_skeleton,
)
from musclesolve.laboratory.results.dataset.muscle_labels import (
    emg_attributes,
    fascicle_attributes,
    fiber_notes,
    person_attributes,
    reasons_of_sides,
)
from musclesolve.laboratory.trial.trial_file import change_notes, input_lines
from musclesolve.muscles.strength import parameter_warnings, stated_texts

REPLACED = (
    "The moments of the joints were given in place of the ones of inverse dynamics. What bears the difference counts "
    "with the joint reaction moments."
)


def recording_labels(body: RecordedBody, analysis: MeasuredAnalysis, paths: bool) -> labels.Labels:
    """Labels of the human along a recording; paths: as of `assemble`."""
    return whole_labels(body, analysis, frame_labels(body, analysis.sides, WholeMotion(paths)))


@dataclass(frozen=True)
class WholeMotion:
    """Numbers of the whole motion that the labels of a window of frames need.

    paths: as of `assemble`; hips, most_points: see `subject_skeleton`, `subject_paths`.
    """

    paths: bool
    hips: float | None = None
    most_points: Indices | None = None

    @classmethod
    def from_body(cls, body: RecordedBody, paths: bool) -> Self:
        """Measure the whole motion of a body."""
        model, motion = body.mechanics.model, body.mechanics.motion
        return cls(paths, hip_distance(model, motion), most_points(body.placed, motion) if paths else None)


def frame_labels(body: RecordedBody, sides: Sequence[str], whole: WholeMotion) -> VariablesAndAttributes:
    """The labels of frames that do not depend on other frames; coordinates of their points."""
    model, motion, placed = body.mechanics.model, body.mechanics.motion, body.placed
    skeleton, points = subject_skeleton(model, motion, whole.hips).labels
    lines, path_muscles = subject_paths(placed, motion, whole.most_points) if whole.paths else ({}, {})
    variables = {
        **skeleton,
        **lines,
        **_of_body(body, sides),
        **_angles(body, sides),
        **_of_ground(body, sides),
        "heading": (("time",), body.gait.heading_at(body.time)),
    }
    return variables, {**points, **path_muscles}


def whole_labels(
    body: RecordedBody,
    analysis: MeasuredAnalysis,
    of_frames: VariablesAndAttributes,
    axes: dict[str, Array] | None = None,
) -> labels.Labels:
    """Labels of a recording from the labels of its frames; axes: as in `Labels.segment_axes`, else of this body."""
    mechanics, measured = body.mechanics, body.mechanics.measured
    model, placed = mechanics.model, body.placed
    strides, events, strikes = gait_labels(body.gait)
    cutoffs, markers, filtering = filter_labels(measured.filter)
    # muscles of both sides that serve one group, as about joints of the trunk, have its verdict instead of their own
    legs = analysis.muscle_sides
    sides = {} if legs == list(map(side_of, body.muscles)) else {MUSCLE_SIDE: (("muscle",), np.array(legs))}
    return labels.Labels(
        variables={
            **of_frames[0],
            **strides,
            "short_name": (("muscle",), np.array([name for group in placed for name in group.short_names])),
            "group": (("muscle",), np.array([name for group in placed for name in group.groups])),
            **sides,
            **cutoffs,
        },
        coordinates={
            **of_frames[1],
            "component": labels.COMPONENTS,
            "pelvis_rotation": labels.ROTATIONS,
            **({"trunk_rotation": labels.ROTATIONS} if _shows_trunk(body) else {}),
            "point": sorted(mechanics.fit.points, key=model.slot),
            **events,
            **markers,
        },
        attributes=_provenance(body) | filtering | strikes | reasons_of_sides(analysis),
        notes=[
            *(WarningNote(str(warning), warning.code) for warning in mechanics.warnings(body.trial)),
            *parameter_warnings(solved.part.state.parameters for solved in analysis.parts),
            *([REPLACED] if body.replaced else []),
            *fiber_notes(analysis, body.options),
            *measured.notes,
            *analysis.notes,
            *body.options.database.notes,
            *(
                person.notes(body.muscles, body.options.sharing.tendon)
                if (person := body.options.person)
                else ()
            ),
            *body.gait.notes,
            *change_notes(body.trial),
            *([] if body.emg is None else body.emg.notes(body.time)),
            *([] if body.fascicles is None else body.fascicles.notes(body.time)),
        ],
        segment_axes=recording_axes(body) if axes is None else axes,
    )


def recording_axes(body: RecordedBody) -> dict[str, Array]:
    """Axes of `DIRECTIONS` of the segments at the joints of the legs, (T, 3, 3), by the names of the joints.

    In standing all segments have the axes of the body: forward, left, up. The force acts on the distal segment, where
    instrumented implants measure it on stem and tray (Bergmann et al. 2016, PLoS ONE 11:e0155612).
    """
    model, motion, axes = body.mechanics.model, body.mechanics.motion, {}
    for joint in body.joints:
        name, side = split_side(joint)
        if name not in labels.SEGMENT_OF:
            continue
        segment = np.array([model.body(f"{labels.SEGMENT_OF[name]}_{side}")])
        turned = model.rigid_bodies.subset(segment).rotation(motion.q)[:, 0]
        forward, left, up = np.moveaxis(turned, 2, 0)
        axes[joint] = np.stack([-up, forward, labels.MEDIAL[side] * left], axis=1)
    return axes


def _of_body(body: RecordedBody, sides: Sequence[str]) -> dict[str, Variable]:
    """Motion of the pelvis and its residual, distances of the model's points from the markers, and valid frames."""
    mechanics, points = body.mechanics, body.mechanics.fit.points
    model, motion = mechanics.model, mechanics.motion
    rates = model.constraints.rate_violation(motion.q, motion.qd, motion.qdd)
    velocity, acceleration = (np.abs(rate).max(axis=1) for rate in rates)
    order = [points.index(point) for point in sorted(points, key=model.slot)]
    always = np.ones(len(body.time), bool)
    changed: dict[str, Variable] = {}
    if (change := mechanics.change) is not None:
        lacking = measured_moments(body.trial, model, change.before, mechanics.wrenches)
        of_points = change.change[:, [model.slot(point) for point in sorted(points, key=model.slot)]]
        changed = {
            "pelvis_residual_before": (("time", "component"), lacking[:, model.tree.joint_count :]),
            "motion_change": (("time", "point"), of_points),
        }
    steady, in_place = (
        np.stack([masks.get(side, always) for side in sides], axis=1)
        for masks in (body.validity.steady, body.validity.foot_in_place)
    )
    return {
        "pelvis_residual": (("time", "component"), body.moments[:, model.tree.joint_count :]),
        **changed,
        "pelvis_position": (("time", "axis"), motion.origin),
        "constraint_violation": (("time",), mechanics.constraint_violation),
        "velocity_violation": (("time",), velocity),
        "acceleration_violation": (("time",), acceleration),
        "consistency_shift": (("time", "point"), mechanics.marker_residual[:, order]),
        "steady": (("time", "side"), steady),
        "balanced": (("time",), body.validity.balanced),
        "consistent": (("time",), body.validity.consistent),
        "foot_in_place": (("time", "side"), in_place),
    }


def _shows_trunk(body: RecordedBody) -> bool:
    """Return whether markers show the motion of the trunk; without markers it is completed upright over the hips."""
    return {"shoulder_r", "shoulder_l"} <= {*body.mechanics.fit.points}


def _angles(body: RecordedBody, sides: Sequence[str]) -> dict[str, Variable]:
    """Angles of pelvis, trunk and feet to the ground."""
    model, motion = body.mechanics.model, body.mechanics.motion

    def line(start: str, end: str) -> Array:
        return motion.q[:, model.slot(end)] - motion.q[:, model.slot(start)]

    pelvis = model.rigid_bodies.subset(np.array([model.body("pelvis")]))
    segments = {"pelvis": pelvis.rotation(motion.q)[:, 0]}
    if _shows_trunk(body):
        # the thorax of the model does not turn about its long axis, the shoulders do
        up, left = line("back", "neck_base"), line("shoulder_r", "shoulder_l")
        forward = np.cross(left, up)
        axes = np.stack([forward, np.cross(up, forward), up], axis=2)
        segments["trunk"] = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    feet: dict[str, Array] = {side: line(f"heel_{side}", f"toe_{side}") for side in SIDES}
    return labels.body_angles(segments, feet, body.gait.heading_at(body.time), sides)


def _of_ground(body: RecordedBody, sides: Sequence[str]) -> dict[str, Variable]:
    """Ground reaction force, its center of pressure and free moment on the analyzed sides, NaN where not measured.

    The free moment is the moment of the ground about the vertical through the center of pressure [N m], positive where
    it turns the toes to the median plane (adduction), so that both feet have the same sign.
    """
    reactions = {reaction.side: reaction for reaction in body.mechanics.reactions}
    force = np.zeros((len(body.time), len(sides), 3))
    point, free = np.full(force.shape, np.nan), np.full(force.shape[:2], np.nan)
    predicted = np.zeros(force.shape[:2], bool)
    for place, side in enumerate(sides):
        if side in reactions:
            acting, at = reactions[side].force, reactions[side].center_of_pressure
            force[:, place], point[:, place] = acting, at
            about_vertical = reactions[side].moment[:, 2] - at[:, 0] * acting[:, 1] + at[:, 1] * acting[:, 0]
            free[:, place] = labels.MEDIAL[side] * about_vertical
        lost = ~body.trial.known(side, body.time) if side in SIDES else np.ones(len(body.time), bool)
        for values in (force, point, free):
            values[lost, place] = np.nan
        if side in SIDES:
            predicted[:, place] = body.trial.predicted(side, body.time)
    over = ("time", "side", "axis")
    return {
        "ground_reaction_force": (over, force),
        "center_of_pressure": (over, point),
        "ground_free_moment": (over[:2], free),
        "ground_predicted": (over[:2], predicted),
    }


def _origin(body: RecordedBody) -> str:
    """Return the origin of the ground reactions: "measured", "predicted", or "partly predicted"."""
    predicted = [body.trial.predicted(side, body.time) for side in SIDES]
    if np.any(predicted):
        return PREDICTED if np.all(predicted) else PARTLY_PREDICTED
    return "measured"


def _provenance(body: RecordedBody) -> dict[str, object]:
    """Return the provenance of the numbers: inputs, subject, options."""
    trial, mechanics, options = body.trial, body.mechanics, body.options
    scales = {bone: scale for group in body.placed for bone, scale in group.segment_scale.items()}
    subject, consistency, time = trial.subject, trial.settings.consistency, trial.settings.time
    knee_width, changed = mechanics.measured.knee_width, dict[str, object]()
    if mechanics.change is not None:
        changed = labels.change_attributes(mechanics.change, consistency.largest_change_mm)
    return {
        "subject": subject.name,
        "subject_mass_kg": subject.mass,
        "subject_mass_from": subject.mass_from,
        "subject_stature_m": subject.stature,
        "subject_sex": subject.sex,
        **({} if subject.age is None else {"subject_age_years": subject.age}),
        "subject_shoe_mass_kg": subject.shoe_mass,
        **({"recording_date": subject.date} if subject.date else {}),
        **({"recording_condition": subject.condition} if subject.condition else {}),
        "inertia_table": inertia_source(subject.sex, subject.age),
        **{f"knee_width_{side}_m": width for side, width in knee_width.items()},
        "subject_segments": [f"{name} {segment.sentence}" for name, segment in subject.segments.items()],
        "ground_reactions": _origin(body),
        "plate_corrections": list(trial.plate_corrections),
        "trial_file": os.path.realpath(trial.path),
        "inputs": input_lines(trial),
        **emg_attributes(trial.emg, trial.settings.emg.weight),
        **fascicle_attributes(trial.fascicles),
        "hip_method": trial.hip_method,
        **{
            f"{joint}_method": "functional" if f"{joint}_r" in trial.hinges else "landmarks"
            for joint in HINGES
        },
        "consistency_method": consistency.method,
        "consistency_derivatives": consistency.derivatives,
        "consistency_weights": [f"{name} {weight:g}" for name, weight in consistency.weights.items()],
        **changed,
        "muscle_database": trial.settings.muscles.database
        if options.person is None
        else options.person.parent,
        **person_attributes(options.person),
        "muscle_coordinates": [f"{dof} {name}" for dof, name in options.database.coordinates.items()],
        "passive": trial.settings.muscles.passive,
        "strength": trial.settings.muscles.strength,
        "fiber_lengths": options.fiber_length_rule,
        "tendon_strain": stated_texts(options.tendon_strain),
        "curves": options.curve_name,
        "balance_limit": mechanics.balance_limit,
        "foot_limit_m": FOOT_LIMIT,
        "locked_dofs": list(mechanics.fit.locked),
        "borrowed_dofs": list(mechanics.fit.borrowed),
        "segment_scales": [
            f"{bone}: {', '.join(f'{part:.3f}' for part in scale)}" for bone, scale in scales.items()
        ],
        "completed": mechanics.measured.completed,
        "analyzed": list(trial.analyzed),
        **({} if time.movement is None else {"movement": time.movement}),
        **({"cycles_s": np.ravel(time.cycles_s).astype(float)} if time.cycles_s else {}),
    }


PHASES = {
    "opposite_toe_off": "opposite_toe_off",
    "opposite_foot_below_hip": "opposite_foot_below_hip",
    "opposite_heel_strike": "opposite_heel_strike",
    "stance": "toe_off",
    "foot_below_opposite_hip": "foot_below_opposite_hip",
}
"""Variable without ``_percent`` -> the event of a stride whose place it gives."""


def gait_labels(gait: Gait) -> tuple[dict[str, Variable], dict[str, object], dict[str, object]]:
    """Over the dimensions event and stride: times and measures; kind, side and source of each event, and leg and ends.

    The attributes ``heel_strike_times_r`` and ``_l`` [s] include periodic strikes; a leg without strikes has none.
    """
    events, strides = gait.events, gait.strides
    measures = {
        "stride_time": [stride.duration for stride in strides],
        "cadence": [stride.cadence for stride in strides],
        "walking_speed": [stride.speed for stride in strides],
        "stride_length": [stride.length for stride in strides],
        "step_length": [stride.step_length for stride in strides],
        "step_width": [stride.step_width for stride in strides],
        "double_support_percent": [100.0 * stride.double_support / stride.duration for stride in strides],
        **{
            f"{name}_percent": [stride.percent(getattr(stride, event)) for stride in strides]
            for name, event in PHASES.items()
        },
    }
    variables: dict[str, Variable] = {
        "event_time": (("event",), np.array([event.time for event in events], float)),
        **{name: (("stride",), np.array(values, float)) for name, values in measures.items()},
    }
    coordinates: dict[str, object] = {
        f"event_{name}": (("event",), np.array([str(getattr(event, name)) for event in events], np.str_))
        for name in ("kind", "side", "source")
    }
    coordinates["stride_side"] = (("stride",), np.array([stride.side for stride in strides], np.str_))
    for name in ("start", "end"):
        times = np.array([getattr(stride, name) for stride in strides], float)
        coordinates[f"stride_{name}"] = (("stride",), times, {"units": "s"})
    strikes = [event for event in events if event.kind == "heel_strike"]
    by_side = {side: [strike.time for strike in strikes if strike.side == side] for side in SIDES}
    attributes: dict[str, object] = {
        f"heel_strike_times_{side}": np.array(times) for side, times in by_side.items() if times
    }
    return variables, coordinates, attributes


def filter_labels(chosen: FilterChoice) -> tuple[dict[str, Variable], dict[str, object], dict[str, object]]:
    """Cut-off and noise of every marker and axis and, of a residual analysis, its evidence; none of a given cut-off.

    The attributes hold method and order; a stated cut-off, otherwise the method of its choice and the cut-off of the
    forces.
    """
    options, analysis = chosen.options, chosen.analysis
    variables, coordinates = dict[str, Variable](), dict[str, object]()
    if chosen.noise is not None:
        dims, curves = ("marker", "axis"), ("tried_cutoff", "marker", "axis")
        variables = {"marker_cutoff": (dims, chosen.cutoff_hz), "marker_noise": (dims, chosen.noise)}
        coordinates = {"marker": list(chosen.markers)}
        if analysis is not None:
            flags = {
                "flag_values": np.array([int(verdict) for verdict in CutoffVerdict], dtype=np.int8),
                "flag_meanings": " ".join(verdict.name for verdict in CutoffVerdict),
            }
            variables |= {
                "marker_residual": (curves, analysis.residual),
                "marker_residual_line": (curves, analysis.line),
                "marker_linear_from": (dims, analysis.linear_from_hz),
                "marker_linear_to": (dims, analysis.linear_to_hz),
                "marker_verdict": (dims, analysis.verdict.astype(np.int8), flags),
            }
            coordinates["tried_cutoff"] = ("tried_cutoff", analysis.frequency_hz, {"units": "Hz"})
    attributes: dict[str, object] = {"filter_method": options.method, "filter_order": options.order}
    if options.force_cutoff_hz is not None:
        attributes["force_cutoff_hz"] = options.force_cutoff_hz
    if options.fixed_cutoff is not None:
        attributes["cutoff_hz"] = options.fixed_cutoff
    else:
        attributes |= {"cutoff_choice": options.choice, "force_cutoff_hz": chosen.force_cutoff_hz}
    return variables, coordinates, attributes
