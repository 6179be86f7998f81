"""Distances between the markers of one body: in every frame, usually in the motion, and in the standing trial.

The distances show markers with exchanged labels, throughout or for a while: such markers fit better at each other's
place in the body; where labels are exchanged for a while, the paths of the two markers cross. The distances also show
whether the standing trial belongs to this subject, with the same markers in the same places.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from musclesolve._util.arrays import (
    UP,
    Array,
    Indices,
    Mask,
    long_enough,
    mean_of_known,
    median_of_known,
    time_spans,
    unit_or_zero,
)
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.long_arrays import in_blocks
from musclesolve._util.messages import few
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.case import (
    ROLES,
    TABLES,
    Case,
    Repair,
    Role,
    Stage,
    change_markers,
    check_at,
    exchange_labels,
    in_order,
    remove_samples,
    replace_fields,
)
from musclesolve.laboratory.checks.files.times_units_axes import POWERS
from musclesolve.laboratory.checks.markers.landmark_order import partners, violations
from musclesolve.laboratory.checks.observed_body import carried, facing, once, runs, seen_feet, shown, upward
from musclesolve.laboratory.markers.gaps.rigid_registration import register
from musclesolve.laboratory.markers.landmarks import ENDS
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Side, Trial
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.tables.sampled import Markers, swapped

Pair = tuple[int, int]


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
    shown = {
        name: (tuple(dict.fromkeys(marker for marker in markers if marker in trial.markers)), standing)
        for name, (markers, standing) in on_body.items()
    }
    return {name: entry for name, entry in shown.items() if len(entry[0]) > 1}


def markers_of(trial: Trial, *kinds: str) -> set[str]:
    """Return the markers of some kinds of bodies."""
    return {m for name, (markers, _) in bodies(trial).items() if name.startswith(kinds) for m in markers}


@dataclass(frozen=True)
class Distances:
    """Pairs of markers of one body."""

    names: tuple[str, ...]  # n marker names of the motion
    one: Indices  # (P,) index of the first marker of each pair
    other: Indices  # (P,) index of the second marker
    usual: Array  # (P,) median distance in the motion [m]
    standing: Array  # (P,) median distance in the standing trial [m], NaN where it is not known

    def measured(self, position: Array) -> Array:
        """Return the distances (T, P) [m] of positions (T, n, 3)."""
        return in_blocks(lambda p: np.linalg.norm(p[:, self.one] - p[:, self.other], axis=-1), position)

    def of(self, marker: int) -> Mask:
        """Return which pairs (P,) a marker belongs to."""
        return np.asarray((self.one == marker) | (self.other == marker))

    @property
    def ends(self) -> list[frozenset[str]]:
        """Marker names of each pair."""
        return [frozenset((self.names[a], self.names[b])) for a, b in zip(self.one, self.other, strict=True)]

    @property
    def markers(self) -> Indices:
        """Indices of all markers of any pair."""
        return np.unique(np.concatenate([self.one, self.other]))


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
    one, other = np.array(list(pairs)).T
    static, still = trial.static, np.full(len(pairs), np.nan)
    for k, ((a, b), standing) in enumerate(pairs.items()):
        if standing and static is not None and names[a] in static and names[b] in static:
            still[k] = _distance(static[names[a]], static[names[b]])
    of_standing = Distances(names, one, other, still, still)
    usual = [float(median_of_known(of_pair)) for of_pair in of_standing.measured(trial.markers.position).T]
    return replace(of_standing, usual=np.array(usual))


def _distance(one: Array, other: Array) -> float:
    """Return the median distance of two paths (T, 3) [m]."""
    return float(median_of_known(np.linalg.norm(one - other, axis=-1)))


# Distance from its place in the body from which a marker is examined [m]; skin and bending toes move by half of it.
SUSPECT = 0.03
# Largest misfit of a marker in its right place [m], and least improvement as a ratio.
FITS, BETTER = 0.02, 0.5
# Least mean improvement of the distances by an exchange [m]: the posterior iliac spines lie near each other.
LEAST_GAIN = 0.003
# Labels that are exchanged in more than this share of the frames are exchanged in the others.
MOST_FRAMES = 0.6
# Two markers whose labels are exchanged keep their distance from the standing trial but for the posture, and by this
# much in every posture [m]: of a marker in another unit, or of a copy, it is off by a segment and more.
SAME_APART = 0.3
# Difference from the standing trial and median deviation in the motion [m] of all distances of a marker from the others
# of its segments, from which it is none of them: 15 sound recordings have at most 0.011 and 0.010 in any.
ASTRAY, VARIES = 0.15, 0.04
# Distance below which two markers are in one place [m].
MERGED = 0.003
MOST_EXCHANGES = 12
# Mean over the pairs of how far their distance differs from the standing trial and varies in the motion, as a share of
# it, no more than the first of one pair, from which labels may stand over other columns, and the share that right ones
# leave of it. 8 sound recordings have up to 0.030, without a standing trial 0.009, of which a shift leaves 0.98 and
# more; shifted ones 0.065 to 0.27 and 0.023 to 0.032, of which it leaves 0.43 at most.
LOOSE, VARYING, FITTING = 0.3, 0.02, 0.5
# So many frames show it.
MANY = 100


@check_at(Stage.SAMPLE_TIMES)
def shifted_labels(case: Case) -> Iterator[Finding]:
    """Find labels of a file that stand one column beside their markers, all of them or from one on."""
    left, static = dict[tuple[Role, int, int], float](), case.trial.static
    trial = replace(case.trial, markers=_thinned(case.trial.markers), static=static and _thinned(static))
    if (now := _looseness(trial)) < VARYING:
        return
    for role in ROLES if trial.static is not None else ROLES[:1]:
        for first, by in product(range(len(getattr(trial, role).names) - 2), (1, -1)):  # two are exchanged
            left[role, first, by] = _looseness(_moved_labels(trial, role, first, by))
    best = min(left, key=lambda shift: left[shift])
    if left[best] < FITTING * now:
        role, first, by = best
        names, path = getattr(trial, role).names, getattr(trial, role).path
        place = "after" if by > 0 else "before"
        values = {"first": names[first], "last": names[-1], "place": place, "now": now, "left": left[best]}
        repair = replace_fields(**{role: getattr(_moved_labels(case.trial, *best), role)})
        yield finding("labels_exchanged.shifted", "error", values, Where(path), repair)


def _thinned(markers: Markers) -> Markers:
    """Return every so many frames, `MANY` at most."""
    some = slice(None, None, markers.time.size // MANY + 1)
    return replace(markers, time=markers.time[some], position=markers.position[some])


def _looseness(trial: Trial) -> float:
    """Return how far distances in the segments vary and differ from the standing trial, as shares, on average."""
    if (pairs := distances(trial)) is None:
        return 0.0
    varies = median_of_known(np.abs(pairs.measured(trial.markers.position) - pairs.usual))
    differs = np.nan_to_num(np.abs(pairs.usual - pairs.standing))
    return float(np.fmin((varies + differs) / np.fmax(pairs.usual, MERGED), LOOSE).mean())


def _moved_labels(trial: Trial, role: Role, first: int, by: int) -> Trial:
    """Return the trial with the labels of a file from a first one on moved by some columns."""
    markers: Markers = getattr(trial, role)
    order = np.r_[np.arange(first), np.roll(np.arange(first, len(markers.names)), by)]
    moved: dict[str, Any] = {role: replace(markers, position=markers.position[:, order])}
    return replace(trial, **moved)


def misfit(error: Array, pairs: Distances, marker: int) -> Array:
    """Return the median error (...) of the distances of a marker over its pairs; zero where none is known."""
    off = median_of_known(np.abs(error.T[pairs.of(marker)]))
    return np.where(np.isnan(off), 0.0, off).T


@check_at(Stage.LABELS_THROUGHOUT)
def labels_exchanged_throughout(case: Case) -> Iterator[Finding]:
    """Find labels that are exchanged throughout the motion, against the standing trial."""
    tried: set[int] = set()
    for _ in range(MOST_EXCHANGES):
        pairs = distances(case.trial)
        if pairs is None:
            return
        error = pairs.usual - pairs.standing
        off = {int(m): float(misfit(error, pairs, m)) for m in pairs.markers if m not in tried}
        worst = max(off, key=lambda m: off[m], default=None)
        if worst is None or off[worst] < SUSPECT:
            return
        tried.add(worst)
        other = _best_exchange(case.trial.markers.position, pairs, worst, error, pairs.standing)
        if other is None:
            continue
        trial, one, two = case.trial, pairs.names[worst], pairs.names[other]
        if not _may_be_exchanged(trial, one, two):
            continue
        # The recording with the landmarks in order is the right one.
        after = violations(trial, trial.markers.exchanged({one: two}))
        walk_wrong = trial.static is None or len(after) <= len(violations(trial, trial.markers))
        role: Role = "markers" if walk_wrong else "static"
        code = "pair_swapped" if partners(trial).get(one) == two else "labels_exchanged"
        values = {"one": one, "other": two, "size": off[worst]}
        where = Where(getattr(trial, role).path, markers=(one, two))
        repair, change = exchange_labels(trial, {role: {one: two}})
        swapped_labels = finding(f"{code}.throughout", "error", values, where, repair, change=change)
        yield swapped_labels
        case, tried = case.repaired(swapped_labels), set()


def _may_be_exchanged(trial: Trial, one: str, two: str) -> bool:
    """Return whether two markers are as far apart as in the standing trial, as far as it is known; no copy is."""
    standing = trial.static
    if standing is None or one not in standing or two not in standing:
        return True
    apart = _distance(trial.markers[one], trial.markers[two]) - _distance(standing[one], standing[two])
    return not abs(apart) > SAME_APART and not _copied(trial, one)


def _copied(trial: Trial, name: str) -> str:
    """Return the name of another used marker in the same place throughout, empty without one."""
    path = trial.markers[name]
    others = (other for other in trial.used_markers if other != name)
    return next((other for other in others if _distance(path, trial.markers[other]) < MERGED), "")


@check_at(Stage.LOST_FRAMES)
def marker_astray(case: Case) -> Iterator[Finding]:
    """Find the one marker that has no place in its segments: a copy, in another unit, or on another point.

    All its distances differ from the standing trial, or vary in the motion, and no other ones do. Other checks would
    accuse the markers beside it.
    """
    trial, pairs = case.trial, distances(case.trial)
    if pairs is None:
        return
    position, known = trial.markers.position, np.isfinite(pairs.standing)

    def spread(lengths: Array) -> Array:
        """Median deviation (P,) from the median, which a marker that is wrong for a while does not change."""
        return median_of_known(np.abs(lengths - median_of_known(lengths)))

    def off(lengths: Array) -> Array:
        """Shares (P,) of the limits by which distances (T, P) differ and vary."""
        differs = np.where(known, np.abs(median_of_known(lengths) - pairs.standing), 0.0)
        return np.fmax(differs / ASTRAY, spread(lengths) / VARIES)

    lengths = pairs.measured(position)
    now = off(lengths)
    of_marker = {int(marker): pairs.of(marker) for marker in pairs.markers}
    far = [m for m, its in of_marker.items() if (now[its] > 1.0).all() and not (now[~its] > 0.5).any()]
    copies = {marker: _copied(trial, pairs.names[marker]) for marker in far}
    far = [marker for marker in far if copies[marker]] or far
    if len(far) != 1:
        return
    name, its_pairs = pairs.names[far[0]], of_marker[far[0]]
    cause = f": '{copies[far[0]]}' is there" if copies[far[0]] else ""
    for factor, unit in POWERS.items():
        scaled = in_blocks(np.ndarray.copy, position)
        scaled[:, far[0]] *= factor
        if (off(pairs.measured(scaled))[its_pairs] < 0.5).all():
            cause = f": its positions are {unit}"
    if not cause and (known & its_pairs).any():
        exchanged = _best_exchange(position, pairs, far[0], pairs.usual - pairs.standing, pairs.standing)
        if exchanged is not None and _may_be_exchanged(trial, name, pairs.names[exchanged]):
            return
    differ = float(np.abs(pairs.usual - pairs.standing)[its_pairs & known].min(initial=np.inf))
    how = f"vary by {1000 * float(spread(lengths[:, its_pairs]).min()):.0f} mm and more"
    if ASTRAY < differ < np.inf:
        how = f"differ by {1000 * differ:.0f} mm and more from the standing trial"
    where = Where(trial.markers.path, markers=(name,))
    repair = remove_samples(name, np.ones(len(position), bool))
    yield finding("marker_moved.astray", "error", {"name": name, "how": how, "cause": cause}, where, repair)


def _best_exchange(position: Array, pairs: Distances, worst: int, error: Array, right: Array) -> int | None:
    """Return the marker with which the worst one must be exchanged so that both fit, None where none does.

    error: of the distances (P,) of all frames together, or (T, P); right: their right sizes (P,) [m].
    """
    best, least = None, FITS
    known = set(pairs.markers.tolist())
    # a marker that is never seen fits everywhere
    seen = np.asarray(np.isfinite(position).all(axis=2).any(axis=0))
    for other in range(len(pairs.names)):
        if other == worst or not seen[other]:
            continue
        lengths = pairs.measured(swapped(position, (worst, other)))
        after = (lengths if error.ndim > 1 else median_of_known(lengths)) - right
        both = [m for m in (worst, other) if m in known]
        now = max(float(np.median(misfit(after, pairs, m))) for m in both)
        before = sum(float(np.median(misfit(error, pairs, m))) for m in both) / len(both)
        if now < least and now < BETTER * before:
            best, least = other, now
    return best


@check_at(Stage.LABELS_AT_CROSSINGS)
def labels_exchanged_at_crossings(case: Case) -> Iterator[Finding]:
    """Find labels that are exchanged for a while, whose edges are seen as crossed paths."""
    for pair, frames in crossings(case.trial.markers.position).items():
        exchange = _for_a_while(case.trial, pair, frames)
        if exchange is not None:
            yield exchange
            case = case.repaired(exchange)


@check_at(Stage.LABELS_BETWEEN_GAPS)
def labels_exchanged_between_gaps(case: Case) -> Iterator[Finding]:
    """Find labels that are exchanged for a while, whose edges hide in gaps."""
    tried: set[int] = set()
    for _ in range(MOST_EXCHANGES):
        pairs, position = distances(case.trial), case.trial.markers.position
        if pairs is None:
            return
        error = pairs.measured(position) - pairs.usual
        bad = {int(m): misfit(error, pairs, m) > SUSPECT for m in pairs.markers if m not in tried}
        worst = max(bad, key=lambda m: bad[m].sum(), default=None)
        if worst is None or not bad[worst].any():
            return
        tried.add(worst)
        frames = long_enough(bad[worst], 2)
        if not frames.any() or frames.mean() > MOST_FRAMES:
            continue
        other = _best_exchange(position[frames], pairs, worst, error[frames], pairs.usual)
        exchange = None if other is None else _for_a_while(case.trial, (worst, other), np.zeros(0, int))
        if exchange is not None:
            yield exchange
            case, tried = case.repaired(exchange), set()


def _for_a_while(trial: Trial, pair: Pair, crossed: Indices) -> Finding | None:
    """Return the stretches in which two markers fit better exchanged, None where there are none.

    Labels change where the paths cross or where a marker is lost, nowhere else: a marker that is off its place
    between two frames in which it moved on without a jump carries its own label, and its neighbors may not.
    """
    pairs = distances(trial)
    if pairs is None:
        return None
    position, concerned = trial.markers.position, pairs.of(pair[0]) | pairs.of(pair[1])
    # Errors of the distances (T, p) of both markers, present and exchanged [m].
    both = (position, swapped(position, pair))
    now, then = (np.abs(pairs.measured(path) - pairs.usual)[:, concerned] for path in both)

    def better(frames: Mask | int) -> bool:
        """Whether the labels fit better exchanged in some frames."""
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
    # Where one marker is lost its label may already be on the other one.
    one_seen = np.isfinite(position[:, list(pair)]).all(axis=2).sum(axis=1) == 1
    for frame in np.flatnonzero(one_seen).tolist():
        wrong[frame] = better(frame)
    one, other = (pairs.names[k] for k in pair)
    values = {"one": one, "other": other, "frames": f" in {wrong.sum()} frames", "size": size}
    where = Where(trial.markers.path, markers=(one, other), times=time_spans(wrong, trial.markers.time))
    repair, change = exchange_labels(trial, {"markers": {one: other}}, wrong)
    return finding("labels_exchanged.frames", "error", values, where, repair, change=change)


# Distance from the expected place below which markers have not changed places [m].
LEAST = 0.02
# Ratio by which each marker is nearer to the expected place of the other one.
NEARER = 0.4


def crossings(position: Array) -> dict[Pair, Indices]:
    """Return pair of markers -> frames at which they exchange places; position (T, n, 3) [m], NaN in gaps.

    A marker is expected where the two frames before, or the two frames after, lead along a straight line; on a
    moving subject it is within centimeters of that.
    """
    frames: dict[Pair, set[int]] = {}
    count = position.shape[0]
    for path in (position, position[::-1]) if count > 2 else ():
        first, second, here = path[:-2], path[1:-1], path[2:]
        off = in_blocks(
            lambda a, b, c: np.nan_to_num(np.linalg.norm(c - (2.0 * b - a), axis=-1)), first, second, here
        )
        jumping = off > LEAST
        for one in np.flatnonzero(jumping.any(axis=0)):
            for other in np.flatnonzero((jumping & jumping[:, [one]]).any(axis=0)):
                if other <= one:
                    continue
                at = np.flatnonzero(jumping[:, one] & jumping[:, other])
                expected = 2.0 * second[at] - first[at]
                crossed = np.maximum(
                    np.linalg.norm(here[at, one] - expected[:, other], axis=-1),
                    np.linalg.norm(here[at, other] - expected[:, one], axis=-1),
                )
                at = at[crossed < NEARER * np.minimum(off[at, one], off[at, other])] + 2
                if at.size:
                    # Frame k of the reversed path is the last one before the step in the path itself.
                    steps = at if path is position else count - at
                    frames.setdefault((int(one), int(other)), set()).update(steps.tolist())
    return {pair: np.array(sorted(steps)) for pair, steps in frames.items()}


def pieces(position: Array, pair: Pair, crossed: Indices) -> list[Mask]:
    """Return the frames (T,) of each stretch within which two markers cannot have changed places.

    A stretch ends where the markers exchange places and where one of them is lost.
    """
    seen: Mask = np.asarray(np.isfinite(position[:, list(pair)]).all(axis=(1, 2)))
    number = np.cumsum(np.diff(seen.astype(int), prepend=int(seen[0])) != 0)
    number = number + np.searchsorted(crossed, np.arange(seen.size), side="right")
    return [(number == k) & seen for k in np.unique(number[seen])]


# Only distances this long show a size [m]; from which difference of sizes on it is reported, and is an error;
# how many must agree on it. The median distance of four sound recordings differs by 0.01.
LONG, SIZE, FAR_SIZE, FEWEST_AGREEING = 0.08, 0.025, 0.06, 6
# Distance from its standing place beyond which a marker was moved [m] (skin moves it by half of it), and least number
# of other markers that must show it.
MOVED, FEWEST_LEFT = 0.03, 3
# Change of a distance in most frames from which a marker was moved [m], and within which the others stay: 43 bodies of
# nine sound recordings have up to 0.009, and 0.0114 in windows of 0.6 s.
CHANGED, STAYS = 0.015, 0.010
# Median distance of the places of a joint, and of an end of its axis, to which the markers of its two segments carry it
# [m]: sound recordings and windows of them have up to 0.011 and 0.021, clusters turned by 15 degrees 0.022 to 0.048 at
# an end; and the landmarks of the foot that carry an ankle.
APART, ENDS_APART, FOOT = 0.015, 0.024, ("heel", "toe", "metatarsal_5")
# Median change of a distance from the next segment since the standing trial beyond which a cluster of another segment
# carries a marker, if another cluster leaves less, and less than the share `BETTER` [m]: five sound recordings have up
# to 0.012, wrong clusters, all pairs of six recordings, 0.028 and more.
CARRIED = 0.02
# Right and left knee, and right and left ankle, are of the same width to this [m]: epicondyles and malleoli lie under
# the skin, so that their markers can hardly sit farther out or in.
WIDER = 0.014
# In a standing trial three of four markers stay within this: .000 to .014 m in 17 of them, .1 m and more in motions.
STILL = 0.05
# Least, usual and greatest width over the markers as shares of the stature: sound knees of five subjects come to 0.059
# to 0.080, ankles to 0.042 to 0.062. So many times beyond both are off, however alike.
WIDTHS, FAR_WIDTH = {"knee": (0.057, 0.070, 0.083), "ankle": (0.043, 0.050, 0.064)}, 1.2
# Forward shear of space by the direction of the places: its mean in sound walks, whose skin moves as the legs lean; and
# how far off it is reported. 13 recordings, and windows of a second of them, are within 0.021, made walks whose skin
# moves by 6 mm within 0.029. Lengths forward, over upward ones: -0.033 to 0.022, and up to 0.031 on made walks.
USUAL_SHEAR = {"ahead": (0.0, 0.04), "up": (0.005, 0.03), "to the left": (0.0, 0.03)}
# Bodies of a leg whose markers show shear, and the share of it that each leg must show: a shoe that bends shows more,
# and skin something else on the other leg.
LEG, OF_LEG = ("thigh", "shank", "foot"), 0.5
# Least mean of the directions, of length one, that the pelvis faces, and least distance of a heel ahead of the other
# one [m], in a straight walk.
STRAIGHT, STEP = 0.9, 0.2
# Duration of a walking stride [s]: less does not show how distances vary.
A_STRIDE = 1.0


@check_at(Stage.PLATES)
def sheared_space(case: Case) -> Iterator[Finding]:
    """Find positions that are shifted in proportion to their place: distances change with their direction.

    To first order a symmetric strain e of space adds L u' e u to a distance L in the direction u. Least squares over
    distances and frames of a walk: of the legs against their mean, and of all against the standing trial.
    """
    trial, feet, pairs, faced = case.trial, seen_feet(case.trial), distances(case.trial), facing(case.trial)
    frames, position = trial.frames(), trial.markers.position[trial.frames()]
    off = [f for f in case.findings if f.severity != "note" and f.code in TABLES["marker_codes"]]
    of_legs = [markers_of(trial, *(f"{k}_{side}" for k in LEG)) for side in SIDES]
    lasting = [{*f.where.markers} for f in off if f.code != "leap"]  # a jump is short
    if any(not markers or markers & set[str]().union(*of_legs) for markers in lasting):
        return
    if faced is None or pairs is None or len(feet) < len(SIDES) or runs(trial):
        return
    way = np.mean(unit_or_zero(faced[frames]), axis=0)
    step = (feet["r"].heel - feet["l"].heel)[frames] @ way
    brief = len(position) < A_STRIDE * trial.markers.rate
    if brief or np.linalg.norm(way) < STRAIGHT or min(step.max(), -step.min()) < STEP:
        return
    apart = position[:, pairs.other] - position[:, pairs.one]
    apart = apart @ np.stack([unit_or_zero(way), np.cross(UP, unit_or_zero(way)), UP]).T
    length = np.linalg.norm(apart, axis=2, keepdims=True)
    one, other = np.triu_indices(3)
    terms = np.concatenate([length, apart[..., one] * apart[..., other] / length], axis=2)
    still = pairs.standing > LONG
    # without the last part: all squares together are the length itself
    varies = (terms - mean_of_known(terms))[..., :-1]
    legs = [[pair <= leg for pair in pairs.ends] for leg in of_legs]
    strains = [_strain(varies[:, leg]) for leg in (np.any(legs, axis=0), *legs) if np.any(leg)]
    places = {"ahead": 0} if off else {"ahead": 0, "up": 2}
    known = {at: [float(strain[k]) for strain in strains] for at, k in places.items() if len(strains) > 2}
    if still.sum() >= FEWEST_AGREEING and not off:
        terms[..., 0] -= pairs.standing
        known["to the left"] = [_strain(terms[:, still])[1]]
    for place, shares in known.items():
        share, (usual, limit) = shares[0], USUAL_SHEAR[place]
        beyond = (np.array(shares) - usual) * np.sign(share - usual)
        if beyond[0] > limit and beyond.min() > OF_LEG * limit:
            values = {"share": share, "place": place, "low": usual - limit, "high": usual + limit}
            kind = "stretched" if place == "ahead" else "sheared"
            yield finding(f"space_scale.{kind}", "warning", values, Where(trial.markers.path))


def _strain(terms: Array) -> Array:
    """Return the sizes of the parts of a strain, by which the first of terms (T, P, n) is explained best."""
    rows = np.nan_to_num(terms).reshape(-1, terms.shape[2])
    return np.asarray(np.linalg.lstsq(rows[:, 1:], rows[:, 0], rcond=None)[0])


@check_at(Stage.STANDING_PLACES)
def moved_markers(case: Case) -> Iterator[Finding]:
    """Find markers that sit elsewhere on their segment than in the standing trial."""
    if (static := case.trial.static) is None:
        return
    reported = {m for f in case.findings for m in f.where.markers}
    of_another = case.found("static_of_another")
    for body, (markers, standing) in bodies(case.trial).items():
        names = [name for name in markers if name in static] if standing else []
        still = {name: median_of_known(static[name]) for name in names}
        moved: dict[tuple[str, ...], tuple[float, float]] = {}
        # Without one of them the others must still show the segment.
        while len(names) > FEWEST_LEFT:
            fits = {name: _fit(case.trial, still, name, [n for n in names if n != name]) for name in names}
            # The marker without which the others keep their shape best.
            worst = min(fits, key=lambda name: fits[name][1])
            off = fits[worst][0]
            if off < MOVED:
                break
            moved[(worst,)] = off, MOVED
            names.remove(worst)
        # The skin beside a bent knee or wrist slides; all distances to another person change.
        if len(names) >= FEWEST_LEFT and not body.startswith(("shank", "hand")) and not of_another:
            off, some = _changed(case.trial.markers, static, names)
            if off > CHANGED:
                moved[some] = off, CHANGED
        for some, (off, limit) in moved.items():
            if reported.isdisjoint(some):
                name = "' or '".join(some)
                values = {"name": name, "size": off, "by": " from the standing trial", "limit": limit}
                yield finding("marker_moved", "warning", values, Where(static.path, markers=some))
                reported.update(some)


def _next_segment(trial: Trial, joint: str, side: Side) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return the cluster below a knee or ankle, and all clusters, with the landmarks of this foot as one more."""
    ankle = next(iter(trial.mapping.get(f"ankle_lateral_{side}", ())), "")
    foot = (m for part in FOOT for m in trial.mapping.get(f"{part}_{side}", ()) if m in trial.markers)
    name = trial.carried.get(ankle, "") if joint == "knee" else "foot"
    return name, {**trial.clusters, "foot": tuple(foot)}


