"""Movement of a result, recognized by its ground reactions and its motion, or stated in the trial file.

The rule is conservative: a motion that fits no movement clearly is unknown, and is compared with no measured range. A
foot is on the ground where its vertical force exceeds 20 N, so that every frame whose forces are known is one of double
support, of single support, or has neither foot on the ground. The latter is flight where the pelvis falls (downward
acceleration above g/2 in the tenth of a second after take-off or before landing); elsewhere the person stands on
something that measures no forces, and the frame is not known. With these phases in their order:

jump
    flight, and both feet take off for it or land after it together.
running
    flight between the single supports of opposite feet, and no double support; straight on and level, as below.
walking, stairs, turning
    double support between the single supports of opposite feet and no flight; the pelvis moves on, or that happens
    twice on the spot while the standing feet move back below the body by 0.15 m or more (treadmill). In level walking
    the pelvis rises or sinks by less than 0.1 of its way over the ground and, its mean over a stride, by less than
    0.05 m, and the ankles that the body passes over, and the centers of pressure of the stances (medians), have heights
    within 0.06 m; on stairs the pelvis rises or sinks by 0.3 to 1.2 of its way. The pelvis faces within 45 degrees of
    where it goes, and its direction, the mean over a stride, changes by less than 20 degrees (in seven straight
    recordings and three computed strides by up to 8). Who turns by more than 40 degrees on level ground is turning; all
    else, such as ramps, curbs, walking backward or to the side, is unknown.
standing on one leg
    single support of one foot throughout, for a second; pelvis within 0.15 m, the range of the knee within 20 degrees.
standing
    double support throughout; pelvis within 0.15 m, the range of the knees within 20 degrees, bent less than 35.
squat
    double support throughout, pelvis within 0.6 m over the ground; knees from below 40 degrees to above 50 and back,
    at the deepest bent alike within 30 degrees (a lunge is unknown), and there the feet carry more than 0.8 of the body
    weight.
chair
    double support throughout; the knees go from above 60 degrees to below 40 or the other way, and at the deepest the
    feet carry less than 0.7 of the body weight, since a seat carries the rest.

Where the forces of one leg alone are known, walking is recognized by a stance of 0.4 s or more with at most 1.5 body
weights while the pelvis moves on at 0.4 to 2.2 m/s, its rise as above; nothing else is. Throughout means in 95 %
of the frames; knee flexion is the angle between thigh and shank.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, side_of
from musclesolve.constants import LOADED_FROM_N, STANDARD_GRAVITY
from musclesolve.laboratory.motion.events.foot_events import SIMULTANEOUS_S
from musclesolve.laboratory.recording.trial_settings import MOVEMENTS
from musclesolve.laboratory.results.dataset.result_quantities import body_weight, joint_dofs, number, text

UNKNOWN, OTHER = "unknown", "other"
WALKING, RUNNING, TURNING, JUMP = "walking", "running", "turning", "jump"
STAIRS_UP, STAIRS_DOWN = "stairs_up", "stairs_down"
STANDING, ONE_LEG, SQUAT, CHAIR = "standing", "standing_on_one_leg", "squat", "chair"
WORDS = {**MOVEMENTS, UNKNOWN: "a movement of unknown kind"}
"""Every movement of a result in words."""
MOVEMENT_ATTRIBUTE = "movement"
"""Attribute of a result: the movement that the trial file states."""

BOTH, NONE, LOST = "both", "none", "lost"
"""Names of the support of a frame beside r and l: double support, flight, not known."""
FLIGHT_WINDOW = 0.1
"""Time after take-off and before landing in which the pelvis has to fall [s]."""
FALLS = 0.5
"""Downward acceleration of the pelvis in flight, as a share of g."""
FEWEST_FRAMES = 3
"""Least number of frames that show a motion."""
LEVEL, STAIRS = 0.1, (0.3, 1.2)
"""Rise of the pelvis over its way on the ground: of level walking, and of stairs."""
STRIDE_TIME = 1.0
"""Time over which direction and height of the pelvis are averaged, half of the time of a shorter recording [s]."""
STRAIGHT, TURNED, FORWARD = np.deg2rad([20.0, 40.0, 45.0])
"""Change of direction in straight walking, and in turning; angle between facing and moving direction [rad]."""
RISES, FEET_APART = 0.05, 0.06
"""Largest change on level ground of the mean height of the pelvis, and of the feet and the ground below them [m]."""
TREADS = 0.15
"""Least backward motion of a standing foot below the body on a treadmill [m]."""
SLOWEST_RUN = 1.0
"""Speed over the ground below which running is on the spot or on a treadmill of unknown speed [m/s]."""
LUNGE = np.deg2rad(30.0)
"""Largest difference between the flexions of both knees in a squat [rad]."""
WALKING_SPEED = 0.2
"""Least speed of a pelvis that moves over the ground [m/s]."""
ALONE_STANCE, ALONE_FORCE, ALONE_SPEED = 0.4, 1.5, (0.4, 2.2)
"""Stance [s], force [body weights] and speed [m/s] of walking where the forces of one leg are known."""
STILL, ON_THE_SPOT = 0.15, 0.6
"""Largest displacement of the pelvis in standing, and over the ground in a squat [m]."""
UPRIGHT, DEEP, BENT = np.deg2rad([40.0, 60.0, 50.0])
"""Knee flexion when upright, when sitting, and in a squat [rad]."""
STIFF, HARDLY_BENT = np.deg2rad([20.0, 35.0])
"""Range and greatest knee flexion in standing [rad]."""
SEATED, ON_FEET = 0.7, 0.8
"""Largest share of body weight on the feet when sitting, and least share in a squat."""
THROUGHOUT = 0.95
"""Share of the frames that counts as all frames."""


@dataclass(frozen=True)
class Movement:
    """A movement, whether the trial file states it, and the evidence of the motion."""

    name: str  # one of WORDS
    stated: bool = False
    speed: float = float("nan")  # mean over the ground or the belt [m/s]; NaN where not known
    seen: str = ""  # movement that motion and forces show, where it differs from the stated one

    @property
    def words(self) -> str:
        """The movement in words, such as: level walking."""
        return WORDS[self.name]


def movement(seen: "SeenMotion") -> Movement:
    """Return the movement of a result: as stated, else as recognized from motion and ground reactions.

    A stated movement is compared with the recognized one, except `other`, which is compared with no range.
    """
    stated = text(seen.result, MOVEMENT_ATTRIBUTE)
    if seen.time.size < FEWEST_FRAMES:
        return Movement(stated or UNKNOWN, bool(stated))
    shown = _recognized(seen) if seen.legs and number(seen.result, "subject_mass_kg") else UNKNOWN
    name = stated or shown
    speed = float("nan") if name == RUNNING and seen.speed < SLOWEST_RUN else seen.speed
    if not stated:
        return Movement(shown, speed=speed)
    return Movement(stated, True, speed, "" if shown in (UNKNOWN, stated) or stated == OTHER else shown)


def _recognized(seen: "SeenMotion") -> str:
    if len(seen.legs) == 1:
        return _of_one_leg(seen)
    phases = [name for name, _, _ in seen.phases]
    known = [name for name in phases if name != LOST]

    def steps(between: str) -> int:
        """Return the number of changes from one foot to the other with some support between them."""
        return sum(
            phases[k : k + 3] in (["r", between, "l"], ["l", between, "r"]) for k in range(len(phases))
        )

    if NONE in known:
        if seen.together:
            return JUMP
        level = seen.way_speed < WALKING_SPEED or abs(seen.slope) < LEVEL
        runs = steps(NONE) and BOTH not in known and level and seen.turn < STRAIGHT and seen.goes_forward
        return RUNNING if runs else UNKNOWN
    if steps(BOTH):
        if seen.way_speed > WALKING_SPEED or seen.turn > STRAIGHT:
            return _on_foot(seen)
        on_belt = steps(BOTH) > 1 and seen.spot < ON_THE_SPOT and seen.treads and seen.level
        return WALKING if on_belt else UNKNOWN
    if not known:
        return UNKNOWN
    share = {name: seen.share(name) for name in ("r", "l", BOTH)}
    for side in SIDE_NAMES:
        if share[side] > THROUGHOUT and seen.duration >= 1.0 and seen.spot < STILL:
            return ONE_LEG if np.ptp(seen.knee(side)) < STIFF else UNKNOWN
    return _on_both_feet(seen) if share[BOTH] > THROUGHOUT else UNKNOWN


def _on_both_feet(seen: "SeenMotion") -> str:
    """Recognize standing, squat or chair from the mean flexion of both knees and the weight on the feet."""
    knee, load = 0.5 * (seen.knee("r") + seen.knee("l")), np.nansum(list(seen.force.values()), axis=0)
    if not np.isfinite(knee).all():
        return UNKNOWN
    if np.ptp(knee) < STIFF and knee.max() < HARDLY_BENT:
        return STANDING if seen.spot < STILL else UNKNOWN
    deep = knee > knee.max() - np.deg2rad(5.0)
    carried = float(np.median(load[deep]))
    if knee.min() < UPRIGHT and knee.max() > DEEP and carried < SEATED:
        return CHAIR
    alike = np.abs(seen.knee("r") - seen.knee("l"))[deep].max() < LUNGE
    and_back = alike and max(knee[0], knee[-1]) < UPRIGHT and knee.max() > BENT
    return SQUAT if and_back and carried > ON_FEET and seen.spot < ON_THE_SPOT else UNKNOWN


def _of_one_leg(seen: "SeenMotion") -> str:
    (side,) = seen.legs
    stances = [stop - first for first, stop in true_runs(np.nan_to_num(seen.force[side]) > seen.threshold)]
    low, high = ALONE_SPEED
    longest = max(stances, default=0) * seen.period
    if longest < ALONE_STANCE or np.nanmax(seen.force[side]) > ALONE_FORCE or not low < seen.way_speed < high:
        return UNKNOWN
    return _on_foot(seen)


def _on_foot(seen: "SeenMotion") -> str:
    """Recognize walking, turning or stairs of a person who moves over the ground or turns."""
    if seen.turn > STRAIGHT:
        return TURNING if seen.turn > TURNED and seen.level else UNKNOWN
    if not seen.goes_forward:
        return UNKNOWN
    slope = seen.slope
    if abs(slope) < LEVEL:
        return WALKING if seen.level else UNKNOWN
    if STAIRS[0] < abs(slope) < STAIRS[1]:
        return STAIRS_UP if slope > 0.0 else STAIRS_DOWN
    return UNKNOWN


class SeenMotion:
    """Evidence of the movement in a result, over its T frames."""

    def __init__(self, result: xr.Dataset) -> None:
        self.result = result
        self.time = np.asarray(result["time"].values, dtype=float)

    @property
    def duration(self) -> float:
        """Time from the first frame to the last one [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def period(self) -> float:
        """Time between frames, their median [s]."""
        return float(np.median(np.diff(self.time)))

    @property
    def legs(self) -> list[str]:
        """The legs whose ground reaction is in the result."""
        return list(self.force)

    @cached_property
    def threshold(self) -> float:
        """Vertical force of a foot on the ground [body weights]."""
        return LOADED_FROM_N / body_weight(self.result)

    @cached_property
    def force(self) -> dict[str, Array]:
        """Vertical ground reaction of each leg that bears any (T,) [body weights], NaN where not measured."""
        if "ground_reaction_force" not in self.result or not number(self.result, "subject_mass_kg"):
            return {}
        vertical = self.result["ground_reaction_force"].sel(axis="z") / body_weight(self.result)
        legs = {
            side: np.asarray(vertical.sel(side=side).values)
            for side in SIDE_NAMES
            if side in vertical["side"]
        }
        # a foot that is never on the ground stands where nothing is measured
        return {side: force for side, force in legs.items() if np.nanmax(force, initial=0.0) > self.threshold}

    @cached_property
    def hips(self) -> Array:
        """Middle of the hips (T, 3) [m]; NaN where the result holds no such points."""
        if "pelvis_position" in self.result:
            return np.asarray(self.result["pelvis_position"].transpose("time", "axis").values, dtype=float)
        points = [self._point("hip", side) for side in SIDE_NAMES]
        return np.mean(
            [point for point in points if point is not None] or [np.full((self.time.size, 3), np.nan)], axis=0
        )

    def _point(self, kind: str, side: str) -> Array | None:
        """The joint of a leg (T, 3) [m] among the points of the skeleton; None without it."""
        alike = [k for k, name in enumerate(self._points) if side_of(name) == side and kind in name.lower()]
        best = next((k for k in alike if self._points[k] == f"{kind}_{side}"), next(iter(alike), None))
        if best is None:
            return None
        points = self.result.variables["skeleton_position"].isel(skeleton_point=best)
        return np.asarray(points.transpose("time", "axis").values, dtype=float)

    @cached_property
    def _points(self) -> list[str]:
        """The names of the points of the skeleton; none where the result has no skeleton."""
        if "skeleton_position" not in self.result:
            return []
        return [str(name) for name in self.result.variables["skeleton_point"].values]

    def ahead(self, side: str) -> Array | None:
        """Return the distance of the ankle in front of the hips (T,) [m], at right angles to the mean line of the hips.

        For a model with one leg the distance is from its hip along the walking direction. None where neither is known.
        """
        ankle, right, left = self._point("ankle", side), self._point("hip", "r"), self._point("hip", "l")
        hip = right if right is not None else left
        if ankle is None or hip is None:
            return None
        if right is None or left is None:
            if "heading" not in self.result:
                return None
            heading = np.asarray(self.result["heading"].values, float)
            return np.einsum("tx,xt->t", (ankle - hip)[:, :2], np.stack([np.cos(heading), np.sin(heading)]))
        across = np.mean(left - right, axis=0)
        if not (width := np.hypot(across[0], across[1])) > 0.0:
            return None
        forward = np.array([across[1], -across[0]]) / width
        return np.asarray((ankle - 0.5 * (right + left))[:, :2] @ forward)

    def knee(self, side: str) -> Array:
        """Knee flexion (T,) [rad], between thigh and shank where their ends are known; NaN where unknown."""
        hip, knee, ankle = (self._point(kind, side) for kind in LEG_JOINTS)
        if hip is not None and knee is not None and ankle is not None:
            thigh, shank = knee - hip, ankle - knee
            cosine = np.sum(thigh * shank, axis=1) / (
                np.linalg.norm(thigh, axis=1) * np.linalg.norm(shank, axis=1)
            )
            return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))
        dofs = joint_dofs(self.result, "knee", side, sagittal=True)
        # without a skeleton the sign of the knee angle is unknown: knees hardly overextend
        angle = (
            np.asarray(self.result["joint_angle"].sel(dof=dofs[0]).values)
            if dofs
            else np.full(self.time.size, np.nan)
        )
        return angle if abs(np.nanmax(angle, initial=0.0)) >= abs(np.nanmin(angle, initial=0.0)) else -angle

    @cached_property
    def way_speed(self) -> float:
        """Mean speed of the pelvis over the ground, from its first to its last position [m/s]; 0 if unknown."""
        step = self.hips[-1, :2] - self.hips[0, :2]
        return float(np.nan_to_num(np.linalg.norm(step) / self.duration))

    @cached_property
    def speed(self) -> float:
        """Speed of the recorded strides, belt included, else of the pelvis where it moves on [m/s]; NaN if unknown."""
        if "walking_speed" in self.result and np.isfinite(self.result["walking_speed"].values).any():
            return float(np.nanmean(self.result["walking_speed"].values))
        return self.way_speed if self.way_speed > WALKING_SPEED else float("nan")

    @cached_property
    def spot(self) -> float:
        """Twice the greatest distance of the pelvis from its mean position on the ground [m]; 0 where unknown."""
        place = self.hips[:, :2] - self.hips[:, :2].mean(axis=0)
        return float(np.nan_to_num(2.0 * np.linalg.norm(place, axis=1).max()))

    def _mean(self, values: Array) -> Array:
        """Mean of the known values (T, ...) over a stride about each instant, where the stride is in the frames."""
        values = values[np.isfinite(values).all(axis=tuple(range(1, values.ndim)))]
        width = max(1, round(min(STRIDE_TIME, 0.5 * self.duration) / self.period))
        if len(values) < width:
            return values[:0]
        sums = np.cumsum(np.concatenate([np.zeros_like(values[:1]), values]), axis=0)
        return np.asarray((sums[width:] - sums[:-width]) / width)

    @cached_property
    def turn(self) -> float:
        """Change of the facing direction of the pelvis, or of its path without hips [rad]; 0 where unknown."""
        right, left = self._point("hip", "r"), self._point("hip", "l")
        if (
            right is not None
            and left is not None
            and np.nanmax(np.abs(left - right)[:, :2], initial=0.0) > 0.0
        ):
            ahead = self._mean((left - right)[:, :2])
        else:
            step = np.diff(self._mean(self.hips[:, :2]), axis=0)
            ahead = step[np.linalg.norm(step, axis=1) > WALKING_SPEED * self.period]
        angle = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
        return float(np.ptp(angle)) if angle.size else 0.0

    @cached_property
    def goes_forward(self) -> bool:
        """Return whether the pelvis faces its moving direction; also if it stays in its place, or without data."""
        right, left = self._point("hip", "r"), self._point("hip", "l")
        if right is None or left is None or self.way_speed < WALKING_SPEED:
            return True
        across, way = np.nanmean(left - right, axis=0), self.hips[-1] - self.hips[0]
        size = np.hypot(across[0], across[1]) * np.hypot(way[0], way[1])
        return bool(across[1] * way[0] - across[0] * way[1] >= np.cos(FORWARD) * size)

    @cached_property
    def level(self) -> bool:
        """Return whether the mean heights of pelvis, ankles (as the body passes over them) and ground stay constant."""
        heights, ground = list[float](), list[float]()
        pressure = self.result.get("center_of_pressure")
        for side, force in self.force.items():
            if pressure is not None:
                height = pressure.sel(side=side, axis="z").values
                stances = [height[slice(*run)] for run in true_runs(np.nan_to_num(force) > self.threshold)]
                ground += [float(np.nanmedian(stance)) for stance in stances if np.isfinite(stance).any()]
            ankle, ahead = self._point("ankle", side), self.ahead(side)
            if ankle is not None and ahead is not None:
                on = np.nan_to_num(force) > self.threshold
                passes = on[:-1] & on[1:] & (ahead[:-1] > 0.0) & (ahead[1:] <= 0.0)
                heights += ankle[1:, 2][passes].tolist()
        pelvis = self._mean(self.hips[:, 2])
        same = all(np.ptp(values or [0.0]) < FEET_APART for values in (heights, ground))
        return bool(same and (not pelvis.size or np.ptp(pelvis) < RISES))

    @cached_property
    def treads(self) -> bool:
        """Return whether a standing foot moves below the body, as on a belt; also without data."""
        moved = [
            float(np.nanmax(ahead[on]) - np.nanmin(ahead[on]))
            for side, force in self.force.items()
            if (ahead := self.ahead(side)) is not None
            and (on := (np.nan_to_num(force) > self.threshold) & np.isfinite(ahead)).any()
        ]
        return not moved or max(moved) > TREADS

    @cached_property
    def slope(self) -> float:
        """Rise of the pelvis over its path on the ground, by a line through all frames."""
        ahead = self.hips[-1, :2] - self.hips[0, :2]
        along = (self.hips[:, :2] - self.hips[0, :2]) @ ahead / np.linalg.norm(ahead)
        return float(np.polyfit(along, self.hips[:, 2], 1)[0])

    @cached_property
    def phases(self) -> list[tuple[str, int, int]]:
        """Phases of support in order: r, l, both, none or lost, with the first frame and the frame after the last."""
        right, left = (self.force[side] for side in SIDE_NAMES)
        known: Mask = np.isfinite(right) & np.isfinite(left)
        on = [np.nan_to_num(force) > self.threshold for force in (right, left)]
        names = np.select([~known, on[0] & on[1], on[0], on[1]], [LOST, BOTH, "r", "l"], default=NONE)
        runs = [(name, *run) for name in (BOTH, "r", "l", NONE, LOST) for run in true_runs(names == name)]
        merged = list[tuple[str, int, int]]()
        for name, first, stop in sorted(runs, key=lambda run: run[1]):
            if name == NONE and not self._falls(first, stop):
                name = LOST
            if name == LOST and (stop - first) * self.period <= SIMULTANEOUS_S:
                continue  # a gap short enough to connect the phases before and after it
            if merged and merged[-1][0] == name:
                name, first, _ = merged.pop()
            merged.append((name, first, stop))
        return merged

    def _falls(self, first: int, stop: int) -> bool:
        """Return whether the pelvis falls at the beginning or the end of frames without support."""
        width = max(3, round(FLIGHT_WINDOW / self.period))
        for window in (slice(first, min(stop, first + width)), slice(max(first, stop - width), stop)):
            time, height = self.time[window], self.hips[window, 2]
            if time.size > 2 and np.isfinite(height).all():
                if 2.0 * np.polyfit(time - time[0], height, 2)[0] < -FALLS * STANDARD_GRAVITY:
                    return True
        return False

    @cached_property
    def together(self) -> bool:
        """Return whether both feet leave together before a flight, or land together after it."""
        for k, (name, _, _) in enumerate(self.phases):
            if name == NONE:
                before, after = self.phases[max(k - 2, 0) : k][::-1], self.phases[k + 1 : k + 3]
                for near, *next_ in filter(None, (before, after)):
                    brief = near[0] in SIDE_NAMES and (near[2] - near[1]) * self.period <= SIMULTANEOUS_S
                    if near[0] == BOTH or (brief and next_ and next_[0][0] == BOTH):
                        return True
        return False

    def share(self, name: str) -> float:
        """Share of all frames with a type of support."""
        return sum(stop - first for phase, first, stop in self.phases if phase == name) / self.time.size
