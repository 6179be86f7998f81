"""The still and the command `picture`: what they draw, and one error where something is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from PIL import Image
from refusals import refused
from stored_results import write_result
from synthetic_result import result as without_points

from musclesolve.laboratory import save_picture
from musclesolve.laboratory.report.picture import moving_picture as library
from musclesolve.laboratory.report.picture.moving_picture import (
    library_of,
    picture_fragment,
    picture_page,
    three_js,
)
from musclesolve.laboratory.report.picture.picture_data import picture_data
from musclesolve.laboratory.report.picture.still import LANES, View, _named, curves


@pytest.fixture(scope="module")
def walk(troubled: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("walk") / "result.nc"
    write_result(troubled, path)
    return path


def test_a_line_is_a_strip_of_its_width_from_end_to_end(stride: xr.Dataset) -> None:
    view, point = View(picture_data(stride)), 1e-3
    corners, *_ = view.lines(3, point)
    segments, widths, _ = view._muscles(3)
    assert np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).max() < 0.0201, "no piece is cut again"
    first, second = view.flat(segments[0], 3)
    strip = corners[: 2 * len(LANES)]
    along = (second - first)[:2] / np.linalg.norm((second - first)[:2])
    offset = (strip - first[:2]) @ np.array([-along[1], along[0]])
    np.testing.assert_allclose(np.ptp(offset), widths[0])
    reach = (strip - first[:2]) @ along
    assert reach.min() <= 0.0 and reach.max() >= np.linalg.norm((second - first)[:2])


def test_the_projection_is_a_side_view_that_keeps_lengths_and_the_walking_direction(
    stride: xr.Dataset,
) -> None:
    view = View(picture_data(stride))
    np.testing.assert_allclose(view.axes @ view.axes.T, np.eye(3), atol=1e-12)
    right, up, away = view.axes
    forward = stride["pelvis_position"].values[-1] - stride["pelvis_position"].values[0]
    assert right @ forward > 0.0, "the subject walks to the right"
    assert up[2] > 0.9 and away[1] > 0.8, "seen from the right, a little from above"
    points = view.data.position[3]
    flat = view.flat(points, 3)
    np.testing.assert_allclose(
        np.linalg.norm(flat[1:] - flat[:-1], axis=1), np.linalg.norm(points[1:] - points[:-1], axis=1)
    )


def test_a_lost_leg_has_gray_muscles(troubled: xr.Dataset) -> None:
    view = View(picture_data(troubled))
    good, lost = (view._muscles(frame)[2] for frame in (20, 35))
    gray = np.array([0x9A, 0xA1, 0xAA]) / 255.0

    def count(colors) -> int:
        return int((np.abs(colors - gray) < 1e-6).all(axis=1).sum())

    only_right = View(
        picture_data(troubled.sel(muscle=[name.endswith("_r") for name in troubled["muscle"].values]))
    )
    assert count(good) == 0 and count(lost) == len(only_right._muscles(35)[0]) > 100


def test_the_command_writes_beside_the_result_unless_a_file_is_named(walk: Path, tmp_path: Path) -> None:
    assert typed("picture", walk).exit_code == 0
    assert (walk.parent / "picture.html").is_file()
    assert typed("picture", walk, "-o", tmp_path / "new" / "walk.html").exit_code == 0
    assert (tmp_path / "new" / "walk.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_file_of_another_kind_is_refused(walk: Path, tmp_path: Path) -> None:
    for name in ("walk.gif", "walk.mp4", "walk"):
        with refused("unknown_name", name):
            save_picture(walk, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_result_ends_in_one_message(troubled: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "uncertainty.nc"
    write_result(troubled.assign_attrs(quantile_samples=100), path)
    done = typed("picture", path, "-o", tmp_path / "x.html")
    assert done.exit_code == 2 and not (tmp_path / "x.html").exists()
    with refused("missing_file", "nowhere.nc"):
        save_picture(tmp_path / "nowhere.nc", tmp_path / "x.html")


def test_an_older_result_makes_a_page_with_a_sentence_and_no_still(tmp_path: Path) -> None:
    path = tmp_path / "old.nc"
    write_result(without_points(), path)
    done = typed("picture", path, "-o", tmp_path / "old.html")
    assert done.exit_code == 0 and "note" in done.output
    with refused("conflict"):
        save_picture(path, tmp_path / "old.png")


def test_three_js_is_found_in_the_package_that_carries_it() -> None:
    source = three_js()
    assert "SPDX-License-Identifier: MIT" in source[:300] and ".WebGLRenderer=" in source
    assert "TrackballControls" not in source and "</script" not in source


@pytest.mark.parametrize("page", ["", "<script>/** @license three.js */ module</script>"])
def test_another_layout_of_that_package_is_one_clear_error(page: str) -> None:
    with refused("missing_package", "trimesh"):
        library_of(page)


def test_a_missing_package_is_one_clear_error_and_a_sentence_in_another_page(
    stride: xr.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_js.cache_clear()
    monkeypatch.setattr(library, "PLACE", ("resources", "nowhere.zip"))
    with refused("missing_package", "trimesh"):
        picture_page(stride)
    fragment = picture_fragment(stride)
    assert "trimesh" in fragment and "<script" not in fragment
    three_js.cache_clear()


@pytest.mark.thorough
def test_a_still_has_one_muscle_of_each_of_four_groups_and_the_verdict(
    stride: xr.Dataset, tmp_path: Path
) -> None:
    save_picture(stride, tmp_path / "walk.png")
    with Image.open(tmp_path / "walk.png") as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert image.width > 1000
    usable = np.abs(pixels[: image.height // 8] - [0x00, 0x69, 0x4C]).sum(axis=2) < 30
    assert usable.any(), "the verdict stands in green at the top"
    shown = list(curves(stride))
    assert len({name for name, *_ in shown}) == 4 and all(envelope is None for _, _, envelope, _ in shown)
    strongest = str(
        stride["muscle_force"].max("time").sel(muscle=stride["muscle"].str.endswith("_r")).idxmax().values
    )
    assert shown[0][0] == "right " + strongest.removesuffix("_r").replace("_", " ")


def test_the_curves_of_a_still_are_those_with_emg_where_it_was_measured(stride: xr.Dataset) -> None:
    """The mean of the muscles of a channel, one channel for each group."""
    of = ["vastus_lateralis_r", "vastus_medialis_r", "semitendinosus_r, semimembranosus_r"]
    envelope = np.tile(np.linspace(0.0, 1.0, stride.sizes["time"])[:, None], 3)
    recorded = stride.assign(
        emg_delayed=(("time", "channel"), envelope),
        emg_correlation=("channel", np.array([0.9, 0.8, 0.7])),
        channel_muscles=("channel", np.array(of)),
    )
    shown = list(curves(recorded))
    assert [(name, r) for name, _, _, r in shown] == [
        ("right vastus lateralis", 0.9),
        ("right semitendinosus and semimembranosus", 0.7),
    ]
    mean = stride["activation"].sel(muscle=["semitendinosus_r", "semimembranosus_r"]).mean("muscle")
    np.testing.assert_array_equal(shown[1][1], mean)


def test_a_still_without_points_to_draw_is_refused(stride: xr.Dataset, tmp_path: Path) -> None:
    bare = stride.drop_vars(["skeleton_position", "path_position", "segment_rotation"])
    with refused("conflict"):
        save_picture(bare, tmp_path / "walk.png")


def test_a_channel_of_many_muscles_has_a_title_that_leaves_room_for_r():
    muscles = ["semitendinosus_l", "semimembranosus_l", "biceps_femoris_long_head_l"]
    assert _named(muscles) == "left semitendinosus and 2 more"
    assert _named(muscles[:2]) == "left semitendinosus and semimembranosus"
