"""Actuators of an OpenSim model that bear moments beside its muscles: which ones, and their rows of moment arms.

A CoordinateActuator acts on its coordinate: its row is the rate of that coordinate for a unit rate of a shared one, 1
or the slope of a coupler. A TorqueActuator is a couple about an axis, on body A and reversed on body B: axis . (omega_A
- omega_B) with the angular velocities for a unit rate. A PathActuator is a tension along a path: -dL/dq. Their columns
in a problem: models/actuator_columns.py.
"""

from collections.abc import Collection, Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import check_known, few
from musclesolve.constants import ALL_ACTUATORS
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.models.actuator_columns import ActuatorColumns
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.geometry import coordinate_chain, path_blocks, path_system
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.models.opensim.model import Actuator, OpenSimModel
from musclesolve.muscles.paths.engine import solve_paths

_OF_COORDINATE, _OF_TORQUE, _OF_PATH = KINDS = "CoordinateActuator", "TorqueActuator", "PathActuator"
"""Kinds of actuators that are ideal: their force is the control times optimal_force."""


def actuator_columns(
    model: OpenSimModel, motion: CoordinateMotion, dofs: Sequence[str], requested: Sequence[str]
) -> ActuatorColumns | None:
    """The requested actuators of a model along a motion, by their effect on m shared coordinates; None without any.

    Args:
        model: of the actuators.
        motion: of all coordinates, T frames.
        dofs: the m shared coordinates.
        requested: names; or "all", the ideal actuators that apply a force and act on a shared coordinate.

    Raises:
        InputError: an unknown actuator or one of another kind, one that is switched off or lacks a part, one whose
            control can only be 0, or one that moves no shared coordinate; none at all among all.
    """
    if not requested:
        return None
    values = coordinate_values(model, motion.by_name(motion.value))
    of_all = tuple(requested) == (ALL_ACTUATORS,) and ALL_ACTUATORS not in model.actuators
    if of_all:
        named = [name for name, each in model.actuators.items() if each.enabled and each.kind in KINDS]
    else:
        named = list(dict.fromkeys(requested))
        check_known(named, "actuator", model.actuators, f" in {model.name!r}", model.file)
    rows, names = list[Array](), list[str]()
    for name in named:
        actuator = model.actuators[name]
        _check_parts(model, name, actuator)
        row = _row(model, values, dofs, actuator)
        if np.abs(row).max(initial=0.0) > 0.0:
            _check_controls(model, name, actuator.controls)
            rows.append(row)
            names.append(name)
        elif not of_all:
            raise input_error(
                "conflict",
                where=name,
                problem=f"the actuator {name} moves none of the shared coordinates {', '.join(dofs)}",
                expected="an actuator that exerts a moment about one of them",
                remedy="share its coordinate, or leave the actuator out",
            )
    if not names:
        raise file_error(
            "conflict",
            model.file,
            f"no actuator of the model moves a shared coordinate; it has {few(list(model.actuators)) or 'none'}",
            "an actuator that exerts a moment about one of them",
            "leave the actuators out, or share their coordinates",
        )
    chosen = [model.actuators[name] for name in names]
    return ActuatorColumns(
        tuple(names),
        tuple("N m" if _turns(model, actuator) else "N" for actuator in chosen),
        np.stack(rows, axis=2),
        np.array([actuator.optimal_force for actuator in chosen]),
        np.array([actuator.controls for actuator in chosen]),
    )


def actuator_notes(model: OpenSimModel, dofs: Sequence[str], acting: ActuatorColumns | None) -> list[str]:
    """Sentences on the actuators that bear moments, and on those that could and are not requested."""
    used = () if acting is None else acting.names
    resting = [
        f"{name} ({each.kind}{f' of {each.coordinate}' * bool(each.coordinate)})"
        for name, each in model.actuators.items()
        if each.enabled and name not in used and _may_act(model, each, dofs)
    ]
    notes = [f"Actuators of the model bear moments beside the muscles: {few(used, 6)}."] if used else []
    if resting:
        notes.append(f"{RESTING}: {few(resting, 6)}.")
    return notes


RESTING = "Actuators of the model exert no force, as --actuators does not request them"
"""Begin of the note on actuators that could bear moments."""


def _may_act(model: OpenSimModel, actuator: Actuator, dofs: Sequence[str]) -> bool:
    """Whether an actuator may bear the moment of a shared coordinate."""
    if actuator.path is not None:
        return bool(model.independent(model.crossed(actuator.path)) & set(dofs))
    return not actuator.coordinate or bool(model.independent([actuator.coordinate]) & set(dofs))