@check_at(Stage.SLIPS)
def other_carriers(case: Case) -> Iterator[Finding]:
    """Find markers of ankles and knees that keep their standing distances from the next segment by another cluster."""
    trial, static = case.trial, case.trial.static
    if static is None or case.found("static_of_another", *TABLES["label_codes"]):
        return
    for joint, side in product(("ankle", "knee"), SIDES):
        distal, clusters = _next_segment(trial, joint, side)
        beyond = [m for m in clusters.get(distal, ()) if m in trial.markers and m in static]
        ends = (m for name in _ends(joint, side) for m in trial.mapping.get(name, ()) if m in trial.carried)
        for marker in ends if beyond else ():
            still, off = [_distance(static[m], static[marker]) for m in beyond], dict[str, float]()
            for name in trial.clusters.keys() - {distal}:
                path = carried(replace(trial, carried={**trial.carried, marker: name}), marker)
                now = np.stack([np.linalg.norm(path - trial.markers[m], axis=1) for m in beyond], axis=1)
                off[name] = float(np.nan_to_num(median_of_known(np.abs(now - still)), nan=np.inf).max())
            stated, best = trial.carried[marker], min(off, key=lambda name: off[name], default="")
            if off.get(stated, 0.0) > CARRIED and off[best] < min(CARRIED, BETTER * off[stated]):
                trial = replace(trial, carried={**trial.carried, marker: best})
                values = {
                    "name": marker,
                    "stated": stated,
                    "best": best,
                    "now": off[stated],
                    "then": off[best],
                }
                where = replace(case.key("carried", marker), markers=(marker,))
                repair, change = replace_fields(carried=trial.carried), {("carried", marker): best}
                yield finding("carrier", "error", values, where, repair, change=change)


