"""A gap that a straight line fills, a coordinate that is held, slow cameras, coarse digits and noise are named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve import check
from musclesolve.dynamics import low_pass
from musclesolve.laboratory import Trial
from musclesolve.laboratory.checks.case import Case, change_markers, load
from musclesolve.laboratory.checks.files.times_units_axes import copied_frames
from musclesolve.laboratory.checks.markers.trajectories import held_samples, noise
from musclesolve.studies import synthetic_recording


@pytest.fixture(scope="module")
def stride() -> Case:
    case, _ = load(Path(ms.data.reference_stride()))
    assert case is not None
    return case


def changed(case: Case, change: Callable[[np.ndarray], np.ndarray]) -> Case:  # type: ignore[type-arg]
    repair = change_markers("markers", lambda markers: replace(markers, position=change(markers.position)))
    return replace(case, recorded=repair(case.recorded))


def filled(case: Case, marker: str, first: int, count: int, axes: slice, held: bool) -> Case:
    def fill(position: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        path = position.copy()[:, case.trial.markers.names.index(marker), axes]
        end = path[first] if held else path[first + count]
        path[first : first + count] = np.linspace(path[first], end, count, endpoint=False)
        new = position.copy()
        new[:, case.trial.markers.names.index(marker), axes] = path
        return new

    return changed(case, fill)


@pytest.mark.parametrize("marker", ["heel_r", "toe_r", "knee_lateral_r"])
def test_a_long_gap_on_a_cubic_curve_is_named(stride: Case, marker: str) -> None:
    """A swing of 0.4 s that a cubic through three frames on either side replaces is off by 20 mm and more."""
    column, lost = stride.trial.markers.names.index(marker), slice(40, 80)
    ends, inside = np.r_[37:40, 80:83], np.arange(40, 80)

    def fill(position: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        new = position + np.random.default_rng(3).normal(0.0, 1e-4, position.shape)
        for axis in range(3):
            new[lost, column, axis] = np.polynomial.Polynomial.fit(ends, new[ends, column, axis], 3)(inside)
        return np.round(new, 6)

    (curve,) = held_samples(changed(stride, fill))
    assert curve.code == "frozen" and curve.where.markers == (marker,) and "along a polynomial" in curve.what


@pytest.mark.parametrize("marker", ["heel_r", "toe_l", "asis_r", "knee_lateral_l"])
@pytest.mark.parametrize(("axes", "held"), [(slice(0, 3), False), (slice(0, 1), True)])
def test_equal_steps_amid_moving_neighbors_are_named(
    stride: Case, marker: str, axes: slice, held: bool
) -> None:
    assert not list(held_samples(stride))
    (found,) = held_samples(filled(stride, marker, 40, 16, axes, held))
    assert found.code == "frozen" and found.where.markers == (marker,) and "equal steps" in found.what
    ((start, end),) = found.where.times
    time = stride.trial.markers.time
    assert start == pytest.approx(time[40], abs=0.05) and end == pytest.approx(time[56], abs=0.05)


def test_a_belt_carries_a_foot_by_equal_steps_without_a_fault(tmp_path: Path) -> None:
    """All markers of a body that goes evenly do so: none of their distances changes."""
    copy = TrialCopy(synthetic_recording(tmp_path / "sound", truth=False, decimals=2))
    even = np.linspace(0.0, 1.0, copy.walk.time.size)[:, None, None] * [1.3, 0.0, 0.0]
    copy.put(copy.walk.position[60] + even)
    case, _ = load(copy.write(tmp_path / "even"))
    assert case is not None and not list(held_samples(case))


@pytest.mark.parametrize("every", [2, 3, 4])
def test_cameras_slower_than_the_file_are_named_first(every: int, tmp_path: Path) -> None:
    copy = TrialCopy(Path(ms.data.reference_stride()))
    copy.put(copy.walk.position[np.arange(copy.walk.time.size) // every * every])
    assert examined(copy.write(tmp_path)).codes[0] == "frames_repeated"


def test_a_subject_who_stands_most_of_the_time_is_no_fault(stride: Case) -> None:
    moves = 20
    still = changed(stride, lambda position: position[np.minimum(np.arange(len(position)), moves)])
    assert not list(copied_frames(still))


def test_frames_of_a_camera_that_repeats_each_for_a_tenth_of_a_second_are_named(stride: Case) -> None:
    every = round(0.1 * stride.trial.markers.rate) + 1
    slow = changed(stride, lambda position: position[np.arange(len(position)) // every * every])
    assert [each.code for each in copied_frames(slow)] == ["frames_repeated"]


@pytest.mark.parametrize(("millimeters", "named"), [(1.0, False), (2.0, True), (5.0, True)])
def test_coarse_places_are_named_by_their_step(stride: Case, millimeters: float, named: bool) -> None:
    step = millimeters / 1000.0
    found = [each.what for each in noise(changed(stride, lambda position: step * np.round(position / step)))]
    assert [f"multiples of {millimeters:g} mm" in what for what in found] == [True] * named


def test_noise_of_two_millimeters_is_named_and_no_clock_beside_it(tmp_path: Path) -> None:
    for seed in range(2):
        copy = TrialCopy(Path(ms.data.reference_stride()))
        draw = np.random.default_rng(seed)
        copy.put(copy.walk.position + 0.002 * draw.standard_normal(copy.walk.position.shape))
        codes = check(copy.write(tmp_path / str(seed))).codes
        assert "noise" in codes and "clock_rate" not in codes, codes


@pytest.mark.parametrize("hertz", [2.0, 3.0])
def test_smoothed_markers_are_the_only_fault_of_a_smoothed_motion(hertz: float, tmp_path: Path) -> None:
    copy = TrialCopy(Path(ms.data.reference_stride()))
    position = copy.walk.position
    copy.put(low_pass(position.reshape(len(position), -1), copy.walk.rate, hertz).reshape(position.shape))
    assert {*check(copy.write(tmp_path)).codes} <= {"over_filtered", "implausible", "at_edge"}


def test_a_cut_off_for_running_is_named_on_a_walk(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    """It was called a delay that changes between markers and forces."""
    for cutoff, codes in (("15", set()), ("20", {"cutoff"})):
        copy = TrialCopy(recorded_walk_trial.path)
        copy.set_key("filter", "cutoff_hz", cutoff)
        assert {*check(copy.write(tmp_path / cutoff)).codes} - {"implausible", "at_edge"} == codes
