"""Calibration: the camera whose images of known points are nearest to the digitized images.

Control points that are too few, coincident, coplanar or critical are refused by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_type
from musclesolve.errors import input_error
from musclesolve.laboratory.files.cameras.camera import Camera

UNKNOWNS = 11
# Last but one singular value of the normalized linear equations over the first: 0.2 for the corners of a cube, 0.1
# for eight points anywhere. Below this, errors of the pixels come back several hundred times as large.
CRITICAL = 0.003
# Root mean square residual over the root mean square distance of the image points from their mean: above it the points
# are mixed up.
LARGEST_MISFIT = 0.1
# Probability of naming any point if all points are equally good.
FALSE_ALARM = 0.01
MOST_ITERATIONS = 100
FEWEST_POINTS = 6
# Points nearer to each other than this share of their spread are one point.
SAME_POINT = 1e-6
# Thickness of the points square to their best plane over their greatest extent; thinner ones show no depth.
THINNEST = 0.01


@dataclass(frozen=True)
class Calibration:
    """A calibrated camera and how well it fits.

    Args:
        camera: the camera.
        labels: n names of the control points.
        residual: (n, 2) measured minus projected pixels.
        outlying: labels of the points that fit worse than expected from the others; check them.
        center_per_pixel: standard deviation of the center of the camera for every pixel of digitizing error [m/px]:
            the root of the trace of its covariance, to first order. It is large for points that are few, near together
            or nearly in a plane, although they fit well.
        distance_to_points: from the center of the camera to the middle of the control points [m].
    """

    camera: Camera
    labels: tuple[str, ...]
    residual: Array
    outlying: tuple[str, ...]
    center_per_pixel: float
    distance_to_points: float

    @property
    def spare(self) -> int:
        """Number of surplus equations, 2n - 11, from which the noise is estimated."""
        return self.residual.size - UNKNOWNS

    @property
    def rms(self) -> float:
        """Root mean square residual of a pixel coordinate [px]."""
        return float(np.sqrt(np.mean(self.residual**2)))

    @property
    def noise(self) -> float:
        """Standard deviation of a digitized coordinate [px]: the residual corrected for the eleven unknowns."""
        return float(np.sqrt(np.sum(self.residual**2) / self.spare))

    @property
    def distance(self) -> Array:
        """Distance (n,) from projected to measured control points [px]."""
        return np.asarray(np.linalg.norm(self.residual, axis=1))


def calibrate_cameras(
    points: ArrayLike, image: ArrayLike, name: str = "", labels: Sequence[str] | None = None
) -> Calibration:
    """Find the coefficients that bring projected control points nearest to the digitized ones.

    Minimizes sum_k |u_k - u(X_k; a)|^2 over the eleven coefficients a of eq. 5.1. The first step solves the linear
    equations, eq. 5.1 multiplied out, in normalized coordinates (Abdel-Aziz & Karara 1971; Hartley 1997). The next
    steps use the same equations divided by the denominator and expanded about the projected point, the Gauss-Newton
    method, whose fixed point minimizes the residual in pixels. The solution of the linear equations does not.

    Args:
        points: (n, 3) positions of six or more control points [m].
        image: (n, 2) their pixels (u, v).
        name: of the camera, for messages.
        labels: n names of the control points, for messages; their numbers from 1 when left out.

    Raises:
        InputError: too few, coincident, coplanar or otherwise critical points, numbers that are not finite, points
            on both sides of the camera, or points that do not belong to their pixels.

    Examples:
        >>> camera = ms.laboratory.camera_ring(4)[0]
        >>> points = np.random.default_rng(0).uniform(-0.5, 0.5, (8, 3))
        >>> found = ms.laboratory.calibrate_cameras(points, camera.project(points))
        >>> np.allclose(found.camera.center, camera.center)
        True
    """
    place = f"calibration of camera '{name}'"
    world, pixels, names = checked_pairs(points, image, labels, place)
    to_world, to_image = normalization(world), normalization(pixels)
    near, seen = (
        points @ transform[:-1, :-1].T + transform[:-1, -1]
        for points, transform in ((world, to_world), (pixels, to_image))
    )
    coefficients = _refined(_linear(near, seen, place), near, seen, names, place)
    matrix = np.linalg.inv(to_image) @ np.append(coefficients, 1.0).reshape(3, 4) @ to_world
    camera = Camera.from_matrix(name, matrix, world.mean(axis=0))
    residual = pixels - camera.project(world)
    rms, spread = np.sqrt(np.mean(residual**2)), np.sqrt(np.mean((pixels - pixels.mean(axis=0)) ** 2))
    if rms > LARGEST_MISFIT * spread:
        worst = ", ".join(names[k] for k in np.argsort(-np.linalg.norm(residual, axis=1))[:3])
        fault = f"the control points fit their pixels only to {rms:.3g} px, worst {worst}"
        expected = f"less than {LARGEST_MISFIT * spread:.3g} px"
        remedy = "check which pixels belong to which control point, and their unit"
        raise input_error("bad_camera", where=place, problem=fault, expected=expected, remedy=remedy)
    _, misfit, slopes = _expanded(coefficients, near, seen)
    distance, error = distance_and_error(coefficients, slopes)
    return Calibration(
        camera=camera,
        labels=names,
        residual=residual,
        outlying=_outlying(misfit, slopes, names),
        # Size of a pixel and of a meter in normalized coordinates.
        center_per_pixel=error * to_image[0, 0] / to_world[0, 0],
        distance_to_points=distance / to_world[0, 0],
    )


def _linear(world: Array, image: Array, place: str) -> Array:
    """Return the first estimate (11,) from eq. 5.1 multiplied out, in normalized coordinates."""
    count = len(world)
    padded = np.column_stack([world, np.ones(count)])
    rows = np.zeros((count, 2, 12))
    rows[:, 0, :4] = rows[:, 1, 4:8] = padded
    rows[:, :, 8:] = -image[:, :, None] * padded[:, None]
    *_, values, vectors = np.linalg.svd(rows.reshape(-1, 12))
    solution = vectors[-1]
    # The middle of the points is before the camera, so its denominator, the twelfth unknown, is not zero.
    if values[10] < CRITICAL * values[0] or abs(solution[11]) < CRITICAL * np.abs(solution).max():
        fault = "these control points leave the camera undetermined, although they are not in one plane"
        expected = "points that fill the volume of the motion"
        remedy = "add control points in its empty corners"
        raise input_error("bad_camera", where=place, problem=fault, expected=expected, remedy=remedy)
    return np.asarray(solution[:11] / solution[11])


def _refined(coefficients: Array, world: Array, image: Array, names: Sequence[str], place: str) -> Array:
    """Return the coefficients (11,) with the smallest residual in the image."""
    depth, misfit, slopes = _expanded(coefficients, world, image)
    if (behind := depth <= 0.0).any():
        wrong = ", ".join(f"'{name}'" for name, is_so in zip(names, behind, strict=True) if is_so)
        fault = f"the pixels put the control points {wrong} behind the camera and the others before it"
        expected = "all of them before the camera"
        remedy = "check which pixels belong to which control point"
        raise input_error("bad_camera", where=place, problem=fault, expected=expected, remedy=remedy)
    for _ in range(MOST_ITERATIONS):
        step = np.linalg.lstsq(slopes, misfit, rcond=None)[0]
        for _ in range(30):
            depth, tried, slopes = _expanded(coefficients + step, world, image)
            if (depth > 0.0).all() and tried @ tried <= misfit @ misfit:
                break
            step = 0.5 * step
        else:
            # No step along the descent direction improves: the minimum is met to the last digit.
            return coefficients
        coefficients, misfit = coefficients + step, tried
        if np.abs(step).max() < 1e-14 * np.abs(coefficients).max():
            break
    return coefficients


def _expanded(coefficients: Array, world: Array, image: Array) -> tuple[Array, Array, Array]:
    """Return depths (n,), measured minus projected coordinates (2n,), and slopes (2n, 11) of the projected ones."""
    depth = world @ coefficients[8:] + 1.0
    numerators = world @ coefficients[[0, 1, 2, 4, 5, 6]].reshape(2, 3).T + coefficients[[3, 7]]
    projected = numerators / depth[:, None]
    rows = np.zeros((len(world), 2, UNKNOWNS))
    rows[:, 0, :4] = rows[:, 1, 4:8] = np.column_stack([world, np.ones(len(world))])
    rows[:, :, 8:] = -projected[:, :, None] * world[:, None]
    rows /= depth[:, None, None]
    return depth, (image - projected).ravel(), rows.reshape(-1, UNKNOWNS)


def _outlying(misfit: Array, slopes: Array, names: Sequence[str]) -> tuple[str, ...]:
    """Return the points without which the others fit much better: F test of leaving one out, Bonferroni's limit."""
    from scipy.special import fdtri

    count = len(names)
    spare = misfit.size - UNKNOWNS - 2
    # Residuals of the last digits carry no information.
    if spare < 1 or misfit @ misfit < 1e-18 * misfit.size:
        return ()
    basis = np.linalg.qr(slopes)[0].reshape(count, 2, UNKNOWNS)
    # Part of a point's error in its own residual: I - H_kk.
    left = np.eye(2) - basis @ basis.transpose(0, 2, 1)
    pairs = misfit.reshape(count, 2)
    gain = np.einsum("ni,nij,nj->n", pairs, np.linalg.pinv(left, hermitian=True), pairs)
    rest = np.maximum(misfit @ misfit - gain, 1e-12 * (misfit @ misfit))
    unlikely = gain / 2 > rest / spare * fdtri(2, spare, 1.0 - FALSE_ALARM / count)
    return tuple(name for name, is_so in zip(names, unlikely, strict=True) if is_so)


