"""One camera: eq. 5.1, where it stands, what it does not see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from musclesolve.laboratory import Camera, camera_at, camera_ring
from tests.support.refusals import refused

COEFFICIENTS = np.array([100.0, 2.0, -3.0, 640.0, 4.0, -110.0, 5.0, 360.0, 0.01, 0.2, 0.03])


def test_a_projection_is_the_printed_equation() -> None:
    a, (x, y, z) = COEFFICIENTS, (0.4, 1.2, -0.7)
    below = a[8] * x + a[9] * y + a[10] * z + 1.0
    u = (a[0] * x + a[1] * y + a[2] * z + a[3]) / below
    v = (a[4] * x + a[5] * y + a[6] * z + a[7]) / below
    camera = Camera("one", a)
    np.testing.assert_allclose(camera.project([x, y, z]), [u, v], rtol=1e-14)
    assert camera.project(np.zeros((4, 5, 3))).shape == (4, 5, 2)
    np.testing.assert_allclose(camera.matrix.ravel()[:11], a)


@given(seed=st.integers(0, 2**32 - 1))
def test_a_placed_camera_stands_and_looks_as_it_was_placed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    center = rng.uniform((5.0, -3.0, 0.0), (11.0, 3.0, 6.0))
    target = rng.uniform(-1.0, 1.0, 3)
    camera = camera_at("c", center, target, 1000.0, (800.0, 600.0))
    np.testing.assert_allclose(camera.center, center, rtol=1e-9)
    ahead = (target - center) / np.linalg.norm(target - center)
    np.testing.assert_allclose(camera.direction, ahead, atol=1e-10)
    np.testing.assert_allclose(camera.project(target), [400.0, 300.0], atol=1e-8)
    # A meter up at the target is that share of the distance, upward in the image.
    up = np.cross(np.cross(ahead, [0.0, 0.0, 1.0]), ahead)
    step = 0.01 * up / np.linalg.norm(up)
    moved = camera.project(target + step) - camera.project(target)
    expected = -1000.0 * 0.01 / np.linalg.norm(target - center)
    np.testing.assert_allclose(moved, [0.0, expected], atol=1e-7)
    assert np.isnan(camera.project(center - ahead)).all()
    assert camera.depth(target) > 0.0 > camera.depth(center - ahead)


@pytest.mark.parametrize("count", range(1, 9))
def test_the_cameras_of_a_ring_see_its_target_from_different_sides(count: int) -> None:
    cameras = camera_ring(count, target=(1.0, 2.0, 0.9))
    assert len({camera.name for camera in cameras}) == count
    for camera in cameras:
        np.testing.assert_allclose(camera.project([1.0, 2.0, 0.9]), [960.0, 540.0], atol=1e-8)
    directions = np.stack([camera.direction for camera in cameras])
    if count > 1:
        square = np.abs(directions @ directions.T)
        assert square.min() < 0.5


@pytest.mark.parametrize(
    ("coefficients", "code"),
    [(np.ones(10), "bad_shape"), (np.full(11, np.nan), "not_finite"), (np.zeros(11), "bad_camera")],
)
def test_coefficients_of_no_camera_are_refused(coefficients: np.ndarray, code: str) -> None:
    with refused(code, "'broken'"):
        Camera("broken", coefficients)


def test_a_parallel_projection_stands_nowhere_but_projects() -> None:
    camera = Camera("far", [100.0, 0.0, 0.0, 5.0, 0.0, 100.0, 0.0, 6.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(camera.project([1.0, 2.0, 3.0]), [105.0, 206.0])
    with refused("bad_camera", "'far'"):
        _ = camera.center


def test_a_camera_that_the_coefficients_cannot_express_or_place_is_refused() -> None:
    with refused("bad_camera", "'side'"):
        camera_at("side", [5.0, 0.0, 0.0], [5.0, 1.0, 0.0])
    with refused("bad_camera", "camera 'top'"):
        camera_at("top", [0.0, 0.0, 5.0], [0.0, 0.0, 0.0])
    with refused("bad_camera", "camera 'inside'"):
        camera_at("inside", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])


def test_a_camera_before_which_the_origin_does_not_lie_sees_its_target() -> None:
    camera = camera_at("ahead", [5.0, 0.0, 1.0], [10.0, 1.0, 1.0])
    assert camera.front == -1.0
    np.testing.assert_allclose(camera.project([10.0, 1.0, 1.0]), [960.0, 540.0], atol=1e-8)
    assert np.isnan(camera.project(np.zeros(3))).all()
