"""The center of a ball joint and the axis of a hinge from the motion of the two bodies of the joint.

Symmetrical center of rotation estimation (SCoRE) and symmetrical axis of rotation approach (SARA).
"""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, unit
from musclesolve.recording.gaps.rigid_registration import Poses

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