@check_at(Stage.STANDING_PLACES)
def joints_apart(case: Case) -> Iterator[Finding]:
    """Find a joint that the markers of its two segments carry to different places from the standing trial."""
    trial, static = case.trial, case.trial.static
    reported = {m for f in case.findings for m in f.where.markers}
    if static is None or case.found("static_of_another", *TABLES["label_codes"]):
        return
    for side, joint in product(SIDES, ("knee", "ankle")):
        names, (distal, clusters) = _ends(joint, side), _next_segment(trial, joint, side)
        shown_by = [m for name in names for m in trial.mapping.get(name, ())]
        (proximal, *more) = {trial.carried.get(m, "") for m in shown_by} or {""}
        if len(shown_by) != 2 or more or proximal in ("", distal) or len(clusters.get(distal, ())) < 3:
            continue
        other = replace(
            trial, clusters=clusters, carried={**trial.carried, **dict.fromkeys(shown_by, distal)}
        )
        here, there = (shown(one, names) for one in (trial, other))
        if here is None or there is None:
            continue
        off, limit = _distance(np.mean(here, axis=0), np.mean(there, axis=0)), APART
        if off <= limit:  # a cluster that has turned about the limb moves the ends of the axis
            off, limit = max(map(_distance, here, there)), ENDS_APART
        some = (*clusters[proximal], *clusters[distal])
        if off > limit and reported.isdisjoint(some):
            values = {"joint": f"{SIDE_NAMES[side]} {joint}", "size": off, "limit": limit}
            values |= {"one": few(clusters[proximal], 4), "other": few(clusters[distal], 4)}
            yield finding("marker_moved.joint", "warning", values, Where(static.path, markers=some))
            reported.update(some)


