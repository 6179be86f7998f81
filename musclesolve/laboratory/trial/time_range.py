"""Times of a trial that are analyzed, and times at which ground reactions are predicted.

For trial files without [time] it is the measured part of each leg. The moments of a leg follow from the segments distal
to each joint and from the ground force on the foot. So they are correct if every needed marker is seen and every
contact of this foot is on a plate; the other foot may stand beside the plates. The residual at the pelvis needs both
feet.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Mask, true_runs
from musclesolve._util.messages import shortened
from musclesolve.constants import PREDICTED
from musclesolve.laboratory.markers.gaps.gap_filling import fill_trial, missing
from musclesolve.laboratory.markers.landmarks import bounding_markers
from musclesolve.laboratory.recording.data import BESIDE_GAP, SIDE_NAMES, SIDES, PlateForce, Side, Trial
from musclesolve.laboratory.recording.trial_settings import RecordedSettings, TimeSettings
from musclesolve.laboratory.trial.plates.foot_contacts import FootPath, forces_recorded, seen_feet, unmeasured
from musclesolve.tables.document import Document
from musclesolve.tables.sampled import Markers

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

    def whole(lacking: str) -> dict[str, Any]:
        sentence = f"the whole recording but its ends: {lacking}"
        return {"time_range": without_ends(trial), "analyzed": (sentence,)}

    if not feet:
        return whole(
            "heel and toe of no foot are among the markers of the motion, which would show its contacts"
        )
    beside, seen = unmeasured(trial, feet), _seen(trial)
    predicts = trial.settings.plates.unmeasured_steps == PREDICTED
    if predicts:
        beside = {side: np.zeros(time.size, bool) for side in feet}

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
        return whole(
            "no stretch was found in which a contact of a foot is measured completely and the markers of legs and "
            "pelvis are seen"
        )
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
        more = f"; measured too, for [time] to choose: {others}" if others else ""
        sentences.append(f"{name} leg: {_span(times(legs[side]))}; before it {begins}, after it {ends}{more}")
    first, stop = max(run[0] for run in legs.values()), min(run[1] for run in legs.values())
    both = f"both feet {_span(times((first, stop)))}" if len(legs) == 2 and stop > first else "never both"
    sentences.append(f"pelvis residual: {both}")
    either = min(run[0] for run in legs.values()), max(run[1] for run in legs.values())
    of_legs = {side: times(run) for side, run in legs.items()}
    return {"time_range": times(either), "legs": of_legs, "analyzed": tuple(sentences)}


def _seen(trial: Trial) -> Mask:
    """Return the frames (T,) of the time range in which markers of legs and pelvis are seen."""
    seen = np.zeros(trial.markers.time.size, bool)
    seen[trial.frames()] = True
    for name in bounding_markers(trial):
        seen &= ~missing(trial.markers[name])
    return seen


def _predicted_range(trial: Trial) -> dict[str, Any]:
    """Return the longest stretch of a recording with filled gaps in which markers of legs and pelvis are seen.

    By the fields of `Trial`, as `find_range` does; forces are predicted in all of it.
    """
    seen, why = _seen(trial), "ground reactions are predicted for both feet"
    first, stop = max(true_runs(seen), key=lambda run: run[1] - run[0], default=(0, 0))
    ends = round(AT_ENDS * trial.markers.rate)
    if seen[trial.frames()].all() or stop - first < 2 * ends + round(SHORTEST_STRETCH * trial.markers.rate):
        return {"time_range": without_ends(trial), "analyzed": (f"the whole recording but its ends: {why}",)}
    start, end = (float(trial.markers.time[k]) for k in (first + ends, stop - 1 - ends))
    lost = [name for name in bounding_markers(trial) if missing(trial.markers[name][trial.frames()]).any()]
    names = shortened(list(map(repr, lost)), MOST_NAMES)
    sentence = f"{_span((start, end))}, the longest stretch that shows {names} throughout: {why}"
    return {"time_range": (start, end), "analyzed": (sentence,)}


def _reason(trial: Trial, foot: FootPath, unmeasured: Mask, frame: int) -> str:
    """The reason why a frame of a leg is not analyzed; unmeasured: mask (T,) of contacts not completely on plates."""
    time = trial.markers.time
    for gap in (gap for plate in trial.forces for gap in plate.gaps if not gap.filled):
        if gap.first - BESIDE_GAP <= time[frame] <= gap.last + BESIDE_GAP:
            return f"a plate has no numbers ({_span((gap.first, gap.last))})"
    if not forces_recorded(trial)[frame]:
        return (
            "the recording of forces ends"
            if time[frame] > trial.time_range[0]
            else "the recording of forces begins"
        )
    for first, stop in true_runs(unmeasured):
        if first <= frame < stop:
            loaded = foot.loaded[first:stop].any()
            partly = "partly beside its plate, or a rail or crutch carries weight"
            on = partly if loaded else "on the floor beside the plates"
            return f"the foot is {on} ({_span((time[first], time[stop - 1]))})"
    lost = [name for name in bounding_markers(trial) if missing(trial.markers[name][frame])]
    return f"{shortened(list(map(repr, lost)), MOST_NAMES)} not seen at {time[frame]:.2f} s"


def _span(times: tuple[float, float]) -> str:
    return f"{times[0]:.2f} to {times[1]:.2f} s"


def without_ends(trial: Trial) -> tuple[float, float]:
    """Return the time range [s] without its ends, as far as enough frames are left."""
    first, stop = trial.frames().start, trial.frames().stop
    ends = max(0, min(round(AT_ENDS * trial.markers.rate), (stop - first - FEWEST_FRAMES_LEFT) // 2))
    time = trial.markers.time
    return float(time[first + ends]), float(time[stop - 1 - ends])


FEWEST_FRAMES = 10


def ranged(trial: Trial, settings: RecordedSettings) -> Trial:
    """Return a trial with the range that its recording allows; unchanged if the trial file states one."""
    if not finds_range(settings):
        return trial
    if settings.files.predicted:
        return replace(trial, **_predicted_range(fill_trial(trial, settings.gaps)))
    return replace(trial, **find_range(fill_trial(trial, settings.gaps)))


def with_predicted_spans(trial: Trial, settings: RecordedSettings) -> Trial:
    """Return a trial without gaps, with the times at which the ground reaction of each foot is predicted.

    For steps that plates do not measure completely these are all frames until the foot is in the air.
    """
    if settings.files.predicted:
        return replace(trial, predicted_spans=dict.fromkeys(SIDES, ((-np.inf, np.inf),)))
    if settings.plates.unmeasured_steps != PREDICTED:
        return trial
    feet, time = seen_feet(trial), trial.markers.time
    if unseen := [side for side in SIDES if side not in feet]:
        raise trial.document.fault(
            "missing_key",
            ("plates", "unmeasured_steps"),
            f"no markers of the motion show heel and toe of the {SIDE_NAMES[unseen[0]]} foot, "
            "and so its steps beside the plates",
            "markers of heel and toe of both feet, not carried by a cluster",
            'leave these markers on in the motion, or write unmeasured_steps = "left_out"',
        )
    spans = {}
    for side, lost in unmeasured(trial, feet).items():
        runs = true_runs(lost | ~(feet[side].air | feet[side].loaded))
        steps = [(first, stop) for first, stop in runs if lost[first:stop].any()]
        spans[side] = tuple((float(time[first]), float(time[stop - 1])) for first, stop in steps)
    return replace(trial, predicted_spans=spans)


def recorded_range(walk: Markers, forces: tuple[PlateForce, ...]) -> tuple[float, float]:
    """Return first and last time [s] at which both markers and forces were recorded; the last is smaller if never."""
    times = [walk.time, *(plate.time for plate in forces)]
    return float(max(t[0] for t in times)), float(min(t[-1] for t in times))


def time_range_of(
    document: Document, table: TimeSettings, walk: Markers, forces: tuple[PlateForce, ...]
) -> tuple[float, float]:
    """Return first and last time to analyze [s].

    Refuses times outside of the recording, a range that ends before it begins, and a range with too few frames.
    """
    earliest, latest = recorded_range(walk, forces)
    recorded = (
        f"markers {walk.time[0]:g} to {walk.time[-1]:g} s, "
        f"forces {forces[0].time[0]:g} to {forces[0].time[-1]:g} s"
    )
    if latest <= earliest:
        raise document.fault(
            "no_overlap",
            ("files", "forces"),
            "markers and forces were not recorded at the same time",
            f"recordings that overlap, not {recorded}",
            "name files of one trial, or export both with the same start of time",
        )
    start = earliest if table.start_s is None else table.start_s
    end = latest if table.end_s is None else table.end_s
    half, cut = 0.5 / walk.rate, f" ({walk.row_warning.rstrip('.')})" * bool(walk.row_warning)
    for key, value in (("start_s", start), ("end_s", end)):
        if not earliest - half < value < latest + half:
            raise document.fault(
                "bad_range",
                ("time", key),
                f"{value:g} s is outside of the recording{cut}",
                f"a time within both: {recorded}",
                f"choose a time from {earliest:g} to {latest:g} s{', or export the file again' * bool(cut)}",
            )
    if start >= end:
        stated = [key for key in ("start_s", "end_s") if table[key] is not None]
        key = next((key for key in stated if ("time", key) in document.arguments), stated[0])
        raise document.fault(
            "bad_range",
            ("time", key),
            f"the start, {start:g} s, is not before the end, {end:g} s",
            "start_s before end_s",
            "exchange the two times, or correct one of them",
        )
    if end - start < FEWEST_FRAMES / walk.rate:
        longer = start + FEWEST_FRAMES / walk.rate
        raise document.fault(
            "bad_range",
            ("time", "end_s"),
            f"the range from {start:g} to {end:g} s has fewer than {FEWEST_FRAMES} frames",
            f"a longer range within both recordings: {recorded}",
            f"choose an end after {longer:g} s, or an earlier start"
            if latest - earliest >= FEWEST_FRAMES / walk.rate
            else "name a longer recording: no range of this one is long enough",
        )
    return start, end
