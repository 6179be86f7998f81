"""Gap filling, before any other step: short gaps by splines, longer ones by the rigid body.

A gap is filled only where its error is known: gaps of the same form are closed at other places of the same
marker, and what 19 of 20 of them keep to is the expected error. Samples that were seen stay as they are.

Markers of trunk, arms and head that are lost for longer are completed from their neighbors: the loads of the legs do
not depend on them, so their loss is a warning, not a refusal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.errors import InputError
from musclesolve.recording.data import Gap, Markers, Trial
from musclesolve.recording.gaps.rigid_registration import register
from musclesolve.recording.gaps.spline_interpolant import (
    GapInterpolant,
    expected_error,
    line_interpolant,
    spline_interpolant,
)
from musclesolve.recording.markers.landmark_names import groups, upper_markers

SPLINE_S, RIGID_S = 0.1, 0.5
REACH_S = 0.5
"""The filter looks so far beyond the time range [s]: gaps farther away do no harm."""
_MOST_SENTENCES = 3
WORST = 0.02
"""A gap is not filled where the error to expect, which 19 of 20 stay below, is above this [m]."""
DISAGREEMENT = 0.03
"""The two sides of a gap may disagree by this [m], or by twice of what they do where nothing is missing: a marker that
comes back under another's name disagrees by more."""
BESIDE = 3
"""Samples on either side that a spline uses. On a recorded walk 3, 5 and 10 differ by a tenth of the error."""
_FEWEST_DONORS = 3
_MOST_FRAMES = 200
_TOO_FEW = "fewer than three markers that move with it are seen throughout"
Place = tuple[str, int, int]
"""A gap: marker, first missing frame and one past the last."""


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


