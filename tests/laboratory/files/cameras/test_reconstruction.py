"""Reconstruction: exact, as uncertain as it says, and silent (NaN) where the rays say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares

from musclesolve.laboratory import Camera, camera_at, camera_ring, reconstruct
from tests.support.refusals import refused


def cloud(seed: int, frames: int = 6, count: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).uniform((-1.0, -1.0, 0.0), (1.0, 1.0, 2.0), (frames, count, 3))


def images(cameras: list[Camera], points: np.ndarray) -> np.ndarray:
    return np.stack([camera.project(points) for camera in cameras])


@pytest.mark.thorough
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 6))
def test_points_are_recovered_from_exact_pixels(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    cameras = [
        camera_at(f"c{k}", center, [0.0, 0.0, 1.0], rng.uniform(500.0, 3000.0))
        for k, center in enumerate(
            rng.uniform(4.0, 8.0) * np.eye(3)[np.arange(count) % 2] + rng.uniform(0.2, 2.0, 3)
        )
    ]
    cameras[2:] = camera_ring(6)[2:count]
    points = cloud(seed)
    found = reconstruct(cameras, images(cameras, points))
    np.testing.assert_allclose(found.position, points, rtol=1e-9, atol=1e-10)
    assert (found.views == count).all() and not found.behind.any() and not found.nearly_parallel.any()
    assert found.rms.max() < 1e-8 and found.residual.shape == (count, 6, 4, 2)
    assert found.cameras == tuple(camera.name for camera in cameras)


def test_the_answer_minimizes_the_distance_in_the_images() -> None:
    rng = np.random.default_rng(1)
    cameras, points = camera_ring(3), cloud(1, 3, 2)
    seen = images(cameras, points) + 4.0 * rng.normal(size=(3, 3, 2, 2))
    found = reconstruct(cameras, seen)
    for t, k in np.ndindex(3, 2):

        def misfit(point: np.ndarray, t: int = t, k: int = k) -> np.ndarray:
            return np.concatenate([seen[c, t, k] - camera.project(point) for c, camera in enumerate(cameras)])

        best = least_squares(misfit, points[t, k], xtol=1e-15, ftol=1e-15, gtol=1e-15)
        np.testing.assert_allclose(found.position[t, k], best.x, atol=1e-7)


def test_the_scatter_is_the_one_predicted() -> None:
    rng = np.random.default_rng(2)
    cameras = [*camera_ring(2), camera_at("far", [-9.0, 1.0, 2.5], [0.0, 0.0, 1.0], 800.0)]
    points = np.broadcast_to([0.2, -0.3, 1.1], (4000, 1, 3))
    seen = images(cameras, points) + 0.6 * rng.normal(size=(3, 4000, 1, 2))
    seen[2, 2000:] = np.nan
    found = reconstruct(cameras, seen)
    # 12000 - 4000 x 3 / 2 equations over: the noise is known to 0.7 %.
    assert found.noise == pytest.approx(0.6, rel=0.03)
    for half in (slice(0, 2000), slice(2000, 4000)):
        scatter = np.cov((found.position - points)[half, 0].T)
        predicted = found.covariance[half, 0].mean(axis=0)
        np.testing.assert_allclose(scatter, predicted, atol=0.1 * np.abs(predicted).max())
        assert np.sqrt(np.trace(scatter)) == pytest.approx(found.expected_error[half].mean(), rel=0.05)
    given_noise = reconstruct(cameras, seen, noise=1.2)
    np.testing.assert_allclose(given_noise.expected_error, 1.2 / found.noise * found.expected_error)


def test_more_cameras_make_a_smaller_error() -> None:
    rng = np.random.default_rng(3)
    points, everything = cloud(3, 200, 3), camera_ring(6)
    noise = rng.normal(size=(6, 200, 3, 2))
    errors = []
    for count in (2, 3, 4, 6):
        found = reconstruct(everything[:count], (images(everything, points) + noise)[:count])
        errors.append(float(np.sqrt(np.mean(np.sum((found.position - points) ** 2, axis=-1)))))
        assert errors[-1] == pytest.approx(float(np.sqrt(np.mean(found.expected_error**2))), rel=0.1)
    assert errors == sorted(errors, reverse=True)


def test_gaps_in_the_views_make_gaps_only_below_two() -> None:
    cameras, points = camera_ring(4), cloud(4, 5, 3)
    seen = images(cameras, points)
    seen[0] = np.nan
    seen[1, 2, 1, 0] = np.nan
    seen[1:3, 3, 2] = np.nan
    seen[:, 4, 0] = np.nan
    found = reconstruct(cameras, seen)
    expected = np.full((5, 3), 3)
    expected[2, 1], expected[3, 2], expected[4, 0] = 2, 1, 0
    np.testing.assert_array_equal(found.views, expected)
    np.testing.assert_allclose(found.position[expected > 1], points[expected > 1], rtol=1e-9)
    assert np.isnan(found.position[expected < 2]).all()
    np.testing.assert_array_equal(np.isnan(found.expected_error), expected < 2)
    assert np.isnan(found.rms[0]) and np.isfinite(found.rms[1:]).all()
    assert np.isnan(found.reprojection[0]).all()
    nothing = reconstruct(cameras, np.full((4, 2, 3, 2), np.nan))
    assert np.isnan(nothing.position).all() and np.isnan(nothing.noise) and (nothing.views == 0).all()


def test_nearly_parallel_rays_have_no_point() -> None:
    target = np.array([0.0, 0.0, 1.0])
    points = np.broadcast_to(target, (1, 1, 3))
    for degrees, kept in ((1.0, False), (2.0, False), (3.0, True), (177.0, True), (178.5, False)):
        angle = np.deg2rad(degrees)
        pair = [
            camera_at("a", [6.0, 0.0, 1.0], target),
            camera_at("b", [6.0 * np.cos(angle), 6.0 * np.sin(angle), 1.0], target),
        ]
        found = reconstruct(pair, images(pair, points))
        half = np.sin(0.5 * min(angle, np.pi - angle))
        assert found.condition[0, 0] == pytest.approx(1.0 / half, rel=1e-6)
        assert np.isfinite(found.position).all() == kept and found.nearly_parallel[0, 0] != kept
    same = [pair[0], pair[0]]
    assert np.isnan(reconstruct(same, images(same, points)).position).all()


def test_rays_that_meet_behind_a_camera_have_no_point() -> None:
    cameras = camera_ring(2)
    # The lines of sight to the left of one camera and to the right of the other meet behind them.
    seen = np.array([[[[4000.0, 540.0]]], [[[-4000.0, 540.0]]]])
    for image in (seen, seen[::-1]):
        found = reconstruct(cameras, image)
        if found.behind.any():
            assert np.isnan(found.position).all()
            break
    else:
        raise AssertionError("neither pair of rays meets behind a camera")


@settings(max_examples=50)
@given(data=st.data())
def test_any_pixels_give_a_point_or_a_gap(data: st.DataObject) -> None:
    number = st.one_of(st.just(np.nan), st.floats(-1e5, 1e5))
    pixels = np.array(data.draw(st.lists(number, min_size=24, max_size=24))).reshape(3, 2, 2, 2)
    cameras = camera_ring(3)
    found = reconstruct(cameras, pixels)
    there = np.isfinite(found.position).all(axis=-1)
    np.testing.assert_array_equal(there, np.isfinite(found.position).any(axis=-1))
    np.testing.assert_array_equal(there, (found.views > 1) & ~found.behind & ~found.nearly_parallel)
    seen = np.isfinite(pixels).all(axis=-1)
    np.testing.assert_array_equal(np.isfinite(found.reprojection), seen & there)


@pytest.mark.parametrize(
    ("count", "image", "parts"),
    [
        (1, np.zeros((1, 2, 3, 2)), ("bad_camera", "1")),
        (2, np.zeros((3, 2, 3, 2)), ("bad_shape", "3", "2")),
        (2, np.zeros((2, 3, 2)), ("bad_shape", "2", "3")),
        (2, np.full((2, 2, 3, 2), np.inf), ("not_finite", "reconstruction")),
    ],
)
def test_images_that_do_not_fit_are_refused(count: int, image: np.ndarray, parts: tuple[str, ...]) -> None:
    with refused(*parts):
        reconstruct(camera_ring(count), image)
