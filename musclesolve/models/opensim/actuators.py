"""Actuators of an OpenSim model as columns of a force-sharing problem, beside the muscles.

An actuator with the control u in [u_min, u_max] and the optimal force F exerts u F: a CoordinateActuator on its
coordinate, a TorqueActuator as a couple about an axis, on body A and reversed on body B. Its row of moment arms is the
generalized force of u F = 1: 1, or axis . (omega_A - omega_B) with the angular velocities for a unit rate of the
coordinate. Activations of a problem are not negative, so that an actuator has two columns, one for each sense:

    u = a_+ - a_-,    max(u_min, 0) <= a_+ <= max(u_max, 0),    max(-u_max, 0) <= a_- <= max(-u_min, 0) .

A sense that the bounds exclude has no column. Costs take it as a muscle of the strength F [N m, N of a translation].
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import check_known
from musclesolve.errors import InputError, input_error
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.models.opensim.model import Actuator
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.sharing.problem import Problem

_SENSES = {"+": 1.0, "-": -1.0}


def with_actuators(problem: Problem, body: ModelBody, names: Sequence[str]) -> Problem:
    """The problem with two columns, NAME+ and NAME-, for each of some actuators of the model.

    Args:
        problem: of `body.whole`.
        body: along its coordinates.
        names: of coordinate and torque actuators.

    Raises:
        InputError: an unknown actuator or one of another kind, one that is switched off or lacks a part, one whose
            control has no bounds or can only be 0, or one that moves no shared coordinate.
    """
    check_known(names, "actuator", body.model.actuators, f" in {body.model.name!r}")
    rows, strength, muscles = list[Array](), list[float](), list[str]()
    lower, upper = list[float](), list[float]()
    for name in names:
        actuator = body.model.actuators[name]
        _check_parts(body, name, actuator)
        row = _row(body, name, actuator)
        _check_controls(body, name, actuator.controls)
        for sense, sign in _SENSES.items():
            least, largest = sorted(max(sign * bound, 0.0) for bound in actuator.controls)
            if largest > 0.0:
                rows.append(sign * row)
                strength.append(actuator.optimal_force)
                lower.append(least)
                upper.append(largest)
                muscles.append(f"{name}{sense}")
    frames, count = len(problem.moment), len(muscles)
    force = np.array(strength)
    added: dict[str, Any] = {
        "moment_arm": np.stack(rows, axis=2),
        "force_capacity": np.tile(force, (frames, 1)),
        "max_isometric_force": force,
        "lower": np.tile(lower, (frames, 1)),
        "upper": np.tile(upper, (frames, 1)),
        "fiber_velocity": np.zeros((frames, count)),
        "fiber_length": np.ones((frames, count)),
        "optimal_fiber_length": np.ones(count),
        "joints_crossed": np.ones(count),
        "passive_force": np.zeros((frames, count)),
        "fiber_force_capacity": np.tile(force, (frames, 1)),
        "emg": np.full((frames, count), np.nan),
        "reaction_matrix": None
        if problem.reaction_matrix is None
        else np.zeros((*problem.reaction_matrix.shape[:2], count)),
    }
    joined: dict[str, Any] = {}
    for key, part in added.items():
        known = getattr(problem, key)
        if known is not None:
            wide = np.broadcast_to(known, (frames, problem.n_muscles)) if key in ("lower", "upper") else known
            joined[key] = np.concatenate([wide, part], axis=-1)
    return replace(problem, **joined, muscle=(*(problem.muscle or ()), *muscles))


def _check_controls(body: ModelBody, name: str, controls: tuple[float, float]) -> None:
    """Refuse bounds of a control that are not finite, in the wrong order, or both zero."""
    smallest, largest = controls
    if not np.isfinite(controls).all():
        raise input_error(
            "bad_value",
            file=body.model.file,
            where=name,
            problem=f"the actuator {name} has no bounds of its control",
            expected="min_control and max_control in the model",
            remedy="state them, such as -1 and 1 for plus and minus its optimal_force",
        )
    if smallest > largest:
        raise input_error(
            "bad_value",
            file=body.model.file,
            where=name,
            problem=f"min_control {smallest:g} of the actuator {name} is above its max_control {largest:g}",
            expected="min_control <= max_control",
            remedy="correct them in the model",
        )
    if smallest == largest == 0.0:
        raise input_error(
            "bad_value",
            file=body.model.file,
            where=name,
            problem=f"the actuator {name} cannot exert a force: its min_control and max_control are 0",
            expected="a control that can differ from 0",
            remedy="state other bounds, such as -1 and 1, or leave it out of the actuators",
        )


def _check_parts(body: ModelBody, name: str, actuator: Actuator) -> None:
    """Refuse an actuator that is switched off, of another kind, or lacks a part that its force needs."""
    model = body.model
    if actuator.kind not in ("CoordinateActuator", "TorqueActuator"):
        raise input_error(
            "unsupported",
            file=model.file,
            where=name,
            problem=f"{name} is a {actuator.kind}",
            expected="a CoordinateActuator or a TorqueActuator",
            remedy="leave it out of the actuators",
        )
    is_torque = actuator.kind == "TorqueActuator"
    parts = dict(zip(("bodyA", "bodyB"), actuator.bodies, strict=True))
    known: Collection[str] = model.body_number if is_torque else model.coordinates
    for tag, part in (parts if is_torque else {"coordinate": actuator.coordinate}).items():
        if part:
            check_known([part], tag, known, f" of the actuator {name} in the model", model.file, name)
        else:
            raise _lacks(body, name, actuator, tag, f"its name in <{tag}>, such as {next(iter(known))}")
    if is_torque and actuator.axis is None:
        raise _lacks(
            body, name, actuator, "axis", "a direction that is not 0 0 0, such as <axis>0 0 1</axis>"
        )
    if not actuator.enabled:
        raise input_error(
            "conflict",
            file=model.file,
            where=name,
            problem=f"the model switches the actuator {name} off",
            expected="an actuator that applies a force",
            remedy="set its appliesForce to true in the model, or leave it out of the actuators",
        )
    if not actuator.optimal_force > 0.0:
        raise input_error(
            "bad_value",
            file=model.file,
            where=name,
            problem=f"optimal_force of the actuator {name} is {actuator.optimal_force:g}",
            expected="a number above 0",
            remedy="correct it in the model; min_control and max_control state the sense",
        )


def _lacks(body: ModelBody, name: str, actuator: Actuator, part: str, expected: str) -> InputError:
    """The error of an actuator without one of its parts."""
    return input_error(
        "bad_model",
        file=body.model.file,
        where=name,
        problem=f"the {actuator.kind} {name} has no {part}",
        expected=expected,
        remedy="state it in the model, or leave it out of the actuators",
    )


def _row(body: ModelBody, name: str, actuator: Actuator) -> Array:
    """Generalized forces (T, m) of a unit of the actuator on the shared coordinates."""
    dofs = body.whole.shared
    values = coordinate_values(body.model, body.motion.by_name(body.motion.value))
    if actuator.kind == "CoordinateActuator":
        row = np.tile([float(dof == actuator.coordinate) for dof in dofs], (len(values), 1))
    else:
        assert actuator.axis is not None  # refused by _check_parts
        motion = body_motion(body.model, values, dofs)
        first, last = (body.model.body_number[each] for each in actuator.bodies)
        axis = np.broadcast_to(actuator.axis, (len(values), 3))
        if not actuator.is_global:
            axis = motion.rotation[:, first] @ actuator.axis
        spin = motion.twist[:, :, first, :3] - motion.twist[:, :, last, :3]
        row = np.einsum("tk,tmk->tm", axis, spin)
    if not np.abs(row).max(initial=0.0) > 0.0:
        raise input_error(
            "conflict",
            where=name,
            problem=f"the actuator {name} moves none of the shared coordinates {', '.join(dofs)}",
            expected="an actuator that exerts a moment about one of them",
            remedy="share its coordinate, or leave the actuator out",
        )
    return np.asarray(row)
