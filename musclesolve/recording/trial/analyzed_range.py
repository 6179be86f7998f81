"""The analyzed range for trial files without [time]: the measured part of each leg.

The moments of a leg follow from the segments distal to each joint and from the ground force on the foot. So they are
correct if every needed marker is seen and every contact of this foot is on a plate; the other foot may stand beside the
plates. The residual at the pelvis needs both feet.
"""

from typing import Any

import numpy as np

from musclesolve._util.arrays import Mask, true_runs
from musclesolve._util.names import shortened
from musclesolve.recording.data import BESIDE_GAP, SIDE_NAMES, SIDES, Side, Trial
from musclesolve.recording.gaps.gap_filling import missing
from musclesolve.recording.markers.landmark_names import bounding_markers
from musclesolve.recording.plates.foot_contacts import FootPath, seen_feet, unmeasured
from musclesolve.settings.trial import PREDICTED, RecordedSettings

Run = tuple[int, int]
AT_ENDS = 0.1
"""Time [s] omitted at the ends of a recording or of a marker's trajectory, where accelerations are uncertain."""
FOR_FILTER = f"({AT_ENDS:g} s left for the filter)"
AT_CONTACTS = 0.01
"""Time [s] omitted beside a contact that was not measured."""
SHORTEST_STRETCH = 0.2
"""Shortest analyzed stretch of a leg [s]."""
MOST_NAMES = 3
FEWEST_FRAMES_LEFT = 10
"""Least number of frames left when the ends of a recording without a measured contact are omitted."""


def finds_range(settings: RecordedSettings) -> bool:
    """Return whether the settings of a trial file leave the time range to be found."""
    return settings.time.start_s is None and settings.time.end_s is None


def find_range(trial: Trial) -> dict[str, Any]:
    """Return what can be analyzed of a recording with filled gaps, by the fields of `Trial`.

    First and last time, the times of each leg in it [s], and why, in sentences; without a measured contact all of the
    recording but its ends.
    """
    feet, time, rate = seen_feet(trial), trial.markers.time, trial.markers.rate
    if not feet:
        return {"time_range": without_ends(trial), "analyzed": (nothing_found(trial),)}
    beside, seen = unmeasured(trial, feet), np.zeros(time.size, bool)
    predicts = trial.settings.plates.unmeasured_steps == PREDICTED
    if predicts:
        beside = {side: np.zeros(time.size, bool) for side in feet}
    seen[trial.frames()] = True
    for name in bounding_markers(trial):
        seen &= ~missing(trial.markers[name])

    def runs_in(side: Side, within: Run) -> list[Run]:
        """Return the runs of frames of a leg in a run of frames that are seen, without their uncertain ends."""
        runs = []
        for first, stop in true_runs(~beside[side][slice(*within)]):
            first, stop = first + within[0], stop + within[0]
            first += round((AT_ENDS if first == within[0] else AT_CONTACTS) * rate)
            stop -= round((AT_ENDS if stop == within[1] else AT_CONTACTS) * rate)
            if stop > first and time[stop - 1] - time[first] >= SHORTEST_STRETCH:
                runs.append((first, stop))
        return runs

    def length(run: Run) -> int:
        return run[1] - run[0]

    choices: list[dict[Side, Run]] = []
    stepping: dict[Side, list[Run]] = {side: [] for side in feet}
    for within in true_runs(seen):
        runs, longest = {side: runs_in(side, within) for side in feet}, dict[Side, Run]()
        for side, foot in feet.items():
            stands = foot.floor if predicts else foot.loaded & foot.floor
            if steps := [run for run in runs[side] if stands[slice(*run)].any()]:
                stepping[side] += steps
                longest[side] = max(steps, key=length)
        if not longest:
            continue
        # A leg that steps on no plate is measured while it swings.
        begin, end = min(run[0] for run in longest.values()), max(run[1] for run in longest.values())
        for side in feet.keys() - longest.keys():
            if swings := [run for run in runs[side] if run[0] >= begin and run[1] <= end]:
                longest[side] = max(swings, key=length)
        choices.append({side: longest[side] for side in SIDES if side in longest})
    if not choices:
        return {"time_range": without_ends(trial), "analyzed": (nothing_found(trial),)}
    legs = max(choices, key=lambda choice: sum(map(length, choice.values())))

    def times(run: Run) -> tuple[float, float]:
        return float(time[run[0]]), float(time[run[1] - 1])

    sentences = []
    for side in SIDES:
        name = SIDE_NAMES[side]
        if side not in legs:
            sentences.append(f"{name} leg: not analyzed, no contact of its foot is measured completely")
            continue
        first, stop = legs[side]
        lost = np.flatnonzero(~seen | beside[side])
        before, after = lost[lost < first], lost[lost >= stop]
        begins, ends = f"the recording begins {FOR_FILTER}", f"the recording ends {FOR_FILTER}"
        if before.size:
            begins = _reason(trial, feet[side], beside[side], int(before[-1]))
        if after.size:
            ends = _reason(trial, feet[side], beside[side], int(after[0]))
        others = ", ".join(_span(times(run)) for run in stepping[side] if run != legs[side])
        more = f"; measured too, for [time]: {others}" if others else ""
        sentences.append(f"{name} leg: {_span(times(legs[side]))}; before it {begins}, after it {ends}{more}")
    first, stop = max(run[0] for run in legs.values()), min(run[1] for run in legs.values())
    both = f"both feet {_span(times((first, stop)))}" if len(legs) == 2 and stop > first else "never both"
    sentences.append(f"pelvis residual: {both}")
    whole = min(run[0] for run in legs.values()), max(run[1] for run in legs.values())
    of_legs = {side: times(run) for side, run in legs.items()}
    return {"time_range": times(whole), "legs": of_legs, "analyzed": tuple(sentences)}


