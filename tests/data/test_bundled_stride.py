"""The bundled stride is a plausible recording: in balance, periodic, rigid, and analyzed by the ordinary road."""

import itertools

import numpy as np
import pytest

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial

INTERVALS = 65  # of a stride, at 60 Hz
RIGID = (
    ("asis_r", "asis_l", "psis_r", "psis_l", "hip_center_r", "hip_center_l"),
    ("heel_r", "toe_r", "metatarsal_5_r"),
    ("heel_l", "toe_l", "metatarsal_5_l"),
    ("hip_center_r", "knee_lateral_r", "knee_medial_r"),
    ("ankle_lateral_r", "ankle_medial_r"),
    ("shoulder_center_l", "elbow_lateral_l", "elbow_medial_l"),
    ("head_base", "head_low", "head_top"),
)


@pytest.fixture(scope="module")
def trial() -> Trial:
    return read_trial(reference_stride())


@pytest.fixture(scope="module")
def result(trial):
    return ms.run(trial)


def within_stride(trial, time):
    start, end = trial.time_range
    return (time > start - 1e-6) & (time < end - 1e-6)


def plate(trial, side):
    return next(plate for plate in trial.forces if plate.side == side)


def test_the_bundle_is_small():
    assert sum(file.stat().st_size for file in reference_stride().parent.iterdir()) < 400_000


def test_one_stride_at_the_cadence_of_the_source(trial):
    assert trial.markers.rate == pytest.approx(60.0)
    assert trial.time_range[1] - trial.time_range[0] == pytest.approx(INTERVALS / 60.0, abs=1e-6)
    frames = trial.frames()
    assert frames.stop - frames.start == INTERVALS + 1
    # The filter needs margins on both sides.
    assert frames.start >= 15 and len(trial.markers.time) - frames.stop >= 15


def test_markers_repeat_one_stride_length_farther(trial):
    position = trial.markers.position
    step = position[INTERVALS:] - position[:-INTERVALS]
    length = step[..., 0].mean()
    assert 1.3 < length < 1.5
    np.testing.assert_allclose(step, np.broadcast_to([length, 0.0, 0.0], step.shape), atol=1e-5)


def test_left_is_right_half_a_stride_later(trial):
    side = {s: plate(trial, s).force[within_stride(trial, plate(trial, s).time)] for s in "rl"}
    half = len(side["r"]) // 2
    mirrored = np.roll(side["l"], half, axis=0) * [1.0, -1.0, 1.0]
    np.testing.assert_allclose(mirrored, side["r"], atol=0.01)


@pytest.mark.parametrize("names", RIGID)
def test_markers_of_one_segment_keep_their_distances(trial, names):
    for one, other in itertools.combinations(names, 2):
        distance = np.linalg.norm(trial.markers[one] - trial.markers[other], axis=1)
        standing = np.linalg.norm(trial.static[one] - trial.static[other], axis=1)
        assert np.ptp(distance) < 1e-5
        assert distance.mean() == pytest.approx(standing.mean(), abs=1e-5)


def test_the_ground_carries_the_body_weight_over_a_stride(trial):
    """Impulse-momentum: the mean force over a periodic motion is the weight, and nothing forward or sideways."""
    total = sum(p.force[within_stride(trial, p.time)] for p in trial.forces).mean(axis=0)
    weight = trial.subject.mass * STANDARD_GRAVITY
    assert total[2] == pytest.approx(weight, rel=0.002)
    assert np.abs(total[:2]).max() < 0.002 * weight


@pytest.mark.parametrize("side", ["r", "l"])
def test_vertical_force_has_two_humps_and_never_pulls(trial, side):
    forces = plate(trial, side)
    start = trial.time_range[0] if side == "r" else trial.time_range[0] - INTERVALS / 120.0
    phase = (forces.time - start) / (INTERVALS / 60.0) % 1.0
    vertical = forces.force[:, 2] / (trial.subject.mass * STANDARD_GRAVITY)
    assert vertical.min() >= 0.0
    assert 1.0 < vertical[phase < 0.22].max() < 1.2
    assert 0.65 < vertical[(phase > 0.25) & (phase < 0.38)].min() < 0.85
    assert 1.0 < vertical[(phase > 0.42) & (phase < 0.6)].max() < 1.2
    assert vertical[(phase > 0.63) & (phase < 0.99)].max() == 0.0


