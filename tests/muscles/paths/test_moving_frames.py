"""Natural splines against scipy's, and the velocities of moving frames."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from musclesolve.muscles.paths.paths import MovingFrames, NaturalSpline

KNOTS = np.array([-0.4, -0.1, 0.0, 0.5, 1.3, 2.0])


@pytest.fixture(scope="module")
def spline():
    return NaturalSpline(KNOTS, np.random.default_rng(9).normal(size=(6, 6)))


def test_it_is_the_natural_cubic_spline(spline):
    x = np.linspace(KNOTS[0], KNOTS[-1], 50)
    theirs = CubicSpline(KNOTS, spline.values, bc_type="natural")
    value, slope = spline.at(x)
    np.testing.assert_allclose(value, theirs(x), atol=1e-13)
    np.testing.assert_allclose(slope, theirs(x, 1), atol=1e-12)


def test_beyond_the_knots_it_is_straight(spline):
    value, slope = spline.at(np.array([-1.4, -0.4, 2.0, 3.5]))
    np.testing.assert_allclose(value[0], value[1] - slope[1], atol=1e-13)
    np.testing.assert_allclose(value[3], value[2] + 1.5 * slope[2], atol=1e-13)
    np.testing.assert_array_equal(slope[[0, 3]], slope[[1, 2]])


def test_two_knots_are_a_line():
    value, slope = NaturalSpline(np.array([0.0, 2.0]), np.array([[1.0], [5.0]])).at(np.array([0.5, 3.0]))
    np.testing.assert_allclose(value, [[2.0], [7.0]])
    np.testing.assert_allclose(slope, 2.0)


@pytest.mark.parametrize("size", [0.0, 1e-6, 5e-5, 2e-4, 0.7, 3.0])
def test_rotation_vectors(size):
    """Rotation and spin of frames whose rotation vectors change at a constant rate with the angle."""
    rng, step = np.random.default_rng(10), 1e-6
    vector, rate = rng.normal(size=(2, 20, 3))
    vector *= size / np.linalg.norm(vector, axis=1, keepdims=True)
    ends = np.concatenate([np.zeros((20, 2, 3)), np.stack([vector, vector + rate], axis=1)], axis=2)
    lines = tuple(NaturalSpline(np.array([0.0, 1.0]), values) for values in ends)
    frames = MovingFrames(np.zeros(20, int), np.zeros(20, int), np.zeros((20, 3)), lines)
    ahead, found, behind = (frames.at(np.array([[angle]])) for angle in (step, 0.0, -step))
    np.testing.assert_allclose(found.rotation[0], Rotation.from_rotvec(vector).as_matrix(), atol=1e-14)
    turned = (ahead.rotation - behind.rotation)[0] / (2 * step) @ np.swapaxes(found.rotation[0], 1, 2)
    axial = 0.5 * (turned - np.swapaxes(turned, 1, 2))[:, [2, 0, 1], [1, 2, 0]]
    np.testing.assert_allclose(found.spin[0], axial, atol=1e-8)


def test_frames_follow_their_own_angles(spline):
    frames = MovingFrames(
        np.zeros(2, int), np.array([1, 0]), np.array([[0.1, 0.0, 0.0]] * 2), (spline, spline)
    )
    found = frames.at(np.array([[0.3, 1.1]]))
    value, slope = spline.at(np.array([1.1, 0.3]))
    np.testing.assert_allclose(found.origin[0], value[:, :3] + [0.1, 0.0, 0.0])
    np.testing.assert_allclose(found.velocity[0], slope[:, :3])
    np.testing.assert_allclose(found.rotation[0], Rotation.from_rotvec(value[:, 3:]).as_matrix(), atol=1e-13)


@pytest.mark.parametrize("size", [1e-3, 0.05, 0.11, 1.0])
def test_second_derivatives_are_the_derivatives_of_velocity_and_spin(spline, size):
    """Between and beyond the knots, for rotations on both sides of the switch to a series."""
    small = NaturalSpline(KNOTS, size * spline.values)
    frames = MovingFrames(np.zeros(1, int), np.zeros(1, int), np.zeros((1, 3)), (small,))
    angle, step = np.array([-0.6, -0.3, 0.2, 0.9, 1.6, 2.2])[:, None], 1e-5
    near = [frames.at(angle + k * step) for k in (-2, -1, 1, 2)]
    velocity, spin = (
        (8.0 * (x[2] - x[1]) - (x[3] - x[0])) / (12.0 * step)
        for x in zip(*((each.velocity, each.spin) for each in near), strict=True)
    )
    found = frames.bend(angle)
    np.testing.assert_allclose(found[0], velocity, atol=1e-9 * max(size, 0.1))
    np.testing.assert_allclose(found[1], spin, atol=1e-8 * max(size, 0.1))
