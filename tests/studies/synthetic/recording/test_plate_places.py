"""Plates of a synthetic recording: their noise and the faults of their channels act at the middle of each plate."""

import numpy as np
import pytest
from refusals import refused
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve import read_trial
from musclesolve._util.arrays import true_runs
from musclesolve.constants import LOADED_FROM_N
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import plant, reference_stride
from musclesolve.studies.synthetic.places import plate_middles
from musclesolve.studies.synthetic.reference_stride import pressure


def right(trial_path):
    return next(plate for plate in read_trial(trial_path).forces if plate.side == "r")


def test_what_noisy_plates_record_is_accepted(tmp_path):
    noise = 20.0
    trial = synthetic_recording(tmp_path, force_noise_n=noise, truth=False)
    report = ms.check(trial)
    assert report.ok and set(report.codes) <= {
        "force_resolution",
        "plate_clipped",
    }  # as noisy, and cut at 100 N
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


@pytest.mark.parametrize(
    ("fault", "first", "last"), [("plate_baseline", 15.0, 15.0), ("plate_drift", 0.0, 60.0)]
)
def test_a_wrong_zero_goes_on_into_the_center_of_pressure(tmp_path, fault, first, last):
    made = synthetic_recording(tmp_path / "clean", truth=False)
    clean, wrong = (TrialCopy(path) for path in (made, plant(fault, made, tmp_path / "wrong")))
    force, point, moment = (
        [copy.plate(0, role) for copy in (clean, wrong)] for role in ("force", "point", "moment")
    )
    extra = np.linspace(first, last, len(force[0]))[:, None] * [0.0, 0.0, 1.0]
    np.testing.assert_allclose(force[1], force[0] + extra, atol=1e-4)
    middle = plate_middles(force[0][:, 2], point[0])
    shown, swing = force[1][:, 2] > 2.001, force[0][:, 2] == 0.0
    total = [np.cross(*pair) + free for *pair, free in zip(point, force, moment, strict=True)]
    np.testing.assert_allclose(total[1][shown], (total[0] + np.cross(middle, extra))[shown], atol=0.03)
    assert np.sum(shown & swing) > 100
    np.testing.assert_allclose(point[1][shown & swing], middle[shown & swing], atol=1e-4)


def test_middles_are_within_the_path_of_the_pressure():
    stride = reference_stride()
    time = np.linspace(0.0, 3.0 * stride.period, 900)
    wrench = stride.wrenches(time)[0]
    point, _ = pressure(wrench.force, wrench.moment, LOADED_FROM_N)
    away = plate_middles(wrench.force[:, 2], point) - point
    loaded = wrench.force[:, 2] >= LOADED_FROM_N
    assert np.abs(away[loaded, :2]).max() < 0.2


def test_only_the_steps_that_are_named_have_a_plate(tmp_path):
    every = read_trial(synthetic_recording(tmp_path / "every", strides=2, truth=False))
    some = read_trial(synthetic_recording(tmp_path / "some", strides=2, truth=False, steps=("r2", "l2")))
    for plate, whole in zip(some.forces, every.forces, strict=True):
        loaded = plate.force[:, 2] > 0.0
        runs = true_runs(loaded)
        np.testing.assert_array_equal(plate.force[loaded], whole.force[loaded])
        assert runs == true_runs(whole.force[:, 2] > 0.0)[1:2]
    assert "[time]" in (tmp_path / "every" / "trial.toml").read_text(encoding="utf-8")
    assert "[time]" not in (tmp_path / "some" / "trial.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("steps", [(), ("x2",), ("r0",), ("r",), ("r9",), "r2", (2,)])
def test_steps_that_there_are_not_are_refused(tmp_path, steps):
    with refused("unknown_name" if steps == ("r9",) else "bad_value", "steps"):
        synthetic_recording(tmp_path, truth=False, steps=steps)