class GapFiller:
    """Markers that are being filled."""

    def __init__(self, markers: Markers, together: Mapping[str, Sequence[str]]) -> None:
        self.markers = replace(markers, position=markers.position.copy())
        self._given = markers
        self._together = together
        self._carried: dict[tuple[str, ...], Array | None] = {}

    def fill_by_spline(self, place: Place, longest_s: float) -> Gap:
        """Fill the gap by a cubic spline through the nearest samples on both sides."""
        (name, start, stop), longest = place, _frames(longest_s, self.markers)
        if stop - start > longest:
            return self._unfilled(place, "")
        path = self._given[name]
        seen = np.flatnonzero(np.isfinite(path).all(axis=1))
        nodes = np.concatenate([seen[seen < start][-BESIDE:], seen[seen >= stop][:BESIDE]]) - start
        if nodes.size < 2 * BESIDE or nodes[-1] - nodes[0] > 2 * longest + 2 * BESIDE:
            return self._unfilled(place, "too little of it is seen around the gap for a spline")
        interpolant = spline_interpolant(nodes, stop - start)
        return self._fill_well(place, interpolant, path, np.zeros_like(path), "a spline")

    def fill_by_body(self, place: Place, longest_s: float, before: str) -> Gap:
        """Fill the gap by the body whose markers predict this one best; ``before`` is why the spline did not."""
        name, start, stop = place
        if stop - start > _frames(longest_s, self.markers):
            return self._unfilled(place, before or f"gaps of more than {longest_s:g} s are not filled")
        found = self._best_body(place)
        if found is None:
            return self._unfilled(place, f"{before}, and {_TOO_FEW}" if before else _TOO_FEW)
        interpolant, group, predicted = found
        return self._fill_well(place, interpolant, self._given[name] - predicted, predicted, group)

    def fill_by_neighbors(self, place: Place) -> Gap:
        """Fill a gap of any length by the body whose markers predict this one best, however well that is."""
        found = self._best_body(place)
        if found is None:
            return self._unfilled(place, _TOO_FEW)
        interpolant, group, predicted = found
        path = self._given[place[0]]
        error, _ = expected_error(interpolant, path - predicted, path, place[1])
        return self._fill(place, interpolant, path - predicted, predicted, (group, error))

    def _best_body(self, place: Place) -> tuple[GapInterpolant, str, Array] | None:
        """Return the interpolant, the body that predicts the marker best, and the predicted path (T, 3)."""
        name, start, stop = place
        path = self._given[name]
        ends = [frame for frame in (start - 1, stop) if 0 <= frame < self.markers.time.size]
        ends = [frame for frame in ends if np.isfinite(path[frame]).all()]
        interpolant = line_interpolant(stop - start, start - 1 in ends, stop in ends)
        best: tuple[float, str, Array] | None = None
        for group, members in self._together.items():
            predicted = self._predicted(name, members, range(start, stop), ends) if name in members else None
            if predicted is not None:
                error, _ = expected_error(interpolant, path - predicted, path, start)
                if best is None or not best[0] <= error:
                    best = (error, group, predicted)
        return None if best is None else (interpolant, *best[1:])

    def _fill_well(
        self, place: Place, interpolant: GapInterpolant, samples: Array, base: Array, by: str
    ) -> Gap:
        """Fill the gap with base + interpolant over the samples, unless it cannot be done well."""
        name, start, _ = place
        error, usual = expected_error(interpolant, samples, self._given[name], start)
        if np.isnan(error):
            return self._unfilled(place, f"the marker is not seen long enough to try how well {by} fills it")
        apart = interpolant.disagreement(samples, start)
        if apart > max(DISAGREEMENT, 2.0 * usual):
            why = f"it comes back {1000 * apart:.0f} mm beside its path: under another marker's name?"
            return self._unfilled(place, why)
        if error > WORST:
            return self._unfilled(place, f"{by} would fill it only to {1000 * error:.0f} mm")
        return self._fill(place, interpolant, samples, base, (by, error))

    def _fill(
        self, place: Place, interpolant: GapInterpolant, samples: Array, base: Array, how: tuple[str, float]
    ) -> Gap:
        """Write base + interpolant into the gap; `how` is by what it was filled and the error to expect [m]."""
        name, start, stop = place
        filled = base[start:stop] + interpolant.fill(samples, start)
        self.markers.position[start:stop, self.markers.names.index(name)] = filled
        return self._gap(place, True, *how)

    def _predicted(self, name: str, members: Sequence[str], gap: range, ends: Sequence[int]) -> Array | None:
        """Return the path of a marker that the other members predict, (T, 3), NaN where they are not all seen.

        None where they cannot: fewer than three are seen throughout the gap and at its ends, or they lie on a
        line, or are never seen together with the marker.
        """
        frames = [*gap, *ends]
        donors = tuple(
            other
            for other in members
            if other != name and other in self.markers and np.isfinite(self.markers[other][frames]).all()
        )
        if len(donors) < _FEWEST_DONORS or not ends:
            return None
        key = (name, *donors)
        if key not in self._carried:
            self._carried[key] = self._carry(key)
        return self._carried[key]

    def _carry(self, names: tuple[str, ...]) -> Array | None:
        """Return where the body of the other names carries the first one, (T, 3)."""
        path = np.stack([self.markers[name] for name in names], axis=1)
        seen = np.isfinite(path[:, 1:]).all(axis=(1, 2))
        whole = np.isfinite(path).all(axis=(1, 2))
        if not whole.any():
            return None
        try:
            shape = _shape(path[whole])
            poses = register(shape[1:], path[seen, 1:])
        except InputError:
            # On a line: the rotation about it is unknown.
            return None
        predicted = np.full((len(path), 3), np.nan)
        predicted[seen] = poses.point(shape[0])
        return predicted

    def _unfilled(self, place: Place, why: str) -> Gap:
        return self._gap(place, False, why, np.nan)

    def _gap(self, place: Place, filled: bool, account: str, error: float) -> Gap:
        (name, start, stop), time = place, self.markers.time
        return Gap(name, float(time[start]), float(time[stop - 1]), stop - start, filled, account, error)


def _shape(path: Array) -> Array:
    """Return the mean shape (n, 3) of a body from frames (T, n, 3), each rotated back into the middle one of them.

    The first point is the one to be carried: it takes no part in the registration.
    """
    some = path[:: -(-len(path) // _MOST_FRAMES)]
    poses = register(some[len(some) // 2, 1:], some[:, 1:])
    back = np.einsum("tji,tnj->tni", poses.rotation, some - poses.translation[:, None])
    return np.asarray(back.mean(axis=0))


def _frames(longest_s: float, markers: Markers) -> int:
    # A hundredth of a frame: 0.1 s at 100 Hz are ten frames, whatever the rounding of the division.
    return int(longest_s * markers.rate + 0.01)


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
    filler = GapFiller(trial.markers, together)
    gaps = [
        filler.fill_by_neighbors((name, max(start, near.start), min(stop, near.stop)))
        for start, stop in true_runs(missing(trial.markers[name]))
        if start < near.stop and stop > near.start
    ]
    if not all(gap.filled for gap in gaps):
        return None
    errors = [gap.error for gap in gaps if not np.isnan(gap.error)]
    within = f", to within about {1000 * max(errors):.0f} mm" if errors else ""
    how = f"completed from {' and '.join(dict.fromkeys(gap.account for gap in gaps))}{within}"
    return replace(trial, markers=filler.markers), how


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
