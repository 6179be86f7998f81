"""Reconstruction: the points whose images are nearest to the digitized images of two or more cameras, all frames at
once.

Triangulation is batched least squares in the image, three unknowns per point. An error of digitizing in one of three or
more cameras is detected by the agreement of the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_array, check_number
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.files.cameras.calibration import Calibration
from musclesolve.laboratory.files.cameras.camera import Camera, camera_list
from musclesolve.laboratory.files.cameras.camera_file import CameraFile, read_camera_file
from musclesolve.tables.sampled import Markers

Counts = NDArray[np.int64]
FEWEST_VIEWS = 2
# Ratio of the errors along the worst and the best known direction. Two cameras equally far away whose rays meet at the
# angle w have 1 / sin(w / 2): the limit is an angle of 2.3 degrees.
LARGEST_CONDITION = 50.0
ROUNDS = 30
# After a step that moves the images by no more than this share of the largest pixel (a few millionths of a pixel) the
# next one would be smaller still: the method converges at least linearly.
SMALLEST_STEP = 1e-9
# Points solved at a time: their arrays fit into the caches of a processor, and memory holds little beside the images.
BATCH = 8192
# Keeps the equations of parallel rays solvable; the points are refused later for their condition.
RIDGE = 1e-14
# Probability of suspecting any point of a recording in which all views are equally good.
FALSE_ALARM = 0.01
# A view is wrong if without it the rest fit as well as all but this share of points, and this holds for no other view.
IMPLAUSIBLE = 0.001
# Leaving out a view needs two others.
FEWEST_FOR_OUTLIERS = 3
# Equations over that count when the noise is given: as good as infinitely many.
KNOWN_NOISE_COUNT = 1e9


@dataclass(frozen=True)
class Reconstruction:
    """Points from images: C cameras, T frames, n points.

    Args:
        cameras: the C names.
        position: (T, n, 3) [m]; NaN where fewer than two cameras saw a point, and where it is left out for a reason
            below.
        residual: (C, T, n, 2) measured minus reprojected pixels, of views that are left out too; NaN where there is no
            image or no point.
        views: (T, n) how many cameras saw the point.
        bad_view: (C, T, n) left out: the other views agree without it, and only without it.
        doubtful: (T, n) the rays miss each other by more than the noise, and the wrong view cannot be identified, as
            always with two views; the point is kept, with an error larger than the noise.
        condition: (T, n) condition number of the equations; NaN with fewer than two views.
        nearly_parallel: (T, n) left out because the rays are nearly parallel.
        behind: (T, n) left out because the rays meet behind one of the cameras that saw the point.
        noise: standard deviation of a digitized coordinate [px], given or estimated from the residuals of the points
            that are not doubtful.
        covariance: (T, n, 3, 3) of the position from the digitizing noise [m^2], of doubtful points from their own
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
        """Root mean square residual (C,) [px] of the views in use, by camera; NaN for a camera without views."""
        seen = np.isfinite(self.residual) & ~self.bad_view[..., None]
        total = np.sum(np.where(seen, self.residual, 0.0) ** 2, axis=(1, 2, 3))
        count = seen.sum(axis=(1, 2, 3))
        return np.asarray(np.sqrt(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)))


