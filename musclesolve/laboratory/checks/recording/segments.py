"""Segments: markers of one body keep their distances, in the motion and against the standing trial.

Two markers with each other's label fit once they are exchanged, throughout or for a while; where labels are exchanged
for a while, the paths of the two markers cross.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, median_of_known, time_spans
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.laboratory.checks.case import Case, Role, exchanged_labels, recording_check
from musclesolve.laboratory.checks.observed_body import once
from musclesolve.laboratory.checks.recording.landmarks import violations
from musclesolve.laboratory.checks.recording.sides import partners
from musclesolve.laboratory.recording.data import SIDES, Trial
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.tables.sampled import swapped

Pair = tuple[int, int]
SUSPECT = 0.03
"""Distance of a marker from its place in its body from which it is examined [m]; skin and bending toes move by half of
it."""
FITS, BETTER = 0.02, 0.5
"""Largest misfit of a marker in its right place [m], and least improvement by an exchange, as a ratio."""
LEAST_GAIN = 0.003
"""Least mean improvement of distances by an exchange [m]: the posterior iliac spines lie near each other."""
MOST_FRAMES = 0.6
"""Labels that are exchanged in more than this share of the frames are exchanged in the others."""
LEAST, NEARER = 0.02, 0.4
"""Distance from the expected place below which markers have not changed places [m], and ratio by which each marker is
nearer to the expected place of the other one."""


def bodies(trial: Trial) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return body -> markers of the motion on it, and whether the standing trial shows the same distances."""
    on_body: dict[str, tuple[list[str], bool]] = {}
    for name, entry in bundled_toml(__package__, "bodies.toml").items():
        sided = any("{side}" in landmark for landmark in entry["landmarks"])
        for side in SIDES if sided else ("",):
            weights = [trial.mapping.get(mark.format(side=side), {}) for mark in entry["landmarks"]]
            markers = [next(iter(single)) for single in weights if len(single) == 1]
            on_body[f"{name}_{side}" if sided else name] = markers, entry.get("standing", True)
    on_body |= {f"cluster {name}": (list(markers), True) for name, markers in trial.clusters.items()}
    in_motion = {
        name: (tuple(dict.fromkeys(marker for marker in markers if marker in trial.markers)), standing)
        for name, (markers, standing) in on_body.items()
    }
    return {name: entry for name, entry in in_motion.items() if len(entry[0]) > 1}


@dataclass(frozen=True)
class Distances:
    """Pairs of markers of one body."""

    names: tuple[str, ...]  # n marker names of the motion
    first: Indices  # (P,) index of the first marker of each pair
    second: Indices  # (P,) index of the second marker
    usual: Array  # (P,) median distance in the motion [m]
    standing: Array  # (P,) median distance in the standing trial [m], NaN where it is not known

    def measured(self, position: Array) -> Array:
        """Return the distances (T, P) [m] of positions (T, n, 3)."""
        apart = np.empty((len(position), len(self.first)))
        for k, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
            apart[:, k] = np.linalg.norm(position[:, first] - position[:, second], axis=-1)
        return apart

    def of(self, marker: int) -> Mask:
        """Return which pairs (P,) a marker belongs to."""
        return np.asarray((self.first == marker) | (self.second == marker))

    @property
    def markers(self) -> Indices:
        """Indices of all markers of any pair."""
        return np.unique(np.concatenate([self.first, self.second]))


@once
def distances(trial: Trial) -> Distances | None:
    """Return the pairs of a trial, None where there are none."""
    names = trial.markers.names
    pairs: dict[tuple[int, int], bool] = {}
    for markers, standing in bodies(trial).values():
        for pair in combinations(sorted(names.index(marker) for marker in markers), 2):
            pairs[pair] = pairs.get(pair, False) or standing
    if not pairs:
        return None
    first, second = np.array(list(pairs)).T
    static, still = trial.static, np.full(len(pairs), np.nan)
    for k, ((a, b), standing) in enumerate(pairs.items()):
        if standing and static is not None and names[a] in static and names[b] in static:
            still[k] = float(median_of_known(np.linalg.norm(static[names[a]] - static[names[b]], axis=-1)))
    of_standing = Distances(names, first, second, still, still)
    usual = [float(median_of_known(of_pair)) for of_pair in of_standing.measured(trial.markers.position).T]
    return replace(of_standing, usual=np.array(usual))


