"""Single markers: held, missing, jumping, merged with another one; what is found is a gap for later checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, long_enough
from musclesolve.checking.case.case import Case, stretches
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.markers.marker_distances import distances
from musclesolve.checking.repair import remove_samples
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.gaps.marker_jumps import jumps as jump_frames
from musclesolve.recording.gaps.marker_jumps import largest_jump
from musclesolve.recording.markers.body_regions import upper_markers
from musclesolve.recording.trial.trial_file import completed_trial, filled_trial

# A marker that stays exactly where it is for so many frames and so long [s], while its distances from its neighbors
# change so much [m], is frozen.
FROZEN_FRAMES, FROZEN_FOR, NEIGHBOURS_GO = 4, 0.03, 0.01
# A marker that was held jumps when it is seen again: by more than so many of the smallest steps of the file, which a
# resting marker does not.
HELD_STEPS = 2.5
# Jitter from frame to frame that gives a warning [m], and how many frames show it.
NOISY, FEWEST_FOR_NOISE = 0.0025, 20
# Two markers nearer than this [m] for so many frames are one.
MERGED, MERGED_FRAMES = 0.003, 3


@asked_at(Stage.HELD_SAMPLES)
def held_samples(case: Case) -> Iterator[Finding]:
    """Find markers that stand exactly still while the markers around them go elsewhere."""
    markers, pairs = case.trial.markers, distances(case.trial)
    length = None if pairs is None else pairs.measured(markers.position)
    shortest = max(FROZEN_FRAMES, 1 + round(FROZEN_FOR * markers.rate))
    for name in case.trial.used_markers:
        path = markers[name]
        still = np.concatenate([[False], (np.diff(path, axis=0) == 0.0).all(axis=1)])
        held = np.zeros_like(still)
        own = None if pairs is None else pairs.of(markers.names.index(name))
        for start, end in stretches(long_enough(still, shortest - 1), np.arange(still.size)):
            first, last = int(start) - 1, int(end)
            if length is not None and own is not None and own.any():
                # Not how far the neighbors go: a foot rotates about a toe that stands still.
                gone = np.abs(length[last, own] - length[first, own])
            else:
                gone = np.linalg.norm(markers.position[last] - markers.position[first], axis=-1)
            if np.isfinite(gone).any() and np.nanmedian(gone) > NEIGHBOURS_GO and _jumps_after(path, last):
                held[first : last + 1] = True
        if held.any():
            # The first of the equal frames was measured.
            values = {"name": name, "count": held.sum()}
            where = Where(markers.path, markers=(name,), times=stretches(held, markers.time))
            repair = remove_samples(name, held & np.roll(held, 1))
            yield finding("frozen", "error", values, where, repair)


def _jumps_after(path: Array, last: int) -> bool:
    """Return whether a path (T, 3) goes on from a frame with more than the smallest step that its digits allow."""
    if last + 1 >= len(path) or np.isnan(path[last + 1]).any():
        return True
    steps = np.abs(np.diff(path, axis=0))
    smallest = np.nanmin(steps, where=steps > 1e-9, initial=np.inf)
    return bool(np.abs(path[last + 1] - path[last]).max() > HELD_STEPS * smallest)


@asked_at(Stage.HELD_SAMPLES)
def noise(case: Case) -> Iterator[Finding]:
    """Find markers that jitter from frame to frame."""
    markers = case.trial.markers
    if markers.time.size < FEWEST_FOR_NOISE:
        return
    third = np.abs(np.diff(markers.position, n=3, axis=0))
    seen: Mask = np.asarray(np.isfinite(third).any(axis=(0, 2)))
    # A third difference of white noise of standard deviation s has sqrt(1 + 9 + 9 + 1) s; motion adds little to it.
    jitter = {
        name: float(1.4826 * np.nanmedian(third[:, k]) / np.sqrt(20.0))
        for k, name in enumerate(markers.names)
        if seen[k] and name in case.trial.used_markers
    }
    noisy = sorted((name for name in jitter if jitter[name] > NOISY), key=lambda name: -jitter[name])
    if noisy:
        values = {
            "noisy": len(noisy),
            "count": len(jitter),
            "limit": NOISY,
            "worst": noisy[0],
            "jitter": jitter[noisy[0]],
        }
        yield finding("noise", "warning", values, Where(markers.path, markers=tuple(noisy[:5])))


@asked_at(Stage.MERGED_MARKERS)
def merged_markers(case: Case) -> Iterator[Finding]:
    """Find two markers in one place: one of them is a ghost."""
    names, markers = case.trial.used_markers, case.trial.markers
    position = np.stack([markers[name] for name in names], axis=1) if names else np.zeros((1, 0, 3))
    for k, name in enumerate(names[:-1]):
        apart = np.linalg.norm(position[:, k + 1 :] - position[:, k : k + 1], axis=-1)
        for other, near in zip(names[k + 1 :], (apart < MERGED).T, strict=True):
            together = long_enough(near, MERGED_FRAMES)
            if not together.any():
                continue
            values = {"one": name, "other": other, "limit": MERGED, "count": together.sum()}
            where = Where(markers.path, markers=(name, other), times=stretches(together, markers.time))
            repair = remove_samples(_ghost(case, name, other, together), together)
            found = finding("markers_merged", "error", values, where, repair)
            yield found
            # Which one is a ghost is decided without the ghosts that are known.
            case = case.repaired(found)


def _ghost(case: Case, one: str, other: str, frames: Mask) -> str:
    """Return which of two markers is farther from its usual place in its segment."""
    pairs = distances(case.trial)
    if pairs is None:
        return other
    error = np.abs(pairs.measured(case.trial.markers.position)[frames] - pairs.usual)
    names = case.trial.markers.names
    off = {
        name: float(np.nan_to_num(error[:, own]).mean())
        if (own := pairs.of(names.index(name))).any()
        else 0.0
        for name in (one, other)
    }
    return max(off, key=lambda name: off[name])


@asked_at(Stage.GAPS)
def gaps(case: Case) -> Iterator[Finding]:
    """Report which gaps within the time range are filled, and how well, and which cannot be."""
    held = {m for f in case.findings if f.code == "frozen" for m in f.where.markers}
    start, end = case.trial.time_range
    filled, completed = completed_trial(case.trial, case.content)
    above = upper_markers(case.trial)
    path = case.trial.markers.path
    for gap in filled.gaps:
        if gap.marker in held or gap.last < start or gap.first > end:
            continue
        if gap.marker in above and not gap.filled:
            continue
        where = Where(path, markers=(gap.marker,), times=((gap.first, gap.last),))
        values = {"name": gap.marker, "count": gap.frames, "account": gap.account, "error": gap.error}
        code = "gap_filled" if gap.filled else "gap"
        yield finding(code, "note" if gap.filled else "error", values, where)
    for marker in completed:
        if marker.marker not in held:
            where = Where(path, markers=(marker.marker,), times=((marker.first, marker.last),))
            yield finding("gap.completed", "warning", {"sentence": marker.sentence}, where)


def fill_and_complete(case: Case) -> Case:
    """Return the case with gaps filled and markers above the hips completed."""
    filled, _ = completed_trial(case.trial, case.content)
    return case.with_trial(replace(case.trial, markers=filled.markers, mapping=filled.mapping))


@asked_at(Stage.JUMPS)
def jumps(case: Case) -> Iterator[Finding]:
    """Find markers that jump within the time range; the samples are removed wherever they are."""
    markers, inside = case.trial.markers, np.zeros(case.trial.markers.time.size, bool)
    inside[case.trial.frames()] = True
    limit = largest_jump(markers.rate)
    for name in case.trial.used_markers:
        frames = jump_frames(markers[name], markers.rate)
        if not (frames & inside).any():
            continue
        change = np.linalg.norm(np.diff(markers[name], n=2, axis=0), axis=1)
        size = float(np.nanmax(np.where(inside[1:-1], change, 0.0)))
        values = {"name": name, "size": size, "limit": limit}
        where = Where(markers.path, markers=(name,), times=stretches(frames & inside, markers.time))
        yield finding("leap", "error", values, where)


def remove_and_fill_jumps(case: Case) -> Case:
    """Return the case without jumps, in and outside of the time range, and with the gaps filled that are left."""
    markers, recorded = case.trial.markers, case.recorded
    for name in case.trial.used_markers:
        frames = jump_frames(markers[name], markers.rate)
        if frames.any():
            recorded = remove_samples(name, frames)(recorded)
    filled = filled_trial(recorded.trial, case.content).markers
    return case.with_trial(replace(recorded.trial, markers=filled))
