"""Bones reach the ends of their muscles; each end belongs to the bone on which it stays."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from musclesolve.laboratory.report.picture.lofted_bones import (
    Mesh,
    attached,
    joined,
    nearest_points,
    reaching,
    standard_bones,
)
from musclesolve.laboratory.report.picture.picture_data import ends_of, picture_data

SHAFT = standard_bones("thigh", "r")[1]
FEMUR: Mesh = (1e-3 * SHAFT[0], SHAFT[1])


def box(half: float) -> Mesh:
    """A cube about the origin, its faces outward."""
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return half * corners, np.array([[q[0], *q[k : k + 2]] for q in quads for k in (1, 2)])


def test_the_nearest_point_of_a_box_is_that_of_its_formula() -> None:
    """Outside, every coordinate clipped; inside, the coordinate nearest to its face moved to it."""
    half, random = 0.05, np.random.default_rng(0)
    points = random.uniform(-0.12, 0.12, (200, 3))
    expected = np.clip(points, -half, half)
    for row in np.flatnonzero((np.abs(points) < half).all(axis=1)):
        axis = np.abs(points[row]).argmax()
        expected[row, axis] = np.copysign(half, points[row, axis])
    on, far = nearest_points(points, box(half))
    np.testing.assert_allclose(on, expected, atol=1e-12)
    np.testing.assert_allclose(far, np.linalg.norm(points - expected, axis=1), atol=1e-12)


def test_a_muscle_hangs_on_the_face_of_a_thin_bone_that_is_turned_to_it() -> None:
    """Three millimeters nearer to the back of a plate, the front is taken; in a thick bone it is not."""
    for half, front in ((0.005, True), (0.02, False)):
        vertices, faces = box(0.05)
        plate = vertices * [half / 0.05, 1.0, 1.0], faces
        at = np.array([[-half + 0.002, 0.0, 0.0]])
        on, _ = nearest_points(at, plate, np.array([[1.0, 0.0, 0.0]]))
        assert on[0, 0] == pytest.approx(half if front else -half)


def test_an_attachment_belongs_to_the_bone_on_which_it_stays() -> None:
    """Not to another one that is nearer to it; of one pose alone, the nearest bone is taken."""
    count = 8
    turned = Rotation.from_rotvec(np.linspace(0.0, 1.0, count)[:, None] * [0.0, 1.0, 0.0]).as_matrix()
    rotation = np.stack([np.tile(np.eye(3), (count, 1, 1)), turned], axis=1)
    place = np.zeros((count, 2, 3))
    place[:, 1] = [0.3, 0.0, 0.0]
    local = np.array([-0.15, 0.0, 0.0])  # of the second bone, farther from it than from the first
    end = place[:, 1] + turned @ local
    ends = np.repeat(end[:, None, None], 2, axis=2)
    ends[2] = np.nan
    bones = [box(0.12), box(0.05)]
    bone, point, far = attached(ends, place, rotation, bones)
    assert bone.tolist() == [1] and far[0] == pytest.approx(0.1)
    np.testing.assert_allclose(point[0], [local, local], atol=1e-12)
    assert attached(ends[:1], place[:1], rotation[:1], bones)[0].tolist() == [0]
    lost = attached(np.full_like(ends, np.nan), place, rotation, bones)
    assert lost[0].tolist() == [-1] and np.isnan(lost[2]).all()


def test_a_bone_is_moved_to_its_attachments_and_nowhere_else() -> None:
    """Two near ones, inside and outside of the shaft; beyond five centimeters the bone does not follow."""
    middle = FEMUR[0].mean(axis=0)
    ends = middle + np.array([[0.030, 0.0, 0.0], [0.005, 0.004, 0.015], [0.0, 0.4, 0.0]])
    points = ends[:, None] + [[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]]
    moved = reaching(FEMUR, points)
    assert nearest_points(ends[:2], (moved, FEMUR[1]))[1].max() < 0.001
    change = np.linalg.norm(moved - FEMUR[0], axis=1)
    away = np.linalg.norm(FEMUR[0] - middle, axis=1)
    assert change.max() > 0.005 and change[away > 0.12].max() < 1e-4
    np.testing.assert_array_equal(reaching(FEMUR, points[2:]), FEMUR[0])


def largest(result: xr.Dataset) -> np.ndarray:
    """The largest distance (2 n,) over ten frames of every end from the nearest surface [m]."""
    data = picture_data(result)
    ends, faces = ends_of(data.path, data.first)[:, :, 0], [each.faces for each in data.bones.surfaces]
    far = [
        nearest_points(ends[k], joined(list(zip(data.bones.placed(k), faces, strict=True))))[1]
        for k in range(0, len(ends), max(1, len(ends) // 10))
    ]
    return np.max(far, axis=0)


def test_every_muscle_of_a_stride_ends_on_a_bone(stride: xr.Dataset) -> None:
    far = largest(stride)
    assert np.median(far) < 0.001 and far.max() < 0.006
    one = stride.isel(time=slice(20, 21))
    assert np.median(largest(one)) < 0.001, "in a single pose each end goes to the nearest bone"
