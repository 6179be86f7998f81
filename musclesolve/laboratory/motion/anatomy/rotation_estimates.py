"""The center of a ball joint and the axis of a hinge from the motion of the two bodies of the joint.

They are found by symmetrical center of rotation estimation (SCoRE) and by the symmetrical axis of rotation approach
(SARA). A functional hip center is the center of rotation of the thigh in the pelvis, from trials that move the hip.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, true_runs, unit
from musclesolve.dynamics.kinematics.low_pass import low_pass
from musclesolve.laboratory.markers.gaps.gap_filling import jumps
from musclesolve.laboratory.markers.gaps.rigid_registration import Poses
from musclesolve.laboratory.motion.anatomy.joint_centers import pelvic_landmarks
from musclesolve.laboratory.motion.anatomy.landmark_positions import Points, registered
from musclesolve.laboratory.motion.anatomy.proportions import FAR_HIP
from musclesolve.laboratory.recording.data import SIDE_NAMES, Recording
from musclesolve.laboratory.trial.functional_trials import file_key
from musclesolve.tables.sampled import Markers

# Shares of the frames between which a range of motion is measured: a few bad frames are no motion.
RANGE_SHARES = (2.0, 98.0)


@dataclass(frozen=True)
class RotationCenter:
    """A center of rotation between two bodies over T frames."""

    proximal: Array  # (3,) the center in the reference position of the proximal body [m]
    distal: Array  # (3,) the center in the reference position of the distal body [m]
    residual: Array  # (T,) distance between the two in every frame [m]
    # (3,) ranges of the rotation about its principal axes, the widest first [rad]. The center along the first
    # axis is shown by the second and third alone
    ranges: Array
    condition: float  # condition number of the equations; infinite for a hinge

    @property
    def rms(self) -> float:
        """Root mean square residual [m]."""
        return float(np.sqrt(np.mean(self.residual**2)))


def rotation_center(proximal: Poses, distal: Poses) -> RotationCenter:
    """Find the point that moves least between two bodies.

    Minimizes sum_t |R1(t) c1 + d1(t) - R2(t) c2 - d2(t)|^2 over the center c1 in one and c2 in the other body (SCoRE;
    Ehrig et al. 2006, J Biomech 39:2798-2809); neither body needs to be at rest.

    The normal matrix is T [[1, -M], [-M^T, 1]] with M the mean over t of R1^T R2, so its eigenvalues are T (1 +- s)
    with s the singular values of M: the condition number is the root of (1 + s) / (1 - s) for the largest s.
    """
    rows, apart = coincidence(proximal, distal)
    # The shortest of all solutions where the equations leave some free; the condition number shows it.
    centers = np.asarray(np.linalg.lstsq(rows, apart, rcond=1e-12)[0], dtype=np.float64)
    residual = (rows @ centers - apart).reshape(-1, 3)
    relative = proximal.rotation.transpose(0, 2, 1) @ distal.rotation
    mean = np.linalg.svd(relative.mean(axis=0), compute_uv=False)[0]
    # Round-off may leave a mean a hair above one.
    spread = max(1.0 - float(mean), 0.0)
    return RotationCenter(
        proximal=centers[:3],
        distal=centers[3:],
        residual=np.linalg.norm(residual, axis=1),
        ranges=principal_ranges(proximal, distal)[0],
        condition=float(np.sqrt((1.0 + mean) / spread)) if spread > 0.0 else np.inf,
    )


def coincidence(proximal: Poses, distal: Poses) -> tuple[Array, Array]:
    """Return rows A (3 T, 6) and b (3 T,) [m] with A (c1, c2) - b = R1 c1 + d1 - R2 c2 - d2 in every frame."""
    rows = np.concatenate([proximal.rotation, -distal.rotation], axis=2).reshape(-1, 6)
    return rows, (distal.translation - proximal.translation).ravel()


def principal_ranges(proximal: Poses, distal: Poses) -> tuple[Array, float]:
    """Return the ranges of motion about the principal axes of the rotations from their mean, and one deviation.

    Ranges (3,) are the widest first [rad]; the deviation is the standard deviation of the angle about the first [rad].
    """
    from scipy.spatial.transform import Rotation

    rotations = Rotation.from_matrix(proximal.rotation.transpose(0, 2, 1) @ distal.rotation)
    vectors = (rotations.mean().inv() * rotations).as_rotvec()
    vectors = vectors - vectors.mean(axis=0)
    angles = vectors @ np.linalg.eigh(vectors.T @ vectors)[1][:, ::-1]
    low, high = np.percentile(angles, RANGE_SHARES, axis=0)
    return np.asarray(high - low), float(angles[:, 0].std())


@dataclass(frozen=True)
class RotationAxis:
    """An axis of rotation between two bodies over T frames.

    Points and directions are in the reference position of each body, points (3,) [m], directions unit vectors (3,).
    """

    proximal: Array  # a point of the axis in the proximal body
    distal: Array  # the same point of the axis in the distal body
    proximal_direction: Array
    distal_direction: Array  # of the same sense
    residual: Array  # (T,) distance between the two points in every frame [m]
    stray: Array  # (T,) angle between the two directions in every frame [rad]
    ranges: Array  # (3,) ranges of the rotation about its principal axes, the widest first [rad]
    deviation: float  # standard deviation of the angle about the widest one [rad]

    @property
    def rms(self) -> float:
        """Root mean square residual [m]."""
        return float(np.sqrt(np.mean(self.residual**2)))

    @property
    def rms_stray(self) -> float:
        """Root mean square angle between the two directions [rad]."""
        return float(np.sqrt(np.mean(self.stray**2)))


def rotation_axis(proximal: Poses, distal: Poses, near: Array) -> RotationAxis:
    """Find the line that moves least between two bodies.

    Minimizes sum_t |R1(t) c1 + d1(t) - R2(t) c2 - d2(t)|^2 over c1 in one and c2 in the other body, as
    `rotation_center` does. About a hinge every point of its axis is a minimum: the right singular vector (v1, v2) of
    the smallest singular value of the equations [R1, -R2] is the axis in both bodies, the least-squares solution
    without that direction the point of the axis nearest to `near` (SARA; Ehrig et al. 2007, J Biomech 40:2150-7).
    Neither body needs to be at rest.

    `near` is a point (3,) of the reference position near the joint [m].
    """
    rows, apart = coincidence(proximal, distal)
    apart = apart - rows @ np.concatenate([near, near])
    left, size, right = np.linalg.svd(rows, full_matrices=False)
    points = right[:5].T @ ((left.T @ apart)[:5] / size[:5])
    one, other = unit(right[5, :3]), unit(right[5, 3:])
    cosine = np.sum(proximal.direction(one) * distal.direction(other), axis=1)
    ranges, deviation = principal_ranges(proximal, distal)
    return RotationAxis(
        proximal=near + points[:3],
        distal=near + points[3:],
        proximal_direction=one,
        distal_direction=other,
        residual=np.linalg.norm((rows @ points - apart).reshape(-1, 3), axis=1),
        stray=np.arccos(np.clip(cosine, -1.0, 1.0)),
        ranges=ranges,
        deviation=deviation,
    )


def uncertainty(
    axis: RotationAxis, bodies: tuple[tuple[Array, Poses], tuple[Array, Poses]]
) -> tuple[float, float]:
    """Return possible errors of the axis by skin motion, rotation [rad] and shift [m], if all skin slides with the
    movement.

    The markers of a body with reference positions (n, 3) miss its rigid pose by s in each coordinate,
    s^2 = sum |miss|^2 / (3 n - 6). With m their mean, r their places about it and J = sum (|r|^2 1 - r r^T), the pose
    then errs by s / sqrt(n) in place and by a rotation of covariance s^2 J^-1, so a point c of the axis by
    s^2 (1 / n + [c - m] J^-1 [c - m]^T), [.] the matrix of the cross product. Perpendicular to the axis the errors of
    both bodies add up. If they are proportional to the angle about the axis, with the standard deviation D, they rotate
    the axis by (rotation) / D and shift it by (place) / D without any residual.

    `bodies` are reference positions and poses of the proximal and the distal body.
    """
    turned = shifted = 0.0
    places = (axis.proximal, axis.proximal_direction), (axis.distal, axis.distal_direction)
    for (reference, poses), (point, direction) in zip(bodies, places, strict=True):
        count, middle = len(reference), reference.mean(axis=0)
        about = reference - middle
        variance = float(np.mean(poses.residual**2)) * count / (3 * count - 6)
        inverse = np.linalg.inv(np.sum(about**2) * np.eye(3) - about.T @ about)
        lever = np.cross(point - middle, np.eye(3))  # rows: (c - m) x e_i
        square = np.eye(3) - np.outer(direction, direction)
        turned += variance * float(np.trace(square @ inverse))
        shifted += variance * float(np.trace(square @ (np.eye(3) / count + lever.T @ inverse @ lever)))
    return float(np.sqrt(turned)) / axis.deviation, float(np.sqrt(shifted)) / axis.deviation


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
            raise recording.document.fault(
                "bad_anatomy", ("files", key), f"{problem} in {markers.path}", expected, remedy
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
        raise recording.document.fault(
            "missing_samples",
            ("files", key),
            f"{markers.path} never shows all markers of the "
            f"{' and the '.join(map(str, bodies))} for {SHORTEST_S:g} s",
            "stretches without gaps and jumps in these markers",
            "fill the gaps in the capture software, or remove a marker that is often lost from the cluster",
        )
    ends = np.cumsum([len(paths) for paths in bodies.values()])[:-1]
    return np.split(np.concatenate(stretches), ends, axis=1)
