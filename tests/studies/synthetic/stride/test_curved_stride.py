"""A walk on a curve: exact, in balance, and analyzed like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from musclesolve import check
from musclesolve.laboratory.motion.events.foot_events import marker_events, walk
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import reference_stride
from musclesolve.studies.synthetic.reference_stride import CurvedStride

TIME = np.linspace(-0.4, 2.6, 61)


@pytest.fixture(scope="module")
def stride():
    return reference_stride()


@pytest.mark.parametrize(("heading", "curvature"), [(0.3, 0.0), (2.5, 0.38), (-1.0, -0.25)])
def test_the_motion_is_exact_and_nothing_holds_the_pelvis(stride, heading, curvature):
    curved, step = CurvedStride.from_stride(stride, heading, curvature), 1e-5
    motion, before, after = (curved.motion(TIME + shift) for shift in (0.0, -step, step))
    np.testing.assert_allclose((after.q - before.q) / (2 * step), motion.qd, atol=1e-6)
    np.testing.assert_allclose((after.qd - before.qd) / (2 * step), motion.qdd, atol=1e-4)
    assert np.abs(curved.pelvis_residual(TIME)).max() < 1e-9
    np.testing.assert_allclose(curved.joint_angles(TIME), stride.joint_angles(TIME), atol=1e-12)


def test_a_straight_path_in_another_direction_changes_no_moment(stride):
    away = CurvedStride.from_stride(stride, 2.0)
    np.testing.assert_allclose(away.joint_moments(TIME), stride.joint_moments(TIME), atol=1e-9)


@pytest.mark.parametrize("turn_deg", [60.0, -60.0])
def test_the_subject_leans_so_that_the_feet_are_loaded_as_on_a_straight_path(stride, turn_deg):
    curved = CurvedStride.from_stride(stride, 0.0, np.deg2rad(turn_deg) / (2 * stride.length))
    rotation, place = curved.frame(TIME)
    here, there = (each.ground(TIME)["r"] for each in (curved, stride))
    loaded = there.force[:, 2] > 100.0
    back = np.einsum("tyx,ty->tx", rotation, np.nan_to_num(here.point) - place)
    back[:, 0] += stride.speed * TIME
    assert np.abs(back - there.point)[loaded].max() < 0.02


@pytest.fixture(scope="module", params=[60.0, -60.0])
def recorded(request, tmp_path_factory) -> Path:
    """Two strides round 60 degrees, with markers as noisy as those of a laboratory."""
    folder = tmp_path_factory.mktemp("curve")
    return synthetic_recording(
        folder, strides=2, turn_deg=request.param, heading_deg=-20.0, noise_mm=1.0, force_rate_hz=500.0
    )


@pytest.mark.in_part(2)
def test_nothing_is_wrong_with_a_curved_walk(recorded):
    report = check(recorded)
    assert report.codes == (), str(report)


def test_the_truth_of_a_curved_walk_comes_back(recorded):
    result, truth = ms.run(recorded), ms.read_result(recorded.with_name("truth.nc"))
    assert (result.status <= 1).all() and result.balanced.all() and result.steady.all()
    for name, most in {"joint_angle": 0.03, "joint_moment": 12.0}.items():
        error = result[name] - truth[name].interp(time=result["time"])
        assert np.abs(error).max() < most, name
    ground = truth.ground_force.rename(axis="way").sel(way="up").interp(time=result["time"])
    assert np.abs(result.ground_reaction_force.sel(axis="z") - ground).max() < 150.0
    turned = np.degrees(result.heading[-1] - result.heading[0])
    assert np.abs(turned) > 45.0
    # The outer foot goes farther than the inner one.
    right, left = (result.stride_length[result.stride_side == side].mean() for side in "rl")
    assert float(left - right) * np.sign(turned) < -0.04


def test_events_of_a_curved_walk_are_found_by_forces_and_markers(recorded):
    trial = ms.read_trial(recorded)
    stride = reference_stride()
    start = trial.time_range[0]
    known = [event for event in stride.events(-stride.period, 3 * stride.period)]
    for events, most in ((ms.laboratory.gait_events(trial), 0.03), (marker_events(walk(trial)), 0.035)):
        found = [event for event in events if event.source != "periodic"]
        assert len(found) >= 8
        for event in found:
            same = [e.time + start for e in known if (e.kind, e.side) == (event.kind, event.side)]
            assert np.abs(np.array(same) - event.time).min() < most, event
