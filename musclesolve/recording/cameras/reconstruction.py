"""Reconstruction: the points whose images lie nearest to what two or more cameras saw, all frames at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_array, check_number
from musclesolve.recording.cameras.camera import Camera
from musclesolve.recording.cameras.outlier_views import ViewRejection, reject_outlier_views
from musclesolve.recording.cameras.triangulation import solve_points
from musclesolve.recording.place_errors import error_at

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
        position: (T, n, 3) [m]; NaN where fewer than two cameras saw a point, or see below.
        residual: (C, T, n, 2) measured minus reprojected pixels, of views that are left out too; NaN where there is no
            image or no point.
        views: (T, n) how many cameras saw the point.
        bad_view: (C, T, n) left out: the other views agree without it, and only without it.
        doubtful: (T, n) the rays miss each other by more than the noise lets expect, and the views do not say which
            of them is wrong, as never with two; the point is there, and wrong by more than the noise.
        condition: (T, n) condition number of the equations; NaN with fewer than two views.
        nearly_parallel: (T, n) left out because the rays are nearly parallel.
        behind: (T, n) left out because the rays meet behind one of the cameras that saw the point.
        noise: standard deviation of a digitised coordinate [px], given or estimated from the residuals of the points
            that are not doubtful.
        covariance: (T, n, 3, 3) of the position from the digitising noise [m^2], of doubtful points from their own
            residual; errors of the calibration, which move neighboring points alike, are not in it.
    """

    cameras: tuple[str, ...]
    position: Array
    residual: Array
    views: Counts
    bad_view: Mask
    doubtful: Mask
    condition: Array
    nearly_parallel: Mask
    behind: Mask
    noise: float
    covariance: Array

    @property
    def expected_error(self) -> Array:
        """Root mean square distance (T, n) to expect between a point and its reconstruction [m]."""
        variance = np.trace(self.covariance, axis1=-2, axis2=-1)
        return np.asarray(np.sqrt(variance))

    @property
    def reprojection(self) -> Array:
        """Distance (C, T, n) between measured and reprojected image points [px]."""
        return np.asarray(np.linalg.norm(self.residual, axis=-1))

    @property
    def rms(self) -> Array:
        """Root mean square residual (C,) of the views that count, camera by camera [px]; NaN without any."""
        seen = np.isfinite(self.residual) & ~self.bad_view[..., None]
        total = np.sum(np.where(seen, self.residual, 0.0) ** 2, axis=(1, 2, 3))
        count = seen.sum(axis=(1, 2, 3))
        return np.asarray(np.sqrt(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)))


def reconstruct(cameras: Sequence[Camera], image: ArrayLike, noise: float | None = None) -> Reconstruction:
    """Find the points that the cameras saw: minimise sum_c |u_c - u_c(X)|^2 over X, each point for itself.

    The two equations 5.1 of every camera that saw a point are first solved multiplied out, then divided by the
    denominator and expanded about the projected point (Gauss-Newton); see ``triangulation``. Outlier views are left
    out where three or more cameras saw a point (``reject_outlier_views``).

    Args:
        cameras: C calibrated cameras.
        image: (C, T, n, 2) pixels; NaN where a camera did not see a point.
        noise: standard deviation of a digitised coordinate [px]; None: estimated from the residuals.

    Raises:
        InputError: fewer than two cameras, an array of another shape, infinite pixels, or a noise below zero.
    """
    pixels = _checked(cameras, image)
    if noise is not None:
        noise = check_number(noise, "the noise", "zero or more [px]", least=0.0, where="reconstruction")
    seen = np.logical_not(np.isnan(pixels).any(axis=-1))
    enough = seen.sum(axis=0) >= FEWEST_VIEWS
    flat, there = pixels[:, enough], seen[:, enough]
    kept = reject_outlier_views(cameras, flat, there, solve_points(cameras, flat, there), noise)
    found = kept.found
    condition = _condition(found.normal)
    firm = condition <= LARGEST_CONDITION
    good = found.in_front & firm
    position = _placed(np.where(good[:, None], found.points, np.nan), enough)
    projected = [camera.project(position) for camera in cameras]
    noise, covariance = _uncertainty(kept, there, good, noise)
    spread = np.full((*enough.shape, 3, 3), np.nan)
    spread[_placed(good, enough)] = covariance
    return Reconstruction(
        cameras=tuple(camera.name for camera in cameras),
        position=position,
        residual=pixels - np.stack(projected),
        views=seen.sum(axis=0),
        bad_view=np.stack([_placed(bad, enough) for bad in kept.bad]),
        doubtful=_placed(good & kept.doubtful, enough),
        condition=_placed(condition, enough),
        nearly_parallel=_placed(found.in_front & ~firm, enough),
        behind=_placed(~found.in_front, enough),
        noise=noise,
        covariance=spread,
    )


def _uncertainty(kept: ViewRejection, seen: Mask, good: Mask, noise: float | None) -> tuple[float, Array]:
    """Return the noise of a coordinate [px], and the covariances (N, 3, 3) of the good ones of P points [m^2]."""
    found = kept.found
    # Every point has three unknowns of its own.
    spare = 2.0 * (seen & ~kept.bad).sum(axis=0) - 3.0
    if noise is None:
        noise = _noise(found.misfit, spare, good & ~kept.doubtful)
    variance = np.where(kept.doubtful, np.maximum(noise**2, found.misfit / spare), noise**2)
    return float(noise), np.asarray(variance[good, None, None] * np.linalg.inv(found.normal[good]))


def _checked(cameras: Sequence[Camera], image: ArrayLike) -> Array:
    where = "reconstruction"
    if not isinstance(cameras, Sequence) or isinstance(cameras, str):
        problem = f"the cameras are a {type(cameras).__name__}"
        raise error_at(None, where, problem, "a list of musclesolve.Camera", None, code="bad_type")
    if len(cameras) < FEWEST_VIEWS:
        problem = f"{len(cameras)} camera(s) cannot show where a point is"
        raise error_at(None, where, problem, "two or more", "add another camera", code="bad_camera")
    for k, camera in enumerate(cameras):
        if not isinstance(camera, Camera):
            problem, expected = f"camera {k + 1} is a {type(camera).__name__}", "a musclesolve.Camera"
            raise error_at(None, where, problem, expected, "give calibrate(...).camera", code="bad_type")
    shape = (len(cameras), "frames", "points", 2)
    pixels = check_array(image, "the array of images", shape, finite=False, real=True, where=where)
    if np.isinf(pixels).any():
        expected = "finite pixels, NaN where a point was not seen"
        raise error_at(None, where, "a pixel is infinite", expected, None, code="not_finite")
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


def _noise(misfit: Array, spare: Array, counts: Mask) -> float:
    """Return the standard deviation of a digitised coordinate [px] from the points that count; NaN without any."""
    if not counts.any():
        return float("nan")
    return float(np.sqrt(misfit[counts].sum() / spare[counts].sum()))
