"""Synthetic recordings: the noise that was asked for, gaps, axes, strides, and the truth beside them."""

import numpy as np
import pytest
from command_line import typed
from refusals import refused

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import reference_stride
from musclesolve.tables import read_trc


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return synthetic_recording(tmp_path_factory.mktemp("clean"))


def test_the_truth_beside_the_files_is_the_stride(clean):
    trial, truth, stride = read_trial(clean), ms.read_result(clean.with_name("truth.nc")), reference_stride()
    np.testing.assert_allclose(truth["time"], trial.markers.time, atol=1e-8)
    np.testing.assert_allclose(truth["marker"], trial.markers.position, atol=1e-7)
    time = truth["time"].values - trial.time_range[0]
    np.testing.assert_allclose(truth["joint_moment"], stride.joint_moments(time), atol=1e-6)
    assert list(truth["landmark"].values) == list(trial.markers.names)
    right = next(plate for plate in trial.forces if plate.side == "r")
    force = np.stack([np.interp(truth["time"], right.time, right.force[:, k]) for k in range(3)], axis=1)
    np.testing.assert_allclose(truth["ground_force"].sel(side="r"), force, atol=12.0)  # unloaded below 10 N


@pytest.mark.parametrize("noise", ["white", "skin"])
def test_the_noise_is_as_large_as_asked_for(clean, tmp_path, noise):
    noisy = read_trial(synthetic_recording(tmp_path, noise_mm=3.0, noise=noise, seed=7, truth=False))
    off = noisy.markers.position - read_trial(clean).markers.position
    assert np.sqrt(np.mean(off**2)) == pytest.approx(0.003, rel=0.15)
    assert abs(off.mean()) < 0.001


def test_skin_slides_the_same_way_in_every_stride(clean, tmp_path):
    options = {"marker_rate_hz": 120.0, "strides": 2, "truth": False}
    slid = read_trial(synthetic_recording(tmp_path / "a", noise_mm=5.0, noise="skin", **options))
    still = read_trial(synthetic_recording(tmp_path / "b", **options))
    off = slid.markers.position - still.markers.position
    period = round(reference_stride().period * 120.0)
    np.testing.assert_allclose(off[period:], off[:-period], atol=2e-7)


def test_one_seed_one_recording(tmp_path):
    files = [
        synthetic_recording(tmp_path / name, noise_mm=2.0, force_noise_n=3.0, seed=seed, truth=False)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    for name in ("walk.trc", "static.trc", "forces.mot"):
        one, same, other = (file.with_name(name).read_bytes() for file in files)
        assert one == same != other


@pytest.mark.parametrize(("forward", "up"), [("-y", "+z"), ("+z", "+y")])
def test_the_axes_of_the_laboratory_do_not_matter(clean, tmp_path, forward, up):
    trial, rotated = (
        read_trial(clean),
        read_trial(synthetic_recording(tmp_path, forward=forward, up=up, truth=False)),
    )
    np.testing.assert_allclose(rotated.markers.position, trial.markers.position, atol=2e-7)
    for one, other in zip(trial.forces, rotated.forces, strict=True):
        np.testing.assert_allclose(other.force, one.force, atol=1e-4)
        np.testing.assert_allclose(other.point, one.point, atol=1e-4)
        np.testing.assert_allclose(other.moment, one.moment, atol=1e-4)


def test_gaps_are_where_they_were_asked_for(tmp_path):

    file = synthetic_recording(
        tmp_path, gaps=(("knee_lateral_r", 0.5, 0.6), ("toe_l", 0.0, 0.1)), truth=False
    )
    markers = read_trc(file.with_name("walk.trc"))
    for name, first, last in (("knee_lateral_r", 0.5, 0.6), ("toe_l", 0.0, 0.1)):
        lost = np.isnan(markers[name]).any(axis=1)
        np.testing.assert_array_equal(lost, (markers.time > first - 1e-6) & (markers.time < last + 1e-6))
    assert not np.isnan(markers["heel_r"]).any()


def test_strides_and_rates(tmp_path):
    trial = read_trial(
        synthetic_recording(tmp_path, strides=3, marker_rate_hz=250, force_rate_hz=500, truth=False)
    )
    assert trial.markers.rate == pytest.approx(250.0)
    period = reference_stride().period
    assert trial.time_range[1] - trial.time_range[0] == pytest.approx(3 * period)
    assert "right heel strike to right heel strike, 3 times.\n" in (tmp_path / "trial.toml").read_text()
    right = next(plate for plate in trial.forces if plate.side == "r")
    loaded = right.force[:, 2] > 0.0
    assert np.sum(np.diff(loaded.astype(int)) == 1) in (3, 4)


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        ({"noise_mm": -1.0}, "bad_value", "noise_mm"),
        ({"noise_mm": "much"}, "bad_value", "noise_mm"),
        ({"noise": "pink"}, "bad_value", "noise"),
        ({"marker_rate_hz": 0}, "bad_value", "marker_rate_hz"),
        ({"strides": 1.5}, "bad_value", "strides"),
        ({"gaps": (("knee_lateral", 0.0, 1.0),)}, "unknown_name", "knee_lateral_r"),
        ({"gaps": (("toe_r", 1.0, 0.5),)}, "bad_value", "gaps"),
        ({"marker_set": "plugin_gait"}, "unknown_name", "marker_set"),
        ({"cameras": 1}, "bad_value", "cameras"),
        ({"cutoff_hz": "guess"}, "bad_value", "cutoff_hz"),
        ({"cutoff_hz": 60.0}, "bad_value", "cutoff_hz"),
        ({"gaps": (("R.MKnee", 0.0, 1.0),), "marker_set": "rajagopal"}, "unknown_name", "R.Knee"),
        ({"seed": -1}, "bad_value", "seed"),
        ({"marker_rate_hz": float("nan")}, "bad_value", "marker_rate_hz"),
        ({"strides": True}, "bad_value", "strides"),
        ({"strides": 2.0}, "bad_value", "strides"),
        ({"standing_frames": 2.5}, "bad_value", "standing_frames"),
        ({"cameras": 3.0, "noise_px": 0.1}, "bad_value", "cameras"),
        ({"seed": 1.0}, "bad_value", "seed"),
        ({"decimals": 1.5}, "bad_value", "decimals"),
        ({"cutoff_hz": True}, "bad_value", "cutoff_hz"),
        ({"force_cutoff_hz": 0.0}, "bad_value", "force_cutoff_hz"),
        ({"gaps": None}, "bad_value", "gaps"),
        ({"gaps": ("heel_r", 0, 1)}, "bad_value", "gaps"),
        ({"gaps": [("heel_r", 0)]}, "bad_value", "gaps"),
        ({"gaps": [("heel_r", "a", 1)]}, "bad_value", "gaps"),
        ({"gaps": [("heel_r", float("nan"), 1.0)]}, "bad_value", "gaps"),
        ({"gaps": [("heel_r", 50.0, 60.0)]}, "bad_range", "heel_r"),
        ({"gaps": [("heel_r", 0.502, 0.508)]}, "bad_range", "heel_r"),
        ({"noise_px": 2.0}, "bad_value", "noise_px"),
        ({"force_noise_n": 41.0}, "bad_value", "force_noise_n"),
        ({"unloaded_below_n": 0.0}, "bad_value", "unloaded_below_n"),
    ],
)
def test_what_makes_no_recording_is_refused(tmp_path, options, code, part):
    with refused(code, part):
        synthetic_recording(tmp_path / "none", **options)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("folder", [5, None])
