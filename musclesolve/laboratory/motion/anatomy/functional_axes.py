"""Functional knees and ankles: axis and center from trials in which the joint bends and straightens.

The axis follows from the motion, which does not show the center along the axis. The center is placed

- nearest to the midpoint of the lateral and the medial marker, where both are mapped;
- half the joint width and the radius of the marker inward of the marker, where only one is mapped;
- without markers, knee: nearest to the line from hip to ankle of the standing leg (radiographs: 1.3, s.d. 2.3 degrees
  of varus, which is 5, s.d. 8 mm at the knee; Bellemans et al. 2012, Clin Orthop Relat Res 470:45-53. In four recorded
  legs it passed the middle of the epicondyle markers by 10 to 27 mm);
- without markers, ankle: in the vertical plane through heel and toe of the standing foot (in the same legs 0 to 5 mm
  beside the middle of the malleolus markers).

The ends of the axis then replace the epicondyles or malleoli, and move with the cluster of the segment above.
"""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.laboratory.markers.landmarks import ENDS, shows_spines
from musclesolve.laboratory.motion.anatomy.joint_centers import between, joint_center, trunk_top
from musclesolve.laboratory.motion.anatomy.landmark_positions import (
    Points,
    axis_end,
    registered,
    standing_landmarks,
)
from musclesolve.laboratory.motion.anatomy.rotation_estimates import (
    RotationAxis,
    functional_frames,
    rotation_axis,
    uncertainty,
)
from musclesolve.laboratory.motion.anatomy.standing_posture import foot_left, hip_centers
from musclesolve.laboratory.recording.data import SIDE_NAMES, HingeMovement, Side, Trial
from musclesolve.laboratory.trial.functional_trials import BODIES, file_key

# Less motion than this does not show the axis: skin that slides by 1 mm then turns it by 4 degrees or more.
SMALLEST_RANGE_DEG = 20.0
# Uncertainty of the axis due to skin motion above which it is reported, and above which it is refused [deg].
UNSURE_DEG, UNKNOWN_DEG = 5.0, 15.0
# A joint that turns about a second axis by more than this share of the first is no hinge.
SECOND_SHARE = 0.5
# Residual between the two bodies: skin and the gliding of the knee cause about a centimeter [m].
LARGEST_RESIDUAL = 0.020
# Angle to the left of the standing foot above which an axis is not the flexion axis [deg].
ASKEW_DEG = 45.0
NEAR_LEG = (
    "nearest to the line from hip to ankle, which passed 10 to 27 mm beside the middle of the epicondyles of four "
    "recorded legs: knee_lateral in [mapping] and knee_width_m place it better"
)
MOVEMENT = {
    "knee": "bend the knee to 60 degrees and straighten it, several times",
    "ankle": "move the foot up and down through its whole range, several times",
}


def with_functional_axes(trial: Trial, standing: Points) -> tuple[Points, list[str]]:
    """Return the standing markers with the ends of the functional axes, and sentences on the axes.

    Markers (3,) of the standing trial [m]; see `axis_end` for the names of the ends.
    """
    points, notes = dict(standing), list[str]()
    for movement in trial.hinges.values():
        joint, side = movement.joint, movement.side
        axis, unsure = _axis(trial, joint, side, movement, points)
        landmarks = standing_landmarks(trial, points)
        left = foot_left(landmarks, side)
        direction = np.asarray(axis.proximal_direction * np.sign(axis.proximal_direction @ left))
        askew = float(np.degrees(np.arccos(min(1.0, float(direction @ left)))))
        if askew > ASKEW_DEG:
            problem = f"the axis of the {SIDE_NAMES[side]} {joint} points {askew:.0f} degrees off the left of the foot"
            expected = f"{ASKEW_DEG:g} degrees or less, as an axis of flexion"
            raise _refusal(trial, joint, side, problem, expected)
        along, rule = _center(trial, movement, points, landmarks, axis.proximal, direction)
        center = axis.proximal + along * direction
        half = 0.5 * trial.subject.width(joint)
        outward = direction if side == "l" else -direction
        for end, place in zip(ENDS, (center + half * outward, center - half * outward), strict=True):
            points[axis_end(f"{joint}_{end}_{side}")] = place
        notes.append(_note(trial, joint, side, axis, unsure, rule))
    return points, notes


