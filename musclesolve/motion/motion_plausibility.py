"""Plausibility of a consistent motion: the feet where they were measured, no impossible joint speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, time_spans, true_runs
from musclesolve._util.message_text import capitalized, count_of
from musclesolve._util.sides import SIDE_NAMES, SIDES

FOOT_NOTED = 0.03
"""A residual of a foot above this is reported [m]."""
FOOT_LIMIT = 0.10
"""Residual of a foot above which its frames are not valid [m]: with the body weight, half the peak ankle moment."""
BALANCE_LIMIT = 0.25
"""Residual force at the pelvis beyond which the ground forces do not belong to the motion: a share of the greatest
ground force, or of body weight if this is larger. Residuals grow with the forces; Hicks et al. (2015, J Biomech Eng
137:020905) advise to keep them below 5 % of the peak net external force."""
BEYOND_SOLES = 0.15
"""Largest distance beyond the soles at which the predicted force of both feet would have to act [m]: in eight walks, of
recordings and of models, at most 0.12, in a synthetic run 0.05."""
WALKING_FORCE = 1.5
"""Largest force of both feet in walking [body weights]."""
FASTEST = np.radians(3000.0)
"""Fastest rotation of a hip, knee or ankle [rad/s]; a hard kick of a ball reaches two thirds of it."""
LEAST_JUMP = np.radians(10.0)
"""Rotations between frames below this are never jumps [rad]."""
REACH = 6
"""Number of frames on either side that a jump corrupts: in a spline of the fifth degree its effect decreases by the
factor 0.43 per frame.
"""
FOOT = ("ankle", "heel", "toe")
INCONSISTENT = 1e-6
"""Largest violation of a constraint in consistent positions [m, or a cosine]."""
SHOWN_BY = {
    "hip": ("hip_center", "thigh_wand", "knee_lateral", "knee_medial", "knee_center"),
    "knee": ("thigh_wand", "knee_lateral", "knee_medial", "knee_center"),
    "ankle": ("shank_wand", "ankle_lateral", "ankle_medial", "ankle_center", "heel", "toe"),
}
"""Landmarks that determine the segments at a joint; from the hip downward."""
ARM_SHOWN_BY = (
    "shoulder",
    "shoulder_center",
    "elbow_lateral",
    "elbow_medial",
    "wrist",
    "hand_radial",
    "hand_ulnar",
)
"""Landmarks that determine an arm."""


@dataclass(frozen=True)
class MotionWarning:
    """Warning about a motion, or a part of it, that is not plausible."""

    # of its finding: "joint_leap", "pose_ambiguous", "foot_displaced", "pose", "not_carried" or "inconsistent_motion"
    code: str
    what: str  # the problem, with numbers and times
    remedy: str  # how to fix it
    invalid: bool  # whether some frames are not valid
    times: tuple[tuple[float, float], ...]  # first and last time of each stretch [s]
    markers: tuple[str, ...] = ()  # markers that determine the implausible part
    # largest residual force at the pelvis in these frames, beyond the usual one [body weights]
    residual: float | None = None

    def __str__(self) -> str:
        """Return the warning and its remedy as a sentence."""
        return f"{capitalized(self.what)}; {self.remedy}."


@dataclass(frozen=True, eq=False)
class MotionValidity:
    """Masks of the frames (T,) with a plausible motion of the subject, and with ground forces that balance it."""

    steady: Mask  # no joint of a leg jumps
    foot_in_place: Mapping[str, Mask]  # by side, the foot lies where it was measured
    balanced: Mask  # the ground forces balance the motion
    consistent: Mask  # a pose that satisfies the constraints of the model fits the markers

    def with_feet(self, sides: Iterable[str]) -> Mask:
        """Mask (T,) of the frames whose moments can be shared among muscles, at joints proximal to these feet."""
        valid = self.steady & self.balanced & self.consistent
        for side in sides:
            valid = valid & self.foot_in_place[side]
        return valid


def balanced(residual: Array, limit: float) -> Mask:
    """Return the frames (T,) whose ground forces balance the motion.

    A frame in which a foot was not measured has no residual. It gets the verdict of most other frames: errors of
    masses, plates or clocks apply to it, too. Less than a tenth of the frames judges no others.
    """
    known, beyond = np.isfinite(residual), residual > limit
    judges = known.sum() >= max(0.1 * known.size, 1)
    most_fail = bool(judges) and float(beyond[known].mean()) > 0.5
    return np.where(known, ~beyond, not most_fail)


def balance_limit(force: Array, weight: float) -> float:
    """Return the residual force at the pelvis up to which a frame is valid [body weights], see `BALANCE_LIMIT`."""
    peak = float(np.linalg.norm(force, axis=1).max(initial=0.0))
    return BALANCE_LIMIT * max(1.0, peak / weight)


@dataclass(frozen=True)
class Support:
    """Part of the required loads that predicted ground reactions supply, and the part that they lack, over T frames.

    time (T,) [s]; lacking_force, lacking_moment: (T,) sizes at the pelvis [body weights, body weights times m];
    force: (T,) size of both feet [body weights]. spread: time over which the filter of the motion spreads a jump of
    markers [s], half a period of its cut-off.
    """

    time: Array
    lacking_force: Array
    lacking_moment: Array
    force: Array
    spread: float

    @classmethod
    def from_wrenches(
        cls, time: Array, lacking: Array, force: Array, weight: float, cutoff_hz: float | None
    ) -> Support:
        """Support from lacking force and moment (T, 6) [N, N m], force of both feet (T, 3) [N] and weight [N]."""
        force_lacking, moment_lacking, supplied = (
            np.linalg.norm(vectors, axis=1) / weight for vectors in (lacking[:, :3], lacking[:, 3:], force)
        )
        spread = 0.0 if cutoff_hz is None else 0.5 / cutoff_hz
        return cls(time, force_lacking, moment_lacking, supplied, spread)

    @property
    def distance(self) -> Array:
        """Distance (T,) [m] beyond the soles at which the force would act; less than a body weight counts as one."""
        return np.asarray(self.lacking_moment / np.maximum(self.force, 1.0))

    @property
    def limit(self) -> Array:
        """Acceptable lacking force (T,) [body weights], which grows with forces beyond those in walking."""
        return np.asarray(BALANCE_LIMIT * np.maximum(self.force / WALKING_FORCE, 1.0))

    @property
    def carries(self) -> Mask:
        """Mask (T,) of frames in which the feet supply the required loads, with no lacking force within `spread`."""
        carried = np.asarray(self.distance <= BEYOND_SOLES)
        lost = self.time[self.lacking_force > self.limit]
        if not lost.size:
            return carried
        after = np.searchsorted(lost, self.time)
        ends = np.stack([lost[np.maximum(after - 1, 0)], lost[np.minimum(after, lost.size - 1)]])
        return np.asarray(carried & (np.abs(ends - self.time).min(axis=0) > self.spread))

    @property
    def warnings(self) -> list[MotionWarning]:
        """Warnings of frames in which the feet do not supply the required loads."""
        lost = ~self.carries
        if not lost.any():
            return []
        what = (
            f"the feet cannot supply what the motion requires in {lost.sum()} of {lost.size} frames, which are not "
            f"shared among the muscles: up to {self.lacking_force.max():.2g} body weights are lacking (limit "
            f"{BALANCE_LIMIT:g}, more beyond {WALKING_FORCE:g}), and the force would have to act up to "
            f"{self.distance.max():.2g} m beyond the soles (limit {BEYOND_SOLES:g} m)"
        )
        remedy = (
            "look for jumps of markers or coordinates at these times, and for other supports of the body, such as a "
            "seat, a rail or a step above the floor; choose a range without them ([time]), or measure the forces"
        )
        return [MotionWarning("not_carried", what, remedy, True, time_spans(lost, self.time))]


def foot_residual(points: Sequence[str], residual: Array, side: str) -> Array:
    """Return the distance (T,) [m] of a foot from its measured position: rms over ankle, heel and toe."""
    columns = [points.index(f"{part}_{side}") for part in FOOT]
    return np.asarray(np.sqrt(np.mean(residual[:, columns] ** 2, axis=1)))


def jumps(rotation: Array, period: Array | float) -> Mask:
    """Return a mask (...) of rotations [rad] between frames that are faster than possible in any joint; period [s]."""
    return np.asarray(rotation > np.maximum(FASTEST * period, LEAST_JUMP))


def without_joint_jump(rotations: Mapping[str, Array], time: Array) -> Mask:
    """Return a mask (T,) of the frames that no jump of a joint corrupts; rotations by joint, as in `jumps`."""
    frames = np.ones(time.size, bool)
    for rotation in rotations.values():
        for frame in np.flatnonzero(jumps(rotation, np.diff(time))):
            frames[max(frame + 1 - REACH, 0) : frame + 1 + REACH] = False
    return frames


def _jump_times(jumping: Mask, time: Array) -> tuple[tuple[tuple[float, float], ...], str]:
    """Return first and last time of each stretch of jumps (T-1,) between frames (T,) [s], and the times in words."""
    stretches = tuple((float(time[first]), float(time[stop])) for first, stop in true_runs(jumping))
    more = f" and {count_of(len(stretches) - 1, 'more time')}" if len(stretches) > 1 else ""
    return stretches, f"from {stretches[0][0]:.3f} to {stretches[0][1]:.3f} s{more}"


def consistency_warnings(violation: Array, time: Array) -> list[MotionWarning]:
    """Return a warning where the pose violates the constraints of the model; violation (T,) as in `MotionValidity`."""
    beyond = violation > INCONSISTENT
    if not beyond.any():
        return []
    what = (
        f"the motion was not made consistent: points of one body change their distances, or axes their angles, by "
        f"up to {violation.max():.2g} (meters, cosines), so joint moments hold spurious parts, and {beyond.sum()} of "
        f"{beyond.size} frames are not shared among the muscles"
    )
    remedy = 'choose method = "nearest" in [consistency]; "none" is there to be compared with it'
    return [MotionWarning("inconsistent_motion", what, remedy, True, time_spans(beyond, time))]


def pose_warnings(fitted: Mask, time: Array) -> list[MotionWarning]:
    """Return a warning where no pose of the body fits the markers; fitted (T,) as of `Mechanics`."""
    if fitted.all():
        return []
    what = (
        f"no pose of the body fits the markers in some frames: these and the {REACH} before and after them, "
        f"{(~fitted).sum()} of {fitted.size}, are not shared among the muscles"
    )
    remedy = "look for exchanged markers at these times, or choose a range without them ([time])"
    return [MotionWarning("pose", what, remedy, True, time_spans(~fitted, time))]


def jump_warnings(
    mapping: Mapping[str, Mapping[str, float]], rotations: Mapping[str, Array], time: Array
) -> list[MotionWarning]:
    """Return a warning for every leg whose joints jump."""
    warnings = []
    for side in SIDES:
        legs = {joint: rotations[f"{joint}_{side}"] for joint in SHOWN_BY}
        jumping = {
            joint: where for joint, angle in legs.items() if (where := jumps(angle, np.diff(time))).any()
        }
        if not jumping:
            continue
        anywhere = np.any(list(jumping.values()), axis=0)
        far = {name: float(np.degrees(legs[name][anywhere].max())) for name in jumping}
        stretches, when = _jump_times(anywhere, time)
        names = [name for part in SHOWN_BY[next(iter(jumping))] if (name := f"{part}_{side}") in mapping]
        what = (
            f"the {SIDE_NAMES[side]} leg jumps {when}: from one frame to the next "
            + ", ".join(f"the {name} rotates by {angle:.0f} degrees" for name, angle in far.items())
            + ", which is implausibly fast"
        )
        remedy = (
            "check the markers of "
            + ", ".join(f"{name} ({', '.join(mapping[name])})" for name in names)
            + "; forces and moments around this time are not usable"
        )
        warnings.append(MotionWarning("joint_leap", what, remedy, True, stretches))
    return warnings


def ambiguous_warnings(
    mapping: Mapping[str, Mapping[str, float]],
    hidden: Mapping[str, Array],
    time: Array,
    lacking: Callable[[], Array],
) -> list[MotionWarning]:
    """Return a warning for every arm that rotates about its long axis faster than any joint, unlike its markers.

    hidden: by side, the angle (T-1,) [rad] by which the upper arm rotates between frames beyond the rotation of the
    lines of arm and forearm; lacking: returns the residual force at the pelvis (T,) [body weights].
    """
    warnings = []
    for side in SIDES:
        jumping = jumps(hidden[side], np.diff(time))
        if not jumping.any():
            continue
        landmarks = [name for part in ARM_SHOWN_BY if (name := f"{part}_{side}") in mapping]
        markers = tuple(dict.fromkeys(marker for name in landmarks for marker in mapping[name]))
        spoiled, residual = ~without_joint_jump({side: hidden[side]}, time), lacking()
        usual = float(np.nanmedian(residual[~spoiled])) if np.isfinite(residual[~spoiled]).any() else 0.0
        largest_residuals = residual[spoiled & np.isfinite(residual)]
        stretches, when = _jump_times(jumping, time)
        limit = max(float(np.degrees(FASTEST * np.median(np.diff(time)))), float(np.degrees(LEAST_JUMP)))
        what = (
            f"{when} the {SIDE_NAMES[side]} upper arm rotates about its long axis by "
            f"{np.degrees(hidden[side].max()):.0f} degrees from one frame to the next while its markers hardly move, "
            f"expected is less than {limit:.0f}: near a straight elbow they show two poses"
        )
        remedy = (
            f"check {', '.join(markers)} around this time; a medial marker at the elbow, or a range without these "
            "times ([time]), leaves one pose"
        )
        rise = float(largest_residuals.max() - usual) if largest_residuals.size else None
        warnings.append(MotionWarning("pose_ambiguous", what, remedy, False, stretches, markers, rise))
    return warnings


def foot_warnings(
    points: Sequence[str], residual: Array, time: Array, method: str, predicted: bool = False
) -> list[MotionWarning]:
    """Return a warning for every foot that is far from its measured position.

    predicted: whether the ground reactions are predicted, and act under the consistent feet.
    """
    place = "under the consistent foot" if predicted else "where the plate measured it"
    remedy = "check the markers that show hip, knee and ankle of this leg"
    if method == "joint_angles":
        remedy = f'leave method = "joint_angles" out of [consistency], or {remedy}'
    warnings = []
    for side in SIDES:
        distance = foot_residual(points, residual, side)
        if distance.max() <= FOOT_NOTED:
            continue
        lost = distance > FOOT_LIMIT
        follows = "the moments of this leg are off accordingly"
        if lost.any():
            follows = (
                f"{lost.sum()} of {lost.size} frames are beyond {1000 * FOOT_LIMIT:.0f} mm and not valid"
            )
        what = (
            f"the consistent {SIDE_NAMES[side]} foot lies up to {1000 * distance.max():.0f} mm "
            f"({1000 * np.sqrt(np.mean(distance**2)):.0f} mm rms) from where it was measured, while the force "
            f"acts {place}: {follows}"
        )
        stretches = time_spans(lost if lost.any() else distance > FOOT_NOTED, time)
        warnings.append(MotionWarning("foot_displaced", what, remedy, bool(lost.any()), stretches))
    return warnings
