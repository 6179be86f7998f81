"""Heel strikes and toe-offs from the markers alone, against the forces and against steps that are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stepping_trial import Steps

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory.motion.events.foot_events import (
    FootLoads,
    force_events,
    headings,
    landings,
    marker_events,
    maxima,
    walk,
)

FRAME = 1.0 / 60.0
"""Zeni et al. (2008) sampled at 60 Hz: on the floor 98 % of the events lay within two frames of the forces."""


def times(events, kind, side):
    return np.array([event.time for event in events if (event.kind, event.side) == (kind, side)])


def late(trial, kind):
    """Return the delay of each event of a kind by the markers, where the plates have it too [s]."""
    plates, markers = force_events(FootLoads.from_trial(trial)), marker_events(walk(trial))
    pairs = [(found, times(plates, kind, side)) for side in "rl" for found in times(markers, kind, side)]
    nearest = [found - known[np.abs(known - found).argmin()] for found, known in pairs]
    return np.array([each for each in nearest if abs(each) < 0.3])


@pytest.mark.parametrize(
    ("kind", "count", "low", "high"), [("heel_strike", 3, 10, 30), ("toe_off", 3, -8, 2)]
)
def test_accuracy_on_the_recorded_walk(recorded_walk_trial, kind, count, low, high):
    """Milliseconds: heel strikes come 16 to 27 late, toe-offs within 6 of the forces."""
    found = 1000.0 * late(recorded_walk_trial, kind)
    assert found.size == count
    assert low < found.min() and found.max() < high
    assert np.abs(found).max() < 2000.0 * FRAME


@pytest.mark.parametrize("kind", ["heel_strike", "toe_off"])
def test_accuracy_on_the_bundled_stride(kind):
    """The foot of the synthetic person moves down fastest 28 ms after its contact; toe-offs lie within a frame."""
    found = late(read_trial(reference_stride()), kind)
    assert found.size == 3
    assert np.abs(found).max() < (2.0 * FRAME if kind == "heel_strike" else FRAME)


def test_the_recorded_walk_shows_the_steps_that_no_plate_caught(recorded_walk_trial):
    found = marker_events(walk(recorded_walk_trial))
    assert times(found, "heel_strike", "l").size == 2
    assert times(found, "toe_off", "l").size == 2
    # The plates of this recording have the left foot complete only from 0.45 s on.
    assert times(found, "toe_off", "l")[0] == pytest.approx(0.45, abs=0.01)


def check(steps, tolerance=0.006):
    """Every turn of a foot that lies well within the recording is found, and nothing else."""
    found = marker_events(walk(steps.trial()))
    for side in "rl":
        for kind in ("heel_strike", "toe_off"):
            seen, truth = times(found, kind, side), steps.turns(side, kind)
            inner = truth[(truth > 0.3) & (truth < steps.duration - 0.3)]
            distance = np.abs(seen[:, None] - truth)
            assert (distance.min(axis=1) < tolerance).all(), (
                "a step that did not happen, or too early or late"
            )
            assert set(np.searchsorted(truth, inner)) <= set(distance.argmin(axis=1)), "a step is missing"


@settings(max_examples=25)
@given(
    heading=st.floats(-180.0, 180.0),
    belt=st.booleans(),
    speed=st.floats(0.4, 2.0),
    stride=st.floats(0.9, 1.5),
    rate=st.sampled_from([50.0, 60.0, 100.0, 200.0]),
)
def test_steps_in_any_direction_on_floor_and_belt(heading, belt, speed, stride, rate):
    check(Steps(heading_deg=heading, belt=belt, speed=speed, stride=stride, rate=rate))


def test_noise_of_three_millimeters_adds_no_events():
    check(Steps(noise=0.003, duration=20.0))


@pytest.mark.parametrize("options", [{}, {"noise": "skin"}, {"marker_rate_hz": 60.0, "forward": "-x"}])
def test_the_strides_of_the_synthetic_person_with_noisy_markers(options, tmp_path):
    """Contacts are known to the last digit; the foot moves down fastest 28 ms after its one, noise adds some ms."""
    stride = ms.studies.synthetic.reference_stride()
    file = ms.studies.synthetic_recording(tmp_path, stride, truth=False, strides=3, noise_mm=3.0, **options)
    trial = read_trial(file)
    start = trial.time_range[0]
    found = marker_events(walk(trial))
    assert len(found) >= 12
    known = stride.events(-stride.period, 6.0 * stride.period)
    for event in found:
        truth = times(known, event.kind, event.side) + start
        assert np.abs(truth - event.time).min() < (0.04 if event.kind == "heel_strike" else 0.013), event


def test_a_gap_costs_only_the_events_in_it():
    steps = Steps()
    trial = steps.trial()
    position = trial.markers.position.copy()
    hole = np.abs(trial.markers.time - steps.strikes("r")[2]) < 0.15
    position[hole, trial.markers.names.index("heel_r")] = np.nan
    trial = replace(trial, markers=replace(trial.markers, position=position))
    found = times(marker_events(walk(trial)), "heel_strike", "r")
    np.testing.assert_allclose(found, np.delete(steps.turns("r", "heel_strike"), 2), atol=0.006)


def test_a_foot_lands_where_it_moves_down_fastest_after_the_turn_of_its_heel():
    """A stride of 1 s: the foot is a raised cosine, fastest down at 0.75 s, and its heel turns 30 ms before."""
    time = np.arange(0.0, 5.0, 0.01)
    height = 0.05 * np.sin(2.0 * np.pi * (time - 0.5)) ** 2
    turns = 100.0 * np.array([0.6, 1.6, 2.6, 3.6, 4.6])
    fastest = np.array([0.625, 1.625, 2.625, 3.625, 4.625]) + 0.25 - 0.25
    np.testing.assert_allclose(landings(turns, -height, 100.0) / 100.0, fastest, atol=0.002)
    # Beside a gap, and after the end of the recording, nothing is known; a foot that slides lands at the turn.
    lost = np.where((time > 1.6) & (time < 1.7), np.nan, height)
    assert landings(turns, -lost, 100.0).size == 4
    assert landings(turns, -height[:462], 100.0).size == 4
    np.testing.assert_allclose(landings(turns, 0.1 * height, 100.0), turns)


def test_somebody_who_stands_makes_no_steps():
    steps = Steps(speed=0.0, noise=0.002)
    assert marker_events(walk(steps.trial())) == []


def test_without_the_markers_of_pelvis_and_feet_there_is_nothing_to_see():
    trial = Steps().trial()
    for landmark in ("heel_l", "psis_r"):
        mapping = {name: weights for name, weights in trial.mapping.items() if name != landmark}
        assert walk(replace(trial, mapping=mapping)) is None
    unseen = replace(trial.markers, position=np.full_like(trial.markers.position, np.nan))
    assert walk(replace(trial, markers=unseen)) is None


def test_the_heading_follows_a_turn():
    """A walk along a quarter of a circle of 4 m: the heading is its tangent, away from the ends."""
    time = np.arange(0.0, 5.0, 0.01)
    angle = 0.3 * time
    pelvis = np.stack([4.0 * np.sin(angle), 4.0 - 4.0 * np.cos(angle), 0.0 * time], axis=1)
    heading, travels = headings(time, pelvis, np.ones_like(pelvis))
    assert travels
    turned = np.unwrap(np.arctan2(heading[:, 1], heading[:, 0]))
    np.testing.assert_allclose(turned[50:-51], angle[50:-51], atol=1e-4)


def test_before_the_walk_begins_the_heading_is_its_first_one():
    time = np.arange(0.0, 6.0, 0.01)
    pelvis = np.stack([0.0 * time, -np.maximum(time - 3.0, 0.0), 0.0 * time], axis=1)
    heading, travels = headings(time, pelvis, np.ones_like(pelvis))
    assert travels
    np.testing.assert_allclose(heading, np.broadcast_to([0.0, -1.0, 0.0], heading.shape), atol=1e-12)


def test_a_belt_on_which_the_person_drifts_is_no_way_to_walk():
    """0.2 m/s to the left, toes ahead: nobody walks so slowly; at 0.3 m/s somebody does."""
    time = np.arange(0.0, 5.0, 0.01)
    feet = np.tile([0.4, 0.0, 0.0], (time.size, 1))
    for speed, expected in ((0.2, [1.0, 0.0, 0.0]), (0.3, [0.0, 1.0, 0.0])):
        heading, travels = headings(time, time[:, None] * [0.0, speed, 0.0], feet)
        np.testing.assert_allclose(heading, np.broadcast_to(expected, heading.shape), atol=1e-9)
        assert travels == (speed > 0.25)


def test_a_false_maximum_in_the_middle_of_the_period_is_dropped():
    """It stands out as much as a step does, but half a period beside its neighbors."""
    time = np.arange(0.0, 10.0, 0.01)
    signal = np.cos(2.0 * np.pi * time) + 1.2 * np.exp(-(((time - 4.5) / 0.06) ** 2))
    np.testing.assert_allclose(maxima(signal, 100.0, 0.15) / 100.0, np.arange(1.0, 10.0), atol=0.01)


@pytest.mark.parametrize(("fall", "found"), [(0.03, False), (0.1, True), (0.3, True)])
def test_a_maximum_just_before_the_end_counts_once_the_signal_has_fallen_a_little(fall, found):
    """The recording ends when the cosine has fallen from its last maximum by a share of its excursion."""
    end = 5.0 + np.arccos(1.0 - 2.0 * fall) / (2.0 * np.pi)
    time = np.linspace(0.0, end, 500)
    rate = 499.0 / end
    places = maxima(np.cos(2.0 * np.pi * time), rate, 0.15) / rate
    assert places.size == 4 + found
    np.testing.assert_allclose(places, np.arange(1.0, places.size + 1.0), atol=0.015)


def test_a_false_maximum_within_the_period_is_dropped():
    time = np.arange(0.0, 10.0, 0.01)
    signal = np.cos(2.0 * np.pi * time) - 1.2 * np.exp(-(((time - 4.75) / 0.08) ** 2))
    places = maxima(signal, 100.0, 0.15) / 100.0
    assert (np.diff(places) > 0.6).all()
    np.testing.assert_allclose(places[[0, 1, -1]], [1.0, 2.0, 9.0], atol=1e-3)


def test_a_turn_on_the_spot_is_seen_from_the_pelvis():
    """Ahead for 2 s, round by half a turn to the left in 4 s, and back."""
    time = np.arange(0.0, 8.0, 0.01)
    traveled = np.clip(time, 0.0, 2.0) - np.clip(time - 6.0, 0.0, 2.0)
    angle = np.pi * np.clip((time - 2.0) / 4.0, 0.0, 1.0)
    pelvis = np.stack([traveled, 0.0 * time, 0.0 * time], axis=1)
    facing = 0.2 * np.stack([np.cos(angle), np.sin(angle), 0.0 * time], axis=1)
    heading, travels = headings(time, pelvis, facing)
    assert travels
    still = (time > 2.6) & (time < 5.4)
    expected = facing[still] / 0.2
    np.testing.assert_allclose(heading[still], expected, atol=0.05)
    np.testing.assert_allclose(heading[[50, -50]], [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], atol=1e-9)


def test_who_walks_backward_heads_for_where_the_path_leads():
    time = np.arange(0.0, 4.0, 0.01)
    pelvis, facing = -time[:, None] * [1.0, 0.5, 0.0], np.tile([1.0, 0.5, 0.0], (time.size, 1))
    heading, _ = headings(time, pelvis, facing)
    np.testing.assert_allclose(heading, -facing / np.hypot(1.0, 0.5), atol=1e-12)
