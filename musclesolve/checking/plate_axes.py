"""Horizontal axes of the plates: turned, mirrored or exchanged ones break Newton's law."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve.checking.case import Array, Case, stretches
from musclesolve.checking.newton import Law, along_way, law
from musclesolve.checking.pressure import tracks
from musclesolve.checking.support import away, sampled, smooth_force, touch
from musclesolve.recording.data import PlateForce
from musclesolve.runs import true_runs

Group = tuple[int, ...]

# What a horizontal force may have become: its forward and left parts, in the numbers of the file.
CHANGES: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "forward is turned over": ((-1, 0), (0, 1)),
    "left is turned over": ((1, 0), (0, -1)),
    "forward and left are turned over": ((-1, 0), (0, -1)),
    "forward and left are exchanged": ((0, 1), (1, 0)),
    "forward and left are exchanged and turned over": ((0, -1), (-1, 0)),
    "the axes are turned by a quarter to the left": ((0, -1), (1, 0)),
    "the axes are turned by a quarter to the right": ((0, 1), (-1, 0)),
}
# A change must leave this share of the variation at most, and this share of what is left without it.
LEFT, BETTER = 0.4, 0.5
# An angle from which on a turn is told [deg], and the share of what is unexplained that it must leave at most.
SMALLEST_TURN, TURNED = 12.0, 0.85
# Points are turned with the forces where that brings them so much nearer to a step [m].
CLEARLY = 0.02
# A center of pressure that goes back under the foot by so much in a contact [m].
BACK = -0.05


def horizontal_axes(case: Case) -> None:
    """Find the change of axes of one plate, or of all, after which the forces accelerate the person as seen."""
    found = law(case)
    mass = case.trial.subject.mass
    if found is not None and mass > 0.0:
        _by_newton(case, found, mass)
    _by_pressure(case)


def _by_newton(case: Case, found: Law, mass: float) -> None:
    at = found.time[found.frames]
    force = [sampled(plate, smooth_force(plate), at)[:, :2] for plate in case.trial.forces]
    due = mass * found.due[found.frames][:, :2]
    variation = float(np.sum((due - due.mean(axis=0)) ** 2))
    if variation == 0.0:
        return

    def left(parts: list[Array]) -> float:
        return float(np.sum((np.sum(parts, axis=0) - due) ** 2)) / variation

    now, groups = left(force), _groups(len(force))
    tried = {
        (group, name): left(_changed(force, group, np.array(change)))
        for name, change in CHANGES.items()
        for group in groups
    }
    best = min(tried, key=lambda key: tried[key])
    turn = _best_turn([along_way(found, part) for part in force], along_way(found, due), groups)
    if turn is not None and left(_changed(force, *turn)) < tried[best]:
        after = left(_changed(force, *turn))
        for index in turn[0]:
            _tell(case, index, _turn_in_words(turn[1]), turn[1], now, after)
        return
    if now < LEFT or tried[best] > LEFT or tried[best] > BETTER * now:
        return
    for index in best[0]:
        _tell(case, index, best[1], np.array(CHANGES[best[1]], float), now, tried[best])


def _groups(count: int) -> list[Group]:
    """Return which plates may have to be changed together: all, or one."""
    everyone = tuple(range(count))
    return list(dict.fromkeys([everyone, *((k,) for k in everyone)]))


def _changed(force: list[Array], group: Group, change: Array) -> list[Array]:
    return [f @ change if k in group else f for k, f in enumerate(force)]


def _best_turn(force: list[Array], due: Array, groups: list[Group]) -> tuple[Group, Array] | None:
    """Return the plates and the turn (2, 2) about the vertical that explain the forces best, None where none does.

    The angle that minimises sum |R f - d|^2 is atan2(sum f x d, sum f . d). Whether it serves is judged with both
    directions measured by their own variation: a turn shows in the small sideward forces, where little is due. So
    both are given along the walking direction and to its left; turns about the vertical do not depend on that.
    """
    scale = np.sum((due - due.mean(axis=0)) ** 2, axis=0)
    if not (scale > 0.0).all():
        return None

    def left(parts: list[Array]) -> float:
        return float(np.sum(np.sum((np.sum(parts, axis=0) - due) ** 2, axis=0) / scale))

    found = {}
    for group in groups:
        own = np.sum([force[k] for k in group], axis=0)
        rest = due - (np.sum(force, axis=0) - own)
        across = float(np.sum(own[:, 0] * rest[:, 1] - own[:, 1] * rest[:, 0]))
        angle = np.arctan2(across, float(np.sum(own * rest)))
        # Nearer to a multiple of a quarter it is one of the changes of axes, or nothing.
        if abs(np.sin(2.0 * angle)) > np.sin(2.0 * np.radians(SMALLEST_TURN)):
            change = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
            found[group] = left(_changed(force, group, change)), change
    best = min(found, key=lambda group: found[group][0], default=None)
    if best is None or found[best][0] > TURNED * left(force):
        return None
    return best, found[best][1]


def _turn_in_words(change: Array) -> str:
    angle = np.degrees(np.arctan2(change[0, 1], change[0, 0]))
    return f"the axes are turned by {abs(angle):.0f} degrees to the {'left' if angle > 0.0 else 'right'}"


def _tell(case: Case, index: int, name: str, change: Array, now: float, after: float) -> None:
    plate = case.trial.forces[index]
    case.tell(
        "plate_axes",
        "error",
        f"the horizontal forces do not accelerate the person as the markers move ({100 * min(now, 9.99):.0f} % of the "
        f"variation is left unexplained), but do when {name} ({100 * after:.0f} %)",
        "correct the axes of the plate in the laboratory's calibration, or order and sign of its columns",
        file=plate.path,
        plate=plate.side,
    )
    whole = np.eye(3)
    whole[:2, :2] = change
    plate = replace(plate, force=plate.force @ whole)
    case.mend_plate(index, force=plate.force, point=_best_points(case, plate, whole))


def _best_points(case: Case, plate: PlateForce, change: Array) -> Array:
    """Return the points of force (S, 3) as they are, or turned with the forces if that suits the foot better."""
    about = plate.point.copy()
    for first, stop in true_runs(plate.force[:, 2] > touch(case.trial)):
        middle = np.nanmedian(about[first:stop], axis=0)
        about[first:stop] = (about[first:stop] - middle) @ change + middle

    def badness(point: Array) -> float:
        found = _travel(case, replace(plate, point=point))
        return away(case, plate, point) - (float(np.median(found)) if found else 0.0)

    kept, turned = badness(plate.point), {}
    for point in (plate.point @ change, about):
        turned[badness(point)] = point
    least = min(turned)
    return turned[least] if least < kept - CLEARLY else plate.point


def _travel(case: Case, plate: PlateForce) -> list[float]:
    """Return how far the center of pressure goes forward under the foot in every whole contact [m]."""
    return [
        float(t.along[-len(t.along) // 4 :].mean() - t.along[: len(t.along) // 4].mean())
        for t in tracks(case, plate)
        if t.whole
    ]


def _by_pressure(case: Case) -> None:
    """A center of pressure travels forward under a walking foot."""
    for index, plate in enumerate(case.trial.forces):
        travel = _travel(case, plate)
        if travel and np.median(travel) < BACK:
            case.tell(
                "plate_axes",
                "error",
                f"the center of pressure goes {-1000 * np.median(travel):.0f} mm backwards under the foot in a "
                "contact; in walking it goes forward by more than 100 mm",
                "turn the sign of the axis of the plate along which the person walks, in the points of force",
                file=plate.path,
                plate=plate.side,
            )
            axis = np.abs(np.sum([track.axis for track in tracks(case, plate)], axis=0)).argmax()
            case.mend_plate(index, point=_turned_over(plate, touch(case.trial), int(axis)))


def _turned_over(plate: PlateForce, least: float, axis: int) -> Array:
    """Return the points of force (S, 3) turned over along an axis, about the middle of every contact."""
    point = plate.point.copy()
    for start, end in stretches(plate.force[:, 2] > least, plate.time):
        samples = (plate.time >= start) & (plate.time <= end)
        point[samples, axis] = 2.0 * np.median(point[samples, axis]) - point[samples, axis]
    return point
