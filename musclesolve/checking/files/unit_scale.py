"""Units: are the markers in the unit of their header, forces in newtons, points in meters, moments in newton meters?"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.checking.case import Case, on_plate
from musclesolve.checking.observed_body import landmark, shoulder
from musclesolve.checking.repair import ROLES, change_plate, replace_fields
from musclesolve.checking.stages import Stage, check_at
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.recording.data import SIDES, Markers
from musclesolve.results.finding import Finding, Where, finding

# factor on a number read as meters or newtons -> its true unit.
SIZES = {1000.0: "a thousand times", 100.0: "a hundred times", 10.0: "ten times"}
# Inches and feet under a header of meters, centimeters or millimeters.
HEADERS = (1.0, 100.0, 1000.0)
POWERS = {factor: f"{size} too small" for factor, size in SIZES.items()} | {
    1.0 / factor: f"{size} too large" for factor, size in SIZES.items()
}
LENGTH_FAULTS = (
    POWERS
    | {0.0254 * per_meter: "in inches" for per_meter in HEADERS}
    | {0.3048 * per_meter: "in feet" for per_meter in HEADERS}
)
FORCES = {
    1000.0: "kilonewtons",
    STANDARD_GRAVITY: "kilograms-force",
    4.44822: "pounds-force",
    0.001: "millinewtons",
}
# Distance from the feet to the shoulders as a share of stature; upright it is about 0.82.
SHARE = 0.82
# Allowed ratio of a number to the usual one, in the right unit; of a length to that of a subject of 1.7 m.
LENGTH_BAND, FORCE_BAND = (0.6, 1.5), (0.8, 1.35)
USUAL_STATURE, BAND_OF_ANYBODY = 1.7, (0.55, 1.4)
# The greatest vertical force of both feet together in walking, in body weights.
PEAK = 1.2
# Possible units of points of force, with the factor to meters.
POINTS = {0.001: "millimeters", 0.01: "centimeters", 0.0254: "inches"}
# Share of the greatest force that defines a loaded foot, usual travel of its center of pressure, and a travel that is
# never reached, even on a treadmill [m].
LOADED, TRACK, FARTHEST_POINT = 0.5, 0.13, 2.0
# Free moment that is never reached [N m]; and free moment over vertical force that no foot has in a tenth of the frames
# of its contacts [m]: 28 sound plates have 0.002 to 0.011. Friction under a whole sole that spins reaches 0.065, a
# quarter of its length.
LARGEST_MOMENT, FARTHEST_ARM = 500.0, 0.04


@check_at(Stage.UNITS)
def marker_units(case: Case) -> Iterator[Finding]:
    """Compare the distance from feet to shoulders with the stature, for both recordings."""
    stature = case.trial.subject.stature
    faults, band = (LENGTH_FAULTS, LENGTH_BAND) if stature > 0.0 else (POWERS, BAND_OF_ANYBODY)
    usual = SHARE * (stature if stature > 0.0 else USUAL_STATURE)
    for role in ROLES:
        markers: Markers | None = getattr(case.trial, role)
        if markers is None:
            continue
        feet = [landmark(case.trial, f"{part}_{side}", markers) for part in ("heel", "toe") for side in SIDES]
        tops = [shoulder(case.trial, side, markers) for side in SIDES]
        low, high = ([point for point in points if point is not None] for points in (feet, tops))
        if not low or not high:
            continue
        # Independent of the axes.
        apart = np.linalg.norm(np.mean(high, axis=0) - np.mean(low, axis=0), axis=-1)
        height = float(np.median(apart[np.isfinite(apart)])) if np.isfinite(apart).any() else 0.0
        factor = unit_factor(height / usual, faults, band) if height > 0.0 else None
        if factor is not None:
            values = {"height": height, "stature": stature, "usual": usual, "unit": LENGTH_FAULTS[factor]}
            repair = replace_fields(**{role: replace(markers, position=markers.position * factor)})
            code = "marker_units" if stature > 0.0 else "marker_units.anybody"
            yield finding(code, "error", values, Where(markers.path), repair)


def unit_factor(ratio: float, known: dict[float, str], band: tuple[float, float]) -> float | None:
    """Return the factor that brings a ratio nearest to one; None if the ratio is right, or no factor helps."""
    if band[0] <= ratio <= band[1]:
        return None
    best = min(known, key=lambda factor: abs(np.log(ratio * factor)))
    return best if band[0] <= ratio * best <= band[1] else None


@check_at(Stage.UNITS)
def force_units(case: Case) -> Iterator[Finding]:
    """Compare the greatest force with the body weight."""
    plates, weight = case.trial.forces, case.trial.subject.mass * STANDARD_GRAVITY
    if not plates or not weight > 0.0:
        return
    total = np.sum([np.linalg.norm(plate.force, axis=1) for plate in plates], axis=0)
    # A high quantile, not the maximum: one spike must not decide on a unit.
    peak = float(np.quantile(total, 0.98))
    factor = unit_factor(peak / (PEAK * weight), FORCES, FORCE_BAND) if peak > 0.0 else None
    if factor is None:
        return
    scaled = [replace(plate, force=plate.force * factor, moment=plate.moment * factor) for plate in plates]
    values: dict[str, object] = {"peak": peak, "mass": case.trial.subject.mass, "usual": PEAK * weight}
    values |= {"unit": FORCES[factor], "factor": factor}
    yield finding("force_units", "error", values, Where(plates[0].path), replace_fields(forces=tuple(scaled)))


def point_spread(point: Array, loaded: Mask) -> float:
    """How far the point of force (S, k) goes under a foot that carries much, in the samples (S,) [m].

    Within a contact: from contact to contact the subject walks on, and the origin may be anywhere. The middle nine
    tenths: single points may be anywhere.
    """
    spreads = [
        np.ptp(np.nanquantile(point[first:stop], [0.05, 0.95], axis=0), axis=0).max()
        for first, stop in true_runs(loaded)
        if stop - first >= 5 and np.isfinite(point[first:stop]).all(axis=1).any()
    ]
    return float(np.median(spreads)) if spreads else 0.0


def point_factor(spread: float) -> float | None:
    """The factor from the unit of points of force, a key of `POINTS`, to meters; None where they may be meters."""
    if spread <= FARTHEST_POINT:
        return None
    return min(POINTS, key=lambda factor: abs(np.log(spread * factor / TRACK)))


@check_at(Stage.UNITS_OF_POINTS)
def point_and_moment_units(case: Case) -> Iterator[Finding]:
    """Compare points of force and free moments with the size of a foot."""
    for index, plate in enumerate(case.trial.forces):
        # Points of a small force are quotients of small numbers, and a drifting zero is a small force throughout.
        least = max(case.trial.unloaded_below, LOADED * plate.force[:, 2].max(initial=0.0))
        loaded = plate.force[:, 2] > least
        if loaded.sum() < 5:
            continue
        spread = point_spread(plate.point[:, :2], loaded)
        if (factor := point_factor(spread)) is not None:
            unit = POINTS[factor]
            values = {"spread": spread, "usual": TRACK, "unit": unit, "factor": factor}
            repair = change_plate(index, point=plate.point * factor)
            yield finding("point_units", "error", values, on_plate(plate), repair)
        moment = float(np.quantile(np.abs(plate.moment[loaded]), 0.9))
        if moment > LARGEST_MOMENT:
            repair = change_plate(index, moment=plate.moment * 0.001)
            yield finding("moment_units", "error", {"moment": moment}, on_plate(plate), repair)
            continue
        arm = float(np.quantile(np.abs(plate.moment[loaded, 2]) / plate.force[loaded, 2], 0.9))
        if arm > FARTHEST_ARM:
            values = {"moment": moment, "arm": arm, "limit": FARTHEST_ARM}
            yield finding("free_moment.large", "warning", values, on_plate(plate))