def reconstruct(cameras: Sequence[Camera], image: ArrayLike, noise: float | None = None) -> Reconstruction:
    """Find the points in the images of the cameras: minimize sum_c |u_c - u_c(X)|^2 over X, independently for each
    point.

    The two equations 5.1 of every camera that saw a point are first solved multiplied out, then divided by the
    denominator and expanded about the projected point (Gauss-Newton); see ``triangulation``. Outlier views are left
    out where three or more cameras saw a point (``reject_outlier_views``).

    Args:
        cameras: C calibrated cameras.
        image: (C, T, n, 2) pixels; NaN where a camera did not see a point.
        noise: standard deviation of a digitized coordinate [px]; None: estimated from the residuals.

    Raises:
        InputError: fewer than two cameras, an array of another shape, infinite pixels, or a noise below zero.

    Examples:
        >>> cameras, points = ms.laboratory.camera_ring(4), np.array([[[0.1, 0.2, 1.0]]])
        >>> image = np.stack([camera.project(points) for camera in cameras])
        >>> ms.laboratory.reconstruct(cameras, image).position.round(6).tolist()
        [[[0.1, 0.2, 1.0]]]
    """
    pixels = _checked(cameras, image)
    if noise is not None:
        noise = check_number(noise, "the noise", "zero or more [px]", least=0.0, where="reconstruction")
    seen = np.logical_not(np.isnan(pixels).any(axis=-1))
    enough = seen.sum(axis=0) >= FEWEST_VIEWS
    flat, there = pixels[:, enough], seen[:, enough]
    solved = solve_points(cameras, flat, there)
    bad, doubtful = reject_outlier_views(cameras, flat, there, solved, noise)
    # The condition numbers (P,) of the least-squares problems, from their normal matrices.
    values = np.linalg.eigvalsh(solved.normal)
    least = np.maximum(values[:, 0], 0.0)
    ratio = np.divide(values[:, 2], least, out=np.full(len(least), np.inf), where=least > 0.0)
    condition = np.sqrt(ratio)
    firm = condition <= LARGEST_CONDITION
    good = solved.in_front & firm
    position = _scattered(np.where(good[:, None], solved.points, np.nan), enough)
    projected = [camera.project(position) for camera in cameras]
    # Every point has three unknowns.
    spare = 2.0 * (there & ~bad).sum(axis=0) - 3.0
    if noise is None:
        sure = good & ~doubtful
        noise = float(np.sqrt(solved.misfit[sure].sum() / spare[sure].sum())) if sure.any() else np.nan
    variance = np.where(doubtful, np.maximum(noise**2, solved.misfit / spare), noise**2)
    covariance = np.full((*enough.shape, 3, 3), np.nan)
    covariance[_scattered(good, enough)] = variance[good, None, None] * np.linalg.inv(solved.normal[good])
    return Reconstruction(
        cameras=tuple(camera.name for camera in cameras),
        position=position,
        residual=pixels - np.stack(projected),
        views=seen.sum(axis=0),
        bad_view=np.stack([_scattered(view, enough) for view in bad]),
        doubtful=_scattered(good & doubtful, enough),
        condition=_scattered(condition, enough),
        nearly_parallel=_scattered(solved.in_front & ~firm, enough),
        behind=_scattered(~solved.in_front, enough),
        noise=noise,
        covariance=covariance,
    )


def _checked(cameras: Sequence[Camera], image: ArrayLike) -> Array:
    where = "reconstruction"
    cameras = camera_list(cameras, where)
    if len(cameras) < FEWEST_VIEWS:
        raise input_error(
            "bad_camera",
            where=where,
            problem=f"{len(cameras)} camera(s) cannot show where a point is",
            expected="two or more",
            remedy="add another camera",
        )
    shape = (len(cameras), "frames", "points", 2)
    pixels = check_array(image, "the array of images", shape, finite=False, real=True, where=where)
    if np.isinf(pixels).any():
        raise input_error(
            "not_finite",
            where=where,
            problem="a pixel is infinite",
            expected="finite pixels, NaN where a point was not seen",
        )
    return pixels


def _scattered(values: Array | Mask, where: Mask) -> Any:
    """Return values (P, ...) at the P true places of ``where`` (T, n); NaN or false elsewhere."""
    whole = np.full((*where.shape, *values.shape[1:]), False if values.dtype == bool else np.nan)
    whole[where] = values
    return whole


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
        """Mask of the points (P,) in front of all cameras that saw them."""
        return np.isfinite(self.misfit)

    @classmethod
    def empty(cls, count: int) -> Self:
        """Return points without values."""
        return cls(np.zeros((count, 3)), np.zeros((count, 3, 3)), np.full(count, np.inf))

    def put(self, where: slice | NDArray[np.int64], other: "Triangulation") -> None:
        """Replace the points at some places by others."""
        self.points[where], self.normal[where], self.misfit[where] = other.points, other.normal, other.misfit


