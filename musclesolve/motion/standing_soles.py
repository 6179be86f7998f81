"""Checks for predicted ground reactions: do the soles of standing feet lie on one level floor, and rest on it?

On a tilted floor, or in tilted axes, the places at which feet stand lie on a slope. Its accuracy depends on the
distance between the places. Feet in video may slide: the speed of a standing sole is the speed of its slowest point.
"""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.motion.motion_plausibility import MotionWarning

STANDS = 0.5
"""Force [body weights] from which a foot stands."""
TILTED, WAY = 1.5, 0.6
"""Tilt of the floor that is reported [degrees], and the shortest distance that shows one [m]. Level floors reach
0.6.
"""
SLIDES = 0.15
"""Median speed of standing soles that is reported [m/s]. Recorded walks reach 0.02, with 10 mm of noise 0.07."""
BELT = 0.2
"""Speed of the ground [m/s] from which it is a belt, on which all feet stand at the same places."""


def sole_warnings(
    time: Array, points: Array, upward: Array, stated_deg: float | None = None
) -> list[MotionWarning]:
    """Return warnings of a floor that is not level, and of standing feet that slide.

    Args:
        time: (T,) [s].
        points: (T, 2, P, 3) of the soles of both feet, z up [m].
        upward: (T, 2) vertical force on each foot [body weights].
        stated_deg: `tilt_deg` of the trial of a recording [degrees]; None for a model, whose coordinates have no axes
            of files.
    """
    stands = upward > STANDS
    if stands.sum() < 2:
        return []
    velocity = np.gradient(points, time, axis=0)[stands]
    places, frames = points[stands], np.arange(len(velocity))
    ground = np.median(velocity[frames, places[..., 2].argmin(axis=1), :2], axis=0)
    speed = np.linalg.norm(velocity[..., :2] - ground, axis=2)
    warnings, sliding = [], float(np.median(speed.min(axis=1)))
    if sliding > SLIDES:
        what = (
            f"standing feet slide over the ground with {sliding:.2f} m/s (median of the slowest point of the sole, "
            f"expected less than {SLIDES:g})"
        )
        remedy = "lower the cut-off of the filter, and see whether the scale of the recording is right"
        warnings.append(MotionWarning("soles_slide", what, remedy, False, ()))
    place = places[frames, speed.argmin(axis=1)]
    away = place - place.mean(axis=0)
    line = np.linalg.svd(away[:, :2], full_matrices=False)[2][0]
    along = away[:, :2] @ (line if line[0] >= 0.0 else -line)
    slope = float(along @ away[:, 2] / (along @ along)) if along.any() else 0.0
    tilt, distance = float(np.degrees(np.arctan(abs(slope)))), float(np.ptp(along))
    if tilt > TILTED and distance > WAY and np.linalg.norm(ground) < BELT:
        what = (
            f"standing soles do not stand on one level floor: along the path they rise by "
            f"{1e3 * abs(slope) * distance:.0f} mm over {distance:.1f} m, {tilt:.1f} degrees "
            f"(expected at most {TILTED:g})"
        )
        rises = float(np.degrees(np.arctan(slope)))
        remedy = (
            f"turn the markers by {tilt:.1f} degrees until the floor is level, and make the inverse kinematics anew"
            if stated_deg is None
            else f"write tilt_deg = {rises + stated_deg:.1f} in [laboratory]: the axes of the files are turned by it"
        )
        remedy += "; on stairs or a ramp measure the ground reactions, which are predicted for a level floor"
        warnings.append(MotionWarning("floor_tilted", what, remedy, False, ()))
    return warnings
