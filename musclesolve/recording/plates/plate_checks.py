"""Plausibility of plate forces: sign, size, direction, steadiness and place of every plate.

A fault is placed in the tables of the trial file where [[force]] names columns, else in the file of the plates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Mask, at_times
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError
from musclesolve.recording.data import SIDE_NAMES, SIDES, PlateForce, Side, Trial
from musclesolve.recording.gaps.gap_filling import REACH_S
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.plates.plate_assignment import Foot
from musclesolve.recording.schema import Document

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
# Peak of the vertical force in body weights: a light touch, and more than any jump.
PEAK_SHARE = (0.1, 12.0)
# Horizontal force over vertical force, with some newtons for the ends of contact: the largest friction of a sole.
GREATEST_FRICTION, FRICTION_FLOOR = 2.0, 100.0
# A force that changes by more than a body weight from one sample to the next, and faster than this [body weights/s],
# is not of a foot: the hardest landings reach some hundreds.
JUMP, FASTEST = 1.0, 1000.0
# Moment about the point over vertical force [m], with some newton metres for the ends of contact: a foot that
# rotates on the floor makes a third of it.
MOMENT_ARM, MOMENT_FLOOR = 0.3, 20.0
# The step response of the filter has fallen below a thousandth after so many periods of the cut-off frequency.
_PERIODS = 1.6


@dataclass(frozen=True)
class PlateFault:
    """A fault of a plate, at a key of [[force]], with its remedies where columns and where plates are named."""

    problem: str
    key: str
    expected: str
    remedy: str
    on_plate: str | None = None

    def error(self, plate: PlateForce, index: int, document: Document) -> InputError:
        """Return the error that points at the plate of its file, or at table number ``index`` of [[force]]."""
        if plate.number is None:
            expected, remedy = self.expected, self.remedy
            return document.error(self.problem, "force", self.key, index, expected, remedy, code="bad_forces")
        where, remedy = f"plate {plate.number}", self.on_plate or self.remedy
        return error_at(plate.path, where, self.problem, self.expected, remedy, code="bad_forces")


def check_plate(trial: Trial, plate: PlateForce, index: int, document: Document) -> None:
    """Refuse a plate whose forces cannot be those of the ground on this foot."""
    if (fault := plate_error(trial, plate, index, document)) is not None:
        raise fault[1]


def plate_error(
    trial: Trial, plate: PlateForce, index: int, document: Document
) -> tuple[str, InputError] | None:
    """Return the first thing that is wrong with a plate and the name of the test that found it, None if nothing is."""
    for name, test in PLATE_TESTS.items():
        if (fault := test(trial, plate)) is not None:
            return name, fault.error(plate, index, document)
    return None


def check_any_load(trial: Trial, document: Document) -> None:
    """Refuse forces that never load a plate: they are in another unit, or of another recording."""
    if any(loaded(trial, plate).any() for plate in trial.forces):
        return
    peak = max(float(np.abs(plate.force[:, 2]).max()) for plate in trial.forces)
    fault = PlateFault(
        f"no foot ever stands on a plate: the vertical force reaches {peak:.3g} N",
        "force",
        f"{trial.unloaded_below:g} N at least, somewhere in the recording",
        "check that the forces are in newtons, not in kilonewtons or body weights, and of this recording",
    )
    raise fault.error(trial.forces[0], 0, document)


def foot_name(plate: PlateForce) -> str:
    """Return "right foot" or "left foot"."""
    return f"{SIDE_NAMES[plate.side]} foot"


def body_weight(trial: Trial) -> float:
    """Return the body weight of the subject [N]."""
    return trial.subject.mass * STANDARD_GRAVITY


def inside(trial: Trial, plate: PlateForce, reach: float = 0.0) -> Mask:
    """Return which samples lie in the time range, or no farther from it than `reach` [s], (S,)."""
    start, end = trial.time_range
    return np.asarray((plate.time >= start - reach) & (plate.time <= end + reach))


def in_reach(trial: Trial, plate: PlateForce) -> Mask:
    """Return which samples lie in the time range or reach into it through the filter, (S,)."""
    cutoff = trial.filter.cutoff_hz
    return inside(trial, plate, REACH_S if cutoff is None else min(REACH_S, _PERIODS / cutoff))


def loaded(trial: Trial, plate: PlateForce) -> Mask:
    """Return which samples count as loaded, (S,): the others are taken as zero."""
    vertical = np.abs(plate.force[:, 2])
    return np.asarray((vertical >= trial.unloaded_below) & (vertical > 0.0))


def _sign(trial: Trial, plate: PlateForce) -> PlateFault | None:
    vertical = plate.force[inside(trial, plate), 2]
    peak = float(vertical.min(initial=0.0))
    if peak >= -trial.unloaded_below or float(vertical.max()) > -peak:
        return None
    return PlateFault(
        f"the plate pulls the {foot_name(plate)} down with {-peak:.0f} N",
        "force",
        "the force of the ground on the foot, which points up",
        "the file holds the force on the plate (invert its sign), or up in [laboratory] is wrong",
        "correct the sign of this plate's vertical channels in the capture software, or up in [laboratory]",
    )


def _size(trial: Trial, plate: PlateForce) -> PlateFault | None:
    weight = body_weight(trial)
    peak = float(plate.force[inside(trial, plate), 2].max(initial=0.0))
    near = float(plate.force[in_reach(trial, plate), 2].max(initial=0.0))
    light = peak >= trial.unloaded_below and 0.0 < peak < PEAK_SHARE[0] * weight
    if not light and not near > PEAK_SHARE[1] * weight:
        return None
    return PlateFault(
        f"the plate of the {foot_name(plate)} carries at most {peak if light else near:.4g} N",
        "force",
        f"{PEAK_SHARE[0]:g} to {PEAK_SHARE[1]:g} of the body weight, {weight:.0f} N",
        "check that the file is in newtons, and mass_kg",
        "check the unit of the forces (ANALOG:UNITS) and the scale of the channels, and mass_kg",
    )


def _sideways(trial: Trial, plate: PlateForce) -> PlateFault | None:
    force = plate.force[in_reach(trial, plate)]
    sideways = np.hypot(force[:, 0], force[:, 1])
    beyond = sideways > GREATEST_FRICTION * np.abs(force[:, 2]) + FRICTION_FLOOR
    if not beyond.any():
        return None
    return PlateFault(
        f"the plate of the {foot_name(plate)} is pushed sideways by {sideways[beyond].max():.4g} N",
        "force",
        f"less than {GREATEST_FRICTION:g} times the vertical force",
        "check the columns and their order, and up in [laboratory]",
        "check the order of this plate's channels (CHANNEL) and its CORNERS, and up in [laboratory]",
    )


def _jumps(trial: Trial, plate: PlateForce) -> PlateFault | None:
    """Find a spike, or a contact that was cut off: it rings through the filter."""
    near, weight = in_reach(trial, plate), body_weight(trial)
    change = np.linalg.norm(np.diff(plate.force[near], axis=0), axis=1)
    fast = (change > JUMP * weight) & (change > FASTEST * weight * np.diff(plate.time[near]))
    if not fast.any():
        return None
    return PlateFault(
        f"the force on the {foot_name(plate)} jumps by {change[fast].max():.0f} N from one sample to the next "
        f"at {plate.time[near][1:][fast][0]:g} s",
        "force",
        "a force that rises and falls steadily",
        "remove the spike in the software that exported it, or choose a range away from it ([time])",
    )


def _moments(trial: Trial, plate: PlateForce) -> PlateFault | None:
    samples = in_reach(trial, plate) & loaded(trial, plate)
    size = np.linalg.norm(plate.moment[samples], axis=1)
    beyond = size > MOMENT_ARM * np.abs(plate.force[samples, 2]) + MOMENT_FLOOR
    if not beyond.any():
        return None
    return PlateFault(
        f"the moment about the point of force on the {foot_name(plate)} reaches {size[beyond].max():.4g} N m "
        f"at {plate.time[samples][size == size[beyond].max()][0]:g} s",
        "moment",
        f"less than {MOMENT_ARM:g} m times the vertical force, and {MOMENT_FLOOR:g} N m",
        "check that moments are in newton metres, and that these are the columns of the free moment",
        "check the unit of the moments (ANALOG:UNITS), and the order of this plate's channels (CHANNEL)",
    )


def seen_foot(trial: Trial, side: Side) -> Foot | None:
    """Return where a foot is while heel and toe are seen together; None where they never are."""
    if not all(trial.sees(f"{part}_{side}") for part in ("heel", "toe")):
        return None
    heel, toe = (trial.markers.weighted(trial.mapping[f"{part}_{side}"]) for part in ("heel", "toe"))
    seen = ~np.isnan(heel + toe).any(axis=1)
    return Foot(trial.markers.time[seen], heel[seen], toe[seen]) if seen.any() else None


def nearness(trial: Trial, plate: PlateForce) -> PlateFault | None:
    """Return a fault where the force acts far from its foot: sides swapped, plates and cameras in different axes."""
    stands = inside(trial, plate) & (plate.force[:, 2] > _STANDS * body_weight(trial))
    if not stands.any():
        return None
    distance: dict[Side, float] = {}
    for side in SIDES:
        if (foot := seen_foot(trial, side)) is None:
            return None
        middle = at_times(foot.time, foot.middle[:, :2], plate.time[stands])
        distance[side] = float(np.median(np.linalg.norm(plate.point[stands, :2] - middle, axis=1)))
    other: Side = "l" if plate.side == "r" else "r"
    swapped = distance[plate.side] > FOOT_REACH and distance[other] < 0.5 * distance[plate.side]
    if distance[plate.side] < FARTHEST and not swapped:
        return None
    problem = f"the force on the {foot_name(plate)} acts {distance[plate.side]:.2f} m away from it"
    expected = "a center of pressure under the foot"
    if not swapped:
        remedy = "check that forces and markers share axes, and points are in metres"
        on_plate = "check that plates and markers share axes: CORNERS in the file"
        return PlateFault(problem, "point", expected, remedy, on_plate)
    problem += f", but {distance[other]:.2f} m from the {SIDE_NAMES[other]} one"
    on_plate = f'give the plate to the other foot (side = "{other}"), or leave out all [[force]]'
    return PlateFault(problem, "side", expected, f'side = "{other}"', on_plate)


def strays(trial: Trial, plate: PlateForce) -> PlateFault | None:
    """Return a fault where the point leaves the foot so far that its moment is wrong, under little force too.

    What is filtered is the moment of the force about a fixed point, so it is the moment that must not go astray: a
    point of 20 N may miss the foot by a metre, one of the body weight only by some centimetres.
    """
    foot, markers = seen_foot(trial, plate.side), trial.markers
    if foot is None:
        return None
    seen = np.isin(markers.time, foot.time).astype(float)
    known = np.interp(plate.time, markers.time, seen, 0.0, 0.0) > 0.99
    samples = in_reach(trial, plate) & loaded(trial, plate) & known
    if not samples.any():
        return None
    away = foot.distance(plate.point[samples], plate.time[samples])
    force = np.abs(plate.force[samples, 2])
    wrong = (away - BESIDE) * force
    astray = wrong > STRAY * body_weight(trial)
    if not astray.any():
        return None
    worst, greatest = int(np.argmax(wrong)), float(force[astray].max())
    remedy = (
        "correct the point in the software that exported it, or choose a range without that time ([time])"
    )
    if greatest <= _UNSURE * body_weight(trial):
        above = 5 * math.ceil((greatest + 1.0) / 5.0)
        remedy = f"count so little force as unloaded: unloaded_below_n = {above} in [filter]; or {remedy}"
    return PlateFault(
        f"the point of force on the {foot_name(plate)} strays {away[worst]:.4g} m from it "
        f"at {plate.time[samples][worst]:g} s, under {force[worst]:.0f} N",
        "point",
        "a center of pressure under the foot while it is loaded",
        remedy,
    )


PLATE_TESTS: dict[str, Callable[[Trial, PlateForce], PlateFault | None]] = {
    "sign": _sign,
    "size": _size,
    "sideways": _sideways,
    "jumps": _jumps,
    "moments": _moments,
    "nearness": nearness,
    "strays": strays,
}
"""Tests by name, in order: each may rely on the ones before it."""
