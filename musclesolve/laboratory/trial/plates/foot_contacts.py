"""Contacts of the feet: with the floor by heel and toe, with plates by the center of pressure, those no plate measures.

The foot of a contact is the one nearest to the center of pressure. The feet also show whether two files count time from
different zeros.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from musclesolve._util import arrays
from musclesolve._util.arrays import Array, Mask, at_times, long_enough, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.files.c3d.force_platforms import Plate, PlateRecording
from musclesolve.laboratory.recording.data import (
    BESIDE_GAP,
    SIDE_NAMES,
    SIDES,
    PlateForce,
    Recording,
    Side,
    Trial,
)
from musclesolve.models.opensim.external_loads import BRIEF, FARTHEST_PRESSURE, LIGHT
from musclesolve.tables.cells import free_moment
from musclesolve.tables.sampled import Markers

LOW, SLOW = 0.025, 0.4
"""Limits of a foot on the floor: height of heel or toe above its lowest level [m], and speed [m/s]; on a treadmill,
relative to the belt.
"""
HIGH, FAST = 0.045, 1.0
"""A foot is in the air where heel and toe are each higher [m] or faster [m/s] than this."""
IN_PLACE = 0.25
"""Speed [m/s] that distinguishes a belt: the pelvis travels more slowly, a low foot moves faster."""
LOWEST = 0.3
"""Share of the frames in which a foot is low."""
BELT_WINDOW = 2.0
"""Time [s], more than a stride, over which the median gives the speed of the belt, which may change."""
LEVEL = 0.01
"""Largest difference of the heights of contacts on level ground [m]."""
HALF_WINDOW = 0.02
"""Time [s] before and after of the difference that gives a velocity: noise of 1 mm results in 0.04 m/s."""
SHORTEST_CONTACT = 0.06
"""Shortest contact by the markers [s], and shortest lack of force in a contact."""
EDGE = 0.03
"""Allowed difference of markers and plates at the ends of a contact [s]."""
ROLL = 0.15
"""Longest time [s] from heel or toe leaving its place to the foot in the air, and from the air to the place."""
LOADED_SHARE = 0.03
"""Share of the body weight from which a foot is loaded."""
FEWEST_SUPPORT = 0.12
"""Shortest single support whose force tests its plate [s]."""
FEWEST_ALIKE, ALIKE = 3, 1.05
"""Number of contacts of a foot and ratio of their shares below which they are alike."""
PARTIAL, WHOLE = 0.8, 0.9
"""Shares of the force that moves the body in single support: a plate with less than the first measures part of the
foot, if another contact has at least the second. Beside a plate with less than the second of what it bears in single
support the other foot may bear.
"""


@dataclass(frozen=True)
class FootPath:
    """One foot over the frames (T,) of the motion.

    Whether heel or toe rests on the floor, whether both are in the air, whether a plate carries the foot, and the
    vertical force of its plates [N].
    """

    floor: Mask
    air: Mask
    loaded: Mask
    vertical: Array


def ground_contacts(
    trial: Trial, points: Mapping[Side, Array], speeds: Mapping[Side, Array]
) -> dict[Side, tuple[Mask, Mask]]:
    """Return by foot the frames (T,) in which heel or toe rests on the ground, and in which both are in the air.

    Args:
        trial: the recording.
        points: foot -> heel and toe (2, T, 3) [m], z up, NaN where not seen.
        speeds: foot -> their speeds (2, T) relative to the ground [m/s], NaN likewise.
    """
    levels, contacts = ground_levels(trial, points, speeds), {}
    for side, of_foot in points.items():
        floor, air = np.zeros(of_foot.shape[1], bool), np.ones(of_foot.shape[1], bool)
        for path, speed in zip(of_foot, speeds[side], strict=True):
            height = path[:, 2] - levels[side]
            # Comparisons with NaN are false: an unseen foot is neither on the ground nor in the air.
            above = height - _resting(height, speed)
            floor |= (above < LOW) & (speed < SLOW)
            air &= (above > HIGH) | (speed > FAST)
        contacts[side] = floor, air
    return contacts


def _resting(height: Array, speed: Array) -> float:
    """Return the height of a marker of a standing foot: the lower quartile of its resting heights (T,) [m]."""
    seen = np.isfinite(height) & np.isfinite(speed)
    slow = seen & (speed < SLOW)
    resting = height[slow if slow.sum() > 5 else seen]
    return float(np.quantile(resting, 0.25)) if resting.size else np.nan


def ground_levels(
    trial: Trial, points: Mapping[Side, Array], speeds: Mapping[Side, Array]
) -> dict[Side, Array]:
    """Return by foot the height (T,) of the ground under it [m]: steps and ramps; zero throughout on level ground.

    A contact with a plate is at the height of its points of force. Without a plate a foot stands where it rests while
    the other foot swings, and where it rests at the height of another contact. Between contacts the ground has the
    height of the contact nearer in time. Arguments as of `ground_contacts`.
    """
    time, least, shortest = trial.markers.time, touch(trial), round(SHORTEST_CONTACT * trial.markers.rate)
    levels = {side: np.full(time.size, np.nan) for side in points}
    for plate in trial.forces:
        carried = np.flatnonzero(plate.force[:, 2] > least)
        frames = np.interp(time, plate.time, plate.force[:, 2], 0.0, 0.0) > least
        for first, stop in true_runs(long_enough(frames, shortest)) if plate.side in points else ():
            samples = slice(*np.searchsorted(plate.time[carried], time[[first, stop - 1]]))
            if not (at := carried[samples]).size:
                continue  # a contact of one frame between two samples of slow markers
            levels[plate.side][first:stop] = np.interp(time[first:stop], plate.time[at], plate.point[at, 2])
    known = [float(np.median(level[run])) for level in levels.values() for run in _runs(np.isfinite(level))]
    for supports in (True, False):
        for side, of_foot in points.items():
            on_known, slow = np.isfinite(levels[side]), (speeds[side] < SLOW).all(axis=0)
            # Above the ground stands a marker as on the plates, else as where it rests most of the time.
            some = on_known if (on_known & slow).any() else slow
            ground = np.where(on_known, levels[side], 0.0)
            above = [
                _resting((path[:, 2] - ground)[some], v[some])
                for path, v in zip(of_foot, speeds[side], strict=True)
            ]
            heights = np.min(of_foot[:, :, 2] - np.array(above)[:, None], axis=0)
            swinging = [np.any(speeds[other] > FAST, axis=0) for other in points if other != side]
            for run in _runs(long_enough(slow & ~on_known, shortest)):
                height = float(np.median(heights[run]))
                near = min(known, key=lambda other: abs(other - height), default=np.inf)
                if abs(near - height) < LOW:
                    levels[side][run] = near
                elif supports and any(other[run].any() for other in swinging):
                    levels[side][run] = height
                    known.append(height)
    for side, level in levels.items():
        heights = level[np.isfinite(level)]
        has_steps = heights.size > 0 and np.ptp(heights) > LEVEL
        levels[side] = arrays.nearest_known(level) if has_steps else np.zeros(time.size)
    return levels


def _runs(mask: Mask) -> list[slice]:
    return [slice(first, stop) for first, stop in true_runs(mask)]


def velocity(path: Array, rate_hz: float) -> Array:
    """Return central differences (T, k) of a path (T, k) [1/s], shorter ones at its ends; NaN near gaps."""
    half = max(1, round(HALF_WINDOW * rate_hz))
    frames = np.arange(len(path))
    later, earlier = np.minimum(frames + half, len(path) - 1), np.maximum(frames - half, 0)
    return np.asarray((path[later] - path[earlier]) * (rate_hz / (later - earlier))[:, None])


def ground_velocity(time: Array, pelvis: Array | None, foot: Array) -> Array:
    """Return the velocity (T, 3) [m/s] of the ground under a foot: zero, or the velocity of the belt of a treadmill.

    On a treadmill the pelvis stays in place, and a foot on the belt has its velocity; the belts of the two feet may
    differ (split belts), and change with time.

    Args:
        time: (T,) [s].
        pelvis: (T, 3) a point of the pelvis [m], NaN where it is not seen; without it the ground rests.
        foot: (T, 3) the middle of heel and toe [m], z up, NaN likewise; either end may be lowest in the air.
    """
    belt, rate = np.zeros((time.size, 3)), np.gradient(foot, time, axis=0)
    if pelvis is None:
        return belt
    seen = np.flatnonzero(np.isfinite(pelvis).all(axis=1))
    known = np.isfinite(foot + rate).all(axis=1)
    if not known.any() or seen.size < 2:
        return belt
    traveled = np.linalg.norm((pelvis[seen[-1]] - pelvis[seen[0]])[:2])
    if traveled > IN_PLACE * (time[seen[-1]] - time[seen[0]]):
        return belt
    low = np.flatnonzero(known & (foot[:, 2] <= np.quantile(foot[known, 2], LOWEST)))
    if np.linalg.norm(np.median(rate[low, :2], axis=0)) < SLOW:
        return belt
    centers = np.arange(time[low[0]], time[low[-1]] + 0.25 * BELT_WINDOW, 0.25 * BELT_WINDOW)
    ends = np.searchsorted(time[low], centers + np.array([[-0.5], [0.5]]) * BELT_WINDOW)
    filled = ends[1] > ends[0]
    medians = [np.median(rate[low[first:stop], :2], axis=0) for first, stop in ends[:, filled].T]
    belt[:, :2] = at_times(centers[filled], np.array(medians), time)
    return belt


def vertical_force(trial: Recording, side: Side) -> Array:
    """Return the vertical force of the plates of a foot at the frames of the motion, (T,) [N]; 0 where unrecorded."""
    plates = [plate for plate in trial.forces if plate.side == side]
    forces = [np.interp(trial.markers.time, p.time, p.force[:, 2], 0.0, 0.0) for p in plates]
    return np.asarray(np.sum(forces, axis=0)) if forces else np.zeros(trial.markers.time.size)


def touch(trial: Trial, share: float = LOADED_SHARE) -> float:
    """Return the vertical force [N] from which a foot is loaded, or carries a share of the body weight if known."""
    weight = trial.subject.mass * STANDARD_GRAVITY
    return max(trial.unloaded_below, share * weight if np.isfinite(weight) else 0.0, 1.0)


def unmeasured_contacts(trial: Trial) -> dict[Side, Mask]:
    """Return by foot a mask (T,) of the frames of contacts that plates do not measure completely."""
    return unmeasured(trial, seen_feet(trial))


def seen_feet(trial: Trial) -> dict[Side, FootPath]:
    """Return contacts and force, by markers and plates, of the feet whose heel and toe the motion shows."""
    time, rate = trial.markers.time, trial.markers.rate
    pelvis, points, speeds = _pelvis(trial), {}, {}
    for side, foot in heels_and_toes(trial).items():
        points[side] = np.stack([foot.heel, foot.toe])
        moving = np.stack([velocity(path, rate) for path in points[side]])
        ground = ground_velocity(time, pelvis, points[side].mean(axis=0))
        speeds[side] = np.linalg.norm(moving - ground, axis=2)
    feet = {}
    for side, (floor, air) in ground_contacts(trial, points, speeds).items():
        vertical = vertical_force(trial, side)
        contact = long_enough(floor, round(SHORTEST_CONTACT * rate))
        feet[side] = FootPath(contact, air & ~floor, vertical > touch(trial), vertical)
    return feet


def unmeasured(trial: Trial, feet: dict[Side, FootPath]) -> dict[Side, Mask]:
    """Return by foot a mask (T,) of frames on the floor, or possibly so, in a contact that plates do not measure
    completely.

    The mask includes frames in which its plate has no numbers.
    """
    rate, supports = trial.markers.rate, {side: single_supports(trial, feet, side) for side in feet}
    shares = {
        side: {contact: one.mass / trial.subject.mass for contact, one in of_side.items()}
        for side, of_side in supports.items()
    }
    recorded = forces_recorded(trial)
    # A toe that moves at 1 m/s bears where the plates of the other foot carry only a part of the body.
    bears = {
        side: foot.loaded & (foot.vertical < WHOLE * _borne_alone(trial, supports[side]))
        for side, foot in feet.items()
    }
    helped = {side: np.any([bears[other] for other in feet if other != side], axis=0) for side in feet}
    some_whole = any(share >= WHOLE for of_side in shares.values() for share in of_side.values())
    # A plate of another scale has the same share in every contact; a foot beside its plate does not.
    alike = {
        side: len(of_side) >= FEWEST_ALIKE and max(of_side.values()) < ALIKE * min(of_side.values())
        for side, of_side in shares.items()
    }
    edge, shortest, reach = round(EDGE * rate), max(1, round(SHORTEST_CONTACT * rate)), round(ROLL * rate)
    lost: dict[Side, Mask] = {side: np.zeros(foot.floor.size, bool) for side, foot in feet.items()}
    for side, foot in feet.items():
        for first, stop in true_runs(foot.floor):
            partial = some_whole and not alike[side] and shares[side].get((first, stop), 1.0) < PARTIAL
            # No plate carries the foot during its contact, or for a while between its ends.
            between = slice(first + edge * (first > 0), stop - edge * (stop < foot.floor.size))
            lacks = recorded[between] & ~foot.loaded[between]
            lacking = max((b - a for a, b in true_runs(lacks)), default=0) >= shortest
            if partial or lacking or not foot.loaded[first:stop].any():
                # With the frames before and after it in which the foot is not yet in the air, or may still bear.
                away = foot.air & ~helped[side]
                before, after = away[max(first - reach, 0) : first], away[stop : stop + reach]
                early = int(np.argmax(before[::-1])) if before.any() else before.size
                late = int(np.argmax(after)) if after.any() else after.size
                lost[side][first - early : stop + late] = True
    for plate in trial.forces:
        if plate.side in lost:
            lost[plate.side] |= plate.in_gap(trial.markers.time, BESIDE_GAP)
    return lost


def forces_recorded(trial: Trial) -> Mask:
    """Return the frames (T,) from the first to the last sample of all plates."""
    time = trial.markers.time
    recorded = np.ones(time.size, bool)
    for plate in trial.forces:
        recorded &= (plate.time[0] <= time) & (time <= plate.time[-1])
    return recorded


@dataclass(frozen=True)
class SingleSupport:
    """The longest stretch of a contact in which the other foot is in the air by its markers: frames first to last.

    duration: T of the stretch [s]. mass: impulse of the plates over g T + dv, what they carry and accelerate [kg].
    """

    first: int
    last: int
    duration: float
    mass: float

    @property
    def frames(self) -> slice:
        """The frames of the stretch."""
        return slice(self.first, self.last + 1)


def single_supports(
    trial: Trial, feet: Mapping[Side, FootPath], side: Side, height: Array | None = None
) -> dict[tuple[int, int], SingleSupport]:
    """Return the single support of each contact (first frame, stop) of a foot that plates carry.

    Only markers tell that the other foot is in the air: the stated mass has no part in it.

    height: (T,) of the center of mass [m]; the pelvis stands for it unless given.
    """
    other, pelvis = feet.get("l" if side == "r" else "r"), _pelvis(trial)
    if height is None and pelvis is not None:
        height = pelvis[:, 2]
    if other is None or side not in feet or height is None:
        return {}
    rate, supports = trial.markers.rate, {}
    rising = velocity(height[:, None], rate)[:, 0]
    alone = feet[side].floor & feet[side].loaded & other.air & np.isfinite(rising)
    for first, stop in true_runs(feet[side].floor):
        runs = [(first + a, first + b - 1) for a, b in true_runs(alone[first:stop])]
        start, end = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
        duration = (end - start) / rate
        if duration >= FEWEST_SUPPORT:
            impulse = float(np.trapezoid(feet[side].vertical[start : end + 1], dx=1.0 / rate))
            mass = impulse / (STANDARD_GRAVITY * duration + float(rising[end] - rising[start]))
            supports[first, stop] = SingleSupport(start, end, duration, mass)
    return supports


def _borne_alone(trial: Trial, supports: Mapping[tuple[int, int], SingleSupport]) -> Array:
    """Return the weight (T,) [N] that the plates of a foot carry where it bears the body alone.

    In a contact with a single support it is measured, whatever mass is stated and whatever scale the plate has.
    """
    weight = np.full(trial.markers.time.size, trial.subject.mass * STANDARD_GRAVITY)
    for (first, stop), support in supports.items():
        weight[first:stop] = support.mass * STANDARD_GRAVITY
    return weight


def _pelvis(trial: Trial) -> Array | None:
    """Return the middle of the markers of the pelvis (T, 3) [m]; None if none of its landmarks is seen."""
    names = [f"{part}_{side}" for part in ("asis", "psis", "hip_center") for side in SIDES]
    mapped = [trial.mapping[name] for name in [*names, "sacrum"] if trial.sees(name)]
    return np.mean([trial.markers.weighted(weights) for weights in mapped], axis=0) if mapped else None


MEAN_S = 0.02
"""Time [s] over which the force is averaged to tell a contact from noise of an idle plate: a foot is loaded within it,
and the mean of 20 samples has a quarter of their noise."""
# Least vertical force that has a center of pressure [N], and horizontal moment that is none [N m].
_BEARS, _NEGLIGIBLE = 1.0, 0.01
# Share of the force on a plate that is vertical, at least, where the axes are right.
_UPRIGHT = 0.7
# The share of a contact's force that has to be nearer to one foot than to the other.
CLEAR = 0.9
# Largest distance of heel and toe markers beyond the edge of a plate while the sole is on it [m].
_OVERHANG = 0.03
# The center of pressure of a sole that is on the plate as a whole keeps this distance from its edge [m], but for this
# share of the load: first and last points are quotients of small forces.
_EDGE, _AT_EDGE = 0.01, 0.03
# Speed below which a foot stands [m/s], and the least duration [s].
_STANDING, _STANDING_TIME = 0.3, 0.1
NOWHERE = Plate(
    1, 2, np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]) + 1e6, np.zeros(3), np.eye(6)
)
"""A plate whose corners are unknown: these are far from any foot, which is neither beside it nor on it."""
# Landmarks of the back and the front of a foot, the better one first.
_ANKLE = ("ankle_lateral", "ankle_medial", "ankle_center")
_BACK, _FRONT = ("heel", *_ANKLE), ("toe", "metatarsal_5", *_ANKLE)


def to_center_of_pressure(force: Array, point: Array, moment: Array) -> tuple[Array, Array]:
    """Return point and moment (S, 3) [m], [N m] of the same wrenches at the center of pressure, at the same height.

    A wrench about any point is one wrench. With d = (-My, Mx, 0) / Fz the moment about p + d,

        M' = M - d x F,

    is vertical: the free moment. Moments about a fixed point, beside centers of pressure, become free moments at these.
    Samples with hardly any vertical force are unchanged, as are plates whose moments are
    vertical already, and plates whose forces are not mainly vertical: their axes are others than stated.
    """
    bearing = np.abs(force[:, 2]).mean() / max(np.linalg.norm(force, axis=1).mean(), _BEARS)
    if bearing < _UPRIGHT:
        return point, moment
    across = np.hypot(moment[:, 0], moment[:, 1])
    moved = (np.abs(force[:, 2]) >= _BEARS) & (across > 0.0)
    if not (across[moved] > _NEGLIGIBLE).any():
        return point, moment
    if (free := free_moment(force, point, moment)) is not None:
        return point, free
    beside, turned = point.copy(), moment.copy()
    x, y = -moment[moved, 1] / force[moved, 2], moment[moved, 0] / force[moved, 2]
    beside[moved, :2] += np.stack([x, y], axis=1)
    turned[moved] *= [0.0, 0.0, 1.0]
    turned[moved, 2] -= x * force[moved, 1] - y * force[moved, 0]
    return beside, turned


def distance_to_foot(point: Array, heel: Array, toe: Array) -> Array:
    """Return the distance (...) [m] of points (..., 2 or 3) from the line between heel and toe, seen from above."""
    start = heel[..., :2]
    along, beyond = toe[..., :2] - start, point[..., :2] - start
    share = np.vecdot(beyond, along) / np.maximum(np.vecdot(along, along), 1e-12)
    beside = beyond - np.minimum(np.maximum(share, 0.0), 1.0)[..., None] * along
    return np.asarray(np.sqrt(np.vecdot(beside, beside)))


@dataclass(frozen=True)
class FootTrack:
    """Path of a foot: time (T,) [s], heel and toe or their substitutes (T, 3) [m], NaN where they were not seen."""

    time: Array
    heel: Array
    toe: Array

    @cached_property
    def middle(self) -> Array:
        """The point between heel and toe, (T, 3) [m]."""
        return 0.5 * (self.heel + self.toe)

    @cached_property
    def still(self) -> Mask:
        """Frames (T,) in which the foot stands still."""
        return np.asarray(np.linalg.norm(np.gradient(self.middle, self.time, axis=0), axis=1) < _STANDING)

    def distance(self, point: Array, time: Array) -> Array:
        """Distance (S,) [m] of points (S, 3) at times (S,) from the line of heel and toe, seen from above."""
        return distance_to_foot(point, *self.at(time))

    def from_middle(self, point: Array, time: Array) -> Array:
        """Distance (S,) [m] of points (S, 3) at times (S,) from the point between heel and toe, seen from above."""
        middle = at_times(self.time, self.middle[:, :2], time)
        return np.asarray(np.linalg.norm(point[:, :2] - middle, axis=1))

    def away(self, point: Array, time: Array) -> float:
        """Median of `from_middle` where it is known [m]."""
        return float(arrays.median_of_known(self.from_middle(point, time)))

    def at(self, time: Array) -> tuple[Array, Array]:
        """The positions of heel and toe at times (S,), seen from above, (S, 2) each [m]; NaN beyond the recording."""
        heel, toe = (
            np.stack([np.interp(time, self.time, path[:, k], np.nan, np.nan) for k in range(2)], axis=1)
            for path in (self.heel, self.toe)
        )
        return heel, toe


Feet = Mapping[Side, FootTrack]


def heels_and_toes(trial: Trial) -> dict[Side, FootTrack]:
    """Return the feet of which the motion shows heel and toe, NaN in gaps."""
    ends = {side: [f"{part}_{side}" for part in ("heel", "toe")] for side in SIDES}
    seen = {side: names for side, names in ends.items() if all(map(trial.sees, names))}
    paths = {side: [trial.markers.weighted(trial.mapping[n]) for n in names] for side, names in seen.items()}
    return {side: FootTrack(trial.markers.time, *path) for side, path in paths.items()}


def feet_of(walk: Markers, mapping: Mapping[str, Mapping[str, float]]) -> Feet:
    """Return the paths of both feet by heel and toe; ankle and forefoot replace unmapped ones.

    A landmark that only a cluster carries counts as unmapped. The path has gaps where no landmark shows the foot.
    """
    lost = np.full((walk.time.size, 3), np.nan)

    def path(names: tuple[str, ...], side: Side) -> Array:
        for name in names:
            weights = mapping.get(f"{name}_{side}", {})
            if weights and all(marker in walk for marker in weights):
                return walk.weighted(weights)
        return lost

    return {side: FootTrack(walk.time, path(_BACK, side), path(_FRONT, side)) for side in SIDES}


class Unclear(Enum):
    """The cause why the foot of a contact is not known."""

    UNSEEN = "the markers of heel or toe are missing"
    FAR = "no foot is near"
    BOTH = "both feet stand on it"
    BESIDE = "a part of the foot stands beside the plates"


@dataclass(frozen=True)
class Contact:
    """One contact: a stretch of samples in which a plate is loaded.

    Its samples, their times [s], the greatest vertical force [N], and the foot; None, with the cause and a sentence on
    it, if the foot is unclear.
    """

    plate: int
    first: int
    last: int
    start: float
    end: float
    peak: float
    side: Side | None
    unclear: Unclear | None = None
    reason: str = ""

    @property
    def significant(self) -> bool:
        """Whether the contact is more than noise."""
        return self.peak >= LIGHT and self.end - self.start >= BRIEF

    def __str__(self) -> str:
        return f"plate {self.plate} from {self.start:.3f} to {self.end:.3f} s"


def stands_loaded(time: Array, vertical: Array, threshold: float) -> Mask:
    """Return the samples (S,) of contacts: stretches of vertical force (S,) of at least the threshold [N].

    The mean over `MEAN_S` must reach the threshold in the stretch, too: noise of an idle plate exceeds it in single
    samples.
    """
    step = (time[-1] - time[0]) / max(time.size - 1, 1)
    half = int(0.5 * MEAN_S / step + 1e-9) if step > 0.0 else 0
    force, window = np.nan_to_num(vertical), np.ones(2 * half + 1)
    sums, counts = (
        np.convolve(values, window)[half : half + time.size] for values in (force, 0.0 * force + 1.0)
    )
    reached, loaded = sums >= threshold * counts, (force >= threshold) & (force > 0.0)
    for first, stop in true_runs(loaded):
        loaded[first:stop] = reached[first:stop].any()
    return np.asarray(loaded)


def contacts(recording: PlateRecording, walk: Markers, feet: Feet, threshold: float) -> list[Contact]:
    """Return the contacts of a plate, global frame, with their feet; it is loaded from `threshold` [N]."""
    time, vertical = recording.time, recording.force[:, 2]
    starts, stops = np.array(true_runs(stands_loaded(time, vertical, threshold)), int).reshape(-1, 2).T
    if not starts.size:
        return []
    # A foot does not leave and return within a moment.
    step = (time[-1] - time[0]) / (time.size - 1)
    apart = (starts[1:] - stops[:-1]) * step > BRIEF
    ends = zip(starts[np.append(True, apart)], stops[np.append(apart, True)], strict=True)
    return [
        Contact(
            recording.plate.number,
            int(first),
            int(stop),
            float(time[first]),
            float(time[stop - 1]),
            float(vertical[first:stop].max()),
            *_foot_of(recording, slice(first, stop), feet, walk.rate),
        )
        for first, stop in ends
    ]


def on_plates_whole(
    recording: PlateRecording, steps: list[Contact], feet: Feet, plates: Sequence[Plate]
) -> list[Contact]:
    """Return the contacts of one plate, without the foot where it stands partly beside all plates.

    The plate then bears only a part of the sole: a marker lies beside the plates, and the center of pressure is at the
    edge. A sole that bears its load inside the plate is on it, wherever its markers are.
    """
    whole = []
    for contact in steps:
        rows = slice(contact.first, contact.last)
        load = np.maximum(recording.force[rows, 2], 0.0)
        at_edge = ~recording.plate.contains(recording.point[rows], -_EDGE)
        divided = load[at_edge].sum() > _AT_EDGE * load.sum()
        if contact.side is not None and contact.significant and divided:
            foot = feet[contact.side]
            frames = slice(*np.searchsorted(foot.time, (contact.start, contact.end)))
            for part, path in (("heel", foot.heel), ("toe", foot.toe)):
                points = path[frames][foot.still[frames]]
                points = points[np.isfinite(points).all(axis=1)]
                if len(points) and max(plate.contains(points, _OVERHANG).mean() for plate in plates) < 0.5:
                    reason = f"the {part} of the {SIDE_NAMES[contact.side]} foot stands beside the plates"
                    contact = replace(contact, side=None, unclear=Unclear.BESIDE, reason=reason)
                    break
        whole.append(contact)
    return whole


def stands_on(plate: Plate, feet: Feet) -> Iterator[tuple[Side, float, float]]:
    """Yield the feet whose middle stands still on a plate, seen from above, with first and last time [s]."""
    for side, foot in feet.items():
        for first, stop in true_runs(foot.still & plate.contains(foot.middle, 0.0)):
            if foot.time[stop - 1] - foot.time[first] >= _STANDING_TIME:
                yield side, float(foot.time[first]), float(foot.time[stop - 1])


def on_feet(recording: PlateRecording, steps: list[Contact]) -> list[PlateForce]:
    """Return the force of a plate on each foot that stood on it, zero outside of the contacts of this foot."""
    forces, unloaded = [], recording.force.copy()
    for contact in steps:
        first, last = np.searchsorted(recording.time, (contact.start - BRIEF, contact.end + BRIEF))
        unloaded[first:last] = np.nan
    for side in SIDES:
        under = np.zeros(recording.time.size, bool)
        for contact in steps:
            if contact.side == side:
                under[contact.first : contact.last] = True
        if under.any():
            forces.append(replace(force_on_foot(recording, side, under), unloaded=unloaded))
    return forces


def force_on_foot(recording: PlateRecording, side: Side, under: Mask) -> PlateForce:
    """Return the force of a plate on a foot, zero at the samples (S,) at which the foot is not on it."""
    force, moment = (np.where(under[:, None], v, 0.0) for v in (recording.force, recording.moment))
    number = recording.plate.number
    return PlateForce(
        side,
        recording.time,
        force,
        recording.point,
        moment,
        recording.path,
        number,
        moment_fault=recording.moment_fault,
    )


def _foot_of(
    recording: PlateRecording, samples: slice, feet: Feet, rate: float
) -> tuple[Side | None, Unclear | None, str]:
    """Return the foot of a contact, or None with the cause and a sentence on it."""
    time, point, weight = recording.time[samples], recording.point[samples], recording.force[samples, 2]
    distance = np.stack([feet[side].distance(point, time) for side in SIDES])
    known = np.isfinite(distance).all(axis=0) & (weight > 0.0)
    if not known.any():
        return None, Unclear.UNSEEN, Unclear.UNSEEN.value
    distance, weight = distance[:, known], weight[known]
    share = float(weight[distance[0] <= distance[1]].sum() / weight.sum())
    side = SIDES[0] if share >= 0.5 else SIDES[1]
    away = float(np.median(distance[SIDES.index(side)]))
    if away > FARTHEST_PRESSURE:
        return None, Unclear.FAR, f"{Unclear.FAR.value}, the {SIDE_NAMES[side]} one is {away:.2f} m away"
    stands = []
    for foot in feet.values():
        frames = slice(*np.searchsorted(foot.time, (time[0], time[-1])))
        still = foot.still[frames] & recording.plate.contains(foot.middle[frames], 0.0)
        stands.append(still.sum() >= max(1.0, _STANDING_TIME * rate))
    if max(share, 1.0 - share) < CLEAR or all(stands):
        return None, Unclear.BOTH, Unclear.BOTH.value
    return side, None, ""


LEAST_DIFFERENCE = 0.2
"""Difference of first times from which files count from different zeros [s]; a smaller one may be a late trigger."""
SAME_FRAMES = 2.0
"""Frames by which markers and forces of one recording differ in their duration."""
NEARER, NEAR = 0.8, 0.1
"""Mean distance of loaded points from the feet when the clocks are right: share of what it was, and largest [m]."""
LOADED_N = 100.0

Loaded = tuple[Array, Array, Array, Side | None]
"""Times (S,) [s], force (S, 3) [N] and point (S, 3) [m] of a plate, and its foot if it is stated."""


def clock_difference(plates: Sequence[Loaded], feet: Feet, offset: float) -> float:
    """Return what is to be added to the times of plates so that they begin with the markers [s]; 0 if nothing is.

    A marker file that was cut out of a longer recording may count from the beginning of that recording, and the file of
    forces or EMG from its own first sample, or the other way round. Both then last equally long. The feet under the
    forces decide.

    offset: what [plates] adds to the times in any case [s].
    """
    walk = next(iter(feet.values())).time
    if not plates or walk.size < 2:
        return 0.0
    difference = zeros_apart(plates[0][0], walk)
    if not difference:
        return 0.0
    as_stated, together = (pressure_beside(plates, feet, offset + late) for late in (0.0, difference))
    return difference if together < min(NEARER * as_stated, NEAR) else 0.0


def zeros_apart(time: Array, walk: Array) -> float:
    """Return how much later a motion (T,) begins than other samples (S,) that last as long [s]; 0 if others do not."""
    step = max((walk[-1] - walk[0]) / (walk.size - 1), (time[-1] - time[0]) / max(time.size - 1, 1))
    difference = float(walk[0] - time[0])
    as_long = abs(np.ptp(time) - np.ptp(walk)) <= SAME_FRAMES * step
    return difference if as_long and abs(difference) >= LEAST_DIFFERENCE else 0.0


def pressure_beside(plates: Sequence[Loaded], feet: Feet, late: float = 0.0) -> float:
    """Mean distance of loaded points from their feet [m], at most `FARTHEST_PRESSURE`; that if no foot is seen.

    late: what is added to the times of the plates [s].
    """
    distances = []
    for time, force, point, side in plates:
        loaded = force[:, 2] > LOADED_N
        of_feet = [
            feet[foot].distance(point[loaded], time[loaded] + late) for foot in ([side] if side else feet)
        ]
        distances.append(np.fmin.reduce(of_feet))
    beside = np.concatenate(distances)
    beside = np.minimum(beside[np.isfinite(beside)], FARTHEST_PRESSURE)
    return float(beside.mean()) if beside.size else FARTHEST_PRESSURE


def clock_note(difference: float, file: str, marker_file: str, start: float, what: str = "forces") -> str:
    """Sentence on times that were moved by a difference [s] to begin with the markers, at `start` [s]."""
    shown = ", and the forces act on the feet if both begin together" if what == "forces" else ""
    return (
        f"{file} and {marker_file} count time from different zeros: both last equally long{shown}. {difference:+.3f} s "
        f"were added to the times of the {what}, which begin with the markers at {start:.3f} s."
    )
