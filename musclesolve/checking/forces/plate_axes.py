"""Horizontal axes of the plates: rotated, mirrored or exchanged ones break Newton's law.

A rotation by any angle about the vertical counts only where it is clear. What markers and segment masses leave
unexplained of the sideward forces is as large as the effect of some ten degrees, and part of it always goes along with
the forward forces. So an angle counts only where it explains most of what is unexplained, and where braking and
push-off of every foot agree on it, which push opposite ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, at_times, true_runs
from musclesolve.checking.case import Case, on_plate
from musclesolve.checking.forces.center_of_pressure_check import tracks
from musclesolve.checking.forces.newtons_law import along_way, away, law, smooth_force
from musclesolve.checking.observed_body import between
from musclesolve.checking.repair import Repair, change_plate
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.data import PlateForce
from musclesolve.recording.plates.foot_contacts import touch
from musclesolve.results.finding import Finding, finding

# What a horizontal force may have become: its forward and left parts, in the numbers of the file.
CHANGES: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "forward is reversed": ((-1, 0), (0, 1)),
    "left is reversed": ((1, 0), (0, -1)),
    "forward and left are reversed": ((-1, 0), (0, -1)),
    "forward and left are exchanged": ((0, 1), (1, 0)),
    "forward and left are exchanged and reversed": ((0, -1), (-1, 0)),
    "the axes are rotated by 90 degrees to the left": ((0, -1), (1, 0)),
    "the axes are rotated by 90 degrees to the right": ((0, 1), (-1, 0)),
}
# A change must leave this share of the variation at most, and this share of what is left without it.
UNEXPLAINED, BETTER = 0.4, 0.5
# Points are rotated with the forces where that brings them so much nearer to a step [m].
CLEARLY = 0.02
# A center of pressure that goes back under the foot by so much in a contact [m].
BACK = -0.05
# A pelvis that goes so far forward during a contact [m] walks or runs over the foot.
OVER = 0.2


@asked_at(Stage.PLATE_AXES)
def horizontal_axes(case: Case) -> Iterator[Finding]:
    """Find the change of axes of one plate, or of all, after which the forces accelerate the subject as seen."""
    required, mass = law(case), case.trial.subject.mass
    if required is None or not mass > 0.0:
        return
    at = required.time[required.frames]
    force = [at_times(plate.time, smooth_force(plate), at)[:, :2] for plate in case.trial.forces]
    due = mass * required.due[required.frames][:, :2]
    variation = float(np.sum((due - due.mean(axis=0)) ** 2))
    if variation == 0.0:
        return

    def unexplained(group: Group, change: Array) -> float:
        parts = [part @ change if k in group else part for k, part in enumerate(force)]
        return float(np.sum((np.sum(parts, axis=0) - due) ** 2)) / variation

    # All plates may have to be changed together, or one.
    everyone = tuple(range(len(force)))
    groups = list(dict.fromkeys([everyone, *((k,) for k in everyone)]))
    now = unexplained((), np.eye(2))
    tried = {
        (group, name): unexplained(group, np.array(change))
        for name, change in CHANGES.items()
        for group in groups
    }
    best = min(tried, key=lambda key: tried[key])
    along = [along_way(required, part) for part in force]
    rotation = best_rotation(along, along_way(required, due), groups)
    if rotation is not None and unexplained(rotation.plates, rotation.change) < tried[best]:
        yield from _rotated(case, rotation)
        return
    if now < UNEXPLAINED or tried[best] > UNEXPLAINED or tried[best] > BETTER * now:
        return
    for index in best[0]:
        values = {"now": min(now, 9.99), "change": best[1], "then": tried[best]}
        where = on_plate(case.trial.forces[index])
        repair = _change_axes(case, index, np.array(CHANGES[best[1]], float))
        yield finding("plate_axes.changed", "error", values, where, repair)


def _rotated(case: Case, rotation: PlateRotation) -> Iterator[Finding]:
    """Report plates that are rotated: an error where nothing else explains it, else a warning that changes nothing."""
    angle = np.degrees(rotation.angle)
    for index in rotation.plates:
        values = {
            "plates": "all plates seem" if len(rotation.plates) > 1 else "the plate seems",
            "angle": abs(angle),
            "direction": "left" if angle > 0.0 else "right",
            "share": rotation.explained,
        }
        where = on_plate(case.trial.forces[index])
        repair = _change_axes(case, index, rotation.change) if rotation.sure else None
        yield finding(
            "plate_axes.rotated" if rotation.sure else "plate_axes.perhaps_rotated",
            "error" if rotation.sure else "warning",
            values,
            where,
            repair,
        )


def _change_axes(case: Case, index: int, change: Array) -> Repair:
    """Rotate or exchange the axes of a plate's forces, and of its points if that suits the foot better."""
    whole = np.eye(3)
    whole[:2, :2] = change
    plate = replace(case.trial.forces[index], force=case.trial.forces[index].force @ whole)
    about = plate.point.copy()
    for first, stop in true_runs(plate.force[:, 2] > touch(case.trial)):
        middle = np.nanmedian(about[first:stop], axis=0)
        about[first:stop] = (about[first:stop] - middle) @ whole + middle

    def badness(point: Array) -> float:
        travel = _travel(case, replace(plate, point=point))
        return away(case, plate, point) - (float(np.median(travel)) if travel else 0.0)

    rotated = {badness(point): point for point in (plate.point @ whole, about)}
    least = min(rotated)
    suits = least < badness(plate.point) - CLEARLY
    return change_plate(index, force=plate.force, point=rotated[least] if suits else plate.point)


