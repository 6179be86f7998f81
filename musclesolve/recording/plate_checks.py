"""Are these the forces of this person's feet? Sign, size, direction and place of every plate are tested."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from musclesolve.recording.data import SIDE_NAMES, SIDES, PlateForce, Side, Trial
from musclesolve.recording.schema import Document

Array = NDArray[np.float64]

GRAVITY = 9.80665
# Peak of the vertical force in body weights: a light touch, and more than any jump.
PEAK_SHARE = (0.1, 12.0)
# Horizontal force over vertical force, with some newtons for the ends of contact: no sole holds more.
GREATEST_FRICTION, FRICTION_FLOOR = 2.0, 100.0
# Distance of the force from the middle of its foot [m]: the median is within a foot's length, and never beyond the
# second; no single sample is beyond the third.
FOOT_REACH, FARTHEST, STRAY = 0.2, 0.35, 1.0


def check_plate(trial: Trial, plate: PlateForce, index: int, document: Document) -> None:
    """Refuse a plate whose forces cannot be those of the ground on this foot.

    Raises:
        InputError: at the first thing that is wrong.
    """
    start, end = trial.time_range
    inside = (plate.time >= start) & (plate.time <= end)
    vertical = plate.force[inside, 2]
    weight = trial.subject.mass * GRAVITY
    peak = float(vertical[np.argmax(np.abs(vertical))])
    if peak < -trial.unloaded_below:
        raise document.error(
            f"the plate pulls the {SIDE_NAMES[plate.side]} foot down with {-peak:.0f} N",
            "force",
            "force",
            index,
            expected="the force of the ground on the foot, which points up",
            remedy="the file holds the force on the plate (turn its sign), or up in [laboratory] is wrong",
        )
    loaded = vertical >= trial.unloaded_below
    if loaded.any() and not PEAK_SHARE[0] <= peak / weight <= PEAK_SHARE[1]:
        raise document.error(
            f"the plate of the {SIDE_NAMES[plate.side]} foot carries at most {peak:.4g} N",
            "force",
            "force",
            index,
            expected=f"{PEAK_SHARE[0]:g} to {PEAK_SHARE[1]:g} of the body weight, {weight:.0f} N",
            remedy="check that the file is in newtons, and mass_kg",
        )
    sideways = np.hypot(plate.force[inside, 0], plate.force[inside, 1])
    if (sideways > GREATEST_FRICTION * np.abs(vertical) + FRICTION_FLOOR).any():
        raise document.error(
            f"the plate of the {SIDE_NAMES[plate.side]} foot is pushed sideways by {sideways.max():.4g} N",
            "force",
            "force",
            index,
            expected=f"less than {GREATEST_FRICTION:g} times the vertical force",
            remedy="check the columns and their order, and up in [laboratory]",
        )
    _check_nearness(trial, plate, inside, weight, index, document)


def _check_nearness(
    trial: Trial, plate: PlateForce, inside: NDArray[np.bool_], weight: float, index: int, document: Document
) -> None:
    """Refuse a force that acts far from its foot: sides swapped, or plates and cameras in different axes."""
    stands = inside & (plate.force[:, 2] > 0.3 * weight)
    seen = all(trial.sees(f"{part}_{side}") for part in ("heel", "toe") for side in SIDES)
    if not stands.any() or not seen:
        return
    samples = {side: _distance_to_foot(trial, plate, stands, side) for side in SIDES}
    distance: dict[Side, float] = {side: float(np.median(samples[side])) for side in SIDES}
    other: Side = "l" if plate.side == "r" else "r"
    swapped = distance[plate.side] > FOOT_REACH and distance[other] < 0.5 * distance[plate.side]
    if distance[plate.side] < FARTHEST and not swapped:
        _check_strays(plate, plate.time[stands], samples[plate.side], index, document)
        return
    raise document.error(
        f"the force on the {SIDE_NAMES[plate.side]} foot acts {distance[plate.side]:.2f} m away from it"
        + (f", but {distance[other]:.2f} m from the {SIDE_NAMES[other]} one" if swapped else ""),
        "force",
        "side" if swapped else "point",
        index,
        expected="a centre of pressure under the foot",
        remedy=f'side = "{other}"'
        if swapped
        else "check that forces and markers share axes, and points are in metres",
    )


def _check_strays(plate: PlateForce, time: Array, distance: Array, index: int, document: Document) -> None:
    if (distance > STRAY).any():
        raise document.error(
            f"the point of force on the {SIDE_NAMES[plate.side]} foot strays {distance.max():.4g} m from it "
            f"at {time[distance.argmax()]:g} s",
            "force",
            "point",
            index,
            expected="a centre of pressure under the foot while it is loaded",
            remedy="correct the point in the software that exported it, or choose a range without that time ([time])",
        )


def _distance_to_foot(trial: Trial, plate: PlateForce, samples: NDArray[np.bool_], side: Side) -> Array:
    """Return the horizontal distance from the point of force to the middle of the foot [m]."""
    heel, toe = (trial.markers.weighted(trial.mapping[f"{part}_{side}"]) for part in ("heel", "toe"))
    middle = 0.5 * (heel + toe)
    seen = ~np.isnan(middle).any(axis=1)
    time = plate.time[samples]
    at_plate = [np.interp(time, trial.markers.time[seen], middle[seen, k]) for k in range(2)]
    return np.hypot(*(plate.point[samples, k] - at_plate[k] for k in range(2)))