def distance_and_error(coefficients: Array, slopes: Array) -> tuple[float, float]:
    """Return the distance of a camera from the origin, and the standard deviation of its center per pixel of error.

    The center C solves M (C, 1) = 0, M = [A | b] the projection matrix (3, 4), so that A dC = -dM (C, 1). With the
    covariance (J^T J)^-1 of the coefficients (11,), J their slopes (2n, 11) in the least-squares problem, the root of
    the trace of the covariance of C follows, to first order. Both are infinite for a parallel projection.
    """
    matrix = np.append(coefficients, 1.0).reshape(3, 4)
    if np.linalg.cond(matrix[:, :3]) > 1e12:
        return np.inf, np.inf
    inverse = np.linalg.inv(matrix[:, :3])
    place = np.append(-inverse @ matrix[:, 3], 1.0)
    # dC by the eleven coefficients, row after row of M; its last element is one and has none.
    by_coefficient = -np.kron(inverse, place)[:, :11]
    triangle = np.linalg.qr(slopes)[1]
    error = np.linalg.norm(np.linalg.solve(triangle.T, by_coefficient.T))
    return float(np.linalg.norm(place[:3])), float(error)


def checked_pairs(
    points: ArrayLike, image: ArrayLike, labels: Sequence[str] | None, place: str
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return points (n, 3) [m], image points (n, 2) [px] and n labels, 1 to n for None.

    Refuses shapes that do not fit, numbers that are not finite, too few points, and points in a line or a plane.
    """
    world = check_array(points, "the array of control points", ("n", 3), finite=False, real=True, where=place)
    pixels = check_array(image, "the array of image points", ("n", 2), finite=False, real=True, where=place)
    listed: object = range(1, len(world) + 1) if labels is None else labels
    expected = "a list of names, one for every control point"
    names = tuple(map(str, check_type(listed, Sequence, place, expected)))
    if not len(world) == len(pixels) == len(names):
        raise input_error(
            "bad_shape",
            where=place,
            problem=f"{len(world)} control points, {len(pixels)} image points and {len(names)} names",
            expected="as many of each",
            remedy="match them in order",
        )
    bad = np.logical_not(np.isfinite(np.hstack([world, pixels])).all(axis=1))
    if bad.any():
        named = ", ".join(f"'{name}'" for name, taken in zip(names, bad, strict=True) if taken)
        raise input_error(
            "not_finite",
            where=place,
            problem=f"the control point {named} has a coordinate that is not finite",
            expected="finite coordinates",
            remedy="leave out points that the camera does not see",
        )
    # A point counts when no earlier one is at its place.
    apart = np.linalg.norm(world[:, None] - world, axis=-1)
    near = apart <= SAME_POINT * apart.max(initial=0.0)
    different = int(np.sum(~np.tril(near, k=-1).any(axis=1)))
    volume = "six or more points that fill the volume of the motion: different heights, widths and depths"
    if different < FEWEST_POINTS:
        places = f" at {different} different places" if different < len(world) else ""
        raise input_error(
            "bad_camera",
            where=place,
            problem=f"{len(world)} control points{places} do not determine the eleven coefficients",
            expected=volume,
            remedy=f"add {FEWEST_POINTS - different} or more, away from the others",
        )
    if (shape := _flatness(world)) is not None:
        raise input_error(
            "bad_camera",
            where=place,
            problem=f"the control points lie in one {shape} to within {100 * THINNEST:g} % of their extent",
            expected=volume,
            remedy=f"add points well away from that {shape}, for example on poles of different heights",
        )
    for k, name in enumerate(names):
        # Any single point lies on a line through the camera: with a plane it is a critical configuration
        # (Hartley & Zisserman 2004, Multiple View Geometry, section 22.1).
        if _flatness(np.delete(world, k, axis=0)) is not None:
            raise input_error(
                "bad_camera",
                where=place,
                problem=f"all control points but '{name}' lie in one plane",
                expected=volume,
                remedy=f"add points away from that plane, and not on the line from the camera through '{name}'",
            )
    spread = np.linalg.svd(pixels - pixels.mean(axis=0), compute_uv=False)
    if not spread[1] > SAME_POINT * max(spread[0], np.abs(pixels).max()):
        how = "lie on one line" if spread[0] > 0.0 else "coincide"
        raise input_error(
            "bad_camera",
            where=place,
            problem=f"the image points {how}",
            expected="points spread over the image",
            remedy="check the columns of the pixels: one of them is a copy, or constant",
        )
    return world, pixels, names


def normalization(points: Array) -> Array:
    """Return the (d + 1, d + 1) transform of points (n, d) to mean zero and unit mean square of a coordinate.

    Without it the columns of the linear equations differ by orders of magnitude (Hartley 1997, IEEE Trans Pattern Anal
    Mach Intell 19:580-93).
    """
    dimension = points.shape[1]
    center = points.mean(axis=0)
    scale = np.sqrt(np.mean((points - center) ** 2))
    transform = np.eye(dimension + 1)
    transform[:dimension, :dimension] /= scale
    transform[:dimension, dimension] = -center / scale
    return transform


def _flatness(world: Array) -> str | None:
    """Return "line" or "plane" if the points (n, 3) lie in one, else None."""
    extent = np.linalg.svd(world - world.mean(axis=0), compute_uv=False)
    thin = extent < THINNEST * extent[0]
    return "line" if thin[1] else "plane" if thin[2] else None