def _travel(case: Case, plate: PlateForce) -> list[float]:
    """Return how far the pressure goes forward under the foot in every whole contact of a walk forward [m].

    Only while the pelvis goes forward over the foot, as it is taken where no pelvis is seen: a subject who walks
    backwards, jumps or squats rolls over the foot in another way.
    """
    time, pelvis = case.trial.markers.time, between(case.trial, "asis_r", "asis_l")
    travel = []
    for track in tracks(case, plate):
        if pelvis is not None:
            first, last = at_times(time, pelvis[:, :2], track.time[[0, -1]])
        if track.whole and (pelvis is None or (last - first) @ track.axis > OVER):
            along, count = track.along, len(track.along)
            travel.append(float(along[-count // 4 :].mean() - along[: count // 4].mean()))
    return travel


@asked_at(Stage.PRESSURE_DIRECTION)
def pressure_direction(case: Case) -> Iterator[Finding]:
    """Find a center of pressure that travels backward under a walking foot."""
    for index, plate in enumerate(case.trial.forces):
        travel = _travel(case, plate)
        if travel and np.median(travel) < BACK:
            axis = np.abs(np.sum([track.axis for track in tracks(case, plate)], axis=0)).argmax()
            values = {"distance": -np.median(travel)}
            point = plate.point.copy()
            for first, stop in true_runs(plate.force[:, 2] > touch(case.trial)):
                # Reversed along the axis, about the middle of the contact.
                point[first:stop, axis] = 2.0 * np.median(point[first:stop, axis]) - point[first:stop, axis]
            repair = change_plate(index, point=point)
            yield finding("plate_axes.pressure", "error", values, on_plate(plate), repair)


Group = tuple[int, ...]

# Nearer to a multiple of a quarter of a circle it is an exchange of axes, or nothing [deg].
SMALLEST = 12.0
# Share of what is unexplained that a rotation must explain to be reported, and to be an error: of all plates together,
# and of one plate alone, which an error of the motion imitates more easily, and which is an error from an angle on
# [deg].
# With random errors of the sideward motion of up to 90 % of what is due, one correct recording in 150 has a warning and
# one in 6000 an error.
TOGETHER, ALONE, FAR_ALONE = (0.4, 0.55), (0.5, 0.7), 25.0
# Share of the pieces of steps that must show a third of the angle at least; the angle of every plate is half of it.
AGREEING, OF_PIECE, OF_PLATE = 0.75, 1.0 / 3.0, 0.5
# Forces below this share of the greatest one show nothing; nor do fewer samples.
FAINT, FEWEST = 0.1, 5


@dataclass(frozen=True)
class PlateRotation:
    """A rotation of plates about the vertical that explains the forces."""

    plates: Group  # which plates
    angle: float  # by which their forces must be rotated, to the left [rad]
    explained: float  # share of what is unexplained without it that it explains
    sure: bool  # whether this is beyond what errors of correct recordings can imitate

    @property
    def change(self) -> Array:
        """What rows of horizontal forces are multiplied with, (2, 2)."""
        return rotation_matrix(self.angle)


def rotation_matrix(angle: float) -> Array:
    """Return the matrix (2, 2) that rotates rows of horizontal vectors to the left by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def best_rotation(force: list[Array], due: Array, groups: list[Group]) -> PlateRotation | None:
    """Return the rotation of one of the groups of plates that explains the forces best, None where none does clearly.

    force: horizontal force (T, 2) of every plate [N]; due (T, 2): what their sum must be by the motion [N].
    """
    # Along the axes of the motion: it is the small variation across the way in which a rotation shows.
    variation, axes = np.linalg.eigh(np.cov(due.T))
    if not (variation > 0.0).all():
        return None
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    along = [part @ axes for part in force]
    candidates = [_rotation(along, due @ axes, group, variation) for group in groups]
    accepted = [rotation for rotation in candidates if rotation is not None]
    return max(accepted, key=lambda rotation: rotation.explained, default=None)


def _rotation(force: list[Array], due: Array, group: Group, variation: Array) -> PlateRotation | None:
    """Return the rotation of one group of plates, None where its evidence is weak.

    The angle that minimises sum |R f - d|^2 is atan2(sum f x d, sum f . d). Whether it is accepted is decided with both
    directions measured by their own variation (2,).
    """
    turning = np.sum([force[k] for k in group], axis=0)
    rest = due - (np.sum(force, axis=0) - turning)
    angle = float(np.arctan2(_cross(turning, rest).sum(), np.sum(turning * rest)))
    if abs(np.sin(2.0 * angle)) <= np.sin(2.0 * np.radians(SMALLEST)):
        return None
    rotated = [part @ rotation_matrix(angle) if k in group else part for k, part in enumerate(force)]
    left, now = (np.sum((np.sum(parts, axis=0) - due) ** 2 / variation) for parts in (rotated, force))
    explained = float(1.0 - left / now)
    together = len(group) > 1
    least, clear = TOGETHER if together else ALONE
    if explained < least or not _agreed(rotated, due, group, angle):
        return None
    sure = explained >= clear and (together or abs(angle) >= np.radians(FAR_ALONE))
    return PlateRotation(group, angle, explained, sure)


def _agreed(rotated: list[Array], due: Array, group: Group, angle: float) -> bool:
    """Return whether every plate, and braking and push-off of its steps, show the angle by which they are rotated."""
    left = due - np.sum(rotated, axis=0)
    # The small further rotations of all plates that explain best what is left.
    across = np.stack(
        [np.stack([-rotated[k][:, 1], rotated[k][:, 0]], axis=1).ravel() for k in group], axis=1
    )
    of_plates = angle + np.asarray(np.linalg.lstsq(across, left.ravel(), rcond=None)[0], float)
    steps = [_pieces(rotated, k, sign) for k in group for sign in (1.0, -1.0)]
    # Of a foot that only brakes, or only pushes, an error of the sideward motion goes along with the forward force.
    if not all(steps):
        return False
    # The same of every piece of a step alone.
    pieces = angle + np.array([_cross(part, left).sum() / np.sum(part**2) for some in steps for part in some])
    way = np.sign(angle)
    agreeing = np.mean(way * pieces > OF_PIECE * abs(angle))
    return bool((way * of_plates > OF_PLATE * abs(angle)).all() and agreeing >= AGREEING)


def _pieces(force: list[Array], plate: int, sign: float) -> list[Array]:
    """Return the force (T, 2) of one plate while it pushes one way along the motion, step by step; else zero."""
    along = force[plate][:, 1]
    faint = FAINT * max(float(np.abs(part[:, 1]).max()) for part in force)
    pieces = []
    for first, stop in true_runs(sign * along > faint):
        if stop - first >= FEWEST:
            piece = np.zeros_like(force[plate])
            piece[first:stop] = force[plate][first:stop]
            pieces.append(piece)
    return pieces


def _cross(one: Array, other: Array) -> Array:
    return np.asarray(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])
