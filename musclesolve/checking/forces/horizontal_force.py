"""Horizontal force that accelerates nothing, and horizontal channels that measure nothing.

By Newton's second law the mean horizontal force over a time T is m times the change of the velocity of the center of
mass over T. Horizontal force beyond it that is proportional to the vertical one comes from a plate that is tilted
against the axes of the markers, from vertical force that shows in a horizontal channel, or from axes whose up is not
the vertical: the first two change joint moments alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from musclesolve.checking.case import Case, on_plate
from musclesolve.checking.forces.newtons_law import along_way, law, total_force
from musclesolve.checking.repair import change_plate, in_order
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.results.finding import Finding, Where, finding

LEAN = 0.025
"""Mean horizontal force that accelerates nothing, a share of the vertical one: sound recordings have 0.012 at most, a
tilt by 2 degrees makes 0.035."""
VELOCITY = 0.2
"""The markers show changes of the velocity of the center of mass to within this [m/s]: over T it is a force of
VELOCITY / (g T) body weights."""
DEAD = 0.002
"""A horizontal channel that stays below this share of the body weight in all contacts measures nothing."""
NEEDED = 0.01
"""Horizontal force that the motion needs, root mean square as a share of the body weight, from which a channel that
shows none is lost; less is needed in quiet standing."""


@asked_at(Stage.PLATES)
def lost_channels(case: Case) -> Iterator[Finding]:
    """Find plates of which a horizontal channel shows nothing while the center of mass is accelerated that way."""
    required, weight = law(case), case.trial.subject.mass * STANDARD_GRAVITY
    if required is None or not np.isfinite(weight):
        return
    due = required.due[required.frames, :2] / STANDARD_GRAVITY
    needed = np.sqrt(np.mean(due**2, axis=0))
    for plate in case.trial.forces:
        loaded = plate.force[:, 2] > 0.3 * weight
        if not loaded.any():
            continue
        most = np.abs(plate.force[loaded, :2]).max(axis=0)
        for axis, way in enumerate(("forward", "sideward")):
            if most[axis] < DEAD * weight and needed[axis] > NEEDED:
                values = {"way": way, "most": most[axis], "needed": needed[axis] * weight}
                yield finding("plate_channel", "error", values, on_plate(plate))


@asked_at(Stage.PLATE_POSITION)
def leaning_force(case: Case) -> Iterator[Finding]:
    """Find horizontal force in proportion to the vertical one that accelerates nothing."""
    required, plates = law(case), case.trial.forces
    if required is None or case.found("plate_channel"):
        return
    total, due = total_force(case, required.time[required.frames]), required.due[required.frames]
    vertical, upward = float(total[:, 2].mean()), float(due[:, 2].mean())
    duration = required.frames.sum() / case.trial.markers.rate
    if vertical <= 0.0 or upward <= 0.0:
        return
    # The mass by the vertical forces: a wrong mass of the subject is another fault.
    left_over = (total[:, :2] - (vertical / upward) * due[:, :2]).mean(axis=0) / vertical
    forward, left = (
        along_way(required, (total[:, :2] - (vertical / upward) * due[:, :2])).mean(axis=0) / vertical
    )
    limit = max(LEAN, VELOCITY / (STANDARD_GRAVITY * duration))
    if np.hypot(forward, left) <= limit:
        return
    lean = np.array([*left_over, 0.0])
    repair = in_order(
        *(change_plate(k, force=plate.force - plate.force[:, 2:] * lean) for k, plate in enumerate(plates))
    )
    values = {
        "forward": forward,
        "left": left,
        "limit": limit,
        "angle": np.degrees(np.arctan(np.hypot(forward, left))),
        "duration": duration,
    }
    yield finding("leaning_force", "warning", values, Where(plates[0].path), repair)