def _turns(model: OpenSimModel, actuator: Actuator) -> bool:
    """Whether the force of an actuator is a moment."""
    if actuator.kind == _OF_COORDINATE:
        return model.coordinates[actuator.coordinate].rotational
    return actuator.kind == _OF_TORQUE


def _check_controls(model: OpenSimModel, name: str, controls: tuple[float, float]) -> None:
    """Refuse bounds of a control in the wrong order, beyond all numbers, or both zero."""
    smallest, largest = controls
    if smallest > largest or smallest == np.inf or largest == -np.inf:
        raise input_error(
            "bad_value",
            file=model.file,
            where=name,
            problem=f"the control of the actuator {name} goes from {smallest:g} to {largest:g}",
            expected="min_control <= max_control, and a finite control between them",
            remedy="correct them in the model",
        )
    if smallest == largest == 0.0:
        raise input_error(
            "bad_value",
            file=model.file,
            where=name,
            problem=f"the actuator {name} cannot exert a force: its min_control and max_control are 0",
            expected="a control that can differ from 0",
            remedy="state other bounds, such as -1 and 1, or leave it out of the actuators",
        )


def _check_parts(model: OpenSimModel, name: str, actuator: Actuator) -> None:
    """Refuse an actuator that is switched off, of another kind, or lacks a part that its force needs."""
    if actuator.kind not in KINDS:
        raise input_error(
            "unsupported",
            file=model.file,
            where=name,
            problem=f"{name} is a {actuator.kind}",
            expected=f"one of {', '.join(KINDS)}",
            remedy="leave it out of the actuators",
        )
    is_torque, needed = actuator.kind == _OF_TORQUE, dict[str, str]()
    known: Collection[str] = model.body_number if is_torque else model.coordinates
    if is_torque:
        needed = dict(zip(("bodyA", "bodyB"), actuator.bodies, strict=True))
    elif actuator.kind == _OF_COORDINATE:
        needed = {"coordinate": actuator.coordinate}
    for tag, part in needed.items():
        if part:
            check_known([part], tag, known, f" of the actuator {name} in the model", model.file, name)
        else:
            raise _lacks(model, name, actuator, tag, f"its name in <{tag}>, such as {next(iter(known))}")
    if is_torque and actuator.axis is None:
        raise _lacks(
            model, name, actuator, "axis", "a direction that is not 0 0 0, such as <axis>0 0 1</axis>"
        )
    if actuator.kind == _OF_PATH:
        if actuator.path is None:
            raise _lacks(
                model,
                name,
                actuator,
                "GeometryPath",
                "a GeometryPath: other kinds of paths are not supported",
            )
        if lacking := model.lacks(actuator.path):
            raise input_error(
                "unsupported",
                file=model.file,
                where=name,
                problem=f"the path of the actuator {name} needs {', '.join(lacking)}",
                expected="points and wrap objects of the kinds that are supported",
                remedy="leave it out of the actuators",
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


def _lacks(model: OpenSimModel, name: str, actuator: Actuator, part: str, expected: str) -> InputError:
    """The error of an actuator without one of its parts."""
    return input_error(
        "bad_model",
        file=model.file,
        where=name,
        problem=f"the {actuator.kind} {name} has no {part}",
        expected=expected,
        remedy="state it in the model, or leave it out of the actuators",
    )


def _row(model: OpenSimModel, values: Array, dofs: Sequence[str], actuator: Actuator) -> Array:
    """Generalized forces (T, m) of a unit of an actuator on some coordinates, for values (T, K) of all coordinates."""
    if actuator.kind == _OF_COORDINATE:
        return coordinate_chain(model, values, dofs)[:, model.coordinate_number[actuator.coordinate]]
    if actuator.path is not None:
        system = path_system(model, (actuator.path,))
        blocks = [
            system.arms(solve_paths(*paths), poses, dofs)[:, :, 0]
            for _, poses, paths in path_blocks(system, values)
        ]
        return np.concatenate(blocks)
    assert actuator.axis is not None  # refused by _check_parts
    motion = body_motion(model, values, dofs)
    first, last = (model.body_number[each] for each in actuator.bodies)
    axis = np.broadcast_to(actuator.axis, (len(values), 3))
    if not actuator.is_global:
        axis = motion.rotation[:, first] @ actuator.axis
    spin = motion.twist[:, :, first, :3] - motion.twist[:, :, last, :3]
    return np.einsum("tk,tmk->tm", axis, spin)
