"""Horizontal axes of the plates: rotated, mirrored or exchanged ones break Newton's law.

A rotation by any angle about the vertical counts only where it is clear. Errors of markers and segment masses in the
sideward forces are as large as the effect of some ten degrees, and part of them always correlates with the forward
forces. So an angle counts only where it explains most of the residual, and where braking and push-off of every foot,
which have opposite directions, agree on it.

Horizontal force that accelerates nothing is found, too, and horizontal channels that measure nothing.

By Newton's second law the mean horizontal force over a time T is m times the change of the velocity of the center of
mass over T. Horizontal force beyond it that is proportional to the vertical one comes from a plate that is tilted
against the axes of the markers, from vertical force that shows in a horizontal channel, or from axes whose up is not
the vertical: the first two change joint moments alike.

The center of pressure under the foot may be displaced as a whole, or lie outside of the sole at times.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from musclesolve._util.arrays import Array, at_times, long_enough, time_spans, true_runs
from musclesolve._util.messages import count_of
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.laboratory.checks.case import (
    TABLES,
    Case,
    Repair,
    Stage,
    change_markers,
    change_plate,
    check_at,
    frames_of,
    growth,
    in_order,
    on_plate,
)
from musclesolve.laboratory.checks.forces.newtons_law import (
    Law,
    along_walking_direction,
    away,
    law,
    smooth_force,
    total_force,
)
from musclesolve.laboratory.checks.forces.plate_zero_and_saturation import CHANNELS, bends_at_zero
from musclesolve.laboratory.checks.markers.landmark_order import OUTER_TOE, ankle_inside
from musclesolve.laboratory.checks.observed_body import between, landmark, runs, seen_feet
from musclesolve.laboratory.recording.data import BESIDE_GAP, SIDE_NAMES, SIDES, PlateForce
from musclesolve.laboratory.results.finding import Finding, Run, Severity, Where, error_if, finding
from musclesolve.laboratory.trial.plates.foot_contacts import touch
from musclesolve.laboratory.trial.plates.plate_checks import without_instants

# Largest residual after a change, as a share of the variation, and of the residual without the change.
UNEXPLAINED, BETTER = 0.4, 0.5
# Gain in the travel of a step from which points are rotated with the forces [m].
CLEARLY = 0.02
# Way of the center of pressure in a step over the distance from heel to toe marker: 14 sound steps overground have 0.57
# to 0.73, a flat foot 0.48, a shank and foot as light as a prosthesis 0.40.
WAY = 0.38, 1.0
# Way below which the center of pressure rests [m]: in parts of contacts of sound walks it goes 70 mm and more.
RESTS = 0.01
# Backward travel of the center of pressure in a contact from which it is reversed [m].
BACK = -0.05
# Horizontal force on a foot that rolls, as a share of the vertical one: in its second half forward more than in its
# first one, and inward. 126 contacts of 16 sound recordings have at least so much; reversed from minus the half.
FOOT_PUSHES = 0.14, 0.04
# Forward displacement of the pelvis in a contact [m] from which the subject walks or runs over the foot.
OVER = 0.2
# Rise of the pelvis from the begin to the end of a contact, below which the ground is level or a ramp [m].
STAIR = 0.12


@check_at(Stage.PLATE_AXES)
def horizontal_axes(case: Case) -> Iterator[Finding]:
    """Find wrong axes of plates by the acceleration of the body, or by what the feet do where it decides nothing."""
    required = law(case)
    if not case.found("plate_baseline", severity="warning"):  # a plate that sways fits no axes
        changed = [] if required is None else [*_changed_axes(case, required)]
        yield from changed or _reversed_under_feet(case)


def _changed_axes(case: Case, required: Law) -> Iterator[Finding]:
    """Find the change of axes of one plate, or of all, after which the forces match the observed acceleration."""
    mass = case.trial.subject.mass
    if not mass > 0.0:
        return
    at = required.time[required.frames]
    loads = [at_times(plate.time, smooth_force(plate), at) for plate in case.trial.forces]
    force, vertical = [load[:, :2] for load in loads], np.sum([load[:, 2] for load in loads], axis=0)
    due = mass * required.due[required.frames][:, :2]
    variation = float(np.sum((due - due.mean(axis=0)) ** 2))
    if variation == 0.0:
        return

    def unexplained(group: Group, change: Array) -> float:
        parts = [part @ change if k in group else part for k, part in enumerate(force)]
        return float(np.sum((np.sum(parts, axis=0) - due) ** 2)) / variation

    # All plates may have to be changed together, or one.
    everyone = tuple(range(len(force)))
    groups = list(dict.fromkeys([everyone, *((k,) for k in everyone)]))
    now = unexplained((), np.eye(2))
    tried = {
        (group, name): unexplained(group, np.array(change))
        for name, change in TABLES["changes"].items()
        for group in groups
    }
    best = min(tried, key=lambda key: tried[key])
    along = [along_walking_direction(required, part) for part in force]
    rotation = best_rotation(along, along_walking_direction(required, due), groups)
    if rotation is not None and unexplained(rotation[0], rotation_matrix(rotation[1])) < tried[best]:
        plates, angle, explained = rotation
        seem = "all plates seem" if len(plates) > 1 else "the plate seems"
        for index in plates:
            values = {"plates": seem, "angle": abs(np.degrees(angle)), "share": explained}
            values |= {"direction": "left" if angle > 0.0 else "right"}
            repair = _change_axes(case, index, rotation_matrix(angle))
            yield finding("plate_axes.rotated", "error", values, on_plate(case.trial.forces[index]), repair)
        return
    if now < UNEXPLAINED or tried[best] > UNEXPLAINED or tried[best] > BETTER * now:
        return
    # A share of the vertical force, as of a tilt, that leaves less than any change is no change of axes.
    excess = np.sum(force, axis=0) - due
    if vertical.mean() > 0.0:
        leaning = vertical[:, None] / vertical.mean() * excess.mean(axis=0)
        if float(np.sum((excess - leaning) ** 2)) / variation < tried[best]:
            return
    for index in best[0]:
        values = {"now": min(now, 9.99), "change": best[1], "then": tried[best]}
        repair = _change_axes(case, index, np.array(TABLES["changes"][best[1]], float))
        yield finding("plate_axes.changed", "error", values, on_plate(case.trial.forces[index]), repair)


def _reversed_under_feet(case: Case) -> Iterator[Finding]:
    """Find channels of a plate whose sign is reversed, by what each foot does in a walk along one of them.

    The ground first brakes and then pushes the body, and pushes it inward, to the side of the other foot.
    """
    time, pelvis = case.trial.markers.time, between(case.trial, "asis_r", "asis_l")
    if "plates" in case.unknown or pelvis is None or runs(case.trial):
        return
    for index, plate in enumerate(case.trial.forces):
        pushes = []
        for track in (rolled for rolled in _rolling(case, index, plate) if rolled.whole):
            beside = at_times(time, pelvis[:, :2], track.time) - track.heel
            way = beside[-1] - beside[0]
            inward = np.array([-way[1], way[0]]) * (1.0 if plate.side == "r" else -1.0)
            force = at_times(plate.time, plate.force, track.time)
            early, late = (half[:, :2].mean(axis=0) for half in np.array_split(force, 2))
            weight = float(force[:, 2].mean() * np.linalg.norm(way))
            # a foot that crosses under the pelvis pushes outward
            push = force[:, :2].mean(axis=0) @ inward if beside.mean(axis=0) @ inward > 0.0 else 0.0
            pushes.append((np.abs(way).argmax(), (late - early) @ way / weight, push / weight))
        if not pushes:
            continue
        along, *shares = np.median(pushes, axis=0)
        axes, change = (int(along), 1 - int(along)), np.eye(2)
        pairs = zip(axes, shares, FOOT_PUSHES, strict=True)
        wrong = [(axis, share, usual) for axis, share, usual in pairs if share < -0.5 * usual]
        if law(case) is not None and axes[0] not in [axis for axis, *_ in wrong]:
            continue  # plates that lean push to the side
        for axis, *_ in wrong:
            change[axis, axis] = -1.0
        for axis, share, usual in wrong:  # a repair states the whole plate: each has both changes
            values = {"way": ("forward", "left")[axis], "share": share, "usual": usual}
            repair = _change_axes(case, index, change)
            yield finding("plate_axes.reversed", "error", values, on_plate(plate), repair)


def _change_axes(case: Case, index: int, change: Array) -> Repair:
    """Rotate or exchange the axes of a plate's forces, and of its points if that suits the foot better."""
    whole = np.eye(3)
    whole[:2, :2] = change
    plate = replace(case.trial.forces[index], force=case.trial.forces[index].force @ whole)
    about = plate.point.copy()
    for first, stop in true_runs(plate.force[:, 2] > touch(case.trial)):
        middle = np.nanmedian(about[first:stop], axis=0)
        about[first:stop] = (about[first:stop] - middle) @ whole + middle

    def badness(point: Array) -> float:
        rolled = [track for track in _rolling(case, index, replace(plate, point=point)) if track.whole]
        travel = [quarters(track.along) - TRAVEL * np.median(track.length) for track in rolled]
        return away(case, plate, point) + (abs(float(np.median(travel))) if travel else 0.0)

    rotated = {badness(point): point for point in (plate.point @ whole, about)}
    least = min(rotated)
    suits = least < badness(plate.point) - CLEARLY
    return change_plate(index, force=plate.force, point=rotated[least] if suits else plate.point)


