"""Gap filling, before any other step: short gaps by splines, longer ones by the rigid body.

A gap is filled only if its error is known: gaps of the same form are filled at other places of the same marker, and the
expected error is the one that 19 of 20 of them do not exceed. Seen samples do not change.

Markers of trunk, arms and head with longer gaps are completed from their neighbors: the loads of the legs do not depend
on them, so that their loss is a warning, not a refusal.

A marker that jumps away for a few frames was taken from a reflection, a ghost: these frames become gaps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask, grouped, true_runs
from musclesolve._util.messages import count_of
from musclesolve._util.splines import spline_through
from musclesolve.errors import InputError
from musclesolve.laboratory.markers.gaps.rigid_registration import register
from musclesolve.laboratory.markers.landmarks import groups, upper_markers
from musclesolve.laboratory.recording.data import Gap, Trial
from musclesolve.laboratory.recording.trial_settings import GapSettings
from musclesolve.tables.sampled import Markers
from musclesolve.tables.settings import settings_of

SPLINE_S, RIGID_S = (settings_of(GapSettings)[key].default for key in ("spline_s", "rigid_s"))
REACH_S = 0.5
"""Reach of the filter beyond the time range [s]: gaps farther away have no effect."""
_MOST_SENTENCES = 3
WORST = 0.02
"""Largest expected error of a gap that is filled [m]; 19 of 20 gaps stay below their expected error."""
DISAGREEMENT = 0.03
"""Allowed disagreement of the two sides of a gap [m], or twice the disagreement where no sample is missing: a marker
that returns under the name of another one disagrees by more.
"""
BESIDE = 3
"""Samples on either side that a spline uses. On a recorded walk 3, 5 and 10 differ by a tenth of the error."""
_FEWEST_DONORS = 3
_MOST_FRAMES = 200
_TOO_FEW = "fewer than three markers that move with it are seen throughout"
Place = tuple[str, int, int]
"""A gap: marker, first missing frame and one past the last."""
Frames = NDArray[np.intp]
LIKELY = 0.95
"""Share of the gaps whose error stays below the stated one."""
_FEWEST_PLACES, _MOST_PLACES = 20, 200
_MOST_TRIED = 5000
"""Places that are looked at: the time of a gap does not grow with the recording."""


@dataclass(frozen=True)
class GapInterpolant:
    """The L missing samples as weighted sums of n seen ones; linear, so that its error can be tested at any place.

    Frames of the seen samples (n,), counted from the first missing one, their weights (L, n), and the weights (n,) of
    the disagreement of the two sides of the gap; all zero if there is one side.
    """

    nodes: Frames
    weights: Array
    mismatch: Array

    def fill(self, samples: Array, first: int) -> Array:
        """Return the samples (L, 3) of a gap that begins in frame ``first`` of (T, 3)."""
        return np.asarray(self.weights @ samples[first + self.nodes])

    def disagreement(self, samples: Array, first: int) -> float:
        """Return the disagreement of the two sides of the gap [m]."""
        return float(np.linalg.norm(self.mismatch @ samples[first + self.nodes]))


def spline_interpolant(nodes: Frames, length: int) -> GapInterpolant:
    """Return the cubic spline through samples on both sides of a gap.

    The disagreement of the sides is the step across the gap minus the part by the mean of the velocities before and
    after it: p_L - p_-1 - (v_before + v_after) / 2 (L + 1).
    """
    weights = spline_through(nodes.astype(float), np.eye(nodes.size))(np.arange(length))
    before, after = nodes[nodes < 0], nodes[nodes >= length]
    mismatch = np.zeros(nodes.size)
    mismatch[before.size - 1], mismatch[before.size] = -1.0, 1.0
    across = 0.5 * float(after[0] - before[-1])
    for side, offset in ((before, 0), (after, before.size)):
        duration = float(side[-1] - side[0])
        mismatch[offset] += across / duration
        mismatch[offset + side.size - 1] -= across / duration
    return GapInterpolant(nodes, weights, mismatch)


def line_interpolant(length: int, before: bool, after: bool) -> GapInterpolant:
    """Return the straight line from the last sample before a gap to the first one after it; level if one is missing."""
    if not (before and after):
        node = -1 if before else length
        return GapInterpolant(np.array([node]), np.ones((length, 1)), np.zeros(1))
    after_it = np.arange(1, length + 1) / (length + 1)
    weights = np.stack([1.0 - after_it, after_it], axis=1)
    return GapInterpolant(np.array([-1, length]), weights, np.array([-1.0, 1.0]))


def expected_error(
    interpolant: GapInterpolant, samples: Array, path: Array, start: int
) -> tuple[float, float]:
    """Return the expected error of an interpolant, and the greatest disagreement of the two sides of a gap [m].

    Gaps of the same form are filled where no sample is missing. The error depends on the movement of the marker: it is
    smaller for a standing heel than for a swinging one. So only places are used at which the marker moves about as far
    as across this gap, which begins in frame `start`. The expected error is the root mean square distance over a gap
    that 19 of 20 gaps do not exceed; NaN without places for such gaps. `samples` (T, 3) are to be filled, `path` (T, 3)
    is the marker [m], both NaN where unknown.
    """
    length = len(interpolant.weights)
    needed = np.concatenate([interpolant.nodes, np.arange(length)])
    first = np.arange(max(-needed.min(), 0), len(samples) - max(needed.max(), 0))
    first = first[:: max(len(first) // _MOST_TRIED, 1)]
    missing = np.concatenate([[0], np.cumsum(~np.isfinite(samples).all(axis=1))])
    places = first[missing[first + needed.max() + 1] == missing[first + needed.min()]]
    if places.size == 0:
        return np.nan, np.nan
    count = min(places.size, _MOST_PLACES)
    spread = places[np.unique(np.linspace(0, places.size - 1, count).round().astype(int))]
    around = samples[spread[:, None] + interpolant.nodes]
    usual = np.linalg.norm(np.einsum("n,pnk->pk", interpolant.mismatch, around), axis=1).max()
    alike = spread
    if -1 in interpolant.nodes and length in interpolant.nodes:
        across, here = (
            np.linalg.norm(path[first + length] - path[np.subtract(first, 1)], axis=-1)
            for first in (places, start)
        )
        count = min(max(places.size // 3, _FEWEST_PLACES), _MOST_PLACES)
        alike = places[np.argsort(np.abs(across - here), kind="stable")[:count]]
    nodes, truth = samples[alike[:, None] + interpolant.nodes], samples[alike[:, None] + np.arange(length)]
    miss = np.einsum("ln,pnk->plk", interpolant.weights, nodes) - truth
    distance = np.sqrt(np.mean(np.sum(miss**2, axis=-1), axis=-1))
    return float(np.quantile(distance, LIKELY, method="higher")), float(usual)


def fill_trial(trial: Trial, settings: GapSettings) -> Trial:
    """Return the trial with the gaps of needed markers filled; the trial itself if there are no gaps."""
    near = near_frames(trial)
    lost = missing(trial.markers.position[near])
    names = [name for name in trial.used_markers if lost[:, trial.markers.names.index(name)].any()]
    if not names:
        return trial
    markers, gaps = fill_gaps(trial.markers, groups(trial), settings.spline_s, settings.rigid_s, names, near)
    return replace(trial, markers=markers, gaps=gaps, notes=(*trial.notes, *gap_notes(gaps)))


def near_frames(trial: Trial) -> slice:
    """Return the frames of the time range and of the reach of the filter before and after it."""
    frames, reach = trial.frames(), int(np.ceil(REACH_S * trial.markers.rate))
    return slice(max(frames.start - reach, 0), min(frames.stop + reach, trial.markers.time.size))


def fill_gaps(
    markers: Markers,
    together: Mapping[str, Sequence[str]],
    spline_s: float = SPLINE_S,
    rigid_s: float = RIGID_S,
    names: Sequence[str] | None = None,
    near: slice = slice(None),
) -> tuple[Markers, tuple[Gap, ...]]:
    """Fill the gaps of named markers (None: of all), as far as their expected error allows.

    Returns the markers, and all gaps in the order of markers and time. `together` are groups of markers that move as
    one body; `spline_s` and `rigid_s` are the longest gaps that a spline and the rigid body fill [s]; gaps outside of
    the frames `near` are ignored.
    """
    first, last, _ = near.indices(markers.time.size)
    places = [
        (name, start, stop)
        for name in (markers.names if names is None else names)
        for start, stop in true_runs(missing(markers[name]))
        if start < last and stop > first
    ]
    if not places:
        return markers, ()
    filler = GapFiller(markers, together)
    # First all short gaps: their markers then help to fill the longer gaps of others.
    gaps = {place: filler.fill_by_spline(place, spline_s) for place in places}
    for place, gap in gaps.items():
        if not gap.filled:
            gaps[place] = filler.fill_by_body(place, rigid_s, gap.account)
    return filler.markers, tuple(gaps.values())


def missing(position: Array) -> Mask:
    """Return a mask (...) of unknown positions (..., 3)."""
    return np.asarray(np.isnan(position).any(axis=-1))


def gap_notes(gaps: Sequence[Gap]) -> list[str]:
    """Return notes for the results: one for every marker, or one for all of many."""
    by_marker = grouped((gap.marker, gap) for gap in gaps if gap.filled)
    notes = []
    for marker, filled in by_marker.items():
        worst, frames = max(filled, key=lambda gap: gap.error), sum(gap.frames for gap in filled)
        by = " and ".join(dict.fromkeys(gap.account for gap in filled))
        certain = f"{1000 * worst.error:.1f} mm"
        where = f"in {len(filled)} gaps"
        least = f", the least certain {_times_text(worst)} to within about {certain}."
        if len(filled) == 1:
            where, least = _times_text(worst), f", to within about {certain}."
        notes.append(f"'{marker}' was not seen {where} ({frames} frames): filled by {by}{least}")
    if len(notes) <= _MOST_SENTENCES:
        return notes
    filled = [gap for gaps_of_one in by_marker.values() for gap in gaps_of_one]
    longest, worst = max(filled, key=lambda gap: gap.frames), max(filled, key=lambda gap: gap.error)
    return [
        f"Gaps of {len(by_marker)} markers were filled, {sum(gap.frames for gap in filled)} frames in all: the longest "
        f"belongs to '{longest.marker}' {_times_text(longest)}, by {longest.account}; the least certain to "
        f"'{worst.marker}' {_times_text(worst)}, to within about {1000 * worst.error:.1f} mm."
    ]


def _times_text(gap: Gap) -> str:
    return f"at {gap.first:g} s" if gap.frames == 1 else f"from {gap.first:g} to {gap.last:g} s"


class GapFiller:
    """Fills the gaps of markers; a place is a marker, the first and one past the last frame of a gap."""

    def __init__(self, markers: Markers, together: Mapping[str, Sequence[str]]) -> None:
        self.markers = replace(markers, position=markers.position.copy())
        self._recorded = markers
        self._together = together
        self._carried: dict[tuple[str, ...], Array | None] = {}

    def fill_by_spline(self, place: Place, longest_s: float) -> Gap:
        """Fill the gap by a cubic spline through the nearest samples on both sides."""
        (name, start, stop), longest = place, self._frames(longest_s)
        if stop - start > longest:
            return self._gap(place, "")
        path = self._recorded[name]
        seen = np.flatnonzero(np.isfinite(path).all(axis=1))
        nodes = np.concatenate([seen[seen < start][-BESIDE:], seen[seen >= stop][:BESIDE]]) - start
        if nodes.size < 2 * BESIDE or nodes[-1] - nodes[0] > 2 * longest + 2 * BESIDE:
            return self._gap(place, "too little of it is seen around the gap for a spline")
        return self._fill(place, spline_interpolant(nodes, stop - start), np.zeros_like(path), "a spline")

    def fill_by_body(self, place: Place, longest_s: float, before: str) -> Gap:
        """Fill the gap by the body whose markers predict this one best; `before`: why the spline did not fill it."""
        _, start, stop = place
        if stop - start > self._frames(longest_s):
            return self._gap(place, before or f"gaps of more than {longest_s:g} s are not filled")
        return self.fill_by_neighbors(place, before, well=True)

    def fill_by_neighbors(self, place: Place, before: str = "", well: bool = False) -> Gap:
        """Fill a gap of any length by the body whose markers predict this one best; `well`: see `_fill`."""
        why, best = ", and ".join(filter(None, (before, _TOO_FEW))), self._best_body(place)
        return self._fill(place, *best, well=well) if best else self._gap(place, why)

    def _best_body(self, place: Place) -> tuple[GapInterpolant, Array, str] | None:
        """Return the interpolant, the path (T, 3) predicted by the best body, and the name of this body.

        A body predicts a marker by three or more others that are seen throughout the gap and at its ends.
        """
        name, start, stop = place
        path = self._recorded[name]
        ends = [frame for frame in (start - 1, stop) if 0 <= frame < len(path)]
        ends = [frame for frame in ends if np.isfinite(path[frame]).all()]
        interpolant = line_interpolant(stop - start, start - 1 in ends, stop in ends)
        best, least = None, np.nan
        for group, members in self._together.items() if ends else ():
            if name not in members:
                continue
            donors = tuple(
                other
                for other in members
                if other != name
                and other in self.markers
                and np.isfinite(self.markers[other][[*range(start, stop), *ends]]).all()
            )
            if len(donors) < _FEWEST_DONORS:
                continue
            if (name, *donors) not in self._carried:
                self._carried[name, *donors] = self._carry((name, *donors))
            if (predicted := self._carried[name, *donors]) is not None:
                error, _ = expected_error(interpolant, path - predicted, path, start)
                if best is None or not least <= error:
                    best, least = (interpolant, predicted, group), error
        return best

    def _carry(self, names: tuple[str, ...]) -> Array | None:
        """Return the path (T, 3) of the first marker predicted by the other names as a rigid body, NaN where one is
        unseen.

        The shape of the body is the mean of its frames, each rotated back into the middle frame by the other markers.
        None if these lie on a line, or are never seen together with the first one.
        """
        path = np.stack([self.markers[name] for name in names], axis=1)
        seen, whole = (np.isfinite(some).all(axis=(1, 2)) for some in (path[:, 1:], path))
        if not whole.any():
            return None
        some = path[whole][:: -(-int(whole.sum()) // _MOST_FRAMES)]
        try:
            poses = register(some[len(some) // 2, 1:], some[:, 1:])
            back = np.einsum("tji,tnj->tni", poses.rotation, some - poses.translation[:, None])
            shape = back.mean(axis=0)
            poses = register(shape[1:], path[seen, 1:])
        except InputError:
            # On a line: the rotation about it is unknown.
            return None
        predicted = np.full((len(path), 3), np.nan)
        predicted[seen] = poses.point(shape[0])
        return predicted

    def _fill(
        self, place: Place, interpolant: GapInterpolant, base: Array, by: str, well: bool = True
    ) -> Gap:
        """Fill the gap with base (T, 3) plus the interpolated difference of the path from it.

        `well`: do not fill if the marker returns beside its path, or the expected error is large or unknown.
        """
        name, start, stop = place
        path = self._recorded[name]
        samples = path - base
        error, usual = expected_error(interpolant, samples, path, start)
        apart = interpolant.disagreement(samples, start)
        if well and np.isnan(error):
            return self._gap(place, f"the marker is not seen long enough to test how well {by} fills it")
        if well and apart > max(DISAGREEMENT, 2.0 * usual):
            why = f"it comes back {1000 * apart:.0f} mm beside its path: under another marker's name?"
            return self._gap(place, why)
        if well and error > WORST:
            return self._gap(place, f"{by} would fill it only to {1000 * error:.0f} mm")
        filled = base[start:stop] + interpolant.fill(samples, start)
        self.markers.position[start:stop, self.markers.names.index(name)] = filled
        return replace(self._gap(place, by), filled=True, error=error)

    def _gap(self, place: Place, account: str) -> Gap:
        (name, start, stop), time = place, self.markers.time
        return Gap(name, float(time[start]), float(time[stop - 1]), stop - start, False, account)

    def _frames(self, longest_s: float) -> int:
        # A hundredth of a frame: 0.1 s at 100 Hz are ten frames, for any rounding of the division.
        return int(longest_s * self.markers.rate + 0.01)


@dataclass(frozen=True)
class Completed:
    """A completed marker, the first and last time at which it was lost [s], and a note on it."""

    marker: str
    first: float
    last: float
    sentence: str


def completed_trial(trial: Trial, settings: GapSettings) -> tuple[Trial, tuple[Completed, ...]]:
    """Return a trial with filled gaps and completed markers above the hips, and the completed markers.

    In its gap, such a marker follows the three or more markers that move most rigidly with it. Without such markers, or
    if it is never seen, its landmarks are removed from the mapping, and the model completes this part of the body.
    """
    trial = fill_trial(trial, settings)
    frames, near, done = trial.frames(), near_frames(trial), []
    together = groups(trial)
    for name in upper_markers(trial):
        lost = missing(trial.markers[name])
        if not lost[near].any():
            continue
        filler = GapFiller(trial.markers, together)
        gaps = [
            filler.fill_by_neighbors((name, max(start, near.start), min(stop, near.stop)))
            for start, stop in true_runs(lost)
            if start < near.stop and stop > near.start
        ]
        inside = np.flatnonzero(lost[frames]) + frames.start
        if all(gap.filled for gap in gaps):
            trial = replace(trial, markers=filler.markers)
            errors = [gap.error for gap in gaps if not np.isnan(gap.error)]
            within = f", to within about {1000 * max(errors):.0f} mm" if errors else ""
            how = f"completed from {' and '.join(dict.fromkeys(gap.account for gap in gaps))}{within}"
        elif inside.size:
            carried = {marker for marker, cluster in trial.carried.items() if name in trial.clusters[cluster]}
            above = set(upper_markers(trial)) | set(trial.carried)
            omitted = [
                landmark
                for landmark, weights in trial.mapping.items()
                if (name in weights or carried & set(weights)) and set(weights) <= above
            ]
            mapping = {
                landmark: weights for landmark, weights in trial.mapping.items() if landmark not in omitted
            }
            trial = replace(trial, mapping=mapping)
            how = f"{' and '.join(omitted)} left out, its segments completed rigidly with their neighbor"
        if inside.size:
            first, last = trial.markers.time[inside[[0, -1]]].tolist()
            when = f"missing from {first:g} to {last:g} s ({inside.size} frames)"
            when = "never seen" if lost.all() else when
            done.append(Completed(name, first, last, f"'{name}' is {when}: {how}."))
    return trial, tuple(done)


# No marker on a subject changes its velocity faster than this between frames [m], [m/s^2]: a hundred times gravity.
SMALLEST_JUMP, GREATEST_ACCELERATION = 0.1, 1000.0
BESIDE_JUMP = 1
"""Number of frames on either side of a jump that are flagged although they were measured."""
BACK = 0.5
"""A marker has returned if its paths before and after disagree by less than this share of the distance of the jump."""


Ghost = tuple[str, Mask, float]
"""A marker for which a reflection was mistaken, the frames (T,), and how far it was from the filled gap [m]."""


def largest_jump(rate_hz: float) -> float:
    """Return the largest possible change [m] of the displacement from frame to frame."""
    return max(SMALLEST_JUMP, GREATEST_ACCELERATION / rate_hz**2)


def jumps(path: Array, rate_hz: float) -> Mask:
    """Return a mask (T, ...) of frames between displacements that differ by more than is possible for a subject.

    Positions are (T, ..., 3) [m]; gaps (NaN), the first and the last frame are not jumps.
    """
    jumping = np.zeros(path.shape[:-1], bool)
    for part in np.ndindex(path.shape[1:-1]):
        bend = np.diff(path[:, *part], n=2, axis=0)
        jumping[1:-1, *part] = np.linalg.norm(bend, axis=-1) > largest_jump(rate_hz)
    return jumping


def without_ghosts(trial: Trial, settings: GapSettings) -> tuple[Trial, list[Ghost]]:
    """Return a trial with gaps where markers jump away and back within the time range, and a list of these ghosts.

    A marker has returned (`BACK`) if the gap in place of its jumps can be filled, and the path then has no jump. Other
    jumps stay: labels that are exchanged from then on, or a marker that is lost.

    Args:
        trial: the recording.
        settings: a reflection lasts no longer than the longest gap that a spline fills.
    """
    inside = np.zeros(trial.markers.time.size, bool)
    inside[trial.frames()] = True
    longest, places = round(settings.spline_s * trial.markers.rate), list[Place]()
    trial, lone = _without_lone_ends(trial, inside)
    for name in trial.used_markers:
        jumping = np.flatnonzero(jumps(trial.markers[name], trial.markers.rate))
        for group in np.split(jumping, np.flatnonzero(np.diff(jumping) > longest) + 1):
            if group.size and inside[group].any() and group[-1] - group[0] <= longest + 2 * BESIDE_JUMP:
                places.append((name, int(group[0]), int(group[-1]) + 1))
    if not places:
        return trial, lone
    filled, ghosts = fill_trial(_removed(trial, places), settings).markers, list[Ghost]()
    removed = []
    for place in places:
        name, start, stop = place
        around = filled[name][max(start - BESIDE, 0) : stop + BESIDE]
        at_end = len(around) < stop - start + 2 * BESIDE
        if at_end or missing(around).any() or jumps(around, filled.rate).any():
            continue
        away = np.linalg.norm(trial.markers[name][start:stop] - filled[name][start:stop], axis=1).max()
        seen = np.r_[-BESIDE:0, stop - start : stop - start + BESIDE]
        aside = spline_interpolant(seen, stop - start).disagreement(around, BESIDE)
        if aside < BACK * away:
            frames = np.zeros(inside.size, bool)
            frames[start:stop] = True
            ghosts.append((name, frames, float(away)))
            removed.append(place)
    return (_removed(trial, removed), lone + ghosts) if ghosts else (trial, lone)


def _without_lone_ends(trial: Trial, inside: Mask) -> tuple[Trial, list[Ghost]]:
    """Return a trial without the first or last sample of a seen stretch where it alone jumps, and these ghosts.

    inside: frames (T,) of the time range. A marker that comes back from a gap is often taken for another one at first.
    """
    places, ghosts = list[Place](), list[Ghost]()
    for name in trial.used_markers:
        path = trial.markers[name]
        jumping = jumps(path, trial.markers.rate)
        for start, stop in true_runs(~missing(path)):
            if stop - start < 2 * BESIDE:
                continue
            for end, step in (start, 1), (stop - 1, -1):
                if inside[end] and jumping[end + step] and not jumping[end + 2 * step]:
                    off = path[end] - 2.0 * path[end + step] + path[end + 2 * step]
                    frames = np.zeros(inside.size, bool)
                    frames[end] = True
                    places.append((name, end, end + 1))
                    ghosts.append((name, frames, float(np.linalg.norm(off))))
    return (_removed(trial, places), ghosts) if places else (trial, [])


def _removed(trial: Trial, places: list[Place]) -> Trial:
    position = trial.markers.position.copy()
    for name, start, stop in places:
        position[start:stop, trial.markers.names.index(name)] = np.nan
    return replace(trial, markers=replace(trial.markers, position=position))


def ghost_notes(trial: Trial, ghosts: list[Ghost]) -> list[str]:
    """Return a sentence on each marker for which a reflection was mistaken."""
    notes = []
    for name, of_marker in grouped((name, (frames, size)) for name, frames, size in ghosts).items():
        times = [f"{trial.markers.time[np.argmax(frames)]:.3f} s" for frames, _ in of_marker]
        more = f" and {count_of(len(times) - 3, 'more time')}" if len(times) > 3 else ""
        size = 1000.0 * max(size for _, size in of_marker)
        notes.append(
            f"'{name}' is up to {size:.0f} mm off for a moment, at {', '.join(times[:3])}{more}: a reflection was "
            "taken for it, and these frames are gaps."
        )
    return notes
