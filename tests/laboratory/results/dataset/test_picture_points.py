"""Points of skeleton and muscle paths in a result: bones keep their length, paths theirs, and both sit on one body."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from small_model import save_model
from small_model_motion import DOFS, feasible_moments, small_motion
from stored_results import write_result

from musclesolve import read_osim, read_result, read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory.results.export.time_series import chosen
from musclesolve.laboratory.run_trial import run, share_model


@pytest.fixture(scope="module")
def walk() -> xr.Dataset:
    return run(read_trial(reference_stride()))


def shared_walk(folder) -> xr.Dataset:
    reference = folder / "reference"
    model = reference / "rajagopal_lai_uhlrich_2023_scaled.osim"
    loads = folder / "walk_grf.mot"
    return share_model(model, reference / "opensim_ik.mot", loads=loads, start_s=0.6, end_s=0.9)


def bone_lengths(result: xr.Dataset) -> np.ndarray:
    """(T, bones) [m]."""
    ends = [
        result["skeleton_position"].sel(skeleton_point=result[end].values).values.astype(float)
        for end in ("bone_start", "bone_end")
    ]
    return np.linalg.norm(ends[1] - ends[0], axis=2)


def drawn_lengths(result: xr.Dataset) -> np.ndarray:
    """(T, muscle) [m] of the lines."""
    places, owner = result["path_position"].values.astype(float), result["path_muscle"].values
    found = []
    for name in result["muscle"].values:
        own = places[:, owner == name]
        found.append(np.linalg.norm(np.diff(own, axis=1), axis=2).sum(axis=1))
    return np.stack(found, axis=1)


def test_bones_keep_their_length(walk: xr.Dataset) -> None:
    length = bone_lengths(walk)
    assert np.ptp(length, axis=0).max() < 2e-6
    assert length.min() > 0.01 and length.max() < 0.6


def test_muscle_lines_are_as_long_as_the_muscles(walk: xr.Dataset) -> None:
    np.testing.assert_allclose(drawn_lengths(walk), walk["musculotendon_length"], atol=1e-3)


def test_muscles_lie_about_the_bones(walk: xr.Dataset) -> None:
    """Every point of a path is nearer to a bone of the own leg or the pelvis than 15 cm."""
    points = walk["skeleton_position"]
    for side in "rl":
        names = [f"{name}_{side}" for name in ("hip", "knee", "ankle", "heel", "toe", "asis", "psis")] + [
            "sacrum", "back",
        ]  # fmt: skip
        own = {name: points.sel(skeleton_point=name).values.astype(float) for name in names}
        bones = [
            (str(a), str(b))
            for a, b in zip(walk["bone_start"].values, walk["bone_end"].values, strict=True)
            if str(a) in own and str(b) in own
        ]
        paths = walk["path_position"].values[
            :, np.char.endswith(walk["path_muscle"].values.astype(str), side)
        ]
        distance = np.min([from_bone(paths, own[a], own[b]) for a, b in bones], axis=0)
        assert distance.max() < 0.15


def from_bone(places: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distance (T, P) of places (T, P, 3) from a bone between points (T, 3)."""
    along = end - start
    share = np.einsum("tpx,tx->tp", places - start[:, None], along) / (along**2).sum(axis=1)[:, None]
    nearest = start[:, None] + np.clip(share, 0.0, 1.0)[..., None] * along[:, None]
    return np.linalg.norm(places - nearest, axis=2)


def test_the_pelvis_has_its_points_in_front_behind_and_aside(walk: xr.Dataset) -> None:
    at = walk["skeleton_position"].mean("time").sel
    forward, left = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    hips = 0.5 * (at(skeleton_point="hip_r").values + at(skeleton_point="hip_l").values)
    for side, sign in (("r", -1.0), ("l", 1.0)):
        front, rear = (at(skeleton_point=f"{name}_{side}").values - hips for name in ("asis", "psis"))
        assert front @ forward > 0.02 and rear @ forward < -0.05
        assert sign * (front @ left) > sign * (rear @ left) > 0.02


def test_points_are_single_precision_and_come_back_from_the_file(walk: xr.Dataset, tmp_path) -> None:
    write_result(walk, tmp_path / "walk.nc")
    again = read_result(tmp_path / "walk.nc")
    for name in ("skeleton_position", "path_position"):
        assert again[name].dtype == np.float32 and again[name].attrs["units"] == "m"
        np.testing.assert_array_equal(again[name], walk[name])
    assert again["path_muscle"].values.tolist() == walk["path_muscle"].values.tolist()
    without = walk.drop_dims(["skeleton_point", "bone", "path_point"])
    write_result(without, tmp_path / "without.nc")
    sizes = [(tmp_path / name).stat().st_size for name in ("walk.nc", "without.nc")]
    assert sizes[0] < 1.5 * sizes[1]


def test_tables_of_all_series_leave_these_points_out(walk: xr.Dataset) -> None:
    assert not {"skeleton_position", "path_position"} & set(chosen(walk, None))
    assert chosen(walk, ["path_position"]) == ["path_position"]


def test_a_model_of_any_kind_has_points(tmp_path) -> None:
    small = read_osim(save_model(tmp_path))
    shared = share_model(small, small_motion(small), feasible_moments(small), "activation_power", dofs=DOFS)
    np.testing.assert_allclose(drawn_lengths(shared), shared["musculotendon_length"], atol=2e-3)
    assert np.ptp(bone_lengths(shared), axis=0).max() < 2e-6
    assert "external_force" not in shared


def test_a_scaled_model_walks_upright_on_its_ground_forces(recorded_walk) -> None:
    shared = shared_walk(recorded_walk)
    drawn, length = drawn_lengths(shared), shared["musculotendon_length"]
    assert shared.attrs["musculotendon_length_over_several_wraps"] == "OpenSim 4"  # which are no path's
    over_several = np.char.startswith(shared["muscle"].values.astype(str), "gas")
    np.testing.assert_allclose(drawn[:, ~over_several], length[:, ~over_several], atol=2e-3)
    np.testing.assert_allclose(drawn[:, over_several], length[:, over_several], atol=1e-2)
    assert np.ptp(bone_lengths(shared), axis=0).max() < 2e-6
    heights = shared["skeleton_position"].sel(axis="z").mean("time")
    order = ["mtp_r", "ankle_r", "walker_knee_r", "hip_r", "back", "middle of torso", "end of torso"]
    assert (np.diff(heights.sel(skeleton_point=order)) > 0.0).all()
    force, point = shared["external_force"], shared["external_point"]
    right = [str(name).endswith("calcn_r") for name in shared["external_load"].values]
    vertical = force.isel(external_load=right).sel(axis="z").values
    assert vertical.max() > 500.0
    foot = shared["skeleton_position"].sel(skeleton_point="mtp_r", axis=["x", "y"]).values
    place = point.isel(external_load=right).sel(axis=["x", "y"]).values[:, 0]
    standing = vertical[:, 0] > 300.0
    assert np.linalg.norm(place - foot, axis=1)[standing].max() < 0.25
    np.testing.assert_allclose(point.sel(axis="z").values[np.isfinite(point.sel(axis="z"))], 0.0, atol=0.02)