def quarters(values: Array) -> float:
    """Return the mean of the last quarter of a series less the mean of the first."""
    quarter = len(values) // 4
    return float(values[-quarter:].mean() - values[:quarter].mean())


def _rolling(case: Case, index: int, plate: PlateForce) -> list["Track"]:
    """Return the tracks of contacts of forward walking, of whole ones and of parts.

    Only contacts in which the pelvis moves forward over the foot count (assumed without a pelvis), on a treadmill as
    well: a subject who walks backward, jumps, squats or climbs stairs rolls over the foot differently.
    """
    time, pelvis = case.trial.markers.time, between(case.trial, "asis_r", "asis_l")
    rolling = []
    for track in tracks(case, index, plate):
        if pelvis is not None:
            *over, rise = np.diff(at_times(time, pelvis, track.time[[0, -1]]), axis=0)[0]
            way = (over - np.diff(track.heel[[0, -1]], axis=0)[0]) @ track.axis
        if pelvis is None or (way > OVER and abs(rise) < STAIR):
            rolling.append(track)
    return rolling


@check_at(Stage.PRESSURE_DIRECTION)
def way_of_pressure(case: Case) -> Iterator[Finding]:
    """Compare the way of the pressure in a step, which is forward, with the length of the foot.

    Runners may land in front. Few frames do not show when a contact begins and ends.
    """
    unclear = runs(case.trial) or case.found("low_rate")
    for index, plate in enumerate(case.trial.forces):
        parts = _rolling(case, index, plate)
        rolling = [track for track in parts if track.whole]
        if not parts:
            continue
        moved = max(float(np.ptp(np.quantile(track.point, ENDS, axis=0), axis=0).max()) for track in parts)
        if moved < RESTS:
            values = {"load": "the plate", "foot": f"the {SIDE_NAMES[plate.side]} foot", "way": moved}
            yield finding("frozen.pressure", "error", values, on_plate(plate))
            continue
        ways = [
            np.ptp(np.quantile(track.along, ENDS)) / np.median(track.length) for track in rolling or parts
        ]
        share, low = float(np.median(ways)), WAY[0] if rolling else 0.0
        if not (low <= share <= WAY[1] or unclear):
            values = {"share": share, "low": low, "high": WAY[1]}
            yield finding("pressure_way", "warning", values, on_plate(plate))
        if rolling and (travel := float(np.median([quarters(track.along) for track in rolling]))) < BACK:
            axis = np.abs(np.sum([track.axis for track in rolling], axis=0)).argmax()
            point = plate.point.copy()
            for first, stop in true_runs(plate.force[:, 2] > touch(case.trial)):
                # Reversed along the axis, about the middle of the contact.
                point[first:stop, axis] = 2.0 * np.median(point[first:stop, axis]) - point[first:stop, axis]
            repair = change_plate(index, point=point)
            yield finding("plate_axes.pressure", "error", {"distance": -travel}, on_plate(plate), repair)


