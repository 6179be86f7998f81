"""Springs, ligaments, bushings and limits of an OpenSim model as expressions (models/opensim/devices.py).

A device exerts a force on a coordinate, a tension along a path, or a force between two frames. The pull of a path at a
body is the derivative of its length by a displacement of this body (`displaced`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from musclesolve._util.casadi_module import casadi as ca
from musclesolve.models.opensim import devices, functions
from musclesolve.models.opensim.geometry import path_system
from musclesolve.models.opensim.model import GROUND, Device, Frame, Law, OpenSimModel
from musclesolve.symbolic.path_length import (
    Pose,
    iterated_muscles,
    of_coordinates,
    path_length,
    places_of_model,
)

_CALLS: dict[str, Any] = {
    **{name: getattr(ca, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(ca, name) for name in ("asin", "acos", "atan")},
    "step": lambda x: ca.if_else(x >= 0.0, 1.0, 0.0),
    "abs": ca.fabs, "min": ca.fmin, "max": ca.fmax, "square": lambda x: x**2,
    "cube": lambda x: x**3, "recip": lambda x: 1.0 / x,
}  # fmt: skip


def displaced(
    poses: Mapping[str, Pose], displacements: Sequence[tuple[Collection[str], Any, Any]]
) -> dict[str, Pose]:
    """Poses after small displacements of groups of bodies: each a shift and a turn (6,) about a center (3,).

    displacements: the bodies, the shift and turn, and the center.
    """
    moved = {}
    for name, (rotation, shift) in poses.items():
        turned, place = rotation, shift
        for bodies, by, center in displacements:
            if name in bodies:
                spin = ca.skew(by[3:])
                turned, place = turned + spin @ rotation, place + by[:3] + spin @ (shift - center)
        moved[name] = turned, place
    return moved


@dataclass(frozen=True)
class DeviceForces:
    """Forces of devices: force [N] and moment about the origin [N m] (6,) on bodies; generalized forces (n,).

    left_out: names of the devices that have no expression.
    """

    on_bodies: Mapping[str, Any]
    generalized: Any
    left_out: tuple[str, ...]


def device_forces(
    model: OpenSimModel, values: Mapping[str, Any], poses: Mapping[str, Pose], c: Any, cd: Any
) -> DeviceForces:
    """Forces of all devices of a model; values and poses are expressions of the coordinates c, whose rates are cd."""
    on_bodies, generalized, left_out = dict[str, Any](), ca.SX.zeros(c.numel()), list[str]()

    def add(body: str, force: Any, moment: Any) -> None:
        if body != GROUND:
            on_bodies[body] = on_bodies.get(body, ca.SX.zeros(6)) + ca.vertcat(force, moment)

    for device in model.devices:
        if device.coordinate:
            value = ca.SX(values[device.coordinate])
            force = law_value(device.law, [value, ca.jtimes(value, c, cd)])
            generalized = generalized + ca.jtimes(value, c, force, True)
        elif device.frames is not None:
            place, force, moment = _between(device.law, device.frames, poses, (c, cd))
            first, second = (frame.body for frame in device.frames)
            moment = moment + ca.cross(place, force)
            add(second, force, moment)
            add(first, -force, -moment)
        elif (pulls := _along_path(model, device, values, poses)) is not None:
            length, slopes = pulls
            tension = law_value(device.law, [length, ca.jtimes(length, c, cd)])
            for body, slope in slopes.items():
                add(body, -tension * slope[:3], -tension * slope[3:])
        else:
            left_out.append(device.name)
    return DeviceForces(on_bodies, generalized, tuple(left_out))


def _along_path(
    model: OpenSimModel, device: Device, values: Mapping[str, Any], poses: Mapping[str, Pose]
) -> tuple[Any, dict[str, Any]] | None:
    """Length of the path of a device, and its derivatives (6,) by shifts and turns of bodies about the origin.

    None for a path that is found by iteration.
    """
    assert device.path is not None
    system = path_system(model, (device.path,))
    if iterated_muscles(system.layout).any():
        return None
    bodies = sorted(model.bodies_of(device.path))
    by, none = ca.SX.sym("by", 6, len(bodies)), ca.SX.zeros(6, len(bodies))
    moved = displaced(poses, [({name}, by[:, k], np.zeros(3)) for k, name in enumerate(bodies)])
    length = path_length(system.layout, 0, places_of_model(system, values, moved))
    slope = ca.reshape(ca.gradient(length, by), 6, len(bodies))
    at_rest, slopes = ca.substitute([length, slope], [by], [none])
    return at_rest, {name: slopes[:, k] for k, name in enumerate(bodies)}


def _between(
    law: Law, frames: tuple[Frame, Frame], poses: Mapping[str, Pose], moving: tuple[Any, Any]
) -> tuple[Any, Any, Any]:
    """Place, force and couple on the second of two frames, by their deflection (`devices.deflection`)."""
    (first, p), (second, q) = (
        (rotation @ frame.rotation, shift + rotation @ frame.position)
        for frame in frames
        for rotation, shift in [poses[frame.body]]
    )
    turned = first.T @ second
    x, z = ca.atan2(-turned[1, 2], turned[2, 2]), ca.atan2(-turned[0, 1], turned[0, 0])
    y = ca.asin(ca.fmin(ca.fmax(turned[0, 2], -1.0), 1.0))
    deflection = ca.vertcat(x, y, z, first.T @ (q - p))
    change = ca.jtimes(deflection, *moving)
    axes = first @ ca.horzcat(  # x, y after the turn about x, z after both
        np.array([1.0, 0.0, 0.0]), ca.vertcat(0.0, ca.cos(x), ca.sin(x)), turned[:, 2]
    )
    pull = ca.vertcat(*law_values(law, [*ca.vertsplit(deflection), *ca.vertsplit(change)]))
    return q, first @ pull[3:], ca.solve(axes.T, pull[:3])


def law_value(law: Law, x: Sequence[Any]) -> Any:
    """The force of a device at expressions of coordinate or length, and rate."""
    function = getattr(law, "__self__", None)
    if function is not None:  # the value of a function
        return of_coordinates(function, list(x))
    if isinstance(law, devices.Formula):
        return law.evaluate(x, _CALLS, float)
    assert isinstance(law, partial)
    q, rate, by = x[0], x[1] if len(x) > 1 else 0.0, law.keywords
    if law.func is devices.limit_force:
        (lower, upper), (of_lower, of_upper) = by["limits"], by["stiffness"]
        below, above = (
            of_coordinates(functions.smooth_step(*ends, *values), [q])
            for ends, values in (
                ((lower - by["transition"], lower), (1.0, 0.0)),
                ((upper, upper + by["transition"]), (0.0, 1.0)),
            )
        )
        spring = of_lower * below * (lower - q) - of_upper * above * (q - upper)
        return spring - by["damping"] * (below + above) * rate
    if law.func is devices.exponential_limit:
        (lower, upper), low, high = by["limits"], by["lower"], by["upper"]
        return low[0] * ca.exp(-low[1] * (q - lower)) - high[0] * ca.exp(high[1] * (q - upper))
    if law.func is devices.linear_stop:
        above, below = ca.fmax(q - by["limits"][1], 0.0), ca.fmin(q - by["limits"][0], 0.0)
        down = ca.fmin(-by["stiffness"] * above * (1.0 + by["damping"] * rate), 0.0)
        return down + ca.fmax(-by["stiffness"] * below * (1.0 - by["damping"] * rate), 0.0)
    if law.func is devices.spring_tension:
        return by["stiffness"] * ca.fmax(q - by["rest"], 0.0) * (1.0 + by["damping"] * rate)
    if law.func is devices.ligament_tension:
        tension = by["scale"] * of_coordinates(by["curve"], [q / by["rest"]])
        return ca.if_else(q > by["rest"], tension, 0.0)
    assert law.func is devices.blankevoort_tension
    strain, transition = q / by["slack"] - 1.0, by["transition"]
    damper = by["damping"] * ca.fmax(rate / by["slack"], 0.0) * of_coordinates(devices.ONSET, [strain])
    spring = strain - 0.5 * transition
    if transition > 0.0:
        spring = ca.if_else(strain < transition, 0.5 * strain**2 / transition, spring)
    return ca.if_else(strain > 0.0, by["stiffness"] * spring + damper, 0.0)


def law_values(law: Law, x: Sequence[Any]) -> list[Any]:
    """The six forces of a bushing at expressions of its deflection, and its rate (12,)."""
    assert isinstance(law, partial) and law.func is devices.bushing_force
    parts, damping = law.keywords["parts"], law.keywords["damping"]
    return [
        -law_value(function, x[part]) - float(damping[k]) * x[6 + k]
        for k, (function, part) in enumerate(parts)
    ]
