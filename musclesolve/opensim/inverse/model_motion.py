"""Values, speeds and accelerations of all coordinates of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.opensim.kinematics import coordinate_values
from musclesolve.opensim.model import OpenSimModel


@dataclass(frozen=True, eq=False)
class ModelMotion:
    """All K coordinates of a model at times (T,) [s]: value, speed and acceleration (T, K) [rad or m, s]."""

    time: Array
    value: Array
    speed: Array
    acceleration: Array


def model_motion(
    model: OpenSimModel,
    time: Array,
    value: Mapping[str, Array],
    speed: Mapping[str, Array],
    acceleration: Mapping[str, Array],
) -> ModelMotion:
    """The motion of all coordinates when some are given.

    Locked coordinates that are not given rest at their default. Coupled ones follow from the others, whatever is
    given: value c(q), speed c' qd, acceleration c' qdd + c'' qd^2.

    Args:
        model: from `read_osim`.
        time: (T,) [s].
        value: (T,) of coordinates by name [rad or m]; speed and acceleration likewise, of the same names.

    Raises:
        InputError: a name is unknown, the motion of a free coordinate is missing, or arrays are of other shapes.
    """
    _check(model, time, value, speed, acceleration)
    known = coordinate_values(model, value)
    whole = np.broadcast_to(known, (len(time), known.shape[1])).copy()
    motion = ModelMotion(time, whole, np.zeros_like(whole), np.zeros_like(whole))
    for name in value:
        column = model.coordinate_number[name]
        motion.speed[:, column] = speed[name]
        motion.acceleration[:, column] = acceleration[name]
    _couple(model, motion)
    return motion


def _check(model: OpenSimModel, time: Array, *given: Mapping[str, Array]) -> None:
    coupled = {coupler.dependent for coupler in model.couplers}
    free = [name for name, each in model.coordinates.items() if not each.locked and name not in coupled]
    missing = [name for name in free if any(name not in part for part in given)]
    if missing:
        raise InputError(
            f"the motion of {', '.join(missing[:8])} is not given ({len(missing)} coordinate(s))",
            code="missing_column",
            file=model.file,
            expected="every coordinate that the model neither locks nor couples",
            remedy="give all coordinates of inverse kinematics, or lock these in the model",
        )
    for part in given:
        for name, column in part.items():
            if np.shape(column) != np.shape(time) or not np.isfinite(column).all():
                raise InputError(
                    f"coordinate {name}: shape {np.shape(column)} or gaps, for {len(time)} times",
                    code="bad_shape" if np.shape(column) != np.shape(time) else "not_finite",
                    expected="one finite number for each time",
                    remedy="fill the gaps of this coordinate",
                )


def _couple(model: OpenSimModel, motion: ModelMotion) -> None:
    """Set speed and acceleration of coupled coordinates, in place."""
    number = model.coordinate_number
    for coupler in model.couplers:
        columns = [number[name] for name in coupler.independent]
        x, speed = motion.value[:, columns], motion.speed[:, columns]
        slope, dependent = coupler.function.derivative(x), number[coupler.dependent]
        change = (slope * motion.acceleration[:, columns]).sum(axis=1)
        motion.speed[:, dependent] = (slope * speed).sum(axis=1)
        motion.acceleration[:, dependent] = change + coupler.function.bend(x, speed)
