"""Plates of a synthetic recording: their noise acts at the middle of each plate."""

import numpy as np

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import reference_stride
from musclesolve.studies.synthetic.places import plate_middles


def right(trial_path):
    return next(plate for plate in read_trial(trial_path).forces if plate.side == "r")


def test_what_noisy_plates_record_is_accepted(tmp_path):
    noise = 20.0
    trial = synthetic_recording(tmp_path, force_noise_n=noise, truth=False)
    report = ms.check(trial)
    assert report.ok and report.codes == ()
    assert read_trial(trial).unloaded_below == 5.0 * noise


def test_the_center_of_pressure_is_as_noisy_at_the_end_of_the_walkway_as_at_its_beginning(tmp_path):
    options = {"strides": 4, "truth": False, "unloaded_below_n": 10.0, "force_rate_hz": 500.0}
    clean = right(synthetic_recording(tmp_path / "clean", **options))
    noisy = right(synthetic_recording(tmp_path / "noisy", force_noise_n=2.0, **options))
    standing = clean.force[:, 2] > 400.0
    off = np.where(standing[:, None], noisy.point - clean.point, np.nan)
    period = round(500.0 * reference_stride().period)
    first, last = (np.nanstd(off[part], axis=0)[:2] for part in (slice(0, period), slice(-period, None)))
    np.testing.assert_allclose(last, first, rtol=0.3)
    assert np.all(first < 0.001)


def test_a_plate_lies_under_every_contact():
    vertical = np.array([0.0, 0, 500, 500, 0, 0, 0, 0, 500, 0])
    point = np.zeros((10, 3))
    point[2:4, 0], point[8, 0] = (1.0, 1.2), 3.0
    expected = [1.1] * 6 + [3.0] * 4
    np.testing.assert_allclose(plate_middles(vertical, point)[:, 0], expected)
    assert not plate_middles(0.0 * vertical, point).any()
