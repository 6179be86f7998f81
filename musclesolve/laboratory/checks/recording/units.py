"""Units: lengths against the stature, forces against the weight, points of force against the way of a foot.

A number is compared with the usual one; a factor between two units that brings it there is the finding.
"""

from collections.abc import Collection, Iterator
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.checks.case import ROLES, Case, on_plate, recording_check, refusal
from musclesolve.laboratory.checks.observed_body import landmark, shoulder
from musclesolve.laboratory.recording.data import SIDES, Trial
from musclesolve.laboratory.results.finding import Finding, Where, finding
from musclesolve.laboratory.trial.plates.foot_contacts import FootTrack, feet_of
from musclesolve.laboratory.trial.plates.plate_checks import check_any_load
from musclesolve.laboratory.trial.recording_checks import check_size
from musclesolve.tables.sampled import Markers

SIZES = {1000.0: "a thousand times", 100.0: "a hundred times", 10.0: "ten times"}
POWERS = {factor: f"{size} too small" for factor, size in SIZES.items()} | {
    1.0 / factor: f"{size} too large" for factor, size in SIZES.items()
}
"""Factor on a number read as meters -> what is wrong with it."""
INCHES = {0.0254 * per_meter: "in inches" for per_meter in (1.0, 100.0, 1000.0)}
LENGTH_FAULTS = POWERS | INCHES | {0.3048: "in feet", 304.8: "in feet"}
"""The same with inches under a header of meters, centimeters or millimeters, and feet."""
FORCES = {
    1000.0: "kilonewtons",
    STANDARD_GRAVITY: "kilograms-force",
    4.44822: "pounds-force",
    0.001: "millinewtons",
}
"""Factor on a number read as newtons -> its true unit."""
LENGTH_BAND, FORCE_BAND, BAND_OF_ANYBODY = (0.6, 1.5), (0.8, 1.35), (0.55, 1.4)
"""Ratio of a number to the usual one in the right unit: of a length with a stated stature, a force with a stated mass,
a length of anybody."""
USUAL_STATURE = 1.7
"""Stature [m] where none is stated."""
SHARE, SHARE_OF_SPINES = 0.82, 0.54
"""Distances from the feet to the shoulders and to the front spines as shares of stature, upright."""
PEAK = 1.2
"""The greatest vertical force of both feet together in walking [body weights]."""
POINTS = {0.001: "millimeters", 0.01: "centimeters"}
"""Factor to meters -> unit of points of force."""
LOADED, TRACK, FARTHEST_POINT, UNDER = 0.5, 0.13, 2.0, 0.3
"""Share of the greatest force that defines a loaded foot; usual travel of its center of pressure, a travel that is
never reached, even on a treadmill, and the distance from the middle of a foot of points in its unit [m]."""
LARGEST_MOMENT = 500.0
"""Free moment that is never reached [N m]."""


def unit_factor(ratio: float, known: dict[float, str], band: tuple[float, float]) -> float | None:
    """Return the factor that brings a ratio nearest to one; None if the ratio is right, or no factor helps."""
    if band[0] <= ratio <= band[1]:
        return None
    best = min(known, key=lambda factor: abs(np.log(ratio * factor)))
    return best if band[0] <= ratio * best <= band[1] else None


@recording_check()
def marker_units(case: Case) -> Iterator[Finding]:
    """Compare the distance from feet to shoulders, or else to the front spines, with the stature, in any axes.

    Where no unit explains the height above the feet, report what reading refuses.
    """
    stated, found = case.trial.subject.stature, False
    stature = stated if stated > 0.0 else USUAL_STATURE
    for markers in (getattr(case.trial, role) for role in ROLES):
        size = None if markers is None else _height(case.trial, markers)
        if size is None:
            continue
        top, height, share = size
        usual = share * stature
        factor = unit_factor(height / usual, POWERS, BAND_OF_ANYBODY) if height > 0.0 else None
        if factor is not None:
            found = True
            values = {
                "top": top,
                "height": height,
                "stature": stature,
                "usual": usual,
                "unit": POWERS[factor],
            }
            code = "marker_units" if stated > 0.0 else "marker_units.anybody"
            yield finding(code, "error", values, Where(markers.path))
    if not found and stated > 0.0 and not {"up", "upright", "standing"} & case.unknown:
        yield from refusal("marker_units", partial(check_size, case.trial, case.document))