def _changed(walk: Markers, static: Markers, names: list[str]) -> tuple[float, tuple[str, ...]]:
    """Return the greatest change of a distance in most frames [m], and the markers one or some of which moved."""
    pairs = dict.fromkeys(combinations(names, 2), 0.0)
    for one, other in pairs:
        apart = np.linalg.norm(walk[one] - walk[other], axis=-1) - _distance(static[one], static[other])
        if (known := apart[np.isfinite(apart)]).size:
            low, high = np.percentile(known, (10.0, 90.0))
            pairs[one, other] = max(low, -high, 0.0)
    # Without a marker that moved the distances stay.
    alone = [n for n in names if all(size < STAYS for pair, size in pairs.items() if n not in pair)]
    some = alone or [n for n in names if any(size > CHANGED for pair, size in pairs.items() if n in pair)]
    return max(pairs.values()), tuple(some)


def _fit(trial: Trial, standing: dict[str, Array], name: str, others: list[str]) -> tuple[float, float]:
    """Return the distance of a marker from its standing place among others, and the distance of the others from theirs
    [m].

    standing: place (3,) [m] of each marker. Medians over the motion; where it cannot be measured, the marker is in its
        place and the others are not.
    """
    still = np.stack([standing[other] for other in (*others, name)])
    moving = np.stack([trial.markers[other] for other in (*others, name)], axis=1)
    seen = np.isfinite(moving).all(axis=(1, 2))
    if seen.sum() >= FEWEST_AGREEING and np.isfinite(still).all():
        with suppress(InputError):  # markers on a line show no segment
            poses = register(still[:-1], moving[seen, :-1])
            off = np.linalg.norm(poses.point(still[-1]) - moving[seen, -1], axis=1)
            return float(np.median(off)), float(np.median(poses.residual))
    return 0.0, np.inf


