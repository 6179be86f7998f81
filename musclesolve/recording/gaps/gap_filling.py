"""Gap filling, before any other step: short gaps by splines, longer ones by the rigid body.

A gap is filled only where its error is known: gaps of the same form are closed at other places of the same
marker, and what 19 of 20 of them keep to is the expected error. Samples that were seen stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.recording.data import Gap, Markers, Trial
from musclesolve.recording.gaps.spline_and_rigid_fill import GapFiller
from musclesolve.recording.markers.body_regions import groups

SPLINE_S, RIGID_S = 0.1, 0.5

REACH_S = 0.5
"""The filter looks so far beyond the time range [s]: gaps farther away do no harm."""

_MOST_SENTENCES = 3


@dataclass(frozen=True)
class Filled:
    """Markers with the gaps filled that could be, and every gap, in the order of markers and time."""

    markers: Markers
    gaps: tuple[Gap, ...]


def fill_trial(trial: Trial, spline_s: float = SPLINE_S, rigid_s: float = RIGID_S) -> Trial:
    """Return the trial with the gaps of needed markers filled; the trial itself where there are none.

    `spline_s` and `rigid_s` are the longest gaps that a spline and the rigid body fill [s].
    """
    near = near_frames(trial)
    lost = missing(trial.markers.position[near])
    names = [name for name in trial.used_markers if lost[:, trial.markers.names.index(name)].any()]
    if not names:
        return trial
    done = fill_gaps(trial.markers, groups(trial), spline_s, rigid_s, names, near)
    return replace(trial, markers=done.markers, gaps=done.gaps, notes=(*trial.notes, *gap_notes(done.gaps)))


def near_frames(trial: Trial) -> slice:
    """Return the frames of the time range, and those that the filter reaches into it from."""
    frames, reach = trial.frames(), int(np.ceil(REACH_S * trial.markers.rate))
    return slice(max(frames.start - reach, 0), min(frames.stop + reach, trial.markers.time.size))


def fill_gaps(
    markers: Markers,
    together: Mapping[str, Sequence[str]],
    spline_s: float = SPLINE_S,
    rigid_s: float = RIGID_S,
    names: Sequence[str] | None = None,
    near: slice = slice(None),
) -> Filled:
    """Fill the gaps of named markers (None: of all), as far as it can be done well.

    `together` are groups of markers that move as one body; `spline_s` and `rigid_s` are the longest gaps that a spline
    and the rigid body fill [s]; gaps outside of the frames `near` are ignored.
    """
    first, last, _ = near.indices(markers.time.size)
    places = [
        (name, start, stop)
        for name in (markers.names if names is None else names)
        for start, stop in true_runs(missing(markers[name]))
        if start < last and stop > first
    ]
    filler = GapFiller(markers, together)
    # First all short ones: those markers then help to fill the longer gaps of others.
    gaps = {place: filler.fill_by_spline(place, spline_s) for place in places}
    for place, gap in gaps.items():
        if not gap.filled:
            gaps[place] = filler.fill_by_body(place, rigid_s, gap.account)
    return Filled(filler.markers, tuple(gaps.values()))


def missing(position: Array) -> Mask:
    """Return where positions (..., 3) are not known."""
    return np.asarray(np.isnan(position).any(axis=-1))


def gap_notes(gaps: Sequence[Gap]) -> list[str]:
    """Return notes for the results: one for every marker, or one for all of many."""
    by_marker: dict[str, list[Gap]] = {}
    for gap in gaps:
        if gap.filled:
            by_marker.setdefault(gap.marker, []).append(gap)
    if len(by_marker) <= _MOST_SENTENCES:
        return [_sentence(marker, filled) for marker, filled in by_marker.items()]
    filled = [gap for gaps_of_one in by_marker.values() for gap in gaps_of_one]
    longest, worst = max(filled, key=lambda gap: gap.frames), max(filled, key=lambda gap: gap.error)
    return [
        f"Gaps of {len(by_marker)} markers were filled, {sum(gap.frames for gap in filled)} frames in all: the longest "
        f"is that of '{longest.marker}' {_when(longest)}, by {longest.account}; the least certain that of "
        f"'{worst.marker}' {_when(worst)}, to within about {1000 * worst.error:.1f} mm."
    ]


def _sentence(marker: str, gaps: list[Gap]) -> str:
    worst = max(gaps, key=lambda gap: gap.error)
    if len(gaps) == 1:
        return (
            f"'{marker}' was not seen {_when(worst)} ({worst.frames} frames): filled by {worst.account}, "
            f"to within about {1000 * worst.error:.1f} mm."
        )
    return (
        f"'{marker}' was not seen in {len(gaps)} gaps ({sum(gap.frames for gap in gaps)} frames): filled by "
        f"{' and '.join(dict.fromkeys(gap.account for gap in gaps))}, the least certain {_when(worst)} to within about "
        f"{1000 * worst.error:.1f} mm."
    )


def _when(gap: Gap) -> str:
    return f"at {gap.first:g} s" if gap.frames == 1 else f"from {gap.first:g} to {gap.last:g} s"
