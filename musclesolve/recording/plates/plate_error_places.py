"""Faults of a plate, placed in the tables of the trial file or in the file of the plates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Mask
from musclesolve.errors import InputError
from musclesolve.recording.data import SIDE_NAMES, PlateForce, Trial
from musclesolve.recording.gaps.gap_filling import REACH_S
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.trial.schema import Document

# The step response of the filter has fallen below a thousandth after so many periods of the cut-off frequency.
_PERIODS = 1.6


@dataclass(frozen=True)
class PlateFault:
    """A fault of a plate, at a key of [[force]], with its remedies where columns and where plates are named."""

    problem: str
    key: str
    expected: str
    remedy: str
    on_plate: str | None = None

    def error(self, plate: PlateForce, index: int, document: Document) -> InputError:
        """Return the error that points at the plate of its file, or at table number ``index`` of [[force]]."""
        if plate.number is None:
            error = error_at(None, None, self.problem, self.expected, self.remedy, code="bad_forces")
            return document.placed(error, "force", self.key, index)
        where, remedy = f"plate {plate.number}", self.on_plate or self.remedy
        return error_at(plate.path, where, self.problem, self.expected, remedy, code="bad_forces")


def foot_name(plate: PlateForce) -> str:
    """Return "right foot" or "left foot"."""
    return f"{SIDE_NAMES[plate.side]} foot"


def inside(trial: Trial, plate: PlateForce) -> Mask:
    """Return which samples lie in the time range, (S,)."""
    start, end = trial.time_range
    return np.asarray((plate.time >= start) & (plate.time <= end))


def in_reach(trial: Trial, plate: PlateForce) -> Mask:
    """Return which samples lie in the time range or reach into it through the filter, (S,)."""
    start, end = trial.time_range
    cutoff = trial.filter.cutoff_hz
    reach = REACH_S if cutoff is None else min(REACH_S, _PERIODS / cutoff)
    return np.asarray((plate.time >= start - reach) & (plate.time <= end + reach))


def loaded(trial: Trial, plate: PlateForce) -> Mask:
    """Return which samples count as loaded, (S,): the others are taken as zero."""
    vertical = np.abs(plate.force[:, 2])
    return np.asarray((vertical >= trial.unloaded_below) & (vertical > 0.0))
