"""Can these control points calibrate a camera? Too few, coincident, coplanar and critical ones are refused by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import InputError
from musclesolve.recording.cameras.arguments import labelled, real_array

FEWEST = 6
# Points nearer to each other than this share of their spread are one point.
SAME = 1e-6
# Thickness of the points square to their best plane over their greatest extent; thinner ones show no depth.
THINNEST = 0.01
_SOLID = "six or more points that fill the volume in which people move: different heights, widths and depths"


def checked_pairs(
    points: ArrayLike, image: ArrayLike, labels: Sequence[str] | None, place: str
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return points (n, 3), image points (n, 2) and n labels.

    Args:
        points: (n, 3) where the control points are.
        image: (n, 2) their pixels.
        labels: n names; None: 1 to n.
        place: what messages call the camera.

    Raises:
        InputError: shapes that do not fit, labels that are no sequence, numbers that are not finite, too few points, or
            points that lie in a line or a plane.
    """
    world, pixels = _array(points, 3, place), _array(image, 2, place)
    names = labelled(labels, len(world), place)
    if not len(world) == len(pixels) == len(names):
        raise InputError(
            f"{len(world)} control points, {len(pixels)} image points and {len(names)} names",
            where=place,
            expected="as many of each",
            remedy="give every control point one image point, in the same order",
        )
    bad = np.logical_not(np.isfinite(np.hstack([world, pixels])).all(axis=1))
    if bad.any():
        raise InputError(
            f"the control point {_list(names, bad)} has a coordinate that is missing or infinite",
            where=place,
            expected="finite coordinates in space and in the image",
            remedy="leave out points that the camera does not see",
        )
    _check_places(world, names, place)
    _check_image(pixels, place)
    return world, pixels, names


def normalisation(points: Array) -> Array:
    """Return the (d + 1, d + 1) transform to mean zero and unit mean square of a coordinate.

    Without it the columns of the linear equations differ by orders of magnitude (Hartley 1997, IEEE Trans Pattern
    Anal Mach Intell 19:580-93).

    Args:
        points: (n, d).
    """
    dimension = points.shape[1]
    center = points.mean(axis=0)
    scale = np.sqrt(np.mean((points - center) ** 2))
    transform = np.eye(dimension + 1)
    transform[:dimension, :dimension] /= scale
    transform[:dimension, dimension] = -center / scale
    return transform


def _array(given: ArrayLike, width: int, place: str) -> Array:
    what = "control points" if width == 3 else "image points"
    values = real_array(given)
    if values is None or values.ndim != 2 or values.shape[1] != width:
        raise InputError(
            f"the {what} are not an array of n rows and {width} columns",
            where=place,
            expected=f"numbers of shape (n, {width})",
            remedy=f"give every one of the {what} {width} coordinates",
        )
    return values


def _check_places(world: Array, names: Sequence[str], place: str) -> None:
    different = _different(world)
    if different < FEWEST:
        places = f" at {different} different places" if different < len(world) else ""
        raise InputError(
            f"{len(world)} control points{places} do not determine the eleven coefficients",
            where=place,
            expected=_SOLID,
            remedy=f"add {FEWEST - different} or more, away from the others",
        )
    if (shape := _flatness(world)) is not None:
        raise InputError(
            f"the control points lie in one {shape} to within {100 * THINNEST:g} % of their extent",
            where=place,
            expected=_SOLID,
            remedy=f"add points well away from that {shape}, for example on poles of different heights",
        )
    for k, name in enumerate(names):
        # Any single point lies on a line through the camera: with a plane it is a critical configuration
        # (Hartley & Zisserman 2004, Multiple View Geometry, section 22.1).
        if _flatness(np.delete(world, k, axis=0)) is not None:
            raise InputError(
                f"all control points but '{name}' lie in one plane",
                where=place,
                expected=_SOLID,
                remedy=f"add points away from that plane, and not on the line from the camera through '{name}'",
            )


def _check_image(pixels: Array, place: str) -> None:
    spread = np.linalg.svd(pixels - pixels.mean(axis=0), compute_uv=False)
    if not spread[1] > SAME * max(spread[0], np.abs(pixels).max()):
        raise InputError(
            "the image points lie on one line" if spread[0] > 0.0 else "the image points coincide",
            where=place,
            expected="image points that spread over the image",
            remedy="check the columns of the pixels: one of them is a copy, or constant",
        )


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


def _list(names: Sequence[str], chosen: Mask) -> str:
    return ", ".join(f"'{name}'" for name, taken in zip(names, chosen, strict=True) if taken)
