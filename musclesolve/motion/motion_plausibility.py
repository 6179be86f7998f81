"""Whether a consistent motion can be that of the person: feet where they were seen, joints no faster than they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.recording.data import SIDE_NAMES, SIDES, Side, Trial

FOOT_NOTED = 0.03
"""A foot that lies farther than this from where it was seen is worth a word [m]."""
FOOT_LIMIT = 0.10
"""Beyond this its frames are not valid [m]: body weight on such an arm is half the peak moment of an ankle."""
BALANCE_LIMIT = 0.25
"""Residual force at the pelvis beyond which the ground forces do not belong to the motion: a share of the greatest
ground force, or of body weight if that is more. Residuals grow with the forces; Hicks et al. (2015, J Biomech Eng
137:020905) advise to keep them below 5 % of the peak net external force."""
FASTEST = np.radians(3000.0)
"""No hip, knee or ankle turns faster [rad/s]; a hard kick at a ball comes to two thirds of it."""
LEAST_LEAP = np.radians(10.0)
"""Turns from frame to frame below this are left alone at any rate [rad]."""
REACH = 6
"""Frames on either side that a leap spoils: a spline of the fifth degree carries it on, 0.43 from each to the next."""
FOOT = ("ankle", "heel", "toe")
SHOWN_BY = {
    "hip": ("hip_center", "thigh_wand", "knee_lateral", "knee_medial", "knee_center"),
    "knee": ("thigh_wand", "knee_lateral", "knee_medial", "knee_center"),
    "ankle": ("shank_wand", "ankle_lateral", "ankle_medial", "ankle_center", "heel", "toe"),
}
"""Landmarks that say how the segments at a joint lie; from the hip downwards."""


@dataclass(frozen=True)
class Doubt:
    """Why a motion, or a part of it, cannot be that of the person.

    Args:
        kind: "leap" of a joint, or "foot" that is displaced.
        what: what is the matter, with numbers and times.
        remedy: how to fix it.
        invalid: whether there are frames that do not count.
        times: first and last time of each stretch [s].
    """

    kind: str
    what: str
    remedy: str
    invalid: bool
    times: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        """Return both as a sentence."""
        return f"{self.what[0].upper()}{self.what[1:]}; {self.remedy}."


@dataclass(frozen=True, eq=False)
class MotionValidity:
    """Which frames (T,) hold a motion that can be the subject's, with ground forces that carry it.

    Args:
        steady: no joint of a leg jumps.
        foot_in_place: by side, the foot lies where it was seen.
        balanced: the ground forces carry the motion.
    """

    steady: Mask
    foot_in_place: Mapping[str, Mask]
    balanced: Mask

    @classmethod
    def of(
        cls,
        turns: Mapping[str, Array],
        time: Array,
        points: Sequence[str],
        shift: Array,
        residual: Array,
        limit: float,
    ) -> MotionValidity:
        """Judge the frames.

        Args:
            turns: as in `steady`.
            time: (T,) [s].
            points: as in `foot_shift`.
            shift: as in `foot_shift`.
            residual: (T,) size of the residual force at the pelvis [body weights].
            limit: up to which it counts as balanced, see `balance_limit` [body weights].
        """
        feet: dict[str, Mask] = {side: foot_shift(points, shift, side) <= FOOT_LIMIT for side in SIDES}
        return cls(steady(turns, time), feet, balanced(residual, limit))

    def of_leg(self, side: str) -> Mask:
        """(T,) which frames can be shared among the muscles of a leg."""
        return self.steady & self.foot_in_place[side] & self.balanced


def balanced(residual: Array, limit: float) -> Mask:
    """Return the frames (T,) whose ground forces carry the motion.

    Where a foot was not measured there is no residual to judge by. Such a frame shares the verdict of most others:
    what is wrong with their masses, plates or clocks is wrong with it too.

    Args:
        residual: (T,) size of the residual force at the pelvis [body weights], NaN where it is not known.
        limit: up to which a frame is balanced [body weights].
    """
    known, beyond = np.isfinite(residual), residual > limit
    most_fail = bool(known.any()) and float(beyond[known].mean()) > 0.5
    return np.where(known, ~beyond, not most_fail)


def balance_limit(force: Array, weight: float) -> float:
    """Return the residual force at the pelvis up to which a frame is valid [body weights].

    Residuals grow with the forces: it is a share of the greatest ground force, or of body weight if that is more.

    Args:
        force: (T, 3) sum of the ground reactions [N].
        weight: of the body [N].
    """
    peak = float(np.linalg.norm(force, axis=1).max(initial=0.0))
    return BALANCE_LIMIT * max(1.0, peak / weight)


def foot_shift(points: Sequence[str], shift: Array, side: str) -> Array:
    """Return how far a foot lies from where it was seen, (T,) [m]: root mean square over ankle, heel and toe.

    Args:
        points: the points that were measured.
        shift: (T, n) distance between consistent and measured position of each [m].
        side: of the foot.
    """
    columns = [points.index(f"{part}_{side}") for part in FOOT]
    distance: Array = np.sqrt(np.mean(shift[:, columns] ** 2, axis=1))
    return distance


def leaps(turn: Array, time: Array) -> Mask:
    """Return between which neighbouring frames a joint turns impossibly far, (T-1,).

    Args:
        turn: (T-1,) angle [rad] by which it turns from each frame to the next.
        time: (T,) [s].
    """
    far: Mask = turn > np.maximum(FASTEST * np.diff(time), LEAST_LEAP)
    return far


def steady(turns: Mapping[str, Array], time: Array) -> Mask:
    """Return the frames (T,) that no leap of a joint reaches; turns by joint, as in `leaps`."""
    kept = np.ones(time.size, bool)
    for turn in turns.values():
        for frame in np.flatnonzero(leaps(turn, time)):
            kept[max(frame + 1 - REACH, 0) : frame + 1 + REACH] = False
    return kept


def leap_doubts(trial: Trial, turns: Mapping[str, Array], time: Array) -> list[Doubt]:
    """Return a doubt for every leg whose joints turn impossibly far from one frame to the next.

    Args:
        trial: says which markers show the joint.
        turns: "hip_r" and the like -> (T-1,) [rad].
        time: (T,) [s].
    """
    return [doubt for side in SIDES for doubt in _leaps_of_leg(trial, turns, time, side)]


def _leaps_of_leg(trial: Trial, turns: Mapping[str, Array], time: Array, side: Side) -> list[Doubt]:
    legs = {joint: turns[f"{joint}_{side}"] for joint in SHOWN_BY}
    leaping = {joint: leaps(turn, time) for joint, turn in legs.items()}
    anywhere = np.any(list(leaping.values()), axis=0)
    if not anywhere.any():
        return []
    joint = next(joint for joint, where in leaping.items() if where.any())
    far = {
        name: float(np.degrees(turn[anywhere].max())) for name, turn in legs.items() if leaping[name].any()
    }
    stretches = tuple((float(time[first]), float(time[stop])) for first, stop in true_runs(anywhere))
    first, last = stretches[0]
    more = f" and {len(stretches) - 1} times more" if len(stretches) > 1 else ""
    return [
        Doubt(
            "leap",
            f"the {SIDE_NAMES[side]} leg leaps from {first:.3f} to {last:.3f} s{more}: from one frame to the next "
            + ", ".join(f"the {name} turns by {angle:.0f} degrees" for name, angle in far.items())
            + ", faster than joints can",
            f"look at the markers of {_shown_by(trial, joint, side)}; forces and moments around it mean nothing",
            True,
            stretches,
        )
    ]


def _shown_by(trial: Trial, joint: str, side: Side) -> str:
    """Return the landmarks that show how a joint lies, each with its markers."""
    names = [f"{part}_{side}" for part in SHOWN_BY[joint]]
    return ", ".join(f"{name} ({', '.join(trial.mapping[name])})" for name in names if name in trial.mapping)


def foot_doubts(points: Sequence[str], shift: Array, time: Array, method: str) -> list[Doubt]:
    """Return a doubt for every foot that lies far from where it was seen.

    Args:
        points: the points that were measured.
        shift: (T, n) distance between consistent and measured position of each [m].
        time: (T,) [s].
        method: of consistency.
    """
    doubts = []
    for side in SIDES:
        distance = foot_shift(points, shift, side)
        if distance.max() > FOOT_NOTED:
            doubts.append(_foot_doubt(distance, time, side, method))
    return doubts


def _foot_doubt(distance: Array, time: Array, side: Side, method: str) -> Doubt:
    lost = distance > FOOT_LIMIT
    what = (
        f"the consistent {SIDE_NAMES[side]} foot lies up to {1000 * distance.max():.0f} mm "
        f"({1000 * np.sqrt(np.mean(distance**2)):.0f} mm rms) from where it was seen, while the force acts where the "
        "plate saw it: "
    )
    what += (
        f"{lost.sum()} of {lost.size} frames are beyond {1000 * FOOT_LIMIT:.0f} mm and not valid"
        if lost.any()
        else "the moments of this leg are off accordingly"
    )
    remedy = "look at the markers that show hip, knee and ankle of this leg"
    if method == "joint_angles":
        remedy = f'leave method = "joint_angles" out of [consistency], or {remedy}'
    beyond = lost if lost.any() else distance > FOOT_NOTED
    stretches = tuple((float(time[first]), float(time[stop - 1])) for first, stop in true_runs(beyond))
    return Doubt("foot", what, remedy, bool(lost.any()), stretches)
