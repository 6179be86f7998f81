"""A marker that leaves its place on a segment for a while is named, by two distances at once; its twin is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from musclesolve.data import reference_stride
from musclesolve.laboratory.checks.case import Case, change_markers, load
from musclesolve.laboratory.checks.markers.trajectories import held_samples, slips_and_lengths
from musclesolve.tables.sampled import Markers
from tests.support.recorded_data import recorded


@pytest.fixture(scope="module")
def stride() -> Case:
    case, _ = load(reference_stride())
    assert case is not None
    return case


def on_a_curve(case: Case, marker: str, first: int, count: int) -> Case:
    def fill(markers: Markers) -> Markers:
        position, at = markers.position.copy(), np.arange(first, first + count)
        path = position[:, markers.names.index(marker)]
        seen = np.r_[first - 3 : first, first + count : first + count + 3]
        path[at] = CubicSpline(seen, path[seen])(at)
        return replace(markers, position=position)

    return replace(case, recorded=change_markers("markers", fill)(case.recorded))


@pytest.mark.parametrize("marker", ["heel_r", "toe_r", "metatarsal_5_r", "ankle_lateral_r"])
def test_a_gap_that_a_curve_fills_is_named_with_its_time(stride: Case, marker: str) -> None:
    (stretched,) = slips_and_lengths(on_a_curve(stride, marker, 50, 12))
    ((start, end),) = stretched.where.times
    time = stride.trial.markers.time
    assert (stretched.code, stretched.where.markers[0]) == ("segment_length", marker)
    assert time[50] <= start < end <= time[62]


@pytest.mark.parametrize(("marker", "first"), [("LHeel", 45), ("LHeel", 65)])
def test_a_curve_over_half_a_step_is_named_where_no_distance_shows_it(marker: str, first: int) -> None:
    case, _ = load(recorded("instrumented_knee/walk_ss1.toml"))
    assert case is not None
    assert not list(held_samples(case))  # a fill of 0.24 s misses little
    (said,) = held_samples(on_a_curve(case, marker, first, 48))
    assert said.where.markers == (marker,)


def test_the_twin_of_a_marker_that_swings_is_not_accused(stride: Case) -> None:
    wave = 0.03 * np.sin(2.0 * np.pi * 0.9 * stride.trial.markers.time)[:, None] * [0.0, 0.6, 0.8]

    def swing(markers: Markers) -> Markers:
        position = markers.position.copy()
        position[:, markers.names.index("toe_l")] += wave
        return replace(markers, position=position)

    case = replace(stride, recorded=change_markers("markers", swing)(stride.recorded))
    named = {marker for each in slips_and_lengths(case) for marker in each.where.markers}
    assert "toe_l" in named
    assert not {marker for marker in named if marker.endswith("_r")}


@pytest.mark.parametrize(("marker", "way"), [("LTOE", (0.02, -0.02, 0.02)), ("RCAL", (-0.03, 0.02, 0.0))])
def test_a_marker_that_creeps_on_its_segment_from_stride_to_stride_is_named(
    marker: str, way: tuple[float, float, float]
) -> None:
    """Its twin stays; the standard deviation over all strides alone hid the change from the first to the last."""
    case, _ = load(recorded("treadmill_emg/s01/trial.toml"))
    assert case is not None and not list(slips_and_lengths(case))

    def creep(markers: Markers) -> Markers:
        position = markers.position.copy()
        position[:, markers.names.index(marker)] += np.linspace(0.0, 1.0, len(position))[:, None] * way
        return replace(markers, position=position)

    case = replace(case, recorded=change_markers("markers", creep)(case.recorded))
    (found,) = slips_and_lengths(case)
    assert found.code == "segment_length" and marker in found.where.markers
