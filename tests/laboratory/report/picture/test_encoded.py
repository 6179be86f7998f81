"""The data in a page: the numbers of the result to their rounding, gray where there is no solution, small."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from scipy.spatial.transform import Rotation
from synthetic_result import result as without_points

from musclesolve.laboratory.report.picture.encoded import (
    FULL,
    NO_PLACE,
    NO_VALUE,
    as_dict,
    json_text,
    quaternions,
)
from musclesolve.laboratory.report.picture.moving_picture import NOTHING, picture_fragment, picture_page
from musclesolve.laboratory.report.picture.picture_data import BYTES, MOST_BYTES, picture_data

HALF_STEP = 0.5e-4 + 1e-6


def in_page(result: xr.Dataset) -> dict:
    """Return the data in a page, read from its text."""
    found = re.search(r'data-msp="data">(.*?)</script>', picture_page(result), re.DOTALL)
    return json.loads(found[1])


def numbers(text: str, kind: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind).reshape(shape)


def places(page: dict, name: str, count: int) -> np.ndarray:
    """(T, count, 3) [m]."""
    steps = numbers(page[name], "<i2", page["frames"], count, 3).astype(float)
    steps[steps == NO_PLACE] = np.nan
    return (steps + numbers(page["offset"], "<i4", page["frames"], 1, 3)) * page["step"]


def test_positions_are_those_of_the_result_to_a_tenth_of_a_millimeter(stride: xr.Dataset) -> None:
    page = in_page(stride)
    np.testing.assert_array_equal(numbers(page["time"], "<f8", -1), stride["time"])
    skeleton = places(page, "skeleton", len(page["points"]))
    assert page["points"] == [str(name) for name in stride["skeleton_point"].values]
    np.testing.assert_allclose(skeleton, stride["skeleton_position"], atol=HALF_STEP)
    path = places(page, "path", page["pathPoints"])
    ends = [*(muscle["first"] for muscle in page["muscles"][1:]), page["pathPoints"]]
    for muscle, end in zip(page["muscles"], ends, strict=True):
        own = stride["path_position"].values[:, stride["path_muscle"].values == muscle["name"]]
        np.testing.assert_allclose(path[:, muscle["first"] : end], own, atol=HALF_STEP)


def test_bones_keep_their_length_in_the_page(stride: xr.Dataset) -> None:
    page = in_page(stride.drop_dims("segment"))
    skeleton = places(page, "skeleton", len(page["points"]))
    bones = np.array(page["lines"])
    length = np.linalg.norm(skeleton[:, bones[:, 1]] - skeleton[:, bones[:, 0]], axis=2)
    assert np.ptp(length, axis=0).max() < 2e-4 * np.sqrt(3.0)


def test_values_are_those_of_the_result_to_their_rounding(troubled: xr.Dataset) -> None:
    page = in_page(troubled)
    names = [muscle["name"] for muscle in page["muscles"]]
    expected = {
        "activation": troubled["activation"],
        "force": troubled["muscle_force"],
        "relative_force": troubled["muscle_force"] / troubled["max_isometric_force"],
        "fiber_length": troubled["fiber_length"] / troubled["optimal_fiber_length"],
    }
    assert {each["key"] for each in page["quantities"]} == set(expected)
    for each in page["quantities"]:
        share = numbers(each["data"], "<u2", page["frames"], len(names)).astype(float)
        own = expected[each["key"]].sel(muscle=names).transpose("time", "muscle").values
        lost = share == NO_VALUE
        value = each["low"] + share / FULL * (each["high"] - each["low"])
        clipped = np.clip(own, each["low"], each["high"])
        np.testing.assert_allclose(value[~lost], clipped[~lost], atol=(each["high"] - each["low"]) / FULL)
        assert each["above"] == bool(np.nanmax(np.where(lost, np.nan, own)) > each["high"] * (1 + 1e-9))


def test_a_leg_without_a_solution_has_no_value_of_any_kind(troubled: xr.Dataset) -> None:
    """Fiber lengths are known there, and would make the frame look like a good one."""
    page = in_page(troubled)
    right = np.array([muscle["side"] == "r" for muscle in page["muscles"]])
    expected = np.zeros((page["frames"], len(right)), dtype=bool)
    expected[30:40, right] = True
    for each in page["quantities"]:
        lost = numbers(each["data"], "<u2", page["frames"], len(right)) == NO_VALUE
        np.testing.assert_array_equal(lost, expected)
    leg = next(leg for leg in page["legs"] if leg["side"] == "r")
    kinds = [page["verdicts"][k]["kind"] for k in numbers(leg["verdict"], "<u1", -1)]
    assert [k for k, kind in enumerate(kinds) if kind == "none"] == list(range(30, 40))
    assert [k for k, kind in enumerate(kinds) if kind == "reserve"] == list(range(50, 55))


def test_the_ground_force_begins_at_the_center_of_pressure_where_the_foot_stands(stride: xr.Dataset) -> None:
    ground = in_page(stride)["ground"]
    shape = (stride.sizes["time"], 2, 3)
    force, place = (numbers(ground[name], "<f4", *shape) for name in ("force", "place"))
    shown = np.isfinite(force).all(axis=2)
    vertical = stride["ground_reaction_force"].sel(axis="z").values
    np.testing.assert_array_equal(shown, vertical > 20.0)
    np.testing.assert_allclose(place[shown], stride["center_of_pressure"].values[shown], atol=1e-6)
    np.testing.assert_allclose(force[shown], stride["ground_reaction_force"].values[shown], rtol=1e-6)
    points = stride["skeleton_position"]
    for k, side in enumerate(ground["sides"]):
        heel, toe = (points.sel(skeleton_point=f"{name}_{side}").values[:, :2] for name in ("heel", "toe"))
        standing = vertical[:, k] > 200.0
        middle = 0.5 * (heel + toe)
        away = np.linalg.norm(place[:, k, :2] - middle, axis=1)[standing]
        assert away.max() < 0.2, "under the foot that stands"


def test_contact_forces_act_at_their_joints(stride: xr.Dataset) -> None:
    page = in_page(stride)
    contact = page["contact"]
    assert [page["points"][at] for at in contact["at"]] == contact["names"]
    force = numbers(contact["force"], "<f4", page["frames"], len(contact["names"]), 3)
    np.testing.assert_allclose(
        force, stride["joint_reaction"].sel(joint=contact["names"]), rtol=1e-5, atol=1e-2
    )


@pytest.mark.thorough
def test_a_mirrored_walk_gives_a_mirrored_picture(stride: xr.Dataset) -> None:
    """Left becomes right: y changes its sign and names their side; nothing else in the picture changes."""
    mirrored = stride.copy(deep=True)
    for name in (
        "skeleton_position",
        "path_position",
        "ground_reaction_force",
        "center_of_pressure",
        "joint_reaction",
    ):
        mirrored[name].loc[{"axis": "y"}] = -mirrored[name].sel(axis="y")
    other = {"r": "l", "l": "r"}

    def turned(name: object) -> str:
        text = str(name)
        return text[:-1] + other[text[-1]] if text[-2:] in ("_r", "_l") else other.get(text, text)

    for name in ("muscle", "joint", "side", "skeleton_point", "bone_start", "bone_end", "path_muscle"):
        mirrored[name] = (mirrored[name].dims, [turned(each) for each in mirrored[name].values])
    one, two = picture_data(stride), picture_data(mirrored)
    order = [two.points.index(turned(name)) for name in one.points]
    np.testing.assert_allclose(two.position[:, order], one.position * [1.0, -1.0, 1.0])
    for m, name in enumerate(one.muscles):
        k = two.muscles.index(turned(name))
        own, its = (each.path[:, each.first[i] : each.first[i + 1]] for each, i in ((one, m), (two, k)))
        np.testing.assert_allclose(its, own * [1.0, -1.0, 1.0])
        for each, again in zip(one.quantities, two.quantities, strict=True):
            np.testing.assert_array_equal(again.values[:, k], each.values[:, m])
    for side in "rl":
        k, m = (each.ground.sides.index(s) for each, s in ((one, side), (two, other[side])))
        np.testing.assert_allclose(two.ground.force[:, m], one.ground.force[:, k] * [1.0, -1.0, 1.0])


def test_the_place_in_the_gait_cycle_runs_from_strike_to_strike(stride: xr.Dataset) -> None:
    for leg in picture_data(stride).legs:
        known = np.isfinite(leg.percent)
        assert known.any() and leg.percent[known].min() >= 0.0 and leg.percent[known].max() <= 100.0
        strikes = np.atleast_1d(stride.attrs[f"heel_strike_times_{leg.side}"])
        last = np.searchsorted(strikes, stride["time"].values[known] + 1e-9, side="right") - 1
        start, end = strikes[last], strikes[np.minimum(last + 1, len(strikes) - 1)]
        inside = end > start
        expected = 100.0 * (stride["time"].values[known] - start)[inside] / (end - start)[inside]
        np.testing.assert_allclose(leg.percent[known][inside] % 100.0, expected % 100.0, atol=1e-6)


def test_five_seconds_fit_into_ten_megabytes(stride: xr.Dataset) -> None:
    repeats = int(np.ceil(5.0 / float(np.ptp(stride["time"].values))))
    long = xr.concat([stride] * repeats, "time", data_vars="minimal")
    long = long.assign_coords(time=np.linspace(0.0, 5.0, long.sizes["time"]))
    long.attrs = {key: each for key, each in stride.attrs.items() if "strike" not in key}
    assert len(picture_page(long).encode()) < 10e6


@pytest.mark.thorough
def test_a_very_long_result_is_shown_with_fewer_frames_and_says_so(stride: xr.Dataset) -> None:
    frame = sum(size * stride.sizes.get(dim, 0) for dim, size in BYTES.items())
    copies = int(1.98 * MOST_BYTES / (frame * stride.sizes["time"]))
    long = xr.concat([stride] * copies, "time", data_vars="minimal")
    long = long.assign_coords(time=np.arange(long.sizes["time"]) * 0.01)
    long.attrs = {}
    data = picture_data(long)
    assert data.every == 2 and len(data.time) == -(-long.sizes["time"] // 2)
    assert any("every 2" in sentence for sentence in data.missing)
    assert 8e6 < len(picture_page(long).encode()) < 10e6


def test_a_place_that_is_no_number_is_left_out(stride: xr.Dataset) -> None:
    result = stride.copy(deep=True)
    result["path_position"].values[5, 7] = np.nan
    result["skeleton_position"].values[6] = np.nan
    page = in_page(result)
    path, skeleton = places(page, "path", page["pathPoints"]), places(page, "skeleton", len(page["points"]))
    assert np.isnan(path).any(axis=2).sum() == 1 and np.isnan(skeleton[6]).all()
    assert np.isfinite(np.delete(skeleton, 6, axis=0)).all()


def test_parts_that_an_older_result_lacks_are_named_and_the_rest_is_drawn(stride: xr.Dataset) -> None:
    for dropped, word in (
        (["skeleton_point", "bone"], "skeleton"),
        (["segment"], "Bones are lines"),
        (["path_point"], "muscles"),
        (["joint"], "contact"),
    ):
        page = in_page(stride.drop_dims(dropped))
        assert len(page["missing"]) == 1 and word in page["missing"][0]


def test_a_result_without_points_gives_a_sentence_and_no_script() -> None:
    for text in (picture_page(without_points()), picture_fragment(without_points())):
        assert NOTHING[:30] in text and "<script" not in text


def test_one_frame_and_one_leg_and_no_solution_are_pictures_too(
    stride: xr.Dataset, hopeless: xr.Dataset
) -> None:
    assert in_page(stride.isel(time=[10]))["frames"] == 1
    right = stride.sel(muscle=[name for name in stride["muscle"].values if str(name).endswith("_r")])
    page = in_page(right.sel(side=["r"]))
    assert [leg["side"] for leg in page["legs"]] == ["r"] and len(page["muscles"]) == right.sizes["muscle"]
    page = in_page(hopeless)
    assert "activation" not in {each["key"] for each in page["quantities"]}
    verdicts = {
        page["verdicts"][k]["kind"] for leg in page["legs"] for k in numbers(leg["verdict"], "<u1", -1)
    }
    assert verdicts == {"none"}


@pytest.mark.parametrize("kind", ["uncertainty", "average", "comparison", "other"])
def test_what_is_no_result_of_a_run_is_refused(stride: xr.Dataset, kind: str) -> None:
    wrong = {
        "uncertainty": stride.assign_attrs(quantile_samples=100),
        "average": stride.rename(time="percent"),
        "comparison": stride.drop_vars("cost").expand_dims(cost=["one", "two"]),
        "other": xr.Dataset({"x": ("time", [1.0])}, {"time": [0.0]}),
    }[kind]
    with refused("bad_result"):
        picture_page(wrong)


@pytest.mark.thorough
def test_texts_of_a_result_cannot_break_the_page(stride: xr.Dataset) -> None:
    evil = stride.assign_attrs(subject="</script><script>alert(1)</script>", cost='"><img src=x>')
    page = picture_page(evil)
    assert "<script>alert" not in page and "<img src=x" not in page
    assert "alert(1)" in json_text(as_dict(picture_data(evil), evil))
    assert as_dict(picture_data(evil), evil)["title"] == evil.attrs["subject"]


def test_quaternions_turn_as_their_rotations() -> None:
    """Half turns about every axis, where the real part is zero, as well as any rotation."""
    vectors = np.concatenate(
        [np.random.default_rng(1).normal(size=(60, 3)), np.pi * np.eye(3), 1e-9 * np.eye(3), np.zeros((1, 3))]
    )
    rotation = Rotation.from_rotvec(vectors).as_matrix()
    found = quaternions(rotation[:, None])
    assert found.shape == (len(vectors), 1, 4)
    np.testing.assert_allclose(Rotation.from_quat(found[:, 0]).as_matrix(), rotation, atol=1e-14)
    rotation[0, 1, 2] = np.nan
    np.testing.assert_array_equal(quaternions(rotation)[0], [0.0, 0.0, 0.0, 1.0])
    assert quaternions(np.empty((5, 0, 3, 3))).shape == (5, 0, 4)
