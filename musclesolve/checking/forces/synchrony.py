"""Are forces and markers of one instant? The shift with which the forces best accelerate the subject."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import Array, at_times
from musclesolve.checking.case.case import Case
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.forces.newtons_law import Law, law
from musclesolve.checking.forces.support import smooth_force
from musclesolve.checking.repair import change_plate, in_order
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.data import PlateForce

# Shifts that are tried [s]: both ways, step.
FARTHEST, STEP = 0.2, 0.002
# Shifts below the first are within the estimate's own error; from the second on results are wrong [s].
SMALLEST, SERIOUS = 0.015, 0.03
# The best shift must explain the forces so well (share of their variation left), and so much better than none.
UNEXPLAINED, BETTER = 0.35, 0.7


def time_offset(case: Case) -> float | None:
    """Return how much later the forces are than the markers [s], None where it cannot be measured.

    With F(t) the total force and a(t) the acceleration of the center of mass, m (a + g) = F. The shift d minimises
    sum |k F(t + d) - (a(t) + g)|^2 over the vertical and the forward direction; k, which stands for one over the
    mass, is fitted with it, so that a wrong mass does not count as a shift.
    """
    # A great shift sets feet and plates at odds: then all frames must do. Wrong axes of the plates spoil the forward
    # direction: then the vertical one must do.
    for whole_range in (False, True):
        found = law(case, whole_range=whole_range)
        for ahead in (True, False):
            shift = None if found is None else _best(case, found, ahead)
            if shift is not None:
                return shift
    return None


def _best(case: Case, found: Law, ahead: bool) -> float | None:
    shifts = np.arange(-FARTHEST, FARTHEST + STEP / 2, STEP)
    forces = [(plate, smooth_force(plate)) for plate in case.trial.forces]
    left = np.array([_unexplained(forces, found, shift, ahead) for shift in shifts])
    if not np.isfinite(left).any():
        return None
    best = int(np.nanargmin(left))
    now = left[shifts.size // 2]
    if best in (0, shifts.size - 1) or left[best] > UNEXPLAINED or not left[best] < BETTER * now:
        return 0.0 if now <= UNEXPLAINED else None
    around = left[best - 1 : best + 2]
    bend = around[0] - 2.0 * around[1] + around[2]
    fine = 0.5 * (around[0] - around[2]) / bend if np.isfinite(bend) and bend > 0.0 else 0.0
    return float(shifts[best] + fine * STEP)


def _unexplained(forces: list[tuple[PlateForce, Array]], found: Law, shift: float, ahead: bool) -> float:
    """Return the share of the variation of the due forces that shifted forces leave unexplained.

    Those along the vertical and, if asked for, along the walking direction.
    """
    first = forces[0][0].time
    at = found.time[found.frames] + shift
    inside = (at >= first[0]) & (at <= first[-1])
    if inside.mean() < 0.7:
        return float("nan")
    way = found.ahead[found.frames][inside]
    force, due = (
        np.stack([vector[:, 2], np.sum(vector * way, axis=1) * ahead], axis=1)
        for vector in (
            np.sum([at_times(plate.time, smooth, at[inside]) for plate, smooth in forces], axis=0),
            found.due[found.frames][inside],
        )
    )
    power = float(np.sum(force**2))
    scale = float(np.sum(force * due)) / power if power > 0.0 else 0.0
    variation = float(np.sum((due - due.mean(axis=0)) ** 2))
    return float(np.sum((scale * force - due) ** 2)) / variation if variation > 0.0 else float("nan")


# Axes that are wrong hide a shift: it is looked for again.
@asked_at(Stage.SYNCHRONY, Stage.SYNCHRONY_IN_RIGHT_AXES)
def synchrony(case: Case) -> Iterator[Finding]:
    """Find a shift between forces and markers."""
    shift, plates = time_offset(case), case.trial.forces
    if shift is None or abs(shift) < SMALLEST:
        return
    late = shift > 0.0
    values = {
        "shift": shift,
        "size": abs(shift),
        "late": "late" if late else "early",
        "limit": SMALLEST,
        "add": "subtract" if late else "add",
        "to": "from" if late else "to",
    }
    repair = in_order(*(change_plate(index, time=plate.time - shift) for index, plate in enumerate(plates)))
    yield finding(
        "time_offset", "error" if abs(shift) >= SERIOUS else "warning", values, Where(plates[0].path), repair
    )