@check_at(Stage.STANDING_PLACES)
def joint_widths(case: Case) -> Iterator[Finding]:
    """Find knees and ankles of which one is wider between its markers than the other, or both than people have them."""
    static = case.trial.static
    if static is None or case.found("pair_swapped", "labels_exchanged", "landmark_order", "marker_moved"):
        return
    measured, usual = dict[str, dict[Side, float]](), set[str]()
    for joint, (narrow, _, wide) in WIDTHS.items():
        points = {s: pair for s in SIDES if (pair := shown(case.trial, _ends(joint, s), static))}
        if len(points) == len(SIDES):
            measured[joint] = {side: _distance(*pair) for side, pair in points.items()}
            shares = np.array([*measured[joint].values()]) / case.trial.subject.stature
            usual |= {joint} if ((narrow <= shares) & (shares <= wide)).all() else set()
    for joint, widths in measured.items():
        (low, high), targets, known = _right_widths(case.trial, joint, widths)
        least, most = sorted(widths.values())
        # another stature would make the widths of the other joint unusual, too
        far = bool(usual - {joint}) and not (low <= most * FAR_WIDTH and least <= high * FAR_WIDTH)
        if most - least <= WIDER and not far:
            continue
        moves = {side: target - widths[side] for side, target in targets.items()}
        sides = [SIDE_NAMES[side] for side in moves]
        ways = [f"{1000.0 * abs(by):.0f} mm {'away from' if by > 0.0 else 'toward'}" for by in moves.values()]
        stated = getattr(case.trial.subject, f"{joint}_width") is not None
        off: tuple[Side, ...] = tuple(moves) if known else SIDES
        only = off[0] if len(off) == 1 else ""
        which = f"the {sides[0]} one is off" if only else "both are off"
        values: dict[str, object] = {"joint": joint, "right": widths["r"], "left": widths["l"]}
        values |= {"by": f"{joint}_width_m" if stated else "this stature", "low": low, "high": high}
        values |= {"off": which if known else "which of them is off is not known", "limit": WIDER}
        values |= {"measure": "" if stated else f"measure with a caliper and state {joint}_width_m; "}
        moved = " and ".join(map("the {} one {} the lateral marker".format, sides, ways))
        values |= {"moves": moved if known else f"{moved}, or the other one as far the other way"}
        markers = tuple(m for side in off for name in _ends(joint, side) for m in case.trial.mapping[name])
        repair = in_order(*(_moved_medial(case.trial, _ends(joint, side), by) for side, by in moves.items()))
        where = Where(static.path, markers=markers)
        yield finding("joint_width", "warning", values, where, repair, side=only)


