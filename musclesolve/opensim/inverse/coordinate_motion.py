"""Values, speeds and accelerations of all coordinates of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.opensim.kinematics import coordinate_values
from musclesolve.opensim.model import OpenSimModel

_DEGREE = 5
"""Of the interpolating spline, so that accelerations have two continuous derivatives."""
_UNEVEN = 1e-3


@dataclass(frozen=True, eq=False)
class CoordinateMotion:
    """All K coordinates of a model at times (T,) [s]: value, speed and acceleration (T, K) [rad or m, s]."""

    time: Array
    value: Array
    speed: Array
    acceleration: Array


def coordinate_motion(
    model: OpenSimModel,
    time: Array,
    given: Mapping[str, Array],
    cutoff_hz: float | None = 6.0,
    order: int = 2,
) -> CoordinateMotion:
    """Low-pass and differentiate coordinates over time.

    The filter is the zero-lag Butterworth of `low_pass`; derivatives are those of the interpolating quintic spline.
    Coupled coordinates follow from the others: value c(q), speed c' qd, acceleration c' qdd + c'' qd^2.

    Args:
        model: from `read_osim`.
        time: (T,) [s], evenly spaced if there is a filter.
        given: (T,) [rad or m] of coordinates by name; others stay at their default.
        cutoff_hz: where both passes together leave 1/sqrt(2); None: no filter.
        order: of one pass.

    Raises:
        InputError: too few or unevenly spaced times, gaps, or an unknown name.
    """
    from scipy.interpolate import make_interp_spline

    _check(time, given, filtered=cutoff_hz is not None)
    series = np.stack([np.asarray(column, dtype=float) for column in given.values()], axis=1)
    if cutoff_hz is not None:
        series = low_pass(series, (len(time) - 1) / (time[-1] - time[0]), cutoff_hz, order)
    spline = make_interp_spline(time, series, k=_DEGREE)
    names = tuple(given)
    columns = [model.coordinate_number[name] for name in names]
    value = coordinate_values(model, dict(zip(names, series.T, strict=True)))
    speed, acceleration = np.zeros_like(value), np.zeros_like(value)
    speed[:, columns] = spline(time, 1)
    acceleration[:, columns] = spline(time, 2)
    _couple(model, value, speed, acceleration)
    return CoordinateMotion(time, value, speed, acceleration)


def _check(time: Array, given: Mapping[str, Array], filtered: bool) -> None:
    if len(time) <= _DEGREE or not given:
        raise InputError(
            f"{len(time)} frames of {len(given)} coordinates cannot be differentiated",
            code="too_few_frames",
            expected=f"at least {_DEGREE + 1} frames of one coordinate",
            remedy="give a longer recording",
        )
    step = np.diff(time)
    if not (step > 0.0).all():
        raise InputError(
            f"time does not increase after {time[int(np.argmin(step > 0.0))]:g} s",
            code="time_not_increasing",
            expected="increasing times",
            remedy="remove repeated frames",
        )
    if filtered and np.ptp(step) > _UNEVEN * step.mean():
        raise InputError(
            f"steps of time are between {step.min():g} and {step.max():g} s",
            code="uneven_sampling",
            expected="evenly spaced times, for the filter",
            remedy="resample the coordinates, or give cutoff_hz=None",
        )
    for name, column in given.items():
        if np.shape(column) != np.shape(time) or not np.isfinite(column).all():
            raise InputError(
                f"coordinate {name} has shape {np.shape(column)} or gaps, for {len(time)} times",
                code="not_finite" if np.shape(column) == np.shape(time) else "bad_shape",
                expected="one finite number for each time",
                remedy="fill the gaps of this coordinate",
            )


def _couple(model: OpenSimModel, value: Array, speed: Array, acceleration: Array) -> None:
    """Set speed and acceleration of coupled coordinates, in place."""
    number = model.coordinate_number
    for coupler in model.couplers:
        columns = [number[name] for name in coupler.independent]
        x, rate = value[:, columns], speed[:, columns]
        slope, bend = coupler.function.derivative(x), coupler.function.curvature(x)
        dependent = number[coupler.dependent]
        speed[:, dependent] = (slope * rate).sum(axis=1)
        acceleration[:, dependent] = (slope * acceleration[:, columns] + bend * rate**2).sum(axis=1)
