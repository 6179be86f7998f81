"""Angles of pelvis, trunk and feet: planted rotations come back, and the laboratory's axes do not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from rotated_laboratory import rotated
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve.dynamics.rotations import from_cardan
from musclesolve.laboratory import Trial, cycles
from musclesolve.laboratory.results.dataset.labels import body_angles
from musclesolve.laboratory.results.dataset.result_quantities import along_heading

TOE_OUT = 7.0
"""Toe-out of the foot on the ground of the bundled stride (stride_subject.toml) [deg]."""


@pytest.fixture(scope="module")
def trial(tmp_path_factory) -> Trial:
    return ms.read_trial(
        ms.studies.synthetic_recording(tmp_path_factory.mktemp("walk") / "walk", marker_rate_hz=50)
    )


@pytest.fixture(scope="module")
def result(trial) -> xr.Dataset:
    return ms.run(trial)


def test_planted_rotations_come_back():
    rng = np.random.default_rng(2)
    planted = rng.uniform(-1.0, 1.0, (3, 30))
    heading, toe_in = rng.uniform(-3.0, 3.0, 30), rng.uniform(-1.0, 1.0, (2, 30))
    pitch = rng.uniform(-1.2, 1.2, 30)
    feet = {}
    for side, sign, angle in zip("rl", (1.0, -1.0), toe_in, strict=True):
        feet[side] = from_cardan(pitch, np.zeros(30), heading + sign * angle)[:, :, 0]
    found = body_angles({"trunk": from_cardan(*planted)}, feet, heading, ("r", "l", "other"))
    np.testing.assert_allclose(found["trunk_angle"][1], planted.T, atol=1e-12)
    progression = found["foot_progression_angle"][1]
    np.testing.assert_allclose(progression[:, :2], toe_in.T, atol=1e-12)
    assert np.isnan(progression[:, 2]).all()


@pytest.mark.parametrize("side", ["r", "l"])
def test_the_flat_foot_has_the_toe_out_that_was_planted(result, side):
    force = result["ground_reaction_force"].sel(side=side, axis="z").values
    ends = [
        result["skeleton_position"].sel(skeleton_point=f"{end}_{side}", axis="z") for end in ("heel", "toe")
    ]
    flat = (np.abs(ends[0] - ends[1]).values < 0.003) & (force > 300.0)
    assert flat.sum() > 5
    found = np.degrees(result["foot_progression_angle"].sel(side=side).values[flat])
    np.testing.assert_allclose(found, -TOE_OUT, atol=1.0)


@pytest.mark.thorough
def test_angles_of_cycles_do_not_depend_on_the_axes_of_the_laboratory(trial, result):
    turned = ms.run(rotated(trial, 130.0))
    assert np.degrees(np.abs(turned["heading"] - result["heading"])).min() > 100.0
    for name in ("pelvis_angle", "trunk_angle", "foot_progression_angle"):
        both = [np.degrees(cycles(each, "r", without_side=True)[name].values[0]) for each in (result, turned)]
        assert np.abs(both[1] - both[0]).max() < 0.1, name


@pytest.fixture(scope="module")
def backward(trial, tmp_path_factory) -> xr.Dataset:
    """The walk as a film that runs back: the laws of motion hold with the same forces."""
    copy = TrialCopy(trial.path)
    mirror = float(copy.walk.time[0] + copy.walk.time[-1])
    copy.walk = replace(copy.walk, time=mirror - copy.walk.time[::-1], position=copy.walk.position[::-1])
    copy.forces = replace(copy.forces, time=mirror - copy.forces.time[::-1], values=copy.forces.values[::-1])
    start, end = copy.span
    copy.set_key("time", "start_s", repr(mirror - end))
    copy.set_key("time", "end_s", repr(mirror - start))
    found = ms.run(copy.write(tmp_path_factory.mktemp("backward")))
    assert np.cos(found["heading"]).max() < -0.99
    return found


def test_a_subject_who_walks_backward_has_the_same_feet_and_sides(result, backward):
    """Only forward and backward along the walking direction are exchanged."""
    assert backward.sizes["time"] == result.sizes["time"]
    widths = [each["step_width"].values for each in (result, backward)]
    assert min(map(np.min, widths)) > 0.05
    backward = backward.isel(time=slice(None, None, -1))
    progression = [np.degrees(each["foot_progression_angle"].values) for each in (result, backward)]
    np.testing.assert_allclose(progression[1], progression[0], atol=0.01)
    forward, back = (along_heading(each, each["ground_reaction_force"]) for each in (result, backward))
    for axis, sign in zip("xyz", (-1.0, 1.0, 1.0), strict=True):
        np.testing.assert_allclose(back.sel(axis=axis).values, sign * forward.sel(axis=axis).values, atol=2.0)


def test_the_pelvis_of_a_subject_who_walks_backward_is_seen_from_a_leg_as_in_walking(result, backward):
    for each in (result, backward):
        seen = np.degrees(cycles(each, "r", partial=True, without_side=True)["pelvis_angle"])
        assert np.abs(seen.sel(pelvis_rotation="rotation")).max() < 20.0


def test_a_trunk_without_markers_has_no_angle(trial):
    text = trial.path.read_text(encoding="utf-8")
    lines = [
        line
        for line in text.splitlines()
        if not line.startswith(("shoulder", "neck", "head", "elbow", "wrist", "hand"))
    ]
    path = trial.path.with_name("without_trunk.toml")
    path.write_text("\n".join(lines), encoding="utf-8")
    found = ms.run(path)
    assert "trunk_angle" not in found and "pelvis_angle" in found
