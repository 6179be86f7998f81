"""The analysed range where the trial file has no [time]: for each leg what was measured of it.

A leg's moments follow from what lies below each joint and from the ground's force on its own foot, so they are right
wherever every needed marker is seen and every contact of its own foot is on a plate; the other foot may stand beside
the plates. The residual at the pelvis needs both feet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Mask, true_runs
from musclesolve.recording.data import SIDE_NAMES, SIDES, Side, Trial
from musclesolve.recording.gaps.gap_filling import missing
from musclesolve.recording.markers.landmark_names import bounding_markers
from musclesolve.recording.plates.foot_contacts import FootPath, foot_path, unmeasured

Run = tuple[int, int]
AT_ENDS = 0.1
"""So much is left out where a recording, or what is seen of a marker, begins or ends: there accelerations are uncertain
[s]."""
FOR_FILTER = f"({AT_ENDS:g} s left for the filter)"
AT_CONTACTS = 0.01
"""So much is left out beside a contact that was not measured [s]."""
SHORTEST = 0.2
"""Shortest stretch of a leg that is analysed [s]."""
MOST_NAMES = 3
FEWEST = 10
"""The ends of a recording in which nothing is found are left out as far as so many frames are left."""


@dataclass(frozen=True)
class AnalysedRange:
    """The part of a recording that is analysed: first and last time, those of each leg in it [s], and notes on why."""

    time_range: tuple[float, float]
    legs: Mapping[Side, tuple[float, float]]
    sentences: tuple[str, ...]


def finds_range(content: Mapping[str, Any]) -> bool:
    """Return whether a trial file, by its content, leaves the time range to be found."""
    return all(value is None for value in content["time"].values())


def find_range(trial: Trial) -> AnalysedRange | None:
    """Return what can be analysed of a recording with filled gaps, None where no contact is known to be measured."""
    search = _Search.of(trial)
    if search is None:
        return None
    choices = [choice for run in true_runs(search.seen) if (choice := search.legs_in(run))]
    if not choices:
        return None
    legs = max(choices, key=lambda choice: sum(stop - first for first, stop in choice.values()))
    first, stop = min(run[0] for run in legs.values()), max(run[1] for run in legs.values())
    times = {side: search.times(run) for side, run in legs.items()}
    return AnalysedRange(search.times((first, stop)), times, search.sentences(legs))


def nothing_found(trial: Trial) -> str:
    """Return why the range of a recording is not found from its contacts."""
    lacking = (
        "heel and toe of no foot are among the markers of the motion, which would show its contacts"
        if not any(foot_path(trial, side) for side in SIDES)
        else "no stretch was found in which a contact of a foot is measured completely and the markers of legs and "
        "pelvis are seen"
    )
    return f"the whole recording but its ends: {lacking}"


def without_ends(trial: Trial) -> tuple[float, float]:
    """Return the time range without its ends, as far as frames enough are left [s]."""
    first, stop = trial.frames().start, trial.frames().stop
    ends = max(0, min(round(AT_ENDS * trial.markers.rate), (stop - first - FEWEST) // 2))
    time = trial.markers.time
    return float(time[first + ends]), float(time[stop - 1 - ends])


@dataclass(frozen=True)
class _Search:
    """The frames (T,) of a recording: those with every needed marker, by foot those of its unmeasured contacts."""

    trial: Trial
    seen: Mask
    feet: Mapping[Side, FootPath]
    unmeasured: Mapping[Side, Mask]

    @classmethod
    def of(cls, trial: Trial) -> _Search | None:
        """Look at a trial; None where its motion shows no foot."""
        feet = {side: foot for side in SIDES if (foot := foot_path(trial, side)) is not None}
        if not feet:
            return None
        return cls(trial, _seen(trial), feet, unmeasured(trial, feet))

    def legs_in(self, seen: Run) -> dict[Side, Run]:
        """Return the longest run of frames of each leg within a run with every marker; empty without a contact."""
        own = {side: self._runs(side, seen) for side in self.feet}
        stepping = {
            side: max(runs, key=_length)
            for side in own
            if (runs := [run for run in own[side] if self._steps(side, run)])
        }
        if not stepping:
            return {}
        first, stop = min(run[0] for run in stepping.values()), max(run[1] for run in stepping.values())
        # A leg that steps on no plate is measured while it swings.
        swinging = {
            side: max(runs, key=_length)
            for side in own
            if side not in stepping
            and (runs := [run for run in own[side] if run[0] >= first and run[1] <= stop])
        }
        return {side: (stepping | swinging)[side] for side in SIDES if side in stepping | swinging}

    def _steps(self, side: Side, run: Run) -> bool:
        """Return whether a foot stands on a plate in a run of frames."""
        foot = self.feet[side]
        return bool((foot.loaded & foot.floor)[slice(*run)].any())

    def _runs(self, side: Side, within: Run) -> list[Run]:
        """Return the runs of frames of a leg in a run of frames that are seen, without their uncertain ends."""
        time, rate = self.trial.markers.time, self.trial.markers.rate
        ends, beside = round(AT_ENDS * rate), round(AT_CONTACTS * rate)
        runs = []
        for first, stop in true_runs(~self.unmeasured[side][slice(*within)]):
            first, stop = first + within[0], stop + within[0]
            first += ends if first == within[0] else beside
            stop -= ends if stop == within[1] else beside
            if stop > first and time[stop - 1] - time[first] >= SHORTEST:
                runs.append((first, stop))
        return runs

    def times(self, run: Run) -> tuple[float, float]:
        """Return first and last time of a run of frames [s]."""
        return float(self.trial.markers.time[run[0]]), float(self.trial.markers.time[run[1] - 1])

    def sentences(self, legs: Mapping[Side, Run]) -> tuple[str, ...]:
        """Return what is analysed, leg by leg, and what ends it."""
        own = [self._leg(side, legs.get(side)) for side in SIDES]
        first, stop = max(run[0] for run in legs.values()), min(run[1] for run in legs.values())
        both = (
            f"both feet {_span(self.times((first, stop)))}"
            if len(legs) == 2 and stop > first
            else "never both"
        )
        return (*own, f"pelvis residual: {both}")

    def _leg(self, side: Side, run: Run | None) -> str:
        name = SIDE_NAMES[side]
        if run is None:
            return f"{name} leg: not analysed, no contact of its foot is measured completely"
        others = [
            _span(self.times(other))
            for seen in true_runs(self.seen)
            for other in self._runs(side, seen)
            if other != run and self._steps(side, other)
        ]
        more = f"; measured too, for [time]: {', '.join(others)}" if others else ""
        ends = f"before it {self._before(side, run[0])}, after it {self._after(side, run[1])}"
        return f"{name} leg: {_span(self.times(run))}; {ends}{more}"

    def _before(self, side: Side, first: int) -> str:
        """Return what a run of frames does not reach back to."""
        bad = np.flatnonzero(self._lost(side)[:first])
        return self._reason(side, int(bad[-1])) if bad.size else f"the recording begins {FOR_FILTER}"

    def _after(self, side: Side, stop: int) -> str:
        bad = np.flatnonzero(self._lost(side)[stop:])
        return self._reason(side, stop + int(bad[0])) if bad.size else f"the recording ends {FOR_FILTER}"

    def _lost(self, side: Side) -> Mask:
        return np.asarray(~self.seen | self.unmeasured[side])

    def _reason(self, side: Side, frame: int) -> str:
        """Return why a frame of a leg is not analysed."""
        time = self.trial.markers.time
        for first, stop in true_runs(self.unmeasured[side]):
            if first <= frame < stop:
                on = (
                    "on the floor beside the plates"
                    if not self.feet[side].loaded[first:stop].any()
                    else "partly beside its plate"
                )
                return f"the foot is {on} ({_span((time[first], time[stop - 1]))})"
        lost = [name for name in bounding_markers(self.trial) if missing(self.trial.markers[name][frame])]
        if not lost:
            return "the recording of forces ends" if frame else "the recording of forces begins"
        more = f" and {len(lost) - MOST_NAMES} more" if len(lost) > MOST_NAMES else ""
        return f"{', '.join(repr(name) for name in lost[:MOST_NAMES])}{more} not seen at {time[frame]:.2f} s"


def _length(run: Run) -> int:
    return run[1] - run[0]


def _seen(trial: Trial) -> Mask:
    """Return the frames (T,) of the time range in which every marker of legs and pelvis is seen."""
    seen = np.zeros(trial.markers.time.size, bool)
    seen[trial.frames()] = True
    for name in bounding_markers(trial):
        seen &= ~missing(trial.markers[name])
    return seen


def _span(times: tuple[float, float]) -> str:
    return f"{times[0]:.2f} to {times[1]:.2f} s"
