"""Times of the samples: holes, copies, lost frames, rates and durations."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Indices, at_times, time_spans
from musclesolve._util.long_arrays import in_blocks
from musclesolve._util.message_text import count_of
from musclesolve.checking.case import REACH, Case
from musclesolve.checking.repair import ROLES, change_plate, in_order, replace_fields
from musclesolve.checking.stages import Stage, check_at
from musclesolve.recording.data import Markers
from musclesolve.recording.trial.recording_checks import UNEVEN, off_grid
from musclesolve.results.finding import Finding, Severity, Where, finding

# Ratio to the usual step from which a step is a hole, not an uneven clock.
HOLE = 1.6
# Ratio by which all markers move farther than in the frames around.
SKIP, SKIPPING_SHARE, MOST_SKIPS = 1.6, 0.8, 8
SLOWEST_STEP = 0.002
"""Displacement per frame below which a marker does not show lost frames [m]."""
LOWEST_RATE_HZ = 50.0
SLOWEST_HZ = 5.0
"""Rate below which no camera and no plate records [Hz]."""
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
            restamped = replace(markers, time=steady)
            repaired = even(markers) if uneven.code == "frames_missing" else restamped
            yield replace(uneven, repair=replace_fields(**{role: repaired}))
    files = {plate.path: plate for plate in case.trial.forces}
    for path, plate in files.items():
        if uneven := _uneven(plate.time, path):
            even_time = np.linspace(plate.time[0], plate.time[-1], plate.time.size)
            repairs = []
            for index, other in enumerate(case.trial.forces):
                if other.path == path:
                    names = ("force", "point", "moment")
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
    # A subject who stands still is no fault of the recording.
    if not still.any() or still.mean() > 0.5:
        return
    repeated = np.concatenate([[False], still])
    flat = at_times(markers.time[~repeated], position[~repeated], markers.time)
    values = {"count": still.sum(), "reach": REACH}
    where = Where(markers.path, times=time_spans(repeated, markers.time))
    repair = replace_fields(markers=replace(markers, position=flat.reshape(markers.position.shape)))
    yield finding("frames_repeated", "error", values, where, repair)


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


@check_at(Stage.LOST_FRAMES)
def lost_frames(case: Case) -> Iterator[Finding]:
    """Find instants at which all markers jump together: frames were lost and the time column does not show it."""
    markers = case.trial.markers
    if markers.time.size < 8:
        return
    at, ratio = skips(markers.position)
    # Single frames may get lost; if jumps occur all the time, the clock is at fault.
    if not at.size or at.size > MOST_SKIPS:
        return
    lost = [max(1, round(times) - 1) for times in ratio.tolist()]
    time = markers.time.copy()
    for k, count in zip(at, lost, strict=True):
        time[k + 1 :] += count / markers.rate
    frames = count_of(sum(lost), "frame")
    values = {"points": "markers", "ratio": ratio[0], "lost": frames}
    where = Where(markers.path, times=tuple((float(markers.time[k]), float(markers.time[k + 1])) for k in at))
    repair = replace_fields(markers=even(replace(markers, time=time)))
    # Frames lost before the time range shift the whole range against the forces.
    anywhere = bool(markers.time[at[0]] < case.trial.time_range[1])
    yield finding("frames_skipped", "error", values, where, repair, anywhere=anywhere)


@check_at(Stage.UNITS)
def sampling_rates(case: Case) -> Iterator[Finding]:
    """Find sampling rates that are too low for the motion of a subject."""
    recorded = {"markers": (case.trial.markers.rate, case.trial.markers.path)}
    for plate in case.trial.forces[:1]:
        recorded["forces"] = (plate.rate, plate.path)
    for what, (rate, path) in recorded.items():
        if round(rate) < LOWEST_RATE_HZ:  # as a camera of 49.95 Hz is called
            values = {"recording": what, "rate": rate, "needed": LOWEST_RATE_HZ}
            in_milliseconds = LOWEST_RATE_HZ / 1000.0 <= rate < SLOWEST_HZ
            severity: Severity = "error" if in_milliseconds else "warning"
            code = "low_rate.milliseconds" if in_milliseconds else "low_rate"
            yield finding(code, severity, values, Where(path))


@check_at(Stage.PLATE_POSITION)
def durations(case: Case) -> Iterator[Finding]:
    """Find markers or forces that begin or end before the others do and leave a part of the time range without."""
    # A cut file is reported with the file.
    if not case.trial.forces or case.found("truncated"):
        return
    walk, plate, (start, end) = case.trial.markers.time, case.trial.forces[0].time, case.trial.time_range
    ends = (
        ("begin", walk[0], plate[0], max(walk[0], plate[0]) > start - LONGEST_DIFFERENCE),
        ("end", walk[-1], plate[-1], min(walk[-1], plate[-1]) < end + LONGEST_DIFFERENCE),
    )
    for what, one, other, near in ends:
        if near and abs(one - other) > LONGEST_DIFFERENCE:
            where = Where(case.trial.markers.path, times=((float(min(one, other)), float(max(one, other))),))
            values = {"happen": what, "markers": one, "forces": other}
            yield finding("durations_differ", "warning", values, where)
            return
