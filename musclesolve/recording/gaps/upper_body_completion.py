"""Markers of trunk, arms and head that are lost for longer than gaps are filled: completed from their neighbors.

The loads of the legs do not depend on them, so their loss is a warning, not a refusal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import true_runs
from musclesolve.recording.data import Gap, Trial
from musclesolve.recording.gaps.gap_filling import missing, near_frames
from musclesolve.recording.gaps.spline_and_rigid_fill import GapFiller
from musclesolve.recording.markers.body_regions import groups, upper_markers


@dataclass(frozen=True)
class Completed:
    """A marker that was completed, when it was lost first and last [s], and a note on it."""

    marker: str
    first: float
    last: float
    sentence: str


def complete_upper_body(trial: Trial) -> tuple[Trial, tuple[Completed, ...]]:
    """Return the trial without gaps in markers above the hips, and what was done.

    A marker that is seen before or after follows the three or more markers that move with it most alike. Where there
    are none, or it is never seen, its landmarks are left out of the mapping, and the model completes that part of the
    body.
    """
    frames, near, done = trial.frames(), near_frames(trial), []
    together = groups(trial)
    for name in upper_markers(trial):
        lost = missing(trial.markers[name])
        if not lost[near].any():
            continue
        carried = _carried(trial, name, together, near)
        inside = np.flatnonzero(lost[frames]) + frames.start
        if carried is not None:
            trial, how = carried
        elif inside.size:
            trial, landmarks = _without(trial, name)
            how = f"{' and '.join(landmarks)} left out, its segments completed rigidly with their neighbor"
        if inside.size:
            first, last = trial.markers.time[inside[[0, -1]]].tolist()
            when = f"missing from {first:g} to {last:g} s ({inside.size} frames)"
            when = "never seen" if lost.all() else when
            done.append(Completed(name, first, last, f"'{name}' is {when}: {how}."))
    return trial, tuple(done)


def _carried(
    trial: Trial, name: str, together: dict[str, tuple[str, ...]], near: slice
) -> tuple[Trial, str] | None:
    """Return the trial with every gap of a marker near the time range filled by its neighbors, and how well."""
    filler, gaps = GapFiller(trial.markers, together), []
    for start, stop in true_runs(missing(trial.markers[name])):
        if start < near.stop and stop > near.start:
            gaps.append(filler.fill_by_neighbors((name, max(start, near.start), min(stop, near.stop))))
    if not all(gap.filled for gap in gaps):
        return None
    return replace(trial, markers=filler.markers), _how(gaps)


def _how(gaps: Sequence[Gap]) -> str:
    worst = max(gaps, key=lambda gap: -np.inf if np.isnan(gap.error) else gap.error)
    within = "" if np.isnan(worst.error) else f", to within about {1000 * worst.error:.0f} mm"
    return f"completed from {' and '.join(dict.fromkeys(gap.account for gap in gaps))}{within}"


def _without(trial: Trial, name: str) -> tuple[Trial, list[str]]:
    """Return the trial without the landmarks that a marker shows, or carries, and their names."""
    carried = {marker for marker, cluster in trial.carried.items() if name in trial.clusters[cluster]}
    above = set(upper_markers(trial)) | set(trial.carried)
    gone = [
        landmark
        for landmark, weights in trial.mapping.items()
        if (name in weights or carried & set(weights)) and set(weights) <= above
    ]
    mapping = {landmark: weights for landmark, weights in trial.mapping.items() if landmark not in gone}
    return replace(trial, mapping=mapping), gone
