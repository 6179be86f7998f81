"""Axes of the files: where the body and the forces point up, and where the subject faces.

The direction from the feet to the shoulders is up, and so is the sum of all forces. Axes differ by turns of 90 and 180
degrees, or by signs; a smaller angle is no fault of axes. A plate that is turned about the vertical is not looked for:
no public file has one.
"""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import Array, mean_of_known
from musclesolve.laboratory.checks.case import ALONG, Case, on_plate, recording_check
from musclesolve.laboratory.checks.observed_body import ahead, facing, square_to, upward
from musclesolve.laboratory.recording.axes import axis_vector, global_from_laboratory, standing_axes
from musclesolve.laboratory.recording.trial_settings import FILE_AXES
from musclesolve.laboratory.results.finding import Finding, Where, finding
from musclesolve.laboratory.trial.plates.foot_contacts import touch
from musclesolve.tables.sampled import Markers

FORWARD, TURNING = 0.5, 0.8
"""Cosine with the forward axis below which a subject faces another axis, and change of direction [rad] below which a
subject faces one axis in the whole recording."""


def _axes(case: Case) -> Array:
    laboratory = case.settings.laboratory
    return global_from_laboratory(laboratory.forward, laboratory.up)


def _axis_name(direction: Array, axes: Array) -> str:
    """Return the name of the file axis nearest to a global direction (3,)."""
    return max(FILE_AXES, key=lambda name: float(axis_vector(name) @ (axes.T @ direction)))


def _forward_axis(case: Case, markers: Markers, up: Array, up_name: str, stated: str, axes: Array) -> str:
    """Return the name of the file axis that the pelvis faces, or the stated axis if the pelvis is not seen."""
    faced = ahead(case.trial, markers)
    across = np.full(3, np.nan) if faced is None else square_to(up, mean_of_known(faced))
    forward = _axis_name(across, axes) if np.isfinite(across).all() else stated
    return forward if forward[1] != up_name[1] else next(axis for axis in FILE_AXES if axis[1] != up_name[1])


@recording_check()
def vertical_axis(case: Case) -> Iterator[Finding]:
    """Find the axis from feet to shoulders where it differs from the stated upward axis."""
    unstated, laboratory = "up" in case.unknown, case.settings.laboratory
    up = upward(case.trial, case.trial.markers, by_pelvis=unstated)
    if up is None or up[2] > ALONG or np.abs(up).max() < ALONG:
        return
    axes = _axes(case)
    name = _axis_name(up, axes)
    forward = _forward_axis(case, case.trial.markers, up, name, laboratory.forward, axes)
    # Forces along the stated upward axis show that only the markers were exported with other axes.
    total = np.sum([plate.force.sum(axis=0) for plate in case.trial.forces], axis=0)
    in_all_files = not (case.trial.forces and total[2] > ALONG * float(np.linalg.norm(total)))
    stated = f'up = "{name}"' + (f' and forward = "{forward}"' if forward != laboratory.forward else "")
    change = {("laboratory", "up"): name, ("laboratory", "forward"): forward} if in_all_files else None
    values = {"axis": name, "axes": stated, "up": laboratory.up}
    where = case.key("laboratory", "up") if in_all_files else Where(case.trial.markers.path)
    text = "unstated" if unstated else "all_files" if in_all_files else "markers"
    # A missing statement is already an error.
    yield finding(f"up_axis.{text}", "note" if unstated else "error", values, where, change=change)


@recording_check()
def vertical_axis_when_standing(case: Case) -> Iterator[Finding]:
    """Find a standing trial whose subject is not upright in its axes."""
    static, laboratory = case.trial.static, case.settings.laboratory
    if "up" in case.unknown and laboratory.static_up is None:
        return  # its axes are those that are not stated
    up = None if static is None else upward(case.trial, static)
    if static is None or up is None or up[2] > ALONG or np.abs(up).max() < ALONG:
        return
    stated = standing_axes(laboratory)
    axes = global_from_laboratory(*stated)
    name = _axis_name(up, axes)
    forward = _forward_axis(case, static, up, name, stated[0], axes)
    change = {("laboratory", "static_up"): name, ("laboratory", "static_forward"): forward}
    words = f'static_up = "{name}" and static_forward = "{forward}"'
    values = {"axis": name, "stated": stated[1], "axes": words}
    yield finding("up_axis.standing", "error", values, Where(static.path), change=change)


@recording_check("upright")
def forward_axis(case: Case) -> Iterator[Finding]:
    """Note the axis that the subject faces where it is not the forward one: no moment depends on it."""
    faced = facing(case.trial)
    if faced is None:
        return
    angle = np.unwrap(np.arctan2(faced[:, 1], faced[:, 0]))
    mean = float(angle.mean())
    if np.ptp(angle) < TURNING and np.cos(mean) < FORWARD:
        laboratory, unstated = case.settings.laboratory, "forward" in case.unknown
        name = _axis_name(np.array([np.cos(mean), np.sin(mean), 0.0]), _axes(case))
        values, where = {"axis": name, "forward": laboratory.forward}, case.key("laboratory", "forward")
        code = "walking_direction.unstated" if unstated else "walking_direction"
        change = {("laboratory", "forward"): name}
        yield finding(code, "note", values, where, change=change)


@recording_check("upright")
def vertical_axes_of_forces(case: Case) -> Iterator[Finding]:
    """Find plates that do not push up along the axis that the markers have up, while they bear more than noise."""
    for plate in case.trial.forces:
        total = plate.force[np.linalg.norm(plate.force, axis=1) > touch(case.trial)].sum(axis=0)
        size = float(np.linalg.norm(total))
        if plate.turned or size == 0.0 or total[2] > ALONG * size or np.abs(total).max() < ALONG * size:
            continue
        pulls = total[2] < 0.0 and np.abs(total).argmax() == 2
        values = {"axis": _axis_name(total, _axes(case)), "up": case.settings.laboratory.up}
        yield finding("force_sign" if pulls else "plate_axes.vertical", "error", values, on_plate(plate))
