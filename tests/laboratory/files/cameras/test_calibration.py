"""Calibration: exact where there is no noise, unbiased by it where there is, refused where points say too little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares

from musclesolve.errors import InputError
from musclesolve.laboratory import Camera, calibrate_cameras, camera_at, camera_ring
from musclesolve.laboratory.files.cameras.calibration import distance_and_error

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (0.0, 2.0)])


def some_camera(seed: int) -> Camera:
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(3.0, 9.0)
    center = [radius * np.cos(angle), radius * np.sin(angle), rng.uniform(0.5, 3.0)]
    return camera_at(
        "some", center, rng.uniform((-0.3, -0.3, 0.7), (0.3, 0.3, 1.3)), rng.uniform(500.0, 3000.0)
    )


def some_points(seed: int, count: int) -> np.ndarray:
    more = np.random.default_rng(seed).uniform((-1.0, -1.0, 0.0), (1.0, 1.0, 2.0), (count, 3))
    return np.vstack([CUBE[[0, 1, 2, 4, 5, 7]], more])


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 30))
def test_a_camera_is_recovered_from_exact_pixels(seed: int, count: int) -> None:
    camera, points = some_camera(seed), some_points(seed, count)
    found = calibrate_cameras(points, camera.project(points), "some")
    np.testing.assert_allclose(found.camera.coefficients, camera.coefficients, rtol=1e-9, atol=1e-10)
    assert found.camera.front == camera.front
    assert found.rms < 1e-9 and found.outlying == ()
    np.testing.assert_allclose(found.camera.center, camera.center, rtol=1e-8)


@given(seed=st.integers(0, 2**32 - 1))
def test_units_and_origins_of_world_and_image_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    camera, points = some_camera(seed), some_points(seed, 6)
    image = camera.project(points) + rng.normal(size=(12, 2))
    plain = calibrate_cameras(points, image)
    shift, offset = rng.uniform(-20.0, 20.0, 3), rng.uniform(-3000.0, 3000.0, 2)
    moved = calibrate_cameras(1000.0 * (points + shift), 0.01 * image + offset)
    inside = rng.uniform((-1.0, -1.0, 0.0), (1.0, 1.0, 2.0), (20, 3))
    there = (moved.camera.project(1000.0 * (inside + shift)) - offset) / 0.01
    np.testing.assert_allclose(there, plain.camera.project(inside), atol=1e-5)
    np.testing.assert_allclose(moved.residual, 0.01 * plain.residual, atol=1e-8)


def test_the_residual_in_pixels_is_the_least_there_is() -> None:
    rng = np.random.default_rng(3)
    camera, points = camera_ring(4)[2], some_points(3, 8)
    image = camera.project(points) + 3.0 * rng.normal(size=(14, 2))
    found = calibrate_cameras(points, image)

    def misfit(coefficients: np.ndarray) -> np.ndarray:
        return (image - Camera("tried", coefficients).project(points)).ravel()

    # Another program from another start arrives at the same camera, and no change of a coefficient improves it.
    other = least_squares(misfit, camera.coefficients, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert found.rms**2 * 28 == pytest.approx(2.0 * other.cost, rel=1e-10)
    np.testing.assert_allclose(found.camera.coefficients, other.x, rtol=1e-5)
    np.testing.assert_allclose(found.residual, image - found.camera.project(points), atol=1e-9)
    for k in range(11):
        for factor in (1.0 - 1e-4, 1.0 + 1e-4):
            changed = found.camera.coefficients.copy()
            changed[k] *= factor
            assert np.sum(misfit(changed) ** 2) > np.sum(found.residual**2)


def test_the_noise_is_estimated_without_bias() -> None:
    rng = np.random.default_rng(4)
    camera, points = camera_ring(4)[0], some_points(4, 6)
    noise = [
        calibrate_cameras(points, camera.project(points) + 0.7 * rng.normal(size=(12, 2))).noise
        for _ in range(150)
    ]
    # 13 equations over, 150 times: the mean square is known to a standard error of 3.2 %.
    assert np.mean(np.square(noise)) == pytest.approx(0.49, rel=0.1)


def test_a_badly_digitized_point_is_named() -> None:
    rng = np.random.default_rng(5)
    camera, points = camera_ring(4)[0], some_points(5, 10)
    image = camera.project(points) + 0.5 * rng.normal(size=(16, 2))
    labels = [f"P{k}" for k in range(16)]
    assert calibrate_cameras(points, image, labels=labels).outlying == ()
    image[7] += [9.0, -4.0]
    assert calibrate_cameras(points, image, labels=labels).outlying == ("P7",)


def refused(points: object, image: object = None) -> str:
    if image is None:
        image = camera_ring(4)[0].project(np.asarray(points))
    with pytest.raises(InputError) as error:
        calibrate_cameras(points, image, "left")
    message = str(error.value)
    assert "camera 'left'" in message and "expected" in message
    return message


def test_points_that_cannot_determine_a_camera_are_refused_by_name() -> None:
    rng = np.random.default_rng(6)
    assert "5 control points do not determine" in refused(CUBE[:5])
    twice = np.vstack([CUBE[:5], CUBE[:4]])
    assert "at 5 different places" in refused(twice)
    assert "0 control points" in refused(np.empty((0, 3)), np.empty((0, 2)))
    flat = rng.uniform(-1.0, 1.0, (12, 3)) * [1.0, 1.0, 0.0]
    assert "lie in one plane" in refused(flat)
    assert "lie in one plane" in refused(flat + 0.001 * rng.normal(size=(12, 3)))
    assert "lie in one line" in refused(np.linspace([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 9))
    lone = np.vstack([flat, [0.1, 0.2, 1.0]])
    assert "all control points but '13' lie in one plane" in refused(lone)


def test_a_critical_configuration_is_refused() -> None:
    # A plane and a line through the camera.
    camera = camera_ring(4)[0]
    flat = np.random.default_rng(7).uniform(-1.0, 1.0, (10, 3)) * [1.0, 1.0, 0.0]
    line = camera.center + np.linspace(0.6, 0.9, 4)[:, None] * ([0.1, 0.2, 0.5] - camera.center)
    assert "leave the camera undetermined" in refused(np.vstack([flat, line]))


def nearly_on_a_twisted_cubic(error: float) -> np.ndarray:
    """Points as near to a twisted cubic through camera 1 of four: with it, they are critical for that camera."""
    camera = camera_ring(4)[0]
    side = np.cross(camera.direction, [0.0, 0.0, 1.0])
    axes = np.stack([1.5 * camera.direction, 0.6 * side, 0.25 * np.cross(side, camera.direction)])
    along, there = np.linspace(-1.0, 1.0, 12), -2.5
    curve = np.stack([along**k - there**k for k in (1, 2, 3)], axis=1)
    return camera.center + curve @ axes + error * np.random.default_rng(9).normal(size=(12, 3))


def test_points_next_to_a_critical_curve_are_refused_as_well() -> None:
    camera = camera_ring(4)[0]
    for error in (0.0, 1e-4, 1e-3):
        assert "leave the camera undetermined" in refused(nearly_on_a_twisted_cubic(error))
    # Away from it they determine the camera, worse than points in the corners of a volume.
    points = nearly_on_a_twisted_cubic(0.1)
    found = calibrate_cameras(points, camera.project(points))
    np.testing.assert_allclose(found.camera.center, camera.center, rtol=1e-6)
    assert found.center_per_pixel > 3.0 * calibrate_cameras(CUBE, camera.project(CUBE)).center_per_pixel


@pytest.mark.in_part(2)
@pytest.mark.parametrize("points", [CUBE, some_points(10, 6), 0.4 * CUBE, CUBE * [1.0, 0.1, 1.0]])
def test_the_center_scatters_as_predicted(points: np.ndarray) -> None:
    rng, camera = np.random.default_rng(11), camera_ring(4)[0]
    exact = calibrate_cameras(points, camera.project(points))
    assert exact.distance_to_points == pytest.approx(np.linalg.norm(camera.center - points.mean(axis=0)))
    # Small errors: the law is of first order.
    missed = [
        calibrate_cameras(
            points, camera.project(points) + 0.05 * rng.normal(size=(len(points), 2))
        ).camera.center
        - camera.center
        for _ in range(200)
    ]
    scatter = np.sqrt(np.mean(np.sum(np.square(missed), axis=1)))
    assert scatter == pytest.approx(0.05 * exact.center_per_pixel, rel=0.15)
    fit = calibrate_cameras(points, camera.project(points) + 0.05 * rng.normal(size=(len(points), 2)))
    assert fit.spare == 2 * len(points) - 11


def test_the_error_of_the_center_is_its_slope_times_that_of_the_coefficients() -> None:
    rng, coefficients = np.random.default_rng(12), camera_ring(4)[1].coefficients
    # Errors of every coefficient in proportion to it, so that all of them count.
    slopes = rng.normal(size=(24, 11)) / coefficients
    distance, error = distance_and_error(coefficients, slopes)
    by_coefficient = np.empty((3, 11))
    for k in range(11):
        step = np.eye(11)[k] * 1e-6 * abs(coefficients[k])
        up, down = (Camera("moved", coefficients + sign * step).center for sign in (1.0, -1.0))
        by_coefficient[:, k] = (up - down) / (2.0 * step[k])
    covariance = by_coefficient @ np.linalg.inv(slopes.T @ slopes) @ by_coefficient.T
    assert error == pytest.approx(np.sqrt(np.trace(covariance)), rel=1e-5)
    assert distance == pytest.approx(np.linalg.norm(camera_ring(4)[1].center))


def test_a_camera_that_stands_nowhere_has_no_known_place() -> None:
    far = Camera("far", [100.0, 0.0, 0.0, 5.0, 0.0, 100.0, 0.0, 6.0, 0.0, 0.0, 0.0])
    found = calibrate_cameras(CUBE, far.project(CUBE))
    np.testing.assert_allclose(found.camera.coefficients, far.coefficients, atol=1e-9)
    assert found.center_per_pixel > 1e6 and found.distance_to_points > 1e6


def test_numbers_and_shapes_that_are_none_are_refused() -> None:
    image = camera_ring(4)[0].project(CUBE)
    lost, far = image.copy(), CUBE.copy()
    lost[2, 1], far[5, 0] = np.nan, np.inf
    assert "control point '3'" in refused(CUBE, lost)
    assert "control point '6'" in refused(far, image)
    assert "8 control points, 7 image points" in refused(CUBE, image[:7])
    assert "(n, 3)" in refused(image, image)
    assert "(n, 2)" in refused(CUBE, [["a", "b"]] * 8)
    assert "image points coincide" in refused(CUBE, np.ones((8, 2)))
    assert "image points lie on one line" in refused(CUBE, np.column_stack([image[:, 0], np.zeros(8)]))


def test_pixels_of_other_points_are_refused() -> None:
    points = some_points(8, 8)
    image = camera_ring(4)[0].project(points)
    message = refused(points, np.roll(image, 3, axis=0))
    assert "fit their pixels only to" in message or "behind the camera" in message
