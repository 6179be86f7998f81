"""Faults of forces: units, zero, drift, saturation, axes, place, time, contacts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve.errors import InputError
from musclesolve.recording.data import Side
from musclesolve.synthetic.faults.trial_copy import FORCES, Copy, fault
from musclesolve.synthetic.recording.plate_places import LOADED, plate_middles

SHOWS = 2.0
"""Below this vertical force software gives no center of pressure [N]."""


def _longest(copy: Copy, plate: int, *, loaded: bool) -> tuple[int, int]:
    """Return the contact, or the time without one, of which most lies in the time range; a swing lies between two."""
    time = copy.forces.time
    on = copy.plate(plate, "force")[:, 2] > LOADED
    start, end = copy.span
    runs = [run for run in true_runs(on == loaded) if loaded or (0 < run[0] and run[1] < on.size)]
    return max(runs or [(0, on.size)], key=lambda run: min(time[run[1] - 1], end) - max(time[run[0]], start))


def _lift(copy: Copy, plate: int, extra: Array) -> None:
    """Add a vertical force (S,) [N] that the sensors of a plate show together: it acts at the middle of the plate.

    As on a real plate, what was wrong in the channels goes on into the center of pressure and the free moment.
    """
    force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
    middle = plate_middles(force[:, 2], point)
    carried = np.where(force[:, 2:] > 0.0, point, middle)
    wrong = force + extra[:, None] * [0.0, 0.0, 1.0]
    shows = np.abs(wrong[:, 2:]) > SHOWS
    total = np.where(shows, wrong[:, 2:], 1.0)
    moved = np.where(shows, (force[:, 2:] * carried + extra[:, None] * middle) / total, 0.0)
    if copy.columns(plate, "moment"):
        twist = np.cross(np.where(shows, carried - moved, 0.0), force) * [0.0, 0.0, 1.0]
        copy.set_plate(plate, "moment", copy.plate(plate, "moment") + twist)
    copy.set_plate(plate, "force", wrong)
    copy.set_plate(plate, "point", moved)


def _scale(copy: Copy, factor: Array | float, *roles: str) -> None:
    """Multiply what all plates show by a factor, or by one of every axis (3,)."""
    for plate in copy.plates():
        for role in roles:
            if copy.columns(plate, role):
                copy.set_plate(plate, role, copy.plate(plate, role) * factor)


@fault("force_units")
def force_in_kilonewtons(copy: Copy) -> None:
    """Forces and moments are in kilonewtons."""
    _scale(copy, 0.001, "force", "moment")


@fault("point_units")
def points_in_millimetres(copy: Copy) -> None:
    """The points of force are in millimetres."""
    _scale(copy, 1000.0, "point")


@fault("force_sign")
def force_on_the_plate(copy: Copy) -> None:
    """The file holds the forces of the feet on the plates."""
    _scale(copy, -1.0, "force", "moment")


@fault("plates_swapped")
def plates_swapped(copy: Copy) -> None:
    """The columns of the two plates are exchanged."""
    one, other = copy.plates("r")[0], copy.plates("l")[0]
    values = copy.forces.values.copy()
    for role in ("force", "point", "moment"):
        a, b = copy.columns(one, role), copy.columns(other, role)
        values[:, a], values[:, b] = copy.forces.values[:, b], copy.forces.values[:, a]
    copy.forces = replace(copy.forces, values=values)


@fault("contact_without_force")
def contact_not_measured(copy: Copy) -> None:
    """One contact of the left foot is missing from its plate."""
    plate = copy.plates("l")[0]
    first, last = _longest(copy, plate, loaded=True)
    for role in ("force", "moment"):
        if copy.columns(plate, role):
            vectors = copy.plate(plate, role)
            vectors[first - 40 if first > 40 else 0 : last + 40] = 0.0
            copy.set_plate(plate, role, vectors)


@fault("force_without_contact")
def force_without_contact(copy: Copy) -> None:
    """Another person steps on the plate with 150 N while the right foot swings."""
    plate = copy.plates("r")[0]
    first, last = _longest(copy, plate, loaded=False)
    middle = slice(first + (last - first) // 4, last - (last - first) // 4)
    force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
    force[middle, 2] += 150.0 * np.sin(np.linspace(0.0, np.pi, middle.stop - middle.start))
    point[middle] = point[first - 50 if first > 50 else min(last + 50, len(point) - 1)]
    copy.set_plate(plate, "force", force)
    copy.set_plate(plate, "point", point)


@fault("pressure_offset")
def pressure_offset_100mm(copy: Copy) -> None:
    """The right plate lies 100 mm farther ahead than the calibration states."""
    plate = copy.plates("r")[0]
    copy.set_plate(plate, "point", copy.plate(plate, "point") + np.array([0.1, 0.0, 0.0]))


def _move_points(copy: Copy, side: Side | None, forward: float, left: float) -> None:
    """Move the points of force of the plates of one side, or of all, by a way in millimetres."""
    for plate in copy.plates(side):
        away = 0.001 * np.array([forward, left, 0.0])
        copy.set_plate(plate, "point", copy.plate(plate, "point") + away)


@fault("pressure_offset")
def right_points_30mm_ahead(copy: Copy) -> None:
    """The points of force of the right plate are stated 30 mm too far forward."""
    _move_points(copy, "r", 30.0, 0.0)


@fault("pressure_offset")
def left_points_30mm_behind(copy: Copy) -> None:
    """The points of force of the left plate are stated 30 mm too far back."""
    _move_points(copy, "l", -30.0, 0.0)


@fault("pressure_offset")
def right_points_30mm_left(copy: Copy) -> None:
    """The points of force of the right plate are stated 30 mm too far to the left."""
    _move_points(copy, "r", 0.0, 30.0)


@fault("pressure_offset")
def left_points_30mm_left(copy: Copy) -> None:
    """The points of force of the left plate are stated 30 mm too far to the left."""
    _move_points(copy, "l", 0.0, 30.0)


@fault("pressure_offset")
def all_points_30mm_left(copy: Copy) -> None:
    """The points of force of all plates are stated 30 mm too far to the left."""
    _move_points(copy, None, 0.0, 30.0)


@fault(None)
def all_points_30mm_ahead(copy: Copy) -> None:
    """The points of force of all plates are stated 30 mm too far forward: so does a trunk that leans back."""
    _move_points(copy, None, 30.0, 0.0)


@fault("pressure_offset")
def right_points_15mm_ahead_and_left(copy: Copy) -> None:
    """The points of force of the right plate are stated 15 mm too far forward and to the left."""
    _move_points(copy, "r", 15.0, 15.0)


@fault("pressure_offset")
def left_points_15mm_ahead_and_right(copy: Copy) -> None:
    """The points of force of the left plate are stated 15 mm too far forward and to the right."""
    _move_points(copy, "l", 15.0, -15.0)


def _weaken(copy: Copy, side: Side) -> None:
    for plate in copy.plates(side):
        for role in ("force", "moment"):
            if copy.columns(plate, role):
                copy.set_plate(plate, role, 0.9 * copy.plate(plate, role))


@fault("plate_scale")
def right_plate_10_percent_low(copy: Copy) -> None:
    """The right plate shows 10 % too little."""
    _weaken(copy, "r")


@fault("plate_scale")
def left_plate_10_percent_low(copy: Copy) -> None:
    """The left plate shows 10 % too little."""
    _weaken(copy, "l")


def _reverse_free_moment(copy: Copy, side: Side | None) -> None:
    plates = [plate for plate in copy.plates(side) if copy.columns(plate, "moment")]
    if not plates:
        expected, remedy = "plates with a free moment", "choose another fault"
        raise InputError("no [[force]] names a moment", code="missing_key", expected=expected, remedy=remedy)
    for plate in plates:
        copy.set_plate(plate, "moment", copy.plate(plate, "moment") * [1.0, 1.0, -1.0])


@fault("free_moment")
def free_moments_reversed(copy: Copy) -> None:
    """The free moments of all plates have the wrong sign."""
    _reverse_free_moment(copy, None)


@fault("free_moment")
def right_free_moment_reversed(copy: Copy) -> None:
    """The free moment of the right plate has the wrong sign."""
    _reverse_free_moment(copy, "r")


@fault("free_moment")
def left_free_moment_reversed(copy: Copy) -> None:
    """The free moment of the left plate has the wrong sign."""
    _reverse_free_moment(copy, "l")


@fault(None)
def forces_late_10ms(copy: Copy) -> None:
    """The forces are stamped 10 ms too late: so do soft tissues that follow the bones."""
    copy.forces = replace(copy.forces, time=copy.forces.time + 0.01)


@fault("time_offset")
def forces_late_50ms(copy: Copy) -> None:
    """The forces are stamped 50 ms too late."""
    copy.forces = replace(copy.forces, time=copy.forces.time + 0.05)


@fault("time_offset")
def forces_early_30ms(copy: Copy) -> None:
    """The forces come 30 ms too early, in a file that begins with the markers."""
    step = float(np.median(np.diff(copy.forces.time)))
    count = round(0.03 / step)
    values = np.concatenate([copy.forces.values[count:], copy.forces.values[-1:].repeat(count, axis=0)])
    copy.forces = replace(copy.forces, values=values)


@fault("plate_drift")
def plate_drift(copy: Copy) -> None:
    """The vertical force of the right plate drifts by 60 N from beginning to end."""
    _lift(copy, copy.plates("r")[0], np.linspace(0.0, 60.0, copy.forces.time.size))


@fault("plate_baseline")
def plate_baseline(copy: Copy) -> None:
    """The right plate was not zeroed: it shows 15 N too much."""
    _lift(copy, copy.plates("r")[0], np.full(copy.forces.time.size, 15.0))


@fault("plate_clipped")
def plate_clipped(copy: Copy) -> None:
    """The amplifier of the left plate saturates at 90 % of the peak."""
    plate = copy.plates("l")[0]
    force = copy.plate(plate, "force")
    force[:, 2] = np.minimum(force[:, 2], 0.9 * force[:, 2].max())
    copy.set_plate(plate, "force", force)


@fault("plate_axes")
def plates_mirrored(copy: Copy) -> None:
    """The forward force of all plates has the wrong sign."""
    _scale(copy, np.array([-1.0, 1.0, 1.0]), "force")


@fault("plate_axes")
def plate_turned(copy: Copy) -> None:
    """The horizontal columns of force and point of the right plate are exchanged."""
    plate = copy.plates("r")[0]
    for role in ("force", "point"):
        copy.set_plate(plate, role, copy.plate(plate, role)[:, [1, 0, 2]])


@fault("plate_axes")
def pressure_runs_backwards(copy: Copy) -> None:
    """The right plate stands the other way round: its center of pressure runs back about the middle of the plate."""
    plate = copy.plates("r")[0]
    force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
    for first, last in true_runs(force[:, 2] > LOADED):
        middle = np.median(point[first:last, :2], axis=0)
        point[first:last, :2] = 2.0 * middle - point[first:last, :2]
    copy.set_plate(plate, "point", point)


@fault("plate_axes")
def forces_in_other_axes(copy: Copy) -> None:
    """Forces and points were exported with another axis up than the markers."""
    values = copy.forces.values.copy()
    for plate in copy.plates():
        for role in ("force", "point", "moment"):
            at = copy.columns(plate, role)
            values[:, at] = np.roll(copy.forces.values[:, at], 1, axis=1) if at else values[:, at]
    copy.forces = replace(copy.forces, values=values)


@fault("durations_differ")
def forces_cut(copy: Copy) -> None:
    """The forces begin a quarter of a second or more after the markers, at the beginning of the time range."""
    kept = copy.forces.time >= max(copy.forces.time[0] + 0.25, copy.span[0])
    copy.forces = replace(copy.forces, time=copy.forces.time[kept], values=copy.forces.values[kept])


@fault("truncated")
def truncated_forces(copy: Copy) -> None:
    """The force file ends in the middle of a row, after 95 % of it."""
    copy.afterwards.append((FORCES, lambda text: text[: int(0.95 * len(text))]))
