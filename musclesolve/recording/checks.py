"""Is this recording plausible? Units, axes, sides, gaps and forces are tested before anything is computed from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve.errors import InputError
from musclesolve.recording.data import SIDES, Markers, PlateForce, Side, Trial
from musclesolve.recording.frames import AXES, axis_vector
from musclesolve.recording.landmarks import landmarks
from musclesolve.recording.schema import Document

Array = NDArray[np.float64]

GRAVITY = 9.80665
# Height of the shoulders over the feet as a share of stature: about 0.82 upright, more with raised arms.
STANDING_SHARE = (0.6, 1.05)
MOVING_SHARE = (0.2, 1.05)
# Peak of the vertical force in body weights: a light touch, and more than any jump.
PEAK_SHARE = (0.1, 12.0)
# No marker on a person changes its velocity faster than this between frames [m], [m/s^2]: a hundred times gravity.
SMALLEST_LEAP, GREATEST_ACCELERATION = 0.1, 1000.0
# Horizontal force over vertical force, with some newtons for the ends of contact: no sole holds more.
GREATEST_FRICTION, FRICTION_FLOOR = 2.0, 100.0
# Distance of the force from the middle of its foot [m]: the median is within a foot's length, and never beyond the
# second; no single sample is beyond the third.
FOOT_REACH, FARTHEST, STRAY = 0.2, 0.35, 1.0
_NAMES = {"r": "right", "l": "left"}


def check_trial(trial: Trial, document: Document) -> None:
    """Refuse a trial whose recordings cannot be what the trial file says they are.

    Raises:
        InputError: at the first thing that is wrong.
    """
    check_sampling(trial.markers.time, trial.markers.path)
    check_sampling(trial.forces[0].time, trial.forces[0].path)
    _check_cutoff(trial, document)
    check_gaps(trial)
    check_jumps(trial)
    check_size(trial, document)
    check_heading(trial, document)
    for index, plate in enumerate(trial.forces):
        _check_plate(trial, plate, index, document)


def check_sampling(time: Array, path: Path) -> None:
    """Refuse samples that are not evenly spaced: a filter over them would bend the motion."""
    even = np.linspace(time[0], time[-1], time.size)
    step = (time[-1] - time[0]) / (time.size - 1)
    off = np.abs(time - even)
    if off.max() > 0.25 * step:
        raise InputError(
            "the samples are not evenly spaced in time",
            file=path,
            where=f"near {time[off.argmax()]:g} s",
            expected=f"one sample every {step:g} s",
            remedy="export all frames, with empty cells where nothing was seen",
        )


def _check_cutoff(trial: Trial, document: Document) -> None:
    force_time = trial.forces[0].time
    rates = {
        "markers": trial.markers.rate,
        "forces": (force_time.size - 1) / (force_time[-1] - force_time[0]),
    }
    for what, rate in rates.items():
        if trial.cutoff_hz >= 0.5 * rate:
            raise document.error(
                f"{trial.cutoff_hz:g} Hz cannot be filtered from {what} recorded at {rate:g} Hz",
                "filter",
                "cutoff_hz",
                expected=f"less than half the recording rate; walking needs about 6 Hz, here below {0.5 * rate:g} Hz",
            )


def check_gaps(trial: Trial) -> None:
    """Refuse a marker that is needed and missing within the time range, or never seen standing."""
    frames = trial.frames()
    for name in trial.used_markers:
        lost = np.isnan(trial.markers[name][frames]).any(axis=1)
        if lost.any():
            first = trial.markers.time[frames][np.argmax(lost)]
            raise InputError(
                f"the marker '{name}' is missing in {lost.sum()} of {lost.size} frames",
                file=trial.markers.path,
                where=f"first at {first:g} s",
                expected="every mapped marker in every frame of the time range",
                remedy="fill the gap in the capture software, or choose a range without it ([time])",
            )
    if trial.static is not None:
        for name in _standing_markers(trial):
            if np.isnan(trial.static[name]).any(axis=1).all():
                raise InputError(f"the marker '{name}' is never seen", file=trial.static.path)


def check_jumps(trial: Trial) -> None:
    """Refuse a marker that leaps from frame to frame: labels exchanged, or a ghost taken for the marker."""
    rate = trial.markers.rate
    # The filter spreads a leap over one period of its cut-off, so frames that near to the range count too.
    near, frames = round(rate / trial.cutoff_hz), trial.frames()
    stretch = slice(max(frames.start - near, 0), frames.stop + near)
    farthest = max(SMALLEST_LEAP, GREATEST_ACCELERATION / rate**2)
    for name in trial.used_markers:
        leap = np.linalg.norm(np.diff(trial.markers[name][stretch], n=2, axis=0), axis=1)
        if (leap > farthest).any():
            at = trial.markers.time[stretch][int(np.argmax(leap > farthest)) + 1]
            raise InputError(
                f"the marker '{name}' leaps by {1000 * np.nanmax(leap):.4g} mm from frame to frame",
                file=trial.markers.path,
                where=f"first near {at:g} s",
                expected=f"changes of step below {1000 * farthest:.0f} mm",
                remedy="correct its label in the capture software, or choose a range without the leap ([time])",
            )


def _standing_markers(trial: Trial) -> list[str]:
    """Return the markers that are read from the standing trial."""
    known = landmarks()
    mapped = {m for name, weights in trial.mapping.items() if known[name].standing for m in weights}
    clustered = {m for markers in trial.clusters.values() for m in markers}
    return sorted(mapped | clustered | set(trial.carried))


def check_size(trial: Trial, document: Document) -> None:
    """Compare the height of the shoulders over the feet with the stature: wrong units and axes show here."""
    if all(trial.sees(f"{part}_{side}") for part in ("heel", "toe", "shoulder") for side in SIDES):
        _check_height(trial, trial.markers, trial.frames(), MOVING_SHARE, document)
    shoulders = {m for side in SIDES for m in trial.mapping[f"shoulder_{side}"]}
    if trial.static is not None and shoulders <= set(trial.static.names):
        _check_height(trial, trial.static, slice(None), STANDING_SHARE, document)


def _check_height(
    trial: Trial, markers: Markers, frames: slice, share: tuple[float, float], document: Document
) -> None:
    feet = [f"{part}_{side}" for part in ("heel", "toe") for side in SIDES]
    low = np.min([_height(trial, markers, name)[frames] for name in feet], axis=0)
    high = np.mean([_height(trial, markers, f"shoulder_{side}")[frames] for side in SIDES], axis=0)
    seen = np.isfinite(high - low)
    if not seen.any():
        return
    height = float(np.median((high - low)[seen]))
    if not share[0] <= height / trial.subject.stature <= share[1]:
        raise document.error(
            f"the shoulders are {height:.3g} m above the feet of a {trial.subject.stature:g} m tall person "
            f"in {markers.path}",
            "subject",
            "stature_m",
            expected=f"{share[0]:g} to {share[1]:g} of the stature",
            remedy="check Units in the header of the TRC file, stature_m, and up in [laboratory]",
        )


def _height(trial: Trial, markers: Markers, landmark: str) -> Array:
    return markers.weighted(trial.mapping[landmark])[:, 2]


def check_heading(trial: Trial, document: Document) -> None:
    """Refuse a motion that does not begin facing forward, and right and left that are swapped."""
    frames = trial.frames()

    def first(name: str) -> Array:
        # Only the first frame: later on the person may turn.
        return trial.markers.weighted(trial.mapping[name])[frames][0]

    behind = ["psis_r", "psis_l"] if "psis_r" in trial.mapping else ["sacrum"]
    if not all(trial.sees(name) for name in ("asis_r", "asis_l", *behind)):
        return
    back = first("sacrum") if behind == ["sacrum"] else 0.5 * (first("psis_r") + first("psis_l"))
    ahead = 0.5 * (first("asis_r") + first("asis_l")) - back
    left = first("asis_l") - first("asis_r")
    ahead[2] = 0.0
    if np.cross([0.0, 0.0, 1.0], ahead) @ left < 0:
        raise document.error(
            "the right side of the pelvis lies left of the left side",
            "mapping",
            "asis_r",
            remedy="swap the markers of right and left, or check up in [laboratory]",
        )
    if ahead[0] < 0.5 * np.linalg.norm(ahead):
        raise document.error(
            "the person does not face the forward axis",
            "laboratory",
            "forward",
            expected="the axis of the files along which the person walks",
            remedy=f'forward = "{_nearest_axis(ahead, document)}"',
        )


def _nearest_axis(direction: Array, document: Document) -> str:
    """Return the name of the file axis that a global direction is nearest to."""
    laboratory = document.content["laboratory"]
    forward, up = axis_vector(laboratory["forward"]), axis_vector(laboratory["up"])
    in_file = np.stack([forward, np.cross(up, forward), up]).T @ direction
    return max(AXES, key=lambda name: float(axis_vector(name) @ in_file))


def _check_plate(trial: Trial, plate: PlateForce, index: int, document: Document) -> None:
    start, end = trial.time_range
    inside = (plate.time >= start) & (plate.time <= end)
    vertical = plate.force[inside, 2]
    weight = trial.subject.mass * GRAVITY
    peak = float(vertical[np.argmax(np.abs(vertical))])
    if peak < -trial.unloaded_below:
        raise document.error(
            f"the plate pulls the {_NAMES[plate.side]} foot down with {-peak:.0f} N",
            "force",
            "force",
            index,
            expected="the force of the ground on the foot, which points up",
            remedy="the file holds the force on the plate (turn its sign), or up in [laboratory] is wrong",
        )
    loaded = vertical >= trial.unloaded_below
    if loaded.any() and not PEAK_SHARE[0] <= peak / weight <= PEAK_SHARE[1]:
        raise document.error(
            f"the plate of the {_NAMES[plate.side]} foot carries at most {peak:.4g} N",
            "force",
            "force",
            index,
            expected=f"{PEAK_SHARE[0]:g} to {PEAK_SHARE[1]:g} of the body weight, {weight:.0f} N",
            remedy="check that the file is in newtons, and mass_kg",
        )
    sideways = np.hypot(plate.force[inside, 0], plate.force[inside, 1])
    if (sideways > GREATEST_FRICTION * np.abs(vertical) + FRICTION_FLOOR).any():
        raise document.error(
            f"the plate of the {_NAMES[plate.side]} foot is pushed sideways by {sideways.max():.4g} N",
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
        f"the force on the {_NAMES[plate.side]} foot acts {distance[plate.side]:.2f} m away from it"
        + (f", but {distance[other]:.2f} m from the {_NAMES[other]} one" if swapped else ""),
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
            f"the point of force on the {_NAMES[plate.side]} foot strays {distance.max():.4g} m from it "
            f"at {time[distance.argmax()]:g} s",
            "force",
            "point",
            index,
            expected="a centre of pressure under the foot while it is loaded",
        )


def _distance_to_foot(trial: Trial, plate: PlateForce, samples: NDArray[np.bool_], side: Side) -> Array:
    """Return the horizontal distance from the point of force to the middle of the foot [m]."""
    heel, toe = (trial.markers.weighted(trial.mapping[f"{part}_{side}"]) for part in ("heel", "toe"))
    middle = 0.5 * (heel + toe)
    seen = ~np.isnan(middle).any(axis=1)
    time = plate.time[samples]
    at_plate = [np.interp(time, trial.markers.time[seen], middle[seen, k]) for k in range(2)]
    return np.hypot(*(plate.point[samples, k] - at_plate[k] for k in range(2)))
