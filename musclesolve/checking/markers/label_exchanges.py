"""Markers that carry each other's label, throughout or for a while: they fit each other's place in the body better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask, long_enough
from musclesolve.checking.case.case import Case, stretches
from musclesolve.checking.case.containment import attempt
from musclesolve.checking.markers.anatomical_order import violations
from musclesolve.checking.markers.crossings import Pair, crossings, pieces
from musclesolve.checking.markers.left_right_labels import exchanged, partners
from musclesolve.checking.markers.marker_distances import Distances, distances, middle

# A marker off its place in the body by so much is looked at [m]; skin and bending toes move by half of that.
SUSPECT = 0.03
# In its right place a marker fits to within so much [m], and so much better.
FITS, BETTER = 0.02, 0.5
# An exchange makes the distances fit by so much on average at least [m]: the hind spines lie near each other.
LEAST_GAIN = 0.003
# Labels that are exchanged in more than this share of the frames are exchanged in the others.
MOST_FRAMES = 0.6
MOST_EXCHANGES = 12


def all_exchanges(case: Case) -> None:
    """Find exchanged labels: throughout the motion, against the standing trial; then for some frames."""
    attempt(case, _throughout, _for_a_while)


def _misfit(error: Array, pairs: Distances, marker: int) -> Array:
    """Return the median (...) over the pairs of a marker of how far their distance is off; zero where none is known."""
    own = np.abs(error[..., pairs.of(marker)])
    known = np.isfinite(own)
    counted: Mask = np.asarray(known.any(axis=-1))
    return np.where(counted, np.nanmedian(np.where(counted[..., None], own, 0.0), axis=-1), 0.0)


def _throughout(case: Case) -> None:
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

        other = _best_exchange(case, pairs, worst, error, error_after)
        if other is not None:
            _tell_throughout(case, pairs.names[worst], pairs.names[other], misfit[worst])
            tried = set()


def _best_exchange(
    case: Case,
    pairs: Distances,
    worst: int,
    error: Array,
    error_after: Callable[[Array], Array],
    frames: Mask | slice = slice(None),
) -> int | None:
    """Return the marker with which the worst one must be exchanged so that both fit, None where none does."""
    position, best = case.trial.markers.position[frames], None
    least = FITS
    known = set(pairs.markers.tolist())
    for other in range(len(pairs.names)):
        if other == worst:
            continue
        after = error_after(_swapped(position, worst, other))
        both = [m for m in (worst, other) if m in known]
        now = max(float(np.median(_misfit(after, pairs, m))) for m in both)
        before = sum(float(np.median(_misfit(error, pairs, m))) for m in both) / len(both)
        if now < least and now < BETTER * before:
            best, least = other, now
    return best


def _tell_throughout(case: Case, one: str, other: str, size: float) -> None:
    trial = case.trial
    mended = exchanged(trial.markers, one, other)
    # The recording in which the body comes out in order is the one that is right.
    walk_wrong = len(violations(trial, mended)) <= len(violations(trial, trial.markers))
    pair = partners(trial).get(one) == other
    source = trial.markers if walk_wrong or trial.static is None else trial.static
    case.tell(
        "pair_swapped" if pair else "labels_exchanged",
        "error",
        f"{one} and {other} carry each other's label: their distances from the markers of their segments differ by "
        f"{1000 * size:.0f} mm between motion and standing trial, and fit once they are exchanged",
        f"exchange the labels {one} and {other} in this file",
        file=source.path,
        markers=(one, other),
    )
    if source is trial.markers:
        case.mend(markers=mended)
    else:
        case.mend(static=exchanged(source, one, other))


def _for_a_while(case: Case) -> None:
    """Find exchanges whose edges are seen as crossed paths first; then those whose edges hide in gaps."""
    for pair, frames in crossings(case.trial.markers.position).items():
        _exchange_pieces(case, pair, frames)
    _between_gaps(case)


def _between_gaps(case: Case) -> None:
    tried: set[int] = set()
    for _ in range(MOST_EXCHANGES):
        pairs = distances(case.trial)
        if pairs is None:
            return
        error = pairs.measured(case.trial.markers.position) - pairs.usual
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

        other = _best_exchange(case, pairs, worst, error[frames], error_after, frames)
        if other is not None and _exchange_pieces(case, (worst, other), np.zeros(0, int)):
            tried = set()


def _exchange_pieces(case: Case, pair: Pair, crossed: NDArray[np.int_]) -> bool:
    """Tell and mend the stretches in which two markers fit better exchanged; return whether there are any.

    Labels change where the paths cross or where a marker is lost, nowhere else: a marker that is off its place
    between two frames in which it went on quietly carries its own label, and its neighbours may not.
    """
    pairs = distances(case.trial)
    if pairs is None:
        return False
    position = case.trial.markers.position
    own = pairs.of(pair[0]) | pairs.of(pair[1])
    now, then = _off(pairs, position, own), _off(pairs, _swapped(position, *pair), own)
    wrong: Mask = np.zeros(len(position), bool)
    parts = pieces(position, pair, crossed)
    for part in parts:
        wrong |= part & bool(_mean(then[part]) < BETTER * _mean(now[part]) - LEAST_GAIN)
    if not wrong.any() or wrong.sum() > MOST_FRAMES * sum(part.sum() for part in parts):
        return False
    size = max(float(np.median(off[np.isfinite(off)])) for off in now[wrong].T if np.isfinite(off).any())
    # Where one of them is lost its label may already be on the other one.
    for frame in np.flatnonzero(np.isfinite(position[:, list(pair)]).all(axis=2).sum(axis=1) == 1):
        wrong[frame] = _mean(then[frame]) < BETTER * _mean(now[frame]) - LEAST_GAIN
    _tell_for_a_while(case, pairs, pair, wrong, size)
    return True


def _off(pairs: Distances, position: Array, own: Mask) -> Array:
    """Return how far some distances (T, p) are from the usual ones [m]."""
    return np.abs(pairs.measured(position) - pairs.usual)[:, own]


def _mean(off: Array) -> float:
    known = off[np.isfinite(off)]
    return float(known.mean()) if known.size else 0.0


def _swapped(position: Array, one: int, other: int) -> Array:
    """Return positions (T, n, 3) with two markers exchanged."""
    swapped = position.copy()
    swapped[:, one], swapped[:, other] = position[:, other], position[:, one]
    return swapped


def _tell_for_a_while(case: Case, pairs: Distances, pair: Pair, frames: Mask, size: float) -> None:
    one, other = (pairs.names[k] for k in pair)
    case.tell(
        "labels_exchanged",
        "error",
        f"{one} and {other} carry each other's label in {frames.sum()} frames: distances in their segments are off by "
        f"{1000 * size:.0f} mm there, and each fits the place of the other",
        f"exchange the labels {one} and {other} in these frames",
        file=case.trial.markers.path,
        markers=(one, other),
        times=stretches(frames, case.trial.markers.time),
    )
    case.mend(markers=exchanged(case.trial.markers, one, other, frames))
