"""The measured anatomy: where the points and axes of the body model were seen, frame by frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.motion.anatomy.functional_axes import with_functional_axes
from musclesolve.motion.anatomy.joint_centers import joint_center, moving_medials
from musclesolve.motion.anatomy.landmark_positions import (
    MarkerMap,
    Points,
    body_shapes,
    filtered_markers,
    standing_trial,
)
from musclesolve.motion.anatomy.pelvis import pelvic_landmarks, pelvis_depth, trunk_top
from musclesolve.motion.anatomy.proportions import (
    Unusual,
    stature_notes,
    unusual_hips,
    unusual_landmarks,
    unusual_segments,
)
from musclesolve.motion.anatomy.standing_posture import (
    Posture,
    foot_left,
    knee_widths,
    leftward,
    posture,
    shows_axis,
    standing_offsets,
)
from musclesolve.motion.anatomy.unit_vectors import across, unit
from musclesolve.motion.anatomy.upper_body import completed, upper_body
from musclesolve.motion.events.force_events import FootLoads
from musclesolve.motion.motion_warnings import (
    check_rigid,
    cutoff_notes,
    filter_notes,
    length_notes,
    rigid_notes,
    weight_notes,
)
from musclesolve.motion.signals.filter_choice import FilterChoice, filter_choice
from musclesolve.recording.data import (
    BODY_CLUSTERS,
    SIDE_NAMES,
    SIDES,
    Markers,
    Recording,
    Side,
    Subject,
    Trial,
)
from musclesolve.recording.gaps.rigid_registration import SMALLEST_BREADTH, Poses, Shapes, breadth
from musclesolve.recording.markers.landmark_names import shows_spines
from musclesolve.recording.trial.recording_checks import check_sides

# What fixes the rotation of the foot about the line from heel to toe, the best first.
THIRD_OF_FOOT = ("metatarsal_5", "ankle_lateral", "ankle_center")
# A triangle that is no broader hardly shows it [m].
CLEAR = 1.5 * SMALLEST_BREADTH


@dataclass(frozen=True)
class Anatomy:
    """The measured points and axes of the body: global frame (x forward, y left, z up), filtered, in the time range."""

    time: Array  # (T,) [s]
    points: Points  # model point -> (T, 3) measured position [m]
    directions: Points  # model axis -> (T, 3) measured unit vector
    offsets: Points  # model point or axis -> (3,) standing geometry of the subject, see ``standing_offsets``
    pelvis_depth: float | None  # from between the ASIS to between the PSIS, standing [m]; None: not seen
    completed: list[str]  # sentences about parts of the body that no marker shows
    notes: list[str]  # sentences a reader of the results should see, the serious ones first
    uncertain: list[str]  # those of the notes on joints whose points do not move as a rigid body does
    knee_width: dict[
        Side, float
    ]  # breadth between the epicondyles [m], where it is stated or its markers show it
    filter: FilterChoice  # the filter of the markers
    unusual: list[Unusual]  # unusual proportions, which are among the notes too
    # those of the notes that are about the "mass", the "stature" or the "cutoff"
    notes_by_cause: dict[str, list[str]]


@dataclass(frozen=True)
class Measured:
    """Points, axes and offsets as in Anatomy, and what they are derived from."""

    moving: Points  # landmark -> (T, 3) [m]
    stance: Posture  # the standing posture
    points: Points  # as in Anatomy
    directions: Points  # as in Anatomy
    offsets: Points  # as in Anatomy
    pelvis_depth: float | None  # as in Anatomy
    bodies: dict[str, Poses]  # the groups of markers that were followed as rigid bodies
    unusual: list[Unusual]  # proportions that are rare; nothing where it was not looked for


def anatomy(trial: Trial, margin: float = 0.0) -> Anatomy:
    """Measure points, axes and dimensions of the body on a trial.

    Args:
        trial: recording, subject, filter and hip regression are used.
        margin: time kept on either side of the time range, as far as every marker is seen there [s]; derivatives
            over time need it to be as good at the ends as in the middle.
    """
    subject, chosen, loads = trial.subject, filter_choice(trial, trial.filter), FootLoads.of(trial)
    walk = filtered_markers(trial, chosen, margin)
    standing, axis_notes = with_functional_axes(trial, standing_trial(trial))
    body = measured_body(trial, subject, trial.hip_regression, walk, standing)
    # A joint does not depend on a cluster that carries no point, unless the cluster is a body.
    idle = set(trial.clusters) - {*trial.carried.values(), *trial.axis_ends.values()} - BODY_CLUSTERS
    bodies = {name: pose for name, pose in body.bodies.items() if name not in idle}
    loose, firm = rigid_notes(bodies)
    uncertain = [*loose, *length_notes(body.points, body.offsets)]
    by_cause = {
        "mass": weight_notes(trial, loads, walk.time, body.moving),
        "stature": stature_notes(subject.stature, body.offsets),
        "cutoff": cutoff_notes(trial, chosen.options.cutoff_hz, loads),
    }
    notes = [
        *by_cause["mass"],
        *by_cause["stature"],
        *map(str, body.unusual),
        *uncertain,
        *by_cause["cutoff"],
        *filter_notes(trial, chosen),
        *trial.notes,
        *body.stance.notes,
        *axis_notes,
    ]
    if trial.hip_method == "mapped":
        notes.append("The hip centers are those mapped in the trial file; the regression is not used.")
    elif not trial.functional and trial.hip_method != trial.hip_regression:
        notes.append(f"The hip centers are found in two ways: {trial.hip_method}.")
    without = [
        SIDE_NAMES[side]
        for side in SIDES
        if f"elbow_medial_{side}" not in trial.mapping and f"elbow_lateral_{side}" in trial.mapping
    ]
    if without:
        notes.append(
            f"No medial marker at the {' and '.join(without)} elbow: the lateral one is used instead."
        )
    return Anatomy(
        time=walk.time,
        points=body.points,
        directions=body.directions,
        offsets=body.offsets,
        pelvis_depth=body.pelvis_depth,
        completed=completed(body.moving, body.points),
        notes=notes + firm,
        uncertain=uncertain,
        knee_width=knee_widths(subject, body.stance),
        filter=chosen,
        unusual=body.unusual,
        notes_by_cause=by_cause,
    )


def measured_body(
    recording: Recording,
    subject: Subject,
    regression: str,
    walk: Markers,
    standing: Points,
    hip_shift: Mapping[Side, Array] | None = None,
    checked: bool = True,
) -> Measured:
    """Find points, axes and dimensions of the body in filtered markers (`walk`) and standing markers (3,) [m].

    `hip_shift` moves hip centers that are not mapped by (3,) [m] in the neutral axes of the pelvis. `checked` refuses
    what no body can have, and looks for what is unusual.
    """
    seen = Seen.of(MarkerMap.of(recording, walk.names, standing), walk.position)
    moving = seen.moving
    if checked:
        check_sides(recording, moving)
    stance = posture(recording, subject, regression, standing, moving)
    shifted = {f"hip_{side}": stance.pelvis_axes @ by for side, by in (hip_shift or {}).items()}
    shifted = {name: stance.pelvis[name] + by for name, by in shifted.items()}
    stance = replace(stance, pelvis=stance.pelvis | shifted)
    followed = Following.of(recording, subject, stance, seen).follow(seen, checked)
    points, directions = followed.points, followed.directions
    offsets = standing_offsets(recording, stance, points)
    unusual: list[Unusual] = []
    if checked:
        check_axes(recording, directions)
        unusual = [
            *unusual_landmarks(recording, subject.stature, followed.moving),
            *unusual_hips(
                recording, subject.stature, points, followed.assumed_hips, followed.pelvis_up, regression
            ),
            *unusual_segments(recording, subject.stature, offsets),
        ]
    depth = pelvis_depth(stance.pelvis)
    return Measured(followed.moving, stance, points, directions, offsets, depth, followed.bodies, unusual)


@dataclass(frozen=True)
class Seen:
    """What markers show before anything is known of the posture.

    clusters: by name, followed from standing; moving: landmark -> (T, 3) [m], and the top of the trunk where it stands
    for the spines of the pelvis.
    """

    clusters: dict[str, Poses]
    moving: Points

    @classmethod
    def of(cls, markers: MarkerMap, position: Array) -> Seen:
        """Of markers in motion, (T, n, 3) [m]."""
        clusters, moving = markers.follow(position)
        if not shows_spines(moving) and (top := trunk_top(moving)) is not None:
            moving["trunk_top"] = top
        return cls(clusters, moving)


@dataclass(frozen=True)
class Followed:
    """Points and axes of the body in every frame, and what they are derived from; fields as in `Measured`.

    assumed_hips: hip centers (T, 3) [m] in the pelvis as it stood; pelvis_up (T, 3): its neutral upward direction.
    """

    moving: Points
    points: Points
    directions: Points
    bodies: dict[str, Poses]
    assumed_hips: Points
    pelvis_up: Array


@dataclass(frozen=True, eq=False)
class Following:
    """How the body is followed from the standing posture into what is seen: all that is the same in every frame.

    shapes: pelvis and feet that no cluster shows, by the landmarks `shown`; foot_left: ankle axis (3,) of each standing
    foot.
    """

    recording: Recording
    stature: float
    stance: Posture
    shapes: Shapes
    shown: tuple[str, ...]
    foot_left: dict[Side, Array]

    @classmethod
    def of(cls, recording: Recording, subject: Subject, stance: Posture, seen: Seen) -> Following:
        """Of a standing posture, and any frames of the motion."""
        # Pelvis and feet, by their clusters where the trial has them and by their landmarks elsewhere.
        shapes = {"pelvis": (stance.pelvis, pelvic_landmarks(stance.pelvis))}
        for side in SIDES:
            leg, line = stance.legs[side], [f"heel_{side}", f"toe_{side}"]
            # The first landmark that shows how the foot rotates about the line from heel to toe. The fifth metatarsal
            # does not where the toe marker sits on its head; where none does, the first is left to be refused.
            thirds = [f"{part}_{side}" for part in THIRD_OF_FOOT if f"{part}_{side}" in seen.moving]
            clear = (
                third for third in thirds if breadth(np.array([leg[name] for name in (*line, third)])) > CLEAR
            )
            shapes[f"foot_{side}"] = (leg, [*line, next(clear, thirds[0])])
        shapes = {body: shape for body, shape in shapes.items() if body not in seen.clusters}
        shown = tuple(name for _, names in shapes.values() for name in names)
        places = iter(range(len(shown)))
        bodies = {
            body: (np.stack([reference[name] for name in names]), [next(places) for _ in names])
            for body, (reference, names) in shapes.items()
        }
        left = {side: foot_left(stance.legs[side], side) for side in SIDES}
        return cls(recording, subject.stature, stance, body_shapes(recording, bodies), shown, left)

    def follow(self, seen: Seen, checked: bool = False, trunk: float | None = None) -> Followed:
        """Follow pelvis, legs, trunk and arms.

        Each frame is followed for itself where `trunk`, the length from hips to neck [m], is given; else that is the
        mean over the frames. `checked` refuses groups of markers that do not move as one body.
        """
        recording, stance, moving, bodies = self.recording, self.stance, seen.moving, dict(seen.clusters)
        if self.shown:
            shown = np.stack([moving[name] for name in self.shown], axis=1)
            bodies = self.shapes.poses(self.shapes.register(shown)) | bodies
        if checked:
            check_rigid(recording, bodies)

        pelvis = bodies["pelvis"]
        up = pelvis.direction(stance.pelvis_axes[:, 2])
        assumed = {f"hip_{side}": pelvis.point(stance.pelvis[f"hip_{side}"]) for side in SIDES}
        hips = {f"hip_{side}": moving.get(f"hip_center_{side}", assumed[f"hip_{side}"]) for side in SIDES}
        if recording.static is not None:
            moving, triangles = moving_medials(recording, moving, hips, stance.pelvis)
            if checked:
                check_rigid(recording, triangles)
            bodies |= triangles
        points: Points = {}
        for side in SIDES:
            points |= {f"{joint}_{side}": joint_center(moving, joint, side) for joint in ("knee", "ankle")}
            points |= {f"{part}_{side}": moving[f"{part}_{side}"] for part in ("heel", "toe")}
        directions: Points = {}
        # Square to the thigh, as in the model: knee markers at unlike heights must not tilt the leg sideways.
        sides = [side for side in SIDES if shows_axis(moving, "knee", side)]
        if sides:
            thigh = [hips[f"hip_{side}"] - points[f"knee_{side}"] for side in sides]
            left, thigh = unit(np.array([[leftward(moving, "knee", side) for side in sides], thigh]))
            axes = across(left, thigh)
            directions = {f"knee_axis_{side}": axis for side, axis in zip(sides, axes, strict=True)}
        for side in SIDES:
            directions[f"ankle_axis_{side}"] = bodies[f"foot_{side}"].direction(self.foot_left[side])
        directions["pelvis_forward"] = pelvis.direction(stance.pelvis_axes[:, 0])
        points |= hips | upper_body(moving, hips, up, self.stature, trunk)
        for side in SIDES:
            if f"elbow_{side}" in points and shows_axis(moving, "elbow", side):
                directions[f"elbow_axis_{side}"] = unit(leftward(moving, "elbow", side))
        return Followed(moving, points, directions, bodies, assumed, up)


def check_axes(recording: Recording, directions: Points) -> None:
    """Refuse knee and ankle axes that point right: the landmarks that show them are swapped."""
    left = np.cross([0.0, 0.0, 1.0], directions["pelvis_forward"])
    for side in SIDES:
        for joint, one, other, form in (
            (
                "knee",
                "knee_lateral",
                "knee_medial",
                "{0} on the outer side of the leg, {1} on the inner side",
            ),
            ("ankle", "heel", "toe", "{1} ahead of {0}"),
        ):
            axis = directions.get(f"{joint}_axis_{side}")
            if axis is None or np.mean(np.sum(axis * left, axis=1)) >= 0.3:
                continue
            landmark, other = f"{one}_{side}", f"{other}_{side}"
            expected = form.format(landmark, other)
            remedy = f"swap the markers of {landmark} and {other}, or check their names"
            if joint == "knee" and other not in recording.mapping:
                landmark = f"thigh_wand_{side}"
                expected = f"{landmark} on the outer side of the thigh, beside the line from hip to knee"
                remedy = "check its marker; one in front of the thigh does not show the rotation of the thigh"
            raise recording.document.error(
                f"the {SIDE_NAMES[side]} {joint} axis does not point from right to left",
                *("mapping", landmark, 0, expected, remedy),
                code="sides_swapped",
            )
