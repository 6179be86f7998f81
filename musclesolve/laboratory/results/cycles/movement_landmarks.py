"""Beginning and end of the cycles of a movement, from the trial file or from motion and ground reactions.

stated
    ``cycles_s`` of the trial file, for both legs.
walking, running, stairs, and unrecognized movements
    From heel strike to the next one of the same foot. Where no plate saw the heel strike, and in files that are cut to
    a single cycle, the motion shows it: relative to the hips, the foot is farthest ahead shortly before it strikes
    (Zeni, Richards & Higginson 2008, Gait Posture 27:710-714), and its distance ahead is equal at all its strikes. A
    strike is where this distance falls through its value at strikes known from forces, or, without such strikes,
    0.03 s after the maximum. Up to 5 % of a stride before the first frame the strike follows from the slope of the
    first two frames; after the last frame it is 0.03 s after the maximum.
jump
    From the contact of the foot to its take-off; a recording without take-off after a contact: to the lowest point.
chair
    From the beginning of the rise to standing. ``seat_off_percent`` is the moment of leaving the seat: the feet bear
    the body weight for the first time, if the forces of both feet are known.
squat
    From the beginning of the descent through the deepest point (``deepest_percent``) to the end of the rise.

A cycle that is shorter or longer than any of its movement is left out, unless it is stated.

Rise and descent begin and end where the vertical velocity of the hips is 5 % of its greatest in them.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.laboratory.results import movement as movements
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.movement import SeenMotion

CYCLES_ATTRIBUTE = "cycles_s"
"""Attribute of a result: start and end of each cycle stated in the trial file, in sequence [s]."""
STEP_REACH = 0.1
"""Distance that a walking foot always exceeds in front of the hips and behind them [m]."""
LAG = 0.03
"""From the farthest reach of an ankle to the strike [s]; 0.02 to 0.05 s in the recorded walks with known forces."""
STRIKE_BEYOND = 0.05
"""Largest time of a strike from motion beyond the frames, as a share of the usual stride."""
CUT_STRIDE_TOLERANCE = 0.05
"""Tolerance, as a share of its range, within which the foot is farthest ahead at both ends of a file cut to a
stride.
"""
SAME_STRIKE = 0.15
"""Largest difference in time between a strike from motion and the same strike from forces [s]."""
USUAL_STRIDE = 1.1
"""Assumed stride time where only one strike is known [s]."""
SLOW = 0.05
"""Share of the greatest vertical velocity below which a rise or a descent begins or ends."""
SHORTEST_STANCE = 0.05
"""Least duration of a contact [s]."""
CYCLE_TIMES = {
    movements.WALKING: (0.4, 5.0),
    movements.RUNNING: (0.3, 2.0),
    **dict.fromkeys((movements.JUMP, "landing"), (SHORTEST_STANCE, 3.0)),
    movements.CHAIR: (0.4, 10.0),
    movements.SQUAT: (0.5, 15.0),
}
"""Shortest and longest cycle of a movement that is not stated [s]: wider than for patients and small children, so that
only an additional or missing strike is found. `OF_OTHERS` holds for other movements."""
OF_OTHERS = (0.25, 10.0)
NO_CYCLE = "is no cycle of"
"""Words in the reason of a cycle that is left out for its length."""
WITHOUT_LEGS = "without legs only cycles that are stated are known"


@dataclass(frozen=True)
class Interval:
    """A cycle of a movement: start and end [s], and its landmarks by name [%]."""

    start: float
    end: float
    landmarks: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Intervals:
    """The cycles of a leg in order, their movement, and the reasons why other candidates are left out."""

    movement: str
    cycles: list[Interval]
    left_out: list[tuple[float, float, str]] = field(default_factory=list)  # start, end [s], reason
    why_none: str = "no two heel strikes with frames between them"


def intervals(result: xr.Dataset, side: str) -> Intervals:
    """Find the cycles of one leg of a result (module docstring)."""
    seen = SeenMotion(result)
    name = movements.movement(seen).name
    if (stated := np.atleast_1d(np.asarray(result.attrs.get(CYCLES_ATTRIBUTE, []), dtype=float))).size:
        every = [(start, end) for start, end in stated.reshape(-1, 2).tolist()]
        inside = [np.count_nonzero((seen.time >= start) & (seen.time <= end)) > 1 for start, end in every]
        kept = [Interval(*span) for span, there in zip(every, inside, strict=True) if there]
        none = [(*span, "no frames in it") for span, there in zip(every, inside, strict=True) if not there]
        return Intervals(name, kept, none)
    if not is_leg(result, side):
        return Intervals(name, [], why_none=WITHOUT_LEGS)
    cut = {movements.JUMP: _contacts, movements.CHAIR: _rises, movements.SQUAT: _squats}
    return _possible(cut[name](seen, side) if name in cut else stride_intervals(result, side, name))


def is_leg(result: xr.Dataset, side: str) -> bool:
    """Whether a side of a result is a leg: by the names of its joints, or by heel strikes, whatever the names."""
    named = frames.limb_name(result) == "leg"
    return side in SIDE_NAMES and (named or frames.heel_strikes(result, side).size > 0)


def _possible(cut: Intervals) -> Intervals:
    """Leave out cycles that are too short or too long for their movement."""
    shortest, longest = CYCLE_TIMES.get(cut.movement, OF_OTHERS)
    kept, odd = list[Interval](), list[tuple[float, float, str]]()
    for cycle in cut.cycles:
        length = cycle.end - cycle.start
        if shortest <= length <= longest:
            kept.append(cycle)
        else:
            words = f"{length:.2f} s {NO_CYCLE} {cut.movement}, which lasts {shortest:g} to {longest:g} s"
            odd.append((cycle.start, cycle.end, words))
    return replace(cut, cycles=kept, left_out=[*cut.left_out, *odd]) if odd else cut


def stride_intervals(result: xr.Dataset, side: str, name: str = movements.WALKING) -> Intervals:
    """The intervals between heel strikes of a foot, without intervals that lack a strike in their middle."""
    strikes = heel_strikes(result, side)
    times = np.diff(strikes)
    usual = float(np.median(times)) if times.size else 0.0
    long = "much longer than the other cycles, as if a heel strike in it were missing"
    every = list(pairwise(strikes.tolist()))
    kept = [Interval(start, end) for start, end in every if end - start <= frames.LONGEST_INTERVAL * usual]
    first, last = result["time"].values[[0, -1]]
    left_out = [
        (start, end, long)
        for start, end in every
        if end - start > frames.LONGEST_INTERVAL * usual and start < last and end > first
    ]
    return Intervals(name, kept, left_out)


def heel_strikes(result: xr.Dataset, side: str) -> Array:
    """Times [s] at which a foot strikes the ground, including strikes from motion alone."""
    known = frames.heel_strikes(result, side)
    seen = SeenMotion(result)
    if side not in SIDE_NAMES or seen.time.size < movements.FEWEST_FRAMES:
        return known
    shown = _shown_strikes(seen, side, known)
    far = [time for time in shown if known.size == 0 or np.abs(known - time).min() > SAME_STRIKE]
    return np.sort(np.concatenate([known, far]))


def _shown_strikes(seen: SeenMotion, side: str, known: Array) -> list[float]:
    """Return the times at which the ankle, ahead of the hips, falls through its distance at heel strike."""
    ahead = seen.ahead(side)
    if ahead is None or not np.isfinite(ahead).all() or ahead.max() < STEP_REACH or ahead.min() > -STEP_REACH:
        return []
    time, middle = seen.time, 0.5 * (ahead.max() + ahead.min())
    rise, bend = ahead[1:-1] - ahead[:-2], ahead[:-2] - 2.0 * ahead[1:-1] + ahead[2:]
    tops = np.flatnonzero((rise >= 0.0) & (rise + bend < 0.0) & (ahead[1:-1] > middle))
    inside = known[(known >= time[0]) & (known <= time[-1])]
    if inside.size:
        level = float(np.median(np.interp(inside, time, ahead)))
    elif tops.size:  # the parabola through the farthest frame and its neighbors
        level = float(np.median(ahead[tops + 1] + 0.5 * bend[tops] * (LAG / seen.period) ** 2))
    elif min(ahead[0], ahead[-1]) >= ahead.max() - CUT_STRIDE_TOLERANCE * np.ptp(ahead):
        return [float(time[0]), float(time[-1])]  # a stride that is cut where the foot is farthest ahead
    else:
        return []
    if level < middle:
        return []
    falling = np.flatnonzero((ahead[:-1] > level) & (ahead[1:] <= level))
    times = [float(np.interp(-level, -ahead[k : k + 2], time[k : k + 2])) for k in falling]
    beyond = STRIKE_BEYOND * (float(np.median(np.diff(known))) if known.size > 1 else USUAL_STRIDE)
    slope = (ahead[1] - ahead[0]) / (time[1] - time[0])
    if slope < 0.0 and middle < ahead[0] <= level and (level - ahead[0]) / -slope <= beyond:
        times.append(float(time[0] + (level - ahead[0]) / slope))
    if tops.size and ahead[tops[-1] + 1 :].min() > level and time[tops[-1] + 1] + LAG <= time[-1] + beyond:
        times.append(float(max(time[tops[-1] + 1] + LAG, time[-1])))
    return sorted(times)


def _contacts(seen: SeenMotion, side: str) -> Intervals:
    """Contacts of a foot from their beginning to take-off; without any, to the lowest point of the hips."""
    if side not in seen.force:
        return Intervals(movements.JUMP, [], why_none="the ground force of this foot is not known")
    height, time = seen.hips[:, 2], seen.time
    whole, landings = list[Interval](), list[Interval]()
    for first, stop in true_runs(np.nan_to_num(seen.force[side]) > seen.threshold):
        if first == 0 or (stop - first) * seen.period < SHORTEST_STANCE:
            continue  # a contact that began before the frames has no strike
        lowest = first + int(np.argmin(height[first:stop]))
        if stop < time.size:
            share = 100.0 * (time[lowest] - time[first]) / (time[stop - 1] - time[first])
            whole.append(Interval(time[first], time[stop - 1], {"deepest_percent": float(share)}))
        elif lowest < stop - 1:
            landings.append(Interval(time[first], time[lowest]))
    none = "no contact of this foot that begins within the frames, with a lowest point after it"
    if whole:
        why = "a landing without take-off after it"
        return Intervals(movements.JUMP, whole, [(landing.start, landing.end, why) for landing in landings])
    return Intervals("landing", landings, why_none=none)


def _height(seen: SeenMotion) -> Array:
    """Height of the hips [m]; where unknown, the negative mean flexion of the knees [rad]."""
    height = seen.hips[:, 2]
    return height if np.isfinite(height).all() else -0.5 * (seen.knee("r") + seen.knee("l"))


def _bent(seen: SeenMotion) -> list[tuple[int, int]]:
    """Runs of frames with knees bent by more than 50 degrees."""
    return true_runs(0.5 * (seen.knee("r") + seen.knee("l")) > movements.BENT)


def _moving(rate: Array, fastest: int, sign: float) -> tuple[int, int]:
    """First and last frame around the frame `fastest` in which the signed rate exceeds 5 % of its value there."""
    slow = np.flatnonzero(sign * rate < SLOW * sign * rate[fastest])
    before, after = slow[slow < fastest], slow[slow > fastest]
    return int(before[-1]) if before.size else 0, int(after[0]) if after.size else rate.size - 1


def _rises(seen: SeenMotion, side: str) -> Intervals:
    """Return the rises from sitting to standing, with the moment at which the seat is left as a landmark."""
    height, time = _height(seen), seen.time
    rate, cycles, left_out = np.gradient(height, time), list[Interval](), list[tuple[float, float, str]]()
    load = np.sum(list(seen.force.values()), axis=0) if len(seen.force) == len(SIDE_NAMES) else None
    for first, stop in _bent(seen):
        if stop == time.size:
            continue  # the person sits until the end
        lowest = first + int(np.argmin(height[first:stop]))
        above = np.flatnonzero(0.5 * (seen.knee("r") + seen.knee("l"))[stop:] < movements.UPRIGHT)
        if not above.size:
            continue
        fastest = lowest + int(np.argmax(rate[lowest : stop + int(above[0]) + 1]))
        start, end = _moving(rate, fastest, 1.0)
        landmarks = {}
        if load is not None and (borne := np.flatnonzero(load[start : end + 1] >= 1.0)).size:
            at = time[start + borne[0]]
            landmarks["seat_off_percent"] = float(100.0 * (at - time[start]) / (time[end] - time[start]))
        if end == time.size - 1 and rate[end] > SLOW * rate[fastest]:
            left_out.append((time[start], time[end], "the recording ends before the subject stands"))
        else:
            cycles.append(Interval(time[start], time[end], landmarks))
    return Intervals(movements.CHAIR, cycles, left_out, "no rise from the seat to standing within the frames")


def _squats(seen: SeenMotion, side: str) -> Intervals:
    """Return the squats from standing to the deepest point and back."""
    height, time = _height(seen), seen.time
    rate, cycles = np.gradient(height, time), list[Interval]()
    runs = _bent(seen)
    for place, (first, stop) in enumerate(runs):
        deepest = first + int(np.argmin(height[first:stop]))
        from_ = runs[place - 1][1] if place else 0
        to = runs[place + 1][0] if place + 1 < len(runs) else time.size
        if deepest - from_ < 2 or to - deepest < 2:
            continue
        down = from_ + int(np.argmin(rate[from_:deepest]))
        up = deepest + int(np.argmax(rate[deepest:to]))
        start, end = _moving(rate, down, -1.0)[0], _moving(rate, up, 1.0)[1]
        share = 100.0 * (time[deepest] - time[start]) / (time[end] - time[start])
        cycles.append(Interval(time[start], time[end], {"deepest_percent": float(share)}))
    return Intervals(
        movements.SQUAT, cycles, why_none="no squat with its descent and its rise within the frames"
    )
