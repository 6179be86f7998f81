"""Whether the force of a plate acts under its foot: far away throughout, or for a moment."""

from __future__ import annotations

import math

import numpy as np

from musclesolve._util.arrays import Mask, at_times
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.recording.data import SIDE_NAMES, SIDES, PlateForce, Side, Trial
from musclesolve.recording.plates.plate_assignment import Foot
from musclesolve.recording.plates.plate_fault import PlateFault, foot_name, in_reach, inside, loaded

# Distance of the force from the middle of its foot [m]: the median is within a foot's length, and never beyond the
# second.
FOOT_REACH, FARTHEST = 0.2, 0.35
# A sole reaches no farther beyond the line from heel to toe [m].
BESIDE = 0.15
# A point beyond it makes an impossible moment; more than this times the body weight is not noise [m].
STRAY = 0.025
# Below this share of the body weight a point is a quotient of small numbers.
_UNSURE = 0.15
_STANDS = 0.3


def nearness(trial: Trial, plate: PlateForce) -> PlateFault | None:
    """Return a fault where the force acts far from its foot: sides swapped, plates and cameras in different axes."""
    weight = trial.subject.mass * STANDARD_GRAVITY
    stands = inside(trial, plate) & (plate.force[:, 2] > _STANDS * weight)
    if not stands.any() or not all(_sees(trial, side) for side in SIDES):
        return None
    distance = {side: _to_middle(trial, plate, stands, side) for side in SIDES}
    other: Side = "l" if plate.side == "r" else "r"
    swapped = distance[plate.side] > FOOT_REACH and distance[other] < 0.5 * distance[plate.side]
    if distance[plate.side] < FARTHEST and not swapped:
        return None
    return PlateFault(
        f"the force on the {foot_name(plate)} acts {distance[plate.side]:.2f} m away from it"
        + (f", but {distance[other]:.2f} m from the {SIDE_NAMES[other]} one" if swapped else ""),
        "side" if swapped else "point",
        "a center of pressure under the foot",
        f'side = "{other}"'
        if swapped
        else "check that forces and markers share axes, and points are in metres",
        f'give the plate to the other foot (side = "{other}"), or leave out all [[force]]'
        if swapped
        else "check that plates and markers share axes: CORNERS in the file",
    )


def strays(trial: Trial, plate: PlateForce) -> PlateFault | None:
    """Return a fault where the point leaves the foot so far that its moment is wrong, under little force too.

    What is filtered is the moment of the force about a fixed point, so it is the moment that must not go astray: a
    point of 20 N may miss the foot by a metre, one of the body weight only by some centimetres.
    """
    if not _sees(trial, plate.side):
        return None
    foot = _foot(trial, plate.side)
    seen = ~np.isnan(foot.middle).any(axis=1)
    known = np.interp(plate.time, foot.time, seen.astype(float), 0.0, 0.0) > 0.99
    samples = in_reach(trial, plate) & loaded(trial, plate) & known
    if not samples.any():
        return None
    shown = Foot(foot.time[seen], foot.heel[seen], foot.toe[seen])
    away = shown.distance(plate.point[samples], plate.time[samples])
    force = np.abs(plate.force[samples, 2])
    wrong = (away - BESIDE) * force
    astray = wrong > STRAY * trial.subject.mass * STANDARD_GRAVITY
    if not astray.any():
        return None
    worst = int(np.argmax(wrong))
    return PlateFault(
        f"the point of force on the {foot_name(plate)} strays {away[worst]:.4g} m from it "
        f"at {plate.time[samples][worst]:g} s, under {force[worst]:.0f} N",
        "point",
        "a center of pressure under the foot while it is loaded",
        _remedy(trial, float(force[astray].max())),
    )


def _remedy(trial: Trial, greatest: float) -> str:
    """Return the remedy for points that go astray under forces up to the greatest [N]."""
    fix = "correct the point in the software that exported it, or choose a range without that time ([time])"
    if greatest > _UNSURE * trial.subject.mass * STANDARD_GRAVITY:
        return fix
    above = 5 * math.ceil((greatest + 1.0) / 5.0)
    return f"count so little force as unloaded: unloaded_below_n = {above} in [filter]; or {fix}"


def _sees(trial: Trial, side: Side) -> bool:
    """Return whether heel and toe of a foot are seen together at some time, not only named in the file."""
    named = all(trial.sees(f"{part}_{side}") for part in ("heel", "toe"))
    return named and not np.isnan(_foot(trial, side).middle).any(axis=1).all()


def _foot(trial: Trial, side: Side) -> Foot:
    heel, toe = (trial.markers.weighted(trial.mapping[f"{part}_{side}"]) for part in ("heel", "toe"))
    return Foot(trial.markers.time, heel, toe)


def _to_middle(trial: Trial, plate: PlateForce, samples: Mask, side: Side) -> float:
    """Return the median horizontal distance from the point of force to the middle of a foot [m]."""
    foot = _foot(trial, side)
    seen = ~np.isnan(foot.middle).any(axis=1)
    time = plate.time[samples]
    at = at_times(foot.time[seen], foot.middle[seen, :2], time)
    return float(np.median(np.linalg.norm(plate.point[samples, :2] - at, axis=1)))
