"""Check of the labels of markers in every sample, by the shape and the motion of each group of markers.

The markers of one body (landmarks and clusters, as `musclesolve check` measures distances between them) keep their
shape. The reference is the mean shape in the motion of the trial, or the shape in the standing trial where the two
disagree; how far skin moves in it is what the motion of the trial shows. A group that fits its shape worse is examined:

1. Two markers carry each other's label where each goes on where the other one was expected, or where their groups fit
   as usual once they are exchanged, by this exchange alone. They are exchanged back from then on: the result is as with
   the right labels, while a leg has too few markers to leave two of them out.
2. Else the marker is left out without which the others fit. Among three it is the one that jumped; without a jump
   all are left out, because three distances do not show which of three is off.

The place of a marker that is left out is the one that three or more others of its group show, where skin moves it
little against them; else it is taken as hidden. It is taken again once it has been in its place for some samples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask, median_of_known
from musclesolve.laboratory.checks.case import REACH, exchanged_labels
from musclesolve.laboratory.checks.recording.segments import (
    BETTER,
    LEAST,
    NEARER,
    bodies,
    exchanges_for_a_while,
    exchanges_throughout,
)
from musclesolve.laboratory.markers.gaps.rigid_registration import SMALLEST_BREADTH, Shapes, breadth, register
from musclesolve.laboratory.markers.landmarks import upper_markers
from musclesolve.laboratory.motion.motion_plausibility import BROKEN, LOOSE
from musclesolve.laboratory.recording.data import Trial
from musclesolve.laboratory.results.finding import Finding, Severity, Where, finding

SMALLEST_JUMP, GREATEST_ACCELERATION = 0.012, 80.0
"""A step that exceeds the steps around it by so much more than a subject can move is a jump [m], [m/s^2]."""
STRETCHED = 0.035
"""A distance this far from the usual one is none of a rigid segment [m]; toes and skin take up to 26 mm of it."""
MERGED = 0.003
"""Distance below which two markers are in one place [m]."""
BACK = 0.25
"""Time within which a marker that jumped may come back [s]."""
FEWEST_FRAMES = 3
"""Samples for which a marker must be in its place before it is taken again."""
MORE = 1.5
"""In another motion than that of the trial a group fits its shape worse, and a marker is farther from its place, by
less than this factor; `USUAL` is the quantile of the motion of the trial that is compared."""
USUAL = 0.99
OFF = 0.015
"""A marker this near to where the others of its group expect it [m] is in its place: skin moves it as far."""
BACK_SHARE = 0.7
"""It is taken again within this share of the limit at which it is left out: at the limit it would come and go."""
RISEN = 0.003
"""A marker of three that jumps is off where their rms distance rises by so much from one sample to the next [m]; skin
does not move so fast. Groups that fit to within this are not examined for exchanges."""
SEARCH_INTERVAL = 0.1
"""Markers in one place, and exchanges that would explain what does not fit, are looked for so often [s]."""
CASES = {
    "exchanged": "labels_exchanged.frames",
    "merged": "markers_merged",
    "slipped": "marker_slipped",
    "ghost": "leap",
    "moved": "marker_moved",
    "loose": "segment_length.shape",
}
"""Kind of a fault -> its text in `findings.toml`, which is that of `musclesolve check`."""


@dataclass
class MarkerFault:
    """One fault of markers of a stream.

    kind: a key of `CASES`. markers: those concerned. size: how far they are off [m]. limit: less is usual [m]. by: what
    the shape is known from. first, last: times of its samples [s]. count: its samples. lost: those without a pose.
    sentence: the remedy and the fault, the same as long as it lasts.
    """

    kind: str
    markers: tuple[str, ...]
    size: float
    limit: float
    by: str
    first: float
    last: float
    count: int = 0
    lost: int = 0
    sentence: str = ""

    def __post_init__(self) -> None:
        self.name(self.kind)

    def name(self, kind: str) -> None:
        """Take it as a fault of this kind, and say so."""
        self.kind = kind
        done = "exchanged back" if kind == "exchanged" else "left out"
        named = f" {self.markers[0]}" if kind not in ("exchanged", "loose") else ""
        self.sentence = f"{done}{named}: {self.finding(counted=False).what}"

    def finding(self, counted: bool = True) -> Finding:
        """Return the fault as `musclesolve check` reports it; counted: with the number of its samples so far."""
        severity: Severity = "error" if self.lost else "warning"
        values = {
            "name": self.markers[0],
            "one": self.markers[0],
            "other": self.markers[-1],
            "names": ", ".join(self.markers),
            "size": 1000.0 * self.size if self.kind == "slipped" else self.size,
            "limit": self.limit,
            "by": self.by,
            "frames": f" in {self.count} frames" if counted else "",
            "times": "",
            "reach": REACH,
        }
        where = Where(markers=self.markers, times=((self.first, self.last),))
        entry = finding(CASES[self.kind], severity, values, where)
        mended = counted and self.kind == "exchanged" and not self.lost
        return replace(entry, what=f"{entry.what}; exchanged back in these results") if mended else entry


@dataclass(frozen=True, eq=False)
class _Group:
    """Markers (k,) of one body, their reference shape (k, 3) [m], and what is usual.

    by: what the shape is known from. usual: rms distance to which the points fit it in the motion of the trial [m].
    limit: rms distance above which they do not fit [m]. away: distance of each marker from where the others expect it
    in the motion of the trial (k,) [m]; off: the distance above which it is off (k,) [m]. Both are NaN where the others
    do not show it.
    """

    by: str
    members: tuple[int, ...]
    shape: Array
    usual: float
    limit: float
    away: Array
    off: Array

    def place(self, marker: int) -> int:
        """Return the place of a marker among the members."""
        return self.members.index(marker)


def _groups(trial: Trial, names: Sequence[str], walk: Array, moves: bool) -> list[_Group]:
    """Return the groups of three or more markers of legs and pelvis; none within another one.

    walk (T, n, 3) [m]: without gaps. moves: whether it shows how far skin moves.
    """
    above = set(upper_markers(trial))
    shown = dict[tuple[int, ...], bool]()
    for markers, standing in bodies(trial).values():
        members = tuple(sorted(names.index(name) for name in markers if name in names and name not in above))
        if len(members) > 2:
            shown[members] = shown.get(members, False) or standing
    groups = []
    for members, standing in shown.items():
        if any(set(members) < set(other) for other in shown):
            continue
        points = walk[:, members]
        shape = _mean_shape(points)
        if breadth(shape) < SMALLEST_BREADTH:
            continue
        by = " from the motion of the trial"
        still = _standing_shape(trial, [names[k] for k in members]) if standing else None
        if still is not None and register(still, shape[None]).residual[0] > LOOSE:
            shape, by = still, " from the standing trial"
        # of three it is not known which one is off, and all would be left out: only what skin never does is said
        most = 0.5 * BROKEN
        least = LOOSE if moves and len(members) > 3 else most
        usual = float(np.quantile(register(shape, points).residual, USUAL))
        away = np.full(len(members), np.nan)
        for k in range(len(members)):
            others = [j for j in range(len(members)) if j != k]
            if len(others) > 2 and breadth(shape[others]) > SMALLEST_BREADTH:
                expected = register(shape[others], points[:, others]).point(shape[k])
                away[k] = np.quantile(np.linalg.norm(points[:, k] - expected, axis=1), USUAL)
        off = np.fmax(np.where(np.isnan(away), np.nan, OFF if moves else STRETCHED), MORE * away)
        if not moves:  # how far skin moves is not known
            usual, away = LOOSE, np.where(np.isnan(away), np.nan, STRETCHED)
        limit = float(np.clip(MORE * usual, least, most))
        groups.append(_Group(by, members, shape, usual, limit, away, off))
    return groups


def _mean_shape(points: Array) -> Array:
    """Return the mean shape (k, 3) [m] of points (T, k, 3): of all frames, registered to each other."""
    shape = points[len(points) // 2]
    for _ in range(3):
        try:
            poses = register(shape, points)
        except Exception:  # on a line: it is left out by its breadth
            return shape
        shape = np.mean(
            np.einsum("tyx,tky->tkx", poses.rotation, points - poses.translation[:, None]), axis=0
        )
    return shape


def _standing_shape(trial: Trial, names: Sequence[str]) -> Array | None:
    static = trial.static
    if static is None or any(name not in static for name in names):
        return None
    shape = np.stack([median_of_known(static[name]) for name in names])
    return shape if np.isfinite(shape).all() and breadth(shape) > SMALLEST_BREADTH else None


@dataclass
class _Out:
    """A marker that is left out: its fault, and for how many samples it has been in its place.

    fits: rms distance of a group with it [m] below which it is back, where its group does not show where it belongs.
    limit: distance from its place [m] at which it was left out. before: by group, how far it was from where the others
    expected it in the sample before it jumped (3,) [m], in the axes of the shape. since: when it was left out [s].
    """

    fault: MarkerFault
    fits: float
    limit: float = np.nan
    before: dict[int, Array] = field(default_factory=dict)
    since: float = 0.0
    right: int = 0


class MarkerLabels:
    """The labels of a stream.

    Args:
        trial: with the labels right.
        names: of its n needed markers.
        walk: along which they go (T, n, 3) [m], without gaps.
        rate: samples a second.
        moves: whether the motion of the trial shows how far skin moves.

    Attributes:
        faults: all of them, in their order.
    """

    def __init__(self, trial: Trial, names: Sequence[str], walk: Array, rate: float, moves: bool) -> None:
        self.names, self.groups, self.rate = tuple(names), _groups(trial, names, walk, moves), rate
        self._members = np.unique([k for group in self.groups for k in group.members]).astype(int)
        self._limits = np.array([group.limit for group in self.groups])
        self._usual = np.array([group.usual for group in self.groups])
        fastest = GREATEST_ACCELERATION / self.rate**2
        self._small, self._jump = max(SMALLEST_JUMP, fastest), max(LEAST, fastest)
        self._every = max(round(SEARCH_INTERVAL * self.rate), 1)
        self._shapes = dict[bytes, tuple[Shapes, Array]]()
        self.clear()

    def clear(self) -> None:
        """Forget all samples and faults."""
        self.faults = list[MarkerFault]()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Take the next sample as the first one: no label is known to be exchanged, no marker to be off."""
        count = len(self.names)
        self._order = np.arange(count)  # the label under which each marker comes
        self._exchanged = dict[tuple[int, int], MarkerFault]()
        self._out = dict[int, _Out]()
        self._off: Mask = np.zeros(count, bool)
        self._unfilled = False  # whether no others show the place of a marker that is left out
        self._number, self._tried = 0, -self._every
        self._suspected = list[tuple[int, int]]()  # exchanges that fitted at the last looks
        self._before = np.zeros(len(self.groups))  # the rms distances of the groups in the sample before [m]
        self.skip()

    def skip(self) -> None:
        """Samples were lost: where the markers go on is not known."""
        self._tracks = [np.full((len(self.names), 3), np.nan) for _ in range(2)]

    @property
    def going_on(self) -> list[MarkerFault]:
        """The faults of the newest sample."""
        faults = [*self._exchanged.values(), *(out.fault for out in self._out.values())]
        return list({id(fault): fault for fault in faults}.values())

    @property
    def sentences(self) -> tuple[str, ...]:
        """On the faults of the newest sample."""
        return tuple(fault.sentence for fault in self.going_on) if self._exchanged or self._out else ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the markers that were left out of the newest sample."""
        return tuple(self.names[k] for k in self._out) if self._out else ()

    @property
    def order(self) -> NDArray[np.intp] | None:
        """The number of the label under which each marker comes (n,); None where no labels are exchanged."""
        return self._order.copy() if self._exchanged else None

    @property
    def findings(self) -> list[Finding]:
        """Findings in the words of `musclesolve check`."""
        return [fault.finding() for fault in self.faults]

    def mended(self, time: float, markers: Array) -> Array:
        """Return the markers (n, 3) [m] of a sample in their places, those that are left out where others show them.

        NaN of a marker that is hidden, and of one that is left out where fewer than three others show its place.

        time: of the sample [s].
        """
        self._number += 1
        position = markers[self._order] if self._exchanged else markers
        last, before = self._tracks
        on = position - 2.0 * last + before
        jumping = np.sqrt(np.vecdot(on, on)) > self._small
        residual = self._residual(position, ~self._off & np.isfinite(position[:, 0]))
        looks = self._number % self._every == 0
        if self._out or jumping.any() or (residual > self._limits).any():
            position = self._looked_at(time, position, on, jumping)
        elif looks:
            position = self._suspected_exchange(time, position, residual)
        if looks:
            self._merged(time, position)
        self._before = residual
        self._tracks = [position, self._tracks[0]]
        if self._exchanged or self._out:
            for fault in self.going_on:
                fault.count, fault.last = fault.count + 1, time
        if not self._out:
            return position
        return self._filled(time, position, ~self._off & np.isfinite(position[:, 0]))

    def count_lost(self) -> None:
        """Count a sample without a pose for the present faults, if they cause it."""
        if not self._unfilled:
            return
        for fault in {id(out.fault): out.fault for out in self._out.values()}.values():
            fault.lost += 1

    def _residual(self, position: Array, usable: Mask) -> Array:
        """Return the rms distance (G,) [m] of the usable markers of each group from its shape; 0 of too few.

        For several positions (T, n, 3): (G, T).
        """
        key = usable.tobytes()
        if key not in self._shapes:
            if len(self._shapes) > 256:
                self._shapes.clear()
            shapes, at = dict[str, tuple[Array, list[int]]](), list[int]()
            for g, group in enumerate(self.groups):
                seen = [k for k, member in enumerate(group.members) if usable[member]]
                if len(seen) > 2 and breadth(group.shape[seen]) > SMALLEST_BREADTH:
                    shapes[str(g)] = group.shape[seen], [group.members[k] for k in seen]
                    at.append(g)
            self._shapes[key] = Shapes.from_bodies(shapes), np.array(at, int)
        of_groups, rows = self._shapes[key]
        frames = position if position.ndim == 3 else position[None]
        residual = np.zeros((len(self.groups), len(frames)))
        if len(rows):
            residual[rows] = of_groups.register(frames)[2]
        return residual if position.ndim == 3 else residual[:, 0]

    def _looked_at(self, time: float, position: Array, on: Array, jumping: Mask) -> Array:
        """Find exchanges and markers that are off; returns the positions in their places.

        on (n, 3): how far each marker is from where it was expected [m]. jumping (n,): those that jump.
        """
        position, crossed = self._crossed(time, position, on, jumping)
        jumping = jumping & ~crossed
        self._take_back(position)
        seen = np.isfinite(position[:, 0])
        loose = (self._residual(position, seen & ~self._off) > self._limits).any() or bool(self._out)
        if loose and (jumping.any() or self._number - self._tried >= self._every):
            self._tried = self._number
            if (pair := self._fitting(position, seen, self._limits)) is not None:
                position = self._exchange_throughout(time, position, pair)
                jumping[list(pair)] = False
        self._leave_out(time, position, seen, self._jumps_alone(on, jumping))
        return position

    def _suspected_exchange(self, time: float, position: Array, residual: Array) -> Array:
        """Exchange two markers where groups that fit less well than usual fit by the same exchange for some time.

        residual (G,) [m]. Skin may make them fit less well for a moment.
        """
        limits, pair = np.maximum(MORE * self._usual, RISEN), None
        if (residual > limits).any():
            pair = self._fitting(position, np.isfinite(position[:, 0]), limits)
        self._suspected = [] if pair is None else [*self._suspected, pair]
        if pair is None or self._suspected[-FEWEST_FRAMES:] != [pair] * FEWEST_FRAMES:
            return position
        return self._exchange_throughout(time, position, pair)

    def _exchange_throughout(self, time: float, position: Array, pair: tuple[int, int]) -> Array:
        """Exchange two markers that were exchanged in the samples before, too."""
        for track in self._tracks:
            track[list(pair)] = track[list(pair[::-1])]
        return self._exchange(time, position, *pair)

    def _crossed(self, time: float, position: Array, on: Array, jumping: Mask) -> tuple[Array, Mask]:
        """Exchange the markers of which each goes on where the other one was expected."""
        far = jumping & (np.sqrt(np.vecdot(on, on)) > self._jump)
        which, done = np.flatnonzero(far), np.zeros(len(jumping), bool)
        if len(which) < 2:
            return position, done
        expected = position - on
        for k, one in enumerate(which):
            for other in which[k + 1 :]:
                if done[one] or done[other]:
                    continue
                apart = max(
                    float(np.linalg.norm(position[one] - expected[other])),
                    float(np.linalg.norm(position[other] - expected[one])),
                )
                if apart < NEARER * min(np.linalg.norm(on[one]), np.linalg.norm(on[other])):
                    position = self._exchange(time, position, int(one), int(other))
                    done[[one, other]] = True
        return position, done

    def _fitting(self, position: Array, seen: Mask, limits: Array) -> tuple[int, int] | None:
        """Return the one exchange by which all groups fit as usual that do not fit within limits (G,) [m].

        None where there is none, or another one that does so too.
        """
        before = self._residual(position, seen)
        loose = np.flatnonzero(before > limits)
        if not len(loose):
            return None
        ones = {k for g in loose for k in self.groups[g].members if seen[k]}
        others = {k for group in self.groups for k in group.members if seen[k]}
        pairs = np.array(sorted({(min(i, j), max(i, j)) for i in ones for j in others if i != j}))
        tried = np.repeat(position[None], len(pairs), axis=0)
        tried[np.arange(len(pairs))[:, None], pairs] = position[pairs[:, ::-1]]
        after = self._residual(tried, seen).T  # (pairs, groups)
        touched = np.array([np.isin(pairs, group.members).any(axis=1) for group in self.groups]).T
        better = (after < BETTER * before) | ~touched
        fits = ((after <= np.maximum(self._usual, RISEN)) | ~touched).all(axis=1)
        fits &= touched[:, loose].any(axis=1) & better[:, loose].all(axis=1)
        total = np.where(fits, (after**2).sum(axis=1), np.inf)
        best, second = np.argsort(total)[:2] if len(total) > 1 else (0, 0)
        if not fits[best] or (best != second and total[best] > BETTER**2 * total[second]):
            return None
        return int(pairs[best, 0]), int(pairs[best, 1])

    def _exchange(self, time: float, position: Array, one: int, other: int) -> Array:
        """Exchange two labels from now on; those that were exchanged are right again."""
        for k in (one, other):
            self._readmit(k)
        pair = (min(one, other), max(one, other))
        names, size = tuple(self.names[k] for k in pair), self._misfit(position, pair)
        position = position.copy()
        position[[one, other]] = position[[other, one]]
        self._order[[one, other]] = self._order[[other, one]]
        if pair in self._exchanged:
            del self._exchanged[pair]
        if (self._order == np.arange(len(self._order))).all():
            self._exchanged.clear()
            return position
        self._exchanged[pair] = self._fault("exchanged", names, size, 0.0, "", time)
        return position

    def _misfit(self, position: Array, markers: Sequence[int]) -> float:
        """Return by how much a distance of some markers in their groups is off at most [m]."""
        worst = 0.0
        for group in self.groups:
            for marker in set(markers) & set(group.members):
                usual = np.linalg.norm(group.shape - group.shape[group.place(marker)], axis=1)
                now = np.linalg.norm(position[list(group.members)] - position[marker], axis=1)
                if np.isfinite(now - usual).any():
                    worst = max(worst, float(np.nanmax(np.abs(now - usual))))
        return worst

    def _jumps_alone(self, on: Array, jumping: Mask) -> dict[int, float]:
        """Return marker -> how far it jumps [m] against the others of its groups, of those that jump."""
        alone = dict[int, float]()
        for marker in np.flatnonzero(jumping).tolist():
            sizes = []
            for group in self.groups:
                others = [k for k in group.members if k != marker and np.isfinite(on[k, 0])]
                if marker in group.members and len(others) > 1:
                    sizes.append(float(np.linalg.norm(on[marker] - np.median(on[others], axis=0))))
            if sizes and min(sizes) > self._small:
                alone[marker] = min(sizes)
        return alone

    def _expected(
        self, group: _Group, position: Array, marker: int, usable: Mask
    ) -> tuple[Array, Array, float] | None:
        """Return where the others of a group expect a marker (3,) [m], their rotation (3, 3) and how well they fit [m].

        None where fewer than three of them are usable, or where these lie on a line.
        """
        k = group.place(marker)
        others = [j for j, member in enumerate(group.members) if j != k and usable[member]]
        if len(others) < 3 or not breadth(group.shape[others]) > SMALLEST_BREADTH:
            return None
        poses = register(group.shape[others], position[None, [group.members[j] for j in others]])
        return poses.point(group.shape[k])[0], poses.rotation[0], float(poses.residual[0])

    def _away(
        self, g: int, position: Array, marker: int, usable: Mask, before: Array | None = None
    ) -> tuple[float, float]:
        """Return how far a marker is from where the others of a group expect it, and how well these fit [m].

        before: how far it was when it was in its place, as of `_Out`. NaN where the others do not show it.
        """
        expected = self._expected(self.groups[g], position, marker, usable)
        if expected is None:
            return np.nan, np.nan
        place, rotation, residual = expected
        away = position[marker] - place
        if before is not None:
            away = away - rotation @ before
        return float(np.linalg.norm(away)), residual

    def _deviation(self, g: int, marker: int, usable: Mask) -> Array | None:
        """Return how far a marker was from where it was expected in the sample before (3,) [m], as of `_Out`."""
        last = self._tracks[0]
        seen = usable & np.isfinite(last[:, 0])
        expected = self._expected(self.groups[g], last, marker, seen) if seen[marker] else None
        return None if expected is None else expected[1].T @ (last[marker] - expected[0])

    def _filled(self, time: float, position: Array, usable: Mask) -> Array:
        """Return the positions with the markers that are left out where the others show them, else NaN.

        How far a marker was from where it was expected fades within `BACK`; for so long also a group shows it in which
        skin usually moves it farther than `OFF`.
        """
        whole = position.copy()
        self._unfilled = False
        for marker, out in self._out.items():
            places, fading = [], float(np.exp(-max(time - out.since, 0.0) / BACK))
            for g, group in enumerate(self.groups):
                if marker not in group.members:
                    continue
                near = group.away[group.place(marker)] <= OFF
                if not near and not (g in out.before and time - out.since <= BACK):
                    continue
                expected = self._expected(group, position, marker, usable)
                if expected is not None:
                    place, rotation, residual = expected
                    shift = fading * rotation @ out.before[g] if g in out.before else 0.0
                    places.append((residual, place + shift))
            self._unfilled |= not places
            whole[marker] = min(places, key=lambda pair: pair[0])[1] if places else np.nan
        return whole

    def _leave_out(self, time: float, position: Array, seen: Mask, alone: Mapping[int, float]) -> None:
        """Leave out markers until the others fit."""
        for g in sorted(range(len(self.groups)), key=lambda g: -len(self.groups[g].members)):
            group = self.groups[g]
            while True:
                usable = seen & ~self._off
                members = [k for k in group.members if usable[k]]
                jumped = [k for k in members if k in alone]
                residual = float(self._residual(position, usable)[g])
                loose = residual > group.limit
                if not (loose or jumped) or len(members) < 3:
                    break
                if len(members) == 3:
                    # three distances do not show which of three is off, and skin may move them as far: a jump does
                    risen = residual - self._before[g]
                    if len(jumped) == 1 and (loose or risen > RISEN):
                        fits = self._before[g] + 0.5 * risen
                        self._mark(time, position, group, jumped[0], alone[jumped[0]], residual, fits)
                    elif loose:
                        self._mark_all(time, group, members, residual)
                    break
                far = [k for k in jumped if alone[k] > self._jump]
                before = {k: self._deviation(g, k, usable) for k in far}
                gone = [k for k in far if self._away(g, position, k, usable, before[k])[0] > self._jump]
                away = {k: self._away(g, position, k, usable) for k in members}
                fitting = sorted((k for k in members if away[k][1] <= group.limit), key=lambda k: away[k][1])
                among = [k for k in fitting if k in gone] or [k for k in fitting if loose or k in jumped]
                unclear = len(among) > 1 and away[among[0]][1] > BETTER * away[among[1]][1]
                if loose and (not among or unclear) and not gone:
                    self._mark_all(time, group, members, residual)
                    break
                if not among or not (
                    among[0] in gone or away[among[0]][0] > group.off[group.place(among[0])]
                ):
                    break
                self._mark(time, position, group, among[0], alone.get(among[0]), away[among[0]][0])

    def _mark(
        self,
        time: float,
        position: Array,
        group: _Group,
        marker: int,
        jumped: float | None,
        size: float,
        fits: float | None = None,
    ) -> None:
        """Leave a marker out from now on; fits: as of `_Out`."""
        apart = np.linalg.norm(position - position[marker], axis=1)
        apart[marker] = np.inf
        near = int(np.nanargmin(apart))
        limit = group.off[group.place(marker)]
        kind, names = "moved", tuple([self.names[marker]])
        if apart[near] < MERGED:
            kind, names, limit = "merged", (self.names[marker], self.names[near]), MERGED
        elif jumped is not None:
            kind, size = "slipped", jumped
        elif np.isnan(limit):
            limit = group.limit
        usable = np.isfinite(position[:, 0]) & ~self._off
        before = dict[int, Array]()
        for g, one in enumerate(self.groups) if jumped is not None else ():
            if marker in one.members and (deviation := self._deviation(g, marker, usable)) is not None:
                before[g] = deviation
        fault = self._fault(kind, names, size, limit, group.by, time)
        fits = BACK_SHARE**2 * group.limit if fits is None else fits
        self._out[marker] = _Out(fault, fits, self._jump if jumped is not None else limit, before, time)
        self._off[marker] = True

    def _mark_all(self, time: float, group: _Group, members: Sequence[int], residual: float) -> None:
        """Leave out all markers of a group that do not show which of them is off."""
        names = tuple(self.names[k] for k in members)
        fault = self._fault("loose", names, residual, group.limit, group.by, time)
        for marker in members:
            self._out[marker], self._off[marker] = _Out(fault, BACK_SHARE * group.limit), True

    def _fault(
        self, kind: str, names: tuple[str, ...], size: float, limit: float, by: str, time: float
    ) -> MarkerFault:
        """Return the fault of this kind and these markers, a new one where there was none."""
        alike = ("slipped", "ghost") if kind == "slipped" else (kind,)
        fault = next((f for f in self.faults if f.kind in alike and f.markers == names), None)
        if fault is None:
            fault = MarkerFault(kind, names, size, limit, by, time, time)
            self.faults.append(fault)
        fault.size = max(fault.size, size)
        if fault.kind != kind:
            fault.name(kind)
        return fault

    def _take_back(self, position: Array) -> None:
        """Take markers again that have been in their places for some samples."""
        for marker, out in list(self._out.items()):
            if not np.isfinite(position[marker, 0]):
                out.right = 0
                continue
            seen = np.isfinite(position[:, 0])
            right = []
            for g, group in enumerate(self.groups):
                if marker not in group.members:
                    continue
                away, _ = self._away(g, position, marker, seen & ~self._off, out.before.get(g))
                if np.isfinite(away):
                    limit = out.limit if g in out.before else group.off[group.place(marker)]
                    right.append(away <= BACK_SHARE * limit)
                else:
                    shown = np.zeros(len(seen), bool)
                    shown[[k for k in group.members if seen[k]]] = True
                    right.append(shown.sum() > 2 and self._residual(position, shown)[g] <= out.fits)
            apart = np.linalg.norm(position - position[marker], axis=1)
            apart[marker] = np.inf
            out.right = out.right + 1 if all(right) and not np.nanmin(apart) < MERGED else 0
            if out.right >= FEWEST_FRAMES:
                if out.fault.kind == "slipped":  # the marker did not stay there
                    out.fault.name("ghost")
                self._readmit(marker)

    def _readmit(self, marker: int) -> None:
        self._out.pop(marker, None)
        self._off[marker] = False

    def _merged(self, time: float, position: Array) -> None:
        """Leave out one of two markers that are in one place: the one that is farther from its own."""
        seen = np.isfinite(position[:, 0])
        which = self._members[(seen & ~self._off)[self._members]]
        if len(which) < 2:
            return
        apart = position[which, None] - position[None, which]
        near = np.vecdot(apart, apart) < MERGED**2
        for i, j in zip(*np.nonzero(np.triu(near, 1)), strict=True):
            pair = [int(which[i]), int(which[j])]
            if self._off[pair].any():
                continue
            alone = seen & ~self._off
            alone[pair] = False
            off = {k: [0.0] for k in pair}
            for k in pair:
                for g, group in enumerate(self.groups):
                    if k in group.members:
                        off[k].append(np.nan_to_num(self._away(g, position, k, alone)[0]))
            worst = max(pair, key=lambda k: max(off[k]))
            group = next(one for one in self.groups if worst in one.members)
            self._mark(time, position, group, worst, None, max(off[worst]))


def with_right_labels(trial: Trial) -> tuple[Trial, tuple[Finding, ...]]:
    """Return the trial with exchanged labels of its recordings exchanged back, as `musclesolve check` finds them."""
    found = list[Finding]()
    for search in (exchanges_throughout, exchanges_for_a_while):
        for exchange in search(trial):
            file = getattr(trial, exchange.role)
            values = {"one": exchange.first, "other": exchange.second, "size": exchange.size, "frames": ""}
            code = "labels_exchanged.throughout" if exchange.frames is None else "labels_exchanged.frames"
            where = Where(file.path, markers=(exchange.first, exchange.second))
            change = exchanged_labels(
                trial, {exchange.role: {exchange.first: exchange.second}}, exchange.frames
            )
            found.append(finding(code, "error", values, where, change=change))
            trial = exchange.undone(trial)
    return trial, tuple(found)
