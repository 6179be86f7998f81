"""Triangulation: batched least squares in the image of several cameras, three unknowns per point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.recording.cameras.camera import Camera

ROUNDS = 30
# After a step that moves the images by no more than this share of the largest pixel (a few millionths of a pixel) the
# next one would be smaller still: the method converges at least linearly.
SMALLEST_STEP = 1e-9
# Points solved at a time: their arrays fit into the caches of a processor, and memory holds little beside the images.
BATCH = 8192
# Keeps the equations of parallel rays solvable; the points are refused later for their condition.
RIDGE = 1e-14


@dataclass
class Triangulation:
    """P points where the rays of the cameras come nearest to each other.

    Points (P, 3) [m], normal matrices there (P, 3, 3) [px^2/m^2] and sums of squared residuals (P,) [px^2]; behind a
    camera that saw the point the matrix is zero and the misfit infinite.
    """

    points: Array
    normal: Array
    misfit: Array

    @property
    def in_front(self) -> Mask:
        """Which points (P,) lie before all cameras that saw them."""
        return np.isfinite(self.misfit)

    @classmethod
    def empty(cls, count: int) -> Triangulation:
        """Return points of which nothing is known yet."""
        return cls(np.zeros((count, 3)), np.zeros((count, 3, 3)), np.full(count, np.inf))

    def put(self, where: slice | NDArray[np.int64], other: Triangulation) -> None:
        """Replace the points at some places by others."""
        self.points[where], self.normal[where], self.misfit[where] = other.points, other.normal, other.misfit


def solve_points(cameras: Sequence[Camera], image: Array, seen: Mask) -> Triangulation:
    """Minimise the residual in the image for P points by the Gauss-Newton method.

    Pixels are (C, P, 2); (C, P) says which camera saw which point, two or more for every point.
    """
    found = Triangulation.empty(image.shape[1])
    smallest = SMALLEST_STEP * np.abs(image[seen]).max(initial=0.0)
    for first in range(0, image.shape[1], BATCH):
        part = slice(first, first + BATCH)
        found.put(part, _batch(cameras, image[:, part], seen[:, part], smallest))
    return found


def _batch(cameras: Sequence[Camera], image: Array, seen: Mask, smallest: float) -> Triangulation:
    found = Triangulation.empty(image.shape[1])
    found.points = first_points(cameras, image, seen)
    before = np.flatnonzero(_before(cameras, found.points, seen))
    found.put(before, _refined(cameras, found.points[before], image[:, before], seen[:, before], smallest))
    return found


def first_points(cameras: Sequence[Camera], image: Array, seen: Mask) -> Array:
    """Return the points (P, 3) that solve the linear equations, to begin with.

    Eq. 5.1 multiplied out counts a camera the more, the farther it is away. Solved once more with the weights
    1 / denominator, its residuals are pixels (Abdel-Aziz & Karara 1971), and the start lies next to the solution.
    """
    points = _multiplied_out(cameras, image, seen, np.ones(seen.shape))
    depth = np.stack([camera.depth(points) for camera in cameras])
    return _multiplied_out(cameras, image, seen, 1.0 / np.maximum(np.abs(depth), 1e-6))


def _multiplied_out(cameras: Sequence[Camera], image: Array, seen: Mask, weight: Array) -> Array:
    """Return the points (P, 3) that solve eq. 5.1 times the denominator, each camera's rows with a weight (C, P)."""
    normal = np.zeros((image.shape[1], 3, 3))
    right = np.zeros((image.shape[1], 3))
    for camera, pixels, there, factor in zip(cameras, image, seen, weight, strict=True):
        a = camera.coefficients
        scale = np.where(there, factor, 0.0)
        for pixel, row, constant in ((pixels[:, 0], a[0:3], a[3]), (pixels[:, 1], a[4:7], a[7])):
            known = np.where(there, pixel, 0.0)
            rows = scale[:, None] * (row - known[:, None] * a[8:])
            normal += rows[:, :, None] * rows[:, None]
            right += rows * (scale * (known - constant))[:, None]
    return _solve(normal, right)


def _refined(
    cameras: Sequence[Camera], points: Array, image: Array, seen: Mask, smallest: float
) -> Triangulation:
    """Return the least-squares points, from points (P, 3) before their cameras."""
    normal, right, misfit = _equations(cameras, points, image, seen)
    share = np.ones(len(points))
    active = np.arange(len(points))
    for _ in range(ROUNDS):
        step = share[active, None] * _solve(normal[active], right[active])
        moved = np.einsum("pi,pij,pj->p", step, normal[active], step)
        tried = points[active] + step
        last = moved <= smallest**2
        points[active[last]] = tried[last]
        active, tried = active[~last], tried[~last]
        if not active.size:
            break
        found = _equations(cameras, tried, image[:, active], seen[:, active])
        # NaN, a point that went behind a camera, is no improvement either.
        better = found[2] <= misfit[active]
        share[active] *= np.where(better, 1.0, 0.25)
        gained = active[better]
        points[gained], normal[gained], right[gained], misfit[gained] = (
            values[better] for values in (tried, *found)
        )
    return Triangulation(points, normal, misfit)


def _equations(
    cameras: Sequence[Camera], points: Array, image: Array, seen: Mask
) -> tuple[Array, Array, Array]:
    """Return J^T J (P, 3, 3), J^T r (P, 3) and r^T r (P,) of the residuals r in the image; NaN behind a camera."""
    normal, right, misfit = np.zeros((len(points), 3, 3)), np.zeros((len(points), 3)), np.zeros(len(points))
    for camera, pixels, there in zip(cameras, image, seen, strict=True):
        a, below = camera.coefficients, camera.depth(points)
        # camera.depth is positive before either kind of camera; eq. 5.1 has the sign of the coefficients.
        below = camera.front * np.where(below > 0.0, below, np.nan)
        for pixel, row, constant in ((pixels[:, 0], a[0:3], a[3]), (pixels[:, 1], a[4:7], a[7])):
            projected = (points @ row + constant) / below
            slopes = np.where(there[:, None], (row - projected[:, None] * a[8:]) / below[:, None], 0.0)
            residual = np.where(there, pixel - projected, 0.0)
            normal += slopes[:, :, None] * slopes[:, None]
            right += slopes * residual[:, None]
            misfit += residual**2
    return normal, right, misfit


def _solve(normal: Array, right: Array) -> Array:
    size = np.trace(normal, axis1=1, axis2=2)[:, None, None]
    return np.asarray(np.linalg.solve(normal + RIDGE * size * np.eye(3), right[..., None])[..., 0])


def _before(cameras: Sequence[Camera], points: Array, seen: Mask) -> Mask:
    """Return which points (P,) lie before every camera that saw them."""
    behind = np.stack([camera.depth(points) <= 0.0 for camera in cameras]) & seen
    return np.logical_not(behind.any(axis=0))