def _ends(joint: str, side: Side) -> list[str]:
    """The landmarks on both sides of a knee or ankle."""
    return [f"{joint}_{end}_{side}" for end in ENDS]


def _right_widths(
    trial: Trial, joint: str, widths: Mapping[Side, float]
) -> tuple[tuple[float, float], dict[Side, float], bool]:
    """Return the expected range [m], the joints to change with their width [m], and whether these are known to be off.

    The width of a caliper plus a marker is expected, else the usual width at the stature. If one of two widths lies
    in the range, the other one is off; two too narrow widths are errors, because skin only adds to bone.
    """
    caliper = getattr(trial.subject, f"{joint}_width")
    least, usual, most = np.array(WIDTHS[joint]) * trial.subject.stature
    if caliper is not None:
        usual = caliper + trial.subject.marker_diameter
        least, most = usual - WIDER, usual + WIDER
    off = [side for side, width in widths.items() if not least <= width <= most]
    if len(off) == 2:
        far = max(widths.values()) < least or min(widths.values()) > FAR_WIDTH * most
        right = float(usual) if caliper is not None or far else min(widths.values())
        return (least, most), {side: right for side in off if widths[side] != right}, True
    # The width that is farther from usual is changed if neither is known to be off.
    (worse,) = off or [max(widths, key=lambda side: abs(widths[side] - usual))]
    other: Side = "l" if worse == "r" else "r"
    return (least, most), {worse: widths[other]}, bool(off)


