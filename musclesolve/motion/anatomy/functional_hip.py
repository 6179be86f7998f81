"""Functional hip centres: where in the pelvis the thigh turns, from trials in which the hip moves all round."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve.errors import InputError
from musclesolve.motion.anatomy.landmark_positions import Points, registered
from musclesolve.motion.anatomy.pelvis import pelvic_landmarks
from musclesolve.motion.anatomy.proportions import FAR_HIP
from musclesolve.motion.anatomy.score import RotationCenter, rotation_center
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.recording.data import SIDE_NAMES, Markers, Side, Trial
from musclesolve.recording.gaps.marker_jumps import jumps
from musclesolve.recording.gaps.rigid_registration import Poses

# Less motion than this about the second axis does not show the centre; with 20 degrees errors of 1 mm of the markers
# leave it uncertain by about as much (Ehrig et al. 2006).
SMALLEST_RANGE_DEG = 20.0
# A slow movement in a long standing trial has the range, but most frames say nothing.
LARGEST_CONDITION = 20.0
# Skin over the thigh leaves about a centimetre [m].
LARGEST_RESIDUAL = 0.020
# Farther than this from the regression is worth a word [m].
APART = 0.020
# Nobody swings a leg round faster [Hz]; stretches shorter than this are not filtered and not used [s].
CUTOFF_HZ, SHORTEST_S = 6.0, 1.0
CIRCLE = (
    "swing the leg to the front, the back and the side and draw circles with it, 30 degrees or more each way"
)


def functional_hips(
    trial: Trial, standing: Points, pelvis: Points, regression: Points
) -> tuple[Points, list[str]]:
    """Find the hip centers of the standing pelvis in the functional trials.

    Args:
        trial: the trial.
        standing: marker positions (3,) of the standing trial [m].
        pelvis: landmarks (3,) of the standing pelvis [m].
        regression: hip centers "hip_r", "hip_l" (3,) by regression [m].

    Returns:
        Hip centers "hip_r", "hip_l" (3,) in the standing pelvis [m] and sentences on them; nothing when the trial has
        no functional trials.

    Raises:
        InputError: too little motion, too large a residual, or a center that is none of a hip.
    """
    points: Points = {}
    notes = []
    for side, recording in trial.functional.items():
        found = rotation_center(*_poses(trial, standing, pelvis, recording, side))
        apart = float(np.linalg.norm(found.proximal - regression[f"hip_{side}"]))
        _check(trial, found, apart, side)
        points[f"hip_{side}"] = found.proximal
        notes.append(_note(trial, found, apart, side))
    return points, notes


def _poses(
    trial: Trial, standing: Points, pelvis: Points, recording: Markers, side: Side
) -> tuple[Poses, Poses]:
    """Register pelvis and thigh from standing to the frames of a functional trial that show both."""
    thigh = trial.clusters[f"thigh_{side}"]
    cluster = trial.clusters.get("pelvis")
    if cluster is not None:
        shape = np.stack([standing[name] for name in cluster])
        seen = [recording[name] for name in cluster]
    else:
        landmarks = pelvic_landmarks(pelvis)
        shape = np.stack([pelvis[name] for name in landmarks])
        seen = [recording.weighted(trial.mapping[name]) for name in landmarks]
    position = np.stack([*seen, *(recording[name] for name in thigh)], axis=1)
    smooth = _smooth(trial, position, recording, side)
    legs = np.stack([standing[name] for name in thigh])
    return (
        registered(trial, shape, smooth[:, : len(shape)], "pelvis"),
        registered(trial, legs, smooth[:, len(shape) :], f"thigh_{side}"),
    )


def _smooth(trial: Trial, position: Array, recording: Markers, side: Side) -> Array:
    """Return the low-passed positions (T', n, 3) of the stretches in which all markers are seen and none leaps."""
    rate = recording.rate
    lost = np.isnan(position).any(axis=(1, 2)) | jumps(position, rate).any(axis=1)
    stretches = [
        low_pass(position[start:stop], rate, min(CUTOFF_HZ, 0.4 * rate))
        for start, stop in true_runs(np.logical_not(lost))
        if stop - start >= SHORTEST_S * rate
    ]
    if not stretches:
        raise trial.document.error(
            f"{recording.path} never shows all markers of the pelvis and the {SIDE_NAMES[side]} thigh for "
            f"{SHORTEST_S:g} s",
            "files",
            f"functional_{side}",
            expected="stretches without gaps and leaps in these markers",
            remedy="fill the gaps in the capture software, or take a marker that is often lost out of the cluster",
        )
    return np.concatenate(stretches)


def _check(trial: Trial, found: RotationCenter, apart: float, side: Side) -> None:
    name, ranges = SIDE_NAMES[side], np.rad2deg(found.ranges)

    def refused(problem: str, expected: str, remedy: str) -> InputError:
        place = f"{problem} in {trial.functional[side].path}"
        return trial.document.error(place, "files", f"functional_{side}", expected=expected, remedy=remedy)

    if ranges[1] < SMALLEST_RANGE_DEG or found.condition > LARGEST_CONDITION:
        raise refused(
            f"the {name} hip moves too little to show its center: {ranges[0]:.0f} degrees about one axis and "
            f"{ranges[1]:.0f} about the other, condition number {found.condition:.0f}",
            f"{SMALLEST_RANGE_DEG:g} degrees or more about both, condition number {LARGEST_CONDITION:g} or less",
            f"check that the {name} leg is the one that moves; {CIRCLE}; or choose a regression",
        )
    if found.rms > LARGEST_RESIDUAL:
        raise refused(
            f"pelvis and {name} thigh do not turn about one point: it moves by {1000 * found.rms:.0f} mm",
            f"{1000 * LARGEST_RESIDUAL:.0f} mm or less",
            f"check the markers of pelvis and thigh_{side}: exchanged labels, or one of another segment",
        )
    too_far = FAR_HIP * trial.subject.stature
    if apart > too_far:
        raise refused(
            f"the {name} thigh turns about a point {1000 * apart:.0f} mm from where {trial.hip_regression} puts "
            "the hip",
            f"less than {1000 * too_far:.0f} mm",
            f"check the markers of pelvis and thigh_{side}, and that they are those of the standing trial",
        )


def _note(trial: Trial, found: RotationCenter, apart: float, side: Side) -> str:
    wide, narrow = np.rad2deg(found.ranges[:2])
    note = (
        f"The {SIDE_NAMES[side]} hip center is functional: over {len(found.residual)} frames with {wide:.0f} and "
        f"{narrow:.0f} degrees of motion it moves by {1000 * found.rms:.1f} mm in pelvis and thigh; "
        f"{trial.hip_regression} puts it {1000 * apart:.0f} mm away"
    )
    return note + (": that is far, look at both." if apart > APART else ".")
