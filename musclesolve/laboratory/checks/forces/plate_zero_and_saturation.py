"""Faults of the plates themselves: zero, drift, saturation, steps, wrong foot."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from musclesolve._util.arrays import Array, Mask, at_times, time_spans, true_runs, within
from musclesolve._util.messages import count_of
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.checks.case import Case, Stage, change_plate, check_at, on_plate
from musclesolve.laboratory.checks.forces.newtons_law import eroded
from musclesolve.laboratory.checks.observed_body import Foot, seen_feet
from musclesolve.laboratory.motion.events.foot_events import SHORTEST_CONTACT
from musclesolve.laboratory.recording.data import SIDE_NAMES, PlateForce, Side
from musclesolve.laboratory.results.finding import Finding, Run, Where, finding
from musclesolve.laboratory.trial.plates.foot_contacts import touch
from musclesolve.laboratory.trial.plates.plate_checks import FOOT_REACH, without_instants

# Largest force on an unloaded plate [N], and largest change of its zero over the recording [N].
ZERO, DRIFT = 5.0, 10.0
AXIS_WORDS = ("forward", "to the left", "upward")
# Variation that is left of a share of other plates: 31 sound plates have no share, and 3 % of others leave 0 to 0.51.
LEFT = 0.6
# Force above which another subject is on the plate [N].
LARGEST_ZERO = 150.0
# Time with the foot in the air that shows the zero of a plate [s], and the margin to its ends.
SWING, MARGIN = 0.1, 0.03
# Duration of a constant peak from which it is cut off [s].
FLAT_PEAK_S = 0.02
# Duration from which a channel that is the same from sample to sample, away from its peaks, measures nothing [s]: 29
# sound plates have up to 3 ms, and 27 ms in steps of `COARSE`; the lost part of a contact lasts for some tenths.
RESTS_S = 0.06
CHANNELS = ("forward", "sideward", "vertical")
# Step of one coordinate of the points up to which it rests no longer than that [m]: 36 sound ones have up to 9 ms.
FINE = 1e-4
# Speed of the center of pressure below which points of coarse steps may rest [m/s]; standing people have 5 to 10 mm/s.
SLOWEST = 0.005
# Step of a channel, as a share of its peak, from which a smooth peak may stay the same for so long.
COARSE = 0.002
# Step of the force between two samples under a foot, in body weights and [N], and so many times as large as all others
# within a time before and after [s], and the lowest rate that shows it [Hz]: 31 sound plates, whole, at half, a quarter
# and an eighth of their rates and with fewer digits, have 3.0 times at most. Programs set forces below 10 to 30 N to
# zero before they add plates under a foot: such steps have up to 40 N. Beside a step of the signal the third difference
# has -2/3 of it, beside a spike of one sample -1 on one side.
LEAST_STEP, LEAST_STEP_N, OTHER_STEPS, AROUND_STEP, LEAST_RATE = 0.05, 50.0, 4.0, 0.025, 240.0
BESIDE_STEP = -0.9, -0.45
# Noise [N rms] and step [N] of a force on a foot: 57 sound plates have up to 4.9 and 1.0, files of OpenSim 2; and rest
# of a multiple of a step that rounding leaves. The median distance of white noise from the cubic through the samples
# beside it, over its rms.
NOISE_N, STEP_N, FEWEST_STEPS, ROUNDED, WHITE = 8.0, 5.0, 3, 0.05, 0.94
# Force at the ends of all contacts from which smaller ones were set to zero [N]: 28 sound plates begin and end at 22 N
# at most. And over its change in two samples: a force that rises evenly has up to 0.5, sound files 0.24.
CLIFF_N, CLIFF = 40.0, 0.7
# Coordinates of points that two plates may have exchanged.
EXCHANGED = {"point": (0, 1, 2), "forward coordinate": (0,), "sideward coordinate": (1,)}
OTHER: dict[Side, Side] = {"r": "l", "l": "r"}


def beside_cubic(values: Array) -> Array:
    """How far columns (T, K) differ from the cubic through two samples on either side; zero at the ends and gaps."""
    rest = np.zeros_like(values)
    near, far = values[1:-3] + values[3:-1], values[:-4] + values[4:]
    rest[2:-2] = np.nan_to_num(values[2:-2] - (4.0 * near - far) / 6.0)
    return rest


def bends_at_zero(near: Array) -> tuple[Array, Array]:
    """Greatest third differences (N,) of windows (N, 2 k + 1), as they are and with the other sign from the middle on.

    The smaller ones of both: the middle itself belongs to either part.
    """
    place, middle = np.arange(near.shape[1]), near.shape[1] // 2
    parts = (near, *(np.where(place < kept, near, -near) for kept in (middle, middle + 1)))
    bends, *other = (np.abs(np.diff(part, 3)).max(axis=1) for part in parts)
    return bends, np.minimum(*other)


def white_noise(columns: Array) -> Array:
    """Rms (K,) of the white noise of columns (T, K)."""
    return np.asarray(np.median(np.abs(beside_cubic(columns)), axis=0) / WHITE)


def step_of(column: Array) -> float:
    """The step of which all differences of values of a column (T,) are multiples, as where they were rounded; or 0."""
    values = np.unique(column[np.isfinite(column)])
    apart = np.diff(values)
    apart = apart[apart > 1e-9 * (values[-1] - values[0])] if len(values) else apart
    if len(apart) < FEWEST_STEPS:
        return 0.0
    multiple = (values - values[0]) / apart.min()
    return float(apart.min() * (np.abs(multiple - np.round(multiple)).max() < ROUNDED))


def resolution(load: str, force: Array, where: Where) -> Iterator[Finding]:
    """Find coarse steps or noise of the force (T, 3) of a loaded plate."""
    white, steps = white_noise(force), np.array([step_of(column) for column in force.T])
    limits = {"force_resolution": (steps, STEP_N), "force_resolution.noise": (white, NOISE_N)}
    for name, (size, limit) in limits.items():
        if size.max() > limit:
            values = {"load": load, "size": size.max(), "axis": "xyz"[size.argmax()], "limit": limit}
            yield finding(name, "warning", values, where)
            return


@check_at(Stage.PLATES)
def resolution_of_forces(case: Case) -> Iterator[Finding]:
    """Find plates whose force is noisy under a foot, or goes in coarse steps."""
    for plate in case.trial.forces:
        force = plate.force[(plate.force[:, 2] > 5.0 * touch(case.trial)) & ~plate.in_gap(plate.time)]
        if len(force) > FLAT_PEAK_S * plate.rate:
            yield from resolution(f"the {SIDE_NAMES[plate.side]} plate", force, on_plate(plate))


def _share_of_others(case: Case, plate: PlateForce, foot: Foot) -> tuple[float, Array]:
    """Return the share of the force of all other plates that a plate shows in the air, 0 if none, and this force."""
    others = np.sum([at_times(p.time, p.force, plate.time) for p in case.trial.forces], axis=0) - plate.force
    in_air = np.any([inside for _, inside in _swings(case, plate, foot)], axis=0)
    upward, other = plate.force[in_air, 2], others[in_air, 2]
    share = float(upward @ other / max(other @ other, 1e-9))
    return share * (np.std(upward - share * other) < LEFT * np.std(upward)), others


# Pull of a plate at rest [N] that is no small offset, and the least share of the recording in which it is the same.
PULL, AT_REST = 60.0, 0.1


@check_at(Stage.POINTS)
def pulls_at_rest(case: Case) -> Iterator[Finding]:
    """Find plates that pull down all the same at rest: no foot does, as where the mean of a trial was subtracted."""
    for index, plate in enumerate(case.trial.forces):
        pulling = plate.force[plate.force[:, 2] < -PULL]
        zero = np.median(pulling, axis=0) if len(pulling) > AT_REST * len(plate.force) else np.zeros(3)
        if zero[2] < 0.0 and np.median(np.abs(pulling[:, 2] - zero[2])) <= ZERO:
            level = " and ".join(f"{x:.1f} N {way}" for x, way in zip(zero, AXIS_WORDS, strict=True))
            repair = change_plate(index, force=plate.force - zero)
            yield finding("plate_baseline.pulls", "error", {"level": level}, on_plate(plate), repair)


@check_at(Stage.PLATE_ZERO)
def plate_zero(case: Case) -> Iterator[Finding]:
    """Find plates that show a force while their foot is in the air: a wrong or drifting zero, or force of others."""
    feet = seen_feet(case.trial)
    for index, plate in enumerate(case.trial.forces):
        zeros = _zeros(case, plate, feet[plate.side]) if plate.side in feet else []
        if not zeros:
            continue
        at, force = np.array([t for t, _ in zeros]), np.stack([f for _, f in zeros])
        level, spread = np.median(force, axis=0), np.ptp(force, axis=0)
        sound = (np.abs(level) <= ZERO).all() and (spread <= DRIFT).all()
        if sound or np.abs(force).max() > LARGEST_ZERO:
            continue
        share, others = _share_of_others(case, plate, feet[plate.side])
        if share:
            said: dict[str, object] = {"share": share, "limit": ZERO}
            repair = change_plate(index, force=plate.force - share * others)
            yield finding("plate_channel.mixed", "error", said, on_plate(plate), repair, anywhere=True)
            continue
        # The zero (S, 3) of the plate from some of its values: constant, linear, or interpolated.
        line = np.polyfit(at, force, int(np.ptp(at) >= 0.3))
        straight = np.abs(np.polyval(line, at[:, None]) - force).max() <= ZERO
        zero = np.polyval(line, plate.time[:, None]) if straight else at_times(at, force, plate.time)
        drift = zero[-1] - zero[0]
        most = np.maximum(np.abs(drift), spread)
        axis = int(most.argmax())
        code = "plate_drift" if most[axis] > DRIFT else "plate_baseline"
        values = {
            "drift": drift[axis] if abs(drift[axis]) > DRIFT else spread[axis],
            "axis": AXIS_WORDS[axis],
            "zeros": ", ".join(f"{f[axis]:.0f} N at {t:.2f} s" for t, f in zeros),
            "level": " and ".join(
                f"{level[k]:.1f} N {AXIS_WORDS[k]}" for k in range(3) if abs(level[k]) > ZERO
            ),
            "limit": ZERO,
        }
        where = on_plate(plate, tuple((t, t) for t, _ in zeros))
        repair = change_plate(index, force=plate.force - zero * plate.force.any(axis=1, keepdims=True))
        yield finding(code, "error", values, where, repair, anywhere=True)


def _zeros(case: Case, plate: PlateForce, foot: Foot) -> list[tuple[float, Array]]:
    """Return (time, force (3,)) of the unloaded plate, one for every swing in which it keeps to a line."""
    zeros = []
    for at, inside in _swings(case, plate, foot):
        samples = plate.shown[inside]
        middle = np.median(samples, axis=0)
        # A wrong zero lasts throughout the swing; a short force is a touch.
        count = np.arange(len(samples))
        slope, level = np.polyfit(count, samples, 1)
        off = np.ptp(np.quantile(samples - count[:, None] * slope - level, [0.05, 0.95], axis=0), axis=0)
        if (off <= 0.2 * np.abs(middle) + ZERO).all():
            zeros.append((at, middle))
    return zeros


def _swings(case: Case, plate: PlateForce, foot: Foot) -> Iterator[tuple[float, Mask]]:
    """Yield the middle of every swing of a foot [s], and the samples (S,) of the plate in it, away from its ends."""
    known = np.isfinite(plate.shown[:, 0]) & ~plate.in_gap(plate.time)
    air = eroded(foot.air, round(MARGIN * case.trial.markers.rate))
    for start, end in time_spans(air, case.trial.markers.time):
        inside = known & within(plate.time, start, end)
        if end - start >= SWING and inside.sum() >= 5:
            yield 0.5 * (start + end), inside


# Rms of the slow part (mean over so many seconds) of the force on an unloaded plate [N], the median over the swings: 31
# sound plates have up to 2 N, most of them because their file has zeros there, and a belt 15 N.
SWAYS, SLOW = 20.0, 0.04


@check_at(Stage.PLATE_ZERO)
def swaying_plates(case: Case) -> Iterator[Finding]:
    """Find plates whose force sways slowly in every swing of their foot: belts or floors that vibrate."""
    feet = seen_feet(case.trial)
    for plate in (plate for plate in case.trial.forces if plate.side in feet):
        half = round(0.5 * SLOW * plate.rate)
        padded = np.pad(np.nan_to_num(plate.shown), ((half, half), (0, 0)), "edge")
        slow = sliding_window_view(padded, 2 * half + 1, axis=0).mean(axis=2)
        off = [slow[inside].std(axis=0) for _, inside in _swings(case, plate, feet[plate.side])]
        sways = np.median(off or [np.zeros(3)], axis=0)
        if sways.max() > SWAYS:
            values = {
                "size": sways.max(),
                "axis": AXIS_WORDS[sways.argmax()],
                "swings": len(off),
                "limit": SWAYS,
            }
            yield finding("plate_baseline.sways", "warning", values, on_plate(plate))


@check_at(Stage.PLATES)
def clipped_peaks(case: Case) -> Iterator[Finding]:
    """Find plates of which one force, the whole force or its point stays exactly the same for a while."""
    for plate in case.trial.forces:
        vertical, least = plate.force[:, 2], 5.0 * touch(case.trial)
        foot = seen_feet(case.trial).get(plate.side)
        step = 1.0 / plate.rate
        if vertical.max(initial=0.0) < least:
            continue
        loaded = (vertical > least) & ~plate.in_gap(plate.time, filled=True)
        still = np.append(False, (np.diff(plate.force, axis=0) == 0.0).all(axis=1)) & loaded
        columns = slice(2), slice(1), slice(1, 2)
        points, *coordinates = (resting(plate.point[:, part], loaded) for part in columns)
        flat: list[tuple[str, Mask, dict[str, object], float]] = []  # and the least duration [s]
        finest_force, finest = (
            [np.nanmin(np.diff(np.unique(column)), initial=np.inf) for column in part.T]
            for part in (plate.force, plate.point[loaded, :2])
        )
        for first, stop in true_runs(still):  # channels of coarse steps rest, and go on by one step
            after = np.abs(plate.force[stop : stop + 1] - plate.force[stop - 1])
            still[first:stop] = not len(after) or (after > 1.5 * np.array(finest_force)).any()
        held = still | np.append(still[1:], False)  # the whole force: no single channel is at its limit
        for force, steps, way in zip(plate.force.T, finest_force, CHANNELS, strict=True):
            peaks = np.zeros_like(loaded)
            # a smooth force stays within one step of a coarse channel for a while
            for peak in np.unique([force.min(), force.max()]):
                if steps <= COARSE * abs(peak) and abs(peak) > ZERO:
                    highest = loaded & (np.abs(force - peak) <= 1e-9 * abs(peak)) & ~held
                    flat.append(("plate_clipped", highest, {"way": way, "peak": abs(peak)}, FLAT_PEAK_S))
                    peaks |= highest
            if foot is not None and steps <= COARSE * np.abs(force).max():
                on = loaded & (np.interp(plate.time, case.trial.markers.time, foot.ground) > 0.5)
                rests_alone = (np.diff(force, prepend=np.nan) == 0.0) & on & ~held & ~peaks
                flat.append(("plate_channel.rests", rests_alone, {"way": way}, RESTS_S))
        late = ", or the point is late or early against the force"
        rest = {"whole force": (held & loaded, "", FLAT_PEAK_S)}
        rest["point of force"] = points & ~held, late, max(FLAT_PEAK_S, min(finest) / SLOWEST)
        for rests, column, way in zip(coordinates, plate.point[loaded, :2].T, CHANNELS[:2], strict=True):
            if step_of(column) <= FINE:
                rest[f"{way} coordinate of the point of force"] = rests & ~held & ~points, "", RESTS_S
        for what, (where, cause, lasts) in rest.items():
            flat.append(("plate_clipped.held", where, {"what": what, "late": cause}, lasts))
        for name, where, values, lasts in flat:
            shortest = max(lasts - 0.5 * step, 3 * step)
            spans = tuple((a, b) for a, b in time_spans(where, plate.time) if b - a + step > shortest)
            if spans:
                duration = sum(b - a + step for a, b in spans)
                yield finding(name, "error", values | {"duration": duration}, on_plate(plate, spans))
        if (edge := least_cliff(vertical, max(FLAT_PEAK_S * plate.rate, 3))) > CLIFF_N:
            values = {"load": f"the {SIDE_NAMES[plate.side]} plate", "edge": edge, "limit": CLIFF_N}
            yield finding("plate_clipped.edges", "warning", values, on_plate(plate))


def resting(values: Array, loaded: Mask) -> Mask:
    """Loaded samples (S,) whose values (S, k) equal those before; none of a contact in which all do: it was stated."""
    rests = np.append(False, (np.diff(values, axis=0) == 0.0).all(axis=1)) & loaded
    for first, stop in true_runs(loaded):
        rests[first:stop] &= not rests[first + 1 : stop].all()
    return rests


def least_cliff(upward: Array, fewest: float) -> float:
    """Return the least force with which contacts of more than `fewest` samples (S,) begin and end; 0 where it grows."""
    runs = [run for run in true_runs(upward > 0.0) if run[1] - run[0] > fewest]
    ends = [(upward[first], upward[first + 2]) for first, _ in runs if first > 0]
    ends += [(upward[stop - 1], upward[stop - 3]) for _, stop in runs if stop < len(upward)]
    return min((edge if edge > CLIFF * abs(beside - edge) else 0.0 for edge, beside in ends), default=0.0)


@check_at(Stage.PLATES)
def force_steps(case: Case) -> Iterator[Finding]:
    """Find plates whose force goes on at another level from one sample to the next while a foot is on them.

    The changes from sample to sample are compared with the cubic through the changes around them (`beside_cubic`).
    A foot loads a plate over several samples; no force of it changes within one sample and is steady before and after.
    """
    weight = case.trial.subject.mass * STANDARD_GRAVITY
    for recorded in case.trial.forces if np.isfinite(weight) else ():
        plate = without_instants(case.trial, recorded)
        around = round(AROUND_STEP * plate.rate)
        if plate.rate < LEAST_RATE or len(plate.time) < 4 * around:
            continue
        rest = beside_cubic(np.diff(plate.force, axis=0))
        size = np.linalg.norm(rest, axis=1)
        steady = eroded((plate.force[:, 2] > touch(case.trial)) & plate.measured, around + 3)
        apart, least = np.diff(plate.time), max(LEAST_STEP * weight, LEAST_STEP_N)
        steps = []
        for k in np.flatnonzero((size > least) & steady[1:] & (apart < 1.5 * np.median(apart))).tolist():
            others = np.concatenate([size[max(k - around, 0) : k - 2], size[k + 3 : k + around + 1]])
            beside = rest[[k - 1, k + 1]] @ rest[k] / size[k] ** 2
            alone = BESIDE_STEP[0] < beside.min() and beside.max() < BESIDE_STEP[1]
            if alone and size[k] > OTHER_STEPS * others.max():
                steps.append(k)
        if steps:
            worst = max(steps, key=lambda k: size[k])
            more = f", and {count_of(len(steps) - 1, 'more time')}" if len(steps) > 1 else ""
            values = {"size": size[worst], "at": plate.time[worst + 1], "others": OTHER_STEPS, "more": more}
            times = tuple((float(plate.time[k]), float(plate.time[k + 1])) for k in steps)
            yield finding("force_step", "warning", values, on_plate(plate, times))


@check_at(Stage.POINTS)
def points_of_other_plates(case: Case) -> Iterator[Finding]:
    """Find plates that exchanged points, or a coordinate: each point is far from its foot, with the other's it is near.

    Points are compared where each plate alone carries the body.
    """
    feet, least = seen_feet(case.trial), touch(case.trial, 0.3)
    for pair in combinations(enumerate(case.trial.forces), 2):
        (_, one), (_, two) = pair
        if not {one.side, two.side} <= feet.keys() or not np.array_equal(one.time, two.time):
            continue
        tried: dict[str, list[tuple[float, float, int, Array]]] = {columns: [] for columns in EXCHANGED}
        for (index, plate), (_, other) in (pair, pair[::-1]):
            alone = (plate.force[:, 2] > least) & (other.force[:, 2] < least)
            for columns, axes in EXCHANGED.items():
                point = np.where(np.isin(np.arange(3), axes), other.point, plate.point)
                now, then = (feet[plate.side].away(p[alone], plate.time[alone]) for p in (plate.point, point))
                tried[columns].append((then, now, index, point))
        columns = min(tried, key=lambda name: sum(then for then, *_ in tried[name]))
        wrong = (now > FOOT_REACH and then < min(0.5 * now, FOOT_REACH) for then, now, *_ in tried[columns])
        for then, now, index, point in tried[columns] if all(wrong) else ():
            values = {"now": now, "then": then, "columns": columns}
            where, repair = on_plate(case.trial.forces[index]), change_plate(index, point=point)
            yield finding("plates_swapped.points", "error", values, where, repair)


@check_at(Stage.PLATES)
def plate_sides(case: Case) -> Iterator[Finding]:
    """Find contacts whose force acts under the other foot."""
    feet = seen_feet(case.trial)
    if len(feet) < 2:
        return
    least = touch(case.trial, 0.3)
    for index, plate in enumerate(case.trial.forces):
        spans: list[Run] = []
        contacts, other = 0, OTHER[plate.side]
        for first, stop in true_runs(plate.force[:, 2] > least):
            span = float(plate.time[first]), float(plate.time[stop - 1])
            if span[1] - span[0] <= SHORTEST_CONTACT:
                continue
            contacts += 1
            time, point = plate.time[first:stop], plate.point[first:stop]
            away = {side: foot.away(point, time) for side, foot in feet.items()}
            if away[plate.side] > FOOT_REACH and away[other] < min(0.5 * away[plate.side], 2 * FOOT_REACH):
                spans.append(span)
        if not spans:
            continue
        all_contacts = len(spans) == contacts
        stated = all_contacts and len(case.settings.force) == len(case.trial.forces)
        yield finding(
            "plates_swapped" if all_contacts else "plates_swapped.contacts",
            "error",
            {"side": SIDE_NAMES[plate.side], "other": SIDE_NAMES[other], "letter": other},
            replace(case.key("force", "side", index, plate=plate), times=tuple(spans)),
            change_plate(index, side=other) if all_contacts else None,
            change={("force", index, "side"): other} if stated else None,
        )