def _moved_medial(trial: Trial, names: list[str], by: float) -> Repair:
    """Move a medial marker away from the lateral one by a distance [m], in each recording that has both."""
    ends = [tuple(trial.mapping[name]) for name in names]

    def move(markers: Markers) -> Markers:
        if any(len(end) != 1 or end[0] not in markers for end in ends):
            return markers
        lateral, medial = (markers.names.index(end[0]) for end in ends)
        position = markers.position.copy()
        line = position[:, medial] - position[:, lateral]
        position[:, medial] += by * line / np.linalg.norm(line, axis=1, keepdims=True)
        return replace(markers, position=position)

    return in_order(*(change_markers(role, move) for role in ROLES))


# By how much distances on a foot may differ from those on the other one [m]: six subjects have 12 mm at most, synthetic
# ones whose markers are placed with an error of 10 mm have 28.
FEET_DIFFER = 0.030


@check_at(Stage.PLATES)
def feet_alike(case: Case) -> Iterator[Finding]:
    """Find a marker of a foot that sits elsewhere than its twin on the other foot, throughout."""
    trial, markers = case.trial, case.trial.static or case.trial.markers
    if case.found("pair_swapped", "labels_exchanged", "landmark_order", "marker_moved", "joint_width"):
        return
    ends = {
        pair: [f"{name}_{side}" for side in SIDES for name in pair] for pair in map(tuple, TABLES["feet"])
    }
    known = {pair: points for pair, names in ends.items() if (points := shown(trial, names, markers))}
    off = {pair: _distance(*points[:2]) - _distance(*points[2:]) for pair, points in known.items()}
    beyond = {pair: size for pair, size in off.items() if abs(size) > FEET_DIFFER}
    if not beyond:
        return
    # The landmark whose distances differ most on average.
    names = dict.fromkeys(name for pair in beyond for name in pair)
    worst = max(names, key=lambda name: np.mean([abs(size) for pair, size in off.items() if name in pair]))
    pair = max(beyond, key=lambda pair: (worst in pair, abs(beyond[pair])))
    (one, other), size = pair, beyond[pair]
    longer = SIDE_NAMES["r" if size > 0.0 else "l"]
    values = {"one": one, "other": other, "size": abs(size), "longer": longer, "limit": FEET_DIFFER}
    values |= {"worst": worst}
    concerned = tuple(m for side in SIDES for m in trial.mapping[f"{worst}_{side}"])
    yield finding("feet_differ", "warning", values, Where(markers.path, markers=concerned))


# Height of the toe marker above the heel marker, right less left [m]: standing, and against the lowest heights in the
# motion; seven sound recordings have up to 0.007 and 0.013. Heels above toes by these heights, both feet: eight have
# -0.011 to 0.002; lower heels are no fault, as of who walks on the toes.
TOE_RAISED, HEELS_RAISED = 0.025, 0.015
SOLE, FEWEST_OF_SOLES = ("heel", "toe", "metatarsal_5", "ankle_lateral", "ankle_medial"), 6
UPRIGHT, TILTED_DEG, LEANS_DEG, ALIKE_DEG, SQUARE = 0.8, 3.0, (1.0, 3.5), 5.0, 0.7
"""Least cosine of the body with the vertical; angle of the soles from which a standing trial is tilted [deg], at most
1.7 in sound recordings; least angle by which the body leans alike, more where the slope raises the toes (cosine of
both): sound bodies lean backward by up to 3.1; and by how much less than the soles."""