def _height(trial: Trial, markers: Markers) -> tuple[str, float, float] | None:
    """Return the highest known part, its distance from the feet [m], and this distance as a share of the stature."""
    feet = [landmark(trial, f"{part}_{side}", markers) for part in ("heel", "toe") for side in SIDES]
    tops = [shoulder(trial, side, markers) for side in SIDES]
    spines = [landmark(trial, f"asis_{side}", markers) for side in SIDES]
    low, high, hips = ([point for point in part if point is not None] for part in (feet, tops, spines))
    if not low or not (high or hips):
        return None
    apart = np.linalg.norm(np.mean(high or hips, axis=0) - np.mean(low, axis=0), axis=-1)
    height = float(np.median(apart[np.isfinite(apart)])) if np.isfinite(apart).any() else 0.0
    return ("shoulders", height, SHARE) if high else ("front spines", height, SHARE_OF_SPINES)


@recording_check("up")
def force_units(case: Case) -> Iterator[Finding]:
    """Report forces that never load a plate: in kilonewtons, body weights, or of another recording."""
    if case.trial.forces and np.isfinite(case.trial.subject.mass):
        yield from refusal("force_units", partial(check_any_load, case.trial, case.document))


def unit_of_points(
    time: Array, point: Array, loaded: Mask, feet: Collection[FootTrack]
) -> tuple[float, float, float | None]:
    """How far the point of force (S, k) goes under a foot, how far it usually goes [m], and the factor to meters.

    Within a contact, a run of the loaded samples (S,): from contact to contact the subject walks on, and the origin may
    be anywhere. The middle nine tenths: single points may be anywhere. It usually goes along the foot, and as far as
    both feet go meanwhile: on a belt, or where a plate carries several steps.

    Returns:
        The factor is a key of `POINTS`; None where the points may be meters.
    """

    def way(path: Array) -> float:
        return float(np.ptp(np.nanquantile(path, [0.05, 0.95], axis=0), axis=0).max())

    ways = list[tuple[float, float]]()
    for first, stop in true_runs(loaded):
        if stop - first >= 5 and np.isfinite(point[first:stop]).all(axis=1).any():
            paths = [
                foot.middle[slice(*np.searchsorted(foot.time, time[[first, stop - 1]]))] for foot in feet
            ]
            seen = [way(path) for path in paths if np.isfinite(path).all(axis=1).any()]
            ways.append((way(point[first:stop]), min(seen, default=0.0)))
    spread, walked = np.median(ways, axis=0).tolist() if ways else (0.0, 0.0)
    usual = TRACK + walked
    if spread <= FARTHEST_POINT + walked:
        return spread, usual, None
    return spread, usual, min(POINTS, key=lambda factor: abs(np.log(spread * factor / usual)))


@recording_check("upright")
def point_units(case: Case) -> Iterator[Finding]:
    """Compare the way of the point of force with the way of a foot."""
    feet = feet_of(case.trial.markers, case.trial.mapping).values()
    for plate in case.trial.forces:
        # Points of a small force are quotients of small numbers.
        loaded = plate.force[:, 2] > max(
            case.trial.unloaded_below, LOADED * plate.force[:, 2].max(initial=0.0)
        )
        if loaded.sum() < 5:
            continue
        spread, usual, factor = unit_of_points(plate.time, plate.point[:, :2], loaded, feet)
        apart = [foot.from_middle(plate.point[loaded], plate.time[loaded]) for foot in feet]
        if factor is not None and all(np.median(np.nan_to_num(away, nan=np.inf)) > UNDER for away in apart):
            values = {"spread": spread, "usual": usual, "unit": POINTS[factor], "factor": factor}
            yield finding("point_units", "error", values, on_plate(plate))
