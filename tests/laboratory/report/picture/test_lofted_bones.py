"""Bones with a shape: closed surfaces with their normals outward, mirror images, as large as the subject, in place."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from package_tables import package_table

from musclesolve.laboratory.report.picture.bones import bones_of
from musclesolve.laboratory.report.picture.lofted_bones import Mesh, lofted_bones, placements, standard_bones
from musclesolve.laboratory.report.picture.picture_data import PictureData, picture_data
from musclesolve.laboratory.results.dataset.labels import Skeleton

TABLE = package_table("laboratory/report/picture/bones.toml")
STANDING = {"hip_r": (0.0, -0.0825, 0.9), "knee_r": (0.0, -0.0825, 0.469), "ankle_r": (0.0, -0.0825, 0.026)}
"""The leg of the man whose sizes bones.toml has [m]."""


def volume(mesh: Mesh) -> float:
    """By the divergence theorem: positive where faces are counterclockwise seen from outside."""
    vertices, faces = mesh
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0)


def pieces(side: str) -> list[tuple[str, Mesh]]:
    return [(frame, mesh) for frame in (*TABLE["frame"], "patella") for mesh in standard_bones(frame, side)]


@pytest.mark.parametrize("side", ["r", "l"])
def test_every_bone_is_one_closed_surface_with_its_faces_outward(side: str) -> None:
    """Each edge is that of two faces, once in each sense; V - E + F = 2."""
    for frame, (vertices, faces) in pieces(side):
        edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        ways = set(map(tuple, edges.tolist()))
        assert len(ways) == len(edges) and {(b, a) for a, b in ways} == ways, frame
        assert len(vertices) - len(edges) // 2 + len(faces) == 2, frame
        assert volume((vertices, faces)) > 0.0, frame


def test_a_left_bone_is_the_mirror_image_of_the_right_one() -> None:
    for (_, (right, faces)), (_, (left, turned)) in zip(pieces("r"), pieces("l"), strict=True):
        np.testing.assert_array_equal(left, right * [1.0, -1.0, 1.0])
        np.testing.assert_array_equal(turned, faces[:, ::-1])


def test_bones_of_the_median_plane_are_their_own_mirror_images() -> None:
    for frame in ("pelvis", "thorax", "head", "neck"):
        vertices = np.concatenate([vertices for vertices, _ in standard_bones(frame, "")])
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        assert low[1] == pytest.approx(-high[1], abs=1e-9)
        moment = sum(volume((v + np.array([0.0, 500.0, 0.0]), f)) for v, f in standard_bones(frame, ""))
        assert moment == pytest.approx(sum(volume(each) for each in standard_bones(frame, "")), rel=1e-9)


def leg(scale: float = 1.0, length: float = 1.0, width: float | None = None) -> dict[str, Mesh]:
    """Bones of a right leg whose lengths are so many times those of the table."""
    points = {name: np.array([place]) * scale * [1.0, 1.0, length] for name, place in STANDING.items()}
    axes = np.eye(3)[None]
    at = {"thigh_r": "hip_r", "shank_r": "knee_r", "foot_r": "ankle_r"}
    segments = {name: (points[point], axes) for name, point in at.items()}
    return lofted_bones(placements(points, segments, {} if width is None else {"r": width}))


def test_parts_of_a_frame_are_all_of_its_bones() -> None:
    """Bodies of models share the bones of a segment of recordings, each of them once."""
    for frame, parts in (
        ("foot", ("talus", "calcn", "toes")),
        ("patella", ("patella", "ligament")),
        ("forearm", ("ulna", "radius")),
    ):
        assert sum(len(standard_bones(frame, "r", part)) for part in parts) == len(standard_bones(frame, "r"))


def test_bones_scale_with_the_subject() -> None:
    standard, larger = leg(), leg(1.2)
    assert set(standard) == {"thigh_r", "shank_r", "foot_r"}
    for name, (vertices, faces) in larger.items():
        np.testing.assert_allclose(vertices, 1.2 * standard[name][0], atol=1e-12)
        np.testing.assert_array_equal(faces, standard[name][1])
    wide = leg(width=1.1 * 0.098)["thigh_r"][0]
    np.testing.assert_allclose(wide, standard["thigh_r"][0] * [1.1, 1.1, 1.0], atol=1e-12)
    assert np.ptp(leg(width=0.5)["thigh_r"][0][:, 1]) == pytest.approx(
        1.3 * np.ptp(standard["thigh_r"][0][:, 1])
    )


def test_bones_of_the_standing_leg_have_the_sizes_of_their_sources() -> None:
    """Noble et al. 1988 (head 46 +- 5 mm), Mensch and Amstutz 1975 (epicondyles 80, plateau 76 mm), about 10 % off."""
    head = next(v for v, _ in standard_bones("thigh", "r"))
    assert 42.0 < np.ptp(head[head[:, 1] > -9.0][:, 0]) < 52.0
    thigh = np.concatenate([v for v, _ in standard_bones("thigh", "r")])
    assert 74.0 < np.ptp(thigh[thigh[:, 2] < -400.0][:, 1]) < 90.0
    tibia = standard_bones("shank", "r")[0][0]
    assert 69.0 < np.ptp(tibia[tibia[:, 2] > -60.0][:, 1]) < 84.0
    foot = np.concatenate([v for v, _ in standard_bones("foot", "r")])
    assert 235.0 < np.ptp(foot[:, 0]) < 260.0, "0.152 of the stature, less the skin"


@pytest.fixture(scope="module")
def data(stride: xr.Dataset) -> PictureData:
    return picture_data(stride)


def test_a_recording_has_bones_for_every_segment_and_no_lines(data: PictureData, stride: xr.Dataset) -> None:
    own = set(stride["segment"].values.tolist())
    assert own == set(stride["bone_segment"].values.tolist())
    between = {f"{name}_{side}" for name in ("patella", "patellar_ligament") for side in "rl"}
    assert set(data.bones.segments) == own | between
    assert len(data.lines) == 0
    assert sum(len(surface.faces) for surface in data.bones.surfaces) < 30_000


def test_long_bones_reach_from_joint_to_joint_in_every_frame(data: PictureData) -> None:
    place = {name: data.position[:, k] for k, name in enumerate(data.points)}
    for side in "rl":
        for segment, upper, lower in (
            ("thigh", "hip", "knee"),
            ("shank", "knee", "ankle"),
            ("upper_arm", "shoulder", "elbow"),
            ("forearm", "elbow", "wrist"),
        ):
            number = data.bones.segments.index(f"{segment}_{side}")
            for frame in (0, len(data.time) // 2):
                a, b = place[f"{upper}_{side}"][frame], place[f"{lower}_{side}"][frame]
                along = (data.bones.placed(frame)[number] - a) @ (b - a) / ((b - a) @ (b - a))
                assert -0.12 < along.min() < 0.06 and 0.92 < along.max() < 1.12, segment


def test_feet_stand_on_the_floor(data: PictureData) -> None:
    """Half of the stance at least within a centimeter; a foot without a joint at its toes sinks at push-off."""
    for k, side in enumerate("rl"):
        number = data.bones.segments.index(f"foot_{side}")
        stance = np.flatnonzero(np.isfinite(data.ground.force[:, k]).all(axis=1))
        lowest = [data.bones.placed(frame)[number][:, 2].min() for frame in stance]
        assert abs(np.median(lowest) - data.floor) < 0.01 and min(lowest) - data.floor > -0.04


def test_a_subject_without_landmarks_or_with_unknown_poses_keeps_lines(stride: xr.Dataset) -> None:
    lost = stride.copy(deep=True)
    lost["segment_rotation"].loc[{"segment": "thigh_r"}] = np.nan
    data = picture_data(lost)
    assert "thigh_r" not in data.bones.segments and "thigh_l" in data.bones.segments
    assert "patella_r" not in data.bones.segments and "patella_l" in data.bones.segments
    assert [(data.points[a], data.points[b]) for a, b in data.lines] == [("hip_r", "knee_r")]
    none = Skeleton((), np.zeros((1, 0, 3)), (), ("thigh_r",), np.zeros((1, 1, 3)), np.eye(3)[None, None])
    assert bones_of(none, ("",), {}).segments == ()


def test_a_pose_that_is_not_known_hides_the_bones_of_its_frame(stride: xr.Dataset) -> None:
    lost = stride.copy(deep=True)
    lost["segment_position"].values[7] = np.nan
    lost["segment_rotation"].values[7] = np.nan
    data = picture_data(lost)
    assert data.bones.segments == picture_data(stride).bones.segments
    assert np.isnan(data.bones.place[7]).all() and np.isfinite(data.bones.place[8]).all()
