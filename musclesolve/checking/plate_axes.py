"""Horizontal axes of the plates: turned, mirrored or exchanged ones break Newton's law."""

from __future__ import annotations

import numpy as np

from musclesolve.checking.case import Array, Case, stretches
from musclesolve.checking.newton import Law, law
from musclesolve.checking.pressure import tracks
from musclesolve.checking.support import away, sampled, smooth_force, touch
from musclesolve.recording.data import PlateForce

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

    now = left(force)
    if now < LEFT:
        return
    everyone = tuple(range(len(force)))
    groups = {everyone, *((k,) for k in everyone)}
    tried = {
        (group, name): left([f @ np.array(change) if k in group else f for k, f in enumerate(force)])
        for name, change in CHANGES.items()
        for group in groups
    }
    best = min(tried, key=lambda key: tried[key])
    if tried[best] > LEFT or tried[best] > BETTER * now:
        return
    for index in best[0]:
        _tell(case, index, best[1], now, tried[best])


def _tell(case: Case, index: int, name: str, now: float, after: float) -> None:
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
    change = np.eye(3)
    change[:2, :2] = CHANGES[name]
    moved = plate.point @ change
    # Points are turned with the forces only if that brings them to the foot.
    kept = plate.point if away(case, plate, plate.point) <= away(case, plate, moved) else moved
    case.mend_plate(index, force=plate.force @ change, point=kept)


def _by_pressure(case: Case) -> None:
    """A center of pressure travels forward under a walking foot."""
    for index, plate in enumerate(case.trial.forces):
        found = [track for track in tracks(case, plate) if track.whole]
        travel = [
            float(t.along[-len(t.along) // 4 :].mean() - t.along[: len(t.along) // 4].mean()) for t in found
        ]
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
            case.mend_plate(index, point=_turned_over(plate, touch(case.trial)))


def _turned_over(plate: PlateForce, least: float) -> Array:
    """Return the points of force (S, 3) turned over about the middle of every contact, along the walkway."""
    point = plate.point.copy()
    for start, end in stretches(plate.force[:, 2] > least, plate.time):
        samples = (plate.time >= start) & (plate.time <= end)
        point[samples, 0] = 2.0 * np.median(point[samples, 0]) - point[samples, 0]
    return point
