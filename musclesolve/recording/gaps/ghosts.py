"""Markers that jump away for a few frames: a reflection was mistaken for the marker. These frames become gaps."""

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Mask
from musclesolve._util.message_text import count_of
from musclesolve.recording.data import Trial
from musclesolve.recording.gaps.gap_filling import BESIDE, Place, fill_trial, missing, spline_interpolant
from musclesolve.recording.trial.recording_checks import jumps
from musclesolve.settings.trial import GapSettings

BESIDE_JUMP = 1
"""Number of frames on either side of a jump that are flagged although they were measured."""
BACK = 0.5
"""A marker has returned if its paths before and after disagree by less than this share of the distance of the jump."""


Ghost = tuple[str, Mask, float]
"""A marker for which a reflection was mistaken, the frames (T,), and how far it was from the filled gap [m]."""


def without_ghosts(trial: Trial, settings: GapSettings) -> tuple[Trial, list[Ghost]]:
    """Return a trial with gaps where markers jump away and back within the time range, and a list of these ghosts.

    A marker has returned (`BACK`) if the gap in place of its jumps can be filled, and the path then has no jump. Other
    jumps stay: labels that are exchanged from then on, or a marker that is lost.

    Args:
        trial: the recording.
        settings: a reflection lasts no longer than the longest gap that a spline fills.
    """
    inside = np.zeros(trial.markers.time.size, bool)
    inside[trial.frames()] = True
    longest, places = round(settings.spline_s * trial.markers.rate), list[Place]()
    for name in trial.used_markers:
        jumping = np.flatnonzero(jumps(trial.markers[name], trial.markers.rate))
        for group in np.split(jumping, np.flatnonzero(np.diff(jumping) > longest) + 1):
            if group.size and inside[group].any() and group[-1] - group[0] <= longest + 2 * BESIDE_JUMP:
                places.append((name, int(group[0]), int(group[-1]) + 1))
    if not places:
        return trial, []
    filled, ghosts = fill_trial(_removed(trial, places), settings).markers, list[Ghost]()
    removed = []
    for place in places:
        name, start, stop = place
        around = filled[name][max(start - BESIDE, 0) : stop + BESIDE]
        if (
            len(around) < stop - start + 2 * BESIDE
            or missing(around).any()
            or jumps(around, filled.rate).any()
        ):
            continue
        away = np.linalg.norm(trial.markers[name][start:stop] - filled[name][start:stop], axis=1).max()
        seen = np.arange(len(around))
        seen = np.delete(seen, np.arange(BESIDE, BESIDE + stop - start)) - BESIDE
        aside = spline_interpolant(seen, stop - start).disagreement(around, BESIDE)
        if aside < BACK * away:
            frames = np.zeros(inside.size, bool)
            frames[start:stop] = True
            ghosts.append((name, frames, float(away)))
            removed.append(place)
    return (_removed(trial, removed), ghosts) if ghosts else (trial, [])


def _removed(trial: Trial, places: list[Place]) -> Trial:
    position = trial.markers.position.copy()
    for name, start, stop in places:
        position[start:stop, trial.markers.names.index(name)] = np.nan
    return replace(trial, markers=replace(trial.markers, position=position))


def ghost_notes(trial: Trial, ghosts: list[Ghost]) -> list[str]:
    """Return a sentence on each marker for which a reflection was mistaken."""
    notes = []
    for name in dict.fromkeys(marker for marker, _, _ in ghosts):
        sizes = [size for marker, _, size in ghosts if marker == name]
        firsts = [trial.markers.time[np.argmax(frames)] for marker, frames, _ in ghosts if marker == name]
        times = [f"{first:.3f} s" for first in firsts]
        more = f" and {count_of(len(times) - 3, 'more time')}" if len(times) > 3 else ""
        size = 1000.0 * max(sizes)
        notes.append(
            f"'{name}' is up to {size:.0f} mm off and back at once, at {', '.join(times[:3])}{more}: a reflection was "
            "taken for it, and these frames are gaps."
        )
    return notes
