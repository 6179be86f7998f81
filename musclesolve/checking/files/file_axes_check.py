"""Axes: which axis of the files points up, which way the subject faces, whether the forces share these axes."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, mean_of_known, unit_or_zero
from musclesolve.checking.case import Case, on_plate
from musclesolve.checking.forces.newtons_law import away
from musclesolve.checking.observed_body import ahead, between, facing, square_to, upward
from musclesolve.checking.repair import change_markers, change_plate, rotate_plate, rotate_recordings
from musclesolve.checking.stages import Stage, check_at
from musclesolve.recording.data import Markers
from musclesolve.recording.plates.foot_contacts import touch
from musclesolve.recording.units_and_axes import axis_vector, global_from_laboratory, standing_axes
from musclesolve.results.finding import Finding, Where, finding
from musclesolve.settings.trial import FILE_AXES

# The direction from feet to shoulders, or of the mean force, must have this cosine with an axis to count as along it.
ALONG = 0.8
# Cosine with the forward axis below which a subject faces another axis, and change of direction [rad] below which a
# subject faces one axis in the whole recording.
FORWARD, TURNING = 0.5, 0.8
# Displacement against the facing direction from which a pelvis goes backward [m].
BACKWARDS = 0.3


def _rotation(case: Case) -> Array:
    laboratory = case.recorded.laboratory
    return global_from_laboratory(laboratory.forward, laboratory.up)


def _axis_name(case: Case, direction: Array, rotation: Array | None = None) -> str:
    """Return the name of the file axis nearest to a global direction (3,); `rotation`: the axes of another file."""
    in_file = (_rotation(case) if rotation is None else rotation).T @ direction
    return max(FILE_AXES, key=lambda name: float(axis_vector(name) @ in_file))


@check_at(Stage.VERTICAL_AXIS)
def vertical_axis(case: Case) -> Iterator[Finding]:
    """Find the axis from feet to shoulders where it differs from the stated upward axis."""
    unstated = "up" in case.unknown
    up = upward(case.trial, case.trial.markers, by_pelvis=unstated)
    if up is None or up[2] > ALONG or np.abs(up).max() < ALONG:
        return
    name, laboratory = _axis_name(case, up), case.recorded.laboratory
    forward = _forward_axis(case, case.trial.markers, up, laboratory.forward, name)
    # Forces along the stated upward axis show that only the markers were exported with other axes.
    total = np.sum([plate.force.sum(axis=0) for plate in case.trial.forces], axis=0)
    in_all_files = not (case.trial.forces and total[2] > ALONG * float(np.linalg.norm(total)))
    rotation = global_from_laboratory(forward, name) @ _rotation(case).T
    if name[1] == laboratory.up[1]:
        # Forces are read as upward in any axes: their points lie under the feet in axes of both.
        alone = replace(case, recorded=rotate_recordings(rotation, None)(case.recorded))
        off, then = (sum(away(each, p, p.point) for p in case.trial.forces) for each in (case, alone))
        in_all_files = off <= then
    axes = f'up = "{name}"' + (f' and forward = "{forward}"' if forward != laboratory.forward else "")
    change = {("laboratory", "up"): name, ("laboratory", "forward"): forward} if in_all_files else None
    values = {"axis": name, "axes": axes, "up": laboratory.up}
    where = case.key("laboratory", "up") if in_all_files else Where(case.trial.markers.path)
    repair = rotate_recordings(rotation, {"forward": forward, "up": name} if in_all_files else None)
    # A missing statement is already an error.
    text = "unstated" if unstated else "all_files" if in_all_files else "markers"
    yield finding(f"up_axis.{text}", "note" if unstated else "error", values, where, repair, change=change)


def _forward_axis(
    case: Case, markers: Markers, up: Array, stated: str, up_name: str, rotation: Array | None = None
) -> str:
    """Return the name of the file axis that the pelvis faces, or the stated axis if the pelvis is not seen.

    The forward direction is perpendicular to `up` (3,), which lies along the axis `up_name`.
    """
    faced = ahead(case.trial, markers)
    across = np.full(3, np.nan) if faced is None else square_to(up, mean_of_known(faced))
    forward = _axis_name(case, across, rotation) if np.isfinite(across).all() else stated
    return forward if forward[1] != up_name[1] else next(axis for axis in FILE_AXES if axis[1] != up_name[1])


@check_at(Stage.FORWARD_AXIS)
def forward_axis(case: Case) -> Iterator[Finding]:
    """Compare the facing direction of the subject with the forward axis and with the motion of the pelvis: warnings.

    Joint angles, moments and muscle forces do not depend on it, and subjects walk along a walkway in both directions.
    """
    faced = facing(case.trial)
    if faced is None:
        return
    angle = np.unwrap(np.arctan2(faced[:, 1], faced[:, 0]))
    mean = float(angle.mean())
    if np.ptp(angle) < TURNING and np.cos(mean) < FORWARD:
        laboratory = case.recorded.laboratory
        name, up = _axis_name(case, np.array([np.cos(mean), np.sin(mean), 0.0])), laboratory.up
        rotation = global_from_laboratory(name, up) @ _rotation(case).T
        change = {("laboratory", "forward"): name}
        values = {"axis": name, "forward": laboratory.forward}
        where = case.key("laboratory", "forward")
        repair = rotate_recordings(rotation, {"forward": name, "up": up})
        if "forward" in case.unknown:
            yield finding("walking_direction.unstated", "note", values, where, repair, change=change)
        else:
            yield finding("walking_direction", "warning", values, where, repair, change=change)
    # Displacement of the pelvis in its facing direction, frame by frame.
    if (front := between(case.trial, "asis_r", "asis_l")) is not None:
        unit = unit_or_zero(faced)
        gone = float(np.sum(np.diff(front, axis=0) * unit[1:]))
        if gone < -BACKWARDS:
            where = Where(case.trial.markers.path)
            yield finding("walking_direction.backward", "warning", {"distance": -gone}, where)


@check_at(Stage.OTHER_VERTICAL_AXES)
def vertical_axis_when_standing(case: Case) -> Iterator[Finding]:
    """Find a standing trial whose subject is not upright; the facing direction is free."""
    static = case.trial.static
    up = None if static is None else upward(case.trial, static)
    if static is None or up is None or up[2] > ALONG or np.abs(up).max() < ALONG:
        return
    rotation, stated = _upright(up), standing_axes(case.recorded.laboratory)
    axes = global_from_laboratory(*stated)
    name = _axis_name(case, up, axes)
    forward = _forward_axis(case, static, up, stated[0], name, axes)
    repair = change_markers(
        "static", lambda markers: replace(markers, position=markers.position @ rotation.T)
    )
    change = {("laboratory", "static_up"): name, ("laboratory", "static_forward"): forward}
    axes_of_both = f'static_up = "{name}" and static_forward = "{forward}"'
    values = {"axis": name, "stated": stated[1], "axes": axes_of_both}
    yield finding("up_axis.standing", "error", values, Where(static.path), repair, change=change)


def _upright(direction: Array) -> Array:
    """Return a rotation (3, 3) by quarter turns that brings the axis nearest to a direction (3,) upward."""
    up = max(FILE_AXES, key=lambda name: float(axis_vector(name) @ direction))
    return global_from_laboratory(next(axis for axis in FILE_AXES if axis[1] != up[1]), up)


@check_at(Stage.OTHER_VERTICAL_AXES)
def vertical_axes_of_forces(case: Case) -> Iterator[Finding]:
    """Find plates that do not push up along the axis that the markers have up, while they bear more than noise."""
    for index, plate in enumerate(case.trial.forces):
        bears = np.linalg.norm(plate.force, axis=1) > touch(case.trial)
        total = plate.force[bears].sum(axis=0)
        size = float(np.linalg.norm(total))
        if plate.turned or size == 0.0 or total[2] > ALONG * size or np.abs(total).max() < ALONG * size:
            continue
        name = _axis_name(case, total)
        if total[2] < 0.0 and np.abs(total).argmax() == 2:
            repair = change_plate(index, force=-plate.force, moment=-plate.moment)
            yield finding("force_sign", "error", {"axis": name}, on_plate(plate), repair)
            continue
        # Upright, and headed such that its force acts nearest to the foot.
        quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        rotations = [np.linalg.matrix_power(quarter, k) @ _upright(total) for k in range(4)]
        distances = [
            away(case, replace(plate, force=plate.force @ rotation.T), plate.point @ rotation.T)
            for rotation in rotations
        ]
        repair = rotate_plate(index, rotations[int(np.argmin(distances))])
        up = case.recorded.laboratory.up
        yield finding("plate_axes.vertical", "error", {"axis": name, "up": up}, on_plate(plate), repair)
