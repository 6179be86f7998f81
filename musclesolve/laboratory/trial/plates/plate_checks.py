"""Plausibility of plate forces: sign, size, direction, steadiness and place of every plate.

The place of a fault is in the trial file if [[force]] names columns, else in the file of the plates. Samples that are
wrong for an instant only (`without_instants`) count as not measured and do not affect the rest of the recording.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.messages import capitalized, count_of
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.markers.gaps.gap_filling import REACH_S
from musclesolve.laboratory.recording.data import (
    LIGHT_N,
    SIDE_NAMES,
    SIDES,
    ImpossibleForce,
    PlateForce,
    Side,
    Trial,
)
from musclesolve.laboratory.trial.plates.foot_contacts import heels_and_toes, stands_loaded
from musclesolve.laboratory.trial.plates.foot_forces import interpolated
from musclesolve.tables.document import Document

# Distance of the force from the middle of its foot [m]: the median is within a foot's length, and never beyond the
# second.
FOOT_REACH, FARTHEST = 0.2, 0.35
# A sole reaches no farther beyond the line from heel to toe [m].
SOLE_REACH = 0.15
# A point beyond it makes an impossible moment; more than this times the body weight is not noise [m].
STRAY = 0.025
# Below this share of the body weight a point is a quotient of small numbers.
_UNSURE = 0.15
_STANDS = 0.3
# Peak of the vertical force in body weights: a light touch, and more than any jump.
PEAK_SHARE = (0.1, 12.0)
# Horizontal force over vertical force, with some newtons for the ends of contact: the largest friction of a sole.
GREATEST_FRICTION, FRICTION_FLOOR = 2.0, 100.0
# A force that changes by more than a body weight from one sample to the next, and faster than this [body weights/s],
# is not of a foot: the hardest landings reach some hundreds.
JUMP, FASTEST = 1.0, 1000.0
# Largest moment about the point over vertical force [m], plus some newton meters for the ends of contact: a foot that
# rotates on the floor reaches a third of it.
MOMENT_ARM, MOMENT_FLOOR = 0.3, 20.0
THROUGHOUT = 0.25
"""Share of impossible loaded samples above which the whole plate is wrong, not an instant of it: its unit, its axes,
or its foot.
"""
LONGEST_SPIKE = 0.05
"""Longest duration [s] of a spike or dropout, a force that jumps and returns: no contact is so short. A force that
does not return is a contact of which a part was cut off.
"""
# Periods of the cut-off frequency after which the step response of the filter is below a thousandth.
_PERIODS = 1.6


Value = TypeVar("Value", float, Array)


def friction_limit(vertical: Value) -> Value:
    """Largest horizontal force under a sole, (...) [N], by the size of the vertical force (...) [N]."""
    return GREATEST_FRICTION * vertical + FRICTION_FLOOR


def moment_limit(vertical: Value) -> Value:
    """Largest moment about the point of force, (...) [N m], by the size of the vertical force (...) [N]."""
    return MOMENT_ARM * vertical + MOMENT_FLOOR


def stray_moment(beside: Value, vertical: Value) -> Value:
    """Moment (...) [N m] due to a point of force beyond the sole; possible up to `STRAY` body weights times m.

    Args:
        beside: distance of the point from the line between heel and toe (...) [m].
        vertical: size of the vertical force (...) [N].
    """
    return (beside - SOLE_REACH) * vertical


def beyond_limits(
    sideways: Value, upward: Value, turning: Value, beside: Value, weight: float
) -> tuple[Any, ...]:
    """Whether samples (...) are of no foot: too large, downward, too far sideways, turning too much, beside the sole.

    sideways, upward: of the force on the foot [N]; turning: moment about its point [N m]; beside: distance of the point
    from the line between heel and toe [m], 0 where the foot is not known; weight: of the body [N].
    """
    vertical = abs(upward)
    return (
        vertical > PEAK_SHARE[1] * weight,
        -upward > PEAK_SHARE[0] * weight,
        sideways > friction_limit(vertical),
        turning > moment_limit(vertical),
        stray_moment(beside, vertical) > STRAY * weight,
    )


def impossible_samples(force: Array, moment: Array, beside: Array, weight: float) -> tuple[Mask, Mask]:
    """Return masks (S,) of the samples that no foot can cause, by their force (S, 3), and by their point or moment."""
    sideways, turning = np.hypot(force[:, 0], force[:, 1]), np.linalg.norm(moment, axis=1)
    large, pulls, slides, turns, strays = beyond_limits(sideways, force[:, 2], turning, beside, weight)
    return large | pulls | slides, turns | strays


def sample_fault(force: Array, moment: Array, beside: float, weight: float) -> str:
    """Return the reason why no foot can cause a sample of a plate, "" if a foot can; see `beyond_limits`."""
    x, y, z = map(float, force)
    sideways, turning = math.hypot(x, y), math.hypot(*moment)
    beyond = beyond_limits(sideways, z, turning, beside, weight)
    if not any(beyond):
        return ""
    return (
        f"is {abs(z):.4g} N",
        f"pulls it down with {-z:.4g} N",
        f"pushes it sideways with {sideways:.4g} N",
        f"has a moment of {turning:.4g} N m about the point of force",
        f"acts {beside:.3g} m away from it",
    )[beyond.index(True)]


class PlateFault(NamedTuple):
    """A fault of a plate by the test `name`, at a key of [[force]], with the remedy for a [[force]] that names columns.

    on_plate: the remedy for plates of a file, if it differs.
    """

    test: str
    problem: str
    key: str
    expected: str
    remedy: str
    on_plate: str | None = None


def plate_error(
    trial: Trial, plate: PlateForce, index: int, document: Document
) -> tuple[str, InputError] | None:
    """Return the name of the first test that a plate fails and its error; None for a plate without faults.

    The error points at the plate in its file, or at table number `index` of [[force]].
    """
    fault = next(_faults(trial, plate), None)
    return None if fault is None else (fault.test, _error(fault, plate, index, document))


def _error(fault: PlateFault, plate: PlateForce, index: int, document: Document) -> InputError:
    _, problem, key, expected, remedy, on_plate = fault
    if plate.number is None:
        return document.fault("bad_forces", ("force", key, index), problem, expected, remedy)
    place = (plate.path, f"plate {plate.number}")
    return file_error("bad_forces", place, problem, expected, on_plate or remedy)


def check_any_load(trial: Trial, document: Document) -> None:
    """Refuse forces that never load a plate: they are in another unit, or of another recording."""
    if any(loaded(trial, plate).any() for plate in trial.forces):
        return
    peak = max(float(np.abs(plate.force[:, 2]).max()) for plate in trial.forces)
    fault = PlateFault(
        "load",
        f"no foot ever stands on a plate: the vertical force reaches {peak:.3g} N",
        "force",
        f"{trial.unloaded_below:g} N at least, somewhere in the recording",
        "check that the forces are in newtons, not in kilonewtons or body weights, and of this recording",
    )
    raise _error(fault, trial.forces[0], 0, document)


def loaded(trial: Trial, plate: PlateForce) -> Mask:
    """Return a mask (S,) of the measured samples in which the plate is loaded."""
    vertical = np.abs(plate.force[:, 2])
    return np.asarray((vertical >= trial.unloaded_below) & (vertical > 0.0) & plate.measured)


def _near_range(trial: Trial, plate: PlateForce) -> Mask:
    """Return a mask (S,) of the samples of a plate that affect the time range through the filter."""
    (start, end), cutoff = trial.time_range, trial.settings.filter.fixed_cutoff
    reach = REACH_S if cutoff is None else min(REACH_S, _PERIODS / cutoff)
    return np.asarray((plate.time >= start - reach) & (plate.time <= end + reach))


def without_idle_noise(trial: Trial, plate: PlateForce) -> PlateForce:
    """Return a plate without samples that exceed the threshold of an idle plate by noise alone, up to `LIGHT_N`.

    They belong to no contact (`stands_loaded`): their force is zero, and their point, a quotient of noise, is unused.
    """
    upward, size = plate.force[:, 2], np.abs(plate.force[:, 2])
    noise = (size >= trial.unloaded_below) & (size < LIGHT_N)
    if noise.any():
        noise &= ~stands_loaded(plate.time, upward, trial.unloaded_below)
        noise &= ~stands_loaded(plate.time, -upward, trial.unloaded_below)
    if not noise.any():
        return plate
    force, moment = (np.where(noise[:, None], 0.0, values) for values in (plate.force, plate.moment))
    return replace(plate, force=force, moment=moment)


def without_instants(trial: Trial, plate: PlateForce) -> PlateForce:
    """Return a plate in which impossible samples of an instant count as not measured (`PlateForce.impossible`).

    These are spikes and dropouts of the force, and samples beyond a limit of `sample_fault`: the other foot touched the
    plate, or the point is a quotient of small numbers. If there are more (`THROUGHOUT`), the plate does not change, and
    `plate_error` reports it. A straight line replaces the force, and the moment about a fixed point, in impossible
    samples; their effect through the filter ends after `BESIDE_GAP`.
    """
    plate = without_idle_noise(trial, plate)
    time, weight = plate.time, trial.subject.mass * STANDARD_GRAVITY
    near, foot = _near_range(trial, plate), heels_and_toes(trial).get(plate.side)
    in_use = near & loaded(trial, plate)
    beside = np.zeros(time.size)
    if foot is not None:
        beside[in_use] = np.nan_to_num(foot.distance(plate.point[in_use], time[in_use]))
    of_force, of_moment = impossible_samples(plate.force, plate.moment, beside, weight)
    wrong = (of_force & near) | (of_moment & in_use)
    wrong |= _spikes(_fast(plate, weight, trial.unloaded_below) & near[1:], time)
    # Points off the sole next to such a sample have the same cause, even with a smaller moment.
    for first, stop in true_runs(wrong | (beside > SOLE_REACH)):
        wrong[first:stop] = wrong[first:stop].any()
    if not wrong.any() or wrong.sum() > THROUGHOUT * in_use.sum():
        return plate
    excess = np.linalg.norm(plate.force, axis=1) * np.maximum(beside, SOLE_REACH)
    excess[impossible := of_force | of_moment] += excess.max()
    instants = []
    for first, stop in true_runs(wrong):
        worst = first + int(np.argmax(excess[first:stop]))
        force, moment, off = plate.force[worst], plate.moment[worst], float(beside[worst])
        # A spike may be of a size that a foot can have.
        fault = sample_fault(force, moment, off, weight) or f"jumps to {np.linalg.norm(force):.4g} N"
        span = float(time[first]), float(time[stop - 1])
        greatest = float(np.abs(plate.force[first:stop, 2]).max(initial=0.0, where=impossible[first:stop]))
        instants.append(ImpossibleForce(*span, fault, float(abs(force[2])), float(time[worst]), greatest))
    bears = np.abs(plate.force[:, 2]) >= trial.unloaded_below
    return replace(interpolated(plate, wrong, bears), impossible=tuple(instants))


def _fast(plate: PlateForce, weight: float, unloaded: float) -> Mask:
    """Return a mask (S-1,) of jumps of the force from one sample to the next, or between none and a standing foot."""
    size, (change, jumps) = np.linalg.norm(plate.force, axis=1), _jumps(plate.force, plate.time, weight)
    return jumps | (np.minimum(size[1:], size[:-1]) < unloaded) & (change > _STANDS * weight)


def _jumps(force: Array, time: Array, weight: float) -> tuple[Array, Mask]:
    """Return changes (S-1,) of a force (S, 3) from one sample to the next [N], and which of them no foot makes."""
    change = np.linalg.norm(np.diff(force, axis=0), axis=1)
    return change, (change > JUMP * weight) & (change > FASTEST * weight * np.diff(time))


def _spikes(jumping: Mask, time: Array) -> Mask:
    """Return a mask (S,) of the samples between two jumps (S-1,) at most the duration of a spike apart."""
    spikes, jumps = np.zeros(time.size, bool), np.flatnonzero(jumping)
    k = 0
    while k + 1 < jumps.size:
        first, last = jumps[k] + 1, jumps[k + 1]
        if time[last] - time[first] <= LONGEST_SPIKE:
            spikes[first : last + 1] = True
            k += 2
        else:
            k += 1
    return spikes


def instants_of(trial: Trial, plate: PlateForce) -> tuple[str, str]:
    """Return in words the impossible samples of a plate, and the remedy."""
    weight = trial.subject.mass * STANDARD_GRAVITY
    worst = max(plate.impossible, key=lambda instant: instant.vertical)
    seconds = (
        float(np.mean(~plate.possible(trial.markers.time))) * trial.markers.time.size / trial.markers.rate
    )
    others = len(plate.impossible) - 1
    more = f", and {count_of(others, 'more time')}" if others else ""
    lost = worst.vertical < trial.unloaded_below  # not a small force, but none
    under = "" if lost else f", under {worst.vertical:.0f} N"
    what = (
        f"the force on the {SIDE_NAMES[plate.side]} foot {worst.fault} at {worst.time:.4g} s"
        f"{under}{more} (expected: a possible force of the foot in every sample): "
        f"{seconds:.2f} s around such times count as not measured, and these frames of the leg are not analyzed"
    )
    if lost:
        return what, "export the forces of these samples again, or choose a range without that time ([time])"
    return what, _remedy(max(worst.vertical, *(one.greatest for one in plate.impossible)), weight)


def instant_notes(trial: Trial) -> tuple[str, ...]:
    """Notes on the impossible samples of the plates."""
    remarks = (instants_of(trial, plate) for plate in trial.forces if plate.impossible)
    return tuple(f"{capitalized(problem)}; {remedy}." for problem, remedy in remarks)


def _remedy(most: float, weight: float) -> str:
    """Return the remedy for a point of force that strays only under small forces, up to `most` [N]."""
    remedy = (
        "correct the point where it is exported (columns, time), or choose a range without that time ([time])"
    )
    if most <= _UNSURE * weight:
        above = 5 * math.ceil((most + 1.0) / 5.0)
        return f"count so little force as unloaded: unloaded_below_n = {above} in [filter]; or {remedy}"
    return remedy


def _faults(trial: Trial, plate: PlateForce) -> Iterator[PlateFault]:
    """Yield the faults of a plate, test by test; a test may rely on the tests before it."""
    foot, weight = f"{SIDE_NAMES[plate.side]} foot", trial.subject.mass * STANDARD_GRAVITY
    start, end = trial.time_range
    inside = (plate.time >= start) & (plate.time <= end) & plate.measured
    near = _near_range(trial, plate)
    in_use = near & loaded(trial, plate)
    force, vertical = plate.force[near], plate.force[inside, 2]

    pull, peak = -float(vertical.min(initial=0.0)), float(vertical.max(initial=-np.inf))
    if pull > trial.unloaded_below and peak <= pull:
        yield PlateFault(
            "sign",
            f"the plate pulls the {foot} down with {pull:.0f} N",
            "force",
            "the force of the ground on the foot, which points up",
            "the file holds the force on the plate (invert its sign), or up in [laboratory] is wrong",
            "correct the sign of this plate's vertical channels in the capture software, or up in [laboratory]",
        )

    greatest = float(force[:, 2].max(initial=0.0))
    # a range may end when a foot lands: the load of a plate is judged over the whole recording
    most = float(plate.force[:, 2].max(initial=0.0))
    # nobody steps on a plate that is light while another one carries the subject
    heaviest = max(float(other.force[:, 2].max(initial=0.0)) for other in trial.forces)
    light = peak >= trial.unloaded_below and 0.0 < most and heaviest < PEAK_SHARE[0] * weight
    if light or greatest > PEAK_SHARE[1] * weight:
        yield PlateFault(
            "size",
            f"the plate of the {foot} carries at most {most if light else greatest:.4g} N",
            "force",
            f"{PEAK_SHARE[0]:g} to {PEAK_SHARE[1]:g} of the body weight, {weight:.0f} N",
            "check that the file is in newtons, and mass_kg",
            "check the unit of the forces (ANALOG:UNITS) and the scale of the channels, and mass_kg",
        )

    sideways = np.hypot(force[:, 0], force[:, 1])
    beyond = sideways > friction_limit(np.abs(force[:, 2]))
    if beyond.any():
        yield PlateFault(
            "sideways",
            f"the plate of the {foot} is pushed sideways by {sideways[beyond].max():.4g} N",
            "force",
            f"less than {GREATEST_FRICTION:g} times the vertical force",
            "check the columns and their order, and up in [laboratory]",
            "check the order of this plate's channels (CHANNEL) and its CORNERS, and up in [laboratory]",
        )

    # A spike, or a contact that was cut off: it rings through the filter.
    change, fast = _jumps(force, plate.time[near], weight)
    if fast.any():
        yield PlateFault(
            "jumps",
            f"the force on the {foot} jumps by {change[fast].max():.0f} N from one sample to the next "
            f"at {plate.time[near][1:][fast][0]:g} s",
            "force",
            "a force that rises and falls steadily",
            "remove the spike in the software that exported it, or choose a range away from it ([time])",
        )

    size = np.linalg.norm(plate.moment[in_use], axis=1)
    beyond = size > moment_limit(np.abs(plate.force[in_use, 2]))
    if beyond.any():
        yield PlateFault(
            "moments",
            f"the moment about the point of force on the {foot} reaches {size[beyond].max():.4g} N m "
            f"at {plate.time[in_use][size == size[beyond].max()][0]:g} s",
            "moment",
            f"less than {MOMENT_ARM:g} m times the vertical force, and {MOMENT_FLOOR:g} N m",
            "check that moments are in newton meters, and that these are the columns of the free moment",
            "check the unit of the moments (ANALOG:UNITS), and the order of this plate's channels (CHANNEL)",
        )

    feet = heels_and_toes(trial)

    # Sides swapped, plates and cameras in different axes.
    stands = inside & (plate.force[:, 2] > _STANDS * weight)
    if stands.any() and len(feet) == len(SIDES):
        distance = {side: path.away(plate.point[stands], plate.time[stands]) for side, path in feet.items()}
        other: Side = "l" if plate.side == "r" else "r"
        from_foot, from_other = distance[plate.side], distance[other]
        problem = f"the force on the {foot} acts {from_foot:.2f} m away from it"
        expected = "a center of pressure under the foot"
        if from_foot > FOOT_REACH and from_other < 0.5 * from_foot:
            problem += f", but {from_other:.2f} m from the {SIDE_NAMES[other]} one"
            on_plate = f'give the plate to the other foot (side = "{other}"), or leave out all [[force]]'
            yield PlateFault("nearness", problem, "side", expected, f'side = "{other}"', on_plate)
        elif from_foot >= FARTHEST:
            remedy = (
                "check that points and markers share axes and the order of columns, and points are in meters"
            )
            on_plate = "check that plates and markers share axes: CORNERS in the file"
            yield PlateFault("nearness", problem, "point", expected, remedy, on_plate)

    # The moment of the force about a fixed point is filtered, so the error of this moment counts: the point of a force
    # of 20 N may be a meter off the foot, the point of the body weight only some centimeters.
    if plate.side in feet:
        off = feet[plate.side].distance(plate.point[in_use], plate.time[in_use])
        load = np.abs(plate.force[in_use, 2])
        wrong = np.nan_to_num(stray_moment(off, load))
        astray = wrong > STRAY * weight
        if astray.any():
            worst, most = int(np.argmax(wrong)), float(load[astray].max())
            yield PlateFault(
                "strays",
                f"the point of force on the {foot} strays {off[worst]:.4g} m from it "
                f"at {plate.time[in_use][worst]:g} s, under {load[worst]:.0f} N",
                "point",
                "a center of pressure under the foot while it is loaded",
                _remedy(most, weight),
            )
