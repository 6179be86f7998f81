"""Single markers: frozen, missing, leaping, merged with another one. What is found is taken as a gap from then on."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask, long_enough
from musclesolve.checking.case.case import Case, stretches
from musclesolve.checking.case.containment import attempt
from musclesolve.checking.markers.marker_distances import distances
from musclesolve.recording.gaps.marker_jumps import jumps, largest_jump
from musclesolve.recording.markers.body_regions import upper_markers
from musclesolve.recording.trial.trial_file import completed_trial, filled_trial

# A marker that stays exactly where it is for so many frames and so long [s], while its distances from its neighbours
# change so much [m], is frozen.
FROZEN_FRAMES, FROZEN_FOR, NEIGHBOURS_GO = 4, 0.03, 0.01
# A marker that was held leaps when it is seen again: by more than so many of the smallest steps of the file, which a
# resting marker does not.
HELD_STEPS = 2.5
# Jitter from frame to frame that is worth a word [m], and how many frames show it.
NOISY, FEWEST_FOR_NOISE = 0.0025, 20
# Two markers nearer than this [m] for so many frames are one.
MERGED, MERGED_FRAMES = 0.003, 3


def all_trajectories(case: Case) -> None:
    """Examine every marker that the analysis uses."""
    attempt(case, noise, frozen, gaps, merged, leaping, refill)


def _lose(case: Case, name: str, frames: Mask) -> None:
    position = case.trial.markers.position.copy()
    position[frames, case.trial.markers.names.index(name)] = np.nan
    case.mend_markers(position)


def _inside(case: Case) -> Mask:
    inside = np.zeros(case.trial.markers.time.size, bool)
    inside[case.trial.frames()] = True
    return inside


def frozen(case: Case) -> None:
    """Find markers that stand exactly still while the markers around them go elsewhere."""
    markers, pairs = case.trial.markers, distances(case.trial)
    length = None if pairs is None else pairs.measured(markers.position)
    shortest = max(FROZEN_FRAMES, 1 + round(FROZEN_FOR * markers.rate))
    for name in case.trial.used_markers:
        path = markers[name]
        still = long_enough(
            np.concatenate([[False], (np.diff(path, axis=0) == 0.0).all(axis=1)]), shortest - 1
        )
        stuck = np.zeros_like(still)
        own = None if pairs is None else pairs.of(markers.names.index(name))
        for start, end in stretches(still, np.arange(still.size)):
            first, last = int(start) - 1, int(end)
            if length is not None and own is not None and own.any():
                # Not how far the neighbours go: a foot turns about a toe that stands still.
                gone = np.abs(length[last, own] - length[first, own])
            else:
                gone = np.linalg.norm(markers.position[last] - markers.position[first], axis=-1)
            if np.isfinite(gone).any() and np.nanmedian(gone) > NEIGHBOURS_GO and _leaps_after(path, last):
                stuck[first : last + 1] = True
        if stuck.any():
            case.tell(
                "frozen",
                "error",
                f"'{name}' keeps exactly the same place for {stuck.sum()} frames while the markers around it move",
                "the capture software held the last place of a lost marker: delete these frames of the marker, and "
                "fill the gap",
                file=markers.path,
                markers=(name,),
                times=stretches(stuck, markers.time),
            )
            # The first of the equal frames was measured.
            _lose(case, name, stuck & np.roll(stuck, 1))


def _leaps_after(path: Array, last: int) -> bool:
    """Return whether a path (T, 3) goes on from a frame with more than the smallest step that its digits allow."""
    if last + 1 >= len(path) or np.isnan(path[last + 1]).any():
        return True
    steps = np.abs(np.diff(path, axis=0))
    smallest = np.nanmin(steps, where=steps > 1e-9, initial=np.inf)
    return bool(np.abs(path[last + 1] - path[last]).max() > HELD_STEPS * smallest)


def noise(case: Case) -> None:
    """Tell how much the noisiest markers jitter from frame to frame."""
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
        case.tell(
            "noise",
            "warning",
            f"{len(noisy)} of {len(jitter)} markers jitter by more than {1000 * NOISY:.1f} mm from frame to frame, "
            f"'{noisy[0]}' by {1000 * jitter[noisy[0]]:.1f} mm (root mean square of a coordinate); optical systems "
            "stay below 1 mm",
            "calibrate the cameras anew, or let the data choose the cut-off of the filter ([filter])",
            file=markers.path,
            markers=tuple(noisy[:5]),
        )


def merged(case: Case) -> None:
    """Find two markers in one place: one of them is a ghost."""
    names, markers = case.trial.used_markers, case.trial.markers
    position = np.stack([markers[name] for name in names], axis=1) if names else np.zeros((1, 0, 3))
    for k, name in enumerate(names[:-1]):
        apart = np.linalg.norm(position[:, k + 1 :] - position[:, k : k + 1], axis=-1)
        for other, near in zip(names[k + 1 :], (apart < MERGED).T, strict=True):
            together = long_enough(near, MERGED_FRAMES)
            if together.any():
                case.tell(
                    "markers_merged",
                    "error",
                    f"'{name}' and '{other}' are within {1000 * MERGED:.0f} mm of each other in {together.sum()} "
                    "frames: one of them is a ghost, or two labels were given to one marker",
                    "look up which of the two is real in the capture software, and delete the other one there",
                    file=markers.path,
                    markers=(name, other),
                    times=stretches(together, markers.time),
                )
                _lose(case, _ghost(case, name, other, together), together)


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


def gaps(case: Case) -> None:
    """Tell which gaps within the time range are filled, and how well, and which cannot be."""
    frozen_ones = {m for f in case.findings if f.code == "frozen" for m in f.where.markers}
    start, end = case.trial.time_range
    whole, completed = completed_trial(case.trial, case.content)
    above = upper_markers(case.trial)
    for gap in whole.gaps:
        if gap.marker in frozen_ones or gap.last < start or gap.first > end:
            continue
        if gap.marker in above and not gap.filled:
            continue
        span = f"'{gap.marker}' is missing for {gap.frames} frames"
        if gap.filled:
            case.tell(
                "gap_filled",
                "note",
                f"{span}: filled by {gap.account}, to within about {1000 * gap.error:.1f} mm",
                "keep it in mind when reading the results",
                file=case.trial.markers.path,
                markers=(gap.marker,),
                times=((gap.first, gap.last),),
            )
        else:
            case.tell(
                "gap",
                "error",
                f"{span}, which cannot be filled: {gap.account}",
                "fill the gap in the capture software, or choose a range without it ([time])",
                file=case.trial.markers.path,
                markers=(gap.marker,),
                times=((gap.first, gap.last),),
            )
    for marker in completed:
        if marker.marker not in frozen_ones:
            case.tell(
                "gap",
                "warning",
                marker.sentence,
                "fill the gap in the capture software; the moments of the legs do not depend on it",
                file=case.trial.markers.path,
                markers=(marker.marker,),
                times=((marker.first, marker.last),),
            )
    case.mend(markers=whole.markers, mapping=whole.mapping)


def refill(case: Case) -> None:
    """Fill the gaps that frozen, merged and leaping markers have left."""
    case.mend_markers(filled_trial(case.trial, case.content).markers.position)


def leaping(case: Case) -> None:
    """Find markers that leap within the time range."""
    markers, inside = case.trial.markers, _inside(case)
    limit = largest_jump(markers.rate)
    for name in case.trial.used_markers:
        frames = jumps(markers[name], markers.rate)
        if not frames.any():
            continue
        if (frames & inside).any():
            change = np.linalg.norm(np.diff(markers[name], n=2, axis=0), axis=1)
            size = float(np.nanmax(np.where(inside[1:-1], change, 0.0)))
            case.tell(
                "leap",
                "error",
                f"'{name}' leaps: one step differs from the next by {1000 * size:.0f} mm, on a moving person by less "
                f"than {1000 * limit:.0f} mm",
                "correct its label in the capture software, or delete these frames of the marker and fill the gap",
                file=markers.path,
                markers=(name,),
                times=stretches(frames & inside, markers.time),
            )
        _lose(case, name, frames)
