"""A fault out of reach of the time range is a note at most; the same fault within reach is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory.checks.case import REACH

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"
Spoil = Callable[[TrialCopy, slice], None]


def slip(copy: TrialCopy, frames: slice) -> None:
    copy.move(copy.marker("ankle_lateral_r"), slice(frames.start, None), np.array([0.04, 0.03, 0.03]))


def exchange(copy: TrialCopy, frames: slice) -> None:
    copy.exchange(copy.marker("ankle_lateral_r"), copy.marker("ankle_lateral_l"), frames)


def hold(copy: TrialCopy, frames: slice) -> None:
    position = copy.walk.position.copy()
    own = copy.walk.names.index(copy.marker("heel_l"))
    position[frames, own] = position[frames.start, own]
    copy.put(position)


def merge(copy: TrialCopy, frames: slice) -> None:
    position, names = copy.walk.position.copy(), copy.walk.names
    position[frames, names.index(copy.marker("toe_l"))] = position[frames, names.index(copy.marker("heel_l"))]
    copy.put(position)


def repeat(copy: TrialCopy, frames: slice) -> None:
    position = copy.walk.position.copy()
    position[frames] = position[frames.start]
    copy.put(position)


def skip(copy: TrialCopy, frames: slice) -> None:
    kept = np.ones(copy.walk.time.size, bool)
    kept[frames] = False
    time = copy.walk.time[: kept.sum()]
    copy.walk = replace(copy.walk, time=time, position=copy.walk.position[kept])


def found(spoil: Spoil, first: float, folder: Path, **keys: float):
    copy = TrialCopy(STRIDE)
    at = int(np.searchsorted(copy.walk.time, first))
    spoil(copy, slice(at, at + 8))
    for key, value in keys.items():
        copy.set_key("time", key, f"{value:.3f}")
    return copy.examined(folder)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("spoil", [slip, exchange, hold, merge, repeat, skip])
def test_what_happens_after_the_time_range_is_a_note(spoil: Spoil, tmp_path: Path) -> None:
    within = found(spoil, 1.3, tmp_path / "within")
    assert within.codes, str(within)
    assert set(within.findings[0].where.times)
    # As the remedies say: a range that keeps away from it.
    outside = found(spoil, 1.3, tmp_path / "outside", end_s=1.28 - REACH)
    assert outside.codes == (), str(outside)
    assert {f.code for f in outside.findings} >= set(within.codes[:1])


@pytest.mark.in_part(2)
@pytest.mark.parametrize("spoil", [slip, skip])
def test_what_lasts_into_the_time_range_is_reported(spoil: Spoil, tmp_path: Path) -> None:
    report = found(spoil, 0.3, tmp_path, start_s=0.8)
    assert report.codes[:1] == found(spoil, 0.9, tmp_path / "within", start_s=0.8).codes[:1]


@pytest.mark.parametrize("share", [0.7, 1.3])
def test_what_the_filter_carries_into_the_range_is_reported(share: float, tmp_path: Path) -> None:
    report = found(merge, 1.3, tmp_path, end_s=1.3 - share * REACH)
    assert ("markers_merged" in report.codes) == (share < 1.0), str(report)


def cropped(copy: TrialCopy, first: float, last: float) -> None:
    time = copy.forces.time
    kept = (time >= first) & (time <= last)
    copy.forces = replace(copy.forces, time=time[kept], values=copy.forces.values[kept])


@pytest.mark.parametrize(("margin", "found"), [(0.13, False), (0.05, True)])
def test_files_that_cover_the_time_range_may_be_cut(margin: float, found: bool, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    cropped(copy, 0.4 - margin, 1.3 + margin)
    copy.set_key("time", "start_s", "0.4")
    copy.set_key("time", "end_s", "1.3")
    assert ("durations_differ" in copy.examined(tmp_path).codes) == found


@pytest.mark.parametrize("late", [-0.15, 0.15])
def test_a_shift_is_not_told_as_a_difference_of_durations(late: float, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.forces = replace(copy.forces, time=copy.forces.time + late)
    assert set(copy.examined(tmp_path).codes) == {"time_offset"}
