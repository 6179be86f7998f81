"""The measured anatomy: positions of the points and axes of the body model, frame by frame."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from musclesolve._util.arrays import UP, Array, Indices, across, by_name, mean_length, unit
from musclesolve.laboratory.markers.gaps.rigid_registration import SMALLEST_BREADTH, Poses, Shapes, breadth
from musclesolve.laboratory.markers.landmarks import shows_spines
from musclesolve.laboratory.motion import motion_plausibility
from musclesolve.laboratory.motion.anatomy.functional_axes import with_functional_axes
from musclesolve.laboratory.motion.anatomy.joint_centers import (
    between,
    completed,
    joint_center,
    moving_medials,
    pelvic_landmarks,
    pelvis_depth,
    trunk_top,
    unseen,
    upper_body,
)
from musclesolve.laboratory.motion.anatomy.landmark_positions import (
    MarkerMap,
    Points,
    body_shapes,
    filtered_markers,
    standing_trial,
)
from musclesolve.laboratory.motion.anatomy.proportions import (
    Unusual,
    stature_notes,
    unusual_hips,
    unusual_landmarks,
    unusual_segments,
)
from musclesolve.laboratory.motion.anatomy.standing_posture import (
    BACK_SHARE,
    Posture,
    foot_left,
    knee_widths,
    leftward,
    posture,
    shows_axis,
    standing_offsets,
)
from musclesolve.laboratory.motion.events.foot_events import FootLoads
from musclesolve.laboratory.motion.signals.filter_choice import FilterChoice, filter_choice
from musclesolve.laboratory.recording.data import (
    BODY_CLUSTERS,
    SIDE_NAMES,
    SIDES,
    Recording,
    Side,
    Subject,
    Trial,
)
from musclesolve.laboratory.trial.recording_checks import check_sides
from musclesolve.tables.sampled import Markers

# Landmarks that determine the rotation of the foot about the line from heel to toe, the best first.
THIRD_OF_FOOT = ("metatarsal_5", "ankle_lateral", "ankle_center")
# A triangle that is no broader hardly shows it [m].
CLEAR_BREADTH = 1.5 * SMALLEST_BREADTH


@dataclass(frozen=True)
class Anatomy:
    """The measured points and axes of the body: global frame (x forward, y left, z up), filtered, in T' frames."""

    time: Array  # (T',) [s]
    points: Points  # model point -> (T', 3) measured position [m]
    directions: Points  # model axis -> (T', 3) measured unit vector
    offsets: Points  # model point or axis -> (3,) standing geometry of the subject, see ``standing_offsets``
    pelvis_depth: float | None  # from mid-ASIS to mid-PSIS, standing [m]; None: not seen
    filter: FilterChoice  # the filter of the markers
    unusual: list[Unusual]  # unusual proportions, which are among the notes too
    trial: Trial
    landmarks: tuple[str, ...]  # names of those in the motion
    stance: Posture  # the standing posture
    # sentences on the "mass", the "cutoff" in a flight, "axes", and joints whose points move as rigid bodies ("firm")
    # or do not ("loose")
    remarks: dict[str, list[str]]

    @property
    def knee_width(self) -> dict[Side, float]:
        """Breadth between the epicondyles [m], where it is stated or its markers show it."""
        return knee_widths(self.trial.subject, self.stance)

    @property
    def completed(self) -> list[str]:
        """Sentences about parts of the body that no marker shows."""
        return completed(self.landmarks, self.points)

    @cached_property
    def notes_by_cause(self) -> dict[str, list[str]]:
        """The notes about the "mass", the "stature" or the "cutoff"."""
        stated = self.filter.options.fixed_cutoff
        return {
            "mass": self.remarks["mass"],
            "stature": stature_notes(self.trial.subject.stature, self.offsets),
            "cutoff": self.remarks["cutoff"] or motion_plausibility.cutoff_notes(self.trial, stated),
        }

    @cached_property
    def notes(self) -> list[str]:
        """Sentences a reader of the results should see, the serious ones first."""
        trial, by_cause = self.trial, self.notes_by_cause
        notes = [
            *by_cause["mass"],
            *by_cause["stature"],
            *map(str, self.unusual),
            *self.remarks["loose"],
            *by_cause["cutoff"],
            *motion_plausibility.filter_notes(trial, self.filter),
            *trial.notes,
            *self.stance.notes,
            *self.remarks["axes"],
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
        return notes + self.remarks["firm"]


@dataclass(frozen=True)
class Measured:
    """Points, axes and offsets as in Anatomy, with the data from which they are derived."""

    moving: Points  # landmark -> (T, 3) [m]
    stance: Posture  # the standing posture
    points: Points  # as in Anatomy
    directions: Points  # as in Anatomy
    offsets: Points  # as in Anatomy
    pelvis_depth: float | None  # as in Anatomy
    bodies: dict[str, Poses]  # the groups of markers that were followed as rigid bodies
    unusual: list[Unusual]  # unusual proportions; empty if not examined


def same_points(some: Points, others: Points) -> bool:
    """Return whether two sets of named points are equal, bit for bit."""
    return some.keys() == others.keys() and all(np.array_equal(some[name], others[name]) for name in some)


def anatomy(trial: Trial, margin: float = 0.0) -> Anatomy:
    """Measure points, axes and dimensions of the body on a trial.

    Args:
        trial: recording, subject, filter and hip regression are used.
        margin: time kept on either side of the time range, as far as every marker is seen there [s]; with it,
            derivatives over time are as accurate at the ends as in the middle.
    """
    loads = FootLoads.from_trial(trial)
    options, by_flight = motion_plausibility.usual_cutoff(trial, trial.settings.filter, loads)
    chosen = filter_choice(trial, options)
    walk = filtered_markers(trial, chosen, margin)
    standing, axis_notes = standing_trial(trial), list[str]()
    if trial.hinges:
        standing, axis_notes = with_functional_axes(trial, standing)
    body = measured_body(trial, trial.subject, trial.hip_regression, walk, standing)
    # A joint does not depend on a cluster that carries no point, unless the cluster is a body.
    idle = set(trial.clusters) - {*trial.carried.values(), *trial.axis_ends.values()} - BODY_CLUSTERS
    bodies = {name: pose for name, pose in body.bodies.items() if name not in idle}
    loose, firm = motion_plausibility.rigid_notes(bodies)
    loose += motion_plausibility.length_notes(body.points, body.offsets)
    mass = motion_plausibility.weight_notes(trial, loads, walk.time, body.moving)
    return Anatomy(
        time=walk.time,
        points=body.points,
        directions=body.directions,
        offsets=body.offsets,
        pelvis_depth=body.pelvis_depth,
        filter=chosen,
        unusual=body.unusual,
        trial=trial,
        landmarks=tuple(body.moving),
        stance=body.stance,
        remarks={"mass": mass, "cutoff": by_flight, "loose": loose, "firm": firm, "axes": axis_notes},
    )


def measured_body(
    recording: Recording,
    subject: Subject,
    regression: str,
    walk: Markers,
    standing: Points,
    hip_shift: Mapping[Side, Array] | None = None,
    checked: bool = True,
    tilt_error: float = 0.0,
) -> Measured:
    """Find points, axes and dimensions of the body in filtered markers (`walk`) and standing markers (3,) [m].

    `hip_shift` moves hip centers that are not mapped by (3,) [m] in the neutral axes of the pelvis. `checked` refuses
    impossible dimensions, and reports unusual ones. `tilt_error` is added to the tilt [rad] of the pelvis that is
    assumed without a standing trial.
    """
    seen = Seen.from_markers(MarkerMap.from_recording(recording, walk.names, standing), walk.position)
    moving = seen.moving
    if checked:
        check_sides(recording, moving)
    stance = posture(recording, subject, regression, standing, moving, tilt_error)
    shifted = {f"hip_{side}": stance.pelvis_axes @ by for side, by in (hip_shift or {}).items()}
    shifted = {name: stance.pelvis[name] + by for name, by in shifted.items()}
    stance = replace(stance, pelvis=stance.pelvis | shifted)
    followed = Following.from_posture(recording, subject, stance, seen).follow(seen, checked)
    moving = moving | followed.medials
    points, directions = by_name(followed.names, followed.place), by_name(followed.axes, followed.direction)
    offsets = standing_offsets(recording, stance, points)
    unusual: list[Unusual] = []
    if checked:
        check_axes(recording, directions)
        assumed = {f"hip_{side}": followed.of_pelvis[:, k] for k, side in enumerate(SIDES)}
        unusual = [
            *unusual_landmarks(recording, subject.stature, moving),
            *unusual_hips(recording, subject.stature, points, assumed, followed.of_pelvis[:, 2], regression),
            *unusual_segments(recording, subject.stature, offsets),
        ]
    depth = pelvis_depth(stance.pelvis)
    return Measured(moving, stance, points, directions, offsets, depth, followed.bodies, unusual)


@dataclass(frozen=True, eq=False)
class Seen:
    """Clusters and landmarks that markers show before the posture is known.

    clusters: by name, followed from standing; landmarks (L,): names, with the top of the trunk where it replaces the
    spines of the pelvis; places (T, L, 3): their positions [m].
    """

    clusters: dict[str, Poses]
    landmarks: tuple[str, ...]
    places: Array

    @classmethod
    def from_markers(cls, markers: MarkerMap, position: Array) -> Self:
        """Return the clusters and landmarks that markers in motion show, (T, n, 3) [m]."""
        seen = cls(*markers.follow(position))
        if shows_spines(seen.landmarks) or (top := trunk_top(seen.moving)) is None:
            return seen
        places = np.concatenate([seen.places, top[:, None]], axis=1)
        return cls(seen.clusters, (*seen.landmarks, "trunk_top"), places)

    @cached_property
    def moving(self) -> Points:
        """Position of each landmark, (T, 3) [m], by its name."""
        return by_name(self.landmarks, self.places)


@dataclass(frozen=True, eq=False)
class Followed:
    """Points and axes of the body in every frame, with the data from which they are derived.

    medials: landmarks (T, 3) [m] that no marker shows; bodies: as in `Measured`; names (P,) and place (T, P, 3) [m] of
    the points of the model; axes (D,) and direction (T, D, 3) of its axes; of_pelvis (T, 4, 3): the right and the left
    hip center [m] fixed in the standing pelvis, and its neutral upward and forward direction.
    """

    medials: Points
    bodies: dict[str, Poses]
    names: tuple[str, ...]
    place: Array
    axes: tuple[str, ...]
    direction: Array
    of_pelvis: Array


@dataclass(frozen=True, eq=False)
class Following:
    """Constants with which the body is followed from the standing posture through the motion.

    shapes: shapes of pelvis and feet without cluster, by the landmarks with the numbers `landmarks`; pelvis (3, 4): hip
    centers, upward and forward direction of the standing pelvis; foot_left (3,) of each side: ankle axis of the
    standing foot; medials: landmarks that no marker shows. points (P,): model points without the back; lines: the sides
    whose knees, and whose elbows, show their axis. weights: of the landmarks, medials, hips and upward direction in
    points and lines, see `linear_points`; upright: contribution of the vertical, (..., 3) [m], or None.
    """

    recording: Recording
    subject: Subject
    stance: Posture
    shapes: Shapes
    landmarks: Indices
    pelvis: Array
    foot_left: dict[Side, Array]
    medials: tuple[str, ...]
    points: tuple[str, ...]
    lines: tuple[list[Side], list[Side]]
    weights: Array
    upright: Array | None

    @classmethod
    def from_posture(cls, recording: Recording, subject: Subject, stance: Posture, seen: Seen) -> Self:
        """Points that follow the motion, from a standing posture and any frames of the motion."""
        # Pelvis and feet, by their clusters where the trial has them and by their landmarks elsewhere.
        landmarks = seen.landmarks
        shapes = {"pelvis": (stance.pelvis, pelvic_landmarks(stance.pelvis))}
        for side in SIDES:
            leg, line = stance.legs[side], [f"heel_{side}", f"toe_{side}"]
            # The first landmark that shows how the foot rotates about the line from heel to toe. The fifth metatarsal
            # does not if the toe marker sits on its head. If no landmark does, the first is used, and refused later.
            thirds = [f"{part}_{side}" for part in THIRD_OF_FOOT if f"{part}_{side}" in landmarks]
            clear = (
                third
                for third in thirds
                if breadth(np.array([leg[name] for name in (*line, third)])) > CLEAR_BREADTH
            )
            shapes[f"foot_{side}"] = (leg, [*line, next(clear, thirds[0])])
        shapes = {body: shape for body, shape in shapes.items() if body not in seen.clusters}
        shown = [landmarks.index(name) for _, names in shapes.values() for name in names]
        places = iter(range(len(shown)))
        bodies = {
            body: (np.stack([reference[name] for name in names]), [next(places) for _ in names])
            for body, (reference, names) in shapes.items()
        }
        medials = tuple(f"{joint}_medial_{side}" for joint, side in unseen(landmarks))
        # The rules are linear in the positions: applied to unit vectors they give the weights of the positions.
        sources = (*landmarks, *medials, "hip_r", "hip_l", "up", "vertical")
        one = dict(zip(sources, np.eye(len(sources)), strict=True))
        hips = {name: one.pop(name) for name in ("hip_r", "hip_l")}
        up, vertical = one.pop("up"), one.pop("vertical")
        points, lines = linear_points(one, hips, up, vertical, subject.stature)
        weights = np.stack([*points.values(), *lines.values()])
        return cls(
            recording,
            subject,
            stance,
            body_shapes(recording, bodies),
            np.array(shown, np.intp),
            np.stack([*(stance.pelvis[name] for name in hips), *stance.pelvis_axes.T[[2, 0]]], axis=1),
            {side: foot_left(stance.legs[side], side) for side in SIDES},
            medials,
            tuple(points),
            (
                [side for side in SIDES if f"knee_{side}" in lines],
                [side for side in SIDES if f"elbow_{side}" in lines],
            ),
            np.ascontiguousarray(weights[:, :-1]),
            weights[:, -1:] * UP if weights[:, -1].any() else None,
        )

    def follow(self, seen: Seen, checked: bool = False, trunk: float | None = None) -> Followed:
        """Follow pelvis, legs, trunk and arms.

        `trunk` is the length from hips to neck [m], by default its mean over the frames; with a stated length the
        frames are independent. `checked` refuses groups of markers that do not move as one body.
        """
        places, bodies = seen.places, seen.clusters
        if self.landmarks.size:
            bodies = self.shapes.poses(self.shapes.register(places[:, self.landmarks])) | bodies
        if checked:
            motion_plausibility.check_rigid(self.recording, bodies)

        pelvis = bodies["pelvis"]
        of_pelvis = (pelvis.rotation @ self.pelvis).swapaxes(1, 2)
        of_pelvis[:, :2] += pelvis.translation[:, None]
        medials: Points = {}
        if self.medials:
            assumed = {f"hip_{side}": of_pelvis[:, k] for k, side in enumerate(SIDES)}
            moving, triangles = moving_medials(
                self.recording, self.subject, seen.moving, assumed, self.stance.pelvis
            )
            if checked:
                motion_plausibility.check_rigid(self.recording, triangles)
            bodies = bodies | triangles
            medials = {name: moving[name] for name in self.medials}
            places = np.concatenate([places, *(place[:, None] for place in medials.values())], axis=1)
        places = self.weights @ np.concatenate([places, of_pelvis[:, :3]], axis=1)
        if self.upright is not None:
            places += self.upright

        count, (knees, elbows) = len(self.points), self.lines
        hips, neck = places[:, count], places[:, count + 1]
        length = mean_length(neck) if trunk is None else trunk
        back = hips + BACK_SHARE * length * of_pelvis[:, 2]
        lines, k = unit(places[:, count + 2 :]), len(knees)
        direction = [
            # Square to the thigh, as in the model: knee markers at unlike heights must not tilt the leg sideways.
            across(lines[:, :k], lines[:, k : 2 * k]),
            *(bodies[f"foot_{side}"].direction(self.foot_left[side])[:, None] for side in SIDES),
            of_pelvis[:, 3:],
            lines[:, 2 * k :],
        ]
        axes = (
            *(f"knee_axis_{side}" for side in knees),
            *(f"ankle_axis_{side}" for side in SIDES),
            "pelvis_forward",
            *(f"elbow_axis_{side}" for side in elbows),
        )
        return Followed(
            medials=medials,
            bodies=bodies,
            names=(*self.points, "back"),
            place=np.concatenate([places[:, :count], back[:, None]], axis=1),
            axes=axes,
            direction=np.concatenate(direction, axis=1),
            of_pelvis=of_pelvis,
        )


def linear_points(
    moving: Points, assumed: Points, up: Array, vertical: Array, stature: float
) -> tuple[Points, Points]:
    """Return model points that are linear in positions (..., 3) [m], and lines from which the other points follow.

    Args:
        moving: the landmarks.
        assumed: hip centers "hip_r", "hip_l" fixed in the standing pelvis; mapped hip centers have priority.
        up, vertical: unit vectors, the upward direction of the pelvis and the upward direction of gravity.
        stature: of the subject [m].

    Returns:
        Points without the back; then lines, as far as they are seen: the middle of the hips, from there to the neck,
            the axes of the knees to the left and up the thighs, the axes of the elbows to the left.
    """
    hips = {f"hip_{side}": moving.get(f"hip_center_{side}", assumed[f"hip_{side}"]) for side in SIDES}
    points: Points = {}
    for side in SIDES:
        points |= {f"{joint}_{side}": joint_center(moving, joint, side) for joint in ("knee", "ankle")}
        points |= {f"{part}_{side}": moving[f"{part}_{side}"] for part in ("heel", "toe")}
    points |= hips | upper_body(moving, hips, up, vertical, stature)
    middle = between(hips["hip_r"], hips["hip_l"])
    knees = [side for side in SIDES if shows_axis(moving, "knee", side)]
    elbows = [side for side in SIDES if f"elbow_{side}" in points and shows_axis(moving, "elbow", side)]
    lines = {"hips": middle, "trunk": points["neck_base"] - middle}
    lines |= {f"knee_{side}": leftward(moving, "knee", side) for side in knees}
    lines |= {f"thigh_{side}": hips[f"hip_{side}"] - points[f"knee_{side}"] for side in knees}
    lines |= {f"elbow_{side}": leftward(moving, "elbow", side) for side in elbows}
    return points, lines


def check_axes(recording: Recording, directions: Points) -> None:
    """Refuse knee and ankle axes that point to the right: their landmarks are swapped."""
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
                "sides_swapped",
                *("mapping", landmark),
                problem=f"the {SIDE_NAMES[side]} {joint} axis does not point from right to left",
                expected=expected,
                remedy=remedy,
            )
