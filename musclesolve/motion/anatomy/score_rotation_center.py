"""The center of a ball joint from the motion of its two bodies: symmetrical center of rotation estimation (SCoRE)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
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

    Minimises sum_t |R1(t) c1 + d1(t) - R2(t) c2 - d2(t)|^2 over the center c1 in one and c2 in the other body (SCoRE;
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