def misfit(error: Array, pairs: Distances, marker: int) -> Array:
    """Return the median error (...) of the distances of a marker over its pairs; zero where none is known."""
    off = median_of_known(np.abs(error.T[pairs.of(marker)]))
    return np.where(np.isnan(off), 0.0, off).T


@dataclass(frozen=True)
class Exchange:
    """Two markers of a file that carry each other's label, throughout or in some frames.

    role: of the file; first, second: the labels; size: misfit of their distances with the labels of the file [m];
    frames: of the motion (T,), None: throughout.
    """

    role: Role
    first: str
    second: str
    size: float
    frames: Mask | None = None

    def undone(self, trial: Trial) -> Trial:
        """Return a trial with both labels exchanged back."""
        when = slice(None) if self.frames is None else self.frames
        markers = getattr(trial, self.role).exchanged({self.first: self.second}, when)
        return replace(trial, markers=markers) if self.role == "markers" else replace(trial, static=markers)


def exchanges_throughout(trial: Trial) -> list[Exchange]:
    """Return labels that are exchanged throughout the motion, or the standing trial, by the distances of both."""
    found, tried = list[Exchange](), set[int]()
    while (pairs := distances(trial)) is not None:
        error = pairs.usual - pairs.standing
        off = {int(m): float(misfit(error, pairs, m)) for m in pairs.markers if m not in tried}
        worst = max(off, key=lambda m: off[m], default=None)
        if worst is None or off[worst] < SUSPECT:
            break
        tried.add(worst)
        partner = _best_exchange(trial.markers.position, pairs, worst, error)
        if partner is None:
            continue
        first, second = pairs.names[worst], pairs.names[partner]
        # The recording with the landmarks in order is the right one.
        after = violations(trial, trial.markers.exchanged({first: second}))
        static = trial.static
        in_motion = static is None or not {first, second} <= {*static.names}
        in_motion = in_motion or len(after) <= len(violations(trial, trial.markers))
        found.append(Exchange("markers" if in_motion else "static", first, second, off[worst]))
        trial = found[-1].undone(trial)
    return found


def _best_exchange(position: Array, pairs: Distances, worst: int, error: Array) -> int | None:
    """Return the marker with which the worst one must be exchanged so that both stand as in the standing trial."""
    best, least = None, FITS
    known = set(pairs.markers.tolist())
    # a marker that is never seen fits everywhere
    seen = np.asarray(np.isfinite(position).all(axis=2).any(axis=0))
    for marker in np.flatnonzero(seen).tolist():
        if marker == worst:
            continue
        after = median_of_known(pairs.measured(swapped(position, (worst, marker)))) - pairs.standing
        both = [m for m in (worst, marker) if m in known]
        now = max(float(misfit(after, pairs, m)) for m in both)
        before = sum(float(misfit(error, pairs, m)) for m in both) / len(both)
        if now < least and now < BETTER * before:
            best, least = marker, now
    return best


def exchanges_for_a_while(trial: Trial) -> list[Exchange]:
    """Return labels that are exchanged in some frames, whose edges are seen as crossed paths."""
    found = list[Exchange]()
    for pair, frames in crossings(trial.markers.position).items():
        if (exchange := _for_a_while(trial, pair, frames)) is not None:
            found.append(exchange)
            trial = exchange.undone(trial)
    return found


