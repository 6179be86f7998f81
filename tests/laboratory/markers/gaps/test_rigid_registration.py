from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from musclesolve.laboratory.markers.gaps.rigid_registration import register
from tests.support.refusals import refused


def shape(seed: int, count: int) -> np.ndarray:
    # A triangle that is surely one, and any further points.
    corners = np.array([[0.0, 0.0, 0.0], [0.12, 0.0, 0.0], [0.0, 0.15, 0.0]])
    rest = 0.1 * np.random.default_rng(seed).normal(size=(count - 3, 3))
    return np.vstack([corners, rest]) + np.array([1.0, -2.0, 0.5])


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(3, 7))
def test_a_rigid_motion_is_recovered_in_every_frame(seed: int, count: int) -> None:
    reference = shape(seed, count)
    rotation = Rotation.random(9, rng=np.random.default_rng(seed)).as_matrix()
    translation = np.random.default_rng(seed + 1).normal(size=(9, 3))
    moving = np.einsum("tij,nj->tni", rotation, reference) + translation[:, None]
    found = register(reference, moving)
    np.testing.assert_allclose(found.rotation, rotation, atol=1e-12)
    np.testing.assert_allclose(found.translation, translation, atol=1e-11)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.point(reference[0]), moving[:, 0], atol=1e-12)
    np.testing.assert_allclose(found.direction([0.0, 0.0, 1.0]), rotation[:, :, 2], atol=1e-12)


def test_noise_gives_a_proper_rotation_and_no_better_one_is_near() -> None:
    rng = np.random.default_rng(5)
    reference = shape(5, 4)
    moving = reference + rng.normal(scale=0.005, size=(20, 4, 3))
    found = register(reference, moving)
    identity = found.rotation @ found.rotation.transpose(0, 2, 1)
    np.testing.assert_allclose(identity, np.broadcast_to(np.eye(3), identity.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(found.rotation), 1.0, atol=1e-12)
    for axis in np.eye(3):
        for angle in (-1e-3, 1e-3):
            turned = Rotation.from_rotvec(angle * axis).as_matrix() @ found.rotation
            shift = moving.mean(axis=1) - turned @ reference.mean(axis=0)
            off = np.einsum("tij,nj->tni", turned, reference) + shift[:, None] - moving
            assert (np.sqrt((off**2).sum(axis=2).mean(axis=1)) > found.residual).all()


def test_a_mirror_image_is_not_taken_for_a_rotation() -> None:
    reference = shape(7, 5)
    found = register(reference, (reference * [-1.0, 1.0, 1.0])[None])
    assert np.linalg.det(found.rotation[0]) == pytest.approx(1.0)
    assert found.residual[0] > 0.01


def test_the_residual_is_the_root_mean_square_distance() -> None:
    # A square stretched along one diagonal by 2 e and shrunk along the other: every corner is off by e.
    square = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [-0.1, 0.0, 0.0], [0.0, -0.1, 0.0]])
    stretched = square * [1.02, 0.98, 1.0]
    assert register(square, stretched[None]).residual[0] == pytest.approx(0.002)


@pytest.mark.parametrize(
    "points",
    [
        np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]),
        np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.003, 0.0]]),
        np.zeros((3, 3)),
    ],
)
def test_points_on_a_line_are_refused(points: np.ndarray) -> None:
    with refused("bad_shape", "'arm'"):
        register(points, points[None], "'arm'")
