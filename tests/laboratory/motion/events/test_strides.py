"""The events within a stride, and its measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stepping_trial import HALF_WIDTH, Steps

from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory import Event, gait_events
from musclesolve.laboratory.forces import anatomy
from musclesolve.laboratory.motion.events.foot_events import walk
from musclesolve.laboratory.motion.events.gait import hip_passages, strides

STEPS = Steps(duration=3.6)
NAN = float("nan")


def measured(trial):
    walking, body = walk(trial), anatomy(trial, 0.1)
    heading = np.stack([np.interp(body.time, walking.time, part) for part in walking.heading.T], axis=1)
    return strides([*gait_events(trial), *hip_passages(body.time, body.points, heading)], walking)


@pytest.mark.parametrize("belt", [False, True])
@pytest.mark.parametrize("heading", [0.0, 130.0])
def test_measures_of_known_steps(belt, heading):
    """Stride length = speed x time, also where the floor moves and not the person."""
    steps = replace(STEPS, belt=belt, heading_deg=heading)
    trial = steps.trial()
    found = strides(list(gait_events(trial)), walk(trial))
    assert [stride.side for stride in found] == ["r", "l", "r", "l"]
    for stride in found:
        assert stride.duration == pytest.approx(steps.stride, abs=1e-6)
        assert stride.cadence == pytest.approx(120.0 / steps.stride)
        assert stride.length == pytest.approx(steps.speed * steps.stride, abs=0.002)
        assert stride.speed == pytest.approx(steps.speed, abs=0.002)
        assert stride.step_length == pytest.approx(0.5 * stride.length, abs=0.002)
        assert stride.step_width == pytest.approx(2.0 * HALF_WIDTH, abs=1e-3)
        assert stride.percent(stride.toe_off) == pytest.approx(100.0 * steps.stance, abs=0.5)
        assert stride.double_support / steps.stride == pytest.approx(2.0 * steps.stance - 1.0, abs=0.01)


def test_double_support_needs_a_plate_or_a_file():
    """By markers alone, strikes come 31 ms early and toe-offs late: 35 % of the stride instead of 24 %."""
    alone = STEPS.trial(plates="")
    assert all(np.isnan(stride.double_support) for stride in strides(list(gait_events(alone)), walk(alone)))
    assert any("Double support is not" in note for note in gait_events(alone).notes)
    one = STEPS.trial(plates="r")
    supported = [stride.double_support for stride in strides(list(gait_events(one)), walk(one))]
    np.testing.assert_allclose(supported, (2.0 * STEPS.stance - 1.0) * STEPS.stride, atol=0.01)


def test_running_has_no_double_support():
    steps = replace(STEPS, stance=0.35, stride=0.7, speed=3.0)
    trial = steps.trial()
    assert all(np.isnan(stride.double_support) for stride in strides(list(gait_events(trial)), walk(trial)))


def test_what_was_not_seen_is_nan():
    events = [Event("heel_strike", "r", 0.0, "forces"), Event("heel_strike", "r", 1.0, "forces")]
    (stride,) = strides(events)
    assert np.isnan([stride.toe_off, stride.opposite_heel_strike, stride.length, stride.double_support]).all()


def test_a_stride_needs_both_strikes_recorded():
    events = [
        Event("heel_strike", "r", t, s) for t, s in ((0.0, "periodic"), (1.0, "forces"), (2.0, "markers"))
    ]
    assert [(stride.start, stride.end) for stride in strides(events)] == [(1.0, 2.0)]


def test_two_strides_with_a_missing_strike_between_are_not_one():
    events = [Event("heel_strike", "r", t, "forces") for t in (0.0, 1.0, 2.0, 4.0, 5.0)]
    assert [stride.start for stride in strides(events)] == [0.0, 1.0, 4.0]


def test_the_foot_passes_below_the_opposite_hip():
    """Feet that swing about the pelvis as cosines: they pass where the cosine is zero and rises."""
    time = np.arange(0.0, 2.0, 0.01)
    heading = np.tile([0.0, 1.0, 0.0], (time.size, 1))
    points = {}
    for side, phase in (("r", 0.0), ("l", 0.5)):
        swing = 0.3 * np.cos(2.0 * np.pi * (time - phase))
        points[f"hip_{side}"] = 1.2 * time[:, None] * heading
        points[f"heel_{side}"] = points[f"hip_{side}"] + (swing - 0.1)[:, None] * heading
        points[f"toe_{side}"] = points[f"hip_{side}"] + (swing + 0.1)[:, None] * heading
    found = hip_passages(time, points, heading)
    assert [event.side for event in found] == ["l", "r", "l", "r"]
    np.testing.assert_allclose([event.time for event in found], [0.25, 0.75, 1.25, 1.75], atol=1e-4)


def test_the_bundled_stride_has_the_cadence_and_phases_of_its_source():
    """Cadence 110.8 and stance 62 % are what it was made from; the six events are those of Silva (2003), 6.8."""
    (stride,) = measured(read_trial(reference_stride()))
    assert stride.cadence == pytest.approx(110.8, abs=0.05)
    assert stride.percent(stride.toe_off) == pytest.approx(62.0, abs=1.5)
    assert stride.percent(stride.opposite_toe_off) == pytest.approx(12.0, abs=1.5)
    assert stride.percent(stride.opposite_foot_below_hip) == pytest.approx(30.0, abs=3.0)
    assert stride.percent(stride.opposite_heel_strike) == pytest.approx(50.0, abs=0.1)
    assert stride.percent(stride.foot_below_opposite_hip) == pytest.approx(80.0, abs=3.0)


def test_the_six_events_of_the_recorded_walk(recorded_walk_trial):
    """ "Roughly" 15, 30, 50 and 80 % of the stride, the source says."""
    found = measured(recorded_walk_trial)
    assert [stride.side for stride in found] == ["r", "l"]
    for stride in found:
        times = [
            stride.opposite_toe_off,
            stride.opposite_foot_below_hip,
            stride.opposite_heel_strike,
            stride.foot_below_opposite_hip,
        ]
        np.testing.assert_allclose([stride.percent(t) for t in times], [15.0, 30.0, 50.0, 80.0], atol=2.5)
        assert 60.0 < stride.percent(stride.toe_off) < 67.0
        assert 1.1 < stride.speed < 1.4
    right, left = found
    assert right.length == pytest.approx(left.length, rel=0.03)
    assert right.step_length + left.step_length == pytest.approx(right.length, abs=0.01)
