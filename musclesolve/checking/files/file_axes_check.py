"""Axes: which axis of the files points up, which way the subject faces, whether the forces share these axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case.case import Case
from musclesolve.checking.case.containment import attempt
from musclesolve.checking.case.observed_body import ahead, between, facing, upwards
from musclesolve.checking.forces.support import away
from musclesolve.recording.file_axes import AXES, axis_vector, global_from_laboratory

# The direction from feet to shoulders, or of the mean force, must have this cosine with an axis to count as along it.
ALONG = 0.8
# Someone who faces the forward axis less than this (cosine) faces another one, and who turns by less than the second
# [rad] in the whole recording faces one axis.
FORWARD, TURNING = 0.5, 0.8
# A pelvis that goes this far against the way it faces goes backwards [m].
BACKWARDS = 0.3


def all_axes(case: Case) -> None:
    """Examine the axes of markers, standing trial and forces."""
    attempt(case, _up, _forward, _static_up, _force_direction)


def _rotation(case: Case) -> Array:
    laboratory = case.content["laboratory"]
    return global_from_laboratory(laboratory["forward"], laboratory["up"])


def _axis_name(case: Case, direction: Array) -> str:
    """Return the name of the file axis nearest to a global direction (3,)."""
    in_file = _rotation(case).T @ direction
    return max(AXES, key=lambda name: float(axis_vector(name) @ in_file))


def _up(case: Case) -> None:
    up = upwards(case.trial, case.trial.markers)
    if up is None or up[2] > ALONG or np.abs(up).max() < ALONG:
        return
    name = _axis_name(case, up)
    given = case.content["laboratory"]
    # Which way is forward can only be told once it is known what is up.
    faced = _ahead(case, up)
    forward = given["forward"] if faced is None else _axis_name(case, faced)
    if forward[1] == name[1]:
        forward = next(axis for axis in AXES if axis[1] != name[1])
    with_forces = case.trial.forces and not _forces_up(case)
    where = (
        {"key": ("laboratory", "up")}
        if with_forces or not case.trial.forces
        else {"file": case.trial.markers.path}
    )
    case.tell(
        "up_axis",
        "error",
        f"the shoulders lie along {name} of the files from the feet, but {_said(case, given['up'])}",
        f'write up = "{name}"' + (f' and forward = "{forward}"' if forward != given["forward"] else "")
        if "key" in where
        else f"the forces have {given['up']} up: export markers and forces in the same axes",
        **where,  # type: ignore[arg-type]
    )
    turn = global_from_laboratory(forward, name) @ _rotation(case).T
    _turn(case, turn, forces="key" in where)
    case.content["laboratory"] = {"forward": forward, "up": name} if "key" in where else given


def _said(case: Case, up: str) -> str:
    """Return what the trial file says of the axis that points up; a value that was refused is not named again."""
    refused = any(finding.where.field == "[laboratory] up" for finding in case.findings)
    return "the trial file does not say so" if refused else f"the trial file says that {up} points up"


def _ahead(case: Case, up: Array) -> Array | None:
    """Return the direction (3,) the pelvis faces, square to what is up."""
    faced = ahead(case.trial, case.trial.markers)
    seen = np.zeros((0, 3)) if faced is None else faced[np.isfinite(faced).all(axis=1)]
    if not len(seen):
        return None
    mean = seen.mean(axis=0)
    across: Array = mean - (mean @ up) * up
    return across


def _forces_up(case: Case) -> bool:
    """Whether the forces stand on the axis that the trial file says is up."""
    mean = _mean_force(case)
    return mean is not None and mean[2] > ALONG


def _mean_force(case: Case) -> Array | None:
    total = np.sum([plate.force.sum(axis=0) for plate in case.trial.forces], axis=0)
    size = float(np.linalg.norm(total))
    return total / size if size > 0.0 else None


def _turn(case: Case, turn: Array, *, forces: bool) -> None:
    """Turn the recordings by a rotation (3, 3)."""
    trial = case.trial
    case.mend(markers=trial.markers.rotated(turn))
    if trial.static is not None:
        case.mend(static=trial.static.rotated(turn))
    case.mend(functional={side: recording.rotated(turn) for side, recording in trial.functional.items()})
    if forces:
        for index in range(len(trial.forces)):
            _turn_plate(case, index, turn)


def _turn_plate(case: Case, index: int, turn: Array) -> None:
    plate = case.trial.forces[index]
    case.mend_plate(
        index, force=plate.force @ turn.T, point=plate.point @ turn.T, moment=plate.moment @ turn.T
    )


def _forward(case: Case) -> None:
    """Compare the way the subject faces with the forward axis, and with the way the pelvis goes."""
    faced = facing(case.trial)
    if faced is None:
        return
    angle = _heading_angle(faced)
    if np.ptp(angle) < TURNING:
        mean = float(angle.mean())
        _faces(case, np.array([np.cos(mean), np.sin(mean), 0.0]))
        faced = facing(case.trial)
    _backwards(case, faced)


def _heading_angle(faced: Array) -> Array:
    """Return the angle (T,) of horizontal vectors (T, 3) about the vertical, without jumps [rad]."""
    return np.unwrap(np.arctan2(faced[:, 1], faced[:, 0]))


def _faces(case: Case, direction: Array) -> None:
    """Report that the subject faces (3,) another axis than forward throughout: a warning.

    Joint angles, moments and muscle forces do not depend on it, and people walk along a walkway in both directions.
    """
    if direction[0] >= FORWARD:
        return
    laboratory, name = case.content["laboratory"], _axis_name(case, direction)
    case.tell(
        "walking_direction",
        "warning",
        f"the subject faces {name} of the files throughout, but the trial file says that forward is "
        f"{laboratory['forward']}: angles, moments and muscle forces do not depend on it, but x of ground and joint "
        "reactions is that axis, not the way the subject walks",
        f'write forward = "{name}"; or leave it, if the axes of the laboratory are meant',
        key=("laboratory", "forward"),
    )
    up = laboratory["up"]
    _turn(case, global_from_laboratory(name, up) @ _rotation(case).T, forces=True)
    case.content["laboratory"] = {"forward": name, "up": up}


def _backwards(case: Case, faced: Array | None) -> None:
    """Report a pelvis that goes backwards, frame by frame as it faces."""
    front = between(case.trial, "asis_r", "asis_l")
    if front is None or faced is None or len(front) < 2:
        return
    unit = faced / np.maximum(np.linalg.norm(faced, axis=1, keepdims=True), 1e-9)
    gone = float(np.sum(np.diff(front, axis=0) * unit[1:]))
    if gone < -BACKWARDS:
        case.tell(
            "walking_direction",
            "warning",
            f"the pelvis goes {-gone:.2f} m backwards: the recording runs back in time, or the subject walks backwards",
            "check the order of the frames; ignore this if walking backwards is meant",
            file=case.trial.markers.path,
        )


def _static_up(case: Case) -> None:
    """The standing trial may face anywhere, but it stands up."""
    static = case.trial.static
    up = None if static is None else upwards(case.trial, static)
    if static is None or up is None or up[2] > ALONG or np.abs(up).max() < ALONG:
        return
    case.tell(
        "up_axis",
        "error",
        f"in the standing trial the shoulders lie along {_axis_name(case, up)} from the feet, in the motion along "
        f"{case.content['laboratory']['up']}",
        "export both recordings in the same axes",
        file=static.path,
    )
    target = np.array([0.0, 0.0, 1.0])
    axis = np.zeros(3)
    axis[np.abs(up).argmax()] = np.sign(up[np.abs(up).argmax()])
    case.mend(static=replace(static, position=static.position @ _onto(axis, target).T))


def _onto(one: Array, other: Array) -> Array:
    """Return the rotation (3, 3) by a quarter or half turn that brings one axis onto another."""
    if one @ other < -0.5:
        side = np.roll(one, 1)
        return 2.0 * np.outer(side, side) - np.eye(3)
    v = np.cross(one, other)
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    turned: Array = np.eye(3) + skew + skew @ skew
    return turned


def _force_direction(case: Case) -> None:
    """Whether every plate pushes up, along the axis that the markers have up."""
    for index, plate in enumerate(case.trial.forces):
        total = plate.force.sum(axis=0)
        size = float(np.linalg.norm(total))
        if size == 0.0 or total[2] > ALONG * size or np.abs(total).max() < ALONG * size:
            continue
        name = _axis_name(case, total)
        up = case.content["laboratory"]["up"]
        if total[2] < 0.0 and np.abs(total).argmax() == 2:
            case.tell(
                "force_sign",
                "error",
                f"the mean force of the plate points along {name}, down: the file holds the force of the foot on the "
                "plate, not of the ground on the foot",
                "turn the sign of forces and moments",
                file=plate.path,
                plate=plate.side,
            )
            case.mend_plate(index, force=-plate.force, moment=-plate.moment)
            continue
        case.tell(
            "plate_axes",
            "error",
            f"the mean force of the plate points along {name} of the files, but in the markers {up} points up",
            "export markers and forces in the same axes, or correct the order of the columns in [[force]]",
            file=plate.path,
            plate=plate.side,
        )
        axis = total / size
        main = np.zeros(3)
        main[np.abs(axis).argmax()] = np.sign(axis[np.abs(axis).argmax()])
        _turn_plate(case, index, _heading(case, index, _onto(main, np.array([0.0, 0.0, 1.0]))))


def _heading(case: Case, index: int, upright: Array) -> Array:
    """Return a rotation (3, 3) that stands a plate upright, headed such that its force acts nearest to the foot."""
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    turns = [np.linalg.matrix_power(quarter, k) @ upright for k in range(4)]
    plate = case.trial.forces[index]
    return min(
        turns,
        key=lambda turn: away(case, replace(plate, force=plate.force @ turn.T), plate.point @ turn.T),
    )
