"""Reconstruction: the points whose images lie nearest to what two or more cameras saw, all frames at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve.cameras.camera import Camera
from musclesolve.cameras.rays import solve_points
from musclesolve.errors import InputError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]

FEWEST_VIEWS = 2
# Errors along the worst known direction over those along the best known one. Two cameras equally far away whose rays
# meet at the angle w have 1 / sin(w / 2): the limit is an angle of 2.3 degrees.
LARGEST_CONDITION = 50.0


@dataclass(frozen=True)
class Reconstruction:
    """Points from images: C cameras, T frames, n points.

    Args:
        cameras: the C names.
        position: (T, n, 3) [m]; NaN where a point could not be reconstructed.
        residual: (C, T, n, 2) measured minus reprojected pixels; NaN where there is no image or no point.
        views: (T, n) how many cameras saw the point.
        condition: (T, n) condition number of the equations; NaN with fewer than two views.
        nearly_parallel: (T, n) left out because the rays are nearly parallel.
        behind: (T, n) left out because the rays meet behind one of the cameras that saw the point.
        noise: standard deviation of a digitised coordinate [px], given or estimated from all residuals.
        covariance: (T, n, 3, 3) of the position from the digitising noise [m^2]; errors of the calibration, which
            move neighbouring points alike, are not in it.
    """

    cameras: tuple[str, ...]
    position: Array
    residual: Array
    views: Counts
    condition: Array
    nearly_parallel: Mask
    behind: Mask
    noise: float
    covariance: Array

    @property
    def expected_error(self) -> Array:
        """Root mean square distance (T, n) to expect between a point and its reconstruction [m]."""
        variance = np.trace(self.covariance, axis1=-2, axis2=-1)
        error: Array = np.sqrt(variance)
        return error

    @property
    def reprojection(self) -> Array:
        """Distance (C, T, n) between measured and reprojected image points [px]."""
        distance: Array = np.linalg.norm(self.residual, axis=-1)
        return distance

    @property
    def rms(self) -> Array:
        """Root mean square residual (C,) of a pixel coordinate, camera by camera [px]; NaN without images."""
        seen = np.isfinite(self.residual)
        total = np.sum(np.where(seen, self.residual, 0.0) ** 2, axis=(1, 2, 3))
        count = seen.sum(axis=(1, 2, 3))
        rms: Array = np.sqrt(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0))
        return rms


def reconstruct(cameras: Sequence[Camera], image: ArrayLike, noise: float | None = None) -> Reconstruction:
    """Find the points that the cameras saw.

    Minimises sum_c |u_c - u_c(X)|^2 over X, each point for itself, by the two equations 5.1 of every camera that saw
    it. They are first solved multiplied out, then divided by the denominator and expanded about the projected point
    (Gauss-Newton), until X does not change any more; 3 x 3 normal equations, all frames and points together.

    Args:
        cameras: C calibrated cameras.
        image: (C, T, n, 2) pixels; NaN where a camera did not see a point.
        noise: standard deviation of a digitised coordinate [px]; None: estimated from the residuals.

    Returns:
        A Reconstruction. A point seen by fewer than two cameras, by nearly parallel rays (``LARGEST_CONDITION``) or
        by rays that meet behind a camera has no position: NaN.

    Raises:
        InputError: fewer than two cameras, an array of another shape, or infinite pixels.
    """
    pixels = _checked(cameras, image)
    seen = np.logical_not(np.isnan(pixels).any(axis=-1))
    views = seen.sum(axis=0)
    enough = views >= FEWEST_VIEWS
    points, normal, before = solve_points(cameras, pixels[:, enough], seen[:, enough])
    condition = _condition(normal)
    firm = condition <= LARGEST_CONDITION
    good = np.logical_and(before, firm)
    position = _placed(np.where(good[:, None], points, np.nan), enough)
    residual = np.stack([pixels[k] - camera.project(position) for k, camera in enumerate(cameras)])
    if noise is None:
        noise = _noise(residual, int(good.sum()))
    covariance = np.full(normal.shape, np.nan)
    covariance[good] = noise**2 * np.linalg.inv(normal[good])
    return Reconstruction(
        cameras=tuple(camera.name for camera in cameras),
        position=position,
        residual=residual,
        views=views,
        condition=_placed(condition, enough),
        nearly_parallel=_placed(before & ~firm, enough),
        behind=_placed(~before, enough),
        noise=float(noise),
        covariance=_placed(covariance, enough),
    )


def _checked(cameras: Sequence[Camera], image: ArrayLike) -> Array:
    if len(cameras) < FEWEST_VIEWS:
        raise InputError(
            f"{len(cameras)} camera(s) cannot show where a point is",
            where="reconstruction",
            expected="two or more cameras",
            remedy="add the images of another camera",
        )
    pixels = np.asarray(image, dtype=np.float64)
    if pixels.ndim != 4 or pixels.shape[0] != len(cameras) or pixels.shape[3] != 2:
        raise InputError(
            f"the images have the shape {pixels.shape}",
            where="reconstruction",
            expected=f"({len(cameras)} cameras, frames, points, 2)",
            remedy="stack the images camera by camera, with NaN where a point was not seen",
        )
    if np.isinf(pixels).any():
        raise InputError(
            "a pixel is infinite",
            where="reconstruction",
            expected="finite pixels, NaN where a point was not seen",
            remedy="correct it, or write NaN",
        )
    return pixels


def _placed(values: Array | Mask, where: Mask) -> Any:
    """Return values (P, ...) at the P true places of ``where`` (T, n); NaN or false elsewhere."""
    whole = np.full((*where.shape, *values.shape[1:]), False if values.dtype == bool else np.nan)
    whole[where] = values
    return whole


def _condition(normal: Array) -> Array:
    """Return the condition numbers (P,) of least-squares problems from their normal matrices (P, 3, 3)."""
    values = np.linalg.eigvalsh(normal)
    least = np.maximum(values[:, 0], 0.0)
    return np.sqrt(np.divide(values[:, 2], least, out=np.full(len(least), np.inf), where=least > 0.0))


def _noise(residual: Array, points: int) -> float:
    """Return the standard deviation of a digitised coordinate [px]: every point has three unknowns of its own."""
    if points == 0:
        return float("nan")
    there = np.isfinite(residual)
    spare = there.sum() - 3 * points
    return float(np.sqrt(np.sum(residual[there] ** 2) / spare))
