"""Warnings on the recording and its filter; only impossible recordings are refused.

The warnings concern points that do not form a rigid body, and forces that disagree with the body mass: over any time
the mean vertical force follows from the mass, for any motion.
"""

from collections.abc import Mapping

import numpy as np

from musclesolve._util.arrays import Array, mean_length
from musclesolve._util.message_text import capitalized, count_of
from musclesolve.constants import FLIGHT_CUTOFF_HZ, STANDARD_GRAVITY, WALKING_CUTOFF_HZ
from musclesolve.motion.anatomy.joint_centers import between
from musclesolve.motion.anatomy.landmark_positions import Points, body_place
from musclesolve.motion.events.force_events import FootLoads, flights
from musclesolve.motion.signals.filter_choice import FilterChoice, choice_notes
from musclesolve.recording.data import SIDE_NAMES, SIDES, Recording, Trial
from musclesolve.recording.gaps.rigid_registration import Poses
from musclesolve.settings.trial import FilterSettings

# Deformation of a cluster above which it is reported [m]; likewise the mean difference of a segment's length between
# motion and standing.
LOOSE = 0.010
# Deformation of a cluster above which its markers are not on one body [m].
BROKEN = 0.040
# Share of the frames, those that fit best, in which clusters are checked for it: a jump affects only a few frames.
BEST = 0.8
# Below the first cut-off the filter removes a part of a walking motion, above the second it passes noise [Hz].
USUAL_CUTOFF_HZ = (3.0, 20.0)
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
            raise recording.document.error(
                "not_rigid",
                table,
                key,
                problem=f"the points of {name} fit their standing shape only to {1000 * rms:.0f} mm",
                expected=f"points of one body, which fit it to {1000 * BROKEN:.0f} mm or better",
                remedy="musclesolve check names labels that are exchanged; else see whether the "
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
    moments are nearest to the true ones at 12 to 20 Hz; at 6 Hz their error is three times as large (docs/running.md).
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
    notes, (low, high) = [], USUAL_CUTOFF_HZ
    if cutoff_hz is not None and not low <= cutoff_hz <= high:
        does = (
            "takes away part of the motion itself" if cutoff_hz < low else "leaves noise in the accelerations"
        )
        notes.append(f"The cut-off of {cutoff_hz:g} Hz {does}; walking needs about 6 Hz.")
    if (advice := cutoff_with_flight(trial, cutoff_hz)) is not None:
        notes.append(f"{capitalized(advice[0])}; {advice[1]}.")
    return notes


def cutoff_with_flight(trial: Trial, cutoff_hz: float | None) -> tuple[str, str] | None:
    """Return the effect of a cut-off for walking on a motion with flight, and the remedy; None without an effect."""
    low, high = CUTOFF_WITH_FLIGHT_HZ
    if (
        cutoff_hz is None
        or cutoff_hz >= low
        or not len(flying := flights(trial, FootLoads.from_trial(trial)))
    ):
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
        raise recording.document.error(
            "bad_forces",
            "subject",
            "mass_kg",
            problem=f"the mean ground force over the range is {share:.3g} times the weight of a "
            f"subject of {mass:g} kg",
            expected="about once: forces and mass of one subject",
            remedy=f"check mass_kg (the forces fit {share * mass:.3g} kg), and that forces are in newtons",
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
