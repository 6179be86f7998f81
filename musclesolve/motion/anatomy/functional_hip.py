"""Functional hip centers: the center of rotation of the thigh in the pelvis, from trials that move the hip."""

from collections.abc import Mapping

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve.motion.anatomy.joint_centers import pelvic_landmarks
from musclesolve.motion.anatomy.landmark_positions import Points, registered
from musclesolve.motion.anatomy.proportions import FAR_HIP
from musclesolve.motion.anatomy.rotation_estimates import rotation_center
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.recording.data import SIDE_NAMES, Markers, Recording
from musclesolve.recording.gaps.gap_filling import jumps
from musclesolve.recording.trial.functional_trials import file_key

# Less motion than this about the second axis does not show the center; with 20 degrees errors of 1 mm of the markers
# leave it uncertain by about as much (Ehrig et al. 2006).
SMALLEST_RANGE_DEG = 20.0
# A slow movement in a long standing trial has the range, but most frames hold no information.
LARGEST_CONDITION = 20.0
# Skin over the thigh causes about a centimeter [m].
LARGEST_RESIDUAL = 0.020
# Farther than this from the regression is reported [m].
REGRESSION_DISTANCE = 0.020
# No leg swings or bends faster [Hz]; stretches shorter than this are not filtered and not used [s].
CUTOFF_HZ, SHORTEST_S = 6.0, 1.0
CIRCLE = (
    "swing the leg to the front, the back and the side and draw circles with it, 30 degrees or more each way"
)


def functional_hips(
    recording: Recording, stature: float, standing: Points, pelvis: Points, regression: Points, name: str
) -> tuple[Points, list[str]]:
    """Find the hip centers of the standing pelvis in the functional trials.

    Markers (`standing`), landmarks (`pelvis`) and hip centers by the regression `name` are taken from the standing
    trial, (3,) [m].

    Returns:
        Hip centers "hip_r", "hip_l" (3,) in the standing pelvis [m] and sentences on them; both empty without
        functional trials.
    """
    points: Points = {}
    notes = []
    for side, markers in recording.functional.items():
        leg, key = SIDE_NAMES[side], file_key("hip", side)
        # Pelvis and thigh in standing, and in the motion.
        thigh, cluster = recording.clusters[f"thigh_{side}"], recording.clusters.get("pelvis")
        if cluster is not None:
            shape = np.stack([standing[marker] for marker in cluster])
            paths = [markers[marker] for marker in cluster]
        else:
            landmarks = pelvic_landmarks(pelvis)
            shape = np.stack([pelvis[landmark] for landmark in landmarks])
            paths = [markers.weighted(recording.mapping[landmark]) for landmark in landmarks]
        bodies = {"pelvis": paths, f"{leg} thigh": [markers[marker] for marker in thigh]}
        above, below = functional_frames(recording, markers, bodies, key)
        legs = np.stack([standing[marker] for marker in thigh])
        center = rotation_center(
            registered(recording, shape, above, "pelvis"), registered(recording, legs, below, f"thigh_{side}")
        )

        apart = float(np.linalg.norm(center.proximal - regression[f"hip_{side}"]))
        ranges, too_far, fault = np.rad2deg(center.ranges), FAR_HIP * stature, None
        if ranges[1] < SMALLEST_RANGE_DEG or center.condition > LARGEST_CONDITION:
            fault = (
                f"the {leg} hip moves too little to show its center: {ranges[0]:.0f} degrees about one axis and "
                f"{ranges[1]:.0f} about the other, condition number {center.condition:.0f}",
                f"{SMALLEST_RANGE_DEG:g} degrees or more about both, condition number {LARGEST_CONDITION:g} or less",
                f"check that the {leg} leg is the one that moves; {CIRCLE}; or choose a regression",
            )
        elif center.rms > LARGEST_RESIDUAL:
            fault = (
                f"pelvis and {leg} thigh do not rotate about one point: it moves by {1000 * center.rms:.0f} mm",
                f"{1000 * LARGEST_RESIDUAL:.0f} mm or less",
                f"check the markers of pelvis and thigh_{side}: exchanged labels, or one of another segment",
            )
        elif apart > too_far:
            fault = (
                f"the {leg} thigh rotates about a point {1000 * apart:.0f} mm from where {name} puts the hip",
                f"less than {1000 * too_far:.0f} mm",
                f"check the markers of pelvis and thigh_{side}, and that the standing trial has the same markers",
            )
        if fault:
            problem, expected, remedy = fault
            raise recording.document.error(
                "bad_anatomy",
                "files",
                key,
                problem=f"{problem} in {markers.path}",
                expected=expected,
                remedy=remedy,
            )
        points[f"hip_{side}"] = center.proximal
        notes.append(
            f"The {leg} hip center is functional: over {len(center.residual)} frames with {ranges[0]:.0f} and "
            f"{ranges[1]:.0f} degrees of motion it moves by {1000 * center.rms:.1f} mm in pelvis and thigh; "
            f"{name} puts it {1000 * apart:.0f} mm away"
            f"{': that is far, check both.' if apart > REGRESSION_DISTANCE else '.'}"
        )
    return points, notes


def functional_frames(
    recording: Recording, markers: Markers, bodies: Mapping[str, list[Array]], key: str
) -> list[Array]:
    """Return the positions (T, n, 3) [m] of the points of each body in the frames that can be used.

    `bodies` maps the name of a body, in words, to the paths (S, 3) of its points in the functional trial [m]; `key` is
    the key of the trial in [files].
    """
    position = np.stack([path for paths in bodies.values() for path in paths], axis=1)
    rate = markers.rate
    # Smoothed in the stretches in which all markers are seen and none jumps.
    lost = np.isnan(position).any(axis=(1, 2)) | jumps(position, rate).any(axis=1)
    stretches = [
        low_pass(position[start:stop], rate, min(CUTOFF_HZ, 0.4 * rate))
        for start, stop in true_runs(np.logical_not(lost))
        if stop - start >= SHORTEST_S * rate
    ]
    if not stretches:
        raise recording.document.error(
            "missing_samples",
            "files",
            key,
            problem=f"{markers.path} never shows all markers of the "
            f"{' and the '.join(map(str, bodies))} for {SHORTEST_S:g} s",
            expected="stretches without gaps and jumps in these markers",
            remedy="fill the gaps in the capture software, or remove a marker that is often lost "
            "from the cluster",
        )
    ends = np.cumsum([len(paths) for paths in bodies.values()])[:-1]
    return np.split(np.concatenate(stretches), ends, axis=1)