def solve_points(cameras: Sequence[Camera], image: Array, seen: Mask) -> Triangulation:
    """Minimize the residual in the image for P points by the Gauss-Newton method.

    image: pixels (C, P, 2); seen: mask (C, P) of the points in the images, two or more cameras for every point.
    """
    solved = Triangulation.empty(image.shape[1])
    smallest = SMALLEST_STEP * np.abs(image[seen]).max(initial=0.0)
    for first in range(0, image.shape[1], BATCH):
        batch = slice(first, first + BATCH)
        points = first_points(cameras, image[:, batch], seen[:, batch])
        solved.points[batch] = points
        behind = np.stack([camera.depth(points) <= 0.0 for camera in cameras]) & seen[:, batch]
        before = np.flatnonzero(~behind.any(axis=0))
        at = first + before
        solved.put(at, _refined(cameras, points[before], image[:, at], seen[:, at], smallest))
    return solved


def first_points(cameras: Sequence[Camera], image: Array, seen: Mask) -> Array:
    """Return the points (P, 3) that solve the linear equations, as a start.

    Eq. 5.1 multiplied out gives more weight to distant cameras. Solved again with the weights 1 / denominator, its
    residuals are pixels (Abdel-Aziz & Karara 1971), and the start is near the solution.
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
        there = _equations(cameras, tried, image[:, active], seen[:, active])
        # NaN, a point that went behind a camera, is no improvement either.
        better = there[2] <= misfit[active]
        share[active] *= np.where(better, 1.0, 0.25)
        gained = active[better]
        points[gained], normal[gained], right[gained], misfit[gained] = (
            values[better] for values in (tried, *there)
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


def reject_outlier_views(
    cameras: Sequence[Camera], image: Array, seen: Mask, solved: Triangulation, noise: float | None
) -> tuple[Mask, Mask]:
    """Leave out views that are unlikely, at points that three or more cameras saw.

    A point is suspect when its misfit r^T r is too large for its 2 v - 3 spare equations, v views: r^T r / (2 v - 3)
    over the variance of the noise, an F test with the limit of Bonferroni for all points. Each of its views is left out
    in turn. If the others fit without exactly one of the views, this view is an outlier. If they do so without none or
    without several, as always with two views, the point is doubtful and does not change.

    Args:
        cameras: C cameras.
        image: pixels (C, P, 2).
        seen: which camera saw which point (C, P).
        solved: the P points from all views; changed where a view is left out.
        noise: standard deviation of a digitized coordinate [px]; None: from the median of all misfits, which stays the
            same as long as most points are good.

    Returns:
        The views that are left out (C, P), and the doubtful points (P,).
    """
    from scipy.special import chdtri, fdtri

    views = seen.sum(axis=0)
    bad, doubtful = np.zeros(seen.shape, bool), np.zeros(len(views), bool)
    # The variance of a digitized coordinate of good points [px^2], and the spare equations from which it is known.
    # Below the steps of the solution residuals are round-off, without a distribution.
    least = (SMALLEST_STEP * np.abs(image[seen]).max(initial=0.0)) ** 2
    by_views = np.maximum(2.0 * np.arange(len(cameras) + 1) - 3.0, 1.0)  # spare equations of 0 to C views
    if noise is not None:
        variance, known = max(noise**2, least), KNOWN_NOISE_COUNT
    elif solved.in_front.any():
        middles = chdtri(by_views, 0.5)[views[solved.in_front]]
        variance = max(float(np.median(solved.misfit[solved.in_front] / middles)), least)
        # The median of a sample is as precise as the mean of a third or more of it.
        known = (2.0 * views[solved.in_front] - 3.0).sum() / 3.0
    else:
        return bad, doubtful

    def limits(chance: float) -> Array:
        """Return the misfit [px^2], for 0 to C views, that a good point exceeds with the probability `chance`."""
        return np.asarray(variance * by_views * fdtri(by_views, known, 1.0 - chance))

    suspect = solved.misfit > limits(FALSE_ALARM / len(views))[views]
    doubtful[suspect & solved.in_front] = True
    tested = np.flatnonzero(suspect & (views >= FEWEST_FOR_OUTLIERS))
    # Each view is left out in turn.
    limit = limits(IMPLAUSIBLE)[views[tested] - 1]
    fits = np.zeros((len(cameras), tested.size), bool)
    rests = []
    for k in range(len(cameras)):
        seeing = np.flatnonzero(seen[k, tested])
        others = seen[:, tested[seeing]]
        others[k] = False
        rest = Triangulation.empty(tested.size)
        rest.put(seeing, solve_points(cameras, image[:, tested[seeing]], others))
        fits[k] = rest.misfit <= limit
        rests.append(rest)
    for k, rest in enumerate(rests):
        named = np.flatnonzero(fits[k] & (fits.sum(axis=0) == 1))
        solved.put(tested[named], Triangulation(rest.points[named], rest.normal[named], rest.misfit[named]))
        bad[k, tested[named]] = True
        doubtful[tested[named]] = False
    return bad, doubtful


# Ratio of the misfit of markers to the misfit of control points above which the cameras were out of step, or had moved
# since the calibration.
FAR_WORSE = 4.0
# Standard deviation of the place of a camera over its distance, above which its control points are too few or too flat.
# The eight corners of a volume that fills half the image give 1 % for every pixel of digitizing error.
LARGEST_CENTER_SHARE = 0.05
# Probability that the noise of the control points is below the bound of `largest_noise`: a few surplus equations may
# fit by chance.
CONFIDENCE = 0.95


def read_camera_markers(path: str | Path) -> Markers:
    """Reconstruct the markers of a camera file [m], in the axes of the control points, with notes on them."""
    recording = read_camera_file(path)
    solved = reconstruct([fit.camera for fit in recording.calibrations], recording.image)
    # NaN, no residual, is not above the limit; views that are left out already do not count.
    error = np.where(solved.bad_view, np.nan, solved.reprojection)
    dropped = np.nanmax(error, axis=0, initial=0.0) > recording.largest_residual
    position = np.where(dropped[..., None], np.nan, solved.position)
    there = np.flatnonzero(np.isfinite(position).any(axis=(1, 2)))
    if there.size < 2:
        raise file_error(
            "bad_camera",
            recording.path,
            f"{there.size} frame(s) show a marker to two cameras at once",
            "markers of the same names in the same frames of two or more cameras",
            "check offset_frames, the numbers of the frames and the names of the markers",
        )
    kept = slice(int(there[0]), int(there[-1]) + 1)
    notes = (*calibration_notes(recording.calibrations), *reconstruction_notes(recording, solved, dropped))
    return Markers(
        recording.time[kept], recording.names, position[kept], recording.path, notes, recording.sources
    )


def calibration_notes(calibrations: Sequence[Calibration]) -> list[str]:
    """Return sentences on the fit of the control points."""
    worst = max(calibrations, key=lambda fit: fit.rms)
    k = int(np.argmax(worst.distance))
    fewest = min(len(fit.labels) for fit in calibrations)
    notes = [
        f"{len(calibrations)} cameras, calibrated on {fewest} or more control points each, reproject them to "
        f"{np.sqrt(np.mean(worst.distance**2)):.2f} px or better (root mean square distance; camera "
        f"'{worst.camera.name}'; worst point '{worst.labels[k]}', {worst.distance[k]:.2f} px). Lens distortion is not "
        "modeled."
    ]
    for fit in calibrations:
        if fit.outlying:
            notes.append(
                f"Camera '{fit.camera.name}': the control points {', '.join(fit.outlying)} fit far worse than the "
                "others; check their pixels and positions."
            )
    noise = largest_noise(calibrations)
    loose = [
        fit
        for fit in calibrations
        if noise * fit.center_per_pixel > LARGEST_CENTER_SHARE * fit.distance_to_points
    ]
    if loose:
        worst = max(loose, key=lambda fit: fit.center_per_pixel / fit.distance_to_points)
        place, distance = _length(noise * worst.center_per_pixel), _length(worst.distance_to_points)
        notes.append(
            f"Poorly determined, however well the control points fit: {', '.join(fit.camera.name for fit in loose)}. "
            f"With digitizing errors of {noise:.2g} px, compatible with the residuals, the position of camera "
            f"'{worst.camera.name}' is known to {place} (standard deviation) at a distance of {distance}, and markers "
            "may be wrong by more than their residuals show. Add control points, as far apart in height, width and "
            "depth as the volume is large."
        )
    return notes


def largest_noise(calibrations: Sequence[Calibration]) -> float:
    """Return an upper bound of the standard deviation of a digitized coordinate of control points [px].

    It is sqrt(r^T r / chi^2) with the residuals r of all cameras, and the value that chi^2, with the number of surplus
    equations as degrees of freedom, exceeds with the probability ``CONFIDENCE``. With one surplus equation it is 16
    times the estimate, with thirteen 1.5 times.
    """
    from scipy.special import chdtri

    total = sum(float(np.sum(fit.residual**2)) for fit in calibrations)
    return float(np.sqrt(total / chdtri(sum(fit.spare for fit in calibrations), CONFIDENCE)))


def _length(meters: float) -> str:
    return f"{meters:.2g} m" if meters >= 0.1 else f"{1000 * meters:.2g} mm"


def reconstruction_notes(recording: CameraFile, solved: Reconstruction, dropped: Mask) -> list[str]:
    """Return notes on the residuals of the markers and on the points (T, n) that are left out for their residual."""
    error = np.where(dropped | solved.bad_view, np.nan, solved.reprojection)
    kept = np.isfinite(error)
    rms = np.sqrt(np.mean(error[kept] ** 2) / 2.0)
    camera, frame, marker = map(int, np.unravel_index(np.nanargmax(error), error.shape))
    expected = solved.expected_error[np.isfinite(solved.position[..., 0]) & ~dropped]
    worst = f"'{recording.names[marker]}' at {recording.time[frame]:.4g} s, camera '{solved.cameras[camera]}'"
    notes = [
        f"The markers are reprojected to {rms:.2g} px, worst {error[camera, frame, marker]:.2g} px ({worst}); "
        f"digitizing errors of that size move a marker by about {1000 * np.sqrt(np.mean(expected**2)):.2g} mm."
    ]
    control = np.sqrt(np.mean([fit.noise**2 for fit in recording.calibrations]))
    # Doubtful points too: cameras out of step make many of them.
    noise = np.sqrt(np.sum(error[kept] ** 2) / np.sum(2.0 * kept.sum(axis=0)[kept.any(axis=0)] - 3.0))
    if noise > FAR_WORSE * max(control, 0.1):
        notes.append(
            f"The markers fit far worse ({noise:.2g} px) than the control points ({control:.2g} px): check that "
            "the cameras are synchronized (offset_frames), were not moved, and that markers have the same names."
        )
    # Views that cannot be of the marker, and rays of which one must be wrong.
    names = recording.names
    bad = solved.bad_view & ~dropped
    if bad.any():
        camera, marker = (int(np.argmax(bad.sum(axis=axes))) for axes in ((1, 2), (0, 1)))
        notes.append(
            f"{int(bad.sum())} image(s) of a marker are left out because the other cameras agree without them, most of "
            f"camera '{solved.cameras[camera]}' ({int(bad[camera].sum())}) and of '{names[marker]}' "
            f"({int(bad[:, :, marker].sum())}): check whether they show another marker or were digitized wrongly, and "
            "whether the camera was moved."
        )
    doubtful = solved.doubtful & ~dropped
    if doubtful.any():
        marker = int(np.argmax(doubtful.sum(axis=0)))
        largest = float(np.nanmax(np.where(doubtful, solved.reprojection, np.nan)))
        notes.append(
            f"At {int(doubtful.sum())} marker position(s), most of '{names[marker]}' "
            f"({int(doubtful[:, marker].sum())}), the reprojection error is up to {largest:.2g} px, more than "
            "noise explains, and the camera at fault cannot be identified: they are kept with this error. "
            "largest_residual_px in the camera file leaves them out."
        )
    reasons = {
        "seen by fewer than two cameras": solved.views < 2,
        "seen along nearly parallel rays": solved.nearly_parallel,
        "on rays that meet behind a camera": solved.behind,
        "beyond largest_residual_px": dropped,
    }
    lost = np.logical_or.reduce(list(reasons.values()))
    if lost.any():
        counts = ", ".join(f"{int(mask.sum())} {reason}" for reason, mask in reasons.items() if mask.any())
        most = int(np.argmax(lost.sum(axis=0)))
        notes.append(
            f"Of {lost.size} marker positions {int(lost.sum())} are left out: {counts}; most of them of "
            f"'{names[most]}' ({int(lost[:, most].sum())} of {len(lost)} frames)."
        )
    return notes
