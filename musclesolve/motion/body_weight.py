"""Whether the measured forces agree with the body mass: over any stretch of time they must, whatever the motion."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.motion.anatomy.joint_centers import between
from musclesolve.motion.anatomy.landmark_positions import Points
from musclesolve.motion.events.force_events import FootLoads
from musclesolve.recording.data import SIDES, Recording

# Share of what is due: above the first no recording is right; outside the second a reader should know.
TOO_MUCH, USUAL = 1.5, (0.85, 1.15)
# Over less than this the forces of both feet say too little [s].
SHORTEST = 0.1


def carried_share(
    recording: Recording, loads: FootLoads, time: Array, moving: Points, span: tuple[float, float]
) -> float:
    """Return the mean vertical force over what the body mass requires, 1 when both agree.

    m (g + (v_end - v_start) / (t_end - t_start)) is the mean vertical force by Newton's second law, whatever happens
    in between; the vertical velocity v of the pelvis stands for that of the center of mass.
    """
    start, end = span
    inside = recording.inside(time, start, end)
    pelvis = "asis" if "asis_r" in moving else "hip_center"
    height = between(moving[f"{pelvis}_r"], moving[f"{pelvis}_l"])[:, 2]
    first, last = np.gradient(height, time)[inside][[0, -1]]
    force = 0.0
    for plate in loads.plates:
        measured = (plate.time >= start) & (plate.time <= end)
        vertical = plate.force[measured, 2]
        force += float(np.mean(np.where(vertical >= loads.unloaded_below, vertical, 0.0)))
    return force / (loads.mass * (STANDARD_GRAVITY + (last - first) / (end - start)))


def weight_notes(recording: Recording, loads: FootLoads, time: Array, moving: Points) -> list[str]:
    """Return a sentence where force and mass fit badly.

    Raises:
        InputError: the forces are far greater than the mass asks for.
    """
    span = recording.balanced_range
    if span is None or span[1] - span[0] < SHORTEST:
        return []
    share = carried_share(recording, loads, time, moving, span)
    mass = loads.mass
    if share > TOO_MUCH:
        raise recording.document.error(
            f"the ground carries {share:.3g} times what a person of {mass:g} kg weighs, on average over the range",
            "subject",
            "mass_kg",
            code="bad_forces",
            expected="about once: forces and mass of one person",
            remedy=f"check mass_kg (the forces fit {share * mass:.3g} kg), and that forces are in newtons",
        )
    if share > USUAL[1]:
        return [
            f"On average the ground carries {100 * share:.0f} % of the body weight, which fits a mass of "
            f"{share * mass:.3g} kg, not {mass:g} kg: check mass_kg and the units of the forces."
        ]
    # Where a foot has no plate, that is reported already.
    if share < USUAL[0] and {plate.side for plate in loads.plates} == set(SIDES):
        return [
            f"On average the ground carries only {100 * share:.0f} % of the body weight: a contact was not "
            f"measured, or mass_kg is too large (the forces fit {share * mass:.3g} kg)."
        ]
    return []
