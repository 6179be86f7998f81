"""Times of a trial that are analyzed, and times at which ground reactions are predicted."""

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import true_runs
from musclesolve.recording.data import SIDE_NAMES, SIDES, Markers, PlateForce, Trial
from musclesolve.recording.gaps.gap_filling import fill_trial
from musclesolve.recording.plates.foot_contacts import seen_feet, unmeasured
from musclesolve.recording.schema import Document
from musclesolve.recording.trial.analyzed_range import find_range, finds_range, without_ends
from musclesolve.settings.trial import PREDICTED, RecordedSettings, TimeSettings

FEWEST_FRAMES = 10


def ranged(trial: Trial, settings: RecordedSettings) -> Trial:
    """Return a trial with the range that its recording allows; unchanged if the trial file states one."""
    if not finds_range(settings):
        return trial
    if settings.files.predicted:
        sentence = "the whole recording but its ends: ground reactions are predicted for both feet"
        return replace(trial, time_range=without_ends(trial), analyzed=(sentence,))
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
        key = "end_s" if table.start_s is None else "start_s"
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