def _axis(
    trial: Trial, joint: str, side: Side, movement: HingeMovement, standing: Points
) -> tuple[RotationAxis, tuple[float, float]]:
    """Return the axis between the standing bodies, and its uncertainty by skin motion [rad], [m]; refuse a joint
    without one.
    """
    leg, (above, below) = SIDE_NAMES[side], BODIES[joint]
    names = trial.clusters[movement.proximal], movement.distal
    paths = ([movement.markers[marker] for marker in markers] for markers in names)
    bodies = dict(zip((f"{leg} {above}", f"{leg} {below}"), paths, strict=True))
    point_paths = functional_frames(trial, movement.markers, bodies, file_key(joint, side))
    shapes = [np.stack([standing[marker] for marker in markers]) for markers in names]
    one, other = (
        registered(trial, shape, path, f"{body}_{side}")
        for shape, path, body in zip(shapes, point_paths, (above, below), strict=True)
    )
    axis = rotation_axis(one, other, between(shapes[0].mean(axis=0), shapes[1].mean(axis=0)))
    first, second, _ = np.degrees(axis.ranges)
    if first < SMALLEST_RANGE_DEG:
        problem = f"the {leg} {joint} moves too little to show its axis: {first:.0f} degrees"
        raise _refusal(trial, joint, side, problem, f"{SMALLEST_RANGE_DEG:g} degrees or more")
    if second > SECOND_SHARE * first:
        problem = (
            f"the {leg} {joint} turns by {first:.0f} degrees about one axis and by {second:.0f} about another"
        )
        expected = f"a hinge: at most {100.0 * SECOND_SHARE:.0f} % of the motion about a second axis"
        raise _refusal(trial, joint, side, problem, expected)
    if axis.rms > LARGEST_RESIDUAL:
        problem = f"{above} and {below} do not turn about one axis: it moves by {1000 * axis.rms:.0f} mm"
        raise _refusal(trial, joint, side, problem, f"{1000 * LARGEST_RESIDUAL:.0f} mm or less")
    turned, shifted = uncertainty(axis, ((shapes[0], one), (shapes[1], other)))
    if np.degrees(turned) > UNKNOWN_DEG:
        problem = (
            f"the markers slide so far on the skin that the axis of the {leg} {joint} is uncertain by "
            f"{np.degrees(turned):.0f} degrees, with {first:.0f} degrees of motion"
        )
        raise _refusal(trial, joint, side, problem, f"{UNKNOWN_DEG:g} degrees or less")
    return axis, (turned, shifted)


def _refusal(trial: Trial, joint: str, side: Side, problem: str, expected: str) -> Exception:
    """Return the error of a functional trial that does not show its axis."""
    above, below = BODIES[joint]
    path = trial.hinges[f"{joint}_{side}"].markers.path
    return trial.document.fault(
        "bad_anatomy",
        ("files", file_key(joint, side)),
        f"{problem} in {path}",
        expected,
        f"check that the {SIDE_NAMES[side]} {joint} is the one that moves, and the markers of "
        f"{above}_{side} and {below}_{side}; {MOVEMENT[joint]}",
    )


def _center(
    trial: Trial, movement: HingeMovement, standing: Points, landmarks: Points, point: Array, left: Array
) -> tuple[float, str]:
    """The position of the center along an axis from its point (3,) to the left [m], and the name of the rule."""
    joint, side = movement.joint, movement.side
    shown = {end: landmarks[name] for end in ENDS if (name := f"{joint}_{end}_{side}") in landmarks}
    if len(shown) == 2:
        middle = between(shown["lateral"], shown["medial"])
        return float((middle - point) @ left), "nearest to the midpoint of its two markers"
    if shown:
        ((end, marker),) = shown.items()
        inward = trial.subject.chord_offset(joint) * (1.0 if (end == "lateral") == (side == "r") else -1.0)
        return float((marker - point) @ left) + inward, f"by {joint}_width_m from the {end} marker"
    if joint == "ankle":
        # (p + s a - heel) . n = 0, with n the left of the foot.
        across = foot_left(landmarks, side)
        along = (landmarks[f"heel_{side}"] - point) @ across / (left @ across)
        return float(along), "above the line from heel to toe"
    if f"ankle_center_{side}" in landmarks or f"ankle_medial_{side}" in landmarks:
        ankle = joint_center(landmarks, "ankle", side)
    else:  # half a width inward along the knee axis
        inward = trial.subject.chord_offset("ankle")
        ankle = landmarks[f"ankle_lateral_{side}"] + inward * (left if side == "r" else -left)
    hip = landmarks.get(f"hip_center_{side}")
    if hip is None:
        pelvis = dict(landmarks)
        if not shows_spines(pelvis) and (top := trunk_top(pelvis)) is not None:
            pelvis["trunk_top"] = top
        centers, _ = hip_centers(trial, trial.subject, trial.hip_regression, standing, pelvis)
        hip = centers[f"hip_{side}"]
    line = (ankle - hip) / np.linalg.norm(ankle - hip)
    # The point of the axis nearest to the line: (p + s a - hip) is square to a without its part along the line.
    square = left - (left @ line) * line
    return float((hip - point) @ square / (square @ square)), NEAR_LEG


def _note(
    trial: Trial, joint: str, side: Side, axis: RotationAxis, unsure: tuple[float, float], rule: str
) -> str:
    """Return the sentence on a functional axis."""
    movement = trial.hinges[f"{joint}_{side}"]
    above, below = BODIES[joint]
    turned, shifted = np.degrees(unsure[0]), 1000 * unsure[1]
    sentence = (
        f"The {SIDE_NAMES[side]} {joint} axis is functional: over {len(axis.residual)} frames of "
        f"{movement.markers.path.name} with {np.degrees(axis.ranges[0]):.0f} degrees of motion it moves by "
        f"{1000 * axis.rms:.1f} mm and {np.degrees(axis.rms_stray):.1f} degrees between {above} and {below}; skin may "
        f"turn it by {turned:.1f} degrees and shift it by {shifted:.0f} mm"
    )
    advice = ": that is uncertain, move the joint farther" if turned > UNSURE_DEG else ""
    return f"{sentence}{advice}. Its center lies {rule}."
