"""Whole files: are times, units and axes what is stated, do mass and stature fit, are channels of EMG sound?

laboratory/recording/emg_state.py decides on the state of a channel, for the analysis and for this report.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import (
    Array,
    Indices,
    Mask,
    at_times,
    mean_of_known,
    median_of_known,
    time_spans,
    true_runs,
    unit_or_zero,
)
from musclesolve._util.long_arrays import in_blocks
from musclesolve._util.messages import count_of
from musclesolve.constants import SLOWEST_HZ, STANDARD_GRAVITY
from musclesolve.laboratory.checks.case import (
    REACH,
    ROLES,
    TABLES,
    Case,
    Stage,
    change_markers,
    change_plate,
    check_at,
    in_order,
    on_plate,
    replace_fields,
    rotate_plate,
    rotate_recordings,
)
from musclesolve.laboratory.checks.forces.newtons_law import away, carried_mass, law
from musclesolve.laboratory.checks.markers.landmark_order import sides_reversed
from musclesolve.laboratory.checks.observed_body import (
    ahead,
    between,
    facing,
    landmark,
    shoulder,
    square_to,
    upward,
)
from musclesolve.laboratory.recording.axes import axis_vector, global_from_laboratory, standing_axes
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, PlateForce, Side
from musclesolve.laboratory.recording.emg_state import CLIPPED, DEAD, EMG_HZ
from musclesolve.laboratory.recording.trial_settings import FILE_AXES
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.laboratory.trial.muscle_signals import CHANNELS, kind_notes
from musclesolve.laboratory.trial.plates.foot_contacts import FootTrack, feet_of, support_shares, touch
from musclesolve.laboratory.trial.recording_checks import UNEVEN, off_grid
from musclesolve.tables.sampled import Markers
from musclesolve.tables.settings import is_number

# Ratio to the usual step from which a step is a hole, not an uneven clock.
HOLE = 1.6
# Ratio by which all markers move farther than in the frames around.
SKIP, SKIPPING_SHARE, MOST_SKIPS = 1.6, 0.8, 8
# Pieces of rows among which the next one is looked for where rows are out of order: with all, time grows as its square.
WITHIN = 20
LONGEST_LOSS_S = 0.5
"""Longest time of frames that a file lost without a hole [s]; a farther jump shows other axes or another recording."""
SLOWEST_STEP = 0.002
"""Displacement per frame below which a marker does not show lost frames [m]."""
STILL_FOR = 0.25
"""Duration from which frames without any motion may be a subject who stands still [s]."""
LOWEST_RATE_HZ = 50.0
LONGEST_DIFFERENCE = 0.1
"""Largest allowed difference between the ends of markers and forces [s]."""


@check_at(Stage.SAMPLE_TIMES)
def sample_times(case: Case) -> Iterator[Finding]:
    """Find holes and uneven steps of the time columns; the repair makes times even."""
    for role in ROLES:
        markers: Markers | None = getattr(case.trial, role)
        if markers is not None and (uneven := _uneven(markers.time, markers.path)):
            # Without holes the clock of the time column was uneven, not the cameras.
            steady = np.linspace(markers.time[0], markers.time[-1], markers.time.size)
            repaired = even(markers) if uneven.code == "frames_missing" else replace(markers, time=steady)
            yield replace(uneven, repair=replace_fields(**{role: repaired}))
    files, names = {plate.path: plate for plate in case.trial.forces}, ("force", "point", "moment")
    for path, plate in files.items():
        if uneven := _uneven(plate.time, path):
            even_time, repairs = np.linspace(plate.time[0], plate.time[-1], plate.time.size), []
            for index, other in enumerate(case.trial.forces):
                if other.path == path:
                    columns = {name: at_times(other.time, getattr(other, name), even_time) for name in names}
                    repairs.append(change_plate(index, time=even_time, **columns))
            yield replace(uneven, repair=in_order(*repairs))


def even(markers: Markers) -> Markers:
    """Return markers on evenly spaced frames, by interpolation between frames."""
    step = float(np.median(np.diff(markers.time)))
    count = max(2, 1 + round((markers.time[-1] - markers.time[0]) / step))
    time = np.linspace(markers.time[0], markers.time[-1], count)
    flat = at_times(markers.time, markers.position.reshape(markers.time.size, -1), time)
    return replace(markers, time=time, position=flat.reshape(count, -1, 3))


def _uneven(time: Array, path: Path) -> Finding | None:
    """Return the finding of uneven times (T,), None if they are even; the reader refuses uneven times in any file."""
    step = np.diff(time)
    usual = float(np.median(step))
    off = off_grid(time)
    if off is None:
        return None
    holes = step > HOLE * usual
    if holes.any() and np.ptp(step[~holes]) < UNEVEN * usual:
        lost = int(np.sum(np.round(step[holes] / usual) - 1))
        spans = tuple((float(time[k]), float(time[k + 1])) for k in np.flatnonzero(holes))
        values = {"lost": lost, "rows": time.size + lost, "most": step.max(), "usual": usual}
        return finding("frames_missing", "error", values, Where(path, times=spans), anywhere=True)
    steady = (time[-1] - time[0]) / (time.size - 1)
    values = {"least": step.min(), "most": step.max(), "off": off.max(), "even": steady}
    where = Where(path, times=((float(time[off.argmax()]),) * 2,))
    return finding("uneven_samples", "error", values, where, anywhere=True)


@check_at(Stage.COPIED_FRAMES)
def copied_frames(case: Case) -> Iterator[Finding]:
    """Find frames in which every marker is exactly where it was in the frame before, while the subject walks."""
    markers = case.trial.markers
    position = markers.position.reshape(markers.time.size, -1)
    if markers.time.size < 4:
        return
    both = ~np.isnan(position[1:]) & ~np.isnan(position[:-1])
    still = (~both | (position[1:] == position[:-1])).all(axis=1) & both.any(axis=1)
    longest = max((stop - first for first, stop in true_runs(still)), default=0)
    # A subject who stands still is no fault of the recording; a slow camera repeats most frames, each for a moment.
    if not longest or (still.mean() > 0.5 and longest > STILL_FOR * markers.rate):
        return
    repeated = np.concatenate([[False], still])
    flat = at_times(markers.time[~repeated], position[~repeated], markers.time)
    where = Where(markers.path, times=time_spans(repeated, markers.time))
    repair = replace_fields(markers=replace(markers, position=flat.reshape(markers.position.shape)))
    yield finding("frames_repeated", "error", {"count": still.sum(), "reach": REACH}, where, repair)


def skips(position: Array) -> tuple[Indices, Array]:
    """Frames (k,) after which all points (T, M, D) [m] jump together, how many times as far as before and after.

    Compared with both neighbors: a frame beside copies of itself has a step of zero beside it.
    """
    step = in_blocks(lambda a, b: np.linalg.norm(b - a, axis=-1), position[:-1], position[1:])

    def skipping(before: Array, step: Array, after: Array) -> tuple[Array, Array]:
        around = 0.5 * (before + after)
        moving = np.minimum(before, after) > 0.5 * SLOWEST_STEP
        moving &= around > SLOWEST_STEP
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(moving, step / around, np.nan)
        enough = moving.sum(axis=1) >= 5
        most = np.maximum(moving.sum(axis=1), 1)
        return ratio, np.where(enough, np.nansum(ratio > SKIP, axis=1) / most, 0.0)

    ratio, share = in_blocks(skipping, step[:-2], step[1:-1], step[2:])
    at = np.flatnonzero(share > SKIPPING_SHARE) + 1
    return at, np.nanmedian(ratio[at - 1], axis=1)


def even_order(position: Array, at: Indices) -> Indices | None:
    """Return the order (T,) of rows in which points (T, M, D) go on evenly, None where they do so in no other order.

    at: last row (k,) before each jump. The next piece between jumps, forward or backward, is the one of the first
    `WITHIN` left that begins nearest to where the last two rows lead.
    """
    pieces = np.split(np.arange(len(position)), at + 1)
    order, rest = pieces[0], pieces[1:]
    while rest and len(order) > 1:
        due = 2.0 * position[order[-1]] - position[order[-2]]
        first = position[[piece[end] for piece in rest[:WITHIN] for end in (0, -1)]]
        far = np.nan_to_num(median_of_known(np.linalg.norm(first - due, axis=-1).T), nan=np.inf)
        nearest, backward = divmod(int(far.argmin()), 2)
        order = np.concatenate([order, rest.pop(nearest)[:: -1 if backward else 1]])
    changed = len(order) == len(position) and bool(np.any(np.diff(order) != 1))
    return order if changed and not skips(position[order])[0].size else None


@check_at(Stage.LOST_FRAMES)
def lost_frames(case: Case) -> Iterator[Finding]:
    """Find instants at which all markers jump together: frames were lost and the time column does not show it."""
    markers = case.trial.markers
    if markers.time.size < 8:
        return
    at, ratio = skips(markers.position)
    if (order := even_order(markers.position, at)) is not None:
        moved = order != np.arange(len(order))
        where = Where(markers.path, times=time_spans(moved, markers.time))
        sorted_rows = replace(markers, position=markers.position[order])
        values = {"rows": moved.sum()}
        yield finding("frames_skipped.order", "error", values, where, replace_fields(markers=sorted_rows))
        return
    # Single frames may get lost; if jumps occur all the time, the clock is at fault.
    if not at.size or at.size > MOST_SKIPS:
        return
    lost = [max(1, round(times) - 1) for times in ratio.tolist()]
    time = markers.time.copy()
    for k, count in zip(at, lost, strict=True):
        time[k + 1 :] += count / markers.rate
    values = {"points": "markers", "ratio": ratio[0], "lost": count_of(sum(lost), "frame")}
    where = Where(markers.path, times=tuple((float(markers.time[k]), float(markers.time[k + 1])) for k in at))
    few = sum(lost) < LONGEST_LOSS_S * markers.rate
    repair = replace_fields(markers=even(replace(markers, time=time))) if few else None
    # Frames lost before the time range shift the whole range against the forces.
    anywhere = bool(markers.time[at[0]] < case.trial.time_range[1])
    name = "frames_skipped" if few else "frames_skipped.far"
    yield finding(name, "error", values, where, repair, anywhere=anywhere)


@check_at(Stage.UNITS)
def sampling_rates(case: Case) -> Iterator[Finding]:
    """Find sampling rates that are too low for the motion of a subject."""
    recorded: list[Markers | PlateForce] = [case.trial.markers, *case.trial.forces[:1]]
    for what, of in zip(("markers", "forces"), recorded, strict=False):
        if round(of.rate) < LOWEST_RATE_HZ:  # as a camera of 49.95 Hz is called
            values = {"recording": what, "rate": of.rate, "needed": LOWEST_RATE_HZ}
            in_milliseconds = LOWEST_RATE_HZ / 1000.0 <= of.rate < SLOWEST_HZ
            code = "low_rate.milliseconds" if in_milliseconds else "low_rate"
            yield finding(code, error_if(in_milliseconds), values, Where(of.path))


@check_at(Stage.PLATE_POSITION)
def durations(case: Case) -> Iterator[Finding]:
    """Find markers or forces that begin or end before the others do and leave a part of the time range without."""
    # A cut file is reported with the file.
    if not case.trial.forces or case.found("truncated"):
        return
    walk, plate, (start, end) = case.trial.markers.time, case.trial.forces[0].time, case.trial.time_range
    for what, (one, other) in {"begin": (walk[0], plate[0]), "end": (walk[-1], plate[-1])}.items():
        first, last = sorted((float(one), float(other)))
        near = last > start - LONGEST_DIFFERENCE if what == "begin" else first < end + LONGEST_DIFFERENCE
        if near and last - first > LONGEST_DIFFERENCE:
            where = Where(case.trial.markers.path, times=((first, last),))
            values = {"happen": what, "markers": one, "forces": other}
            yield finding("durations_differ", "warning", values, where)
            return


STANDS, LEFT, BORNE = 0.05, 0.05, 0.5
"""Way of heel and toe in which nobody steps [m]: 0.3 m and more in sound steps, up to 0.01 m in standing trials; shares
of the body weight below and above which a plate is left and bears the body."""


@check_at(Stage.UNITS_OF_POINTS)
def standing_while_plates_step(case: Case) -> Iterator[Finding]:
    """Find the standing trial in place of the motion: every plate is left and loaded, but no foot moves."""
    weight, markers = case.trial.subject.mass * STANDARD_GRAVITY, case.trial.markers
    feet = [landmark(case.trial, f"{part}_{side}", markers) for part in ("heel", "toe") for side in SIDES]
    if not weight > 0.0 or any(point is None or np.isnan(point).all() for point in feet):
        return
    ways = np.ptp(np.nanquantile(np.array(feet), [0.02, 0.98], axis=1), axis=0)
    forces = [np.linalg.norm(plate.force, axis=1) / weight for plate in case.trial.forces]
    shares = [np.nanquantile(force, [0.05, 0.95]) for force in forces if np.isfinite(force).any()]
    way = float(np.linalg.norm(ways, axis=1).max())
    if shares and way < STANDS and all(low < LEFT and high > BORNE for low, high in shares):
        values, where = {"way": way, "share": np.max(shares), "limit": STANDS}, Where(markers.path)
        # forces of another trial say nothing about this motion
        yield finding("another_trial.standing", "error", values, where, replace_fields(forces=()))


@check_at(Stage.UNITS)
def missing_points(case: Case) -> Iterator[Finding]:
    """Find plates with long gaps that are not loaded elsewhere: they measure no contact of their foot."""
    for plate in case.trial.forces:
        gaps = [gap for gap in plate.gaps if not gap.filled]
        if gaps and np.abs(plate.force[:, 2]).max() < LEFT * case.trial.subject.mass * STANDARD_GRAVITY:
            values = {"where": gaps[0].where, "count": len(gaps)}
            yield finding("plate_channel.missing", "warning", values, on_plate(plate), side=plate.side)


# factor on a number read as meters or newtons -> its true unit.
SIZES = {1000.0: "a thousand times", 100.0: "a hundred times", 10.0: "ten times"}
POWERS = {factor: f"{size} too small" for factor, size in SIZES.items()} | {
    1.0 / factor: f"{size} too large" for factor, size in SIZES.items()
}
# Inches under a header of meters, centimeters or millimeters; feet under one of centimeters count as inches.
INCHES = {0.0254 * per_meter: "in inches" for per_meter in (1.0, 100.0, 1000.0)}
LENGTH_FAULTS = POWERS | INCHES | {0.3048: "in feet", 304.8: "in feet"}
FORCES = {
    1000.0: "kilonewtons",
    STANDARD_GRAVITY: "kilograms-force",
    4.44822: "pounds-force",
    0.001: "millinewtons",
}
# Distances from the feet to the shoulders and to the front spines as shares of stature, upright.
SHARE, SHARE_OF_SPINES = 0.82, 0.54
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
# Median distance of points from the middle of a foot up to which they are in its unit [m].
UNDER = 0.3
# Usual way of the center of pressure across a foot [m].
WAY_ACROSS = 0.015
# Free moment that is never reached [N m]; and free moment over vertical force that no foot has in a tenth of the frames
# of its contacts [m]: 28 sound plates have 0.002 to 0.011. Friction under a whole sole that spins reaches 0.065, a
# quarter of its length.
LARGEST_MOMENT, FARTHEST_ARM = 500.0, 0.04


@check_at(Stage.UNITS)
def marker_units(case: Case) -> Iterator[Finding]:
    """Compare the distance from feet to shoulders, or else to the front spines, with the stature, for both recordings.

    Bent legs bring the spines near, as some faults by inches or feet would: to near spines, only powers of ten count.
    """
    stated = case.trial.subject.stature
    stature = stated if stated > 0.0 else USUAL_STATURE
    for role in ROLES:
        markers: Markers | None = getattr(case.trial, role)
        if markers is None:
            continue
        feet = [landmark(case.trial, f"{part}_{side}", markers) for part in ("heel", "toe") for side in SIDES]
        tops = [shoulder(case.trial, side, markers) for side in SIDES]
        spines = [landmark(case.trial, f"asis_{side}", markers) for side in SIDES]
        low, high, hips = (
            [point for point in of_part if point is not None] for of_part in (feet, tops, spines)
        )
        if not low or not (high or hips):
            continue
        # Independent of the axes.
        apart = np.linalg.norm(np.mean(high or hips, axis=0) - np.mean(low, axis=0), axis=-1)
        height = float(np.median(apart[np.isfinite(apart)])) if np.isfinite(apart).any() else 0.0
        top, usual = ("shoulders", SHARE * stature) if high else ("front spines", SHARE_OF_SPINES * stature)
        surely = stated > 0.0 and (high or height > usual)
        faults, band = (LENGTH_FAULTS, LENGTH_BAND) if surely else (POWERS, BAND_OF_ANYBODY)
        factor = unit_factor(height / usual, faults, band) if height > 0.0 else None
        if factor is not None:
            unit = LENGTH_FAULTS[factor]
            values = {"top": top, "height": height, "stature": stature, "usual": usual, "unit": unit}
            repair = replace_fields(**{role: replace(markers, position=markers.position * factor)})
            code = "marker_units" if stated > 0.0 else "marker_units.anybody"
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
    ratio, mass = peak / (PEAK * weight), case.trial.subject.mass
    units = FORCES | {mass: "newtons per kilogram", weight: "body weights"}
    units |= {0.01 * weight: "percent of the weight"}
    if not peak > 0.0 or (factor := unit_factor(ratio, units, FORCE_BAND)) is None:
        return
    scaled = [replace(plate, force=plate.force * factor, moment=plate.moment * factor) for plate in plates]
    likely = [size for size in units if FORCE_BAND[0] <= ratio * size <= FORCE_BAND[1]]
    unit, factors = " or ".join(units[k] for k in likely), " or ".join(f"{k:.6g}" for k in likely)
    values = {"peak": peak, "mass": mass, "usual": PEAK * weight, "unit": unit, "factor": factors}
    yield finding("force_units", "error", values, Where(plates[0].path), replace_fields(forces=tuple(scaled)))


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


def _scaled_axes(ways: Array, usual: float, factor: float, feet: Collection[FootTrack]) -> tuple[Array, bool]:
    """Return the factors (2,) to meters of points that go some ways (2,) under feet, and whether of one axis alone.

    Points go as far along the feet as is `usual`, and hardly across them.
    """
    ahead = [np.nanmedian((foot.toe - foot.heel)[:, :2], axis=0) for foot in feet]
    share = np.mean([np.abs(unit_or_zero(way)) for way in ahead], axis=0) if ahead else np.full(2, np.nan)
    expected = np.where(share == share.max(), usual, share * TRACK + WAY_ACROSS)
    tried = [
        np.full(2, factor),
        *(np.where(axis, unit, 1.0) for unit in POINTS for axis in np.eye(2, dtype=bool)),
    ]
    off = [float(np.abs(np.log(ways * scale / expected)).sum()) for scale in tried]
    best = int(np.nanargmin(off)) if np.isfinite(off).all() else 0
    return tried[best], best > 0


@check_at(Stage.UNITS_OF_POINTS)
def point_and_moment_units(case: Case) -> Iterator[Finding]:
    """Compare points of force and free moments with the size of a foot."""
    feet = feet_of(case.trial.markers, case.trial.mapping).values()
    for index, plate in enumerate(case.trial.forces):
        # Points of a small force are quotients of small numbers, and a drifting zero is a small force throughout.
        least = max(case.trial.unloaded_below, LOADED * plate.force[:, 2].max(initial=0.0))
        loaded = plate.force[:, 2] > least
        if loaded.sum() < 5:
            continue
        spread, usual, factor = unit_of_points(plate.time, plate.point[:, :2], loaded, feet)
        apart = [foot.from_middle(plate.point[loaded], plate.time[loaded]) for foot in feet]
        # points of which half pass under a foot are in its unit, however far the others stray
        strays = all(np.median(np.nan_to_num(away, nan=np.inf)) > UNDER for away in apart)
        if factor is not None and strays:
            ways = [unit_of_points(plate.time, path, loaded, feet)[0] for path in plate.point.T[:2, :, None]]
            scale, alone = _scaled_axes(np.array(ways), usual, factor, feet)
            along = int(scale.argmin())
            factor = float(scale[along])
            values = {"spread": spread, "usual": usual, "unit": POINTS[factor], "factor": factor}
            values |= {"axis": _axis_name(case, np.eye(3)[along])[1], "other": ways[1 - along]}
            repair = change_plate(index, point=plate.point * [*scale, 1.0 if alone else factor])
            yield finding(f"point_units{'.axis' * alone}", "error", values, on_plate(plate), repair)
        moment = float(np.quantile(np.abs(plate.moment[loaded]), 0.9))
        if moment > LARGEST_MOMENT:
            repair = change_plate(index, moment=plate.moment * 0.001)
            yield finding("moment_units", "error", {"moment": moment}, on_plate(plate), repair)
            continue
        arm = float(np.quantile(np.abs(plate.moment[loaded, 2]) / plate.force[loaded, 2], 0.9))
        if arm > FARTHEST_ARM:
            values = {"moment": moment, "arm": arm, "limit": FARTHEST_ARM}
            yield finding("free_moment.large", "warning", values, on_plate(plate))


# The direction from feet to shoulders, or of the mean force, must have this cosine with an axis to count as along it.
ALONG = 0.8
# Cosine with the forward axis below which a subject faces another axis, and change of direction [rad] below which a
# subject faces one axis in the whole recording.
FORWARD, TURNING = 0.5, 0.8
# Displacement against the facing direction from which a pelvis goes backward [m].
BACKWARDS = 0.3


def _rotation(case: Case) -> Array:
    laboratory = case.recorded.laboratory
    return global_from_laboratory(laboratory.forward, laboratory.up)


def _axis_name(case: Case, direction: Array, rotation: Array | None = None) -> str:
    """Return the name of the file axis nearest to a global direction (3,); `rotation`: the axes of another file."""
    in_file = (_rotation(case) if rotation is None else rotation).T @ direction
    return max(FILE_AXES, key=lambda name: float(axis_vector(name) @ in_file))


@check_at(Stage.VERTICAL_AXIS)
def vertical_axis(case: Case) -> Iterator[Finding]:
    """Find the axis from feet to shoulders where it differs from the stated upward axis."""
    unstated = "up" in case.unknown
    up = upward(case.trial, case.trial.markers, by_pelvis=unstated)
    if up is None or up[2] > ALONG or np.abs(up).max() < ALONG:
        return
    name, laboratory = _axis_name(case, up), case.recorded.laboratory
    forward = _forward_axis(case, case.trial.markers, up, laboratory.forward, name)
    # Forces along the stated upward axis show that only the markers were exported with other axes.
    total = np.sum([plate.force.sum(axis=0) for plate in case.trial.forces], axis=0)
    in_all_files = not (case.trial.forces and total[2] > ALONG * float(np.linalg.norm(total)))
    rotation = global_from_laboratory(forward, name) @ _rotation(case).T
    if name[1] == laboratory.up[1]:
        # Forces are read as upward in any axes: their points lie under the feet in axes of both.
        alone = replace(case, recorded=rotate_recordings(rotation, None)(case.recorded))
        off, then = (sum(away(one, p, p.point) for p in case.trial.forces) for one in (case, alone))
        in_all_files = off <= then
    axes = f'up = "{name}"' + (f' and forward = "{forward}"' if forward != laboratory.forward else "")
    change = {("laboratory", "up"): name, ("laboratory", "forward"): forward} if in_all_files else None
    values = {"axis": name, "axes": axes, "up": laboratory.up}
    where = case.key("laboratory", "up") if in_all_files else Where(case.trial.markers.path)
    repair = rotate_recordings(rotation, {"forward": forward, "up": name} if in_all_files else None)
    # A missing statement is already an error.
    text = "unstated" if unstated else "all_files" if in_all_files else "markers"
    yield finding(f"up_axis.{text}", "note" if unstated else "error", values, where, repair, change=change)


def _forward_axis(
    case: Case, markers: Markers, up: Array, stated: str, up_name: str, rotation: Array | None = None
) -> str:
    """Return the name of the file axis that the pelvis faces, or the stated axis if the pelvis is not seen.

    The forward direction is perpendicular to `up` (3,), which lies along the axis `up_name`.
    """
    faced = ahead(case.trial, markers)
    across = np.full(3, np.nan) if faced is None else square_to(up, mean_of_known(faced))
    forward = _axis_name(case, across, rotation) if np.isfinite(across).all() else stated
    return forward if forward[1] != up_name[1] else next(axis for axis in FILE_AXES if axis[1] != up_name[1])


@check_at(Stage.FORWARD_AXIS)
def forward_axis(case: Case) -> Iterator[Finding]:
    """Compare the facing direction of the subject with the forward axis and with the motion of the pelvis: warnings.

    Joint angles, moments and muscle forces do not depend on it, and subjects walk along a walkway in both directions.
    """
    faced = facing(case.trial)
    if faced is None:
        return
    angle = np.unwrap(np.arctan2(faced[:, 1], faced[:, 0]))
    mean = float(angle.mean())
    faces_another = np.ptp(angle) < TURNING and np.cos(mean) < FORWARD
    # where right and left are reversed, a body seems to face backward
    if faces_another and not sides_reversed(case.trial, case.trial.markers, faced):
        laboratory = case.recorded.laboratory
        name, up = _axis_name(case, np.array([np.cos(mean), np.sin(mean), 0.0])), laboratory.up
        rotation = global_from_laboratory(name, up) @ _rotation(case).T
        values, where = {"axis": name, "forward": laboratory.forward}, case.key("laboratory", "forward")
        repair = rotate_recordings(rotation, {"forward": name, "up": up})
        unstated = "forward" in case.unknown
        code, change = f"walking_direction{'.unstated' * unstated}", {("laboratory", "forward"): name}
        yield finding(code, "note" if unstated else "warning", values, where, repair, change=change)
    # Displacement of the pelvis in its facing direction, frame by frame.
    if (front := between(case.trial, "asis_r", "asis_l")) is not None:
        unit = unit_or_zero(faced)
        gone = float(np.sum(np.diff(front, axis=0) * unit[1:]))
        if gone < -BACKWARDS:
            where = Where(case.trial.markers.path)
            yield finding("walking_direction.backward", "warning", {"distance": -gone}, where)


@check_at(Stage.OTHER_VERTICAL_AXES)
def vertical_axis_when_standing(case: Case) -> Iterator[Finding]:
    """Find a standing trial whose subject is not upright; the facing direction is free."""
    static = case.trial.static
    up = None if static is None else upward(case.trial, static)
    if static is None or up is None or up[2] > ALONG or np.abs(up).max() < ALONG:
        return
    rotation, stated = _upright(up), standing_axes(case.recorded.laboratory)
    axes = global_from_laboratory(*stated)
    name = _axis_name(case, up, axes)
    forward = _forward_axis(case, static, up, stated[0], name, axes)
    repair = change_markers("static", lambda markers: markers.rotated(rotation))
    change = {("laboratory", "static_up"): name, ("laboratory", "static_forward"): forward}
    axes_of_both = f'static_up = "{name}" and static_forward = "{forward}"'
    values = {"axis": name, "stated": stated[1], "axes": axes_of_both}
    yield finding("up_axis.standing", "error", values, Where(static.path), repair, change=change)


def _upright(direction: Array) -> Array:
    """Return a rotation (3, 3) by quarter turns that brings the axis nearest to a direction (3,) upward."""
    up = max(FILE_AXES, key=lambda name: float(axis_vector(name) @ direction))
    return global_from_laboratory(next(axis for axis in FILE_AXES if axis[1] != up[1]), up)


# Share of the horizontal force, or of the free moment, on plates that carry too little for it, from 15 N and 2 N m on:
# plates of eleven sound recordings have up to 0.0004, plates that exchanged a channel 0.24 to 0.87. A moment needs at
# least so many times as much force [1/m].
PUSHED, AT_REST, LEAST = 0.1, 0.02, {"force": 15.0, "moment": 2.0}
CARRIES = 5.0


@check_at(Stage.POINTS)
def exchanged_channels(case: Case) -> Iterator[Finding]:
    """Find a channel that two plates exchanged: nothing pushes or turns a plate while nothing stands on it."""
    for (one, plate), (other, beside) in combinations(enumerate(case.trial.forces), 2):
        for role, least in LEAST.items() if len(plate.time) == len(beside.time) else ():
            both = np.nan_to_num([getattr(plate, role), getattr(beside, role)])
            tried = np.stack([both, *(np.where(axis, both[::-1], both) for axis in np.eye(3, dtype=bool))])
            if role == "force":
                size, load = np.linalg.norm(tried[..., :2], axis=-1), tried[..., 2]
            else:
                size = np.abs(tried[..., 2])
                load = CARRIES * np.nan_to_num([plate.force[:, 2], beside.force[:, 2]])
            alone = size > np.fmax(np.abs(load), least)
            share = (size * alone).sum(axis=(1, 2)) / size.sum(axis=(1, 2)).clip(least)
            right = int(share.argmin())
            if share[0] > PUSHED and share[right] < AT_REST:
                axis = _axis_name(case, np.eye(3)[right - 1])[1]
                values = {"foot": SIDE_NAMES[plate.side], "role": f"{role}s", "axis": axis, "share": share[0]}
                values |= {"limit": PUSHED, "part": "horizontal force" if role == "force" else "free moment"}
                repairs = (
                    change_plate(k, **{role: f}) for k, f in zip((one, other), tried[right], strict=True)
                )
                yield finding("plates_swapped.channel", "error", values, on_plate(plate), in_order(*repairs))
                break  # forces at rest move the moments, too


@check_at(Stage.OTHER_VERTICAL_AXES)
def vertical_axes_of_forces(case: Case) -> Iterator[Finding]:
    """Find plates that do not push up along the axis that the markers have up, while they bear more than noise."""
    for index, plate in enumerate(case.trial.forces):
        bears = np.linalg.norm(plate.force, axis=1) > touch(case.trial)
        total = plate.force[bears].sum(axis=0)
        size = float(np.linalg.norm(total))
        if plate.turned or size == 0.0 or total[2] > ALONG * size or np.abs(total).max() < ALONG * size:
            continue
        name = _axis_name(case, total)
        if total[2] < 0.0 and np.abs(total).argmax() == 2:
            repair = change_plate(index, force=-plate.force, moment=-plate.moment)
            yield finding("force_sign", "error", {"axis": name}, on_plate(plate), repair)
            continue
        # Upright, and headed such that its force acts nearest to the foot.
        quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        rotations = [np.linalg.matrix_power(quarter, k) @ _upright(total) for k in range(4)]
        distances = [
            away(case, replace(plate, force=plate.force @ rotation.T), plate.point @ rotation.T)
            for rotation in rotations
        ]
        repair = rotate_plate(index, rotations[int(np.argmin(distances))])
        up = case.recorded.laboratory.up
        yield finding("plate_axes.vertical", "error", {"axis": name, "up": up}, on_plate(plate), repair)


# Differences of the mass from the mass that the forces accelerate: a warning, and an error; and the least number of
# standard deviations of its error.
MASS, FAR_MASS, ERRORS = 0.06, 0.2, 2.0
# Differences where the plates measure only single supports: the pelvis alone shows the rise of the body, to 4 % in
# walking and 10 % in running.
ALONE, FAR_ALONE = 0.15, 0.25
# Difference of the two plates in single support, as a share: both carry the same body, whatever its mass. 15 sound
# recordings and 330 windows of them have at most 0.03.
UNLIKE = 0.06


@check_at(Stage.SUPPORT, needs=["plates"])
def body_mass(case: Case) -> Iterator[Finding]:
    """Compare the body mass with the mass that the forces accelerate and carry."""
    required, stated, place = law(case), case.trial.subject.mass, case.key("subject", "mass_kg")
    if not stated > 0.0:
        return
    if required is not None:
        if spans := time_spans(required.beside, required.time):
            yield finding("carried_beside", "warning", {}, Where(case.trial.forces[0].path, times=spans))
        fitting, error = carried_mass(case, required)
        off, limit = fitting / stated - 1.0, max(MASS, ERRORS * error / stated)
        if abs(off) >= limit and fitting > 0.0:
            amount = "too much" if off > 0 else "too little, and whether a rail or crutches carry the rest"
            change = {("subject", "mass_kg"): round(fitting, 1)}
            values = {"fitting": fitting, "given": stated, "off": off, "limit": limit, "amount": amount}
            yield finding("mass", error_if(abs(off) > FAR_MASS), values, place, change=change)
        return
    # Force on the plate of each foot in single support over the force that moves the body.
    shares = {side: float(np.median(part)) for side, part in support_shares(case.trial).items() if part}
    worst: Side = max(shares, key=lambda side: abs(shares[side] - 1.0), default="r")
    other: Side = "l" if worst == "r" else "r"
    if len(shares) == len(SIDES) and abs(shares[worst] / shares[other] - 1.0) > UNLIKE:
        name = SIDE_NAMES[other]
        values = {"share": shares[worst], "others": shares[other], "limit": UNLIKE, "other": name}
        (where, *_) = (on_plate(plate) for plate in case.trial.forces if plate.side == worst)
        yield finding("plate_scale.single_support", "warning", values, where)
        return
    for side, share in shares.items():
        if abs(share - 1.0) >= ALONE:
            change = {("subject", "mass_kg"): round(share * stated, 1)}
            more, name = "" if share > 1.0 else ", whether the whole foot stands on it", SIDE_NAMES[side]
            values = {"side": name, "share": share, "given": stated, "limit": ALONE, "more": more}
            grave, where = error_if(abs(share - 1.0) > FAR_ALONE), replace(place, plate=name)
            yield finding("mass.single_support", grave, values, where, change=change)


@check_at(Stage.SUPPORT)
def unusual_values(case: Case) -> Iterator[Finding]:
    """Find settings outside of their usual range, which may grow with a power of the stature."""
    subject, settings = case.trial.subject, case.trial.settings
    for table, key, least, most, power, *part in TABLES["usual_values"]:
        low, high = least * subject.stature**power, most * subject.stature**power
        stated = getattr(getattr(settings, table), key)
        many = stated if isinstance(stated, Mapping) else {} if part else {"": stated}
        for of, value in many.items():
            size = value.get(*part) if part else value
            if is_number(size) and (size < low or size > high):
                name = " ".join(word for word in (key, of, *part) if word)
                at = f" at stature_m = {subject.stature:g}" if power else ""
                values = {"name": name, "size": size, "low": low, "high": high, "at": at}
                heavy = key == "shoe_mass_kg"  # the heaviest boots weigh twice the usual limit
                repair = replace_fields(subject=replace(subject, shoe_mass=high)) if heavy else None
                grave = error_if(heavy and size > 2.0 * high)
                yield finding("unusual_value", grave, values, case.key(table, key), repair)


@check_at(Stage.ANALYSIS)
def emg_channels(case: Case) -> Iterator[Finding]:
    """Find channels that are flat, dead, full of spikes, clipped or full of hum, or of another kind than stated."""
    emg = case.trial.emg
    if emg is None:
        return
    for name, state in zip(emg.names, emg.states, strict=True):
        where = Where(emg.path, field=f"channel {name}")
        if state.flat:
            yield finding("emg_flat", "warning", {"name": name}, case.key(CHANNELS, name))
        if state.dead:
            values = {"name": name, "ratio": state.modulation, "least": DEAD}
            yield finding("emg_dead", "warning", values, case.key(CHANNELS, name))
        if state.spikes:
            text = "emg_spike.many" if state.spiky else "emg_spike.few"
            values = {"name": name, "count": len(state.spikes), "first": state.spikes[0][0]}
            yield finding(text, "warning", values, where)
        if state.clipped >= CLIPPED:
            text = "emg_clipped.lost" if state.lost_peak else "emg_clipped.some"
            values = {"name": name, "share": state.clipped, "first": state.clipped_at}
            yield finding(text, "warning", values, where)
        if state.no_hum:
            values = {"name": name, "share": state.hum, "mains": state.mains}
            yield finding("emg_hum", "warning", values, where)
    for kind in kind_notes(emg, case.settings.emg.processed):
        if kind.envelopes == emg.options.processed:
            continue
        shares = {"fast": kind.fast, "negative": kind.negative, "frequency": EMG_HZ}
        place = case.key("emg", "processed")
        text = "emg_kind.envelopes" if kind.envelopes else "emg_kind.raw"
        yield finding(text, "warning", {"names": ", ".join(kind.channels), **shares}, place)
