"""Rigid registration: least-squares displacement of a reference shape to every frame at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError

# The rotation about a line is undetermined: points closer to one than this are refused.
SMALLEST_BREADTH = 0.004


@dataclass(frozen=True)
class Poses:
    """Rigid displacements of one body from its reference to T frames: p(t) = R(t) p_reference + d(t).

    R (T, 3, 3), d (T, 3) [m], and the root mean square distance of registered and measured points (T,) [m].
    """

    rotation: Array
    translation: Array
    residual: Array

    def point(self, reference: Array) -> Array:
        """Return where a point (3,) of the reference is in every frame, (T, 3)."""
        return self.rotation @ reference + self.translation

    def direction(self, reference: Array) -> Array:
        """Return where a direction (3,) of the reference points in every frame, (T, 3)."""
        return np.asarray(self.rotation @ reference)


def breadth(points: Array) -> float:
    """Return the rms distance of points (n, 3) from the line nearest to them [m], zero of less than three points."""
    return _breadth(np.ascontiguousarray(points, float).tobytes())


@lru_cache(maxsize=1024)
def _breadth(places: bytes) -> float:
    """The same of points in bytes: one shape is registered to frame after frame."""
    points = np.frombuffer(places).reshape(-1, 3)
    if len(points) < 3:
        return 0.0
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) / np.sqrt(len(points))
    return float(spread[1])


def register(reference: Array, moving: Array, name: str = "cluster") -> Poses:
    """Return the displacements that bring a reference shape (n, 3) nearest to the measured points (T, n, 3) [m].

    Minimises sum_k |R r_k + d - p_k|^2 per frame (`registration_kernel`; Soderkvist & Wedin 1993, J Biomech
    26:1473-77), reflections excluded. Fewer than three points and points on a line are refused with the name of the
    body.
    """
    broad = breadth(reference)
    if broad < SMALLEST_BREADTH:
        raise InputError(
            f"the points of {name} lie on a line to within {1000 * broad:.1f} mm, so its rotation is unknown",
            code="bad_shape",
            expected="three or more points that span a triangle",
            remedy="check that no two markers are exchanged or copied, or use a marker away from the line",
        )
    from musclesolve.recording.gaps.registration_kernel import REGISTER

    frames = len(moving)
    found = Poses(np.empty((frames, 3, 3)), np.empty((frames, 3)), np.empty(frames))
    work = np.empty((2, 4, 4)), np.empty((5, 3)), np.empty(4)
    reference, moving = np.ascontiguousarray(reference, float), np.ascontiguousarray(moving, float)
    REGISTER.load()(reference, moving, work, found.rotation, found.translation, found.residual)
    return found
