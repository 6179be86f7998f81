"""The bundled stride as coefficients: in balance at any time, periodic, symmetric; its files are made from it."""

import numpy as np
import pytest

from musclesolve.data import reference_stride as bundled_trial
from musclesolve.dynamics import differentiate
from musclesolve.studies.synthetic import reference_stride
from musclesolve.studies.synthetic.places import marker_places
from musclesolve.studies.synthetic.recording_options import RecordingOptions
from musclesolve.studies.synthetic.synthetic_recording import plates, standing, walking
from musclesolve.tables import read_mot, read_trc

MIRRORED = np.array([1.0, -1.0, 1.0])


@pytest.fixture(scope="module")
def stride():
    return reference_stride()


@pytest.fixture(scope="module")
def time(stride) -> np.ndarray:
    """Any times, before, within and long after the first stride, and the instants at which something changes."""
    events = [event.time for event in stride.events()]
    return np.sort(np.concatenate([np.random.default_rng(4).uniform(-3.0, 9.0, 400), events, [0.0]]))


def test_nothing_holds_the_pelvis(stride, time):
    assert np.abs(stride.pelvis_residual(time)).max() < 1e-6


def test_the_motion_repeats_one_stride_length_farther(stride, time):
    one, next_one = stride.markers(time), stride.markers(time + stride.period)
    np.testing.assert_allclose(
        next_one - one, np.broadcast_to([stride.length, 0.0, 0.0], one.shape), atol=1e-9
    )
    np.testing.assert_allclose(
        stride.joint_moments(time + stride.period), stride.joint_moments(time), atol=1e-6
    )


def test_left_is_right_mirrored_half_a_stride_later(stride, time):
    right, left = stride.wrenches(time)[0], stride.wrenches(time + 0.5 * stride.period)[1]
    np.testing.assert_allclose(left.force, right.force * MIRRORED, atol=1e-6)
    names = stride.dof_names
    angle, later = stride.joint_angles(time), stride.joint_angles(time + 0.5 * stride.period)
    for k, name in enumerate(names):
        if name.endswith("_r"):
            np.testing.assert_allclose(later[:, names.index(name[:-2] + "_l")], angle[:, k], atol=1e-9)


def test_derivatives_are_those_of_the_positions(stride):
    time = np.arange(200) / 400.0
    exact, splined = stride.motion(time), differentiate(stride.model, time, stride.motion(time).coordinates)
    np.testing.assert_allclose(splined.qdd[20:-20], exact.qdd[20:-20], atol=1e-3)


def test_events_are_where_the_force_begins_and_ends(stride):
    events = stride.events(-0.3, 3.0)
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert all(-0.3 <= event.time < 3.0 for event in events)
    for event in stride.events():
        before, after = stride.ground(np.array([event.time - 0.03, event.time + 0.03]))[event.side].force[
            :, 2
        ]
        assert (before, after) == (0.0, pytest.approx(after)) if event.kind == "heel_strike" else after == 0.0
        assert max(before, after) > 5.0
    assert len(stride.events()) == 4


def test_the_files_are_the_evaluator_to_their_last_digit(stride):
    folder, places = bundled_trial().parent, marker_places(stride.person, None)
    timing = stride.person.settings["timing"]
    options = RecordingOptions(
        marker_rate_hz=timing["marker_rate_hz"],
        force_rate_hz=timing["force_rate_hz"],
        margin_s=timing["padding"] / timing["marker_rate_hz"],
        standing_frames=12,
        cutoff_hz=timing["cutoff_hz"],
        unloaded_below_n=1.0,
    )
    for file, made in (("walk.trc", walking), ("static.trc", standing)):
        read, evaluated = read_trc(folder / file), made(stride, options, places)
        assert read.names == evaluated.names
        np.testing.assert_allclose(read.time, evaluated.time, atol=1e-8)
        np.testing.assert_allclose(read.position, evaluated.position, atol=5.1e-7)
    read, evaluated = read_mot(folder / "forces.mot"), plates(stride, options)
    assert read.names == evaluated.names
    np.testing.assert_allclose(read.values, evaluated.values, atol=5.1e-6)
