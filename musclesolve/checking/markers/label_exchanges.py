"""Markers that carry each other's label, throughout or for a while: they fit each other's place in the body better.

Where labels are exchanged for a while, the paths of the two markers cross.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask, long_enough
from musclesolve.checking.case import Case, stretches
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.markers.landmark_order import partners, violations
from musclesolve.checking.markers.marker_distances import Distances, distances, middle
from musclesolve.checking.repair import Role, exchange_labels, exchanged, swapped
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.data import Trial

# A marker off its place in the body by so much is looked at [m]; skin and bending toes move by half of that.
SUSPECT = 0.03
# In its right place a marker fits to within so much [m], and so much better.
FITS, BETTER = 0.02, 0.5
# An exchange makes the distances fit by so much on average at least [m]: the hind spines lie near each other.
LEAST_GAIN = 0.003
# Labels that are exchanged in more than this share of the frames are exchanged in the others.
MOST_FRAMES = 0.6
MOST_EXCHANGES = 12


def _misfit(error: Array, pairs: Distances, marker: int) -> Array:
    """Return the median (...) over the pairs of a marker of how far their distance is off; zero where none is known."""
    own = np.abs(error[..., pairs.of(marker)])
    known = np.isfinite(own)
    counted: Mask = np.asarray(known.any(axis=-1))
    return np.where(counted, np.nanmedian(np.where(counted[..., None], own, 0.0), axis=-1), 0.0)


@asked_at(Stage.LABELS_THROUGHOUT)
def labels_exchanged_throughout(case: Case) -> Iterator[Finding]:
    """Find labels that are exchanged throughout the motion, against the standing trial."""
    tried: set[int] = set()
    for _ in range(MOST_EXCHANGES):
        pairs = distances(case.trial)
        if pairs is None:
            return
        error = pairs.usual - pairs.standing
        misfit = {int(m): float(_misfit(error, pairs, m)) for m in pairs.markers if m not in tried}
        worst = max(misfit, key=lambda m: misfit[m], default=None)
        if worst is None or misfit[worst] < SUSPECT:
            return
        tried.add(worst)

        def error_after(position: Array, pairs: Distances = pairs) -> Array:
            return middle(pairs.measured(position)) - pairs.standing

        other = _best_exchange(case.trial.markers.position, pairs, worst, error, error_after)
        if other is not None:
            found = _throughout(case.trial, pairs.names[worst], pairs.names[other], misfit[worst])
            yield found
            case, tried = case.repaired(found), set()


def _best_exchange(
    position: Array, pairs: Distances, worst: int, error: Array, error_after: Callable[[Array], Array]
) -> int | None:
    """Return the marker with which the worst one must be exchanged so that both fit, None where none does."""
    best, least = None, FITS
    known = set(pairs.markers.tolist())
    for other in range(len(pairs.names)):
        if other == worst:
            continue
        after = error_after(swapped(position, worst, other))
        both = [m for m in (worst, other) if m in known]
        now = max(float(np.median(_misfit(after, pairs, m))) for m in both)
        before = sum(float(np.median(_misfit(error, pairs, m))) for m in both) / len(both)
        if now < least and now < BETTER * before:
            best, least = other, now
    return best


def _throughout(trial: Trial, one: str, other: str, size: float) -> Finding:
    # The recording in which the body comes out in order is the one that is right.
    after = violations(trial, exchanged(trial.markers, one, other))
    walk_wrong = trial.static is None or len(after) <= len(violations(trial, trial.markers))
    role: Role = "markers" if walk_wrong else "static"
    code = "pair_swapped" if partners(trial).get(one) == other else "labels_exchanged"
    values = {"one": one, "other": other, "size": size}
    where = Where(getattr(trial, role).path, markers=(one, other))
    repair = exchange_labels(one, other, role=role)
    return finding(f"{code}.throughout", "error", values, where, repair)


@asked_at(Stage.LABELS_AT_CROSSINGS)
def labels_exchanged_at_crossings(case: Case) -> Iterator[Finding]:
    """Find labels that are exchanged for a while, whose edges are seen as crossed paths."""
    for pair, frames in crossings(case.trial.markers.position).items():
        found = _for_a_while(case.trial, pair, frames)
        if found is not None:
            yield found
            case = case.repaired(found)


@asked_at(Stage.LABELS_BETWEEN_GAPS)
def labels_exchanged_between_gaps(case: Case) -> Iterator[Finding]:
    """Find labels that are exchanged for a while, whose edges hide in gaps."""
    tried: set[int] = set()
    for _ in range(MOST_EXCHANGES):
        pairs, position = distances(case.trial), case.trial.markers.position
        if pairs is None:
            return
        error = pairs.measured(position) - pairs.usual
        bad = {int(m): _misfit(error, pairs, m) > SUSPECT for m in pairs.markers if m not in tried}
        worst = max(bad, key=lambda m: bad[m].sum(), default=None)
        if worst is None or not bad[worst].any():
            return
        tried.add(worst)
        frames = long_enough(bad[worst], 2)
        if not frames.any() or frames.mean() > MOST_FRAMES:
            continue

        def error_after(position: Array, pairs: Distances = pairs) -> Array:
            return pairs.measured(position) - pairs.usual

        other = _best_exchange(position[frames], pairs, worst, error[frames], error_after)
        found = None if other is None else _for_a_while(case.trial, (worst, other), np.zeros(0, int))
        if found is not None:
            yield found
            case, tried = case.repaired(found), set()


def _for_a_while(trial: Trial, pair: Pair, crossed: NDArray[np.int_]) -> Finding | None:
    """Return the stretches in which two markers fit better exchanged, None where there are none.

    Labels change where the paths cross or where a marker is lost, nowhere else: a marker that is off its place
    between two frames in which it moved on without a jump carries its own label, and its neighbors may not.
    """
    pairs = distances(trial)
    if pairs is None:
        return None
    position = trial.markers.position
    own = pairs.of(pair[0]) | pairs.of(pair[1])
    now, then = _off(pairs, position, own), _off(pairs, swapped(position, *pair), own)
    wrong: Mask = np.zeros(len(position), bool)
    parts = pieces(position, pair, crossed)
    for part in parts:
        wrong |= part & bool(_mean(then[part]) < BETTER * _mean(now[part]) - LEAST_GAIN)
    if not wrong.any() or wrong.sum() > MOST_FRAMES * sum(part.sum() for part in parts):
        return None
    size = max(float(np.median(off[np.isfinite(off)])) for off in now[wrong].T if np.isfinite(off).any())
    # Where one of them is lost its label may already be on the other one.
    for frame in np.flatnonzero(np.isfinite(position[:, list(pair)]).all(axis=2).sum(axis=1) == 1):
        wrong[frame] = _mean(then[frame]) < BETTER * _mean(now[frame]) - LEAST_GAIN
    one, other = (pairs.names[k] for k in pair)
    values = {"one": one, "other": other, "count": wrong.sum(), "size": size}
    where = Where(trial.markers.path, markers=(one, other), times=stretches(wrong, trial.markers.time))
    repair = exchange_labels(one, other, wrong)
    return finding("labels_exchanged.frames", "error", values, where, repair)


def _off(pairs: Distances, position: Array, own: Mask) -> Array:
    """Return how far some distances (T, p) are from the usual ones [m]."""
    return np.abs(pairs.measured(position) - pairs.usual)[:, own]


def _mean(off: Array) -> float:
    known = off[np.isfinite(off)]
    return float(known.mean()) if known.size else 0.0


Pair = tuple[int, int]

# Markers that go on less far than this from where they were expected have not changed places [m].
LEAST = 0.02
# Each is so much nearer to where the other one was expected.
NEARER = 0.4


def crossings(position: Array) -> dict[Pair, NDArray[np.int_]]:
    """Return pair of markers -> the frames at which they take each other's place; position (T, n, 3) [m], NaN in gaps.

    A marker is expected where the two frames before, or the two frames after, lead along a straight line; on a
    moving subject it is within centimetres of that.
    """
    found: dict[Pair, set[int]] = {}
    count = position.shape[0]
    for backwards in (False, True):
        path = position[::-1] if backwards else position
        for pair, frames in _forwards(path).items():
            # Frame k of the reversed path is the last one before the step in the path itself.
            found.setdefault(pair, set()).update(count - int(k) if backwards else int(k) for k in frames)
    return {pair: np.array(sorted(frames)) for pair, frames in found.items()}


def _forwards(path: Array) -> dict[Pair, NDArray[np.int_]]:
    """Return the frames (from the third on) at which two markers are where the other one was expected."""
    if path.shape[0] < 3:
        return {}
    expected, here = 2.0 * path[1:-1] - path[:-2], path[2:]
    off = np.nan_to_num(np.linalg.norm(here - expected, axis=-1))
    jumping = off > LEAST
    found = {}
    for one in np.flatnonzero(jumping.any(axis=0)):
        for other in np.flatnonzero((jumping & jumping[:, [one]]).any(axis=0)):
            if other <= one:
                continue
            at = np.flatnonzero(jumping[:, one] & jumping[:, other])
            crossed = np.maximum(
                np.linalg.norm(here[at, one] - expected[at, other], axis=-1),
                np.linalg.norm(here[at, other] - expected[at, one], axis=-1),
            )
            at = at[crossed < NEARER * np.minimum(off[at, one], off[at, other])]
            if at.size:
                found[int(one), int(other)] = at + 2
    return found


def pieces(position: Array, pair: Pair, crossed: NDArray[np.int_]) -> list[Mask]:
    """Return the frames (T,) of each stretch within which two markers cannot have changed places.

    A stretch ends where they take each other's place and where one of them is lost.
    """
    seen: Mask = np.asarray(np.isfinite(position[:, list(pair)]).all(axis=(1, 2)))
    number = np.cumsum(np.diff(seen.astype(int), prepend=int(seen[0])) != 0)
    number = number + np.searchsorted(crossed, np.arange(seen.size), side="right")
    return [(number == k) & seen for k in np.unique(number[seen])]