@check_at(Stage.STANDING_PLACES)
def soles_when_standing(case: Case) -> Iterator[Finding]:
    """Find a foot that stands on a raised toe and walks like the other; feet on raised heels; a tilted standing trial.

    Standing heights of markers of the feet, less those to which they come down in the motion, have the slope of the
    soles. Who leans stands on level soles; who walks on the toes stands upright on toes that seem raised.
    """
    trial, static, places = case.trial, case.trial.static, dict[str, Array]()
    for name in (f"{part}_{side}" for part in SOLE for side in SIDES) if static else ():
        both = [points[0] for markers in (static, trial.markers) if (points := shown(trial, [name], markers))]
        seen = [point[np.isfinite(point).all(axis=1)] for point in both]
        if len(seen) == 2 and all(map(len, seen)):
            places[name] = np.array([*np.median(seen[0], axis=0), np.percentile(seen[1][:, 2], 20.0)])
    up, heels = None if static is None else upward(trial, static, by_pelvis=True), 0.0
    if static is not None and {f"{part}_{side}" for part in SOLE[:2] for side in SIDES} <= {*places}:
        raised = np.array([places[f"toe_{side}"][2:] - places[f"heel_{side}"][2:] for side in SIDES])
        change = raised @ [1.0, -1.0]
        heels = float(-change.max())
        if min(abs(raised[1, 0] - raised[0, 0]), abs(change[1] - change[0])) > TOE_RAISED:
            side = SIDES[int(np.abs(change).argmax())]
            some = tuple(next(iter(trial.mapping[f"{part}_{side}"])) for part in ("toe", "heel"))
            values = {"name": "' or '".join(some), "size": float(np.abs(change).max()), "limit": TOE_RAISED}
            values |= {"by": ", standing, by its height and the other foot's"}
            yield finding("marker_moved", "warning", values, Where(static.path, markers=some))
    if static is None or up is None or up[2] < UPRIGHT or len(places) < FEWEST_OF_SOLES:
        return
    x, y, standing, lowest = np.array([*places.values()]).T
    slope = np.linalg.lstsq(np.stack([x, y, 1.0 + 0.0 * x], axis=1), standing - lowest, rcond=None)[0][:2]
    size = max(float(np.linalg.norm(slope)), 1e-9)
    fore = np.array([n[:4] in ("toe_", "meta") for n in places])
    ahead = np.subtract(*(mean_of_known(np.stack([x, y], axis=1)[part]) for part in (fore, ~fore)))
    pitched = ahead @ slope > SQUARE * size * float(np.linalg.norm(ahead))
    angle, lean = np.degrees(np.arctan([size, -up[:2] @ slope / (up[2] * size)]))
    if angle > TILTED_DEG and lean > max(LEANS_DEG[int(pitched)], angle - ALIKE_DEG):
        turn = rotation_about(np.array([-slope[1], slope[0], 0.0]) / size, np.arctan(size))
        repair = change_markers("static", lambda markers: markers.rotated(turn))
        values = {"angle": angle, "limit": TILTED_DEG}
        yield finding("up_axis.tilted", "error", values, Where(static.path), repair)
    elif heels > HEELS_RAISED:
        values = {"size": heels, "limit": HEELS_RAISED}
        yield finding("standing_posture", "warning", values, Where(static.path))


@check_at(Stage.SIZE_WHEN_STANDING)
def moves_when_standing(case: Case) -> Iterator[Finding]:
    """Find a standing trial in which the subject does not stand, by the middle half of the places of each marker."""
    if (static := case.trial.static) is None:
        return
    seen = static.position[:, np.isfinite(static.position).all(axis=(0, 2))]
    if not seen.size:
        return
    low, high = np.percentile(seen - seen.mean(axis=1, keepdims=True), (25.0, 75.0), axis=0)
    size = float(np.percentile(np.linalg.norm(high - low, axis=1), 75.0))
    if size > STILL:
        yield finding("static_moves", "error", {"size": size, "limit": STILL}, Where(static.path))


@check_at(Stage.SIZE_WHEN_STANDING)
def size_when_standing(case: Case) -> Iterator[Finding]:
    """Find a standing trial in which all segments are longer, or all shorter, than in the motion."""
    pairs, static = distances(case.trial), case.trial.static
    if pairs is None or static is None:
        return
    long = (pairs.usual > LONG) & (pairs.standing > LONG)
    ratio = pairs.standing[long] / pairs.usual[long]
    if ratio.size < FEWEST_AGREEING:
        return
    size, off = float(np.median(ratio)), float(np.median(np.abs(ratio - 1.0)))
    # One or two moved markers do not show another subject: most distances must be off, of a size all alike.
    agreeing = np.mean((ratio - 1.0) * np.sign(size - 1.0) > 0.5 * abs(size - 1.0))
    if off > SIZE and agreeing < 0.8 and ratio.size >= 2 * FEWEST_AGREEING:
        apart: dict[str, object] = {"off": off, "count": ratio.size, "limit": SIZE}
        yield finding("static_of_another.shape", "warning", apart, Where(static.path))
    if abs(size - 1.0) < SIZE or agreeing < 0.8:
        return
    off, longer = abs(size - 1.0), "longer" if size > 1.0 else "shorter"
    values = {"difference": off, "longer": longer, "count": ratio.size}
    repair = change_markers("static", lambda markers: replace(markers, position=markers.position / size))
    yield finding("static_of_another", error_if(off > FAR_SIZE), values, Where(static.path), repair)