def _reason(trial: Trial, foot: FootPath, unmeasured: Mask, frame: int) -> str:
    """The reason why a frame of a leg is not analyzed; unmeasured: mask (T,) of contacts not completely on plates."""
    time = trial.markers.time
    for gap in (gap for plate in trial.forces for gap in plate.gaps if not gap.filled):
        if gap.first - BESIDE_GAP < time[frame] < gap.last + BESIDE_GAP:
            return f"a plate has no numbers ({_span((gap.first, gap.last))})"
    for first, stop in true_runs(unmeasured):
        if first <= frame < stop:
            loaded = foot.loaded[first:stop].any()
            on = "partly beside its plate" if loaded else "on the floor beside the plates"
            return f"the foot is {on} ({_span((time[first], time[stop - 1]))})"
    lost = [name for name in bounding_markers(trial) if missing(trial.markers[name][frame])]
    if not lost:
        return "the recording of forces ends" if frame else "the recording of forces begins"
    return f"{shortened(list(map(repr, lost)), MOST_NAMES)} not seen at {time[frame]:.2f} s"


def _span(times: tuple[float, float]) -> str:
    return f"{times[0]:.2f} to {times[1]:.2f} s"


def nothing_found(trial: Trial) -> str:
    """Return why the range of a recording cannot be found from its contacts."""
    lacking = (
        "heel and toe of no foot are among the markers of the motion, which would show its contacts"
        if not seen_feet(trial)
        else "no stretch was found in which a contact of a foot is measured completely and the markers of legs and "
        "pelvis are seen"
    )
    return f"the whole recording but its ends: {lacking}"


def without_ends(trial: Trial) -> tuple[float, float]:
    """Return the time range [s] without its ends, as far as enough frames are left."""
    first, stop = trial.frames().start, trial.frames().stop
    ends = max(0, min(round(AT_ENDS * trial.markers.rate), (stop - first - FEWEST_FRAMES_LEFT) // 2))
    time = trial.markers.time
    return float(time[first + ends]), float(time[stop - 1 - ends])
