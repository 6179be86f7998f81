"""Checks of control points: too few, coincident, coplanar and critical ones are refused by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve._util.message_text import as_text
from musclesolve.recording.place_errors import error_at

FEWEST = 6
# Points nearer to each other than this share of their spread are one point.
SAME = 1e-6
# Thickness of the points square to their best plane over their greatest extent; thinner ones show no depth.
THINNEST = 0.01
_SOLID = "six or more points that fill the volume of the motion: different heights, widths and depths"


def checked_pairs(
    points: ArrayLike, image: ArrayLike, labels: Sequence[str] | None, place: str
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return points (n, 3) [m], image points (n, 2) [px] and n labels, 1 to n for None.

    Refused are shapes that do not fit, numbers that are not finite, too few points, and points in a line or a plane.
    """
    world = check_array(points, "the array of control points", ("n", 3), finite=False, real=True, where=place)
    pixels = check_array(image, "the array of image points", ("n", 2), finite=False, real=True, where=place)
    if labels is not None and not isinstance(labels, Sequence):
        problem, expected = f"the labels are {as_text(labels)}", "one name for every control point"
        raise error_at(None, place, problem, expected, "give a list of names, or none", code="bad_type")
    names = tuple(str(label) for label in (range(1, len(world) + 1) if labels is None else labels))
    if not len(world) == len(pixels) == len(names):
        problem = f"{len(world)} control points, {len(pixels)} image points and {len(names)} names"
        raise error_at(None, place, problem, "as many of each", "match them in order", code="bad_shape")
    bad = np.logical_not(np.isfinite(np.hstack([world, pixels])).all(axis=1))
    if bad.any():
        named = ", ".join(f"'{name}'" for name, taken in zip(names, bad, strict=True) if taken)
        problem = f"the control point {named} has a coordinate that is not finite"
        expected = "finite coordinates"
        remedy = "leave out points that the camera does not see"
        raise error_at(None, place, problem, expected, remedy, code="not_finite")
    _check_places(world, names, place)
    _check_image(pixels, place)
    return world, pixels, names


def normalisation(points: Array) -> Array:
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


def _check_places(world: Array, names: Sequence[str], place: str) -> None:
    different = _different(world)
    if different < FEWEST:
        places = f" at {different} different places" if different < len(world) else ""
        problem = f"{len(world)} control points{places} do not determine the eleven coefficients"
        remedy = f"add {FEWEST - different} or more, away from the others"
        raise error_at(None, place, problem, _SOLID, remedy, code="bad_camera")
    if (shape := _flatness(world)) is not None:
        problem = f"the control points lie in one {shape} to within {100 * THINNEST:g} % of their extent"
        remedy = f"add points well away from that {shape}, for example on poles of different heights"
        raise error_at(None, place, problem, _SOLID, remedy, code="bad_camera")
    for k, name in enumerate(names):
        # Any single point lies on a line through the camera: with a plane it is a critical configuration
        # (Hartley & Zisserman 2004, Multiple View Geometry, section 22.1).
        if _flatness(np.delete(world, k, axis=0)) is not None:
            problem = f"all control points but '{name}' lie in one plane"
            remedy = f"add points away from that plane, and not on the line from the camera through '{name}'"
            raise error_at(None, place, problem, _SOLID, remedy, code="bad_camera")


def _check_image(pixels: Array, place: str) -> None:
    spread = np.linalg.svd(pixels - pixels.mean(axis=0), compute_uv=False)
    if not spread[1] > SAME * max(spread[0], np.abs(pixels).max()):
        problem = f"the image points {'lie on one line' if spread[0] > 0.0 else 'coincide'}"
        remedy = "check the columns of the pixels: one of them is a copy, or constant"
        raise error_at(None, place, problem, "points spread over the image", remedy, code="bad_camera")


def _different(world: Array) -> int:
    """Return how many of the points (n, 3) are at different places."""
    apart = np.linalg.norm(world[:, None] - world, axis=-1)
    near = apart <= SAME * apart.max(initial=0.0)
    # A point counts when no earlier one is at its place.
    return int(np.sum(~np.tril(near, k=-1).any(axis=1)))


def _flatness(world: Array) -> str | None:
    """Return "line" or "plane" where the points (n, 3) lie in one, None where they fill space."""
    extent = np.linalg.svd(world - world.mean(axis=0), compute_uv=False)
    thin = extent < THINNEST * extent[0]
    return "line" if thin[1] else "plane" if thin[2] else None