Group = tuple[int, ...]

# Distance from a multiple of 90 degrees below which a rotation is an exchange of axes, or nothing [deg].
SMALLEST_DEG = 12.0
# Share of the residual that a rotation must explain: for all plates together, and for one plate alone, which an error
# of the motion imitates more easily; and the least angle of the latter [deg]. With random errors of the sideward motion
# of up to 90 % of the required force, one correct recording in 6000 is accused.
TOGETHER, ALONE, FAR_ALONE = 0.55, 0.7, 25.0
# Least share of the greatest force that is informative.
FAINT = 0.1


def rotation_matrix(angle: float) -> Array:
    """Return the matrix (2, 2) that rotates rows of horizontal vectors to the left by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def best_rotation(force: list[Array], due: Array, groups: list[Group]) -> tuple[Group, float, float] | None:
    """Return the rotation of one of the groups of plates that explains the forces best, None where none does clearly.

    A rotation is the plates, the angle [rad] by which their forces must be rotated to the left, and the share of the
    residual that it explains. force: horizontal force (T, 2) of every plate [N]; due (T, 2): their sum required by the
    motion [N].
    """
    # Along the axes of the motion: a rotation shows in the small variation across the walking direction.
    variation, axes = np.linalg.eigh(np.cov(due.T))
    if not (variation > 0.0).all():
        return None
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    along = [part @ axes for part in force]
    candidates = (_rotation(along, due @ axes, group, variation) for group in groups)
    return max(filter(None, candidates), key=lambda rotation: rotation[2], default=None)


def _rotation(
    force: list[Array], due: Array, group: Group, variation: Array
) -> tuple[Group, float, float] | None:
    """Return the rotation of one group of plates, None where its evidence is weak.

    The angle that minimizes sum |R f - d|^2 is atan2(sum f x d, sum f . d). Whether it is accepted is decided with both
    directions measured by their own variation (2,).
    """
    turning = np.sum([force[k] for k in group], axis=0)
    rest = due - (np.sum(force, axis=0) - turning)
    crossed = turning[:, 0] * rest[:, 1] - turning[:, 1] * rest[:, 0]
    angle = float(np.arctan2(crossed.sum(), np.sum(turning * rest)))
    if abs(np.sin(2.0 * angle)) <= np.sin(2.0 * np.radians(SMALLEST_DEG)):
        return None
    rotated = [part @ rotation_matrix(angle) if k in group else part for k, part in enumerate(force)]
    left, now = (np.sum((np.sum(parts, axis=0) - due) ** 2 / variation) for parts in (rotated, force))
    explained = float(1.0 - left / now)
    together = len(group) > 1
    small = not together and abs(angle) < np.radians(FAR_ALONE)
    if small or explained < (TOGETHER if together else ALONE):
        return None
    # Braking and push-off of every plate must show a rotation the way the plates are rotated. A foot that only brakes,
    # or only pushes, shows none: an error of the sideward motion correlates with its force.
    faint = FAINT * max(float(np.abs(part[:, 1]).max()) for part in rotated)
    across = [
        np.stack([-rotated[k][:, 1], rotated[k][:, 0]], axis=1) * (sign * rotated[k][:, 1:] > faint)
        for k in group
        for sign in (1.0, -1.0)
    ]
    # The small further rotations of these parts that best explain the residual.
    parts = np.stack([part.ravel() for part in across], axis=1)
    more = np.linalg.lstsq(parts, (due - np.sum(rotated, axis=0)).ravel(), rcond=None)[0]
    agreed = parts.any(axis=0).all() and (more / angle > -1.0).all()
    return (group, angle, explained) if agreed else None


LEAN = 0.025
"""Mean horizontal force that accelerates nothing, a share of the vertical one: sound recordings have 0.012 at most, a
tilt by 2 degrees makes 0.035."""
VELOCITY = 0.2
"""Accuracy with which markers show changes of the velocity of the center of mass [m/s]: over T a force of
VELOCITY / (g T) body weights."""
DEAD = 0.002
"""Share of the body weight below which, in all contacts, a horizontal channel measures nothing."""
LEAST_HORIZONTAL = 0.01
"""Required horizontal force, root mean square as a share of the body weight, from which a channel without force is
lost; quiet standing requires less."""


CORNER, AROUND = 8.0, 6
"""Third differences of a channel over those with the other sign from a sample on: 33 sound plates have less than 2,
rectified channels of eight recordings 24 and more beside their zeros; samples on either side that show it."""


@check_at(Stage.PLATES)
def rectified_channels(case: Case) -> Iterator[Finding]:
    """Find level channels that are smooth with the other sign from a sample on: rectified ones, and reversed ones."""
    count = 2 * AROUND + 1
    for plate in case.trial.forces:
        loaded = (plate.force[:, 2] > 5.0 * touch(case.trial)) & ~plate.in_gap(plate.time)
        if loaded.sum() < count:
            continue
        around = sliding_window_view(loaded, count).all(axis=1)
        for way, channel in zip(CHANNELS, plate.force.T[:2], strict=False):
            bends, smooth = bends_at_zero(sliding_window_view(channel, count)[around])
            at = plate.time[AROUND:-AROUND][around][bends > CORNER * smooth]
            at = at[np.diff(at, prepend=-np.inf) > SHORTEST_CONTACT]
            if at.size:
                name = "rectified" if np.ptp(np.sign(channel[loaded])) < 2.0 else "reverses"
                values = {"way": way, "at": at[0], "count": count_of(at.size, "time"), "limit": CORNER}
                yield finding(f"plate_channel.{name}", "error", values, on_plate(plate))


# In right axes: which channel brakes and pushes depends on them.
@check_at(Stage.SYNCHRONY_IN_RIGHT_AXES)
def lost_channels(case: Case) -> Iterator[Finding]:
    """Find horizontal channels without force, while the foot on the plate alone shows that the body needs it."""
    required, weight = law(case), case.trial.subject.mass * STANDARD_GRAVITY
    if required is None or not np.isfinite(weight):
        return
    at, due = required.time[required.frames], required.due[required.frames, :2] / STANDARD_GRAVITY
    upward = [at_times(plate.time, plate.force[:, 2:], at)[:, 0] for plate in case.trial.forces]
    for plate, pushed in zip(case.trial.forces, upward, strict=True):
        # The frames in which the foot on the plate carries the body alone.
        alone = (pushed > 0.3 * weight) & (np.sum(upward, axis=0) - pushed < 0.05 * weight)
        force = plate.force[plate.force[:, 2] > 0.3 * weight, :2]
        if not force.size or not alone.any():
            continue
        most, needed = np.abs(force).max(axis=0), np.sqrt(np.mean(due[alone] ** 2, axis=0))
        lost = (most < DEAD * weight) & (needed > LEAST_HORIZONTAL)
        for axis in np.flatnonzero(lost):
            values = {"way": CHANNELS[axis], "most": most[axis], "needed": needed[axis] * weight}
            yield finding("plate_channel", "error", values, on_plate(plate))


@check_at(Stage.PLATE_POSITION)
def leaning_force(case: Case) -> Iterator[Finding]:
    """Find horizontal force in proportion to the vertical one that accelerates nothing."""
    required, plates = law(case), case.trial.forces
    if required is None or case.found("plate_channel"):
        return
    total, due = total_force(case, required.time[required.frames]), required.due[required.frames]
    vertical, upward = float(total[:, 2].mean()), float(due[:, 2].mean())
    duration = required.frames.sum() / case.trial.markers.rate
    if vertical <= 0.0 or upward <= 0.0:
        return
    # The mass by the vertical forces: a wrong mass of the subject is another fault.
    excess = total[:, :2] - (vertical / upward) * due[:, :2]
    forward, left = along_walking_direction(required, excess).mean(axis=0) / vertical
    limit = max(LEAN, VELOCITY / (STANDARD_GRAVITY * duration))
    if np.hypot(forward, left) <= limit:
        return
    lean = np.array([*excess.mean(axis=0) / vertical, 0.0])
    upright = [plate.force - plate.force[:, 2:] * lean for plate in plates]
    repair = in_order(*(change_plate(index, force=force) for index, force in enumerate(upright)))
    angle = np.degrees(np.arctan(np.hypot(forward, left)))
    values = {"forward": forward, "left": left, "limit": limit, "angle": angle, "duration": duration}
    yield finding("leaning_force", "warning", values, Where(plates[0].path), repair)


# Loads below this share of the body weight have an uncertain center of pressure.
LOADED_SHARE = 0.15
# The sole beyond the markers [m]: behind the heel, ahead of the toe (the marker is on the forefoot), to either side of
# the line from heel to toe, more on tall people; and the margin given to it.
BEHIND, AHEAD, BESIDE, MARGIN = 0.03, 0.08, 0.06, 0.02
# In walking the center of pressure goes from the heel to the forefoot; the middle between its ends lies about so far
# ahead of the heel marker: this share of the stature, between those of the recorded walk (0.074) and the reference
# stride (0.081). The toe marker is put in too many places to count from it.
USUAL_PASSAGE = 0.078
# Way between first and last quarter of a contact, over the distance from heel to toe marker: 11 sound recordings
# have 0.40 to 0.65.
TRAVEL = 0.54
ENDS = (0.05, 0.95)
# How far off it may be before a plate counts as displaced, and before its moments are wrong [m]; smaller displacements
# show in the balance of forces.
DISPLACED, FAR_DISPLACED = 0.06, 0.08
# Largest placement error of the markers of both feet, inward or outward [m]; and how much farther off sideward the one
# foot may be that is seen alone: on seven sound recordings contacts are up to 72 mm off.
FOOT_ASYMMETRY, ONE_FOOT = 0.025, 0.015
SHORTEST_CONTACT = 0.02
# Least duration of a piece of a contact that shows the place of the whole contact under the foot [s].
SHORTEST_TRACK = 0.2
# Way from one contact of a foot to the next [m], and part of the foot that both show [m], from which they are compared;
# angle of the markers against the plates [rad]: 0.4 degrees in the recorded walk.
FAR_STEPS, ALIKE, TURNED = 0.8, 0.05, np.radians(2.0)
# Way of a heel that a belt carries backward, from first to last quarter of a contact [m]; angle on belts [rad]: four
# sound treadmills and 48 parts of them have 0.8 degrees.
ON_BELT, TURNED_ON_BELT = 0.2, np.radians(3.0)
# Share of a contact that a track must cover to count as whole.
WHOLE = 0.75


@dataclass(frozen=True)
class Track:
    """The center of pressure during one contact, S samples while the foot is on the ground and loaded."""

    time: Array  # (S,) [s]
    point: Array  # (S, 2) horizontal place [m]
    heel: Array  # (S, 2) horizontal place of the heel marker [m]
    along: Array  # (S,) from the heel marker toward the toe marker, horizontally [m]
    across: Array  # (S,) to the left of the line from heel to toe [m]
    length: Array  # (S,) from heel to toe marker, horizontally [m]
    axis: Array  # (2,) mean horizontal direction from heel to toe
    whole: bool  # whether the track runs from the beginning to the end of a contact


def tracks(case: Case, index: int, plate: PlateForce) -> list[Track]:
    """Return the track of every contact of a plate, as it is at an index or changed, with its foot."""
    seen, trial = seen_feet(case.trial).get(plate.side), case.trial
    if seen is None:
        return []
    plate = without_instants(trial, plate)  # a dropout ends no contact
    time, least = trial.markers.time, touch(trial, LOADED_SHARE)
    on_ground = np.interp(plate.time, time, seen.ground.astype(float)) > 0.99
    loaded = (plate.force[:, 2] > least) & plate.measured
    good = on_ground & loaded & np.isfinite(plate.point).all(axis=1)
    good &= (plate.time >= time[0]) & (plate.time <= time[-1])
    contacts = time_spans(plate.force[:, 2] > least, plate.time)
    # A foot that stands on the border of two plates shows on each a part of its sole.
    beside = [other for k, other in enumerate(trial.forces) if k != index and other.side == plate.side]
    shared = [span for other in beside for span in time_spans(other.force[:, 2] > least, other.time)]
    of_plate = []
    for run in true_runs(good):
        at, samples = plate.time[slice(*run)], slice(*run)
        start, end = at[[0, -1]]
        if end - start < SHORTEST_TRACK or len(at) < 8:
            continue
        before, beyond = np.searchsorted(time, (start, end))
        near = slice(max(before - 1, 0), beyond + 1)
        heel, toe = (at_times(time[near], path[near, :2], at) for path in (seen.heel, seen.toe))
        first, last = next(contact for contact in contacts if contact[0] <= start <= contact[1])
        whole = end - start > WHOLE * (last - first) and plate.time[0] < first and last < plate.time[-1]
        whole = whole and not any(a < end and start < b for a, b in shared)
        whole = whole and not plate.in_gap(np.array([first, last]), BESIDE_GAP).any()
        length = np.maximum(np.linalg.norm(toe - heel, axis=1), 1e-6)
        axis, point = (toe - heel) / length[:, None], plate.point[samples, :2]
        away = point - heel
        along = np.sum(away * axis, axis=1)
        across = axis[:, 0] * away[:, 1] - axis[:, 1] * away[:, 0]
        of_plate.append(Track(at, point, heel, along, across, length, axis.mean(axis=0), whole))
    return of_plate


def _off(track: Track, stature: float, in_front: bool) -> Array:
    """Displacement (2,) [m] of the middle of a track from its usual place; runners may land on the forefoot."""
    usual = USUAL_PASSAGE * stature if np.isfinite(stature) else 0.5 * float(np.median(track.length))
    middle, toe = float(np.quantile(track.along, ENDS).mean()), float(np.median(track.length))
    ahead = middle - float(np.clip(middle, usual, max(usual, toe if in_front else usual)))
    left = np.array([-track.axis[1], track.axis[0]])
    return ahead * track.axis + float(np.median(track.across)) * left


@dataclass(frozen=True)
class Passage:
    """Place of the center of pressure of a plate under its foot, over all whole contacts."""

    plate: int  # number of the plate
    off: Array  # (2,) displacement from the usual place, forward and left [m]
    travel: float  # its way from heel to toe beyond the usual one [m]
    gain: float  # its way in the laboratory [m], on a treadmill backward
    place: Array  # (2,) where the foot is [m]
    ahead: Array  # (2,) horizontal unit vector from heel to toe
    outward: Array  # (2,) horizontal unit vector square to it, away from the other foot
    times: tuple[Run, ...]  # of the contacts


def passages(case: Case) -> list[Passage]:
    """Compare every plate that shows a whole contact with the foot."""
    in_front, stature = runs(case.trial), case.trial.subject.stature
    under_feet = []
    for index, plate in enumerate(case.trial.forces):
        whole = [track for track in tracks(case, index, plate) if track.whole]
        if not whole:
            continue
        off = np.mean([_off(track, stature, in_front) for track in whole], axis=0)
        ahead = np.mean([track.axis for track in whole], axis=0)
        outward = np.array([-ahead[1], ahead[0]]) * (1.0 if plate.side == "l" else -1.0)
        times = tuple((float(track.time[0]), float(track.time[-1])) for track in whole)
        place = np.mean([track.point.mean(axis=0) for track in whole], axis=0)
        travel = float(np.mean([quarters(track.along) - TRAVEL * np.median(track.length) for track in whole]))
        gain = float(np.mean([quarters(track.point @ track.axis) for track in whole]))
        under_feet.append(Passage(index, off, travel, gain, place, ahead, outward, times))
    return under_feet


@check_at(Stage.PRESSURE_DIRECTION)
def turned_cameras(case: Case) -> Iterator[Finding]:
    """Find markers that are turned about the vertical against all plates: a foot leaves its points as it goes.

    Between two contacts of one foot, at equal distances from the heel, the points go across the foot by the angle times
    the way; the place of the markers on the foot cancels. A belt carries a foot along; both feet roll inward alike.
    """
    angles, places, on_belts = list[float](), list[Array](), list[float]()
    for side in SIDES:
        of_foot = [(k, plate) for k, plate in enumerate(case.trial.forces) if plate.side == side]
        steps = sorted((t for at in of_foot for t in tracks(case, *at)), key=lambda track: track.time[0])
        for one, other in pairwise(steps):
            way = float((other.heel.mean(axis=0) - one.heel.mean(axis=0)) @ one.axis)
            first, then = (np.maximum.accumulate(step.along) for step in (one, other))
            shared = np.linspace(max(first[0], then[0]), min(first[-1], then[-1]), 20)
            if abs(way) > FAR_STEPS and shared[-1] - shared[0] > ALIKE:
                across = np.interp(shared, first, one.across) - np.interp(shared, then, other.across)
                angles.append(float(across.mean()) / way)
                places += [one.heel.mean(axis=0), other.heel.mean(axis=0)]
        carried = [t for t in steps if t.whole and quarters(t.heel @ t.axis) < -ON_BELT]
        if carried:
            # late points begin elsewhere
            amid = [(t, slice(len(t.time) // 8, -(len(t.time) // 8))) for t in carried]
            ways = [quarters(t.across[part]) / quarters(t.point[part] @ t.axis) for t, part in amid]
            on_belts.append(-np.median(ways))
        places += [track.heel.mean(axis=0) for track in carried]
    limit = TURNED_ON_BELT if len(on_belts) == len(SIDES) else TURNED
    angles += [float(np.mean(on_belts))] if limit > TURNED else []
    angle = float(np.median(angles)) if angles else 0.0
    if abs(angle) < limit or (np.sign(angle) * np.array(angles) < 0.5 * TURNED).any():
        return
    turn, middle = rotation_about(np.eye(3)[2], np.array(angle)), np.r_[np.mean(places, axis=0), 0.0]
    values = {"angle": np.degrees(angle), "limit": np.degrees(limit)}
    for index, plate in enumerate(case.trial.forces):
        point = middle + (plate.point - middle) @ turn.T
        repair = change_plate(index, force=plate.force @ turn.T, point=point)
        yield finding("plate_axes.cameras", "error", values, on_plate(plate), repair)


# Speed of the markers against all points from which they are in other frames [m/s], and how far the feet may then leave
# a line, and the least time [m, s]: in a contact of 8 sound recordings points go ahead of the foot by 0.12 to 0.48 m/s.
OTHER_FRAME, ON_LINE, LASTS = 0.6, 0.2, 0.5


@check_at(Stage.UNITS_OF_POINTS, needs=["plates"])
def markers_on_another_belt(case: Case) -> Iterator[Finding]:
    """Find markers that go steadily against the points of force, over all contacts: the way of a belt was added to one.

    The middle half of a contact counts, where the whole foot is on the ground.
    """
    trial, rows = case.trial, [np.zeros((0, 3))]
    for plate in trial.forces:
        ends = [landmark(trial, f"{end}_{plate.side}", trial.markers) for end in ("heel", "toe")]
        for first, stop in true_runs((plate.force[:, 2] > touch(trial, 0.3)) & plate.measured):
            amid = slice(first + (stop - first) // 4, stop - (stop - first) // 4)
            at = plate.time[amid]
            feet = [at_times(trial.markers.time, path[:, :2], at) for path in ends if path is not None]
            if len(feet) == len(ends):
                rows.append(np.column_stack([at, np.mean(feet, axis=0) - plate.point[amid, :2]]))
    time, *apart = (row := np.concatenate(rows))[np.isfinite(row).all(axis=1)].T
    if time.size < 3 or np.ptp(time) < LASTS:
        return
    (velocity, start), away = np.polyfit(time, np.transpose(apart), 1), np.transpose(apart)
    speed, left = float(np.hypot(*velocity)), np.abs(away - start - time[:, None] * velocity).max()
    if speed > OTHER_FRAME and left < ON_LINE:
        way = (trial.markers.time - trial.markers.time[0])[:, None, None] * np.append(velocity, 0.0)
        repair = change_markers("markers", lambda markers: replace(markers, position=markers.position - way))
        values = {"speed": speed, "forward": velocity[0], "left": velocity[1], "limit": OTHER_FRAME}
        yield finding("pressure_offset.belt", "error", values, Where(trial.markers.path), repair)


# Least number of whole contacts of each foot, and of both, that show a drift. Usual change of the place under the foot
# from the first contact to the last, ahead, to the left and up [m], the root mean square of four sound treadmills; the
# largest are 9, 15 and 3 mm. A drift has so many standard deviations of its error and this change; sound ones have 2.0.
OF_ONE_FOOT, OF_BOTH, WANDERS, DRIFTS = 2, 6, np.array([0.006, 0.007, 0.002]), 3.5


@check_at(Stage.PRESSURE_DIRECTION)
def drifting_points(case: Case) -> Iterator[Finding]:
    """Find an origin that drifts: points pass under both feet at a place that moves alike from contact to contact."""
    trial, feet = case.trial, seen_feet(case.trial)
    rows, places = list[list[float]](), list[Array]()
    for index, plate in enumerate(trial.forces) if not (runs(trial) or case.found("force_step")) else ():
        for track in filter(lambda track: track.whole, tracks(case, index, plate)):
            foot, amid = feet[plate.side], track.time[len(track.time) // 4 : -(len(track.time) // 4)]
            sole = np.interp(amid, trial.markers.time, 0.5 * (foot.heel + foot.toe)[:, 2])
            above = np.median(np.interp(amid, plate.time, plate.point[:, 2]) - sole)
            rows.append([*(plate.side == side for side in SIDES), float(track.time.mean())])
            places.append(np.append(_off(track, trial.subject.stature, False), above))
    terms, place = np.array(rows), np.array(places)
    if len(rows) < OF_BOTH or terms[:, :2].sum(axis=0).min() < OF_ONE_FOOT:
        return
    middle, span = terms[:, 2].mean(), np.ptp(terms[:, 2])
    terms[:, 2] = (terms[:, 2] - middle) / span
    drift = np.linalg.lstsq(terms, place, rcond=None)[0]
    variance = np.sum((place - terms @ drift) ** 2, axis=0) / (len(rows) - terms.shape[1])
    error = np.sqrt(variance * np.linalg.inv(terms.T @ terms)[2, 2])
    if np.linalg.norm(drift[2] / np.hypot(error, WANDERS)) < DRIFTS:
        return
    values = {"size": float(np.linalg.norm(drift[2])), "count": len(rows), "span": span, "error": error.max()}
    values |= dict(zip(("forward", "left", "up"), drift[2], strict=True))
    gone = [np.clip((p.time - middle) / span, -1.0, 1.0)[:, None] * drift[2] for p in trial.forces]
    repair = in_order(*(change_plate(k, point=p.point - gone[k]) for k, p in enumerate(trial.forces)))
    yield finding("pressure_offset.drifts", "warning", values, Where(trial.forces[0].path), repair)


@check_at(Stage.PLATE_POSITION)
def displaced_plates(case: Case) -> Iterator[Finding]:
    """Find plates whose center of pressure is off the foot by the same amount all the time.

    Toe and heel markers are placed too far in or out on both feet alike: the common displacement is subtracted.
    """
    under_feet = passages(case)
    # points that go another way than the foot are not all moved alike
    astray = {f.where.plate for f in case.findings if f.code == "pressure_way"}
    for passage in under_feet:
        plate = case.trial.forces[passage.plate]
        if SIDE_NAMES[plate.side] in astray:
            continue
        others = [p.off @ p.outward for p in under_feet if case.trial.forces[p.plate].side != plate.side]
        here, there = float(passage.off @ passage.outward), float(np.mean(others)) if others else 0.0
        alike = np.sign(here) * min(abs(here), abs(there), FOOT_ASYMMETRY) if here * there > 0.0 else 0.0
        off = passage.off - alike * passage.outward
        size = float(np.linalg.norm(off))
        # Where only one foot shows its way, the other one may have the same displacement.
        limit = DISPLACED + (0.0 if others else ONE_FOOT * abs(here) / max(size, DISPLACED))
        if size < limit:
            continue
        ahead, left = off
        side = SIDE_NAMES[plate.side]
        values = {"size": size, "side": side, "forward": ahead, "left": left, "limit": limit}
        where = on_plate(plate, passage.times)
        repair = change_plate(passage.plate, point=plate.point - [*off, 0.0])
        grave = error_if(size >= FAR_DISPLACED)
        yield finding("pressure_offset", grave, values, where, repair, anywhere=True)


@check_at(Stage.SUPPORT)
def moment_channels(case: Case) -> Iterator[Finding]:
    """Report plates whose free moment was set to zero, because the channel of their vertical moment is wrong."""
    faults = {plate.moment_fault: plate for plate in case.trial.forces if plate.moment_fault}
    for fault, plate in faults.items():
        yield finding("moment_channel", "warning", {"fault": fault}, on_plate(plate))


@check_at(Stage.SUPPORT)
def pressure_outside_sole(case: Case) -> Iterator[Finding]:
    """Find times at which the center of pressure leaves the sole, which is larger on tall people."""
    (first, last), size = case.trial.time_range, growth(case.trial.subject)
    for index, plate in enumerate(case.trial.forces):
        spans: list[Run] = []
        farthest = 0.0
        for track in tracks(case, index, plate):
            lengthwise = np.maximum(-size * BEHIND - track.along, track.along - track.length - size * AHEAD)
            beyond = np.maximum(lengthwise, np.abs(track.across) - size * BESIDE)
            outside = (beyond > MARGIN) & (track.time >= first) & (track.time <= last)
            outside = long_enough(outside, 1 + frames_of(SHORTEST_CONTACT, plate.rate))
            spans += time_spans(outside, track.time)
            farthest = max(farthest, float(beyond[outside].max(initial=0.0)))
        if spans:
            values = {"side": SIDE_NAMES[plate.side], "farthest": farthest, "limit": MARGIN}
            # a toe marker on the outer edge does not show where the foot ends
            outer = ankle_inside(case.trial, plate.side)
            severity: Severity = "note" if outer is not None and outer > OUTER_TOE else "warning"
            yield finding("pressure_outside", severity, values, on_plate(plate, tuple(spans)))