def _for_a_while(trial: Trial, pair: Pair, crossed: Indices) -> Exchange | None:
    """Return the frames in which two markers fit better exchanged, None where there are none.

    Labels change where the paths cross or where a marker is lost, nowhere else.
    """
    pairs = distances(trial)
    if pairs is None:
        return None
    position, concerned = trial.markers.position, pairs.of(pair[0]) | pairs.of(pair[1])
    both = (position, swapped(position, pair))
    now, then = (np.abs(pairs.measured(path) - pairs.usual)[:, concerned] for path in both)

    def better(frames: Mask) -> bool:
        off = [errors[np.isfinite(errors)] for errors in (then[frames], now[frames])]
        after, before = (float(errors.mean()) if errors.size else 0.0 for errors in off)
        return after < BETTER * before - LEAST_GAIN

    wrong: Mask = np.zeros(len(position), bool)
    parts = pieces(position, pair, crossed)
    for part in parts:
        wrong |= part & better(part)
    if not wrong.any() or wrong.sum() > MOST_FRAMES * sum(part.sum() for part in parts):
        return None
    size = max(float(np.median(off[np.isfinite(off)])) for off in now[wrong].T if np.isfinite(off).any())
    first, second = (pairs.names[k] for k in pair)
    return Exchange("markers", first, second, size, wrong)


def crossings(position: Array) -> dict[Pair, Indices]:
    """Return pair of markers -> frames at which they exchange places; position (T, n, 3) [m], NaN in gaps.

    A marker is expected where the two frames before, or the two frames after, lead along a straight line; on a
    moving subject it is within centimeters of that.
    """
    frames: dict[Pair, set[int]] = {}
    count = position.shape[0]
    for path in (position, position[::-1]) if count > 2 else ():
        first, second, here = path[:-2], path[1:-1], path[2:]
        off = np.empty(here.shape[:2])
        for k in range(here.shape[1]):
            off[:, k] = np.nan_to_num(
                np.linalg.norm(here[:, k] - (2.0 * second[:, k] - first[:, k]), axis=-1)
            )
        jumping = off > LEAST
        for marker in np.flatnonzero(jumping.any(axis=0)):
            for partner in np.flatnonzero((jumping & jumping[:, [marker]]).any(axis=0)):
                if partner <= marker:
                    continue
                at = np.flatnonzero(jumping[:, marker] & jumping[:, partner])
                expected = 2.0 * second[at] - first[at]
                crossed = np.maximum(
                    np.linalg.norm(here[at, marker] - expected[:, partner], axis=-1),
                    np.linalg.norm(here[at, partner] - expected[:, marker], axis=-1),
                )
                at = at[crossed < NEARER * np.minimum(off[at, marker], off[at, partner])] + 2
                if at.size:
                    # Frame k of the reversed path is the last one before the step in the path itself.
                    steps = at if path is position else count - at
                    frames.setdefault((int(marker), int(partner)), set()).update(steps.tolist())
    return {pair: np.array(sorted(steps)) for pair, steps in frames.items()}


def pieces(position: Array, pair: Pair, crossed: Indices) -> list[Mask]:
    """Return the frames (T,) of each stretch within which two markers cannot have changed places.

    A stretch ends where the markers exchange places and where one of them is lost.
    """
    seen: Mask = np.asarray(np.isfinite(position[:, list(pair)]).all(axis=(1, 2)))
    number = np.cumsum(np.diff(seen.astype(int), prepend=int(seen[0])) != 0)
    number = number + np.searchsorted(crossed, np.arange(seen.size), side="right")
    return [(number == k) & seen for k in np.unique(number[seen])]


@recording_check()
def labels_exchanged(case: Case) -> Iterator[Finding]:
    """Find labels of two markers that are exchanged, throughout or for a while."""
    trial = case.trial
    for found in (*exchanges_throughout(trial), *exchanges_for_a_while(trial)):
        frames, whole = found.frames, found.frames is None
        times = () if frames is None else time_spans(frames, trial.markers.time)
        where = Where(getattr(trial, found.role).path, markers=(found.first, found.second), times=times)
        change = exchanged_labels(trial, {found.role: {found.first: found.second}}, frames)
        values = {"one": found.first, "other": found.second, "size": found.size}
        code = "labels_exchanged.throughout"
        if whole and partners(trial).get(found.first) == found.second:
            code = "pair_swapped.throughout"
        if frames is not None:
            code, values["frames"] = "labels_exchanged.frames", f" in {frames.sum()} frames"
        yield finding(code, error_if(whole), values, where, change=change)
