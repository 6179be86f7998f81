"""Where the rays of several cameras meet: batched least squares in the image, three unknowns per point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from musclesolve.cameras.camera import Camera

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDS = 30
# A step that moves no image by more than this share of the largest pixel changes nothing any more.
SMALLEST_STEP = 1e-13
# Keeps the equations of parallel rays solvable; the answer is refused later for their condition.
RIDGE = 1e-14


def solve_points(cameras: Sequence[Camera], image: Array, seen: Mask) -> tuple[Array, Array, Mask]:
    """Minimise the residual in the image for P points by the Gauss-Newton method.

    Args:
        cameras: C cameras.
        image: (C, P, 2) pixels.
        seen: (C, P) which camera saw which point; two or more for every point.

    Returns:
        Points (P, 3) [m], normal matrices (P, 3, 3) [px^2/m^2] there (zero where a point lies behind a camera), and
        whether each point lies before all cameras that saw it (P,).
    """
    points = _multiplied_out(cameras, image, seen, np.ones(seen.shape))
    # Once more with the weights 1 / denominator, which make the residuals pixels (Abdel-Aziz & Karara 1971).
    depth = np.stack([camera.depth(points) for camera in cameras])
    points = _multiplied_out(cameras, image, seen, 1.0 / np.maximum(np.abs(depth), 1e-6))
    before = _before(cameras, points, seen)
    if not before.any():
        return points, np.zeros((len(points), 3, 3)), before
    normal = np.zeros((len(points), 3, 3))
    front, shown, known = points[before], image[:, before], seen[:, before]
    points[before], normal[before] = _refined(cameras, front, shown, known)
    return points, normal, before


def _multiplied_out(cameras: Sequence[Camera], image: Array, seen: Mask, weight: Array) -> Array:
    """Return the points (P, 3) that solve eq. 5.1 times the denominator, each camera's rows with a weight (C, P)."""
    normal = np.zeros((image.shape[1], 3, 3))
    right = np.zeros((image.shape[1], 3))
    for camera, pixels, there, factor in zip(cameras, image, seen, weight, strict=True):
        a = camera.coefficients
        rows = np.stack([a[0:3], a[4:7]]) - pixels[..., None] * a[8:]
        values = pixels - a[[3, 7]]
        scale = np.where(there, factor, 0.0)[:, None]
        rows = np.where(there[:, None, None], rows, 0.0) * scale[..., None]
        values = np.where(there[:, None], values, 0.0) * scale
        normal += rows.transpose(0, 2, 1) @ rows
        right += np.einsum("pij,pi->pj", rows, values)
    return _solve(normal, right)


def _refined(cameras: Sequence[Camera], points: Array, image: Array, seen: Mask) -> tuple[Array, Array]:
    normal, right, misfit = _equations(cameras, points, image, seen)
    largest = SMALLEST_STEP * np.abs(image[seen]).max()
    share = np.ones(len(points))
    for _ in range(ROUNDS):
        step = share[:, None] * _solve(normal, right)
        moved = np.sqrt(np.maximum(np.einsum("pi,pij,pj->p", step, normal, step), 0.0))
        if (moved <= largest).all():
            break
        tried = points + step
        found = _equations(cameras, tried, image, seen)
        # NaN, a point that went behind a camera, is no improvement either.
        better = found[2] <= misfit
        points = np.where(better[:, None], tried, points)
        normal = np.where(better[:, None, None], found[0], normal)
        right = np.where(better[:, None], found[1], right)
        misfit = np.where(better, found[2], misfit)
        share = np.where(better, 1.0, 0.25 * share)
    return points, normal


def _equations(
    cameras: Sequence[Camera], points: Array, image: Array, seen: Mask
) -> tuple[Array, Array, Array]:
    """Return J^T J (P, 3, 3), J^T r (P, 3) and r^T r (P,) of the residuals r in the image."""
    normal, right, misfit = np.zeros((len(points), 3, 3)), np.zeros((len(points), 3)), np.zeros(len(points))
    for camera, pixels, there in zip(cameras, image, seen, strict=True):
        residual = np.where(there[:, None], pixels - camera.project(points), 0.0)
        slopes = np.where(there[:, None, None], camera.derivatives(points), 0.0)
        normal += slopes.transpose(0, 2, 1) @ slopes
        right += np.einsum("pij,pi->pj", slopes, residual)
        misfit += np.sum(residual**2, axis=1)
    return normal, right, misfit


def _solve(normal: Array, right: Array) -> Array:
    size = np.trace(normal, axis1=1, axis2=2)[:, None, None]
    solution: Array = np.linalg.solve(normal + RIDGE * size * np.eye(3), right[..., None])[..., 0]
    return solution


def _before(cameras: Sequence[Camera], points: Array, seen: Mask) -> Mask:
    """Return which points (P,) lie before every camera that saw them."""
    behind = np.stack([camera.depth(points) <= 0.0 for camera in cameras]) & seen
    return np.logical_not(behind.any(axis=0))