@pytest.mark.parametrize("side", ["r", "l"])
def test_the_force_acts_under_the_foot(trial, side):
    forces = plate(trial, side)
    loaded = forces.force[:, 2] > 5.0
    time, point = forces.time[loaded], forces.point[loaded]
    heel, toe = (
        np.stack(
            [np.interp(time, trial.markers.time, trial.markers[f"{name}_{side}"][:, k]) for k in range(2)],
            axis=1,
        )
        for name in ("heel", "toe")
    )
    # While the foot rolls over the ball the heel is above, not behind: the sole is measured standing.
    sole = np.linalg.norm((trial.static[f"toe_{side}"] - trial.static[f"heel_{side}"])[0])
    forward = (toe - heel) / np.linalg.norm(toe - heel, axis=1, keepdims=True)
    away = point[:, :2] - toe
    ahead = np.sum(away * forward, axis=1)
    beside = away @ [[0.0, 1.0], [-1.0, 0.0]]
    assert ahead.min() > -sole
    assert ahead.max() < 0.065
    assert np.abs(np.sum(beside * forward, axis=1)).max() < 0.045
    assert np.abs(forces.moment[loaded, 2]).max() < 8.0


def test_the_foot_on_the_ground_neither_slips_nor_sinks(trial):
    phase = (trial.markers.time - trial.time_range[0]) / (INTERVALS / 60.0)
    flat = (phase > 0.08) & (phase < 0.36)
    for name in ("heel_r", "toe_r"):
        position = trial.markers[name]
        assert np.ptp(position[flat], axis=0).max() < 0.01
        assert position[:, 2].min() > -0.004


def test_every_frame_has_forces_of_muscles(result):
    assert (result["status"] == 0).all()
    assert float(result["gap"].max()) <= 1e-9
    assert float(result["moment_error"].max()) <= 1e-6
    np.testing.assert_allclose(result["cost_bound"], result["cost"], rtol=1e-9)


def test_almost_nothing_holds_the_pelvis(result):
    residual = np.abs(result["pelvis_residual"])
    weight = 70.25 * STANDARD_GRAVITY
    assert float(residual.sel(component=["force_x", "force_y", "force_z"]).max()) < 0.03 * weight
    assert float(residual.sel(component=["moment_x", "moment_y", "moment_z"]).max()) < 5.0


@pytest.mark.parametrize(
    ("dof", "percent", "low", "high"),
    [
        ("ankle_dorsiflexion_r", (45, 55), -2.0, -1.4),
        ("hip_flexion_r", (4, 14), -1.2, -0.4),
        ("hip_adduction_r", (12, 22), -1.1, -0.6),
        ("knee_flexion_r", (10, 20), -0.8, -0.3),
    ],
)
def test_joint_moments_peak_as_in_measured_gait(result, dof, percent, low, high):
    """Negative: plantarflexor, hip extensor, hip abductor, knee extensor [N m/kg]."""
    stride = 100.0 * (result["time"] - result["time"][0]) / (INTERVALS / 60.0)
    within = (stride >= percent[0]) & (stride <= percent[1])
    assert low < float(result["joint_moment"].sel(dof=dof)[within].min()) / 70.25 < high


def test_hip_flexors_swing_the_leg(result):
    stride = 100.0 * (result["time"] - result["time"][0]) / (INTERVALS / 60.0)
    push_off = (stride > 45) & (stride < 60)
    assert 0.35 < float(result["joint_moment"].sel(dof="hip_flexion_r")[push_off].max()) / 70.25 < 0.9
