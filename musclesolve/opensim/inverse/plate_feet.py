"""The foot that a force plate measures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.opensim.inverse.external_load import ExternalLoad, at_times
from musclesolve.opensim.kinematics import BodyMotion
from musclesolve.opensim.model import GROUND, OpenSimModel

_FEET = ("calcn", "calcaneus", "foot", "hindfoot", "talus", "ankle")
"""Beginnings of names of feet, the one to be used first."""
_SIDE = re.compile(r"(?:^|[^a-z])(r|l|right|left)(?:[^a-z]|$)", re.IGNORECASE)
LOADED_N = 20.0
_FARTHEST_M = 0.4
"""Farthest that a center of pressure may be from the origin of its foot."""
_STEEPEST = 0.5
"""Least cosine between the mean ground reaction and up."""
_MOST = 0.9
"""Share of the loaded time in which the same foot must be the nearest."""


def foot_of_plate(
    model: OpenSimModel,
    load: ExternalLoad,
    bodies: Mapping[str, str],
    time: Array | None,
    pose: BodyMotion | None,
) -> str:
    """Name of the body that a plate acts on; "" for a plate that nobody steps on.

    Raises:
        InputError: no foot is found, it is not clear which, or the plate cannot be under the foot of its side.
    """
    if load.name in bodies:
        if bodies[load.name] not in model.body_number:
            raise unknown_name(bodies[load.name], "body", model.bodies, f" in {model.name!r}")
        return bodies[load.name]
    feet = {side: foot_of_side(model, side) for side in "rl"}
    side = _SIDE.search(load.name)
    if side is not None and feet[side[1][0].lower()]:
        foot = feet[side[1][0].lower()]
        if time is not None and pose is not None:
            if fault := foot_load_fault(model, replace(load, body=foot), time, pose):
                raise _unassigned(load, fault)
        return foot
    known = [foot for foot in feet.values() if foot]
    if time is None or pose is None or not known:
        raise _unassigned(load, f"its name has no side, and the feet of the model are {known or 'unknown'}")
    return _nearest(model, load, known, time, pose)


def foot_of_side(model: OpenSimModel, side: str) -> str:
    """The foot of a side; "" if there is none of a usual name."""
    for start in _FEET:
        for body in model.bodies:
            name = body.lower()
            if name.startswith(start) and re.search(rf"(_|^){side}(_|$)", name.removeprefix(start)):
                return body
    return ""


def foot_load_fault(model: OpenSimModel, load: ExternalLoad, time: Array, pose: BodyMotion) -> str:
    """What no plate can measure under a foot: a mean force that does not carry it, a point far from it; "" if sound."""
    feet = [foot for side in "rl" if (foot := foot_of_side(model, side))]
    if load.body not in feet or (load.force_frame, load.point_frame) != (GROUND, GROUND):
        return ""
    force, point = (at_times(time, load.time, values) for values in (load.force, load.point))
    loaded = np.linalg.norm(force, axis=1) > LOADED_N
    if not loaded.any():
        return ""
    mean = force[loaded].mean(axis=0)
    up = -model.gravity / max(float(np.linalg.norm(model.gravity)), 1e-9)
    if mean @ up < _STEEPEST * np.linalg.norm(mean):
        return f"its mean force is {np.round(mean).tolist()} N, which does not carry {load.body}"
    far = {
        foot: float(
            np.median(np.linalg.norm(pose.position[:, model.body_number[foot]] - point, axis=1)[loaded])
        )
        for foot in feet
    }
    if far[load.body] <= _FARTHEST_M:
        return ""
    return "its center of pressure is " + ", ".join(f"{away:.2g} m from {foot}" for foot, away in far.items())


def _nearest(model: OpenSimModel, load: ExternalLoad, feet: list[str], time: Array, pose: BodyMotion) -> str:
    loaded = np.linalg.norm(at_times(time, load.time, load.force), axis=1) > LOADED_N
    if not loaded.any():
        return ""
    point = at_times(time, load.time, load.point)[loaded]
    place = pose.position[loaded][:, [model.body_number[foot] for foot in feet]]
    distance = np.linalg.norm(place - point[:, None], axis=2)
    nearest = distance.argmin(axis=1)
    count = np.bincount(nearest, minlength=len(feet))
    foot = int(count.argmax())
    if count[foot] < _MOST * len(nearest):
        raise _unassigned(load, f"both feet are near it: {' and '.join(feet)}")
    if (far := float(np.median(distance[:, foot]))) > _FARTHEST_M:
        raise _unassigned(load, f"its center of pressure is {far:.2g} m from {feet[foot]}, the nearest foot")
    return feet[foot]


def _unassigned(load: ExternalLoad, problem: str) -> InputError:
    return InputError(
        f"force plate {load.name} belongs to no foot: {problem}",
        code="unassigned_plate",
        file=load.file,
        expected="one foot on each plate, forces in N that carry it and points in m, in the axes of the model (y up)",
        remedy="correct the columns or their sides, or name the bodies in an ExternalLoads file (.xml)",
    )