def test_a_folder_is_a_path(folder):
    with pytest.raises(ms.InputError) as raised:
        synthetic_recording(folder)
    assert repr(folder) in str(raised.value)


def test_from_a_shell(tmp_path):

    folder = tmp_path / "made"
    arguments = ["synthesize", "-o", str(folder), "--noise-mm", "3", "--gap", "toe_r:0.5:0.6"]
    done = typed(*arguments)
    assert done.exit_code == 0, done.output
    assert "truth.nc" in done.output
    assert sorted(file.name for file in folder.iterdir()) == [
        "forces.mot",
        "static.trc",
        "trial.toml",
        "truth.nc",
        "walk.trc",
    ]
    wrong = typed("synthesize", "-o", folder, "--gap", "toe_r")
    assert wrong.exit_code == 2
    assert "MARKER:FROM:TO" in wrong.output


def test_cameras_in_other_axes_see_the_same_markers(clean, tmp_path):
    seen = read_trial(synthetic_recording(tmp_path, cameras=3, forward="-z", up="+y"))
    np.testing.assert_allclose(seen.markers.position, read_trial(clean).markers.position, atol=1e-6)
    assert seen.files["markers"].name == "walk.toml"


@pytest.mark.thorough
def test_a_pixel_shows_as_much_on_a_long_walkway(tmp_path):
    size = []
    for strides in (1, 3):
        options = {"strides": strides, "marker_rate_hz": 25.0, "force_rate_hz": 100.0, "truth": False}
        true = read_trial(synthetic_recording(tmp_path / f"{strides}", **options))
        seen = read_trial(
            synthetic_recording(tmp_path / f"{strides}_seen", cameras=4, noise_px=1.0, seed=2, **options)
        )
        size.append(np.sqrt(np.mean((seen.markers.position - true.markers.position) ** 2)))
    assert size[1] == pytest.approx(size[0], rel=0.1)
    assert size[0] == pytest.approx(0.0028, rel=0.1)


def test_markers_of_a_set_that_only_stand_are_taken_off(tmp_path):
    trial = read_trial(synthetic_recording(tmp_path, marker_set="rajagopal"))
    assert "R.MKnee" in trial.static and "R.MKnee" not in trial.markers
    assert {"R.SH1", "S2", "R_HJC"} <= set(trial.markers.names)


def test_the_recording_may_choose_its_cutoff(tmp_path):

    words = [
        "--cutoff-hz",
        "residual_analysis",
        "--cameras",
        "2",
        "--noise-px",
        "0.5",
        "--marker-set",
        "plug_in_gait",
    ]
    done = typed("synthesize", "-o", tmp_path, *words)
    assert done.exit_code == 0, done.output
    trial = read_trial(tmp_path / "trial.toml")
    assert trial.settings.filter.fixed_cutoff is None
    assert len(trial.markers.names) > 25
