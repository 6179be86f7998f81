"""Plausibility of a motion: feet where they were measured, joint speeds, rigid bodies, forces, soles on one floor.

Only impossible recordings are refused; others get warnings. The warnings on a recording and its filter concern points
that do not form a rigid body, and forces that disagree with the body mass: over any time the mean vertical force
follows from the mass, for any motion.

Where ground reactions are predicted, the soles of standing feet should lie on one level floor and rest on it. On a
tilted floor, or in tilted axes, the places at which feet stand lie on a slope. Its accuracy depends on the distance
between the places. Feet in video may slide: the speed of a standing sole is the speed of its slowest point.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, mean_length, near_instants, time_spans, true_runs
from musclesolve._util.messages import capitalized, count_of
from musclesolve.constants import FLIGHT_CUTOFF_HZ, STANDARD_GRAVITY, WALKING_CUTOFF_HZ
from musclesolve.dynamics.inverse.force_balance import BALANCE_LIMIT, BEYOND_SOLES, WALKING_FORCE, Support
from musclesolve.dynamics.inverse.residual_reduction import CHANGE, MotionChange
from musclesolve.laboratory.markers.gaps.gap_filling import jumps as marker_jumps
from musclesolve.laboratory.markers.gaps.rigid_registration import Poses
from musclesolve.laboratory.markers.landmarks import bounding_markers
from musclesolve.laboratory.motion.anatomy.joint_centers import between
from musclesolve.laboratory.motion.anatomy.landmark_positions import Points, body_place
from musclesolve.laboratory.motion.events.foot_events import FootLoads, flights
from musclesolve.laboratory.motion.signals.filter_choice import FilterChoice, choice_notes
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Recording, Trial
from musclesolve.laboratory.recording.trial_settings import FilterSettings
from musclesolve.models.settings import REDUCED

FOOT_NOTED = 0.03
"""A residual of a foot above this is reported [m]."""
FOOT_LIMIT = 0.10
"""Residual of a foot above which its frames are not valid [m]: with the body weight, half the peak ankle moment."""
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

    steady: Mapping[str, Mask]  # by side, no joint of the leg jumps
    foot_in_place: Mapping[str, Mask]  # by side, the foot lies where it was measured
    balanced: Mask  # the ground forces balance the motion
    consistent: Mask  # a pose that satisfies the constraints of the model fits the markers

    def frames(self, some: slice | Indices) -> "MotionValidity":
        """The masks in a window of frames."""
        steady, in_place = (
            {side: mask[some] for side, mask in masks.items()} for masks in (self.steady, self.foot_in_place)
        )
        return MotionValidity(steady, in_place, self.balanced[some], self.consistent[some])

    def with_feet(self, sides: Iterable[str]) -> Mask:
        """Mask (T,) of the frames whose moments can be shared among muscles, at joints proximal to these feet."""
        valid = self.balanced & self.consistent
        for side in sides:
            valid = valid & self.steady[side] & self.foot_in_place[side]
        return valid


def support_warnings(support: Support) -> list[MotionWarning]:
    """Return a warning of frames in which the feet do not supply the loads that the motion requires."""
    lost = ~support.carries
    if not lost.any():
        return []
    what = (
        f"the feet cannot supply what the motion requires in {lost.sum()} of {lost.size} frames, which are not "
        f"shared among the muscles: up to {support.lacking_force.max():.2g} body weights are lacking (limit "
        f"{BALANCE_LIMIT:g}, more beyond {WALKING_FORCE:g}), and the force would have to act up to "
        f"{support.distance.max():.2g} m beyond the soles (limit {BEYOND_SOLES:g} m)"
    )
    remedy = (
        "look for jumps of markers or coordinates at these times, and for other supports of the body, such as a "
        "seat, a rail or a step above the floor; choose a range without them ([time]), or measure the forces"
    )
    return [MotionWarning("not_carried", what, remedy, time_spans(lost, support.time))]


def change_warnings(change: MotionChange[Any]) -> list[MotionWarning]:
    """Return a warning where the bound limits the change of a motion: the residual then has another cause."""
    if change.reduction.size >= CHANGE:
        return []
    largest = 1e3 * float(change.change.max())
    sentence = (
        f"the change of the motion that reduces the residual is held at its bound (largest {largest:.0f} mm)"
    )
    remedy = (
        "look for what else does not fit: plates, body mass, clocks (musclesolve check), or leave "
        f'out residual = "{REDUCED}" in [consistency]'
    )
    return [MotionWarning("motion_change", sentence, remedy, ())]


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


def beside_marker_jumps(trial: Trial, time: Array, cutoff_hz: float, side: str) -> Mask:
    """Return a mask (T,) of frames within one period of the filter of a jump of a marker of one leg or the pelvis.

    Farther away a step of a marker changes its filtered path by less than one percent of the step. Times (T,) [s].
    """
    used = bounding_markers(trial, [side])
    paths = np.stack([trial.markers[name] for name in used], axis=1)
    jumping = marker_jumps(paths, trial.markers.rate).any(axis=1)
    return near_instants(time, trial.markers.time[jumping], 1.0 / cutoff_hz)


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
    return [MotionWarning("inconsistent_motion", what, remedy, time_spans(beyond, time))]


def pose_warnings(fitted: Mask, time: Array) -> list[MotionWarning]:
    """Return a warning where no pose of the body fits the markers; fitted (T,) as of `Mechanics`."""
    if fitted.all():
        return []
    what = (
        f"no pose of the body fits the markers in some frames: these and the {REACH} before and after them, "
        f"{(~fitted).sum()} of {fitted.size}, are not shared among the muscles"
    )
    remedy = "look for exchanged markers at these times, or choose a range without them ([time])"
    return [MotionWarning("pose", what, remedy, time_spans(~fitted, time))]


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
        warnings.append(MotionWarning("joint_leap", what, remedy, stretches))
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
        warnings.append(MotionWarning("pose_ambiguous", what, remedy, stretches, markers, rise))
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
        warnings.append(MotionWarning("foot_displaced", what, remedy, stretches))
    return warnings


# Deformation of a cluster above which it is reported [m]; likewise the mean difference of a segment's length between
# motion and standing.
LOOSE = 0.010
# Deformation of a cluster above which its markers are not on one body [m].
BROKEN = 0.040
# Share of the frames, those that fit best, in which clusters are checked for it: a jump affects only a few frames.
BEST = 0.8
# Below the first cut-off the filter removes a part of a walking motion, above the second it passes noise [Hz]; without
# flight above the third, for 20 Hz change forces of sound walks by 290 N.
USUAL_CUTOFF_HZ, HIGHEST_OF_WALKS_HZ = (3.0, 20.0), 16.0
# Usual cut-offs with flight, in running and jumping [Hz].
CUTOFF_WITH_FLIGHT_HZ = (10.0, 20.0)
# A cut-off that is not stated is at most this share of the rates of markers and plates.
CARRIED = 0.2
# Number of periods of the cut-off below which a range has few independent values.
FEWEST_PERIODS = 2.0
# Share of the required force: refused above the first; a warning outside the second.
TOO_MUCH, USUAL_SUPPORT = 1.5, (0.85, 1.15)
# Shortest time of forces of both feet for this check [s].
SHORTEST_SUPPORT = 0.1


def check_rigid(recording: Recording, poses: Mapping[str, Poses]) -> None:
    """Refuse a body whose points do not keep their shape at all: one of them is another marker than in standing."""
    for name, pose in poses.items():
        if (rms := _rms(pose, BEST)) > BROKEN:
            table, key = body_place(recording, name)
            raise recording.document.fault(
                "not_rigid",
                (table, key),
                f"the points of {name} fit their standing shape only to {1000 * rms:.0f} mm",
                f"points of one body, which fit it to {1000 * BROKEN:.0f} mm or better",
                "musclesolve check names labels that are exchanged; else see whether the "
                "markers have the same names in the standing trial and in the motion",
            )


def filter_notes(recording: Recording, chosen: FilterChoice) -> list[str]:
    """Return sentences on unread curves, a short range, and ends too near to the ends of the recording."""
    # Of several cut-offs the lowest reaches farthest over time.
    period, rate = 1.0 / float(chosen.cutoff_hz.min()), recording.markers.rate
    frames, gap_free, notes = recording.frames(), chosen.gap_free, choice_notes(chosen)
    duration = (frames.stop - 1 - frames.start) / rate
    if duration < FEWEST_PERIODS * period:
        notes.append(
            f"The time range has {frames.stop - frames.start} frames, {duration:.3g} s: less than "
            f"{FEWEST_PERIODS:g} periods of the cut-off, too little to judge the motion by."
        )
    before, after = (frames.start - gap_free.start) / rate, (gap_free.stop - frames.stop) / rate
    margins = [(before, f"{before:.3g} s before it", "first"), (after, f"{after:.3g} s after it", "last")]
    # A hundredth of a frame: sums of times are not exact.
    short = [(length, end) for margin, length, end in margins if margin < period - 0.01 / rate]
    if short:
        notes.append(
            f"The needed markers reach beyond the time range by {' and '.join(length for length, _ in short)}. The "
            f"filter needs {period:.3g} s there, one period of its cut-off. The {' and '.join(e for _, e in short)} "
            "frames are less certain."
        )
    return notes


def usual_cutoff(
    recording: Recording, options: FilterSettings, loads: FootLoads
) -> tuple[FilterSettings, list[str]]:
    """Return the filter with a cut-off that suits the motion where none is stated, and a sentence on it in a flight.

    With flight, forces begin and end suddenly, at the strike of a foot. In a computed run with 1 mm of noise the
    moments are nearest to the true ones at 12 to 20 Hz; at 6 Hz their error is three times as large.
    """
    if options.cutoff_hz is not None:
        return options, []
    if not len(flying := flights(recording, loads)):
        return options.changed(cutoff_hz=WALKING_CUTOFF_HZ), []
    rates = [recording.markers.rate, *(plate.rate for plate in recording.forces)]
    cutoff = min(FLIGHT_CUTOFF_HZ, CARRIED * min(rates))
    sentence = (
        f"Neither foot is on the ground at {flying[0].mean():.2f} s{_and_other_times(flying)}: markers and forces are "
        f"filtered at {cutoff:g} Hz, not at the {WALKING_CUTOFF_HZ:g} Hz of walking; cutoff_hz in [filter] states "
        "another one."
    )
    return options.changed(cutoff_hz=cutoff), [sentence]


def _and_other_times(flying: Array) -> str:
    others = len(flying) - 1
    return f" and at {count_of(others, 'other time')}" if others else ""


def cutoff_notes(trial: Trial, cutoff_hz: float | None) -> list[str]:
    """Return sentences on a cut-off of the trial file that does not suit the motion."""
    notes = []
    if (unusual := unusual_cutoff(cutoff_hz, walks=False)) is not None:
        notes.append(f"The cut-off of {cutoff_hz:g} Hz {unusual['effect']}; walking needs about 6 Hz.")
    if (advice := cutoff_with_flight(trial, cutoff_hz)) is not None:
        notes.append(f"{capitalized(advice[0])}; {advice[1]}.")
    return notes


def unusual_cutoff(cutoff_hz: float | None, walks: bool) -> dict[str, object] | None:
    """Return a cut-off [Hz] outside the usual ones, its effect and their limits; None for a usual one or without."""
    (low, high), effect = USUAL_CUTOFF_HZ, "leaves noise in the accelerations"
    high = HIGHEST_OF_WALKS_HZ if walks else high
    if cutoff_hz is None or low <= cutoff_hz <= high:
        return None
    effect = "takes away part of the motion" if cutoff_hz < low else effect
    return {"chosen": cutoff_hz, "effect": effect, "low": low, "high": high}


def cutoff_with_flight(trial: Trial, cutoff_hz: float | None) -> tuple[str, str] | None:
    """Return the effect of a cut-off for walking on a motion with flight, and the remedy; None without an effect."""
    low, high = CUTOFF_WITH_FLIGHT_HZ
    if cutoff_hz is None or cutoff_hz >= low:
        return None
    if not len(flying := flights(trial, FootLoads.from_trial(trial))):
        return None
    return (
        f"the cut-off of {cutoff_hz:g} Hz suits walking, but neither foot is on the ground at {flying[0].mean():.2f} s"
        f"{_and_other_times(flying)}: the filter takes away part of the forces and accelerations",
        f"write cutoff_hz = {FLIGHT_CUTOFF_HZ:g} in [filter]; {low:g} to {high:g} Hz are customary for running and "
        "jumping",
    )


def rigid_notes(poses: Mapping[str, Poses]) -> tuple[list[str], list[str]]:
    """Return a sentence, with consequences, for every body whose points do not move together, and one on all others."""
    off = {name: _rms(pose) for name, pose in sorted(poses.items())}
    loose = [
        f"The points of {name} fit their standing shape only to {1000 * rms:.0f} mm (worst "
        f"{1000 * poses[name].residual.max():.0f} mm): they do not move as one body, and the joints derived from "
        "them, with their axes, angles and moments, are uncertain."
        for name, rms in off.items()
        if rms > LOOSE
    ]
    if len(loose) == len(off):
        return loose, []
    worst = max((name for name in poses if off[name] <= LOOSE), key=off.__getitem__)
    who = f"{len(off) - len(loose)} {'others' if loose else 'bodies'} with three points or more"
    return loose, [
        f"The points of {who} fit their standing shape to {1000 * off[worst]:.1f} mm ({worst}) or better."
    ]


def _rms(pose: Poses, share: float = 1.0) -> float:
    """Root mean square residual of a body [m] over the share of the frames with the best fit."""
    best = np.sort(pose.residual)[: max(int(share * len(pose.residual)), 1)]
    return float(np.sqrt(np.mean(best**2)))


def length_notes(points: Points, offsets: Points) -> list[str]:
    """Return a sentence for every leg segment that is longer or shorter in the motion than in standing."""
    notes = []
    for segment, upper, lower in (("thigh", "hip", "knee"), ("shank", "knee", "ankle")):
        standing = {side: float(np.linalg.norm(offsets[f"{lower}_{side}"])) for side in SIDES}
        moving = {side: mean_length(points[f"{upper}_{side}"] - points[f"{lower}_{side}"]) for side in SIDES}
        off = {side: moving[side] - standing[side] for side in SIDES}
        alike = min(off.values()) > 0.5 * LOOSE or max(off.values()) < -0.5 * LOOSE
        cause = "A marker or a cluster has moved on the skin in between"
        if alike:
            cause = f"The other leg differs alike, so that one recording shows {upper} and {lower} elsewhere"
        notes += [
            f"The {SIDE_NAMES[side]} {segment} measures {1000 * standing[side]:.0f} mm standing and "
            f"{1000 * moving[side]:.0f} mm in the motion. {cause}, and the joints at its ends are uncertain."
            for side in SIDES
            if abs(off[side]) > LOOSE
        ]
    return notes


def carried_share(
    recording: Recording, loads: FootLoads, time: Array, moving: Points, span: tuple[float, float]
) -> float:
    """Return the mean vertical force over the force that the body mass requires, 1 when both agree.

    By Newton's second law the mean vertical force is m (g + (v_end - v_start) / (t_end - t_start)) for any motion
    between; the vertical velocity v of the pelvis replaces the velocity of the center of mass.
    """
    start, end = span
    inside = recording.inside(time, start, end)
    pelvis = "asis" if "asis_r" in moving and "asis_l" in moving else "hip_center"
    height = between(moving[f"{pelvis}_r"], moving[f"{pelvis}_l"])[:, 2]
    first, last = np.gradient(height, time)[inside][[0, -1]]
    force = 0.0
    for plate in loads.plates:
        measured = (plate.time >= start) & (plate.time <= end)
        vertical = plate.force[measured, 2]
        force += float(np.mean(np.where(vertical >= loads.unloaded_below, vertical, 0.0)))
    return force / (loads.mass * (STANDARD_GRAVITY + (last - first) / (end - start)))


def weight_notes(recording: Recording, loads: FootLoads, time: Array, moving: Points) -> list[str]:
    """Return a sentence where force and mass disagree; refuse forces far greater than the mass requires."""
    span = recording.balanced_range
    if span is None or span[1] - span[0] < SHORTEST_SUPPORT:
        return []
    share, mass = carried_share(recording, loads, time, moving, span), loads.mass
    if share > TOO_MUCH:
        raise recording.document.fault(
            "bad_forces",
            ("subject", "mass_kg"),
            f"the mean ground force over the range is {share:.3g} times the weight of a subject of {mass:g} kg",
            "about once: forces and mass of one subject",
            f"check mass_kg (the forces fit {share * mass:.3g} kg), and that forces are in newtons",
        )
    if share > USUAL_SUPPORT[1]:
        return [
            f"On average the ground force is {100 * share:.0f} % of the body weight, which fits a mass of "
            f"{share * mass:.3g} kg, not {mass:g} kg: check mass_kg and the units of the forces."
        ]
    # Where a foot has no plate, that is reported already.
    if share < USUAL_SUPPORT[0] and {plate.side for plate in loads.plates} == set(SIDES):
        return [
            f"On average the ground force is only {100 * share:.0f} % of the body weight: a contact was not "
            f"measured, or mass_kg is too large (the forces fit {share * mass:.3g} kg)."
        ]
    return []


STANDS = 0.5
"""Force [body weights] from which a foot stands."""
TILTED, WAY = 1.5, 0.6
"""Tilt of the floor that is reported [degrees], and the shortest distance that shows one [m]. Level floors reach
0.6.
"""
SLIDES = 0.15
"""Median speed of standing soles that is reported [m/s]. Recorded walks reach 0.02, with 10 mm of noise 0.07."""
BELT = 0.2
"""Speed of the ground [m/s] from which it is a belt, on which all feet stand at the same places."""


def sole_warnings(
    time: Array, points: Array, upward: Array, stated_deg: float | None = None
) -> list[MotionWarning]:
    """Return warnings of a floor that is not level, and of standing feet that slide.

    Args:
        time: (T,) [s].
        points: (T, 2, P, 3) of the soles of both feet, z up [m].
        upward: (T, 2) vertical force on each foot [body weights].
        stated_deg: `tilt_deg` of the trial of a recording [degrees]; None for a model, whose coordinates have no axes
            of files.
    """
    stands = upward > STANDS
    if stands.sum() < 2:
        return []
    velocity = np.gradient(points, time, axis=0)[stands]
    places, frames = points[stands], np.arange(len(velocity))
    ground = np.median(velocity[frames, places[..., 2].argmin(axis=1), :2], axis=0)
    speed = np.linalg.norm(velocity[..., :2] - ground, axis=2)
    warnings, sliding = [], float(np.median(speed.min(axis=1)))
    if sliding > SLIDES:
        what = (
            f"standing feet slide over the ground with {sliding:.2f} m/s (median of the slowest point of the sole, "
            f"expected less than {SLIDES:g})"
        )
        remedy = "lower the cut-off of the filter, and see whether the scale of the recording is right"
        warnings.append(MotionWarning("soles_slide", what, remedy, ()))
    place = places[frames, speed.argmin(axis=1)]
    away = place - place.mean(axis=0)
    line = np.linalg.svd(away[:, :2], full_matrices=False)[2][0]
    along = away[:, :2] @ (line if line[0] >= 0.0 else -line)
    slope = float(along @ away[:, 2] / (along @ along)) if along.any() else 0.0
    tilt, distance = float(np.degrees(np.arctan(abs(slope)))), float(np.ptp(along))
    if tilt > TILTED and distance > WAY and np.linalg.norm(ground) < BELT:
        what = (
            f"standing soles do not stand on one level floor: along the path they rise by "
            f"{1e3 * abs(slope) * distance:.0f} mm over {distance:.1f} m, {tilt:.1f} degrees "
            f"(expected at most {TILTED:g})"
        )
        rises = float(np.degrees(np.arctan(slope)))
        remedy = (
            f"turn the markers by {tilt:.1f} degrees until the floor is level, and make the inverse kinematics anew"
            if stated_deg is None
            else f"write tilt_deg = {rises + stated_deg:.1f} in [laboratory]: the axes of the files are turned by it"
        )
        remedy += "; on stairs or a ramp measure the ground reactions, which are predicted for a level floor"
        warnings.append(MotionWarning("floor_tilted", what, remedy, ()))
    return warnings
