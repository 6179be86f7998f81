"""A pixel of something else: named where the other cameras show it, reported where they do not, never silent."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.laboratory import Reconstruction, camera_ring, reconstruct

NOISE = 0.5


def points(seed: int, frames: int = 60, count: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).uniform((-1.0, -1.0, 0.0), (1.0, 1.0, 2.0), (frames, count, 3))


def seen(seed: int, cameras: int, size: float, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, their noisy images (C, T, n, 2), and which of them are off by so many pixels."""
    rng, truth = np.random.default_rng(seed), points(seed)
    image = np.stack([camera.project(truth) for camera in camera_ring(cameras)])
    image += NOISE * rng.normal(size=image.shape)
    off = np.zeros(image.shape[:3], bool)
    frames, marker = np.nonzero(rng.random(truth.shape[:2]) < share)
    off[rng.integers(cameras, size=frames.size), frames, marker] = True
    angle = rng.uniform(0.0, 2.0 * np.pi, off.sum())
    image[off] += size * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return truth, image, off


def misses(found: Reconstruction, truth: np.ndarray) -> np.ndarray:
    missed: np.ndarray = np.linalg.norm(found.position - truth, axis=-1)
    return missed


@pytest.mark.every_pair
@pytest.mark.parametrize("size", [20.0, 200.0])
@pytest.mark.parametrize("cameras", [4, 6])
def test_a_wrong_pixel_is_named_and_moves_nothing(cameras: int, size: float) -> None:
    truth, image, off = seen(1, cameras, size, 0.1)
    found = reconstruct(camera_ring(cameras), image)
    assert off.sum() > 20
    np.testing.assert_array_equal(found.bad_view, off)
    assert not found.doubtful.any() and (found.views == cameras).all()
    assert found.noise == pytest.approx(NOISE, rel=0.1)
    # As good as a point that those cameras never saw.
    without = reconstruct(camera_ring(cameras), np.where(off[..., None], np.nan, image), found.noise)
    np.testing.assert_allclose(found.position, without.position, atol=1e-8)
    np.testing.assert_allclose(found.covariance, without.covariance, rtol=1e-5)
    assert misses(found, truth).max() < 6.0 * found.expected_error.max()
    assert found.reprojection[off].min() > 0.5 * size
    assert found.rms.max() < 1.5 * NOISE


def test_three_cameras_name_what_they_can_and_doubt_the_rest() -> None:
    _, image, off = seen(2, 3, 20.0, 0.1)
    found = reconstruct(camera_ring(3), image)
    wrong = off.any(axis=0)
    named = found.bad_view.any(axis=0)
    np.testing.assert_array_equal(named | found.doubtful, wrong)
    np.testing.assert_array_equal(found.bad_view, off & named)
    assert named.sum() > 0.6 * wrong.sum() and not (named & found.doubtful).any()


def test_two_cameras_doubt_without_naming() -> None:
    truth, image, off = seen(3, 2, 20.0, 0.2)
    found = reconstruct(camera_ring(2), image)
    wrong = off.any(axis=0)
    assert not found.bad_view.any() and not found.doubtful[~wrong].any()
    assert found.doubtful.sum() > 0.7 * wrong.sum()
    # Some errors along the other ray cannot be seen; those that are seen make the expected error larger.
    assert found.expected_error[found.doubtful].min() > 2.0 * np.median(found.expected_error)
    assert misses(found, truth)[found.doubtful].max() > 0.02


def test_good_views_stay() -> None:
    for seed in range(20):
        _, image, _ = seen(seed, 4, 0.0, 0.0)
        found = reconstruct(camera_ring(4), image)
        assert not found.bad_view.any() and not found.doubtful.any()


def test_two_wrong_views_are_not_blamed_on_one() -> None:
    _, image, _ = seen(4, 4, 0.0, 0.0)
    image[0, 3, 2] += [60.0, 10.0]
    image[2, 3, 2] += [-20.0, 50.0]
    found = reconstruct(camera_ring(4), image)
    assert not found.bad_view.any() and np.argwhere(found.doubtful).tolist() == [[3, 2]]


def test_a_wrong_pixel_that_puts_the_point_behind_a_camera_is_named() -> None:
    truth, image, _ = seen(5, 4, 0.0, 0.0)
    image[1, 0, 0] += [60000.0, 0.0]
    found = reconstruct(camera_ring(4), image)
    assert np.argwhere(found.bad_view).tolist() == [[1, 0, 0]] and not found.behind.any()
    assert misses(found, truth)[0, 0] < 0.02


def test_a_lone_point_is_judged_by_a_given_noise() -> None:
    truth, image, _ = seen(6, 4, 0.0, 0.0)
    image, truth = image[:, :1, :1], truth[:1, :1]
    image[1] += [200.0, 0.0]
    found = reconstruct(camera_ring(4), image, noise=NOISE)
    assert found.bad_view.ravel().tolist() == [False, True, False, False]
    assert misses(found, truth).max() < 0.02
    # Without one its own residuals are all that is known, and the error to expect is as large as they are.
    alone = reconstruct(camera_ring(4), image)
    assert not alone.bad_view.any()
    assert alone.expected_error[0, 0] > 0.5 * misses(alone, truth)[0, 0] > 0.1


def test_round_off_is_no_noise() -> None:
    truth = points(7)
    image = np.stack([camera.project(truth) for camera in camera_ring(4)])
    found = reconstruct(camera_ring(4), np.round(image, 6))
    assert not found.bad_view.any() and not found.doubtful.any()
    image[2, 5, 1, 0] += 0.01
    assert np.argwhere(reconstruct(camera_ring(4), image).bad_view).tolist() == [[2, 5, 1]]
    for seed in range(20):
        truth = points(seed)
        truth[:, :3] = [0.0, 0.0, 1.0]
        found = reconstruct(camera_ring(4), np.stack([camera.project(truth) for camera in camera_ring(4)]))
        assert not found.bad_view.any() and not found.doubtful.any()
