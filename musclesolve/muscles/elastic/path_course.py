"""Musculotendon lengths through time with their rates: constants, samples, functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve.errors import InputError
from musclesolve.muscles.driving.muscle_course import Course

GivenLength = Array | Course
"""Lengths (n,), samples (T, n), or a function of times (T,) that returns (T, n)."""

PathCourse = Callable[[Array], tuple[Array, Array]]
"""Lengths [m] and their rates [m/s], (T, n), at times (T,) [s]."""


def path_course(
    names: tuple[str, ...], time: Array, length: GivenLength, velocity: GivenLength | None = None
) -> PathCourse:
    """Lengths of muscles and their rates through time.

    Samples of both are those of a cubic Hermite spline, samples of lengths alone of a natural choice: the cubic spline
    whose third derivative is continuous next to the ends.

    Raises:
        InputError: shapes that do not fit, numbers that are not finite, one of the two a function and the other not.
    """
    count = len(names)
    if callable(length) != callable(velocity) and (callable(length) or velocity is not None):
        raise InputError(
            "a musculotendon length as a function of time, but not its rate"
            if callable(length)
            else "the rate of the musculotendon length as a function of time, but not the length",
            code="missing_argument" if velocity is None else "conflict",
            where="velocity",
            expected="two functions of time, or samples of the length with or without samples of its rate",
        )
    if callable(length):
        assert callable(velocity)
        return _functions(count, length, velocity)
    if np.ndim(length) < 2:
        return _constant(count, length, velocity)
    return _samples(names, time, length, velocity)


def _functions(count: int, length: Course, velocity: Course) -> PathCourse:
    def course(at: Array) -> tuple[Array, Array]:
        shape = (len(at), count)
        return (
            check_array(length(at), "the musculotendon length", shape, real=True, where="length"),
            check_array(
                velocity(at), "the rate of the musculotendon length", shape, real=True, where="velocity"
            ),
        )

    return course


def _constant(count: int, length: Array, velocity: object) -> PathCourse:
    one = check_array(length, "the musculotendon length", (count,), real=True, where="length")
    if velocity is not None:
        raise InputError(
            "a rate of musculotendon lengths that are constant",
            code="conflict",
            where="velocity",
            remedy="pass samples (T, n) of the length, or leave the rate out",
        )
    return lambda at: (np.tile(one, (len(at), 1)), np.zeros((len(at), count)))


def _samples(names: tuple[str, ...], time: Array, length: Array, velocity: object) -> PathCourse:
    from scipy.interpolate import CubicHermiteSpline, CubicSpline

    shape = (len(time), len(names))
    samples = check_array(length, "the musculotendon length", shape, names, real=True, where="length")
    if velocity is None:
        spline = CubicSpline(time, samples)
    else:
        rates = check_array(
            velocity, "the rate of the musculotendon length", shape, names, real=True, where="velocity"
        )
        spline = CubicHermiteSpline(time, samples, rates)
    rate = spline.derivative()
    return lambda at: (spline(at), rate(at))
