"""What people give to cameras: arrays of real numbers of the right shape, lengths above zero; else an InputError."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError


def real_array(given: object) -> Array | None:
    """Return real numbers as an array; None for text, complex numbers, and rows of different lengths."""
    try:
        values = np.asarray(given)
    except ValueError:
        return None
    if values.dtype.kind == "O":
        # None, and objects that are numbers.
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            return None
    return values.astype(np.float64, copy=False) if values.dtype.kind in "buif" else None


def finite(given: object, shape: tuple[int, ...], what: str, where: str) -> Array:
    """Return finite numbers of a shape.

    Args:
        given: what was given.
        shape: the shape it must have; () for one number.
        what: what messages call it, with its article.
        where: the camera.

    Raises:
        InputError: no numbers, another shape, or a number that is not finite.
    """
    values = real_array(given)
    if values is None or values.shape != shape or not np.isfinite(values).all():
        wanted = f"{shape[0]} finite numbers" if shape else "a finite number"
        # No more of it than a line: it may be an array.
        raise InputError(
            f"{what} is {' '.join(repr(given).split()):.60}",
            where=where,
            expected=wanted,
            remedy=f"give {wanted}",
        )
    return values


def above_zero(given: object, what: str, where: str) -> float:
    """Return a finite number above zero.

    Raises:
        InputError: anything else.
    """
    value = float(finite(given, (), what, where))
    if value <= 0.0:
        raise InputError(
            f"{what} is {value:g}",
            where=where,
            expected="a number above zero",
            remedy="check its sign and its unit",
        )
    return value


def labelled(labels: Sequence[object] | None, count: int, where: str) -> tuple[str, ...]:
    """Return the names of control points as text; numbers from 1 for None.

    Raises:
        InputError: labels that are no sequence.
    """
    if labels is None:
        return tuple(str(k + 1) for k in range(count))
    try:
        return tuple(str(label) for label in labels)
    except TypeError:
        raise InputError(
            f"the labels are {labels!r}",
            where=where,
            expected="one name for every control point",
            remedy="give a list of names, or none",
        ) from None
